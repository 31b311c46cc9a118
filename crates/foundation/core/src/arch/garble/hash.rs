//! The hash alone, without gates.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::{Kept, KeyRing, Live, LiveTwice, Order, ROUND_KEYS, Schedule};
use crate::memory::block::Block;

/// Hashes groups of sixteen blocks, each under the next tweak, and those of `second` under the same tweaks again.
///
/// # Safety
/// The features of `V` are present.
#[inline(always)]
pub(in crate::arch) unsafe fn hash_groups<V: Wires>(
    ring: &mut KeyRing,
    first: &mut [[Block; 16]],
    second: Option<&mut [[Block; 16]]>,
) {
    let first = first.as_flattened_mut();
    let group = 4 * V::LANES;
    // SAFETY: promised by the caller; a group is four registers, and groups fill the sixteens.
    unsafe {
        match second {
            Some(second) => {
                for (a, b) in first.chunks_exact_mut(group).zip(second.as_flattened_mut().chunks_exact_mut(group)) {
                    let keys: Live<V> = ring.expand_live(Order::Blocks);
                    let blocks = [a.as_mut_ptr(), b.as_mut_ptr()];
                    if V::LIVE {
                        hash_group::<V, 2, 2>(ring, keys, blocks);
                    } else {
                        hash_group::<V, 2, 2>(ring, Kept::new(keys), blocks);
                    }
                }
            }
            None => {
                let mut pairs = first.chunks_exact_mut(2 * group);
                for pair in pairs.by_ref() {
                    let keys = LiveTwice::<V>([ring.expand_live(Order::Blocks), ring.expand_live(Order::Blocks)]);
                    hash_group::<V, 4, 1>(ring, keys, [pair.as_mut_ptr()]);
                }
                for a in pairs.into_remainder().chunks_exact_mut(group) {
                    let keys: Live<V> = ring.expand_live(Order::Blocks);
                    hash_group::<V, 2, 1>(ring, keys, [a.as_mut_ptr()]);
                }
            }
        }
    }
}

/// Hashes `N` pairs of registers of each of `K` arrays under the same keys.
///
/// # Safety
/// As [`hash_groups`].
#[inline(always)]
unsafe fn hash_group<V: Wires, const N: usize, const K: usize>(
    ring: &mut KeyRing,
    mut keys: impl Schedule<V, N>,
    blocks: [*mut Block; K],
) {
    // SAFETY: the caller's promise.
    unsafe {
        ring.take((N * V::LANES) as u64);
        let key = keys.round_key(0);
        let mut x = [key; K];
        for k in 0..K {
            for i in 0..N {
                for h in 0..2 {
                    x[k][i][h] = V::load(blocks[k].add((2 * i + h) * V::LANES).cast()).sigma().xor(key[i][h]);
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
                    let at = blocks[k].add((2 * i + h) * V::LANES).cast();
                    x[k][i][h].aes_last(key[i][h].xor(V::load(at).sigma())).store(at);
                }
            }
        }
    }
}
