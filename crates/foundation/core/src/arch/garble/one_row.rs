//! What the garbler and the evaluator of privacy-free gates do with a batch: of two half gates, one is left,
//! and so one row.
//!
//! Two gates stand where the two halves of a gate stand elsewhere: in a unit, gate `2 i` hashes under the key
//! of the first half, gate `2 i + 1` under that of the second one. Key ring, rounds and tables are those of
//! two rows then.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::Schedule;
use super::sides::{Evaluating, Garbling};
use super::walk::{Side, load_rows, store_rows};
use crate::memory::block::Block;
use crate::tape::TapeGate;

/// The garbler of gates with one row.
#[derive(Clone, Copy)]
pub(in crate::arch) struct OneRowGarbling(pub(in crate::arch) Garbling);

/// The evaluator of gates with one row.
#[derive(Clone, Copy)]
pub(in crate::arch) struct OneRowEvaluating;

/// The labels of an input of `N` registers' units: of the first gate of each, and of the second one.
///
/// # Safety
/// As for [`Wires`]; there are the gates of `N` registers' units, and `slots` holds the labels that they
/// read.
#[inline(always)]
unsafe fn labels<V: Wires, const N: usize, const FIRST: bool>(
    gates: *const TapeGate,
    slots: *const Block,
) -> [[V; 2]; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut labels = [[V::words(0); 2]; N];
        for i in 0..N {
            for h in 0..2 {
                let gates = gates.add(2 * i * V::LANES + h);
                let mut from = [slots; 4];
                for lane in 0..V::LANES {
                    let gate = &*gates.add(2 * lane);
                    from[lane] = slots.byte_add(if FIRST { gate.a } else { gate.b } as usize);
                }
                labels[i][h] = V::gather(from);
            }
        }
        labels
    }
}

/// Writes the outputs of `N` registers' units. Where both gates of a unit are the same one, the first one's stays.
///
/// # Safety
/// As [`labels`].
#[inline(always)]
unsafe fn put<V: Wires, const N: usize>(out: [[V; 2]; N], gates: *const TapeGate, slots: *mut Block) {
    // SAFETY: the caller's promise.
    unsafe {
        for i in 0..N {
            for h in [1, 0] {
                let gates = gates.add(2 * i * V::LANES + h);
                let mut to = [slots; 4];
                for lane in 0..V::LANES {
                    to[lane] = slots.byte_add((*gates.add(2 * lane)).out as usize);
                }
                out[i][h].scatter(to);
            }
        }
    }
}

/// All bits but bit 0.
///
/// # Safety
/// As for [`Wires`].
#[inline(always)]
unsafe fn even<V: Wires>() -> V {
    // SAFETY: the caller's promise.
    unsafe { V::broadcast((!1u128).to_le_bytes()) }
}

impl Side for OneRowGarbling {
    const WRITES: bool = true;
    const WIDE: usize = 2;
    const GATES: usize = 2;

    /// `T = H(B) ^ H(B ^ delta) ^ A`, and the output `H(B)`, where `H` is cut to an even number.
    #[inline(always)]
    unsafe fn batch<V: Wires, const N: usize>(
        self,
        keys: impl Schedule<V, N>,
        gates: *const TapeGate,
        _: usize,
        slots: *mut Block,
        tables: *mut Block,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let b = labels::<V, N, false>(gates, slots);
            let states = self.0.rounds(b, keys);
            let (mut rows, mut out) = (labels::<V, N, true>(gates, slots), b);
            for i in 0..N {
                let [zero, one, second_zero, second_one] = self.0.hashes(i, b[i], &states);
                rows[i][0] = zero.xor(one).and(even()).xor(rows[i][0]);
                rows[i][1] = second_zero.xor(second_one).and(even()).xor(rows[i][1]);
                out[i] = [zero.and(even()), second_zero.and(even())];
            }
            store_rows(rows, tables);
            put(out, gates, slots);
        }
    }
}

impl Side for OneRowEvaluating {
    const WRITES: bool = false;
    const WIDE: usize = 4;
    const GATES: usize = 2;

    /// `H(B)`, and where `b` is one `T ^ A` added; `b` is bit 0 of the label.
    #[inline(always)]
    unsafe fn batch<V: Wires, const N: usize>(
        self,
        keys: impl Schedule<V, N>,
        gates: *const TapeGate,
        _: usize,
        slots: *mut Block,
        tables: *mut Block,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let b = labels::<V, N, false>(gates, slots);
            let states = Evaluating::rounds(b, keys);
            let (a, mut rows, mut out) = (labels::<V, N, true>(gates, slots), b, b);
            load_rows(&mut rows, tables);
            for i in 0..N {
                let hashes = Evaluating::hashes(i, b[i], &states);
                for h in 0..2 {
                    let row = rows[i][h].xor(a[i][h]).and(b[i][h].lsb_mask());
                    out[i][h] = hashes[h].and(even()).xor(row);
                }
            }
            put(out, gates, slots);
        }
    }
}
