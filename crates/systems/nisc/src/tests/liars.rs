//! Senders who lie: each lie is an abort by its name, or the output is right.

use comity_core::{Delta, Kind};
use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;

use super::*;

use crate::checks;

/// A lie that can be told in any copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Tables that are random.
    Tables,
    /// A circuit that computes the complement of an output, with everything else to match: the best there is.
    Output,
    /// The labels of an input bit of the receiver are swapped.
    SwappedLabels,
    /// One of the two labels of an input bit of the receiver is random: selective failure.
    OneLabel,
    /// A head that is another point.
    OtherHead,
    /// A head that is no point.
    NoHead,
    /// Commitments to nothing.
    Commitments,
    /// Adapters to nothing.
    Adapters,
    /// The adapters are swapped: the circuit gets the other bit.
    SwappedAdapters,
    /// Another input bit than the one committed to, with its true proof.
    OtherInput,
    /// A proof of equality that is false.
    Proof,
    /// An opening `w + K` that is false.
    Opening,
    /// A recovery box that is false.
    Box,
    /// Decoding bits that are false.
    Decoding,
    /// A key `k_i` that is garbage.
    Key,
    /// A seed `seed_i` that is garbage.
    Seed,
}

impl Lie {
    pub(crate) const ALL: [Lie; 16] = [
        Lie::Tables,
        Lie::Output,
        Lie::SwappedLabels,
        Lie::OneLabel,
        Lie::OtherHead,
        Lie::NoHead,
        Lie::Commitments,
        Lie::Adapters,
        Lie::SwappedAdapters,
        Lie::OtherInput,
        Lie::Proof,
        Lie::Opening,
        Lie::Box,
        Lie::Decoding,
        Lie::Key,
        Lie::Seed,
    ];

    /// The check that fails at a receiver who checks such a copy, if the copies are not coded.
    fn checked(self) -> Option<&'static comity_core::Check> {
        match self {
            Lie::Tables | Lie::Output | Lie::Adapters | Lie::SwappedAdapters | Lie::Decoding => {
                Some(checks::GARBLED_CIRCUIT)
            }
            Lie::SwappedLabels | Lie::OneLabel | Lie::OtherHead | Lie::NoHead | Lie::Seed => {
                Some(checks::TRANSFER_ANSWER)
            }
            Lie::Commitments => Some(checks::INPUT_COMMITMENT),
            Lie::Box => Some(checks::INPUT_RECOVERY),
            Lie::OtherInput | Lie::Proof | Lie::Opening | Lie::Key => None,
        }
    }

    /// The check that fails at a receiver who evaluates such a copy, even if others are right.
    fn evaluated(self) -> Option<&'static comity_core::Check> {
        match self {
            Lie::NoHead => Some(checks::INVALID_POINT),
            Lie::Commitments | Lie::OtherInput | Lie::Proof | Lie::Key => Some(checks::INPUT_EQUALITY),
            Lie::Opening | Lie::Box => Some(checks::RECOVERY_OPENING),
            _ => None,
        }
    }
}

/// A sender who lies in some copies.
pub(crate) struct Liar {
    pub(crate) lie: Lie,
    pub(crate) bad: Vec<usize>,
    pub(crate) width: usize,
    /// The number of times that the lie was told.
    pub(crate) told: usize,
}

impl Liar {
    pub(crate) fn new(lie: Lie, bad: &[usize], copies: Copies) -> Liar {
        Liar { lie, bad: bad.to_vec(), width: copies.total(), told: 0 }
    }

    /// Changes the bad copies' blocks of some rows.
    fn columns(&mut self, rows: &mut [Block], change: impl Fn(usize, &mut Block)) {
        for row in rows.chunks_exact_mut(self.width) {
            self.bad.iter().for_each(|&i| change(i, &mut row[i]));
        }
        self.told += 1;
    }

    /// Swaps two rows in the bad copies.
    fn swap(&mut self, rows: &mut [Block], a: usize, b: usize) {
        self.bad.iter().for_each(|&i| rows.swap(a * self.width + i, b * self.width + i));
        self.told += 1;
    }
}

