//! The fast dealer: authenticated bits from SoftSpoken OT extension, triples by leaky ANDs and buckets.
//!
//! **Sources.** Authenticated bits: Roy (CRYPTO 2022), whose correlation is that of MACs ([`Extension`]).
//! Leaky AND: Katz, Ranellucci, Rosulek, Wang (Crypto 2018, ePrint 2018/578), `leaky.rs` has its steps.
//! Buckets and their combining: Nielsen et al. (Crypto 2012), as Wang, Ranellucci, Katz (ePrint 2017/030) do
//! it for shared triples; [`bucket`](crate::bucket) has the bound. **Functionality**: authenticated shares
//! and triples of [`TripleDealer`](crate::TripleDealer). **Adversary**: malicious, either party, static;
//! assumptions are those of the extension and that AES is an ideal cipher, each AND's hash having a key of
//! its own (`hashes.rs` of this crate says why), BLAKE3 a random oracle.
//!
//! **One batch**, and why in this order
//! 1. Shared bits `x`, `y`, `z` for every leaky AND of some chunks, in one of the extension. This is checked
//!    before any `G` made of it leaves: a receiver whose choices are inconsistent would know hashed values of
//!    `G` but for a few bits of delta, and could test these one by one.
//! 2. Leaky ANDs of these chunks. `G` goes both ways at the same time, then bit 1 of `S`. A party that waits
//!    for the other's bit before it sends its own can make `d` what it likes, but a wrong `d` makes the `L`
//!    differ by the sum of the deltas.
//! 3. One comparison of all `L` by commit and open, and with it a coin to which both contribute: the buckets.
//!    What a party says in the comparison, and so what it guessed, is fixed before it knows the coin
//!    ([`equal_with_coin`]). If the comparison fails nothing of the batch was used, and the session is over.
//!    Each object with a false `G` passes with probability one half, and then one share of its `x` is known
//!    to the cheat.
//! 4. Combining, once a party has seen the comparison pass. The bits shown are `y_1 + y_j`, of which the
//!    second term is used nowhere else; with them goes the digest of their MACs ([`Ledger`]), and nothing in
//!    a message depends on the peer's bits.
//! 5. The digest is held against what was seen. Then the triples are handed out.
//!
//! Shares and triples may be asked for in any order. The failure of all batches together is within `2^-rho`
//! ([`Budget`]).
//!
//! **Cost** of a leaky AND each way: three OTs (3.88 bytes each), 16 bytes of `G` and a bit; three of the
//! tweakable hash; 16 bytes of BLAKE3. For a bucket each way: a bit, and 32 bytes of BLAKE3, for all but its
//! first. With B = 3 that is 167 bytes a triple, both ways. Messages that wait for each other: five for eight
//! chunks, of which three are for their bits; five for a batch, of which four go one way only. Memory: 96
//! bytes a leaky AND of a batch, used again for the next one, and some 15 MiB for eight chunks.

mod combine;
mod conduct;
mod leaky;
mod shares;
#[cfg(test)]
pub(crate) mod tests;

use core::ops::Range;

use comity_channel::{Channel, Mesh};
use comity_core::{Backend, Block, HugeTable, PartyId, Prg, Result, SessionId};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{Conduct, Dealer, Here, Honest};
use comity_share::{AuthBits, Extension, GlobalKey, Ledger, Share, equal_with_coin};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use self::conduct::Act;
use self::leaky::Leaky;
use self::shares::{BLOCKS, split, split_mut};
use crate::bucket::{Budget, Partition};
use crate::checks;
use crate::deal::stopped;
use crate::triples::{Checked, Triples};

/// ANDs a chunk, whose three OTs each way are whole blocks of the extension: all that a chunk passes through
/// is about as large as a second-level cache.
const CHUNK: usize = 10_880;

/// The number of chunks whose messages leave together. The memory that they use then stays in a third-level
/// cache.
const TOGETHER: usize = 8;

/// An incomplete block of OTs would be for nothing.
const _: () = assert!(3 * CHUNK * TOGETHER <= Extension::LONGEST && (3 * CHUNK).is_multiple_of(128));

/// The least number of triples that are handed out at a time, unless fewer are left.
const HANDFUL: usize = 1 << 14;

/// The most leaky ANDs of a batch.
pub const OBJECTS: usize = 3 << 19;

/// One party's side of the fast dealer.
pub struct Fast<C = Honest> {
    session: SessionId,
    backend: Backend,
    extension: Extension,
    leaky: Leaky,
    ledger: Ledger,
    budget: Budget,
    rng: Prg,
    /// Number of the next batch.
    batch: u64,
    /// The first column of a batch, which becomes its triples.
    leaders: HugeTable,
    /// The other columns of a batch.
    others: HugeTable,
    /// Which of the leaders are checked triples that were not handed out.
    ready: Range<usize>,
    wires: Wires,
    conduct: C,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
}

