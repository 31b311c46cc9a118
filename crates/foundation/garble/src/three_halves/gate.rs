//! The equations of one gate, without a branch on anything that is secret.

use comity_core::{Block, mask};

/// A label: `L`, whose bit 0 is the permute bit, and `R`.
#[derive(Clone, Copy)]
pub(super) struct Halves(pub(super) u64, pub(super) u64);

impl Halves {
    pub(super) fn of(block: Block) -> Halves {
        let bits = block.to_u128();
        Halves(bits as u64, (bits >> 64) as u64)
    }

    pub(super) fn block(self) -> Block {
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
pub(super) struct Hash {
    pub(super) half: u64,
    pub(super) bit: bool,
}

impl Hash {
    /// The first 65 bits of a block.
    pub(super) fn of(block: Block) -> Hash {
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
pub(super) struct Garbled {
    /// `G0`, `G1`, `G2`.
    pub(super) sums: [u64; 3],
    /// `z0` to `z4`.
    pub(super) bits: u8,
    /// The label of what the output is for three of four pairs.
    pub(super) label: Halves,
}

impl Garbled {
    /// The gate of the labels of `a` and `b` whose permute bit is zero; of the hashes of `a`, `b` and `a +
    /// b`, by permute bit; of the permute bits of the odd pair; and of the two random bits.
    pub(super) fn new(
        labels: [Halves; 2],
        delta: Halves,
        [a, b, x]: [[Hash; 2]; 3],
        odd: [bool; 2],
        [p, q]: [bool; 2],
    ) -> Garbled {
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
pub(super) fn evaluated(labels: [Halves; 2], [a, b, x]: [Hash; 3], sums: [u64; 3], bits: u8) -> Halves {
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
