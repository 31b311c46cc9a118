//! `WordMachine`: inputs, products and outputs on additive shares of words, in any order.
//!
//! - *Input*: the parties share two streams of pseudorandom words, one that either gave the seed of. The
//!   owner subtracts the next words of its own stream from its value; these are the other party's shares.
//!   Nothing is sent. No stream ever starts again.
//! - *Sums*, *products with constants*: of shares; a constant is party 0's.
//! - *Product*: both show their shares of `d = x - a` and `e = y - b`, and `xy = c + d b + e a + d e`, the
//!   last term at party 0 (Beaver, Crypto 1991).
//! - *Product of matrices*: the same with matrices, whose order counts (`XY = C + D B + A E + D E`).
//! - *Square*: both show their shares of `d = x - a`, and `x² = c + 2 d a + d²`, the last term at party 0.
//! - *Output*: the other party shows its share to each recipient.
//!
//! After an error a machine is at its end: every further call is refused.

mod matrices;

use std::collections::BTreeMap;

use comity_channel::{Channel, Mesh, PerPeer};
use comity_circuit::{Owner, Recipients};
use comity_core::{Block, Error, PartyId, Prg, Result};
use comity_protocol::Party;
use comity_share::ring::{MatrixProduct, RingTriples, WordProduct, WordReader, WordWriter, word_mask};
use zeroize::{Zeroize, Zeroizing};

use crate::conversions::{Chosen, Conversions, Garbled, Lifted};
use crate::dealers::{MOST_WORDS, WordDealer};
use matrices::Announced;
pub use matrices::Matrices;
pub(crate) use matrices::one_by_one;

/// Products of one kind, of the same layer: their factors' shares.
pub struct Products {
    /// The kind.
    pub what: WordProduct,
    /// The shares of the first factors.
    pub x: Zeroizing<Vec<u128>>,
    /// The shares of the second factors; of squares none.
    pub y: Zeroizing<Vec<u128>>,
}

/// One party of a computation on words.
pub struct WordMachine<'d> {
    me: PartyId,
    dealer: Option<Box<dyn WordDealer + 'd>>,
    conversions: Option<Conversions<'d>>,
    ready: BTreeMap<WordProduct, RingTriples>,
    /// The products that are still expected.
    planned: BTreeMap<WordProduct, u64>,
    /// The triples of matrices, and the products of these that are still expected.
    matrices: BTreeMap<MatrixProduct, Announced>,
    /// The stream whose seed this party drew, and the one whose seed the other one drew.
    ours: Prg,
    theirs: Prg,
    /// Memory of words, and of what was said and heard, for what comes next.
    spare: Spare,
    bytes: [Vec<u8>; 2],
    /// A call failed, or is under way.
    ended: bool,
}

/// Words that are computed with at a time.
const TILE: usize = 512;

/// Memory of words that are no longer needed, for others: memory that is new is slow. Wiped on drop.
#[derive(Default)]
pub(crate) struct Spare(Vec<Zeroizing<Vec<u128>>>);

impl Spare {
    /// What is kept at most: vectors, and words of each (2 MiB).
    const MOST: usize = 6;
    const LONGEST: usize = 1 << 17;

    /// An empty vector with room for `words` words.
    pub(crate) fn room(&mut self, words: usize) -> Zeroizing<Vec<u128>> {
        let fits = self.0.iter().position(|kept| kept.capacity() >= words);
        // One that is too short stays: if it grew it would not be wiped where it was.
        let mut room = fits.map_or_else(|| Zeroizing::new(Vec::with_capacity(words)), |at| self.0.swap_remove(at));
        room.clear();
        room
    }

    /// Keeps the memory of these words, or wipes it.
    pub(crate) fn keep(&mut self, words: Zeroizing<Vec<u128>>) {
        if (1..=Spare::LONGEST).contains(&words.capacity()) {
            // The shortest one goes.
            let shortest = (0..self.0.len()).min_by_key(|at| self.0[*at].capacity());
            match shortest.filter(|_| self.0.len() == Spare::MOST) {
                Some(at) if self.0[at].capacity() < words.capacity() => self.0[at] = words,
                Some(_) => {}
                None => self.0.push(words),
            }
        }
    }
}

