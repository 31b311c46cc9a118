//! x86-64: AES-NI with AVX2, and VAES with AVX-512.
//!
//! The kernels are generic over a register of several 128-bit lanes ([`Lanes`]). They are inlined into outermost
//! functions that carry `target_feature`, one for each kind; only those are called from outside, after the
//! machine was asked.

use core::arch::x86_64::*;

pub(crate) mod aes;
pub(crate) mod clmul;
pub(crate) mod garble;
pub(crate) mod transpose;

/// Two features sets, in the words of `target_feature`, handed to a macro that defines a module of outermost functions.
macro_rules! for_each_kind {
    ($define:ident) => {
        $define!(aesni, __m128i, "aes,avx2,pclmulqdq,ssse3,sse4.1");
        $define!(
            vaes,
            __m512i,
            "aes,avx2,pclmulqdq,ssse3,sse4.1,vaes,vpclmulqdq,gfni,avx512f,avx512bw,avx512vl,avx512dq"
        );
    };
}
pub(crate) use for_each_kind;

/// A register of one or more blocks. Every operation works on each 128-bit lane by itself.
///
/// # Safety
/// Every method needs the caller's machine to have the register's instructions: `__m128i` those of the backend
/// `aesni`, `__m512i` those of `vaes`. Pointers must be good for `LANES` blocks, of any alignment.
pub(crate) trait Lanes: Copy {
    /// Blocks in a register.
    const LANES: usize;

    unsafe fn load(from: *const [u8; 16]) -> Self;
    unsafe fn store(self, to: *mut [u8; 16]);
    /// The same block in every lane.
    unsafe fn broadcast(block: [u8; 16]) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    /// Adds a number to the low 64 bits of every lane.
    unsafe fn add_low(self, n: u64) -> Self;
    /// A round of AES encryption, and the last round.
    unsafe fn aes_round(self, key: Self) -> Self;
    unsafe fn aes_last(self, key: Self) -> Self;
    /// The carry-less product of a half of `self` (bit 0 of `HALVES`) and one of `other` (bit 4).
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self;

    /// `first`, `first + 1`, ... in the lanes.
    #[inline(always)]
    unsafe fn count_from(first: u128) -> Self {
        let counters = [0, 1, 2, 3].map(|i| first.wrapping_add(i).to_le_bytes());
        const { assert!(Self::LANES <= 4) }
        // SAFETY: the array holds at least `LANES` blocks.
        unsafe { Self::load(counters.as_ptr()) }
    }
}

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
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        _mm_clmulepi64_si128::<HALVES>(self, other)
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
}
