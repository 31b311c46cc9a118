//! `Bound`: a statement where it is proved.

use comity_core::{Commitment, SessionId};

use crate::statement::Statement;

/// A statement with what binds a proof of it to its place: a file, or one conversation. The binding enters
/// all of a prover's randomness and the key of every hash.
#[derive(Clone, Copy)]
pub(crate) struct Bound<'a> {
    pub(crate) statement: &'a Statement,
    binding: [u8; 32],
}

impl Bound<'_> {
    /// The hash of statement and place.
    pub(crate) fn binding(&self) -> &[u8; 32] {
        &self.binding
    }
}

impl Statement {
    /// The statement as it is proved in files.
    pub(crate) fn in_a_file(&self) -> Bound<'_> {
        Bound { statement: self, binding: *self.digest() }
    }

    /// The statement as it is bound to one conversation: to this session, and to this commitment of the
    /// verifier's to its challenge. No hash in a conversation is ever one in a file.
    pub(crate) fn in_conversation(&self, session: &SessionId, commitment: &Commitment) -> Bound<'_> {
        let (session, commitment) = (session.to_bytes(), commitment.to_bytes());
        let parts: [&[u8]; 3] = [&session, self.digest(), &commitment];
        Bound { statement: self, binding: SessionId::derive("comity zk conversation v2", &parts).to_bytes() }
    }
}
