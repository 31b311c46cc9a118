//! The garbling kernels on x86-64: VAES on 512-bit registers, AES-NI on 128-bit ones.

use core::arch::x86_64::*;

use super::super::garble::{KEY_WORD, Quad, instantiate};
use crate::Block;

/// Four blocks in one 512-bit register.
#[derive(Clone, Copy)]
struct Zmm(__m512i);

/// Four blocks in four 128-bit registers.
#[derive(Clone, Copy)]
struct Xmm([__m128i; 4]);

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Quad for Zmm {
    #[inline(always)]
    unsafe fn load(from: *const Block) -> Self {
        Zmm(_mm512_loadu_si512(from.cast()))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut Block) {
        _mm512_storeu_si512(to.cast(), self.0)
    }
    #[inline(always)]
    unsafe fn gather(from: [*const Block; 4]) -> Self {
        let [a, b, c, d] = from.map(|p| p.cast::<__m128i>());
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(_mm_loadu_si128(a)), _mm_loadu_si128(b));
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(_mm_loadu_si128(c)), _mm_loadu_si128(d));
        Zmm(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
    }
    #[inline(always)]
    unsafe fn load_half(from: *const Block) -> Self {
        Zmm(_mm512_zextsi256_si512(_mm256_loadu_si256(from.cast())))
    }
    #[inline(always)]
    unsafe fn store_half(self, to: *mut Block) {
        _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(self.0))
    }
    #[inline(always)]
    unsafe fn gather_half([a, b]: [*const Block; 2]) -> Self {
        let low = _mm256_castsi128_si256(_mm_loadu_si128(a.cast()));
        Zmm(_mm512_zextsi256_si512(_mm256_inserti128_si256::<1>(low, _mm_loadu_si128(b.cast()))))
    }
    #[inline(always)]
    unsafe fn store_lane0(self, to: *mut Block) {
        _mm_storeu_si128(to.cast(), _mm512_castsi512_si128(self.0))
    }
    #[inline(always)]
    unsafe fn store_lane2(self, to: *mut Block) {
        _mm_storeu_si128(to.cast(), _mm512_extracti32x4_epi32::<2>(self.0))
    }
    #[inline(always)]
    unsafe fn splat(block: Block) -> Self {
        Self::broadcast(&block)
    }
    #[inline(always)]
    unsafe fn splat_word(word: u32) -> Self {
        Zmm(_mm512_set1_epi32(word as i32))
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const Block) -> Self {
        Zmm(_mm512_broadcast_i32x4(_mm_loadu_si128(from.cast())))
    }
    #[inline(always)]
    unsafe fn from_words(words: &[u32; 16]) -> Self {
        Zmm(_mm512_loadu_si512(words.as_ptr().cast()))
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        Zmm(_mm512_xor_si512(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        Zmm(_mm512_ternarylogic_epi64::<0x96>(self.0, b.0, c.0))
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        Zmm(_mm512_and_si512(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Zmm(_mm512_or_si512(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn aes_round(self, key: Self) -> Self {
        Zmm(_mm512_aesenc_epi128(self.0, key.0))
    }
    #[inline(always)]
    unsafe fn aes_last(self, key: Self) -> Self {
        Zmm(_mm512_aesenclast_epi128(self.0, key.0))
    }
    #[inline(always)]
    unsafe fn sigma(self) -> Self {
        let swapped = _mm512_shuffle_epi32::<0b01_00_11_10>(self.0);
        let high_halves = _mm512_set_epi64(-1, 0, -1, 0, -1, 0, -1, 0);
        // swapped ^ (self & high halves)
        Zmm(_mm512_ternarylogic_epi64::<0b0111_1000>(swapped, self.0, high_halves))
    }
    #[inline(always)]
    unsafe fn swap_neighbours(self) -> Self {
        Zmm(_mm512_permutex_epi64::<0b01_00_11_10>(self.0))
    }
    #[inline(always)]
    unsafe fn lsb_mask(self) -> Self {
        let low = _mm512_shuffle_epi32::<0>(self.0);
        Zmm(_mm512_srai_epi32::<31>(_mm512_slli_epi32::<31>(low)))
    }
    #[inline(always)]
    unsafe fn select_odd(self, odd: Self) -> Self {
        Zmm(_mm512_mask_blend_epi64(0b1100_1100, self.0, odd.0))
    }
    #[inline(always)]
    unsafe fn key_word(self, rcon: Self) -> Self {
        let order = _mm512_broadcast_i32x4(_mm_loadu_si128(KEY_WORD.as_ptr().cast()));
        Zmm(_mm512_aesenclast_epi128(_mm512_shuffle_epi8(self.0, order), rcon.0))
    }
    #[inline(always)]
    unsafe fn transpose_words([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a.0, b.0), _mm512_unpackhi_epi32(a.0, b.0));
        let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c.0, d.0), _mm512_unpackhi_epi32(c.0, d.0));
        [
            Zmm(_mm512_unpacklo_epi64(ab_low, cd_low)),
            Zmm(_mm512_unpackhi_epi64(ab_low, cd_low)),
            Zmm(_mm512_unpacklo_epi64(ab_high, cd_high)),
            Zmm(_mm512_unpackhi_epi64(ab_high, cd_high)),
        ]
    }
}

/// Applies a 128-bit operation to each of the four registers.
macro_rules! each {
    ($($x:ident = $from:expr),+ => $body:expr) => {{
        let mut out = [_mm_setzero_si128(); 4];
        for i in 0..4 {
            $(let $x = $from.0[i];)+
            out[i] = $body;
        }
        Xmm(out)
    }};
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Quad for Xmm {
    #[inline(always)]
    unsafe fn load(from: *const Block) -> Self {
        Self::gather([from, from.add(1), from.add(2), from.add(3)])
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut Block) {
        for i in 0..4 {
            _mm_storeu_si128(to.add(i).cast(), self.0[i]);
        }
    }
    #[inline(always)]
    unsafe fn gather(from: [*const Block; 4]) -> Self {
        Xmm([
            _mm_loadu_si128(from[0].cast()),
            _mm_loadu_si128(from[1].cast()),
            _mm_loadu_si128(from[2].cast()),
            _mm_loadu_si128(from[3].cast()),
        ])
    }
    #[inline(always)]
    unsafe fn load_half(from: *const Block) -> Self {
        Self::gather_half([from, from.add(1)])
    }
    #[inline(always)]
    unsafe fn store_half(self, to: *mut Block) {
        for i in 0..2 {
            _mm_storeu_si128(to.add(i).cast(), self.0[i]);
        }
    }
    #[inline(always)]
    unsafe fn gather_half([a, b]: [*const Block; 2]) -> Self {
        Xmm([_mm_loadu_si128(a.cast()), _mm_loadu_si128(b.cast()), _mm_setzero_si128(), _mm_setzero_si128()])
    }
    #[inline(always)]
    unsafe fn store_lane0(self, to: *mut Block) {
        _mm_storeu_si128(to.cast(), self.0[0])
    }
    #[inline(always)]
    unsafe fn store_lane2(self, to: *mut Block) {
        _mm_storeu_si128(to.cast(), self.0[2])
    }
    #[inline(always)]
    unsafe fn splat(block: Block) -> Self {
        Self::broadcast(&block)
    }
    #[inline(always)]
    unsafe fn splat_word(word: u32) -> Self {
        Xmm([_mm_set1_epi32(word as i32); 4])
    }
    #[inline(always)]
    unsafe fn broadcast(from: *const Block) -> Self {
        Xmm([_mm_loadu_si128(from.cast()); 4])
    }
    #[inline(always)]
    unsafe fn from_words(words: &[u32; 16]) -> Self {
        Self::load(words.as_ptr().cast())
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        each!(x = self, y = other => _mm_xor_si128(x, y))
    }
    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        each!(x = self, y = other => _mm_and_si128(x, y))
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        each!(x = self, y = other => _mm_or_si128(x, y))
    }
    #[inline(always)]
    unsafe fn aes_round(self, key: Self) -> Self {
        each!(x = self, k = key => _mm_aesenc_si128(x, k))
    }
    #[inline(always)]
    unsafe fn aes_last(self, key: Self) -> Self {
        each!(x = self, k = key => _mm_aesenclast_si128(x, k))
    }
    #[inline(always)]
    unsafe fn sigma(self) -> Self {
        let high = _mm_set_epi64x(-1, 0);
        each!(x = self => _mm_xor_si128(_mm_shuffle_epi32::<0b01_00_11_10>(x), _mm_and_si128(x, high)))
    }
    #[inline(always)]
    unsafe fn swap_neighbours(self) -> Self {
        let [a, b, c, d] = self.0;
        Xmm([b, a, d, c])
    }
    #[inline(always)]
    unsafe fn lsb_mask(self) -> Self {
        each!(x = self => _mm_srai_epi32::<31>(_mm_slli_epi32::<31>(_mm_shuffle_epi32::<0>(x))))
    }
    #[inline(always)]
    unsafe fn select_odd(self, odd: Self) -> Self {
        Xmm([self.0[0], odd.0[1], self.0[2], odd.0[3]])
    }
    #[inline(always)]
    unsafe fn key_word(self, rcon: Self) -> Self {
        let order = _mm_loadu_si128(KEY_WORD.as_ptr().cast());
        each!(x = self, r = rcon => _mm_aesenclast_si128(_mm_shuffle_epi8(x, order), r))
    }
    #[inline(always)]
    unsafe fn transpose_words(words: [Self; 4]) -> [Self; 4] {
        let mut out = words;
        for lane in 0..4 {
            let [a, b, c, d] = words.map(|w| w.0[lane]);
            let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
            out[0].0[lane] = _mm_unpacklo_epi64(ab_low, cd_low);
            out[1].0[lane] = _mm_unpackhi_epi64(ab_low, cd_low);
            out[2].0[lane] = _mm_unpacklo_epi64(ab_high, cd_high);
            out[3].0[lane] = _mm_unpackhi_epi64(ab_high, cd_high);
        }
        out
    }
}

instantiate!(aesni, Xmm, "aes,avx2,ssse3,sse4.1");
instantiate!(vaes, Zmm, "vaes,avx512f,avx512bw,avx512vl,avx512dq,aes,avx2");
