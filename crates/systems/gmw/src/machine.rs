//! `BitMachine`: inputs, ANDs and outputs on XOR shares, in any order.
//!
//! - *Input*: every two parties share two streams of pseudorandom bits, one that either gave the seed of. The
//!   owner adds the next bits of its stream with each other party to its value; those bits are the other's
//!   share. Nothing is sent. No stream ever starts again: two values under the same bits would show their sum
//!   to whoever opens the sum of two shares.
//! - *XOR*, *NOT*: XORs of shares; a constant is party 0's.
//! - *AND*: all show their shares of `d = x + a` and `e = y + b`, and `xy = c + d b + e a + d e`, the last
//!   term at party 0 (Beaver, Crypto 1991).
//! - *Output*: all others show their shares to each recipient.
//! - *Shares that leave the computation* get a share of zero added, the sum of all streams of this party with
//!   all others: else the share of a constant would be the constant, and that of an input what its owner
//!   sent.
//!
//! After an error a machine is at its end: every further call is refused.

use comity_channel::{Mesh, PerPeer};
use comity_circuit::{Owner, Recipients};
use comity_core::{Backend, Bits, Block, Error, PartyId, Prg, Result, Vectorize};
use comity_protocol::{Here, Party};
use comity_share::bits::BitShares;
use comity_share::triples::{BitTriples, TakenTriples};
use comity_sharing::BitOperands;
#[cfg(doc)]
use comity_sharing::PIECE;
use zeroize::{Zeroize, Zeroizing};

use crate::dealers::{BitDealer, MOST};

/// The streams of pseudorandom bits that this party shares with another one.
struct Streams {
    /// The stream whose seed this party drew.
    ours: Prg,
    /// The stream whose seed the other one drew.
    theirs: Prg,
}

/// One party of a computation.
pub struct BitMachine<'d> {
    me: PartyId,
    backend: Backend,
    dealer: Option<Box<BitDealer<'d>>>,
    triples: BitTriples,
    /// The number of ANDs that are still expected.
    planned: u64,
    streams: PerPeer<Streams>,
    /// A stream that this party shares with nobody.
    alone: Prg,
    /// The piece under way: its triples, and its operands.
    taken: TakenTriples,
    x: BitShares,
    y: BitShares,
    /// Messages to and from each peer.
    out: PerPeer<Vec<u8>>,
    into: PerPeer<Vec<u8>>,
    /// A call failed, or is under way.
    ended: bool,
}

