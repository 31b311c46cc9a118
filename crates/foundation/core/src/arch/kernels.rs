//! The safe face of the kernels: each function runs the code of its backend.

use super::{Backend, RoundKeys};
use crate::memory::block::Block;

/// Calls the kernel of the backend's kind, whose only wish is the machine's features.
macro_rules! safe {
    ($backend:expr, $kernel:ident($($argument:expr),*)) => {
        // SAFETY: a backend of a kind exists only where the machine has the kind's features.
        unsafe { $crate::arch::instantiate::run!($backend, $kernel($($argument),*), else $crate::arch::portable::$kernel($($argument),*)) }
    };
}
pub(super) use safe;

/// Work over arrays in plain Rust, for [`Backend::vectorize`].
pub trait Vectorize {
    /// The result of the work.
    type Output;

    /// Does the work. Mark it, and what it calls, `#[inline(always)]`: only inlined code is compiled with the
    /// machine's instructions.
    fn run(self) -> Self::Output;
}

impl Backend {
    /// Runs work that is compiled for this backend's registers: the compiler vectorizes loops over arrays to
    /// their width. The result is the same on every backend.
    pub fn vectorize<W: Vectorize>(self, work: W) -> W::Output {
        safe!(self, vectorize(work))
    }

    /// The round keys of a key.
    pub(crate) fn aes_expand(self, key: Block) -> RoundKeys {
        safe!(self, aes_expand(key))
    }

    /// Encrypts every block in place.
    pub(crate) fn aes_encrypt(self, keys: &RoundKeys, blocks: &mut [[u8; 16]]) {
        safe!(self, aes_encrypt(keys, blocks));
    }

    /// Writes the encryptions of `first`, `first + 1`, ... modulo 2^128.
    pub(crate) fn aes_counter(self, keys: &RoundKeys, first: u128, out: &mut [[u8; 16]]) {
        for (first, out) in without_carry(first, out) {
            safe!(self, aes_counter(keys, first, out));
        }
    }

    /// Replaces block `j` = x by pi(pi(x) ^ (first + j)) ^ pi(x).
    pub(crate) fn aes_tccr(self, keys: &RoundKeys, first: u128, blocks: &mut [[u8; 16]]) {
        for (first, blocks) in without_carry(first, blocks) {
            safe!(self, aes_tccr(keys, first, blocks));
        }
    }

    /// Writes pi(pi(x) ^ (first + j)) ^ pi(x) for x = block `j`, and for its sum with `delta`.
    pub(crate) fn aes_tccr_pairs(
        self,
        keys: &RoundKeys,
        first: u128,
        delta: [u8; 16],
        blocks: &[[u8; 16]],
        pairs: &mut [[[u8; 16]; 2]],
    ) {
        assert_eq!(blocks.len(), pairs.len(), "a pair for each block");
        let mut start = 0;
        for (first, pairs) in without_carry(first, pairs) {
            let blocks = &blocks[start..start + pairs.len()];
            start += pairs.len();
            safe!(self, aes_tccr_pairs(keys, first, delta, blocks, pairs));
        }
    }

    /// Replaces every block x by pi(x) ^ x.
    pub(crate) fn aes_cr(self, keys: &RoundKeys, blocks: &mut [[u8; 16]]) {
        safe!(self, aes_cr(keys, blocks));
    }

    /// Writes pi(x) ^ x for every block x, and for its sum with `delta`.
    pub(crate) fn aes_cr_pairs(
        self,
        keys: &RoundKeys,
        delta: [u8; 16],
        blocks: &[[u8; 16]],
        pairs: &mut [[[u8; 16]; 2]],
    ) {
        assert_eq!(blocks.len(), pairs.len(), "a pair for each block");
        safe!(self, aes_cr_pairs(keys, delta, blocks, pairs));
    }

    /// Transposes a bit matrix; the caller has checked the lengths.
    pub(crate) fn transpose(self, input: &[u8], output: &mut [u8], rows: usize, columns: usize) {
        safe!(self, transpose(input, output, rows, columns));
    }

    /// Transposes columns of 128 rows `stride` bytes apart, from byte `first` of each row on; the caller has
    /// checked the lengths.
    pub(crate) fn transpose_columns(self, input: &[u8], stride: usize, first: usize, output: &mut [[u8; 16]]) {
        safe!(self, transpose_columns(input, stride, first, output));
    }

    /// Writes the sum (exclusive or) of rows, all of one length.
    pub(crate) fn sum<const K: usize>(self, rows: [&[[u8; 16]]; K], out: &mut [[u8; 16]]) {
        safe!(self, sum(rows, out));
    }

    /// The sum of the products of the pairs in GF(2^128); the caller has checked the lengths.
    pub(crate) fn gf128_inner_product(self, a: &[Block], b: &[Block]) -> Block {
        safe!(self, gf128_inner_product(a, b))
    }

    /// Replaces each `a[i]` by `a[i] b[i]` in GF(2^128); the caller has checked the lengths.
    pub(crate) fn gf128_products(self, a: &mut [Block], b: &[Block]) {
        safe!(self, gf128_products(a, b));
    }

    /// Adds a polynomial's values at points of GF(2^128); the caller has checked the lengths.
    pub(crate) fn gf128_add_polynomial(self, coefficients: &[Block], points: &[Block], out: &mut [Block]) {
        safe!(self, gf128_add_polynomial(coefficients, points, out));
    }
}

/// Cuts blocks that go with the numbers `first`, `first + 1`, ... into two runs, inside which the low 64 bits of the
/// number do not wrap: vector registers add 64 bits at a time.
fn without_carry<T>(first: u128, blocks: &mut [T]) -> [(u128, &mut [T]); 2] {
    let until_carry = (1 << 64) - u128::from(first as u64);
    let cut = blocks.len().min(usize::try_from(until_carry).unwrap_or(usize::MAX));
    let (head, tail) = blocks.split_at_mut(cut);
    [(first, head), (first.wrapping_add(cut as u128), tail)]
}
