//! The garbling kernels on any machine, in constant time: eight hashes at a time, bitsliced.

use super::super::garble::KeyRing;
use super::aes::{encrypt8, expand8};
use crate::memory::block::Block;
use crate::tape::part::{Part, beside};
use crate::tape::{Tape, TapeGate};

/// The orthomorphism `(lo, hi) -> (hi, lo ^ hi)`.
fn sigma(x: Block) -> Block {
    let (lo, hi) = (x.to_u128() as u64, (x.to_u128() >> 64) as u64);
    Block::from_u128(u128::from(lo ^ hi) << 64 | u128::from(hi))
}

/// The hashes `H(inputs[i], tweaks[i])`.
pub(super) fn hash<const K: usize>(ring: &KeyRing<K>, inputs: [Block; 8], tweaks: [u64; 8]) -> [Block; 8] {
    let plain = inputs.map(sigma);
    let mut blocks = plain;
    encrypt8(&expand8(&tweaks.map(|t| ring.key(t))), &mut blocks);
    core::array::from_fn(|i| blocks[i] ^ plain[i])
}

/// Hashes groups of sixteen blocks under the next tweaks, those of `second` under the same.
pub(in crate::arch) fn hash_groups(
    ring: &mut KeyRing,
    first: &mut [[Block; 16]],
    mut second: Option<&mut [[Block; 16]]>,
) {
    for i in 0..first.len() {
        let tweak = 2 * ring.take(8);
        for group in [Some(&mut first[i]), second.as_mut().map(|s| &mut s[i])].into_iter().flatten() {
            for (half, blocks) in group.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                *blocks = hash(ring, *blocks, core::array::from_fn(|j| tweak + (8 * half + j) as u64));
            }
        }
    }
}

/// A garbled gate (ZRE15, Figure 2), from the labels for zero and `H(A0), H(A1), H(B0), H(B1)`: both rows and the
/// output's label.
pub(super) fn garbled_gate(a: Block, b: Block, delta: Block, [a0, a1, b0, b1]: [Block; 4]) -> (Block, Block, Block) {
    let generator = a0 ^ a1 ^ delta.masked(b.lsb());
    let evaluator = b0 ^ b1 ^ a;
    (generator, evaluator, a0 ^ generator.masked(a.lsb()) ^ b0 ^ (evaluator ^ a).masked(b.lsb()))
}

/// An evaluated gate (ZRE15, Figure 2), from the active labels, their hashes and both rows: the output's active label.
pub(super) fn evaluated_gate([a, b]: [Block; 2], hashes: [Block; 2], [generator, evaluator]: [Block; 2]) -> Block {
    hashes[0] ^ generator.masked(a.lsb()) ^ hashes[1] ^ (evaluator ^ a).masked(b.lsb())
}

/// Walks a stretch of tape, `BATCH` units of `GATES` AND gates at a time; `batch` gets the gates, the number
/// of the first unit, the slots, and how many gates come before.
/// All of it `COPIES` times, side by side.
pub(super) fn walk<const BATCH: usize, const GATES: usize, const K: usize, const COPIES: usize>(
    ring: &mut KeyRing<K>,
    part: &Part<'_>,
    slots: &mut [Block],
    mut batch: impl FnMut(&KeyRing<K>, &[TapeGate], u64, &mut [Block], usize),
) {
    let (mut xors, mut ands, mut done) = (part.xor_gates(), part.and_gates(), 0);
    let mut room = [TapeGate::new(0, 0, 0); Tape::MAX_ANDS];
    for segment in part.segments() {
        let (mut linear, rest) = xors.split_at(segment.xors as usize);
        xors = rest;
        while !linear.is_empty() {
            for gate in beside::<COPIES>(&mut linear, &mut room) {
                slots[gate.out()] = slots[gate.a()] ^ slots[gate.b()];
            }
        }
        let (mut gates, rest) = ands.split_at(segment.ands as usize);
        ands = rest;
        while !gates.is_empty() {
            for gates in beside::<COPIES>(&mut gates, &mut room).chunks(BATCH * GATES) {
                let first = ring.take(gates.len().div_ceil(GATES) as u64);
                batch(ring, gates, first, slots, done);
                done += gates.len();
            }
        }
    }
}

/// The hashes of two gates' labels, `H(A0), H(A1), H(B0), H(B1)` of each.
fn garbler_hashes(ring: &KeyRing, delta: Block, gates: &[TapeGate], first: u64, slots: &[Block]) -> [Block; 8] {
    let (mut inputs, mut tweaks) = ([Block::ZERO; 8], [0; 8]);
    for (i, gate) in gates.iter().enumerate() {
        let (a, b) = (slots[gate.a()], slots[gate.b()]);
        inputs[4 * i..4 * i + 4].copy_from_slice(&[a, a ^ delta, b, b ^ delta]);
        let tweak = 2 * (first + i as u64);
        tweaks[4 * i..4 * i + 4].copy_from_slice(&[tweak, tweak, tweak + 1, tweak + 1]);
    }
    hash(ring, inputs, tweaks)
}

