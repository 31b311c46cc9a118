//! The OTs of a chunk on their way to products of words: [`Gilboa`].
//!
//! All sums are running ones: of the OTs' messages nothing is kept but, of the word whose OTs are under way,
//! what is to be told.

use std::iter;
use std::num::Wrapping;
use std::ops::{Add, AddAssign, BitAnd, BitOr, Mul, Shl, Shr, Sub, SubAssign};

use comity_core::{Backend, Block};
use zeroize::{Zeroize, Zeroizing};

use super::{WIDEST_WORD, WordReader, WordWriter, word_mask, zeros};
use crate::triples::OtSink;

/// What words of some widths are computed in: numbers modulo 2^64, or modulo 2^128.
pub trait Modular:
    Copy
    + Default
    + Zeroize
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + SubAssign
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
{
    /// The number, as far as there is room.
    fn low(number: u128) -> Self;
    /// The number.
    fn wide(self) -> u128;
}

impl Modular for Wrapping<u64> {
    #[inline(always)]
    fn low(number: u128) -> Self {
        Wrapping(number as u64)
    }

    #[inline(always)]
    fn wide(self) -> u128 {
        self.0.into()
    }
}

impl Modular for Wrapping<u128> {
    #[inline(always)]
    fn low(number: u128) -> Self {
        Wrapping(number)
    }

    #[inline(always)]
    fn wide(self) -> u128 {
        self.0
    }
}

/// Words, wiped on drop.
pub(super) type Words<W> = Zeroizing<Vec<W>>;

/// Shares of products of both parties' words.
pub(super) struct Cross<W: Zeroize> {
    /// Shares of the products of this party's words with the other's.
    pub(super) sent: Words<W>,
    /// This party's random words.
    pub(super) b: Words<W>,
    /// Shares of the products of `b` with the other's words.
    pub(super) heard: Words<W>,
}

/// The OTs of a chunk on their way to products: those of the lowest bits of a word come first, word after
/// word.
pub(super) struct Gilboa<'a, W: Modular> {
    bits: usize,
    own: &'a [W],
    sent: Words<W>,
    heard: Words<W>,
    /// How many OTs were sent and received so far.
    done: [usize; 2],
    /// What is told of the word whose OTs are under way.
    under_way: Zeroizing<[W; WIDEST_WORD as usize]>,
    told: WordWriter,
    choices: Zeroizing<Vec<u64>>,
}

impl<'a, W: Modular> Gilboa<'a, W> {
    pub(super) fn new(bits: usize, own: &'a [W]) -> Gilboa<'a, W> {
        Gilboa {
            bits,
            own,
            sent: zeros(own.len()),
            heard: zeros(own.len()),
            done: [0; 2],
            under_way: Zeroizing::new([W::low(0); WIDEST_WORD as usize]),
            told: WordWriter::with_room(own.len() * (bits * (bits + 1) / 2)),
            choices: Zeroizing::default(),
        }
    }

    /// This party's message.
    pub(super) fn say(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.told).finish()
    }

    /// Step 1 ends with this: the `k - i` bits that each bit `i` of a word asks for, two in `k` bits.
    fn tell(&mut self) {
        let (k, u) = (self.bits, &self.under_way);
        let mask = |bits: usize| W::low(word_mask(bits as u32));
        self.told.put(u[0].wide(), k as u32);
        for i in 1..k.div_ceil(2) {
            self.told.put((u[i] & mask(k - i) | u[k - i] << (k - i)).wide(), k as u32);
        }
        if k.is_multiple_of(2) {
            self.told.put(u[k / 2].wide(), k as u32 / 2);
        }
    }

    /// Steps 2 and 3 of the receiver, with the other's message.
    pub(super) fn hear(&mut self, told: &[u8]) -> Cross<W> {
        let (k, mut told) = (self.bits, WordReader::new(told));
        let mut b = zeros(self.own.len());
        let mut heard = std::mem::replace(&mut self.heard, zeros(0));
        for (word, (b, heard)) in b.iter_mut().zip(heard.iter_mut()).enumerate() {
            let choices = W::low(bits_from(&self.choices, word * k, k));
            // The sender's number if the bit is one, at its place.
            let chosen = |u: W, i: usize| (u & (W::low(0) - (choices >> i & W::low(1)))) << i;
            let mut take = |bits: usize| W::low(told.take(bits as u32));
            *heard += chosen(take(k), 0);
            for i in 1..k.div_ceil(2) {
                // What of the other number is above the bits of this one, the shift takes beyond the word.
                let both = take(k);
                *heard += chosen(both, i) + chosen(both >> (k - i), k - i);
            }
            if k.is_multiple_of(2) {
                *heard += chosen(take(k / 2), k / 2);
            }
            *b = choices;
        }
        Cross { sent: std::mem::replace(&mut self.sent, zeros(0)), b, heard }
    }
}

/// The OTs from number `first` on, `n` of them, word by word: the word, the bit of the first one, and which ones
/// they are.
fn by_words(k: usize, first: usize, n: usize) -> impl Iterator<Item = (usize, usize, std::ops::Range<usize>)> {
    let mut at = 0;
    iter::from_fn(move || {
        let (word, bit) = ((first + at) / k, (first + at) % k);
        let from = at;
        at += (k - bit).min(n - at);
        (from < at).then_some((word, bit, from..at))
    })
}

/// `n` bits from bit `from` on.
fn bits_from(words: &[u64], from: usize, n: usize) -> u128 {
    let (word, shift) = (from / 64, from % 64);
    let at = |word: usize| u128::from(words.get(word).copied().unwrap_or(0));
    let low = (at(word) | at(word + 1) << 64) >> shift;
    let high = if shift == 0 { 0 } else { at(word + 2) << (128 - shift) };
    (low | high) & word_mask(n as u32)
}

impl<W: Modular> OtSink for Gilboa<'_, W> {
    // Step 1, and step 3 of the sender.
    fn sent(&mut self, _: Backend, pairs: &[[Block; 2]]) {
        for (word, bit, range) in by_words(self.bits, self.done[0], pairs.len()) {
            let (own, mut sum, end) = (self.own[word], W::low(0), bit + range.len());
            for ((u, [zero, one]), i) in self.under_way[bit..end].iter_mut().zip(&pairs[range]).zip(bit..) {
                let (zero, one) = (W::low(zero.to_u128()), W::low(one.to_u128()));
                *u = zero - one + own;
                sum += zero << i;
            }
            self.sent[word] -= sum;
            if end == self.bits {
                self.tell();
            }
        }
        self.done[0] += pairs.len();
    }

    // Step 2 without the other's message, and step 3.
    fn received(&mut self, _: Backend, messages: &[Block]) {
        for (word, bit, range) in by_words(self.bits, self.done[1], messages.len()) {
            let sums = messages[range].iter().zip(bit..).map(|(message, i)| W::low(message.to_u128()) << i);
            self.heard[word] += sums.fold(W::low(0), W::add);
        }
        self.done[1] += messages.len();
    }

    fn choices(&mut self, words: &[u64]) {
        self.choices.extend_from_slice(words);
    }
}
