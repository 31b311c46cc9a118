//! The sums over a tree's leaves that make a VOLE over a small field: every leaf is a key of AES in counter mode.
//!
//! Leaves are added up as a binary counter counts: when a right subtree is complete, its sum goes to the row of its
//! level, and both halves' sum goes on to the next level. So a leaf costs two additions, which the machine does while
//! it waits for AES. Eight registers are in flight under each key.
//!
//! *Cost.* 2^depth encryptions a block of the sum, close to the ceiling of counter mode; two additions an encryption;
//! 176 bytes of round keys a leaf, read once for every eight registers.

use super::kernels::safe;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::lanes::Lanes;
use super::{Backend, RoundKeys, portable};

/// The most levels of a tree.
pub(crate) const MAX_DEPTH: usize = 12;

/// The sum of the counter-mode streams of all leaves, blocks `first`, `first + 1`, ..., and in row `b` the sum of those
/// of the leaves whose number has bit `b`. With one key less than a power of two, leaf 0 is missing and counts as zero.
///
/// # Panics
/// If the rows are not `depth` times as long as the sum, or the counter wraps.
pub(crate) fn fold(backend: Backend, leaves: &[RoundKeys], first: u64, sum: &mut [[u8; 16]], rows: &mut [[u8; 16]]) {
    let depth = leaves.len().next_power_of_two().max(2).trailing_zeros() as usize;
    let missing = (1usize << depth) - leaves.len();
    assert!((1..=MAX_DEPTH).contains(&depth) && missing <= 1, "{} leaves are no tree", leaves.len());
    assert_eq!(rows.len(), depth * sum.len(), "a row for each level");
    assert!(first.checked_add(sum.len() as u64).is_some(), "a counter that would wrap");
    safe!(backend, vole_fold(leaves, missing, first, sum, rows));
}

/// Folds in as many steps of eight wide registers as there are, then in steps of eight blocks, the last one perhaps not
/// full.
///
/// # Safety
/// As for [`Lanes`]; `S` has one lane. `keys.len() + missing` is 2 to 2^[`MAX_DEPTH`], a power of two, and `rows` is as
/// many times as long as `sum` as its logarithm says.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) unsafe fn wide<V: Lanes, S: Lanes>(
    keys: &[RoundKeys],
    missing: usize,
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
                step::<V>(keys, missing, first, sum.add(at), rows.add(at), n, 8);
                at += 8 * V::LANES;
            } else {
                step::<S>(keys, missing, first, sum.add(at), rows.add(at), n, (n - at).min(8));
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
    keys: &[RoundKeys],
    missing: usize,
    first: u128,
    sum: *mut [u8; 16],
    rows: *mut [u8; 16],
    stride: usize,
    count: usize,
) {
    // SAFETY: the caller's promise. Place `level` of `waiting` is read only when bit `level` of the leaf's number is
    // set, and was then written at the last leaf without it.
    unsafe {
        let mut waiting = [[core::mem::MaybeUninit::<V>::uninit(); 8]; MAX_DEPTH];
        let mut counter = [V::count_from(first); 8];
        for (i, counter) in counter.iter_mut().enumerate() {
            *counter = counter.add_low((i * V::LANES) as u64);
        }
        let all = keys.len() + missing;
        for leaf in 0..all {
            let mut state = [V::broadcast([0; 16]); 8];
            if leaf >= missing {
                encrypt(&keys[leaf - missing], &counter, &mut state);
            }
            let mut level = 0;
            while leaf >> level & 1 == 1 {
                let row = rows.add(level * stride);
                // The first subtree of this level that is on the right.
                let fresh = leaf >> level == 1;
                for i in 0..8 {
                    if i < count {
                        let to = row.add(i * V::LANES);
                        let total = if fresh { state[i] } else { state[i].xor(V::load(to)) };
                        total.store(to);
                    }
                    state[i] = state[i].xor(waiting[level][i].assume_init());
                }
                level += 1;
            }
            if leaf + 1 == all {
                for (i, x) in state.into_iter().enumerate() {
                    if i < count {
                        x.store(sum.add(i * V::LANES));
                    }
                }
            } else {
                for (waiting, x) in waiting[level].iter_mut().zip(state) {
                    waiting.write(x);
                }
            }
        }
    }
}

/// Eight registers of a counter's encryptions under one key.
///
/// # Safety
/// As for [`Lanes`]; the low 64 bits of the counter must not wrap.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn encrypt<V: Lanes>(keys: &RoundKeys, counter: &[V; 8], state: &mut [V; 8]) {
    let [whiten, middle @ .., last] = keys;
    // SAFETY: the caller's promise.
    unsafe {
        let key = V::broadcast(whiten.to_bytes());
        for (x, counter) in state.iter_mut().zip(counter) {
            *x = counter.xor(key);
        }
        for key in middle {
            let key = V::broadcast(key.to_bytes());
            for x in state.iter_mut() {
                *x = x.aes_round(key);
            }
        }
        let key = V::broadcast(last.to_bytes());
        for x in state.iter_mut() {
            *x = x.aes_last(key);
        }
    }
}

/// The sums of [`fold`] in plain Rust, leaf by leaf.
pub(super) fn portable_fold(
    keys: &[RoundKeys],
    missing: usize,
    first: u64,
    sum: &mut [[u8; 16]],
    rows: &mut [[u8; 16]],
) {
    let n = sum.len();
    sum.fill([0; 16]);
    rows.fill([0; 16]);
    let add = |to: &mut [[u8; 16]], from: &[[u8; 16]]| {
        for (to, from) in to.as_flattened_mut().iter_mut().zip(from.as_flattened()) {
            *to ^= from;
        }
    };
    let mut stream = vec![[0; 16]; n];
    for (i, key) in keys.iter().enumerate() {
        portable::aes_counter(key, first.into(), &mut stream);
        add(sum, &stream);
        for (level, row) in rows.chunks_exact_mut(n.max(1)).enumerate() {
            if (i + missing) >> level & 1 == 1 {
                add(row, &stream);
            }
        }
    }
    zeroize::Zeroize::zeroize(stream.as_flattened_mut());
}
