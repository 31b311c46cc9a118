//! The rows of lockstep garbling: a slot's labels of all copies at once.

use comity_core::{
    Backend, Block, Cursor, Delta, LockstepChecker, LockstepEvaluator, LockstepGarbler, Prg, Segment, Tape, TapeGate,
};

use crate::{backends, reference};

fn blocks(seed: u128, n: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; n];
    Prg::new(Backend::detect(), Block::from_u128(seed)).fill_blocks(&mut blocks);
    blocks
}

fn deltas(copies: usize) -> Vec<Delta> {
    blocks(1, copies).into_iter().map(Delta::new).collect()
}

#[test]
fn rows_are_the_labels_of_all_copies() {
    // One group, and groups of four copies.
    let sizes =
        if cfg!(miri) { &[(6, 1), (6, 4), (80, 14)][..] } else { &[(6, 1), (6, 4), (2100, 7), (2100, 40), (9000, 11)] };
    for &(slots, copies) in sizes {
        let mut garbler = LockstepGarbler::new(Backend::detect(), &deltas(copies), Block::ZERO, slots);
        let mut evaluator = LockstepEvaluator::new(Backend::detect(), copies, Block::ZERO, slots);
        assert_eq!((garbler.copies(), evaluator.copies()), (copies, copies));
        let rows = blocks(2, 3 * copies);
        for first in [2, slots - 3] {
            garbler.set(first, &rows);
            evaluator.set(first, &rows);
            for (i, row) in rows.chunks(copies).enumerate() {
                for (copy, label) in row.iter().enumerate() {
                    assert!(garbler.label(copy, first + i) == label && evaluator.label(copy, first + i) == label);
                }
            }
            let (mut of_garbler, mut of_evaluator) = (blocks(3, 2 * copies), blocks(4, 2 * copies));
            garbler.get(first + 1, &mut of_garbler);
            evaluator.get(first + 1, &mut of_evaluator);
            assert!(of_garbler == rows[copies..] && of_evaluator == rows[copies..]);
        }
    }
}

#[test]
fn constants_are_there_before_the_first_gate() {
    let deltas = deltas(7);
    let (mut zero, mut one) = (blocks(5, 7), blocks(6, 7));
    let mut garbler = LockstepGarbler::new(Backend::detect(), &deltas, Block::ZERO, 0);
    garbler.get(Tape::ZERO as usize, &mut zero);
    garbler.get(Tape::ONE as usize, &mut one);
    assert!(zero == [Block::ZERO; 7] && one.iter().zip(&deltas).all(|(one, delta)| *one == delta.block()));
    let mut both = blocks(7, 14);
    LockstepEvaluator::new(Backend::detect(), 7, Block::ZERO, 0).get(0, &mut both);
    assert!(both == [Block::ZERO; 14]);
}

#[test]
fn no_copies_are_no_work() {
    let tape = Tape::new(5, vec![], vec![TapeGate::new(2, 3, 4)], vec![Segment { xors: 0, ands: 1 }]).unwrap();
    for backend in backends() {
        let mut garbler = LockstepGarbler::new(backend, &[], Block::ZERO, 5);
        let mut evaluator = LockstepEvaluator::new(backend, 0, Block::ZERO, 5);
        garbler.set(2, &[]);
        evaluator.get(2, &mut []);
        let part = Cursor::default().advance(&tape, Tape::MAX_ANDS).unwrap();
        garbler.garble(&part, &mut []);
        evaluator.evaluate(&part, &[]);
    }
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let mut garbler = LockstepGarbler::new(Backend::detect(), &deltas(4), Block::ZERO, 8);
    let mut refused = |first: usize, len: usize| {
        let set = std::panic::AssertUnwindSafe(|| garbler.set(first, &vec![Block::ZERO; len]));
        std::panic::catch_unwind(set).is_err()
    };
    assert!(!refused(7, 4) && !refused(8, 0) && !refused(0, 32));
    assert!(refused(8, 4) && refused(9, 0) && refused(2, 5) && refused(0, 36) && refused(usize::MAX, 4));
}

/// A random tape whose segments have these widths.
fn tape(seed: u128, slots: u32, widths: &[u32]) -> Tape {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(seed));
    let mut pick = |from: u32, to: u32| from + (prg.block().to_u128() % u128::from(to - from)) as u32;
    let (mut xors, mut ands, mut segments) = (vec![], vec![], vec![]);
    for &width in widths {
        // ANDs read the lower half and write the upper one, which XORs bring back.
        let half = slots / 2;
        xors.extend((0..9).map(|_| TapeGate::new(pick(0, slots), pick(0, slots), pick(2, half))));
        ands.extend((0..width).map(|i| TapeGate::new(pick(0, half), pick(0, half), half + i)));
        segments.push(Segment { xors: 9, ands: width });
    }
    Tape::new(slots, xors, ands, segments).unwrap()
}

/// The stretches of a tape, all of them twice.
fn twice(tape: &Tape) -> impl Iterator<Item = comity_core::Part<'_>> {
    let mut cursors = [Cursor::default(); 2];
    std::iter::from_fn(move || cursors.iter_mut().find_map(|cursor| cursor.advance(tape, Tape::MAX_ANDS)))
}

/// The tables of a tape walked twice, `copies` copies, with the labels that the garbler starts and ends with.
struct Garbled {
    start: Vec<Block>,
    tables: Vec<Vec<Block>>,
    end: Vec<Block>,
}

const START: Block = Block::from_u128(7 << 90);

