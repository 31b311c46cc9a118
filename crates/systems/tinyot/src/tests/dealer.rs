//! A trusted dealer: both parties draw everything from one generator, and each keeps its own half.

use comity_channel::{Channel, Mesh};
use comity_core::{Backend, Block, PartyId, Prg, Result};
use comity_protocol::{Card, Dealer, Job, Party, Protocol, Supplies};
use comity_share::{AuthBits, GlobalKey, Share};

use super::FOR_TWO;
use crate::run::run_with;
use comity_triples::{Checked, Triple, Triples};

/// One party's half of the trusted dealer.
pub(crate) struct Trusted {
    party: PartyId,
    keys: [GlobalKey; 2],
    prg: Prg,
    /// Triples are dealt in batches of this size or more.
    batch: usize,
}

impl Trusted {
    /// Two of the same seed deal halves that fit.
    pub(crate) fn new(party: PartyId, seed: u128, batch: usize) -> Trusted {
        Trusted::on(Backend::detect(), party, seed, batch)
    }

    /// The same, on this backend.
    pub(crate) fn on(backend: Backend, party: PartyId, seed: u128, batch: usize) -> Trusted {
        let mut prg = Prg::new(backend, Block::from_u128(seed));
        let keys = [0, 1].map(|party| GlobalKey::of(PartyId(party), &mut prg));
        Trusted { party, keys, prg, batch }
    }

    /// This party's half of a bit whose shares are these.
    fn half(&mut self, bits: [bool; 2]) -> Share {
        let q = [self.prg.block(), self.prg.block()];
        let own = usize::from(self.party.0);
        let other = 1 - own;
        let t = q[other] ^ self.keys[other].block().masked(bits[own]);
        // Whose share cannot be one has a key of zero at the peer, and no MAC.
        Share::from_correlated(bits[own], t, q[own])
    }

    fn bit(&mut self) -> bool {
        self.prg.block().lsb()
    }

    fn triple(&mut self) -> Triple {
        let [a0, a1, b0, b1, c0] = std::array::from_fn(|_| self.bit());
        let c1 = (a0 ^ a1) & (b0 ^ b1) ^ c0;
        Triple { a: self.half([a0, a1]), b: self.half([b0, b1]), c: self.half([c0, c1]) }
    }
}

impl AuthBits for Trusted {
    fn party(&self) -> PartyId {
        self.party
    }

    fn key(&self) -> &GlobalKey {
        &self.keys[usize::from(self.party.0)]
    }

    fn shares(&mut self, _: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        for share in out {
            let bits = [self.bit(), self.bit()];
            *share = self.half(bits);
        }
        Ok(())
    }

    fn bits(&mut self, _: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        for share in out {
            let bit = self.bit();
            let half = self.half([0, 1].map(|party| bit & (owner == PartyId(party))));
            *share = match owner == self.party {
                true => Share::own(half.bit(), half.mac()),
                false => Share::theirs(half.key()),
            };
        }
        Ok(())
    }
}

impl Dealer for Trusted {
    type Batch = Triples<Checked>;

    fn deal(&mut self, _: &mut Mesh<'_>, n: usize) -> Result<Triples<Checked>> {
        let n = n.max(self.batch);
        Ok(Triples::new((0..n).map(|_| self.triple()).collect()).vouch())
    }
}

/// Programs on the triples of a trusted dealer, in batches of this number of triples.
pub(crate) struct Online(pub(crate) usize);

impl Protocol for Online {
    fn card(&self) -> &'static Card {
        &FOR_TWO
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        let (ch, here, _, observer) = me.pair()?;
        let seed = here.session.block("trusted dealer").to_u128();
        run_with(ch, here, Box::new(Trusted::on(here.backend, here.me, seed, self.0)), job, observer)
    }
}
