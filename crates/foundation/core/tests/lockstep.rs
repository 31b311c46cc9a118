//! The rows of lockstep garbling: a slot's labels of all copies at once.

use comity_core::{Backend, Block, Cursor, Delta, Gate, LockstepEvaluator, LockstepGarbler, Prg, Segment, Tape};

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
    for (slots, copies) in [(6, 1), (6, 4), (2100, 7), (2100, 40), (9000, 11)] {
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
    let tape = Tape::new(5, vec![], vec![Gate::new(2, 3, 4)], vec![Segment { xors: 0, ands: 1 }]).unwrap();
    for backend in Backend::available() {
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
