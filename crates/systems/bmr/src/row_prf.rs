//! `F` for wires that each have offsets of their own: AES-128 as a pseudo-random function, keyed by wires'
//! keys.
//!
//! What hides entry `j` of row `(a, b)` of a gate of `u` and `v` is, of each party, `F_(k_(u,a))(g, j, a, b,
//! u) + F_(k_(v,b))(g, j, a, b, v)`: the row is in the point, since the four rows of a gate would otherwise
//! sum to what its wire's keys sum to. So is the side, whether the key is that of `u` or of `v`: a gate may
//! have one wire, or one and its negation, at both, and then both values would be one and cancel, with the
//! output's key left in clear. Gates of each kind are counted. So no key is asked for one point twice, and as
//! the keys of a wire are uniform and have nothing in common, that AES is a PRF is all that is assumed.

use comity_core::{Aes128, Backend, Block};
use zeroize::Zeroize;

use crate::hash::ROWS;

/// Kinds of gates, which are counted apart.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    And,
    Xor,
    /// The gate of an output's bit, which has one input.
    Output,
}

/// `F`, and the number of gates of each kind so far. The garbling side has one, and so has the evaluating
/// side.
pub(crate) struct RowPrf {
    backend: Backend,
    parties: usize,
    counts: [u64; 3],
    /// A group of keys, and groups of blocks under them.
    keys: Box<[Block; GROUP]>,
    room: Vec<[Block; GROUP]>,
}

/// Keys that are expanded together.
const GROUP: usize = Aes128::GROUP;

impl Kind {
    /// The inputs of a gate.
    pub(crate) fn sides(self) -> usize {
        if let Kind::Output = self { 1 } else { 2 }
    }

    /// The number of the `i`-th row that the key of a value of a side is for.
    fn row(self, side: usize, value: usize, i: usize) -> usize {
        match (self, side) {
            (Kind::Output, _) => value,
            (_, 0) => 2 * value + i,
            _ => 2 * i + value,
        }
    }
}

/// The number of a gate that is garbled or evaluated, for its points.
#[derive(Clone, Copy)]
struct GateNumber(Kind, u64);

/// A use of a key: the index of its gate in a call, the gate's number, and the side that the key is of.
#[derive(Clone, Copy)]
struct Use {
    index: usize,
    gate: GateNumber,
    side: usize,
}

impl RowPrf {
    /// `F` for gates whose rows have an entry for each of `parties`.
    pub(crate) fn new(backend: Backend, parties: usize) -> RowPrf {
        RowPrf { backend, parties, counts: [0; 3], keys: Box::new([Block::ZERO; GROUP]), room: Vec::new() }
    }

    /// Adds `F` of a party's keys to its shares of the rows of the next gates: `sides` has both keys of each
    /// of a gate's inputs, gate after gate, and there is an entry a party in each row.
    pub(crate) fn add_rows(&mut self, kind: Kind, sides: &[[Block; 2]], shares: &mut [Block]) {
        let (n, of_gate) = (self.parties, kind.sides());
        let (rows, each) = (1 << of_gate, (1 << of_gate) / 2);
        debug_assert_eq!(shares.len() * of_gate, sides.len() * rows * n, "rows of gates");
        let numbers = self.take(kind, sides.len() / of_gate);
        let keys = sides.as_flattened();
        let used = |i: usize| {
            let (index, side) = (i / (2 * of_gate), i / 2 % of_gate);
            (Use { index, gate: GateNumber(kind, numbers + index as u64), side }, i % 2)
        };
        for first in (0..keys.len()).step_by(GROUP) {
            let keys = &keys[first..keys.len().min(first + GROUP)];
            let row = |i: usize, of_key: usize| {
                let (used, value) = used(first + i);
                (used, kind.row(used.side, value, of_key))
            };
            self.encrypt(keys, each, row);
            for i in 0..keys.len() {
                for of_key in 0..each {
                    let (Use { index, .. }, row) = row(i, of_key);
                    let entries = &mut shares[(index * rows + row) * n..][..n];
                    entries.iter_mut().zip(&self.room[of_key * n..]).for_each(|(entry, masks)| *entry ^= masks[i]);
                }
            }
        }
    }

    /// Adds `F` of active keys to the entries of a row of each of the next gates: of each gate the active keys of
    /// all parties, side after side, and the number of the row.
    pub(crate) fn add_active(&mut self, kind: Kind, keys: &[Block], rows: &[usize], entries: &mut [Block]) {
        let (n, of_gate) = (self.parties, kind.sides());
        debug_assert_eq!(keys.len(), rows.len() * of_gate * n, "keys of the sides of each gate");
        let numbers = self.take(kind, rows.len());
        for first in (0..keys.len()).step_by(GROUP) {
            let keys = &keys[first..keys.len().min(first + GROUP)];
            let used = |i: usize, _: usize| {
                let (index, side) = ((first + i) / (of_gate * n), (first + i) / n % of_gate);
                (Use { index, gate: GateNumber(kind, numbers + index as u64), side }, rows[index])
            };
            self.encrypt(keys, 1, used);
            for i in 0..keys.len() {
                let entries = &mut entries[used(i, 0).0.index * n..][..n];
                entries.iter_mut().zip(&self.room).for_each(|(entry, masks)| *entry ^= masks[i]);
            }
        }
    }

