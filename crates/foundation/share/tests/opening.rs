//! Bits opened to all: what is right passes, what is false does not, and nobody learns a key from it.

use std::sync::{Arc, Mutex};

use comity_channel::Mesh;
use comity_core::{Backend, Bits, Block, Check, PartyId, Prg, Result, gf128};
use comity_share::joint::JointAct;
use comity_share::{GlobalKey, Joint, Openings, PairSeeds, RowShares, checks};
use comity_testing::Net;

use crate::joint::{Lie, ended_by, honest, lie, run, spans};
use crate::{SESSION, shares};

/// Opens bits in calls of these sizes, and settles after each of the numbers of calls.
fn open(
    joint: &mut Joint<Lie>,
    mesh: &mut Mesh<'_>,
    sizes: &[usize],
    conduct: &mut Lie,
) -> Result<Vec<(RowShares, Bits)>> {
    let mut openings = Openings::new(SESSION, joint.backend(), joint.key().clone(), joint.seeds());
    let mut all = Vec::new();
    for &size in sizes {
        let rows = joint.bits(mesh, size)?.rows(joint.key());
        let bits = openings.open(mesh, &rows, conduct)?;
        all.push((rows, bits));
    }
    let settled = openings.settle(mesh, conduct);
    if settled.is_err() {
        assert!(openings.settle(mesh, conduct).is_err(), "it goes on after an error");
    } else {
        openings.settle(mesh, conduct)?;
    }
    settled.map(|()| all)
}

fn right_bits_pass<const N: usize>() {
    let ends = run::<N, _>(|_| None, |joint, mesh| open(joint, mesh, &[1, 300, 5000, 0, 77], &mut honest()));
    let all: Vec<_> = ends.into_iter().map(|(_, ended)| ended.unwrap()).collect();
    for call in 0..5 {
        let mut bits = Bits::zeros(all[0][call].1.len());
        all.iter().for_each(|calls| bits.xor_assign(&shares(&calls[call].0)));
        assert!(all.iter().all(|calls| calls[call].1 == bits));
    }
}

#[test]
fn all_learn_the_bits() {
    right_bits_pass::<2>();
    right_bits_pass::<3>();
    right_bits_pass::<5>();
}

/// A run in which some parties lie when they open bits.
fn against<const N: usize>(
    cheats: u16,
    sizes: &[usize],
    make: impl Fn(PartyId) -> Lie + Sync,
) -> Vec<(PartyId, Result<()>)> {
    let cheating = |me: PartyId| (me.0 < cheats).then(honest);
    run::<N, _>(cheating, |joint, mesh| {
        let me = joint.me();
        let mut conduct = if me.0 < cheats { make(me) } else { honest() };
        open(joint, mesh, sizes, &mut conduct).map(drop)
    })
}

/// Changes messages of this name towards some.
fn says(message: &'static str, towards: fn(PartyId) -> bool, at: usize, bit: u8) -> Lie {
    lie(move |act| {
        if let JointAct::Says { what, peer, bytes } = act
            && what == message
            && towards(peer)
            && bytes.len() > at
        {
            bytes[at] ^= bit;
        }
    })
}

/// The message, to whom, the byte and the bit of it, and the check that sees it.
type Case = (&'static str, fn(PartyId) -> bool, usize, u8, &'static Check);

