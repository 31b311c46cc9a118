//! Three halves on any machine, in constant time: the paper's equations, gate by gate.

#[cfg(test)]
mod tests;

use super::garble::{hash, walk};
use crate::arch::garble::KeyRing;
use crate::arch::mask;
use crate::memory::block::Block;
use crate::tape::TapeGate;
use crate::tape::part::Part;

/// A label: `L`, whose bit 0 is the permute bit, and `R`.
#[derive(Clone, Copy)]
struct Halves(u64, u64);

impl Halves {
    fn of(block: Block) -> Halves {
        let bits = block.to_u128();
        Halves(bits as u64, (bits >> 64) as u64)
    }

    fn block(self) -> Block {
        Block::from_u128(u128::from(self.0) | u128::from(self.1) << 64)
    }

    fn lsb(self) -> bool {
        self.0 & 1 == 1
    }

    fn plus(self, other: Halves, times: bool) -> Halves {
        let mask = mask(times);
        Halves(self.0 ^ (other.0 & mask), self.1 ^ (other.1 & mask))
    }
}

/// A hash: a half, and the 65th bit.
#[derive(Clone, Copy)]
struct Hash {
    half: u64,
    bit: bool,
}

impl Hash {
    /// The first 65 bits of a block.
    fn of(block: Block) -> Hash {
        let Halves(half, rest) = Halves::of(block);
        Hash { half, bit: rest & 1 == 1 }
    }
}

/// `r1 S1 + r2 S2`, applied to two labels.
fn controlled([a, b]: [Halves; 2], [r1, r2]: [bool; 2]) -> Halves {
    let (first, second) = (mask(r1), mask(r2));
    let both = a.0 ^ b.1;
    Halves(((a.0 ^ a.1 ^ b.0) & first) ^ (both & second), (both & first) ^ ((a.1 ^ b.0 ^ b.1) & second))
}

/// A garbled gate whose output differs for one pair of input values from that for the others.
struct Garbled {
    /// `G0`, `G1`, `G2`.
    sums: [u64; 3],
    /// `z0` to `z4`.
    bits: u8,
    /// The label of the value that the output has for three of four pairs.
    label: Halves,
}

impl Garbled {
    /// The gate of the labels of `a` and `b` whose permute bit is zero; of the hashes of `a`, `b` and `a +
    /// b`, by permute bit; of the permute bits of the odd pair; and of the two random bits.
    fn of(labels: [Halves; 2], delta: Halves, [a, b, x]: [[Hash; 2]; 3], odd: [bool; 2], [p, q]: [bool; 2]) -> Garbled {
        // What both halves of the output are where permute bits are i and j, but for G0 to G2.
        let output = |i: bool, j: bool, r: [bool; 2]| {
            let [first, second] = [(labels[0], i), (labels[1], j)].map(|(label, bit)| label.plus(delta, bit));
            let hashed = x[usize::from(i ^ j)].half;
            let own = Halves(a[usize::from(i)].half ^ hashed, b[usize::from(j)].half ^ hashed);
            let fixed = Halves(if i { 0 } else { second.0 }, if j { 0 } else { first.1 });
            let is_odd = !(odd[0] ^ i) & !(odd[1] ^ j);
            own.plus(fixed, true).plus(controlled([first, second], r), true).plus(delta, is_odd)
        };
        let label = output(false, false, [p, q]);
        let both = output(true, true, [odd[0] ^ p, odd[1] ^ q]);
        let second = output(false, true, [odd[0] ^ odd[1] ^ p, odd[0] ^ q]);
        let differ = |of: [Hash; 2]| of[0].bit ^ of[1].bit;
        let bits = [
            p ^ a[0].bit ^ x[0].bit,
            q ^ b[0].bit ^ x[0].bit,
            odd[0] ^ differ(a),
            odd[1] ^ differ(b),
            odd[0] ^ odd[1] ^ differ(x),
        ];
        Garbled {
            sums: [both.0 ^ label.0, both.1 ^ label.1, second.0 ^ label.0],
            bits: bits.into_iter().rev().fold(0, |all, bit| all << 1 | u8::from(bit)),
            label,
        }
    }
}

