//! The fused garbling kernels: gather, expand keys, hash, combine, scatter, in one pass over a stretch of tape.
//!
//! One code path, generic over [`Quad`] (four blocks side by side), serves every machine with AES rounds; the portable
//! path works on eight bitsliced blocks instead. What makes it fast:
//!
//! - *Two gates make a vector.* Quad hold `(a, b, a', b')` of two gates, so their four half-gate keys are the four
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
pub(super) trait Quad: Copy {
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
    unsafe fn xor3(self, b: Self, c: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    /// One AES round under a round key.
    unsafe fn aes_round(self, key: Self) -> Self;
    /// The last AES round.
    unsafe fn aes_last(self, key: Self) -> Self;
    /// The orthomorphism `(lo, hi) -> (hi, lo ^ hi)` of each lane.
    unsafe fn sigma(self) -> Self;
    /// Quad 1, 0, 3, 2.
    unsafe fn swap_neighbours(self) -> Self;
    /// Each lane all ones if its bit 0 is one, else all zeros.
    unsafe fn lsb_mask(self) -> Self;
    /// Quad 0 and 2 of `self`, 1 and 3 of `odd`.
    unsafe fn select_odd(self, odd: Self) -> Self;
    /// `SubWord(RotWord(w)) ^ rcon` of each 32-bit word.
    unsafe fn key_word(self, rcon: Self) -> Self;
    /// Transposes each 4 x 4 matrix of words that lane `l` of the four vectors makes.
    unsafe fn transpose_words(words: [Self; 4]) -> [Self; 4];
}

/// Round keys of AES-128.
pub(super) const ROUND_KEYS: usize = 11;
/// Pairs of gates whose keys are held. A power of two; four are expanded at a time.
const RING_PAIRS: usize = 16;
/// Pairs that one expansion makes.
const GROUP_PAIRS: usize = 4;
const RCON: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 0x1b, 0x36];

/// Four lanes of one round key, where one aligned load finds them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct RoundKey([Block; 4]);

/// The expanded keys of the gates that come next, and the counter that never runs backwards.
///
/// Gate `g` hashes its inputs under the keys `start ^ 2g` and `start ^ (2g + 1)`, the tweak in the low 64 bits. The ring
/// holds keys by pairs of gates `(2p, 2p + 1)`.
pub(crate) struct KeyRing {
    start: Block,
    start_words: [u32; 4],
    /// The gate that comes next.
    next: u64,
    /// Pairs whose keys were expanded so far.
    expanded: u64,
    keys: Box<[[RoundKey; ROUND_KEYS]; RING_PAIRS]>,
}

impl KeyRing {
    pub(crate) fn new(start: Block) -> KeyRing {
        let zero = [RoundKey([Block::ZERO; 4]); ROUND_KEYS];
        let words: [u32; 4] = bytemuck::cast(start.to_bytes());
        let start_words = words.map(u32::from_le);
        KeyRing { start, start_words, next: 0, expanded: 0, keys: Box::new([zero; RING_PAIRS]) }
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
    pub(super) unsafe fn ensure<L: Quad>(&mut self, pairs: u64) {
        while self.expanded < self.next / 2 + pairs {
            // SAFETY: the caller has the features of L.
            unsafe { self.expand_group::<L>() };
        }
    }

    /// Expands the sixteen keys of the next four pairs into the ring.
    #[inline(always)]
    unsafe fn expand_group<L: Quad>(&mut self) {
        let slot = self.expanded as usize % RING_PAIRS;
        // SAFETY: the caller has the features of L; `slot..slot + 4` is in the ring, whose size is a multiple of 4.
        unsafe {
            let mut live = self.expand_live::<L>();
            let keys = self.keys.as_mut_ptr().add(slot);
            for round in 0..ROUND_KEYS {
                let lanes = live.round_key(round);
                for i in 0..GROUP_PAIRS {
                    lanes[i].store((&raw mut (*keys.add(i))[round]).cast());
                }
            }
        }
    }

    /// Starts the expansion of the sixteen keys of the next four pairs.
    #[inline(always)]
    unsafe fn expand_live<L: Quad>(&mut self) -> Live<L> {
        // A multiple of 16: the offsets of `ORDER` never carry.
        let first = self.expanded * 4;
        self.expanded += GROUP_PAIRS as u64;
        let [a, b, c, d] = self.start_words;
        // SAFETY: the caller has the features of L.
        unsafe {
            let low = L::splat_word(a ^ first as u32).xor(L::from_words(&ORDER));
            let high = L::splat_word(b ^ (first >> 32) as u32);
            Live([low, high, L::splat_word(c), L::splat_word(d)])
        }
    }

    /// The keys of a pair, which were ensured.
    #[inline(always)]
    pub(super) fn pair(&self, pair: u64) -> *const RoundKey {
        self.keys[pair as usize & (RING_PAIRS - 1)].as_ptr()
    }

    /// The keys of the next `N` pairs, which were ensured.
    #[inline(always)]
    fn ahead<const N: usize>(&self) -> Ahead<N> {
        let mut keys = [self.keys[0].as_ptr(); N];
        for (i, key) in keys.iter_mut().enumerate() {
            *key = self.pair(self.next / 2 + i as u64);
        }
        Ahead(keys)
    }
}

/// Where a batch of `N` pairs finds its round keys.
pub(super) trait Schedule<L, const N: usize> {
    /// Round key `round`; asked for in order, each once.
    unsafe fn round_key(&mut self, round: usize) -> [L; N];
}

/// Keys expanded earlier.
struct Ahead<const N: usize>([*const RoundKey; N]);

impl<L: Quad, const N: usize> Schedule<L, N> for Ahead<N> {
    #[inline(always)]
    unsafe fn round_key(&mut self, round: usize) -> [L; N] {
        // SAFETY: each pointer is to eleven round keys; the caller has the features of L.
        unsafe {
            let mut keys = [L::load(self.0[0].add(round).cast()); N];
            for i in 1..N {
                keys[i] = L::load(self.0[i].add(round).cast());
            }
            keys
        }
    }
}

/// Sixteen keys being expanded, word `i` of all of them in the `i`-th vector.
struct Live<L>([L; 4]);

/// Word `i` of vector lane `l` belongs to key `4i + l`, which the transposition brings to lane `l` of pair `i`.
const ORDER: [u32; 16] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];

