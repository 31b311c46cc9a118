//! Gates that their garbler chooses: which function a gate computes is hidden from the evaluator, and costs
//! one row or three.
//!
//! **Sources**: Zahur, Rosulek, Evans (Eurocrypt 2015), section 4.1, the garbler's half gate; Pinkas,
//! Schneider, Smart, Williams (Asiacrypt 2009), for three rows of a gate of any kind; Kolesnikov, Schneider
//! (ICALP 2008), for free XOR. PRACTICE deliverable D13.3 (2016), section 2.4.3, asks for both.
//!
//! **AND with a bit `c` that the garbler knows**, which needs no label: with `H` the hash of [`GateHash`] the
//! row is `T = H(A) ^ H(A ^ delta) ^ c delta`, and the label of the output for zero is `H(A)` or, if that
//! label of the input has colour one, `H(A) ^ T`. The evaluator, which has the active
//! label `A'`, takes `H(A') ^ colour(A') T`.
//!
//! **A gate of any function `f`** of two wires: of labels `A_i`, `B_j` with colours `i`, `j` the mask is
//! `H(A_i ^ L B_j)`, under a key for each `i`. The output's active label for colours zero and zero is the
//! mask itself, the other three have a row each. A half gate would be one row less, and show whether `f` is
//! odd, as AND is, or even, as XOR is: its four masks have the sum zero. These have not.
//!
//! **What holds**: privacy, and the evaluator does not learn `c` or `f`. Each mask that it cannot compute
//! hides its row, also where delta is in the row; see below. Nothing binds the garbler to any function: it
//! may choose each row.
//!
//! **Assumption**: AES-128 as an ideal cipher. `H(x) = E(s x) ^ s x` under a key of its own for each row or
//! two, so that an evaluator's query to the cipher is to one gate. It breaks that gate if it hits one of the
//! points `s x ^ s M delta` in forward direction, or, backward from a row, `s M delta` or
//! `s M delta ^ delta`, where `M` says what the inputs of two masks differ by: `1`, `L` or `1 + L` times
//! delta. So all of `M` and `s M + 1` have to be invertible; then each query hits with probability `2^-127`
//! for each of the rows, however many gates there are. `s` has `s^2 = s + 1`, and so is no choice for `L`:
//! `s (1 + s) = 1`. `L` is a root of `z^2 + s z + 1`, which has no zero among `0, 1, s, s + 1`.
//!
//! **Cost**: an AND 16 bytes, two AES calls to garble and one to evaluate; a gate 48 bytes, four calls and two.

use comity_core::{Backend, Block, Delta, GateHash};
use rand_core::CryptoRng;
use zeroize::Zeroize;

/// A linear orthomorphism: `s` with `s^2 = s + 1`.
pub(crate) fn orthomorphism(a: Block) -> Block {
    let (low, high) = (a.to_u128() as u64, (a.to_u128() >> 64) as u64);
    Block::from_u128(u128::from(low ^ high) << 64 | u128::from(high))
}

/// `L`, with `L^2 = s L + 1`: see the [module](self).
fn second(a: Block) -> Block {
    const LOW_HALVES: Block = Block::from_u128(0x0000_0000_ffff_ffff_0000_0000_ffff_ffff);
    let (low, high) = (a.to_u128() as u64, (a.to_u128() >> 64) as u64);
    let turned = Block::from_u128(u128::from(high.rotate_left(32)) << 64 | u128::from(low.rotate_left(32)));
    turned ^ orthomorphism(a) & LOW_HALVES
}

/// Rows of a gate of any function.
pub const GATE_ROWS: usize = 3;

/// The garbler's side.
pub struct HiddenGarbler {
    delta: Delta,
    hash: GateHash,
    /// The labels for one of the wires of a batch.
    ones: Vec<Block>,
}

impl HiddenGarbler {
    /// A garbler. `start` is the random start of the gate keys, never used with another delta.
    pub fn new(backend: Backend, delta: Delta, start: Block) -> HiddenGarbler {
        HiddenGarbler { delta, hash: GateHash::new(backend, start), ones: Vec::new() }
    }

    /// A garbler with an offset of its own, under the gate keys from `start` on.
    pub fn fresh(backend: Backend, start: Block, rng: &mut dyn CryptoRng) -> HiddenGarbler {
        HiddenGarbler::new(backend, Delta::new(Block::random(rng)), start)
    }

    /// The offset between the labels of every wire.
    pub fn delta(&self) -> Block {
        self.delta.block()
    }

