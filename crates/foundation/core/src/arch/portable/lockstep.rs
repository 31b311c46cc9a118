//! Lockstep garbling on any machine: a gate of two copies (garbling) or of four (evaluating) fills the eight lanes.

use super::super::garble::KeyRing;
use super::super::garble::lockstep::Shape;
use super::garble::{evaluated_gate, garbled_gate, hash};
use crate::gates::Part;
use crate::{Block, Gate};

/// Walks a stretch of tape; `gate` gets each AND gate, its number and its place in the stretch.
fn walk(
    ring: &mut KeyRing,
    part: &Part<'_>,
    width: usize,
    slots: &mut [Block],
    mut gate: impl FnMut(&KeyRing, &Gate, u64, usize, &mut [Block]),
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

pub(in crate::arch) fn garble(
    ring: &mut KeyRing,
    deltas: &[Block],
    part: &Part<'_>,
    shape: &Shape,
    slots: &mut [Block],
    tables: &mut [Block],
) {
    let (width, copies) = (shape.width, shape.copies);
    walk(ring, part, width, slots, |ring, gate, number, place, slots| {
        let tweak = 2 * number;
        let rows = &mut tables[2 * copies * place..2 * copies * (place + 1)];
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
                if shape.first + j < shape.end {
                    rows[shape.first + j] = generator;
                    rows[copies + shape.first + j] = evaluator;
                }
            }
        }
    });
}

pub(in crate::arch) fn evaluate(
    ring: &mut KeyRing,
    part: &Part<'_>,
    shape: &Shape,
    slots: &mut [Block],
    tables: &[Block],
) {
    let (width, copies) = (shape.width, shape.copies);
    walk(ring, part, width, slots, |ring, gate, number, place, slots| {
        let rows = &tables[2 * copies * place..2 * copies * (place + 1)];
        for i in (0..width).step_by(4) {
            let inputs = core::array::from_fn(|j| {
                let slot = if j % 2 == 0 { gate.a() } else { gate.b() };
                slots[slot * width + i + j / 2]
            });
            let hashes = hash(ring, inputs, core::array::from_fn(|j| 2 * number + j as u64 % 2));
            for j in (0..4).filter(|j| shape.first + i + j < shape.end) {
                let copy = shape.first + i + j;
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
