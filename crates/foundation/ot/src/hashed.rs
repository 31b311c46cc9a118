//! Random OT from OT with a fixed delta: a hash breaks the correlation.
//!
//! The sender's messages are `H(q_j, j)` and `H(q_j ^ delta, j)`, the receiver's is `H(t_j, j)` (D13.3 Protocols 3 and 5).
//! `H` is the tweakable hash of Guo, Katz, Wang, Yu (S&P 2020), where D13.3 takes a random oracle; `j` counts
//! all OTs in the life of the extension, which is consumed, so that no tweak comes twice under one delta.
//!
//! **Cost**: nothing on the wire; four AES blocks an OT at the sender, two at the receiver.

use comity_channel::Channel;
use comity_core::{Bits, Block, Error, Result, TccrHash};
use zeroize::Zeroizing;

use crate::{DeltaReceiver, DeltaSender, RandomReceiver, RandomSender};

/// OTs hashed in one go: enough to fill the AES units, in a corner of the first-level cache.
const HASHED: usize = 128;

/// The sender of random OTs over a sender of correlated ones.
pub struct HashedSender<D> {
    inner: D,
    hash: TccrHash,
    /// The index of the next OT.
    next: u64,
}

/// The receiver of random OTs over a receiver of correlated ones.
pub struct HashedReceiver<D> {
    inner: D,
    hash: TccrHash,
    /// The index of the next OT.
    next: u64,
}

impl<D: DeltaSender> HashedSender<D> {
    /// Random OTs from all that the extension will make.
    pub fn new(inner: D) -> HashedSender<D> {
        let hash = TccrHash::new(inner.backend());
        HashedSender { inner, hash, next: 0 }
    }

    /// Chunk by chunk: `extend` gets `q`, which then becomes pairs.
    fn chunks(
        &mut self,
        out: &mut [[Block; 2]],
        mut extend: impl FnMut(&mut D, &mut [Block]) -> Result<()>,
    ) -> Result<()> {
        let mut batch = Zeroizing::new([Block::ZERO; HASHED]);
        for pairs in out.chunks_mut(D::CHUNK) {
            // The q of the chunk wait in the second half of its room: what a batch of pairs overwrites of them was
            // hashed before.
            let n = pairs.len();
            extend(&mut self.inner, &mut pairs.as_flattened_mut()[n..])?;
            for start in (0..n).step_by(HASHED) {
                let count = HASHED.min(n - start);
                batch[..count].copy_from_slice(&pairs.as_flattened()[n + start..][..count]);
                let (delta, first) = (self.inner.delta(), u128::from(self.next));
                self.hash.hash_pairs(first, delta, &batch[..count], &mut pairs[start..start + count]);
                self.next += count as u64;
            }
        }
        Ok(())
    }
}

impl<D: DeltaReceiver> HashedReceiver<D> {
    /// Random OTs from all that the extension will make.
    pub fn new(inner: D) -> HashedReceiver<D> {
        let hash = TccrHash::new(inner.backend());
        HashedReceiver { inner, hash, next: 0 }
    }

    fn hash(&mut self, blocks: &mut [Block]) {
        self.hash.hash(self.next.into(), blocks);
        self.next += blocks.len() as u64;
    }
}

impl<D: DeltaSender> RandomSender for HashedSender<D> {
    type Model = D::Model;

    fn sender_random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [[Block; 2]]) -> Result<()> {
        self.chunks(out, |inner, q| inner.extend(ch, q))
    }

    fn random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [[Block; 2]]) -> Result<()> {
        self.chunks(out, |inner, q| inner.extend_random(ch, q))
    }
}

impl<D: DeltaReceiver> RandomReceiver for HashedReceiver<D> {
    type Model = D::Model;

    fn sender_random<C: Channel + ?Sized>(&mut self, ch: &mut C, choices: &Bits, out: &mut [Block]) -> Result<()> {
        same_length(choices, out)?;
        for (t, start) in out.chunks_mut(D::CHUNK).zip((0..).step_by(D::CHUNK)) {
            self.inner.extend(ch, &choices.slice(start, t.len()), t)?;
            self.hash(t);
        }
        Ok(())
    }

    fn random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<Bits> {
        let mut choices = Bits::zeros(0);
        for t in out.chunks_mut(D::CHUNK) {
            choices.extend_from(&self.inner.extend_random(ch, t)?);
            self.hash(t);
        }
        Ok(choices)
    }
}

/// A choice bit for each OT.
pub(crate) fn same_length<T>(choices: &Bits, out: &[T]) -> Result<()> {
    let (bits, outputs) = (choices.len(), out.len());
    if bits == outputs {
        return Ok(());
    }
    Err(Error::InvalidInput(format!("{bits} choice bits for {outputs} oblivious transfers")))
}
