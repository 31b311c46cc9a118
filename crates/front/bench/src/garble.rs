//! Garbling alone: one thread, no channel, every figure beside the AES ceiling.

use comity_circuit::Lowered;
use comity_core::{Block, Cursor, Delta, Evaluator, Garbler, GateHash, Prg, Tape};
use comity_garble::{
    Evaluate, Garble, LockstepEvaluator, LockstepGarbler, PrivacyFree, Readable, Scheme, Standard, ThreeHalves,
};
use comity_net::SystemRng;
use comity_terminal::failure::Outcome;

use crate::suite::{Bench, Suite, backend};

/// The hash of half gates alone, key schedules included.
pub(super) const HASH: Bench = Bench {
    name: "garble.hash",
    about: "half-gate hashes, a fresh AES key for each half gate",
    ceiling: Some("machine.aes"),
    run: hash,
};

fn hash(suite: &mut Suite) -> Outcome {
    let ceiling = suite.value("machine.aes");
    let mut hash = GateHash::new(backend(), Block::from_u128(1));
    let (mut first, mut second) = (vec![Block::from_u128(2); 1 << 10], vec![Block::from_u128(3); 1 << 10]);
    const TIMES: usize = 1 << 11;
    suite.rate("garble.hash.garble", "hashes/s", ceiling, 21, || {
        (0..TIMES).for_each(|_| hash.pairs(&mut first, &mut second));
        Ok((2 * TIMES * first.len()) as f64)
    })?;
    suite.rate("garble.hash.evaluate", "hashes/s", ceiling, 21, || {
        (0..TIMES).for_each(|_| hash.each(&mut first));
        Ok((TIMES * first.len()) as f64)
    })
}

/// Half gates on whole circuits, tables to and from a buffer in cache.
pub(super) const HALF_GATES: Bench = Bench {
    name: "garble.half_gates",
    about: "AND gates garbled and evaluated, XOR gates included",
    ceiling: Some("machine.aes"),
    run: half_gates,
};

/// As [`HALF_GATES`], with three halves.
pub(super) const THREE_HALVES: Bench = Bench {
    name: "garble.three_halves",
    about: "AND gates garbled and evaluated with three halves: a quarter fewer bytes",
    ceiling: Some("machine.aes"),
    run: |suite| {
        let (delta, start) = (Delta::new(Block::from_u128(77 << 70)), Block::from_u128(5));
        let sides = (ThreeHalves::garbler(backend(), delta, start, start), ThreeHalves::evaluator(backend(), start));
        scheme::<ThreeHalves>(suite, "garble.three_halves", sides)
    },
};

/// As [`HALF_GATES`], under standard assumptions.
pub(super) const STANDARD: Bench = Bench {
    name: "garble.standard",
    about: "AND gates garbled and evaluated with AES as a pseudorandom function, XOR gates, which cost there, included",
    ceiling: Some("machine.aes"),
    run: |suite| {
        let sides = (Standard::garbler(backend(), &mut SystemRng), Standard::evaluator(backend()));
        scheme::<Standard>(suite, "garble.standard", sides)
    },
};

/// A scheme on whole circuits, tables to and from a buffer.
fn scheme<S: Scheme>(
    suite: &mut Suite,
    group: &str,
    (mut garbler, mut evaluator): (S::Garbler, S::Evaluator),
) -> Outcome {
    let ceiling = suite.value("machine.aes");
    for (name, source) in CIRCUITS {
        let lowered = circuit(source);
        let tape = lowered.tape();
        let mut rng = Prg::new(backend(), Block::from_u128(6));
        let mut wires: Vec<_> = (0..tape.slots()).map(|_| garbler.input(&mut rng)).collect();
        let mut tables = Vec::new();
        suite.rate(&format!("{group}.{name}"), "and/s", ceiling, 21, || {
            Ok(walk(tape, 1 << 20, |part| {
                tables.resize(S::rows(&part).max(tables.len()), Block::ZERO);
                garbler.garble(&part, &mut wires, &mut tables[..S::rows(&part)]);
            }) as f64)
        })?;
        let mut slots: Vec<Block> = (0..tape.slots()).map(|_| rng.block()).collect();
        suite.rate(&format!("{group}.{name}.evaluate"), "and/s", ceiling, 21, || {
            Ok(walk(tape, 1 << 20, |part| evaluator.evaluate(&part, &mut slots, &tables[..S::rows(&part)])) as f64)
        })?;
    }
    Ok(())
}

/// As [`HALF_GATES`], garbled without privacy, for proofs: one row an AND gate.
pub(super) const PRIVACY_FREE: Bench = Bench {
    name: "garble.privacy_free",
    about: "AND gates garbled and evaluated without privacy, as proofs do",
    ceiling: Some("machine.aes"),
    run: privacy_free,
};

