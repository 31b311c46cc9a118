//! The walk over a stretch of tape: XOR gates one by one, AND gates in batches as wide as they come.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Quad;
use super::keys::{KeyRing, LiveTwice, Schedule};
use super::sides::Side;
use crate::gates::Part;
use crate::{Block, Gate};

/// The XOR gates of a segment, in order.
#[inline(always)]
unsafe fn xor_gates(gates: &[Gate], slots: *mut Block) {
    for gate in gates {
        // SAFETY: the tape's indices are in range.
        unsafe {
            *slots.byte_add(gate.out as usize) = *slots.byte_add(gate.a as usize) ^ *slots.byte_add(gate.b as usize)
        };
    }
}

/// Walks a stretch of tape.
///
/// # Safety
/// The features of `L` are present, `slots` holds the tape's slots, `tables` two blocks for each AND gate.
#[inline(always)]
pub(in crate::arch) unsafe fn walk<L: Quad, S: Side<L>>(
    side: S,
    ring: &mut KeyRing,
    part: &Part<'_>,
    slots: *mut Block,
    mut tables: *mut Block,
) {
    let (mut xors, mut ands) = (part.xor_gates(), part.and_gates());
    for segment in part.segments() {
        let (now, later) = xors.split_at(segment.xors as usize);
        xors = later;
        // SAFETY: the tape was validated when it was made; `tables` moves by two blocks for each gate.
        unsafe {
            xor_gates(now, slots);
            let (mut gates, later) = ands.split_at(segment.ands as usize);
            ands = later;
            if let ([gate, rest @ ..], 1) = (gates, ring.next % 2) {
                single::<L, S>(side, ring, gate, slots, tables);
                tables = tables.add(2);
                gates = rest;
            }
            while gates.len() >= 8 {
                // Nothing expanded ahead: the keys of a whole group need never touch memory.
                let live = ring.expanded == ring.next / 2 && ring.next.is_multiple_of(2);
                if live && S::GROUPS == 2 && gates.len() >= 16 {
                    let keys = LiveTwice([ring.expand_live::<L>(), ring.expand_live::<L>()]);
                    full_batch::<L, S, 8>(side, ring, keys, &gates[..16], slots, tables);
                    tables = tables.add(32);
                    gates = &gates[16..];
                    continue;
                }
                if live {
                    let keys = ring.expand_live::<L>();
                    full_batch::<L, S, 4>(side, ring, keys, &gates[..8], slots, tables);
                } else {
                    ring.ensure::<L>(4);
                    let keys = ring.ahead();
                    full_batch::<L, S, 4>(side, ring, keys, &gates[..8], slots, tables);
                }
                tables = tables.add(16);
                gates = &gates[8..];
            }
            if gates.len() >= 4 {
                ring.ensure::<L>(3);
                let keys = ring.ahead();
                full_batch::<L, S, 2>(side, ring, keys, &gates[..4], slots, tables);
                tables = tables.add(8);
                gates = &gates[4..];
            }
            if gates.len() >= 2 {
                ring.ensure::<L>(2);
                let keys = ring.ahead();
                full_batch::<L, S, 1>(side, ring, keys, &gates[..2], slots, tables);
                tables = tables.add(4);
                gates = &gates[2..];
            }
            if let [gate] = gates {
                single::<L, S>(side, ring, gate, slots, tables);
                tables = tables.add(2);
            }
        }
    }
}

#[inline(always)]
unsafe fn gather<L: Quad>(low: &Gate, high: &Gate, slots: *const Block) -> L {
    // SAFETY: the tape's indices are in range; the caller has the features of L.
    unsafe {
        L::gather([
            slots.byte_add(low.a as usize),
            slots.byte_add(low.b as usize),
            slots.byte_add(high.a as usize),
            slots.byte_add(high.b as usize),
        ])
    }
}

#[inline(always)]
unsafe fn full_batch<L: Quad, S: Side<L>, const N: usize>(
    side: S,
    ring: &mut KeyRing,
    keys: impl Schedule<L, N>,
    gates: &[Gate],
    slots: *mut Block,
    tables: *mut Block,
) {
    // SAFETY: as `walk`; `gates` holds 2N gates and starts at an even gate number.
    unsafe {
        ring.take(2 * N as u64);
        let mut input = [gather::<L>(gates.get_unchecked(0), gates.get_unchecked(1), slots); N];
        for i in 1..N {
            input[i] = gather::<L>(gates.get_unchecked(2 * i), gates.get_unchecked(2 * i + 1), slots);
        }
        let mut table = input;
        if !S::WRITES {
            for i in 0..N {
                table[i] = L::load(tables.add(4 * i));
            }
        }
        let (table, out) = side.combine::<N>(input, keys, table);
        for i in 0..N {
            if S::WRITES {
                table[i].store(tables.add(4 * i));
            }
            out[i].store_lane0(slots.byte_add(gates.get_unchecked(2 * i).out as usize));
            out[i].store_lane2(slots.byte_add(gates.get_unchecked(2 * i + 1).out as usize));
        }
    }
}

/// One gate alone: the first of a batch if its number is odd, and the last if it is even.
#[inline(always)]
unsafe fn single<L: Quad, S: Side<L>>(side: S, ring: &mut KeyRing, gate: &Gate, slots: *mut Block, tables: *mut Block) {
    // SAFETY: as `walk`; only this gate's two blocks of `tables` are touched.
    unsafe {
        ring.ensure::<L>(2);
        let keys = ring.ahead_half();
        ring.take(1);
        let input = [L::gather_half([slots.byte_add(gate.a as usize), slots.byte_add(gate.b as usize)])];
        let table = if S::WRITES { input } else { [L::load_half(tables)] };
        let (table, out) = side.combine::<1>(input, keys, table);
        if S::WRITES {
            table[0].store_half(tables);
        }
        out[0].store_lane0(slots.byte_add(gate.out as usize));
    }
}
