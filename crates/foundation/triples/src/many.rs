//! The dealer of any number of parties: authenticated bits from SoftSpoken OT extension between every two,
//! triples by leaky ANDs among all, and buckets.
//!
//! **Sources.** Authenticated bits and their checks: [`Joint`]. Leaky AND: that of Katz, Ranellucci, Rosulek,
//! Wang (ePrint 2018/578), among all parties; `leaky.rs` has its steps. Buckets: [`bucket`](crate::bucket),
//! whose bound holds for any coalition: what leaks of an object, and the guess by which it passes, is one for
//! each object, however many parties lie. **Functionality**: random shared bits, random bits of one party,
//! and triples, in the row form ([`RowShares`]). **Adversary**: malicious, all parties but one, static;
//! assumptions are those of the extension and that AES is an ideal cipher, each AND's hash having a key of
//! its own, BLAKE3 a random oracle.
//!
//! **One batch**, and why in this order. All coins of the batch are committed to before it begins.
//! 1. Shared bits `x`, `y`, `z` for every leaky AND, a chunk at a time. It is checked that everybody's shares
//!    are alike towards all before the next message, which has hashes under the global keys in it.
//! 2. Leaky ANDs: `U` to each peer, then bit 1 of `S` to all.
//! 3. When all bits of `S` have been heard, a coin: the coefficients of one combination of all `L`, which is
//!    tested for zero. Views of these bits are compared at the same time, and before the test begins. Blind,
//!    since `L` depends on its holder's global key, under which everything else is still masked. Each object
//!    with a false `U` passes with probability one half, and then one share of its `x` is known to the cheat.
//! 4. A coin, opened with the last message of that test, to which all have committed: the buckets. What
//!    leaked cannot change any more.
//! 5. Combining opens `y_1 + y_j`, of which the second term is used nowhere else.
//! 6. The openings are settled. Then the triples are handed out.
//!
//! A check that has begun and not passed, whatever the reason, ends the global keys: after an error a dealer
//! refuses everything.
//!
//! **Cost** of a leaky AND, to each peer: three OTs (4 bytes each), 16 bytes of `U` and a bit; three of the
//! tweakable hash. For a bucket, to each peer: a bit for all but its first. That is
//! `(n-1)(B(12 + 16 + 1/8) + (B-1)/8)` bytes a party and triple, 84.6 to each peer with B = 3. A chunk takes
//! four rounds, of which none is left if its bits were made with the set-up, and some chunks together two
//! more. Memory: `48 n` bytes a leaky AND of a batch, and some MiB.

mod combine;
mod leaky;
mod of_two;
pub mod stored;
mod table;
#[cfg(test)]
mod tests;

use core::ops::Range;

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Block, HugeTable, PartyId, Prg, Result, gf128};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{Conduct, Dealer, Here, Honest};
use comity_share::joint::{JointAct, Provisions};
use comity_share::{GlobalKey, Joint, Openings, PairSeeds, RowShares};
use rand_core::CryptoRng;
use zeroize::Zeroize;

use self::leaky::Leaky;
pub use self::of_two::OfTwo;
use self::table::{Table, sections};
use crate::bucket::{Budget, Partition};
use crate::checks;
use crate::deal::stopped;
use crate::dealers::Ands;

/// ANDs of a chunk: as in [`fast`](crate::fast).
const CHUNK: usize = 10_880;

/// An incomplete block of OTs would be for nothing.
const _: () = assert!(3 * CHUNK <= Joint::CHUNK && (3 * CHUNK).is_multiple_of(128));

/// The least number of triples that are handed out at a time, unless fewer are left.
const HANDFUL: usize = 1 << 14;

/// Memory for the leaky ANDs of a batch: 256 MiB.
const MEMORY: usize = 256 << 20;

/// The bits of a blind test.
const BLIND: usize = 128;

/// Bits that are made with the set-up at most, times peers: 32 MiB.
const STOCK: usize = 1 << 20;

/// Chunks whose tables leave together, times peers: 2.8 MB.
const TABLES: usize = 16;

/// Chunks whose tables leave together among so many parties.
fn together(parties: u16) -> usize {
    (TABLES / usize::from(parties - 1)).max(1)
}

/// Coefficients that are drawn at a time.
const COEFFICIENTS: usize = 1 << 10;

/// The most leaky ANDs of a batch among `parties` parties.
pub fn objects(parties: u16) -> usize {
    (MEMORY / (table::BLOCKS * Block::BYTES * usize::from(parties))).min(crate::fast::OBJECTS)
}

