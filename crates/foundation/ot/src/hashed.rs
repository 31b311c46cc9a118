//! Random OT from OT with a fixed delta: a hash breaks the correlation.
//!
//! The sender's messages are `H(q_j)` and `H(q_j ^ delta)`, the receiver's is `H(t_j)` (D13.3 Protocols 3 and 5, where `H`
//! is a random oracle). Which hash it is depends on the model of the extension:
//! - malicious: the tweakable hash of Guo, Katz, Wang, Yu (S&P 2020). Its tweak `j` counts all OTs in the life of the
//!   extension, which is consumed, so that none comes twice under one delta;
//! - semi-honest: their correlation-robust hash, for half the price. Nobody has a say in what is hashed, so that
//!   correlation robustness is all it takes (D13.3 Table 3.1).
//!
//! **Cost**: nothing on the wire; four AES blocks an OT at the sender and two at the receiver, half of that in the
//! semi-honest model.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, CrHash, Error, Result, TccrHash};
use zeroize::Zeroizing;

use crate::{DeltaReceiver, DeltaSender, Model, RandomReceiver, RandomSender};

/// OTs hashed in one go: enough to fill the AES units, in a corner of the first-level cache.
const HASHED: usize = 128;

/// What breaks the correlation.
enum Hash {
    /// In the semi-honest model.
    Cr(CrHash),
    /// In the malicious model; and the index of the next OT.
    Tccr(TccrHash, u64),
}

impl Hash {
    fn new<M: Model>(backend: Backend) -> Hash {
        if M::MALICIOUS { Hash::Tccr(TccrHash::new(backend), 0) } else { Hash::Cr(CrHash::new(backend)) }
    }

    /// The receiver's messages in place of its correlation.
    fn blocks(&mut self, blocks: &mut [Block]) {
        match self {
            Hash::Cr(hash) => hash.hash_blocks(blocks),
            Hash::Tccr(hash, next) => {
                hash.hash(u128::from(*next), blocks);
                *next += blocks.len() as u64;
            }
        }
    }

    /// The sender's messages from its correlation.
    fn pairs(&mut self, delta: Block, blocks: &[Block], pairs: &mut [[Block; 2]]) {
        match self {
            Hash::Cr(hash) => hash.hash_pairs(delta, blocks, pairs),
            Hash::Tccr(hash, next) => {
                hash.hash_pairs(u128::from(*next), delta, blocks, pairs);
                *next += blocks.len() as u64;
            }
        }
    }
}

/// The sender of random OTs over a sender of correlated ones.
pub struct HashedSender<D> {
    inner: D,
    hash: Hash,
}

/// The receiver of random OTs over a receiver of correlated ones.
pub struct HashedReceiver<D> {
    inner: D,
    hash: Hash,
}

impl<D: DeltaSender> HashedSender<D> {
    /// Random OTs from all that the extension will make.
    pub fn new(inner: D) -> HashedSender<D> {
        let hash = Hash::new::<D::Model>(inner.backend());
        HashedSender { inner, hash }
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
                self.hash.pairs(self.inner.delta(), &batch[..count], &mut pairs[start..start + count]);
            }
        }
        Ok(())
    }
}

impl<D: DeltaReceiver> HashedReceiver<D> {
    /// Random OTs from all that the extension will make.
    pub fn new(inner: D) -> HashedReceiver<D> {
        let hash = Hash::new::<D::Model>(inner.backend());
        HashedReceiver { inner, hash }
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
            self.hash.blocks(t);
        }
        Ok(())
    }

    fn random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<Bits> {
        let mut choices = Bits::zeros(0);
        for t in out.chunks_mut(D::CHUNK) {
            choices.extend_from(&self.inner.extend_random(ch, t)?);
            self.hash.blocks(t);
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
