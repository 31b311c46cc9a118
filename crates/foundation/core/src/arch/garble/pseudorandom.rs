//! The fused kernels of garbling with AES as a pseudorandom function: what [`crate::PrfGarbler`] says of a gate, a gate
//! a lane.
//!
//! Labels are keys, so that no schedule can begin before its label is there. Four registers of labels are the words of
//! as many keys at once, transposed: those of one register's gates, both of `a` and both of `b`, for the garbler; those
//! of two registers', one of each, for the evaluator. Round keys come out of the transposition in the lanes of their
//! gates, and never touch memory.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::{Live, ROUND_KEYS};
use super::walk::{bytes, gathered, load_rows, of_byte, scattered, store_rows};
use crate::memory::block::Block;
use crate::tape::TapeGate;
use crate::tape::labels::Labels;
use crate::tape::part::Part;
use crate::tape::pseudorandom::Numbers;
use crate::tape::runs::Run;

/// The rows of a stretch's gates, and a byte for each AND gate.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Tables {
    pub(in crate::arch) rows: *mut Block,
    pub(in crate::arch) bits: *mut u8,
}

/// What is done with a batch of gates, whose keys are `G` groups of four registers; with `HALF`, of one
/// register's gates.
pub(in crate::arch) trait Side: Copy {
    /// What a slot holds.
    type Wire: Copy;
    /// The registers' gates whose keys a group is: one or two.
    const REGISTERS: usize;

    /// The wire of a NOT of this one.
    fn inverted(self, wire: Self::Wire) -> Self::Wire;

    /// Garbles or evaluates XOR gates, the first of which has this number.
    ///
    /// # Safety
    /// As [`walk`]; `gates` holds the gates of a batch, none of which reads what another one writes, and
    /// `rows` a row for each.
    unsafe fn sums<V: Wires, const G: usize, const HALF: bool>(
        self,
        number: u64,
        gates: *const TapeGate,
        slots: *mut Self::Wire,
        rows: *mut Block,
    );

    /// Garbles or evaluates AND gates, the first of which has this number.
    ///
    /// # Safety
    /// As [`Side::sums`], with two rows and a byte for each.
    unsafe fn ands<V: Wires, const G: usize, const HALF: bool>(
        self,
        number: u64,
        gates: *const TapeGate,
        slots: *mut Self::Wire,
        tables: Tables,
    );
}

/// Walks a stretch of tape.
///
/// # Safety
/// The features of the registers are present, `slots` holds the tape's slots, and `tables` are good for all gates of
/// the stretch.
#[inline(always)]
pub(in crate::arch) unsafe fn walk<V: Wires, H: Wires, S: Wires, T: Side>(
    side: T,
    numbers: &mut Numbers,
    part: &Part<'_>,
    slots: *mut T::Wire,
    mut tables: Tables,
) {
    const { assert!(S::LANES == 1 && 2 * H::LANES >= V::LANES) }
    for Run { free, sums, ands } in part.runs() {
        for gate in free {
            // SAFETY: the tape was validated when it was made; free gates have a constant.
            unsafe {
                let (from, inverted) = gate.unary().unwrap_unchecked();
                let wire = *slots.add(from);
                *slots.add(gate.out()) = if inverted { side.inverted(wire) } else { wire };
            }
        }
        // SAFETY: likewise.
        unsafe {
            tables = in_batches::<V, H, S, T, false>(side, numbers, sums, slots, tables);
            tables = in_batches::<V, H, S, T, true>(side, numbers, ands, slots, tables);
        }
    }
}

