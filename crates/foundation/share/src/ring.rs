//! Words of k bits, 1 to 128, in additive shares: a word `x = x_0 + x_1` modulo 2^k has one share for each of
//! two parties, without a MAC. This is for parties that follow their protocol.
//!
//! A word, and a share of one, is a number below 2^k in a `u128`; whoever computes with them
//! [masks](word_mask) what is beyond. [`RingDealer`] makes what products take.

mod dealer;

pub use dealer::{MatrixProduct, MatrixTriples, RingDealer, RingTriples, WordProduct};

use zeroize::Zeroizing;

/// The number of bits of the widest words.
pub const WIDEST_WORD: u32 = 128;

/// The number whose lowest `bits` bits are one.
#[inline]
pub const fn word_mask(bits: u32) -> u128 {
    if bits == 0 { 0 } else { u128::MAX >> (WIDEST_WORD - bits) }
}

/// Writes words one after another, each in its own number of bits, without gaps: the form of shares on the
/// wire.
#[derive(Default)]
pub struct WordWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet.
    rest: u8,
    filled: u32,
}

impl WordWriter {
    /// A writer with room for `bits` bits.
    pub fn with_room(bits: usize) -> WordWriter {
        WordWriter { bytes: Vec::with_capacity(bits.div_ceil(8)), ..WordWriter::default() }
    }

    /// Appends a word of `bits` bits.
    #[inline]
    pub fn put(&mut self, word: u128, bits: u32) {
        let word = word & word_mask(bits);
        let first = u128::from(self.rest) | word << self.filled;
        let all = self.filled + bits;
        let whole = (all / 8) as usize;
        if all <= WIDEST_WORD {
            self.bytes.extend_from_slice(&first.to_le_bytes()[..whole]);
            self.rest = if whole < 16 { first.to_le_bytes()[whole] } else { 0 };
        } else {
            // More than 120 bits behind some that were left.
            self.bytes.extend_from_slice(&first.to_le_bytes());
            self.rest = (word >> (WIDEST_WORD - self.filled)) as u8;
        }
        self.filled = all % 8;
    }

    /// All bytes; the bits behind the last word are zero.
    pub fn finish(mut self) -> Vec<u8> {
        if self.filled > 0 {
            self.bytes.push(self.rest);
        }
        self.bytes
    }
}

/// Reads what a [`WordWriter`] wrote, from bytes of any content.
pub struct WordReader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
}

impl<'a> WordReader<'a> {
    /// A reader of these bytes, which must be exactly those that the words take.
    pub fn new(bytes: &'a [u8]) -> WordReader<'a> {
        WordReader { bytes, at: 0 }
    }

    /// The next word, of `bits` bits.
    ///
    /// # Panics
    /// If fewer bits are left.
    #[inline]
    pub fn take(&mut self, bits: u32) -> u128 {
        let (start, shift) = (self.at / 8, (self.at % 8) as u32);
        self.at += bits as usize;
        let bytes = &self.bytes[start..self.at.div_ceil(8)];
        let mut low = [0; 16];
        let first = bytes.len().min(16);
        low[..first].copy_from_slice(&bytes[..first]);
        let mut word = u128::from_le_bytes(low) >> shift;
        if let Some(&last) = bytes.get(16) {
            word |= u128::from(last) << (WIDEST_WORD - shift);
        }
        word & word_mask(bits)
    }
}

/// `n` zero words, wiped on drop.
pub(crate) fn zeros(n: usize) -> Zeroizing<Vec<u128>> {
    Zeroizing::new(vec![0; n])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_width_come_back_from_any_place() {
        let mut draw = 1u128;
        let mut words = Vec::new();
        for turn in 0..3000u32 {
            draw = draw.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(7);
            let bits = 1 + (draw >> 64) as u32 % 128;
            let bits = if turn % 3 == 0 { 128 - turn % 9 } else { bits };
            words.push((draw ^ draw >> 67, bits));
        }
        let mut to = WordWriter::with_room(10);
        words.iter().for_each(|&(word, bits)| to.put(word, bits));
        let bytes = to.finish();
        let bits: usize = words.iter().map(|(_, bits)| *bits as usize).sum();
        assert_eq!(bytes.len(), bits.div_ceil(8));
        let mut from = WordReader::new(&bytes);
        for (i, (word, bits)) in words.iter().enumerate() {
            assert_eq!(from.take(*bits), word & word_mask(*bits), "word {i} of {bits} bits");
        }
    }

    #[test]
    fn the_wire_is_little_endian_and_has_no_gaps() {
        let mut to = WordWriter::default();
        [(0b101, 3), (0x1ff, 9), (1, 4), (0xabcd, 16)].into_iter().for_each(|(word, bits)| to.put(word, bits));
        assert_eq!(to.finish(), [0b1111_1101, 0b0001_1111, 0xcd, 0xab]);
    }
}
