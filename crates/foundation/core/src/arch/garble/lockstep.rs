//! The garbling kernels for many copies of a circuit at once: one gate's two keys serve four copies a vector.
//!
//! Here a vector holds the same wire of four copies, and the two halves of a gate are hashed side by side.
//! Keys come from the same ring as those of single garbling.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use crate::arch::Backend;
use crate::memory::block::Block;
use crate::tape::LANES;
use crate::tape::TapeGate;
use crate::tape::part::Part;

use super::super::instantiate::run;
use super::super::portable;
use super::Wires;
use super::keys::{Ahead, KeyRing, ROUND_KEYS};
use super::sides::{evaluated, garbled};

/// The shape of a group of copies in its slots and in the tables that it writes.
pub(crate) struct Shape {
    /// The number of labels of a slot, a multiple of [`LANES`].
    pub(crate) width: usize,
    /// The group's copies are `first..end` ...
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// The number of copies in the tables.
    pub(crate) copies: usize,
}

/// The shape of a group of copies in its slots and in the tables that it reads.
#[derive(Clone, Copy)]
pub(crate) struct Picked<'a> {
    /// The column of the copy of each label of a slot, below `copies`; what fills the last vector may repeat any.
    pub(crate) columns: &'a [u32],
    /// The number of copies in the tables.
    pub(crate) copies: usize,
}

