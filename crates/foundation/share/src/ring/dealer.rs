//! What products of shared words take: multiplication triples and square pairs, by Gilboa's products over
//! random OTs.
//!
//! **How** (Gilboa, Crypto 1999; on random OTs as in Demmler, Schneider, Zohner, NDSS 2015, section III-A).
//! With `a = a_0 + a_1` and `b = b_0 + b_1`, `ab` has the terms `a_0 b_0` and `a_1 b_1`, which a party has,
//! and two of both parties. For each of these one party is the sender, with `a`, and the other one the
//! receiver, whose `b` is the choice bits of its random OTs. In OT `i`, with messages `r_0` and `r_1`:
//! 1. the sender tells `u = r_0 - r_1 + a`, modulo 2^(k-i), which the message that the receiver lacks masks;
//! 2. the receiver has `r_0 + b_i a`: its message, plus `u` if its bit is one;
//! 3. the sum of these times 2^i is its share, and minus that of the `r_0` the sender's.
//!
//! *Square pairs*: `a² = a_0² + a_1² + 2 a_0 a_1`, one such product of k - 1 bits; each party is the sender
//! of every other pair.
//!
//! **Hashed**: `r_0` and `r_1` are of hashed correlations. In raw ones they differ by delta, the same in all,
//! and `u` would be no secret.
//!
//! **Adversary**: semi-honest. A sender that takes another `a` in one OT than in the others makes a product
//! wrong by what depends on a bit of the other's `b`.
//!
//! **Cost** of a triple: k OTs each way and k (k + 1) / 2 bits each way; of a square pair k - 1 OTs and
//! `k (k - 1) / 2` bits one way. Two messages each way for [`CHUNK`] OTs.

mod matrix;

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Block, Prg, Result, SessionId};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, SemiHonest};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

pub use matrix::{MatrixProduct, MatrixTriples};

use super::{WordReader, WordWriter, word_mask, zeros};
use crate::triples::{CHUNK, Links, OtKind, OtSink};

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
            if what.square { self.squares(net, what, now, &mut all)? } else { self.triples(net, what, now, &mut all)? }
        }
        Ok(all)
    }

    fn triples(&mut self, net: &mut Mesh<'_>, what: WordProduct, n: usize, all: &mut RingTriples) -> Result<()> {
        let a = self.draw(what.bits, n);
        let cross = self.cross(net, what.bits, &a)?;
        for (j, &a) in a.iter().enumerate() {
            let own = a.wrapping_mul(cross.b[j]);
            all.c.push(own.wrapping_add(cross.sent[j]).wrapping_add(cross.heard[j]) & word_mask(what.bits));
        }
        all.a.extend_from_slice(&a);
        all.b.extend_from_slice(&cross.b);
        Ok(())
    }

    /// Two for each: first one that party 0 sends, then one that party 1 does.
    fn squares(&mut self, net: &mut Mesh<'_>, what: WordProduct, n: usize, all: &mut RingTriples) -> Result<()> {
        let (a, mask) = (self.draw(what.bits, n), word_mask(what.bits));
        let top = self.draw(1, n);
        let cross = self.cross(net, what.bits - 1, &a)?;
        for j in 0..n {
            // The top bit of a receiver's share is in no product modulo 2^k.
            let heard = cross.b[j] | top[j] << (what.bits - 1);
            let square = |a: u128, cross: u128| (a, a.wrapping_mul(a).wrapping_add(cross << 1) & mask);
            let mut both = [square(a[j], cross.sent[j]), square(heard, cross.heard[j])];
            if net.me().0 == 1 {
                both.reverse();
            }
            for (a, c) in both {
                all.a.push(a);
                all.c.push(c);
            }
        }
        Ok(())
    }

    /// `n` random words.
    fn draw(&mut self, bits: u32, n: usize) -> Zeroizing<Vec<u128>> {
        let mut words = zeros(n);
        words.iter_mut().for_each(|word| *word = self.own.block().to_u128() & word_mask(bits));
        words
    }

    /// Shares of the products of each party's words with random words of the other one, modulo 2^bits.
    fn cross(&mut self, net: &mut Mesh<'_>, bits: u32, own: &[u128]) -> Result<Cross> {
        let (me, parties, n) = (net.me(), net.parties(), own.len());
        let mut ots = PerPeer::new(me, parties, |_| Gilboa::new(bits, own));
        if bits > 0 {
            self.links.chunk(net, n * bits as usize, &mut ots)?;
        }
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

fn seed(rng: &mut (impl CryptoRng + ?Sized)) -> Block {
    let mut seed = [0; Block::BYTES];
    rng.fill_bytes(&mut seed);
    Block::new(seed)
}

/// Shares of products of both parties' words.
struct Cross {
    /// Shares of the products of this party's words with the other's.
    sent: Zeroizing<Vec<u128>>,
    /// This party's random words.
    b: Zeroizing<Vec<u128>>,
    /// Shares of the products of `b` with the other's words.
    heard: Zeroizing<Vec<u128>>,
}

/// The OTs of a chunk on their way to products: those of the lowest bits of the words come first, word after
/// word.
struct Gilboa<'a> {
    bits: u32,
    own: &'a [u128],
    sent: Zeroizing<Vec<u128>>,
    /// The words of the OTs that were sent so far: which word, which bit.
    next: (usize, u32),
    /// This party's messages.
    told: WordWriter,
    /// The messages that this party chose.
    chosen: Zeroizing<Vec<u128>>,
    choices: Zeroizing<Vec<u64>>,
}

