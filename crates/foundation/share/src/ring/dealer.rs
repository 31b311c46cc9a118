//! What products of shared words take: multiplication triples and square pairs, by Gilboa's products over
//! random OTs.
//!
//! **How** (Gilboa, Crypto 1999; on random OTs as in Demmler, Schneider, Zohner, NDSS 2015, section III-A).
//! With `a = a_0 + a_1` and `b = b_0 + b_1`, `ab` has the terms `a_0 b_0` and `a_1 b_1`, which a party has,
//! and two of both parties. For each of these one party is the sender, with `a`, and the other one the
//! receiver, whose `b` is the choice bits of its random OTs. In OT `i`, with messages `r_0` and `r_1`:
//! 1. the sender tells `u_i = r_0 - r_1 + a`, modulo 2^(k-i), which the message that the receiver lacks masks;
//! 2. the receiver has `r_0 + b_i a`: its message, plus `u_i` if its bit is one;
//! 3. the sum of these times 2^i is its share, and minus that of the `r_0` the sender's.
//!
//! *Square pairs*: `a² = a_0² + a_1² + 2 a_0 a_1`, one such product of k - 1 bits; each party is the sender
//! of every other pair.
//!
//! **Hashed**: `r_0` and `r_1` are of hashed correlations. In raw ones they differ by delta, the same in all,
//! and `u_i` would be no secret.
//!
//! *On the wire*, of a word: `u_0`; each `u_i` with `u_(k-i)` above it, k bits both, `i` from 1 on; if k is even
//! `u_(k/2)`. So words of 64 bits are written as such.
//!
//! **Adversary**: semi-honest. A sender that takes another `a` in one OT than in the others makes a product
//! wrong by what depends on a bit of the other's `b`.
//!
//! **Cost** of a triple: k OTs each way and k (k + 1) / 2 bits each way; of a square pair k - 1 OTs and
//! `k (k - 1) / 2` bits one way. Two messages each way for [`CHUNK`] OTs.

mod matrix;

use std::num::Wrapping;

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Block, Prg, Result, SessionId};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, SemiHonest};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

pub use matrix::{MatrixProduct, MatrixTriples};

use super::gilboa::{Cross, Gilboa, Modular, Words};
use super::{WordReader, word_mask};
use crate::triples::{CHUNK, Links, OtKind};

/// A product of shared words, as far as its material depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WordProduct {
    /// The bits of the words.
    pub bits: u32,
    /// Whether both factors are one word.
    pub square: bool,
}

impl WordProduct {
    /// The OTs that a sender sends for one product.
    pub const fn ots(self) -> u32 {
        if self.square { self.bits - 1 } else { self.bits }
    }

    /// The most products for which a chunk has the OTs that a party sends. In a square, each party is the
    /// sender for every other product.
    pub const fn chunk(self) -> usize {
        let ots = if self.ots() == 0 { 1 } else { self.ots() as usize };
        CHUNK / ots / 128 * 128
    }

    /// The bits that a sender sends for one product besides the OTs.
    pub const fn told(self) -> u64 {
        let ots = self.ots() as u64;
        ots * (ots + 1) / 2
    }
}

/// The material of products of one kind, each part of which can be used once: shares of random `a`, `b` and
/// `c = ab`, or for squares of `a` and `c = a²`. Wiped on drop.
#[derive(Default)]
pub struct RingTriples {
    a: Zeroizing<Vec<u128>>,
    b: Zeroizing<Vec<u128>>,
    c: Zeroizing<Vec<u128>>,
}

impl RingTriples {
    /// The triples of these shares; for squares `b` is empty.
    ///
    /// # Panics
    /// If the numbers of shares differ.
    pub fn new(a: Vec<u128>, b: Vec<u128>, c: Vec<u128>) -> RingTriples {
        assert!(a.len() == c.len() && [0, a.len()].contains(&b.len()), "triples have three shares each, squares two");
        let [a, b, c] = [a, b, c].map(Zeroizing::new);
        RingTriples { a, b, c }
    }

    /// The number of triples.
    pub fn len(&self) -> usize {
        self.c.len()
    }

    /// Whether no triple is left.
    pub fn is_empty(&self) -> bool {
        self.c.is_empty()
    }

