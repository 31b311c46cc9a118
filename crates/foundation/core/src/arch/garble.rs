//! The fused garbling kernels: gather, expand keys, hash, combine, scatter, in one pass over a stretch of tape.
//!
//! One code path, generic over a register of blocks ([`Wires`]: one, two or four blocks), serves every machine with AES
//! rounds; the portable path works on eight bitsliced blocks instead.
//!
//! # What a gate costs
//!
//! A half gate hashes `H(x, t) = E(start ^ t, s(x)) ^ s(x)` with an AES key of its own. The garbler hashes
//! two labels under each of a gate's two keys, the evaluator one: four and two encryptions, and two key
//! schedules each. Encrypting is cheap, for machines have an instruction for a round. The schedules are what
//! takes the time, and gathering labels and storing results would take as long again if each were a loop of
//! its own. So it is all one loop, and three things make it fast.
//!
//! # A lane is a gate
//!
//! Gates of a segment do not depend on each other. A register holds the input `a` of as many of them as it
//! has lanes, another the input `b`; then the formulas of half gates are formulas over registers, and no lane
//! ever needs its neighbour:
//!
//! ```text
//! for each batch of gates g in the segment            // batch: 2 registers of gates (garbler), 4 (evaluator)
//!     a, b   = gather slots[g.a], slots[g.b]
//!     x      = s(a) ^ K[0].a,  s(b) ^ K[0].b          // labels for zero
//!     y      = x ^ s(delta)                           // labels for one: s is linear
//!     repeat for round keys K[1..10]
//!         x, y = round(x, K), round(y, K)             // 8 states: as many as hide a round's latency
//!     x, y   = last(x, K[10] ^ s(a)), ...             // the feed-forward costs nothing: it rides on the last key
//!     rows, out = half gates of x, y, a, b
//!     store rows; scatter slots[g.out] = out
//! ```
//!
//! Batches get narrower towards a segment's end: two registers, one, one of half as many lanes, a single
//! block. Nothing is padded.
//!
//! Privacy-free gates hash one label of the two, and so two of them stand in the place of one gate: see
//! [`one_row`]. Only there the last gate of a segment may be half a unit, which leaves a key unused.
//!
//! Three halves have three keys a gate ([`three_halves`]), and gates without free XOR have labels for keys, which no
//! ring can hold ahead ([`pseudorandom`]): they walk a stretch in the same way.
//!
//! # Keys are sliced by words
//!
//! The key schedule of AES-128 works on words of 32 bits: a new word is the sum of two old ones, and every
//! fourth goes through SubWord and RotWord. One key in a register leaves three words of four idle. Here word
//! `i` of many keys (four a lane) is in the `i`-th of four registers:
//!
//! ```text
//! w0 ^= last(shuffle(w3), rcon)                       // SubWord and RotWord of four keys a lane: one round of AES,
//! w1 ^= w0;  w2 ^= w1;  w3 ^= w2                      //   for which the shuffle undoes ShiftRows in advance
//! K   = transpose 4 x 4 words (w0, w1, w2, w3)        // eight unpacks: back to one key a lane
//! ```
//!
//! That is fourteen instructions a round for a group of four registers of keys, where each key by itself
//! takes seven a register. A group's tweaks come in such an order that the transposition leaves the keys
//! where the batch wants them.
//!
//! # Keys are there before labels are
//!
//! Tweaks count gates, so keys can be expanded before their gates' inputs are known: in a chain of gates the
//! schedule takes no part in the latency. [`KeyRing`] holds those of the next gates, for each round and half
//! side by side, so that a batch finds its keys with plain loads wherever it starts: the first few stand once
//! more behind the ring's end. Where registers suffice (32 of them) and a segment is wide, keys are expanded
//! beside the hashing of the same batch instead, and never touch memory.
//!
//! # What bounds it
//!
//! The kernels keep a core's vector units busy: of some 25 cycles that a gate takes on 256-bit registers, if
//! nothing waits, half are the key schedule's shuffles and sums, and a quarter rounds of AES. That is why the
//! share of the AES ceiling is small.

mod hash;
mod keys;
pub(crate) mod lockstep;
mod many_keys;
mod one_row;
pub(super) mod pseudorandom;
mod sides;
pub(super) mod three_halves;
mod walk;

use crate::arch::Backend;
use crate::memory::block::Block;
use crate::tape::labels::Labels;
use crate::tape::part::Part;
use crate::tape::pseudorandom::Numbers;

