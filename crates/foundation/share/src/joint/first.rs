//! The first message of a [`Joint`](super::Joint): halves of the seeds of pairs, and commitments of coins.

use comity_channel::PerPeer;
use comity_core::{Block, PartyId, Prg};
use comity_protocol::Conduct;
use zeroize::Zeroize;

use super::JointAct;
use super::coins::Coins;
use super::deltas::block;

/// The names of its parts.
const HALVES: &str = "halves of seeds";
pub(super) const COMMITMENTS: &str = "coin commitments";

/// What a party sends to each other one before anything else.
pub(super) struct First {
    /// Its halves of the seeds of pairs.
    pub(super) halves: PerPeer<Block>,
    /// Its commitments of coins.
    pub(super) commitments: Vec<u8>,
    /// Both, for each peer.
    pub(super) said: PerPeer<Vec<u8>>,
    /// The bytes of the message.
    pub(super) bytes: usize,
}

impl First {
    /// Draws halves, and commits to a number of coins.
    pub(super) fn new(
        coins: &mut Coins,
        (me, parties): (PartyId, u16),
        count: usize,
        rng: &mut Prg,
        conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
    ) -> First {
        let halves = PerPeer::new(me, parties, |_| Block::random(rng));
        let mut commitments = coins.commitments(me, count, rng);
        let bytes = Block::BYTES + commitments.len();
        conduct.before(JointAct::Tells { what: COMMITMENTS, bytes: &mut commitments });
        let mut said = PerPeer::new(me, parties, |peer| halves[peer].to_bytes().to_vec());
        for (peer, bytes) in said.iter_mut() {
            conduct.before(JointAct::Says { what: HALVES, peer, bytes });
        }
        for (peer, said) in said.iter_mut() {
            let mut own = commitments.clone();
            conduct.before(JointAct::Says { what: COMMITMENTS, peer, bytes: &mut own });
            said.extend(own);
        }
        First { halves, commitments, said, bytes }
    }

    /// What the others said: their halves, and commitments of as many coins.
    pub(super) fn heard(
        &self,
        heard: &PerPeer<Vec<u8>>,
        conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
    ) -> (PerPeer<Block>, PerPeer<Vec<u8>>) {
        let (me, parties) = (heard.me(), heard.parties());
        let mut halves = self.halves.clone();
        let commitments = PerPeer::new(me, parties, |peer| {
            let (half, commitments) = heard[peer].split_at(Block::BYTES);
            conduct.before(JointAct::Hears { what: HALVES, peer, bytes: half });
            conduct.before(JointAct::Hears { what: COMMITMENTS, peer, bytes: commitments });
            halves[peer] = block(half);
            commitments.to_vec()
        });
        (halves, commitments)
    }
}

impl Drop for First {
    fn drop(&mut self) {
        self.halves.as_mut_slice().iter_mut().for_each(Zeroize::zeroize);
    }
}