/// The messages that some chunks send and receive.
struct Wires {
    /// `G`, this party's and the peer's.
    g: [HugeTable; 2],
    bits: [Vec<u8>; 2],
}

impl Fast {
    /// Sets up authenticated bits. The session is the dealer's alone.
    ///
    /// # Errors
    /// Errors of the base OTs, and of the channel.
    pub fn new(ch: &mut dyn Channel, here: Here, budget: Budget, rng: &mut dyn CryptoRng) -> Result<Fast> {
        Fast::over::<Csw>(ch, here, budget, rng)
    }

    /// As [`Fast::new`], by other base OTs.
    ///
    /// # Errors
    /// As [`Fast::new`].
    pub fn over<B: BaseOt<Model = Malicious>>(
        ch: &mut dyn Channel,
        here: Here,
        budget: Budget,
        rng: &mut dyn CryptoRng,
    ) -> Result<Fast> {
        let Here { me, session, backend, .. } = here;
        let (session_of_bits, key) = (session.child("authenticated bits"), GlobalKey::of(me, rng));
        let extension = Extension::over::<B>(ch, &session_of_bits, backend, [me, me.other()], key, rng)?;
        let mut seed = Zeroizing::new([0; 16]);
        rng.fill_bytes(&mut *seed);
        Ok(Fast::with(extension, here, budget, Prg::new(backend, Block::new(*seed)), Honest))
    }
}

impl<C: for<'a> Conduct<Act<'a>>> Fast<C> {
    /// A dealer on this extension, which must have no other user.
    fn with(extension: Extension, here: Here, budget: Budget, rng: Prg, conduct: C) -> Fast<C> {
        let Here { me: party, session, backend, .. } = here;
        Fast {
            session,
            backend,
            leaky: Leaky::new(&session.child("leaky ANDs"), backend, party, extension.key().clone()),
            extension,
            ledger: Ledger::new(session.child("combining"), party, party.other()),
            budget,
            rng,
            batch: 0,
            leaders: HugeTable::default(),
            others: HugeTable::default(),
            ready: 0..0,
            wires: Wires { g: Default::default(), bits: Default::default() },
            conduct,
            broken: false,
        }
    }

    /// Leaky triples of some chunks, before the comparison. What of them can be said at once is one message.
    fn leak(&mut self, ch: &mut dyn Channel, equality: &mut blake3::Hasher, chunks: &mut [&mut [Block]]) -> Result<()> {
        let ands = |chunk: &[Block]| chunk.len() / BLOCKS;
        let (objects, bytes) =
            chunks.iter().map(|chunk| ands(chunk)).fold((0, 0), |sums, n| (sums.0 + n, sums.1 + n.div_ceil(8)));
        let mut halves: Vec<[&mut [Block]; 2]> =
            chunks.iter_mut().map(|chunk| chunk.split_at_mut(chunk.len() / 2).into()).collect();
        self.extension.halves(ch, &mut halves)?;
        let Wires { g: [own, theirs], bits: [shown, seen] } = &mut self.wires;
        let (own, theirs) = (grown(own, objects), grown(theirs, objects));
        for bits in [&mut *shown, &mut *seen] {
            bits.resize(bytes, 0);
        }
        self.leaky.begin(objects);
        let mut at = 0;
        for chunk in chunks.iter() {
            let range = at..at + ands(chunk);
            at = range.end;
            let own = &mut own[range.clone()];
            self.leaky.garble(split(chunk), range, own);
            self.conduct.before(Act::G(own));
        }
        ch.exchange(Block::bytes_of(own), Block::bytes_of_mut(theirs))?;
        let (mut at, mut rest) = (0, &mut shown[..]);
        for chunk in chunks.iter() {
            let n = ands(chunk);
            let (range, (bits, later)) = (at..at + n, std::mem::take(&mut rest).split_at_mut(n.div_ceil(8)));
            (at, rest) = (range.end, later);
            self.leaky.evaluate(split(chunk), range.clone(), &theirs[range.clone()], bits);
            self.conduct.before(Act::S { x: &chunk[..n], s: self.leaky.s(range), bits });
        }
        ch.exchange(shown, seen)?;
        seen.iter_mut().zip(&*shown).for_each(|(theirs, own)| *theirs ^= own);
        let (mut at, mut rest) = (0, &seen[..]);
        for chunk in chunks.iter_mut() {
            let n = ands(chunk);
            let (range, (d, later)) = (at..at + n, rest.split_at(n.div_ceil(8)));
            (at, rest) = (range.end, later);
            let [.., z] = split_mut(chunk);
            let l = self.leaky.close(z, range, d);
            self.conduct.before(Act::L(l));
            equality.update(Block::bytes_of(l));
        }
        Ok(())
    }

