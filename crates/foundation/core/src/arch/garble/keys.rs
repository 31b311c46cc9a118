//! The gates' AES keys: a register of each word of many keys expanded at once, ahead of the gates or beside
//! their hashing.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use crate::memory::block::Block;

/// Round keys of AES-128.
pub(in crate::arch) const ROUND_KEYS: usize = 11;
/// Gates whose keys are held. A power of two.
const RING: usize = 32;
/// The number of gates from the ring's start whose keys are held once more behind its end, so that a batch of
/// up to this number of gates finds its keys side by side wherever it starts.
const MIRRORED: usize = 8;
const RCON: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 0x1b, 0x36];

/// The keys of one half (the generator's or the evaluator's) of the gates, for one round.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Row([Block; RING + MIRRORED]);

/// Blocks from one key of the gates to the next one.
const KEY: usize = size_of::<Row>() / size_of::<Block>();

/// The expanded keys of the gates that come next, and the counter that never runs backwards.
///
/// Gate `g` has `K` keys: with two, `start ^ 2g` and `start ^ (2g + 1)`, one for each half gate; with three, `start ^
/// (4g + k)` for `k` below three. The tweak is in the low 64 bits.
pub(crate) struct KeyRing<const K: usize = 2> {
    start: Block,
    start_words: [u32; 4],
    /// The gate that comes next.
    pub(super) next: u64,
    /// Gates whose keys were expanded so far.
    pub(super) expanded: u64,
    keys: Box<[[Row; K]; ROUND_KEYS]>,
}

impl<const K: usize> KeyRing<K> {
    pub(crate) fn new(start: Block) -> KeyRing<K> {
        let zero = [Row([Block::ZERO; RING + MIRRORED]); K];
        let words: [u32; 4] = bytemuck::cast(start.to_bytes());
        let start_words = words.map(u32::from_le);
        KeyRing { start, start_words, next: 0, expanded: 0, keys: Box::new([zero; ROUND_KEYS]) }
    }

    /// The key of a tweak.
    pub(in crate::arch) fn key(&self, tweak: u64) -> Block {
        Block::from_u128(self.start.to_u128() ^ u128::from(tweak))
    }

    /// Takes the numbers of the next `gates` gates.
    #[inline(always)]
    pub(in crate::arch) fn take(&mut self, gates: u64) -> u64 {
        let first = self.next;
        // 2^62 gates take centuries; past that tweaks would repeat, so stopping is the only safe answer.
        self.next = first.checked_add(gates).filter(|&n| n < 1 << 62).expect("the tweaks of this delta are used up");
        first
    }

    /// The place of the keys of the next gate, which were ensured.
    #[inline(always)]
    pub(super) fn ahead(&self) -> Ahead<K> {
        Ahead(self.keys.as_ptr().cast::<Block>().wrapping_add(self.next as usize % RING))
    }

    /// The expansion of keys whose tweaks begin at `first`, a multiple of the numbers that the order has.
    ///
    /// # Safety
    /// As for [`Wires`].
    #[inline(always)]
    unsafe fn live<V: Wires>(&self, first: u64, order: Order) -> Live<V> {
        let [a, b, c, d] = self.start_words;
        // SAFETY: the caller has the features of V.
        unsafe {
            let low = V::words(a ^ first as u32).xor(V::load(order.offsets::<V>().as_ptr().cast()));
            Live([low, V::words(b ^ (first >> 32) as u32), V::words(c), V::words(d)])
        }
    }
}

impl KeyRing {
    /// Expands ahead until the keys of the next `gates` gates are there.
    ///
    /// # Safety
    /// As for [`Wires`]; at most [`MIRRORED`] gates.
    #[inline(always)]
    pub(in crate::arch) unsafe fn ensure<V: Wires>(&mut self, gates: u64) {
        while self.expanded < self.next + gates {
            // SAFETY: the caller has the features of V.
            unsafe { self.expand_group::<V>() };
        }
    }

    /// Expands as [`ensure`](KeyRing::ensure), after groups of the narrower `H` may have been expanded.
    ///
    /// # Safety
    /// As `ensure`.
    #[inline(always)]
    pub(super) unsafe fn ensure_after<V: Wires, H: Wires>(&mut self, gates: u64) {
        // SAFETY: the caller has the features of H and V.
        unsafe {
            if V::LIVE && H::LANES < V::LANES {
                while self.expanded < self.next + gates && !self.expanded.is_multiple_of(2 * V::LANES as u64) {
                    self.expand_group::<H>();
                }
            }
            self.ensure::<V>(gates);
        }
    }

