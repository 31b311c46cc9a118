//! Bit-matrix transposition in tiles of 128 rows, as wide as a register.
//!
//! Bytes are moved by one instruction, the interleaving of two registers' bytes. Think of the bytes of a lane in
//! 2^n registers as numbered by n + 4 bits, the register's number first: interleaving register `i` with register
//! `i + 2^(n-1)` for all `i` turns that number by one bit. Three turns of eight registers (eight rows) bring a byte
//! column's eight bytes together in a word, whose 8 x 8 bits are then transposed in place; four turns of sixteen
//! registers (one from each group of eight rows) then complete the output rows.
//!
//! *Cost.* 128 interleavings and 16 bit transpositions for 16 registers, about 8 bytes a cycle with AVX-512.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::arch::portable::transpose::{SWAPS, edges};

/// A register of bytes.
///
/// # Safety
/// Every method needs the caller's machine to have the register's instructions: `__m128i` SSE2, `__m256i` AVX2,
/// `__m512i` AVX-512BW and GFNI.
trait Bytes: Copy {
    /// 128-bit lanes in a register.
    const LANES: usize;
    /// In which order [`transpose8x8`](Bytes::transpose8x8) takes the eight rows: row `i` from byte `i ^ FLIP`.
    const FLIP: usize;

    unsafe fn load(from: *const u8) -> Self;
    /// Stores lane `i` at `to + i * step`.
    unsafe fn store_lanes(self, to: *mut u8, step: usize);
    /// Interleaves the bytes of the low halves, and of the high halves, of each lane.
    unsafe fn interleave(self, other: Self) -> [Self; 2];
    /// Transposes the 8 x 8 bits of each word.
    unsafe fn transpose8x8(self) -> Self;
}

/// Turns the numbering of the bytes by one bit.
///
/// # Safety
/// As for [`Bytes`].
#[inline(always)]
unsafe fn turn<V: Bytes, const N: usize>(x: [V; N]) -> [V; N] {
    let mut turned = x;
    for i in 0..N / 2 {
        // SAFETY: the caller's promise.
        [turned[2 * i], turned[2 * i + 1]] = unsafe { x[i].interleave(x[i + N / 2]) };
    }
    turned
}

/// Transposes 128 rows of `LANES * 128` bits.
///
/// # Safety
/// As for [`Bytes`]. `input` must be good for 128 rows of `LANES * 16` bytes `in_stride` apart, and `output` for
/// `LANES * 128` rows of 16 bytes `out_stride` apart.
#[inline(always)]
unsafe fn tile<V: Bytes>(input: *const u8, in_stride: usize, output: *mut u8, out_stride: usize) {
    let mut words = [[const { MaybeUninit::<V>::uninit() }; 8]; 16];
    for (group, words) in words.iter_mut().enumerate() {
        // SAFETY: `8 * group + 7 < 128`, so that all loads are in rows of the input.
        unsafe {
            let mut rows = [V::load(input); 8];
            for (i, row) in rows.iter_mut().enumerate() {
                *row = V::load(input.add((8 * group + (i ^ V::FLIP)) * in_stride));
            }
            for (word, gathered) in words.iter_mut().zip(turn(turn(turn(rows)))) {
                word.write(gathered.transpose8x8());
            }
        }
    }
    for pair in 0..8 {
        // SAFETY: all words were written above. Lane `l` of register `i` is output row `128 * l + 16 * pair + i`,
        // which is below `LANES * 128`.
        unsafe {
            let mut column = [V::load(input); 16];
            for (word, words) in column.iter_mut().zip(&words) {
                *word = words[pair].assume_init();
            }
            for (i, rows) in turn(turn(turn(turn(column)))).into_iter().enumerate() {
                rows.store_lanes(output.add((16 * pair + i) * out_stride), 128 * out_stride);
            }
        }
    }
}