/// Does gates, XOR or AND, in batches as wide as they come; gives the tables of what comes behind them.
///
/// # Safety
/// As [`walk`]; none of the gates reads what another one writes.
#[inline(always)]
unsafe fn in_batches<V: Wires, H: Wires, S: Wires, T: Side, const AND: bool>(
    side: T,
    numbers: &mut Numbers,
    mut gates: &[TapeGate],
    slots: *mut T::Wire,
    mut tables: Tables,
) -> Tables {
    let end = numbers.take(gates.len()) + gates.len() as u64;
    // SAFETY: the caller's promise; a batch has no more gates than are left.
    unsafe {
        macro_rules! batch {
            ($wires:ty, $groups:expr, $half:expr, $registers:expr) => {{
                let (number, count) = (end - gates.len() as u64, $registers * <$wires>::LANES);
                if AND {
                    side.ands::<$wires, $groups, $half>(number, gates.as_ptr(), slots, tables);
                    tables = Tables { rows: tables.rows.add(2 * count), bits: tables.bits.add(count) };
                } else {
                    side.sums::<$wires, $groups, $half>(number, gates.as_ptr(), slots, tables.rows);
                    tables.rows = tables.rows.add(count);
                }
                gates = gates.get_unchecked(count..);
            }};
        }
        // Two groups side by side where registers suffice: one key schedule is a chain that the AES units wait for.
        while V::LIVE && gates.len() >= 2 * T::REGISTERS * V::LANES {
            batch!(V, 2, false, 2 * T::REGISTERS);
        }
        while gates.len() >= T::REGISTERS * V::LANES {
            batch!(V, 1, false, T::REGISTERS);
        }
        if T::REGISTERS > 1 && gates.len() >= V::LANES {
            batch!(V, 1, true, 1);
        }
        if H::LANES < V::LANES && gates.len() >= H::LANES {
            batch!(H, 1, true, 1);
        }
        if S::LANES < H::LANES && !gates.is_empty() {
            batch!(S, 1, true, 1);
        }
        debug_assert!(gates.is_empty());
    }
    tables
}

/// Four registers' keys, or what is encrypted under them.
type Four<V> = [V; 4];

const LAST: usize = ROUND_KEYS - 1;

/// Encrypts `K` blocks under each key of `G` groups.
///
/// # Safety
/// As for [`Wires`].
#[inline(always)]
unsafe fn encrypted<V: Wires, const G: usize, const K: usize>(
    keys: [Four<V>; G],
    mut states: [[Four<V>; G]; K],
) -> [[Four<V>; G]; K] {
    // SAFETY: the caller has the features of V.
    unsafe {
        let mut live = [Live::of(keys[0]); G];
        for g in 1..G {
            live[g] = Live::of(keys[g]);
        }
        for round in 0..ROUND_KEYS {
            for g in 0..G {
                let key = live[g].next(round);
                for k in 0..K {
                    for i in 0..4 {
                        let state = states[k][g][i];
                        states[k][g][i] = match round {
                            0 => state.xor(key[i]),
                            LAST => state.aes_last(key[i]),
                            _ => state.aes_round(key[i]),
                        };
                    }
                }
            }
        }
        states
    }
}

/// The points of the first side and of row zero of a register's gates: the number, a bit for the side, two for the row.
///
/// # Safety
/// As for [`Wires`].
#[inline(always)]
unsafe fn points<V: Wires>(number: u64) -> V {
    const LANES: [[u8; 16]; 4] = [0u128.to_le_bytes(), 8u128.to_le_bytes(), 16u128.to_le_bytes(), 24u128.to_le_bytes()];
    // The numbers of a register begin with a multiple of its lanes: they never carry.
    debug_assert!(number.is_multiple_of(V::LANES as u64));
    // SAFETY: the caller has the features of V.
    unsafe { small::<V>(u128::from(number) << 3).xor(V::load(LANES.as_ptr())) }
}

/// What is added to a point for the second side.
const SECOND: u128 = 4;

/// A number in each lane.
///
/// # Safety
/// As for [`Wires`].
#[inline(always)]
unsafe fn small<V: Wires>(number: u128) -> V {
    // SAFETY: the caller has the features of V.
    unsafe { V::broadcast(number.to_le_bytes()) }
}

/// The garbler.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Garbling {
    pub(in crate::arch) delta: Block,
}

impl Garbling {
    /// The labels of a register's gates, of `a` and then of `b`, by permute bit; and the permute bits of
    /// those for zero.
    ///
    /// # Safety
    /// As [`Side::sums`].
    #[inline(always)]
    unsafe fn by_bit<V: Wires>(self, gates: *const TapeGate, slots: *const Labels) -> (Four<V>, [V; 2]) {
        // SAFETY: the caller's promise; a wire is two blocks.
        unsafe {
            let delta = V::broadcast(self.delta.to_bytes());
            let zeros = gathered::<V, 2, 0>(gates, slots.cast());
            let offsets = gathered::<V, 2, 1>(gates, slots.cast());
            let (mut labels, mut permute) = ([delta; 4], zeros);
            for side in 0..2 {
                let offset = offsets[side].xor(delta);
                permute[side] = zeros[side].lsb_mask();
                labels[2 * side] = zeros[side].xor(permute[side].and(offset));
                labels[2 * side + 1] = labels[2 * side].xor(offset);
            }
            (labels, permute)
        }
    }

