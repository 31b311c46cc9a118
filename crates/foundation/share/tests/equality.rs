//! The comparison among parties that keep to the protocol, with strings of their own.

use std::collections::HashSet;

use comity_core::{PartyId, commit};
use comity_share::checks::WRONG_MAC;
use comity_share::{equal, equal_with_coin};
use comity_testing::Net;

use crate::{SESSION, against, named, rng};

fn compares<const N: usize>() {
    let ends = |other: Option<u16>| {
        Net::<N>::run(|mesh| {
            let mut digest = [3; 32];
            digest[31] ^= u8::from(Some(mesh.me().0) == other);
            equal(mesh, SESSION, &digest, WRONG_MAC, &mut rng(mesh.me().0))
        })
    };
    assert!(ends(None).iter().all(Result::is_ok));
    for other in 0..N as u16 {
        let ends = ends(Some(other));
        assert!(ends.iter().all(|end| named(end) == Some((WRONG_MAC, None::<PartyId>))), "{other} of {N}");
    }
}

#[test]
fn equal_strings_pass_and_one_other_string_ends_all_parties() {
    compares::<2>();
    compares::<3>();
    compares::<5>();
}

fn compares_with_coin<const N: usize>() {
    let mut seen = HashSet::new();
    for toss in 0..10 {
        // One party draws another seed each time, the others the same: its part alone makes the coin new.
        let coins = Net::<N>::run(|mesh| {
            let me = mesh.me().0;
            let mut rng = rng(if usize::from(me) == toss % N { 100 + toss as u16 } else { me });
            equal_with_coin(mesh, SESSION, &[3; 32], WRONG_MAC, &mut rng).unwrap()
        });
        assert!(coins.iter().all(|coin| *coin == coins[0]));
        assert!(seen.insert(coins[0]));
    }
    for other in 0..N as u16 {
        let ends = Net::<N>::run(|mesh| {
            let mut digest = [3; 32];
            digest[31] ^= u8::from(mesh.me().0 == other);
            equal_with_coin(mesh, SESSION, &digest, WRONG_MAC, &mut rng(mesh.me().0)).map(|_| ())
        });
        assert!(ends.iter().all(|end| named(end) == Some((WRONG_MAC, None::<PartyId>))), "{other} of {N}");
    }
}

#[test]
fn a_coin_comes_with_a_comparison_that_passes() {
    compares_with_coin::<2>();
    compares_with_coin::<3>();
}

#[test]
fn who_has_heard_the_others_part_of_the_coin_cannot_choose_its_own() {
    let cheat = PartyId(0);
    for chosen in [false, true] {
        let lie = |mesh: &mut comity_channel::Mesh<'_>| {
            let (commitment, opening) = commit(SESSION, "equality and coin, party 0", &[3; 64], &mut rng(0));
            let ch = mesh.link(PartyId(1));
            ch.send(&commitment.to_bytes()).unwrap();
            let mut heard = [0; 64];
            ch.recv(&mut heard).unwrap();
            // The string it is; the seed, so that the coin would be zero.
            let mut said = [3; 64];
            if chosen {
                said[32..].copy_from_slice(&heard[32..]);
            }
            ch.send(&said).and_then(|()| ch.send(&opening.to_bytes())).and_then(|()| ch.flush()).unwrap();
        };
        let honest = |mesh: &mut comity_channel::Mesh<'_>| {
            equal_with_coin(mesh, SESSION, &[3; 32], WRONG_MAC, &mut rng(mesh.me().0)).map(|_| ())
        };
        let ends = against::<2, _>(cheat, lie, honest);
        assert_eq!(named(&ends[0].1), chosen.then_some((WRONG_MAC, Some(cheat))));
    }
}
