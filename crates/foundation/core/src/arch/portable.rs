//! Every kernel in plain Rust, without a branch or memory index on data: the fallback and the yardstick of the others.

pub(crate) mod aes;
pub(crate) mod clmul;
pub(crate) mod garble;
pub(crate) mod lockstep;
pub(crate) mod pseudorandom;
pub(crate) mod three_halves;
pub(crate) mod transpose;

// What the safe face calls, under the names that every machine's module has.
pub(super) use aes::{
    counter as aes_counter, cr as aes_cr, cr_pairs as aes_cr_pairs, encrypt as aes_encrypt, expand as aes_expand,
    tccr as aes_tccr, tccr_pairs as aes_tccr_pairs,
};
pub(super) use clmul::{
    add_polynomial as gf128_add_polynomial, inner_product as gf128_inner_product, products as gf128_products,
};
pub(super) use transpose::{transpose, transpose_columns};

pub(super) use super::gather::{portable as gather_add, portable_part as gather_add_part};
pub(super) use super::half_tree::{portable_add as tree_add, portable_children as tree_children};
pub(super) use super::subset::portable as subset_add;
pub(super) use super::vole::portable_fold as vole_fold;

/// Does the work with the instructions that every machine of the target has.
pub(super) fn vectorize<W: super::Vectorize>(work: W) -> W::Output {
    work.run()
}

/// Writes the sum of rows, all of one length.
pub(super) fn sum<const K: usize>(rows: [&[[u8; 16]]; K], out: &mut [[u8; 16]]) {
    out.fill([0; 16]);
    for row in rows {
        assert_eq!(row.len(), out.len(), "rows of one length");
        for (sum, byte) in out.as_flattened_mut().iter_mut().zip(row.as_flattened()) {
            *sum ^= byte;
        }
    }
}