fn false_openings_are_seen<const N: usize>(cheats: u16) {
    let mut cases: Vec<Case> = vec![
        ("opened bits", |_| true, 0, 1, checks::WRONG_MAC),
        // In the first rows that get their coefficients, and in those that wait for the settlement.
        ("opened bits", |_| true, 600, 4, checks::WRONG_MAC),
        ("settlement", |_| true, 3, 1, checks::WRONG_MAC),
        ("settlement", |_| true, 20, 1, checks::EQUIVOCATION),
    ];
    if N - usize::from(cheats) > 1 {
        cases.push(("opened bits", |peer| peer.0 as usize == N - 1, 0, 1, checks::EQUIVOCATION));
    }
    for (message, towards, at, bit, check) in cases {
        // One of the coalition lies, and then all of them: an even number of the same lies about bits would be none.
        let one =
            against::<N>(
                cheats,
                &[9, 5000, 30],
                |me| {
                    if me.0 == 0 { says(message, towards, at, bit) } else { honest() }
                },
            );
        assert!(one.iter().all(|(_, ended)| ended.is_err()), "{message}, byte {at}");
        // The first false bit of one liar is in its own view, too: it lies about what it opened to all.
        let seen = one.iter().filter_map(|(_, ended)| ended.as_ref().err()?.check());
        assert!(
            seen.clone().count() > 0 && seen.clone().all(|seen| seen == check || seen == checks::EQUIVOCATION),
            "{message}, byte {at}"
        );
    }
}

#[test]
fn false_bits_and_products_are_seen() {
    false_openings_are_seen::<2>(1);
    false_openings_are_seen::<3>(1);
    false_openings_are_seen::<3>(2);
    false_openings_are_seen::<5>(4);
}

/// The liar's own view is mended, too: all heard the same false bit, and only the MACs say so.
fn one_false_bit<const N: usize>(cheats: u16) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keys = Arc::new(Mutex::new(Vec::new()));
    let ends = run::<N, _>(
        |me| (me.0 < cheats).then(honest),
        |joint, mesh| {
            let me = joint.me();
            keys.lock().unwrap().push((me, joint.key().block()));
            let mut rows = joint.bits(mesh, 1)?.rows(joint.key());
            // Its own column says what it has; its share is the lowest bit of each.
            let mut openings = Openings::new(SESSION, joint.backend(), joint.key().clone(), joint.seeds());
            let mut conduct = honest();
            if me.0 < cheats {
                let heard = heard.clone();
                conduct = lie(move |act| {
                    if let JointAct::Hears { what: "settlement", bytes, .. } = act {
                        heard.lock().unwrap().push(block(&bytes[..16]));
                    }
                });
            }
            if me.0 == 0 {
                for party in 0..N as u16 {
                    rows.column_mut(PartyId(party))[0] ^= Block::from_u128(1);
                }
            }
            let bits = openings.open(mesh, &rows, &mut conduct)?;
            let settled = openings.settle(mesh, &mut conduct);
            if me.0 < cheats {
                let own: Vec<Block> = rows.columns().map(|column| column[0]).collect();
                heard.lock().unwrap().extend(own);
            }
            settled.map(|()| bits)
        },
    );
    ended_by(&ends, checks::WRONG_MAC);
    // The coefficient of the bit, as every party computes it. What the liars know, times it.
    let (heard, keys) = (heard.lock().unwrap().clone(), keys.lock().unwrap());
    for first in [false, true] {
        for coefficient in coefficients::<N>(first) {
            let times = |x: Block| gf128::mul(Backend::detect(), x, coefficient);
            let of =
                |cheat: bool| keys.iter().filter(move |(party, _)| (party.0 < cheats) == cheat).map(|&(_, key)| key);
            let mut known = heard.clone();
            known.extend(heard.iter().map(|&block| times(block)));
            known.extend(of(true).flat_map(|key| [key, times(key)]));
            let sum = of(false).fold(Block::ZERO, |sum, key| sum ^ key);
            for target in of(false).chain([sum]) {
                assert!(!spans(&known, target) && !spans(&known, times(target)), "{N} parties, {cheats} liars");
            }
        }
    }
}

/// The coefficients that one opened bit may have had: for each way in which the parties' shares can be.
fn coefficients<const N: usize>(first: bool) -> Vec<Block> {
    let shares = (0..1u16 << (N - 1)).map(|bits| bits << 1 | u16::from(first));
    shares
        .map(|shares| {
            let said = |party: u16| vec![(shares >> party & 1) as u8];
            let mut echo = comity_channel::Echo::new(SESSION);
            let heard = comity_channel::PerPeer::new(PartyId(0), N as u16, |peer| said(peer.0));
            echo.hear("opened bits", &said(0), &heard);
            let seed = blake3::derive_key("comity shares: coefficients of opened bits", &echo.digest());
            Prg::new(Backend::detect(), Block::new(std::array::from_fn(|i| seed[i]))).block()
        })
        .collect()
}

