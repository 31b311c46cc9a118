//! The circuit check by itself.

use comity_channel::Channel;
use comity_core::{Kind, PartyId};
use comity_testing::Pair;
use comity_testing::laws::rng;

use super::dealer::{here, keys};
use crate::checks::CIRCUIT_CHECK;
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

/// The MACs of a chunk are hashed some thousands at a time: none of them is left out.
#[test]
fn every_gate_of_a_chunk_is_checked() {
    const GATES: usize = 2 * 4096 + 5;
    let check = |me: u16, ch: &mut dyn Channel, wrong: Option<usize>| {
        let (mut gates, mut masked) = (Gates::default(), Masked::default());
        gates.resize(GATES);
        masked.resize(GATES);
        if let Some(gate) = wrong {
            masked.outputs[gate] = me as u8;
        }
        let algebra = Algebra { me: PartyId(me), garbles: me == 0, key: keys(1)[usize::from(me)].clone() };
        let mut rng = rng(u128::from(me));
        let mut verdict = Verdict::new(here(me, 1), &mut rng);
        verdict.note(&algebra, &gates, &masked, &mut |_: Act<'_>| {});
        verdict.compare(ch, &mut |_: Act<'_>| {})
    };
    for wrong in [None, Some(0), Some(4095), Some(4096), Some(8191), Some(GATES - 1)] {
        let (one, other) = Pair::run(|ch| check(0, ch, wrong), |ch| check(1, ch, wrong));
        for ended in [one, other] {
            match wrong {
                None => ended.unwrap(),
                Some(gate) => {
                    let error = ended.unwrap_err();
                    assert!(matches!(error.kind, Kind::Misbehaved(CIRCUIT_CHECK)), "gate {gate}: {error}");
                }
            }
        }
    }
}
