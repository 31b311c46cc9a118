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

use crate::hash::{ROWS, add};

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
    room: Vec<Block>,
}

/// The number of a gate that is garbled or evaluated, for its points.
#[derive(Clone, Copy)]
pub(crate) struct GateNumber(Kind, u64);

impl RowPrf {
    /// `F` for gates whose rows have an entry for each of `parties`.
    pub(crate) fn new(backend: Backend, parties: usize) -> RowPrf {
        RowPrf { backend, parties, counts: [0; 3], room: Vec::new() }
    }

    /// The next gate of a kind.
    pub(crate) fn next(&mut self, kind: Kind) -> GateNumber {
        let count = &mut self.counts[kind as usize];
        *count += 1;
        GateNumber(kind, *count)
    }

    /// Adds `F` of a party's keys to its shares of the rows of the next gate: `sides` has both keys of each
    /// of the gate's inputs, and there is an entry a party in each row.
    pub(crate) fn add_rows(&mut self, kind: Kind, sides: &[[Block; 2]], shares: &mut [Block]) {
        let (n, gate) = (self.parties, self.next(kind));
        debug_assert_eq!(shares.len(), n << sides.len(), "rows of a gate");
        for (side, keys) in sides.iter().enumerate() {
            for (value, key) in keys.iter().enumerate() {
                let of_key = |row: &usize| row >> (sides.len() - 1 - side) & 1 == value;
                let rows = || (0..1 << sides.len()).filter(of_key);
                self.room.clear();
                self.room.extend(rows().flat_map(|row| (0..n).map(move |entry| gate.point(row, entry, side))));
                Aes128::new(self.backend, *key).encrypt(&mut self.room);
                for (row, of_row) in rows().zip(self.room.chunks_exact(n)) {
                    add(&mut shares[row * n..][..n], of_row);
                }
            }
        }
    }

    /// Adds `F` of a party's active key of a side of a gate to the entries of a row.
    pub(crate) fn add_active(
        &mut self,
        (gate, row, side): (GateNumber, usize, usize),
        key: Block,
        entries: &mut [Block],
    ) {
        self.room.clear();
        self.room.extend((0..self.parties).map(|entry| gate.point(row, entry, side)));
        Aes128::new(self.backend, key).encrypt(&mut self.room);
        add(entries, &self.room);
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
        self.room.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use comity_core::Prg;

    use super::*;

    /// What is garbled under keys of a row is what is evaluated with them, of every kind of gate, and no two
    /// masks of gates, rows or entries are the same.
    #[test]
    fn rows_open_with_their_keys() {
        let backend = Backend::detect();
        let mut prg = Prg::new(backend, Block::from_u128(3));
        for n in [2, 5] {
            let (mut garbling, mut evaluating) = (RowPrf::new(backend, n), RowPrf::new(backend, n));
            let mut seen = Vec::new();
            for (kind, sides) in [(Kind::And, 2), (Kind::Xor, 2), (Kind::Output, 1), (Kind::And, 2)] {
                let keys: Vec<[Block; 2]> = (0..sides).map(|_| [prg.block(), prg.block()]).collect();
                let mut shares = vec![Block::ZERO; n << sides];
                garbling.add_rows(kind, &keys, &mut shares);
                let gate = evaluating.next(kind);
                for (row, shares) in shares.chunks_exact(n).enumerate() {
                    let mut entries = vec![Block::ZERO; n];
                    for (side, keys) in keys.iter().enumerate() {
                        let value = row >> (sides - 1 - side) & 1;
                        evaluating.add_active((gate, row, side), keys[value], &mut entries);
                    }
                    assert!(entries == shares, "row {row}");
                }
                seen.extend(shares.iter().map(|share| share.to_u128()));
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
        for gate in [Kind::And, Kind::Xor, Kind::Output, Kind::And, Kind::Xor].map(|kind| prf.next(kind)) {
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