fn block(bytes: &[u8]) -> Block {
    let mut block = Block::ZERO;
    Block::bytes_of_mut(std::slice::from_mut(&mut block)).copy_from_slice(bytes);
    block
}

/// Two false bits, of which all heard the same: a plain sum of MACs would not see them.
fn two_false_bits<const N: usize>() {
    let ends = run::<N, _>(
        |me| (me.0 == 0).then(honest),
        |joint, mesh| {
            let mut rows = joint.bits(mesh, 7)?.rows(joint.key());
            for party in (0..N as u16).filter(|_| joint.me().0 == 0) {
                rows.column_mut(PartyId(party))[2..4].iter_mut().for_each(|block| *block ^= Block::from_u128(1));
            }
            let mut openings = Openings::new(SESSION, joint.backend(), joint.key().clone(), joint.seeds());
            openings.open(mesh, &rows, &mut honest())?;
            openings.settle(mesh, &mut honest())
        },
    );
    ended_by(&ends, checks::WRONG_MAC);
}

#[test]
fn two_false_bits_do_not_cancel() {
    two_false_bits::<2>();
    two_false_bits::<3>();
}

#[test]
fn bits_that_wait_have_coefficients_of_their_own() {
    bits_that_wait_and_others::<2>();
    bits_that_wait_and_others::<3>();
}

/// The first bit of those that wait, and the first of many that come after them, both false: with the same
/// coefficient they would cancel.
fn bits_that_wait_and_others<const N: usize>() {
    let ends = run::<N, _>(
        |me| (me.0 == 0).then(honest),
        |joint, mesh| {
            let rows = joint.bits(mesh, 5009)?.rows(joint.key());
            let mut openings = Openings::new(SESSION, joint.backend(), joint.key().clone(), joint.seeds());
            for range in [0..9, 9..5009] {
                let mut some = rows.slice(range);
                for party in (0..N as u16).filter(|_| joint.me().0 == 0) {
                    some.column_mut(PartyId(party))[0] ^= Block::from_u128(1);
                }
                openings.open(mesh, &some, &mut honest())?;
            }
            openings.settle(mesh, &mut honest())
        },
    );
    ended_by(&ends, checks::WRONG_MAC);
}

#[test]
fn a_false_bit_tells_no_key() {
    one_false_bit::<2>(1);
    one_false_bit::<3>(1);
    one_false_bit::<3>(2);
    one_false_bit::<5>(4);
}

/// What is opened to some alone: the liars are the recipients, or say false shares to the one that is not one
/// of them, and name coefficients as they like. Neither what they hear nor what they have is an honest
/// party's key.
fn openings_to_some_tell_no_key<const N: usize>(cheats: u16) {
    for false_share in [false, true] {
        let (heard, keys) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let ends = run::<N, _>(
            |me| (me.0 < cheats).then(honest),
            |joint, mesh| {
                let me = joint.me();
                keys.lock().unwrap().push((me, joint.key().block()));
                let rows = joint.bits(mesh, 3)?.rows(joint.key());
                let mut openings = Openings::new(SESSION, joint.backend(), joint.key().clone(), joint.seeds());
                let log = heard.clone();
                let mut conduct = match me.0 < cheats {
                    true => lie(move |act| match act {
                        JointAct::Says { what: "shares for some", bytes, .. } if false_share && me.0 == 0 => {
                            bytes.iter_mut().for_each(|byte| *byte ^= 1);
                        }
                        // One coefficient for all bits, and for all recipients.
                        JointAct::Says { what: "coefficients", bytes, .. } => bytes.fill(0),
                        JointAct::Hears { what: "products for some", bytes, .. } if !bytes.is_empty() => {
                            log.lock().unwrap().push(block(bytes));
                        }
                        _ => {}
                    }),
                    false => honest(),
                };
                let to = |party: PartyId| party.0 < cheats || party.0 == N as u16 - 1;
                let ended = openings.open_to(mesh, to, &rows, &mut crate::rng(me.0 + 50), &mut conduct);
                if me.0 < cheats {
                    heard.lock().unwrap().extend(rows.columns().flatten().copied());
                }
                ended.map(drop)
            },
        );
        let last = ends.iter().find(|(me, _)| usize::from(me.0) == N - 1).expect("it is honest");
        assert_eq!(crate::named(&last.1).map(|(check, _)| check), false_share.then_some(checks::WRONG_MAC));
        let (mut known, keys) = (heard.lock().unwrap().clone(), keys.lock().unwrap());
        let of = |cheat: bool| keys.iter().filter(move |(party, _)| (party.0 < cheats) == cheat).map(|&(_, key)| key);
        known.extend(of(true));
        let sum = of(false).fold(Block::ZERO, |sum, key| sum ^ key);
        for target in of(false).chain([sum]) {
            assert!(!spans(&known, target), "{N} parties, {cheats} liars");
        }
    }
}

