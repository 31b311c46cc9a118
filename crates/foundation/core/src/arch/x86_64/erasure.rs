//! Strips of the erasure code on x86-64: GFNI on 512-bit registers, byte shuffles on 256-bit ones and on 128-bit ones.

use core::arch::x86_64::*;

use crate::arch::erasure::{PIECES, Pieces, Strip, multiply, walk};

/// Multiplication by a constant as the matrix of the affine instruction: it wants the row of bit 0 last.
pub(in crate::arch) fn affine(constant: u8) -> u64 {
    let row = |bit: usize| (0..8).map(|x| (multiply(constant, 1 << x) >> bit & 1) << x).sum();
    u64::from_le_bytes(core::array::from_fn(|i| row(7 - i)))
}

#[target_feature(enable = "aes,avx2,pclmulqdq,ssse3,sse4.1,vaes,vpclmulqdq,gfni,avx512f,avx512bw,avx512vl,avx512dq")]
pub(in crate::arch) unsafe fn gfni(f: &[u64], from: &[Pieces<*const u8>], to: &[Pieces<*mut u8>], strips: usize) {
    // SAFETY: this function has the features that the registers need; the rest is promised by the caller.
    unsafe { walk::<Gfni>(f, from, to, strips) }
}

#[target_feature(enable = "aes,avx2,pclmulqdq,ssse3,sse4.1")]
pub(in crate::arch) unsafe fn avx2(
    f: &[[[u8; 16]; 2]],
    from: &[Pieces<*const u8>],
    to: &[Pieces<*mut u8>],
    strips: usize,
) {
    // SAFETY: as above.
    unsafe { walk::<Avx2>(f, from, to, strips) }
}

#[target_feature(enable = "aes,pclmulqdq,ssse3,sse4.1")]
pub(in crate::arch) unsafe fn ssse3(
    f: &[[[u8; 16]; 2]],
    from: &[Pieces<*const u8>],
    to: &[Pieces<*mut u8>],
    strips: usize,
) {
    // SAFETY: as above.
    unsafe { walk::<Ssse3>(f, from, to, strips) }
}

#[derive(Clone, Copy)]
pub(in crate::arch) struct Gfni(__m512i);

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Strip for Gfni {
    type Factor = u64;
    type Split = Gfni;
    const WIDE: usize = 8;

    #[inline(always)]
    unsafe fn gather(from: [*const u8; PIECES]) -> Self {
        let [a, b, c, d] = from.map(|from| _mm_loadu_si128(from.cast()));
        let (low, high) = (_mm256_set_m128i(b, a), _mm256_set_m128i(d, c));
        Gfni(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
    }
    #[inline(always)]
    unsafe fn scatter(self, [a, b, c, d]: [*mut u8; PIECES]) {
        let (low, high) = (_mm512_castsi512_si256(self.0), _mm512_extracti64x4_epi64::<1>(self.0));
        _mm256_storeu2_m128i(b.cast(), a.cast(), low);
        _mm256_storeu2_m128i(d.cast(), c.cast(), high);
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Gfni(_mm512_setzero_si512())
    }
    #[inline(always)]
    unsafe fn split(self) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn add_product(self, x: &Self, factor: &u64) -> Self {
        let product = _mm512_gf2p8affine_epi64_epi8::<0>(x.0, _mm512_set1_epi64(*factor as i64));
        Gfni(_mm512_xor_si512(self.0, product))
    }
}

#[derive(Clone, Copy)]
pub(in crate::arch) struct Avx2([__m256i; 2]);

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Strip for Avx2 {
    type Factor = [[u8; 16]; 2];
    /// The low and the high halves of the bytes, of either half of the strip.
    type Split = [[__m256i; 2]; 2];
    const WIDE: usize = 4;

    #[inline(always)]
    unsafe fn gather(from: [*const u8; PIECES]) -> Self {
        let [a, b, c, d] = from.map(|from| _mm_loadu_si128(from.cast()));
        Avx2([_mm256_set_m128i(b, a), _mm256_set_m128i(d, c)])
    }
    #[inline(always)]
    unsafe fn scatter(self, [a, b, c, d]: [*mut u8; PIECES]) {
        _mm256_storeu2_m128i(b.cast(), a.cast(), self.0[0]);
        _mm256_storeu2_m128i(d.cast(), c.cast(), self.0[1]);
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Avx2([_mm256_setzero_si256(); 2])
    }
    #[inline(always)]
    unsafe fn split(self) -> Self::Split {
        let low = _mm256_set1_epi8(0x0f);
        self.0.map(|x| [_mm256_and_si256(x, low), _mm256_and_si256(_mm256_srli_epi16::<4>(x), low)])
    }
    #[inline(always)]
    unsafe fn add_product(mut self, x: &Self::Split, factor: &Self::Factor) -> Self {
        let tables = factor.each_ref().map(|t| _mm256_broadcastsi128_si256(_mm_loadu_si128(t.as_ptr().cast())));
        for half in 0..2 {
            for (table, x) in tables.into_iter().zip(x[half]) {
                self.0[half] = _mm256_xor_si256(self.0[half], _mm256_shuffle_epi8(table, x));
            }
        }
        self
    }
}

#[derive(Clone, Copy)]
pub(in crate::arch) struct Ssse3([__m128i; PIECES]);

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Strip for Ssse3 {
    type Factor = [[u8; 16]; 2];
    /// The low and the high halves of the bytes of each piece.
    type Split = [[__m128i; 2]; PIECES];
    // Sums of two outputs fill half of the sixteen registers.
    const WIDE: usize = 2;

    #[inline(always)]
    unsafe fn gather(from: [*const u8; PIECES]) -> Self {
        Ssse3(from.map(|from| _mm_loadu_si128(from.cast())))
    }
    #[inline(always)]
    unsafe fn scatter(self, to: [*mut u8; PIECES]) {
        for (to, piece) in to.into_iter().zip(self.0) {
            _mm_storeu_si128(to.cast(), piece);
        }
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Ssse3([_mm_setzero_si128(); PIECES])
    }
    #[inline(always)]
    unsafe fn split(self) -> Self::Split {
        let low = _mm_set1_epi8(0x0f);
        self.0.map(|x| [_mm_and_si128(x, low), _mm_and_si128(_mm_srli_epi16::<4>(x), low)])
    }
    #[inline(always)]
    unsafe fn add_product(mut self, x: &Self::Split, factor: &Self::Factor) -> Self {
        let tables = factor.each_ref().map(|t| _mm_loadu_si128(t.as_ptr().cast()));
        for piece in 0..PIECES {
            for (table, x) in tables.into_iter().zip(x[piece]) {
                self.0[piece] = _mm_xor_si128(self.0[piece], _mm_shuffle_epi8(table, x));
            }
        }
        self
    }
}
