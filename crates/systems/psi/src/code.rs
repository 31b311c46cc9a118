//! A sorted list of masks on the wire: Golomb and Rice's code, with the quotients taken of the masks and not
//! of their differences (Elias and Fano), so that the length depends on the number of masks alone.
//!
//! `n` masks of `l` bits are cut to `h = log2(n)` upper and `l - h` lower bits. First comes, for each of the
//! `2^h` upper parts in order, a 1 for each mask that has it and a 0; then the lower parts. That is
//! `l - log2(n) + 2` bits a mask; differences would take 0.4 less, and a length that both sides would have to
//! be told. Each list has one encoding, and only what is one is taken.

use comity_channel::Channel;
use comity_core::Result;

use crate::masks::no_list;

/// Bytes received in one go, about.
const PIECE: usize = 1 << 16;

/// Masks handed on together, at most: a part of the first-level cache.
const TOGETHER: usize = 512;

/// The code of a sorted list of masks, on the wire and in files: for a number of masks of a length.
#[derive(Clone, Copy)]
pub struct MaskList {
    n: usize,
    /// Bits of the upper and of the lower part.
    upper: u32,
    lower: u32,
}

impl MaskList {
    /// The list of `n` masks of `bits` bits, 1 to 128.
    pub fn new(n: usize, bits: u32) -> MaskList {
        let upper = n.max(1).next_power_of_two().trailing_zeros().min(bits);
        MaskList { n, upper, lower: bits - upper }
    }

    /// The bytes of the two parts of a list.
    fn bytes(&self) -> [usize; 2] {
        if self.n == 0 {
            return [0; 2];
        }
        [(self.n + (1 << self.upper)).div_ceil(8), (self.n * self.lower as usize).div_ceil(8)]
    }

    /// The bytes of a list.
    #[allow(clippy::len_without_is_empty, reason = "a length in bytes")]
    pub fn len(&self) -> usize {
        self.bytes().iter().sum()
    }

    /// Sends masks in ascending order.
    ///
    /// # Errors
    /// Those of the channel.
    pub fn send(&self, ch: &mut dyn Channel, masks: &[u128]) -> Result<()> {
        self.write(masks, &mut |bytes| ch.send(bytes))
    }

