//! The sums over a tree's leaves that make a VOLE over a small field: every leaf is a key of AES in counter mode.
//!
//! Leaves are added up from left to right. The last round of AES adds a key: here it adds the sum so far, and
//! the last round keys of all leaves are added up once and for all. With `p_i` for the sum of leaves 0 to
//! `i`, the sum of the leaves whose number has bit `b`, which lie in runs of `2^b`, is that of all `p_i`
//! where `2^b` divides `i + 1`: two ends for each run. So every `p_i` is added to the others that end in as
//! many ones, and when all leaves are through, each row is one such sum and those of longer runs. Thus a leaf
//! costs one addition beside AES and the counter's, without a branch. Eight registers are in flight under
//! each key.
//!
//! *Cost.* 2^depth encryptions a block of the sum, close to the ceiling of counter mode; one addition an encryption;
//! 176 bytes of round keys a leaf, read once for every eight registers.

use super::kernels::safe;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::lanes::Lanes;
use super::{Backend, RoundKeys, portable};
use crate::memory::block::Block;

/// The most levels of a tree.
pub(crate) const MAX_DEPTH: usize = 12;

/// The leaves of a tree. Wiped on drop.
#[derive(zeroize::ZeroizeOnDrop)]
pub(crate) struct Leaves {
    keys: Vec<RoundKeys>,
    /// 1 if leaf 0 is missing, which then counts as zero.
    #[zeroize(skip)]
    missing: usize,
    /// Sums of the last round keys: for each level those of the leaves whose number has its bit, and at the
    /// end those of all.
    last: [Block; MAX_DEPTH + 1],
}

impl Leaves {
    /// The leaves with these keys: a power of two, or, if leaf 0 is missing, one less.
    ///
    /// # Panics
    /// If the number of keys is another one, or more than 2^[`MAX_DEPTH`].
    pub(crate) fn new(keys: Vec<RoundKeys>) -> Leaves {
        let all = keys.len().next_power_of_two().max(2);
        let missing = all - keys.len();
        assert!(missing <= 1 && all <= 1 << MAX_DEPTH, "{} leaves are no tree", keys.len());
        let mut last = [Block::ZERO; MAX_DEPTH + 1];
        for (leaf, keys) in (missing..).zip(&keys) {
            for (level, sum) in last[..MAX_DEPTH].iter_mut().enumerate() {
                *sum ^= keys[10].masked(leaf >> level & 1 == 1);
            }
            last[MAX_DEPTH] ^= keys[10];
        }
        Leaves { keys, missing, last }
    }

    /// The levels of the tree.
    pub(crate) fn depth(&self) -> usize {
        (self.keys.len() + self.missing).trailing_zeros() as usize
    }
}

/// The sum of the counter-mode streams of all leaves, blocks `first`, `first + 1`, ..., and in row `b` the sum of those
/// of the leaves whose number has bit `b`.
///
/// # Panics
/// If the rows are not `depth` times as long as the sum, or the counter wraps.
pub(crate) fn fold(backend: Backend, leaves: &Leaves, first: u64, sum: &mut [[u8; 16]], rows: &mut [[u8; 16]]) {
    assert_eq!(rows.len(), leaves.depth() * sum.len(), "a row for each level");
    assert!(first.checked_add(sum.len() as u64).is_some(), "a counter that would wrap");
    safe!(backend, vole_fold(leaves, first, sum, rows));
}

/// Folds in as many steps of eight wide registers as there are, then in steps of eight blocks, the last one perhaps not
/// full.
///
/// # Safety
/// As for [`Lanes`]; `S` has one lane. `rows` is as many times as long as `sum` as there are levels.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) unsafe fn wide<V: Lanes, S: Lanes>(
    leaves: &Leaves,
    first: u64,
    sum: &mut [[u8; 16]],
    rows: &mut [[u8; 16]],
) {
    const { assert!(S::LANES == 1) }
    let n = sum.len();
    let (sum, rows) = (sum.as_mut_ptr(), rows.as_mut_ptr());
    let mut at = 0;
    while at < n {
        let first = u128::from(first) + at as u128;
        // SAFETY: row `b` of the step begins at block `b * n + at`, and has at least the blocks that the step writes.
        unsafe {
            if n - at >= 8 * V::LANES {
                step::<V>(leaves, first, sum.add(at), rows.add(at), n, 8);
                at += 8 * V::LANES;
            } else {
                step::<S>(leaves, first, sum.add(at), rows.add(at), n, (n - at).min(8));
                at += 8;
            }
        }
    }
}

