//! The fused garbling kernels: gather, expand keys, hash, combine, scatter, in one pass over a stretch of tape.
//!
//! One code path, generic over [`Lanes`] (four blocks side by side), serves every machine with AES rounds; the portable
//! path works on eight bitsliced blocks instead. What makes it fast:
//!
//! - *Two gates make a vector.* Lanes hold `(a, b, a', b')` of two gates, so their four half-gate keys are the four
//!   lanes of a round key, the garbler's second hash input is one XOR away, and the two tables are one store.
//! - *Keys are expanded ahead, sixteen at a time.* Tweaks are known before labels are, so key expansion has no part in
//!   the latency of a chain of gates. Sixteen keys are held word-sliced (word `i` of all keys in one vector): then
//!   SubWord of sixteen keys is one AES instruction, and eight unpacks bring each round key back to lanes.
//! - *Segments are independent gates*: up to eight are hashed together to fill the AES pipeline.

use crate::gates::Part;
use crate::{Backend, Block, Gate};

use super::{Kind, portable};

/// Four blocks side by side, on a machine with AES rounds.
///
/// # Safety
/// Every method may only be called where the CPU features of the implementation are present.
pub(super) trait Lanes: Copy {
    unsafe fn load(from: *const Block) -> Self;
    unsafe fn store(self, to: *mut Block);
    unsafe fn gather(from: [*const Block; 4]) -> Self;
    /// Writes lane 0 or lane 2.
    unsafe fn store_lane0(self, to: *mut Block);
    unsafe fn store_lane2(self, to: *mut Block);
    unsafe fn splat(block: Block) -> Self;
    unsafe fn splat_word(word: u32) -> Self;
    /// The block at `from` in every lane.
    unsafe fn broadcast(from: *const Block) -> Self;
    unsafe fn from_words(words: &[u32; 16]) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    /// One AES round under a round key.
    unsafe fn aes_round(self, key: Self) -> Self;
    /// The last AES round.
    unsafe fn aes_last(self, key: Self) -> Self;
    /// The orthomorphism `(lo, hi) -> (hi, lo ^ hi)` of each lane.
    unsafe fn sigma(self) -> Self;
    /// Lanes 1, 0, 3, 2.
    unsafe fn swap_neighbours(self) -> Self;
    /// Each lane all ones if its bit 0 is one, else all zeros.
    unsafe fn lsb_mask(self) -> Self;
    /// Lanes 0 and 2 of `self`, 1 and 3 of `odd`.
    unsafe fn select_odd(self, odd: Self) -> Self;
    /// `SubWord(RotWord(w)) ^ rcon` of each 32-bit word.
    unsafe fn key_word(self, rcon: Self) -> Self;
    /// Transposes each 4 x 4 matrix of words that lane `l` of the four vectors makes.
    unsafe fn transpose_words(words: [Self; 4]) -> [Self; 4];
}

/// Round keys of AES-128.
const ROUND_KEYS: usize = 11;
/// Pairs of gates whose keys are held. A power of two; four are expanded at a time.
const RING_PAIRS: usize = 16;
/// Pairs that one expansion makes.
const GROUP_PAIRS: usize = 4;
const RCON: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 0x1b, 0x36];

/// Four lanes of one round key, where one aligned load finds them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct RoundKey([Block; 4]);

/// The expanded keys of the gates that come next, and the counter that never runs backwards.
///
/// Gate `g` hashes its inputs under the keys `start ^ 2g` and `start ^ (2g + 1)`, the tweak in the low 64 bits. The ring
/// holds keys by pairs of gates `(2p, 2p + 1)`.
pub(crate) struct KeyRing {
    start: Block,
    /// The gate that comes next.
    next: u64,
    /// Pairs whose keys were expanded so far.
    expanded: u64,
    keys: Box<[[RoundKey; ROUND_KEYS]; RING_PAIRS]>,
}

impl KeyRing {
    pub(crate) fn new(start: Block) -> KeyRing {
        let zero = [RoundKey([Block::ZERO; 4]); ROUND_KEYS];
        KeyRing { start, next: 0, expanded: 0, keys: Box::new([zero; RING_PAIRS]) }
    }

    /// The key of a half gate.
    pub(super) fn key(&self, tweak: u64) -> Block {
        Block::from_u128(self.start.to_u128() ^ u128::from(tweak))
    }

