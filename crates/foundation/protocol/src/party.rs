//! `Party`: what a party of a running protocol has.

use comity_channel::{Channel, Mesh, PerPeer};
use comity_circuit::Observer;
use comity_core::{Backend, Block, Params, PartyId, Prg, Result, SessionId};
use rand_core::CryptoRng;

/// One party of a running protocol: its links, its place, its randomness, and its observer.
///
/// A protocol for two takes it apart once, with [`Mesh::pair`], and its figures are functions of a channel
/// and [`Here`].
pub struct Party<'p, 'n> {
    /// The links to all others.
    pub net: &'p mut Mesh<'n>,
    /// The place where this party stands.
    pub here: Here,
    /// This party's randomness.
    pub rng: &'p mut dyn CryptoRng,
    /// The observer to whom outputs and phases go.
    pub observer: &'p mut dyn Observer,
}

/// What a party knows of its place in a session. It is copied, never borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// This party.
    pub me: PartyId,
    /// The number of parties.
    pub parties: u16,
    /// The session; the same at all parties.
    pub session: SessionId,
    /// The security parameters.
    pub params: Params,
    /// The backend that the machine can run.
    pub backend: Backend,
}

impl Here {
    /// The place of a party in a session, with the default parameters and this machine's fastest backend.
    pub fn new(me: PartyId, parties: u16, session: SessionId) -> Here {
        Here { me, parties, session, params: Params::default(), backend: Backend::detect() }
    }

    /// This place in a sub-protocol, whose label is used once in the session.
    #[must_use]
    pub fn child(self, label: &str) -> Here {
        Here { session: self.session.child(label), ..self }
    }
}

impl<'n> Party<'_, 'n> {
    /// This party's id.
    pub fn me(&self) -> PartyId {
        self.here.me
    }

    /// This party in a sub-protocol, whose label is used once in the session.
    pub fn sub(&mut self, label: &str) -> Party<'_, 'n> {
        Party { net: self.net, here: self.here.child(label), rng: self.rng, observer: self.observer }
    }

    /// The only link of two parties, and everything else that this party has: the arguments of a figure for
    /// two parties.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are not two parties.
    pub fn pair(&mut self) -> Result<(&mut (dyn Channel + 'n), Here, &mut dyn CryptoRng, &mut dyn Observer)> {
        let (_, ch) = self.net.pair()?;
        Ok((ch, self.here, self.rng, self.observer))
    }

    /// A generator for each peer, for what runs side by side.
    pub fn rngs(&mut self) -> PerPeer<Prg> {
        PerPeer::new(self.here.me, self.here.parties, |_| {
            let mut seed = [0; Block::BYTES];
            self.rng.fill_bytes(&mut seed);
            Prg::new(self.here.backend, Block::new(seed))
        })
    }
}
