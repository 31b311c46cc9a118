//! How often cheats pass, held against the bounds.

use comity_core::Kind;
use comity_testing::Pair;

use super::super::labit::{LaBit, pairs};
use super::super::tau::{expectation, failure};
use super::cheats::report;
use super::*;
use crate::bucket::Partition;
use crate::checks;

/// Within 4.5 standard deviations of what is expected.
fn near(hits: usize, runs: usize, rate: f64) {
    let (hits, expected) = (hits as f64, runs as f64 * rate);
    assert!((hits - expected).abs() < 4.5 * expected.sqrt() + 1.0, "{hits} of {runs}, expected {expected}");
}

/// The offerer of figure 12 uses another `Gamma` in some seed OTs. It passes exactly where it guesses the choice of
/// every pair of two colours, and these are all that it learns.
#[test]
fn another_gamma_is_a_guess_for_each_pair_of_two() {
    const TAU: usize = 8;
    // One, few, many.
    for (k, runs) in [(1, 600), (3, 1000), (TAU, 2000)] {
        let mut passed = 0;
        for at in 0..runs {
            let (told, guesses) = report::<Vec<(usize, bool)>>();
            let mut prg = Prg::new(Backend::detect(), Block::from_u128(at as u128));
            let liar = lie(move |act| match act {
                Act::Correction { i, row } if i < k => row[3] ^= 16,
                Act::Compared { pair, sum, row } => {
                    let wrong = pair.map(|i| i < k);
                    let change = match wrong {
                        // The same wrong one in both: no guess is needed.
                        [true, true] => sum,
                        [false, false] => false,
                        _ => {
                            let guess = prg.next_u32() & 1 == 1;
                            told.lock().unwrap().push((pair[usize::from(wrong[1])], guess));
                            guess
                        }
                    };
                    row[3] ^= u8::from(change) << 4;
                }
                _ => {}
            });
            let party = |party: u16, conduct| {
                move |ch: &mut MemoryChannel| {
                    let mut context = context(party, at as u64, Backend::detect(), conduct);
                    LaBit::new(TAU, 128).run(&mut context, ch, &dealt(party, at as u64, 2 * TAU))
                }
            };
            let (_, end) = Pair::run(party(0, liar), party(1, honest()));
            let choices = dealt(1, at as u64, 2 * TAU).choices;
            let right = guesses.lock().unwrap().iter().all(|&(i, guess)| choices[i] == guess);
            match end {
                Ok(()) => assert!(right),
                Err(error) => {
                    assert!(!right && matches!(error, Error { kind: Kind::Misbehaved(checks::LEAKY_BIT), .. }))
                }
            }
            passed += usize::from(right);
        }
        near(passed, runs, expectation(TAU, k, |_| 1.0));
    }
}

/// The whole attack on a weak key: wrong corrections in `k` OTs, and a matrix that happens not to hide what was
/// learned. Played with the protocol's pairing, for keys of few bits.
#[test]
fn a_weak_key_is_learned_as_seldom_as_the_bound_says() {
    const PSI: usize = 3;
    const TAU: usize = 10;
    const RUNS: usize = 40_000;
    let bound = failure(PSI, TAU);
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(3));
    for k in [0, 4, 6, 8, 10] {
        let mut learned = 0;
        for _ in 0..RUNS {
            let (mut mixed, mut same) = (0, 0);
            for pair in pairs(Backend::detect(), prg.block(), 2 * TAU) {
                match pair.map(|i| i < k) {
                    [false, false] => same += 1,
                    [true, true] => {}
                    _ => mixed += 1,
                }
            }
            let passed = prg.next_u32().trailing_zeros() >= mixed;
            // The rows of the matrix, where bits are left.
            let rows: Vec<u32> = (0..PSI).map(|_| prg.next_u32() & ((1 << same) - 1)).collect();
            let dependent = (1..1u32 << PSI).any(|subset| {
                rows.iter().enumerate().fold(0, |sum, (i, row)| if subset >> i & 1 == 1 { sum ^ row } else { sum }) == 0
            });
            learned += usize::from(passed && dependent);
        }
        assert!((learned as f64) < RUNS as f64 * bound + 4.5 * (RUNS as f64 * bound).sqrt(), "{k}: {learned}");
    }
}

/// A key holder that gives its second chunk another key guesses a bit for each spare one.
#[test]
fn another_key_in_a_chunk_is_a_guess_for_each_spare() {
    const RUNS: usize = 800;
    let mut passed = 0;
    for at in 0..RUNS {
        let other = Block::from_u128(1 << 64);
        let mut chunks = 0;
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(at as u128));
        let liar = lie(move |act| match act {
            Act::Offset(offset) => {
                chunks += 1;
                *offset ^= other.masked(chunks == 2);
            }
            Act::Same(keys) => keys.iter_mut().for_each(|key| *key ^= other.masked(prg.next_u32() & 1 == 1)),
            _ => {}
        });
        let cheat = at % 2;
        let conducts = if cheat == 0 { [liar, honest()] } else { [honest(), liar] };
        let ends = run(at as u64, conducts, |context, bits, ch| {
            bits.draw(context, ch, &mut [Block::ZERO; 2000], &mut [Block::ZERO; 2000])
        });
        match &ends[1 - cheat] {
            Ok(()) => passed += 1,
            Err(error) => assert!(matches!(error, Error { kind: Kind::Misbehaved(checks::LEAKY_BIT), .. }), "{error}"),
        }
    }
    near(passed, RUNS, 1.0 / 16.0);
}

/// Guesses of one secret in every column, and then a bucket that holds nothing else: as often as the bound says.
#[test]
fn buckets_leak_as_seldom_as_the_bound_says() {
    const RUNS: usize = 1600;
    let batch = Bucketing { buckets: 4, size: 2 };
    let leaky = [1, 4];
    for ots in [false, true] {
        let mut leaked = 0;
        for at in 0..RUNS {
            let mut prg = Prg::new(Backend::detect(), Block::from_u128(at as u128));
            let guess = leaky.map(|_| prg.next_u32() & 1 == 1);
            let liar = lie(move |act| match act {
                Act::AndU { u, compared } => leaky.iter().zip(guess).for_each(|(&j, guess)| {
                    u[j] ^= Block::from_u128(8);
                    compared[j] ^= Block::from_u128(8).masked(guess);
                }),
                Act::OtX(x) => leaky.iter().zip(guess).for_each(|(&j, guess)| {
                    x[j][usize::from(!guess)][1] ^= Block::from_u128(8);
                }),
                _ => {}
            });
            let (told, coin) = report::<[u8; 32]>();
            let spy = lie(move |act| {
                if let Act::Coin(coin) = act {
                    *told.lock().unwrap() = *coin;
                }
            });
            let [_, end] = run(at as u64, [liar, spy], |context, bits, ch| {
                // The secrets of the party that is cheated: x of its ANDs, c where it receives.
                Ok(if ots {
                    aot(context, bits, ch, batch)?[1].iter().map(|ot| ot[2].lsb()).collect::<Vec<_>>()
                } else {
                    aand(context, bits, ch, batch)?[0].iter().map(|and| and[0].lsb()).collect()
                })
            });
            let Ok(secrets) = end else { continue };
            let partition = Partition::new(batch, &coin.lock().unwrap(), Backend::detect());
            if partition.object(1, 1) == leaky[1] {
                assert_eq!(secrets[1], guess[0] ^ guess[1]);
                leaked += 1;
            }
        }
        near(leaked, RUNS, batch.failure(0));
    }
}
