//! Bit-matrix transposition in plain Rust: 8 x 8 bits at a time in a 64-bit word.

use core::ops::Range;

/// The three exchanges that transpose 8 x 8 bits: by how much, and which bits trade places with those above them.
const SWAPS: [(u32, u64); 3] = [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)];

/// Transposes the 8 x 8 bits of a word, whose byte `i` is row `i`.
fn transpose8x8(mut x: u64) -> u64 {
    for (shift, mask) in SWAPS {
        let swap = (x ^ x >> shift) & mask;
        x ^= swap ^ swap << shift;
    }
    x
}

/// Transposes a matrix of `rows` x `columns` bits, both multiples of 8.
pub(crate) fn transpose(input: &[u8], output: &mut [u8], rows: usize, columns: usize) {
    region(input, output, [rows / 8, columns / 8], 0..rows / 8, 0..columns / 8);
}

/// Transposes columns of 128 rows `stride` bytes apart, from byte `first` of each row on.
pub(crate) fn transpose_columns(input: &[u8], stride: usize, first: usize, output: &mut [[u8; 16]]) {
    for (column, output) in output.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        for row in 0..16 {
            let word = core::array::from_fn(|i| input[(8 * row + i) * stride + first + column]);
            let word = transpose8x8(u64::from_le_bytes(word)).to_le_bytes();
            for (output, byte) in output.iter_mut().zip(word) {
                output[row] = byte;
            }
        }
    }
}

/// Transposes the edges that a kernel leaves which transposed the first `whole_rows` x `whole_columns` bits.
pub(crate) fn edges(input: &[u8], output: &mut [u8], [rows, columns]: [usize; 2], whole: [usize; 2]) {
    let size = [rows / 8, columns / 8];
    region(input, output, size, 0..whole[0] / 8, whole[1] / 8..size[1]);
    region(input, output, size, whole[0] / 8..size[0], 0..size[1]);
}

/// Transposes a rectangle of a matrix; everything in units of eight bits.
fn region(input: &[u8], output: &mut [u8], size: [usize; 2], rows: Range<usize>, columns: Range<usize>) {
    // One cache line of each row at a time, so that what is read and what is written both stay in cache.
    for tile in columns.clone().step_by(64) {
        for row in rows.clone() {
            for column in tile..columns.end.min(tile + 64) {
                let word = core::array::from_fn(|i| input[(8 * row + i) * size[1] + column]);
                let word = transpose8x8(u64::from_le_bytes(word)).to_le_bytes();
                for (i, byte) in word.into_iter().enumerate() {
                    output[(8 * column + i) * size[0] + row] = byte;
                }
            }
        }
    }
}
