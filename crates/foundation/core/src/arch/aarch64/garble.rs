//! What garbling needs of the registers of ARMv8.

use core::arch::aarch64::*;

use crate::arch::garble::{KEY_WORD, Wires};
use crate::arch::lanes::Lanes;
use crate::memory::block::Block;

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Wires for uint8x16_t {
    const LIVE: bool = true;

    #[inline(always)]
    unsafe fn gather([a, ..]: [*const Block; 4]) -> Self {
        vld1q_u8(a.cast())
    }
    #[inline(always)]
    unsafe fn scatter(self, [a, ..]: [*mut Block; 4]) {
        vst1q_u8(a.cast(), self)
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        vorrq_u8(self, other)
    }
    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        veorq_u8(veorq_u8(self, b), c)
    }
    #[inline(always)]
    unsafe fn lsb_mask(self) -> Self {
        let low = vdupq_laneq_u8::<0>(self);
        vreinterpretq_u8_s8(vnegq_s8(vreinterpretq_s8_u8(vandq_u8(low, vdupq_n_u8(1)))))
    }
    #[inline(always)]
    unsafe fn key_word(self, rcon: Self) -> Self {
        Lanes::aes_last(vqtbl1q_u8(self, vld1q_u8(KEY_WORD.as_ptr())), rcon)
    }
    #[inline(always)]
    unsafe fn transpose_words(words: [Self; 4]) -> [Self; 4] {
        let [a, b, c, d] = words.map(|w| vreinterpretq_u32_u8(w));
        let (ab_low, ab_high) = (vzip1q_u32(a, b), vzip2q_u32(a, b));
        let (cd_low, cd_high) = (vzip1q_u32(c, d), vzip2q_u32(c, d));
        let pair = |low, high| {
            let (low, high) = (vreinterpretq_u64_u32(low), vreinterpretq_u64_u32(high));
            [vreinterpretq_u8_u64(vzip1q_u64(low, high)), vreinterpretq_u8_u64(vzip2q_u64(low, high))]
        };
        let ([first, second], [third, fourth]) = (pair(ab_low, cd_low), pair(ab_high, cd_high));
        [first, second, third, fourth]
    }
    #[inline(always)]
    unsafe fn low_halves(self, other: Self) -> Self {
        vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(self), vreinterpretq_u64_u8(other)))
    }
    #[inline(always)]
    unsafe fn high_halves(self, other: Self) -> Self {
        vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(self), vreinterpretq_u64_u8(other)))
    }
    #[inline(always)]
    unsafe fn bit_mask(self, bit: Self) -> Self {
        vreinterpretq_u8_u64(vtstq_u64(vreinterpretq_u64_u8(self), vreinterpretq_u64_u8(bit)))
    }
    #[inline(always)]
    unsafe fn load_twice(from: *const [u8; 8]) -> Self {
        let half = vld1_u8(from.cast());
        vcombine_u8(half, half)
    }
    #[inline(always)]
    unsafe fn store_low(self, to: *mut [u8; 8]) {
        vst1_u8(to.cast(), vget_low_u8(self))
    }
}
