//! The fast dealer.

mod combine;
mod leaky;
mod shares;
#[cfg(test)]
mod tests;
mod words;

use core::ops::Range;

use comity_channel::Channel;
use comity_core::{Backend, Block, Misbehaviour, Prg, Result, SessionId, Table};
use comity_share::{Extension, GlobalKey, Ledger, Share, Source, coin, equal};
use rand_core::CryptoRng;

use self::leaky::Leaky;
use self::shares::{BLOCKS, split, split_mut};
use crate::bucket::{Batch, Budget, Partition};
use crate::{Checked, Dealer, Triple, Triples};

/// ANDs a chunk: their three OTs each way are one chunk of the extension.
const CHUNK: usize = 10_880;

/// How many triples are handed out at least, where there are so many.
const HANDFUL: usize = 1 << 14;

/// The most leaky ANDs of a batch.
pub const OBJECTS: usize = 3 << 19;

/// The fast dealer: one party's side.
pub struct Fast {
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
    leaders: Table,
    /// The other columns.
    others: Table,
    /// Which of the leaders are checked triples that were not handed out.
    ready: Range<usize>,
    wires: Wires,
}

/// What a chunk sends and receives.
struct Wires {
    /// `G`, this party's and the peer's.
    g: [Table; 2],
    bits: [Vec<u8>; 2],
}

impl Fast {
    /// Sets up authenticated bits. `session` is the dealer's alone.
    ///
    /// # Errors
    /// Those of the base OTs, and of the channel.
    pub fn new<C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        backend: Backend,
        party: u32,
        budget: Budget,
        rng: &mut impl CryptoRng,
    ) -> Result<Fast> {
        let extension = Extension::setup(ch, &session.child("authenticated bits"), backend, party, rng)?;
        let leaky = Leaky::new(&session.child("leaky ANDs"), backend, party, extension.key().clone());
        let mut seed = [0; 16];
        rng.fill_bytes(&mut seed);
        let wires = Wires {
            g: [(); 2].map(|()| Table::zeroed(CHUNK)),
            bits: [(); 2].map(|()| vec![0; CHUNK / 8]),
        };
        Ok(Fast {
            session: *session,
            backend,
            extension,
            leaky,
            ledger: Ledger::new(session.child("combining"), party),
            budget,
            rng: Prg::new(backend, Block::new(seed)),
            batch: 0,
            leaders: Table::zeroed(0),
            others: Table::zeroed(0),
            ready: 0..0,
            wires,
        })
    }

    /// Leaky triples, chunk by chunk, before the comparison.
    fn leak(&mut self, ch: &mut dyn Channel, equality: &mut blake3::Hasher, out: &mut [Block]) -> Result<()> {
        let Wires { g: [own, theirs], bits: [shown, seen] } = &mut self.wires;
        for chunk in out.chunks_mut(BLOCKS * CHUNK) {
            let n = chunk.len() / BLOCKS;
            let (macs, keys) = chunk.split_at_mut(3 * n);
            self.extension.halves(ch, macs, keys)?;
            self.leaky.garble(split(chunk), &mut own[..n]);
            ch.exchange(Block::bytes_of(&own[..n]), Block::bytes_of_mut(&mut theirs[..n]))?;
            let (shown, seen) = (&mut shown[..n.div_ceil(8)], &mut seen[..n.div_ceil(8)]);
            self.leaky.evaluate(split(chunk), &theirs[..n], shown);
            ch.exchange(shown, seen)?;
            let [.., z] = split_mut(chunk);
            self.leaky.close(z, [shown, seen], equality);
        }
        Ok(())
    }

    /// Makes the next batch, when nothing is left of the one before.
    fn batch(&mut self, ch: &mut dyn Channel, batch: Batch) -> Result<()> {
        let session = self.session.child(&format!("batch {}", self.batch));
        self.batch += 1;
        self.ready = 0..0;
        let [mut leaders, mut others] = [&mut self.leaders, &mut self.others].map(std::mem::take);
        let blocks = [batch.buckets, batch.objects() - batch.buckets].map(|n| BLOCKS * n);
        let (leaders_now, others_now) = (grown(&mut leaders, blocks[0]), grown(&mut others, blocks[1]));
        let mut equality = blake3::Hasher::new_keyed(&session.child("comparison of L").to_bytes());
        self.leak(ch, &mut equality, leaders_now)?;
        self.leak(ch, &mut equality, others_now)?;
        let (party, rng) = (self.extension.party(), &mut self.rng);
        let digest = *equality.finalize().as_bytes();
        equal(ch, session.child("comparison"), party, &digest, Misbehaviour::LeakyAnd, rng)?;
        let coin = coin(ch, session.child("buckets"), party, rng)?;
        let partition = Partition::new(batch, &coin, self.backend);
        combine::combine(ch, batch, &partition, self.extension.key(), leaders_now, others_now, &mut self.ledger)?;
        self.ledger.settle(ch)?;
        (self.leaders, self.others) = (leaders, others);
        self.ready = 0..batch.buckets;
        Ok(())
    }
}

/// The first blocks of a table, which is made anew where it is too small.
fn grown(table: &mut Table, blocks: usize) -> &mut [Block] {
    if table.len() < blocks {
        // Not both at the same time.
        *table = Table::default();
        *table = Table::zeroed(blocks);
    }
    &mut table[..blocks]
}

impl Source for Fast {
    fn party(&self) -> u32 {
        self.extension.party()
    }

    fn key(&self) -> &GlobalKey {
        self.extension.key()
    }

    fn shares(&mut self, ch: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        self.extension.shares(ch, out)
    }

    fn bits(&mut self, ch: &mut dyn Channel, owner: u32, out: &mut [Share]) -> Result<()> {
        self.extension.bits(ch, owner, out)
    }
}

impl Dealer for Fast {
    fn triples(&mut self, ch: &mut dyn Channel, n: usize) -> Result<Triples<Checked>> {
        if n == 0 {
            return Ok(Triples::none());
        }
        if self.ready.is_empty() {
            let batch = self.budget.next(n)?;
            self.batch(ch, batch)?;
        }
        let count = n.max(self.ready.len().min(HANDFUL));
        let mut triples = Triples::blank(count);
        let mut rest = triples.as_mut_slice();
        while !rest.is_empty() {
            if self.ready.is_empty() {
                let batch = self.budget.next(rest.len())?;
                self.batch(ch, batch)?;
            }
            let (now, later) = rest.split_at_mut(self.ready.len().min(rest.len()));
            shares::copy(&self.leaders, self.ready.start, now);
            self.ready.start += now.len();
            rest = later;
        }
        Ok(triples.vouch())
    }
}
