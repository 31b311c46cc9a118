//! A trusted dealer of triples: both parties draw all shares from one generator, and each keeps its own.

use comity_channel::Mesh;
use comity_core::{Backend, Block, PartyId, Prg, Result};
use comity_protocol::Dealer;
use comity_share::BitTriples;
use comity_share::bits::BitShares;

pub(super) struct Trusted(Prg);

impl Trusted {
    /// Two of one seed deal shares that belong together.
    pub(super) fn new(backend: Backend, seed: u128) -> Trusted {
        Trusted(Prg::new(backend, Block::from_u128(seed)))
    }
}

impl Dealer for Trusted {
    type Batch = BitTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<BitTriples> {
        let [mut a, mut b, mut c] = [(); 3].map(|()| Vec::new());
        for _ in 0..n.div_ceil(64) {
            let [a0, a1, b0, b1, c0] = [(); 5].map(|()| self.0.block().to_u128() as u64);
            let c1 = (a0 ^ a1) & (b0 ^ b1) ^ c0;
            let own = if net.me() == PartyId(0) { [a0, b0, c0] } else { [a1, b1, c1] };
            [&mut a, &mut b, &mut c].into_iter().zip(own).for_each(|(to, word)| to.push(word));
        }
        let [a, b, c] = [a, b, c].map(|words| BitShares::from_words(words, n));
        Ok(BitTriples::new(a, b, c))
    }
}
