//! `BitShares`: one party's XOR shares of bits, packed.
//!
//! A bit `x = x_0 + x_1 + ...` (sums of bits are XORs) has one share for each party, without a MAC: a party
//! that shows another share than it has changes the bit, and nobody notices. This is for parties that follow
//! their protocol.

use comity_core::{Backend, Vectorize};
use zeroize::Zeroize;

/// A string of shares: share `i` is bit `i % 64` of word `i / 64`, and the bits after the last share are
/// zero. Wiped on drop; when it grows, the memory that it leaves is wiped, too.
#[derive(Default)]
pub struct BitShares {
    words: Vec<u64>,
    len: usize,
}

impl BitShares {
    /// No shares, with room for `shares` of them.
    pub fn with_room(shares: usize) -> BitShares {
        BitShares { words: Vec::with_capacity(shares.div_ceil(64)), len: 0 }
    }

    /// The shares that are the first `len` bits of these words.
    ///
    /// # Panics
    /// If there are not exactly the words that `len` bits take.
    pub fn from_words(words: Vec<u64>, len: usize) -> BitShares {
        assert_eq!(words.len(), len.div_ceil(64), "the words of {len} bits");
        let mut shares = BitShares { words, len };
        shares.clear_tail();
        shares
    }

    /// The shares that are the first `len` bits of these bytes.
    ///
    /// # Panics
    /// If there are fewer bits.
    pub fn from_bytes(bytes: &[u8], len: usize) -> BitShares {
        let mut shares = BitShares::default();
        shares.resize(len);
        shares.put_in(&bytes[..len.div_ceil(8)]);
        shares
    }

    /// Overwrites the shares by the bits of these bytes.
    ///
    /// # Panics
    /// If there are not exactly the bytes that the shares take.
    pub fn put_in(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.len.div_ceil(8), "the bytes of {} bits", self.len);
        let (whole, rest) = bytes.as_chunks::<8>();
        self.words.iter_mut().zip(whole).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.words[whole.len()] = u64::from_le_bytes(last);
        }
        self.clear_tail();
    }

    /// Writes the shares into exactly the bytes that they take.
    ///
    /// # Panics
    /// If there are more bytes than the shares take.
    pub fn put_bytes(&self, to: &mut [u8]) {
        let (whole, rest) = to.as_chunks_mut::<8>();
        whole.iter_mut().zip(&self.words).for_each(|(to, word)| *to = word.to_le_bytes());
        if !rest.is_empty() {
            rest.copy_from_slice(&self.words[whole.len()].to_le_bytes()[..rest.len()]);
        }
    }

    /// Adds the bits of these bytes. Bits after the last share are ignored.
    pub fn add_bytes(&mut self, backend: Backend, bytes: &[u8]) {
        backend.vectorize(AddBytes(&mut self.words, bytes));
        self.clear_tail();
    }

    /// The number of shares.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no shares.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The packed words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The packed words, to be written. Bits after the last share stay zero.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Share `i`.
    ///
    /// # Panics
    /// If there are not more than `i` shares.
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "share {i} of {}", self.len);
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// A copy of the shares. There is no `Clone`, so that the code shows where a secret is copied.
    #[must_use]
    pub fn copy(&self) -> BitShares {
        BitShares { words: self.words.clone(), len: self.len }
    }

    /// Adds one to each share: the bits are complemented if exactly one party does so.
    pub fn complement(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.clear_tail();
    }

    /// Removes all shares and keeps the memory, which is overwritten by later shares, or wiped on drop.
    pub fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    /// Sets the number of shares; new ones are zero.
    pub fn resize(&mut self, len: usize) {
        let words = len.div_ceil(64);
        self.reserve(words.saturating_sub(self.words.len()));
        self.words.resize(words, 0);
        self.len = len;
        self.clear_tail();
    }

    /// Appends the first `count` bits of these words.
    ///
    /// # Panics
    /// If the words have fewer bits.
    #[inline]
    pub fn push(&mut self, words: &[u64], count: usize) {
        if count == 0 {
            return;
        }
        let words = &words[..count.div_ceil(64)];
        let (shift, end) = (self.len % 64, self.len + count);
        self.reserve(words.len());
        if shift == 0 {
            self.words.extend_from_slice(words);
        } else {
            let last = self.words.last_mut().expect("a string that ends inside a word has a word");
            *last |= words[0] << shift;
            self.words.extend(words.windows(2).map(|two| two[0] >> (64 - shift) | two[1] << shift));
            self.words.push(words[words.len() - 1] >> (64 - shift));
            self.words.truncate(end.div_ceil(64));
        }
        self.len = end;
        self.clear_tail();
    }

    /// Copies the `count` shares from `start` on to the front of these words; the bits after them in their
    /// last word are zero.
    ///
    /// # Panics
    /// If there are fewer shares, or `out` has no room for them.
    #[inline]
    pub fn copy_to(&self, start: usize, count: usize, out: &mut [u64]) {
        assert!(start <= self.len && count <= self.len - start, "{count} shares from {start} on of {}", self.len);
        copy_bits(&self.words, start, count, out);
    }

    /// Appends the `count` shares from `start` on of another string.
    ///
    /// # Panics
    /// If there are fewer shares.
    pub fn push_from(&mut self, other: &BitShares, start: usize, count: usize) {
        const WORDS: usize = 64;
        let mut words = [0; WORDS];
        for at in (0..count).step_by(64 * WORDS) {
            let now = (64 * WORDS).min(count - at);
            other.copy_to(start + at, now, &mut words);
            self.push(&words, now);
        }
        words.zeroize();
    }

    /// Makes room for `more` more words; memory that is given up is wiped.
    fn reserve(&mut self, more: usize) {
        let needed = self.words.len() + more;
        if needed > self.words.capacity() {
            let mut grown = Vec::with_capacity(needed.max(2 * self.words.len()));
            grown.extend_from_slice(&self.words);
            std::mem::replace(&mut self.words, grown).zeroize();
        }
    }

    fn clear_tail(&mut self) {
        if let (Some(last), tail @ 1..) = (self.words.last_mut(), self.len % 64) {
            *last &= (1 << tail) - 1;
        }
    }
}