/// Transposes a matrix in tiles, and what is left over portably.
///
/// # Safety
/// As for [`Bytes`], for `V` and for `__m128i`.
#[inline(always)]
unsafe fn transpose<V: Bytes>(input: &[u8], output: &mut [u8], rows: usize, columns: usize) {
    let (in_stride, out_stride) = (columns / 8, rows / 8);
    assert!(input.len() == rows * in_stride && output.len() == columns * out_stride);
    let (whole_rows, whole_columns) = (rows / 128 * 128, columns / 128 * 128);
    for row in (0..whole_rows).step_by(128) {
        let mut column = 0;
        while column < whole_columns {
            // SAFETY: rows `row..row + 128` and the tile's columns are inside the matrix, whose size was checked.
            unsafe {
                let from = input.as_ptr().add(row * in_stride + column / 8);
                let to = output.as_mut_ptr().add(column * out_stride + row / 8);
                if column + 128 * V::LANES <= whole_columns {
                    tile::<V>(from, in_stride, to, out_stride);
                    column += 128 * V::LANES;
                } else {
                    tile::<__m128i>(from, in_stride, to, out_stride);
                    column += 128;
                }
            }
        }
    }
    edges(input, output, [rows, columns], [whole_rows, whole_columns]);
}

#[target_feature(enable = "avx2")]
pub(crate) fn transpose_avx2(input: &[u8], output: &mut [u8], rows: usize, columns: usize) {
    // SAFETY: this function has the features that the registers need.
    unsafe { transpose::<__m256i>(input, output, rows, columns) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,gfni")]
pub(crate) fn transpose_gfni(input: &[u8], output: &mut [u8], rows: usize, columns: usize) {
    // SAFETY: this function has the features that the registers need.
    unsafe { transpose::<__m512i>(input, output, rows, columns) }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Bytes for __m128i {
    const LANES: usize = 1;
    const FLIP: usize = 0;

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
    unsafe fn transpose8x8(self) -> Self {
        let mut x = self;
        let swap = _mm_and_si128(_mm_xor_si128(x, _mm_srli_epi64::<7>(x)), _mm_set1_epi64x(SWAPS[0].1 as i64));
        x = _mm_xor_si128(x, _mm_xor_si128(swap, _mm_slli_epi64::<7>(swap)));
        let swap = _mm_and_si128(_mm_xor_si128(x, _mm_srli_epi64::<14>(x)), _mm_set1_epi64x(SWAPS[1].1 as i64));
        x = _mm_xor_si128(x, _mm_xor_si128(swap, _mm_slli_epi64::<14>(swap)));
        let swap = _mm_and_si128(_mm_xor_si128(x, _mm_srli_epi64::<28>(x)), _mm_set1_epi64x(SWAPS[2].1 as i64));
        _mm_xor_si128(x, _mm_xor_si128(swap, _mm_slli_epi64::<28>(swap)))
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Bytes for __m256i {
    const LANES: usize = 2;
    const FLIP: usize = 0;

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
    unsafe fn transpose8x8(self) -> Self {
        let mut x = self;
        let swap =
            _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<7>(x)), _mm256_set1_epi64x(SWAPS[0].1 as i64));
        x = _mm256_xor_si256(x, _mm256_xor_si256(swap, _mm256_slli_epi64::<7>(swap)));
        let swap =
            _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<14>(x)), _mm256_set1_epi64x(SWAPS[1].1 as i64));
        x = _mm256_xor_si256(x, _mm256_xor_si256(swap, _mm256_slli_epi64::<14>(swap)));
        let swap =
            _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<28>(x)), _mm256_set1_epi64x(SWAPS[2].1 as i64));
        _mm256_xor_si256(x, _mm256_xor_si256(swap, _mm256_slli_epi64::<28>(swap)))
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
impl Bytes for __m512i {
    const LANES: usize = 4;
    // The affine instruction numbers the rows of its matrix from the last byte.
    const FLIP: usize = 7;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        _mm512_loadu_si512(from.cast())
    }
    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut u8, step: usize) {
        _mm_storeu_si128(to.cast(), _mm512_extracti32x4_epi32::<0>(self));
        _mm_storeu_si128(to.add(step).cast(), _mm512_extracti32x4_epi32::<1>(self));
        _mm_storeu_si128(to.add(2 * step).cast(), _mm512_extracti32x4_epi32::<2>(self));
        _mm_storeu_si128(to.add(3 * step).cast(), _mm512_extracti32x4_epi32::<3>(self));
    }
    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> [Self; 2] {
        [_mm512_unpacklo_epi8(self, other), _mm512_unpackhi_epi8(self, other)]
    }
    #[inline(always)]
    unsafe fn transpose8x8(self) -> Self {
        // Byte j of the constant is 1 << j: the matrix times that is its column j.
        _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64), self)
    }
}
