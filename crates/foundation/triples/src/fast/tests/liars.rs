//! Parties that are honest but for one lie.

use comity_core::{Check, Kind};

use super::*;

use crate::checks;

/// What a liar adds to a `G`: bit 1 is set, so that the peer's bit of `S` changes too.
const R: Block = Block::from_u128(0x5a17_0000_0000_0000_0000_0000_0000_0002);

/// How a party behaves.
type Liar = Box<dyn FnMut(Act<'_>) + Send>;

fn liar(lie: impl FnMut(Act<'_>) + Send + 'static) -> Liar {
    Box::new(lie)
}

/// Deals one batch in each of `runs` sessions, on the same extensions, between a `cheat` and an honest party:
/// gives what the honest one gets. Conducts are made anew for each run.
fn runs(
    cheat: u16,
    budget: &Budget,
    runs: usize,
    lies: impl Fn(usize) -> Liar + Sync,
    watches: impl Fn(usize) -> Liar + Sync,
) -> Vec<Result<View>> {
    let party = |party: u16| {
        let (lies, watches) = (&lies, &watches);
        move |ch: &mut MemoryChannel| {
            let backend = Backend::detect();
            let session = SESSION.child("extension of liars");
            let mut extension = {
                let (me, rng) = (PartyId(party), &mut rng(77, party));
                let key = GlobalKey::of(me, rng);
                Extension::setup(ch, &session, backend, [me, me.other()], key, rng).unwrap()
            };
            let mut results = Vec::new();
            for run in 0..runs {
                let here = here(party, SESSION.child(&format!("run {run}")));
                let conduct = if party == cheat { lies(run) } else { watches(run) };
                let seed = rng(run as u64 + 1000, party);
                let mut dealer = Fast::with(extension, here, budget.clone(), seed, conduct);
                let triples = dealer.triples(ch, 1).map(|mut triples| triples.take(usize::MAX).to_vec());
                results.push(triples.map(|triples| (dealer.key().clone(), triples, Vec::new())));
                extension = dealer.extension;
            }
            results
        }
    };
    let (a, b) = Pair::run(party(0), party(1));
    let [honest, cheats] = if cheat == 0 { [b, a] } else { [a, b] };
    for (honest, cheat) in honest.iter().zip(&cheats) {
        if let (Ok(honest), Ok(cheating)) = (honest, cheat) {
            if cheating.0.block().to_u128() & 2 == 0 { holds(cheating, honest) } else { holds(honest, cheating) }
        }
    }
    honest
}

fn honest(_: usize) -> Liar {
    liar(|_| {})
}

fn named<T>(result: &Result<T>, kind: &'static Check) -> bool {
    matches!(result, Err(Error { kind: Kind::Misbehaved(found), .. }) if *found == kind)
}

/// A batch of 4 buckets of 2, whose bound is 1/16.
fn small() -> Budget {
    let budget = Budget::known(4, 4, 1, OBJECTS).unwrap();
    assert_eq!(budget.clone().next(1).unwrap(), crate::bucket::Bucketing { buckets: 4, size: 2 });
    budget
}

/// One false G, with either guess: it passes where the guess is right, which is half of the time, and is
/// caught where it is wrong.
#[test]
fn a_false_g_passes_only_with_the_right_guess() {
    const RUNS: usize = 300;
    for cheat in [0, 1] {
        for guess in [false, true] {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let lie = |_| {
                let mut first = [true; 2];
                liar(move |act| match act {
                    Act::G(g) if std::mem::take(&mut first[0]) => g[2] ^= R,
                    Act::S { s, bits, .. } if std::mem::take(&mut first[1]) && guess => {
                        // As the peer's S will be, if its x is one.
                        s[2] ^= R;
                        bits[0] ^= 1 << 2;
                    }
                    _ => {}
                })
            };
            let watch = |_| {
                let (seen, mut first) = (seen.clone(), true);
                liar(move |act| {
                    if let Act::S { x, .. } = act
                        && std::mem::take(&mut first)
                    {
                        seen.lock().unwrap().push(x[2].lsb());
                    }
                })
            };
            let results = runs(cheat, &small(), RUNS, lie, watch);
            let seen = seen.lock().unwrap();
            assert_eq!(seen.len(), RUNS);
            for (result, &x) in results.iter().zip(&*seen) {
                assert!(if x == guess { result.is_ok() } else { named(result, checks::LEAKY_AND) });
            }
            let passed = results.iter().filter(|result| result.is_ok()).count();
            // Four standard deviations.
            assert!(passed.abs_diff(RUNS / 2) < 35, "{passed} of {RUNS} passed");
        }
    }
}

/// The best cheat there is, at small parameters: leaky objects of which some bucket is full as often as the bound says.
#[test]
fn escapes_are_as_frequent_as_the_bound_says() {
    for (ands, rho, n) in [(4, 4, 1600), (2, 5, 2400)] {
        let budget = Budget::known(ands, rho, 1, OBJECTS).unwrap();
        let batch = budget.clone().next(1).unwrap();
        assert_eq!(batch.failure(rho), 1.0);
        let full = Arc::new(Mutex::new(vec![false; n]));
        let lie = |run: usize| {
            let (full, mut calls) = (full.clone(), 0);
            liar(move |act| match act {
                Act::G(g) => {
                    // The first of each column: of the leaders, then of the others. The guess is zero.
                    g.iter_mut().step_by(batch.buckets).for_each(|g| *g ^= R);
                    calls += 1;
                    assert!(calls <= 2);
                }
                Act::Buckets(partition) => {
                    full.lock().unwrap()[run] = (1..batch.size).all(|column| partition.shift(column) == 0);
                }
                _ => {}
            })
        };
        let results = runs(1, &budget, n, lie, honest);
        let full = full.lock().unwrap();
        let passed = results.iter().filter(|result| result.is_ok()).count();
        let escaped = results.iter().zip(&*full).filter(|(result, full)| result.is_ok() && **full).count();
        for (count, expected) in [(passed, n >> batch.size), (escaped, n >> rho)] {
            let slack = 4.5 * (expected as f64).sqrt();
            assert!((count as f64 - expected as f64).abs() < slack, "{count} of {n}, not {expected}");
        }
        assert!(results.iter().all(|result| result.is_ok() || named(result, checks::LEAKY_AND)));
    }
}

/// A lie, and the check that sees it.
type Seen = (&'static Check, fn(Act<'_>));

/// Lies that are always seen.
const LIES: [Seen; 6] = [
    // A bit of S: d is then wrong for both.
    (checks::LEAKY_AND, |act| {
        if let Act::S { bits, .. } = act {
            bits[0] ^= 2;
        }
    }),
    (checks::LEAKY_AND, |act| {
        if let Act::L(l) = act {
            l[1] ^= R;
        }
    }),
    // Two L that are wrong by the same.
    (checks::LEAKY_AND, |act| {
        if let Act::L(l) = act {
            l.iter_mut().take(2).for_each(|l| *l ^= R);
        }
    }),
    (comity_share::checks::WRONG_MAC, |act| {
        if let Act::Shown { bits, .. } = act {
            bits[0] ^= 1;
        }
    }),
    (comity_share::checks::WRONG_MAC, |act| {
        if let Act::Shown { macs, .. } = act {
            macs[3] ^= R;
        }
    }),
    // Two false bits, whose MACs are false by the same.
    (comity_share::checks::WRONG_MAC, |act| {
        if let Act::Shown { bits, macs } = act {
            bits[0] ^= 3;
            macs[..2].iter_mut().for_each(|mac| *mac ^= Block::from_u128(1));
        }
    }),
];

#[test]
fn false_bits_and_macs_are_named() {
    for cheat in [0, 1] {
        for (i, (kind, lie)) in LIES.into_iter().enumerate() {
            let results = runs(cheat, &small(), 1, |_| liar(lie), honest);
            assert!(named(&results[0], kind), "lie {i} of party {cheat}: {:?}", results[0].as_ref().err());
        }
    }
}

/// The checks that see party 0 lie.
pub(crate) fn cheats() -> Vec<&'static Check> {
    let ended = LIES.iter().flat_map(|&(_, lie)| runs(0, &small(), 1, |_| liar(lie), honest));
    ended.filter_map(|ended| ended.err()?.check()).collect()
}