/// A dealer of `ands` ANDs, set up with all others by these base OTs, in a session below this one.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if this number of ANDs cannot be dealt at this rho; those of the
/// set-up.
pub fn dealer_over<B: BaseOt<Model = Malicious>>(
    net: &mut Mesh<'_>,
    here: Here,
    ands: Ands,
    rng: &mut dyn CryptoRng,
) -> Result<Many> {
    let (rho, objects) = (here.params.rho, objects(here.parties));
    let budget = match ands {
        Ands::Exactly(ands) => Budget::known(ands, rho, 1, objects),
        Ands::UpTo(most) => Budget::open(most, rho, 1, objects),
    }?;
    Many::over::<B>(net, here.child("dealer"), budget, None, rng)
}

/// One party's triples among any number of parties: `c = a b`, bit by bit. Only a dealer makes them, after
/// every check.
pub struct RowTriples {
    /// Random bits.
    pub a: RowShares,
    /// More random bits.
    pub b: RowShares,
    /// Their products.
    pub c: RowShares,
}

impl RowTriples {
    /// The number of triples.
    pub fn len(&self) -> usize {
        self.a.len()
    }

    /// Whether there are no triples.
    pub fn is_empty(&self) -> bool {
        self.a.is_empty()
    }

    /// Room for `n` triples. Only for code that fills it with triples that it has just checked and combined,
    /// or that it has from such code.
    pub fn blank(me: PartyId, parties: u16, n: usize) -> RowTriples {
        let [a, b, c] = [(); 3].map(|()| RowShares::zeros(me, parties, n));
        RowTriples { a, b, c }
    }

    /// Overwrites the triples from `at` on with a range of those of `other`.
    pub(crate) fn copy_from(&mut self, at: usize, other: &RowTriples, range: Range<usize>) {
        let of = |rows: &mut RowShares, others: &RowShares| rows.copy_from(at, others, range.clone());
        of(&mut self.a, &other.a);
        of(&mut self.b, &other.b);
        of(&mut self.c, &other.c);
    }
}

/// Deals shared bits and triples to any number of parties, all under the same global keys.
///
/// All parties make the same calls in the same order.
pub trait RowDealer: Dealer<Batch = RowTriples> {
    /// This party.
    fn me(&self) -> PartyId;

    /// The number of parties.
    fn parties(&self) -> u16;

    /// This party's global key.
    fn key(&self) -> &GlobalKey;

    /// This party's seeds with each peer, which hide openings of these bits. They live as long as the key.
    fn seeds(&self) -> &PairSeeds;

