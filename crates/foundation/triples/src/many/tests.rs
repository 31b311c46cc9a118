//! The dealer of many against the functionality; its wire; and liars.

mod liars;
mod stored;
mod wire;

use comity_core::{Bits, Error, Kind, SessionId};
use comity_testing::Net;

use super::*;

const SESSION: SessionId = SessionId::new([0x6d; 32]);

/// The conduct of a party.
type Lie = Box<dyn FnMut(JointAct<'_>) + Send>;

fn lie(lie: impl FnMut(JointAct<'_>) + Send + 'static) -> Lie {
    Box::new(lie)
}

fn honest() -> Lie {
    lie(|_| {})
}

fn here(me: PartyId, parties: u16, session: SessionId) -> Here {
    Here::new(me, parties, session)
}

fn rng(seed: u64, party: PartyId) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(u128::from(seed) << 32 | u128::from(party.0)))
}

/// A dealer that behaves as it is told.
fn dealer(net: &mut Mesh<'_>, here: Here, seed: u64, budget: &Budget, conduct: Lie) -> Result<Many<Lie>> {
    let joint = Joint::with(net, here.child("authenticated bits"), &mut rng(seed, here.me), conduct)?;
    Ok(Many::with(joint, here, budget.clone()))
}

/// What a party holds in the end: its key, triples, shares, and bits of each party.
type View = (GlobalKey, Vec<RowTriples>, RowShares, Vec<RowShares>);

fn deal(net: &mut Mesh<'_>, dealer: &mut impl RowDealer, triples: usize) -> Result<View> {
    let shares = dealer.shares(net, 100)?;
    let mut list: Vec<RowTriples> = Vec::new();
    while list.iter().map(RowTriples::len).sum::<usize>() < triples {
        let left = triples - list.iter().map(RowTriples::len).sum::<usize>();
        list.push(dealer.deal(net, triples.div_ceil(3).min(left))?);
    }
    let masks = dealer.masks(net, 50)?;
    Ok((dealer.key().clone(), list, shares, masks))
}

/// A party's own shares.
fn own(rows: &RowShares) -> Bits {
    rows.column(PartyId(0)).iter().map(|block| block.lsb()).collect()
}

/// The bits that rows share, if they are what they promise.
fn shared(keys: &[&GlobalKey], all: &[&RowShares]) -> Bits {
    let mut bits = Bits::zeros(all[0].len());
    all.iter().for_each(|rows| bits.xor_assign(&own(rows)));
    let shares: Vec<Bits> = all.iter().map(|rows| own(rows)).collect();
    for (party, key) in keys.iter().enumerate() {
        let party = PartyId(party as u16);
        for (k, bit) in bits.iter().enumerate() {
            let sum = all.iter().fold(Block::ZERO, |sum, rows| sum ^ rows.column(party)[k]);
            assert!(sum == key.block().masked(bit), "bit {k} times the key of party {party}");
            assert!(all.iter().zip(&shares).all(|(rows, shares)| rows.column(party)[k].lsb() == shares.get(k)));
        }
    }
    bits
}

/// Whether every share has its MACs, and every triple is one.
fn holds(views: &[View]) {
    let keys: Vec<&GlobalKey> = views.iter().map(|view| &view.0).collect();
    let mut ones = [0; 2];
    let mut n = 0;
    for call in 0..views[0].1.len() {
        let of = |part: fn(&RowTriples) -> &RowShares| {
            let rows: Vec<&RowShares> = views.iter().map(|view| part(&view.1[call])).collect();
            shared(&keys, &rows)
        };
        let (a, b, c) = (of(|triples| &triples.a), of(|triples| &triples.b), of(|triples| &triples.c));
        for ((a, b), c) in a.iter().zip(b.iter()).zip(c.iter()) {
            assert_eq!(a & b, c);
            ones[0] += usize::from(a);
            ones[1] += usize::from(b);
            n += 1;
        }
    }
    assert!(n < 100 || ones.iter().all(|ones| (n / 4..n * 3 / 4).contains(ones)), "{ones:?} of {n}");
    shared(&keys, &views.iter().map(|view| &view.2).collect::<Vec<_>>());
    for owner in 0..views.len() {
        let bits = shared(&keys, &views.iter().map(|view| &view.3[owner]).collect::<Vec<_>>());
        assert!(own(&views[owner].3[owner]) == bits, "its own bits are its own");
        let others = views.iter().enumerate().filter(|(party, _)| *party != owner);
        assert!(others.into_iter().all(|(_, view)| own(&view.3[owner]) == Bits::zeros(50)));
    }
}