    /// Replaces each wire by its AND with a bit of the garbler's, and writes a row for each.
    ///
    /// # Panics
    /// If there are not as many bits and rows as wires.
    pub fn and_known(&mut self, bits: impl ExactSizeIterator<Item = bool>, wires: &mut [Block], rows: &mut [Block]) {
        assert!(bits.len() == wires.len() && rows.len() == wires.len(), "a bit and a row for each wire");
        let delta = self.delta.block();
        self.ones.clear();
        self.ones.extend(wires.iter().map(|&wire| wire ^ delta));
        // Kept for the colours of the labels for zero.
        rows.copy_from_slice(wires);
        self.hash.pairs(wires, &mut self.ones);
        for (((wire, one), row), bit) in wires.iter_mut().zip(&self.ones).zip(rows).zip(bits) {
            let colour = row.lsb();
            *row = *wire ^ *one ^ delta.masked(bit);
            *wire ^= row.masked(colour);
        }
    }

    /// Garbles a gate of two wires, whose value for `x` and `y` is bit `x + 2 y` of `table`. Writes the gate's rows,
    /// and returns its output wire.
    pub fn gate(&mut self, table: u8, wires: [Block; 2], rows: &mut [Block; GATE_ROWS]) -> Block {
        let delta = self.delta.block();
        let colours = wires.map(Block::lsb);
        let [a, b] = wires.map(|wire| [false, true].map(|colour| wire ^ delta.masked(colour != wire.lsb())));
        let b = b.map(second);
        let mut masks = b.map(|b| a.map(|a| a ^ b));
        let [left, right] = &mut masks;
        self.hash.pairs(left, right);
        // The gate's value for two colours: delta for one, else zero.
        let value = |first: bool, second: bool| {
            let row = u8::from(first != colours[0]) + 2 * u8::from(second != colours[1]);
            delta.masked(table >> row & 1 == 1)
        };
        let [[zeros, left], [right, ones]] = masks;
        let wire = zeros ^ value(false, false);
        *rows = [left ^ wire ^ value(true, false), right ^ wire ^ value(false, true), ones ^ wire ^ value(true, true)];
        wire
    }
}

impl Drop for HiddenGarbler {
    fn drop(&mut self) {
        self.ones.zeroize();
    }
}

/// The evaluator's side.
pub struct HiddenEvaluator {
    hash: GateHash,
}

impl HiddenEvaluator {
    /// The evaluator of what the garbler with the same `start` garbles, from its first gate on.
    pub fn new(backend: Backend, start: Block) -> HiddenEvaluator {
        HiddenEvaluator { hash: GateHash::new(backend, start) }
    }

    /// Replaces the active label of each wire by that of its AND with the garbler's bit. Overwrites `rows`.
    ///
    /// # Panics
    /// If there are not as many rows as wires.
    pub fn and_known(&mut self, wires: &mut [Block], rows: &mut [Block]) {
        assert_eq!(wires.len(), rows.len(), "a row for each wire");
        for (row, wire) in rows.iter_mut().zip(&*wires) {
            *row = row.masked(wire.lsb());
        }
        self.hash.each(wires);
        wires.iter_mut().zip(rows).for_each(|(wire, row)| *wire ^= *row);
    }

