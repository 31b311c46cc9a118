//! What is drawn is drawn, and what decides on something is not known before: two runs of one session are
//! held against each other.

use std::sync::{Arc, Mutex};

use comity_channel::Mesh;
use comity_core::{Backend, Block, PartyId, Result, gf128};
use comity_share::joint::{JointAct, Provisions};
use comity_share::{Joint, checks};
use comity_testing::Net;
use comity_testing::laws::assert_fresh;

use crate::SESSION;
use crate::joint::{Lie, drawn, here, honest, lie};

/// A message: its name, from whom and to whom, and its bytes.
type Said = (&'static str, PartyId, PartyId, Vec<u8>);

/// Whoever changes the bytes on purpose, here or in comity-ot, changes this digest.
const GOLDEN: &str = "949de0f67514a608458f8bf76f72f5a59a47201cd3d79c07ba5c8b93f8a27813";

/// Bits made with the set-up, others, some that are given, both tests for zero, and coins.
fn all_calls(joint: &mut Joint<Lie>, mesh: &mut Mesh<'_>) -> Result<()> {
    joint.bits(mesh, 100)?;
    joint.bits(mesh, 900)?;
    joint.plan(mesh, 4)?;
    joint.coin(mesh)?;
    joint.sums_to_zero_then_coin(mesh, Block::ZERO, checks::WRONG_MAC)?;
    joint.settled_coin(mesh).map(drop)
}

/// What three parties say whose generators have these seeds.
fn said(seeds: [u128; 3]) -> Vec<Said> {
    let all = Net::<3>::run(|mesh| {
        let (me, said) = (mesh.me(), Arc::new(Mutex::new(Vec::new())));
        let log = said.clone();
        let conduct = lie(move |act| {
            if let JointAct::Says { what, peer, bytes } = act {
                log.lock().unwrap().push((what, me, peer, bytes.clone()));
            }
        });
        let ahead = Provisions { bits: 300, coins: 1 };
        let rng = &mut drawn(seeds[usize::from(me.0)]);
        let mut joint = Joint::with_ahead(mesh, here(mesh, SESSION), ahead, rng, conduct).unwrap();
        all_calls(&mut joint, mesh).unwrap();
        drop(joint);
        Arc::try_unwrap(said).unwrap().into_inner().unwrap()
    });
    all.concat()
}

#[test]
fn two_runs_have_no_message_in_common() {
    assert_fresh(0, |seed| {
        said([3 * seed, 3 * seed + 1, 3 * seed + 2]).into_iter().map(|(_, _, _, bytes)| bytes).collect()
    });
}

/// A party that draws the same again answers otherwise where the others draw something else: what it is asked
/// for comes from all.
#[test]
fn challenges_are_made_by_all() {
    let answers = |seeds| {
        let own = said(seeds).into_iter().filter(|(what, from, ..)| *from == PartyId(0) && *what == "answer");
        own.map(|(_, _, _, bytes)| bytes[..Block::BYTES].to_vec()).collect::<Vec<_>>()
    };
    // The hash of its shares, which are those of the other run, under coefficients of a coin.
    let (one, other) = (answers([1, 2, 3]), answers([1, 4, 5]));
    assert_eq!(one.len(), other.len());
    assert!(one.len() >= 4 && one.iter().all(|answer| !other.contains(answer)));
}

#[test]
fn the_wire_is_pinned() {
    let mut hash = blake3::Hasher::new();
    for (what, from, to, bytes) in said([1, 2, 3]) {
        hash.update(what.as_bytes()).update(&from.0.to_le_bytes()).update(&to.0.to_le_bytes()).update(&bytes);
    }
    assert_eq!(hash.finalize().to_hex().as_str(), GOLDEN);
}

/// What was made with the set-up is used up: neither a call for bits nor one for a chunk gets what another one got.
#[test]
fn bits_of_the_stock_come_once() {
    Net::<2>::run(|mesh| {
        let ahead = Provisions { bits: 400, coins: 0 };
        let rng = &mut drawn(mesh.me().0.into());
        let mut joint = Joint::with_ahead(mesh, here(mesh, SESSION), ahead, rng, honest()).unwrap();
        let mut all: Vec<u128> = Vec::new();
        let mut take = |blocks: &[Block]| all.extend(blocks.iter().map(|block| block.to_u128()));
        let peer = mesh.peers().next().unwrap();
        for _ in 0..2 {
            take(&joint.bits(mesh, 100).unwrap().keys[peer]);
            let mut chunk = comity_share::Pairwise::zeros(mesh.me(), 2, 100);
            let [mut macs, mut keys] = [&mut chunk.macs, &mut chunk.keys].map(|blocks| {
                let slices = blocks.as_mut_slice().iter_mut().map(|blocks| &mut blocks[..]).collect();
                comity_channel::PerPeer::from_vec(mesh.me(), slices).unwrap()
            });
            joint.chunk(mesh, &mut macs, &mut keys).unwrap();
            take(&chunk.keys[peer]);
        }
        assert_eq!(joint.stocked(), 0);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 400, "blocks that differ");
    });
}

