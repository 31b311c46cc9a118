//! `Nnob`: the functionality F_DEAL (figure 5), and authenticated triples by the AND of figure 6.
//!
//! A triple is the AND of figure 6 on two random shared bits, `[a] = [u_A | u_B]` and `[b] = [v_A | v_B]`, where `u`,
//! `v` are the bits of either party's authenticated local AND `w = u v`. So its steps 1 and 2, which turn a random
//! local AND into one of given bits, have nothing to do: `w_A = a_A b_A` is there. Steps 3 and 4 are, for A as sender
//! of an authenticated OT `w = u_c` and with a random bit `r` of A:
//!
//! - B reveals `d = c + b_B`; A reveals `f = u_0 + u_1 + a_A` and `g = r + u_0 + d a_A`.
//! - `[s_B] = [w] + f [c] + g`, which is `[r + a_A b_B]`.
//!
//! and the same with the parties changed. `[c] = [a b]` is then `[r_A + s_A + w_A | r_B + s_B + w_B]`.
//!
//! **Failure.** A session fails with probability at most `2^-rho`, in which `2^-(rho + 1)` is for the buckets of all
//! batches in four kinds (ANDs and OTs, each in two directions), `2^-(rho + 2)` for the privacy amplification of all
//! chunks both ways, and as much for their test for one key.

use comity_channel::{Channel, Mesh};
use comity_core::{Block, Error, PartyId, Prg, Result};
use comity_protocol::{Conduct, Dealer, Here, Honest};
use comity_share::{AuthBits, GlobalKey, Share};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::aand::aand;
use super::abit::{ABits, Shape};
use super::aot::aot;
use super::conduct::Act;
use super::context::Context;
use super::tau::tau;
use crate::bucket::{Bucketing, Budget};
use crate::deal::stopped;
use crate::triples::{Checked, Triple, Triples};

/// The most leaky objects of one kind in a batch.
const OBJECTS: usize = 1 << 17;

/// Bits of a chunk, each way.
const COLUMNS: usize = 1 << 16;

/// Authenticated bits of a triple, each way, in buckets of `size`.
const fn bits(size: usize) -> u64 {
    7 * size as u64 + 1
}

/// The number of triples that a session may use, and how likely it may fail: both parties compute the same
/// plan.
#[derive(Clone, Debug)]
pub struct Plan {
    budget: Budget,
    /// Privacy amplification and the test for one key fail within `2^-chunk_bits` each in a chunk and direction.
    chunk_bits: u32,
    /// The most chunks.
    chunks: u64,
}

impl Plan {
    /// For a session that will use `ands` triples.
    ///
    /// # Errors
    /// As [`Budget::known`].
    pub fn known(ands: u64, rho: u32) -> Result<Plan> {
        Plan::new(Budget::known(ands, rho, KINDS, OBJECTS)?, ands, rho)
    }

    /// For a session that uses `most` triples at most, some at a time.
    ///
    /// # Errors
    /// As [`Budget::open`].
    pub fn open(most: u64, rho: u32) -> Result<Plan> {
        Plan::new(Budget::open(most, rho, KINDS, OBJECTS)?, most, rho)
    }

    /// The buckets.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    fn new(budget: Budget, ands: u64, rho: u32) -> Result<Plan> {
        if rho > 128 {
            return Err(Error::invalid_input(format!("rho is at most 128, not {rho}")));
        }
        // Twice as many chunks as triples in buckets of 8 fill, for single bits and small batches, and 2^16 besides.
        let chunks = 2 * ands * bits(8) / COLUMNS as u64 + (1 << 16);
        Ok(Plan { budget, chunk_bits: rho + 2 + (2 * chunks).next_power_of_two().ilog2(), chunks })
    }
}

/// Four kinds of leaky object, and half of the failure for the rest: as if there were eight.
const KINDS: u32 = 8;

/// The paper's own dealer. A session makes one of them.
///
/// Realizes F_DEAL of figure 5 against a malicious peer, except with the probability `2^-rho` of the
/// session's [`Plan`]; the chunks of authenticated bits that a plan allows for are counted, and one more is
/// an error. A batch is checked whole before any of it is given out. The first call runs base OTs (2
/// [`tau`](super::tau::tau) each way).
///
/// **Cost** of a triple in buckets of `B`: `7 B + 1` authenticated bits of each party, at `2 tau` bits on the wire
/// each, `2 B` leaky ANDs at 129 and `2 B` leaky OTs at 769 bits. With `B = 4` and `tau = 200` that is 3.8 kB, both
/// ways together.
pub struct Nnob<C = Honest> {
    context: Context<C>,
    bits: ABits,
    budget: Budget,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
}

impl Nnob {
    /// A dealer that is ready to deal: it has drawn this party's key and sent nothing. No other use may have
    /// the session.
    pub fn new(here: Here, plan: Plan, rng: &mut dyn CryptoRng) -> Nnob {
        let Plan { budget, chunk_bits, chunks } = plan;
        let shape = Shape { tau: tau(128, chunk_bits), columns: COLUMNS, spares: chunk_bits as usize, chunks };
        let mut seed = Zeroizing::new([0; 16]);
        rng.fill_bytes(&mut *seed);
        let rng = Prg::new(here.backend, Block::new(*seed));
        Nnob::with(Context::new(here, rng, Honest), ABits::new(shape, None), budget)
    }
}