    /// Writes the wires of a register's gates, from their labels for zero and their offsets.
    ///
    /// # Safety
    /// As [`Side::sums`].
    #[inline(always)]
    unsafe fn put<V: Wires>(self, zero: V, offset: V, gates: *const TapeGate, slots: *mut Labels) {
        // SAFETY: the caller's promise; a wire is two blocks.
        unsafe {
            scattered::<V, 2, 0>(zero, gates, slots.cast());
            scattered::<V, 2, 1>(offset.xor(V::broadcast(self.delta.to_bytes())), gates, slots.cast());
        }
    }
}

impl Side for Garbling {
    type Wire = Labels;
    const REGISTERS: usize = 1;

    #[inline(always)]
    fn inverted(self, wire: Labels) -> Labels {
        wire.inverted(self.delta)
    }

    #[inline(always)]
    unsafe fn sums<V: Wires, const G: usize, const HALF: bool>(
        self,
        number: u64,
        gates: *const TapeGate,
        slots: *mut Labels,
        rows: *mut Block,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let (one, even, second) = (small::<V>(1), small::<V>(!1), small::<V>(SECOND));
            let (mut labels, mut permute, mut states) = ([[one; 4]; G], [one; G], [[one; 4]; G]);
            for i in 0..G {
                let (of, [a, b]) = self.by_bit::<V>(gates.add(i * V::LANES), slots);
                (labels[i], permute[i]) = (of, a.xor(b));
                let point = points::<V>(number + (i * V::LANES) as u64);
                states[i] = [point, point.xor(one), point.xor(second), point.xor(second).xor(one)];
            }
            let [translated] = encrypted(labels, [states]);
            for i in 0..G {
                let [a0, a1, b0, b1] = translated[i];
                let offset = a0.xor(a1).or(one);
                b0.xor3(b1, offset).and(even).store(rows.add(i * V::LANES).cast());
                let zero = a0.xor(b0).and(even).xor(permute[i].and(offset));
                self.put(zero, offset, gates.add(i * V::LANES), slots);
            }
        }
    }

    #[inline(always)]
    unsafe fn ands<V: Wires, const G: usize, const HALF: bool>(
        self,
        number: u64,
        gates: *const TapeGate,
        slots: *mut Labels,
        tables: Tables,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let (one, second) = (small::<V>(1), small::<V>(SECOND));
            let (mut labels, mut permute) = ([[one; 4]; G], [[one; 2]; G]);
            // Under each label the two rows that it is in.
            let (mut firsts, mut others) = (labels, labels);
            for i in 0..G {
                (labels[i], permute[i]) = self.by_bit::<V>(gates.add(i * V::LANES), slots);
                let point = points::<V>(number + (i * V::LANES) as u64);
                let (row1, row2, row3) = (point.xor(one), point.xor(small(2)), point.xor(small(3)));
                firsts[i] = [point, row2, point.xor(second), row1.xor(second)];
                others[i] = [row1, row3, row2.xor(second), row3.xor(second)];
            }
            let [firsts, others] = encrypted(labels, [firsts, others]);
            for i in 0..G {
                let ([a00, a12, b00, b11], [a01, a13, b02, b13]) = (firsts[i], others[i]);
                let keys = [a00.xor(b00), a01.xor(b11), a12.xor(b02), a13.xor(b13)];
                let [p, q] = permute[i];
                let all = keys[0].xor(keys[1]).xor3(keys[2], keys[3]);
                let offset = all.or(one);
                let rows = [keys[0].xor3(keys[1], p.and(offset)), keys[0].xor3(keys[2], q.and(offset))];
                let at = i * V::LANES;
                store_rows([rows], tables.rows.add(2 * at));
                let mut last = [Block::ZERO; 4];
                all.xor(one).store(last.as_mut_ptr().cast());
                for lane in 0..V::LANES {
                    *tables.bits.add(at + lane) = last[lane].to_bytes()[0] & 1;
                }
                self.put(keys[0].xor(p.and(q).and(offset)), offset, gates.add(at), slots);
            }
        }
    }
}

