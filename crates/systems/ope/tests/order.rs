//! Codes keep the order of their values, whatever is done and in whatever order.

use std::collections::{BTreeMap, BTreeSet};

use comity_core::{Backend, Block, Prg};
use comity_ope::{Code, Coin, Error, FrequencyHiding, Ideal, Pattern, Placed};
use proptest::prelude::*;
use rand_core::Rng;

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

/// A server, which holds a code for each row.
struct Server<V, C>(BTreeMap<usize, (V, C)>);

impl<V: Ord + Copy, C: Code> Server<V, C> {
    /// Replaces codes, all at once; every old code must be there.
    fn moves(&mut self, moves: &[(C, C)]) {
        let moves: BTreeMap<C, C> = moves.iter().copied().collect();
        let mut met = BTreeSet::new();
        for (_, code) in self.0.values_mut() {
            if let Some(new) = moves.get(code) {
                met.insert(*code);
                *code = *new;
            }
        }
        assert!(moves.keys().all(|old| met.contains(old)), "no code is moved that is not there");
    }

    fn check(&self, equal_share: bool) {
        let mut rows: Vec<(V, C)> = self.0.values().copied().collect();
        rows.sort_unstable_by_key(|row| row.1);
        for pair in rows.windows(2) {
            assert!(pair[0].0 <= pair[1].0, "codes are in the order of the values");
            assert_eq!(pair[0].1 == pair[1].1, equal_share && pair[0].0 == pair[1].0);
        }
    }

    fn between(&self, codes: Option<(C, C)>) -> BTreeSet<usize> {
        let Some((low, high)) = codes else { return BTreeSet::new() };
        self.0.iter().filter(|(_, row)| (low..=high).contains(&row.1)).map(|(row, _)| *row).collect()
    }

