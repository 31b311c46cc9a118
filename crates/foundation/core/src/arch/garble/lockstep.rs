//! The garbling kernels for many copies of a circuit at once: one gate's two keys serve four copies a vector.
//!
//! Here a vector holds the same wire of four copies, and the two halves of a gate are hashed side by side. Keys come from
//! the same ring as those of single garbling.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use crate::gates::Part;
use crate::lockstep::LANES;
use crate::{Backend, Block, Gate};

use super::super::portable;
use super::keys::{KeyRing, ROUND_KEYS, RoundKey};
use super::{Quad, dispatch};

/// How a group of copies lies in its slots and in the tables.
pub(crate) struct Shape {
    /// Labels a slot, a multiple of [`LANES`].
    pub(crate) width: usize,
    /// The group's copies are `first..end` ...
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// ... of so many in the tables.
    pub(crate) copies: usize,
}

pub(crate) fn garble(
    backend: Backend,
    keys: &mut KeyRing,
    deltas: &[Block],
    part: &Part<'_>,
    shape: &Shape,
    slots: &mut [Block],
    tables: &mut [Block],
) {
    let (d, s, t) = (deltas.as_ptr(), slots.as_mut_ptr(), tables.as_mut_ptr());
    // SAFETY: the Backend proves the features; the caller checked that `slots` holds `width` labels for each slot of the
    // tape, `deltas` `width` blocks and `tables` two rows of `copies` blocks for each AND gate.
    unsafe {
        dispatch!(
            backend,
            lockstep_garble(keys, d, part, shape, s, t),
            else portable::lockstep::garble(keys, deltas, part, shape, slots, tables)
        )
    }
}

