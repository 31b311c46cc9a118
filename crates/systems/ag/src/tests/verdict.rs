//! The circuit check by itself.

use comity_channel::Channel;
use comity_core::PartyId;
use comity_testing::Pair;
use comity_testing::laws::rng;

use super::dealer::{here, keys};
use crate::conduct::Act;
use crate::gates::{Algebra, Gates, Masked};
use crate::verdict::Verdict;

/// What was compared once is no answer to a later check, even if the same shares are checked.
#[test]
fn each_circuit_check_of_a_run_has_a_key_of_its_own() {
    let (mut gates, mut masked) = (Gates::default(), Masked::default());
    gates.resize(1);
    masked.resize(1);
    let digests = |me: u16, ch: &mut dyn Channel| {
        let algebra = Algebra { me: PartyId(me), garbles: me == 0, key: keys(1)[usize::from(me)].clone() };
        let (mut rng, mut digests) = (rng(u128::from(me)), Vec::new());
        let mut verdict = Verdict::new(here(me, 1), &mut rng);
        let mut conduct = |act: Act<'_>| {
            if let Act::Digest(digest) = act {
                digests.push(*digest);
            }
        };
        for _ in 0..3 {
            verdict.note(&algebra, &gates, &masked, &mut conduct);
            verdict.compare(ch, &mut conduct).unwrap();
        }
        digests
    };
    let (one, other) = Pair::run(|ch| digests(0, ch), |ch| digests(1, ch));
    assert_eq!(one, other);
    assert!(one.len() == 3 && (0..3).all(|i| !one[..i].contains(&one[i])));
}
