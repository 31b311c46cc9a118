//! The walk over a stretch of tape: XOR gates one by one, AND gates in batches as wide as they come.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::{KeyRing, LiveTwice, Order, Schedule};
use super::sides::TwoRows;
use crate::memory::block::Block;
use crate::tape::part::{Part, beside};
use crate::tape::{Tape, TapeGate};

/// The garbler's or the evaluator's part of a walk: what is done with a batch of gates.
///
/// The unit of a batch is what two keys hash: an AND gate of two half gates, or two AND gates of one. Either
/// way it has two blocks of table.
pub(in crate::arch) trait Side: Copy {
    /// Whether tables are written (garbler) or read (evaluator).
    const WRITES: bool;
    /// Registers' units that are hashed together: as many as make eight AES states.
    const WIDE: usize;
    /// The AND gates of a unit: one or two.
    const GATES: usize;

    /// Garbles or evaluates the first gates, as many as `N` registers' units have.
    ///
    /// # Safety
    /// As [`walk`]; there are the gates of `N` registers' units, independent of each other, `done` of the
    /// stretch before them, and `tables` is good for two blocks for each unit.
    unsafe fn batch<V: Wires, const N: usize>(
        self,
        keys: impl Schedule<V, N>,
        gates: *const TapeGate,
        done: usize,
        slots: *mut Block,
        tables: *mut Block,
    );
}

/// Does the XOR gates of a segment, in order.
///
/// # Safety
/// As for [`Wires`], with registers of one block; `slots` holds the tape's slots.
#[inline(always)]
pub(super) unsafe fn xor_gates<S: Wires>(gates: &[TapeGate], slots: *mut Block) {
    for gate in gates {
        // SAFETY: the tape's indices are in range; the caller has the features of S.
        unsafe {
            let (a, b) = (slots.byte_add(gate.a as usize), slots.byte_add(gate.b as usize));
            S::load(a.cast()).xor(S::load(b.cast())).store(slots.byte_add(gate.out as usize).cast());
        }
    }
}

/// Does the XOR gates of a segment in copies that lie side by side, in order.
///
/// # Safety
/// As [`xor_gates`], with `COPIES` times as many slots.
#[inline(always)]
unsafe fn xor_copies<V: Wires, const COPIES: usize>(gates: &[TapeGate], slots: *mut Block) {
    for gate in gates {
        // SAFETY: the tape's indices are in range, and so are those of each slot's copies.
        unsafe {
            let [a, b, out] = [gate.a, gate.b, gate.out].map(|slot| slots.byte_add(COPIES * slot as usize));
            for i in 0..COPIES / V::LANES {
                let at = i * V::LANES;
                V::load(a.add(at).cast()).xor(V::load(b.add(at).cast())).store(out.add(at).cast());
            }
        }
    }
}

