//! Shares in GF(2^128) of two, three and five parties, and parties that lie in one place.

mod drawn;
mod heard;
mod liars;
mod order;
mod shares;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use comity_channel::Mesh;
use comity_core::{Backend, Block, Check, PartyId, Prg, Result, SessionId};
use comity_field_shares::{Field, FieldAct, FieldDealer, MacKey, SumShare};
use comity_protocol::{Conduct, Here};
use comity_share::joint::JointAct;
use comity_testing::Net;

/// What a party does with its messages, and with its values.
type Talks = Box<dyn FnMut(JointAct<'_>) + Send>;
type Holds = Box<dyn FnMut(&'static str, &mut [Block]) + Send>;

/// The conduct of a party.
pub struct Liar {
    talks: Talks,
    holds: Holds,
}

impl Liar {
    fn honest() -> Liar {
        Liar { talks: Box::new(|_| {}), holds: Box::new(|_, _| {}) }
    }

    /// Changes each message of this name, after the set-up, towards those that are named.
    fn says(message: &'static str, towards: fn(PartyId) -> bool, change: fn(&mut [u8])) -> Liar {
        let set_up = Arc::new(AtomicBool::new(false));
        let seen = set_up.clone();
        Liar {
            holds: Box::new(move |what, _| {
                if what == "mask of inputs" {
                    seen.store(true, Ordering::SeqCst);
                }
            }),
            talks: Box::new(move |act| {
                if let JointAct::Says { what, peer, bytes } = act
                    && what == message
                    && towards(peer)
                    && set_up.load(Ordering::SeqCst)
                {
                    change(bytes);
                }
            }),
        }
    }

    fn talks(talks: impl FnMut(JointAct<'_>) + Send + 'static) -> Liar {
        Liar { talks: Box::new(talks), ..Liar::honest() }
    }

    /// Changes values of this name.
    fn holds(name: &'static str, change: fn(&mut [Block])) -> Liar {
        Liar {
            holds: Box::new(move |what, values| {
                if what == name {
                    change(values);
                }
            }),
            ..Liar::honest()
        }
    }
}

impl<'a> Conduct<JointAct<'a>> for Liar {
    fn before(&mut self, act: JointAct<'a>) {
        (self.talks)(act);
    }
}

impl<'a> Conduct<FieldAct<'a, Block>> for Liar {
    fn before(&mut self, FieldAct::Holds { what, values }: FieldAct<'a, Block>) {
        (self.holds)(what, values);
    }
}

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn here(mesh: &Mesh<'_>) -> Here {
    let (me, parties, session) = (mesh.me(), mesh.parties(), SessionId::new([0xf1; 32]));
    Here::new(me, parties, session)
}

type Dealer = FieldDealer<Block, Liar>;

/// How each honest party of a run ended. A party that lies is given its conduct, and stays until the others are gone.
fn run<const N: usize, T: Send>(
    conducts: impl Fn(PartyId) -> Option<Liar> + Sync,
    then: impl Fn(&mut Dealer, &mut Mesh<'_>) -> Result<T> + Sync,
) -> Vec<(PartyId, Result<T>)> {
    let ends = Net::<N>::run(|mesh| {
        let me = mesh.me();
        let conduct = conducts(me);
        let cheats = conduct.is_some();
        let mut rng = rng(me.0.into());
        let ended = FieldDealer::with(mesh, here(mesh), &mut rng, conduct.unwrap_or_else(Liar::honest))
            .and_then(|mut dealer| then(&mut dealer, mesh));
        if cheats {
            for peer in mesh.peers() {
                while mesh.link(peer).recv(&mut [0]).is_ok() {}
            }
        }
        (!cheats).then_some((me, ended))
    });
    ends.into_iter().flatten().collect()
}

/// What honest parties get.
fn honest<const N: usize, T: Send>(then: impl Fn(&mut Dealer, &mut Mesh<'_>) -> Result<T> + Sync) -> Vec<T> {
    run::<N, T>(|_| None, then).into_iter().map(|(_, ended)| ended.unwrap()).collect()
}

/// That no honest party went on, and that this check ended the run: the first of them to see it is followed
/// by others that find their links closed.
fn ended_by<T>(what: &str, ends: &[(PartyId, Result<T>)], check: &'static Check) {
    assert!(ends.iter().all(|(_, ended)| ended.is_err()), "{what}: a party went on");
    let found: Vec<_> = ends.iter().filter_map(|(_, ended)| ended.as_ref().err().and_then(|e| e.check())).collect();
    assert!(!found.is_empty() && found.iter().all(|found| *found == check), "{what}: {found:?}, and not {check:?}");
}

fn mul(a: Block, b: Block) -> Block {
    comity_core::gf128::mul(Backend::detect(), a, b)
}

/// The value that these shares make, if they have the MAC that it must have under these keys.
fn value(keys: &[MacKey<Block>], shares: impl IntoIterator<Item = SumShare<Block>>) -> Block {
    let key = keys.iter().fold(Block::ZERO, |sum, key| sum ^ key.element());
    let none = (Block::ZERO, Block::ZERO);
    let (value, mac) = shares.into_iter().fold(none, |sum, share| (sum.0 ^ share.value, sum.1 ^ share.mac));
    assert!(mac == mul(key, value), "a wrong MAC");
    value
}