fn garbled(tape: &Tape, copies: usize) -> Garbled {
    let mut garbler = LockstepGarbler::new(Backend::detect(), &deltas(copies), START, tape.slots());
    let start = blocks(9, copies * (tape.slots() - 2));
    garbler.set(2, &start);
    let tables = twice(tape)
        .map(|part| {
            let mut tables = vec![Block::ZERO; 2 * copies * part.ands()];
            garbler.garble(&part, &mut tables);
            tables
        })
        .collect();
    let mut end = vec![Block::ZERO; start.len()];
    garbler.get(2, &mut end);
    Garbled { start, tables, end }
}

/// The rows with only some of their columns.
fn columns(rows: &[Block], copies: usize, columns: &[usize]) -> Vec<Block> {
    rows.chunks(copies).flat_map(|row| columns.iter().map(|&column| row[column])).collect()
}

fn checker(backend: Backend, tape: &Tape, copies: usize, chosen: &[usize], start: &[Block]) -> LockstepChecker {
    let deltas: Vec<Delta> = columns(&blocks(1, copies), copies, chosen).into_iter().map(Delta::new).collect();
    let mut checker = LockstepChecker::new(backend, &deltas, chosen, copies, START, tape.slots());
    assert_eq!(checker.copies(), chosen.len());
    checker.set(2, &columns(start, copies, chosen));
    checker
}

#[test]
fn some_copies_are_evaluated_and_the_others_garbled_again() {
    // One group each, and groups of four copies.
    let sizes = if cfg!(miri) { &[(60, 1, 1), (90, 13, 2)][..] } else { &[(60, 1, 1), (60, 40, 9), (9000, 13, 4)] };
    for &(slots, copies, picks) in sizes {
        let tape = tape(3, slots, if cfg!(miri) { &[1, 5] } else { &[1, 2, 9, 20, 1] });
        let Garbled { start, tables, end } = garbled(&tape, copies);
        for pick in 0..=picks {
            // From none to all, in no order.
            let mixed: Vec<usize> = (0..copies).map(|i| (i * 7 + pick) % copies).collect();
            let (chosen, others) =
                mixed.split_at(if copies == 40 { [0, 1, 4, 10, 16, 20, 24, 33, 37, 40][pick] } else { pick });
            for backend in backends() {
                // With labels for zero on every wire, all values are zero, but for slot ONE, which no evaluator sees.
                let mut evaluator = LockstepEvaluator::of(backend, chosen, copies, START, tape.slots());
                let mut again = checker(backend, &tape, copies, others, &start);
                evaluator.set(2, &columns(&start, copies, chosen));
                for (part, tables) in twice(&tape).zip(&tables) {
                    evaluator.evaluate(&part, tables);
                    again.check(&part, tables);
                }
                let values: Vec<Block> = columns(&end, copies, others);
                let mut labels = vec![Block::ZERO; values.len()];
                again.get(2, &mut labels);
                assert!(labels == values && again.differing().next().is_none(), "{backend}, {others:?} of {copies}");

                let mut alone = LockstepEvaluator::new(reference(), chosen.len(), START, tape.slots());
                alone.set(2, &columns(&start, copies, chosen));
                for (part, tables) in twice(&tape).zip(&tables) {
                    alone.evaluate(&part, &columns(tables, copies, chosen));
                }
                let [mut labels, mut expected] = [0, 1].map(|_| vec![Block::ZERO; (tape.slots() - 2) * chosen.len()]);
                evaluator.get(2, &mut labels);
                alone.get(2, &mut expected);
                assert!(labels == expected, "{backend}, {chosen:?} of {copies}");
            }
        }
    }
}

#[test]
fn any_bit_that_differs_in_a_checked_copy_is_found_and_none_elsewhere() {
    let (tape, copies) = (tape(4, 60, &[3, 1, 12]), 11);
    let Garbled { start, tables, .. } = garbled(&tape, copies);
    let chosen = [9, 2, 3, 5, 10];
    let parts: Vec<_> = twice(&tape).collect();
    let mut places = Prg::new(Backend::detect(), Block::from_u128(12));
    for backend in backends() {
        for _ in 0..if cfg!(miri) { 1 } else { 300 } {
            let [part, block, bit] = [places.block(), places.block(), places.block()].map(|b| b.to_u128() as usize);
            let mut tables = tables.clone();
            let part = part % tables.len();
            let block = block % tables[part].len();
            tables[part][block] ^= Block::from_u128(1 << (bit % 128));
            let mut checker = checker(backend, &tape, copies, &chosen, &start);
            parts.iter().zip(&tables).for_each(|(part, tables)| checker.check(part, tables));
            let column = block % copies;
            let expected: Vec<usize> = chosen.into_iter().filter(|&c| c == column).collect();
            assert_eq!(checker.differing().collect::<Vec<_>>(), expected, "{backend}, block {block} of part {part}");
        }
    }
}

#[test]
fn columns_that_are_not_there_are_refused() {
    let made = |columns: &'static [usize], deltas_for: usize| {
        let evaluator = std::panic::catch_unwind(|| LockstepEvaluator::of(Backend::detect(), columns, 4, START, 2));
        let checker = std::panic::catch_unwind(|| {
            LockstepChecker::new(Backend::detect(), &deltas(deltas_for), columns, 4, START, 2)
        });
        (evaluator.is_ok(), checker.is_ok())
    };
    assert_eq!(made(&[0, 3, 1], 3), (true, true));
    assert_eq!(made(&[0, 4], 2), (false, false));
    assert_eq!(made(&[0, 3], 3), (true, false));
    assert_eq!(made(&[], 0), (true, true));
}