    /// Expands the keys of the next group of gates into the ring.
    #[inline(always)]
    unsafe fn expand_group<V: Wires>(&mut self) {
        const { assert!(RING.is_multiple_of(MIRRORED) && MIRRORED.is_multiple_of(2 * V::LANES)) }
        let slot = self.expanded as usize % RING;
        // SAFETY: the caller has the features of V; the group starts at a multiple of its size and so is in
        // the ring, and in the mirror if it is among the first.
        unsafe {
            let mut live = self.expand_live::<V>(Order::Gates);
            let keys = self.keys.as_mut_ptr().cast::<Block>().add(slot);
            for round in 0..ROUND_KEYS {
                let [a, b, c, d] = live.next(round);
                let to = keys.add(2 * round * KEY);
                put([a, c], to);
                put([b, d], to.add(KEY));
                if slot < MIRRORED {
                    put([a, c], to.add(RING));
                    put([b, d], to.add(KEY + RING));
                }
            }
        }
    }

    /// Whether no keys are held and the next gate begins a group.
    #[inline(always)]
    pub(super) fn fresh<V: Wires>(&self) -> bool {
        self.expanded == self.next && self.next.is_multiple_of(2 * V::LANES as u64)
    }

    /// Starts the expansion of the keys of the next group, which is two registers' gates.
    ///
    /// # Safety
    /// As for [`Wires`].
    #[inline(always)]
    pub(super) unsafe fn expand_live<V: Wires>(&mut self, order: Order) -> Live<V> {
        // A multiple of a group's tweaks: the offsets never carry.
        let first = self.expanded * 2;
        self.expanded += 2 * V::LANES as u64;
        // SAFETY: the caller has the features of V.
        unsafe { self.live(first, order) }
    }
}

impl KeyRing<3> {
    /// Expands ahead until the keys of the next `gates` gates are there.
    ///
    /// # Safety
    /// As for [`Wires`]; at most [`MIRRORED`] gates.
    #[inline(always)]
    pub(super) unsafe fn ensure<V: Wires>(&mut self, gates: u64) {
        while self.expanded < self.next + gates {
            // SAFETY: the caller has the features of V.
            unsafe { self.expand_group::<V>() };
        }
    }

    /// Expands the keys of the next group into the ring: four registers' gates, whose first keys are expanded
    /// together, as are the second and the third ones.
    #[inline(always)]
    unsafe fn expand_group<V: Wires>(&mut self) {
        const { assert!(RING.is_multiple_of(4 * V::LANES)) }
        let slot = self.expanded as usize % RING;
        let first = 4 * self.expanded;
        self.expanded += 4 * V::LANES as u64;
        // SAFETY: the caller has the features of V; the group starts at a multiple of its size and so is in the
        // ring, and what of it is among the first is in the mirror.
        unsafe {
            let mut live = [self.live::<V>(first, Order::Fourths); 3];
            for k in 1..3 {
                live[k] = self.live(first | k as u64, Order::Fourths);
            }
            let to = self.keys.as_mut_ptr().cast::<Block>().add(slot);
            if V::LIVE {
                for round in 0..ROUND_KEYS {
                    for k in 0..3 {
                        put_four(live[k].next(round), to.add((3 * round + k) * KEY), slot);
                    }
                }
            } else {
                for k in 0..3 {
                    for round in 0..ROUND_KEYS {
                        put_four(live[k].next(round), to.add((3 * round + k) * KEY), slot);
                    }
                }
            }
        }
    }
}

/// Writes four registers of keys of the gates from `slot` on, and once more those that are mirrored.
///
/// # Safety
/// As for [`Wires`]; `to` is the place of the first of them in a row of the ring.
#[inline(always)]
unsafe fn put_four<V: Wires>(keys: [V; 4], to: *mut Block, slot: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        for i in 0..4 {
            keys[i].store(to.add(i * V::LANES).cast());
        }
        if slot < MIRRORED {
            for i in 0..4 {
                if slot + i * V::LANES < MIRRORED {
                    keys[i].store(to.add(RING + i * V::LANES).cast());
                }
            }
        }
    }
}

/// # Safety
/// As for [`Wires`]; there is room for both registers.
#[inline(always)]
unsafe fn put<V: Wires>([first, second]: [V; 2], to: *mut Block) {
    // SAFETY: the caller's promise.
    unsafe {
        first.store(to.cast());
        second.store(to.add(V::LANES).cast());
    }
}

/// The order of the lanes in which the keys of a group of tweaks come.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// Gate after gate, in four registers: the generator's halves of gates, the evaluator's of the same, and again.
    Gates,
    /// Tweak after tweak.
    Blocks,
    /// Every fourth tweak.
    Fourths,
}

