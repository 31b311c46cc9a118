//! Products of shared matrices, by random OTs that each serve a whole row.
//!
//! **How**. As for words, each party sends its words of one matrix, and the choice bits of the OTs that it
//! receives are its words of the other one. A word `a` of the matrix whose bits choose is in the products
//! with all words of one row of the other matrix; so the messages of an OT are stretched to as many words
//! `r_0` and `r_1` as the row has, and the sender tells `r_0 - r_1 + y` for each word `y` of it. The choice
//! bits are those of the first matrix, with the rows of the second one; or, where the product has more rows
//! than columns, those of the second one, with the columns of the first one.
//!
//! A message of an OT is cut into words if they are not more than its bits; else it is the seed of a
//! generator that makes them, and no word itself.
//!
//! **Cost** of a product of m rows and n columns by n rows and p columns, of words of k bits: `n k min(m, p)`
//! OTs each way, and `n m p k (k + 1) / 2` bits each way. Products one by one take `m n p k` OTs for the same
//! bits.

use std::num::Wrapping;
use std::ops::Range;

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Block, Prg, Result};
use zeroize::Zeroizing;

use super::RingDealer;
use crate::ring::gilboa::Cross;
use crate::ring::{WIDEST_WORD, WordReader, WordWriter, word_mask, zeros};
use crate::triples::{CHUNK, OtSink};

/// A product of shared matrices: m rows and n columns by n rows and p columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatrixProduct {
    /// The bits of the words.
    pub bits: u32,
    /// The rows of the first matrix.
    pub m: u32,
    /// The columns of the first matrix, and the rows of the second one.
    pub n: u32,
    /// The columns of the second matrix.
    pub p: u32,
}

impl MatrixProduct {
    /// The number of words in the first factor, in the second and in the product.
    pub const fn words(self) -> [usize; 3] {
        let [m, n, p] = [self.m as usize, self.n as usize, self.p as usize];
        [m * n, n * p, m * p]
    }

    /// The number of words whose bits are choices of OTs, and the number of words in the row that each of them
    /// is multiplied by.
    pub const fn rows(self) -> [usize; 2] {
        let [m, n, p] = [self.m as usize, self.n as usize, self.p as usize];
        if m <= p { [m * n, p] } else { [p * n, m] }
    }

    /// The most words whose bits are the choices of one chunk: it takes no more memory than a chunk of
    /// products.
    pub const fn chunk(self) -> usize {
        let most = CHUNK / self.bits as usize / self.rows()[1].div_ceil(8);
        if most == 0 { 1 } else { most }
    }

    /// The bits that a sender sends for one word of choices, besides the OTs.
    pub const fn told(self) -> u64 {
        let bits = self.bits as u64;
        self.rows()[1] as u64 * (bits * (bits + 1) / 2)
    }
}

/// The material of products of matrices, each of which can be used once: shares of random matrices and of
/// their products, row after row and one product after another. Wiped on drop.
#[derive(Default)]
pub struct MatrixTriples {
    a: Zeroizing<Vec<u128>>,
    b: Zeroizing<Vec<u128>>,
    c: Zeroizing<Vec<u128>>,
}

impl MatrixTriples {
    /// Whether no product is left.
    pub fn is_empty(&self) -> bool {
        self.c.is_empty()
    }

    /// Uses up the last `n` of these products, or all if there are fewer, and returns their number. They go to
    /// `to`, which is for one use.
    pub fn take(&mut self, what: MatrixProduct, n: usize, to: &mut MatrixTriples) -> usize {
        let [_, _, product] = what.words();
        let (all, n) = (self.c.len() / product, n.min(self.c.len() / product));
        let parts = [(&mut self.a, &mut to.a), (&mut self.b, &mut to.b), (&mut self.c, &mut to.c)];
        for ((from, to), words) in parts.into_iter().zip(what.words()) {
            let left = (all - n) * words;
            to.extend_from_slice(&from[left..]);
            from[left..].fill(0);
            from.truncate(left);
        }
        n
    }

    /// The shares of the first factors, of the second ones and of the products.
    pub fn shares(&self) -> [&[u128]; 3] {
        [&self.a, &self.b, &self.c]
    }
}

