//! Bit-matrix transposition in tiles of 128 rows, as wide as a register.
//!
//! First eight rows at a time become a byte for each column. With an instruction for matrices of bits (GFNI)
//! their bytes are brought together in words, which it transposes. Without it, bits trade places between
//! registers, half a byte, a quarter and a bit apart: six instructions for two registers, where trading
//! inside a word takes six for one.
//!
//! Then bytes are moved by one instruction, the interleaving of two registers' bytes. Think of the bytes of a
//! lane in 2^n registers as numbered by n + 4 bits, the register's number first: interleaving register `i`
//! with register `i + 2^(n-1)` for all `i` turns that number by one bit. Four turns of sixteen registers (one
//! from each group of eight rows) complete the output rows. Three turns of eight registers (eight rows) bring
//! a byte column's eight bytes together in a word, where that is wanted.
//!
//! *Cost.* For sixteen registers 64 interleavings, and for their bits 48 and 16 instructions with GFNI, which
//! makes 8 bytes a cycle with AVX-512 at best, and 144 without.

use core::mem::MaybeUninit;

use super::{Bytes, Shifts};
use crate::arch::portable::transpose::edges;

/// Turns the numbering of the bytes of eight registers by one bit.
///
/// Every register has a name here and below: through loops over arrays the compiler does not see that no array needs to
/// be in memory, and copies them about, which takes as long again as the work.
///
/// # Safety
/// As for [`Bytes`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn turn8<V: Bytes>([a, b, c, d, e, f, g, h]: [V; 8]) -> [V; 8] {
    // SAFETY: the caller's promise.
    let [[a, b], [c, d], [e, f], [g, h]] =
        unsafe { [a.interleave(e), b.interleave(f), c.interleave(g), d.interleave(h)] };
    [a, b, c, d, e, f, g, h]
}

/// Turns the numbering of the bytes of sixteen registers by one bit.
///
/// # Safety
/// As for [`Bytes`].
#[inline(always)]
unsafe fn turn16<V: Bytes>([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: [V; 16]) -> [V; 16] {
    // SAFETY: the caller's promise.
    let [[a, b], [c, d], [e, f], [g, h], [i, j], [k, l], [m, n], [o, p]] = unsafe {
        [
            a.interleave(i),
            b.interleave(j),
            c.interleave(k),
            d.interleave(l),
            e.interleave(m),
            f.interleave(n),
            g.interleave(o),
            h.interleave(p),
        ]
    };
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

/// Brings the eight bytes of each byte column of eight rows together in a word: column `2 i` of a lane and the next in
/// register `i`.
///
/// # Safety
/// As for [`Bytes`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(in crate::arch) unsafe fn columns_to_words<V: Bytes>(rows: [V; 8]) -> [V; 8] {
    // SAFETY: the caller's promise.
    unsafe { turn8(turn8(turn8(rows))) }
}

/// Transposes each 8 x 8 bits of eight rows: byte `j` of a lane of register `i` has its column `8 j + i`.
///
/// # Safety
/// As for [`Bytes`].
#[inline(always)]
pub(in crate::arch) unsafe fn transpose_by_shifts<V: Shifts>([a, b, c, d, e, f, g, h]: [V; 8]) -> [V; 8] {
    // SAFETY: the caller's promise.
    unsafe {
        let [[a, e], [b, f], [c, g], [d, h]] =
            [a.exchange::<4>(e, 0x0f), b.exchange::<4>(f, 0x0f), c.exchange::<4>(g, 0x0f), d.exchange::<4>(h, 0x0f)];
        let [[a, c], [b, d], [e, g], [f, h]] =
            [a.exchange::<2>(c, 0x33), b.exchange::<2>(d, 0x33), e.exchange::<2>(g, 0x33), f.exchange::<2>(h, 0x33)];
        let [[a, b], [c, d], [e, f], [g, h]] =
            [a.exchange::<1>(b, 0x55), c.exchange::<1>(d, 0x55), e.exchange::<1>(f, 0x55), g.exchange::<1>(h, 0x55)];
        [a, b, c, d, e, f, g, h]
    }
}

/// Transposes 128 rows of `LANES * 128` bits.
///
/// # Safety
/// As for [`Bytes`]. `input` must be good for 128 rows of `LANES * 16` bytes `in_stride` apart, and `output` for
/// `LANES * 128` rows of 16 bytes `out_stride` apart.
#[inline(always)]
unsafe fn tile<V: Bytes>(input: *const u8, in_stride: usize, output: *mut u8, out_stride: usize) {
    let mut bytes = [[const { MaybeUninit::<V>::uninit() }; 8]; 16];
    for (group, bytes) in bytes.iter_mut().enumerate() {
        // SAFETY: `8 * group + 7 < 128`, so that all loads are in rows of the input.
        unsafe {
            let mut rows = [V::load(input); 8];
            for (i, row) in rows.iter_mut().enumerate() {
                *row = V::load(input.add((8 * group + i) * in_stride));
            }
            for (to, from) in bytes.iter_mut().zip(V::transpose_bits(rows)) {
                to.write(from);
            }
        }
    }
    for register in 0..8 {
        // SAFETY: all bytes were written above. Lane `l` of register `j` is output row `128 * l` plus the
        // column that the steps say, which is below 128.
        unsafe {
            let mut column = [V::load(input); 16];
            for (to, from) in column.iter_mut().zip(&bytes) {
                *to = from[register].assume_init();
            }
            let rows = turn16(turn16(turn16(turn16(column))));
            for (j, rows) in rows.iter().enumerate() {
                let row = V::STEPS[0] * register + V::STEPS[1] * j;
                rows.store_lanes(output.add(row * out_stride), 128 * out_stride);
            }
        }
    }
}

/// Transposes a matrix in tiles, and what is left over portably.
///
/// # Safety
/// As for [`Bytes`]; `S` has one lane.
#[inline(always)]
pub(in crate::arch) unsafe fn transpose<V: Bytes, S: Bytes>(
    input: &[u8],
    output: &mut [u8],
    rows: usize,
    columns: usize,
) {
    const { assert!(S::LANES == 1) }
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
                    tile::<S>(from, in_stride, to, out_stride);
                    column += 128;
                }
            }
        }
    }
    edges(input, output, [rows, columns], [whole_rows, whole_columns]);
}

/// Transposes some columns of 128 rows: those from byte `first` of each row on, rows `stride` bytes apart.
///
/// # Safety
/// As for [`Bytes`]; `S` has one lane.
#[inline(always)]
pub(in crate::arch) unsafe fn columns<V: Bytes, S: Bytes>(
    input: &[u8],
    stride: usize,
    first: usize,
    output: &mut [[u8; 16]],
) {
    const { assert!(S::LANES == 1) }
    let n = output.len();
    assert!(n.is_multiple_of(128) && first + n / 8 <= stride && input.len() == 128 * stride);
    let mut column = 0;
    while column < n {
        // SAFETY: the tile's columns are inside the rows and the output, whose sizes were checked.
        unsafe {
            let from = input.as_ptr().add(first + column / 8);
            let to = output.as_mut_ptr().add(column).cast();
            if column + 128 * V::LANES <= n {
                tile::<V>(from, stride, to, 16);
                column += 128 * V::LANES;
            } else {
                tile::<S>(from, stride, to, 16);
                column += 128;
            }
        }
    }
}