impl<L: Quad> Schedule<L, GROUP_PAIRS> for Live<L> {
    #[inline(always)]
    unsafe fn round_key(&mut self, round: usize) -> [L; GROUP_PAIRS] {
        let now = self.0;
        // SAFETY: the caller has the features of L.
        unsafe {
            // The next round's words first: they are a chain, and must not queue behind the shuffles of this round.
            if round < ROUND_KEYS - 1 {
                let w = &mut self.0;
                w[0] = w[0].xor(w[3].key_word(L::splat_word(RCON[round])));
                w[1] = w[1].xor(w[0]);
                w[2] = w[2].xor(w[1]);
                w[3] = w[3].xor(w[2]);
            }
            L::transpose_words(now)
        }
    }
}

/// Two groups of keys being expanded side by side. Where only four vectors are hashed, one group's key schedule is a chain
/// that the AES units wait for.
struct LiveTwice<L>([Live<L>; 2]);

impl<L: Quad> Schedule<L, { 2 * GROUP_PAIRS }> for LiveTwice<L> {
    #[inline(always)]
    unsafe fn round_key(&mut self, round: usize) -> [L; 2 * GROUP_PAIRS] {
        // SAFETY: the caller has the features of L.
        unsafe {
            let [[a, b, c, d], [e, f, g, h]] = [self.0[0].round_key(round), self.0[1].round_key(round)];
            [a, b, c, d, e, f, g, h]
        }
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
        #[cfg(target_arch = "aarch64")]
        Kind::Armv8 => portable::garble::garble(keys, delta, part, slots, tables),
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
        #[cfg(target_arch = "aarch64")]
        Kind::Armv8 => portable::garble::evaluate(keys, part, slots, tables),
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

/// Hashes groups of sixteen blocks, each under the next tweak; those of `second` under the same tweaks again.
pub(crate) fn hash(
    backend: Backend,
    keys: &mut KeyRing,
    first: &mut [[Block; 16]],
    second: Option<&mut [[Block; 16]]>,
) {
    debug_assert!(second.as_ref().is_none_or(|s| s.len() == first.len()));
    match backend.0 {
        Kind::Portable => portable::garble::hash_groups(keys, first, second),
        #[cfg(target_arch = "aarch64")]
        Kind::Armv8 => portable::garble::hash_groups(keys, first, second),
        // SAFETY: a Backend of this kind proves the features.
        #[cfg(target_arch = "x86_64")]
        Kind::AesNi => unsafe { super::x86_64::garble::hash_aesni(keys, first, second) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Vaes => unsafe { super::x86_64::garble::hash_vaes(keys, first, second) },
    }
}

/// # Safety
/// The features of `Q` are present.
#[inline(always)]
pub(super) unsafe fn hash_groups<Q: Quad>(
    ring: &mut KeyRing,
    first: &mut [[Block; 16]],
    second: Option<&mut [[Block; 16]]>,
) {
    // SAFETY: promised by the caller; a group is four vectors.
    unsafe {
        match second {
            Some(second) => {
                for (a, b) in first.iter_mut().zip(second) {
                    let keys = ring.expand_live::<Q>();
                    hash_group::<Q, 4, 2>(ring, keys, [a.as_mut_ptr(), b.as_mut_ptr()]);
                }
            }
            None => {
                let (pairs, rest) = first.as_chunks_mut::<2>();
                for pair in pairs {
                    let keys = LiveTwice([ring.expand_live::<Q>(), ring.expand_live::<Q>()]);
                    hash_group::<Q, 8, 1>(ring, keys, [pair.as_mut_ptr().cast()]);
                }
                for a in rest {
                    let keys = ring.expand_live::<Q>();
                    hash_group::<Q, 4, 1>(ring, keys, [a.as_mut_ptr()]);
                }
            }
        }
    }
}

/// Hashes `N` vectors of each of `K` arrays under the same keys.
#[inline(always)]
unsafe fn hash_group<Q: Quad, const N: usize, const K: usize>(
    ring: &mut KeyRing,
    mut keys: impl Schedule<Q, N>,
    blocks: [*mut Block; K],
) {
    // SAFETY: as `hash_groups`.
    unsafe {
        ring.take(2 * N as u64);
        let key = keys.round_key(0);
        let (mut plain, mut x) = ([key; K], [key; K]);
        for k in 0..K {
            for i in 0..N {
                plain[k][i] = Q::load(blocks[k].add(4 * i)).sigma();
                x[k][i] = plain[k][i].xor(key[i]);
            }
        }
        for round in 1..ROUND_KEYS - 1 {
            let key = keys.round_key(round);
            for k in 0..K {
                for i in 0..N {
                    x[k][i] = x[k][i].aes_round(key[i]);
                }
            }
        }
        let key = keys.round_key(ROUND_KEYS - 1);
        for k in 0..K {
            for i in 0..N {
                x[k][i].aes_last(key[i].xor(plain[k][i])).store(blocks[k].add(4 * i));
            }
        }
    }
}

/// A gate whose inputs are the constant zero: it fills the lanes that a batch has no gate for.
static NO_GATE: Gate = Gate { a: 0, b: 0, out: 0 };

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

/// Where in a vector a gate alone stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Low,
    High,
}

/// The garbler's or the evaluator's part of the kernel: what is done with a batch of gathered inputs.
pub(super) trait Side<L: Quad>: Copy {
    /// Whether tables are written (garbler) or read (evaluator).
    const WRITES: bool;
    /// Groups of eight gates that are worth hashing together.
    const GROUPS: usize;

    /// From the inputs of `N` pairs of gates and their keys: the tables, and the outputs in lanes 0 and 2.
    unsafe fn combine<const N: usize>(
        self,
        input: [L; N],
        keys: impl Schedule<L, N>,
        tables: [L; N],
    ) -> ([L; N], [L; N]);
}

/// The garbler: holds delta in all lanes, and its image under sigma.
#[derive(Clone, Copy)]
pub(super) struct Garbling<L> {
    delta: L,
    sigma_delta: L,
}

/// The evaluator.
#[derive(Clone, Copy)]
pub(super) struct Evaluating;

impl<L: Quad> Side<L> for Garbling<L> {
    const WRITES: bool = true;
    const GROUPS: usize = 1;

    #[inline(always)]
    unsafe fn combine<const N: usize>(
        self,
        input: [L; N],
        mut keys: impl Schedule<L, N>,
        _: [L; N],
    ) -> ([L; N], [L; N]) {
        // SAFETY: the caller has the features of L.
        unsafe {
            let (mut x, mut y, mut tables, mut out) = (input, input, input, input);
            let key = keys.round_key(0);
            for i in 0..N {
                x[i] = input[i].sigma().xor(key[i]);
                y[i] = x[i].xor(self.sigma_delta);
            }
            for round in 1..ROUND_KEYS - 1 {
                let key = keys.round_key(round);
                for i in 0..N {
                    x[i] = x[i].aes_round(key[i]);
                    y[i] = y[i].aes_round(key[i]);
                }
            }
            let key = keys.round_key(ROUND_KEYS - 1);
            for i in 0..N {
                // The feed-forward s(x) rides on the last round key.
                let key = key[i].xor(input[i].sigma());
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

impl<L: Quad> Side<L> for Evaluating {
    const WRITES: bool = false;
    const GROUPS: usize = 2;

    #[inline(always)]
    unsafe fn combine<const N: usize>(
        self,
        input: [L; N],
        mut keys: impl Schedule<L, N>,
        tables: [L; N],
    ) -> ([L; N], [L; N]) {
        // SAFETY: the caller has the features of L.
        unsafe {
            let (mut x, mut out) = (input, input);
            let key = keys.round_key(0);
            for i in 0..N {
                x[i] = input[i].sigma().xor(key[i]);
            }
            for round in 1..ROUND_KEYS - 1 {
                let key = keys.round_key(round);
                for i in 0..N {
                    x[i] = x[i].aes_round(key[i]);
                }
            }
            let key = keys.round_key(ROUND_KEYS - 1);
            for i in 0..N {
                let x = x[i].aes_last(key[i].xor(input[i].sigma()));
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
pub(super) unsafe fn walk<L: Quad, S: Side<L>>(
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
                // Nothing expanded ahead: the keys of a whole group need never touch memory.
                let live = ring.expanded == ring.next / 2 && ring.next % 2 == 0;
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
                half_batch::<L, S>(side, ring, gate, Half::Low, slots, tables);
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

/// One gate alone, in the low or the high half of a vector as its number is even or odd.
#[inline(always)]
unsafe fn half_batch<L: Quad, S: Side<L>>(
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
        let key = ring.ahead();
        ring.take(1);
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
        let to = slots.byte_add(gate.out as usize);
        if half == Half::High { out[0].store_lane2(to) } else { out[0].store_lane0(to) }
    }
}

impl<L: Quad> Garbling<L> {
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
