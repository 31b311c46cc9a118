//! From a kind of machine to its kernels: the only list of what each kind runs, and the only functions with
//! CPU features.

/// Defines the module of a kind's outermost functions: `wide` is its widest register, `half` one of half as many blocks
/// (the same where it has no such), `single` that of one block, `bytes` the widest one of bytes.
///
/// Only these functions carry `target_feature`. All else is generic over registers, inlined into them, and so gets the
/// features.
macro_rules! instantiate {
    ($kind:ident, $features:literal, wide: $wide:ty, half: $half:ty, single: $single:ty, bytes: $bytes:ty) => {
        pub(in crate::arch) mod $kind {
            use super::*;
            use crate::arch::garble::{self, KeyRing, lockstep};
            use crate::arch::{RoundKeys, Vectorize, gather, half_tree, lanes, subset, vole};
            use crate::memory::block::Block;
            use crate::tape::Tape;
            use crate::tape::labels::Labels;
            use crate::tape::lanes::Lanes;
            use crate::tape::part::Part;
            use crate::tape::pseudorandom::Numbers;

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn vectorize<W: Vectorize>(work: W) -> W::Output {
                work.run()
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn aes_expand(key: Block) -> RoundKeys {
                expand(key)
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn aes_encrypt(keys: &RoundKeys, blocks: &mut [[u8; 16]]) {
                // SAFETY: this function has the features that the registers need.
                unsafe { lanes::aes::encrypt::<$wide, $single>(keys, blocks) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn aes_counter(keys: &RoundKeys, first: u128, out: &mut [[u8; 16]]) {
                // SAFETY: this function has the features that the registers need.
                unsafe { lanes::aes::counter::<$wide, $single>(keys, first, out) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn aes_tccr(keys: &RoundKeys, first: u128, blocks: &mut [[u8; 16]]) {
                // SAFETY: this function has the features that the registers need.
                unsafe { lanes::aes::tccr::<$wide, $single>(keys, first, blocks) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn aes_tccr_pairs(
                keys: &RoundKeys,
                first: u128,
                delta: [u8; 16],
                blocks: &[[u8; 16]],
                pairs: &mut [[[u8; 16]; 2]],
            ) {
                // SAFETY: this function has the features that the registers need; the lengths are equal.
                unsafe { lanes::aes::tccr_pairs::<$wide, $single>(keys, first, delta, blocks, pairs) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn aes_cr(keys: &RoundKeys, blocks: &mut [[u8; 16]]) {
                // SAFETY: this function has the features that the registers need.
                unsafe { lanes::aes::cr::<$wide, $single>(keys, blocks) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn aes_cr_pairs(
                keys: &RoundKeys,
                delta: [u8; 16],
                blocks: &[[u8; 16]],
                pairs: &mut [[[u8; 16]; 2]],
            ) {
                // SAFETY: this function has the features that the registers need; the lengths are equal.
                unsafe { lanes::aes::cr_pairs::<$wide, $single>(keys, delta, blocks, pairs) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn transpose(input: &[u8], output: &mut [u8], rows: usize, columns: usize) {
                // SAFETY: this function has the features that the registers need.
                unsafe { lanes::transpose::transpose::<$bytes, $single>(input, output, rows, columns) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn transpose_columns(
                input: &[u8],
                stride: usize,
                first: usize,
                output: &mut [[u8; 16]],
            ) {
                // SAFETY: this function has the features that the registers need.
                unsafe { lanes::transpose::columns::<$bytes, $single>(input, stride, first, output) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn sum<const K: usize>(rows: [&[[u8; 16]]; K], out: &mut [[u8; 16]]) {
                // SAFETY: this function has the features that the registers need.
                unsafe { lanes::sum::<$wide, $single, K>(rows, out) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn gf128_inner_product(a: &[Block], b: &[Block]) -> Block {
                // SAFETY: this function has the features that the registers need.
                unsafe { lanes::clmul::inner_product::<$wide, $single>(a, b) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn gf128_products(a: &mut [Block], b: &[Block]) {
                // SAFETY: this function has the features that the registers need; the caller has checked the lengths.
                unsafe { lanes::clmul::products::<$wide, $single>(a, b) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn gf128_add_polynomial(coefficients: &[Block], points: &[Block], out: &mut [Block]) {
                // SAFETY: this function has the features that the registers need; the caller has checked the lengths.
                unsafe { lanes::clmul::add_polynomial::<$wide, $single>(coefficients, points, out) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn tree_children(keys: &RoundKeys, nodes: &mut [Block], clear: bool) -> Block {
                // SAFETY: this function has the features that the registers need; the caller has checked the length.
                unsafe { half_tree::wide_children::<$wide, $half, $single>(keys, nodes, clear) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn tree_add(fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
                // SAFETY: this function has the features that the registers need; the caller has checked the lengths.
                unsafe { half_tree::wide_add::<$wide>(fours, add, nodes) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn vole_fold(
                leaves: &vole::Leaves,
                first: u64,
                sum: &mut [[u8; 16]],
                rows: &mut [[u8; 16]],
            ) {
                // SAFETY: this function has the features that the registers need; the caller has checked the lengths.
                unsafe { vole::wide::<$wide, $single>(leaves, first, sum, rows) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn subset_add(all: &subset::Rows<'_>, out: &mut [Block], room: &mut [Block]) {
                // SAFETY: this function has the features that the registers need; the caller has checked the lengths.
                unsafe {
                    subset::wide::<$wide, { subset::TILE / <$wide as lanes::Lanes>::LANES }, $single>(all, out, room)
                }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn gather_add<const N: usize, const K: usize>(
                table: &[[Block; K]],
                numbers: &mut [[u32; N]],
                from: &[[Block; K]],
                out: &mut [[Block; K]],
            ) {
                // SAFETY: this function has the features that the register needs.
                unsafe { gather::wide::<$single, N, K>(table, numbers, from, out) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn gather_add_part<const N: usize>(
                part: &[Block],
                numbers: &mut [[u16; N]],
                to: &mut [Block],
            ) {
                // SAFETY: likewise.
                unsafe { gather::wide_part::<$single, N>(part, numbers, to) }
            }

            /// # Safety
            /// `slots` holds the tape's slots.
            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn clear_walk(tape: &Tape, slots: *mut Lanes) {
                // SAFETY: promised by the caller.
                unsafe { crate::arch::clear::walk(tape, slots) }
            }

            /// # Safety
            /// Here and below: lengths as the walk wants.
            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn garble<const COPIES: usize>(
                keys: &mut KeyRing,
                delta: Block,
                part: &Part<'_>,
                slots: *mut Block,
                tables: *mut Block,
            ) {
                let side = garble::Garbling::new(delta);
                // SAFETY: promised by the caller.
                unsafe { garble::walk::<$wide, $half, $single, _, COPIES>(side, keys, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn evaluate<const COPIES: usize>(
                keys: &mut KeyRing,
                part: &Part<'_>,
                slots: *mut Block,
                tables: *const Block,
            ) {
                let (side, tables) = (garble::Evaluating, tables.cast_mut());
                // SAFETY: promised by the caller; an evaluating walk only reads tables.
                unsafe { garble::walk::<$wide, $half, $single, _, COPIES>(side, keys, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn one_row_garble(
                keys: &mut KeyRing,
                delta: Block,
                part: &Part<'_>,
                slots: *mut Block,
                tables: *mut Block,
            ) {
                let side = garble::OneRowGarbling(garble::Garbling::new(delta));
                // SAFETY: promised by the caller.
                unsafe { garble::walk::<$wide, $half, $single, _, 1>(side, keys, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn one_row_evaluate(
                keys: &mut KeyRing,
                part: &Part<'_>,
                slots: *mut Block,
                tables: *const Block,
            ) {
                let (side, tables) = (garble::OneRowEvaluating, tables.cast_mut());
                // SAFETY: promised by the caller; an evaluating walk only reads tables.
                unsafe { garble::walk::<$wide, $half, $single, _, 1>(side, keys, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn auth_garble(
                keys: &mut KeyRing,
                delta: Block,
                part: &Part<'_>,
                slots: *mut Block,
                terms: &mut [Block],
                tables: *mut Block,
            ) {
                let side =
                    garble::AuthGarbling { side: garble::Garbling::new(delta), terms: garble::Terms::new(terms) };
                // SAFETY: promised by the caller.
                unsafe { garble::walk::<$wide, $half, $single, _, 1>(side, keys, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn auth_evaluate(
                keys: &mut KeyRing,
                part: &Part<'_>,
                slots: *mut Block,
                terms: &mut [Block],
                tables: *const Block,
            ) {
                let (side, tables) = (garble::AuthEvaluating { terms: garble::Terms::new(terms) }, tables.cast_mut());
                // SAFETY: promised by the caller; an evaluating walk only reads tables.
                unsafe { garble::walk::<$wide, $half, $single, _, 1>(side, keys, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn three_halves_garble(
                keys: &mut KeyRing<3>,
                delta: Block,
                part: &Part<'_>,
                slots: *mut Block,
                tables: garble::three_halves::Tables,
            ) {
                let side = garble::three_halves::Garbling { delta };
                // SAFETY: promised by the caller.
                unsafe { garble::three_halves::walk::<$wide, $half, $single, _>(side, keys, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn three_halves_evaluate(
                keys: &mut KeyRing<3>,
                part: &Part<'_>,
                slots: *mut Block,
                tables: garble::three_halves::Tables,
            ) {
                let side = garble::three_halves::Evaluating;
                // SAFETY: promised by the caller; an evaluating walk only reads tables.
                unsafe { garble::three_halves::walk::<$wide, $half, $single, _>(side, keys, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn hash(
                keys: &mut KeyRing,
                first: &mut [[Block; 16]],
                second: Option<&mut [[Block; 16]]>,
            ) {
                // SAFETY: this function has the features that the registers need.
                unsafe { garble::hash_groups::<$wide>(keys, first, second) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) fn encrypt_each(keys: &[[Block; 16]], blocks: &mut [[Block; 16]]) {
                // SAFETY: this function has the features that the registers need.
                unsafe { garble::encrypt_groups::<$wide>(keys, blocks) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn prf_garble(
                numbers: &mut Numbers,
                delta: Block,
                part: &Part<'_>,
                slots: *mut Labels,
                tables: garble::pseudorandom::Tables,
            ) {
                let side = garble::pseudorandom::Garbling { delta };
                // SAFETY: promised by the caller.
                unsafe { garble::pseudorandom::walk::<$wide, $half, $single, _>(side, numbers, part, slots, tables) }
            }

            #[target_feature(enable = $features)]
            pub(in crate::arch) unsafe fn prf_evaluate(
                numbers: &mut Numbers,
                part: &Part<'_>,
                slots: *mut Block,
                tables: garble::pseudorandom::Tables,
            ) {
                let side = garble::pseudorandom::Evaluating;
                // SAFETY: promised by the caller; an evaluating walk only reads tables.
                unsafe { garble::pseudorandom::walk::<$wide, $half, $single, _>(side, numbers, part, slots, tables) }
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
                unsafe { lockstep::walk::<$wide, _>(side, keys, part, [shape.width, shape.copies], slots, tables) }
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
                unsafe { lockstep::walk::<$wide, _>(side, keys, part, sizes, slots, tables.cast_mut()) }
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
                unsafe { lockstep::walk::<$wide, _>(side, keys, part, sizes, slots, tables.cast_mut()) }
            }
        }
    };
}
pub(super) use instantiate;

/// Calls the kernel of the backend's kind, or what the portable backend has in its place. What a kernel wants
/// beyond the CPU's features, the caller promises in an `unsafe` block around this; a backend of a kind
/// exists only where the machine has the kind's features.
macro_rules! run {
    ($backend:expr, $kernel:ident $(::<$n:ident>)? ($($argument:expr),* $(,)?), else $portable:expr) => {
        match $backend.0 {
            $crate::arch::Kind::Portable => $portable,
            #[cfg(target_arch = "x86_64")]
            $crate::arch::Kind::AesNi128 => $crate::arch::x86_64::aesni128::$kernel$(::<$n>)?($($argument),*),
            #[cfg(target_arch = "x86_64")]
            $crate::arch::Kind::AesNi => $crate::arch::x86_64::aesni::$kernel$(::<$n>)?($($argument),*),
            #[cfg(target_arch = "x86_64")]
            $crate::arch::Kind::Vaes256 => $crate::arch::x86_64::vaes256::$kernel$(::<$n>)?($($argument),*),
            #[cfg(target_arch = "x86_64")]
            $crate::arch::Kind::Vaes => $crate::arch::x86_64::vaes::$kernel$(::<$n>)?($($argument),*),
            #[cfg(target_arch = "aarch64")]
            $crate::arch::Kind::Armv8Sha3 => $crate::arch::aarch64::armv8sha3::$kernel$(::<$n>)?($($argument),*),
            #[cfg(target_arch = "aarch64")]
            $crate::arch::Kind::Armv8 => $crate::arch::aarch64::armv8::$kernel$(::<$n>)?($($argument),*),
        }
    };
}
pub(super) use run;
