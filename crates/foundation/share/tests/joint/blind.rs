//! The blind test for zero: what passes, what does not, and what a liar has learnt when it did not.

use std::sync::Arc;

use comity_core::{Block, PartyId, gf128};
use comity_share::checks;

use super::*;

/// What the sum is tested for, in these tests.
const FAILED: &Check = checks::WRONG_MAC;

fn test(joint: &mut Joint<Lie>, mesh: &mut Mesh<'_>, sigma: Block) -> Result<()> {
    joint.plan(mesh, 1)?;
    joint.sums_to_zero(mesh, sigma, FAILED)
}

fn zero_and_not_zero<const N: usize>() {
    let mut all: Vec<Block> = (0..N as u128).map(|party| drawn(party).block()).collect();
    all[N - 1] = all[..N - 1].iter().fold(Block::ZERO, |sum, &sigma| sum ^ sigma);
    let ends = run::<N, _>(
        |_| None,
        |joint, mesh| {
            let sigma = all[usize::from(joint.me().0)];
            test(joint, mesh, sigma)?;
            test(joint, mesh, Block::ZERO)?;
            test(joint, mesh, sigma ^ Block::from_u128(1 << 77).masked(joint.me().0 == 0))
        },
    );
    ended_by(&ends, FAILED);
    // All see it alike: nobody's doing.
    assert!(ends.iter().all(|(_, ended)| named(ended) == Some((FAILED, None))));
}

#[test]
fn sums_that_are_zero_pass_and_others_do_not() {
    zero_and_not_zero::<2>();
    zero_and_not_zero::<3>();
    zero_and_not_zero::<5>();
}

/// A lie in one test after the set-up, by party `cheat`.
fn against<const N: usize>(cheat: u16, make: impl Fn() -> Lie + Sync) -> Vec<(PartyId, Result<()>)> {
    run::<N, _>(|me| (me.0 == cheat).then(&make), |joint, mesh| test(joint, mesh, Block::ZERO))
}

#[test]
fn lies_are_named() {
    let says = |message: &'static str, at: usize| {
        move || {
            lie(move |act| {
                if let JointAct::Says { what, bytes, .. } = act
                    && what == message
                {
                    bytes[at] ^= 1;
                }
            })
        }
    };
    for cheat in 0..3 {
        for (message, at, check) in [
            ("combined strings", 0, checks::PRODUCT),
            ("combined strings", 20, checks::PRODUCT),
            ("product", 0, checks::PRODUCT_OPENING),
            ("product", 30, checks::PRODUCT_OPENING),
        ] {
            let ends = against::<3>(cheat, says(message, at));
            ended_by(&ends, check);
            assert!(ends.iter().filter_map(|(_, e)| named(e)).all(|(_, by)| by == Some(PartyId(cheat))));
        }
        let product = || {
            lie(|act| {
                if let JointAct::Product(product) = act {
                    *product ^= Block::from_u128(1 << 9)
                }
            })
        };
        ended_by(&against::<3>(cheat, product), FAILED);
        let sigma = || {
            lie(|act| {
                if let JointAct::Sigma(sigma) = act {
                    *sigma ^= Block::from_u128(1 << 9)
                }
            })
        };
        ended_by(&against::<3>(cheat, sigma), FAILED);
    }
}

/// x^(2^64), which is linear over GF(2).
fn half_way(x: Block) -> Block {
    (0..64).fold(x, |x, _| gf128::mul(Backend::detect(), x, x))
}

/// Strings for another linear function than a product, as x -> x^(2^64): the failure of such a test would
/// have few values.
#[test]
fn strings_of_another_function_are_seen_before_a_product_is_shown() {
    let products = Arc::new(Mutex::new(0));
    let make = || {
        let products = products.clone();
        lie(move |act| match act {
            JointAct::Strings { differences: [factor, _], .. } => {
                for (b, difference) in factor.iter_mut().enumerate() {
                    *difference = half_way(Block::from_u128(1 << b));
                }
            }
            JointAct::Hears { what: "product", .. } => *products.lock().unwrap() += 1,
            _ => {}
        })
    };
    ended_by(&against::<3>(0, make), checks::PRODUCT);
    ended_by(&against::<2>(1, make), checks::PRODUCT);
    assert_eq!(*products.lock().unwrap(), 0, "a product was shown");
}

