//! Bit triples: shares of random bits with `c = a b`, among two or more parties who follow their protocol.
//!
//! **How** (Goldreich, Micali, Wigderson 1987, on random OT; Beaver, Crypto 1991). With `a` and `b` the sums
//! of all parties' shares, `ab` is the sum of all `a_i b_j`. Party `i` has its own `a_i b_i`; of each other
//! product party `i`, the sender of a random OT of bits, and party `j`, its receiver, get shares ([`Links`]):
//! - the sender has `m_0` and `m_1`, the receiver its choice bit `r` and `m_r = m_0 + r (m_0 + m_1)`;
//! - the receiver tells `d = r + b_j`, the sender `e = m_0 + m_1 + a_i`, both masked by what the other does
//!   not know;
//! - the sender's share is `m_0 + d (m_0 + m_1)`, the receiver's `m_r + b_j e`. Their sum is `a_i b_j`.
//!
//! Each party takes for its `a` and `b` what the OTs with one peer, the first one, gave anyhow: `m_0 + m_1`
//! and `r`. Towards that peer `d` and `e` are zero and are not sent; so two parties send nothing beyond the
//! OTs.
//!
//! **Hashed.** The bits are of *hashed* messages. In a raw correlation, `m_0 + m_1` is a bit of delta, the
//! same in every triple.
//!
//! **Adversary**: semi-honest, all parties but one. A party that lies about a correction makes triples wrong,
//! and with them results; one that lies in an extension can learn the other's delta, and with it the other's
//! `a`.
//!
//! **Cost** of a triple: a random OT each way with each peer, and 4 bits each peer but the first one, both
//! ways together; a message each way with every peer for [`CHUNK`] OTs, and among three or more another one
//! at the end of a call.

mod links;
mod spool;

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Error, PartyId, Result, SessionId};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, SemiHonest};
use rand_core::CryptoRng;

use crate::bits::BitShares;
pub(crate) use links::OtSink;
pub use links::{CHUNK, OtKind};
use links::{Link, Ots};

/// Bit triples of one party, each of which can be used once. Wiped on drop.
#[derive(Default)]
pub struct BitTriples {
    a: BitShares,
    b: BitShares,
    c: BitShares,
    /// The number of triples that are used up.
    used: usize,
}

impl BitTriples {
    /// The triples of these shares.
    ///
    /// # Panics
    /// If the numbers of shares differ.
    pub fn new(a: BitShares, b: BitShares, c: BitShares) -> BitTriples {
        assert!(a.len() == b.len() && a.len() == c.len(), "triples have three shares each");
        BitTriples { a, b, c, used: 0 }
    }

    /// The number of triples that are left.
    pub fn len(&self) -> usize {
        self.a.len() - self.used
    }

    /// Whether no triple is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Uses up the next `n` triples, or all if there are fewer. They go to the end of `to`, which is for one
    /// use.
    pub fn take(&mut self, n: usize, to: &mut TakenTriples) {
        let n = n.min(self.len());
        to.a.push_from(&self.a, self.used, n);
        to.b.push_from(&self.b, self.used, n);
        to.c.push_from(&self.c, self.used, n);
        self.used += n;
    }
}

/// Triples that were taken, to be used at once.
#[derive(Default)]
pub struct TakenTriples {
    /// The shares of the first bits.
    pub a: BitShares,
    /// The shares of the second bits.
    pub b: BitShares,
    /// The shares of the products.
    pub c: BitShares,
}

impl TakenTriples {
    /// The number of triples.
    pub fn len(&self) -> usize {
        self.c.len()
    }

    /// Whether there are no triples.
    pub fn is_empty(&self) -> bool {
        self.c.is_empty()
    }

    /// Removes the triples, which were used.
    pub fn clear(&mut self) {
        [&mut self.a, &mut self.b, &mut self.c].into_iter().for_each(BitShares::clear);
    }
}

/// Random OTs of bits, both ways, with every peer: what triples are made of.
pub struct Links {
    links: PerPeer<Link>,
    /// Messages of a chunk, or of the corrections, either way.
    out: PerPeer<Vec<u8>>,
    into: PerPeer<Vec<u8>>,
    ended: bool,
}