    /// Uses up `n` triples, or all if there are fewer. They go to `to`, which is for one use.
    pub fn take(&mut self, n: usize, to: &mut RingTriples) {
        if to.is_empty() && n >= self.len() {
            *to = std::mem::take(self);
            return;
        }
        let left = self.len().saturating_sub(n);
        for (from, to) in [(&mut self.a, &mut to.a), (&mut self.b, &mut to.b), (&mut self.c, &mut to.c)] {
            let left = left.min(from.len());
            to.extend_from_slice(&from[left..]);
            from[left..].fill(0);
            from.truncate(left);
        }
    }

    /// The shares of `a`, of `b` and of `c`.
    pub fn shares(&self) -> [&[u128]; 3] {
        [&self.a, &self.b, &self.c]
    }

    /// Shares of products, of whose factors both parties learn `d = x - a` and `e = y - b`, or of squares `d` alone:
    /// `c + d b + e a + d e`, or `c + 2 d a + d²`, the last term at the `first` party. `d` and `e` are this party's
    /// shares of these, and become them; `theirs` has the other party's, first those of `d`. The triples are used up;
    /// the memory of `a` and `b`, and what is in it, comes back.
    ///
    /// # Panics
    /// If there are not as many factors as triples, or `theirs` has fewer.
    pub fn products(
        self,
        what: WordProduct,
        [d, e]: [&mut [u128]; 2],
        theirs: &mut WordReader<'_>,
        first: bool,
    ) -> [Zeroizing<Vec<u128>>; 3] {
        let of_squares = usize::from(!what.square);
        let [of_a, of_b] = [self.len(), self.len() * of_squares];
        assert!([d.len(), e.len(), self.b.len()] == [of_a, of_b, of_b], "a triple for the factors of each product");
        let RingTriples { a, b, mut c } = self;
        let mut of_e = theirs.after(d.len() * what.bits as usize);
        // Of each some at a time: they are in the cache until they are used up.
        for at in (0..c.len()).step_by(TILE) {
            let tile = at..c.len().min(at + TILE);
            let of_b = if what.square { 0..0 } else { tile.clone() };
            let (d, e) = (&mut d[tile.clone()], &mut e[of_b.clone()]);
            theirs.add_all(d, what.bits);
            of_e.add_all(e, what.bits);
            let (c, a, b) = (&mut c[tile.clone()], &a[tile], &b[of_b]);
            if what.bits <= u64::BITS {
                products_in::<Wrapping<u64>>(what, [a, b, d, e], first, c);
            } else {
                products_in::<Wrapping<u128>>(what, [a, b, d, e], first, c);
            }
        }
        *theirs = of_e;
        [c, a, b]
    }
}

/// Words that are computed with at a time.
const TILE: usize = 512;

/// Adds to each `c` what makes it a share of a product, from `a`, `b`, `d` and `e`.
fn products_in<W: Modular>(what: WordProduct, [a, b, d, e]: [&[u128]; 4], first: bool, c: &mut [u128]) {
    let (mask, both) = (word_mask(what.bits), W::low(first.into()));
    let of_a = c.iter_mut().zip(a.iter().zip(d));
    if what.square {
        for (c, (a, d)) in of_a {
            let [old, a, d] = [*c, *a, *d].map(W::low);
            *c = (old + d * ((a << 1) + both * d)).wide() & mask;
        }
    } else {
        for ((c, (a, d)), (b, e)) in of_a.zip(b.iter().zip(e)) {
            let [old, a, b, d, e] = [*c, *a, *b, *d, *e].map(W::low);
            *c = (old + d * (b + both * e) + e * a).wide() & mask;
        }
    }
}

/// Makes triples and square pairs between two parties.
pub struct RingDealer {
    links: Links,
    /// The generator of this party's random words.
    own: Prg,
}

impl RingDealer {
    /// Runs base OTs of this kind, both ways. `session`, the same at both parties, serves nothing else.
    ///
    /// # Errors
    /// Errors of the base OTs, and of the channel; [`InvalidInput`](comity_core::Kind) if there are not two parties.
    pub fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        net: &mut Mesh<'_>,
        session: SessionId,
        backend: Backend,
        extension: OtKind,
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> Result<RingDealer> {
        net.pair()?;
        let mut rngs = PerPeer::new(net.me(), net.parties(), |_| Prg::new(backend, seed(rng)));
        let own = Prg::new(backend, seed(rng));
        Ok(RingDealer { links: Links::setup::<B>(net, session, backend, extension, &mut rngs)?, own })
    }