use super::instantiate::run;
use super::lanes::Lanes;
use super::portable;

pub(super) use hash::hash_groups;
pub(crate) use keys::KeyRing;
pub(super) use many_keys::encrypt_groups;
pub(super) use one_row::{OneRowEvaluating, OneRowGarbling};
pub(super) use sides::{AuthEvaluating, AuthGarbling, Evaluating, Garbling, Terms};
pub(super) use walk::walk;

/// A register as garbling needs it, beyond AES: the labels of a wire in as many gates (or copies) as there are lanes.
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
    /// The mask of bit 0: each lane all ones if its bit 0 is one, else all zeros.
    unsafe fn lsb_mask(self) -> Self;
    /// The key schedule's `SubWord(RotWord(w)) ^ rcon` of each 32-bit word.
    unsafe fn key_word(self, rcon: Self) -> Self;
    /// Transposes each 4 x 4 matrix of words that lane `l` of the four registers makes.
    unsafe fn transpose_words(words: [Self; 4]) -> [Self; 4];
    /// The low half of each lane, and above it that of `other`.
    unsafe fn low_halves(self, other: Self) -> Self;
    /// The high half of each lane below that of `other`.
    unsafe fn high_halves(self, other: Self) -> Self;
    /// The mask of one bit of each half of a lane, that which is one in `bit`.
    unsafe fn bit_mask(self, bit: Self) -> Self;
    /// The first `LANES` half blocks at an address, each of them twice.
    unsafe fn load_twice(from: *const [u8; 8]) -> Self;
    /// Writes the low halves of the lanes, one behind another.
    unsafe fn store_low(self, to: *mut [u8; 8]);
}

/// Byte order that makes the last AES round compute SubWord(RotWord(w)) of each word: it rotates every word
/// by a byte and undoes in advance the ShiftRows of the instruction.
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

/// Garbles `COPIES` circuits side by side: the copies of a slot follow each other, and so do those of an AND gate's
/// blocks of table.
pub(crate) fn garble<const COPIES: usize>(
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
        run!(
            backend,
            garble::<COPIES>(keys, delta, part, s, t),
            else portable::garble::garble::<COPIES>(keys, delta, part, slots, tables)
        )
    }
}

/// Evaluates as [`garble`] garbles.
pub(crate) fn evaluate<const COPIES: usize>(
    backend: Backend,
    keys: &mut KeyRing,
    part: &Part<'_>,
    slots: &mut [Block],
    tables: &[Block],
) {
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`.
    unsafe {
        run!(
            backend,
            evaluate::<COPIES>(keys, part, s, tables.as_ptr()),
            else portable::garble::evaluate::<COPIES>(keys, part, slots, tables)
        )
    }
}

/// Garbles without privacy: one block of table for each AND gate.
pub(crate) fn one_row_garble(
    backend: Backend,
    keys: &mut KeyRing,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    tables: &mut [Block],
) {
    let (s, t) = (slots.as_mut_ptr(), tables.as_mut_ptr());
    // SAFETY: as in `garble`.
    unsafe {
        run!(
            backend,
            one_row_garble(keys, delta, part, s, t),
            else portable::garble::one_row_garble(keys, delta, part, slots, tables)
        )
    }
}

/// Evaluates without privacy, as [`one_row_garble`].
pub(crate) fn one_row_evaluate(
    backend: Backend,
    keys: &mut KeyRing,
    part: &Part<'_>,
    slots: &mut [Block],
    tables: &[Block],
) {
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`.
    unsafe {
        run!(
            backend,
            one_row_evaluate(keys, part, s, tables.as_ptr()),
            else portable::garble::one_row_evaluate(keys, part, slots, tables)
        )
    }
}

/// Garbles with three terms for each AND gate, array after array; the third ones become the outputs as they
/// were computed.
pub(crate) fn auth_garble(
    backend: Backend,
    keys: &mut KeyRing,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    terms: &mut [Block],
    tables: &mut [Block],
) {
    let (s, t) = (slots.as_mut_ptr(), tables.as_mut_ptr());
    // SAFETY: as in `garble`; the caller checked the terms' number, too.
    unsafe {
        run!(
            backend,
            auth_garble(keys, delta, part, s, terms, t),
            else portable::garble::auth_garble(keys, delta, part, slots, terms, tables)
        )
    }
}