impl<'d> BitMachine<'d> {
    /// A machine on this dealer's triples; without a dealer it does no ANDs. Sends a seed to every peer: one
    /// message each way.
    ///
    /// # Errors
    /// Errors of the channels.
    pub fn setup(me: &mut Party<'_, '_>, dealer: Option<Box<BitDealer<'d>>>) -> Result<BitMachine<'d>> {
        let Here { me: id, parties, backend, .. } = me.here;
        let mut seeds = PerPeer::new(id, parties, |_| vec![0; Block::BYTES]);
        seeds.iter_mut().for_each(|(_, seed)| me.rng.fill_bytes(seed));
        let mut heard = PerPeer::new(id, parties, |_| vec![0; Block::BYTES]);
        me.net.exchange(&seeds, &mut heard)?;
        let prg = |seed: &mut Vec<u8>| {
            let block = Block::new(seed[..].try_into().expect("a seed is a block"));
            seed.zeroize();
            Prg::new(backend, block)
        };
        let streams =
            PerPeer::new(id, parties, |peer| Streams { ours: prg(&mut seeds[peer]), theirs: prg(&mut heard[peer]) });
        let alone = Prg::new(backend, Block::random(me.rng));
        let buffers = || PerPeer::new(id, parties, |_| Vec::new());
        Ok(BitMachine {
            me: id,
            backend,
            dealer,
            triples: BitTriples::default(),
            planned: 0,
            streams,
            alone,
            taken: TakenTriples::default(),
            x: BitShares::default(),
            y: BitShares::default(),
            out: buffers(),
            into: buffers(),
            ended: false,
        })
    }

    /// This party's share of the constant one.
    pub fn one(&self) -> bool {
        self.me == PartyId(0)
    }

    /// The CPU backend that it runs on.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Announces that `ands` ANDs will follow, so that triples for them are made in few calls. All parties
    /// announce the same.
    pub fn plan(&mut self, ands: u64) {
        self.planned = ands;
    }

    /// Has triples made now for the planned ANDs, up to [`MOST`].
    ///
    /// # Errors
    /// Errors of the dealer.
    pub fn prepare(&mut self, net: &mut Mesh<'_>) -> Result<()> {
        self.guarded(
            |machine| {
                if machine.triples.is_empty() && machine.planned > 0 { machine.refill(net, 1) } else { Ok(()) }
            },
        )
    }

    /// Random bits that nobody knows: the sums of random bits of all parties.
    pub fn random(&mut self, bits: usize) -> BitShares {
        drawn(&mut self.alone, bits)
    }

    /// Shares of an input value of `bits` bits, which only its owner gives. For a shared value each party
    /// gives its share.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if a value is missing, has another length, or is another party's.
    pub fn input(&mut self, owner: Owner, value: Option<&Bits>, bits: usize) -> Result<BitShares> {
        if value.is_some() != owner.includes(self.me) || value.is_some_and(|value| value.len() != bits) {
            let given = value.map_or("no value".into(), |value| format!("a value of {} bits", value.len()));
            return Err(Error::invalid_input(format!(
                "an input of {bits} bits from {owner}: this is party {}, with {given}",
                self.me
            )));
        }
        let Some(owner) = owner.party() else {
            return Ok(own(value.expect("every party gives its share")));
        };
        if owner == self.me {
            let mut shares = own(value.expect("the owner gives the value"));
            self.streams.iter_mut().for_each(|(_, streams)| add(&mut shares, &drawn(&mut streams.ours, bits)));
            return Ok(shares);
        }
        if owner.0 >= self.streams.parties() {
            return Err(Error::invalid_input(format!("party {owner}, the input's owner, does not exist")));
        }
        Ok(drawn(&mut self.streams[owner].theirs, bits))
    }

    /// Reveals shared bits to their recipients. Returns the value if this party is a recipient. If nobody is,
    /// it returns this party's share, with a share of zero added.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is no such party; errors of the channels.
    pub fn reveal(&mut self, net: &mut Mesh<'_>, to: Recipients, shares: &BitShares) -> Result<Option<Bits>> {
        let bits = shares.len();
        if let Some(party) = to.named().iter().find(|party| party.0 >= net.parties()) {
            return Err(Error::invalid_input(format!(
                "there is no party {party} to reveal to: the parties are 0 to {}",
                net.parties() - 1
            )));
        }
        self.guarded(|machine| {
            let mut value = shares.copy();
            if to == Recipients::Shared {
                for (_, streams) in machine.streams.iter_mut() {
                    add(&mut value, &drawn(&mut streams.ours, bits));
                    add(&mut value, &drawn(&mut streams.theirs, bits));
                }
                return Ok(Some(Bits::from_words(value.words().to_vec(), bits)));
            }
            let bytes = bits.div_ceil(8);
            let mine = to.includes(machine.me);
            for (peer, out) in machine.out.iter_mut() {
                out.clear();
                if to.includes(peer) {
                    out.extend(shares.words().iter().flat_map(|word| word.to_le_bytes()).take(bytes));
                }
            }
            machine.into.iter_mut().for_each(|(_, into)| into.resize(if mine { bytes } else { 0 }, 0));
            net.exchange(&machine.out, &mut machine.into)?;
            if !mine {
                return Ok(None);
            }
            machine.into.iter().for_each(|(_, into)| value.add_bytes(machine.backend, into));
            Ok(Some(Bits::from_words(value.words().to_vec(), bits)))
        })
    }

    /// The AND `x[i] y[i]` for every `i`: one message each way for [`PIECE`] of them.
    ///
    /// # Errors
    /// Errors of the dealer and of the channels.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn and(&mut self, net: &mut Mesh<'_>, x: &BitShares, y: &BitShares) -> Result<BitShares> {
        assert_eq!(x.len(), y.len(), "as many of both operands");
        let mut strings = Strings { x, y, read: 0, out: BitShares::with_room(x.len()) };
        self.ands(net, &mut strings)?;
        Ok(strings.out)
    }

    /// The ANDs of strings of one length, two and two.
    pub(crate) fn and_each(
        &mut self,
        net: &mut Mesh<'_>,
        (x, y): (&[BitShares], &[BitShares]),
    ) -> Result<Vec<BitShares>> {
        let joined = |strings: &[BitShares]| {
            let mut all = BitShares::default();
            strings.iter().for_each(|string| all.push(string.words(), string.len()));
            all
        };
        let products = self.and(net, &joined(x), &joined(y))?;
        let mut start = 0;
        let each = x.iter().map(|string| {
            let mut out = BitShares::default();
            out.push_from(&products, start, string.len());
            start += string.len();
            out
        });
        Ok(each.collect())
    }

    /// Independent ANDs, wherever their operands are.
    pub(crate) fn ands(&mut self, net: &mut Mesh<'_>, operands: &mut impl BitOperands) -> Result<()> {
        self.guarded(|machine| operands.pieces().try_for_each(|ands| machine.piece(net, operands, ands)))
    }

