//! Authenticated bits of many parties, and parties that lie in one place.

mod blind;
mod liars;

use std::sync::Mutex;

use comity_channel::Mesh;
use comity_core::{Backend, Bits, Block, Check, PartyId, Prg, Result, SessionId};
use comity_protocol::Here;
use comity_share::joint::JointAct;
use comity_share::{GlobalKey, Joint, RowShares};
use comity_testing::Net;

use crate::{named, rng, shares};

const SESSION: SessionId = SessionId::new([0x71; 32]);

/// The conduct of a party.
pub(crate) type Lie = Box<dyn FnMut(JointAct<'_>) + Send>;

pub(crate) fn lie(lie: impl FnMut(JointAct<'_>) + Send + 'static) -> Lie {
    Box::new(lie)
}

pub(crate) fn honest() -> Lie {
    lie(|_| {})
}

pub(crate) fn here(mesh: &Mesh<'_>, session: SessionId) -> Here {
    Here::new(mesh.me(), mesh.parties(), session)
}

/// What became of each party of a run: those that behave otherwise than honestly are given, and stay until
/// the others are gone.
pub(crate) fn run<const N: usize, T: Send>(
    conducts: impl Fn(PartyId) -> Option<Lie> + Sync,
    then: impl Fn(&mut Joint<Lie>, &mut Mesh<'_>) -> Result<T> + Sync,
) -> Vec<(PartyId, Result<T>)> {
    let ends = Net::<N>::run(|mesh| {
        let me = mesh.me();
        let conduct = conducts(me);
        let cheats = conduct.is_some();
        let ended = Joint::with(mesh, here(mesh, SESSION), &mut rng(me.0), conduct.unwrap_or_else(honest))
            .and_then(|mut joint| then(&mut joint, mesh));
        if cheats {
            for peer in mesh.peers() {
                while mesh.link(peer).recv(&mut [0]).is_ok() {}
            }
        }
        (!cheats).then_some((me, ended))
    });
    ends.into_iter().flatten().collect()
}

/// Checks that no honest party went on, and that this check ended the run: the first party that sees it is
/// followed by others that find their links closed.
pub(crate) fn ended_by<T>(ends: &[(PartyId, Result<T>)], check: &'static Check) {
    assert!(ends.iter().all(|(_, ended)| ended.is_err()), "a party went on");
    let found: Vec<_> = ends.iter().filter_map(|(_, ended)| named(ended)).collect();
    assert!(!found.is_empty() && found.iter().all(|(found, _)| *found == check), "{found:?}, and not {check:?}");
}

/// The bits that rows share, if they are what they promise.
pub(crate) fn opened(all: &[(GlobalKey, RowShares)]) -> Bits {
    let mut bits = Bits::zeros(all[0].1.len());
    all.iter().for_each(|(_, rows)| bits.xor_assign(&shares(rows)));
    for (party, (key, _)) in all.iter().enumerate() {
        for (k, bit) in bits.iter().enumerate() {
            let sum = all.iter().fold(Block::ZERO, |sum, (_, rows)| sum ^ rows.column(PartyId(party as u16))[k]);
            assert!(sum == key.block().masked(bit), "bit {k} times the key of party {party}");
        }
    }
    bits
}

fn bits_are_shared<const N: usize>() {
    let ends = run::<N, _>(
        |_| None,
        |joint, mesh| {
            let few = joint.bits(mesh, 300)?.rows(joint.key());
            // More than a chunk.
            let many = joint.bits(mesh, Joint::CHUNK + 129)?.rows(joint.key());
            Ok([(joint.key().clone(), few), (joint.key().clone(), many)])
        },
    );
    let mut views = [Vec::new(), Vec::new()];
    for (_, ended) in ends {
        let [few, many] = ended.unwrap();
        views[0].push(few);
        views[1].push(many);
    }
    for view in &views {
        let (bits, n) = (opened(view), view[0].1.len());
        let ones = bits.iter().filter(|&bit| bit).count();
        assert!((n / 3..n * 2 / 3).contains(&ones), "{ones} ones of {n}");
    }
}

#[test]
fn any_number_of_parties_share_bits() {
    bits_are_shared::<2>();
    bits_are_shared::<3>();
    bits_are_shared::<5>();
}

/// What leaves in which order: whatever is opened comes after all that it decides on, and after the echo of
/// all commitments.
#[test]
fn nothing_is_opened_before_what_it_decides_on() {
    let log = Mutex::new(Vec::new());
    let log = &log;
    let ends = Net::<3>::run(|mesh| {
        let first = mesh.me() == PartyId(0);
        let mut last = None;
        let watch = move |act: JointAct<'_>| match act {
            JointAct::Says { what, .. } if first && last != Some((what, true)) => {
                log.lock().unwrap().push(what);
                last = Some((what, true));
            }
            JointAct::Hears { what, .. } if first && last != Some((what, false)) => last = Some((what, false)),
            _ => {}
        };
        let mut joint = Joint::with(mesh, here(mesh, SESSION), &mut rng(mesh.me().0), watch)?;
        joint.plan(mesh, 1)?;
        joint.sums_to_zero(mesh, Block::ZERO, comity_share::checks::WRONG_MAC)
    });
    ends.into_iter().for_each(|ended| ended.unwrap());
    // An echo of what was said before goes with the message before it.
    let coins = ["coin commitments", "corrections", "echo"];
    let first = ["coin", "masked shares", "answer"];
    let deltas = ["commitment to rows", "echo", "echo", "rows"];
    let chunk = ["coin", "answer", "echo"];
    let blind = ["strings", "theta", "combined strings", "commitment to a product", "echo", "product"];
    let expected: Vec<&str> = [&["halves of seeds"][..], &coins, &first, &deltas, &coins, &chunk, &blind].concat();
    assert_eq!(*log.lock().unwrap(), expected);
}

/// A GF(2)-combination of these blocks that is the target, looked for among few enough that none is there by chance.
pub(crate) fn spans(blocks: &[Block], target: Block) -> bool {
    assert!(blocks.len() < 96, "{} blocks", blocks.len());
    let mut basis: Vec<u128> = Vec::new();
    let reduce = |basis: &[u128], mut v: u128| {
        for &b in basis {
            v = v.min(v ^ b);
        }
        v
    };
    for block in blocks {
        let v = reduce(&basis, block.to_u128());
        if v != 0 {
            basis.push(v);
            basis.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    reduce(&basis, target.to_u128()) == 0
}

/// A generator of a test's own.
pub(crate) fn drawn(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

/// What hides what is opened comes of both of a pair: with another generator at one party the seeds of all
/// its pairs are others, and no others are.
#[test]
fn each_party_draws_its_halves_of_seeds() {
    let seeds = |changed: u16| {
        Net::<3>::run(|mesh| {
            let me = mesh.me();
            let seed = if me.0 == changed { 1000 + me.0 } else { me.0 };
            let joint = Joint::setup(mesh, here(mesh, SESSION), &mut rng(seed)).unwrap();
            joint.seeds().iter().map(|(peer, seed)| (peer, seed.to_u128())).collect::<Vec<_>>()
        })
    };
    let before = seeds(3);
    let of = |seeds: &[Vec<(PartyId, u128)>], me: u16, peer: u16| {
        seeds[usize::from(me)].iter().find(|(party, _)| party.0 == peer).unwrap().1
    };
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        assert_eq!(of(&before, a, b), of(&before, b, a));
        for changed in 0..3 {
            let after = seeds(changed);
            assert_eq!(of(&before, a, b) != of(&after, a, b), changed == a || changed == b, "{a} and {b}, {changed}");
        }
    }
    assert!(of(&before, 0, 1) != of(&before, 0, 2) && of(&before, 0, 1) != of(&before, 1, 2));
}
