//! A level of a half-tree: hash all nodes under one key, and write both children of each.
//!
//! *Cost.* One encryption a node, 2.5 cycles with VAES, and a load and two stores. Levels of less than eight wide
//! registers wait for the rounds' latency: a tenth of the time of a tree of ten levels.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::lanes::Lanes;
use super::{Backend, Kind, RoundKeys, portable};
use crate::Block;

/// What is left of a node if it is a leaf: all but bit 0.
const UPPER: Block = Block::from_u128(u128::MAX - 1);

/// As [`TreeHash::children`](crate::TreeHash::children); the caller has checked the length.
pub(crate) fn children(backend: Backend, keys: &RoundKeys, nodes: &mut [Block], clear: bool) -> Block {
    match backend.0 {
        Kind::Portable => portable_children(keys, nodes, clear),
        // SAFETY: a backend of this kind exists only where the machine has the kernel's features.
        #[cfg(target_arch = "x86_64")]
        Kind::AesNi => unsafe { x86::aesni_children(keys, nodes, clear) },
        // SAFETY: likewise.
        #[cfg(target_arch = "x86_64")]
        Kind::Vaes => unsafe { x86::vaes_children(keys, nodes, clear) },
        // SAFETY: likewise.
        #[cfg(target_arch = "aarch64")]
        Kind::Armv8 => unsafe { armv8_children(keys, nodes, clear) },
    }
}

/// As [`TreeHash::add_under`](crate::TreeHash::add_under); the caller has checked the lengths.
pub(crate) fn add_under(backend: Backend, fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
    match backend.0 {
        Kind::Portable => portable_add(fours, add, nodes),
        // SAFETY: a backend of this kind exists only where the machine has the kernel's features.
        #[cfg(target_arch = "x86_64")]
        Kind::AesNi => unsafe { x86::aesni_add(fours, add, nodes) },
        // SAFETY: likewise.
        #[cfg(target_arch = "x86_64")]
        Kind::Vaes => unsafe { x86::vaes_add(fours, add, nodes) },
        // SAFETY: likewise.
        #[cfg(target_arch = "aarch64")]
        Kind::Armv8 => unsafe { armv8_add(fours, add, nodes) },
    }
}

