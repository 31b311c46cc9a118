//! Garbling and evaluating tapes, on every backend, against the tape computed on plain bits.

#![allow(clippy::needless_range_loop, reason = "slots index several arrays")]

use comity_core::{
    Backend, Block, Cursor, Delta, Evaluator, Garbler, GateHash, LockstepEvaluator, LockstepGarbler, Prg, Segment,
    Tape, TapeGate,
};

use crate::{backends, reference};

/// The widths of segments that hit every batch size of the kernels: as given, or for Miri a few.
pub(crate) fn widths(all: impl Iterator<Item = u32>) -> Vec<u32> {
    if cfg!(miri) { vec![0, 1, 2, 3, 5, 7, 33, 9] } else { all.collect() }
}

/// A random tape: segments of widths that hit every batch size of the kernels, slots reused freely.
pub(crate) fn random_tape(prg: &mut Prg, slots: u32, widths: &[u32]) -> Tape {
    let mut pick = |from: u32, to: u32| from + (prg.block().to_u128() % u128::from(to - from)) as u32;
    let (mut xors, mut ands, mut segments) = (vec![], vec![], vec![]);
    for &width in widths {
        let linear = pick(0, 6);
        xors.extend((0..linear).map(|_| TapeGate::new(pick(0, slots), pick(0, slots), pick(2, slots))));
        // The lower half is read, the upper half written, so that the segment's gates are independent.
        let half = slots / 2;
        let first = pick(half, slots - width + 1);
        ands.extend((0..width).map(|i| TapeGate::new(pick(0, half), pick(0, half), first + i)));
        segments.push(Segment { xors: linear, ands: width });
        let back = pick(1, 5);
        xors.extend((0..back).map(|_| TapeGate::new(pick(0, slots), pick(0, slots), pick(2, half))));
        segments.push(Segment { xors: back, ands: 0 });
    }
    Tape::new(slots, xors, ands, segments).unwrap()
}

pub(crate) fn plain(tape: &Tape, bits: &mut [bool]) {
    (bits[0], bits[1]) = (false, true);
    let (mut xors, mut ands) = (tape.xors().iter(), tape.ands().iter());
    for segment in tape.segments() {
        for gate in xors.by_ref().take(segment.xors as usize) {
            bits[gate.out()] = bits[gate.a()] ^ bits[gate.b()];
        }
        for gate in ands.by_ref().take(segment.ands as usize) {
            bits[gate.out()] = bits[gate.a()] & bits[gate.b()];
        }
    }
}

/// Garbles the tape twice in a row, in parts; returns the tables and the labels for zero of both runs.
fn garble(backend: Backend, tape: &Tape, delta: Block, labels: &[Block]) -> (Vec<Block>, Vec<Block>) {
    let mut garbler = Garbler::new(backend, Delta::new(delta), Block::from_u128(7 << 90));
    let (mut tables, mut ends, mut slots) = (vec![], vec![], labels.to_vec());
    for _ in 0..2 {
        let mut cursor = Cursor::default();
        while let Some(part) = cursor.advance(tape, Tape::MAX_ANDS) {
            let from = tables.len();
            tables.resize(from + 2 * part.ands(), Block::ZERO);
            garbler.garble(&part, &mut slots, &mut tables[from..]);
        }
        ends.extend_from_slice(&slots);
    }
    (tables, ends)
}

fn evaluate(backend: Backend, tape: &Tape, labels: &[Block], mut tables: &[Block]) -> Vec<Block> {
    let mut evaluator = Evaluator::new(backend, Block::from_u128(7 << 90));
    let (mut ends, mut slots) = (vec![], labels.to_vec());
    for _ in 0..2 {
        let mut cursor = Cursor::default();
        while let Some(part) = cursor.advance(tape, Tape::MAX_ANDS) {
            let (now, later) = tables.split_at(2 * part.ands());
            evaluator.evaluate(&part, &mut slots, now);
            tables = later;
        }
        ends.extend_from_slice(&slots);
    }
    ends
}

