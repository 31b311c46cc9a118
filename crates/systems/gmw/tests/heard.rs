//! What is heard of runs on triples of a trusted dealer: some hundreds, since base OTs would take most of the time.

use comity_channel::Mesh;
use comity_core::{Backend, Block, Prg, Result};
use comity_gmw::{Gmw, run_with};
use comity_protocol::{Card, Dealer, Job, Party, Protocol, Supplies};
use comity_share::BitTriples;
use comity_share::bits::BitShares;
use comity_testing::laws::{Laws, listener, listener_in};

/// All parties draw all shares from one generator, and each keeps its own.
struct Trusted(Prg);

impl Dealer for Trusted {
    type Batch = BitTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<BitTriples> {
        let (me, parties) = (usize::from(net.me().0), usize::from(net.parties()));
        let [mut a, mut b, mut c] = [(); 3].map(|()| Vec::new());
        for _ in 0..n.div_ceil(64) {
            let mut word = || self.0.block().to_u128() as u64;
            let shares: Vec<[u64; 3]> = (0..parties).map(|_| [word(), word(), word()]).collect();
            let sum = |i: usize| shares.iter().fold(0, |sum, shares| sum ^ shares[i]);
            let mend = sum(0) & sum(1) ^ sum(2);
            a.push(shares[me][0]);
            b.push(shares[me][1]);
            c.push(shares[me][2] ^ if me == 0 { mend } else { 0 });
        }
        let [a, b, c] = [a, b, c].map(|words| BitShares::from_words(words, n));
        Ok(BitTriples::new(a, b, c))
    }
}

/// The protocol on such triples.
struct Trusting;

impl Protocol for Trusting {
    fn card(&self) -> &'static Card {
        Gmw.card()
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        let seed: Block = me.here.session.block("trusted dealer");
        run_with(me, Some(Box::new(Trusted(Prg::new(Backend::detect(), seed)))), job)
    }
}

const LISTENED: Laws = Laws { listened: 400, ..Laws::USUAL };

#[test]
fn law_listener() {
    listener(&Trusting, &LISTENED);
}

#[test]
#[ignore = "a campaign: see `make test-long`"]
fn law_listener_long() {
    listener_in(&Trusting, &LISTENED, 10_000);
}