/// Evaluates with three terms for each AND gate, as [`auth_garble`].
pub(crate) fn auth_evaluate(
    backend: Backend,
    keys: &mut KeyRing,
    part: &Part<'_>,
    slots: &mut [Block],
    terms: &mut [Block],
    tables: &[Block],
) {
    let s = slots.as_mut_ptr();
    // SAFETY: as in `auth_garble`.
    unsafe {
        run!(
            backend,
            auth_evaluate(keys, part, s, terms, tables.as_ptr()),
            else portable::garble::auth_evaluate(keys, part, slots, terms, tables)
        )
    }
}

/// Garbles with three halves: 24 bytes of `sums` for each AND gate, `G0` and `G1` of all and then `G2` of all, and a
/// byte of `bits`, which come random.
pub(crate) fn three_halves_garble(
    backend: Backend,
    keys: &mut KeyRing<3>,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Block],
    (sums, bits): (&mut [u8], &mut [u8]),
) {
    debug_assert!(sums.len() == 24 * part.ands() && bits.len() == part.ands());
    let (pairs, singles) = sums.split_at_mut(16 * part.ands());
    let tables = three_halves::Tables {
        pairs: pairs.as_mut_ptr().cast(),
        singles: singles.as_mut_ptr().cast(),
        bits: bits.as_mut_ptr(),
    };
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`.
    unsafe {
        run!(
            backend,
            three_halves_garble(keys, delta, part, s, tables),
            else portable::three_halves::garble(keys, delta, part, slots, [pairs, singles, bits])
        )
    }
}

/// Evaluates three halves, as [`three_halves_garble`].
pub(crate) fn three_halves_evaluate(
    backend: Backend,
    keys: &mut KeyRing<3>,
    part: &Part<'_>,
    slots: &mut [Block],
    (sums, bits): (&[u8], &[u8]),
) {
    debug_assert!(sums.len() == 24 * part.ands() && bits.len() == part.ands());
    let (pairs, singles) = sums.split_at(16 * part.ands());
    let tables = three_halves::Tables {
        pairs: pairs.as_ptr().cast_mut().cast(),
        singles: singles.as_ptr().cast_mut().cast(),
        bits: bits.as_ptr().cast_mut(),
    };
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`; an evaluating walk only reads tables.
    unsafe {
        run!(
            backend,
            three_halves_evaluate(keys, part, s, tables),
            else portable::three_halves::evaluate(keys, part, slots, [pairs, singles, bits])
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

/// Encrypts groups of sixteen blocks, a key for each of the sixteen, as many groups for each group of keys.
pub(crate) fn encrypt_each(backend: Backend, keys: &[[Block; 16]], blocks: &mut [[Block; 16]]) {
    debug_assert!(blocks.len().is_multiple_of(keys.len().max(1)));
    // SAFETY: the Backend proves the features.
    unsafe { run!(backend, encrypt_each(keys, blocks), else portable::pseudorandom::encrypt_each(keys, blocks)) }
}

/// Garbles with AES as a pseudorandom function: a block of `rows` for each sum and two for each AND gate, in the order
/// of the runs, and a byte of `bits` for each AND gate.
pub(crate) fn prf_garble(
    backend: Backend,
    numbers: &mut Numbers,
    delta: Block,
    part: &Part<'_>,
    slots: &mut [Labels],
    (rows, bits): (&mut [Block], &mut [u8]),
) {
    let tables = pseudorandom::Tables { rows: rows.as_mut_ptr(), bits: bits.as_mut_ptr() };
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`.
    unsafe {
        run!(
            backend,
            prf_garble(numbers, delta, part, s, tables),
            else portable::pseudorandom::garble(numbers, delta, part, slots, (rows, bits))
        )
    }
}

/// Evaluates as [`prf_garble`] garbles.
pub(crate) fn prf_evaluate(
    backend: Backend,
    numbers: &mut Numbers,
    part: &Part<'_>,
    slots: &mut [Block],
    (rows, bits): (&[Block], &[u8]),
) {
    let tables = pseudorandom::Tables { rows: rows.as_ptr().cast_mut(), bits: bits.as_ptr().cast_mut() };
    let s = slots.as_mut_ptr();
    // SAFETY: as in `garble`; an evaluating walk only reads tables.
    unsafe {
        run!(
            backend,
            prf_evaluate(numbers, part, s, tables),
            else portable::pseudorandom::evaluate(numbers, part, slots, (rows, bits))
        )
    }
}
