//! Kernels written once for every vector machine, generic over its registers.
//!
//! A machine implements [`Lanes`] and [`Bytes`] for its registers, and [`instantiate`](super::instantiate)
//! defines the outermost functions, which alone carry `target_feature`: everything here is inlined into them,
//! and so uses the machine's instructions. That is why there are loops here and hardly a closure: only what
//! is always inlined is sure to get the features.

pub(super) mod aes;
pub(super) mod clmul;
pub(super) mod transpose;

/// A register of one or more blocks. Every operation works on each 128-bit lane by itself.
///
/// # Safety
/// Every method needs the machine to have the register's instructions, as the machine's module states them. Pointers
/// must be good for `LANES` blocks, of any alignment.
pub(super) trait Lanes: Copy {
    /// Blocks in a register: one, two or four.
    const LANES: usize;

    unsafe fn load(from: *const [u8; 16]) -> Self;
    unsafe fn store(self, to: *mut [u8; 16]);
    /// The same block in every lane.
    unsafe fn broadcast(block: [u8; 16]) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    /// The same word in every place.
    unsafe fn words(word: u32) -> Self;
    /// The orthomorphism of correlation-robust hashing: `(lo, hi)` to `(hi, lo ^ hi)` in each lane.
    unsafe fn sigma(self) -> Self;
    /// Adds a number to the low 64 bits of every lane.
    unsafe fn add_low(self, n: u64) -> Self;
    /// A middle round of AES: ShiftRows, SubBytes, MixColumns, and the key added.
    unsafe fn aes_round(self, key: Self) -> Self;
    /// The last round of AES, without MixColumns.
    unsafe fn aes_last(self, key: Self) -> Self;
    /// The register, and what comes of it so far is computed before what comes of registers for which this is
    /// called later.
    ///
    /// A round of AES takes three cycles and more, and two can start in one, so loops have eight registers
    /// take a round before any takes the next. Where there are sixteen registers the compiler's scheduler
    /// undoes that to save some: it takes one register through all rounds after the other, and leaves it to
    /// the processor to look ahead, which can half as far when another thread shares its core. With
    /// thirty-two it does not.
    #[inline(always)]
    unsafe fn in_order(self) -> Self {
        self
    }

    /// The carry-less product of a half of `self` (bit 0 of `HALVES`) and one of `other` (bit 4).
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self;

    /// The lanes of both registers in turn: the first of each, the second of each, and so on.
    unsafe fn zip_lanes(self, other: Self) -> [Self; 2];
    /// Undoes [`zip_lanes`](Lanes::zip_lanes).
    unsafe fn unzip_lanes(self, other: Self) -> [Self; 2];

    /// The numbers `first`, `first + 1`, ... in the lanes.
    #[inline(always)]
    unsafe fn count_from(first: u128) -> Self {
        let counters = [0, 1, 2, 3].map(|i| first.wrapping_add(i).to_le_bytes());
        const { assert!(Self::LANES <= 4) }
        // SAFETY: the array holds at least `LANES` blocks.
        unsafe { Self::load(counters.as_ptr()) }
    }
}

/// A register of bytes, in lanes of 128 bits.
///
/// # Safety
/// As for [`Lanes`]; pointers must be good for what the method reads or writes.
pub(super) trait Bytes: Copy {
    /// 128-bit lanes in a register.
    const LANES: usize;
    /// The steps by which [`transpose_bits`](Bytes::transpose_bits) takes columns: byte `j` of a lane of register `i`
    /// has the lane's column `STEPS[0] * i + STEPS[1] * j`.
    const STEPS: [usize; 2];

    unsafe fn load(from: *const u8) -> Self;
    /// Stores lane `i` at `to + i * step`.
    unsafe fn store_lanes(self, to: *mut u8, step: usize);
    /// Interleaves the bytes of the low halves, and of the high halves, of each lane.
    unsafe fn interleave(self, other: Self) -> [Self; 2];
    /// Transposes each 8 x 8 bits of eight rows: one byte for each column.
    unsafe fn transpose_bits(rows: [Self; 8]) -> [Self; 8];
}

/// Bytes on a machine that transposes bits by shifting them.
///
/// # Safety
/// As for [`Bytes`].
pub(super) trait Shifts: Bytes {
    /// Exchanges bits of two registers: in each byte, those of `other` under `mask` and those of `self` `BY`
    /// places above.
    unsafe fn exchange<const BY: i32>(self, other: Self, mask: u8) -> [Self; 2];
}

/// Writes the sum of rows.
///
/// # Safety
/// As for [`Lanes`]; `S` has one lane.
#[inline(always)]
pub(in crate::arch) unsafe fn sum<V: Lanes, S: Lanes, const K: usize>(rows: [&[[u8; 16]]; K], out: &mut [[u8; 16]]) {
    const { assert!(S::LANES == 1 && K > 0) }
    let n = out.len();
    for row in rows {
        assert_eq!(row.len(), n, "rows of one length");
    }
    let mut at = 0;
    // SAFETY: the caller's promise; what is loaded and stored is inside the rows, whose lengths were checked.
    unsafe {
        while at < n {
            let to = out.as_mut_ptr().add(at);
            if at + V::LANES <= n {
                let mut sum = V::load(rows[0].as_ptr().add(at));
                for row in &rows[1..] {
                    sum = sum.xor(V::load(row.as_ptr().add(at)));
                }
                sum.store(to);
                at += V::LANES;
            } else {
                let mut sum = S::load(rows[0].as_ptr().add(at));
                for row in &rows[1..] {
                    sum = sum.xor(S::load(row.as_ptr().add(at)));
                }
                sum.store(to);
                at += 1;
            }
        }
    }
}
