//! The comparison among parties that keep to the protocol, with strings of their own.

use comity_core::PartyId;
use comity_share::checks::WRONG_MAC;
use comity_share::equal;
use comity_testing::Net;

use crate::{SESSION, named, rng};

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