impl Links {
    /// Runs base OTs of this kind with every peer, both ways, and the rest of the extension's set-up.
    /// `session`, the same at all parties, serves nothing else. There is one generator for each peer.
    ///
    /// # Errors
    /// Errors of the base OTs, and of the channels.
    pub fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        net: &mut Mesh<'_>,
        session: SessionId,
        backend: Backend,
        extension: OtKind,
        rngs: &mut PerPeer<impl CryptoRng + Send>,
    ) -> Result<Links> {
        let (me, parties) = (net.me(), net.parties());
        let links = net.each_with(rngs, |peer, ch, rng| {
            let from = |sender: PartyId, receiver: PartyId| {
                session.child(&format!("random OTs from party {sender} to party {receiver}"))
            };
            Link::setup::<B>(ch, [from(me, peer), from(peer, me)], backend, (extension, me < peer), rng)
        })?;
        let buffers = || PerPeer::new(me, parties, |_| Vec::new());
        Ok(Links { links, out: buffers(), into: buffers(), ended: false })
    }

    /// The next `n` triples. All parties ask for the same, in the same order.
    ///
    /// # Errors
    /// Errors of the extension and of the channels; after one, every further call is refused.
    pub fn triples(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<BitTriples> {
        let mut ots = PerPeer::new(net.me(), net.parties(), |_| Ots::with_room(n));
        for start in (0..n).step_by(CHUNK) {
            self.chunk(net, CHUNK.min(n - start), &mut ots)?;
        }
        self.unless_ended(|links| links.combine(net, n, ots))
    }

    /// The next `n` OTs each way with every peer, at most [`CHUNK`]: one message each way.
    ///
    /// # Errors
    /// Errors of the extension and of the channels; after one, every further call is refused.
    pub(crate) fn chunk(&mut self, net: &mut Mesh<'_>, n: usize, ots: &mut PerPeer<impl OtSink>) -> Result<()> {
        self.unless_ended(|Links { links, out, into, .. }| {
            for (peer, link) in links.iter_mut() {
                link.speak(n, &mut out[peer], &mut ots[peer]).map_err(|e| e.by(peer))?;
                // Both ways are alike, and so are the lengths.
                into[peer].resize(out[peer].len(), 0);
            }
            net.exchange(out, into)?;
            for (peer, link) in links.iter_mut() {
                link.hear(n, &into[peer], &mut ots[peer]).map_err(|e| e.by(peer))?;
            }
            Ok(())
        })
    }

    /// Makes a step, unless an earlier one failed.
    fn unless_ended<T>(&mut self, step: impl FnOnce(&mut Links) -> Result<T>) -> Result<T> {
        if std::mem::replace(&mut self.ended, true) {
            return Err(Error::invalid_input("this dealer stopped at an earlier error; set up a new one"));
        }
        let result = step(self)?;
        self.ended = false;
        Ok(result)
    }

    /// The triples of these OTs.
    fn combine(&mut self, net: &mut Mesh<'_>, n: usize, mut ots: PerPeer<Ots>) -> Result<BitTriples> {
        let (me, words) = (net.me(), n.div_ceil(64));
        let mine = first_peer(me);
        let Ots { sum: a, choice: b, .. } = &mut ots[mine];
        let (a, b) = (std::mem::take(a), std::mem::take(b));
        for ((peer, ots), out) in ots.iter().zip(self.out.as_mut_slice()) {
            out.clear();
            if peer != mine {
                out.extend(ots.choice.iter().zip(&b).flat_map(|(r, b)| (r ^ b).to_le_bytes()));
                out.extend(ots.sum.iter().zip(&a).flat_map(|(sum, a)| (sum ^ a).to_le_bytes()));
            }
        }
        for (peer, into) in self.into.iter_mut() {
            into.resize(if first_peer(peer) == me { 0 } else { 16 * words }, 0);
        }
        if net.parties() > 2 {
            net.exchange(&self.out, &mut self.into)?;
        }
        let mut c: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a & b).collect();
        for ((peer, ots), into) in ots.iter().zip(self.into.as_mut_slice()) {
            let own = c.iter_mut().zip(&ots.zero).zip(&ots.chosen);
            own.for_each(|((c, zero), chosen)| *c ^= zero ^ chosen);
            let (d, e) = into.as_chunks::<8>().0.split_at(into.len() / 16);
            let sums = if peer == mine { &a } else { &ots.sum };
            for ((c, d), sum) in c.iter_mut().zip(d).zip(sums) {
                *c ^= u64::from_le_bytes(*d) & sum;
            }
            for ((c, e), b) in c.iter_mut().zip(e).zip(&b) {
                *c ^= u64::from_le_bytes(*e) & b;
            }
        }
        let [a, b, c] = [a, b, c].map(|words| BitShares::from_words(words, n));
        Ok(BitTriples::new(a, b, c))
    }
}

/// The peer whose OTs a party's `a` and `b` are: the one with the lowest number.
fn first_peer(party: PartyId) -> PartyId {
    PartyId(u16::from(party == PartyId(0)))
}
