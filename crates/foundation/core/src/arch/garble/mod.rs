//! The fused garbling kernels: gather, expand keys, hash, combine, scatter, in one pass over a stretch of tape.
//!
//! One code path, generic over [`Quad`] (four blocks side by side), serves every machine with AES rounds; the portable
//! path works on eight bitsliced blocks instead. What makes it fast:
//!
//! - *Two gates make a vector.* Lanes hold `(a, b, a', b')` of two gates, so their four half-gate keys are the four
//!   lanes of a round key, the garbler's second hash input is one XOR away, and the two tables are one store.
//! - *Keys are expanded ahead, sixteen at a time.* Tweaks are known before labels are, so key expansion has no part in
//!   the latency of a chain of gates. Sixteen keys are held word-sliced (word `i` of all keys in one vector): then
//!   SubWord of sixteen keys is one AES instruction, and eight unpacks bring each round key back to lanes.
//!   Where a segment is wide, they are expanded beside the hashing and never touch memory.
//! - *Segments are independent gates*: the garbler hashes up to eight together and the evaluator up to sixteen, so that the
//!   AES units stay full.

mod hash;
mod keys;
pub(crate) mod lockstep;
mod sides;
mod walk;

use crate::gates::Part;
use crate::{Backend, Block};

use super::portable;

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
    /// Two blocks in lanes 0 and 1, zeros above: a gate alone.
    unsafe fn load_half(from: *const Block) -> Self;
    unsafe fn store_half(self, to: *mut Block);
    unsafe fn gather_half(from: [*const Block; 2]) -> Self;
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
    unsafe fn or(self, other: Self) -> Self;
    /// One AES round under a round key.
    unsafe fn aes_round(self, key: Self) -> Self;
    /// The last AES round.
    unsafe fn aes_last(self, key: Self) -> Self;
    /// The orthomorphism `(lo, hi) -> (hi, lo ^ hi)` of each lane.
    unsafe fn sigma(self) -> Self;
    /// Lanes 1, 0, 3, 2.
    unsafe fn swap_neighbours(self) -> Self;
    /// Each lane all ones if its bit 0 is one, else all zeros.
    unsafe fn lsb_mask(self) -> Self;
    /// Lanes 0 and 2 of `self`, 1 and 3 of `odd`.
    unsafe fn select_odd(self, odd: Self) -> Self;
    /// `SubWord(RotWord(w)) ^ rcon` of each 32-bit word.
    unsafe fn key_word(self, rcon: Self) -> Self;
    /// Transposes each 4 x 4 matrix of words that lane `l` of the four vectors makes.
    unsafe fn transpose_words(words: [Self; 4]) -> [Self; 4];
}

/// Byte order that makes the last AES round compute SubWord(RotWord(w)) of each word: it rotates every word by a byte and
/// undoes in advance the ShiftRows of the instruction.
pub(super) const KEY_WORD: [u8; 16] = {
    let mut order = [0; 16];
    let mut i = 0;
    while i < 16 {
        let (column, row) = (i / 4, i % 4);
        order[i] = (4 * ((column + 4 - row) % 4) + (row + 1) % 4) as u8;
        i += 1;
    }
    order
};

