//! Simultaneous broadcast of a short string each: nobody can make what it says depend on what another says.
//!
//! Each party commits to its string, all make sure that all heard the same commitments, and all open. Nobody opens before it
//! has heard all commitments, and that every other party has: a party that still owes one to somebody learns nothing to
//! choose it by. What is opened is then the same at all, since what was committed to is. A commitment names its party, so
//! none can be said again as one's own.
//!
//! Between two nobody can say different things to different peers, and only who opens last could choose: the first in the order
//! of ids commits, the other says its string, the first opens.
//!
//! Cost, to each peer: three messages, 96 bytes and a string, in as many rounds. Between two: two messages of the first, one of the
//! second, 64 bytes and both strings in all.

use comity_channel::{Echo, Mesh, PerPeer};
use comity_core::{Check, Commitment, Error, Opening, PartyId, Result, SessionId, commit};
use rand_core::CryptoRng;

/// Says `own` to all and returns what each of the others says. `what` is the string's role in the session, which is used for one
/// such broadcast; `false_opening` is the check that fails if a commitment is opened to something else.
///
/// # Errors
/// [`EQUIVOCATION`](crate::checks::EQUIVOCATION) if not all heard the same commitments, of which nobody can know whose doing it is; `false_opening`
/// by whose it is; those of the channels.
pub(crate) fn say<const N: usize>(
    mesh: &mut Mesh<'_>,
    session: SessionId,
    what: &str,
    own: &[u8; N],
    false_opening: &'static Check,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<PerPeer<[u8; N]>> {
    let (me, parties) = (mesh.me(), mesh.parties());
    let label = |party: PartyId| format!("{what}, party {party}");
    let opened = |peer: PartyId, commitment: [u8; 32], opened: &[u8]| {
        let (said, salt) = (bytes_of(&opened[..N]), bytes_of(&opened[N..]));
        let true_to_it = Commitment::new(commitment).verify(session, &label(peer), &said, &Opening::new(salt));
        if true_to_it { Ok(said) } else { Err(Error::from(false_opening).by(peer)) }
    };
    if parties == 2 {
        let (peer, ch) = mesh.pair()?;
        let mut theirs = [0; N];
        if me < peer {
            let (commitment, opening) = commit(session, &label(me), own, rng);
            ch.send(&commitment.to_bytes())?;
            ch.recv(&mut theirs)?;
            ch.send(&[&own[..], &opening.to_bytes()].concat())?;
            ch.flush()?;
        } else {
            let mut commitment = [0; Commitment::BYTES];
            ch.recv(&mut commitment)?;
            ch.send(own)?;
            let mut bytes = vec![0; N + Opening::BYTES];
            ch.recv(&mut bytes)?;
            theirs = opened(peer, commitment, &bytes)?;
        }
        return Ok(PerPeer::new(me, parties, |_| theirs));
    }
    let (commitment, opening) = commit(session, &label(me), own, rng);
    let mut echo = Echo::new(session.child(&format!("{what}, heard of all")));
    let heard = mesh.broadcast(&mut echo, "commitments", &commitment.to_bytes())?;
    let heard = heard.settled(&mesh.settle(echo)?).map(|_, bytes| bytes_of(&bytes));
    let said = mesh.tell(&[&own[..], &opening.to_bytes()].concat())?;
    let mut strings = PerPeer::new(me, parties, |_| [0; N]);
    for (peer, bytes) in said.iter() {
        strings[peer] = opened(peer, heard[peer], bytes)?;
    }
    Ok(strings)
}

/// A message, or a part of one, whose length is known.
fn bytes_of<const N: usize>(message: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(message);
    bytes
}
