//! Strips of the erasure code on ARMv8: byte shuffles.

// The lint looks at one function at a time: these are inlined into functions that have the features.
#![allow(unknown_lints, inline_always_mismatching_target_features)]

use core::arch::aarch64::*;

use crate::arch::erasure::{PIECES, Pieces, Strip, walk};

#[target_feature(enable = "neon,aes")]
pub(in crate::arch) unsafe fn neon(
    f: &[[[u8; 16]; 2]],
    from: &[Pieces<*const u8>],
    to: &[Pieces<*mut u8>],
    strips: usize,
) {
    // SAFETY: this function has the features that the registers need; the rest is promised by the caller.
    unsafe { walk::<Neon>(f, from, to, strips) }
}

#[derive(Clone, Copy)]
pub(in crate::arch) struct Neon([uint8x16_t; PIECES]);

#[allow(unsafe_op_in_unsafe_fn, reason = "each method is a few instructions; the trait says what they need")]
impl Strip for Neon {
    type Factor = [[u8; 16]; 2];
    /// The low and the high halves of the bytes of each piece.
    type Split = [[uint8x16_t; 2]; PIECES];
    const WIDE: usize = 4;

    #[inline(always)]
    unsafe fn gather(from: [*const u8; PIECES]) -> Self {
        Neon(from.map(|from| vld1q_u8(from)))
    }
    #[inline(always)]
    unsafe fn scatter(self, to: [*mut u8; PIECES]) {
        for (to, piece) in to.into_iter().zip(self.0) {
            vst1q_u8(to, piece);
        }
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Neon([vdupq_n_u8(0); PIECES])
    }
    #[inline(always)]
    unsafe fn split(self) -> Self::Split {
        self.0.map(|x| [vandq_u8(x, vdupq_n_u8(0x0f)), vshrq_n_u8::<4>(x)])
    }
    #[inline(always)]
    unsafe fn add_product(mut self, x: &Self::Split, factor: &Self::Factor) -> Self {
        let tables = [vld1q_u8(factor[0].as_ptr()), vld1q_u8(factor[1].as_ptr())];
        for piece in 0..PIECES {
            for (table, x) in tables.into_iter().zip(x[piece]) {
                self.0[piece] = veorq_u8(self.0[piece], vqtbl1q_u8(table, x));
            }
        }
        self
    }
}