    /// Takes the numbers of the next `gates` gates.
    pub(super) fn take(&mut self, gates: u64) -> u64 {
        let first = self.next;
        // 2^63 gates take centuries; past that tweaks would repeat, so stopping is the only safe answer.
        self.next = first.checked_add(gates).filter(|&n| n < 1 << 63).expect("the tweaks of this delta are used up");
        first
    }

    /// Expands ahead until the keys of `pairs` pairs from the next gate's on are there.
    #[inline(always)]
    unsafe fn ensure<L: Lanes>(&mut self, pairs: u64) {
        while self.expanded < self.next / 2 + pairs {
            // SAFETY: the caller has the features of L.
            unsafe { self.expand_group::<L>() };
        }
    }

    /// Expands the sixteen keys of the next four pairs.
    #[inline(always)]
    unsafe fn expand_group<L: Lanes>(&mut self) {
        let words: [u32; 4] = bytemuck::cast(self.start.to_bytes());
        let words = words.map(u32::from_le);
        let first = self.expanded * 4;
        // Word i of lane l becomes key 4i + l, which is lane l of pair i after the transposition. `first` is a multiple
        // of 16, so the offsets never carry.
        const ORDER: [u32; 16] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
        let slot = self.expanded as usize % RING_PAIRS;
        // SAFETY: the caller has the features of L; `slot..slot + 4` is in the ring, whose size is a multiple of 4.
        unsafe {
            let mut w = [
                L::splat_word(words[0] ^ first as u32).xor(L::from_words(&ORDER)),
                L::splat_word(words[1] ^ (first >> 32) as u32),
                L::splat_word(words[2]),
                L::splat_word(words[3]),
            ];
            let keys = self.keys.as_mut_ptr().add(slot);
            for (round, rcon) in (0..ROUND_KEYS).zip(RCON.iter().map(Some).chain([None])) {
                let lanes = L::transpose_words(w);
                for (i, lane) in lanes.into_iter().enumerate() {
                    lane.store((&raw mut (*keys.add(i))[round]).cast());
                }
                if let Some(&rcon) = rcon {
                    w[0] = w[0].xor(w[3].key_word(L::splat_word(rcon)));
                    w[1] = w[1].xor(w[0]);
                    w[2] = w[2].xor(w[1]);
                    w[3] = w[3].xor(w[2]);
                }
            }
        }
        self.expanded += GROUP_PAIRS as u64;
    }

    /// Where the round keys of a pair are.
    #[inline(always)]
    fn pair(&self, pair: u64) -> *const RoundKey {
        self.keys[pair as usize % RING_PAIRS].as_ptr()
    }
}