/// Adds bytes to words, the last of which may have fewer.
struct AddBytes<'a>(&'a mut [u64], &'a [u8]);

impl Vectorize for AddBytes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (whole, rest) = self.1.as_chunks::<8>();
        self.0.iter_mut().zip(whole).for_each(|(word, bytes)| *word ^= u64::from_le_bytes(*bytes));
        if !rest.is_empty() {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            self.0[whole.len()] ^= u64::from_le_bytes(bytes);
        }
    }
}

/// Copies the `count` bits from `start` on to the front of other words; the bits after them in their last
/// word are zero.
///
/// # Panics
/// If there are fewer bits, or `out` has no room for them.
#[inline]
pub fn copy_bits(words: &[u64], start: usize, count: usize, out: &mut [u64]) {
    if count == 0 {
        return;
    }
    let out = &mut out[..count.div_ceil(64)];
    let (from, shift) = (&words[start / 64..], start % 64);
    if shift == 0 {
        out.copy_from_slice(&from[..out.len()]);
    } else {
        let inner = out.len().min(from.len() - 1);
        for (out, two) in out.iter_mut().zip(from.windows(2)) {
            *out = two[0] >> shift | two[1] << (64 - shift);
        }
        if inner < out.len() {
            out[inner] = from[inner] >> shift;
        }
    }
    if !count.is_multiple_of(64) {
        out[count / 64] &= (1 << (count % 64)) - 1;
    }
}

impl Drop for BitShares {
    fn drop(&mut self) {
        // All of the memory, also what a shorter string no longer covers.
        self.words.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words whose bits are all over the place.
    fn noise(words: usize) -> Vec<u64> {
        (1..=words as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32)).collect()
    }

    fn bits(words: &[u64], start: usize, count: usize) -> Vec<bool> {
        (start..start + count).map(|i| words[i / 64] >> (i % 64) & 1 == 1).collect()
    }

    #[test]
    fn pieces_of_any_length_come_back_from_any_place() {
        let words = noise(40);
        let lengths = [1, 63, 64, 65, 128, 1, 200, 0, 7, 512, 1000, 64];
        let (mut shares, mut all) = (BitShares::default(), Vec::new());
        for len in lengths {
            shares.push(&words, len);
            all.extend(bits(&words, 0, len));
            assert_eq!((shares.len(), shares.words().len()), (all.len(), all.len().div_ceil(64)));
        }
        assert_eq!(bits(shares.words(), 0, shares.len()), all);
        for start in [0, 1, 63, 64, 100, 1999] {
            for count in [0, 1, 64, 65, 70, 105] {
                let mut out = [u64::MAX; 2];
                shares.copy_to(start, count, &mut out);
                let used = 64 * count.div_ceil(64);
                assert_eq!(bits(&out, 0, used)[..count], all[start..start + count], "{start} {count}");
                assert!(!bits(&out, 0, used)[count..].contains(&true), "{start} {count}");
            }
        }
        let mut copied = BitShares::default();
        copied.push(&[1], 1);
        copied.push_from(&shares, 3, all.len() - 3);
        assert_eq!(bits(copied.words(), 1, all.len() - 3), all[3..]);
    }

    #[test]
    fn bytes_come_back_and_are_added() {
        for len in [1_usize, 8, 9, 63, 64, 65, 200] {
            let words = noise(len.div_ceil(64));
            let shares = BitShares::from_words(words.clone(), len);
            let mut bytes = vec![0; len.div_ceil(8)];
            shares.put_bytes(&mut bytes);
            assert_eq!(BitShares::from_bytes(&bytes, len).words(), shares.words());
            for backend in Backend::available() {
                let mut sum = BitShares::from_words(words.iter().map(|word| !word).collect(), len);
                *bytes.last_mut().unwrap() |= (0xfe_u32 << ((len - 1) % 8)) as u8;
                sum.add_bytes(backend, &bytes);
                assert_eq!(sum.words(), BitShares::from_words(vec![u64::MAX; len.div_ceil(64)], len).words());
            }
        }
    }

    #[test]
    fn what_comes_after_the_last_share_is_zero() {
        let mut shares = BitShares::from_words(vec![u64::MAX; 2], 70);
        assert_eq!(shares.words()[1], 63);
        shares.resize(65);
        assert_eq!(shares.words()[1], 1);
        shares.resize(200);
        assert_eq!(shares.words(), [u64::MAX, 1, 0, 0]);
        shares.clear();
        shares.push(&[u64::MAX], 3);
        assert_eq!((shares.words(), shares.get(2)), (&[7][..], true));
    }
}
