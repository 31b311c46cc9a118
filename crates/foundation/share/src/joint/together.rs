//! Blocks that all parties show at the same time: committed to, in the echo, and opened when it is settled.

use comity_channel::PerPeer;
use comity_core::{Block, Check, Commitment, Error, Opening, PartyId, Result, SessionId, commit};
use comity_protocol::Conduct;
use rand_core::CryptoRng;

use super::JointAct;
use super::talk::{Message, Talk};

/// The messages of a broadcast at the same time, by name, and the check that a false opening fails.
pub(super) struct Names {
    pub(super) commitment: &'static str,
    pub(super) opening: &'static str,
    pub(super) false_opening: &'static Check,
}

/// What one party shows, and what goes beside it.
pub(super) struct Showing<'s> {
    pub(super) names: &'s Names,
    pub(super) own: &'s [Block],
    /// Whether something in the echo is still to be settled, which is done beside the commitments.
    pub(super) unsettled: bool,
    /// A message that goes with the openings.
    pub(super) beside: Option<Message>,
}

/// What each of the others shows, and what it said beside it.
type Shown = (PerPeer<Vec<Block>>, Option<PerPeer<Vec<u8>>>);

/// Shows blocks to all and returns what each of the others shows, as many, and what it said beside it. The session is for this one use.
/// Three rounds.
pub(super) fn show<C: for<'a> Conduct<JointAct<'a>>>(
    talk: &mut Talk<'_, '_, C>,
    session: SessionId,
    Showing { names, own, unsettled, beside }: Showing<'_>,
    rng: &mut dyn CryptoRng,
) -> Result<Shown> {
    let label = |party: PartyId| format!("{}, party {party}", names.opening);
    let (commitment, salt) = commit(session, &label(talk.me()), Block::bytes_of(own), rng);
    let out = talk.each(|_| commitment.to_bytes().to_vec());
    let said = vec![(names.commitment, out)];
    let commitments = if unsettled { talk.settle_with(said) } else { talk.together(said) }?.remove(0);
    talk.echo.hear(names.commitment, &commitment.to_bytes(), &commitments);
    // Nobody opens before all commitments are here, and are known to be the same at all.
    talk.settle()?;
    let out = talk.each(|_| [Block::bytes_of(own), &salt.to_bytes()].concat());
    let said = [Some((names.opening, out)), beside].into_iter().flatten().collect();
    let mut heard = talk.together(said)?;
    let opened = heard.remove(0);
    let mut shown = talk.each(|_| vec![Block::ZERO; own.len()]);
    for (peer, blocks) in shown.iter_mut() {
        let (bytes, salt) = opened[peer].split_last_chunk().expect("a salt after the blocks");
        Block::bytes_of_mut(blocks).copy_from_slice(bytes);
        let (commitments, _) = commitments[peer].as_chunks();
        if !Commitment::new(commitments[0]).verify(session, &label(peer), bytes, &Opening::new(*salt)) {
            return Err(Error::from(names.false_opening).by(peer));
        }
    }
    Ok((shown, heard.pop()))
}
