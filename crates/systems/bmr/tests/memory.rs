//! Memory, which does not grow with the program.

use comity_bmr::Bmr;
use comity_core::{Backend, Bits, Params};
use comity_testing::laws::{Setting, bits, check, rng, turns};
use comity_testing::peak_memory;

/// ANDs of a turn.
const WIDTH: usize = 1000;

/// The most memory that this process ever had, in KiB, after three of its threads ran a program of `times`
/// thousand ANDs.
fn peak(times: u64) -> Option<u64> {
    let program = turns(WIDTH, times);
    assert_eq!(program.and_gates(), times * WIDTH as u64);
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(9))).collect();
    let setting = Setting { params: Params::default(), backend: Backend::detect(), options: &[], session: 1 };
    check(&Bmr, 3, &program, &inputs, setting);
    peak_memory()
}

/// As much for each of the parties, for what is under way between them, and something for the process.
const MOST: u64 = (3 * 64 + WAYS + 8) << 10;

/// What may be under way in six directions, in MiB, where a busy machine lets a party wait: eight for a round's
/// message in each.
const WAYS: u64 = 48;

/// What the allocator and messages under way may add among three: two fifths of what the triples alone of the
/// further gates would be.
const MORE: u64 = (16 + WAYS) << 10;

#[test]
fn memory_stays_as_it_is() {
    // Twice, since the second run finds what the first gave back to the allocator, and not always where it wants it.
    let Some(first) = peak(360) else { return };
    let short = peak(360).expect("as before");
    let long = peak(720).expect("as before");
    assert!(long < MOST && long < short + MORE, "{first} KiB, {short} KiB and {long} KiB");
}

/// 2 * 10^7 ANDs, of which triples would be 2.9 GB a party and rows 3.8 GB.
#[test]
#[ignore = "minutes; part of make test-long"]
fn a_program_far_larger_than_memory_runs_in_little() {
    let Some(short) = peak(360) else { return };
    let long = peak(20_000).expect("as before");
    assert!(long < MOST && long < short + MORE, "{short} KiB and {long} KiB");
}
