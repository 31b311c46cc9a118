//! Every bit of what a prover says, changed: each counts. (In a file as large as they come there is no time
//! for all of them.)

use comity_core::{Backend, Kind, Result};

use super::rng;
use crate::draw::Draw;
use crate::statement::Statement;
use crate::system::System;
use crate::zkboo::tests::{of_two, two};
use crate::{kkw, voleith, zkboo};

/// Changes each bit of a salt, of the hash of a first message and of an answer. How many of these do not even decode.
fn each_bit_counts(
    what: &str,
    said: ([u8; 32], [u8; 32], Vec<u8>),
    check: impl Fn(&[u8; 32], &[u8; 32], &[u8]) -> Result<()>,
) -> usize {
    let mut malformed = 0;
    let (salt, first, answer) = said;
    check(&salt, &first, &answer).unwrap();
    let whole = [&salt[..], &first, &answer].concat();
    for bit in 0..8 * whole.len() {
        let mut changed = whole.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let [salt, first] = [0, 32].map(|at| core::array::from_fn(|i| changed[at + i]));
        let error = check(&salt, &first, &changed[64..]).expect_err("changed");
        let undecoded = matches!(error.kind, Kind::Malformed(_));
        malformed += usize::from(undecoded);
        assert!(undecoded || error.check().is_some(), "{what}: bit {bit}: {error}");
    }
    malformed
}

/// The randomness of a prover of this statement.
fn draw(system: System, statement: &Statement) -> Draw {
    Draw::new(&mut rng(1), system, 0, &statement.in_a_file(), &two(2))
}

#[test]
fn each_bit_of_a_round_counts() {
    let (backend, statement) = (Backend::detect(), of_two(0));
    for system in [System::ZkBoo, System::ZkbPlusPlus] {
        for trits in [[0, 1, 2], [2, 2, 0]] {
            let mut draw = draw(system, &statement);
            let prover = zkboo::Committed::new(backend, system, 3, &statement.in_a_file(), &two(2), &mut draw).unwrap();
            let (salt, first) = (*prover.salt(), *prover.first());
            each_bit_counts(system.name(), (salt, first, prover.answer(&trits)), |salt, first, answer| {
                zkboo::check(backend, system, &statement.in_a_file(), salt, first, &trits, answer)
            });
        }
    }
}

#[test]
fn each_bit_of_an_execution_counts() {
    let (backend, statement) = (Backend::detect(), of_two(0));
    // One whose root is shown, and two of which a party stays hidden: the last one, and another.
    let (parameters, challenge) = (kkw::Parameters { executions: 3, opened: 2 }, [63, kkw::HIDDEN_NONE, 5]);
    let mut draw = draw(System::Kkw, &statement);
    let prover = kkw::Committed::new(backend, parameters, &statement.in_a_file(), &two(2), &mut draw).unwrap();
    let (salt, first) = (*prover.salt(), *prover.first());
    let answer = prover.answer(&challenge).unwrap();
    let malformed = each_bit_counts("kkw", (salt, first, answer), |salt, first, answer| {
        kkw::check(backend, &statement.in_a_file(), salt, first, &challenge, answer)
    });
    // What pads two masked inputs, a bit that was said, and a correction where the last party is not hidden.
    assert_eq!(malformed, 2 * (6 + 7) + 7);
}

#[test]
fn each_bit_of_trees_and_corrections_counts() {
    let (backend, statement) = (Backend::detect(), of_two(0));
    let parameters = voleith::Parameters { levels: &[3, 2] };
    // Also where no bit of Delta asks for a correction, and where all do.
    for delta in [0, 31, 13u128] {
        let (mut draw, delta) = (draw(System::VoleInTheHead, &statement), delta.to_le_bytes());
        let prover = voleith::Committed::new(backend, parameters, &statement, &two(2), &mut draw).unwrap();
        let (salt, first) = (*prover.salt(), *prover.first());
        each_bit_counts("voleith", (salt, first, prover.answer(&delta)), |salt, first, answer| {
            voleith::check(backend, parameters, &statement, salt, first, &delta, answer)
        });
    }
}