const NOISE: Block = Block::from_u128(0x1234_5678_9abc_def0_0fed_cba9_8765_4321);

impl Conduct<SenderAct<'_>> for Liar {
    fn before(&mut self, act: SenderAct<'_>) {
        let noise = |_: usize, block: &mut Block| *block ^= NOISE;
        match (self.lie, act) {
            (Lie::Tables, SenderAct::Tables(rows)) => self.columns(rows, noise),
            (Lie::Output, SenderAct::Outputs { rows, deltas }) => {
                let first = &mut rows[..self.width];
                self.columns(first, |i, zero| *zero ^= Delta::block(&deltas[i]));
            }
            (Lie::SwappedLabels, SenderAct::Labels { j: 0, pairs }) => {
                self.bad.iter().for_each(|&i| pairs[i].swap(0, 1));
                self.told += 1;
            }
            (Lie::OneLabel, SenderAct::Labels { j: 0, pairs }) => {
                self.bad.iter().for_each(|&i| pairs[i][1] ^= NOISE);
                self.told += 1;
            }
            (Lie::OtherHead, SenderAct::Heads(heads)) => {
                let other = RistrettoPoint::mul_base(&Scalar::from(99u64)).compress().to_bytes();
                self.bad.iter().for_each(|&i| heads[i] = [other, other].as_flattened().try_into().unwrap());
                self.told += 1;
            }
            (Lie::NoHead, SenderAct::Heads(heads)) => {
                self.bad.iter().for_each(|&i| heads[i][..32].fill(0xff));
                self.told += 1;
            }
            (Lie::Commitments, SenderAct::Committed { j: 0, rows }) => {
                let width = self.width;
                self.columns(&mut rows[..4 * width], noise);
            }
            (Lie::Adapters, SenderAct::Committed { j: 0, rows }) => {
                let width = self.width;
                self.columns(&mut rows[4 * width..], noise);
            }
            (Lie::SwappedAdapters, SenderAct::Committed { j: 0, rows }) => self.swap(rows, 4, 5),
            (Lie::OtherInput, SenderAct::Input { j: 0, bits }) => {
                self.bad.iter().for_each(|&i| bits[i] ^= 1);
                self.told += 1;
            }
            (Lie::Proof, SenderAct::Proofs { j: 0, halves }) => {
                self.bad.iter().for_each(|&i| halves[i] += Scalar::ONE);
                self.told += 1;
            }
            (Lie::Opening, SenderAct::Openings { j: 0, halves }) => {
                self.bad.iter().for_each(|&i| halves[i][1] += Scalar::ONE);
                self.told += 1;
            }
            (Lie::Box, SenderAct::Boxes(rows)) => self.columns(rows, noise),
            (Lie::Decoding, SenderAct::Decoding(rows)) => self.columns(rows, |_, block| *block ^= Block::from_u128(1)),
            (Lie::Key, SenderAct::Circuits(pairs)) => {
                self.bad.iter().for_each(|&i| pairs[i][0] ^= NOISE);
                self.told += 1;
            }
            (Lie::Seed, SenderAct::Circuits(pairs)) => {
                self.bad.iter().for_each(|&i| pairs[i][1] ^= NOISE);
                self.told += 1;
            }
            _ => {}
        }
    }
}

