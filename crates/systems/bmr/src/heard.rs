//! Whether all parties heard the same: a digest of what was said to all, compared before it is used.

use comity_channel::Mesh;
use comity_core::{Error, Result, SessionId, Transcript};
use comity_share::checks::EQUIVOCATION;

/// What was said to all, in an order that all parties keep.
pub(crate) struct Heard(Transcript);

impl Heard {
    /// Nothing yet, in a session of its own.
    pub(crate) fn new(session: SessionId) -> Heard {
        let mut transcript = Transcript::new("comity bmr: what all parties hear");
        transcript.absorb_session(session);
        Heard(transcript)
    }

    /// Notes what somebody said to all.
    pub(crate) fn hear(&mut self, bytes: &[u8]) {
        self.0.absorb("said to all", bytes);
    }

    /// Compares digests of all that was noted, among all. One round.
    ///
    /// # Errors
    /// [`EQUIVOCATION`] if some party heard something else, of which nobody can know whose doing it is; those of the channels.
    pub(crate) fn settle(mut self, net: &mut Mesh<'_>) -> Result<()> {
        let mut digest = [0; 32];
        self.0.challenge_bytes("digest", &mut digest);
        let same = net.tell(&digest)?.iter().all(|(_, theirs)| theirs[..] == digest);
        if same { Ok(()) } else { Err(Error::from(EQUIVOCATION)) }
    }
}