/// The sums for the first `count` of eight registers of each row.
///
/// # Safety
/// As for [`wide`]; `sum` must be good for `count` registers, and so must be each row, `stride` blocks apart.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn step<V: Lanes>(
    leaves: &Leaves,
    first: u128,
    sum: *mut [u8; 16],
    rows: *mut [u8; 16],
    stride: usize,
    count: usize,
) {
    let Leaves { keys, missing, last } = leaves;
    // SAFETY: the caller's promise. The first number that ends in `n` ones is 2^n - 1: there the place is
    // written before it is read, but for that of leaf 0 where it is missing. The last number ends in as many
    // ones as there are levels.
    unsafe {
        let depth = leaves.depth();
        let mut ends = [[core::mem::MaybeUninit::<V>::uninit(); 8]; MAX_DEPTH + 1];
        if *missing == 1 {
            ends[0] = [core::mem::MaybeUninit::new(V::broadcast([0; 16])); 8];
        }
        let mut counter = [V::count_from(first); 8];
        for (i, counter) in counter.iter_mut().enumerate() {
            *counter = counter.add_low((i * V::LANES) as u64);
        }
        let mut so_far = [V::broadcast([0; 16]); 8];
        for (leaf, keys) in (*missing..).zip(keys) {
            add_encryptions(keys, &counter, &mut so_far);
            let end = &mut ends[(leaf + 1).trailing_zeros() as usize];
            if (leaf + 1).is_power_of_two() {
                *end = so_far.map(core::mem::MaybeUninit::new);
            } else {
                for (end, sum) in end.iter_mut().zip(so_far) {
                    end.write(end.assume_init().xor(sum));
                }
            }
        }
        let key = V::broadcast(last[MAX_DEPTH].to_bytes());
        for (i, x) in so_far.into_iter().take(count).enumerate() {
            x.xor(key).store(sum.add(i * V::LANES));
        }
        for level in (0..depth).rev() {
            let key = V::broadcast(last[level].to_bytes());
            for i in 0..count {
                // The longest run is all leaves, and its sum `so_far`.
                so_far[i] = so_far[i].xor(ends[level][i].assume_init());
                so_far[i].xor(key).store(rows.add(level * stride + i * V::LANES));
            }
        }
    }
}

/// Adds a counter's encryptions under one key to eight registers, but for the last round key.
///
/// # Safety
/// As for [`Lanes`]; the low 64 bits of the counter must not wrap.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn add_encryptions<V: Lanes>(keys: &RoundKeys, counter: &[V; 8], to: &mut [V; 8]) {
    let [whiten, middle @ .., _] = keys;
    // SAFETY: the caller's promise.
    unsafe {
        let key = V::broadcast(whiten.to_bytes());
        let mut state = *counter;
        for x in &mut state {
            *x = x.xor(key);
        }
        for key in middle {
            let key = V::broadcast(key.to_bytes());
            for x in &mut state {
                *x = x.aes_round(key).in_order();
            }
        }
        for (to, x) in to.iter_mut().zip(state) {
            *to = x.aes_last(*to);
        }
    }
}

/// The sums of [`fold`] in plain Rust, leaf by leaf.
pub(super) fn portable_fold(leaves: &Leaves, first: u64, sum: &mut [[u8; 16]], rows: &mut [[u8; 16]]) {
    let n = sum.len();
    sum.fill([0; 16]);
    rows.fill([0; 16]);
    let add = |to: &mut [[u8; 16]], from: &[[u8; 16]]| {
        for (to, from) in to.as_flattened_mut().iter_mut().zip(from.as_flattened()) {
            *to ^= from;
        }
    };
    let mut stream = vec![[0; 16]; n];
    for (i, key) in leaves.keys.iter().enumerate() {
        portable::aes_counter(key, first.into(), &mut stream);
        add(sum, &stream);
        for (level, row) in rows.chunks_exact_mut(n.max(1)).enumerate() {
            if (i + leaves.missing) >> level & 1 == 1 {
                add(row, &stream);
            }
        }
    }
    zeroize::Zeroize::zeroize(stream.as_flattened_mut());
}
