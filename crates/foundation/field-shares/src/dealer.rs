//! `FieldDealer`: one of the parties that make authenticated shares together (Keller, Orsini, Scholl, CCS
//! 2016, ePrint 2016/505: MASCOT).
//!
//! **Set-up** (*Initialize* of figure 7). 1. Bits shared between every two, with the check that everybody
//! uses the same towards all ([`Joint`]). 2. Each draws its share `alpha_i` of the MAC key, whose digits are
//! its shares of some of these bits. 3. Hashed, they are the OTs of a COPEe each way between every two
//! (`cope`), in which it is the receiver under `alpha_i`. 4. Each sends each peer the sums of the trees of seeds of
//! which the peer has all seeds but one.
//!
//! In the paper nothing holds a party to one `alpha_i` towards all. It matters: if a liar uses one share towards one
//! owner of an input and another towards a second one, the check of an opened sum of both inputs passes only for
//! the value of one of them that the liar guessed, and so tells it. Here the check of the bits sees the two shares.

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Block, GateHash, PartyId, Prg, Result};
use comity_ot::softspoken::Forest;
use comity_protocol::{Here, Honest};
use comity_share::{Joint, Pairwise};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::act::{FieldAct, FieldConduct};
use crate::cope::{CopeReceiver, CopeSender};
use crate::field::{Field, TREE, drawn, ended};
use crate::openings::{FieldOpenings, Messages};
use crate::sum_share::MacKey;

/// One of the parties that make authenticated shares together, all under one MAC key.
///
/// All parties make the same calls in the same order. After an error it refuses to go on, and its key is wiped.
pub struct FieldDealer<F: Field, C = Honest> {
    pub(crate) here: Here,
    pub(crate) joint: Joint<C>,
    pub(crate) links: PerPeer<Link<F>>,
    /// A stream with each peer, of which a pair's terms of zero-shares are.
    zeros: PerPeer<Prg>,
    pub(crate) openings: FieldOpenings<F>,
    /// Memory of the bits that choose in OTs.
    pub(crate) bits: Pairwise,
    pub(crate) rng: Prg,
    broken: bool,
}

/// What a party has with a peer.
pub(crate) struct Link<F: Field> {
    /// Products of this party's elements with the peer's share of the key.
    pub(crate) sender: CopeSender<F>,
    /// Products of the peer's elements with this party's share of the key.
    pub(crate) receiver: CopeReceiver<F>,
    /// Hashes of bits: of those in which the peer chooses, and of those in which this party does. Their
    /// tweaks never restart.
    pub(crate) hashes: [GateHash; 2],
}

impl<F: Field> FieldDealer<F> {
    /// Sets up all parties. The session is theirs alone.
    ///
    /// # Errors
    /// As [`Joint::setup`] and [`Joint::chosen`].
    pub fn setup(mesh: &mut Mesh<'_>, here: Here, rng: &mut dyn CryptoRng) -> Result<FieldDealer<F>> {
        FieldDealer::with(mesh, here, rng, Honest)
    }
}

impl<F: Field, C: FieldConduct<F>> FieldDealer<F, C> {
    /// As [`FieldDealer::setup`], with a conduct: an honest party's changes nothing.
    ///
    /// # Errors
    /// As [`FieldDealer::setup`].
    pub fn with(mesh: &mut Mesh<'_>, here: Here, rng: &mut dyn CryptoRng, conduct: C) -> Result<FieldDealer<F, C>> {
        let mut prg = Prg::new(here.backend, Block::random(rng));
        // 1.
        let mut joint = Joint::with(mesh, here.child("bits"), rng, conduct)?;
        // 2.
        let mut key = Zeroizing::new([drawn::<F>(&mut prg)]);
        joint.conduct().before(FieldAct::Holds { what: "key", values: &mut *key });
        joint.plan(mesh, 1)?;
        let bits = joint.chosen(mesh, &F::digits(&*key))?;
        // 3.
        let [key] = *key;
        let (me, parties, delta, backend) = (here.me, here.parties, joint.key().block(), here.backend);
        let hash = |owner: PartyId, other: PartyId| {
            let label = format!("hash of bits under the key of party {owner}, with {other}");
            GateHash::new(backend, here.session.block(&label))
        };
        let trees = |owner: PartyId, other: PartyId| here.session.child(&format!("trees of {owner}, with {other}"));
        let mut hashes = PerPeer::new(me, parties, |peer| [hash(me, peer), hash(peer, me)]);
        let forests = PerPeer::new(me, parties, |peer| {
            let [mut zero, mut one] = [(); 2].map(|()| Zeroizing::new(vec![Block::ZERO; F::BITS]));
            both(&mut hashes[peer][0], &bits.keys[peer], delta, [&mut zero, &mut one]);
            let pairs = zero.iter().zip(&*one).map(|(&zero, &one)| [zero, one]).collect();
            Forest::all(&trees(me, peer), backend, TREE, pairs).expect("trees of some levels")
        });
        // 4.
        let mut messages = Messages::new(mesh);
        messages.alike(mesh, "trees", joint.conduct(), |peer, message| {
            message.extend_from_slice(forests[peer].1.as_bytes());
        })?;
        let mut links = Vec::with_capacity(usize::from(parties) - 1);
        for (peer, message) in messages.heard.iter() {
            let mut chosen = bits.macs[peer].clone();
            hashes[peer][1].each(&mut chosen);
            let of = (F::digits(&[key]), chosen);
            let forest =
                Forest::but_one(&trees(peer, me), backend, TREE, of, message).map_err(|error| error.by(peer))?;
            let receiver = CopeReceiver::new(backend, &forest, MacKey::new(key));
            links.push((CopeSender::new(backend, &forests[peer].0), receiver));
        }
        let links = links.into_iter().zip(hashes.into_vec());
        let links = links.map(|((sender, receiver), hashes)| Link { sender, receiver, hashes }).collect();
        let links = PerPeer::from_vec(me, links).expect("one a peer");
        Ok(FieldDealer {
            zeros: joint.seeds().streams(backend, &here.session.child("zero-shares")),
            openings: FieldOpenings::new(here.child("openings"), MacKey::new(key), rng),
            here,
            joint,
            links,
            bits: Pairwise::zeros(me, parties, 0),
            rng: prg,
            broken: false,
        })
    }

