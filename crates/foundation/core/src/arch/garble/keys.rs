//! The gates' AES keys: expanded sixteen at a time, ahead of the gates or beside their hashing.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Quad;
use crate::Block;

/// Round keys of AES-128.
pub(in crate::arch) const ROUND_KEYS: usize = 11;
/// Pairs of gates whose keys are held. A power of two; four are expanded at a time.
const RING_PAIRS: usize = 16;
/// Pairs that one expansion makes.
pub(super) const GROUP_PAIRS: usize = 4;
const RCON: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 0x1b, 0x36];

/// Four lanes of one round key, where one aligned load finds them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::arch) struct RoundKey([Block; 4]);

/// The expanded keys of the gates that come next, and the counter that never runs backwards.
///
/// Gate `g` hashes its inputs under the keys `start ^ 2g` and `start ^ (2g + 1)`, the tweak in the low 64 bits. The ring
/// holds keys by pairs of gates `(2p, 2p + 1)`.
pub(crate) struct KeyRing {
    start: Block,
    start_words: [u32; 4],
    /// The gate that comes next.
    pub(super) next: u64,
    /// Pairs whose keys were expanded so far.
    pub(super) expanded: u64,
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
    pub(in crate::arch) fn key(&self, tweak: u64) -> Block {
        Block::from_u128(self.start.to_u128() ^ u128::from(tweak))
    }

    /// Takes the numbers of the next `gates` gates.
    pub(in crate::arch) fn take(&mut self, gates: u64) -> u64 {
        let first = self.next;
        // 2^63 gates take centuries; past that tweaks would repeat, so stopping is the only safe answer.
        self.next = first.checked_add(gates).filter(|&n| n < 1 << 63).expect("the tweaks of this delta are used up");
        first
    }

    /// Expands ahead until the keys of `pairs` pairs from the next gate's on are there.
    #[inline(always)]
    pub(in crate::arch) unsafe fn ensure<L: Quad>(&mut self, pairs: u64) {
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
    pub(super) unsafe fn expand_live<L: Quad>(&mut self) -> Live<L> {
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
    pub(in crate::arch) fn pair(&self, pair: u64) -> *const RoundKey {
        self.keys[pair as usize & (RING_PAIRS - 1)].as_ptr()
    }

    /// The keys of the next gate, which were ensured.
    #[inline(always)]
    pub(super) fn ahead_half(&self) -> AheadHalf {
        AheadHalf(self.pair(self.next / 2), 2 * (self.next % 2) as usize)
    }

    /// The keys of the next `N` pairs, which were ensured.
    #[inline(always)]
    pub(super) fn ahead<const N: usize>(&self) -> Ahead<N> {
        let mut keys = [self.keys[0].as_ptr(); N];
        for (i, key) in keys.iter_mut().enumerate() {
            *key = self.pair(self.next / 2 + i as u64);
        }
        Ahead(keys)
    }
}

/// Where a batch of `N` pairs finds its round keys.
pub(in crate::arch) trait Schedule<L, const N: usize> {
    /// Round key `round`; asked for in order, each once.
    unsafe fn round_key(&mut self, round: usize) -> [L; N];
}

/// Keys expanded earlier.
pub(super) struct Ahead<const N: usize>([*const RoundKey; N]);

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

/// As [`Ahead`], the keys of one gate: so many lanes into those of its pair.
pub(super) struct AheadHalf(*const RoundKey, usize);

impl<L: Quad> Schedule<L, 1> for AheadHalf {
    #[inline(always)]
    unsafe fn round_key(&mut self, round: usize) -> [L; 1] {
        // SAFETY: the pointer is to eleven round keys of two gates; the caller has the features of L.
        unsafe { [L::load_half(self.0.add(round).cast::<Block>().add(self.1))] }
    }
}

/// Sixteen keys being expanded, word `i` of all of them in the `i`-th vector.
pub(super) struct Live<L>([L; 4]);

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
pub(super) struct LiveTwice<L>(pub(super) [Live<L>; 2]);

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
