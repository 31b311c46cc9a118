//! A level of a half-tree: hash all nodes under one key, and write both children of each.
//!
//! *Cost.* One encryption a node, 2.5 cycles with VAES, and a load and two stores. Levels of less than eight wide
//! registers wait for the rounds' latency: a tenth of the time of a tree of ten levels.

use super::kernels::safe;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::lanes::Lanes;
use super::{Backend, RoundKeys};
use crate::memory::block::Block;

/// The mask of a leaf: all bits but bit 0.
const UPPER: Block = Block::from_u128(u128::MAX - 1);

/// Makes children as [`TreeHash::children`](crate::TreeHash::children); the caller has checked the length.
pub(crate) fn children(backend: Backend, keys: &RoundKeys, nodes: &mut [Block], clear: bool) -> Block {
    safe!(backend, tree_children(keys, nodes, clear))
}

/// Adds as [`TreeHash::add_under`](crate::TreeHash::add_under); the caller has checked the lengths.
pub(crate) fn add_under(backend: Backend, fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
    safe!(backend, tree_add(fours, add, nodes));
}

/// # Safety
/// As for [`Lanes`]; `S` has one lane, `H` two where `V` has four, and the nodes are a power of two of at least two.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) unsafe fn wide_children<V: Lanes, H: Lanes, S: Lanes>(
    keys: &RoundKeys,
    nodes: &mut [Block],
    clear: bool,
) -> Block {
    const { assert!(S::LANES == 1 && (V::LANES < 4 || H::LANES == 2)) }
    let half = nodes.len() / 2;
    let nodes = nodes.as_mut_ptr().cast();
    // SAFETY: the caller's promise; each call gets parents by the number that it takes at once.
    unsafe {
        match half / V::LANES {
            0 if half == 1 => steps::<S, 1>(keys, nodes, half, clear),
            0 => steps::<H, 1>(keys, nodes, half, clear),
            1 => steps::<V, 1>(keys, nodes, half, clear),
            2 => steps::<V, 2>(keys, nodes, half, clear),
            4 => steps::<V, 4>(keys, nodes, half, clear),
            _ => steps::<V, 8>(keys, nodes, half, clear),
        }
    }
}

/// Makes the children of all parents, `N` registers at a time.
///
/// # Safety
/// As for [`Lanes`]; `half` is a multiple of what `N` registers hold, and `nodes` good for twice as many blocks.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn steps<V: Lanes, const N: usize>(keys: &RoundKeys, nodes: *mut [u8; 16], half: usize, clear: bool) -> Block {
    // SAFETY: the caller's promise.
    unsafe {
        let keep = V::broadcast(if clear { UPPER } else { Block::from_u128(u128::MAX) }.to_bytes());
        let zero = V::broadcast([0; 16]);
        let mut round = [zero; 11];
        for (round, key) in round.iter_mut().zip(keys) {
            *round = V::broadcast(key.to_bytes());
        }
        let mut sum = zero;
        let mut at = 0;
        while at < half {
            let (mut plain, mut x) = ([zero; N], [zero; N]);
            for i in 0..N {
                plain[i] = V::load(nodes.add(at + i * V::LANES)).sigma();
                x[i] = plain[i].xor(round[0]);
            }
            for &key in &round[1..10] {
                for x in &mut x {
                    *x = x.aes_round(key).in_order();
                }
            }
            for i in 0..N {
                let near = nodes.add(at + i * V::LANES);
                let left = x[i].aes_last(round[10].xor(plain[i]));
                sum = sum.xor(left);
                V::load(near).xor(left).and(keep).store(near.add(half));
                left.and(keep).store(near);
            }
            at += N * V::LANES;
        }
        let mut lanes = [[0; 16]; 4];
        const { assert!(V::LANES <= 4) }
        sum.store(lanes.as_mut_ptr());
        lanes.into_iter().fold(Block::ZERO, |sum, lane| sum ^ Block::new(lane))
    }
}

/// # Safety
/// As for [`Lanes`]; the nodes are eight times as many as `fours`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) unsafe fn wide_add<V: Lanes>(fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
    let half = nodes.len() / 2;
    let nodes = nodes.as_mut_ptr().cast::<[u8; 16]>();
    // SAFETY: the caller's promise.
    unsafe {
        for (side, add) in add.iter().enumerate() {
            let side = nodes.add(side * half);
            for (i, &mask) in fours.iter().enumerate() {
                let mask = V::words(mask);
                let mut lane = 0;
                while lane < 4 {
                    let node = side.add(4 * i + lane);
                    V::load(node).xor(V::load(add.as_ptr().add(lane).cast()).and(mask)).store(node);
                    lane += V::LANES;
                }
            }
        }
    }
}

pub(super) fn portable_children(keys: &RoundKeys, nodes: &mut [Block], clear: bool) -> Block {
    let (near, far) = nodes.split_at_mut(nodes.len() / 2);
    let keep = if clear { UPPER } else { Block::from_u128(u128::MAX) };
    let mut sum = Block::ZERO;
    // As many as the portable AES takes at once, twice.
    for (near, far) in near.chunks_mut(16).zip(far.chunks_mut(16)) {
        let mut plain = [Block::ZERO; 16];
        for (plain, &x) in plain.iter_mut().zip(&*near) {
            *plain = sigma(x);
        }
        let mut hashed = plain;
        super::portable::aes_encrypt(keys, bytemuck::cast_slice_mut(&mut hashed[..near.len()]));
        for (((near, far), plain), hashed) in near.iter_mut().zip(far).zip(plain).zip(hashed) {
            let left = hashed ^ plain;
            sum ^= left;
            *far = (*near ^ left) & keep;
            *near = left & keep;
        }
    }
    sum
}

pub(super) fn portable_add(fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
    let half = nodes.len() / 2;
    for (nodes, add) in nodes.chunks_exact_mut(half).zip(add) {
        for (nodes, &mask) in nodes.as_chunks_mut::<4>().0.iter_mut().zip(fours) {
            let mask = Block::from_u128(u128::from(mask) * 0x1_0000_0001_0000_0001_0000_0001);
            for (node, &add) in nodes.iter_mut().zip(add) {
                *node ^= add & mask;
            }
        }
    }
}

fn sigma(x: Block) -> Block {
    let (lo, hi) = (x.to_u128() as u64, (x.to_u128() >> 64) as u64);
    Block::from_u128(u128::from(lo ^ hi) << 64 | u128::from(hi))
}
