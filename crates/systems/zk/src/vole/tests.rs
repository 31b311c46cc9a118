//! Both parties against each other, and liars.

use comity_channel::{Change, Counted, Direction, Tamper, Tampering};
use comity_circuit::{Builder, Program, Wire};
use comity_core::{Backend, Bits, Block, Check, Error, Kind, Prg, Result, SessionId};
use comity_testing::Pair;

use super::prover::{ProverAct, prove};
use super::verifier::{VerifierAct, verify};
use super::{BATCH, SILENT_FROM, bits_of, digest};
use crate::checks::{OTHER_MACS, WRONG_GATES};
use crate::statement::Statement;
use crate::tests::{SESSION, random, rng};
use crate::zkboo::tests::{of_two, two};

/// Both parties' results.
fn play(
    statement: &Statement,
    secret: &Bits,
    mut prover: &mut (dyn for<'a> FnMut(ProverAct<'a>) + Send),
    mut verifier: &mut (dyn for<'a> FnMut(VerifierAct<'a>) + Send),
) -> (Result<()>, Result<()>) {
    let backend = Backend::detect();
    Pair::run(
        |ch| prove((ch, &SESSION), backend, statement, secret, &mut rng(1), &mut prover),
        |ch| verify((ch, &SESSION), backend, statement, &mut rng(2), &mut verifier),
    )
}

fn check(result: &Result<()>) -> Option<&'static Check> {
    result.as_ref().err().and_then(Error::check)
}

#[test]
fn what_is_true_is_proved() {
    for (product, witness) in [(0, 1), (1, 3), (0, 0)] {
        let statement = of_two(product);
        let (proved, verified) = play(&statement, &statement.secret(&two(witness)), &mut |_| (), &mut |_| ());
        assert!(proved.is_ok() && verified.is_ok());
    }
    // One batch; three, the last of them short; and many from the silent generator.
    for (gates, times) in [(6000, 2), (40_000, 60), (60_000, 160)] {
        let (statement, secret) = random(3, gates, times);
        let bits = bits_of(&statement);
        assert!(times == 2 || bits > 2 * BATCH as u64 && !bits.is_multiple_of(BATCH as u64), "{bits}");
        assert_eq!(times == 160, bits > SILENT_FROM, "{bits}");
        let (proved, verified) = play(&statement, &secret, &mut |_| (), &mut |_| ());
        proved.unwrap();
        verified.unwrap();
    }
}

#[test]
fn a_prover_without_a_witness_is_not_believed() {
    let statement = of_two(1);
    for wrong in [0, 1, 2] {
        let secret = statement.secret(&two(wrong));
        let (_, verified) = play(&statement, &secret, &mut |_| (), &mut |_| ());
        assert_eq!(check(&verified), Some(OTHER_MACS));
        // It says that the product is one.
        let mut lie = |act: ProverAct<'_>| {
            if let ProverAct::Product(_, product) = act {
                *product = true;
            }
        };
        let (_, verified) = play(&statement, &secret, &mut lie, &mut |_| ());
        assert_eq!(check(&verified), Some(WRONG_GATES));
    }
    // Without even the MACs, by a guess.
    let mut lie = |act: ProverAct<'_>| {
        if let ProverAct::Outputs(macs) = act {
            macs[1] ^= Block::from_u128(1 << 127);
        }
    };
    let (_, verified) = play(&statement, &statement.secret(&two(3)), &mut lie, &mut |_| ());
    assert_eq!(check(&verified), Some(OTHER_MACS));
}

