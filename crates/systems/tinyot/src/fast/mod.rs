//! The fast dealer.

mod combine;
mod leaky;
#[cfg(test)]
mod tests;

use comity_channel::Channel;
use comity_core::{Backend, Block, Misbehaviour, Prg, Result, SessionId, Table};
use comity_share::{Extension, GlobalKey, Ledger, Share, Source, coin, equal};
use rand_core::CryptoRng;

use self::leaky::{Leaky, Shares};
use crate::bucket::{Batch, Budget, Partition};
use crate::{Checked, Dealer, Triple, Triples};

/// ANDs a chunk: their three OTs each way are one chunk of the extension.
const CHUNK: usize = (Extension::CHUNK / 3) & !127;

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
    /// All columns of a batch but the first.
    others: Table,
    wires: Wires,
}

/// What a chunk passes through. Secret, but for what was on the wire.
struct Wires {
    macs: Table,
    keys: Table,
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
            macs: Table::zeroed(3 * CHUNK),
            keys: Table::zeroed(3 * CHUNK),
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
            others: Table::zeroed(0),
            wires,
        })
    }

    /// Leaky triples, before the comparison.
    fn leak(&mut self, ch: &mut dyn Channel, equality: &mut blake3::Hasher, out: &mut [Triple]) -> Result<()> {
        let Wires { macs, keys, g: [own, theirs], bits: [shown, seen] } = &mut self.wires;
        for out in out.chunks_mut(CHUNK) {
            let n = out.len();
            self.extension.halves(ch, &mut macs[..3 * n], &mut keys[..3 * n])?;
            let shares = Shares { macs: &macs[..3 * n], keys: &keys[..3 * n] };
            self.leaky.garble(shares, &mut own[..n]);
            ch.exchange(Block::bytes_of(&own[..n]), Block::bytes_of_mut(&mut theirs[..n]))?;
            let (shown, seen) = (&mut shown[..n.div_ceil(8)], &mut seen[..n.div_ceil(8)]);
            self.leaky.evaluate(shares, &mut theirs[..n], shown);
            ch.exchange(shown, seen)?;
            self.leaky.close(shares, [shown, seen], equality, out);
        }
        Ok(())
    }

    /// One batch: `first` gets its triples.
    fn batch(&mut self, ch: &mut dyn Channel, batch: Batch, first: &mut [Triple]) -> Result<()> {
        let session = self.session.child(&format!("batch {}", self.batch));
        self.batch += 1;
        let mut others = std::mem::replace(&mut self.others, Table::zeroed(0));
        let blocks = 6 * (batch.objects() - batch.buckets);
        if others.len() < blocks {
            others = Table::zeroed(blocks);
        }
        let followers: &mut [Triple] = bytemuck::cast_slice_mut(&mut others[..blocks]);
        let mut equality = blake3::Hasher::new_keyed(&session.child("comparison of L").to_bytes());
        self.leak(ch, &mut equality, first)?;
        self.leak(ch, &mut equality, followers)?;
        let (party, rng) = (self.extension.party(), &mut self.rng);
        let digest = *equality.finalize().as_bytes();
        equal(ch, session.child("comparison"), party, &digest, Misbehaviour::LeakyAnd, rng)?;
        let coin = coin(ch, session.child("buckets"), party, rng)?;
        let partition = Partition::new(batch, &coin, self.backend);
        combine::combine(ch, batch, &partition, self.extension.key(), first, followers, &mut self.ledger)?;
        self.ledger.settle(ch)?;
        self.others = others;
        Ok(())
    }
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
        let mut batches = Vec::new();
        let mut total = 0;
        while total < n {
            let batch = self.budget.next(n - total)?;
            total += batch.buckets;
            batches.push(batch);
        }
        let mut triples = Triples::new(vec![Triple::default(); total]);
        let mut rest = triples.as_mut_slice();
        for batch in batches {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(batch.buckets);
            self.batch(ch, batch, now)?;
            rest = later;
        }
        Ok(triples.vouch())
    }
}
