//! x86-64: AES-NI with SSE4.1, AES-NI with AVX2, VAES with AVX2, and VAES with AVX-512.

use core::arch::x86_64::*;

pub(super) mod erasure;
mod garble;
mod registers;

use super::RoundKeys;
use super::instantiate::instantiate;
use crate::memory::block::Block;

// `__m128i` needs AES-NI, PCLMULQDQ and SSE4.1, `__m256i` AVX2 and, as a register of blocks, VAES and
// VPCLMULQDQ, `__m512i` GFNI and AVX-512 besides, with the counting of bits that every machine has that has
// the others. `Backend` asks the machine for all that its kind enables here.
instantiate!(
    aesni128,
    "aes,pclmulqdq,ssse3,sse4.1",
    wide: __m128i, half: __m128i, single: __m128i, bytes: __m128i
);
instantiate!(
    aesni,
    "aes,avx2,pclmulqdq,ssse3,sse4.1",
    wide: __m128i, half: __m128i, single: __m128i, bytes: __m256i
);
instantiate!(
    vaes256,
    "aes,avx2,pclmulqdq,ssse3,sse4.1,vaes,vpclmulqdq",
    wide: __m256i, half: __m128i, single: __m128i, bytes: __m256i
);
instantiate!(
    vaes,
    "aes,avx2,pclmulqdq,ssse3,sse4.1,vaes,vpclmulqdq,gfni,avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq",
    wide: __m512i, half: __m256i, single: __m128i, bytes: __m512i
);

/// The round keys of a key.
///
/// SubWord and RotWord are a byte shuffle and the last round of an encryption (ShiftRows does nothing to four equal
/// columns), which is half the latency of AESKEYGENASSIST.
#[target_feature(enable = "aes,ssse3")]
fn expand(key: Block) -> RoundKeys {
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