    /// Writes masks in ascending order, piece by piece.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, masks: &[u128], out: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.write_all(masks.iter().copied(), out)
    }

    /// As [`write`](MaskList::write), wherever the masks are.
    pub(crate) fn write_all(
        &self,
        masks: impl ExactSizeIterator<Item = u128> + Clone,
        out: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        debug_assert!(masks.len() == self.n && masks.clone().is_sorted());
        let mut upper = vec![0u8; self.bytes()[0]];
        for (i, mask) in masks.clone().enumerate() {
            let at = i + self.upper_of(mask);
            upper[at / 8] |= 1 << (at % 8);
        }
        out(&upper)?;
        let mut writer = Writer { out: Vec::with_capacity(PIECE + 32), waiting: 0, bits: 0 };
        for mask in masks {
            writer.put(mask as u64, self.lower.min(64));
            writer.put((mask >> 64) as u64, self.lower.saturating_sub(64));
            if writer.out.len() >= PIECE {
                out(&writer.out)?;
                writer.out.clear();
            }
        }
        out(&writer.finish())
    }

    /// Receives masks, and hands them to `each`, some hundreds at a time.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the bytes are not the code of a sorted list; those of the channel.
    pub fn receive(&self, ch: &mut dyn Channel, each: impl FnMut(&[u128])) -> Result<()> {
        self.read(&mut |bytes| ch.recv(bytes), each)
    }

    /// Reads masks, and hands them to `each`, some hundreds at a time. `fill` fills a buffer with the next bytes.
    ///
    /// # Errors
    /// As [`MaskList::receive`], and those of `fill`.
    pub fn read(&self, fill: &mut dyn FnMut(&mut [u8]) -> Result<()>, mut each: impl FnMut(&[u128])) -> Result<()> {
        let [upper, lower] = self.bytes();
        // It grows as bytes come: the sender's word alone makes nobody reserve memory.
        let mut first = Vec::new();
        pieces(fill, upper, 1, |bytes| {
            first.extend_from_slice(bytes);
            Ok(())
        })?;
        self.check(&first)?;
        let (mut ones, mut rank, mut last) = (Ones::of(&first), 0, 0);
        let mut masks = [0; TOGETHER];
        // The next `count` masks, whose lower parts are these.
        let mut some = |bytes: &[u8], count: usize| {
            for from in (0..count).step_by(TOGETHER) {
                let masks = &mut masks[..TOGETHER.min(count - from)];
                for (at, mask) in (from..).zip(&mut *masks) {
                    let upper = ones.next().expect("there is a 1 for each mask") - rank;
                    rank += 1;
                    let lower = if self.lower == 0 { 0 } else { self.lower_at(bytes, at) };
                    *mask = (upper as u128).checked_shl(self.lower).unwrap_or(0) | lower;
                }
                if masks[0] < last || !masks.is_sorted() {
                    return Err(no_list("two masks are not in order"));
                }
                last = masks[masks.len() - 1];
                each(masks);
            }
            Ok(())
        };
        if self.lower == 0 {
            return some(&[], self.n);
        }
        let mut left = self.n;
        // Eight masks are whole bytes, so that no mask is in two pieces.
        pieces(fill, lower, self.lower as usize, |bytes| {
            let here = left.min(8 * bytes.len() / self.lower as usize);
            left -= here;
            some(bytes, here)?;
            let rest = 8 * bytes.len() - here * self.lower as usize;
            match bytes.last() {
                Some(last) if rest > 0 && last >> (8 - rest) != 0 => {
                    Err(no_list("there is something after the last mask"))
                }
                _ => Ok(()),
            }
        })
    }

    /// Finds masks in bytes that [`read`](MaskList::read) has accepted, without reading most of them:
    /// `sought` are in ascending order, and for each that is in the list `each` gets its place among those
    /// sought and its place in the list.
    ///
    /// # Panics
    /// If the bytes have another length than the list.
    pub fn find(&self, list: &[u8], sought: impl Iterator<Item = u128>, mut each: impl FnMut(usize, usize)) {
        let (upper, lower) = list.split_at(self.bytes()[0]);
        if self.n == 0 {
            return;
        }
        let lower_at = |rank| if self.lower == 0 { 0 } else { self.lower_at(lower, rank) };
        let mut zeros = Zeros { bits: upper, word: 0, before: 0 };
        for (nth, mask) in sought.enumerate() {
            let bucket = self.upper_of(mask);
            // Before the masks of an upper part is a zero for each smaller one, and all smaller masks.
            let start = zeros.after(bucket);
            let wanted = if self.lower == 128 { mask } else { mask & ((1 << self.lower) - 1) };
            let in_bucket = (start..8 * upper.len()).take_while(|at| upper[at / 8] >> (at % 8) & 1 == 1);
            let found = in_bucket.map(|at| at - bucket).find(|rank| lower_at(*rank) == wanted);
            found.into_iter().for_each(|rank| each(nth, rank));
        }
    }

    /// The lower part of the mask at a place in a list.
    #[inline(always)]
    fn lower_at(&self, lower: &[u8], rank: usize) -> u128 {
        let first = rank * self.lower as usize;
        let (byte, shift) = (first / 8, (first % 8) as u32);
        let mut value = word(lower, byte) >> shift;
        if shift + self.lower > 128 {
            value |= word(lower, byte + 16) << (128 - shift);
        }
        value & (u128::MAX >> (128 - self.lower))
    }

    /// The upper part of a mask.
    fn upper_of(&self, mask: u128) -> usize {
        mask.checked_shr(self.lower).unwrap_or(0) as usize
    }

    /// Checks that there is a 1 for each mask, a 0 after those of each upper part, and nothing else.
    fn check(&self, upper: &[u8]) -> Result<()> {
        let masks: usize = upper.iter().map(|byte| byte.count_ones() as usize).sum();
        if masks != self.n {
            return Err(no_list(&format!("it has {masks} masks and not {}", self.n)));
        }
        // With that many ones, what is left are the zeros, and those that fill the last byte; the last of the
        // list is a zero.
        let end = if self.n == 0 { 0 } else { self.n + (1 << self.upper) };
        match Ones::of(upper).last() {
            Some(last) if last + 1 >= end => Err(no_list("its last mask is too large")),
            _ => Ok(()),
        }
    }
}