#[test]
fn every_backend_garbles_the_same_and_evaluates_right() {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(2026));
    let widths = widths((0..40).chain([64, 3, 200, 1, 1, 7, 256]));
    let sizes = if cfg!(miri) { &[80][..] } else { &[2100, 2500] };
    for &slots in sizes {
        let tape = random_tape(&mut prg, slots, &widths);
        let delta = prg.block().with_lsb(true);
        let mut labels: Vec<Block> = (0..slots).map(|_| prg.block()).collect();
        labels[0] = Block::ZERO;
        labels[1] = delta;
        let mut bits: Vec<bool> = (0..slots).map(|_| prg.block().lsb()).collect();
        let active: Vec<Block> = labels.iter().zip(&bits).map(|(&l, &b)| l ^ delta.masked(b)).collect();

        let expected = garble(reference(), &tape, delta, &labels);
        for backend in backends() {
            let (tables, zeros) = garble(backend, &tape, delta, &labels);
            assert!(tables == expected.0 && zeros == expected.1, "{backend} garbles differently");
            let ends = evaluate(backend, &tape, &active, &tables);
            for run in 0..2 {
                plain(&tape, &mut bits);
                for slot in 2..slots as usize {
                    let at = run * slots as usize + slot;
                    assert!(ends[at] == zeros[at] ^ delta.masked(bits[slot]), "{backend}, run {run}, slot {slot}");
                }
            }
            bits = active.iter().zip(&labels).map(|(&a, &l)| a != l).collect();
        }
    }
}

#[test]
fn no_two_gates_share_a_key() {
    // The same gate again and again on the same labels: only the tweak differs, so every table must.
    let count = if cfg!(miri) { 40 } else { 600 };
    let gates = vec![TapeGate::new(2, 3, 4); count];
    let tape = Tape::new(5, vec![], gates, vec![Segment { xors: 0, ands: 1 }; count]).unwrap();
    let labels: Vec<Block> = (0..5).map(|i| Block::from_u128(i * 0x1234_5678_9abc_def1)).collect();
    for backend in backends() {
        let (tables, _) = garble(backend, &tape, Block::from_u128(99 << 64), &labels);
        let mut seen: Vec<_> = tables.iter().map(|t| t.to_bytes()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 2 * 2 * count, "{backend}");
    }
}

#[test]
fn the_bytes_of_a_small_garbling_are_pinned() {
    let tape = Tape::new(
        6,
        vec![TapeGate::new(2, 1, 5)],
        vec![TapeGate::new(2, 3, 4), TapeGate::new(3, 5, 2), TapeGate::new(4, 2, 3)],
        vec![Segment { xors: 1, ands: 1 }, Segment { xors: 0, ands: 1 }, Segment { xors: 0, ands: 1 }],
    )
    .unwrap();
    let labels: Vec<Block> = (0..6).map(|i| Block::from_u128(i * 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f11)).collect();
    for backend in backends() {
        let (tables, ends) = garble(backend, &tape, Block::from_u128(0x5555 << 100 | 3), &labels);
        let mut hash = blake3::Hasher::new();
        hash.update(Block::bytes_of(&tables)).update(Block::bytes_of(&ends));
        assert_eq!(
            hash.finalize().to_hex().as_str(),
            "fddb0cfd3afaac171a1c64da60c4095a06bf7845667c7b78b8040374b63f7798",
            "{backend}"
        );
    }
}