    /// The active label of the output of a gate, from those of its inputs.
    pub fn gate(&mut self, [a, b]: [Block; 2], rows: &[Block; GATE_ROWS]) -> Block {
        let [first, second_colour] = [a.lsb(), b.lsb()];
        let mut masks = [a ^ second(b); 2];
        self.hash.each(&mut masks);
        let mask = masks[0] ^ (masks[0] ^ masks[1]).masked(first);
        let [left, right, ones] = rows;
        let row = left.masked(first & !second_colour) ^ right.masked(second_colour & !first);
        mask ^ row ^ ones.masked(first & second_colour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bit: u32) -> Block {
        Block::from_u128(1 << bit)
    }

    /// The rank of a linear map.
    fn rank(map: impl Fn(Block) -> Block) -> usize {
        let mut rows: Vec<u128> = (0..128).map(|bit| map(block(bit)).to_u128()).collect();
        let mut rank = 0;
        for bit in 0..128 {
            let Some(found) = (rank..rows.len()).find(|&at| rows[at] >> bit & 1 == 1) else { continue };
            rows.swap(rank, found);
            let pivot = rows[rank];
            rows.iter_mut().skip(rank + 1).filter(|row| **row >> bit & 1 == 1).for_each(|row| *row ^= pivot);
            rank += 1;
        }
        rank
    }

    #[test]
    fn no_two_masks_of_a_gate_give_delta_away() {
        let both = |a| a ^ second(a);
        let differences: [&dyn Fn(Block) -> Block; 3] = [&|a| a, &second, &both];
        for difference in differences {
            assert_eq!(rank(difference), 128);
            assert_eq!(rank(|a| orthomorphism(difference(a)) ^ a), 128);
        }
        // The orthomorphism in place of `L` would not do.
        assert_eq!(rank(|a| orthomorphism(a ^ orthomorphism(a)) ^ a), 0);
        for bit in 0..128 {
            let (a, l) = (block(bit), second(block(bit)));
            assert!(orthomorphism(orthomorphism(a)) == orthomorphism(a) ^ a);
            assert!(second(l) == orthomorphism(l) ^ a);
        }
    }

    /// A garbler and an evaluator, and a generator, of one seed.
    fn sides(seed: u128) -> (HiddenGarbler, HiddenEvaluator, impl FnMut() -> Block) {
        let mut rng = comity_testing::laws::rng(seed);
        let (delta, start) = (Delta::new(rng.block()), rng.block());
        let backend = Backend::detect();
        (HiddenGarbler::new(backend, delta, start), HiddenEvaluator::new(backend, start), move || rng.block())
    }

    #[test]
    fn gates_of_all_functions_and_ands_with_known_bits_are_evaluated() {
        let (mut garbler, mut evaluator, mut random) = sides(1);
        let delta = garbler.delta();
        for round in 0..40usize {
            for case in 0..64u8 {
                let (table, x, y) = (case >> 2, case & 1 == 1, case & 2 == 2);
                let (a, b, mut rows) = (random(), random(), [Block::ZERO; GATE_ROWS]);
                let wire = garbler.gate(table, [a, b], &mut rows);
                let active = evaluator.gate([a ^ delta.masked(x), b ^ delta.masked(y)], &rows);
                assert!(active == wire ^ delta.masked(table >> (case & 3) & 1 == 1), "{table:04b} of {x} and {y}");
            }
            let zeros: Vec<Block> = (0..round).map(|_| random()).collect();
            let bits: Vec<[bool; 2]> = (0..round).map(|at| [at % 3 == 1, at % 2 == 1]).collect();
            let (mut wires, mut rows) = (zeros.clone(), zeros.clone());
            garbler.and_known(bits.iter().map(|[known, _]| *known), &mut wires, &mut rows);
            let mut active: Vec<Block> =
                zeros.iter().zip(&bits).map(|(wire, [_, x])| *wire ^ delta.masked(*x)).collect();
            evaluator.and_known(&mut active, &mut rows);
            for ((active, wire), [known, x]) in active.iter().zip(&wires).zip(&bits) {
                assert!(*active == *wire ^ delta.masked(known & x));
            }
        }
    }

    /// The masks of a gate, by its rows: what is left of them once what the gate computes is taken away is
    /// the same for all sixteen functions, and no sum of some of it is zero or delta, so that the rows of one
    /// function are as likely as those of another.
    #[test]
    fn rows_of_all_functions_are_hidden_by_the_same_masks() {
        for seed in 0..20 {
            let masks = |table: u8| {
                let (mut garbler, _, mut random) = sides(seed);
                let (wires, mut rows) = ([random(), random()], [Block::ZERO; GATE_ROWS]);
                let wire = garbler.gate(table, wires, &mut rows);
                let delta = garbler.delta();
                // By colours: the first row is that of nothing, for its mask is the label itself.
                let [first, second] = wires.map(|wire| u8::from(wire.lsb()));
                let colours = [(0, 0), (1, 0), (0, 1), (1, 1)];
                let value = |(i, j): (u8, u8)| delta.masked(table >> ((i ^ first) + 2 * (j ^ second)) & 1 == 1);
                let [left, right, ones] = rows;
                let all = [Block::ZERO, left, right, ones].into_iter().zip(colours);
                (delta, all.map(|(row, colours)| (row ^ wire ^ value(colours)).to_u128()).collect::<Vec<_>>())
            };
            let (delta, and) = masks(0b1000);
            assert!((0..16).all(|table| masks(table).1 == and));
            for some in 1..16u32 {
                let sum =
                    and.iter().enumerate().filter(|(at, _)| some >> at & 1 == 1).fold(0, |sum, (_, mask)| sum ^ mask);
                assert!(sum != 0 && sum != delta.to_u128(), "masks {some:04b}");
            }
        }
    }

    #[test]
    fn offsets_are_drawn() {
        let delta = |seed| {
            let mut rng = comity_testing::laws::rng(seed);
            HiddenGarbler::fresh(Backend::detect(), Block::ZERO, &mut rng).delta()
        };
        assert!(delta(1) != delta(2) && delta(1).lsb() && delta(2).lsb());
    }

    /// The row of an AND with a known bit is that of the other bit, with delta added, whatever was garbled before.
    #[test]
    fn rows_of_known_bits_differ_by_delta_alone() {
        let row = |known: bool| {
            let (mut garbler, _, mut random) = sides(3);
            let (mut wire, mut row) = ([random()], [Block::ZERO]);
            garbler.and_known([known].into_iter(), &mut wire, &mut row);
            (row[0], garbler.delta())
        };
        let ((zero, delta), (one, _)) = (row(false), row(true));
        assert!(zero ^ one == delta && zero != Block::ZERO && one != Block::ZERO);
    }
}
