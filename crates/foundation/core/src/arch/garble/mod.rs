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

use super::instantiate::run;
use super::lanes::Lanes;
use super::portable;

pub(super) use hash::hash_groups;
pub(crate) use keys::KeyRing;
pub(super) use sides::{Evaluating, Garbling};
pub(super) use walk::walk;

/// What garbling needs of a register beyond AES: the labels of a wire in as many gates (or copies) as there are lanes.
///
/// # Safety
/// Every method may only be called where the CPU features of the implementation are present.
pub(super) trait Wires: Lanes {
    /// Whether keys are best expanded beside the hashing: there are registers for both.
    const LIVE: bool;

    /// The blocks at the first `LANES` addresses.
    unsafe fn gather(from: [*const Block; 4]) -> Self;
    /// Writes the lanes to the first `LANES` addresses.
    unsafe fn scatter(self, to: [*mut Block; 4]);
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn xor3(self, b: Self, c: Self) -> Self;
    /// Each lane all ones if its bit 0 is one, else all zeros.
    unsafe fn lsb_mask(self) -> Self;
    /// `SubWord(RotWord(w)) ^ rcon` of each 32-bit word.
    unsafe fn key_word(self, rcon: Self) -> Self;
    /// Transposes each 4 x 4 matrix of words that lane `l` of the four registers makes.
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
        run!(backend, garble(keys, delta, part, s, t), else portable::garble::garble(keys, delta, part, slots, tables))
    }
}

pub(crate) fn evaluate(backend: Backend, keys: &mut KeyRing, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`.
    unsafe {
        run!(
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
    unsafe { run!(backend, hash(keys, first, second), else portable::garble::hash_groups(keys, first, second)) }
}
