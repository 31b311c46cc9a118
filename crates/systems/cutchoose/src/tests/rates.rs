//! How often lies escape, and whether aborts tell anything about the evaluator's input.

use comity_circuit::Recipients;
use comity_core::{Backend, Bits, Block, Check, Prg};

use super::garblers::Garbler;
use super::{BITS, Setting, Verdict, honest, program};
use crate::checks;
use crate::conduct::Act;
use crate::probe::Probe;

/// Whether a count of `runs` events of this probability is within four standard deviations.
fn likely(count: usize, runs: usize, probability: f64) -> bool {
    let (mean, variance) = (runs as f64 * probability, runs as f64 * probability * (1.0 - probability));
    (count as f64 - mean).abs() <= 4.0 * variance.sqrt()
}

/// Garblers who guess the evaluated copies, another guess each run, and whose circuits are wrong in exactly
/// those, in the same way: the one lie that pays.
fn escapes(
    rho: u32,
    runs: usize,
    (prepared, dealt): (bool, bool),
    lie: fn(&[usize], &Setting<'_>) -> Garbler,
    caught: &'static Check,
) {
    let program = program(Recipients::only(1));
    let mut guesses = Prg::new(Backend::detect(), Block::from_u128(u128::from(rho)));
    let (mut escaped, mut recovered) = (0, 0);
    for seed in 0..runs as u128 {
        let guess = 1 + guesses.block().to_u128() % ((1 << rho) - 1);
        let copies: Vec<usize> = (0..rho as usize).filter(|j| guess >> j & 1 == 1).collect();
        let setting = Setting { prepared, dealt, ..Setting::new(&program, rho, seed << 8 | u128::from(rho)) };
        let mut garbler = lie(&copies, &setting);
        let ends = setting.run(|act| garbler.act(act), honest);
        if ends.evaluated == copies {
            assert!(ends.evaluator.expect("an output") != setting.expected());
            escaped += 1;
        } else if copies.iter().all(|j| ends.evaluated.contains(j)) {
            assert_eq!(ends.verdict(&setting), Verdict::Recovered);
            recovered += 1;
        } else {
            assert_eq!(ends.verdict(&setting), Verdict::Abort(caught));
        }
    }
    let sets = f64::from((1 << rho) - 1);
    assert!(likely(escaped, runs, 1.0 / sets), "{escaped} of {runs} escape at rho = {rho}");
    // Pairs of sets of which the evaluated one is the larger one.
    let larger = (3f64.powi(rho as i32) - 2f64.powi(rho as i32 + 1) + 1.0) / (sets * sets);
    assert!(likely(recovered, runs, larger), "{recovered} of {runs} are recovered from at rho = {rho}");
}

#[test]
fn the_best_guess_escapes_once_in_fifteen() {
    escapes(4, 800, (false, true), Garbler::swapping_output, checks::OUTPUT_TABLE);
}

#[test]
fn the_best_guess_escapes_once_in_sixty_three() {
    escapes(6, 1_200, (false, true), Garbler::swapping_input, checks::INPUT_LABEL);
}

#[test]
fn in_two_phases_it_escapes_as_often() {
    escapes(3, 300, (true, true), Garbler::swapping_output, checks::OUTPUT_TABLE);
    escapes(4, 400, (true, true), Garbler::swapping_input, checks::INPUT_LABEL);
}

#[test]
#[ignore = "a campaign: ten thousand runs of each kind"]
fn the_best_guess_escapes_as_often_in_thousands_of_runs() {
    escapes(4, 10_000, (false, true), Garbler::swapping_output, checks::OUTPUT_TABLE);
    escapes(6, 10_000, (false, true), Garbler::swapping_input, checks::INPUT_LABEL);
    escapes(8, 10_000, (false, true), Garbler::swapping_input, checks::INPUT_LABEL);
    escapes(3, 10_000, (true, true), Garbler::swapping_output, checks::OUTPUT_TABLE);
    escapes(4, 10_000, (true, true), Garbler::swapping_input, checks::INPUT_LABEL);
}

#[test]
#[ignore = "a campaign: base OTs for every run"]
fn the_best_guess_escapes_as_often_on_the_full_stack() {
    for (rho, prepared) in [(4, false), (6, false), (8, false), (6, true)] {
        escapes(rho, 10_000, (prepared, false), Garbler::swapping_output, checks::OUTPUT_TABLE);
    }
}

/// The number of `runs` runs that end with an abort if the garbler spoils the label for one of these bits of the
/// encoded input in all copies.
fn aborts(rho: u32, spoiled: &[usize], y: u8, runs: usize) -> usize {
    let program = program(Recipients::only(1));
    let abort = |seed: u128| {
        let setting = Setting {
            y: Bits::from_bytes(&[y], BITS),
            ..Setting::new(&program, rho, seed << 16 | u128::from(y) << 8 | spoiled.len() as u128)
        };
        let ends = setting.run(
            |act| {
                if let Act::Labels { i, messages } = act
                    && spoiled.contains(&i)
                {
                    // Each bit's own: equal errors cancel out in sums of bits, and labels are right where all copies are
                    // evaluated.
                    messages[rho as usize..].iter_mut().for_each(|label| *label ^= Block::from_u128(2 << i));
                }
            },
            honest,
        );
        match ends.verdict(&setting) {
            Verdict::Output => false,
            // The second where all copies are evaluated.
            Verdict::Abort(checks::INPUT_LABEL | checks::NO_VALID_COPY) => true,
            other => panic!("{other:?}"),
        }
    };
    (0..runs as u128).filter(|&seed| abort(seed)).count()
}

/// The bits of the encoded input that bit `k` of the input is the sum of.
fn row(probe: &Probe, k: usize) -> Vec<usize> {
    let unit = |i: usize| (0..probe.encoded()).map(|at| at == i).collect::<Bits>();
    (0..probe.encoded()).filter(|&i| probe.decode(&unit(i)).get(k)).collect()
}

/// One bit of those whose sum is the input's first one, of either part of the matrix; and all but one of as
/// many as rho: aborts do not depend on the input. All bits of a row at once: now the abort depends on it,
/// and happens but for 2^-(rho-1).
fn spoiled_labels(runs: usize) {
    const RHO: u32 = 4;
    let row = row(&Probe::new(RHO, BITS), 0);
    assert!(row.len() >= RHO as usize);
    for y in [0b0110, 0b0111] {
        for spoiled in [&row[..1], &row[row.len() - 1..], &row[..RHO as usize - 1]] {
            let probability = 1.0 - 0.5f64.powi(spoiled.len() as i32);
            let count = aborts(RHO, spoiled, y, runs);
            assert!(likely(count, runs, probability), "y = {y:b}: {count} of {runs} abort, {spoiled:?} spoiled");
        }
        let survives = if y & 1 == 0 { 0.5f64.powi(row.len() as i32 - 1) } else { 0.0 };
        assert!(survives <= 0.5f64.powi(RHO as i32 - 1));
        let survived = runs - aborts(RHO, &row, y, runs);
        assert!(likely(survived, runs, survives), "y = {y:b}: {survived} of {runs} survive");
    }
}

#[test]
fn spoiled_labels_tell_nothing_about_the_input_or_are_caught() {
    spoiled_labels(150);
}

#[test]
#[ignore = "a campaign: thousands of runs for each input"]
fn spoiled_labels_tell_nothing_in_thousands_of_runs() {
    spoiled_labels(3_000);
}
