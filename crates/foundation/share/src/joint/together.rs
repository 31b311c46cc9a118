//! Blocks that all parties show at the same time: committed to, in the echo, and opened when it is settled.

use comity_channel::PerPeer;
use comity_core::{Block, Check, Commitment, Error, Opening, PartyId, Result, SessionId, commit};
use comity_protocol::Conduct;
use rand_core::CryptoRng;

use super::JointAct;
use super::talk::Talk;

/// The messages of a broadcast at the same time, by name, and the check that a false opening fails.
pub(super) struct Names {
    pub(super) commitment: &'static str,
    pub(super) opening: &'static str,
    pub(super) false_opening: &'static Check,
}

/// Shows these blocks to all and returns what each of the others shows, as many. The session is for this one use. Three rounds.
pub(super) fn show<C: for<'a> Conduct<JointAct<'a>>>(
    talk: &mut Talk<'_, '_, C>,
    session: SessionId,
    names: &Names,
    own: &[Block],
    rng: &mut dyn CryptoRng,
) -> Result<PerPeer<Vec<Block>>> {
    let label = |party: PartyId| format!("{}, party {party}", names.opening);
    let (commitment, salt) = commit(session, &label(talk.me()), Block::bytes_of(own), rng);
    let commitments = talk.tell(names.commitment, &commitment.to_bytes())?;
    // Nobody opens before all commitments are here, and are known to be the same at all.
    talk.settle()?;
    let out = talk.each(|_| [Block::bytes_of(own), &salt.to_bytes()].concat());
    let opened = talk.send(names.opening, out, |_| size_of_val(own) + Opening::BYTES)?;
    let mut shown = talk.each(|_| vec![Block::ZERO; own.len()]);
    for (peer, blocks) in shown.iter_mut() {
        let (bytes, salt) = opened[peer].split_last_chunk().expect("a salt after the blocks");
        Block::bytes_of_mut(blocks).copy_from_slice(bytes);
        let (commitments, _) = commitments[peer].as_chunks();
        if !Commitment::new(commitments[0]).verify(session, &label(peer), bytes, &Opening::new(*salt)) {
            return Err(Error::from(names.false_opening).by(peer));
        }
    }
    Ok(shown)
}
