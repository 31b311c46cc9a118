//! What garbling needs of the registers of x86-64.

use core::arch::x86_64::*;

use crate::arch::garble::{KEY_WORD, Wires};
use crate::memory::block::Block;

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Wires for __m512i {
    const LIVE: bool = true;

    #[inline(always)]
    unsafe fn gather([a, b, c, d]: [*const Block; 4]) -> Self {
        let (low, high) = (<__m256i as Wires>::gather([a, b, a, b]), <__m256i as Wires>::gather([c, d, c, d]));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
    #[inline(always)]
    unsafe fn scatter(self, [a, b, c, d]: [*mut Block; 4]) {
        // Half a register stores either of its lanes without a shuffle, a whole one only the first.
        _mm512_castsi512_si256(self).scatter([a, b, a, b]);
        _mm512_extracti64x4_epi64::<1>(self).scatter([c, d, c, d]);
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        _mm512_or_si512(self, other)
    }
    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        _mm512_ternarylogic_epi64::<0x96>(self, b, c)
    }
    #[inline(always)]
    unsafe fn lsb_mask(self) -> Self {
        let low = _mm512_shuffle_epi32::<0>(self);
        _mm512_srai_epi32::<31>(_mm512_slli_epi32::<31>(low))
    }
    #[inline(always)]
    unsafe fn key_word(self, rcon: Self) -> Self {
        let order = _mm512_broadcast_i32x4(_mm_loadu_si128(KEY_WORD.as_ptr().cast()));
        _mm512_aesenclast_epi128(_mm512_shuffle_epi8(self, order), rcon)
    }
    #[inline(always)]
    unsafe fn transpose_words([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(ab_low, cd_low),
            _mm512_unpackhi_epi64(ab_low, cd_low),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }
    #[inline(always)]
    unsafe fn low_halves(self, other: Self) -> Self {
        _mm512_unpacklo_epi64(self, other)
    }
    #[inline(always)]
    unsafe fn high_halves(self, other: Self) -> Self {
        _mm512_unpackhi_epi64(self, other)
    }
    #[inline(always)]
    unsafe fn bit_mask(self, bit: Self) -> Self {
        _mm512_movm_epi64(_mm512_test_epi64_mask(self, bit))
    }
    #[inline(always)]
    unsafe fn load_twice(from: *const [u8; 8]) -> Self {
        let all = _mm512_castsi256_si512(_mm256_loadu_si256(from.cast()));
        _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), all)
    }
    #[inline(always)]
    unsafe fn store_low(self, to: *mut [u8; 8]) {
        let low = _mm512_permutexvar_epi64(_mm512_set_epi64(0, 0, 0, 0, 6, 4, 2, 0), self);
        _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(low));
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Wires for __m256i {
    // Miri does not know all instructions of 512-bit registers: there these go the way of those.
    const LIVE: bool = cfg!(miri);

    #[inline(always)]
    unsafe fn gather([a, b, ..]: [*const Block; 4]) -> Self {
        let low = _mm256_castsi128_si256(_mm_loadu_si128(a.cast()));
        _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(b.cast()))
    }
    #[inline(always)]
    unsafe fn scatter(self, [a, b, ..]: [*mut Block; 4]) {
        _mm256_storeu2_m128i(b.cast(), a.cast(), self);
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        _mm256_or_si256(self, other)
    }
    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        _mm256_xor_si256(_mm256_xor_si256(self, b), c)
    }
    #[inline(always)]
    unsafe fn lsb_mask(self) -> Self {
        let low = _mm256_shuffle_epi32::<0>(self);
        _mm256_srai_epi32::<31>(_mm256_slli_epi32::<31>(low))
    }
    #[inline(always)]
    unsafe fn key_word(self, rcon: Self) -> Self {
        let order = _mm256_broadcastsi128_si256(_mm_loadu_si128(KEY_WORD.as_ptr().cast()));
        _mm256_aesenclast_epi128(_mm256_shuffle_epi8(self, order), rcon)
    }
    #[inline(always)]
    unsafe fn transpose_words([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(ab_low, cd_low),
            _mm256_unpackhi_epi64(ab_low, cd_low),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    }
    #[inline(always)]
    unsafe fn low_halves(self, other: Self) -> Self {
        _mm256_unpacklo_epi64(self, other)
    }
    #[inline(always)]
    unsafe fn high_halves(self, other: Self) -> Self {
        _mm256_unpackhi_epi64(self, other)
    }
    #[inline(always)]
    unsafe fn bit_mask(self, bit: Self) -> Self {
        _mm256_cmpeq_epi64(_mm256_and_si256(self, bit), bit)
    }
    #[inline(always)]
    unsafe fn load_twice(from: *const [u8; 8]) -> Self {
        _mm256_permute4x64_epi64::<0b01_01_00_00>(_mm256_castsi128_si256(_mm_loadu_si128(from.cast())))
    }
    #[inline(always)]
    unsafe fn store_low(self, to: *mut [u8; 8]) {
        let low = _mm256_permute4x64_epi64::<0b00_00_10_00>(self);
        _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(low));
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Wires for __m128i {
    const LIVE: bool = false;

    #[inline(always)]
    unsafe fn gather([a, ..]: [*const Block; 4]) -> Self {
        _mm_loadu_si128(a.cast())
    }
    #[inline(always)]
    unsafe fn scatter(self, [a, ..]: [*mut Block; 4]) {
        _mm_storeu_si128(a.cast(), self);
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        _mm_or_si128(self, other)
    }
    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        _mm_xor_si128(_mm_xor_si128(self, b), c)
    }
    #[inline(always)]
    unsafe fn lsb_mask(self) -> Self {
        _mm_srai_epi32::<31>(_mm_slli_epi32::<31>(_mm_shuffle_epi32::<0>(self)))
    }
    #[inline(always)]
    unsafe fn key_word(self, rcon: Self) -> Self {
        let order = _mm_loadu_si128(KEY_WORD.as_ptr().cast());
        _mm_aesenclast_si128(_mm_shuffle_epi8(self, order), rcon)
    }
    #[inline(always)]
    unsafe fn transpose_words([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        [
            _mm_unpacklo_epi64(ab_low, cd_low),
            _mm_unpackhi_epi64(ab_low, cd_low),
            _mm_unpacklo_epi64(ab_high, cd_high),
            _mm_unpackhi_epi64(ab_high, cd_high),
        ]
    }
    #[inline(always)]
    unsafe fn low_halves(self, other: Self) -> Self {
        _mm_unpacklo_epi64(self, other)
    }
    #[inline(always)]
    unsafe fn high_halves(self, other: Self) -> Self {
        _mm_unpackhi_epi64(self, other)
    }
    #[inline(always)]
    unsafe fn bit_mask(self, bit: Self) -> Self {
        _mm_cmpeq_epi64(_mm_and_si128(self, bit), bit)
    }
    #[inline(always)]
    unsafe fn load_twice(from: *const [u8; 8]) -> Self {
        let low = _mm_loadl_epi64(from.cast());
        _mm_unpacklo_epi64(low, low)
    }
    #[inline(always)]
    unsafe fn store_low(self, to: *mut [u8; 8]) {
        _mm_storel_epi64(to.cast(), self)
    }
}
