//! AES-128 under one key: eight registers in flight, which hides the latency of a round.
//!
//! *Cost.* Ten rounds a register, one register a cycle where the machine has one 512-bit AES unit: 2.5 cycles a
//! block with VAES, 5 to 10 with AES-NI. What does not fill 512-bit registers runs on 128-bit ones, eight blocks a
//! step; a last step costs the same if it is not full.

use core::arch::x86_64::*;

use super::{Lanes, for_each_kind};
use crate::Block;
use crate::arch::RoundKeys;

/// What is done to eight registers full of blocks, and then to the next eight.
trait Step<V> {
    unsafe fn run(&mut self, state: &mut [V; 8]);
}

/// Encryption.
struct Encrypt<V>([V; 11]);

/// The encryptions of a counter; what was in the registers is ignored.
struct Counter<V> {
    encrypt: Encrypt<V>,
    next: V,
}

/// x to pi(pi(x) ^ tweak) ^ pi(x), the tweak counting.
struct Tccr<V> {
    encrypt: Encrypt<V>,
    tweak: V,
}

/// How many of these blocks fill steps of `V`.
#[inline(always)]
const fn whole<V: Lanes>(blocks: &[[u8; 16]]) -> usize {
    blocks.len() - blocks.len() % (8 * V::LANES)
}

/// Runs the step over blocks that fill it a whole number of times.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
unsafe fn whole_steps<V: Lanes>(blocks: &mut [[u8; 16]], mut step: impl Step<V>) {
    for chunk in blocks.chunks_exact_mut(8 * V::LANES) {
        let at = chunk.as_mut_ptr();
        // SAFETY: as for `Lanes`; the chunk holds eight times `LANES` blocks.
        unsafe {
            let mut state = [V::broadcast([0; 16]); 8];
            for (i, x) in state.iter_mut().enumerate() {
                *x = V::load(at.add(i * V::LANES));
            }
            step.run(&mut state);
            for (i, x) in state.into_iter().enumerate() {
                x.store(at.add(i * V::LANES));
            }
        }
    }
}

/// Runs whole steps, and a last one that computes on zeros besides.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
unsafe fn all_steps(blocks: &mut [[u8; 16]], mut step: impl Step<__m128i>) {
    let (whole, rest) = blocks.split_at_mut(whole::<__m128i>(blocks));
    // SAFETY: as for `Lanes`.
    unsafe {
        whole_steps(whole, &mut step);
        if !rest.is_empty() {
            let mut state = [__m128i::broadcast([0; 16]); 8];
            for (x, block) in state.iter_mut().zip(&*rest) {
                *x = __m128i::load(block);
            }
            step.run(&mut state);
            for (x, block) in state.into_iter().zip(rest) {
                x.store(block);
            }
        }
    }
}

impl<V, S: Step<V>> Step<V> for &mut S {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        // SAFETY: as for `Lanes`.
        unsafe { (**self).run(state) }
    }
}

impl<V: Lanes> Encrypt<V> {
    #[inline(always)]
    unsafe fn new(keys: &RoundKeys) -> Self {
        // SAFETY: as for `Lanes`.
        unsafe {
            let mut lanes = [V::broadcast([0; 16]); 11];
            for (lanes, key) in lanes.iter_mut().zip(keys) {
                *lanes = V::broadcast(key.to_bytes());
            }
            Encrypt(lanes)
        }
    }
}

// Loops over arrays rather than closures: only what is always inlined is sure to get the features of the outermost
// function.
impl<V: Lanes> Step<V> for Encrypt<V> {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        let [first, middle @ .., last] = &self.0;
        // SAFETY: as for `Lanes`.
        unsafe {
            for x in state.iter_mut() {
                *x = x.xor(*first);
            }
            for key in middle {
                for x in state.iter_mut() {
                    *x = x.aes_round(*key);
                }
            }
            for x in state.iter_mut() {
                *x = x.aes_last(*last);
            }
        }
    }
}

impl<V: Lanes> Counter<V> {
    #[inline(always)]
    unsafe fn new(keys: &RoundKeys, first: u128) -> Self {
        // SAFETY: as for `Lanes`.
        unsafe { Counter { encrypt: Encrypt::new(keys), next: V::count_from(first) } }
    }
}