/// The active labels of four gates, and their hashes.
fn evaluator_hashes(ring: &KeyRing, gates: &[TapeGate], first: u64, slots: &[Block]) -> [[Block; 8]; 2] {
    let (mut inputs, mut tweaks) = ([Block::ZERO; 8], [0; 8]);
    for (i, gate) in gates.iter().enumerate() {
        inputs[2 * i] = slots[gate.a()];
        inputs[2 * i + 1] = slots[gate.b()];
        tweaks[2 * i] = 2 * (first + i as u64);
        tweaks[2 * i + 1] = tweaks[2 * i] + 1;
    }
    [inputs, hash(ring, inputs, tweaks)]
}

pub(in crate::arch) fn garble<const COPIES: usize>(
    ring: &mut KeyRing,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    tables: &mut [Block],
) {
    walk::<2, 1, _, COPIES>(ring, part, slots, |ring, gates, first, slots, done| {
        let hashes = garbler_hashes(ring, delta, gates, first, slots);
        for (i, gate) in gates.iter().enumerate() {
            let (a, b) = (slots[gate.a()], slots[gate.b()]);
            let hashes = core::array::from_fn(|j| hashes[4 * i + j]);
            let (generator, evaluator, label) = garbled_gate(a, b, delta, hashes);
            tables[2 * (done + i)] = generator;
            tables[2 * (done + i) + 1] = evaluator;
            slots[gate.out()] = label;
        }
    });
}

pub(in crate::arch) fn evaluate<const COPIES: usize>(
    ring: &mut KeyRing,
    part: &Part<'_>,
    slots: &mut [Block],
    tables: &[Block],
) {
    walk::<4, 1, _, COPIES>(ring, part, slots, |ring, gates, first, slots, done| {
        let [inputs, hashes] = evaluator_hashes(ring, gates, first, slots);
        for (i, gate) in gates.iter().enumerate() {
            slots[gate.out()] = evaluated_gate(
                [inputs[2 * i], inputs[2 * i + 1]],
                [hashes[2 * i], hashes[2 * i + 1]],
                [tables[2 * (done + i)], tables[2 * (done + i) + 1]],
            );
        }
    });
}

pub(in crate::arch) fn one_row_garble(
    ring: &mut KeyRing,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    tables: &mut [Block],
) {
    walk::<2, 2, _, 1>(ring, part, slots, |ring, gates, first, slots, done| {
        let mut inputs = [Block::ZERO; 8];
        for (pair, gate) in inputs.as_chunks_mut().0.iter_mut().zip(gates) {
            *pair = [slots[gate.b()], slots[gate.b()] ^ delta];
        }
        let hashes = hash(ring, inputs, core::array::from_fn(|i| 2 * first + i as u64 / 2)).map(|h| h.with_lsb(false));
        for (i, (gate, [zero, one])) in gates.iter().zip(hashes.as_chunks().0).enumerate() {
            tables[done + i] = *zero ^ *one ^ slots[gate.a()];
            slots[gate.out()] = *zero;
        }
    });
}

pub(in crate::arch) fn one_row_evaluate(ring: &mut KeyRing, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
    walk::<4, 2, _, 1>(ring, part, slots, |ring, gates, first, slots, done| {
        let mut inputs = [Block::ZERO; 8];
        inputs.iter_mut().zip(gates).for_each(|(input, gate)| *input = slots[gate.b()]);
        let hashes = hash(ring, inputs, core::array::from_fn(|i| 2 * first + i as u64));
        for (i, (gate, hash)) in gates.iter().zip(hashes).enumerate() {
            let row = (tables[done + i] ^ slots[gate.a()]).masked(inputs[i].lsb());
            slots[gate.out()] = hash.with_lsb(false) ^ row;
        }
    });
}

pub(in crate::arch) fn auth_garble(
    ring: &mut KeyRing,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    terms: &mut [Block],
    tables: &mut [Block],
) {
    let ands = part.ands();
    walk::<2, 1, _, 1>(ring, part, slots, |ring, gates, first, slots, done| {
        let hashes = garbler_hashes(ring, delta, gates, first, slots);
        for (i, gate) in gates.iter().enumerate() {
            let [a0, a1, b0, b1] = core::array::from_fn(|j| hashes[4 * i + j]);
            let at = done + i;
            tables[2 * at] = a0 ^ a1 ^ terms[ands + at];
            tables[2 * at + 1] = b0 ^ b1 ^ slots[gate.a()] ^ terms[at];
            terms[2 * ands + at] ^= a0 ^ b0;
            slots[gate.out()] = terms[2 * ands + at].with_lsb(false);
        }
    });
}

pub(in crate::arch) fn auth_evaluate(
    ring: &mut KeyRing,
    part: &Part<'_>,
    slots: &mut [Block],
    terms: &mut [Block],
    tables: &[Block],
) {
    let ands = part.ands();
    walk::<4, 1, _, 1>(ring, part, slots, |ring, gates, first, slots, done| {
        let [inputs, hashes] = evaluator_hashes(ring, gates, first, slots);
        for (i, gate) in gates.iter().enumerate() {
            let at = done + i;
            terms[2 * ands + at] ^= evaluated_gate(
                [inputs[2 * i], inputs[2 * i + 1]],
                [hashes[2 * i], hashes[2 * i + 1]],
                [tables[2 * at] ^ terms[ands + at], tables[2 * at + 1] ^ terms[at]],
            );
            slots[gate.out()] = terms[2 * ands + at];
        }
    });
}