/// Walks a stretch of tape, with registers of as many blocks as the machine has, of half as many, and of one.
///
/// # Safety
/// The features of the registers are present, `slots` holds the tape's slots, `tables` the side's blocks for
/// each AND gate (two, or one where two are a unit), and the side's terms, if it has some, three. All of it
/// `COPIES` times, side by side: the copies of a slot, and of an AND gate's blocks, follow each other.
#[inline(always)]
pub(in crate::arch) unsafe fn walk<V: Wires, H: Wires, S: Wires, T: Side, const COPIES: usize>(
    side: T,
    ring: &mut KeyRing,
    part: &Part<'_>,
    slots: *mut Block,
    mut tables: *mut Block,
) {
    const { assert!(S::LANES == 1 && 2 * H::LANES >= V::LANES && (T::WIDE == 2 || T::WIDE == 4)) }
    const { assert!(T::GATES == 1 || T::GATES == 2) }
    const { assert!(COPIES == 1 || COPIES.is_multiple_of(V::LANES) && COPIES <= Tape::MAX_ANDS) }
    let (mut xors, mut ands, mut done) = (part.xor_gates(), part.and_gates(), 0);
    let mut room = [TapeGate::new(0, 0, 0); Tape::MAX_ANDS];
    for segment in part.segments() {
        let (now, later) = xors.split_at(segment.xors as usize);
        xors = later;
        let (mut batch, later) = ands.split_at(segment.ands as usize);
        ands = later;
        // SAFETY: the tape was validated when it was made; `tables` moves by two blocks for each unit, and
        // `gates` has as many as a batch takes.
        unsafe {
            if COPIES == 1 {
                xor_gates::<S>(now, slots)
            } else {
                xor_copies::<V, COPIES>(now, slots)
            }
            loop {
                let mut gates = beside::<COPIES>(&mut batch, &mut room);
                let narrow = V::LIVE && H::LANES < V::LANES && gates.len() < T::GATES * V::LANES;
                /// Does a batch of `$n` registers of `$wires`, its keys from `$keys`.
                macro_rules! batch {
                    ($wires:ty, $n:expr, $keys:expr) => {{
                        const UNITS: usize = $n;
                        let keys = $keys;
                        ring.take((UNITS * <$wires>::LANES) as u64);
                        side.batch::<$wires, UNITS>(keys, gates.as_ptr(), done, slots, tables);
                        done += T::GATES * UNITS * <$wires>::LANES;
                        gates = gates.get_unchecked(T::GATES * UNITS * <$wires>::LANES..);
                        tables = tables.add(2 * UNITS * <$wires>::LANES);
                    }};
                }
                /// The keys of the next `$n` units, expanded ahead.
                macro_rules! held {
                    ($n:expr) => {{
                        // What waits for a single gate is not kept waiting by its key: a machine has its widest
                        // units once, and narrower ones twice.
                        if narrow {
                            ring.ensure::<H>($n as u64);
                        } else {
                            ring.ensure_after::<V, H>($n as u64);
                        }
                        ring.ahead()
                    }};
                }
                /// Does a batch whose keys are expanded ahead.
                macro_rules! ahead {
                    ($wires:ty, $n:expr) => {
                        batch!($wires, $n, held!($n * <$wires>::LANES))
                    };
                }
                while gates.len() >= 4 * T::GATES * V::LANES && T::WIDE == 4 {
                    if V::LIVE && ring.fresh::<V>() {
                        // Nothing expanded ahead: the keys of a whole group need never touch memory.
                        batch!(V, 4, LiveTwice([ring.expand_live(Order::Gates), ring.expand_live(Order::Gates)]));
                    } else if V::LANES < 4 {
                        ahead!(V, 4);
                    } else {
                        ahead!(V, 2);
                    }
                }
                while gates.len() >= 2 * T::GATES * V::LANES {
                    if V::LIVE && ring.fresh::<V>() {
                        batch!(V, 2, ring.expand_live(Order::Gates));
                    } else {
                        ahead!(V, 2);
                    }
                }
                if gates.len() >= T::GATES * V::LANES {
                    ahead!(V, 1);
                }
                if H::LANES < V::LANES && gates.len() >= T::GATES * H::LANES {
                    ahead!(H, 1);
                }
                if S::LANES < H::LANES && gates.len() >= T::GATES {
                    ahead!(S, 1);
                }
                if let (2, [last]) = (T::GATES, gates) {
                    // Half a unit: the other half is the same gate once more, which is thrown away and whose key
                    // is used up.
                    let (twice, mut rows) = ([*last; 2], [*tables, Block::ZERO]);
                    let keys = held!(1);
                    ring.take(1);
                    side.batch::<S, 1>(keys, twice.as_ptr(), done, slots, rows.as_mut_ptr());
                    done += 1;
                    gates = &[];
                    if T::WRITES {
                        *tables = rows[0];
                    }
                    tables = tables.add(1);
                }
                debug_assert!(gates.is_empty());
                if batch.is_empty() {
                    break;
                }
            }
        }
    }
}

impl<T: TwoRows> Side for T {
    const WRITES: bool = T::WRITES;
    const WIDE: usize = T::WIDE;
    const GATES: usize = 1;

