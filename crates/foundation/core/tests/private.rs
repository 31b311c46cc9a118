//! Three halves, and AES as a pseudorandom function, on every backend: the same bytes, and what the tape computes on
//! plain bits. What the bytes are, the tests of `comity-garble` say.

use comity_core::{
    Backend, Block, Cursor, Delta, Labels, Part, PrfEvaluator, PrfGarbler, Prg, Segment, SlicedEvaluator,
    SlicedGarbler, Tape, TapeGate,
};

use crate::gates::{plain, random_tape, widths};
use crate::{backends, reference};

const SLOTS: u32 = if cfg!(miri) { 80 } else { 700 };

/// AND gates, and sums that are independent of each other, in batches of every width; gates with constants between.
fn tape(prg: &mut Prg) -> Tape {
    let widths = widths((0..40).chain([64, 1, 200, 1, 1, 7, 255, 256]));
    let random = random_tape(prg, SLOTS, &widths);
    let (mut xors, mut segments) = (random.xors().to_vec(), random.segments().to_vec());
    let first = SLOTS / 7 * 5;
    for width in if cfg!(miri) { vec![0, 1, 2, 5, 19] } else { (0..80).collect() } {
        let mut below = |n: u32| (prg.block().to_u128() % u128::from(n)) as u32;
        xors.extend((0..width).map(|i| TapeGate::new(2 + below(SLOTS / 2 - 2), 2 + below(SLOTS / 2 - 2), first + i)));
        xors.extend((0..3).map(|i| TapeGate::new(below(2), first + below(width + 1), 2 + below(SLOTS / 2) + i)));
        segments.push(Segment { xors: width + 3, ands: 0 });
    }
    Tape::new(SLOTS, xors, random.ands().to_vec(), segments).unwrap()
}

/// Does the tape twice in a row, in parts.
fn twice(tape: &Tape, mut part: impl FnMut(Part<'_>)) {
    for _ in 0..2 {
        let mut cursor = Cursor::default();
        while let Some(next) = cursor.advance(tape, Tape::MAX_ANDS) {
            part(next);
        }
    }
}

fn values(tape: &Tape, before: &[bool]) -> Vec<bool> {
    let mut values = before.to_vec();
    plain(tape, &mut values);
    plain(tape, &mut values);
    values
}

fn inputs(prg: &mut Prg) -> Vec<bool> {
    (0..SLOTS).map(|slot| slot == Tape::ONE || slot != Tape::ZERO && prg.block().lsb()).collect()
}

#[test]
fn every_backend_garbles_three_halves_the_same_and_evaluates_right() {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(1));
    let (tape, before) = (tape(&mut prg), inputs(&mut prg));
    let (delta, start, seed) = (prg.block().with_lsb(true), prg.block(), prg.block());
    let labels: Vec<Block> = (0..SLOTS).map(|_| prg.block()).collect();
    let garble = |backend: Backend| {
        let mut garbler = SlicedGarbler::new(backend, Delta::new(delta), start, seed);
        let (mut slots, mut tables) = (labels.clone(), Vec::new());
        twice(&tape, |part| {
            let (mut sums, mut bits) = (vec![0; 24 * part.ands()], vec![0; part.ands()]);
            garbler.garble(&part, &mut slots, &mut sums, &mut bits);
            tables.push((sums, bits));
        });
        (tables, slots)
    };
    let (tables, after) = garble(reference());
    assert!(tables.iter().all(|(_, bits)| bits.iter().all(|bits| *bits < 32)));
    let wanted = values(&tape, &before);
    for backend in backends() {
        assert!(garble(backend) == (tables.clone(), after.clone()), "{backend}");
        let mut evaluator = SlicedEvaluator::new(backend, start);
        let mut slots: Vec<Block> = labels.iter().zip(&before).map(|(&zero, &bit)| zero ^ delta.masked(bit)).collect();
        let mut tables = tables.iter();
        twice(&tape, |part| {
            let (sums, bits) = tables.next().unwrap();
            // What is not of the five bits is not looked at.
            let bits: Vec<u8> = bits.iter().map(|bits| bits | 0xe0).collect();
            evaluator.evaluate(&part, &mut slots, sums, &bits);
        });
        assert!((2..SLOTS as usize).all(|slot| slots[slot] == after[slot] ^ delta.masked(wanted[slot])), "{backend}");
    }
}

#[test]
fn every_backend_garbles_by_a_pseudorandom_function_the_same_and_evaluates_right() {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(2));
    let (tape, before) = (tape(&mut prg), inputs(&mut prg));
    let delta = prg.block().with_lsb(true);
    let mut wire = || {
        let zero = prg.block();
        Labels::new([zero, prg.block().with_lsb(!zero.lsb())], delta)
    };
    let one = Labels::new([wire().zero.with_lsb(false), Block::from_u128(1)], delta);
    let wires: Vec<Labels> = (0..SLOTS).map(|_| wire()).collect();
    let pairs = |wires: &[Labels]| -> Vec<[Block; 2]> {
        wires.iter().map(|wire| [false, true].map(|bit| wire.label(delta, bit))).collect()
    };
    let garble = |backend: Backend| {
        let mut garbler = PrfGarbler::new(backend, delta, one);
        let (mut slots, mut tables) = (wires.clone(), Vec::new());
        twice(&tape, |part| {
            let (mut rows, mut bits) = (vec![Block::ZERO; part.sums() + 2 * part.ands()], vec![0; part.ands()]);
            garbler.garble(&part, &mut slots, &mut rows, &mut bits);
            tables.push((rows, bits));
        });
        (tables, pairs(&slots))
    };
    let (tables, after) = garble(reference());
    assert!(tables.iter().all(|(_, bits)| bits.iter().all(|bits| *bits < 2)));
    let wanted = values(&tape, &before);
    for backend in backends() {
        assert!(garble(backend) == (tables.clone(), after.clone()), "{backend}");
        let mut evaluator = PrfEvaluator::new(backend);
        let mut slots: Vec<Block> = pairs(&wires).iter().zip(&before).map(|(pair, &b)| pair[usize::from(b)]).collect();
        let mut tables = tables.iter();
        twice(&tape, |part| {
            let (rows, bits) = tables.next().unwrap();
            let bits: Vec<u8> = bits.iter().map(|bits| bits | 0xfe).collect();
            evaluator.evaluate(&part, &mut slots, rows, &bits);
        });
        assert!((2..SLOTS as usize).all(|slot| slots[slot] == after[slot][usize::from(wanted[slot])]), "{backend}");
    }
}