impl<'d> WordMachine<'d> {
    /// A machine on this dealer's triples. Without a dealer it refuses products, and without conversions every
    /// operation on the bits of words. Sends the peer a seed: one message each way.
    ///
    /// # Errors
    /// Errors of the channel; [`InvalidInput`](comity_core::Kind) if there are not two parties.
    pub fn setup(
        me: &mut Party<'_, '_>,
        dealer: Option<Box<dyn WordDealer + 'd>>,
        conversions: Option<Conversions<'d>>,
    ) -> Result<WordMachine<'d>> {
        let (ch, here, rng, _) = me.pair()?;
        let (mut ours, mut theirs) = ([0; Block::BYTES], [0; Block::BYTES]);
        rng.fill_bytes(&mut ours);
        ch.exchange(&ours, &mut theirs)?;
        let prg = |seed: &mut [u8; Block::BYTES]| {
            let block = Block::new(*seed);
            seed.zeroize();
            Prg::new(here.backend, block)
        };
        let (ours, theirs) = (prg(&mut ours), prg(&mut theirs));
        let (ready, planned, matrices) = Default::default();
        let (spare, bytes, ended) = Default::default();
        let me = here.me;
        Ok(WordMachine { me, dealer, conversions, ready, planned, matrices, ours, theirs, spare, bytes, ended })
    }

    /// Whether this is the party that adds constants.
    pub fn is_first(&self) -> bool {
        self.me == PartyId(0)
    }

    /// Announces the products that will follow, with the number of each kind, and makes triples for the first
    /// of them now. Both parties announce the same.
    ///
    /// # Errors
    /// Errors of the dealer.
    pub fn prepare(&mut self, net: &mut Mesh<'_>, products: &BTreeMap<WordProduct, u64>) -> Result<()> {
        for (&what, &count) in products {
            let planned = self.planned.entry(self.made(what)).or_default();
            *planned = planned.saturating_add(count);
        }
        self.guarded(|machine| {
            products.keys().try_for_each(|what| {
                let what = machine.made(*what);
                let is_there = machine.ready.get(&what).is_some_and(|triples| !triples.is_empty());
                if is_there { Ok(()) } else { machine.refill(net, what, 1) }
            })
        })
    }

    /// Shares of an input value of words of these widths, which its owner gives and nobody else.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the value is missing or another party's.
    pub fn input(
        &mut self,
        owner: Owner,
        value: Option<Zeroizing<Vec<u128>>>,
        widths: &[u32],
    ) -> Result<Zeroizing<Vec<u128>>> {
        let mine = owner.party() == Some(self.me);
        if value.is_some() != mine || owner.party().is_none_or(|party| party.0 > 1) {
            return Err(Error::invalid_input(format!(
                "only the owner of an input, {owner}, gives its value; this is party {}",
                self.me
            )));
        }
        let stream = if mine { &mut self.ours } else { &mut self.theirs };
        let mut shares = value.unwrap_or_else(|| Zeroizing::new(vec![0; widths.len()]));
        for (share, &bits) in shares.iter_mut().zip(widths) {
            let pad = stream.block().to_u128();
            *share = if mine { share.wrapping_sub(pad) } else { pad } & word_mask(bits);
        }
        Ok(shares)
    }

    /// Reveals words of these widths to their recipients; they are there if this party is one.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is no such party; errors of the channel.
    pub fn reveal(
        &mut self,
        net: &mut Mesh<'_>,
        to: Recipients,
        shares: &[u128],
        widths: &[u32],
    ) -> Result<Option<Zeroizing<Vec<u128>>>> {
        if let Some(party) = to.named().iter().find(|party| party.0 > 1) {
            return Err(Error::invalid_input(format!(
                "there is no party {party} to reveal to: the parties are 0 and 1"
            )));
        }
        let me = self.me;
        self.guarded(|_| {
            let bits: usize = widths.iter().map(|bits| *bits as usize).sum();
            let said = |told: bool| if told { pack(shares, widths) } else { Vec::new() };
            let out = PerPeer::new(me, net.parties(), |peer| said(to.includes(peer)));
            let heard = if to.includes(me) { bits.div_ceil(8) } else { 0 };
            let mut into = PerPeer::new(me, net.parties(), |_| vec![0; heard]);
            net.exchange(&out, &mut into)?;
            if !to.includes(me) {
                return Ok(None);
            }
            let (_, into) = into.iter().next().expect("one of two parties");
            let mut reader = WordReader::new(into);
            let words = shares.iter().zip(widths);
            let sum = words.map(|(share, &bits)| share.wrapping_add(reader.take(bits)) & word_mask(bits));
            Ok(Some(Zeroizing::new(sum.collect())))
        })
    }

    /// The shares of all products of a layer: one message each way.
    ///
    /// # Errors
    /// Errors of the dealer and of the channel.
    pub fn multiply(&mut self, net: &mut Mesh<'_>, mut layer: Vec<Products>) -> Result<Vec<Zeroizing<Vec<u128>>>> {
        let me = self.me;
        for products in layer.iter_mut().filter(|products| self.made(products.what) != products.what) {
            (products.what, products.y) = (self.made(products.what), products.x.clone());
        }
        self.guarded(|machine| {
            let mut taken = Vec::with_capacity(layer.len());
            for products in &layer {
                taken.push(machine.take(net, products.what, products.x.len())?);
            }
            let bits = layer.iter().map(|products| (products.x.len() + products.y.len()) * products.what.bits as usize);
            let mut to = WordWriter::with_room_in(std::mem::take(&mut machine.bytes[0]), bits.sum());
            // The factors become what is opened of them.
            for (products, triples) in layer.iter_mut().zip(&taken) {
                let (bits, [a, b, _]) = (products.what.bits, triples.shares());
                for (factors, masks) in [(&mut products.x, a), (&mut products.y, b)] {
                    // Some at a time: they are in the cache until they are written.
                    for (factors, masks) in factors.chunks_mut(TILE).zip(masks.chunks(TILE)) {
                        for (factor, mask) in factors.iter_mut().zip(masks) {
                            *factor = factor.wrapping_sub(*mask) & word_mask(bits);
                        }
                        to.put_all(factors, bits);
                    }
                }
            }
            let [mut said, mut heard] = [to.finish(), std::mem::take(&mut machine.bytes[1])];
            heard.resize(said.len(), 0);
            let mut into = PerPeer::new(me, net.parties(), |_| std::mem::take(&mut heard));
            let mut out = PerPeer::new(me, net.parties(), |_| std::mem::take(&mut said));
            net.exchange(&out, &mut into)?;
            let (peer, into) = into.iter_mut().next().expect("one of two parties");
            let mut reader = WordReader::new(into);
            let mut results = Vec::with_capacity(layer.len());
            for (mut products, triples) in layer.into_iter().zip(taken) {
                let Products { what, x, y } = &mut products;
                let [product, a, b] = triples.products(*what, [x, y], &mut reader, me == PartyId(0));
                results.push(product);
                [products.x, products.y, a, b].into_iter().for_each(|words| machine.spare.keep(words));
            }
            machine.bytes = [std::mem::take(&mut out[peer]), std::mem::take(into)];
            Ok(results)
        })
    }

    /// Runs small circuits: of each its results, of these the words of all calls, bits shared by XOR.
    ///
    /// # Errors
    /// Errors of the OTs and of the channel.
    pub(crate) fn circuits(
        &mut self,
        net: &mut Mesh<'_>,
        circuits: &[Garbled<'_>],
    ) -> Result<Vec<Vec<Zeroizing<Vec<u128>>>>> {
        self.converting(net, |conversions, ch| conversions.circuits(ch, circuits))
    }

    /// Words of bits as words that are sums.
    ///
    /// # Errors
    /// Errors of the OTs and of the channel.
    pub(crate) fn words(&mut self, net: &mut Mesh<'_>, all: &[Lifted]) -> Result<Vec<Zeroizing<Vec<u128>>>> {
        self.converting(net, |conversions, ch| conversions.words(ch, all))
    }

    /// Words, or zero where a bit is zero.
    ///
    /// # Errors
    /// Errors of the OTs and of the channel.
    pub(crate) fn select(&mut self, net: &mut Mesh<'_>, all: &[Chosen]) -> Result<Vec<Zeroizing<Vec<u128>>>> {
        self.converting(net, |conversions, ch| conversions.select(ch, all))
    }

    /// Runs a step that uses the conversions. If it fails, the machine refuses every further call.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the machine was set up without conversions; those of `run`.
    pub fn converting<T>(
        &mut self,
        net: &mut Mesh<'_>,
        run: impl FnOnce(&mut Conversions<'d>, &mut dyn Channel) -> Result<T>,
    ) -> Result<T> {
        self.guarded(|machine| {
            let none = || Error::invalid_input("this computation was set up without conversions of words to bits");
            let conversions = machine.conversions.as_mut().ok_or_else(none)?;
            let (_, ch) = net.pair()?;
            run(conversions, ch)
        })
    }

    /// As [`WordMachine::converting`]; does nothing if the machine was set up without conversions.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn converting_if(
        &mut self,
        net: &mut Mesh<'_>,
        run: impl FnOnce(&mut Conversions<'d>, &mut dyn Channel) -> Result<()>,
    ) -> Result<()> {
        if self.conversions.is_some() { self.converting(net, run) } else { Ok(()) }
    }

    /// Whether words are opened by adders that were garbled ahead.
    pub fn has_adders(&self) -> bool {
        self.conversions.as_ref().is_some_and(Conversions::has_adders)
    }

    /// Memory of words that are no longer needed.
    pub(crate) fn spare(&mut self) -> &mut Spare {
        &mut self.spare
    }

    /// The block that, added to the label of a bit, gives the label of its negation.
    pub fn negation(&self) -> Block {
        self.conversions.as_ref().map_or(Block::ZERO, Conversions::negation)
    }

    /// The kind of products as which these are computed.
    fn made(&self, what: WordProduct) -> WordProduct {
        let squares = self.dealer.as_ref().is_none_or(|dealer| dealer.has_squares());
        WordProduct { square: what.square && squares, ..what }
    }

    /// Uses up `n` triples.
    fn take(&mut self, net: &mut Mesh<'_>, what: WordProduct, n: usize) -> Result<RingTriples> {
        let mut taken = RingTriples::default();
        while taken.len() < n {
            let more = n - taken.len();
            if self.ready.get(&what).is_none_or(RingTriples::is_empty) {
                self.refill(net, what, more)?;
            }
            let before = taken.len();
            self.ready.get_mut(&what).expect("they were made").take(more, &mut taken);
            if let Some(planned) = self.planned.get_mut(&what) {
                *planned = planned.saturating_sub((taken.len() - before) as u64);
            }
        }
        Ok(taken)
    }

    /// Asks the dealer for triples: for the planned products, up to a bound, and at least for `products`
    /// products.
    fn refill(&mut self, net: &mut Mesh<'_>, what: WordProduct, products: usize) -> Result<()> {
        let dealer = self
            .dealer
            .as_mut()
            .ok_or_else(|| Error::invalid_input("this computation was set up without a dealer of triples"))?;
        let planned = self.planned.get(&what).copied().unwrap_or(0);
        let wanted = usize::try_from(planned).unwrap_or(usize::MAX).max(products).min(MOST_WORDS);
        let triples = dealer.deal(net, what, wanted)?;
        if triples.is_empty() {
            return Err(Error::invalid_input("the dealer of triples returned no triples"));
        }
        self.ready.insert(what, triples);
        Ok(())
    }

    /// Runs a call; if it fails it was the last.
    fn guarded<T>(&mut self, call: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if std::mem::replace(&mut self.ended, true) {
            return Err(Error::invalid_input(
                "this computation ended with an error and cannot go on: start a new session",
            ));
        }
        let result = call(self)?;
        self.ended = false;
        Ok(result)
    }
}

/// Words of these widths, without gaps.
fn pack(words: &[u128], widths: &[u32]) -> Vec<u8> {
    let mut to = WordWriter::default();
    words.iter().zip(widths).for_each(|(&word, &bits)| to.put(word, bits));
    to.finish()
}
