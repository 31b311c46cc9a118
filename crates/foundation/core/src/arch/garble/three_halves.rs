//! The fused kernels of three halves: what [`crate::SlicedGarbler`] says of a gate, a gate a lane.
//!
//! A lane is a label, `L` its low half and `R` its high one. With `s(L, R) = (R, L + R)`, which the hash uses as it
//! is, and for which `s(s(A)) = s(A) + A`, the matrices of the paper are few sums: `S1 (A, B) = s(s(A)) + B` and
//! `S2 (A, B) = A + s(B)`, so that for both labels of a gate moved by the offset they are `s(delta)` and
//! `s(s(delta))`.
//!
//! Keys come from the ring, three a gate: what is held there is what a batch wants, wherever it starts.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::{Ahead, KeyRing, ROUND_KEYS};
use super::walk::{bytes, gathered, of_byte, scattered, xor_gates};
use crate::memory::block::Block;
use crate::tape::TapeGate;
use crate::tape::part::Part;

/// The tables of a stretch: `G0` and `G1` of all gates, `G2` of all, and a byte a gate, which for the garbler has
/// the random bits first.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Tables {
    pub(in crate::arch) pairs: *mut Block,
    pub(in crate::arch) singles: *mut [u8; 8],
    pub(in crate::arch) bits: *mut u8,
}

impl Tables {
    /// Those of the gates behind the first `gates`.
    fn behind(self, gates: usize) -> Tables {
        Tables {
            pairs: self.pairs.wrapping_add(gates),
            singles: self.singles.wrapping_add(gates),
            bits: self.bits.wrapping_add(gates),
        }
    }
}

/// What is done with a batch of gates.
pub(in crate::arch) trait Side: Copy {
    /// Garbles or evaluates the gates of `N` registers.
    ///
    /// # Safety
    /// As [`walk`]; there are the gates of `N` registers, independent of each other, whose keys and tables
    /// these are.
    unsafe fn batch<V: Wires, const N: usize>(
        self,
        keys: Ahead<3>,
        gates: *const TapeGate,
        slots: *mut Block,
        tables: Tables,
    );
}

/// Walks a stretch of tape.
///
/// # Safety
/// The features of the registers are present, `slots` holds the tape's slots, and `tables` are good for all AND
/// gates of the stretch.
#[inline(always)]
pub(in crate::arch) unsafe fn walk<V: Wires, H: Wires, S: Wires, T: Side>(
    side: T,
    ring: &mut KeyRing<3>,
    part: &Part<'_>,
    slots: *mut Block,
    mut tables: Tables,
) {
    const { assert!(S::LANES == 1 && 2 * H::LANES >= V::LANES) }
    for (linear, mut gates) in part.gates() {
        // SAFETY: the tape was validated when it was made; `tables` move by what a batch has done.
        unsafe {
            xor_gates::<S>(linear, slots);
            macro_rules! batch {
                ($wires:ty, $n:expr) => {{
                    const REGISTERS: usize = $n;
                    let count = REGISTERS * <$wires>::LANES;
                    ring.ensure::<V>(count as u64);
                    side.batch::<$wires, REGISTERS>(ring.ahead(), gates.as_ptr(), slots, tables);
                    ring.take(count as u64);
                    (gates, tables) = (gates.get_unchecked(count..), tables.behind(count));
                }};
            }
            while gates.len() >= 2 * V::LANES {
                batch!(V, 2);
            }
            if gates.len() >= V::LANES {
                batch!(V, 1);
            }
            if H::LANES < V::LANES && gates.len() >= H::LANES {
                batch!(H, 1);
            }
            if S::LANES < H::LANES && !gates.is_empty() {
                batch!(S, 1);
            }
            debug_assert!(gates.is_empty());
        }
    }
}

/// In each lane, these numbers in its low half and in its high one.
const fn halves(low: u64, high: u64) -> [u8; 16] {
    ((low as u128) | (high as u128) << 64).to_le_bytes()
}

/// What is added to both halves where `r1`, `r2` are one: `S1 (A, B)`, `S2 (A, B)`.
///
/// # Safety
/// As for [`Wires`].
#[inline(always)]
unsafe fn controlled<V: Wires>([a, b]: [V; 2]) -> [V; 2] {
    // SAFETY: the caller has the features of V.
    unsafe { [a.sigma().sigma().xor(b), a.xor(b.sigma())] }
}

