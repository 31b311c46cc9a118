//! `ErasureCode`: the part of many messages from which a receiver that knows some of them gets the others
//! (Reed and Solomon, 1960).
//!
//! The receiver of `t` garbled circuits evaluates `e` of them, and makes the other `t - e` again from their seeds. The
//! sender may not learn which, and need not send all (Afshar, Mohassel, Pinkas, Riva, Eurocrypt 2014, section 5): the
//! bytes at one position of the messages are the values at 1, ..., t of a polynomial of degree below t over GF(2^8),
//! and what is sent are its values at t + 1, ..., t + e. These and any t - e messages determine it.
//!
//! The code corrects no errors: what was decoded must be held against a hash of each message.
//!
//! *Cost.* `e t` products of a byte for each position, on either side; with GFNI 64 of them are one instruction.

use crate::arch::Backend;
use crate::arch::erasure::{Matrix, Rows, multiply};
use crate::memory::block::Block;

/// The code and the sender's side of it: it makes `coded` messages out of `messages`.
pub struct ErasureCode {
    backend: Backend,
    messages: usize,
    coded: usize,
    matrix: Matrix,
}

/// The receiver's side, for one choice of the messages that it does not know.
///
/// Neither the time of decoding nor the addresses that it reads depend on the choice, except for the
/// addresses that the caller passes.
pub struct ErasureDecoder {
    known: usize,
    missing: usize,
    matrix: Matrix,
}

impl ErasureCode {
    /// The most messages, those sent included: the non-zero elements of the field.
    pub const MAX: usize = 255;

    /// The pairs of a number of circuits `t` and of evaluated ones `e` for which the chance to guess which
    /// are evaluated is at most 2^-rho: `C(t, e) >= 2^rho`. They are the pairs that no other pair beats in
    /// both numbers, from the fewest circuits to the fewest evaluated, as far as the code goes.
    ///
    /// # Panics
    /// If `rho` is more than 127.
    pub fn pairs(rho: u32) -> Vec<(usize, usize)> {
        assert!(rho < u128::BITS, "a chance of 2^-{rho}");
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        // Row t of Pascal's triangle. What would be 2^128 or more stays below it, and above any 2^rho.
        let mut row = vec![1u128];
        for t in 1..ErasureCode::MAX {
            row = (0..=t)
                .map(|e| below(&row, e).saturating_add(e.checked_sub(1).map_or(0, |e| below(&row, e))))
                .collect();
            let fewest = row.iter().position(|&ways| ways >= 1 << rho);
            let fewer = |e: &usize| pairs.last().is_none_or(|&(_, before)| *e < before);
            if let Some(e) = fewest.filter(fewer).filter(|e| t + e <= ErasureCode::MAX) {
                pairs.push((t, e));
            }
        }
        pairs
    }

    /// The code for `messages` messages of which `coded` are unknown to the receiver.
    ///
    /// # Panics
    /// If `coded` is more than `messages`, or both together are more than [`MAX`](ErasureCode::MAX).
    pub fn new(backend: Backend, messages: usize, coded: usize) -> ErasureCode {
        assert!(coded <= messages, "{coded} of {messages} messages unknown");
        assert!(
            messages + coded <= ErasureCode::MAX,
            "{messages} + {coded} points of a field with {}",
            ErasureCode::MAX
        );
        let points = |range: core::ops::Range<usize>| range.map(|place| place as u8 + 1).collect::<Vec<u8>>();
        let entries = interpolation(&points(0..messages), &points(messages..messages + coded));
        ErasureCode { backend, messages, coded, matrix: Matrix::new(backend, messages, &entries) }
    }

    /// The number of messages, `t`.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// The number of messages that are sent, `e`.
    pub fn coded(&self) -> usize {
        self.coded
    }

    /// Writes the coded messages for a stretch of all messages.
    ///
    /// # Panics
    /// If the number of messages is wrong, or their lengths differ.
    pub fn encode(&self, messages: &[&[u8]], coded: &mut [&mut [u8]]) {
        self.matrix.apply(messages, coded);
    }