    /// Random bits that nobody knows.
    ///
    /// # Errors
    /// Those of the channels, and of the checks.
    fn shares(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<RowShares>;

    /// Random bits of each party that it alone knows, `bits` for each, by party: the others' rows hold only
    /// the keys ([`Pairwise::rows_of`](comity_share::Pairwise::rows_of)).
    ///
    /// # Errors
    /// Those of the channels, and of the checks.
    fn masks(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<Vec<RowShares>>;
}

/// One party's side of the dealer among any number of parties.
pub struct Many<C = Honest> {
    backend: Backend,
    joint: Joint<C>,
    leaky: Leaky,
    openings: Openings,
    budget: Budget,
    /// The first column of a batch, which becomes its triples.
    leaders: Table,
    /// The other columns of a batch.
    others: Table,
    /// `L` of every AND of a batch. Secret.
    checked: HugeTable,
    /// The keys to the peers' shares of a chunk. Secret.
    keys: PerPeer<Vec<Block>>,
    /// Which of the leaders are checked triples that were not handed out.
    ready: Range<usize>,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
}

impl Many {
    /// Sets up all parties. The session is the dealers' alone.
    ///
    /// # Errors
    /// Those of [`Joint::setup`].
    pub fn new(net: &mut Mesh<'_>, here: Here, budget: Budget, rng: &mut dyn CryptoRng) -> Result<Many> {
        Many::over::<Csw>(net, here, budget, None, rng)
    }

    /// As [`Many::new`] or, with `bits`, as [`Many::new_for`], by other base OTs.
    ///
    /// # Errors
    /// As [`Many::new`].
    pub fn over<B: BaseOt<Model = Malicious>>(
        net: &mut Mesh<'_>,
        here: Here,
        budget: Budget,
        bits: Option<usize>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Many> {
        let ahead = bits.map_or_else(Provisions::default, |bits| provisions(&budget, bits, here.parties));
        let joint = Joint::over::<B>(net, here.child("authenticated bits"), ahead, rng, Honest)?;
        Ok(Many::with(joint, here, budget))
    }

    /// As [`Many::new`], for a caller that will ask for `bits` bits and then for the budget's triples: as far
    /// as memory goes, the raw material of both is made with the set-up, in fewer rounds than later.
    ///
    /// # Errors
    /// As [`Many::new`].
    pub fn new_for(
        net: &mut Mesh<'_>,
        here: Here,
        budget: Budget,
        bits: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Many> {
        Many::over::<Csw>(net, here, budget, Some(bits), rng)
    }
}

/// The raw material that is made with the set-up, for `bits` bits and then the budget's triples.
fn provisions(budget: &Budget, bits: usize, parties: u16) -> Provisions {
    let batch = budget.known_batch().map_or(0, |(batch, _)| 3 * batch.objects() + BLIND);
    let most = STOCK / usize::from(parties - 1);
    let bits = if bits + batch > most { bits.min(most) } else { bits + batch };
    Provisions { bits, coins: 2 }
}

impl<C: for<'a> Conduct<JointAct<'a>>> Many<C> {
    /// A dealer on these authenticated bits, which must have no other user.
    fn with(joint: Joint<C>, here: Here, budget: Budget) -> Many<C> {
        let Here { me, parties, session, backend, .. } = here;
        let key = joint.key().clone();
        Many {
            backend,
            leaky: Leaky::new(&session.child("leaky ANDs"), backend, me, parties, key.clone()),
            openings: Openings::new(session.child("combining"), backend, key, joint.seeds()),
            joint,
            budget,
            leaders: Table::new(parties),
            others: Table::new(parties),
            checked: HugeTable::default(),
            keys: PerPeer::new(me, parties, |_| vec![Block::ZERO; 3 * CHUNK]),
            ready: 0..0,
            broken: false,
        }
    }

    /// Leaky ANDs of both tables, some chunks at a time, before anything of them is checked but the shares.
    /// Their `L` go to `checked`.
    fn leak(&mut self, net: &mut Mesh<'_>, tables: [&mut Table; 2], checked: &mut [Block]) -> Result<()> {
        let (me, parties) = (self.joint.me(), self.joint.parties());
        let [leaders, others] = tables;
        let (of_leaders, of_others) = checked.split_at_mut(leaders.len());
        let each = |table| Table::chunks_mut(table);
        let chunks =
            each(leaders).zip(of_leaders.chunks_mut(CHUNK)).chain(each(others).zip(of_others.chunks_mut(CHUNK)));
        let mut chunks: Vec<(&mut [Block], &mut [Block])> = chunks.collect();
        for chunks in chunks.chunks_mut(together(parties)) {
            let bytes = chunks.iter().map(|(_, s)| Block::bytes_of(s).len()).sum();
            let mut said = PerPeer::new(me, parties, |_| Vec::with_capacity(bytes));
            for (chunk, s) in chunks.iter_mut() {
                let n = s.len();
                let mut own = &mut [][..];
                let mut macs = Vec::with_capacity(usize::from(parties));
                for (party, section) in sections(chunk, parties) {
                    if party == me { own = section } else { macs.push(section) }
                }
                let mut macs = PerPeer::from_vec(me, macs).expect("a section of each peer");
                let keys = self.keys.as_mut_slice().iter_mut().map(|keys| &mut keys[..3 * n]).collect();
                let mut keys = PerPeer::from_vec(me, keys).expect("keys to each peer's shares");
                self.joint.chunk(net, &mut macs, &mut keys)?;
                let first = &macs.iter().next().expect("a peer").1[..];
                comity_share::forms::own_column(self.joint.key(), first, keys.iter().map(|(_, keys)| &**keys), own);
                self.leaky.garble(chunk, &keys, s, &mut said);
            }
            let heard = self.joint.send(net, "U", said)?;
            let (mut from, mut bits) = (0, Vec::new());
            for (chunk, s) in chunks.iter_mut() {
                self.leaky.evaluate(chunk, s, &heard, from);
                from += Block::bytes_of(s).len();
                self.joint.conduct().before(JointAct::Holds { what: "S", blocks: s });
                leaky::bits(s, &mut bits);
            }
            for (_, theirs) in self.joint.tell(net, "bits of S", &bits.clone())?.iter() {
                bits.iter_mut().zip(theirs).for_each(|(sum, theirs)| *sum ^= theirs);
            }
            let mut bits = &bits[..];
            for (chunk, s) in chunks.iter_mut() {
                let now;
                (now, bits) = bits.split_at(s.len().div_ceil(8));
                self.leaky.close(chunk, s, now);
                self.joint.conduct().before(JointAct::Holds { what: "L", blocks: s });
            }
        }
        Ok(())
    }

    /// Makes the next batch, when nothing is left of the one before and `wanted` are wanted.
    fn batch(&mut self, net: &mut Mesh<'_>, wanted: usize) -> Result<()> {
        let batch = self.budget.next(wanted)?;
        self.ready = 0..0;
        let columns = [batch.buckets, batch.objects() - batch.buckets];
        let chunks: usize = columns.iter().map(|n| n.div_ceil(CHUNK)).sum();
        // The chunks' and the blind test's, if their bits are not there; the coefficients, and the buckets.
        let made = if self.joint.stocked() >= 3 * batch.objects() + BLIND { 0 } else { chunks + 1 };
        self.joint.plan(net, made + 2)?;
        let parties = self.joint.parties();
        let [mut leaders, mut others] =
            [&mut self.leaders, &mut self.others].map(|table| std::mem::replace(table, Table::new(parties)));
        leaders.resize(columns[0]);
        others.resize(columns[1]);
        let mut checked = std::mem::take(&mut self.checked);
        table::grow(&mut checked, batch.objects());
        self.leak(net, [&mut leaders, &mut others], &mut checked[..batch.objects()])?;
        // All bits of S are here; and nobody has heard others than another.
        let coin = self.joint.settled_coin(net)?;
        let sigma = self.combination(&coin, &checked[..batch.objects()]);
        checked[..batch.objects()].zeroize();
        let coin = self.joint.sums_to_zero_then_coin(net, sigma, checks::LEAKY_AND)?;
        let partition = Partition::new(batch, &coin, self.backend);
        let (joint, openings) = (&mut self.joint, &mut self.openings);
        combine::combine(net, joint, openings, &partition, &mut leaders, &others)?;
        self.openings.settle(net, self.joint.conduct())?;
        (self.leaders, self.others, self.checked) = (leaders, others, checked);
        self.ready = 0..batch.buckets;
        Ok(())
    }

    /// The sum of all `L`, each times a coefficient that the coin names.
    fn combination(&self, coin: &[u8; 32], checked: &[Block]) -> Block {
        let seed = blake3::derive_key("comity TinyOT: coefficients of the check of leaky ANDs", coin);
        let mut prg = Prg::new(self.backend, Block::new(std::array::from_fn(|i| seed[i])));
        let mut coefficients = [Block::ZERO; COEFFICIENTS];
        checked.chunks(COEFFICIENTS).fold(Block::ZERO, |sum, checked| {
            let coefficients = &mut coefficients[..checked.len()];
            prg.fill_blocks(coefficients);
            sum ^ gf128::inner_product(self.backend, coefficients, checked)
        })
    }

    /// Does the work of a call, unless an earlier call failed.
    fn unless_broken<T>(&mut self, call: impl FnOnce(&mut Many<C>) -> Result<T>) -> Result<T> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(stopped());
        }
        let result = call(self)?;
        self.broken = false;
        Ok(result)
    }
}

impl<C> Drop for Many<C> {
    fn drop(&mut self) {
        self.keys.as_mut_slice().iter_mut().for_each(|keys| keys.as_mut_slice().zeroize());
    }
}

impl<C: for<'a> Conduct<JointAct<'a>> + Send> RowDealer for Many<C> {
    fn me(&self) -> PartyId {
        self.joint.me()
    }

    fn parties(&self) -> u16 {
        self.joint.parties()
    }

    fn key(&self) -> &GlobalKey {
        self.joint.key()
    }

    fn seeds(&self) -> &PairSeeds {
        self.joint.seeds()
    }

    fn shares(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<RowShares> {
        self.unless_broken(|dealer| Ok(dealer.joint.bits(net, bits)?.rows(dealer.joint.key())))
    }

    fn masks(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<Vec<RowShares>> {
        self.unless_broken(|dealer| {
            let all = dealer.joint.bits(net, bits)?;
            Ok((0..dealer.joint.parties()).map(|owner| all.rows_of(PartyId(owner), dealer.joint.key())).collect())
        })
    }
}

impl<C: for<'a> Conduct<JointAct<'a>> + Send> Dealer for Many<C> {
    type Batch = RowTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<RowTriples> {
        let (me, parties) = (self.joint.me(), self.joint.parties());
        if n == 0 {
            return Ok(RowTriples::blank(me, parties, 0));
        }
        self.unless_broken(|dealer| {
            if dealer.ready.is_empty() {
                dealer.batch(net, n)?;
            }
            let wanted = n.max(dealer.ready.len().min(HANDFUL));
            let mut triples = RowTriples::blank(me, parties, wanted);
            let mut at = 0;
            loop {
                let now = dealer.ready.len().min(wanted - at);
                dealer.leaders.copy(dealer.ready.start, now, at, &mut triples);
                dealer.ready.start += now;
                at += now;
                if at == wanted {
                    return Ok(triples);
                }
                dealer.batch(net, wanted - at)?;
            }
        })
    }
}
