//! Blocks under many keys, each of which is expanded for a few blocks: sixteen keys at a time.

#![allow(clippy::needless_range_loop, reason = "loops walk several arrays of registers side by side")]

use super::Wires;
use super::keys::{Kept, Live, ROUND_KEYS, Schedule};
use crate::memory::block::Block;

/// Encrypts groups of sixteen blocks, a key for each of the sixteen: the groups that follow one another under a
/// group of keys are as many as there are for each.
///
/// # Safety
/// The features of `V` are present.
#[inline(always)]
pub(in crate::arch) unsafe fn encrypt_groups<V: Wires>(keys: &[[Block; 16]], blocks: &mut [[Block; 16]]) {
    let each = (blocks.len() / keys.len().max(1)).max(1);
    for (keys, blocks) in keys.iter().zip(blocks.chunks_exact_mut(each)) {
        // Four registers of keys at a time.
        let mut first = 0;
        while first < 16 {
            // SAFETY: the caller has the features of V; sixteen is a multiple of the blocks of four registers.
            unsafe {
                let mut four = [V::words(0); 4];
                for i in 0..4 {
                    four[i] = V::load(keys.as_ptr().add(first + i * V::LANES).cast());
                }
                let mut schedule = Kept::new(Live::of(four));
                let mut pairs = blocks.chunks_exact_mut(2);
                for pair in &mut pairs {
                    let [one, other] = pair else { core::hint::unreachable_unchecked() };
                    encrypt::<V, 2>(&mut schedule, [one.as_mut_ptr().add(first), other.as_mut_ptr().add(first)]);
                }
                for last in pairs.into_remainder() {
                    encrypt::<V, 1>(&mut schedule, [last.as_mut_ptr().add(first)]);
                }
            }
            first += 4 * V::LANES;
        }
    }
}

/// Encrypts four registers in each of `K` places.
///
/// # Safety
/// As [`encrypt_groups`].
#[inline(always)]
unsafe fn encrypt<V: Wires, const K: usize>(schedule: &mut Kept<V>, places: [*mut Block; K]) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut x = [[V::words(0); 4]; K];
        for round in 0..ROUND_KEYS {
            let [[a, b], [c, d]] = schedule.round_key(round);
            let keys = [a, b, c, d];
            for k in 0..K {
                for i in 0..4 {
                    let at = places[k].add(i * V::LANES).cast();
                    match round {
                        0 => x[k][i] = V::load(at).xor(keys[i]),
                        LAST => x[k][i].aes_last(keys[i]).store(at),
                        _ => x[k][i] = x[k][i].aes_round(keys[i]),
                    }
                }
            }
        }
    }
}

const LAST: usize = ROUND_KEYS - 1;