#[test]
fn what_is_opened_to_some_tells_no_key() {
    openings_to_some_tell_no_key::<2>(1);
    openings_to_some_tell_no_key::<3>(1);
    openings_to_some_tell_no_key::<3>(2);
    openings_to_some_tell_no_key::<5>(4);
}

/// What two parties say to open bits and to settle them: the same as before there were zero-shares, of which
/// they have none.
const GOLDEN_OF_TWO: &str = "61fbba0ed991d25c51935ba0239ddaa8c0f95865114cfab4a8f9ea52cbdc1525";

/// Rows of some bits of two parties under fixed keys, from a generator that both have.
fn rows_of_two(me: PartyId, bits: usize) -> (GlobalKey, RowShares) {
    let mut prg = crate::rng(77);
    let keys = [0, 1].map(|party| GlobalKey::of(PartyId(party), &mut prg));
    let mut rows = RowShares::zeros(me, 2, bits);
    for k in 0..bits {
        for (party, peer) in [(0, 1), (1, 0)] {
            let (bit, key) = (prg.block().lsb(), prg.block().with_lsb(false));
            let mac = key ^ keys[peer].block().masked(bit);
            if me.0 as usize == party {
                rows.column_mut(PartyId(peer as u16))[k] = mac;
                rows.column_mut(me)[k] ^= keys[party].block().masked(bit);
            } else {
                rows.column_mut(me)[k] ^= key;
            }
        }
    }
    let [first, second] = keys;
    (if me.0 == 0 { first } else { second }, rows)
}

#[test]
fn two_parties_say_the_bytes_that_they_always_said() {
    let digests = Net::<2>::run(|mesh| {
        let me = mesh.me();
        let (key, rows) = rows_of_two(me, 5100);
        let said = Arc::new(Mutex::new(blake3::Hasher::new()));
        let log = said.clone();
        let mut conduct = lie(move |act| {
            if let JointAct::Says { what, bytes, .. } = act {
                log.lock().unwrap().update(what.as_bytes()).update(bytes);
            }
        });
        let mut openings = Openings::new(SESSION, Backend::detect(), key, &PairSeeds::of_two(me));
        openings.open(mesh, &rows.slice(0..9), &mut conduct).unwrap();
        openings.open(mesh, &rows.slice(9..5009), &mut conduct).unwrap();
        openings.settle(mesh, &mut conduct).unwrap();
        openings
            .open_to(mesh, |party| party.0 == 1, &rows.slice(5009..5030), &mut crate::rng(9), &mut conduct)
            .unwrap();
        openings.open(mesh, &rows.slice(5030..5100), &mut conduct).unwrap();
        openings.settle(mesh, &mut conduct).unwrap();
        drop(conduct);
        *said.lock().unwrap().finalize().as_bytes()
    });
    assert_eq!(blake3::hash(digests.as_flattened()).to_hex().as_str(), GOLDEN_OF_TWO);
}
