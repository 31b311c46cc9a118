//! COPEe: products of elements with one that stays the same, by OT extension with errors (Keller, Orsini,
//! Scholl, CCS 2016, ePrint 2016/505, figure 3), over trees of seeds (Roy, Crypto 2022, sections 3 and 5).
//!
//! **Functionality**: the sender has elements `x`, the receiver one `delta` for all of them, which is a share
//! of a MAC key. The sender gets `t` and the receiver `q` with `t + q = x delta`. **Adversary**: either
//! party. A corrupt sender may use another `x` for each [`TREE`] digits of `delta`: that is the error, which
//! [inputs](crate::FieldDealer::authenticated) check for.
//!
//! *Initialize*: an OT for each digit of `delta`, in which the receiver chooses by it. Here they are hashed
//! bits of a checked extension, in which everybody chooses alike towards all
//! ([`Joint`](comity_share::Joint)): so a share of the key is the same towards all. For each [`TREE`] of the
//! digits they become a [tree](Forest): the sender has all seeds, the receiver all but that with the digits'
//! number. The receiver checks the trees: a sender that made one otherwise is seen, but for a guess of digits.
//!
//! *Extend*, for each tree, with the elements that [its streams](Streams) give: 1. the sender has their sum `u` and
//! for each digit `v`, and says `d = u + x`. 2. The receiver has `v - delta_i u` for each digit, and adds `d` where
//! the digit is set: it has `v + delta_i x`. 3. Both compose what they have over the digits.
//!
//! In the figure each digit has a tree of its own, and a correction: with trees of four a fourth of the bytes, for
//! twice the work.
//!
//! **Cost**: [`BITS`](Field::BITS) / [`TREE`] elements from the sender for each `x`, and 2^[`TREE`] times as many
//! blocks of streams at both. Streams never restart, and seeds are used for nothing else.

use comity_core::{Backend, Result};
use comity_ot::softspoken::Forest;
use zeroize::Zeroizing;

use crate::field::{Field, Streams, TREE};
use crate::sum_share::MacKey;

/// Elements that are worked on at a time, so that they stay in the first-level cache.
pub(crate) const PIECE: usize = 256;

/// The sender of products: has elements.
pub(crate) struct CopeSender<F: Field> {
    backend: Backend,
    trees: Vec<F::Streams>,
}

/// The receiver of products: has a share of the MAC key.
pub(crate) struct CopeReceiver<F: Field> {
    backend: Backend,
    trees: Vec<F::Streams>,
    pub(crate) key: MacKey<F>,
}

/// The streams of the trees of a forest.
fn streams<F: Field>(backend: Backend, forest: &Forest) -> Vec<F::Streams> {
    forest.trees().map(|seeds| F::Streams::new(backend, seeds)).collect()
}

/// A sum of streams, and a row for each digit of a tree, for a piece.
type Rows<F> = Zeroizing<Vec<[F; PIECE]>>;

fn rows<F: Field>() -> Rows<F> {
    Zeroizing::new(vec![[F::ZERO; PIECE]; 1 + TREE])
}

/// The sums and the rows of `n` elements.
fn of<F: Field>(rows: &mut Rows<F>, n: usize) -> (&mut [F], &mut [F]) {
    let (sum, rows) = rows.as_flattened_mut().split_at_mut(PIECE);
    (&mut sum[..n], &mut rows[..TREE * n])
}

impl<F: Field> CopeSender<F> {
    /// *Initialize*, from all seeds.
    pub(crate) fn new(backend: Backend, forest: &Forest) -> CopeSender<F> {
        CopeSender { backend, trees: streams::<F>(backend, forest) }
    }

    /// *Extend*: appends the message for these elements, and writes `t` to `out`.
    pub(crate) fn extend(&mut self, x: &[F], out: &mut [F], message: &mut Vec<u8>) {
        message.reserve(message_bytes::<F>(x.len()));
        let mut room = rows::<F>();
        for (x, t) in x.chunks(PIECE).zip(out.chunks_mut(PIECE)) {
            t.fill(F::ZERO);
            let (sum, rows) = of(&mut room, x.len());
            // From the highest digits on.
            for tree in self.trees.iter_mut().rev() {
                tree.fill(sum, rows);
                F::horner(self.backend, t, rows);
                sum.iter_mut().zip(x).for_each(|(sum, x)| *sum = sum.plus(*x));
                F::write(sum, message);
            }
            t.iter_mut().for_each(|t| *t = F::ZERO.minus(*t));
        }
    }
}

impl<F: Field> CopeReceiver<F> {
    /// *Initialize*, from all seeds but those that the key names.
    pub(crate) fn new(backend: Backend, forest: &Forest, key: MacKey<F>) -> CopeReceiver<F> {
        CopeReceiver { backend, trees: streams::<F>(backend, forest), key }
    }

    /// *Extend*: writes `q` for the peer's message to `out`.
    pub(crate) fn extend(&mut self, message: &[u8], out: &mut [F]) -> Result<()> {
        let mut room = rows::<F>();
        let key = self.key.element();
        let mut rest = message;
        for q in out.chunks_mut(PIECE) {
            q.fill(F::ZERO);
            let n = q.len();
            let (heard, rows) = of(&mut room, n);
            for (i, tree) in self.trees.iter_mut().enumerate().rev() {
                let said;
                (said, rest) = rest.split_at(n * F::BYTES);
                tree.fill(heard, rows);
                F::read(said, heard)?;
                for (digit, row) in (TREE * i..).zip(rows.chunks_exact_mut(n)) {
                    F::add_masked(key.bit(digit), heard, row);
                }
                F::horner(self.backend, q, rows);
            }
        }
        Ok(())
    }
}

/// Bytes of the message for `elements` elements.
pub(crate) fn message_bytes<F: Field>(elements: usize) -> usize {
    elements * F::BITS / TREE * F::BYTES
}
