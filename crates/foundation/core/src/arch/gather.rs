//! Sums of blocks from random places of a table: a row of a sparse matrix, times the table.
//!
//! *Cost.* A look-up is one load with nothing to wait for, so the machine keeps as many under way as it has places to note
//! what the first-level cache lacks: half a nanosecond each where the table fits the second level. Plain Rust adds
//! blocks as pairs of 64-bit numbers, which takes three times as long.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::lanes::Lanes;
use super::{Backend, Kind};
use crate::Block;

/// As [`Table::gather_add`](crate::Table::gather_add); the caller has checked the lengths.
pub(crate) fn add<const N: usize>(
    backend: Backend,
    table: &[Block],
    numbers: &mut [[u32; N]],
    from: &[Block],
    out: &mut [Block],
) {
    match backend.0 {
        Kind::Portable => portable(table, numbers, from, out),
        // SAFETY: a backend of this kind exists only where the machine has the kernel's features.
        #[cfg(target_arch = "x86_64")]
        Kind::AesNi => unsafe { x86::aesni(table, numbers, from, out) },
        // SAFETY: likewise.
        #[cfg(target_arch = "x86_64")]
        Kind::Vaes => unsafe { x86::vaes(table, numbers, from, out) },
        // SAFETY: likewise.
        #[cfg(target_arch = "aarch64")]
        Kind::Armv8 => unsafe { armv8(table, numbers, from, out) },
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::__m128i;

    use super::{Block, wide};

    #[target_feature(enable = "aes,avx2,pclmulqdq,ssse3,sse4.1")]
    pub(super) fn aesni<const N: usize>(table: &[Block], numbers: &mut [[u32; N]], from: &[Block], out: &mut [Block]) {
        // SAFETY: this function has the features that the register needs.
        unsafe { wide::<__m128i, N>(table, numbers, from, out) }
    }

    // With these a look-up has the addition in one instruction, and numbers are scaled eight at a time.
    #[target_feature(
        enable = "aes,avx2,pclmulqdq,ssse3,sse4.1,vaes,vpclmulqdq,gfni,avx512f,avx512bw,avx512vl,avx512dq"
    )]
    pub(super) fn vaes<const N: usize>(table: &[Block], numbers: &mut [[u32; N]], from: &[Block], out: &mut [Block]) {
        // SAFETY: this function has the features that the register needs.
        unsafe { wide::<__m128i, N>(table, numbers, from, out) }
    }
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon,aes")]
fn armv8<const N: usize>(table: &[Block], numbers: &mut [[u32; N]], from: &[Block], out: &mut [Block]) {
    // SAFETY: this function has the features that the register needs.
    unsafe { wide::<core::arch::aarch64::uint8x16_t, N>(table, numbers, from, out) }
}

/// Numbers to places of a table of `len` blocks, less than 2^32.
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
unsafe fn wide<S: Lanes, const N: usize>(table: &[Block], numbers: &mut [[u32; N]], from: &[Block], out: &mut [Block]) {
    const { assert!(S::LANES == 1) }
    scale(numbers, table.len());
    let table = table.as_ptr();
    for ((out, from), places) in out.iter_mut().zip(from).zip(numbers) {
        // SAFETY: a 32-bit number times the table's length, over 2^32, is less than the length.
        unsafe {
            let mut sum = S::load(core::ptr::from_ref(from).cast());
            for &place in &*places {
                sum = sum.xor(S::load(table.add(place as usize).cast()));
            }
            sum.store(core::ptr::from_mut(out).cast());
        }
    }
}

fn portable<const N: usize>(table: &[Block], numbers: &mut [[u32; N]], from: &[Block], out: &mut [Block]) {
    scale(numbers, table.len());
    for ((out, from), places) in out.iter_mut().zip(from).zip(numbers) {
        *out = places.iter().fold(*from, |sum, &place| sum ^ table[place as usize]);
    }
}
