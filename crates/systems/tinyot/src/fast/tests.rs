//! The fast dealer against the functionality, on all backends, and with liars.

use comity_testing::Pair;

use super::*;

const SESSION: SessionId = SessionId::new([0x66; 32]);

/// What one party has in the end.
struct View {
    key: GlobalKey,
    triples: Vec<Triple>,
}

fn party(
    backend: Backend,
    party: u32,
    budget: Budget,
    wanted: usize,
) -> impl FnOnce(&mut comity_channel::MemoryChannel) -> Result<View> + Send {
    move |ch| {
        let mut rng = Prg::new(backend, Block::from_u128(0x5eed + u128::from(party)));
        let mut dealer = Fast::new(ch, &SESSION, backend, party, budget, &mut rng)?;
        let mut triples = dealer.triples(ch, wanted)?;
        let triples = triples.take(usize::MAX).to_vec();
        Ok(View { key: dealer.key().clone(), triples })
    }
}

/// Whether every share has its MAC, and every triple is one.
fn holds(views: &[View; 2]) {
    let [a, b] = views;
    assert_eq!(a.triples.len(), b.triples.len());
    let mut ones = [0; 2];
    for (p, q) in a.triples.iter().zip(&b.triples) {
        let bits = [(p.a, q.a), (p.b, q.b), (p.c, q.c)].map(|(x, y)| {
            assert!(x.mac() == y.expected(x.bit(), &b.key) && y.mac() == x.expected(y.bit(), &a.key));
            x.bit() ^ y.bit()
        });
        assert_eq!(bits[0] & bits[1], bits[2]);
        ones[0] += usize::from(bits[0]);
        ones[1] += usize::from(bits[1]);
    }
    let n = a.triples.len();
    assert!(n < 200 || ones.iter().all(|ones| (n / 3..n * 2 / 3).contains(ones)), "{ones:?} of {n}");
}

#[test]
fn triples_are_right_and_carry_macs() {
    for (rho, ands) in [(40, 1), (4, 100), (40, 3000), (8, CHUNK + 1)] {
        let budget = Budget::known(ands as u64, rho, 1, OBJECTS).unwrap();
        let (a, b) =
            Pair::run(party(Backend::detect(), 0, budget.clone(), ands), party(Backend::detect(), 1, budget, ands));
        let views = [a.unwrap(), b.unwrap()];
        assert!(views[0].triples.len() >= ands);
        holds(&views);
    }
}