    /// Does the work of a call, unless an earlier call failed.
    fn unless_broken<T>(&mut self, call: impl FnOnce(&mut Fast<C>) -> Result<T>) -> Result<T> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(stopped());
        }
        let result = call(self)?;
        self.broken = false;
        Ok(result)
    }

    /// Makes the next batch, when nothing is left of the one before and `wanted` are wanted.
    fn batch(&mut self, ch: &mut dyn Channel, wanted: usize) -> Result<()> {
        let batch = self.budget.next(wanted)?;
        let session = self.session.child(&format!("batch {}", self.batch));
        self.batch += 1;
        self.ready = 0..0;
        let [mut leaders, mut others] = [&mut self.leaders, &mut self.others].map(std::mem::take);
        let blocks = [batch.buckets, batch.objects() - batch.buckets].map(|n| BLOCKS * n);
        let (leaders_now, others_now) = (grown(&mut leaders, blocks[0]), grown(&mut others, blocks[1]));
        let mut equality = blake3::Hasher::new_keyed(&session.child("comparison of L").to_bytes());
        let chunks = leaders_now.chunks_mut(BLOCKS * CHUNK).chain(others_now.chunks_mut(BLOCKS * CHUNK));
        let mut chunks: Vec<&mut [Block]> = chunks.collect();
        // As few groups as there must be, of about as many chunks: a short last one would wait as often, and
        // the others take more memory.
        let groups = chunks.len().div_ceil(TOGETHER);
        let each = chunks.len().div_ceil(groups);
        for together in chunks.chunks_mut(each) {
            self.leak(ch, &mut equality, together)?;
        }
        let (party, rng) = (self.extension.party(), &mut self.rng);
        let digest = *equality.finalize().as_bytes();
        let session = session.child("comparison");
        let coin = equal_with_coin(&mut Mesh::of_two(party, &mut *ch), session, &digest, checks::LEAKY_AND, rng)?;
        let partition = Partition::new(batch, &coin, self.backend);
        self.conduct.before(Act::Buckets(&partition));
        let (key, conduct) = (self.extension.key(), &mut self.conduct);
        combine::combine(ch, &partition, key, leaders_now, others_now, &mut self.ledger, conduct)?;
        (self.leaders, self.others) = (leaders, others);
        self.ready = 0..batch.buckets;
        Ok(())
    }
}

/// The first blocks of a table, which is made anew where it is too small.
fn grown(table: &mut HugeTable, blocks: usize) -> &mut [Block] {
    if table.len() < blocks {
        // Not both at the same time.
        *table = HugeTable::default();
        *table = HugeTable::zeroed(blocks);
    }
    &mut table[..blocks]
}

impl<C: for<'a> Conduct<Act<'a>> + Send> AuthBits for Fast<C> {
    fn party(&self) -> PartyId {
        self.extension.party()
    }

    fn key(&self) -> &GlobalKey {
        self.extension.key()
    }

    fn shares(&mut self, ch: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        self.unless_broken(|dealer| dealer.extension.shares(ch, out))
    }

    fn bits(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        self.unless_broken(|dealer| dealer.extension.bits(ch, owner, out))
    }

    fn of_each(&mut self, ch: &mut dyn Channel, own: [&mut [Share]; 2], shares: &mut [Share]) -> Result<()> {
        self.unless_broken(|dealer| dealer.extension.of_each(ch, own, shares))
    }
}

impl<C: for<'a> Conduct<Act<'a>> + Send> Dealer for Fast<C> {
    type Batch = Triples<Checked>;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<Triples<Checked>> {
        let (_, ch) = net.pair()?;
        if n == 0 {
            return Ok(Triples::none());
        }
        self.unless_broken(|dealer| {
            if dealer.ready.is_empty() {
                dealer.batch(ch, n)?;
            }
            let mut triples = Triples::blank(n.max(dealer.ready.len().min(HANDFUL)));
            let mut rest = triples.as_mut_slice();
            loop {
                let (now, later) = rest.split_at_mut(dealer.ready.len().min(rest.len()));
                shares::copy(&dealer.leaders, dealer.ready.start, now);
                dealer.ready.start += now.len();
                rest = later;
                if rest.is_empty() {
                    return Ok(triples.vouch());
                }
                dealer.batch(ch, rest.len())?;
            }
        })
    }
}