    #[inline(always)]
    unsafe fn batch<V: Wires, const N: usize>(
        self,
        keys: impl Schedule<V, N>,
        gates: *const TapeGate,
        done: usize,
        slots: *mut Block,
        tables: *mut Block,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut inputs = [[V::words(0); 2]; N];
            for i in 0..N {
                inputs[i] = gathered::<V, 1, 0>(gates.add(i * V::LANES), slots);
            }
            let mut rows = inputs;
            if !T::WRITES {
                load_rows(&mut rows, tables);
            }
            let (rows, out) = self.combine::<V, N>(done, inputs, keys, rows);
            if T::WRITES {
                store_rows(rows, tables);
            }
            for i in 0..N {
                scattered::<V, 1, 0>(out[i], gates.add(i * V::LANES), slots);
            }
        }
    }
}

/// Block `FIELD` of the `FIELDS` that the wires of a register's gates have each: of inputs `a`, and of inputs `b`.
///
/// # Safety
/// As for [`Wires`]; there are a register's gates, and `slots` holds `FIELDS` blocks for each slot of their
/// tape.
#[inline(always)]
pub(super) unsafe fn gathered<V: Wires, const FIELDS: usize, const FIELD: usize>(
    gates: *const TapeGate,
    slots: *const Block,
) -> [V; 2] {
    // SAFETY: the caller's promise; a tape's offsets are those of one block a slot.
    unsafe {
        let mut from = [[slots; 4]; 2];
        for lane in 0..V::LANES {
            let gate = &*gates.add(lane);
            from[0][lane] = slots.byte_add(FIELDS * gate.a as usize).add(FIELD);
            from[1][lane] = slots.byte_add(FIELDS * gate.b as usize).add(FIELD);
        }
        [V::gather(from[0]), V::gather(from[1])]
    }
}

/// Writes a block of the outputs, as [`gathered`] reads one.
///
/// # Safety
/// As `gathered`.
#[inline(always)]
pub(super) unsafe fn scattered<V: Wires, const FIELDS: usize, const FIELD: usize>(
    out: V,
    gates: *const TapeGate,
    slots: *mut Block,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut to = [slots; 4];
        for lane in 0..V::LANES {
            to[lane] = slots.byte_add(FIELDS * (*gates.add(lane)).out as usize).add(FIELD);
        }
        out.scatter(to);
    }
}

/// Reads the tables of `N` registers' units: the first rows of all, and the second ones.
///
/// # Safety
/// As for [`Wires`]; `tables` is good for two blocks for each unit.
#[inline(always)]
pub(super) unsafe fn load_rows<V: Wires, const N: usize>(rows: &mut [[V; 2]; N], tables: *const Block) {
    // SAFETY: the caller's promise.
    unsafe {
        for i in 0..N {
            let from = tables.add(2 * i * V::LANES).cast();
            rows[i] = V::load(from).unzip_lanes(V::load(from.add(V::LANES)));
        }
    }
}

/// Undoes [`load_rows`].
///
/// # Safety
/// As `load_rows`.
#[inline(always)]
pub(super) unsafe fn store_rows<V: Wires, const N: usize>(rows: [[V; 2]; N], tables: *mut Block) {
    // SAFETY: the caller's promise.
    unsafe {
        for i in 0..N {
            let to = tables.add(2 * i * V::LANES).cast();
            let [low, high] = rows[i][0].zip_lanes(rows[i][1]);
            low.store(to);
            high.store(to.add(V::LANES));
        }
    }
}

/// Bit `low` of byte `l` in the low half of lane `l`, and bit `high` of it in the high half: where every word is the
/// [`bytes`] of gates, a bit of each gate's.
pub(super) const fn of_byte(low: u32, high: u32) -> [[u8; 16]; 4] {
    let mut bits = [[0; 16]; 4];
    let mut lane = 0;
    while lane < 4 {
        bits[lane][lane] = 1 << low;
        bits[lane][8 + lane] = 1 << high;
        lane += 1;
    }
    bits
}

/// The bytes of as many gates as there are lanes, in every word.
///
/// # Safety
/// As for [`Wires`]; a register's bytes are there.
#[inline(always)]
pub(super) unsafe fn bytes<V: Wires>(from: *const u8) -> V {
    let mut word = 0;
    for lane in 0..V::LANES {
        // SAFETY: the caller's promise.
        word |= u32::from(unsafe { *from.add(lane) }) << (8 * lane);
    }
    // SAFETY: the caller has the features of V.
    unsafe { V::words(word) }
}