/// `(B_L, A_R)`.
///
/// # Safety
/// As for [`Wires`].
#[inline(always)]
unsafe fn crossed<V: Wires>([a, b]: [V; 2]) -> V {
    // SAFETY: the caller has the features of V.
    unsafe { b.low_halves(a.high_halves(a)) }
}

/// The garbler.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Garbling {
    pub(in crate::arch) delta: Block,
}

impl Side for Garbling {
    #[inline(always)]
    unsafe fn batch<V: Wires, const N: usize>(
        self,
        keys: Ahead<3>,
        gates: *const TapeGate,
        slots: *mut Block,
        tables: Tables,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let delta = V::broadcast(self.delta.to_bytes());
            let sigma_delta = delta.sigma();
            // The labels of `a`, `b`, `a + b` whose permute bit is zero, and the permute bits of those for zero.
            let (mut labels, mut permute) = ([[delta; 3]; N], [[delta; 2]; N]);
            for i in 0..N {
                let [a, b] = gathered::<V, 1, 0>(gates.add(i * V::LANES), slots);
                permute[i] = [a.lsb_mask(), b.lsb_mask()];
                let (a, b) = (a.xor(permute[i][0].and(delta)), b.xor(permute[i][1].and(delta)));
                labels[i] = [a, b, a.xor(b)];
            }
            let (mut x, mut y) = (labels, labels);
            for k in 0..3 {
                for i in 0..N {
                    x[i][k] = labels[i][k].sigma().xor(V::load(keys.at(0, k).add(i * V::LANES)));
                    y[i][k] = x[i][k].xor(sigma_delta);
                }
            }
            for round in 1..ROUND_KEYS - 1 {
                for k in 0..3 {
                    for i in 0..N {
                        let key = V::load(keys.at(round, k).add(i * V::LANES));
                        x[i][k] = x[i][k].aes_round(key);
                        y[i][k] = y[i][k].aes_round(key);
                    }
                }
            }
            for i in 0..N {
                let (mut zeroth, mut differ) = ([delta; 3], [delta; 3]);
                for k in 0..3 {
                    let key = V::load(keys.at(ROUND_KEYS - 1, k).add(i * V::LANES)).xor(labels[i][k].sigma());
                    zeroth[k] = x[i][k].aes_last(key);
                    differ[k] = zeroth[k].xor(y[i][k].aes_last(key.xor(sigma_delta)));
                }
                let [a, b, _] = labels[i];
                let label = garbled([a, b], delta, permute[i], zeroth, differ, tables.behind(i * V::LANES));
                scattered::<V, 1, 0>(label, gates.add(i * V::LANES), slots);
            }
        }
    }
}

/// A register's gates, from the labels whose permute bit is zero, the permute bits of those for zero, and the hashes
/// of `a`, `b`, `a + b`: those whose permute bit is zero, and the differences to the others. Writes the tables and
/// gives the labels for zero.
///
/// # Safety
/// As for [`Wires`]; the tables of a register's gates are there.
#[inline(always)]
unsafe fn garbled<V: Wires>(
    labels: [V; 2],
    delta: V,
    permute: [V; 2],
    zeroth: [V; 3],
    differ: [V; 3],
    tables: Tables,
) -> V {
    // SAFETY: the caller's promise.
    unsafe {
        let random: V = bytes(tables.bits);
        let p = random.bit_mask(V::load(const { of_byte(0, 0) }.as_ptr()));
        let q = random.bit_mask(V::load(const { of_byte(1, 1) }.as_ptr()));
        // The permute bits of the odd pair, that of the labels for one.
        let ones = V::words(!0);
        let (odd_a, odd_b) = (permute[0].xor(ones), permute[1].xor(ones));
        let odd_x = odd_a.xor(odd_b);
        let ([first, second], fixed) = (controlled(labels), crossed(labels));
        let (sigma, sigma_sigma) = (delta.sigma(), delta.sigma().sigma());

        // The equations at (0, 0), at (1, 1) + (0, 0), and the left one of (0, 1) + (0, 0).
        let hashed = zeroth[0].low_halves(zeroth[1]).xor3(zeroth[2].low_halves(zeroth[2]), fixed);
        let label = hashed.xor3(p.and(first), q.and(second)).xor(permute[0].and(permute[1]).and(delta));
        let pair = differ[0]
            .low_halves(differ[1])
            .xor3(fixed, odd_a.and(first))
            .xor3(odd_b.and(second), p.xor(odd_a).and(sigma))
            .xor3(q.xor(odd_b).and(sigma_sigma), odd_x.xor(ones).and(delta));
        let single =
            differ[2].xor3(odd_x.and(first), odd_a.and(second)).xor3(p.xor(odd_b).and(delta), q.xor(odd_a).and(sigma));
        pair.store(tables.pairs.cast());
        single.store_low(tables.singles);

        // z0 and z1, z2 and z3, z4.
        let lowest = V::broadcast(halves(1, 1));
        let z01 = zeroth[0].high_halves(zeroth[1]).xor(zeroth[2].high_halves(zeroth[2])).bit_mask(lowest);
        let z23 = differ[0].high_halves(differ[1]).bit_mask(lowest);
        let z4 = differ[2].high_halves(differ[2]).bit_mask(lowest);
        let z01 = z01.xor(p.low_halves(q)).and(V::broadcast(halves(1, 2)));
        let z23 = z23.xor(odd_a.low_halves(odd_b)).and(V::broadcast(halves(4, 8)));
        let z4 = z4.xor(odd_x).and(V::broadcast(halves(16, 0)));
        // Its high half is the sum of both.
        let mut sums = [Block::ZERO; 4];
        z01.xor3(z23, z4).sigma().store(sums.as_mut_ptr().cast());
        for lane in 0..V::LANES {
            *tables.bits.add(lane) = sums[lane].to_bytes()[8];
        }
        label
    }
}

