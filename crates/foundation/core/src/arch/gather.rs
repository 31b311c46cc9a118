//! Sums of blocks from random places of a table: a row of a sparse matrix, times the table.
//!
//! *Cost.* A look-up is one load with nothing to wait for, so the machine keeps as many under way as it has
//! places to note what the first-level cache lacks: half a nanosecond each where the table fits the second
//! level. Plain Rust adds blocks as pairs of 64-bit numbers, which takes three times as long.

use super::Backend;
use super::kernels::safe;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::lanes::Lanes;
use crate::memory::block::Block;

/// Gathers as [`HugeTable::gather_add`](crate::HugeTable::gather_add); the caller has checked the lengths.
pub(crate) fn add<const N: usize, const K: usize>(
    backend: Backend,
    table: &[[Block; K]],
    numbers: &mut [[u32; N]],
    from: &[[Block; K]],
    out: &mut [[Block; K]],
) {
    safe!(backend, gather_add(table, numbers, from, out));
}

/// Gathers as [`HugeTable::add_gathered`](crate::HugeTable::add_gathered); the caller has checked the part's length.
pub(crate) fn add_part<const N: usize>(backend: Backend, part: &[Block], numbers: &mut [[u16; N]], to: &mut [Block]) {
    safe!(backend, gather_add_part(part, numbers, to));
}

/// Cuts numbers to places of a part of `len` blocks, a power of two of 2^16 at most.
#[inline(always)]
fn cut<const N: usize>(numbers: &mut [[u16; N]], len: usize) {
    let over = 16 - len.ilog2();
    if over > 0 {
        for number in numbers.as_flattened_mut() {
            *number = (u32::from(*number) >> over) as u16;
        }
    }
}

/// Scales numbers to places of a table of `len` places, less than 2^32.
#[inline(always)]
fn scale<const N: usize>(numbers: &mut [[u32; N]], len: usize) {
    // That both factors have 32 bits makes it one instruction for eight numbers.
    let len = u64::from(len as u32);
    for number in numbers.as_flattened_mut() {
        *number = ((u64::from(*number) * len) >> 32) as u32;
    }
}

/// # Safety
/// As for [`Lanes`]; `S` has one lane.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) unsafe fn wide<S: Lanes, const N: usize, const K: usize>(
    table: &[[Block; K]],
    numbers: &mut [[u32; N]],
    from: &[[Block; K]],
    out: &mut [[Block; K]],
) {
    const { assert!(S::LANES == 1) }
    scale(numbers, table.len());
    let table = table.as_ptr();
    for ((out, from), places) in out.iter_mut().zip(from).zip(numbers) {
        // SAFETY: a 32-bit number times the table's length, over 2^32, is less than the length.
        unsafe {
            let mut sums = from.each_ref().map(|from| S::load(core::ptr::from_ref(from).cast()));
            for &place in &*places {
                let place: *const Block = table.add(place as usize).cast();
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum = sum.xor(S::load(place.add(at).cast()));
                }
            }
            for (out, sum) in out.iter_mut().zip(sums) {
                sum.store(core::ptr::from_mut(out).cast());
            }
        }
    }
}

/// # Safety
/// As for [`Lanes`]; `S` has one lane.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) unsafe fn wide_part<S: Lanes, const N: usize>(part: &[Block], numbers: &mut [[u16; N]], to: &mut [Block]) {
    const { assert!(S::LANES == 1) }
    cut(numbers, part.len());
    let part = part.as_ptr();
    for (to, places) in to.iter_mut().zip(numbers) {
        let to = core::ptr::from_mut(to).cast();
        // SAFETY: a number of 16 bits without as many of them as the part's length lacks is less than the length.
        unsafe {
            let mut sum = S::load(to);
            for &place in &*places {
                sum = sum.xor(S::load(part.add(place.into()).cast()));
            }
            sum.store(to);
        }
    }
}

pub(super) fn portable_part<const N: usize>(part: &[Block], numbers: &mut [[u16; N]], to: &mut [Block]) {
    cut(numbers, part.len());
    for (to, places) in to.iter_mut().zip(numbers) {
        *to = places.iter().fold(*to, |sum, &place| sum ^ part[usize::from(place)]);
    }
}

pub(super) fn portable<const N: usize, const K: usize>(
    table: &[[Block; K]],
    numbers: &mut [[u32; N]],
    from: &[[Block; K]],
    out: &mut [[Block; K]],
) {
    scale(numbers, table.len());
    for ((out, from), places) in out.iter_mut().zip(from).zip(numbers) {
        *out = *from;
        for &place in &*places {
            out.iter_mut().zip(&table[place as usize]).for_each(|(out, &there)| *out ^= there);
        }
    }
}