    /// This party.
    pub fn me(&self) -> PartyId {
        self.here.me
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.here.parties
    }

    /// This party's share of the MAC key.
    pub fn key(&self) -> &MacKey<F> {
        self.openings.key()
    }

    pub(crate) fn backend(&self) -> Backend {
        self.here.backend
    }

    /// Adds this party's shares of zero: for each pair one adds what the other one subtracts.
    pub(crate) fn add_zero(&mut self, shares: &mut [F]) {
        let mut row = Zeroizing::new(vec![F::ZERO; shares.len()]);
        let me = self.here.me;
        for (peer, stream) in self.zeros.iter_mut() {
            F::draw(stream, &mut row);
            for (share, term) in shares.iter_mut().zip(&*row) {
                *share = if me < peer { share.plus(*term) } else { share.minus(*term) };
            }
        }
    }

    /// *MACCheck* of everything that was opened, or put in, since the last one.
    pub(crate) fn check(&mut self, mesh: &mut Mesh<'_>) -> Result<()> {
        self.openings.check(mesh, self.joint.conduct())
    }

    /// Does what a call asks for, unless an earlier one failed: then every copy of the key is wiped.
    pub(crate) fn guarded<T>(&mut self, call: impl FnOnce(&mut FieldDealer<F, C>) -> Result<T>) -> Result<T> {
        if core::mem::replace(&mut self.broken, true) {
            return Err(ended());
        }
        let result = call(self);
        match result {
            Ok(_) => self.broken = false,
            Err(_) => {
                self.openings.end();
                self.links.iter_mut().for_each(|(_, link)| link.receiver.end());
            }
        }
        result
    }
}

/// Writes both messages of OTs whose sender has these keys and this delta to `zero` and `one`.
pub(crate) fn both(hash: &mut GateHash, keys: &[Block], delta: Block, [zero, one]: [&mut [Block]; 2]) {
    zero.copy_from_slice(keys);
    one.iter_mut().zip(keys).for_each(|(one, &key)| *one = key ^ delta);
    hash.pairs(zero, one);
}

impl<F: Field> CopeReceiver<F> {
    /// Wipes the key.
    fn end(&mut self) {
        self.key.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use comity_core::{Error, SessionId};
    use comity_testing::Net;

    use super::*;

    /// The key is at several places, and is wiped at each.
    #[test]
    fn no_copy_of_the_key_outlives_an_error() {
        Net::<3>::run(|mesh| {
            let here = Here::new(mesh.me(), mesh.parties(), SessionId::new([3; 32]));
            let mut rng = Prg::new(here.backend, Block::from_u128(mesh.me().0.into()));
            let mut dealer = FieldDealer::<Block>::setup(mesh, here, &mut rng).unwrap();
            let keys = |dealer: &FieldDealer<Block>| -> Vec<Block> {
                let copies = dealer.links.iter().map(|(_, link)| link.receiver.key.element());
                copies.chain([dealer.key().element()]).collect()
            };
            assert!(keys(&dealer).iter().all(|&key| key != Block::ZERO));
            let ended: Result<()> = dealer.guarded(|_| Err(Error::closed()));
            assert!(ended.is_err() && keys(&dealer) == [Block::ZERO; 3]);
        });
    }
}