/// Sums and the outputs' hash are compared whole: one bit of one of their bytes shows, whichever it is.
#[test]
fn each_byte_of_the_last_messages_counts() {
    let (backend, statement) = (Backend::detect(), of_two(1));
    let secret = statement.secret(&two(3));
    let run = |tamper: Option<usize>| {
        Pair::run(
            |ch| {
                let mut ch = Counted::new(ch);
                prove((&mut ch, &SESSION), backend, &statement, &secret, &mut rng(1), &mut |_: ProverAct<'_>| ())
                    .unwrap();
                ch.counts().sent as usize
            },
            |ch| {
                let tamper = Tamper {
                    direction: Direction::Incoming,
                    at: tamper.unwrap_or(usize::MAX),
                    change: Change::Flip { bit: 3 },
                };
                let mut ch = Tampering::new(ch, &tamper);
                verify((&mut ch, &SESSION), backend, &statement, &mut rng(2), &mut |_: VerifierAct<'_>| ())
            },
        )
    };
    let (sent, verified) = run(None);
    verified.unwrap();
    let mut believed = Vec::new();
    for (from, bytes, wants) in [(64, 32, WRONG_GATES), (32, 32, OTHER_MACS)] {
        for at in 0..bytes {
            if check(&run(Some(sent - from + at)).1) != Some(wants) {
                believed.push((wants, at));
            }
        }
    }
    assert!(believed.is_empty(), "{believed:?}");
}

/// What the sums of gates are masked by is 128 bits, each drawn by itself: of a statement without gates the
/// masks alone are sent.
#[test]
fn sums_are_masked_by_bits_of_their_own() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 8), b.input("y", 8));
    let sum: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.xor(x, y)).collect();
    b.output("sum", &sum);
    let program = Program::from_circuit(b.finish()).unwrap().with_owner(1, 0).unwrap();
    let value = |value: u64| Some(Bits::from_words(vec![value], 8));
    let statement = Statement::new(&program, &[None, None], &[value(0x5a)], b"").unwrap();
    assert_eq!(statement.and_gates(), 0);
    let mut masks = Vec::new();
    let mut watch = |act: ProverAct<'_>| {
        if let ProverAct::Sums(sums) = act {
            masks.extend_from_slice(sums);
        }
    };
    let (proved, verified) = play(&statement, &statement.secret(&[value(0x50), value(0x0a)]), &mut watch, &mut |_| ());
    assert!(proved.is_ok() && verified.is_ok() && masks.len() == 2);
    // Random bits: 64 of them are ones, give or take six times their standard deviation.
    for mask in masks {
        assert!((30..98).contains(&mask.to_u128().count_ones()), "{:032x}", mask.to_u128());
    }
}

#[test]
fn one_wrong_gate_of_many_shows() {
    let (statement, secret) = random(5, 40_000, 20);
    let gates = statement.and_gates();
    assert!(gates as usize > BATCH);
    for wrong in [0, 1, BATCH as u64 - 1, BATCH as u64, gates - 1] {
        let mut lie = |act: ProverAct<'_>| match act {
            ProverAct::Product(gate, product) if gate == wrong => *product ^= true,
            _ => {}
        };
        let (_, verified) = play(&statement, &secret, &mut lie, &mut |_| ());
        assert_eq!(check(&verified), Some(WRONG_GATES), "gate {wrong}");
    }
    // A gate's difference changed on its way, in either batch; sums changed.
    for batch in [0, 1] {
        let mut at = 0;
        let mut lie = |act: ProverAct<'_>| {
            if let ProverAct::Told(told) = act {
                if at == batch {
                    *told.last_mut().unwrap() ^= 1;
                }
                at += 1;
            }
        };
        let (_, verified) = play(&statement, &secret, &mut lie, &mut |_| ());
        assert_eq!(check(&verified), Some(WRONG_GATES), "batch {batch}");
        let mut lie = |act: ProverAct<'_>| {
            if let ProverAct::Sums(sums) = act {
                sums[batch] ^= Block::from_u128(1 << 100);
            }
        };
        let (_, verified) = play(&statement, &secret, &mut lie, &mut |_| ());
        assert_eq!(check(&verified), Some(WRONG_GATES), "sum {batch}");
    }
}

/// Numbers of blocks that sum up to nothing.
fn dependent(blocks: &[Block]) -> Vec<usize> {
    // Each row beside those that it is a sum of; no two have the same leading bit.
    let mut rows: Vec<(u128, Bits)> = Vec::new();
    for (i, block) in blocks.iter().enumerate() {
        let (mut sum, mut of) = (block.to_u128(), Bits::zeros(blocks.len()));
        of.set(i, true);
        for (row, numbers) in &rows {
            if sum ^ row < sum {
                sum ^= row;
                of.xor_assign(numbers);
            }
        }
        if sum == 0 {
            return (0..blocks.len()).filter(|i| of.get(*i)).collect();
        }
        rows.push((sum, of));
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.0));
    }
    panic!("more blocks than bits are dependent");
}