/// The output's active label, from those of the inputs, the hashes of both and of their sum, and the table.
fn evaluated(labels: [Halves; 2], [a, b, x]: [Hash; 3], sums: [u64; 3], bits: u8) -> Halves {
    let [i, j] = labels.map(Halves::lsb);
    let z = [0, 1, 2, 3, 4].map(|k| bits >> k & 1 == 1);
    let third = (i ^ j) & z[4];
    let r = [z[0] ^ (i & z[2]) ^ third ^ a.bit ^ x.bit, z[1] ^ (j & z[3]) ^ third ^ b.bit ^ x.bit];
    let own = Halves(a.half ^ x.half, b.half ^ x.half);
    own.plus(Halves(labels[1].0, 0), !i)
        .plus(Halves(0, labels[0].1), !j)
        .plus(controlled(labels, r), true)
        .plus(Halves(sums[0], 0), i)
        .plus(Halves(0, sums[1]), j)
        .plus(Halves(sums[2], sums[2]), i ^ j)
}

/// Gates of a batch: their labels' hashes come in whole eights.
const GARBLED: usize = 4;
const EVALUATED: usize = 8;

/// The hashes of `PER` blocks a gate, three or six: block `k` of a gate under the gate's key `k`, modulo three.
fn hashes<const N: usize, const PER: usize>(
    ring: &KeyRing<3>,
    first: u64,
    mut blocks: [[Block; PER]; N],
) -> [[Block; PER]; N] {
    let tweak = |i: usize| 4 * (first + (i / PER) as u64) + (i % 3) as u64;
    for (eight, blocks) in blocks.as_flattened_mut().as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *blocks = hash(ring, *blocks, core::array::from_fn(|i| tweak(8 * eight + i)));
    }
    blocks
}

pub(in crate::arch) fn garble(
    ring: &mut KeyRing<3>,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    [pairs, singles, bits]: [&mut [u8]; 3],
) {
    let zeroth = |slots: &[Block], gate: &TapeGate| {
        [gate.a(), gate.b()].map(|slot| slots[slot] ^ delta.masked(slots[slot].lsb()))
    };
    walk::<GARBLED, 1, _, 1>(ring, part, slots, |ring, gates, first, slots, done| {
        let mut blocks = [[Block::ZERO; 6]; GARBLED];
        for (blocks, gate) in blocks.iter_mut().zip(gates) {
            let [a, b] = zeroth(slots, gate);
            *blocks = [a, b, a ^ b, a ^ delta, b ^ delta, a ^ b ^ delta];
        }
        let hashes = hashes(ring, first, blocks);
        for (i, (gate, hashes)) in gates.iter().zip(hashes).enumerate() {
            let odd = [gate.a(), gate.b()].map(|slot| !slots[slot].lsb());
            let hashes = [0, 1, 2].map(|k| [hashes[k], hashes[3 + k]].map(Hash::of));
            let random = [1, 2].map(|bit| bits[done + i] & bit == bit);
            let labels = zeroth(slots, gate).map(Halves::of);
            let garbled = Garbled::of(labels, Halves::of(delta), hashes, odd, random);
            let at = done + i;
            pairs.as_chunks_mut().0[at] = Halves(garbled.sums[0], garbled.sums[1]).block().to_bytes();
            singles.as_chunks_mut().0[at] = garbled.sums[2].to_le_bytes();
            bits[at] = garbled.bits;
            slots[gate.out()] = garbled.label.block();
        }
    });
}

pub(in crate::arch) fn evaluate(
    ring: &mut KeyRing<3>,
    part: &Part<'_>,
    slots: &mut [Block],
    [pairs, singles, bits]: [&[u8]; 3],
) {
    walk::<EVALUATED, 1, _, 1>(ring, part, slots, |ring, gates, first, slots, done| {
        let mut blocks = [[Block::ZERO; 3]; EVALUATED];
        for (blocks, gate) in blocks.iter_mut().zip(gates) {
            let [a, b] = [gate.a(), gate.b()].map(|slot| slots[slot]);
            *blocks = [a, b, a ^ b];
        }
        let hashes = hashes(ring, first, blocks);
        for (i, (gate, (hashes, blocks))) in gates.iter().zip(hashes.into_iter().zip(blocks)).enumerate() {
            let at = done + i;
            let pair = Halves::of(Block::new(pairs.as_chunks().0[at]));
            let sums = [pair.0, pair.1, u64::from_le_bytes(singles.as_chunks().0[at])];
            let labels = [blocks[0], blocks[1]].map(Halves::of);
            slots[gate.out()] = evaluated(labels, hashes.map(Hash::of), sums, bits[at]).block();
        }
    });
}