    fn plain(&self, low: V, high: V) -> BTreeSet<usize> {
        self.0.iter().filter(|(_, row)| (low..=high).contains(&row.0)).map(|(row, _)| *row).collect()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(i16),
    Many(Vec<i16>),
    Delete(usize),
    Rebalance,
    Range(i16, i16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few values, so that they repeat, with both ends of the type among them.
    let value = prop_oneof![8 => -40..40i16, 1 => Just(i16::MIN), 1 => Just(i16::MAX)];
    let step = prop_oneof![
        8 => value.clone().prop_map(Step::Insert),
        1 => prop::collection::vec(value.clone(), 0..12).prop_map(Step::Many),
        3 => any::<usize>().prop_map(Step::Delete),
        1 => Just(Step::Rebalance),
        4 => (value.clone(), value).prop_map(|(a, b)| Step::Range(a, b)),
    ];
    prop::collection::vec(step, 0..120)
}

proptest! {
    #[test]
    fn ideal_answers_as_plain_text_does(steps in steps(), bits in prop_oneof![Just(10u32), Just(62)]) {
        let mut ideal = Ideal::<i16, u64>::with_bits(bits).unwrap();
        let mut server = Server(BTreeMap::new());
        let mut next = 0;
        for step in steps {
            match step {
                Step::Insert(value) => {
                    let placed = ideal.insert(value).unwrap();
                    if let Placed::Rebalanced { moves, .. } = &placed {
                        server.moves(moves);
                    }
                    server.0.insert(next, (value, placed.code()));
                    next += 1;
                }
                Step::Many(values) => {
                    let bulk = ideal.insert_many(&values).unwrap();
                    server.moves(&bulk.moves);
                    for (value, code) in values.into_iter().zip(bulk.codes) {
                        server.0.insert(next, (value, code));
                        next += 1;
                    }
                }
                Step::Delete(row) => {
                    let Some(row) = server.0.keys().copied().nth(row % server.0.len().max(1)) else { continue };
                    let (value, code) = server.0.remove(&row).unwrap();
                    if server.0.values().all(|row| row.0 != value) {
                        prop_assert_eq!(ideal.remove(value), Some(code));
                    }
                }
                Step::Rebalance => {
                    let moves = ideal.rebalance().unwrap();
                    server.moves(&moves);
                }
                Step::Range(low, high) => prop_assert_eq!(server.between(ideal.range(low, high)), server.plain(low, high)),
            }
            server.check(true);
        }
        for (value, code) in server.0.values() {
            prop_assert_eq!(ideal.decrypt(*code), Some(*value));
            prop_assert_eq!(ideal.encrypt(*value), Some(*code));
        }
        // The dictionary is what the rows say, and nothing else.
        let pairs: Vec<(i16, u64)> = server.0.values().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let rebuilt = Ideal::from_pairs(62, &pairs, Pattern::default()).unwrap();
        prop_assert!(rebuilt.iter().eq(ideal.iter()));
    }

    #[test]
    fn frequency_hiding_answers_as_plain_text_does(steps in steps(), wide in any::<bool>()) {
        if wide { hiding::<u128>(steps, 126)? } else { hiding::<u64>(steps, 11)? }
    }
}

fn hiding<C: Code + std::fmt::Debug>(steps: Vec<Step>, bits: u32) -> Result<(), TestCaseError> {
    let mut hiding = FrequencyHiding::<i16, C>::with_bits(bits).unwrap();
    let (mut server, mut coins) = (Server(BTreeMap::new()), BTreeMap::new());
    let (mut next, mut rng) = (0, rng(5));
    for step in steps {
        match step {
            Step::Insert(value) => {
                let coin = Coin::random(&mut rng);
                let placed = hiding.insert(value, coin).unwrap();
                prop_assert_eq!(hiding.insert(value, coin), Err(Error::CoinUsed));
                if let Placed::Rebalanced { moves, .. } = &placed {
                    server.moves(moves);
                }
                server.0.insert(next, (value, placed.code()));
                coins.insert(next, coin);
                next += 1;
            }
            Step::Many(values) => {
                let rows: Vec<(i16, Coin)> = values.iter().map(|value| (*value, Coin::random(&mut rng))).collect();
                let bulk = hiding.insert_many(&rows).unwrap();
                server.moves(&bulk.moves);
                for ((value, coin), code) in rows.into_iter().zip(bulk.codes) {
                    server.0.insert(next, (value, code));
                    coins.insert(next, coin);
                    next += 1;
                }
            }
            Step::Delete(row) => {
                let Some(row) = server.0.keys().copied().nth(row % server.0.len().max(1)) else { continue };
                let (value, code) = server.0.remove(&row).unwrap();
                prop_assert_eq!(hiding.remove(value, coins[&row]), Some(code));
            }
            Step::Rebalance => {
                let moves = hiding.rebalance().unwrap();
                server.moves(&moves);
            }
            Step::Range(low, high) => {
                prop_assert_eq!(server.between(hiding.range(low, high)), server.plain(low, high));
            }
        }
        server.check(false);
    }
    prop_assert_eq!(hiding.len(), server.0.len());
    for (value, code) in server.0.values() {
        prop_assert_eq!(hiding.decrypt(*code), Some(*value));
    }
    Ok(())
}

/// The number of rebalances that these values need.
fn rebalances(values: impl IntoIterator<Item = u64>) -> usize {
    let mut ideal = Ideal::<u64, u64>::new();
    values.into_iter().filter(|value| matches!(ideal.insert(*value), Ok(Placed::Rebalanced { .. }))).count()
}

/// The number of rebalances that rows need whose values repeat.
fn hidden_rebalances(values: impl IntoIterator<Item = u64>) -> usize {
    let (mut hiding, mut rng) = (FrequencyHiding::<u64, u64>::new(), rng(8));
    let mut insert = |value| hiding.insert(value, Coin::random(&mut rng));
    values.into_iter().filter(|value| matches!(insert(*value), Ok(Placed::Rebalanced { .. }))).count()
}

#[test]
fn random_order_needs_no_rebalance_and_sorted_order_few() {
    const COUNT: u64 = 60_000;
    let mut random = rng(1);
    assert_eq!(rebalances((0..COUNT).map(|_| random.next_u64())), 0);
    for (name, count) in [
        ("rising", rebalances(0..COUNT)),
        ("falling", rebalances((0..COUNT).rev())),
        (
            "rising with a jitter of ten places",
            rebalances((0..COUNT).map(|i| 16 * (i + random.next_u64() % 10) + i % 16)),
        ),
        ("rising, each ten times", hidden_rebalances((0..COUNT).map(|i| i / 10))),
    ] {
        assert!(count <= 6, "{name}: {count} rebalances");
    }
}

#[test]
#[ignore = "a campaign: a million values in each order"]
fn a_million_values_in_the_worst_orders() {
    const COUNT: u64 = 1_000_000;
    let mut random = rng(2);
    for (name, count, most) in [
        ("random", rebalances((0..COUNT).map(|_| random.next_u64())), 0),
        ("rising", rebalances(0..COUNT), 30),
        ("falling", rebalances((0..COUNT).rev()), 30),
        ("jitter", rebalances((0..COUNT).map(|i| 16 * (i + random.next_u64() % 10) + i % 16)), 30),
        (
            "timestamps",
            rebalances((0..COUNT).scan(0, |now, _| {
                *now += random.next_u64() % 2_000_000;
                Some(*now)
            })),
            30,
        ),
        ("repeated", hidden_rebalances((0..COUNT).map(|i| i / 10)), 30),
    ] {
        assert!(count <= most, "{name}: {count} rebalances");
    }
}

#[test]
fn batches_in_time_order_do_not_use_the_codes_up() {
    let mut ideal = Ideal::<u64, u64>::new();
    let mut moved = 0;
    for batch in 0..200u64 {
        let values: Vec<u64> = (0..500).map(|i| 1000 * batch + i).collect();
        moved += usize::from(!ideal.insert_many(&values).unwrap().moves.is_empty());
    }
    assert!(moved <= 8, "{moved} rebalances in 200 batches");
}

#[test]
fn a_refused_value_changes_nothing() {
    let mut ideal = Ideal::<u64, u64>::with_bits(4).unwrap();
    assert_eq!(ideal.insert_many(&[1, 2, 3, 4, 5, 6, 7]).unwrap().codes.len(), 7);
    let before: Vec<_> = ideal.iter().collect();
    assert_eq!(ideal.insert(9), Ok(Placed::Code(15)), "some room is left at the end");
    assert_eq!(ideal.remove(9), Some(15));
    assert_eq!(ideal.insert_many(&[10, 11, 12]), Err(Error::Exhausted { bits: 4 }));
    assert!(ideal.iter().eq(before));
    assert!(Error::Exhausted { bits: 62 }.to_string().contains("bytea"));
    assert!(matches!(Ideal::<u64, u64>::with_bits(63), Err(Error::Invalid(_))));
}

#[test]
fn pairs_out_of_order_are_no_dictionary() {
    let build = |pairs: &[(u64, u64)]| Ideal::from_pairs(62, pairs, Pattern::default()).map(|_| ());
    assert_eq!(build(&[(1, 5), (2, 6)]), Ok(()));
    assert_eq!(build(&[(1, 6), (2, 5)]), Err(Error::Disordered));
    assert_eq!(build(&[(1, 5), (2, 5)]), Err(Error::Disordered));
    assert_eq!(build(&[(1, 5), (1, 6)]), Err(Error::Disordered));
    for code in [0, 1 << 62] {
        assert!(matches!(build(&[(1, code)]), Err(Error::Malformed(_))));
    }
}

#[test]
fn what_others_made_is_adopted_if_it_fits_in() {
    let mut ideal = Ideal::<u64, u64>::from_pairs(10, &[(10, 100), (20, 200)], Pattern::default()).unwrap();
    assert_eq!(ideal.adopt(10, 100), Ok(()), "known");
    for (value, code) in [(10, 101), (15, 100), (15, 200), (5, 100), (25, 200), (15, 300)] {
        assert_eq!(ideal.adopt(value, code), Err(Error::Disordered), "{value}: {code}");
    }
    assert!(matches!(ideal.adopt(30, 1024), Err(Error::Malformed(_))));
    assert_eq!((ideal.adopt(15, 101), ideal.adopt(5, 1), ideal.adopt(25, 1023)), (Ok(()), Ok(()), Ok(())));
    assert!(ideal.iter().eq([(5, 1), (10, 100), (15, 101), (20, 200), (25, 1023)]));
}

/// The rank of a row among those equal to it is uniform, whatever the ranks before were.
#[test]
fn ranks_of_equal_values_are_uniform() {
    const RUNS: usize = 6000;
    let mut rng = rng(3);
    // counts[c][r]: how often the row that met c equal ones came to rank r.
    let mut counts = vec![vec![0usize; 6]; 6];
    // How often the last two rows both came first.
    let mut both = 0;
    for _ in 0..RUNS {
        let mut hiding = FrequencyHiding::<u8, u64>::new();
        hiding.insert(1, Coin::random(&mut rng)).unwrap();
        hiding.insert(9, Coin::random(&mut rng)).unwrap();
        let mut ranks = Vec::new();
        for counts in &mut counts {
            let code = hiding.insert(5, Coin::random(&mut rng)).unwrap().code();
            let (low, _) = hiding.range(5, 5).unwrap();
            let rank = hiding.iter().filter(|(_, other)| (low..code).contains(other)).count();
            counts[rank] += 1;
            ranks.push(rank);
        }
        both += usize::from(ranks[4] == 0 && ranks[5] == 0);
    }
    for (equal, counts) in counts.iter().enumerate() {
        let expected = RUNS as f64 / (equal + 1) as f64;
        let chi: f64 = counts[..=equal].iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
        assert!(chi < 35.0, "chi square {chi} with {equal} degrees of freedom: {counts:?}");
        assert!(counts[equal + 1..].iter().all(|count| *count == 0));
    }
    let expected = RUNS as f64 / 30.0;
    assert!((both as f64 - expected).abs() < 6.0 * expected.sqrt(), "{both} of {expected} expected");
}

/// A retry of an insertion that was undone, with others in between, ends between the same neighbours.
#[test]
fn a_retry_keeps_its_place() {
    let mut rng = rng(4);
    let mut hiding = FrequencyHiding::<u8, u64>::new();
    (0..50).for_each(|_| drop(hiding.insert(5, Coin::random(&mut rng)).unwrap()));
    for _ in 0..50 {
        let coin = Coin::random(&mut rng);
        let code = hiding.insert(5, coin).unwrap().code();
        let below: Vec<u64> = hiding.iter().map(|row| row.1).filter(|other| *other < code).collect();
        assert_eq!(hiding.remove(5, coin), Some(code));
        hiding.insert(5, Coin::random(&mut rng)).unwrap();
        let again = hiding.insert(5, coin).unwrap().code();
        assert!(below.iter().all(|other| *other < again));
        let others = hiding.iter().filter(|row| row.1 < again).count();
        assert!(others == below.len() || others == below.len() + 1);
    }
}
