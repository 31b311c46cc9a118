//! The registers of x86-64.

use core::arch::x86_64::*;

use crate::arch::lanes::transpose::{columns_to_words, transpose_by_shifts};
use crate::arch::lanes::{Bytes, Lanes, Shifts};

/// Defines the function of [`Lanes::in_order`] for a register: an empty text of assembly, which the compiler
/// may neither drop nor move past another, and which it is told reads and writes the register.
macro_rules! in_order {
    ($name:ident, $register:ty, $class:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        #[inline]
        fn $name(#[allow(unused_mut, reason = "Miri has no assembly")] mut x: $register) -> $register {
            #[cfg(not(miri))]
            // SAFETY: it is no instruction.
            unsafe {
                core::arch::asm!("/* {0} */", inout($class) x, options(nomem, nostack, preserves_flags));
            }
            x
        }
    };
}
in_order!(in_order_128, __m128i, xmm_reg, "sse2");
in_order!(in_order_256, __m256i, ymm_reg, "avx");

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Lanes for __m128i {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const [u8; 16]) -> Self {
        _mm_loadu_si128(from.cast())
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; 16]) {
        _mm_storeu_si128(to.cast(), self)
    }
    #[inline(always)]
    unsafe fn broadcast(block: [u8; 16]) -> Self {
        _mm_loadu_si128(block.as_ptr().cast())
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        _mm_xor_si128(self, other)
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        _mm_and_si128(self, other)
    }
    #[inline(always)]
    unsafe fn words(word: u32) -> Self {
        _mm_set1_epi32(word as i32)
    }
    #[inline(always)]
    unsafe fn sigma(self) -> Self {
        let high = _mm_and_si128(self, _mm_set_epi64x(-1, 0));
        _mm_xor_si128(_mm_shuffle_epi32::<0b01_00_11_10>(self), high)
    }
    #[inline(always)]
    unsafe fn add_low(self, n: u64) -> Self {
        _mm_add_epi64(self, _mm_set_epi64x(0, n as i64))
    }
    #[inline(always)]
    unsafe fn aes_round(self, key: Self) -> Self {
        _mm_aesenc_si128(self, key)
    }
    #[inline(always)]
    unsafe fn aes_last(self, key: Self) -> Self {
        _mm_aesenclast_si128(self, key)
    }
    #[inline(always)]
    unsafe fn in_order(self) -> Self {
        in_order_128(self)
    }
    #[inline(always)]
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        _mm_clmulepi64_si128::<HALVES>(self, other)
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
impl Lanes for __m512i {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const [u8; 16]) -> Self {
        _mm512_loadu_si512(from.cast())
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; 16]) {
        _mm512_storeu_si512(to.cast(), self)
    }
    #[inline(always)]
    unsafe fn broadcast(block: [u8; 16]) -> Self {
        _mm512_broadcast_i32x4(_mm_loadu_si128(block.as_ptr().cast()))
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        _mm512_xor_si512(self, other)
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        _mm512_and_si512(self, other)
    }
    #[inline(always)]
    unsafe fn words(word: u32) -> Self {
        _mm512_set1_epi32(word as i32)
    }
    #[inline(always)]
    unsafe fn sigma(self) -> Self {
        let (swapped, high) =
            (_mm512_shuffle_epi32::<0b01_00_11_10>(self), _mm512_set_epi64(-1, 0, -1, 0, -1, 0, -1, 0));
        // swapped ^ (self & high)
        _mm512_ternarylogic_epi64::<0b0111_1000>(swapped, self, high)
    }
    #[inline(always)]
    unsafe fn add_low(self, n: u64) -> Self {
        _mm512_add_epi64(self, _mm512_maskz_set1_epi64(0b0101_0101, n as i64))
    }
    #[inline(always)]
    unsafe fn aes_round(self, key: Self) -> Self {
        _mm512_aesenc_epi128(self, key)
    }
    #[inline(always)]
    unsafe fn aes_last(self, key: Self) -> Self {
        _mm512_aesenclast_epi128(self, key)
    }
    #[inline(always)]
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        _mm512_clmulepi64_epi128::<HALVES>(self, other)
    }
    #[inline(always)]
    unsafe fn zip_lanes(self, other: Self) -> [Self; 2] {
        let (low, high) = (_mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0), _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4));
        [_mm512_permutex2var_epi64(self, low, other), _mm512_permutex2var_epi64(self, high, other)]
    }
    #[inline(always)]
    unsafe fn unzip_lanes(self, other: Self) -> [Self; 2] {
        [_mm512_shuffle_i64x2::<0b10_00_10_00>(self, other), _mm512_shuffle_i64x2::<0b11_01_11_01>(self, other)]
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Lanes for __m256i {
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn load(from: *const [u8; 16]) -> Self {
        _mm256_loadu_si256(from.cast())
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut [u8; 16]) {
        _mm256_storeu_si256(to.cast(), self)
    }
    #[inline(always)]
    unsafe fn broadcast(block: [u8; 16]) -> Self {
        _mm256_broadcastsi128_si256(_mm_loadu_si128(block.as_ptr().cast()))
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        _mm256_xor_si256(self, other)
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        _mm256_and_si256(self, other)
    }
    #[inline(always)]
    unsafe fn words(word: u32) -> Self {
        _mm256_set1_epi32(word as i32)
    }
    #[inline(always)]
    unsafe fn sigma(self) -> Self {
        let high = _mm256_and_si256(self, _mm256_set_epi64x(-1, 0, -1, 0));
        _mm256_xor_si256(_mm256_shuffle_epi32::<0b01_00_11_10>(self), high)
    }
    #[inline(always)]
    unsafe fn add_low(self, n: u64) -> Self {
        _mm256_add_epi64(self, _mm256_set_epi64x(0, n as i64, 0, n as i64))
    }
    #[inline(always)]
    unsafe fn aes_round(self, key: Self) -> Self {
        _mm256_aesenc_epi128(self, key)
    }
    #[inline(always)]
    unsafe fn aes_last(self, key: Self) -> Self {
        _mm256_aesenclast_epi128(self, key)
    }
    #[inline(always)]
    unsafe fn in_order(self) -> Self {
        in_order_256(self)
    }
    #[inline(always)]
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        _mm256_clmulepi64_epi128::<HALVES>(self, other)
    }
    #[inline(always)]
    unsafe fn zip_lanes(self, other: Self) -> [Self; 2] {
        [_mm256_permute2x128_si256::<0x20>(self, other), _mm256_permute2x128_si256::<0x31>(self, other)]
    }
    #[inline(always)]
    unsafe fn unzip_lanes(self, other: Self) -> [Self; 2] {
        self.zip_lanes(other)
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Bytes for __m128i {
    const LANES: usize = 1;
    const STEPS: [usize; 2] = [1, 8];

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        _mm_loadu_si128(from.cast())
    }
    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut u8, _: usize) {
        _mm_storeu_si128(to.cast(), self)
    }
    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> [Self; 2] {
        [_mm_unpacklo_epi8(self, other), _mm_unpackhi_epi8(self, other)]
    }
    #[inline(always)]
    unsafe fn transpose_bits(rows: [Self; 8]) -> [Self; 8] {
        transpose_by_shifts(rows)
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Shifts for __m128i {
    #[inline(always)]
    unsafe fn exchange<const BY: i32>(self, other: Self, mask: u8) -> [Self; 2] {
        let moved = _mm_xor_si128(_mm_srli_epi16::<BY>(self), other);
        let moved = _mm_and_si128(moved, _mm_set1_epi8(mask as i8));
        [_mm_xor_si128(self, _mm_slli_epi16::<BY>(moved)), _mm_xor_si128(other, moved)]
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Bytes for __m256i {
    const LANES: usize = 2;
    const STEPS: [usize; 2] = [1, 8];

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        _mm256_loadu_si256(from.cast())
    }
    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut u8, step: usize) {
        _mm256_storeu2_m128i(to.add(step).cast(), to.cast(), self)
    }
    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> [Self; 2] {
        [_mm256_unpacklo_epi8(self, other), _mm256_unpackhi_epi8(self, other)]
    }
    #[inline(always)]
    unsafe fn transpose_bits(rows: [Self; 8]) -> [Self; 8] {
        transpose_by_shifts(rows)
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Shifts for __m256i {
    #[inline(always)]
    unsafe fn exchange<const BY: i32>(self, other: Self, mask: u8) -> [Self; 2] {
        let moved = _mm256_xor_si256(_mm256_srli_epi16::<BY>(self), other);
        let moved = _mm256_and_si256(moved, _mm256_set1_epi8(mask as i8));
        [_mm256_xor_si256(self, _mm256_slli_epi16::<BY>(moved)), _mm256_xor_si256(other, moved)]
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Bytes for __m512i {
    const LANES: usize = 4;
    const STEPS: [usize; 2] = [16, 1];

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        _mm512_loadu_si512(from.cast())
    }
    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut u8, step: usize) {
        // Half a register stores either of its lanes without a shuffle, a whole one only the first.
        let (low, high) = (_mm512_castsi512_si256(self), _mm512_extracti64x4_epi64::<1>(self));
        _mm256_storeu2_m128i(to.add(step).cast(), to.cast(), low);
        _mm256_storeu2_m128i(to.add(3 * step).cast(), to.add(2 * step).cast(), high);
    }
    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> [Self; 2] {
        [_mm512_unpacklo_epi8(self, other), _mm512_unpackhi_epi8(self, other)]
    }
    #[inline(always)]
    unsafe fn transpose_bits([a, b, c, d, e, f, g, h]: [Self; 8]) -> [Self; 8] {
        // Byte j of the constant is 1 << j: the matrix times that is its column j.
        let columns = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
        // The affine instruction numbers the rows of its matrix from the last byte.
        let mut words = columns_to_words([h, g, f, e, d, c, b, a]);
        for word in &mut words {
            *word = _mm512_gf2p8affine_epi64_epi8::<0>(columns, *word);
        }
        words
    }
}
