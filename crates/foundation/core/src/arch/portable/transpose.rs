//! Bit-matrix transposition in plain Rust: 8 x 8 bits at a time in a 64-bit word.

/// Transposes the 8 x 8 bits of a word, whose byte `i` is row `i`.
pub(crate) fn transpose8x8(mut x: u64) -> u64 {
    for (shift, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swap = (x ^ x >> shift) & mask;
        x ^= swap ^ swap << shift;
    }
    x
}

/// Transposes `rows` x `columns` bits, both multiples of 8, from `row0`, `column0` on to the matrix's end.
pub(crate) fn transpose(input: &[u8], output: &mut [u8], rows: usize, columns: usize, row0: usize, column0: usize) {
    let (in_stride, out_stride) = (columns / 8, rows / 8);
    // One cache line of each row at a time, so that what is read and what is written both stay in cache.
    for tile in (column0 / 8..in_stride).step_by(64) {
        for row in row0 / 8..out_stride {
            for column in tile..in_stride.min(tile + 64) {
                let bytes = core::array::from_fn(|i| input[(8 * row + i) * in_stride + column]);
                let bytes = transpose8x8(u64::from_le_bytes(bytes)).to_le_bytes();
                for (i, byte) in bytes.into_iter().enumerate() {
                    output[(8 * column + i) * out_stride + row] = byte;
                }
            }
        }
    }
}
