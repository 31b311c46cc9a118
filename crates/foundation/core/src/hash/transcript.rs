//! `Transcript`: what was said so far, and challenges that hash it (Fiat and Shamir).
//!
//! **Only a challenge whose soundness is kappa = 128 bits may come from a transcript.** Where a wrong guess is
//! caught with 2^-rho only (rho = 40, say), a cheating prover tries 2^40 transcripts offline and keeps the lucky
//! one; there the party that the challenge protects draws it and sends it after the checked data is fixed.

use crate::hash::framing::Framed;
use crate::memory::block::Block;
use crate::session::SessionId;

/// A running hash of labelled messages and challenges.
///
/// It is not `Clone`: a transcript that could be forked could give two challenges for one state of the protocol.
pub struct Transcript(Framed);

impl Transcript {
    /// An empty transcript; `domain` names the protocol and its version.
    pub fn new(domain: &str) -> Transcript {
        let mut hash = Framed::new("comity transcript v1");
        hash.add(domain.as_bytes());
        Transcript(hash)
    }

    /// Adds a message. Absorb what both parties know (statement, parameters) before the first challenge.
    pub fn absorb(&mut self, label: &str, bytes: &[u8]) {
        self.0.add(b"absorb");
        self.0.add(label.as_bytes());
        self.0.add(bytes);
    }

    /// Adds the session's id.
    pub fn absorb_session(&mut self, session: SessionId) {
        self.absorb("session", &session.to_bytes());
    }

    /// Fills `out` with a challenge: uniform, and determined by everything absorbed and challenged so far, by
    /// the label and by the length.
    pub fn challenge_bytes(&mut self, label: &str, out: &mut [u8]) {
        self.0.add(b"challenge");
        self.0.add(label.as_bytes());
        self.0.add(&(out.len() as u64).to_le_bytes());
        self.0.fill(out);
    }

    /// A challenge of 128 bits.
    pub fn challenge_block(&mut self, label: &str) -> Block {
        let mut bytes = [0; 16];
        self.challenge_bytes(label, &mut bytes);
        Block::new(bytes)
    }
}
