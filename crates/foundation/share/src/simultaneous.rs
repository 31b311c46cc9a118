//! Simultaneous broadcast of a short string each: nobody can make what it says depend on what another says.
//!
//! Each party commits to its string, all make sure that all heard the same commitments, and all open. Nobody
//! opens before it has heard all commitments, and that every other party has: a party that still owes one to
//! somebody learns nothing to choose it by. What is opened is then the same at all, since what was committed
//! to is. A commitment names its party, so none can be said again as one's own.
//!
//! Between two nobody can say different things to different peers, and only who opens last could choose: the
//! first in the order of ids commits, the other says its string, the first opens.
//!
//! Cost, to each peer: three messages, 96 bytes and a string, in as many rounds. Between two: two messages of
//! the first, one of the second, 64 bytes and both strings in all.

use comity_channel::{Echo, Mesh, PerPeer};
use comity_core::{Check, Commitment, Error, Opening, PartyId, Result, SessionId, commit};
use comity_protocol::{Conduct, Honest};
use rand_core::CryptoRng;

use crate::joint::JointAct;
use crate::joint::talk::{Message, Talk};

/// The name of the messages that hold the commitments.
const COMMITMENTS: &str = "commitments";

/// The message of one party, sent at the same time as the others', and the bytes that go with it.
pub(crate) struct Saying<'s> {
    /// The names of the two messages.
    pub(crate) names: [&'static str; 2],
    /// The check that fails if a commitment is opened to something else.
    pub(crate) false_opening: &'static Check,
    pub(crate) own: &'s [u8],
    /// Whether something in the echo is still to be settled, which is done beside the commitments.
    pub(crate) unsettled: bool,
    /// A message that goes with the openings.
    pub(crate) beside: Option<Message>,
}

/// The strings of the others, each as long as the own one, and what they said beside it.
pub(crate) type Said = (PerPeer<Vec<u8>>, Option<PerPeer<Vec<u8>>>);

/// Says a string to all among any number, by messages of a conversation, and returns what each of the others
/// says. The session is for this one use. Three rounds.
///
/// # Errors
/// As [`say`].
pub(crate) fn say_among<C: for<'a> Conduct<JointAct<'a>>>(
    talk: &mut Talk<'_, '_, C>,
    session: SessionId,
    Saying { names: [committing, opening], false_opening, own, unsettled, beside }: Saying<'_>,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<Said> {
    let (commitment, salt) = commit(session, &label(opening, talk.me()), own, rng);
    let out = talk.each(|_| commitment.to_bytes().to_vec());
    let said = vec![(committing, out)];
    let commitments = if unsettled { talk.settle_with(said) } else { talk.together(said) }?.remove(0);
    talk.echo.hear(committing, &commitment.to_bytes(), &commitments);
    // Nobody opens before all commitments are here, and are known to be the same at all.
    talk.settle()?;
    let out = talk.each(|_| [own, &salt.to_bytes()].concat());
    let said = [Some((opening, out)), beside].into_iter().flatten().collect();
    let mut heard = talk.together(said)?;
    let mut strings = heard.remove(0);
    for (peer, string) in strings.iter_mut() {
        let salt = string.split_off(own.len());
        verify(session, &label(opening, peer), &commitments[peer], string, &salt)
            .map_err(|()| Error::from(false_opening).by(peer))?;
    }
    Ok((strings, heard.pop()))
}

fn label(what: &str, party: PartyId) -> String {
    format!("{what}, party {party}")
}

/// Whether a commitment is opened by this string and salt.
fn verify(session: SessionId, label: &str, commitment: &[u8], said: &[u8], salt: &[u8]) -> Result<(), ()> {
    let opening = Opening::new(bytes_of(salt));
    if Commitment::new(bytes_of(commitment)).verify(session, label, said, &opening) { Ok(()) } else { Err(()) }
}

/// Sends `own` to all and returns what each of the others sends, all of one length. `what` is the string's
/// role in the session, which is used for one such broadcast; `false_opening` is the check that fails if a
/// commitment is opened to something else.
///
/// # Errors
/// [`EQUIVOCATION`](crate::checks::EQUIVOCATION), which names no party, if not all received the same
/// commitments; `false_opening` by the party that opens a false one; those of the channels.
pub fn say_string(
    mesh: &mut Mesh<'_>,
    session: SessionId,
    (what, false_opening): (&'static str, &'static Check),
    own: &[u8],
    rng: &mut (impl CryptoRng + ?Sized),
    conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
) -> Result<PerPeer<Vec<u8>>> {
    let (me, parties) = (mesh.me(), mesh.parties());
    if parties == 2 {
        let (peer, ch) = mesh.pair()?;
        let mut theirs = vec![0; own.len()];
        let mut said = |what, mut bytes: Vec<u8>| {
            conduct.before(JointAct::Says { what, peer, bytes: &mut bytes });
            bytes
        };
        if me < peer {
            let (commitment, opening) = commit(session, &label(what, me), own, rng);
            ch.send(&said(COMMITMENTS, commitment.to_bytes().to_vec()))?;
            ch.recv(&mut theirs)?;
            ch.send(&said(what, [own, &opening.to_bytes()].concat()))?;
            ch.flush()?;
        } else {
            let (mut commitment, mut salt) = ([0; Commitment::BYTES], [0; Opening::BYTES]);
            ch.recv(&mut commitment)?;
            ch.send(&said(what, own.to_vec()))?;
            ch.recv(&mut theirs)?;
            ch.recv(&mut salt)?;
            verify(session, &label(what, peer), &commitment, &theirs, &salt)
                .map_err(|()| Error::from(false_opening).by(peer))?;
        }
        return Ok(PerPeer::new(me, parties, |_| theirs.clone()));
    }
    let mut echo = Echo::new(session.child(&format!("{what}, heard of all")));
    let mut talk = Talk { mesh, echo: &mut echo, conduct };
    let saying = Saying { names: [COMMITMENTS, what], false_opening, own, unsettled: false, beside: None };
    Ok(say_among(&mut talk, session, saying, rng)?.0)
}

/// As [`say_string`], of a string whose length is known, by an honest party.
///
/// # Errors
/// As [`say_string`].
pub(crate) fn say<const N: usize>(
    mesh: &mut Mesh<'_>,
    session: SessionId,
    what: &'static str,
    own: &[u8; N],
    false_opening: &'static Check,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<PerPeer<[u8; N]>> {
    let said = say_string(mesh, session, (what, false_opening), own, rng, &mut Honest)?;
    Ok(said.map(|_, said| bytes_of(&said)))
}

/// A message, or a part of one, whose length is known.
fn bytes_of<const N: usize>(message: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(message);
    bytes
}
