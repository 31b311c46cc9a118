//! `Hashes`: the hash of leaky ANDs, leaky OTs and seeds, with an AES key for each of its tweaks.
//!
//! `H(x, t) = E(start ^ t, s(x)) ^ s(x)`, as garbling has it ([`GateHash`]: Guo, Katz, Wang, Weng, Yu, Crypto
//! 2020). A party hashes local keys `K`, and their sums with its global key `Delta`, under tweaks of its own;
//! the peer hashes the MACs, each of which is one of the two, under the same tweaks.
//!
//! **Why not one key.** Where y = 0, a leaky AND gives the peer `h = H(M + Delta, t)` for a MAC `M` that it
//! has, but for a bit to guess. Under one permutation `p` for all, `H(x, t) = p(p(x) + t) + p(x)`, this is
//! `h + t = p(u) + u` for `u = p(M + Delta) + t`. So one table of `p(u) + u` is held against all ANDs of all
//! sessions at once, and some `Delta` is found after 2^128 / N calls of AES, where there are N of them. With
//! a key for each tweak a call of AES is about one AND, and there is nothing to divide by.
//!
//! **Which notion.** What is asked for is tweakable correlation robustness, with one call at each tweak, for
//! an `M` in which the peer has a say; in one place it has to be circular:
//!
//! | `H(M + Delta, t)` hides | in | notion |
//! |---|---|---|
//! | `y Delta`, where y is a secret bit | [`fast`](crate::fast), `G` | *circular* correlation robust |
//! | sums of such hashes | [`nnob`](crate::nnob), LaAND's `U` | correlation robust |
//! | MACs under the peer's own key, and random blocks | LaOT's `X` and `I` | correlation robust |
//! | nothing: it is itself the seed | chunks of authenticated bits after the first | correlation robust |
//!
//! The hash is circular correlation robust in the ideal-cipher model, for many deltas at once: `q` calls of
//! AES tell something with probability about `u q / 2^126`, where `u` is the most often that a key serves, in
//! all sessions of everybody together (of a delta two bits are fixed: [`GlobalKey::of`]).
//!
//! **Keys do not come twice.** Each of the two global keys has its start, a hash of the session's id, in
//! which are both parties' nonces. Tweaks are the low 64 bits; they count up from the dealer's beginning, and
//! this type, which holds the counters, is not `Clone`. Two sessions of 2^40 tweaks have keys in common with
//! probability 2^-88, and a peer that tries nonces until its session falls on one of N older ones needs 2^88
//! / N of them for `u` to become two.
//!
//! **Cost.** Half of the encryptions that a hash with one key takes, and a key schedule for each tweak: about as fast.

use comity_core::{Backend, Block, GateHash, PartyId, SessionId};

/// The hashes of both parties, at one party. Where one hashes keys, singly or in pairs, the other hashes as
/// many MACs, in the same order and in calls of the same lengths.
pub(crate) struct Hashes {
    ours: GateHash,
    theirs: GateHash,
}

impl Hashes {
    /// Hashes from their first tweak on. `session` is theirs alone.
    pub(crate) fn new(session: &SessionId, backend: Backend, party: PartyId) -> Hashes {
        let under = |party| GateHash::new(backend, start(session, party));
        Hashes { ours: under(party), theirs: under(party.other()) }
    }

    /// Hashes each key `near`, and its sum with this party's global key, which is written to `far`, under one tweak.
    ///
    /// # Panics
    /// If the lengths differ.
    pub(crate) fn pairs(&mut self, delta: Block, near: &mut [Block], far: &mut [Block]) {
        assert_eq!(near.len(), far.len(), "pairs");
        far.iter_mut().zip(&*near).for_each(|(far, near)| *far = *near ^ delta);
        self.ours.pairs(near, far);
    }

    /// Hashes keys to the peer's bits.
    pub(crate) fn keys(&mut self, keys: &mut [Block]) {
        self.ours.each(keys);
    }

    /// Hashes MACs on this party's bits, as the peer hashes the keys.
    pub(crate) fn macs(&mut self, macs: &mut [Block]) {
        self.theirs.each(macs);
    }
}

/// The start of the hash keys under the global key of `party`.
fn start(session: &SessionId, party: PartyId) -> Block {
    session.block(&format!("start of the hash keys under the key of party {party}"))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashSet;

    use comity_core::Aes128;

    use super::*;

    /// The AES key of tweak `tweak` under the global key of `party`.
    pub(crate) fn key(session: &SessionId, party: PartyId, tweak: usize) -> Block {
        start(session, party) ^ Block::from_u128(tweak as u128)
    }

    /// The hash under an AES key, as its formula has it.
    pub(crate) fn naive(key: Block, x: Block) -> Block {
        let (low, high) = (x.to_u128() as u64, (x.to_u128() >> 64) as u64);
        let x = Block::from_u128(u128::from(low ^ high) << 64 | u128::from(high));
        let mut sealed = [x];
        Aes128::new(Backend::detect(), key).encrypt(&mut sealed);
        sealed[0] ^ x
    }

    #[test]
    fn no_two_calls_of_any_session_have_one_key() {
        let (x, delta) = (Block::from_u128(0x1234 << 70 | 5), Block::from_u128(0x77 << 100 | 3));
        // Calls as dealers make them: tiles, the last one of a chunk not full, and another chunk.
        let calls = [128, 128, 44, 128, 1, 1];
        let (mut keys, mut values, mut n) = (HashSet::new(), HashSet::new(), 0);
        for session in ["one", "another"].map(|name| SessionId::derive(name, &[])) {
            for backend in Backend::available() {
                let mut both = [0, 1].map(|party| Hashes::new(&session, backend, PartyId(party)));
                let mut tweak = 0;
                for (len, paired) in calls.into_iter().zip([true, true, true, false, true, false]) {
                    for party in 0..2 {
                        both.rotate_left(party);
                        let [owner, holder] = &mut both;
                        let [mut near, mut far, mut macs] = [x, Block::ZERO, x].map(|block| vec![block; len]);
                        if paired {
                            owner.pairs(delta, &mut near, &mut far)
                        } else {
                            owner.keys(&mut near)
                        }
                        holder.macs(&mut macs);
                        for j in 0..len {
                            let key = key(&session, PartyId(party as u16), tweak + j);
                            assert!(near[j] == naive(key, x) && macs[j] == near[j], "{backend}, call {j} of {len}");
                            assert!(!paired || far[j] == naive(key, x ^ delta), "{backend}, call {j} of {len}");
                            keys.insert(key.to_bytes());
                            values.insert(near[j].to_bytes());
                        }
                        both.rotate_left(party);
                    }
                    tweak += len.next_multiple_of(16);
                }
            }
            n += 2 * calls.iter().sum::<usize>();
            assert_eq!((keys.len(), values.len()), (n, n), "one and the same input, each time under another key");
        }
    }
}
