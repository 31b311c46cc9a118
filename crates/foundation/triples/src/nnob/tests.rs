//! Each box holds its relation for both parties' views; cheats and deviations are in the modules below.

mod broken;
mod cheats;
mod keys;
mod rates;
mod wire;

pub(crate) use cheats::cheats;

use comity_channel::{Channel, MemoryChannel};
use comity_core::{Backend, Block, Error, Kind, PartyId, Prg, Result, SessionId};
use comity_protocol::Here;
use comity_share::{AuthBits, GlobalKey, Share};
use comity_testing::Pair;
use rand_core::Rng;
use zeroize::Zeroizing;

use super::aand::aand;
use super::abit::{ABits, Shape};
use super::aot::aot;
use super::conduct::Act;
use super::context::Context;
use super::deal::{Nnob, Plan};
use super::laand::laand;
use super::laot::laot;
use super::ot::Seeds;
use crate::bucket::{Bucketing, Budget};
use crate::deal::TripleDealer;
use crate::tests::here;
use crate::triples::Triple;

/// Small, and good enough for honest parties.
const SMALL: Shape = Shape { tau: 40, columns: 2048, spares: 4, chunks: 100 };

/// What a party does that is honest else.
type Lie = Box<dyn FnMut(Act<'_>) + Send>;

fn lie(f: impl FnMut(Act<'_>) + Send + 'static) -> Lie {
    Box::new(f)
}

fn honest() -> Lie {
    lie(|_| {})
}

fn context(party: u16, run: u64, backend: Backend, conduct: Lie) -> Context<Lie> {
    let rng = Prg::new(backend, Block::from_u128(u128::from(run) << 1 | u128::from(party)));
    let here = here(party, SessionId::derive("test", &[&run.to_le_bytes()]));
    Context::new(Here { backend, ..here }, rng, conduct)
}

/// Bits of a party that begin with dealt OTs.
fn bits(shape: Shape, party: u16, run: u64) -> ABits {
    ABits::new(shape, Some(dealt(party, run, 2 * shape.tau)))
}

/// A party's seeds from a trusted dealer.
fn dealt(party: u16, run: u64, n: usize) -> Seeds {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(u128::from(run) << 64));
    let (mut offered, mut chosen) = (Vec::new(), Vec::new());
    for offers in 0..2 {
        for _ in 0..n {
            let (pair, choice) = ([prg.block(), prg.block()], prg.next_u32() & 1 == 1);
            if offers == party { offered.push(pair) } else { chosen.push((choice, pair[usize::from(choice)])) }
        }
    }
    Seeds {
        pairs: Zeroizing::new(offered),
        choices: Zeroizing::new(chosen.iter().map(|&(choice, _)| choice).collect()),
        chosen: Zeroizing::new(chosen.iter().map(|&(_, block)| block).collect()),
    }
}

/// How `f` ends for both parties, which behave as they are told.
fn run<T: Send>(
    run: u64,
    conducts: [Lie; 2],
    f: impl Fn(&mut Context<Lie>, &mut ABits, &mut MemoryChannel) -> Result<T> + Sync,
) -> [Result<T>; 2] {
    let f = &f;
    let party = |party: u16, conduct| {
        move |ch: &mut MemoryChannel| {
            f(&mut context(party, run, Backend::detect(), conduct), &mut bits(SMALL, party, run), ch)
        }
    };
    let [one, other] = conducts;
    let (a, b) = Pair::run(party(0, one), party(1, other));
    [a, b]
}

/// Both honest parties' `f`, and their keys.
fn both<T: Send>(
    f: impl Fn(&mut Context<Lie>, &mut ABits, &mut MemoryChannel) -> Result<T> + Sync,
) -> [(T, GlobalKey); 2] {
    run(1, [honest(), honest()], |context, bits, ch| Ok((f(context, bits, ch)?, context.key.clone())))
        .map(Result::unwrap)
}

/// The bit that `mac` is for, which must be right under `key`.
fn bit(mac: Block, key: Block, delta: &GlobalKey) -> bool {
    assert!(mac == key ^ delta.block().masked(mac.lsb()) && !key.lsb());
    mac.lsb()
}

/// Checks that about half of the bits are ones.
fn balanced(bits: impl ExactSizeIterator<Item = bool>) {
    let n = bits.len() as f64;
    let ones = bits.filter(|&bit| bit).count() as f64;
    assert!((ones - n / 2.0).abs() < 2.5 * n.sqrt(), "{ones} ones of {n}");
}

#[test]
fn bits_carry_macs_over_many_chunks() {
    let [(a, a_key), (b, b_key)] = both(|context, bits, ch| {
        let mut out = Vec::new();
        for n in [1, 700, 0, 3000] {
            let (mut macs, mut keys) = (vec![Block::ZERO; n], vec![Block::ZERO; n]);
            bits.draw(context, ch, &mut macs, &mut keys)?;
            out.extend(macs.into_iter().zip(keys));
        }
        Ok(out)
    });
    for (one, other, key) in [(&a, &b, &b_key), (&b, &a, &a_key)] {
        balanced(one.iter().zip(other).map(|(x, y)| bit(x.0, y.1, key)));
    }
    assert_eq!([a_key, b_key].map(|key| key.block().to_u128() & 3), [1, 3]);
}

#[test]
fn a_session_takes_no_more_chunks_than_it_was_planned_for() {
    let shape = Shape { chunks: 1, ..SMALL };
    let ends = run(2, [honest(), honest()], |context, _, ch| {
        let mut bits = bits(shape, context.party.0, 2);
        bits.draw(context, ch, &mut [Block::ZERO; 1900], &mut [Block::ZERO; 1900])?;
        let end = bits.draw(context, ch, &mut [Block::ZERO; 100], &mut []);
        Ok(
            matches!(end, Err(Error { kind: Kind::InvalidInput(message), .. }) if message.contains("planned for 1 chunks")),
        )
    });
    assert!(ends.map(Result::unwrap).iter().all(|&named| named));
}

#[test]
fn leaky_and_combined_ands_are_ands() {
    let batch = Bucketing { buckets: 90, size: 3 };
    for combined in [false, true] {
        let [(a, a_key), (b, b_key)] =
            both(
                |context, bits, ch| {
                    if combined { aand(context, bits, ch, batch) } else { laand(context, bits, ch, 300) }
                },
            );
        for ([own, _], [_, theirs], key) in [(&a, &b, &b_key), (&b, &a, &a_key)] {
            assert_eq!(own.len(), if combined { 90 } else { 300 });
            let ands: Vec<_> =
                own.iter().zip(theirs.iter()).map(|(m, k)| [0, 1, 2].map(|i| bit(m[i], k[i], key))).collect();
            assert!(ands.iter().all(|[x, y, z]| *z == (x & y)));
            (0..2).for_each(|i| balanced(ands.iter().map(|and| and[i])));
        }
    }
}

#[test]
fn leaky_and_combined_ots_are_ots() {
    let batch = Bucketing { buckets: 90, size: 3 };
    for combined in [false, true] {
        let [(a, a_key), (b, b_key)] =
            both(
                |context, bits, ch| {
                    if combined { aot(context, bits, ch, batch) } else { laot(context, bits, ch, 300) }
                },
            );
        for (s, r, s_key, r_key) in [(&a, &b, &a_key, &b_key), (&b, &a, &b_key, &a_key)] {
            assert_eq!(s[0].len(), if combined { 90 } else { 300 });
            let ots = s[0].iter().zip(r[1].iter()).map(|(s, r)| {
                let [x0, x1] = [0, 1].map(|i| bit(s[i], r[i], r_key));
                let [c, z] = [2, 3].map(|i| bit(r[i], s[i], s_key));
                assert_eq!(z, if c { x1 } else { x0 });
                [x0, x1, c]
            });
            let ots: Vec<_> = ots.collect();
            (0..3).for_each(|i| balanced(ots.iter().map(|ot| ot[i])));
        }
    }
}

/// Both parties' shares of a bit, which must be right.
fn shared(shares: [Share; 2], keys: &[GlobalKey; 2]) -> bool {
    let [a, b] = shares;
    bit(a.mac(), b.key(), &keys[1]) ^ bit(b.mac(), a.key(), &keys[0])
}

#[test]
fn the_dealer_deals_triples_and_bits() {
    let party = |party: u16| {
        move |ch: &mut MemoryChannel| {
            let plan = Plan::known(700, 40).unwrap();
            let mut rng = Prg::new(Backend::detect(), Block::from_u128(party.into()));
            let mut dealer = Nnob::new(here(party, SessionId::derive("test", &[])), plan, &mut rng);
            let mut triples = dealer.triples(ch, 700).unwrap();
            let mut shares = vec![Share::default(); 300];
            dealer.shares(ch, &mut shares[..100]).unwrap();
            dealer.bits(ch, PartyId(0), &mut shares[100..200]).unwrap();
            dealer.bits(ch, PartyId(1), &mut shares[200..]).unwrap();
            let n = triples.len();
            assert!(n >= 700 && dealer.party() == PartyId(party));
            (triples.take(n).to_vec(), shares, dealer.key().clone())
        }
    };
    let (a, b) = Pair::run(party(0), party(1));
    let keys = [a.2, b.2];
    let triples = a.0.iter().zip(&b.0).map(|(a, b): (&Triple, &Triple)| {
        let [x, y, z] = [[a.a, b.a], [a.b, b.b], [a.c, b.c]].map(|shares| shared(shares, &keys));
        assert_eq!(z, x & y);
        [x, y, a.a.bit(), a.c.bit(), b.b.bit(), b.c.bit()]
    });
    let triples: Vec<_> = triples.collect();
    (0..6).for_each(|i| balanced(triples.iter().map(|bits| bits[i])));
    balanced(a.1.iter().zip(&b.1).map(|(a, b)| shared([*a, *b], &keys)));
    assert!(a.1[200..].iter().all(|share| !share.bit()) && b.1[100..200].iter().all(|share| !share.bit()));
}

/// A dealer of small chunks and buckets, over the tests' seeds.
fn small(party: u16, run: u64, conduct: Lie) -> Nnob<Lie> {
    Nnob::with(context(party, run, Backend::detect(), conduct), bits(SMALL, party, run), budget())
}

/// Batches of eight triples in buckets of two.
fn budget() -> Budget {
    Budget::known(8, 4, 1, 16).unwrap()
}

/// What a dealer gives: a batch of triples, and its key.
fn deal(dealer: &mut Nnob<Lie>, ch: &mut dyn Channel) -> Result<(Vec<Triple>, GlobalKey)> {
    let mut triples = dealer.triples(ch, 1)?;
    let n = triples.len();
    Ok((triples.take(n).to_vec(), dealer.key().clone()))
}

/// Checks that the parties' triples are right.
fn triples_hold(a: &(Vec<Triple>, GlobalKey), b: &(Vec<Triple>, GlobalKey)) {
    let keys = [a.1.clone(), b.1.clone()];
    assert_eq!(a.0.len(), b.0.len());
    for (a, b) in a.0.iter().zip(&b.0) {
        let [x, y, z] = [[a.a, b.a], [a.b, b.b], [a.c, b.c]].map(|shares| shared(shares, &keys));
        assert_eq!(z, x & y);
    }
}
