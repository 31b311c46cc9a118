//! How often the best lie escapes.

use comity_core::Kind;

use super::liars::{Liar, Lie};
use super::*;

use crate::checks;

/// Senders who guess the evaluated copies, another guess each time, and complement an output in exactly those: right by
/// chance, they escape; else they are caught or recovered from.
fn escapes(copies: Copies, sets: &[Vec<usize>], runs: usize) {
    let mut guesses = rng(copies.total() as u128);
    let (mut escaped, mut recovered) = (0, 0);
    let one = || Bits::from_bytes(&[1], 1);
    for query in 0..runs / 10 {
        let case = Case::new(Backend::detect(), ands(1), vec![one(), one()], copies, query as u128);
        let evaluated = case.secret.evaluated();
        for answer in 0..10 {
            let guess = &sets[(guesses.block().to_u128() % sets.len() as u128) as usize];
            let mut liar = Liar::new(Lie::Output, guess, copies);
            match case.open(&case.answer_as(answer, &mut liar)) {
                Ok(opened) if opened.outputs != case.plain() => {
                    assert_eq!(*guess, *evaluated);
                    escaped += 1;
                }
                Ok(opened) => {
                    assert!(opened.recovered && guess.iter().all(|i| evaluated.contains(i)));
                    recovered += 1;
                }
                Err(Error { kind: Kind::Misbehaved(checks::GARBLED_CIRCUIT), .. }) => {
                    assert!(guess.iter().any(|i| !evaluated.contains(i)));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let (runs, chance) = (runs as f64, copies.security().exp2().recip());
    let deviation = (runs * chance * (1.0 - chance)).sqrt();
    assert!((f64::from(escaped) - runs * chance).abs() <= 4.0 * deviation, "{escaped} of {runs} escaped");
    assert!(copies.evaluated().is_some() || recovered > 0, "no lie was recovered from");
}

/// The sets of copies that may be evaluated.
fn sets(t: usize, e: Option<usize>) -> Vec<Vec<usize>> {
    let all = (1..1 << t).map(|set: usize| (0..t).filter(|i| set >> i & 1 == 1).collect::<Vec<_>>());
    all.filter(|set| e.is_none_or(|e| set.len() == e)).collect()
}

#[test]
fn the_best_guess_escapes_once_in_seven() {
    escapes(Copies::all(3).unwrap(), &sets(3, None), 150);
}

#[test]
fn the_best_guess_escapes_once_in_six_coded() {
    escapes(Copies::coded(4, 2).unwrap(), &sets(4, Some(2)), 100);
}

#[test]
#[ignore = "a campaign: thousands of answers"]
fn the_best_guess_escapes_as_often_in_thousands_of_answers() {
    escapes(Copies::all(3).unwrap(), &sets(3, None), 3_000);
    escapes(Copies::all(4).unwrap(), &sets(4, None), 3_000);
    escapes(Copies::coded(4, 2).unwrap(), &sets(4, Some(2)), 2_000);
}

#[test]
fn choices_are_uniform() {
    for copies in [Copies::all(3).unwrap(), Copies::coded(4, 2).unwrap()] {
        let sets = sets(copies.total(), copies.evaluated());
        let mut counts = vec![0; sets.len()];
        let mut random = rng(3);
        let runs = 7000;
        for _ in 0..runs {
            let choice = copies.choose(&mut random);
            let place = sets.iter().position(|set| *set == choice.evaluated).unwrap();
            counts[place] += 1;
            assert!((0..copies.total()).all(|i| choice.checked_bits().get(i) != choice.evaluated.contains(&i)));
        }
        let mean = f64::from(runs) / sets.len() as f64;
        assert!(counts.iter().all(|&count| (f64::from(count) - mean).abs() < 5.0 * mean.sqrt()), "{counts:?}");
    }
}
