//! Proofs in conversation: a session whose party 0 proves a statement to party 1.

use comity_channel::Channel;
use comity_core::{Bits, Error, PartyId, Result};
use comity_net::SystemRng;
use comity_protocol::Here;
use comity_zk::{CARD, Conversation, Statement, prove_to, verify_from};

use crate::meet::Begun;
use crate::session::{Part, Session, whose};
use crate::watch::Watch;

impl Session<'_> {
    /// Proves a statement to party 1; this is party 0. `witness` has the value of each secret input. Both
    /// sides name the statement and the way. `Ok` does not mean that the verifier is convinced.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the session has settings that a proof has no use for (a
    /// protocol, parameters, a store, shares); [`Mismatch`](comity_core::Kind), on both sides, if they name
    /// different statements or ways; otherwise those of the network and of [`prove_to`].
    pub fn prove(
        self,
        statement: &Statement,
        witness: &[Option<Bits>],
        way: Conversation,
        watch: &mut dyn Watch,
    ) -> Result<()> {
        self.converse(PartyId(0), statement, way, watch, |ch, here, rng| {
            prove_to(ch, here, statement, witness, way, rng)
        })
    }

    /// Has party 0 prove a statement; this is party 1. `Ok` means that the proof holds.
    ///
    /// # Errors
    /// As [`Session::prove`], and those of [`verify_from`].
    pub fn verify(self, statement: &Statement, way: Conversation, watch: &mut dyn Watch) -> Result<()> {
        self.converse(PartyId(1), statement, way, watch, |ch, here, rng| verify_from(ch, here, statement, way, rng))
    }

    /// Meets the other side, agrees on statement and way, and talks.
    fn converse(
        mut self,
        role: PartyId,
        statement: &Statement,
        way: Conversation,
        watch: &mut dyn Watch,
        talk: impl FnOnce(&mut dyn Channel, Here, &mut SystemRng) -> Result<()>,
    ) -> Result<()> {
        if self.me != role {
            let part = if role.0 == 0 { "prover" } else { "verifier" };
            return Err(Error::invalid_input(format!("the {part} is party {role}, and this is party {}", self.me)));
        }
        CARD.has(self.me, self.parties())?;
        let unused = [Part::Protocol, Part::Params, Part::Shares, Part::Store];
        self.has_no(&unused, "a proof, whose way says how it is made,")?;
        let options = self.options(&CARD)?;
        // Two sides that want different things hear of it before anything is proved.
        let statement: String = statement.digest().iter().map(|byte| format!("{byte:02x}")).collect();
        let phase = format!("proof by {} with {} bits of statement {statement}", way.name(), way.bits());
        let greeting = self.greeting(&CARD, None, &phase)?;
        let met = self.meet(&CARD, watch)?;
        watch.connected(&met.address);
        let mut rng = SystemRng;
        let Begun { mut mesh, here, .. } = met.greet(&self, greeting, options, watch)?;
        let (_, channel) = mesh.pair()?;
        let done = talk(channel, here, &mut rng);
        done.map_err(|error| whose(error, &mesh))
    }
}
