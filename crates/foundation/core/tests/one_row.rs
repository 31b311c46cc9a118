//! Privacy-free gates on every backend: against their formula, and against the tape computed on plain bits.

use comity_core::{
    Aes128, Backend, Block, Cursor, Delta, Prg, PrivacyFreeEvaluator, PrivacyFreeGarbler, Segment, Tape, TapeGate,
};

use crate::gates::{plain, random_tape, widths};
use crate::{backends, reference};

const START: Block = Block::from_u128(7 << 90);

/// Does the tape twice in a row, in parts of at most `most` gates; `part` gets the tables of each.
fn twice(tape: &Tape, most: usize, mut part: impl FnMut(comity_core::Part<'_>)) {
    for _ in 0..2 {
        let mut cursor = Cursor::default();
        while let Some(next) = cursor.advance(tape, most) {
            part(next);
        }
    }
}

/// The tables of both runs, and the labels for zero after them.
fn garble(backend: Backend, tape: &Tape, most: usize, delta: Block, labels: &[Block]) -> (Vec<Block>, Vec<Block>) {
    let mut garbler = PrivacyFreeGarbler::new(backend, Delta::new(delta), START);
    let (mut tables, mut slots) = (vec![], labels.to_vec());
    twice(tape, most, |part| {
        let from = tables.len();
        tables.resize(from + part.ands(), Block::ZERO);
        garbler.garble(&part, &mut slots, &mut tables[from..]);
    });
    (tables, slots)
}

/// The active labels after both runs.
fn evaluate(backend: Backend, tape: &Tape, most: usize, active: &[Block], mut tables: &[Block]) -> Vec<Block> {
    let (mut evaluator, mut slots) = (PrivacyFreeEvaluator::new(backend, START), active.to_vec());
    twice(tape, most, |part| {
        let now = tables.split_off(..part.ands()).unwrap();
        evaluator.evaluate(&part, &mut slots, now);
    });
    slots
}

/// What [`garble`] makes, gate by gate: two of a segment have tweaks side by side, and a segment begins with
/// an even one.
fn formula(tape: &Tape, delta: Block, labels: &[Block]) -> (Vec<Block>, Vec<Block>) {
    let hash = |label: Block, tweak: u128| {
        let (low, high) = (label.to_u128() as u64, (label.to_u128() >> 64) as u64);
        let sigma = Block::from_u128(u128::from(low ^ high) << 64 | u128::from(high));
        let mut block = [sigma];
        Aes128::new(reference(), START ^ Block::from_u128(tweak)).encrypt(&mut block);
        (block[0] ^ sigma).with_lsb(false)
    };
    let (mut tables, mut slots, mut tweak) = (vec![], labels.to_vec(), 0);
    for _ in 0..2 {
        let (mut xors, mut ands) = (tape.xors(), tape.ands());
        for segment in tape.segments() {
            for gate in xors.split_off(..segment.xors as usize).unwrap() {
                slots[gate.out()] = slots[gate.a()] ^ slots[gate.b()];
            }
            for gate in ands.split_off(..segment.ands as usize).unwrap() {
                let (a, b) = (slots[gate.a()], slots[gate.b()]);
                tables.push(hash(b, tweak) ^ hash(b ^ delta, tweak) ^ a);
                slots[gate.out()] = hash(b, tweak);
                tweak += 1;
            }
            tweak += tweak % 2;
        }
    }
    (tables, slots)
}

#[test]
fn every_backend_garbles_by_the_formula_and_evaluates_right() {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(2027));
    let widths = widths((0..80).chain([64, 1, 200, 1, 1, 7, 255, 256]));
    let slots = if cfg!(miri) { 80 } else { 2100 };
    let tape = random_tape(&mut prg, slots, &widths);
    let delta = prg.block().with_lsb(true);
    let mut labels: Vec<Block> = (0..slots).map(|_| prg.block().with_lsb(false)).collect();
    // The constants: what is active is their bit.
    labels[0] = Block::ZERO;
    labels[1] = delta.with_lsb(false);
    let mut bits: Vec<bool> = (0..slots).map(|_| prg.block().lsb()).collect();
    (bits[0], bits[1]) = (false, true);
    let active: Vec<Block> = labels.iter().zip(&bits).map(|(&l, &b)| l ^ delta.masked(b)).collect();
    let wanted = formula(&tape, delta, &labels);
    plain(&tape, &mut bits);
    plain(&tape, &mut bits);
    for backend in backends() {
        for &most in if cfg!(miri) { &[Tape::MAX_ANDS][..] } else { &[Tape::MAX_ANDS, 4096] } {
            let (tables, zeros) = garble(backend, &tape, most, delta, &labels);
            assert!(tables == wanted.0 && zeros == wanted.1, "{backend}, parts of {most}");
            let ends = evaluate(backend, &tape, most, &active, &tables);
            for slot in 0..slots as usize {
                assert!(ends[slot] == zeros[slot] ^ delta.masked(bits[slot]), "{backend}, slot {slot}");
                assert_eq!(ends[slot].lsb(), bits[slot], "{backend}: a label shows its bit, slot {slot}");
            }
        }
    }
}

#[test]
fn no_two_gates_share_a_key() {
    // The same gate again and again on the same labels: only the tweak differs, so every row must.
    let count = if cfg!(miri) { 24 } else { 600 };
    for width in [1, 2, 3, 8] {
        let gates: Vec<TapeGate> = (0..count).map(|i| TapeGate::new(2, 3, 4 + i % width)).collect();
        let segments = vec![Segment { xors: 0, ands: width }; (count / width) as usize];
        let tape = Tape::new(12, vec![], gates, segments).unwrap();
        let labels: Vec<Block> = (0..12).map(|i| Block::from_u128(i * 0x1234_5678_9abc_def2)).collect();
        for backend in backends() {
            let (tables, _) = garble(backend, &tape, Tape::MAX_ANDS, Block::from_u128(99 << 64), &labels);
            let mut seen: Vec<_> = tables.iter().map(|t| t.to_bytes()).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 2 * count as usize, "{backend}, segments of {width}");
        }
    }
}

#[test]
#[should_panic(expected = "one block for each AND gate")]
fn tables_of_another_length_are_refused() {
    let tape = Tape::new(5, vec![], vec![TapeGate::new(2, 3, 4)], vec![Segment { xors: 0, ands: 1 }]).unwrap();
    let part = Cursor::default().advance(&tape, Tape::MAX_ANDS).unwrap();
    let mut garbler = PrivacyFreeGarbler::new(Backend::detect(), Delta::new(START), START);
    garbler.garble(&part, &mut [Block::ZERO; 5], &mut [Block::ZERO; 2]);
}