/// What trees need of a register beyond AES.
///
/// # Safety
/// As for [`Lanes`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
trait Nodes: Lanes {
    /// `(lo, hi)` to `(hi, lo ^ hi)` in each lane.
    unsafe fn sigma(self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    /// The same word in every place.
    unsafe fn words(word: u32) -> Self;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    use super::{Block, Nodes, RoundKeys, wide_add, wide_children};

    #[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
    impl Nodes for __m128i {
        #[inline(always)]
        unsafe fn sigma(self) -> Self {
            let high = _mm_and_si128(self, _mm_set_epi64x(-1, 0));
            _mm_xor_si128(_mm_shuffle_epi32::<0b01_00_11_10>(self), high)
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            _mm_and_si128(self, other)
        }
        #[inline(always)]
        unsafe fn words(word: u32) -> Self {
            _mm_set1_epi32(word as i32)
        }
    }

    #[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
    impl Nodes for __m512i {
        #[inline(always)]
        unsafe fn sigma(self) -> Self {
            let (swapped, high) =
                (_mm512_shuffle_epi32::<0b01_00_11_10>(self), _mm512_set_epi64(-1, 0, -1, 0, -1, 0, -1, 0));
            // swapped ^ (self & high)
            _mm512_ternarylogic_epi64::<0b0111_1000>(swapped, self, high)
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            _mm512_and_si512(self, other)
        }
        #[inline(always)]
        unsafe fn words(word: u32) -> Self {
            _mm512_set1_epi32(word as i32)
        }
    }

    #[target_feature(enable = "aes,avx2,pclmulqdq,ssse3,sse4.1")]
    pub(super) fn aesni_children(keys: &RoundKeys, nodes: &mut [Block], clear: bool) -> Block {
        // SAFETY: this function has the features that the registers need; the caller has checked the length.
        unsafe { wide_children::<__m128i, __m128i>(keys, nodes, clear) }
    }

    #[target_feature(enable = "aes,avx2,pclmulqdq,ssse3,sse4.1")]
    pub(super) fn aesni_add(fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
        // SAFETY: this function has the features that the registers need; the caller has checked the lengths.
        unsafe { wide_add::<__m128i>(fours, add, nodes) }
    }

    #[target_feature(
        enable = "aes,avx2,pclmulqdq,ssse3,sse4.1,vaes,vpclmulqdq,gfni,avx512f,avx512bw,avx512vl,avx512dq"
    )]
    pub(super) fn vaes_children(keys: &RoundKeys, nodes: &mut [Block], clear: bool) -> Block {
        // SAFETY: this function has the features that the registers need; the caller has checked the length.
        unsafe { wide_children::<__m512i, __m128i>(keys, nodes, clear) }
    }

    #[target_feature(
        enable = "aes,avx2,pclmulqdq,ssse3,sse4.1,vaes,vpclmulqdq,gfni,avx512f,avx512bw,avx512vl,avx512dq"
    )]
    pub(super) fn vaes_add(fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
        // SAFETY: this function has the features that the registers need; the caller has checked the lengths.
        unsafe { wide_add::<__m512i>(fours, add, nodes) }
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    // Inlined into functions that have the features, and then so are the instructions.
    #![allow(unknown_lints, inline_always_mismatching_target_features)]

    use core::arch::aarch64::*;

    use super::Nodes;

    #[allow(unsafe_op_in_unsafe_fn, reason = "each method is an instruction or two; the trait says what they need")]
    impl Nodes for uint8x16_t {
        #[inline(always)]
        unsafe fn sigma(self) -> Self {
            // (hi, lo) ^ (0, hi)
            let swapped = vextq_u8::<8>(self, self);
            veorq_u8(swapped, vextq_u8::<8>(vdupq_n_u8(0), swapped))
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            vandq_u8(self, other)
        }
        #[inline(always)]
        unsafe fn words(word: u32) -> Self {
            vreinterpretq_u8_u32(vdupq_n_u32(word))
        }
    }
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon,aes")]
fn armv8_children(keys: &RoundKeys, nodes: &mut [Block], clear: bool) -> Block {
    use core::arch::aarch64::uint8x16_t;
    // SAFETY: this function has the features that the registers need; the caller has checked the length.
    unsafe { wide_children::<uint8x16_t, uint8x16_t>(keys, nodes, clear) }
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon,aes")]
fn armv8_add(fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
    // SAFETY: this function has the features that the registers need; the caller has checked the lengths.
    unsafe { wide_add::<core::arch::aarch64::uint8x16_t>(fours, add, nodes) }
}

/// # Safety
/// As for [`Lanes`]; `S` has one lane, and the nodes are a power of two of at least two.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn wide_children<V: Nodes, S: Nodes>(keys: &RoundKeys, nodes: &mut [Block], clear: bool) -> Block {
    const { assert!(S::LANES == 1 && matches!(V::LANES, 1 | 4)) }
    let half = nodes.len() / 2;
    let nodes = nodes.as_mut_ptr().cast();
    // SAFETY: the caller's promise; each call gets parents by the number that it takes at once.
    unsafe {
        match half / V::LANES {
            0 if half == 1 => steps::<S, 1>(keys, nodes, half, clear),
            0 => steps::<S, 2>(keys, nodes, half, clear),
            1 => steps::<V, 1>(keys, nodes, half, clear),
            2 => steps::<V, 2>(keys, nodes, half, clear),
            4 => steps::<V, 4>(keys, nodes, half, clear),
            _ => steps::<V, 8>(keys, nodes, half, clear),
        }
    }
}

/// The children of all parents, `N` registers at a time.
///
/// # Safety
/// As for [`Lanes`]; `half` is a multiple of what `N` registers hold, and `nodes` good for twice as many blocks.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn steps<V: Nodes, const N: usize>(keys: &RoundKeys, nodes: *mut [u8; 16], half: usize, clear: bool) -> Block {
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
                    *x = x.aes_round(key);
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
unsafe fn wide_add<V: Nodes>(fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
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

fn portable_children(keys: &RoundKeys, nodes: &mut [Block], clear: bool) -> Block {
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
        portable::aes_encrypt(keys, bytemuck::cast_slice_mut(&mut hashed[..near.len()]));
        for (((near, far), plain), hashed) in near.iter_mut().zip(far).zip(plain).zip(hashed) {
            let left = hashed ^ plain;
            sum ^= left;
            *far = (*near ^ left) & keep;
            *near = left & keep;
        }
    }
    sum
}

fn portable_add(fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
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