/// As [`HALF_GATES`], forty copies in lockstep; the unit counts every copy's gates.
pub(super) const LOCKSTEP: Bench = Bench {
    name: "garble.lockstep40",
    about: "AND gates of 40 copies of a circuit in lockstep",
    ceiling: Some("machine.aes"),
    run: lockstep,
};

const COPIES: usize = 40;
const CIRCUITS: [(&str, &str); 3] = [("aes128", "aes128"), ("sha256", "sha256"), ("chain", "chain10000")];
/// AND gates of one part, so that its tables stay in cache.
const PART: usize = Tape::MAX_ANDS;

fn circuit(name: &str) -> Lowered {
    Lowered::new(&comity_library::find(name).expect("the library has the circuits of the benchmarks"))
}

/// Walks a tape part by part until about `gates` gates are done; returns how many were.
fn walk(tape: &Tape, gates: usize, mut part: impl FnMut(comity_core::Part<'_>)) -> usize {
    let times = gates.div_ceil(tape.ands().len());
    for _ in 0..times {
        let mut cursor = Cursor::default();
        while let Some(next) = cursor.advance(tape, PART) {
            part(next);
        }
    }
    times * tape.ands().len()
}

fn half_gates(suite: &mut Suite) -> Outcome {
    let ceiling = suite.value("machine.aes");
    let start = Block::from_u128(5);
    for (name, source) in CIRCUITS {
        let lowered = circuit(source);
        let tape = lowered.tape();
        let mut slots: Vec<Block> = (0..tape.slots() as u128).map(|i| Block::from_u128(i << 100 | i)).collect();
        let mut tables = vec![Block::ZERO; 2 * PART];
        let mut garbler = Garbler::new(backend(), Delta::new(Block::from_u128(77 << 70)), start);
        suite.rate(&format!("garble.half_gates.{name}"), "and/s", ceiling, 21, || {
            Ok(walk(tape, 1 << 21, |part| garbler.garble(&part, &mut slots, &mut tables[..2 * part.ands()])) as f64)
        })?;
        let mut evaluator = Evaluator::new(backend(), start);
        suite.rate(&format!("garble.half_gates.{name}.evaluate"), "and/s", ceiling, 21, || {
            Ok(walk(tape, 1 << 21, |part| evaluator.evaluate(&part, &mut slots, &tables[..2 * part.ands()])) as f64)
        })?;
    }
    Ok(())
}

fn privacy_free(suite: &mut Suite) -> Outcome {
    let ceiling = suite.value("machine.aes");
    let start = Block::from_u128(5);
    for (name, source) in CIRCUITS {
        let lowered = circuit(source);
        let tape = lowered.tape();
        let mut slots: Vec<Block> = (0..tape.slots() as u128).map(|i| Block::from_u128(i << 100 | i)).collect();
        let mut tables = vec![Block::ZERO; PART];
        let mut garbler = PrivacyFree::garbler(backend(), Delta::new(Block::from_u128(77 << 70)), start);
        suite.rate(&format!("garble.privacy_free.{name}"), "and/s", ceiling, 21, || {
            Ok(walk(tape, 1 << 21, |part| garbler.garble(&part, &mut slots, &mut tables[..part.ands()])) as f64)
        })?;
        let mut evaluator = PrivacyFree::evaluator(backend(), start);
        suite.rate(&format!("garble.privacy_free.{name}.evaluate"), "and/s", ceiling, 21, || {
            Ok(walk(tape, 1 << 21, |part| evaluator.evaluate(&part, &mut slots, &tables[..part.ands()])) as f64)
        })?;
    }
    Ok(())
}

fn lockstep(suite: &mut Suite) -> Outcome {
    let ceiling = suite.value("machine.aes");
    let start = Block::from_u128(5);
    for (name, source) in CIRCUITS {
        let lowered = circuit(source);
        let tape = lowered.tape();
        let deltas: Vec<Delta> = (0..COPIES as u128).map(|i| Delta::new(Block::from_u128(i << 70))).collect();
        let mut tables = vec![Block::ZERO; 2 * COPIES * PART];
        let mut garbler = LockstepGarbler::new(backend(), &deltas, start, tape.slots());
        suite.rate(&format!("garble.lockstep40.{name}"), "and/s", ceiling, 11, || {
            let gates = walk(tape, 1 << 17, |part| garbler.garble(&part, &mut tables[..2 * COPIES * part.ands()]));
            Ok((COPIES * gates) as f64)
        })?;
        let mut evaluator = LockstepEvaluator::new(backend(), COPIES, start, tape.slots());
        suite.rate(&format!("garble.lockstep40.{name}.evaluate"), "and/s", ceiling, 11, || {
            let gates = walk(tape, 1 << 17, |part| evaluator.evaluate(&part, &tables[..2 * COPIES * part.ands()]));
            Ok((COPIES * gates) as f64)
        })?;
    }
    Ok(())
}
