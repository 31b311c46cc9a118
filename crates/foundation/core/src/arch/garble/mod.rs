//! The fused garbling kernels: gather, expand keys, hash, combine, scatter, in one pass over a stretch of tape.
//!
//! One code path, generic over [`Quad`] (four blocks side by side), serves every machine with AES rounds; the portable
//! path works on eight bitsliced blocks instead. What makes it fast:
//!
//! - *Two gates make a vector.* Quad hold `(a, b, a', b')` of two gates, so their four half-gate keys are the four
//!   lanes of a round key, the garbler's second hash input is one XOR away, and the two tables are one store.
//! - *Keys are expanded ahead, sixteen at a time.* Tweaks are known before labels are, so key expansion has no part in
//!   the latency of a chain of gates. Sixteen keys are held word-sliced (word `i` of all keys in one vector): then
//!   SubWord of sixteen keys is one AES instruction, and eight unpacks bring each round key back to lanes.
//! - *Segments are independent gates*: up to eight are hashed together to fill the AES pipeline.

mod hash;
mod keys;
pub(crate) mod lockstep;
mod sides;
mod walk;

use crate::gates::Part;
use crate::{Backend, Block};

use super::{Kind, portable};

pub(super) use hash::hash_groups;
pub(crate) use keys::KeyRing;
pub(super) use sides::{Evaluating, Garbling};
pub(super) use walk::walk;

/// Four blocks side by side, on a machine with AES rounds.
///
/// # Safety
/// Every method may only be called where the CPU features of the implementation are present.
pub(super) trait Quad: Copy {
    unsafe fn load(from: *const Block) -> Self;
    unsafe fn store(self, to: *mut Block);
    unsafe fn gather(from: [*const Block; 4]) -> Self;
    /// Writes lane 0 or lane 2.
    unsafe fn store_lane0(self, to: *mut Block);
    unsafe fn store_lane2(self, to: *mut Block);
    unsafe fn splat(block: Block) -> Self;
    unsafe fn splat_word(word: u32) -> Self;
    /// The block at `from` in every lane.
    unsafe fn broadcast(from: *const Block) -> Self;
    unsafe fn from_words(words: &[u32; 16]) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn xor3(self, b: Self, c: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    /// One AES round under a round key.
    unsafe fn aes_round(self, key: Self) -> Self;
    /// The last AES round.
    unsafe fn aes_last(self, key: Self) -> Self;
    /// The orthomorphism `(lo, hi) -> (hi, lo ^ hi)` of each lane.
    unsafe fn sigma(self) -> Self;
    /// Quad 1, 0, 3, 2.
    unsafe fn swap_neighbours(self) -> Self;
    /// Each lane all ones if its bit 0 is one, else all zeros.
    unsafe fn lsb_mask(self) -> Self;
    /// Quad 0 and 2 of `self`, 1 and 3 of `odd`.
    unsafe fn select_odd(self, odd: Self) -> Self;
    /// `SubWord(RotWord(w)) ^ rcon` of each 32-bit word.
    unsafe fn key_word(self, rcon: Self) -> Self;
    /// Transposes each 4 x 4 matrix of words that lane `l` of the four vectors makes.
    unsafe fn transpose_words(words: [Self; 4]) -> [Self; 4];
}

pub(crate) fn garble(
    backend: Backend,
    keys: &mut KeyRing,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    tables: &mut [Block],
) {
    match backend.0 {
        Kind::Portable => portable::garble::garble(keys, delta, part, slots, tables),
        #[cfg(target_arch = "aarch64")]
        Kind::Armv8 => portable::garble::garble(keys, delta, part, slots, tables),
        // SAFETY: a Backend of this kind proves the features; a Part's indices are below its tape's slots, and the
        // caller checked both lengths.
        #[cfg(target_arch = "x86_64")]
        Kind::AesNi => unsafe {
            super::x86_64::garble::garble_aesni(keys, delta, part, slots.as_mut_ptr(), tables.as_mut_ptr())
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Vaes => unsafe {
            super::x86_64::garble::garble_vaes(keys, delta, part, slots.as_mut_ptr(), tables.as_mut_ptr())
        },
    }
}

pub(crate) fn evaluate(backend: Backend, keys: &mut KeyRing, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
    match backend.0 {
        Kind::Portable => portable::garble::evaluate(keys, part, slots, tables),
        #[cfg(target_arch = "aarch64")]
        Kind::Armv8 => portable::garble::evaluate(keys, part, slots, tables),
        // SAFETY: as in `garble`.
        #[cfg(target_arch = "x86_64")]
        Kind::AesNi => unsafe {
            super::x86_64::garble::evaluate_aesni(keys, part, slots.as_mut_ptr(), tables.as_ptr())
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Vaes => unsafe { super::x86_64::garble::evaluate_vaes(keys, part, slots.as_mut_ptr(), tables.as_ptr()) },
    }
}

/// Hashes groups of sixteen blocks, each under the next tweak; those of `second` under the same tweaks again.
pub(crate) fn hash(
    backend: Backend,
    keys: &mut KeyRing,
    first: &mut [[Block; 16]],
    second: Option<&mut [[Block; 16]]>,
) {
    debug_assert!(second.as_ref().is_none_or(|s| s.len() == first.len()));
    match backend.0 {
        Kind::Portable => portable::garble::hash_groups(keys, first, second),
        #[cfg(target_arch = "aarch64")]
        Kind::Armv8 => portable::garble::hash_groups(keys, first, second),
        // SAFETY: a Backend of this kind proves the features.
        #[cfg(target_arch = "x86_64")]
        Kind::AesNi => unsafe { super::x86_64::garble::hash_aesni(keys, first, second) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Vaes => unsafe { super::x86_64::garble::hash_vaes(keys, first, second) },
    }
}