impl Order {
    /// The tweak whose words come in word `4 l + i` of a register: transposition brings it to lane `l` of register `i`.
    #[inline(always)]
    const fn offsets<V: Wires>(self) -> &'static [u32; 16] {
        const {
            assert!(V::LANES == 1 || V::LANES == 2 || V::LANES == 4);
        }
        match (self, V::LANES) {
            (Order::Fourths, 1) => &[0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            (Order::Fourths, 2) => &[0, 8, 16, 24, 4, 12, 20, 28, 0, 0, 0, 0, 0, 0, 0, 0],
            (Order::Fourths, _) => &[0, 16, 32, 48, 4, 20, 36, 52, 8, 24, 40, 56, 12, 28, 44, 60],
            (_, 1) => &[0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            (Order::Gates, 2) => &[0, 1, 4, 5, 2, 3, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0],
            (Order::Blocks, 2) => &[0, 2, 4, 6, 1, 3, 5, 7, 0, 0, 0, 0, 0, 0, 0, 0],
            (Order::Gates, _) => &[0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15],
            (Order::Blocks, _) => &[0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
        }
    }
}

/// A schedule, where a batch of `N` registers' gates finds its round keys.
pub(in crate::arch) trait Schedule<V, const N: usize> {
    /// Round key `round` of both halves; asked for in order, each once.
    ///
    /// # Safety
    /// As for [`Wires`].
    unsafe fn round_key(&mut self, round: usize) -> [[V; 2]; N];
}

/// Keys expanded earlier.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Ahead<const K: usize = 2>(*const Block);

impl<const K: usize> Ahead<K> {
    /// The place of round key `round` of the first gate's key `k`; those of the next gates come behind it.
    #[inline(always)]
    pub(super) fn at(self, round: usize, k: usize) -> *const [u8; 16] {
        self.0.wrapping_add((K * round + k) * KEY).cast()
    }
}

impl<V: Wires, const N: usize> Schedule<V, N> for Ahead {
    #[inline(always)]
    unsafe fn round_key(&mut self, round: usize) -> [[V; 2]; N] {
        debug_assert!(N * V::LANES <= MIRRORED);
        // SAFETY: the pointers are to the keys of at least `MIRRORED` gates; the caller has the features of V.
        unsafe {
            let [a, b] = [self.at(round, 0), self.at(round, 1)];
            let mut keys = [[V::load(a), V::load(b)]; N];
            for i in 1..N {
                keys[i] = [V::load(a.add(i * V::LANES)), V::load(b.add(i * V::LANES))];
            }
            keys
        }
    }
}

/// Keys being expanded, word `i` of all of them in the `i`-th register.
#[derive(Clone, Copy)]
pub(super) struct Live<V>([V; 4]);

impl<V: Wires> Live<V> {
    /// These keys.
    ///
    /// # Safety
    /// As for [`Wires`].
    #[inline(always)]
    pub(super) unsafe fn of(keys: [V; 4]) -> Live<V> {
        // SAFETY: the caller has the features of V. Transposing words undoes itself.
        unsafe { Live(V::transpose_words(keys)) }
    }

    /// Round key `round` of all of them, in the order asked for.
    ///
    /// # Safety
    /// As for [`Wires`].
    #[inline(always)]
    pub(super) unsafe fn next(&mut self, round: usize) -> [V; 4] {
        let now = self.0;
        // SAFETY: the caller has the features of V.
        unsafe {
            // The next round's words first: they are a chain, and must not queue behind the shuffles of this round.
            if round < ROUND_KEYS - 1 {
                let w = &mut self.0;
                w[0] = w[0].xor(w[3].key_word(V::words(RCON[round])));
                w[1] = w[1].xor(w[0]);
                w[2] = w[2].xor(w[1]);
                w[3] = w[3].xor(w[2]);
            }
            V::transpose_words(now)
        }
    }
}

impl<V: Wires> Schedule<V, 2> for Live<V> {
    #[inline(always)]
    unsafe fn round_key(&mut self, round: usize) -> [[V; 2]; 2] {
        // SAFETY: the caller has the features of V.
        let [a, b, c, d] = unsafe { self.next(round) };
        [[a, b], [c, d]]
    }
}

/// Two groups of keys being expanded side by side. Where only one state is hashed a key, one group's key
/// schedule is a chain that the AES units wait for.
pub(super) struct LiveTwice<V>(pub(super) [Live<V>; 2]);

impl<V: Wires> Schedule<V, 4> for LiveTwice<V> {
    #[inline(always)]
    unsafe fn round_key(&mut self, round: usize) -> [[V; 2]; 4] {
        // SAFETY: the caller has the features of V.
        let [[a, b, c, d], [e, f, g, h]] = unsafe { [self.0[0].next(round), self.0[1].next(round)] };
        [[a, b], [c, d], [e, f], [g, h]]
    }
}

/// A group's keys, expanded at once: where there are no registers for keys being expanded and for what is hashed.
pub(super) struct Kept<V>([[V; 4]; ROUND_KEYS]);

impl<V: Wires> Kept<V> {
    /// # Safety
    /// As for [`Wires`].
    #[inline(always)]
    pub(super) unsafe fn new(mut live: Live<V>) -> Kept<V> {
        // SAFETY: the caller has the features of V.
        unsafe {
            let mut keys = [[V::words(0); 4]; ROUND_KEYS];
            for round in 0..ROUND_KEYS {
                keys[round] = live.next(round);
            }
            Kept(keys)
        }
    }
}

impl<V: Wires> Schedule<V, 2> for Kept<V> {
    #[inline(always)]
    unsafe fn round_key(&mut self, round: usize) -> [[V; 2]; 2] {
        let [a, b, c, d] = self.0[round];
        [[a, b], [c, d]]
    }
}