impl RingDealer {
    /// Triples for `count` products of matrices. Both parties ask for the same, in the same order.
    ///
    /// # Errors
    /// Errors of the extension and of the channel; after one, every further call is refused.
    ///
    /// # Panics
    /// If the words have no bits or more than 128, or if the matrices have no words.
    pub fn deal_matrices(&mut self, net: &mut Mesh<'_>, what: MatrixProduct, count: usize) -> Result<MatrixTriples> {
        assert!((1..=WIDEST_WORD).contains(&what.bits), "words of {} bits", what.bits);
        assert!(what.m > 0 && what.n > 0 && what.p > 0, "{what:?} has no words");
        let ([choosing, row], n, mask) = (what.rows(), what.n as usize, word_mask(what.bits));
        let (mut chooses, mut products) = (zeros(count * choosing), zeros::<u128>(count * choosing / n * row));
        // The row of each word that chooses, of all products one after another.
        let rows = self.draw::<Wrapping<u128>>(what.bits, count * n * row);
        let rows = Zeroizing::new(rows.iter().map(|word| word.0).collect::<Vec<u128>>());
        let row_of = |word: usize| &rows[(word / choosing * n + word % n) * row..][..row];
        for start in (0..count * choosing).step_by(what.chunk()) {
            let words = start..(start + what.chunk()).min(count * choosing);
            let cross = self.cross_rows(net, what, words.clone(), &row_of)?;
            for (i, word) in words.enumerate() {
                chooses[word] = cross.b[i];
                let own = row_of(word).iter().map(|y| y.wrapping_mul(cross.b[i]));
                let parts = cross.sent[i * row..].iter().zip(&cross.heard[i * row..]).zip(own);
                for (product, ((sent, heard), own)) in products[word / n * row..][..row].iter_mut().zip(parts) {
                    *product = product.wrapping_add(*sent).wrapping_add(*heard).wrapping_add(own) & mask;
                }
            }
        }
        if what.m <= what.p {
            return Ok(MatrixTriples { a: chooses, b: rows, c: products });
        }
        // All of it the other way round: the second matrix chose, of which columns were rows.
        let a = transposed(&rows, [n, row]);
        let (b, c) = (transposed(&chooses, [choosing / n, n]), transposed(&products, [choosing / n, row]));
        Ok(MatrixTriples { a, b, c })
    }

    /// Shares of the products of words that choose, those of the other party at each, with rows.
    fn cross_rows<'r>(
        &mut self,
        net: &mut Mesh<'_>,
        what: MatrixProduct,
        words: Range<usize>,
        row_of: &dyn Fn(usize) -> &'r [u128],
    ) -> Result<Cross<u128>> {
        let (me, parties) = (net.me(), net.parties());
        let mut ots = PerPeer::new(me, parties, |_| RowOts::new(what, words.clone(), row_of));
        self.links.chunk(net, words.len() * what.bits as usize, &mut ots)?;
        let mut out = PerPeer::new(me, parties, |_| Vec::new());
        for (peer, ots) in ots.iter_mut() {
            out[peer] = std::mem::take(&mut ots.told).finish();
        }
        let mut into = PerPeer::new(me, parties, |peer| vec![0; out[peer].len()]);
        net.exchange(&out, &mut into)?;
        let (_, ots) = ots.iter_mut().next().expect("one of two parties");
        let (_, told) = into.iter().next().expect("one of two parties");
        Ok(ots.hear(told))
    }
}

/// Matrices of this many rows and columns, one after another, with rows and columns exchanged.
fn transposed(words: &[u128], [rows, columns]: [usize; 2]) -> Zeroizing<Vec<u128>> {
    let of_one = |matrix: &[u128]| -> Vec<u128> {
        (0..rows * columns).map(|at| matrix[at % rows * columns + at / rows]).collect()
    };
    let mut all = zeros(words.len());
    for (matrix, to) in words.chunks(rows * columns).zip(all.chunks_mut(rows * columns)) {
        to.copy_from_slice(&Zeroizing::new(of_one(matrix)));
    }
    all
}