impl<C: for<'a> Conduct<Act<'a>>> Nnob<C> {
    pub(super) fn with(context: Context<C>, bits: ABits, budget: Budget) -> Nnob<C> {
        Nnob { context, bits, budget, broken: false }
    }

    /// Does the work of a call, unless an earlier call failed.
    fn unless_broken<T>(&mut self, call: impl FnOnce(&mut Nnob<C>) -> Result<T>) -> Result<T> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(stopped());
        }
        let result = call(self)?;
        self.broken = false;
        Ok(result)
    }

    /// Shares with this party's half, the peer's, or both.
    fn deal(&mut self, ch: &mut dyn Channel, out: &mut [Share], [own, theirs]: [bool; 2]) -> Result<()> {
        let blocks = |wanted: bool| Zeroizing::new(vec![Block::ZERO; if wanted { out.len() } else { 0 }]);
        let (mut macs, mut keys) = (blocks(own), blocks(theirs));
        self.unless_broken(|dealer| dealer.bits.draw(&mut dealer.context, ch, &mut macs, &mut keys))?;
        let block = |blocks: &[Block], j: usize| blocks.get(j).copied().unwrap_or_default();
        out.iter_mut().enumerate().for_each(|(j, share)| *share = Share::from_parts(block(&macs, j), block(&keys, j)));
        Ok(())
    }

    /// One batch of triples. They are of use when the ledger is settled.
    fn batch(&mut self, ch: &mut dyn Channel, batch: Bucketing, triples: &mut [Triple]) -> Result<()> {
        let (context, bits) = (&mut self.context, &mut self.bits);
        let [own, theirs] = aand(context, bits, ch, batch)?;
        // Steps 1 and 2.
        for (triple, (mac, key)) in triples.iter_mut().zip(own.iter().zip(theirs.iter())) {
            let [a, b, c] = std::array::from_fn(|i| Share::from_parts(mac[i], key[i]));
            *triple = Triple { a, b, c };
        }
        drop((own, theirs));
        let [sent, received] = aot(context, bits, ch, batch)?;
        let n = batch.buckets;
        let empty = |n: usize| Zeroizing::new(vec![Block::ZERO; n]);
        let (mut r, mut peers_r) = (empty(n), empty(n));
        bits.draw(context, ch, &mut r, &mut peers_r)?;
        // Step 3, and 4 at once: d as receiver, f and g as sender.
        let (mut macs, mut keys) = (empty(n), empty(n));
        for j in 0..n {
            macs[j] = received[j][2] ^ triples[j].b.mac();
            keys[j] = sent[j][2] ^ triples[j].b.key();
        }
        let [d, peers_d] = context.reveal(ch, &mut macs, &mut keys)?;
        let (mut macs, mut keys) = (empty(2 * n), empty(2 * n));
        for j in 0..n {
            let [u0, u1, ..] = sent[j];
            macs[j] = u0 ^ u1 ^ triples[j].a.mac();
            macs[n + j] = r[j] ^ u0 ^ triples[j].a.mac().masked(peers_d.get(j));
            let [u0, u1, ..] = received[j];
            keys[j] = u0 ^ u1 ^ triples[j].a.key();
            keys[n + j] = peers_r[j] ^ u0 ^ triples[j].a.key().masked(d.get(j));
        }
        let [fg, peers_fg] = context.reveal(ch, &mut macs, &mut keys)?;
        let delta = context.key.clone();
        for (j, triple) in triples.iter_mut().enumerate() {
            let [.., c, w] = received[j];
            let own = w ^ c.masked(peers_fg.get(j)) ^ r[j];
            let [.., c, w] = sent[j];
            let theirs = w ^ c.masked(fg.get(j)) ^ peers_r[j];
            let sum = triple.c ^ Share::from_parts(own, theirs);
            triple.c = sum.add_to_own(peers_fg.get(n + j)).add_to_theirs(fg.get(n + j), &delta);
        }
        Ok(())
    }
}

impl<C: for<'a> Conduct<Act<'a>> + Send> AuthBits for Nnob<C> {
    fn party(&self) -> PartyId {
        self.context.party
    }

    fn key(&self) -> &GlobalKey {
        &self.context.key
    }

    fn shares(&mut self, ch: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        self.deal(ch, out, [true; 2])
    }

    fn bits(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        let own = owner == self.context.party;
        self.deal(ch, out, [own, !own])
    }
}

impl<C: for<'a> Conduct<Act<'a>> + Send> Dealer for Nnob<C> {
    type Batch = Triples<Checked>;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<Triples<Checked>> {
        let (_, ch) = net.pair()?;
        self.unless_broken(|dealer| {
            let mut triples = Triples::blank(0);
            while triples.len() < n {
                let batch = dealer.budget.next(n - triples.len())?;
                dealer.batch(ch, batch, triples.grow(batch.buckets))?;
            }
            dealer.context.ledger.settle(ch)?;
            Ok(triples.vouch())
        })
    }
}
