//! Walking a tape in the clear: one loop, for single bits and for [`Lanes`].
//!
//! *Cost.* A gate is three indices, two loads and a store. Without bounds checks and with addresses that need no
//! arithmetic of their own it takes half the time.

use core::ops::{BitAnd, BitXor};

use super::Backend;
use super::instantiate::run;
use crate::memory::block::Block;
use crate::tape::Tape;
use crate::tape::TapeGate;
use crate::tape::lanes::Lanes;

/// The word that a slot holds.
pub(super) trait Word: Copy + BitXor<Output = Self> + BitAnd<Output = Self> {}

impl Word for bool {}
impl Word for Lanes {}

/// The slot that a gate's offset into blocks leads to.
///
/// # Safety
/// `slots` holds the slot of the offset.
#[inline(always)]
unsafe fn at<W>(slots: *mut W, offset: u32) -> *mut W {
    let (offset, block) = (offset as usize, size_of::<Block>());
    // SAFETY: the caller's promise.
    unsafe {
        if size_of::<W>() >= block {
            slots.byte_add(offset * (size_of::<W>() / block))
        } else {
            slots.add(offset / block)
        }
    }
}

/// Does gates in order, four of them between two tests for the end.
///
/// # Safety
/// `slots` holds every slot of the gates.
#[inline(always)]
unsafe fn run<W: Word, const AND: bool>(gates: &[TapeGate], slots: *mut W) {
    let (fours, rest) = gates.as_chunks::<4>();
    // SAFETY: the caller's promise.
    unsafe {
        for four in fours {
            for gate in four {
                one::<W, AND>(gate, slots);
            }
        }
        for gate in rest {
            one::<W, AND>(gate, slots);
        }
    }
}

/// Does one gate.
///
/// # Safety
/// As `run`.
#[inline(always)]
unsafe fn one<W: Word, const AND: bool>(gate: &TapeGate, slots: *mut W) {
    // SAFETY: the caller's promise.
    unsafe {
        let (a, b) = (*at(slots, gate.a), *at(slots, gate.b));
        *at(slots, gate.out) = if AND { a & b } else { a ^ b };
    }
}

/// Walks a tape.
///
/// # Safety
/// `slots` holds the tape's slots.
#[inline(always)]
pub(super) unsafe fn walk<W: Word>(tape: &Tape, slots: *mut W) {
    let (mut xors, mut ands) = (tape.xors(), tape.ands());
    for segment in tape.segments() {
        let (linear, later_xors) = xors.split_at(segment.xors as usize);
        let (batch, later_ands) = ands.split_at(segment.ands as usize);
        // SAFETY: the tape's indices were validated when it was made.
        unsafe {
            run::<W, false>(linear, slots);
            run::<W, true>(batch, slots);
        }
        (xors, ands) = (later_xors, later_ands);
    }
}

/// Walks a tape over bits; the caller has checked the number of slots.
pub(crate) fn bits(tape: &Tape, slots: &mut [bool]) {
    debug_assert!(slots.len() >= tape.slots());
    // SAFETY: checked by the caller.
    unsafe { walk(tape, slots.as_mut_ptr()) }
}

/// Walks a tape over lanes; the caller has checked the number of slots.
pub(crate) fn lanes(backend: Backend, tape: &Tape, slots: &mut [Lanes]) {
    debug_assert!(slots.len() >= tape.slots());
    let slots = slots.as_mut_ptr();
    // SAFETY: the Backend proves the features, and the slots were checked by the caller.
    unsafe { run!(backend, clear_walk(tape, slots), else walk(tape, slots)) }
}
