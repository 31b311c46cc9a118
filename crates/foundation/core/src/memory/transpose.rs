//! Bit-matrix transposition, the step of OT extension from columns to rows.

use crate::arch::Backend;
use crate::memory::block::Block;

/// Transposes a matrix of `rows` x `columns` bits, both multiples of 8.
///
/// Both matrices are stored row by row, each row packed least significant bit first: bit (r, c) of the input is
/// bit `c % 8` of `input[r * columns / 8 + c / 8]`, and bit (c, r) of the output is bit `r % 8` of
/// `output[c * rows / 8 + r / 8]`. With 128 rows the output is one [`Block`] a column
/// ([`Block::bytes_of_mut`](crate::Block::bytes_of_mut)). Whole tiles of 128 x 128 bits are fast.
///
/// # Panics
/// If a dimension is not a multiple of 8, or a slice does not hold `rows * columns / 8` bytes.
pub fn transpose(backend: Backend, input: &[u8], output: &mut [u8], rows: usize, columns: usize) {
    assert!(rows.is_multiple_of(8) && columns.is_multiple_of(8), "{rows} x {columns} bits are not whole bytes");
    let bytes = (rows / 8).checked_mul(columns).expect("a matrix fits in memory");
    assert!(
        input.len() == bytes && output.len() == bytes,
        "{rows} x {columns} bits are {bytes} bytes, not {} and {}",
        input.len(),
        output.len()
    );
    backend.transpose(input, output, rows, columns);
}

/// Transposes some columns of a matrix of 128 rows, to use them while they are in cache: one block for each
/// column, from bit `first` of the rows on. `input` is the whole matrix, as for [`transpose`].
///
/// # Panics
/// If `first` or the number of columns is not a multiple of 128, if the input is not 128 rows of whole
/// blocks, or if it has too few columns.
pub fn transpose_columns(backend: Backend, input: &[u8], first: usize, output: &mut [Block]) {
    let stride = input.len() / 128;
    assert!(
        input.len().is_multiple_of(2048) && first.is_multiple_of(128) && output.len().is_multiple_of(128),
        "not whole tiles"
    );
    let end = first.checked_add(output.len());
    assert!(end.is_some_and(|end| end <= 8 * stride), "columns outside the matrix");
    backend.transpose_columns(input, stride, first / 8, bytemuck::cast_slice_mut(output));
}
