//! `Bits`: a packed string of bits, least significant bit of each word first.

use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

/// A string of bits. Bit `i` is bit `i % 64` of word `i / 64`; the bits past the end of the last word are zero.
///
/// Bits are often somebody's secret input: `Debug` shows the length only, and the storage is wiped on drop.
#[derive(Clone, Default, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// `len` zero bits.
    pub fn zeros(len: usize) -> Bits {
        Bits { words: vec![0; len.div_ceil(64)], len }
    }

    /// The first `len` bits of `bytes`, bit `i` being bit `i % 8` of byte `i / 8`.
    ///
    /// # Panics
    /// If `bytes` holds fewer than `len` bits.
    pub fn from_bytes(bytes: &[u8], len: usize) -> Bits {
        assert!(bytes.len() * 8 >= len, "{len} bits wanted from {} bytes", bytes.len());
        let mut bits = Bits::zeros(len);
        for (i, &byte) in bytes.iter().take(len.div_ceil(8)).enumerate() {
            bits.words[i / 8] |= u64::from(byte) << (8 * (i % 8));
        }
        bits.clear_tail();
        bits
    }

    /// The bits as bytes, the last one padded with zeros.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.truncate(self.len.div_ceil(8));
        bytes
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Sets bit `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    #[inline]
    pub fn set(&mut self, i: usize, bit: bool) {
        assert!(i < self.len, "bit {i} of {}", self.len);
        let word = &mut self.words[i / 64];
        *word = *word & !(1 << (i % 64)) | u64::from(bit) << (i % 64);
    }

    /// Appends a bit.
    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.len += 1;
        self.set(self.len - 1, bit);
    }

    /// The bits in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = bool> + '_ {
        (0..self.len).map(|i| self.get(i))
    }

    /// The packed words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// `len` bits from `start` on.
    ///
    /// # Panics
    /// If the range is out of range.
    pub fn slice(&self, start: usize, len: usize) -> Bits {
        assert!(start + len <= self.len, "bits {start}..{} of {}", start + len, self.len);
        (start..start + len).map(|i| self.get(i)).collect()
    }

    /// Appends other bits.
    pub fn extend_from(&mut self, other: &Bits) {
        for bit in other.iter() {
            self.push(bit);
        }
    }

    fn clear_tail(&mut self) {
        if !self.len.is_multiple_of(64) {
            if let Some(last) = self.words.last_mut() {
                *last &= (1 << (self.len % 64)) - 1;
            }
        }
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(iter: I) -> Bits {
        let mut bits = Bits::default();
        for bit in iter {
            bits.push(bit);
        }
        bits
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bits({} bits)", self.len)
    }
}
