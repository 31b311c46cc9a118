//! The walk over a stretch of tape: XOR gates one by one, AND gates in batches as wide as they come.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::{KeyRing, LiveTwice, Order, Schedule};
use super::sides::Side;
use crate::memory::block::Block;
use crate::tape::TapeGate;
use crate::tape::part::Part;

/// Does the XOR gates of a segment, in order.
#[inline(always)]
unsafe fn xor_gates<S: Wires>(gates: &[TapeGate], slots: *mut Block) {
    for gate in gates {
        // SAFETY: the tape's indices are in range; the caller has the features of S.
        unsafe {
            let (a, b) = (slots.byte_add(gate.a as usize), slots.byte_add(gate.b as usize));
            S::load(a.cast()).xor(S::load(b.cast())).store(slots.byte_add(gate.out as usize).cast());
        }
    }
}

/// Walks a stretch of tape, with registers of as many blocks as the machine has, of half as many, and of one.
///
/// # Safety
/// The features of the registers are present, `slots` holds the tape's slots, `tables` two blocks for each AND gate, and the
/// side's terms, if it has some, three.
#[inline(always)]
pub(in crate::arch) unsafe fn walk<V: Wires, H: Wires, S: Wires, T: Side>(
    side: T,
    ring: &mut KeyRing,
    part: &Part<'_>,
    slots: *mut Block,
    mut tables: *mut Block,
) {
    const { assert!(S::LANES == 1 && 2 * H::LANES >= V::LANES && (T::WIDE == 2 || T::WIDE == 4)) }
    let (mut xors, mut ands, mut done) = (part.xor_gates(), part.and_gates(), 0);
    for segment in part.segments() {
        let (now, later) = xors.split_at(segment.xors as usize);
        xors = later;
        let (mut gates, later) = ands.split_at(segment.ands as usize);
        ands = later;
        // SAFETY: the tape was validated when it was made; `tables` moves by two blocks for each gate, and `gates` has as
        // many as a batch takes.
        unsafe {
            xor_gates::<S>(now, slots);
            let narrow = V::LIVE && H::LANES < V::LANES && gates.len() < V::LANES;
            /// Does a batch of `$n` registers of `$wires`, its keys from `$keys`.
            macro_rules! batch {
                ($wires:ty, $n:expr, $keys:expr) => {{
                    let keys = $keys;
                    batch::<$wires, T, { $n }>(side, ring, keys, gates, done, slots, tables);
                    done += $n * <$wires>::LANES;
                    gates = gates.get_unchecked($n * <$wires>::LANES..);
                    tables = tables.add(2 * $n * <$wires>::LANES);
                }};
            }
            /// Does a batch whose keys are expanded ahead.
            macro_rules! ahead {
                ($wires:ty, $n:expr) => {
                    batch!($wires, $n, {
                        // What waits for a single gate is not kept waiting by its key: a machine has its widest units once, and
                        // narrower ones twice.
                        if narrow {
                            ring.ensure::<H>(($n * <$wires>::LANES) as u64);
                        } else {
                            ring.ensure_after::<V, H>(($n * <$wires>::LANES) as u64);
                        }
                        ring.ahead()
                    })
                };
            }
            while gates.len() >= 4 * V::LANES && T::WIDE == 4 {
                if V::LIVE && ring.fresh::<V>() {
                    // Nothing expanded ahead: the keys of a whole group need never touch memory.
                    batch!(V, 4, LiveTwice([ring.expand_live(Order::Gates), ring.expand_live(Order::Gates)]));
                } else if V::LANES < 4 {
                    ahead!(V, 4);
                } else {
                    ahead!(V, 2);
                }
            }
            while gates.len() >= 2 * V::LANES {
                if V::LIVE && ring.fresh::<V>() {
                    batch!(V, 2, ring.expand_live(Order::Gates));
                } else {
                    ahead!(V, 2);
                }
            }
            if gates.len() >= V::LANES {
                ahead!(V, 1);
            }
            if H::LANES < V::LANES && gates.len() >= H::LANES {
                ahead!(H, 1);
            }
            if S::LANES < H::LANES && !gates.is_empty() {
                ahead!(S, 1);
            }
            debug_assert!(gates.is_empty());
        }
    }
}

/// Garbles or evaluates the first gates, as many as `N` registers hold.
///
/// # Safety
/// As [`walk`]; there are so many gates, independent of each other, `done` of the stretch before them, and `tables` is good for
/// two blocks for each.
#[inline(always)]
unsafe fn batch<V: Wires, T: Side, const N: usize>(
    side: T,
    ring: &mut KeyRing,
    keys: impl Schedule<V, N>,
    gates: &[TapeGate],
    done: usize,
    slots: *mut Block,
    tables: *mut Block,
) {
    ring.take((N * V::LANES) as u64);
    let gates = gates.as_ptr();
    // SAFETY: the caller's promise.
    unsafe {
        let mut inputs = [[V::words(0); 2]; N];
        for i in 0..N {
            let gates = gates.add(i * V::LANES);
            let mut from = [[slots.cast_const(); 4]; 2];
            for lane in 0..V::LANES {
                from[0][lane] = slots.byte_add((*gates.add(lane)).a as usize);
                from[1][lane] = slots.byte_add((*gates.add(lane)).b as usize);
            }
            inputs[i] = [V::gather(from[0]), V::gather(from[1])];
        }
        let mut rows = inputs;
        if !T::WRITES {
            for i in 0..N {
                let from = tables.add(2 * i * V::LANES).cast();
                rows[i] = V::load(from).unzip_lanes(V::load(from.add(V::LANES)));
            }
        }
        let (rows, out) = side.combine::<V, N>(done, inputs, keys, rows);
        for i in 0..N {
            if T::WRITES {
                let to = tables.add(2 * i * V::LANES).cast();
                let [low, high] = rows[i][0].zip_lanes(rows[i][1]);
                low.store(to);
                high.store(to.add(V::LANES));
            }
            let gates = gates.add(i * V::LANES);
            let mut to = [slots; 4];
            for lane in 0..V::LANES {
                to[lane] = slots.byte_add((*gates.add(lane)).out as usize);
            }
            out[i].scatter(to);
        }
    }
}