    /// The first of the numbers of the next gates.
    fn take(&mut self, kind: Kind, gates: usize) -> u64 {
        let count = &mut self.counts[kind as usize];
        *count += gates as u64;
        *count - gates as u64
    }

    /// Puts `F` of keys into the room: for each of `each` rows of a key an entry a party.
    fn encrypt(&mut self, keys: &[Block], each: usize, row: impl Fn(usize, usize) -> (Use, usize)) {
        self.keys[..keys.len()].copy_from_slice(keys);
        self.room.resize(each * self.parties, [Block::ZERO; GROUP]);
        for (of_key, blocks) in self.room.chunks_exact_mut(self.parties).enumerate() {
            for i in 0..keys.len() {
                let (Use { gate, side, .. }, row) = row(i, of_key);
                blocks.iter_mut().enumerate().for_each(|(entry, block)| block[i] = gate.point(row, entry, side));
            }
        }
        Aes128::encrypt_each(self.backend, core::slice::from_ref(&*self.keys), &mut self.room);
    }
}

impl GateNumber {
    /// The point of an entry of a row, for the key of this side.
    fn point(self, row: usize, entry: usize, side: usize) -> Block {
        debug_assert!(row < ROWS && side < 2);
        let place = entry << 8 | (self.0 as usize) << 4 | row << 2 | side;
        Block::from_u128(u128::from(self.1) << 64 | place as u128)
    }
}

impl Drop for RowPrf {
    fn drop(&mut self) {
        self.keys.zeroize();
        self.room.as_flattened_mut().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use comity_core::Prg;

    use super::*;

    /// What parties garble under keys of a row is what is evaluated with them, of every kind of gate and however
    /// many come at a time, and no two masks of gates, rows or entries are the same.
    #[test]
    fn rows_open_with_their_keys() {
        let backend = Backend::detect();
        let mut prg = Prg::new(backend, Block::from_u128(3));
        for n in [2, 5] {
            let mut garbling: Vec<RowPrf> = (0..n).map(|_| RowPrf::new(backend, n)).collect();
            let mut evaluating = [(); ROWS].map(|()| RowPrf::new(backend, n));
            let mut seen = Vec::new();
            for (kind, gates) in [(Kind::And, 1), (Kind::Xor, 9), (Kind::Output, 20), (Kind::And, 33)] {
                let of_gate = kind.sides();
                // By party: both keys of each side of each gate.
                let keys: Vec<Vec<[Block; 2]>> =
                    (0..n).map(|_| (0..gates * of_gate).map(|_| [prg.block(), prg.block()]).collect()).collect();
                let mut sums = vec![Block::ZERO; (gates * n) << of_gate];
                for (garbling, keys) in garbling.iter_mut().zip(&keys) {
                    let mut shares = vec![Block::ZERO; sums.len()];
                    garbling.add_rows(kind, keys, &mut shares);
                    sums.iter_mut().zip(&shares).for_each(|(sum, share)| *sum ^= *share);
                    seen.extend(shares.iter().map(|share| share.to_u128()));
                }
                for (row, evaluating) in evaluating.iter_mut().enumerate() {
                    if row >> of_gate > 0 {
                        // A kind of fewer rows: only to count its gates.
                        evaluating.take(kind, gates);
                        continue;
                    }
                    let value = |i: usize| row >> (of_gate - 1 - i % of_gate) & 1;
                    let active: Vec<Block> =
                        (0..gates * of_gate).flat_map(|i| keys.iter().map(move |keys| keys[i][value(i)])).collect();
                    let mut entries = vec![Block::ZERO; gates * n];
                    evaluating.add_active(kind, &active, &vec![row; gates], &mut entries);
                    for (gate, entries) in entries.chunks_exact(n).enumerate() {
                        assert!(entries == &sums[((gate << of_gate) + row) * n..][..n], "gate {gate}, row {row}");
                    }
                }
            }
            let count = seen.len();
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), count);
        }
    }

    /// One wire at both sides, or one and its negation, hides the rows; and the four rows of an entry do not
    /// cancel.
    #[test]
    fn neither_sides_nor_rows_cancel() {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(4));
        let [zero, one] = [prg.block(), prg.block()];
        for kind in [Kind::And, Kind::Xor] {
            for sides in [[[zero, one], [zero, one]], [[zero, one], [one, zero]], [[zero, one], [prg.block(), one]]] {
                let mut shares = [Block::ZERO; 2 * ROWS];
                RowPrf::new(Backend::detect(), 2).add_rows(kind, &sides, &mut shares);
                assert!(shares.iter().all(|share| *share != Block::ZERO));
                for entry in 0..2 {
                    let sum = (0..ROWS).fold(Block::ZERO, |sum, row| sum ^ shares[2 * row + entry]);
                    assert!(sum != Block::ZERO);
                }
            }
        }
    }

    /// No two points are one.
    #[test]
    fn points_differ() {
        let mut prf = RowPrf::new(Backend::detect(), 16);
        let mut points = Vec::new();
        for gate in
            [Kind::And, Kind::Xor, Kind::Output, Kind::And, Kind::Xor].map(|kind| GateNumber(kind, prf.take(kind, 1)))
        {
            for (row, entry, side) in (0..4 * 16 * 2).map(|i| (i & 3, i >> 2 & 15, i >> 6)) {
                points.push(gate.point(row, entry, side).to_u128());
            }
        }
        let count = points.len();
        points.sort();
        points.dedup();
        assert_eq!(points.len(), count);
    }
}
