//! Random OT from OT with a fixed delta: a hash breaks the correlation.
//!
//! The sender's messages are `H(q_j)` and `H(q_j ^ delta)`, the receiver's is `H(t_j)` (D13.3 Protocols 3 and
//! 5, where `H` is a random oracle). Which hash it is depends on the model of the extension:
//! - malicious: the tweakable hash of Guo, Katz, Wang, Yu (S&P 2020). Its tweak `j` counts all OTs in the life of the
//!   extension, which is consumed, so that none comes twice under one delta;
//! - semi-honest: their correlation-robust hash, for half the price. Nobody has a say in what is hashed, so that
//!   correlation robustness is all it takes (D13.3 Table 3.1).
//!
//! **Cost**: nothing on the wire; four AES blocks an OT at the sender and two at the receiver, half of that in the
//! semi-honest model.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, CrHash, Result, TccrHash};
use zeroize::Zeroize;

use crate::cot::{CotReceiver, CotSender};
use crate::model::Model;
use crate::random::{RandomReceiver, RandomSender};

/// The hash that breaks the correlation.
enum Hash {
    /// The hash of the semi-honest model.
    Cr(CrHash),
    /// The hash of the malicious model, and the index of the next OT.
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

impl<D: CotSender> HashedSender<D> {
    /// Random OTs from all outputs that the extension will have.
    pub fn new(inner: D) -> HashedSender<D> {
        let hash = Hash::new::<D::Model>(inner.backend());
        HashedSender { inner, hash }
    }

    fn extend(&mut self, ch: &mut dyn Channel, random: bool, out: &mut [[Block; 2]]) -> Result<()> {
        let (delta, hash, n) = (self.inner.delta(), &mut self.hash, out.len());
        let each = |j: usize, q: &mut [Block]| hash.pairs(delta, q, &mut out[j..j + q.len()]);
        let result = self.inner.extend_each(ch, random, n, each);
        result.inspect_err(|_| out.as_flattened_mut().zeroize())
    }
}

impl<D: CotReceiver> HashedReceiver<D> {
    /// Random OTs from all outputs that the extension will have.
    pub fn new(inner: D) -> HashedReceiver<D> {
        let hash = Hash::new::<D::Model>(inner.backend());
        HashedReceiver { inner, hash }
    }

    fn extend(&mut self, ch: &mut dyn Channel, choices: Option<&Bits>, out: &mut [Block]) -> Result<Bits> {
        let (hash, n) = (&mut self.hash, out.len());
        let each = |j: usize, t: &mut [Block]| {
            hash.blocks(t);
            out[j..j + t.len()].copy_from_slice(t);
        };
        let result = self.inner.extend_each(ch, choices, n, each);
        result.inspect_err(|_| out.zeroize())
    }
}

impl<D: CotSender> RandomSender for HashedSender<D> {
    type Model = D::Model;

    fn sender_random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        self.extend(ch, false, out)
    }

    fn random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        self.extend(ch, true, out)
    }
}

impl<D: CotReceiver> RandomReceiver for HashedReceiver<D> {
    type Model = D::Model;

    fn sender_random(&mut self, ch: &mut dyn Channel, choices: &Bits, out: &mut [Block]) -> Result<()> {
        self.extend(ch, Some(choices), out).map(drop)
    }

    fn random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<Bits> {
        self.extend(ch, None, out)
    }
}
