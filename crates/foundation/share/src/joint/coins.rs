//! `Coins`: common random strings, of which each costs one flight, since all are committed to beforehand.
//!
//! Each party commits to a seed of its own for each coin, and all make sure that all heard the same
//! commitments. A coin is the sum of its seeds. Nobody can choose a seed by another's: it was committed to
//! before any was opened. A party opens its seed of a coin when it has received everything that the coin
//! decides on, so nobody knows the coin before every honest party has; there is one seed for each coin, since
//! one seed for all would tell the later challenges, too.

use std::collections::VecDeque;

use comity_channel::PerPeer;
use comity_core::{Commitment, Error, Opening, PartyId, Result, SessionId, commit, declassify_all};
use comity_protocol::Conduct;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::JointAct;
use super::talk::{Message, Talk};
use crate::checks;

/// A seed of this party, with the salt of its commitment.
type Seed = (Zeroizing<[u8; 32]>, Opening);

/// Coins that were committed to, in the order in which they are opened.
pub(crate) struct Coins {
    session: SessionId,
    own: VecDeque<Seed>,
    theirs: PerPeer<VecDeque<Commitment>>,
    /// The number of the next coin to be committed to, and of the next one to be opened.
    counts: [u64; 2],
}

impl Coins {
    pub(crate) fn new(session: SessionId, me: PartyId, parties: u16) -> Coins {
        let theirs = PerPeer::new(me, parties, |_| VecDeque::new());
        Coins { session, own: VecDeque::new(), theirs, counts: [0; 2] }
    }

    /// The number of coins that were committed to and not opened.
    pub(crate) fn left(&self) -> usize {
        self.own.len()
    }

    /// Commits to `count` further coins: the message to all.
    pub(crate) fn commitments(&mut self, me: PartyId, count: usize, rng: &mut dyn CryptoRng) -> Vec<u8> {
        let mut said = Vec::with_capacity(Commitment::BYTES * count);
        for _ in 0..count {
            let mut seed = Zeroizing::new([0; 32]);
            rng.fill_bytes(&mut *seed);
            let (commitment, opening) = commit(self.session, &label(self.counts[0], me), &*seed, rng);
            self.counts[0] += 1;
            said.extend(commitment.to_bytes());
            self.own.push_back((seed, opening));
        }
        said
    }

    /// Takes in the others' commitments to as many coins. They are to be in the echo, which is settled before
    /// a coin is opened.
    pub(crate) fn committed(&mut self, heard: &PerPeer<Vec<u8>>) {
        for (peer, bytes) in heard.iter() {
            let (commitments, _) = bytes.as_chunks();
            self.theirs[peer].extend(commitments.iter().map(|&bytes| Commitment::new(bytes)));
        }
    }

    /// Opens the next coin. Everything that it decides on must have been received. One round.
    ///
    /// # Panics
    /// If no coin is committed to.
    pub(crate) fn open<C: for<'a> Conduct<JointAct<'a>>>(&mut self, talk: &mut Talk<'_, '_, C>) -> Result<[u8; 32]> {
        let (own, message) = self.next(talk);
        let heard = talk.together(vec![message])?.remove(0);
        self.sum(*own, &heard)
    }

    /// The own seed of the next coin, and the message that opens it to each.
    pub(crate) fn next<C: for<'a> Conduct<JointAct<'a>>>(
        &mut self,
        talk: &Talk<'_, '_, C>,
    ) -> (Zeroizing<[u8; 32]>, Message) {
        let (seed, opening) = self.own.pop_front().expect("a coin that was committed to");
        let out = talk.each(|_| [*seed, opening.to_bytes()].concat());
        (seed, ("coin", out))
    }

    /// The coin of this seed and those that the others opened.
    pub(crate) fn sum(&mut self, own: [u8; 32], heard: &PerPeer<Vec<u8>>) -> Result<[u8; 32]> {
        let number = self.counts[1];
        self.counts[1] += 1;
        let mut coin = own;
        for (peer, bytes) in heard.iter() {
            let commitment = self.theirs[peer].pop_front().expect("as many of each");
            let (seeds, _) = bytes.as_chunks::<32>();
            let [theirs, salt] = [seeds[0], seeds[1]];
            if !commitment.verify(self.session, &label(number, peer), &theirs, &Opening::new(salt)) {
                return Err(Error::from(checks::COIN_OPENING).by(peer));
            }
            coin.iter_mut().zip(theirs).for_each(|(coin, byte)| *coin ^= byte);
        }
        declassify_all(&mut coin, "all seeds were opened");
        Ok(coin)
    }
}

fn label(number: u64, party: PartyId) -> String {
    format!("coin {number}, party {party}")
}
