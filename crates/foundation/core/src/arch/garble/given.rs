//! Encryption under given keys: labels are keys, so that a schedule cannot begin before its label is there.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::{Kept, Live, LiveTwice, ROUND_KEYS, Schedule};
use crate::memory::block::Block;

/// Encrypts groups of sixteen blocks, each under its key, and those of `second` under the same keys again.
///
/// # Safety
/// The features of `V` are present; there are as many groups of keys as of blocks.
#[inline(always)]
pub(in crate::arch) unsafe fn under_keys<V: Wires>(
    keys: &[[Block; 16]],
    first: &mut [[Block; 16]],
    second: Option<&mut [[Block; 16]]>,
) {
    let (keys, first) = (keys.as_flattened(), first.as_flattened_mut());
    let group = 4 * V::LANES;
    // SAFETY: promised by the caller; a group is four registers, and groups fill the sixteens.
    unsafe {
        match second {
            Some(second) => {
                let blocks = first.chunks_exact_mut(group).zip(second.as_flattened_mut().chunks_exact_mut(group));
                for (keys, (a, b)) in keys.chunks_exact(group).zip(blocks) {
                    let keys = Live::<V>::of(keys.as_ptr());
                    let blocks = [a.as_mut_ptr(), b.as_mut_ptr()];
                    if V::LIVE {
                        encrypt_group::<V, 2, 2>(keys, blocks);
                    } else {
                        encrypt_group::<V, 2, 2>(Kept::new(keys), blocks);
                    }
                }
            }
            None => {
                let (mut twice, mut pairs) = (keys.chunks_exact(2 * group), first.chunks_exact_mut(2 * group));
                for (keys, blocks) in twice.by_ref().zip(pairs.by_ref()) {
                    let keys = [keys.as_ptr(), keys.as_ptr().add(group)];
                    let keys = LiveTwice::<V>([Live::of(keys[0]), Live::of(keys[1])]);
                    encrypt_group::<V, 4, 1>(keys, [blocks.as_mut_ptr()]);
                }
                let last = twice.remainder().chunks_exact(group).zip(pairs.into_remainder().chunks_exact_mut(group));
                for (keys, blocks) in last {
                    encrypt_group::<V, 2, 1>(Live::<V>::of(keys.as_ptr()), [blocks.as_mut_ptr()]);
                }
            }
        }
    }
}

/// Encrypts `N` pairs of registers of each of `K` arrays under the same keys.
///
/// # Safety
/// As [`under_keys`]; the arrays have so many blocks.
#[inline(always)]
unsafe fn encrypt_group<V: Wires, const N: usize, const K: usize>(
    mut keys: impl Schedule<V, N>,
    blocks: [*mut Block; K],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let key = keys.round_key(0);
        let mut x = [key; K];
        for k in 0..K {
            for i in 0..N {
                for h in 0..2 {
                    x[k][i][h] = V::load(blocks[k].add((2 * i + h) * V::LANES).cast()).xor(key[i][h]);
                }
            }
        }
        for round in 1..ROUND_KEYS - 1 {
            let key = keys.round_key(round);
            for k in 0..K {
                for i in 0..N {
                    for h in 0..2 {
                        x[k][i][h] = x[k][i][h].aes_round(key[i][h]);
                    }
                }
            }
        }
        let key = keys.round_key(ROUND_KEYS - 1);
        for k in 0..K {
            for i in 0..N {
                for h in 0..2 {
                    x[k][i][h].aes_last(key[i][h]).store(blocks[k].add((2 * i + h) * V::LANES).cast());
                }
            }
        }
    }
}