/// The words that a message of an OT is stretched to.
fn stretched(backend: Backend, message: Block, bits: u32, words: &mut [u128]) {
    let of_block = (WIDEST_WORD / bits) as usize;
    let cut = |block: Block, words: &mut [u128]| {
        let block = block.to_u128();
        words.iter_mut().zip((0..).step_by(bits as usize)).for_each(|(word, at)| *word = block >> at);
    };
    if words.len() <= of_block {
        return cut(message, words);
    }
    let mut prg = Prg::new(backend, message);
    words.chunks_mut(of_block).for_each(|words| cut(prg.block(), words));
}

/// The OTs of a chunk on their way to products of rows: those of the lowest bits of words come first, word
/// after word.
struct RowOts<'a, 'r> {
    what: MatrixProduct,
    words: Range<usize>,
    row_of: &'a dyn Fn(usize) -> &'r [u128],
    sent: Zeroizing<Vec<u128>>,
    /// The OTs that were sent so far: which word, which bit.
    next: (usize, u32),
    /// This party's messages.
    told: WordWriter,
    /// The messages that this party chose, and what they are stretched with.
    chosen: Zeroizing<Vec<Block>>,
    backend: Backend,
    choices: Zeroizing<Vec<u64>>,
}

impl<'a, 'r> RowOts<'a, 'r> {
    fn new(what: MatrixProduct, words: Range<usize>, row_of: &'a dyn Fn(usize) -> &'r [u128]) -> RowOts<'a, 'r> {
        let (count, [_, row]) = (words.len(), what.rows());
        let told = WordWriter::with_room(count * what.told() as usize);
        let chosen = Zeroizing::new(Vec::with_capacity(count * what.bits as usize));
        let (sent, backend, choices) = (zeros(count * row), Backend::detect(), Zeroizing::default());
        RowOts { what, words, row_of, sent, next: (0, 0), told, chosen, backend, choices }
    }

    /// The receiver's part.
    fn hear(&mut self, told: &[u8]) -> Cross<u128> {
        let (bits, [_, row]) = (self.what.bits, self.what.rows());
        let (mut b, mut heard, mut told) =
            (zeros(self.words.len()), zeros::<u128>(self.sent.len()), WordReader::new(told));
        let mut message = zeros(row);
        for (word, (b, heard)) in b.iter_mut().zip(heard.chunks_mut(row)).enumerate() {
            for i in 0..bits {
                let ot = word * bits as usize + i as usize;
                let choice = u128::from(self.choices[ot / 64] >> (ot % 64) & 1);
                *b |= choice << i;
                stretched(self.backend, self.chosen[ot], bits, &mut message);
                for (heard, message) in heard.iter_mut().zip(message.iter()) {
                    let share = message.wrapping_add(told.take(bits - i) & choice.wrapping_neg());
                    *heard = heard.wrapping_add(share << i) & word_mask(bits);
                }
            }
        }
        Cross { sent: std::mem::take(&mut self.sent), b, heard }
    }
}

impl OtSink for RowOts<'_, '_> {
    fn sent(&mut self, backend: Backend, pairs: &[[Block; 2]]) {
        let (bits, [_, row]) = (self.what.bits, self.what.rows());
        let (mut zero_row, mut one_row) = (zeros(row), zeros(row));
        let (mut word, mut i) = self.next;
        for [zero, one] in pairs {
            stretched(backend, *zero, bits, &mut zero_row);
            stretched(backend, *one, bits, &mut one_row);
            let own = (self.row_of)(self.words.start + word);
            let sent = &mut self.sent[word * row..][..row];
            for (((zero, one), own), sent) in zero_row.iter().zip(one_row.iter()).zip(own).zip(sent) {
                self.told.put(zero.wrapping_sub(*one).wrapping_add(*own), bits - i);
                *sent = sent.wrapping_sub(zero << i) & word_mask(bits);
            }
            i += 1;
            if i == bits {
                (word, i) = (word + 1, 0);
            }
        }
        self.next = (word, i);
    }

    fn received(&mut self, backend: Backend, messages: &[Block]) {
        self.backend = backend;
        self.chosen.extend_from_slice(messages);
    }

    fn choices(&mut self, words: &[u64]) {
        self.choices.extend_from_slice(words);
    }
}