/// Plays a lie in some copies, and holds the verdict against what it should be. Returns whether it was recovered from.
fn play(case: &Case, lie: Lie, bad: &[usize], seed: u128) -> bool {
    let copies = case.query.copies();
    let mut liar = Liar::new(lie, bad, copies);
    let answer = case.answer_as(seed, &mut liar);
    assert!(liar.told > 0, "{lie:?} was not told");
    let choice = &case.secret.receivers(case.backend).choice;
    let among = |copies: &[usize]| bad.iter().filter(|i| copies.contains(i)).count();
    let (checked, evaluated) = (among(&choice.checked), among(&choice.evaluated));
    let mut expected = vec![];
    if checked > 0 {
        expected.extend(lie.checked().map(|kind| match copies.evaluated() {
            // Only hashes tell there, but for a seed that is not the copy's.
            Some(_) => checks::GARBLED_CIRCUIT,
            None => kind,
        }));
    }
    if evaluated > 0 {
        expected.extend(lie.evaluated());
    }
    let opened = case.open(&answer);
    let what = || format!("{lie:?} in {bad:?} with {:?} evaluated", choice.evaluated);
    match opened {
        Err(Error { kind: Kind::Misbehaved(kind), .. }) if !expected.is_empty() => {
            // Coded, what is wrong in a checked copy spoils what is decoded, and may show there first.
            let decoded = copies.evaluated().is_some() && checked > 0 && lie.checked().is_some();
            let first = [checks::INVALID_POINT, checks::IDENTITY_POINT, checks::INPUT_EQUALITY];
            let named = expected.contains(&kind) || decoded && first.contains(&kind);
            assert!(named, "{}: {kind:?} and not {expected:?}", what());
            false
        }
        Ok(opened) if expected.is_empty() && checked + evaluated > 0 => {
            // Whoever guesses all evaluated copies escapes.
            let escapes = evaluated == choice.evaluated.len() && lie.checked().is_some();
            assert!(escapes || opened.outputs == case.plain(), "{}: a wrong output", what());
            opened.recovered
        }
        Err(Error { kind: Kind::Misbehaved(checks::NO_VALID_COPY), .. }) if evaluated == choice.evaluated.len() => {
            false
        }
        other => panic!("{}: {other:?}, expected {expected:?}", what()),
    }
}

/// Queries of a program, with different choices of copies.
pub(super) fn cases(copies: Copies, count: u128) -> Vec<Case> {
    // All inputs are ones, so that every bit counts in every output.
    let ones = || Bits::from_bytes(&[0xff], 2);
    (0..count).map(|seed| Case::new(Backend::detect(), ands(2), vec![ones(), ones()], copies, seed)).collect()
}

/// Sets of bad copies: one, several, all.
fn sets(t: usize) -> Vec<Vec<usize>> {
    (1..1 << t).map(|set: usize| (0..t).filter(|i| set >> i & 1 == 1).collect()).collect()
}

/// A query of whose copies `evaluated` are evaluated.
pub(super) fn query(copies: Copies, evaluated: usize) -> Case {
    let right = |case: &Case| case.secret.evaluated().len() == evaluated;
    cases(copies, 32).into_iter().find(right).expect("chances are one in four or better")
}

/// Plays every lie in these sets of copies against these queries. Returns how many were recovered from.
fn play_all(cases: &[Case], sets: &[Vec<usize>]) -> usize {
    let mut recovered = 0;
    for (number, case) in cases.iter().enumerate() {
        for lie in Lie::ALL {
            recovered += sets.iter().filter(|bad| play(case, lie, bad, number as u128)).count();
        }
    }
    recovered
}

fn some_of_four() -> Vec<Vec<usize>> {
    vec![vec![0], vec![1], vec![2], vec![3], vec![0, 2], vec![1, 2, 3]]
}

#[test]
fn every_lie_is_named_or_does_nothing() {
    let cases = [1, 2].map(|evaluated| query(Copies::all(3).unwrap(), evaluated));
    assert!(play_all(&cases, &sets(3)) >= 2);
}

#[test]
fn every_lie_is_named_or_does_nothing_where_copies_are_coded() {
    assert!(play_all(&cases(Copies::coded(4, 2).unwrap(), 1), &some_of_four()) >= 1);
}

#[test]
#[ignore = "a campaign: every lie, in every set of copies, against many queries"]
fn every_lie_is_named_or_does_nothing_against_many_queries() {
    assert!(play_all(&cases(Copies::all(3).unwrap(), 20), &sets(3)) >= 20);
    assert!(play_all(&cases(Copies::coded(4, 2).unwrap(), 20), &sets(4)) >= 20);
}

