//! Digits in Z_3: those of 128 pseudorandom bits, 2^-127 from uniform, sums, and four in a byte.
//!
//! All of it is for loops over arrays under [`Vectorize`](comity_core::Vectorize), and without comparisons,
//! which would become branches.

use comity_core::Block;

/// The bits that stand for 2 and not for 1 modulo 3.
const TWOS: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// The remainders of numbers of 128 bits modulo 3, for which 4 is 1: the bits are counted, every second one twice.
#[inline(always)]
pub(crate) fn remainders<const N: usize>(blocks: &[Block; N], remainders: &mut [u8; N]) {
    let mut halves = [[0; 2]; N];
    for (half, bytes) in halves.as_flattened_mut().iter_mut().zip(Block::bytes_of(blocks).as_chunks::<8>().0) {
        let number = u64::from_le_bytes(*bytes);
        *half = (number.count_ones() + (number & TWOS).count_ones()) as u8;
    }
    for (remainder, [low, high]) in remainders.iter_mut().zip(&halves) {
        // At most 192; a third of it, rounded down.
        let sum = u16::from(*low) + u16::from(*high);
        *remainder = (sum - 3 * ((sum * 171) >> 9)) as u8;
    }
}

/// The flag of a byte: 1 unless it is 0.
#[inline(always)]
pub(crate) fn nonzero(byte: u8) -> u8 {
    (byte | byte.wrapping_neg()) >> 7
}

/// The sum of two digits.
#[inline(always)]
pub(crate) fn sum(one: u8, two: u8) -> u8 {
    // At most 4: 3 less from 3 on.
    let sum = one + two;
    sum - 3 * ((sum + 1) >> 2)
}

/// Packs digits, four in a byte: the k-th goes to bit `2 k`.
#[inline(always)]
pub(crate) fn pack<const N: usize>(digits: &[u8], bytes: &mut [u8; N]) {
    let mut fours = [0; N];
    for (four, digits) in fours.iter_mut().zip(digits.as_chunks::<4>().0) {
        // Each goes to its place in the lowest byte; what else there is stays above it.
        let digits = u32::from_le_bytes(*digits);
        *four = digits | digits >> 6 | digits >> 12 | digits >> 18;
    }
    for (byte, four) in bytes.iter_mut().zip(&fours) {
        *byte = *four as u8;
    }
}

/// The bit of a place in its byte.
const BIT: [u8; 256] = {
    let mut bits = [0; 256];
    let mut j = 0;
    while j < 256 {
        bits[j] = 1 << (j % 8);
        j += 1;
    }
    bits
};

/// Writes bits, the lowest one first, a byte for each.
#[inline(always)]
pub(crate) fn spread<const N: usize>(words: &[u64], bits: &mut [u8; N]) {
    for (bits, word) in bits.as_chunks_mut::<64>().0.iter_mut().zip(words) {
        for (bits, byte) in bits.as_chunks_mut::<8>().0.iter_mut().zip(word.to_le_bytes()) {
            *bits = [byte; 8];
        }
    }
    for (bit, mask) in bits.iter_mut().zip(&BIT) {
        *bit = nonzero(*bit & mask);
    }
}

/// The remainder of one number.
pub(crate) fn remainder(block: [Block; 1]) -> u8 {
    let mut digit = [0];
    remainders(&block, &mut digit);
    digit[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_remainders() {
        for number in [0, 1, 2, 3, u128::MAX, u128::MAX - 1, 1 << 64, 12_345_678_901_234_567_890_123] {
            assert_eq!(u128::from(remainder([Block::from_u128(number)])), number % 3);
        }
    }
}