    /// Triples for at least `n` products of this kind. Both parties ask for the same, in the same order.
    ///
    /// # Errors
    /// Errors of the extension and of the channel; after one, every further call is refused.
    ///
    /// # Panics
    /// If the words have no bits or more than 128.
    pub fn deal(&mut self, net: &mut Mesh<'_>, what: WordProduct, n: usize) -> Result<RingTriples> {
        assert!((1..=super::WIDEST_WORD).contains(&what.bits), "words of {} bits", what.bits);
        let each = if what.square { n.div_ceil(2) } else { n };
        let mut all = RingTriples::default();
        for start in (0..each).step_by(what.chunk()) {
            let now = what.chunk().min(each - start);
            match (what.square, what.bits <= u64::BITS) {
                (false, true) => self.triples::<Wrapping<u64>>(net, what, now, &mut all)?,
                (false, false) => self.triples::<Wrapping<u128>>(net, what, now, &mut all)?,
                (true, true) => self.squares::<Wrapping<u64>>(net, what, now, &mut all)?,
                (true, false) => self.squares::<Wrapping<u128>>(net, what, now, &mut all)?,
            }
        }
        Ok(all)
    }

    fn triples<W: Modular>(
        &mut self,
        net: &mut Mesh<'_>,
        what: WordProduct,
        n: usize,
        all: &mut RingTriples,
    ) -> Result<()> {
        let a = self.draw::<W>(what.bits, n);
        let Cross { sent, b, heard } = self.cross(net, what.bits, &a)?;
        let mask = word_mask(what.bits);
        let products = a.iter().zip(b.iter()).zip(sent.iter().zip(heard.iter()));
        all.c.extend(products.map(|((a, b), (sent, heard))| (*a * *b + *sent + *heard).wide() & mask));
        all.a.extend(a.iter().map(|a| a.wide()));
        all.b.extend(b.iter().map(|b| b.wide()));
        Ok(())
    }

    /// Two for each: first one that party 0 sends, then one that party 1 does.
    fn squares<W: Modular>(
        &mut self,
        net: &mut Mesh<'_>,
        what: WordProduct,
        n: usize,
        all: &mut RingTriples,
    ) -> Result<()> {
        let (a, mask) = (self.draw::<W>(what.bits, n), word_mask(what.bits));
        let top = self.draw::<W>(1, n);
        let cross = self.cross(net, what.bits - 1, &a)?;
        for j in 0..n {
            // The top bit of a receiver's share is in no product modulo 2^k.
            let heard = cross.b[j] | top[j] << (what.bits as usize - 1);
            let square = |a: W, cross: W| [a, a * a + (cross << 1)];
            let mut both = [square(a[j], cross.sent[j]), square(heard, cross.heard[j])];
            if net.me().0 == 1 {
                both.reverse();
            }
            for [a, c] in both {
                all.a.push(a.wide());
                all.c.push(c.wide() & mask);
            }
        }
        Ok(())
    }

    /// `n` random words.
    fn draw<W: Modular>(&mut self, bits: u32, n: usize) -> Words<W> {
        let mut blocks = Zeroizing::new(vec![Block::ZERO; n]);
        self.own.fill_blocks(&mut blocks);
        Zeroizing::new(blocks.iter().map(|block| W::low(block.to_u128() & word_mask(bits))).collect())
    }

    /// Shares of the products of each party's words with random words of the other one, modulo 2^bits; what is
    /// above is anything.
    fn cross<W: Modular>(&mut self, net: &mut Mesh<'_>, bits: u32, own: &[W]) -> Result<Cross<W>> {
        let (me, parties, n) = (net.me(), net.parties(), own.len());
        let mut ots = PerPeer::new(me, parties, |_| Gilboa::new(bits as usize, own));
        if bits > 0 {
            self.links.chunk(net, n * bits as usize, &mut ots)?;
        }
        let mut out = PerPeer::new(me, parties, |_| Vec::new());
        for (peer, ots) in ots.iter_mut() {
            out[peer] = ots.say();
        }
        let mut into = PerPeer::new(me, parties, |peer| vec![0; out[peer].len()]);
        net.exchange(&out, &mut into)?;
        let (_, ots) = ots.iter_mut().next().expect("one of two parties");
        let (_, told) = into.iter().next().expect("one of two parties");
        Ok(ots.hear(told))
    }
}

fn seed(rng: &mut (impl CryptoRng + ?Sized)) -> Block {
    let mut seed = [0; Block::BYTES];
    rng.fill_bytes(&mut seed);
    Block::new(seed)
}