/// What coefficients are worth that are known too early, and that they are not: the verifier sends a batch's
/// seed when it has its bits.
#[test]
fn coefficients_leave_after_the_bits() {
    // 140 gates, none on another one, and each output what it is not.
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 140), b.input("y", 140));
    let products: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
    b.output("products", &products);
    let program = Program::from_circuit(b.finish()).unwrap().with_owner(1, 0).unwrap();
    let seed = Block::from_u128(99);
    let mut coefficients = [Block::ZERO; 140];
    Prg::new(Backend::detect(), seed).fill_blocks(&mut coefficients);
    let wrong = dependent(&coefficients);
    assert!(wrong.len() > 20 && wrong.iter().all(|gate| *gate < 140));
    let expected = (0..140).map(|gate| wrong.contains(&gate)).collect();
    let statement = Statement::new(&program, &[None, None], &[Some(expected)], b"").unwrap();
    // All inputs are zero, and so are all products.
    let secret = Bits::zeros(280);
    let mut lie = |act: ProverAct<'_>| match act {
        ProverAct::Product(gate, product) if wrong.contains(&(gate as usize)) => *product = true,
        _ => {}
    };
    let mut known = |act: VerifierAct<'_>| {
        let VerifierAct::Seed(drawn) = act;
        *drawn = seed;
    };
    let (_, verified) = play(&statement, &secret, &mut lie, &mut known);
    assert!(verified.is_ok(), "the seed was known: {verified:?}");
    let (_, verified) = play(&statement, &secret, &mut lie, &mut |_| ());
    assert_eq!(check(&verified), Some(WRONG_GATES));

    // A prover that goes away before it tells the bits of the batch has got nothing since its COTs.
    let heard = |stops: bool| {
        let backend = Backend::detect();
        let (received, verified) = Pair::run(
            |ch| {
                let mut ch = Counted::new(ch);
                let mut stop = |act: ProverAct<'_>| {
                    if stops && matches!(act, ProverAct::Told(_)) {
                        std::panic::resume_unwind(Box::new("it goes away"));
                    }
                };
                let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    prove((&mut ch, &SESSION), backend, &statement, &secret, &mut rng(1), &mut stop)
                }));
                assert_eq!(played.is_err(), stops);
                ch.counts().received
            },
            |ch| {
                let mut ch = Counted::new(ch);
                let mut seeds = 0;
                let mut count = |_: VerifierAct<'_>| seeds += 1;
                let done = verify((&mut ch, &SESSION), backend, &statement, &mut rng(2), &mut count);
                (done, seeds)
            },
        );
        (received, verified)
    };
    let (before, (gone, seeds)) = heard(true);
    assert!(matches!(gone.unwrap_err().kind, Kind::Closed) && seeds == 0);
    let (whole, (_, seeds)) = heard(false);
    assert_eq!((whole - before, seeds), (16, 1), "the seed, and no more, comes after the bits");
}

/// With the same randomness differences change by the witness and nothing else, so uniform bits cover them;
/// and the sums change with them.
#[test]
fn differences_are_the_witness_under_a_pad() {
    let statement = of_two(0);
    // The same prover's randomness with another witness: differences change by exactly the witness, which
    // uniform bits cover.
    let told = |witness: u8| {
        let (mut differences, mut sums) = (Vec::new(), [Block::ZERO; 2]);
        let mut look = |act: ProverAct<'_>| match act {
            ProverAct::Told(told) => differences.extend_from_slice(told),
            ProverAct::Sums(all) => sums = *all,
            _ => {}
        };
        let (proved, verified) = play(&statement, &statement.secret(&two(witness)), &mut look, &mut |_| ());
        assert!(proved.is_ok() && verified.is_ok());
        (differences, sums)
    };
    let (zero, one, two) = (told(0), told(1), told(2));
    assert_eq!((zero.0[0] ^ one.0[0], zero.0[0] ^ two.0[0]), (1, 2));
    assert!(zero.1 != one.1 && one.1 != two.1);
}

#[test]
fn sums_are_under_masks() {
    // Without a gate there is nothing to sum up: what is sent are the masks.
    let mut b = Builder::new();
    let x = b.input("x", 2);
    b.output("x", &x);
    let program = Program::from_circuit(b.finish()).unwrap();
    let statement = Statement::new(&program, &[None], &two(2), b"").unwrap();
    let mut sent = [Block::ZERO; 2];
    let mut look = |act: ProverAct<'_>| {
        if let ProverAct::Sums(sums) = act {
            sent = *sums;
        }
    };
    let (proved, verified) = play(&statement, &statement.secret(&two(2)), &mut look, &mut |_| ());
    assert!(proved.is_ok() && verified.is_ok());
    assert!(sent.iter().all(|sum| *sum != Block::ZERO) && sent[0] != sent[1]);
}

