//! Words of k bits, 1 to 128, in additive shares: a word `x = x_0 + x_1` modulo 2^k has one share for each of
//! two parties, without a MAC. This is for parties that follow their protocol.
//!
//! A word, and a share of one, is a number below 2^k in a `u128`; whoever computes with them
//! [masks](word_mask) what is beyond. [`RingDealer`] makes what products take.

mod dealer;
mod gilboa;

pub use dealer::{MatrixProduct, MatrixTriples, RingDealer, RingTriples, WordProduct};
pub use gilboa::Modular;

use zeroize::{Zeroize, Zeroizing};

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
    /// Bits that do not fill eight bytes yet, fewer than 64.
    rest: u64,
    filled: u32,
}

impl WordWriter {
    /// A writer with room for `bits` bits.
    pub fn with_room(bits: usize) -> WordWriter {
        WordWriter { bytes: Vec::with_capacity(bits.div_ceil(64) * 8), ..WordWriter::default() }
    }

    /// As [`with_room`](WordWriter::with_room), in memory that had other bytes.
    pub fn with_room_in(mut bytes: Vec<u8>, bits: usize) -> WordWriter {
        bytes.clear();
        bytes.reserve(bits.div_ceil(64) * 8);
        WordWriter { bytes, ..WordWriter::default() }
    }

    /// Appends a word of `bits` bits.
    #[inline]
    pub fn put(&mut self, word: u128, bits: u32) {
        let low = bits.min(64);
        self.put_half(word as u64, low);
        self.put_half((word >> 64) as u64, bits - low);
    }

    /// Appends words of `bits` bits each.
    pub fn put_all(&mut self, words: &[u128], bits: u32) {
        match (self.filled, bits) {
            (0, 8) => self.put_bytes::<1>(words),
            (0, 16) => self.put_bytes::<2>(words),
            (0, 32) => self.put_bytes::<4>(words),
            (0, 64) => self.put_bytes::<8>(words),
            (0, 128) => self.put_bytes::<16>(words),
            _ => words.iter().for_each(|word| self.put(*word, bits)),
        }
    }

    /// Appends the lower `BYTES` bytes of each word.
    fn put_bytes<const BYTES: usize>(&mut self, words: &[u128]) {
        let start = self.bytes.len();
        self.bytes.resize(start + BYTES * words.len(), 0);
        for (to, word) in self.bytes[start..].as_chunks_mut::<BYTES>().0.iter_mut().zip(words) {
            to.copy_from_slice(&word.to_le_bytes()[..BYTES]);
        }
    }

    #[inline(always)]
    fn put_half(&mut self, word: u64, bits: u32) {
        if bits == 0 {
            return;
        }
        let word = word & u64::MAX >> (64 - bits);
        self.rest |= word << self.filled;
        self.filled += bits;
        if self.filled >= 64 {
            self.bytes.extend_from_slice(&self.rest.to_le_bytes());
            self.filled -= 64;
            self.rest = word.checked_shr(bits - self.filled).unwrap_or(0);
        }
    }

    /// All bytes; the bits behind the last word are zero.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.extend_from_slice(&self.rest.to_le_bytes()[..self.filled.div_ceil(8) as usize]);
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

    /// A reader of what comes after the next `bits` bits.
    pub fn after(&self, bits: usize) -> WordReader<'a> {
        WordReader { bytes: self.bytes, at: self.at + bits }
    }

    /// The next word, of `bits` bits.
    ///
    /// # Panics
    /// If fewer bits are left.
    #[inline]
    pub fn take(&mut self, bits: u32) -> u128 {
        let (start, shift) = (self.at / 8, (self.at % 8) as u32);
        self.at += bits as usize;
        let bytes = &self.bytes[start..];
        let low = match bytes.first_chunk() {
            Some(low) => *low,
            None => {
                let mut low = [0; 16];
                low[..bytes.len()].copy_from_slice(bytes);
                low
            }
        };
        let mut word = u128::from_le_bytes(low) >> shift;
        if bits + shift > WIDEST_WORD {
            word |= u128::from(bytes[16]) << (WIDEST_WORD - shift);
        }
        assert!(self.at <= 8 * self.bytes.len(), "a word of {bits} bits is taken, and fewer are left");
        word & word_mask(bits)
    }

    /// Adds to each of these words, of `bits` bits, the next one.
    ///
    /// # Panics
    /// If fewer bits are left.
    pub fn add_all(&mut self, words: &mut [u128], bits: u32) {
        match (self.at % 8, bits) {
            (0, 8) => self.add_bytes::<1>(words),
            (0, 16) => self.add_bytes::<2>(words),
            (0, 32) => self.add_bytes::<4>(words),
            (0, 64) => self.add_bytes::<8>(words),
            (0, 128) => self.add_bytes::<16>(words),
            _ => words.iter_mut().for_each(|word| *word = word.wrapping_add(self.take(bits)) & word_mask(bits)),
        }
    }

    /// Adds to each of these words, of `BYTES` bytes, the next one.
    fn add_bytes<const BYTES: usize>(&mut self, words: &mut [u128]) {
        let from = &self.bytes[self.at / 8..][..BYTES * words.len()];
        for (word, from) in words.iter_mut().zip(from.as_chunks::<BYTES>().0) {
            let mut other = [0; 16];
            other[..BYTES].copy_from_slice(from);
            *word = word.wrapping_add(u128::from_le_bytes(other)) & word_mask(8 * BYTES as u32);
        }
        self.at += 8 * BYTES * words.len();
    }
}

/// `n` zero words, wiped on drop.
pub(crate) fn zeros<T: Clone + Default + Zeroize>(n: usize) -> Zeroizing<Vec<T>> {
    Zeroizing::new(vec![T::default(); n])
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