fn triples_are_right<const N: usize>(ands: usize, budget: &Budget) {
    let views = Net::<N>::run(|net| {
        let here = here(net.me(), net.parties(), SESSION);
        let mut dealer = Many::new(net, here, budget.clone(), &mut rng(1, here.me)).unwrap();
        deal(net, &mut dealer, ands).unwrap()
    });
    assert!(views[0].1.iter().map(RowTriples::len).sum::<usize>() >= ands);
    holds(&views);
}

#[test]
fn triples_are_right_and_carry_macs() {
    let known = |ands: usize, rho, objects| Budget::known(ands as u64, rho, 1, objects).unwrap();
    // One AND; some batches, where memory is small; columns that begin inside a chunk and end in another.
    for (ands, budget) in
        [(1, known(1, 40, 1 << 16)), (1050, known(1050, 8, 1200)), (14_000, known(14_000, 8, 1 << 16))]
    {
        triples_are_right::<3>(ands, &budget);
    }
    let small = known(500, 12, 4000);
    triples_are_right::<2>(500, &small);
    triples_are_right::<5>(500, &small);
    triples_are_right::<9>(100, &known(100, 8, 4000));
}

#[test]
fn bytes_are_those_of_the_formula() {
    let budget = Budget::known(13_000, 20, 1, 1 << 17).unwrap();
    let batch = budget.clone().next(1).unwrap();
    let sent = Net::<3>::run(|net| {
        let here = here(net.me(), 3, SESSION);
        let bytes = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let conduct = {
            let bytes = bytes.clone();
            lie(move |act| {
                if let JointAct::Says { bytes: said, .. } = act {
                    bytes.fetch_add(said.len(), std::sync::atomic::Ordering::Relaxed);
                }
            })
        };
        let mut dealer = dealer(net, here, 2, &budget, conduct).unwrap();
        bytes.store(0, std::sync::atomic::Ordering::Relaxed);
        dealer.deal(net, 1).unwrap();
        bytes.load(std::sync::atomic::Ordering::Relaxed)
    });
    for sent in sent {
        let size = batch.size as f64;
        let formula = 2.0 * (size * (12.0 + 16.0 + 0.125) + (size - 1.0) * 0.125);
        let per_and = sent as f64 / batch.buckets as f64;
        assert!((formula..formula * 1.05).contains(&per_and), "{per_and} bytes an AND, not {formula}");
    }
}

#[test]
fn a_dealer_gives_no_more_than_was_planned() {
    let budget = Budget::known(20, 4, 1, 4000).unwrap();
    Net::<3>::run(|net| {
        let here = here(net.me(), 3, SESSION);
        let mut dealer = Many::new(net, here, budget.clone(), &mut rng(3, here.me)).unwrap();
        assert!(dealer.deal(net, 0).unwrap().is_empty());
        assert!((20..40).contains(&dealer.deal(net, 20).unwrap().len()));
        assert!(matches!(dealer.deal(net, 20), Err(Error { kind: Kind::InvalidInput(_), .. })));
        // After an error it refuses everything.
        assert!(matches!(dealer.shares(net, 1), Err(Error { kind: Kind::InvalidInput(_), .. })));
    });
}
