//! A trusted dealer: both parties draw everything from one generator, and each keeps its own half.

use comity_channel::Channel;
use comity_core::{Backend, Block, Prg, Result};
use comity_share::{GlobalKey, Share, Source};

use crate::{Checked, Dealer, Triple, Triples};

/// One party's half of the trusted dealer.
pub(crate) struct Trusted {
    party: u32,
    keys: [GlobalKey; 2],
    prg: Prg,
    /// Triples are dealt in batches of this size or more.
    batch: usize,
    /// How many triples were dealt.
    pub(crate) dealt: usize,
}

impl Trusted {
    /// Two of the same seed deal halves that fit.
    pub(crate) fn new(party: u32, seed: u128, batch: usize) -> Trusted {
        Trusted::on(Backend::detect(), party, seed, batch)
    }

    /// The same, on this backend.
    pub(crate) fn on(backend: Backend, party: u32, seed: u128, batch: usize) -> Trusted {
        let mut prg = Prg::new(backend, Block::from_u128(seed));
        let keys = [false, true].map(|second| GlobalKey::random(second, &mut prg));
        Trusted { party, keys, prg, batch, dealt: 0 }
    }

    /// This party's half of a bit whose shares are these.
    fn half(&mut self, bits: [bool; 2]) -> Share {
        let q = [self.prg.block(), self.prg.block()];
        let (own, other) = (self.party as usize, 1 - self.party as usize);
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

impl Source for Trusted {
    fn party(&self) -> u32 {
        self.party
    }

    fn key(&self) -> &GlobalKey {
        &self.keys[self.party as usize]
    }

    fn shares(&mut self, _: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        for share in out {
            let bits = [self.bit(), self.bit()];
            *share = self.half(bits);
        }
        Ok(())
    }

    fn bits(&mut self, _: &mut dyn Channel, owner: u32, out: &mut [Share]) -> Result<()> {
        for share in out {
            let bit = self.bit();
            let half = self.half([bit & (owner == 0), bit & (owner == 1)]);
            *share = match owner == self.party {
                true => Share::own(half.bit(), half.mac()),
                false => Share::theirs(half.key()),
            };
        }
        Ok(())
    }
}

impl Dealer for Trusted {
    fn triples(&mut self, _: &mut dyn Channel, n: usize) -> Result<Triples<Checked>> {
        let n = n.max(self.batch);
        self.dealt += n;
        Ok(Triples::new((0..n).map(|_| self.triple()).collect()).vouch())
    }
}