/// A group's copies that are garbled again, and held against the tables that arrived.
pub(crate) struct Compared<'a> {
    pub(crate) deltas: &'a [Block],
    pub(crate) picked: Picked<'a>,
    /// The differences of the copies: the bits in which a copy's tables were not those that arrived.
    pub(crate) differences: &'a mut [Block],
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
    debug_assert!(deltas.len() == shape.width && slots.len() >= part.tape().slots() * shape.width);
    debug_assert!(tables.len() == 2 * shape.copies * part.ands());
    let (d, s, t) = (deltas.as_ptr(), slots.as_mut_ptr(), tables.as_mut_ptr());
    // SAFETY: the Backend proves the features; the caller checked that `slots` holds `width` labels for each
    // slot of the tape, `deltas` `width` blocks and `tables` two rows of `copies` blocks for each AND gate.
    unsafe {
        run!(
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
    picked: &Picked<'_>,
    slots: &mut [Block],
    tables: &[Block],
) {
    check_reader(part, picked, slots, tables);
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`; the columns are below `copies`.
    unsafe {
        run!(
            backend,
            lockstep_evaluate(keys, part, picked, s, tables.as_ptr()),
            else portable::lockstep::evaluate(keys, part, picked, slots, tables)
        )
    }
}

/// Garbles, and adds to each copy's difference the bits in which its tables are not these.
pub(crate) fn check(
    backend: Backend,
    keys: &mut KeyRing,
    part: &Part<'_>,
    compared: Compared<'_>,
    slots: &mut [Block],
    tables: &[Block],
) {
    let Compared { deltas, picked, differences } = compared;
    check_reader(part, &picked, slots, tables);
    debug_assert!(deltas.len() == picked.columns.len() && differences.len() == deltas.len());
    let (side, s) = (Checking { deltas: deltas.as_ptr(), differences: differences.as_mut_ptr() }, slots.as_mut_ptr());
    // SAFETY: as in `evaluate`; `deltas` and `differences` hold a block for each column.
    unsafe {
        run!(
            backend,
            lockstep_check(keys, side, part, &picked, s, tables.as_ptr()),
            else portable::lockstep::check(keys, part, Compared { deltas, picked, differences }, slots, tables)
        )
    }
}

/// Asserts what the caller of a reading side has checked.
fn check_reader(part: &Part<'_>, picked: &Picked<'_>, slots: &[Block], tables: &[Block]) {
    debug_assert!(slots.len() >= part.tape().slots() * picked.columns.len());
    debug_assert!(picked.columns.iter().all(|&c| (c as usize) < picked.copies));
    debug_assert!(tables.len() == 2 * picked.copies * part.ands());
}

/// The two keys of one gate.
#[derive(Clone, Copy)]
struct GateKeys(Ahead);

impl GateKeys {
    /// Round key `round` of the gate's half `half`, in every lane.
    #[inline(always)]
    unsafe fn get<V: Wires>(self, round: usize, half: usize) -> V {
        // SAFETY: the ring holds the gate's keys; the caller has the features of V.
        unsafe { V::broadcast(*self.0.at(round, half)) }
    }
}

/// One side's work on `N` vectors of copies.
pub(in crate::arch) trait Side<V: Wires>: Copy {
    /// The most vectors at a time, so that enough AES states are in flight and registers suffice.
    const WIDE: usize;
    /// Does a gate of `N` vectors. `copy`: the first one's place in the group. `inputs`: the gate's `a` and `b`.
    /// `rows`: the generator's and the evaluator's, of all copies.
    unsafe fn gate<const N: usize>(
        self,
        keys: impl Fn(usize, usize) -> V,
        copy: usize,
        inputs: [*const Block; 2],
        out: *mut Block,
        rows: [*mut Block; 2],
    );
}

#[derive(Clone, Copy)]
pub(in crate::arch) struct Garbling {
    deltas: *const Block,
    first: usize,
    real: usize,
}

impl Garbling {
    pub(in crate::arch) fn new(deltas: *const Block, shape: &Shape) -> Garbling {
        Garbling { deltas, first: shape.first, real: shape.end - shape.first }
    }
}

/// The checker, which garbles again what somebody else says to have garbled.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Checking {
    deltas: *const Block,
    differences: *mut Block,
}

/// A reading side, with the columns of its copies.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Reading<S>(pub(in crate::arch) S, pub(in crate::arch) *const u32);

#[derive(Clone, Copy)]
pub(in crate::arch) struct Evaluating;

/// Stores the lanes of a row that exist.
#[inline(always)]
unsafe fn store_row<V: Wires>(row: V, to: *mut Block, real: usize) {
    // SAFETY: `to` is good for `real` blocks.
    unsafe {
        if real >= V::LANES {
            row.store(to.cast());
        } else {
            let mut lanes = [Block::ZERO; LANES];
            row.store(lanes.as_mut_ptr().cast());
            to.copy_from_nonoverlapping(lanes.as_ptr(), real);
        }
    }
}

/// Loads as many columns of a row as there are lanes.
#[inline(always)]
unsafe fn load_row<V: Wires>(row: *const Block, columns: *const u32) -> V {
    let mut from = [row; LANES];
    // SAFETY: `columns` is good for a number a lane, and the row has those columns.
    unsafe {
        for lane in 0..V::LANES {
            from[lane] = row.add(*columns.add(lane) as usize);
        }
        V::gather(from)
    }
}

/// Garbles one gate in `N` vectors of copies; `rows` gets the rows of each vector, the generator's first.
///
/// # Safety
/// The features of `V` are present, and the pointers are to `N` vectors.
#[inline(always)]
unsafe fn garble_gate<V: Wires, const N: usize>(
    key: impl Fn(usize, usize) -> V,
    deltas: *const Block,
    [a, b]: [*const Block; 2],
    out: *mut Block,
    mut rows: impl FnMut(usize, [V; 2]),
) {
    // SAFETY: the caller's promise.
    unsafe {
        let zero = V::words(0);
        // x[h]: the label for zero of input h under hashing; y[h]: that for one.
        let (mut x, mut y) = ([[zero; N]; 2], [[zero; N]; 2]);
        for (h, input) in [a, b].into_iter().enumerate() {
            let first = key(0, h);
            for i in 0..N {
                x[h][i] = V::load(input.add(V::LANES * i).cast()).sigma().xor(first);
                y[h][i] = x[h][i].xor(V::load(deltas.add(V::LANES * i).cast()).sigma());
            }
        }
        for round in 1..ROUND_KEYS - 1 {
            for h in 0..2 {
                let key = key(round, h);
                for i in 0..N {
                    x[h][i] = x[h][i].aes_round(key).in_order();
                    y[h][i] = y[h][i].aes_round(key).in_order();
                }
            }
        }
        let last = [key(ROUND_KEYS - 1, 0), key(ROUND_KEYS - 1, 1)];
        for i in 0..N {
            let delta = V::load(deltas.add(V::LANES * i).cast());
            let (a, b) = (V::load(a.add(V::LANES * i).cast()), V::load(b.add(V::LANES * i).cast()));
            let (key_a, key_b) = (last[0].xor(a.sigma()), last[1].xor(b.sigma()));
            let sigma_delta = delta.sigma();
            let (a0, a1) = (x[0][i].aes_last(key_a), y[0][i].aes_last(key_a.xor(sigma_delta)));
            let (b0, b1) = (x[1][i].aes_last(key_b), y[1][i].aes_last(key_b.xor(sigma_delta)));
            let (row, label) = garbled(a, b, delta, [a0, a1, b0, b1]);
            label.store(out.add(V::LANES * i).cast());
            rows(i, row);
        }
    }
}

impl<V: Wires> Side<V> for Garbling {
    const WIDE: usize = 2;

    #[inline(always)]
    unsafe fn gate<const N: usize>(
        self,
        key: impl Fn(usize, usize) -> V,
        copy: usize,
        inputs: [*const Block; 2],
        out: *mut Block,
        rows: [*mut Block; 2],
    ) {
        // SAFETY: the caller has the features of V and the pointers are to N vectors of this gate's wires.
        unsafe {
            garble_gate::<V, N>(key, self.deltas.add(copy), inputs, out, |i, vectors| {
                let copy = copy + V::LANES * i;
                for h in 0..2 {
                    // A vector with no copy that exists has no place in the rows, and stores nothing.
                    let to = rows[h].wrapping_add(self.first + copy);
                    store_row(vectors[h], to, self.real.saturating_sub(copy));
                }
            });
        }
    }
}

impl<V: Wires> Side<V> for Reading<Checking> {
    const WIDE: usize = 2;

    #[inline(always)]
    unsafe fn gate<const N: usize>(
        self,
        key: impl Fn(usize, usize) -> V,
        copy: usize,
        inputs: [*const Block; 2],
        out: *mut Block,
        rows: [*mut Block; 2],
    ) {
        let Reading(Checking { deltas, differences }, columns) = self;
        // SAFETY: the caller has the features of V and the pointers are to N vectors of this gate's wires.
        unsafe {
            garble_gate::<V, N>(key, deltas.add(copy), inputs, out, |i, [generator, evaluator]| {
                let (columns, difference) =
                    (columns.add(copy + V::LANES * i), differences.add(copy + V::LANES * i).cast());
                let now = generator.xor(load_row(rows[0], columns)).or(evaluator.xor(load_row(rows[1], columns)));
                V::load(difference).or(now).store(difference);
            });
        }
    }
}

impl<V: Wires> Side<V> for Reading<Evaluating> {
    const WIDE: usize = 4;

    #[inline(always)]
    unsafe fn gate<const N: usize>(
        self,
        key: impl Fn(usize, usize) -> V,
        copy: usize,
        [a, b]: [*const Block; 2],
        out: *mut Block,
        [generator, evaluator]: [*mut Block; 2],
    ) {
        // SAFETY: the caller has the features of V and the pointers are to N vectors of this gate's wires.
        unsafe {
            let mut x = [[V::words(0); N]; 2];
            for (h, input) in [a, b].into_iter().enumerate() {
                let first = key(0, h);
                for i in 0..N {
                    x[h][i] = V::load(input.add(V::LANES * i).cast()).sigma().xor(first);
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
                let (a, b) = (V::load(a.add(V::LANES * i).cast()), V::load(b.add(V::LANES * i).cast()));
                let columns = self.1.add(copy + V::LANES * i);
                let (row_g, row_e): (V, V) = (load_row(generator, columns), load_row(evaluator, columns));
                let hash_a = x[0][i].aes_last(last[0].xor(a.sigma()));
                let hash_b = x[1][i].aes_last(last[1].xor(b.sigma()));
                evaluated([a, b], [hash_a, hash_b], [row_g, row_e]).store(out.add(V::LANES * i).cast());
            }
        }
    }
}

/// Walks a stretch of tape.
///
/// # Safety
/// The features of `V` are present; `slots` holds `width` labels for each of the tape's slots, and `tables` two rows of
/// `copies` blocks for each AND gate; what the side points to is for `width` copies.
#[inline(always)]
pub(in crate::arch) unsafe fn walk<V: Wires, S: Side<V>>(
    side: S,
    ring: &mut KeyRing,
    part: &Part<'_>,
    [width, copies]: [usize; 2],
    slots: *mut Block,
    mut tables: *mut Block,
) {
    let (mut xors, mut ands) = (part.xor_gates(), part.and_gates());
    // SAFETY: the tape's offsets are in range for one block a slot, so `width` times an offset is for `width` blocks.
    let wire = |offset: u32| unsafe { slots.byte_add(offset as usize * width) };
    for segment in part.segments() {
        let (now, later) = xors.split_at(segment.xors as usize);
        xors = later;
        for gate in now {
            let (a, b, out) = (wire(gate.a), wire(gate.b), wire(gate.out));
            for i in (0..width).step_by(V::LANES) {
                // SAFETY: each wire has `width` labels, a multiple of LANES.
                unsafe { V::load(a.add(i).cast()).xor(V::load(b.add(i).cast())).store(out.add(i).cast()) };
            }
        }
        let (now, later) = ands.split_at(segment.ands as usize);
        ands = later;
        for TapeGate { a, b, out } in now {
            let (a, b, out) = (wire(*a), wire(*b), wire(*out));
            // SAFETY: as promised by the caller; `tables` moves by two rows for each gate.
            unsafe {
                ring.ensure::<V>(1);
                let keys = GateKeys(ring.ahead());
                ring.take(1);
                let key = |round, half| keys.get::<V>(round, half);
                let rows = [tables, tables.add(copies)];
                let mut i = 0;
                while i < width {
                    let inputs = [a.add(i).cast_const(), b.add(i).cast_const()];
                    if i + S::WIDE * V::LANES <= width {
                        if S::WIDE == 4 {
                            side.gate::<4>(key, i, inputs, out.add(i), rows);
                        } else {
                            side.gate::<2>(key, i, inputs, out.add(i), rows);
                        }
                        i += S::WIDE * V::LANES;
                    } else {
                        side.gate::<1>(key, i, inputs, out.add(i), rows);
                        i += V::LANES;
                    }
                }
                tables = tables.add(2 * copies);
            }
        }
    }
}
