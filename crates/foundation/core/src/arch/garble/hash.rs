//! The hash alone, without gates.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Quad;
use super::keys::{KeyRing, LiveTwice, ROUND_KEYS, Schedule};
use crate::Block;

/// # Safety
/// The features of `Q` are present.
#[inline(always)]
pub(in crate::arch) unsafe fn hash_groups<Q: Quad>(
    ring: &mut KeyRing,
    first: &mut [[Block; 16]],
    second: Option<&mut [[Block; 16]]>,
) {
    // SAFETY: promised by the caller; a group is four vectors.
    unsafe {
        match second {
            Some(second) => {
                for (a, b) in first.iter_mut().zip(second) {
                    let keys = ring.expand_live::<Q>();
                    hash_group::<Q, 4, 2>(ring, keys, [a.as_mut_ptr(), b.as_mut_ptr()]);
                }
            }
            None => {
                let (pairs, rest) = first.as_chunks_mut::<2>();
                for pair in pairs {
                    let keys = LiveTwice([ring.expand_live::<Q>(), ring.expand_live::<Q>()]);
                    hash_group::<Q, 8, 1>(ring, keys, [pair.as_mut_ptr().cast()]);
                }
                for a in rest {
                    let keys = ring.expand_live::<Q>();
                    hash_group::<Q, 4, 1>(ring, keys, [a.as_mut_ptr()]);
                }
            }
        }
    }
}

/// Hashes `N` vectors of each of `K` arrays under the same keys.
#[inline(always)]
unsafe fn hash_group<Q: Quad, const N: usize, const K: usize>(
    ring: &mut KeyRing,
    mut keys: impl Schedule<Q, N>,
    blocks: [*mut Block; K],
) {
    // SAFETY: as `hash_groups`.
    unsafe {
        ring.take(2 * N as u64);
        let key = keys.round_key(0);
        let (mut plain, mut x) = ([key; K], [key; K]);
        for k in 0..K {
            for i in 0..N {
                plain[k][i] = Q::load(blocks[k].add(4 * i)).sigma();
                x[k][i] = plain[k][i].xor(key[i]);
            }
        }
        for round in 1..ROUND_KEYS - 1 {
            let key = keys.round_key(round);
            for k in 0..K {
                for i in 0..N {
                    x[k][i] = x[k][i].aes_round(key[i]);
                }
            }
        }
        let key = keys.round_key(ROUND_KEYS - 1);
        for k in 0..K {
            for i in 0..N {
                x[k][i].aes_last(key[i].xor(plain[k][i])).store(blocks[k].add(4 * i));
            }
        }
    }
}