#[test]
fn each_batch_has_coefficients_of_its_own_and_each_session_a_hash() {
    let ((statement, secret), mut seeds) = (random(3, 40_000, 60), Vec::new());
    let mut look = |act: VerifierAct<'_>| {
        let VerifierAct::Seed(seed) = act;
        seeds.push(*seed);
    };
    let (proved, verified) = play(&statement, &secret, &mut |_| (), &mut look);
    assert!(proved.is_ok() && verified.is_ok() && seeds.len() > 2);
    assert!(seeds.iter().enumerate().all(|(i, seed)| !seeds[..i].contains(seed)));
    let [one, other] = [SESSION, SessionId::new([8; 32])].map(|session| digest(&session, &seeds));
    assert_ne!(one, other);
}

#[test]
fn bits_beyond_a_batch_are_refused() {
    let statement = of_two(0);
    let mut lie = |act: ProverAct<'_>| {
        if let ProverAct::Told(told) = act {
            *told.last_mut().unwrap() |= 0x80;
        }
    };
    let (_, verified) = play(&statement, &statement.secret(&two(1)), &mut lie, &mut |_| ());
    assert!(matches!(verified.unwrap_err().kind, Kind::Malformed(_)));
}

#[test]
fn a_verifier_that_lies_in_its_seed_convinces_itself_of_nothing() {
    let (statement, secret) = random(9, 6000, 2);
    // The prover sums with what it was told, the verifier likewise: any seed is as good.
    let mut other = |act: VerifierAct<'_>| {
        let VerifierAct::Seed(seed) = act;
        *seed = Block::ZERO;
    };
    let (proved, verified) = play(&statement, &secret, &mut |_| (), &mut other);
    assert!(proved.is_ok() && verified.is_ok());
}

#[test]
fn parties_with_other_statements_or_sessions_do_not_meet() {
    let backend = Backend::detect();
    let told = |of: &Statement, session: SessionId| {
        let secret = of.secret(&two(1));
        Pair::run(
            |ch| prove((ch, &SESSION), backend, of, &secret, &mut rng(1), &mut |_: ProverAct<'_>| ()),
            |ch| verify((ch, &session), backend, &of_two(0), &mut rng(2), &mut |_: VerifierAct<'_>| ()),
        )
    };
    assert!(told(&of_two(0), SESSION).1.is_ok());
    assert!(told(&of_two(1), SESSION).1.is_err());
    assert!(told(&of_two(0), SessionId::new([8; 32])).1.is_err());
}

#[test]
fn the_simulator_has_no_witness_and_what_is_told_is_the_same_noise() {
    // The product of two secret bits, which is not one, 4000 times: the same bit at each gate.
    let mut b = Builder::new();
    let x = b.input("x", 2);
    let both = b.and(x[0], x[1]);
    b.output("both", &[both]);
    let program = Program::map(b.finish(), 4000, &[0]).unwrap();
    let statement = Statement::new(&program, &[None], &[Some(Bits::zeros(4000))], b"").unwrap();
    // The simulator sees the verifier's Delta, since the COTs are its own: with it a MAC of one becomes one of zero.
    let delta = Block::random(&mut rng(2)).with_lsb(true);
    for (bits, simulates) in [(0, false), (1, false), (2, false), (3, true)] {
        let mut counts = [0u32; 16];
        let mut told_of = |act: ProverAct<'_>| match act {
            ProverAct::Told(told) => told[..500].iter().for_each(|byte| {
                counts[usize::from(byte & 15)] += 1;
                counts[usize::from(byte >> 4)] += 1;
            }),
            ProverAct::Outputs(macs) if simulates => macs.iter_mut().for_each(|mac| {
                assert!(mac.lsb());
                *mac ^= delta;
            }),
            _ => {}
        };
        let (proved, verified) = play(&statement, &statement.secret(&two(bits)), &mut told_of, &mut |_| ());
        proved.unwrap();
        verified.unwrap();
        // All four bits in a row are equally likely: the same pad nowhere twice, and none left out.
        let (expected, freedom) = (1000.0 / 16.0, 15.0f64);
        let distance: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(distance < freedom + 6.0 * (2.0 * freedom).sqrt(), "{bits}: chi-square {distance}, {counts:?}");
    }
}