/// Defines a module of the outermost functions of one kind of machine: the only ones that carry `target_feature`, for all
/// else is inlined into them.
macro_rules! instantiate {
    ($kind:ident, $quad:ty, $features:literal) => {
        pub(in crate::arch) mod $kind {
            use super::*;
            use crate::arch::garble::{self, KeyRing, lockstep};
            use crate::gates::Part;

            /// # Safety
            /// This and the others: the CPU has the features; lengths as the walk wants.
            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn garble(
                keys: &mut KeyRing,
                delta: Block,
                part: &Part<'_>,
                slots: *mut Block,
                tables: *mut Block,
            ) {
                // SAFETY: promised by the caller.
                unsafe { garble::walk::<$quad, _>(garble::Garbling::new(delta), keys, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn evaluate(
                keys: &mut KeyRing,
                part: &Part<'_>,
                slots: *mut Block,
                tables: *const Block,
            ) {
                // SAFETY: promised by the caller; an evaluating walk only reads tables.
                unsafe { garble::walk::<$quad, _>(garble::Evaluating, keys, part, slots, tables.cast_mut()) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn hash(
                keys: &mut KeyRing,
                first: &mut [[Block; 16]],
                second: Option<&mut [[Block; 16]]>,
            ) {
                // SAFETY: promised by the caller.
                unsafe { garble::hash_groups::<$quad>(keys, first, second) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn lockstep_garble(
                keys: &mut KeyRing,
                deltas: *const Block,
                part: &Part<'_>,
                shape: &lockstep::Shape,
                slots: *mut Block,
                tables: *mut Block,
            ) {
                let side = lockstep::Garbling::new(deltas, shape);
                // SAFETY: promised by the caller.
                unsafe { lockstep::walk::<$quad, _>(side, keys, part, [shape.width, shape.copies], slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn lockstep_evaluate(
                keys: &mut KeyRing,
                part: &Part<'_>,
                picked: &lockstep::Picked<'_>,
                slots: *mut Block,
                tables: *const Block,
            ) {
                let side = lockstep::Reading(lockstep::Evaluating, picked.columns.as_ptr());
                let sizes = [picked.columns.len(), picked.copies];
                // SAFETY: promised by the caller; an evaluating walk only reads tables.
                unsafe { lockstep::walk::<$quad, _>(side, keys, part, sizes, slots, tables.cast_mut()) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn lockstep_check(
                keys: &mut KeyRing,
                side: lockstep::Checking,
                part: &Part<'_>,
                picked: &lockstep::Picked<'_>,
                slots: *mut Block,
                tables: *const Block,
            ) {
                let side = lockstep::Reading(side, picked.columns.as_ptr());
                let sizes = [picked.columns.len(), picked.copies];
                // SAFETY: promised by the caller; a checking walk only reads tables.
                unsafe { lockstep::walk::<$quad, _>(side, keys, part, sizes, slots, tables.cast_mut()) }
            }
        }
    };
}
pub(super) use instantiate;

/// Calls a kernel of the backend's kind, or what the portable backend has in its place. What the kernels want beyond the CPU's
/// features, the caller promises in an `unsafe` block of its own.
macro_rules! dispatch {
    ($backend:expr, $kernel:ident($($argument:expr),* $(,)?), else $portable:expr) => {
        match $backend.0 {
            $crate::arch::Kind::Portable => $portable,
            #[cfg(target_arch = "aarch64")]
            $crate::arch::Kind::Armv8 => $crate::arch::aarch64::garble::armv8::$kernel($($argument),*),
            #[cfg(target_arch = "x86_64")]
            $crate::arch::Kind::AesNi => $crate::arch::x86_64::garble::aesni::$kernel($($argument),*),
            #[cfg(target_arch = "x86_64")]
            $crate::arch::Kind::Vaes => $crate::arch::x86_64::garble::vaes::$kernel($($argument),*),
        }
    };
}
use dispatch;

pub(crate) fn garble(
    backend: Backend,
    keys: &mut KeyRing,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    tables: &mut [Block],
) {
    let (s, t) = (slots.as_mut_ptr(), tables.as_mut_ptr());
    // SAFETY: the Backend proves the features; a Part's indices are below its tape's slots, and the caller checked both
    // lengths.
    unsafe {
        dispatch!(backend, garble(keys, delta, part, s, t), else portable::garble::garble(keys, delta, part, slots, tables))
    }
}

pub(crate) fn evaluate(backend: Backend, keys: &mut KeyRing, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`.
    unsafe {
        dispatch!(
            backend,
            evaluate(keys, part, s, tables.as_ptr()),
            else portable::garble::evaluate(keys, part, slots, tables)
        )
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
    // SAFETY: the Backend proves the features.
    unsafe { dispatch!(backend, hash(keys, first, second), else portable::garble::hash_groups(keys, first, second)) }
}