pub(crate) fn garble(
    backend: Backend,
    keys: &mut KeyRing,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    tables: &mut [Block],
) {
    match backend.0 {
        Kind::Portable => portable::garble::garble(keys, delta, part, slots, tables),
        // SAFETY: a Backend of this kind proves the features; a Part's indices are below its tape's slots, and the
        // caller checked both lengths.
        #[cfg(target_arch = "x86_64")]
        Kind::AesNi => unsafe {
            super::x86_64::garble::garble_aesni(keys, delta, part, slots.as_mut_ptr(), tables.as_mut_ptr())
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Vaes => unsafe {
            super::x86_64::garble::garble_vaes(keys, delta, part, slots.as_mut_ptr(), tables.as_mut_ptr())
        },
    }
}

pub(crate) fn evaluate(backend: Backend, keys: &mut KeyRing, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
    match backend.0 {
        Kind::Portable => portable::garble::evaluate(keys, part, slots, tables),
        // SAFETY: as in `garble`.
        #[cfg(target_arch = "x86_64")]
        Kind::AesNi => unsafe {
            super::x86_64::garble::evaluate_aesni(keys, part, slots.as_mut_ptr(), tables.as_ptr())
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Vaes => unsafe { super::x86_64::garble::evaluate_vaes(keys, part, slots.as_mut_ptr(), tables.as_ptr()) },
    }
}

/// A gate whose inputs are the constant zero: it fills the lanes that a batch has no gate for.
static NO_GATE: Gate = Gate { a: 0, b: 0, out: 0 };

/// The XOR gates of a segment, in order.
#[inline(always)]
unsafe fn xor_gates(gates: &[Gate], slots: *mut Block) {
    for gate in gates {
        // SAFETY: the tape's indices are in range.
        unsafe { *slots.add(gate.out as usize) = *slots.add(gate.a as usize) ^ *slots.add(gate.b as usize) };
    }
}

/// Which of a vector's two gates are real.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Both,
    Low,
    High,
}

/// The garbler's or the evaluator's part of the kernel: what is done with a batch of gathered inputs.
pub(super) trait Side<L: Lanes>: Copy {
    /// From the inputs of `N` pairs of gates and their keys: `(tables, outputs)`, outputs in lanes 0 and 2.
    unsafe fn combine<const N: usize>(self, input: [L; N], keys: [*const RoundKeyPtr; N], tables: [L; N]) -> ([L; N], [L; N]);
    /// Whether tables are written (garbler) or read (evaluator).
    const WRITES: bool;
}

/// A round key as kernels see it.
pub(super) type RoundKeyPtr = [Block; 4];

/// The garbler: holds delta in all lanes, and its image under sigma.
#[derive(Clone, Copy)]
pub(super) struct Garbling<L> {
    delta: L,
    sigma_delta: L,
}

/// The evaluator.
#[derive(Clone, Copy)]
pub(super) struct Evaluating;

impl<L: Lanes> Side<L> for Garbling<L> {
    const WRITES: bool = true;

    #[inline(always)]
    unsafe fn combine<const N: usize>(self, input: [L; N], keys: [*const RoundKeyPtr; N], _: [L; N]) -> ([L; N], [L; N]) {
        // SAFETY: the caller has the features of L, and the keys point to eleven round keys each.
        unsafe {
            let (mut x, mut y, mut tables) = (input, input, input);
            for i in 0..N {
                let key = L::load(keys[i].cast());
                let s = input[i].sigma();
                x[i] = s.xor(key);
                y[i] = x[i].xor(self.sigma_delta);
            }
            for round in 1..ROUND_KEYS - 1 {
                for i in 0..N {
                    let key = L::load(keys[i].add(round).cast());
                    x[i] = x[i].aes_round(key);
                    y[i] = y[i].aes_round(key);
                }
            }
            let mut out = input;
            for i in 0..N {
                // The feed-forward s(x) rides on the last round key.
                let key = L::load(keys[i].add(ROUND_KEYS - 1).cast()).xor(input[i].sigma());
                let x = x[i].aes_last(key);
                let y = y[i].aes_last(key.xor(self.sigma_delta));
                // Even lanes garble the generator's half gate, odd lanes the evaluator's (ZRE15, Figure 2):
                //   T_G = H(A0) ^ H(A1) ^ p_b * delta        W_G = H(A0) ^ p_a * T_G
                //   T_E = H(B0) ^ H(B1) ^ A0                 W_E = H(B0) ^ p_b * (T_E ^ A0)
                let both = x.xor(y);
                let permute = input[i].lsb_mask();
                let other = input[i].swap_neighbours();
                let table = both.xor(permute.swap_neighbours().and(self.delta).select_odd(other));
                let half = x.xor(permute.and(table.select_odd(both)));
                tables[i] = table;
                out[i] = half.xor(half.swap_neighbours());
            }
            (tables, out)
        }
    }
}

impl<L: Lanes> Side<L> for Evaluating {
    const WRITES: bool = false;

    #[inline(always)]
    unsafe fn combine<const N: usize>(
        self,
        input: [L; N],
        keys: [*const RoundKeyPtr; N],
        tables: [L; N],
    ) -> ([L; N], [L; N]) {
        // SAFETY: the caller has the features of L, and the keys point to eleven round keys each.
        unsafe {
            let (mut x, mut out) = (input, input);
            for i in 0..N {
                x[i] = input[i].sigma().xor(L::load(keys[i].cast()));
            }
            for round in 1..ROUND_KEYS - 1 {
                for i in 0..N {
                    x[i] = x[i].aes_round(L::load(keys[i].add(round).cast()));
                }
            }
            for i in 0..N {
                let key = L::load(keys[i].add(ROUND_KEYS - 1).cast()).xor(input[i].sigma());
                let x = x[i].aes_last(key);
                // W = H(A) ^ s_a * T_G ^ H(B) ^ s_b * (T_E ^ A)
                let with_a = tables[i].select_odd(tables[i].xor(input[i].swap_neighbours()));
                let half = x.xor(input[i].lsb_mask().and(with_a));
                out[i] = half.xor(half.swap_neighbours());
            }
            (tables, out)
        }
    }
}

/// Walks a stretch of tape.
///
/// # Safety
/// The features of `L` are present, `slots` holds the tape's slots, `tables` two blocks for each AND gate.
#[inline(always)]
pub(super) unsafe fn walk<L: Lanes, S: Side<L>>(
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
                half_batch::<L, S>(side, ring, gate, Half::High, slots, tables);
                tables = tables.add(2);
                gates = rest;
            }
            while gates.len() >= 8 {
                full_batch::<L, S, 4>(side, ring, &gates[..8], slots, tables);
                tables = tables.add(16);
                gates = &gates[8..];
            }
            if gates.len() >= 4 {
                full_batch::<L, S, 2>(side, ring, &gates[..4], slots, tables);
                tables = tables.add(8);
                gates = &gates[4..];
            }
            if gates.len() >= 2 {
                full_batch::<L, S, 1>(side, ring, &gates[..2], slots, tables);
                tables = tables.add(4);
                gates = &gates[2..];
            }
            if let [gate] = gates {
                half_batch::<L, S>(side, ring, gate, Half::Low, slots, tables);
                tables = tables.add(2);
            }
        }
    }
}

