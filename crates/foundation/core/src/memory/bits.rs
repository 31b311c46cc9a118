//! `Bits`: a packed string of bits, least significant bit of each word first.

use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A string of bits. Bit `i` is bit `i % 64` of word `i / 64`; the bits past the end of the last word are zero.
///
/// Bits are often a party's secret input: `Debug` shows only the length, strings of one length are compared
/// in constant time, and the storage is wiped on drop and when it is outgrown.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// A string of `len` zero bits.
    pub fn zeros(len: usize) -> Bits {
        Bits { words: vec![0; len.div_ceil(64)], len }
    }

    /// The string of the first `len` bits of `bytes`, bit `i` being bit `i % 8` of byte `i / 8`.
    ///
    /// # Panics
    /// If `bytes` holds fewer than `len` bits.
    pub fn from_bytes(bytes: &[u8], len: usize) -> Bits {
        let used = len.div_ceil(8);
        assert!(bytes.len() >= used, "{len} bits wanted from {} bytes", bytes.len());
        let word = |chunk: &[u8]| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        };
        Bits::from_words(bytes[..used].chunks(8).map(word).collect(), len)
    }

    /// The string of the first `len` bits of `words`.
    ///
    /// # Panics
    /// If `words` holds fewer than `len` bits.
    pub fn from_words(mut words: Vec<u64>, len: usize) -> Bits {
        let used = len.div_ceil(64);
        assert!(words.len() >= used, "{len} bits wanted from {} words", words.len());
        words[used..].zeroize();
        words.truncate(used);
        let mut bits = Bits { words, len };
        bits.clear_tail();
        bits
    }

    /// The bits as bytes, the last one padded with zeros.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.truncate(self.len.div_ceil(8));
        bytes
    }

    /// The number in `len` bits, the least significant first; `None` if it does not fit.
    pub fn from_u128(number: u128, len: usize) -> Option<Bits> {
        let fits = len >= 128 || number >> len == 0;
        fits.then(|| Bits::from_words(vec![number as u64, (number >> 64) as u64], len.min(128))).map(|mut bits| {
            bits.extend_from(&Bits::zeros(len.saturating_sub(128)));
            bits
        })
    }

    /// The number with these bits, the first one the least significant; `None` if it does not fit 128 bits.
    pub fn to_u128(&self) -> Option<u128> {
        let word = |i: usize| u128::from(self.words().get(i).copied().unwrap_or(0));
        self.words().iter().skip(2).all(|&word| word == 0).then(|| word(0) | word(1) << 64)
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
        self.append(u64::from(bit), 1);
    }

    /// The bits in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = bool> + '_ {
        (0..self.len).map(|i| self.get(i))
    }

    /// The packed words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The string of `len` bits from `start` on.
    ///
    /// # Panics
    /// If the range goes beyond the last bit.
    pub fn slice(&self, start: usize, len: usize) -> Bits {
        assert!(start <= self.len && len <= self.len - start, "{len} bits from {start} on of {}", self.len);
        let word = |i: usize| self.words.get(i).copied().unwrap_or(0);
        let (first, shift) = (start / 64, start % 64);
        // Two shifts, since one by 64 would not shift.
        let words = (first..first + len.div_ceil(64)).map(|i| word(i) >> shift | word(i + 1) << 1 << (63 - shift));
        Bits::from_words(words.collect(), len)
    }

    /// Appends other bits.
    pub fn extend_from(&mut self, other: &Bits) {
        self.reserve(other.len);
        for (i, &word) in other.words.iter().enumerate() {
            self.append(word, (other.len - 64 * i).min(64));
        }
    }

    /// Adds other bits modulo two, each to the one at the same place.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn xor_assign(&mut self, other: &Bits) {
        assert_eq!(self.len, other.len, "only strings of one length are added");
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word ^= other;
        }
    }

    /// Appends the low `count` bits of `word`, 1 to 64 of them; its other bits are zero.
    #[inline]
    fn append(&mut self, word: u64, count: usize) {
        let shift = self.len % 64;
        if shift == 0 {
            self.reserve(64);
            self.words.push(word);
        } else {
            *self.words.last_mut().expect("a string that ends inside a word has a word") |= word << shift;
            if shift + count > 64 {
                self.reserve(64);
                self.words.push(word >> (64 - shift));
            }
        }
        self.len += count;
    }

    /// Makes room for `more` bits, and wipes the old storage if it is outgrown.
    fn reserve(&mut self, more: usize) {
        let needed = (self.len + more).div_ceil(64);
        if needed > self.words.capacity() {
            let mut grown = Vec::with_capacity(needed.max(2 * self.words.len()));
            grown.extend_from_slice(&self.words);
            core::mem::replace(&mut self.words, grown).zeroize();
        }
    }

    fn clear_tail(&mut self) {
        if let (Some(last), tail @ 1..) = (self.words.last_mut(), self.len % 64) {
            *last &= (1 << tail) - 1;
        }
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(iter: I) -> Bits {
        let iter = iter.into_iter();
        let mut bits = Bits::default();
        bits.reserve(iter.size_hint().0);
        let (mut word, mut count) = (0, 0);
        for bit in iter {
            word |= u64::from(bit) << count;
            count += 1;
            if count == 64 {
                bits.append(word, 64);
                (word, count) = (0, 0);
            }
        }
        if count > 0 {
            bits.append(word, count);
        }
        bits
    }
}

impl PartialEq for Bits {
    fn eq(&self, other: &Bits) -> bool {
        self.len == other.len && self.words.ct_eq(&other.words).into()
    }
}

impl Eq for Bits {}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bits({} bits)", self.len)
    }
}

macro_rules! from_integers {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Bits {
            /// All bits of the number, the least significant first.
            fn from(number: $ty) -> Bits {
                Bits::from_bytes(&number.to_le_bytes(), <$ty>::BITS as usize)
            }
        }
    )*};
}

from_integers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);