#[test]
fn lockstep_garbles_each_copy_as_if_alone() {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(11));
    let start = Block::from_u128(7 << 90);
    // 9,000 slots leave room for 4 copies a group, 2,100 for 28: both with copies left over. Under Miri 80 leave room for 12.
    let sizes = if cfg!(miri) { &[(80, 14)][..] } else { &[(2100, 1), (2100, 5), (2100, 40), (9000, 11)] };
    for &(slots, copies) in sizes {
        let tape = random_tape(&mut prg, slots, if cfg!(miri) { &[1, 3] } else { &[1, 2, 9, 33, 1] });
        let deltas: Vec<Block> = (0..copies).map(|_| prg.block()).collect();
        let labels: Vec<Vec<Block>> = (0..copies).map(|_| (0..slots).map(|_| prg.block()).collect()).collect();
        let bits: Vec<bool> = (0..slots).map(|_| prg.block().lsb()).collect();
        let alone: Vec<_> = (0..copies).map(|j| garble(reference(), &tape, deltas[j], &labels[j])).collect();
        for backend in backends() {
            let own: Vec<Delta> = deltas.iter().map(|&d| Delta::new(d)).collect();
            let mut garbler = LockstepGarbler::new(backend, &own, start, slots as usize);
            let mut evaluator = LockstepEvaluator::new(backend, copies, start, slots as usize);
            for copy in 0..copies {
                for slot in 2..slots as usize {
                    *garbler.label(copy, slot) = labels[copy][slot];
                    *evaluator.label(copy, slot) = labels[copy][slot] ^ own[copy].block().masked(bits[slot]);
                }
            }
            let (mut gate, mut bits) = (0, bits.clone());
            for run in 0..2 {
                let mut cursor = Cursor::default();
                while let Some(part) = cursor.advance(&tape, Tape::MAX_ANDS) {
                    let mut tables = vec![Block::ZERO; 2 * copies * part.ands()];
                    garbler.garble(&part, &mut tables);
                    evaluator.evaluate(&part, &tables);
                    for rows in tables.chunks(2 * copies) {
                        for copy in 0..copies {
                            let both = [rows[copy], rows[copies + copy]];
                            assert!(
                                both == alone[copy].0[2 * gate..2 * gate + 2],
                                "{backend}, gate {gate}, copy {copy}"
                            );
                        }
                        gate += 1;
                    }
                }
                plain(&tape, &mut bits);
                for copy in 0..copies {
                    for slot in 2..slots as usize {
                        let zero = alone[copy].1[run * slots as usize + slot];
                        assert!(*garbler.label(copy, slot) == zero, "{backend}, copy {copy}, slot {slot}");
                        let active = zero ^ own[copy].block().masked(bits[slot]);
                        assert!(*evaluator.label(copy, slot) == active, "{backend}, copy {copy}, slot {slot}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_gate_hash_is_a_fresh_aes_key_for_every_tweak() {
    let start = Block::from_u128(0xabcd << 64 | 5);
    let sigma = |x: Block| {
        let (low, high) = (x.to_u128() as u64, (x.to_u128() >> 64) as u64);
        Block::from_u128(u128::from(low ^ high) << 64 | u128::from(high))
    };
    for backend in backends() {
        let mut hash = GateHash::new(backend, start);
        let mut tweak = 0;
        for &len in if cfg!(miri) { &[0, 1, 17][..] } else { &[0, 1, 16, 33, 5, 160] } {
            let mut prg = Prg::new(backend, Block::from_u128(len as u128));
            let mut blocks = vec![[Block::ZERO; 2]; len];
            blocks.iter_mut().for_each(|pair| *pair = [prg.block(), prg.block()]);
            let [mut first, mut second, mut alone] = [0, 1, 0].map(|k| blocks.iter().map(|b| b[k]).collect::<Vec<_>>());
            hash.pairs(&mut first, &mut second);
            let expect = |input: Block, tweak: u128| {
                let mut block = [sigma(input)];
                comity_core::Aes128::new(backend, start ^ Block::from_u128(tweak)).encrypt(&mut block);
                block[0] ^ sigma(input)
            };
            for i in 0..len {
                assert!(first[i] == expect(blocks[i][0], tweak + i as u128), "{backend}, {len} blocks, block {i}");
                assert!(second[i] == expect(blocks[i][1], tweak + i as u128), "{backend}, {len} blocks, block {i}");
            }
            tweak += len.next_multiple_of(16) as u128;
            hash.each(&mut alone);
            for i in 0..len {
                assert!(alone[i] == expect(blocks[i][0], tweak + i as u128), "{backend}, {len} blocks, block {i}");
            }
            tweak += len.next_multiple_of(16) as u128;
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "safe code")]
fn the_gates_of_parts_are_those_of_the_tape() {
    let tape = random_tape(&mut Prg::new(Backend::detect(), Block::from_u128(21)), 700, &[0, 1, 256, 17, 200, 90, 3]);
    for most in [Tape::MAX_ANDS, 300, 10_000] {
        let (mut cursor, mut xors, mut ands, mut segments) = (Cursor::default(), vec![], vec![], vec![]);
        while let Some(part) = cursor.advance(&tape, most) {
            let before = (xors.len(), ands.len());
            for (linear, batch) in part.gates() {
                segments.push(Segment { xors: linear.len() as u32, ands: batch.len() as u32 });
                xors.extend_from_slice(linear);
                ands.extend_from_slice(batch);
            }
            assert_eq!((part.xors(), part.ands()), (xors.len() - before.0, ands.len() - before.1));
        }
        assert!(xors == tape.xors() && ands == tape.ands() && segments == tape.segments());
    }
}
