//! Digests: what methods see of items.
//!
//! 128 bits of BLAKE3 under a key that both sides toss after they have said their sizes. Two items of sets of
//! 2^28 share a digest with probability below 2^-70. The key is committed to: whoever fixed it last could
//! else look for one under which hashing fails for a set that it guesses, and see whether it does.

use comity_core::{Block, HugeTable, Result, ShortHash};
use comity_protocol::Party;
use rand_core::CryptoRng;

use crate::set::Set;

/// Items hashed in one go.
const BATCH: usize = 64;

/// The key of the digests, and of whatever else both sides draw after the sets are fixed.
pub(crate) struct DigestKey([u8; 32]);

impl DigestKey {
    /// Tosses the key. Once in a run, after the sizes.
    pub(crate) fn toss(me: &mut Party<'_, '_>) -> Result<DigestKey> {
        let session = me.here.session.child("private set intersection: key of the digests");
        comity_share::coin(me.net, session, me.rng).map(DigestKey)
    }

    /// The key of a base file, which has it written in it.
    pub(crate) fn of_base(base: [u8; 32]) -> DigestKey {
        DigestKey(base)
    }

    /// A key for another use.
    pub(crate) fn child(&self, label: &str) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("comity private set intersection: keys of a run");
        hash.update(&self.0).update(label.as_bytes());
        hash.finalize().into()
    }

    /// The digests of a party's padded set: those of its items, in their order, and then dummies, which are
    /// random bits.
    pub(crate) fn digests(&self, rng: &mut dyn CryptoRng, set: &Set<'_>) -> Vec<u128> {
        let mut digests = Vec::with_capacity(set.told());
        self.each(set, |hash| digests.push(u128::from_le_bytes(*hash.first_chunk().expect("32 bytes"))));
        digests.extend((set.items.len()..set.told()).map(|_| {
            let mut dummy = [0; 16];
            rng.fill_bytes(&mut dummy);
            u128::from_le_bytes(dummy)
        }));
        digests
    }

    /// As [`digests`](DigestKey::digests), and of each item as many further bits: two hashes for one.
    pub(crate) fn pairs(&self, rng: &mut dyn CryptoRng, set: &Set<'_>) -> [HugeTable; 2] {
        let mut pairs = [(); 2].map(|()| HugeTable::zeroed(set.told()));
        let mut next = 0;
        let mut push = |hash: &[u8; 32]| {
            for (half, blocks) in hash.as_chunks().0.iter().zip(&mut pairs) {
                blocks[next] = Block::new(*half);
            }
            next += 1;
        };
        self.each(set, &mut push);
        for _ in set.items.len()..set.told() {
            let mut dummy = [0; 32];
            rng.fill_bytes(&mut dummy);
            push(&dummy);
        }
        pairs
    }

    /// Hashes items, in their order.
    fn each(&self, set: &Set<'_>, mut each: impl FnMut(&[u8; 32])) {
        // Items in the first half of a message of 64 bytes, many messages at a time: an eighth of the time of
        // one after another.
        let hash = ShortHash::new(self.child("digests"));
        let (mut messages, mut hashes) = ([[0; ShortHash::MESSAGE]; BATCH], [[0; 32]; BATCH]);
        for items in set.items.chunks(BATCH) {
            for (message, item) in messages.iter_mut().zip(items) {
                message[..32].copy_from_slice(&item.0);
            }
            hash.hash(&messages[..items.len()], &mut hashes[..items.len()]);
            hashes[..items.len()].iter().for_each(&mut each);
        }
    }
}

#[cfg(test)]
mod tests {
    use comity_core::{Backend, Prg};
    use comity_testing::Pair;

    use super::*;
    use crate::tests::{items, party};

    /// A key for each run, which both sides have, and of it one for each use.
    #[test]
    fn keys_are_of_their_run_and_use() {
        let toss = |session| {
            let (one, other) = Pair::run(
                |ch| party(0, session, ch, DigestKey::toss).unwrap(),
                |ch| party(1, session, ch, DigestKey::toss).unwrap(),
            );
            assert!(one.0 == other.0);
            one
        };
        let (one, other) = (toss(1), toss(2));
        let mut keys = [one.child("a"), one.child("b"), other.child("a"), one.0, other.0];
        keys.sort_unstable();
        assert!(keys.windows(2).all(|keys| keys[0] != keys[1]));
    }

    /// Dummies are random, whatever the key: none of them is another one, or one of another run.
    #[test]
    fn dummies_are_random() {
        let (key, items) = (DigestKey([1; 32]), items(0..3));
        let set = Set { items: &items, payload: &[], pad_to: 50 };
        let mut all = Vec::new();
        for seed in [1, 2] {
            let mut rng = Prg::new(Backend::detect(), Block::from_u128(seed));
            all.extend(&key.digests(&mut rng, &set)[3..]);
            let pairs = key.pairs(&mut rng, &set);
            all.extend(pairs.iter().flat_map(|blocks| &blocks[3..]).map(|block| block.to_u128()));
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * 3 * 47);
        assert!(all.iter().all(|&dummy| dummy > 1 << 64));
    }
}