/// One false string passes only if the receiver does not choose it: half of the time, whatever the receiver's
/// own sigma is. Were it chosen by a bit of sigma, which is one here, it would never pass.
#[test]
fn a_false_string_says_nothing_of_the_receivers_sigma() {
    let ones = Block::from_u128(u128::MAX);
    let mut passed = 0;
    for run_number in 0..24 {
        let ends = Net::<2>::run(|mesh| {
            let cheat = mesh.me().0 == 1;
            let conduct = lie(move |act| match act {
                JointAct::Sigma(sigma) => *sigma = ones,
                JointAct::Strings { differences: [factor, _], .. } if cheat => factor[50] ^= Block::from_u128(4),
                _ => {}
            });
            let session = SESSION.child(&format!("run {run_number}"));
            let mut rng = drawn(run_number * 2 + u128::from(cheat) + 500);
            let mut joint = Joint::with(mesh, here(mesh, session), &mut rng, conduct)?;
            let ended = test(&mut joint, mesh, ones);
            for peer in mesh.peers().filter(|_| cheat) {
                while mesh.link(peer).recv(&mut [0]).is_ok() {}
            }
            ended
        });
        let seen = named(&ends[0]);
        assert!(ends[0].is_ok() || seen == Some((checks::PRODUCT, Some(PartyId(1)))), "{seen:?}");
        passed += u32::from(ends[0].is_ok());
    }
    assert!((4..=20).contains(&passed), "{passed} of 24 passed");
}

/// The inverse of an element.
fn inverse(x: Block) -> Block {
    let mul = |a, b| gf128::mul(Backend::detect(), a, b);
    let mut power = x;
    (1..128).fold(Block::from_u128(1), |product, _| {
        power = mul(power, power);
        mul(product, power)
    })
}

/// Two peers with their heads together: from both `u` of an honest party, its sigma, if they were masked alike.
#[test]
fn two_peers_cannot_put_their_combined_strings_together() {
    let (heard, honest) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Block::ZERO)));
    let ends = run::<3, _>(
        |me| {
            let (heard, honest) = (heard.clone(), honest.clone());
            let mut theta = Block::ZERO;
            Some(lie(move |act| match act {
                JointAct::Sigma(sigma) if me.0 == 0 => *honest.lock().unwrap() = *sigma,
                JointAct::Says { what: "theta", peer: PartyId(0), bytes } => theta = block(bytes),
                JointAct::Hears { what: "combined strings", peer: PartyId(0), bytes } => {
                    heard.lock().unwrap().push((theta, block(&bytes[..16])));
                }
                _ => {}
            }))
        },
        |joint, mesh| test(joint, mesh, Block::ZERO),
    );
    assert!(ends.is_empty());
    let (heard, sigma) = (heard.lock().unwrap(), *honest.lock().unwrap());
    let [(theta, u), (other_theta, other_u)] = heard[..] else { panic!("two peers") };
    let found = gf128::mul(Backend::detect(), u ^ other_u, inverse(theta ^ other_theta));
    assert!(sigma != Block::ZERO && found != sigma, "sigma is u + u' over theta + theta'");
}

fn block(bytes: &[u8]) -> Block {
    let mut block = Block::ZERO;
    Block::bytes_of_mut(std::slice::from_mut(&mut block)).copy_from_slice(bytes);
    block
}

/// What the liars hear of a test that fails, where every sigma is a known factor times the party's own global
/// key, as after a false bit of an AND: no key of an honest party, nor their sum, nor such a multiple, is a
/// sum of what was shown.
fn a_failure_tells_no_key<const N: usize>(cheats: u16) {
    let factor = Block::from_u128(0x1234_5678_9abc << 40 | 3);
    let times = |x: Block| gf128::mul(Backend::detect(), x, factor);
    let (heard, keys) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let ends = run::<N, _>(
        |me| {
            let heard = heard.clone();
            (me.0 < cheats).then(|| {
                lie(move |act| match act {
                    JointAct::Hears { what: "product", bytes, .. } => heard.lock().unwrap().push(block(&bytes[..16])),
                    JointAct::Hears { what: "combined strings", bytes, .. } => {
                        heard.lock().unwrap().push(block(&bytes[..16]))
                    }
                    JointAct::Hears { what: "theta", bytes, .. } => heard.lock().unwrap().push(block(bytes)),
                    // What it has itself, as good as heard.
                    JointAct::Product(product) => heard.lock().unwrap().push(*product),
                    JointAct::Sigma(sigma) => heard.lock().unwrap().push(*sigma),
                    _ => {}
                })
            })
        },
        |joint, mesh| {
            let key = joint.key().block();
            keys.lock().unwrap().push((joint.me(), key));
            test(joint, mesh, times(key))
        },
    );
    ended_by(&ends, FAILED);
    let (mut heard, keys) = (heard.lock().unwrap().clone(), keys.lock().unwrap());
    let of = |cheat: bool| keys.iter().filter(move |(party, _)| (party.0 < cheats) == cheat).map(|&(_, key)| key);
    heard.extend(of(true).flat_map(|key| [key, times(key)]));
    let sum = of(false).fold(Block::ZERO, |sum, key| sum ^ key);
    for target in of(false).chain([sum]) {
        assert!(!spans(&heard, target) && !spans(&heard, times(target)), "{N} parties, {cheats} of them liars");
    }
}

#[test]
fn a_test_that_fails_tells_no_key() {
    a_failure_tells_no_key::<2>(1);
    a_failure_tells_no_key::<3>(1);
    a_failure_tells_no_key::<3>(2);
    a_failure_tells_no_key::<5>(2);
    a_failure_tells_no_key::<5>(4);
}
