//! Memory, which does not grow with the program.

use comity_ag::Ag;
use comity_core::{Backend, Bits, Params};
use comity_testing::laws::{Setting, bits, check, rng, turns};
use comity_testing::peak_memory;

/// ANDs of a turn.
const WIDTH: usize = 1000;

/// The most memory that this process ever had, in KiB, after two of its threads ran a program of `times`
/// thousand ANDs.
fn peak(times: u64) -> Option<u64> {
    let program = turns(WIDTH, times);
    assert_eq!(program.and_gates(), times * WIDTH as u64);
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(9))).collect();
    let setting = Setting { params: Params::default(), backend: Backend::detect(), options: &[], session: 1 };
    check(&Ag, 2, &program, &inputs, setting);
    peak_memory()
}

/// The same after several such runs: a later one finds what an earlier one gave back to the allocator, and
/// not always where it wants it.
fn settled(times: u64) -> Option<u64> {
    peak(times)?;
    peak(times)?;
    peak(times)
}

/// 64 MiB for each of the parties, and something for the process.
const MOST: u64 = (2 * 64 + 8) << 10;

/// Batches of triples are of one size in both runs. What the allocator adds is below half of what the further
/// triples alone would be.
#[test]
fn memory_stays_as_it_is() {
    let Some(short) = settled(32) else { return };
    let long = peak(196).expect("as before");
    assert!(long < MOST && long < short + (15 << 10), "{short} KiB and {long} KiB");
}

/// 10^8 ANDs, whose triples would be 9.6 GB a party, and rows 3.2 GB. Batches of triples are 23 MiB larger
/// than for 10^7, as those for 10^9 are.
#[test]
#[ignore = "minutes; part of make test-long"]
fn a_program_far_larger_than_memory_runs_in_little() {
    let Some(short) = settled(2_000) else { return };
    let long = peak(10_000).expect("as before");
    assert!(long < MOST && long < short + (4 << 10), "{short} KiB and {long} KiB");
    let longest = peak(100_000).expect("as before");
    assert!(longest < long + ((2 * 23 + 4) << 10), "{long} KiB and {longest} KiB");
}
