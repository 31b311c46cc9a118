//! The rho-probe matrix: how the evaluator's input is encoded, so that aborts tell nothing about it (section 4.1).
//!
//! A garbler who sends one good and one bad label for a bit learns the bit from whether the evaluator aborts.
//! Hence the evaluator does not put in its input y but a uniform y' with y = E y', and the circuit computes E
//! y' first. If the sum of any rows of E, one or more, has at least rho ones, then any rho - 1 bits of y' are
//! uniform and independent, whatever y is. A garbler who spoils labels of fewer than rho bits learns nothing.
//! One who spoils more stays unnoticed with probability at most 2^-(rho - 1), and that only for some y: two
//! inputs can be told apart with no more than that. (A simulator that does not know y lets half of it pass,
//! and is off by 2^-rho: that is what the protocol's bound counts.) The matrix protects the evaluator only.
//!
//! E = \[M | I\]: with the identity a uniform y' is found by choosing the part under M freely. M is a
//! published constant, the output of BLAKE3 for rho and its size, with enough [`columns`] that a random
//! matrix fails with probability at most 2^-rho; that probability is over the choice of the constant, once
//! and for all, and nobody's choice enters it. (At a rho of a few bits, which only tests take, some of these
//! matrices are bad: of those for a rho up to 12 and up to 14 rows eight have a sum with rho - 1 ones, the
//! last that for rho = 8 and 14 rows.)
//!
//! An input is cut into as few equal chunks as have at most [`CHUNK`] bits, each encoded by the same matrix; a last
//! chunk that is shorter takes the first rows, of which any sum is one of the whole matrix. So an input rests on one
//! matrix being good. A fresh one for each chunk would be as cheap, but the probabilities would add, and log2(chunks)
//! bits of rho be lost. (A session with inputs of several sizes rests on as many matrices.)
//!
//! *Cost.* The paper takes chunks of 232 bits for rho = 40, with c = 2 bits of y' for a bit of y. Larger chunks have
//! fewer columns for each row, which saves oblivious transfers and labels; and the XORs for a bit do not grow with the
//! rows but with the columns, 230 at 232 rows and 323 at 2048. Hence 2048: c = 1.16 for large inputs.

mod bound;
mod matrix;

use std::ops::Range;

use comity_core::{Bits, Block};
use rand_core::CryptoRng;

pub(crate) use bound::columns;
use matrix::Matrix;

/// The most bits that are encoded together. Twice as many would save 6 per cent of y' for 11 per cent more XORs.
const CHUNK: usize = 2048;

/// The encoding of the evaluator's inputs of one length.
///
/// An encoded chunk is the part under M, then as many bits as the chunk has; the encoded chunks follow each other.
pub struct Probe {
    bits: usize,
    rows: usize,
    matrix: Matrix,
}

impl Probe {
    /// The encoding of inputs of `bits` bits against a garbler that may succeed with probability 2^-rho.
    pub fn new(rho: u32, bits: usize) -> Probe {
        Probe::with_chunk(rho, bits, CHUNK)
    }

    fn with_chunk(rho: u32, bits: usize, most: usize) -> Probe {
        let chunks = bits.div_ceil(most).max(1);
        let rows = bits.div_ceil(chunks).max(1);
        Probe { bits, rows, matrix: Matrix::new(rho, rows, columns(rho, rows)) }
    }

    /// Bits of an input.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Bits of an encoded input: `m`, the number of bits that the evaluator's input costs.
    pub fn encoded(&self) -> usize {
        self.bits + self.bits.div_ceil(self.rows) * self.matrix.columns()
    }

    /// A uniform encoding of an input.
    ///
    /// # Panics
    /// If the input has another length.
    pub fn encode(&self, y: &Bits, rng: &mut dyn CryptoRng) -> Bits {
        assert_eq!(y.len(), self.bits, "the input's length");
        let mut encoded = Bits::default();
        for chunk in self.chunks() {
            let masks = self.matrix.random(rng);
            let masked = chunk.enumerate().map(|(row, bit)| y.get(bit) ^ self.matrix.product(row, &masks));
            encoded.extend_from(&masks.bits().chain(masked).collect());
        }
        encoded
    }

    /// The input of an encoding.
    ///
    /// # Panics
    /// If the encoding has another length.
    pub fn decode(&self, encoded: &Bits) -> Bits {
        assert_eq!(encoded.len(), self.encoded(), "the encoding's length");
        let mut y = Bits::default();
        let mut at = 0;
        for chunk in self.chunks() {
            let masks = self.matrix.pack((at..).map(|bit| encoded.get(bit)));
            at += self.matrix.columns();
            let bits = (0..chunk.len()).map(|row| encoded.get(at + row) ^ self.matrix.product(row, &masks));
            y.extend_from(&bits.collect());
            at += chunk.len();
        }
        y
    }

    /// Decodes labels, `width` of them a bit, one for each copy: row `i` of `out` becomes the sum of the rows of
    /// `encoded` that row `i` of E names. Which memory is read depends on the matrix alone.
    ///
    /// # Panics
    /// If there are not `width` labels for each bit of an encoded input, and of an input.
    pub fn decode_rows(&self, width: usize, encoded: &[Block], out: &mut [Block]) {
        assert_eq!(encoded.len(), width * self.encoded(), "the labels of an encoded input");
        assert_eq!(out.len(), width * self.bits, "the labels of an input");
        let mut rest = encoded;
        for chunk in self.chunks() {
            let (encoded, later) = rest.split_at(width * self.encoded_chunk(&chunk));
            self.decode_chunk(width, encoded, 0, &mut out[width * chunk.start..width * chunk.end]);
            rest = later;
        }
    }

    /// Decodes the labels of a chunk, or of only some of its bits: those from bit `first` of the chunk on.
    pub(crate) fn decode_chunk(&self, width: usize, encoded: &[Block], first: usize, out: &mut [Block]) {
        let (masks, masked) = encoded.split_at(width * self.matrix.columns());
        out.copy_from_slice(&masked[width * first..][..out.len()]);
        self.matrix.add_products(width, masks, first, out);
    }

    /// The bits of each chunk.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.bits).step_by(self.rows).map(|start| start..self.bits.min(start + self.rows))
    }

    /// Bits of a chunk that is encoded.
    pub(crate) fn encoded_chunk(&self, chunk: &Range<usize>) -> usize {
        self.matrix.columns() + chunk.len()
    }

    /// The most bits of a chunk that is encoded.
    pub(crate) fn largest_chunk(&self) -> usize {
        self.chunks().map(|chunk| self.encoded_chunk(&chunk)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
