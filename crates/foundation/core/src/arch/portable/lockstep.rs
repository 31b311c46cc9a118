//! Lockstep garbling on any machine: a gate of two copies (garbling) or of four (evaluating) fills the eight lanes.

use super::super::garble::KeyRing;
use super::super::garble::lockstep::{Compared, Picked, Shape};
use super::garble::{evaluated_gate, garbled_gate, hash};
use crate::memory::block::Block;
use crate::tape::TapeGate;
use crate::tape::part::Part;

/// Walks a stretch of tape; `gate` gets each AND gate, its number and its place in the stretch.
fn walk(
    ring: &mut KeyRing,
    part: &Part<'_>,
    width: usize,
    slots: &mut [Block],
    mut gate: impl FnMut(&KeyRing, &TapeGate, u64, usize, &mut [Block]),
) {
    let (mut xors, mut ands) = (part.xor_gates().iter(), part.and_gates().iter().enumerate());
    for segment in part.segments() {
        for gate in xors.by_ref().take(segment.xors as usize) {
            for i in 0..width {
                slots[gate.out() * width + i] = slots[gate.a() * width + i] ^ slots[gate.b() * width + i];
            }
        }
        for (place, and) in ands.by_ref().take(segment.ands as usize) {
            let number = ring.take(1);
            gate(ring, and, number, place, slots);
        }
    }
}

/// Garbles gate after gate, two copies at a time; `row` gets the place of the gate in the stretch, that of the copy in
/// its group, and both rows of them.
fn garble_copies(
    ring: &mut KeyRing,
    deltas: &[Block],
    part: &Part<'_>,
    slots: &mut [Block],
    mut row: impl FnMut(usize, usize, [Block; 2]),
) {
    let width = deltas.len();
    walk(ring, part, width, slots, |ring, gate, number, place, slots| {
        let tweak = 2 * number;
        for i in (0..width).step_by(2) {
            let input = |j: usize| (slots[gate.a() * width + j], slots[gate.b() * width + j], deltas[j]);
            let [(a, b, d), (e, f, g)] = [input(i), input(i + 1)];
            let tweaks = [tweak, tweak, tweak + 1, tweak + 1];
            let tweaks = core::array::from_fn(|j| tweaks[j % 4]);
            let hashes = hash(ring, [a, a ^ d, b, b ^ d, e, e ^ g, f, f ^ g], tweaks);
            for (j, (a, b, delta)) in [(i, (a, b, d)), (i + 1, (e, f, g))] {
                let hashes = core::array::from_fn(|h| hashes[4 * (j - i) + h]);
                let (generator, evaluator, label) = garbled_gate(a, b, delta, hashes);
                slots[gate.out() * width + j] = label;
                row(place, j, [generator, evaluator]);
            }
        }
    });
}

pub(in crate::arch) fn garble(
    ring: &mut KeyRing,
    deltas: &[Block],
    part: &Part<'_>,
    shape: &Shape,
    slots: &mut [Block],
    tables: &mut [Block],
) {
    let copies = shape.copies;
    garble_copies(ring, deltas, part, slots, |place, j, [generator, evaluator]| {
        if shape.first + j < shape.end {
            let at = 2 * copies * place + shape.first + j;
            tables[at] = generator;
            tables[at + copies] = evaluator;
        }
    });
}

pub(in crate::arch) fn check(
    ring: &mut KeyRing,
    part: &Part<'_>,
    compared: Compared<'_>,
    slots: &mut [Block],
    tables: &[Block],
) {
    let Compared { deltas, picked, differences } = compared;
    garble_copies(ring, deltas, part, slots, |place, j, [generator, evaluator]| {
        let at = 2 * picked.copies * place + picked.columns[j] as usize;
        let now = (generator ^ tables[at]).to_u128() | (evaluator ^ tables[at + picked.copies]).to_u128();
        differences[j] = Block::from_u128(differences[j].to_u128() | now);
    });
}

pub(in crate::arch) fn evaluate(
    ring: &mut KeyRing,
    part: &Part<'_>,
    picked: &Picked<'_>,
    slots: &mut [Block],
    tables: &[Block],
) {
    let (width, copies) = (picked.columns.len(), picked.copies);
    walk(ring, part, width, slots, |ring, gate, number, place, slots| {
        let rows = &tables[2 * copies * place..2 * copies * (place + 1)];
        for i in (0..width).step_by(4) {
            let inputs = core::array::from_fn(|j| {
                let slot = if j % 2 == 0 { gate.a() } else { gate.b() };
                slots[slot * width + i + j / 2]
            });
            let hashes = hash(ring, inputs, core::array::from_fn(|j| 2 * number + j as u64 % 2));
            for j in 0..4 {
                let copy = picked.columns[i + j] as usize;
                let label = evaluated_gate(
                    [inputs[2 * j], inputs[2 * j + 1]],
                    [hashes[2 * j], hashes[2 * j + 1]],
                    [rows[copy], rows[copies + copy]],
                );
                slots[gate.out() * width + i + j] = label;
            }
        }
    });
}
