//! What the sender has of OTs: the function from choices to blocks.

use std::marker::PhantomData;
use std::sync::Arc;

use comity_core::{Backend, Block, Error, Result};
use zeroize::{Zeroize, Zeroizing};

use super::code::{Code, Scratch};
use super::hash::ColumnHash;
use super::{OneOfN, QUARTERS, in_range};

/// Words encoded in one go.
const BATCH: usize = 1024;

/// A sender's secrets, the same for all its OTs.
pub(super) struct Secret {
    pub(super) backend: Backend,
    pub(super) code: Code,
    pub(super) hash: ColumnHash,
    /// The base OTs' choice bits.
    pub(super) s: [Block; QUARTERS],
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.s.zeroize();
    }
}

/// The sender's side of some OTs: a function from choices to blocks for each. Wiped on drop.
pub struct Keys<S: OneOfN> {
    pub(super) secret: Arc<Secret>,
    /// The quarters of the columns `q_j`.
    pub(super) q: [Zeroizing<Vec<Block>>; QUARTERS],
    /// The index of the first OT.
    pub(super) first: u64,
    pub(super) scheme: PhantomData<S>,
}

impl<S: OneOfN> Keys<S> {
    /// Room for `n` OTs.
    pub(super) fn room(secret: &Arc<Secret>, first: u64, n: usize) -> Keys<S> {
        let q = [(); QUARTERS].map(|()| Zeroizing::new(vec![Block::ZERO; n]));
        Keys { secret: secret.clone(), q, first, scheme: PhantomData }
    }

    /// The number of OTs.
    pub fn len(&self) -> usize {
        self.q[0].len()
    }

    /// Whether there are no OTs.
    pub fn is_empty(&self) -> bool {
        self.q[0].is_empty()
    }

    /// For each query, an OT and an entry, the block that the receiver got if the entry was its choice there.
    ///
    /// An OT's number is a place in memory, and should be public; entries may be secret. A query costs many
    /// times less in a call with hundreds of queries than in a call of its own.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is not one output for each query, or a query is out of
    /// range.
    pub fn evaluate(&self, queries: &[(usize, u128)], out: &mut [Block]) -> Result<()> {
        if queries.len() != out.len() {
            let (queries, outputs) = (queries.len(), out.len());
            return Err(Error::invalid_input(format!("{queries} queries for {outputs} blocks of 1-out-of-N OT")));
        }
        in_range::<S>(queries.iter().map(|&(_, entry)| entry))?;
        if let Some((ot, _)) = queries.iter().find(|(ot, _)| *ot >= self.len()) {
            return Err(Error::invalid_input(format!("a query for OT {ot} of {}", self.len())));
        }
        out.fill(Block::ZERO);
        let mut scratch = Scratch::default();
        let mut words = Zeroizing::new(vec![Block::ZERO; BATCH.min(queries.len().next_multiple_of(128))]);
        for (queries, out) in queries.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            let words = &mut words[..queries.len().next_multiple_of(128)];
            words.iter_mut().zip(queries).for_each(|(word, &(_, entry))| *word = Block::from_u128(entry));
            let Secret { backend, code, hash, s } = &*self.secret;
            code.quarters(*backend, words, &mut scratch, |a, columns| {
                for (column, &(ot, _)) in columns.iter_mut().zip(queries) {
                    *column = (*column & s[a]) ^ self.q[a][ot];
                }
                hash.absorb(a, &columns[..queries.len()], out);
            });
            hash.finish(queries.iter().map(|&(ot, _)| self.first + ot as u64), out);
        }
        Ok(())
    }

    /// One block of each OT: the same as [`evaluate`](Keys::evaluate) with query `(j, entries[j])`.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is not one entry and one output for each OT, or an entry
    /// is out of range.
    pub fn evaluate_each(&self, entries: &[u128], out: &mut [Block]) -> Result<()> {
        if entries.len() != self.len() {
            let (entries, ots) = (entries.len(), self.len());
            return Err(Error::invalid_input(format!("{entries} entries for {ots} OTs")));
        }
        let queries = Zeroizing::new(entries.iter().copied().enumerate().collect::<Vec<_>>());
        self.evaluate(&queries, out)
    }

    /// The blocks of entries 0 to `entries - 1` of all OTs, those of the first OT first. For small tables: the words of
    /// the code are made once, 64 bytes each.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are not `entries` outputs for each OT, or more entries
    /// than the code has words.
    pub fn tables(&self, entries: usize, out: &mut [Block]) -> Result<()> {
        if self.len().checked_mul(entries) != Some(out.len()) {
            let (ots, outputs) = (self.len(), out.len());
            return Err(Error::invalid_input(format!("{outputs} blocks for {ots} OTs with {entries} entries each")));
        }
        if out.is_empty() {
            return Ok(());
        }
        in_range::<S>([entries as u128 - 1])?;
        out.fill(Block::ZERO);
        let Secret { backend, code, hash, s } = &*self.secret;
        let mut masks = [(); QUARTERS].map(|()| Zeroizing::new(vec![Block::ZERO; entries]));
        let mut scratch = Scratch::default();
        for start in (0..entries).step_by(BATCH) {
            let n = BATCH.min(entries - start);
            let words: Vec<Block> =
                (start..start + n.next_multiple_of(128)).map(|entry| Block::from_u128(entry as u128)).collect();
            code.quarters(*backend, &words, &mut scratch, |a, columns| {
                for (mask, column) in masks[a][start..start + n].iter_mut().zip(columns) {
                    *mask = *column & s[a];
                }
            });
        }
        let mut columns = Zeroizing::new([Block::ZERO; BATCH]);
        for (batch, out) in out.chunks_mut(BATCH).enumerate() {
            let at = batch * BATCH;
            for (a, (q, masks)) in self.q.iter().zip(&masks).enumerate() {
                let (mut ot, mut entry) = (at / entries, at % entries);
                for column in &mut columns[..out.len()] {
                    *column = q[ot] ^ masks[entry];
                    entry += 1;
                    if entry == entries {
                        (ot, entry) = (ot + 1, 0);
                    }
                }
                hash.absorb(a, &columns[..out.len()], out);
            }
            hash.finish((at..).map(|i| self.first + (i / entries) as u64), out);
        }
        Ok(())
    }
}