#[inline(always)]
unsafe fn gather<L: Lanes>(low: &Gate, high: &Gate, slots: *const Block) -> L {
    // SAFETY: the tape's indices are in range; the caller has the features of L.
    unsafe {
        L::gather([
            slots.add(low.a as usize),
            slots.add(low.b as usize),
            slots.add(high.a as usize),
            slots.add(high.b as usize),
        ])
    }
}

#[inline(always)]
unsafe fn full_batch<L: Lanes, S: Side<L>, const N: usize>(
    side: S,
    ring: &mut KeyRing,
    gates: &[Gate],
    slots: *mut Block,
    tables: *mut Block,
) {
    // SAFETY: as `walk`; `gates` holds 2N gates and starts at an even gate number.
    unsafe {
        ring.ensure::<L>(N as u64 + 1);
        let pair = ring.take(2 * N as u64) / 2;
        let mut input = [gather::<L>(gates.get_unchecked(0), gates.get_unchecked(1), slots); N];
        let mut keys = [ring.pair(pair).cast::<RoundKeyPtr>(); N];
        let mut table = input;
        for i in 0..N {
            input[i] = gather::<L>(gates.get_unchecked(2 * i), gates.get_unchecked(2 * i + 1), slots);
            keys[i] = ring.pair(pair + i as u64).cast();
            if !S::WRITES {
                table[i] = L::load(tables.add(4 * i));
            }
        }
        let (table, out) = side.combine::<N>(input, keys, table);
        for i in 0..N {
            if S::WRITES {
                table[i].store(tables.add(4 * i));
            }
            out[i].store_lane0(slots.add(gates.get_unchecked(2 * i).out as usize));
            out[i].store_lane2(slots.add(gates.get_unchecked(2 * i + 1).out as usize));
        }
    }
}

/// One gate alone, in the low or the high half of a vector as its number is even or odd.
#[inline(always)]
unsafe fn half_batch<L: Lanes, S: Side<L>>(
    side: S,
    ring: &mut KeyRing,
    gate: &Gate,
    half: Half,
    slots: *mut Block,
    tables: *mut Block,
) {
    // SAFETY: as `walk`; only this gate's two blocks of `tables` are touched.
    unsafe {
        ring.ensure::<L>(2);
        let pair = ring.take(1) / 2;
        let key = [ring.pair(pair).cast::<RoundKeyPtr>()];
        let zero = slots.cast_const();
        let (low, high) = if half == Half::High { (&NO_GATE, gate) } else { (gate, &NO_GATE) };
        let input = [gather::<L>(low, high, slots)];
        let mut table = input;
        if !S::WRITES {
            let (t, e) = (tables.cast_const(), tables.add(1).cast_const());
            table[0] = if half == Half::High { L::gather([zero, zero, t, e]) } else { L::gather([t, e, zero, zero]) };
        }
        let (table, out) = side.combine::<1>(input, key, table);
        let (mut wide, at) = ([Block::ZERO; 4], if half == Half::High { 2 } else { 0 });
        if S::WRITES {
            table[0].store(wide.as_mut_ptr());
            *tables = wide[at];
            *tables.add(1) = wide[at + 1];
        }
        let to = slots.add(gate.out as usize);
        if half == Half::High { out[0].store_lane2(to) } else { out[0].store_lane0(to) }
    }
}

impl<L: Lanes> Garbling<L> {
    /// # Safety
    /// The features of `L` are present.
    #[inline(always)]
    pub(super) unsafe fn new(delta: Block) -> Garbling<L> {
        // SAFETY: promised by the caller.
        unsafe {
            let delta = L::splat(delta);
            Garbling { delta, sigma_delta: delta.sigma() }
        }
    }
}