    /// Encodes as [`encode`](ErasureCode::encode), with the messages side by side: rows with a block of each
    /// message, as lockstep garbling leaves them.
    ///
    /// # Panics
    /// If the two are not the same whole number of rows.
    pub fn encode_rows(&self, messages: &[Block], coded: &mut [Block]) {
        self.matrix.apply_rows(&[Rows { rows: messages, width: self.messages }], coded);
    }

    /// The decoder for a receiver that knows all messages but these, by their numbers from 0 in ascending order.
    ///
    /// # Panics
    /// If `missing` is not [`coded`](ErasureCode::coded) numbers of messages, in ascending order.
    pub fn decoder(&self, missing: &[usize]) -> ErasureDecoder {
        assert_eq!(missing.len(), self.coded, "as many messages missing as were sent");
        assert!(missing.is_sorted_by(|a, b| a < b), "ascending numbers");
        assert!(missing.last().is_none_or(|&last| last < self.messages), "a message of {}", self.messages);
        let point = |place: usize| place as u8 + 1;
        let known = (0..self.messages).filter(|place| !missing.contains(place));
        let from: Vec<u8> = known.chain(self.messages..self.messages + self.coded).map(point).collect();
        let to: Vec<u8> = missing.iter().map(|&place| point(place)).collect();
        let matrix = Matrix::new(self.backend, self.messages, &interpolation(&from, &to));
        ErasureDecoder { known: self.messages - self.coded, missing: self.coded, matrix }
    }
}

impl ErasureDecoder {
    /// Writes the missing messages, given the known ones and those sent, all in order.
    ///
    /// # Panics
    /// If the number of messages is wrong, or their lengths differ.
    pub fn decode(&self, known: &[&[u8]], coded: &[&[u8]], missing: &mut [&mut [u8]]) {
        assert_eq!((known.len(), coded.len()), (self.known, self.missing), "known and coded messages");
        self.matrix.apply(&[known, coded].concat(), missing);
    }

    /// Decodes as [`decode`](ErasureDecoder::decode), each of the three with its messages side by side.
    ///
    /// # Panics
    /// If the three are not the same whole number of rows.
    pub fn decode_rows(&self, known: &[Block], coded: &[Block], missing: &mut [Block]) {
        let (known, coded) = (Rows { rows: known, width: self.known }, Rows { rows: coded, width: self.missing });
        self.matrix.apply_rows(&[known, coded], missing);
    }
}

/// The matrix that takes the values of a polynomial at the points `from` to those at the points `to`, all
/// different: its entries are the Lagrange polynomials, without a branch on the points.
fn interpolation(from: &[u8], to: &[u8]) -> Vec<u8> {
    let product = |factors: &mut dyn Iterator<Item = u8>| factors.fold(1, multiply);
    // Differences are sums in this field. That of a point with itself is made one.
    let others = |s: u8| product(&mut from.iter().map(|&j| s ^ j).map(|d| d | (u8::from(d == 0))));
    let weights: Vec<u8> = from.iter().map(|&s| others(s)).collect();
    let mut entries = Vec::with_capacity(from.len() * to.len());
    for &x in to {
        let all = product(&mut from.iter().map(|&j| x ^ j));
        entries.extend(from.iter().zip(&weights).map(|(&s, &weight)| multiply(all, inverse(multiply(x ^ s, weight)))));
    }
    entries
}

/// The inverse of `x`, `x^254`, and zero for zero.
fn inverse(x: u8) -> u8 {
    // 254 = 2 + 4 + ... + 128
    let mut power = x;
    (0..7).fold(1, |product, _| {
        power = multiply(power, power);
        multiply(product, power)
    })
}

/// An entry of a row of Pascal's triangle, zero past its end.
fn below(row: &[u128], e: usize) -> u128 {
    row.get(e).copied().unwrap_or(0)
}
