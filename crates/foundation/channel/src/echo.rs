//! Echo broadcast: what one party says to all is the same at all, or the run ends.
//!
//! **Functionality**: broadcast with abort. Each party says a message, and every honest party that goes on
//! has heard the same ones (Goldwasser, Lindell, "Secure Multi-Party Computation Without Agreement", J.
//! Cryptology 18(3), 2005: the two rounds of its broadcast with selective abort; here the second one is for
//! many broadcasts at once).
//!
//! **Adversary**: malicious, any number of parties. Some honest parties may go on where others end: a party
//! that ends closes its links, which ends the others.
//!
//! **Protocol**. [`Mesh::broadcast`] says a message to all and takes what each says into the party's
//! [`Echo`], in the order of the ids, under the hash of all before it. [`Mesh::settle`] compares the hashes,
//! all with all. One that says different things to two honest parties leaves them with different hashes, and
//! each hears the other's from itself.
//!
//! **When to settle**. Until then views may differ, and what was heard is [`Heard`]: it can be looked at, and
//! is handed over only against the [`Settled`] echo. Settle before anything leaves that would do harm if
//! views differed: before outputs are shown, before commitments are opened, before garbled tables are used,
//! and before a challenge follows from what was said.
//!
//! **Who it was** nobody can tell: the party that says that it heard something else may be the liar itself.
//!
//! **Cost**: a broadcast is an exchange, and its bytes are hashed once (BLAKE3); to settle is one round and
//! 32 bytes to each peer. Two parties have nobody else to compare with, and nothing is sent.

use comity_core::{Error, Result, SessionId, declassify};

use crate::checks;
use crate::mesh::Mesh;
use crate::per_peer::PerPeer;

/// All that was broadcast since the last time that views were compared, as a hash.
#[must_use = "what was broadcast is the same at all only once it is settled"]
pub struct Echo {
    session: SessionId,
    state: SessionId,
}

/// What each other party said in a broadcast, as this party heard it.
#[must_use]
pub struct Heard {
    session: SessionId,
    said: PerPeer<Vec<u8>>,
}

/// The proof that all honest parties heard the same broadcasts of an [`Echo`].
#[derive(Clone)]
pub struct Settled {
    session: SessionId,
    state: SessionId,
}

impl Echo {
    /// An echo without broadcasts. The session's id must be used for this one echo.
    pub fn new(session: SessionId) -> Echo {
        Echo { session, state: session }
    }

    /// Takes in what all said in a broadcast, this party too. The label says what it is.
    pub fn hear(&mut self, label: &str, own: &[u8], said: &PerPeer<Vec<u8>>) {
        let mut all: Vec<&[u8]> = said.iter().map(|(_, bytes)| &bytes[..]).collect();
        all.insert(said.me().0.into(), own);
        let before = self.state.to_bytes();
        self.state = SessionId::derive("echo", &[&[&before[..], label.as_bytes()], &all[..]].concat());
    }

    /// The digest of all that was said, to be compared, or sent along with another message. It can serve as a
    /// challenge for what was said, which nobody can change any more.
    pub fn digest(&self) -> [u8; 32] {
        self.state.child("echo").to_bytes()
    }

    /// Compares others' digests with this party's. The echo goes on.
    ///
    /// # Errors
    /// [`checks::EQUIVOCATION`], which names no party.
    pub fn compare<'a>(&self, mut theirs: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        let own = declassify(self.digest(), "the others are told it");
        if theirs.all(|digest| digest == own) { Ok(()) } else { Err(Error::from(checks::EQUIVOCATION)) }
    }
}

impl Heard {
    /// The messages, before it is known that all heard the same. The party goes on as if all had, and must
    /// send nothing that would do harm if they had not.
    pub fn unsettled(&self) -> &PerPeer<Vec<u8>> {
        &self.said
    }

    /// What was said, the same at all honest parties.
    ///
    /// # Panics
    /// If it was heard in another echo than the one that was settled.
    pub fn settled(self, by: &Settled) -> PerPeer<Vec<u8>> {
        assert!(self.session == by.session, "a broadcast of one echo, and another one was settled");
        self.said
    }
}

impl Settled {
    /// The hash of all that was broadcast, the same at all honest parties: a challenge may follow from it.
    pub fn digest(&self) -> SessionId {
        self.state.child("settled")
    }
}

impl Mesh<'_> {
    /// Sends the same bytes to all, and hears a message of that length from each; the label says what it is.
    /// Whether all heard the same is known when the echo is [settled](Mesh::settle). One round.
    ///
    /// # Errors
    /// As [`Mesh::exchange`].
    pub fn broadcast(&mut self, echo: &mut Echo, label: &str, bytes: &[u8]) -> Result<Heard> {
        let said = self.tell(bytes)?;
        echo.hear(label, bytes, &said);
        Ok(Heard { session: echo.session, said })
    }

    /// Makes sure that all honest parties heard the same broadcasts. One round, if there are more than two parties.
    ///
    /// # Errors
    /// [`checks::EQUIVOCATION`], which names no party, if they did not; those of [`Mesh::exchange`].
    pub fn settle(&mut self, echo: Echo) -> Result<Settled> {
        if self.parties() > 2 {
            echo.compare(self.tell(&echo.digest())?.iter().map(|(_, theirs)| &theirs[..]))?;
        }
        let Echo { session, state } = echo;
        Ok(Settled { session, state })
    }
}
