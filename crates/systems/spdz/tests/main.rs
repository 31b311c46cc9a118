//! SPDZ: what every protocol must do, lies online, material made ahead, and by hand.

mod heard;
mod liars;
mod order;
mod stored;

use std::sync::Arc;

use comity_channel::Mesh;
use comity_core::{Backend, Bits, Block, Check, PartyId, Result, SessionId};
use comity_field_shares::{FieldAct, FieldDealer, SumShare};
use comity_protocol::{Conduct, Here};
use comity_share::joint::JointAct;
use comity_spdz::{FieldMachine, FieldMpc, Fresh, Spdz};
use comity_testing::laws::{Laws, rng};
use comity_testing::{Net, laws};

laws!(
    Spdz,
    Laws {
        programs: 1,
        gates: 120,
        deviations: 60,
        listened: 6,
        constants: Some(1),
        wire: &["4265d49398da91fa5465b23cea08702e", "f0de8133fefdc8fe6623b6433a8931bb"],
        checks: Some((comity_field_shares::checks::ALL, liars::provoked)),
        ..Laws::USUAL
    }
);

/// What a party does with its messages, and with its values.
type Talks = Box<dyn FnMut(JointAct<'_>) + Send>;
type Holds = Box<dyn FnMut(&'static str, &mut [Block]) + Send>;

/// The conduct of a party: with its messages, and with its values.
pub struct Liar {
    talks: Talks,
    holds: Holds,
}

/// A party that lies.
type Lie = fn() -> Liar;

impl Liar {
    fn honest() -> Liar {
        Liar { talks: Box::new(|_| {}), holds: Box::new(|_, _| {}) }
    }

    /// Changes each message of this name towards party 0.
    fn says(message: &'static str) -> Liar {
        Liar {
            talks: Box::new(move |act| {
                if let JointAct::Says { what, peer: PartyId(0), bytes } = act
                    && what == message
                    && !bytes.is_empty()
                {
                    bytes[0] ^= 1;
                }
            }),
            ..Liar::honest()
        }
    }

    /// Changes values of this name.
    fn holds(name: &'static str) -> Liar {
        Liar {
            holds: Box::new(move |what, values| {
                if what == name {
                    values[0] ^= Block::from_u128(2);
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

fn here(mesh: &Mesh<'_>) -> Here {
    let (me, parties, session) = (mesh.me(), mesh.parties(), SessionId::new([0x5d; 32]));
    Here::new(me, parties, session)
}

type Machine = FieldMachine<'static, Block, Liar>;

/// How each honest party of a computation by hand ended. A party that lies, in its material or online, is
/// given its conducts, and stays until the others are gone.
fn run<const N: usize, T: Send>(
    conducts: impl Fn(PartyId) -> Option<[Liar; 2]> + Sync,
    then: impl Fn(&mut Machine, &mut Mesh<'_>) -> Result<T> + Sync,
) -> Vec<(PartyId, Result<T>)> {
    let ends = Net::<N>::run(|mesh| {
        let (me, here) = (mesh.me(), here(mesh));
        let conducts = conducts(me);
        let cheats = conducts.is_some();
        let [offline, online] = conducts.unwrap_or_else(|| [Liar::honest(), Liar::honest()]);
        let mut rng = rng(u128::from(me.0) + 1);
        let ended = FieldDealer::with(mesh, here.child("dealer"), &mut rng, offline).and_then(|dealer| {
            let source = Box::new(Fresh(dealer));
            then(&mut FieldMachine::with(here.child("machine"), source, &mut rng, online), mesh)
        });
        if cheats {
            for peer in mesh.peers() {
                while mesh.link(peer).recv(&mut [0]).is_ok() {}
            }
        }
        (!cheats).then_some((me, ended))
    });
    ends.into_iter().flatten().collect()
}

/// The checks that honest parties ended with.
fn named<T>(ends: &[(PartyId, Result<T>)]) -> Vec<&'static Check> {
    ends.iter().filter_map(|(_, ended)| ended.as_ref().err().and_then(|error| error.check())).collect()
}

/// That no honest party went on, and that this check ended the run.
fn ended_by<T>(what: &str, ends: &[(PartyId, Result<T>)], check: &'static Check) {
    assert!(ends.iter().all(|(_, ended)| ended.is_err()), "{what}: a party went on");
    let found = named(ends);
    assert!(!found.is_empty() && found.iter().all(|found| *found == check), "{what}: {found:?}, and not {check:?}");
}

fn bits(number: u128, len: usize) -> Bits {
    Bits::from_u128(number, len).expect("a number of so many bits")
}
