//! Bit-matrix transposition against the definition, on every backend.

use comity_core::{Backend, Block, Prg, transpose, transpose_columns};

use crate::backends;

fn naive(input: &[u8], rows: usize, columns: usize) -> Vec<u8> {
    let mut output = vec![0; input.len()];
    for row in 0..rows {
        for column in 0..columns {
            let bit = input[row * columns / 8 + column / 8] >> (column % 8) & 1;
            output[column * rows / 8 + row / 8] |= bit << (row % 8);
        }
    }
    output
}

#[test]
fn all_shapes() {
    let sizes: &[usize] = match cfg!(miri) {
        true => &[0, 8, 136],
        false => &[0, 8, 16, 64, 72, 120, 128, 136, 256, 264, 384, 512, 520, 640, 1024, 1160],
    };
    for backend in backends() {
        let mut prg = Prg::new(backend, Block::from_u128(7));
        for &rows in sizes {
            for &columns in sizes {
                let mut input = vec![0; rows * columns / 8];
                prg.fill(&mut input);
                // What is in the output before does not matter.
                let mut output = vec![0xff; input.len()];
                transpose(backend, &input, &mut output, rows, columns);
                assert_eq!(output, naive(&input, rows, columns), "{backend}, {rows} x {columns}");
                let mut back = vec![0; input.len()];
                transpose(backend, &output, &mut back, columns, rows);
                assert_eq!(back, input, "{backend}, {columns} x {rows}");
            }
        }
    }
}

#[test]
fn unaligned_slices() {
    for backend in backends() {
        let columns = if cfg!(miri) { 128 } else { 640 };
        let mut input = vec![0; 3 + 128 * columns / 8];
        Prg::new(backend, Block::ZERO).fill(&mut input);
        let mut output = vec![0; 5 + 128 * columns / 8];
        transpose(backend, &input[3..], &mut output[5..], 128, columns);
        assert_eq!(output[5..], naive(&input[3..], 128, columns), "{backend}");
        assert_eq!(output[..5], [0; 5]);
    }
}

#[test]
fn columns_of_128_rows_are_blocks() {
    for backend in backends() {
        let columns = if cfg!(miri) { 384 } else { 768 };
        // Row r is one where r divides the column.
        let bit = |row: usize, column: usize| column.is_multiple_of(row + 1);
        let mut input = vec![0; 128 * columns / 8];
        for row in 0..128 {
            for column in (0..columns).filter(|&c| bit(row, c)) {
                input[row * columns / 8 + column / 8] |= 1 << (column % 8);
            }
        }
        let mut output = vec![Block::ZERO; columns];
        transpose(backend, &input, Block::bytes_of_mut(&mut output), 128, columns);
        for (column, block) in output.iter().enumerate() {
            let expected = (0..128).fold(0, |sum, row| sum | u128::from(bit(row, column)) << row);
            assert!(block.to_u128() == expected, "{backend}, column {column}");
        }
    }
}

#[test]
#[should_panic(expected = "12 x 8 bits are not whole bytes")]
fn ragged_rows() {
    transpose(Backend::detect(), &[0; 12], &mut [0; 12], 12, 8);
}

#[test]
#[should_panic(expected = "16 x 8 bits are 16 bytes, not 16 and 15")]
fn short_output() {
    transpose(Backend::detect(), &[0; 16], &mut [0; 15], 16, 8);
}

#[test]
#[should_panic(expected = "fits in memory")]
fn absurd_size() {
    transpose(Backend::detect(), &[], &mut [], 1 << 40, 1 << 40);
}

#[test]
fn some_columns() {
    for backend in backends() {
        let columns = if cfg!(miri) { 256 } else { 1280 };
        let mut input = vec![0; 128 * columns / 8];
        Prg::new(backend, Block::ZERO).fill(&mut input);
        let all = naive(&input, 128, columns);
        for first in (0..=columns).step_by(128) {
            for n in (0..=columns - first).step_by(128) {
                let mut output = vec![Block::ZERO; n];
                transpose_columns(backend, &input, first, &mut output);
                assert_eq!(Block::bytes_of(&output), &all[16 * first..][..16 * n], "{backend}, {n} from {first}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "columns outside the matrix")]
fn columns_outside_are_refused() {
    transpose_columns(Backend::detect(), &[0; 128 * 32], 128, &mut [Block::ZERO; 256]);
}