    fn piece(&mut self, net: &mut Mesh<'_>, operands: &mut impl BitOperands, n: usize) -> Result<()> {
        while self.taken.len() < n {
            let more = n - self.taken.len();
            if self.triples.is_empty() {
                self.refill(net, more)?;
            }
            self.triples.take(more, &mut self.taken);
        }
        self.planned = self.planned.saturating_sub(n as u64);
        [&mut self.x, &mut self.y].into_iter().for_each(BitShares::clear);
        operands.read(n, &mut self.x, &mut self.y);
        let (bytes, words) = (n.div_ceil(8), n.div_ceil(64));
        for (string, mask) in [(&mut self.x, &self.taken.a), (&mut self.y, &self.taken.b)] {
            self.backend.vectorize(Add(string.words_mut(), mask.words()));
        }
        let mut peers = self.out.as_mut_slice().iter_mut();
        let first = peers.next().expect("there is a peer");
        first.resize(2 * bytes, 0);
        for (string, to) in [&self.x, &self.y].into_iter().zip(first.chunks_exact_mut(bytes)) {
            string.put_bytes(to);
        }
        peers.for_each(|out| {
            out.clear();
            out.extend_from_slice(first);
        });
        self.into.iter_mut().for_each(|(_, into)| into.resize(2 * bytes, 0));
        net.exchange(&self.out, &mut self.into)?;
        for (_, into) in self.into.iter() {
            for (string, bytes) in [&mut self.x, &mut self.y].into_iter().zip(into.chunks_exact(bytes)) {
                string.add_bytes(self.backend, bytes);
            }
        }
        let TakenTriples { a, b, c } = &mut self.taken;
        let both = if self.me == PartyId(0) { u64::MAX } else { 0 };
        let open = (self.x.words(), self.y.words());
        self.backend.vectorize(Multiply { open, a: a.words(), b: b.words(), c: &mut c.words_mut()[..words], both });
        operands.write(c);
        self.taken.clear();
        Ok(())
    }

    /// Asks the dealer for triples: for the planned ANDs, up to a bound, and at least for `ands`.
    fn refill(&mut self, net: &mut Mesh<'_>, ands: usize) -> Result<()> {
        let dealer = self
            .dealer
            .as_mut()
            .ok_or_else(|| Error::invalid_input("this computation was set up without a dealer of triples"))?;
        // What is taken already is for ANDs that are planned.
        let planned = self.planned.saturating_sub(self.taken.len() as u64);
        let wanted = usize::try_from(planned).unwrap_or(usize::MAX).max(ands).min(MOST);
        self.triples = dealer.deal(net, wanted)?;
        if self.triples.is_empty() {
            return Err(Error::invalid_input("the dealer of triples returned no triples"));
        }
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

/// Two strings of operands.
struct Strings<'a> {
    x: &'a BitShares,
    y: &'a BitShares,
    read: usize,
    out: BitShares,
}

impl BitOperands for Strings<'_> {
    fn len(&self) -> usize {
        self.x.len()
    }

    fn read(&mut self, count: usize, x: &mut BitShares, y: &mut BitShares) {
        x.push_from(self.x, self.read, count);
        y.push_from(self.y, self.read, count);
        self.read += count;
    }

    fn write(&mut self, results: &BitShares) {
        self.out.push_from(results, 0, results.len());
    }
}

/// A value as its owner's share.
fn own(value: &Bits) -> BitShares {
    let mut shares = BitShares::default();
    shares.push(value.words(), value.len());
    shares
}

/// The next bits of a stream, whole bytes of it.
fn drawn(stream: &mut Prg, bits: usize) -> BitShares {
    let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8)]);
    stream.fill(&mut bytes);
    BitShares::from_bytes(&bytes, bits)
}

fn add(shares: &mut BitShares, more: &BitShares) {
    shares.words_mut().iter_mut().zip(more.words()).for_each(|(share, more)| *share ^= more);
}

/// Adds words to words.
struct Add<'a>(&'a mut [u64], &'a [u64]);

impl Vectorize for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.iter_mut().zip(self.1).for_each(|(word, more)| *word ^= more);
    }
}

/// `c + d b + e a`, and `d e` where `both` is ones, in the place of `c`.
struct Multiply<'a> {
    open: (&'a [u64], &'a [u64]),
    a: &'a [u64],
    b: &'a [u64],
    c: &'a mut [u64],
    both: u64,
}

impl Vectorize for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Multiply { open: (d, e), a, b, c, both } = self;
        for ((((c, d), e), a), b) in c.iter_mut().zip(d).zip(e).zip(a).zip(b) {
            *c ^= d & (b ^ e & both) ^ e & a;
        }
    }
}