impl<'a> Gilboa<'a> {
    fn new(bits: u32, own: &'a [u128]) -> Gilboa<'a> {
        let told = WordWriter::with_room(own.len() * (bits as usize * (bits as usize + 1) / 2));
        let chosen = Zeroizing::new(Vec::with_capacity(own.len() * bits as usize));
        Gilboa { bits, own, sent: zeros(own.len()), next: (0, 0), told, chosen, choices: Zeroizing::default() }
    }

    /// Steps 2 and 3 of the receiver.
    fn hear(&mut self, told: &[u8]) -> Cross {
        let (n, bits) = (self.own.len(), self.bits as usize);
        let (mut b, mut heard, mut told) = (zeros(n), zeros(n), WordReader::new(told));
        for (word, (b, heard)) in b.iter_mut().zip(heard.iter_mut()).enumerate() {
            for i in 0..bits {
                let ot = word * bits + i;
                let choice = u128::from(self.choices[ot / 64] >> (ot % 64) & 1);
                let u = told.take((bits - i) as u32);
                *b |= choice << i;
                let share = self.chosen[ot].wrapping_add(u & choice.wrapping_neg());
                *heard = heard.wrapping_add(share << i);
            }
            *heard &= word_mask(self.bits);
        }
        Cross { sent: std::mem::take(&mut self.sent), b, heard }
    }
}

impl OtSink for Gilboa<'_> {
    // Step 1, and step 3 of the sender.
    fn sent(&mut self, _: Backend, pairs: &[[Block; 2]]) {
        let (mut word, mut i) = self.next;
        for [zero, one] in pairs {
            let (zero, one) = (zero.to_u128(), one.to_u128());
            self.told.put(zero.wrapping_sub(one).wrapping_add(self.own[word]), self.bits - i);
            let share = self.sent[word].wrapping_sub(zero << i);
            self.sent[word] = share & word_mask(self.bits);
            i += 1;
            if i == self.bits {
                (word, i) = (word + 1, 0);
            }
        }
        self.next = (word, i);
    }

    fn received(&mut self, _: Backend, messages: &[Block]) {
        self.chosen.extend(messages.iter().map(|message| message.to_u128()));
    }

    fn choices(&mut self, words: &[u64]) {
        self.choices.extend_from_slice(words);
    }
}