/// The evaluator.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Evaluating;

impl Evaluating {
    /// The active labels of gates, two registers' to a group; of one register's, where there is but one, twice.
    ///
    /// # Safety
    /// As [`Side::sums`].
    #[inline(always)]
    unsafe fn labels<V: Wires, const G: usize, const HALF: bool>(
        gates: *const TapeGate,
        slots: *const Block,
    ) -> [Four<V>; G] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut labels = [[V::words(0); 4]; G];
            for g in 0..G {
                for i in 0..2 {
                    let at = if HALF { 0 } else { (2 * g + i) * V::LANES };
                    [labels[g][2 * i], labels[g][2 * i + 1]] = gathered::<V, 1, 0>(gates.add(at), slots);
                }
            }
            labels
        }
    }
}

impl Side for Evaluating {
    type Wire = Block;
    const REGISTERS: usize = 2;

    #[inline(always)]
    fn inverted(self, wire: Block) -> Block {
        wire
    }

    #[inline(always)]
    unsafe fn sums<V: Wires, const G: usize, const HALF: bool>(
        self,
        number: u64,
        gates: *const TapeGate,
        slots: *mut Block,
        rows: *mut Block,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let (one, even, second) = (small::<V>(1), small::<V>(!1), small::<V>(SECOND));
            let registers = if HALF { 1 } else { 2 * G };
            let labels = Evaluating::labels::<V, G, HALF>(gates, slots);
            let mut states = labels;
            for i in 0..registers {
                let point = points::<V>(number + (i * V::LANES) as u64);
                let (a, b) = (2 * (i % 2), 2 * (i % 2) + 1);
                states[i / 2][a] = point.xor(labels[i / 2][a].and(one));
                states[i / 2][b] = point.xor3(labels[i / 2][b].and(one), second);
            }
            let [translated] = encrypted(labels, [states]);
            for i in 0..registers {
                let (a, b) = (2 * (i % 2), 2 * (i % 2) + 1);
                let (labels, translated, at) = (labels[i / 2], translated[i / 2], i * V::LANES);
                let row = V::load(rows.add(at).cast_const().cast()).and(labels[b].lsb_mask());
                let permute = labels[a].xor(labels[b]).and(one);
                let label = translated[a].xor3(translated[b], row).and(even).xor(permute);
                scattered::<V, 1, 0>(label, gates.add(at), slots);
            }
        }
    }

    #[inline(always)]
    unsafe fn ands<V: Wires, const G: usize, const HALF: bool>(
        self,
        number: u64,
        gates: *const TapeGate,
        slots: *mut Block,
        tables: Tables,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let (one, two, second) = (small::<V>(1), small::<V>(2), small::<V>(SECOND));
            let registers = if HALF { 1 } else { 2 * G };
            let labels = Evaluating::labels::<V, G, HALF>(gates, slots);
            let mut states = labels;
            for i in 0..registers {
                let (a, b) = (2 * (i % 2), 2 * (i % 2) + 1);
                let row = labels[i / 2][a].lsb_mask().and(two).xor(labels[i / 2][b].and(one));
                let point = points::<V>(number + (i * V::LANES) as u64).xor(row);
                (states[i / 2][a], states[i / 2][b]) = (point, point.xor(second));
            }
            let [hashed] = encrypted(labels, [states]);
            for i in 0..registers {
                let (a, b) = (2 * (i % 2), 2 * (i % 2) + 1);
                let (labels, hashed, at) = (labels[i / 2], hashed[i / 2], i * V::LANES);
                let mut rows = [[one; 2]];
                load_rows(&mut rows, tables.rows.add(2 * at));
                let last: V = bytes(tables.bits.add(at));
                let last = last.bit_mask(V::load(const { of_byte(0, 0) }.as_ptr())).and(one);
                let (odd_a, odd_b) = (labels[a].lsb_mask(), labels[b].lsb_mask());
                let [[first, other]] = rows;
                let (first, other) = (odd_b.and(first), odd_a.and(other.xor(odd_b.and(last))));
                scattered::<V, 1, 0>(hashed[a].xor(hashed[b]).xor3(first, other), gates.add(at), slots);
            }
        }
    }
}