/// The evaluator.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Evaluating;

impl Side for Evaluating {
    #[inline(always)]
    unsafe fn batch<V: Wires, const N: usize>(
        self,
        keys: Ahead<3>,
        gates: *const TapeGate,
        slots: *mut Block,
        tables: Tables,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut labels = [[V::words(0); 3]; N];
            for i in 0..N {
                let [a, b] = gathered::<V, 1, 0>(gates.add(i * V::LANES), slots);
                labels[i] = [a, b, a.xor(b)];
            }
            let mut x = labels;
            for k in 0..3 {
                for i in 0..N {
                    x[i][k] = labels[i][k].sigma().xor(V::load(keys.at(0, k).add(i * V::LANES)));
                }
            }
            for round in 1..ROUND_KEYS - 1 {
                for k in 0..3 {
                    for i in 0..N {
                        x[i][k] = x[i][k].aes_round(V::load(keys.at(round, k).add(i * V::LANES)));
                    }
                }
            }
            for i in 0..N {
                for k in 0..3 {
                    let key = V::load(keys.at(ROUND_KEYS - 1, k).add(i * V::LANES));
                    x[i][k] = x[i][k].aes_last(key.xor(labels[i][k].sigma()));
                }
                let [a, b, _] = labels[i];
                let label = evaluated([a, b], x[i], tables.behind(i * V::LANES));
                scattered::<V, 1, 0>(label, gates.add(i * V::LANES), slots);
            }
        }
    }
}

/// A register's gates, from the active labels and the hashes of `a`, `b`, `a + b`: the outputs' active labels.
///
/// # Safety
/// As for [`Wires`]; the tables of a register's gates are there.
#[inline(always)]
unsafe fn evaluated<V: Wires>(labels: [V; 2], [a, b, x]: [V; 3], tables: Tables) -> V {
    // SAFETY: the caller's promise.
    unsafe {
        let (i, j) = (labels[0].lsb_mask(), labels[1].lsb_mask());
        let (own, differ) = (i.low_halves(j), i.xor(j));
        let all: V = bytes(tables.bits);
        let z01 = all.bit_mask(V::load(const { of_byte(0, 1) }.as_ptr()));
        let z23 = all.bit_mask(V::load(const { of_byte(2, 3) }.as_ptr()));
        let z4 = all.bit_mask(V::load(const { of_byte(4, 4) }.as_ptr()));
        let hashed = a.high_halves(b).xor(x.high_halves(x)).bit_mask(V::broadcast(halves(1, 1)));
        let r = z01.xor3(z23.and(own), z4.and(differ)).xor(hashed);
        let ([first, second], fixed) = (controlled(labels), crossed(labels));
        let pair = fixed.xor(own.and(fixed.xor(V::load(tables.pairs.cast_const().cast()))));
        let single = differ.and(V::load_twice(tables.singles));
        a.low_halves(b)
            .xor3(x.low_halves(x), pair)
            .xor3(r.low_halves(r).and(first), r.high_halves(r).and(second))
            .xor(single)
    }
}