/// A walk over bits from one zero to a later one.
struct Zeros<'a> {
    bits: &'a [u8],
    /// The word where the walk is, of 64 bits.
    word: usize,
    /// The zeros before that word.
    before: usize,
}

impl Zeros<'_> {
    fn at(&self, at: usize) -> u64 {
        word(self.bits, 8 * at) as u64
    }

    /// The place after the first `count` zeros, no fewer than were asked for before. Behind the end all are zeros.
    fn after(&mut self, count: usize) -> usize {
        if count == 0 {
            return 0;
        }
        while self.before + (self.at(self.word).count_zeros() as usize) < count {
            self.before += self.at(self.word).count_zeros() as usize;
            self.word += 1;
        }
        let mut zeros = !self.at(self.word);
        (self.before + 1..count).for_each(|_| zeros &= zeros.wrapping_sub(1));
        64 * self.word + zeros.trailing_zeros() as usize + 1
    }
}

/// The 128 bits that begin with a byte; behind the end all are zeros.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u128 {
    match bytes.get(at..).and_then(|bytes| bytes.first_chunk()) {
        Some(whole) => u128::from_le_bytes(*whole),
        None => last_word(bytes, at),
    }
}

/// As [`word`], at the end.
#[cold]
fn last_word(bytes: &[u8], at: usize) -> u128 {
    bytes.iter().skip(at).rev().fold(0, |word, &byte| word << 8 | u128::from(byte))
}

/// A walk over the places of ones, ascending.
struct Ones<'a> {
    bits: &'a [u8],
    /// The ones that are left of the word that begins with a byte.
    word: u128,
    byte: usize,
}

impl Ones<'_> {
    fn of(bits: &[u8]) -> Ones<'_> {
        Ones { bits, word: word(bits, 0), byte: 0 }
    }
}

impl Iterator for Ones<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.byte += 16;
            if self.byte >= self.bits.len() {
                return None;
            }
            self.word = word(self.bits, self.byte);
        }
        let place = 8 * self.byte + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(place)
    }
}

/// Receives `len` bytes piece by piece, each a multiple of `unit` but the last one.
pub(crate) fn pieces(
    fill: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    len: usize,
    unit: usize,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let piece = PIECE.next_multiple_of(unit);
    let mut buffer = vec![0; piece.min(len)];
    let mut left = len;
    while left > 0 {
        let bytes = &mut buffer[..piece.min(left)];
        fill(bytes)?;
        each(bytes)?;
        left -= bytes.len();
    }
    Ok(())
}

/// Bits on their way out, lowest first.
struct Writer {
    out: Vec<u8>,
    waiting: u128,
    bits: u32,
}

impl Writer {
    /// Appends the lowest `bits`, at most 64.
    fn put(&mut self, value: u64, bits: u32) {
        let value = if bits == 64 { value } else { value & ((1 << bits) - 1) };
        self.waiting |= u128::from(value) << self.bits;
        self.bits += bits;
        if self.bits >= 64 {
            self.out.extend_from_slice(&(self.waiting as u64).to_le_bytes());
            self.waiting >>= 64;
            self.bits -= 64;
        }
    }

    /// All bytes, the last one filled with zeros.
    fn finish(mut self) -> Vec<u8> {
        let rest = self.bits.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.waiting.to_le_bytes()[..rest]);
        self.out
    }
}

#[cfg(test)]
mod tests;
