//! The fast dealer against the functionality; its wire; and liars.

use std::sync::{Arc, Mutex};

use comity_channel::MemoryChannel;
use comity_core::{Error, Kind};
use comity_testing::Pair;

use super::*;
use crate::deal::TripleDealer;
use crate::tests::here;
use crate::triples::Triple;

mod keys;
mod liars;
mod wire;

pub(crate) use liars::cheats;

const SESSION: SessionId = SessionId::new([0x66; 32]);

/// What one party has in the end: its key, triples, shares, and bits of party 0 and 1.
type View = (GlobalKey, Vec<Triple>, Vec<Share>);

fn rng(seed: u64, party: u16) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(u128::from(seed) << 32 | u128::from(party)))
}

fn dealer(ch: &mut dyn Channel, backend: Backend, party: u16, seed: u64, budget: &Budget) -> Result<Fast> {
    let here = Here { backend, ..here(party, SESSION.child(&seed.to_string())) };
    Fast::new(ch, here, budget.clone(), &mut rng(seed, party))
}

/// Triples in a few calls, shares of both, and bits of either.
fn deal(ch: &mut dyn Channel, dealer: &mut Fast, triples: usize) -> Result<View> {
    let mut shares = vec![Share::default(); 300];
    let mut list = Vec::new();
    dealer.shares(ch, &mut shares[..100])?;
    while list.len() < triples {
        list.extend_from_slice(dealer.triples(ch, triples.div_ceil(3).min(triples - list.len()))?.take(usize::MAX));
        dealer.bits(ch, PartyId(0), &mut shares[100..200])?;
    }
    dealer.bits(ch, PartyId(1), &mut shares[200..])?;
    Ok((dealer.key().clone(), list, shares))
}

/// Whether every share has its MAC, and every triple is one.
fn holds(a: &View, b: &View) {
    let ((key_a, triples_a, shares_a), (key_b, triples_b, shares_b)) = (a, b);
    let bit = |x: Share, y: Share| {
        assert!(x.mac() == y.expected(x.bit(), key_b) && y.mac() == x.expected(y.bit(), key_a));
        x.bit() ^ y.bit()
    };
    assert_eq!((triples_a.len(), shares_a.len()), (triples_b.len(), shares_b.len()));
    let mut ones = [0; 2];
    for (p, q) in triples_a.iter().zip(triples_b) {
        let [x, y, z] = [(p.a, q.a), (p.b, q.b), (p.c, q.c)].map(|(p, q)| bit(p, q));
        assert_eq!(x & y, z);
        ones[0] += usize::from(x);
        ones[1] += usize::from(y);
    }
    let n = triples_a.len();
    assert!(n < 100 || ones.iter().all(|ones| (n / 4..n * 3 / 4).contains(ones)), "{ones:?} of {n}");
    for (j, (&x, &y)) in shares_a.iter().zip(shares_b).enumerate() {
        bit(x, y);
        assert!(!(x.bit() && j >= 200 || y.bit() && (100..200).contains(&j)));
    }
}

#[test]
fn triples_are_right_and_carry_macs() {
    let known = |ands| Budget::known(ands as u64, 40, 1, OBJECTS).unwrap();
    let loose = |ands| Budget::known(ands as u64, 8, 1, OBJECTS).unwrap();
    // One AND; some batches, where memory is small; columns that begin inside a chunk and end in another, and
    // more than is handed out at once; batches as they are asked for.
    let cases = [
        (1, known(1)),
        (1050, Budget::known(1050, 8, 1, 1200).unwrap()),
        (20_000, loose(20_000)),
        (300, Budget::open(20_000, 20, 1, OBJECTS).unwrap()),
    ];
    for (seed, (ands, budget)) in cases.into_iter().enumerate() {
        let party = |party: u16| {
            let budget = &budget;
            move |ch: &mut MemoryChannel| {
                let mut dealer = dealer(ch, Backend::detect(), party, seed as u64, budget).unwrap();
                deal(ch, &mut dealer, ands).unwrap()
            }
        };
        let (a, b) = Pair::run(party(0), party(1));
        assert!(a.1.len() >= ands);
        holds(&a, &b);
        // None comes twice.
        let mut macs: Vec<u128> = a.1.iter().map(|triple| triple.b.mac().to_u128()).collect();
        macs.sort_unstable();
        macs.dedup();
        assert_eq!(macs.len(), a.1.len());
    }
}

#[test]
fn bytes_are_those_of_the_formula() {
    let budget = Budget::known(13_000, 20, 1, OBJECTS).unwrap();
    let batch = budget.clone().next(1).unwrap();
    let party = |party: u16| {
        let budget = &budget;
        move |ch: &mut MemoryChannel| {
            let mut ch = comity_channel::Counted::new(ch);
            let mut dealer = dealer(&mut ch, Backend::detect(), party, 9, budget).unwrap();
            let before = ch.counts().sent;
            dealer.triples(&mut ch, 1).unwrap();
            ch.counts().sent - before
        }
    };
    let (a, b) = Pair::run(party(0), party(1));
    let per_and = (a + b) as f64 / batch.buckets as f64;
    // 31 of 32 trees, for each of three OTs; G; a bit of S, and of all but one d. The rest is the mask of a chunk.
    let formula = 2.0 * batch.size as f64 * (3.0 * 31.0 / 8.0 + 16.0 + 0.25);
    assert!((formula * 0.98..formula * 1.05).contains(&per_and), "{per_and} bytes an AND, not {formula}");
}

#[test]
fn a_dealer_gives_no_more_than_was_planned() {
    let budget = Budget::known(20, 4, 1, OBJECTS).unwrap();
    let party = |party: u16| {
        let budget = &budget;
        move |ch: &mut MemoryChannel| {
            let mut dealer = dealer(ch, Backend::detect(), party, 3, budget).unwrap();
            assert!(dealer.triples(ch, 0).unwrap().is_empty());
            let made = dealer.triples(ch, 20).unwrap().len();
            assert!((20..40).contains(&made));
            assert!(matches!(dealer.triples(ch, 20), Err(Error { kind: Kind::InvalidInput(_), .. })));
            // After an error it refuses everything.
            assert!(matches!(dealer.shares(ch, &mut []), Err(Error { kind: Kind::InvalidInput(_), .. })));
        }
    };
    Pair::run(party(0), party(1));
}
