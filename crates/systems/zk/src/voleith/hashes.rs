//! What is hashed: seeds, commitments to leaves, and the challenges.

use comity_core::{Block, ShortHash};
use zeroize::Zeroizing;

use super::Parameters;
use crate::sliced::keyed;
use crate::system::System;
use crate::tree::{Seed, Trees, message};

/// The hashes of one proof: each is under a key that comes from its salt, its parameters and its statement.
pub(super) struct Hashes {
    pub(super) trees: Trees,
    /// The first counter of all leaves' streams.
    pub(super) counter: u64,
    commitment: ShortHash,
    stream: ShortHash,
    corrected: [u8; 32],
    told: [u8; 32],
    last: [u8; 32],
}

/// A digest, or a challenge that stands for everything before it.
pub(super) type Digest = [u8; 32];

impl Hashes {
    /// The hashes of the proof with this salt.
    pub(super) fn new(parameters: Parameters, statement: &[u8; 32], salt: &[u8; 32]) -> Hashes {
        let code = [System::VoleInTheHead.code()];
        let levels: Vec<u8> = parameters.levels.iter().map(|levels| *levels as u8).collect();
        let parts: [&[u8]; 4] = [&code, &levels, statement, salt];
        let key = |domain: &str| keyed(domain, &parts);
        let counter = key("comity zk voleith counter v1");
        Hashes {
            trees: Trees::new(key("comity zk voleith tree v1")),
            // Far below the end, so that no stream wraps.
            counter: u64::from_le_bytes(core::array::from_fn(|i| counter[i])) >> 1,
            commitment: ShortHash::new(key("comity zk voleith leaf v1")),
            stream: ShortHash::new(key("comity zk voleith stream v1")),
            corrected: key("comity zk voleith corrections v1"),
            told: key("comity zk voleith bits v1"),
            last: key("comity zk voleith last v1"),
        }
    }

    /// The commitments to the leaves of a tree, and the keys of their streams.
    pub(super) fn leaves(&self, tree: u64, leaves: &[Seed]) -> (Vec<Digest>, Zeroizing<Vec<Block>>) {
        let place = |leaf: usize| [tree, u64::MAX, leaf as u64];
        let messages: Zeroizing<Vec<_>> =
            Zeroizing::new(leaves.iter().enumerate().map(|(leaf, seed)| message(place(leaf), seed)).collect());
        let (mut commitments, mut streams) = (vec![[0; 32]; leaves.len()], Zeroizing::new(vec![[0; 32]; leaves.len()]));
        self.commitment.hash(&messages, &mut commitments);
        self.stream.hash(&messages, &mut streams);
        let keys = streams.iter().map(|stream| Block::new(core::array::from_fn(|i| stream[i]))).collect();
        (commitments, Zeroizing::new(keys))
    }

    /// The first challenge: after the commitments to all leaves, and the corrections of all trees but the first.
    pub(super) fn corrected(&self, commitments: &[Digest], corrections: &[u8]) -> Digest {
        let mut hash = blake3::Hasher::new_keyed(&self.corrected);
        hash.update(commitments.as_flattened()).update(corrections);
        *hash.finalize().as_bytes()
    }

    /// The second challenge: after the linear hash of `u`, those of all rows, and the told bits.
    pub(super) fn told(&self, corrected: &Digest, sum: &[Block], rows: &[Block], told: &[u8]) -> Digest {
        let mut hash = blake3::Hasher::new_keyed(&self.told);
        hash.update(corrected).update(Block::bytes_of(sum)).update(Block::bytes_of(rows)).update(told);
        *hash.finalize().as_bytes()
    }

    /// What Delta is the hash of: after both sums of the gates, and the MACs of the outputs.
    pub(super) fn last(&self, told: &Digest, sums: &[Block; 2], outputs: &[Block]) -> Digest {
        let mut hash = blake3::Hasher::new_keyed(&self.last);
        hash.update(told).update(Block::bytes_of(sums)).update(Block::bytes_of(outputs));
        *hash.finalize().as_bytes()
    }
}

/// The seed in the first bytes of a challenge.
pub(super) fn seed(challenge: &Digest) -> Block {
    Block::new(core::array::from_fn(|i| challenge[i]))
}
