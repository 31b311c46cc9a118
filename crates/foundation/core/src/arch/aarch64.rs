//! ARMv8 with the cryptographic extension: AES and PMULL on 128-bit NEON registers; and with that of SHA-3,
//! whose sums of three registers and sums with a masked one the compiler puts in the place of two
//! instructions.

// The lint looks at one function at a time: these are inlined into functions that have the features, and then
// so are the instructions.
#![allow(unknown_lints, inline_always_mismatching_target_features)]

use core::arch::aarch64::*;

pub(super) mod erasure;
mod garble;

use super::RoundKeys;
use super::instantiate::instantiate;
use super::lanes::transpose::transpose_by_shifts;
use super::lanes::{Bytes, Lanes, Shifts};
use crate::memory::block::Block;

// The register needs NEON, AES and PMULL; `target_feature` knows the last two by one name. `Backend` asks the machine.
instantiate!(armv8, "neon,aes", wide: uint8x16_t, half: uint8x16_t, single: uint8x16_t, bytes: uint8x16_t);
instantiate!(armv8sha3, "neon,aes,sha3", wide: uint8x16_t, half: uint8x16_t, single: uint8x16_t, bytes: uint8x16_t);

/// The round keys of a key.
///
/// SubWord is the last round of an encryption: ShiftRows does nothing to four equal columns.
#[target_feature(enable = "neon,aes")]
fn expand(key: Block) -> RoundKeys {
    const TURN: [u8; 16] = [13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12];
    let zero = vdupq_n_u8(0);
    // SAFETY: both arrays hold 16 bytes.
    let (turn, mut key) = unsafe { (vld1q_u8(TURN.as_ptr()), vld1q_u8(key.to_bytes().as_ptr())) };
    let mut rounds = [Block::ZERO; 11];
    let mut constant = 1;
    for (i, round) in rounds.iter_mut().enumerate() {
        // SAFETY: a block is 16 bytes.
        unsafe { vst1q_u8(core::ptr::from_mut(round).cast(), key) };
        let turned = veorq_u8(vaeseq_u8(vqtbl1q_u8(key, turn), zero), vreinterpretq_u8_u32(vdupq_n_u32(constant)));
        key = veorq_u8(key, vextq_u8::<12>(zero, key));
        key = veorq_u8(key, vextq_u8::<8>(zero, key));
        key = veorq_u8(key, turned);
        constant = if i == 7 { 0x1b } else { constant << 1 };
    }
    rounds
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Lanes for uint8x16_t {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const [u8; 16]) -> Self {
        vld1q_u8(from.cast())
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; 16]) {
        vst1q_u8(to.cast(), self)
    }
    #[inline(always)]
    unsafe fn broadcast(block: [u8; 16]) -> Self {
        vld1q_u8(block.as_ptr())
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        veorq_u8(self, other)
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        vandq_u8(self, other)
    }
    #[inline(always)]
    unsafe fn words(word: u32) -> Self {
        vreinterpretq_u8_u32(vdupq_n_u32(word))
    }
    #[inline(always)]
    unsafe fn sigma(self) -> Self {
        // (hi, lo) ^ (0, hi)
        let swapped = vextq_u8::<8>(self, self);
        veorq_u8(swapped, vextq_u8::<8>(vdupq_n_u8(0), swapped))
    }
    #[inline(always)]
    unsafe fn add_low(self, n: u64) -> Self {
        let n = vsetq_lane_u64::<0>(n, vdupq_n_u64(0));
        vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(self), n))
    }
    // The instruction adds its key first. The compiler moves the key of one round there from the end of the round
    // before.
    #[inline(always)]
    unsafe fn aes_round(self, key: Self) -> Self {
        veorq_u8(vaesmcq_u8(vaeseq_u8(self, vdupq_n_u8(0))), key)
    }
    #[inline(always)]
    unsafe fn aes_last(self, key: Self) -> Self {
        veorq_u8(vaeseq_u8(self, vdupq_n_u8(0)), key)
    }
    #[inline(always)]
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        let half = |x, high| {
            let x = vreinterpretq_u64_u8(x);
            if high { vgetq_lane_u64::<1>(x) } else { vgetq_lane_u64::<0>(x) }
        };
        vreinterpretq_u8_p128(vmull_p64(half(self, HALVES & 0x01 != 0), half(other, HALVES & 0x10 != 0)))
    }
    #[inline(always)]
    unsafe fn zip_lanes(self, other: Self) -> [Self; 2] {
        [self, other]
    }
    #[inline(always)]
    unsafe fn unzip_lanes(self, other: Self) -> [Self; 2] {
        [self, other]
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Bytes for uint8x16_t {
    const LANES: usize = 1;
    const STEPS: [usize; 2] = [1, 8];

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        vld1q_u8(from)
    }
    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut u8, _: usize) {
        vst1q_u8(to, self)
    }
    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> [Self; 2] {
        [vzip1q_u8(self, other), vzip2q_u8(self, other)]
    }
    #[inline(always)]
    unsafe fn transpose_bits(rows: [Self; 8]) -> [Self; 8] {
        transpose_by_shifts(rows)
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Shifts for uint8x16_t {
    #[inline(always)]
    unsafe fn exchange<const BY: i32>(self, other: Self, mask: u8) -> [Self; 2] {
        let moved = vandq_u8(veorq_u8(vshlq_u8(self, vdupq_n_s8(-BY as i8)), other), vdupq_n_u8(mask));
        [veorq_u8(self, vshlq_u8(moved, vdupq_n_s8(BY as i8))), veorq_u8(other, moved)]
    }
}
