//! The coin among honest parties.

use std::collections::HashSet;

use comity_share::coin;
use comity_testing::Net;

use crate::{SESSION, rng};

fn tosses<const N: usize>() {
    let mut seen = HashSet::new();
    for toss in 0..20 {
        let session = SESSION.child(&format!("toss {toss}"));
        // One party draws another seed each time, the others the same: its part alone makes the coin new.
        let coins = Net::<N>::run(|mesh| {
            let me = mesh.me().0;
            coin(mesh, session, &mut rng(if usize::from(me) == toss % N { 100 + toss as u16 } else { me })).unwrap()
        });
        assert!(coins.iter().all(|coin| *coin == coins[0]));
        assert!(seen.insert(coins[0]));
    }
}

#[test]
fn all_get_the_same_string_and_each_party_has_a_part_in_it() {
    tosses::<2>();
    tosses::<3>();
    tosses::<5>();
}