pub(crate) fn evaluate(
    backend: Backend,
    keys: &mut KeyRing,
    part: &Part<'_>,
    shape: &Shape,
    slots: &mut [Block],
    tables: &[Block],
) {
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`.
    unsafe {
        dispatch!(
            backend,
            lockstep_evaluate(keys, part, shape, s, tables.as_ptr()),
            else portable::lockstep::evaluate(keys, part, shape, slots, tables)
        )
    }
}

/// The two keys of one gate: eleven round keys with the gate's lanes in each.
#[derive(Clone, Copy)]
struct GateKeys(*const RoundKey, usize);

impl GateKeys {
    /// Round key `round` of the gate's half `half`, in every lane.
    #[inline(always)]
    unsafe fn get<Q: Quad>(self, round: usize, half: usize) -> Q {
        // SAFETY: the ring holds eleven round keys of four lanes for each pair.
        unsafe { Q::broadcast(self.0.add(round).cast::<Block>().add(self.1 + half)) }
    }
}

/// One side's work on `N` vectors of copies.
pub(in crate::arch) trait Side<Q: Quad>: Copy {
    /// Vectors at a time, so that eight AES states are in flight.
    const WIDE: usize;
    /// `a`, `b`: the gate's inputs. `generator`, `evaluator`: its rows, `copies` blocks apart. `real`: copies that exist.
    unsafe fn gate<const N: usize>(
        self,
        keys: impl Fn(usize, usize) -> Q,
        copy: usize,
        inputs: [*const Block; 2],
        out: *mut Block,
        rows: [*mut Block; 2],
        real: usize,
    );
}

#[derive(Clone, Copy)]
pub(in crate::arch) struct Garbling {
    pub(in crate::arch) deltas: *const Block,
}

#[derive(Clone, Copy)]
pub(in crate::arch) struct Evaluating;

/// Stores the lanes of a row that exist.
#[inline(always)]
unsafe fn store_row<Q: Quad>(row: Q, to: *mut Block, real: usize) {
    // SAFETY: `to` is good for `real` blocks.
    unsafe {
        if real >= LANES {
            row.store(to);
        } else {
            let mut lanes = [Block::ZERO; LANES];
            row.store(lanes.as_mut_ptr());
            to.copy_from_nonoverlapping(lanes.as_ptr(), real);
        }
    }
}

/// Loads the lanes of a row that exist.
#[inline(always)]
unsafe fn load_row<Q: Quad>(from: *const Block, real: usize) -> Q {
    // SAFETY: `from` is good for `real` blocks.
    unsafe {
        if real >= LANES {
            Q::load(from)
        } else {
            let mut lanes = [Block::ZERO; LANES];
            lanes.as_mut_ptr().copy_from_nonoverlapping(from, real);
            Q::load(lanes.as_ptr())
        }
    }
}

impl<Q: Quad> Side<Q> for Garbling {
    const WIDE: usize = 2;

    #[inline(always)]
    unsafe fn gate<const N: usize>(
        self,
        key: impl Fn(usize, usize) -> Q,
        copy: usize,
        [a, b]: [*const Block; 2],
        out: *mut Block,
        [generator, evaluator]: [*mut Block; 2],
        real: usize,
    ) {
        // SAFETY: the caller has the features of Q and the pointers are to N vectors of this gate's wires.
        unsafe {
            let zero = Q::splat_word(0);
            // x[h]: the label for zero of input h under hashing; y[h]: that for one.
            let (mut x, mut y) = ([[zero; N]; 2], [[zero; N]; 2]);
            for (h, input) in [a, b].into_iter().enumerate() {
                let first = key(0, h);
                for i in 0..N {
                    x[h][i] = Q::load(input.add(LANES * i)).sigma().xor(first);
                    y[h][i] = x[h][i].xor(Q::load(self.deltas.add(copy + LANES * i)).sigma());
                }
            }
            for round in 1..ROUND_KEYS - 1 {
                for h in 0..2 {
                    let key = key(round, h);
                    for i in 0..N {
                        x[h][i] = x[h][i].aes_round(key);
                        y[h][i] = y[h][i].aes_round(key);
                    }
                }
            }
            let last = [key(ROUND_KEYS - 1, 0), key(ROUND_KEYS - 1, 1)];
            for i in 0..N {
                let delta = Q::load(self.deltas.add(copy + LANES * i));
                let (a, b) = (Q::load(a.add(LANES * i)), Q::load(b.add(LANES * i)));
                let (key_a, key_b) = (last[0].xor(a.sigma()), last[1].xor(b.sigma()));
                let sigma_delta = delta.sigma();
                let (a0, a1) = (x[0][i].aes_last(key_a), y[0][i].aes_last(key_a.xor(sigma_delta)));
                let (b0, b1) = (x[1][i].aes_last(key_b), y[1][i].aes_last(key_b.xor(sigma_delta)));
                // ZRE15, Figure 2.
                let permute_b = b.lsb_mask();
                let row_g = a0.xor3(a1, permute_b.and(delta));
                let hashes_b = b0.xor(b1);
                let label = a0.xor(a.lsb_mask().and(row_g)).xor3(b0, permute_b.and(hashes_b));
                label.store(out.add(LANES * i));
                let real = real.saturating_sub(LANES * i);
                store_row(row_g, generator.add(LANES * i), real);
                store_row(hashes_b.xor(a), evaluator.add(LANES * i), real);
            }
        }
    }
}

impl<Q: Quad> Side<Q> for Evaluating {
    const WIDE: usize = 4;

    #[inline(always)]
    unsafe fn gate<const N: usize>(
        self,
        key: impl Fn(usize, usize) -> Q,
        _: usize,
        [a, b]: [*const Block; 2],
        out: *mut Block,
        [generator, evaluator]: [*mut Block; 2],
        real: usize,
    ) {
        // SAFETY: the caller has the features of Q and the pointers are to N vectors of this gate's wires.
        unsafe {
            let mut x = [[Q::splat_word(0); N]; 2];
            for (h, input) in [a, b].into_iter().enumerate() {
                let first = key(0, h);
                for i in 0..N {
                    x[h][i] = Q::load(input.add(LANES * i)).sigma().xor(first);
                }
            }
            for round in 1..ROUND_KEYS - 1 {
                for h in 0..2 {
                    let key = key(round, h);
                    for i in 0..N {
                        x[h][i] = x[h][i].aes_round(key);
                    }
                }
            }
            let last = [key(ROUND_KEYS - 1, 0), key(ROUND_KEYS - 1, 1)];
            for i in 0..N {
                let (a, b) = (Q::load(a.add(LANES * i)), Q::load(b.add(LANES * i)));
                let real = real.saturating_sub(LANES * i);
                let row_g: Q = load_row(generator.add(LANES * i), real);
                let row_e: Q = load_row(evaluator.add(LANES * i), real);
                let hash_a = x[0][i].aes_last(last[0].xor(a.sigma()));
                let hash_b = x[1][i].aes_last(last[1].xor(b.sigma()));
                let with_a = hash_a.xor(a.lsb_mask().and(row_g));
                with_a.xor3(hash_b, b.lsb_mask().and(row_e.xor(a))).store(out.add(LANES * i));
            }
        }
    }
}

/// Walks a stretch of tape.
///
/// # Safety
/// The features of `Q` are present; `slots` holds `shape.width` labels for each of the tape's slots, and `tables` two
/// rows of `shape.copies` blocks for each AND gate.
#[inline(always)]
pub(in crate::arch) unsafe fn walk<Q: Quad, S: Side<Q>>(
    side: S,
    ring: &mut KeyRing,
    part: &Part<'_>,
    shape: &Shape,
    slots: *mut Block,
    mut tables: *mut Block,
) {
    let (mut xors, mut ands) = (part.xor_gates(), part.and_gates());
    // SAFETY: the tape's offsets are in range for one block a slot, so `width` times an offset is for `width` blocks.
    let wire = |offset: u32| unsafe { slots.byte_add(offset as usize * shape.width) };
    for segment in part.segments() {
        let (now, later) = xors.split_at(segment.xors as usize);
        xors = later;
        for gate in now {
            let (a, b, out) = (wire(gate.a), wire(gate.b), wire(gate.out));
            for i in (0..shape.width).step_by(LANES) {
                // SAFETY: each wire has `width` labels, a multiple of LANES.
                unsafe { Q::load(a.add(i)).xor(Q::load(b.add(i))).store(out.add(i)) };
            }
        }
        let (now, later) = ands.split_at(segment.ands as usize);
        ands = later;
        for Gate { a, b, out } in now {
            let (a, b, out) = (wire(*a), wire(*b), wire(*out));
            // SAFETY: as promised by the caller; `tables` moves by two rows for each gate.
            unsafe {
                ring.ensure::<Q>(2);
                let number = ring.take(1);
                let keys = GateKeys(ring.pair(number / 2), 2 * (number % 2) as usize);
                let key = |round, half| keys.get::<Q>(round, half);
                let rows = [tables.add(shape.first), tables.add(shape.copies + shape.first)];
                let mut i = 0;
                while i < shape.width {
                    let real = shape.end - shape.first - i;
                    let inputs = [a.add(i).cast_const(), b.add(i).cast_const()];
                    let rows = rows.map(|row| row.add(i));
                    if i + S::WIDE * LANES <= shape.width {
                        if S::WIDE == 4 {
                            side.gate::<4>(key, i, inputs, out.add(i), rows, real);
                        } else {
                            side.gate::<2>(key, i, inputs, out.add(i), rows, real);
                        }
                        i += S::WIDE * LANES;
                    } else {
                        side.gate::<1>(key, i, inputs, out.add(i), rows, real);
                        i += LANES;
                    }
                }
                tables = tables.add(2 * shape.copies);
            }
        }
    }
}