/// In the blind test what is said of `sigma` is masked by what nobody else has: `u` is not `theta sigma`.
#[test]
fn a_factor_is_masked() {
    let ends = Net::<2>::run(|mesh| {
        let (mut sigma, mut theta, masked) = (Block::ZERO, Block::ZERO, Arc::new(Mutex::new(Vec::new())));
        let log = masked.clone();
        let conduct = lie(move |act| match act {
            JointAct::Sigma(own) => sigma = *own,
            JointAct::Hears { what: "theta", bytes, .. } => theta = Block::new(bytes.try_into().unwrap()),
            JointAct::Says { what: "combined strings", bytes, .. } => {
                let u = Block::new(*bytes.first_chunk().unwrap());
                log.lock().unwrap().push(u != gf128::mul(Backend::detect(), theta, sigma));
            }
            _ => {}
        });
        let mut joint = Joint::with(mesh, here(mesh, SESSION), &mut drawn(mesh.me().0.into()), conduct).unwrap();
        joint.plan(mesh, 1).unwrap();
        joint.sums_to_zero(mesh, Block::ZERO, checks::WRONG_MAC).unwrap();
        masked.lock().unwrap().clone()
    });
    assert_eq!(ends, [vec![true], vec![true]]);
}

/// Commitments of coins that were told differently are seen before a coin is opened, whatever it is for.
#[test]
fn no_coin_is_opened_before_its_commitments_are_settled() {
    type Ask = fn(&mut Joint<Lie>, &mut Mesh<'_>) -> Result<()>;
    let asks: [Ask; 3] = [
        |joint, mesh| joint.coin(mesh).map(drop),
        |joint, mesh| joint.settled_coin(mesh).map(drop),
        |joint, mesh| joint.bits(mesh, 10).map(drop),
    ];
    for (case, ask) in asks.into_iter().enumerate() {
        let opened = Mutex::new(0);
        let ends = Net::<3>::run(|mesh| {
            let me = mesh.me();
            let told = Arc::new(Mutex::new((false, 0)));
            let log = told.clone();
            let conduct = lie(move |act| {
                let mut log = log.lock().unwrap();
                match act {
                    JointAct::Says { what: "coin commitments", peer, bytes } if me.0 == 0 && log.0 => {
                        bytes[0] ^= u8::from(peer.0 == 1);
                    }
                    JointAct::Says { what: "coin", .. } if log.0 => log.1 += 1,
                    _ => {}
                }
            });
            let mut joint = Joint::with(mesh, here(mesh, SESSION), &mut drawn(me.0.into()), conduct).unwrap();
            // From here on party 0 lies, and openings are counted.
            told.lock().unwrap().0 = true;
            let ended = joint.plan(mesh, 1).and_then(|()| ask(&mut joint, mesh));
            if me.0 > 0 {
                *opened.lock().unwrap() += told.lock().unwrap().1;
            } else {
                for peer in mesh.peers() {
                    while mesh.link(peer).recv(&mut [0]).is_ok() {}
                }
            }
            (me, ended)
        });
        let honest: Vec<_> = ends.into_iter().filter(|(me, _)| me.0 > 0).collect();
        crate::joint::ended_by(&honest, checks::EQUIVOCATION);
        assert_eq!(*opened.lock().unwrap(), 0, "case {case}");
    }
}
