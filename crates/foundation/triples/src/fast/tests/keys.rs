//! Whose key hashes what.

use std::collections::HashSet;

use super::*;
use crate::hashes::tests::{key, naive};

/// A chunk in which every AND has the same keys, and shares of zero.
fn chunk(n: usize, x: Block) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; BLOCKS * n];
    blocks[3 * n..4 * n].fill(x);
    blocks
}

/// With y = 0 a `G` is two hashes and nothing else: the target of whoever looks for delta.
#[test]
fn no_table_serves_two_ands() {
    let x = Block::from_u128(0x3141 << 64 | 0x26);
    let (mut keys, mut all) = (HashSet::new(), HashSet::new());
    for (party, session) in [(0, "one"), (1, "one"), (0, "another")] {
        let (session, party) = (SESSION.child(session), PartyId(party));
        let global = GlobalKey::of(party, &mut rng(1, 0));
        let mut leaky = Leaky::new(&session, Backend::detect(), party, global.clone());
        let mut tweak = 0;
        // Two chunks, of more tiles than one, the last of which is not full.
        for n in [300, 17] {
            let mut g = vec![Block::ZERO; n];
            leaky.begin(n);
            leaky.garble(split(&chunk(n, x)), 0..n, &mut g);
            for (j, g) in g.iter().enumerate() {
                let key = key(&session, party, tweak + j);
                assert!(*g == naive(key, x) ^ naive(key, x ^ global.block()), "AND {j} of {n}");
                assert!(keys.insert(key.to_bytes()) && all.insert(g.to_bytes()), "a key serves two ANDs");
            }
            tweak += n.next_multiple_of(16);
        }
    }
}
