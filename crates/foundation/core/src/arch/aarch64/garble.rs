//! The garbling kernels on ARMv8.

use core::arch::aarch64::*;

use super::super::garble::{KEY_WORD, Quad, instantiate};
use super::super::lanes::Lanes;
use crate::Block;

/// Four blocks in four registers.
#[derive(Clone, Copy)]
struct Neon([uint8x16_t; 4]);

instantiate!(armv8, Neon, "neon,aes");

/// Applies an operation to each of the four registers.
macro_rules! each {
    ($($x:ident = $from:expr),+ => $body:expr) => {{
        let mut out = [vdupq_n_u8(0); 4];
        for i in 0..4 {
            $(let $x = $from.0[i];)+
            out[i] = $body;
        }
        Neon(out)
    }};
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
#[allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]
impl Quad for Neon {
    #[inline(always)]
    unsafe fn load(from: *const Block) -> Self {
        Self::gather([from, from.add(1), from.add(2), from.add(3)])
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut Block) {
        for i in 0..4 {
            vst1q_u8(to.add(i).cast(), self.0[i]);
        }
    }
    #[inline(always)]
    unsafe fn gather(from: [*const Block; 4]) -> Self {
        let [a, b, c, d] = from;
        Neon([vld1q_u8(a.cast()), vld1q_u8(b.cast()), vld1q_u8(c.cast()), vld1q_u8(d.cast())])
    }
    #[inline(always)]
    unsafe fn load_half(from: *const Block) -> Self {
        Self::gather_half([from, from.add(1)])
    }
    #[inline(always)]
    unsafe fn store_half(self, to: *mut Block) {
        for i in 0..2 {
            vst1q_u8(to.add(i).cast(), self.0[i]);
        }
    }
    #[inline(always)]
    unsafe fn gather_half([a, b]: [*const Block; 2]) -> Self {
        Neon([vld1q_u8(a.cast()), vld1q_u8(b.cast()), vdupq_n_u8(0), vdupq_n_u8(0)])
    }
    #[inline(always)]
    unsafe fn store_lane0(self, to: *mut Block) {
        vst1q_u8(to.cast(), self.0[0])
    }
    #[inline(always)]
    unsafe fn store_lane2(self, to: *mut Block) {
        vst1q_u8(to.cast(), self.0[2])
    }
    #[inline(always)]
    unsafe fn splat(block: Block) -> Self {
        Self::broadcast(&block)
    }
    #[inline(always)]
    unsafe fn splat_word(word: u32) -> Self {
        Neon([vreinterpretq_u8_u32(vdupq_n_u32(word)); 4])
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const Block) -> Self {
        Neon([vld1q_u8(from.cast()); 4])
    }
    #[inline(always)]
    unsafe fn from_words(words: &[u32; 16]) -> Self {
        Self::load(words.as_ptr().cast())
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        each!(x = self, y = other => veorq_u8(x, y))
    }
    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        each!(x = self, y = other => vandq_u8(x, y))
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        each!(x = self, y = other => vorrq_u8(x, y))
    }
    #[inline(always)]
    unsafe fn aes_round(self, key: Self) -> Self {
        each!(x = self, k = key => Lanes::aes_round(x, k))
    }
    #[inline(always)]
    unsafe fn aes_last(self, key: Self) -> Self {
        each!(x = self, k = key => Lanes::aes_last(x, k))
    }
    #[inline(always)]
    unsafe fn sigma(self) -> Self {
        let zero = vdupq_n_u8(0);
        // (hi, lo) ^ (0, hi)
        each!(x = self => {
            let swapped = vextq_u8::<8>(x, x);
            veorq_u8(swapped, vextq_u8::<8>(zero, swapped))
        })
    }
    #[inline(always)]
    unsafe fn swap_neighbours(self) -> Self {
        let [a, b, c, d] = self.0;
        Neon([b, a, d, c])
    }
    #[inline(always)]
    unsafe fn lsb_mask(self) -> Self {
        each!(x = self => {
            let low = vdupq_laneq_u8::<0>(x);
            vreinterpretq_u8_s8(vnegq_s8(vreinterpretq_s8_u8(vandq_u8(low, vdupq_n_u8(1)))))
        })
    }
    #[inline(always)]
    unsafe fn select_odd(self, odd: Self) -> Self {
        Neon([self.0[0], odd.0[1], self.0[2], odd.0[3]])
    }
    #[inline(always)]
    unsafe fn key_word(self, rcon: Self) -> Self {
        let order = vld1q_u8(KEY_WORD.as_ptr());
        each!(x = self, r = rcon => Lanes::aes_last(vqtbl1q_u8(x, order), r))
    }
    #[inline(always)]
    unsafe fn transpose_words(words: [Self; 4]) -> [Self; 4] {
        let mut out = words;
        for lane in 0..4 {
            let [a, b, c, d] = words.map(|w| vreinterpretq_u32_u8(w.0[lane]));
            let (ab_low, ab_high) = (vzip1q_u32(a, b), vzip2q_u32(a, b));
            let (cd_low, cd_high) = (vzip1q_u32(c, d), vzip2q_u32(c, d));
            let pair = |low, high| {
                let (low, high) = (vreinterpretq_u64_u32(low), vreinterpretq_u64_u32(high));
                [vreinterpretq_u8_u64(vzip1q_u64(low, high)), vreinterpretq_u8_u64(vzip2q_u64(low, high))]
            };
            let ([first, second], [third, fourth]) = (pair(ab_low, cd_low), pair(ab_high, cd_high));
            (out[0].0[lane], out[1].0[lane], out[2].0[lane], out[3].0[lane]) = (first, second, third, fourth);
        }
        out
    }
}