/// The verdict on a sender who lies once.
pub(super) fn verdict(case: &Case, mut lie: impl FnMut(SenderAct<'_>)) -> Result<Opened> {
    case.open(&case.answer_as(9, &mut lie))
}

fn name(result: Result<Opened>) -> &'static comity_core::Check {
    match result {
        Err(Error { kind: Kind::Misbehaved(kind), .. }) => kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn coded_copies_that_are_not_those_hashed_are_named() {
    let copies = Copies::coded(4, 2).unwrap();
    let case = &cases(copies, 1)[0];
    let answer = case.answer(1);
    let choice = &case.secret.receivers(case.backend).choice;
    let verdict = |at: usize| {
        let mut bad = answer.clone();
        bad[at] ^= 1;
        name(case.open(&super::files::sealed(bad)))
    };
    // The hashes of the copies are the last thing before the checksum; before them are the boxes and the openings.
    let hashes = answer.len() - 32 - 32 * copies.total();
    for i in 0..copies.total() {
        let kind = if choice.checked.contains(&i) { checks::GARBLED_CIRCUIT } else { checks::CODED_CIRCUIT };
        assert_eq!(verdict(hashes + 32 * i), kind);
    }
    // In the tables all decoding is the evaluator's loss: two AND gates, two outputs, two values under way.
    let tables = hashes - 32 * 2 - 2 * 64 * copies.total() - 16 * 2 - 2 * 32 * 2;
    for byte in 0..2 * 32 * 2 {
        assert_eq!(verdict(tables + byte), checks::CODED_CIRCUIT);
    }
}

#[test]
fn output_commitments_that_do_not_add_up_are_named() {
    let case = &cases(Copies::all(3).unwrap(), 1)[0];
    for at in 0..4 {
        let verdict = verdict(case, |act| {
            if let SenderAct::OutputCommitments(points) = act {
                points[at] = RistrettoPoint::mul_base(&Scalar::from(5u64)).compress().to_bytes();
            }
        });
        assert_eq!(name(verdict), checks::OUTPUT_COMMITMENTS);
    }
    for (bytes, kind) in [([0; 32], checks::IDENTITY_POINT), ([0xff; 32], checks::INVALID_POINT)] {
        let verdict = verdict(case, |act| {
            if let SenderAct::OutputCommitments(points) = act {
                points[3] = bytes;
            }
        });
        assert_eq!(name(verdict), kind);
    }
}

#[test]
fn a_recovered_answer_has_the_output_of_the_committed_input() {
    // Two evaluated copies that disagree: found by trying answers.
    let mut random = rng(77);
    for seed in 0..6 {
        let program = random_program([3, 4], 40, [5, 2], &mut random);
        let inputs = [3, 4].map(|width| bits(width, &mut random)).to_vec();
        let case = Case::new(Backend::detect(), program, inputs, Copies::coded(4, 2).unwrap(), seed);
        let evaluated = case.secret.evaluated();
        let mut liar = Liar::new(Lie::Output, &evaluated[..1], case.query.copies());
        let opened = case.open(&case.answer_as(seed, &mut liar)).unwrap();
        assert!(opened.recovered && opened.outputs == case.plain());
    }
}

/// Whether and how the receiver stops, with the same choice of copies and the same lie, must not depend on
/// its input bit.
#[test]
fn no_abort_depends_on_the_receivers_input() {
    let copies = Copies::all(3).unwrap();
    let bit = |bit: u8| Bits::from_bytes(&[bit], 1);
    for seed in 0..4 {
        let cases = [0, 1].map(|x| Case::new(Backend::detect(), ands(1), vec![bit(x), bit(1)], copies, seed));
        let evaluated = cases.each_ref().map(|case| case.secret.evaluated());
        assert_eq!(evaluated[0], evaluated[1]);
        for lie in [Lie::OneLabel, Lie::SwappedLabels, Lie::OtherHead, Lie::NoHead, Lie::Tables] {
            for bad in sets(3).into_iter().filter(|bad| evaluated[0].iter().any(|i| !bad.contains(i))) {
                let end = |case: &Case| match case.open(&case.answer_as(seed, &mut Liar::new(lie, &bad, copies))) {
                    Ok(opened) => {
                        assert!(opened.outputs == case.plain());
                        None
                    }
                    Err(Error { kind: Kind::Misbehaved(kind), .. }) => Some(kind),
                    Err(other) => panic!("{other}"),
                };
                assert_eq!(end(&cases[0]), end(&cases[1]), "{lie:?} in {bad:?} with {:?} evaluated", evaluated[0]);
            }
        }
    }
}