impl<V: Lanes> Step<V> for Counter<V> {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        // SAFETY: as for `Lanes`.
        unsafe {
            for x in state.iter_mut() {
                *x = self.next;
                self.next = self.next.add_low(V::LANES as u64);
            }
            self.encrypt.run(state);
        }
    }
}

impl<V: Lanes> Tccr<V> {
    #[inline(always)]
    unsafe fn new(keys: &RoundKeys, first: u128) -> Self {
        // SAFETY: as for `Lanes`.
        unsafe { Tccr { encrypt: Encrypt::new(keys), tweak: V::count_from(first) } }
    }
}

impl<V: Lanes> Step<V> for Tccr<V> {
    #[inline(always)]
    unsafe fn run(&mut self, state: &mut [V; 8]) {
        // SAFETY: as for `Lanes`.
        unsafe {
            self.encrypt.run(state);
            let inner = *state;
            for x in state.iter_mut() {
                *x = x.xor(self.tweak);
                self.tweak = self.tweak.add_low(V::LANES as u64);
            }
            self.encrypt.run(state);
            for (x, inner) in state.iter_mut().zip(inner) {
                *x = x.xor(inner);
            }
        }
    }
}

macro_rules! define {
    ($kind:ident, $lanes:ty, $features:literal) => {
        pub(crate) mod $kind {
            use super::*;

            #[target_feature(enable = $features)]
            pub(crate) fn encrypt(keys: &RoundKeys, blocks: &mut [[u8; 16]]) {
                let (wide, rest) = blocks.split_at_mut(whole::<$lanes>(blocks));
                // SAFETY: this function has the features that the registers need.
                unsafe {
                    whole_steps::<$lanes>(wide, Encrypt::new(keys));
                    all_steps(rest, Encrypt::new(keys));
                }
            }

            /// The low 64 bits of the counter must not wrap inside the call.
            #[target_feature(enable = $features)]
            pub(crate) fn counter(keys: &RoundKeys, first: u128, out: &mut [[u8; 16]]) {
                let (wide, rest) = out.split_at_mut(whole::<$lanes>(out));
                let next = first.wrapping_add(wide.len() as u128);
                // SAFETY: this function has the features that the registers need.
                unsafe {
                    whole_steps::<$lanes>(wide, Counter::new(keys, first));
                    all_steps(rest, Counter::new(keys, next));
                }
            }

            /// The low 64 bits of the tweak must not wrap inside the call.
            #[target_feature(enable = $features)]
            pub(crate) fn tccr(keys: &RoundKeys, first: u128, blocks: &mut [[u8; 16]]) {
                let (wide, rest) = blocks.split_at_mut(whole::<$lanes>(blocks));
                let next = first.wrapping_add(wide.len() as u128);
                // SAFETY: this function has the features that the registers need.
                unsafe {
                    whole_steps::<$lanes>(wide, Tccr::new(keys, first));
                    all_steps(rest, Tccr::new(keys, next));
                }
            }
        }
    };
}
for_each_kind!(define);

/// The round keys of a key.
///
/// SubWord and RotWord are a byte shuffle and the last round of an encryption (ShiftRows does nothing to four equal
/// columns), which is half the latency of AESKEYGENASSIST.
#[target_feature(enable = "aes,ssse3")]
pub(crate) fn expand(key: Block) -> RoundKeys {
    let turn = _mm_set1_epi32(0x0c0f_0e0d);
    // SAFETY: a block is 16 bytes.
    let mut key = unsafe { _mm_loadu_si128(key.to_bytes().as_ptr().cast()) };
    let mut rounds = [Block::ZERO; 11];
    let mut constant = 1;
    for (i, round) in rounds.iter_mut().enumerate() {
        // SAFETY: a block is 16 bytes.
        unsafe { _mm_storeu_si128(core::ptr::from_mut(round).cast(), key) };
        let turned = _mm_aesenclast_si128(_mm_shuffle_epi8(key, turn), _mm_set1_epi32(constant));
        key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
        key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
        key = _mm_xor_si128(key, turned);
        constant = if i == 7 { 0x1b } else { constant << 1 };
    }
    rounds
}
