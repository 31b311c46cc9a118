//! Garblers that are honest but for one lie: the verdicts of the table.

use comity_circuit::{Program, Recipients};
use comity_core::{Backend, Block, Check, SessionId, ShortHash, TccrHash};

use super::{BITS, Ends, Setting, Verdict, honest, program};
use crate::checks;
use crate::conduct::Act;
use crate::copies::{CopySecret, Replica};
use crate::intake::Form;
use crate::probe::Probe;

const JUNK: Block = Block::from_u128(0x0123_4567_89ab_cdef_fedc_ba98_7654_3210);

/// A lie: what is lied about in some copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    OtherSeed,
    OtherDelta,
    OtherScalars,
    OtherSalt,
    SwappedLabels,
    GarbageLabels,
    R,
    OtherX,
    CommittedGarbage,
    OtherLabelOpened,
    GarbageLabelsOpened,
    Masking,
    AnsweredLabels,
    AnsweredBits,
    AnsweredR,
    GarbageGates,
    OtherGates,
    SwappedOutput,
    GarbageRows,
    /// Row 0 of the first bit gives `Delta_{0,1}`, row 1 gives `Delta_{0,0}`.
    SwappedRows,
    /// The label for zero opens both rows of the first bit.
    BothRows,
    OutputCommitment,
    Salt,
    /// The key of the output tables, in two phases only.
    TableKey,
    Point,
    NoPoint,
    Encrypted,
}

/// The garbler that tells it.
pub(super) struct Garbler {
    lie: Lie,
    copies: Vec<usize>,
    session: SessionId,
    /// The last bit of the encoded input: the last bit of `y`, up to a sum.
    last: usize,
    /// The offsets `delta_j` of all copies.
    deltas: Vec<Block>,
    /// The labels for zero of the first output bit.
    zeros: Vec<Block>,
    /// The labels `Delta` and every `Delta_{i,0}`, as an honest run with the same seed shows them.
    known: Vec<Block>,
    /// The number of output values so far.
    outputs: usize,
}

impl Garbler {
    fn new(lie: Lie, copies: &[usize], setting: &Setting<'_>) -> Garbler {
        let known = if lie == Lie::SwappedRows { known(setting) } else { Vec::new() };
        Garbler {
            lie,
            copies: copies.to_vec(),
            session: setting.session(),
            last: Probe::new(setting.rho, BITS).encoded() - 1,
            deltas: Vec::new(),
            zeros: Vec::new(),
            known,
            outputs: 0,
        }
    }

    /// A garbler that swaps the labels of an output bit in these copies: the circuits are consistent, and wrong.
    pub(super) fn swapping_output(copies: &[usize], setting: &Setting<'_>) -> Garbler {
        Garbler::new(Lie::SwappedOutput, copies, setting)
    }

    /// A garbler that swaps the labels of a bit of the evaluator's input in these copies: just so, and found
    /// out earlier.
    pub(super) fn swapping_input(copies: &[usize], setting: &Setting<'_>) -> Garbler {
        Garbler::new(Lie::SwappedLabels, copies, setting)
    }

    pub(super) fn act(&mut self, act: Act<'_>) {
        let lies = |j: &usize| self.copies.contains(j);
        let backend = Backend::detect();
        match (self.lie, act) {
            (lie, Act::Copies(copies)) => {
                for (j, copy) in copies.iter_mut().enumerate().filter(|(j, _)| lies(j)) {
                    let mut other = Replica::new(backend, &self.session, j, CopySecret(JUNK));
                    match lie {
                        Lie::OtherSeed => std::mem::swap(copy, &mut other),
                        Lie::OtherDelta => std::mem::swap(&mut copy.delta, &mut other.delta),
                        Lie::OtherScalars => std::mem::swap(&mut copy.scalars, &mut other.scalars),
                        Lie::OtherSalt => std::mem::swap(&mut copy.salt, &mut other.salt),
                        _ => {}
                    }
                }
                self.deltas = copies.iter().map(|copy| copy.delta.block()).collect();
            }
            (lie, Act::Labels { i, messages }) if i == self.last => {
                let (zero, one) = messages.split_at_mut(self.deltas.len());
                for &j in &self.copies {
                    match lie {
                        Lie::SwappedLabels => std::mem::swap(&mut zero[j], &mut one[j]),
                        Lie::GarbageLabels => (zero[j], one[j]) = (zero[j] ^ JUNK, one[j] ^ JUNK),
                        _ => {}
                    }
                }
            }
            // Equal errors, which cancel out but for their weights.
            (Lie::R, Act::R { j, start: 0, column }) if lies(&j) => column[..2].iter_mut().for_each(|r| *r ^= JUNK),
            (Lie::OtherX, Act::Committed { j, start: 0, zeros }) if lies(&j) => zeros[1] ^= self.deltas[j],
            (Lie::CommittedGarbage, Act::Committed { j, start: 0, zeros }) if lies(&j) => zeros[1] ^= JUNK,
            (Lie::OtherLabelOpened, Act::Opened { j, start: 0, labels }) if lies(&j) => labels[1] ^= self.deltas[j],
            (Lie::GarbageLabelsOpened, Act::Opened { j, start: 0, labels }) if lies(&j) => {
                labels[..2].iter_mut().for_each(|label| *label ^= JUNK);
            }
            (Lie::Masking, Act::Masking { j, label }) if lies(&j) => *label ^= JUNK,
            (lie, Act::InputAnswer { j, answer }) if lies(&j) => match lie {
                Lie::AnsweredLabels => answer.labels ^= JUNK,
                Lie::AnsweredBits => answer.bits ^= JUNK,
                Lie::AnsweredR => answer.r ^= JUNK,
                _ => {}
            },
            (lie @ (Lie::GarbageGates | Lie::OtherGates), Act::Tables(tables)) => {
                for row in tables.chunks_exact_mut(self.deltas.len()) {
                    for &j in &self.copies {
                        row[j] ^= if lie == Lie::OtherGates { self.deltas[j] } else { JUNK };
                    }
                }
            }
            (lie, Act::Outputs { rows, copies }) => {
                self.outputs += 1;
                if self.outputs == 1 {
                    self.zeros = rows[..self.deltas.len()].to_vec();
                    if lie == Lie::SwappedOutput {
                        self.copies.iter().for_each(|&j| rows[j] ^= copies[j].delta.block());
                    }
                }
            }
            (lie, Act::Rows { j, table }) if lies(&j) && self.outputs == 1 => match lie {
                Lie::GarbageRows => table[..2].iter_mut().for_each(|row| *row ^= JUNK),
                Lie::SwappedRows => table[..2].iter_mut().for_each(|row| *row ^= self.known[0]),
                Lie::BothRows => {
                    let hash = TccrHash::new(backend);
                    let mut pads = [self.zeros[j], self.zeros[j] ^ self.deltas[j]];
                    pads.iter_mut().for_each(|pad| hash.hash((j as u128) << 64 | 1, std::slice::from_mut(pad)));
                    table[1] ^= pads[0] ^ pads[1];
                }
                _ => {}
            },
            (Lie::OutputCommitment, Act::OutputCommitment { j, digest, .. }) if lies(&j) => digest[0] ^= 1,
            (Lie::Salt, Act::OutputCommitment { j, salt, .. }) if lies(&j) => salt[0] ^= 1,
            (Lie::TableKey, Act::TableKey { j, key }) if lies(&j) => key[3] ^= 0x10,
            (Lie::Point, Act::Answer { j, point, .. }) if lies(&j) => {
                *point = curve25519_dalek::constants::RISTRETTO_BASEPOINT_COMPRESSED.to_bytes();
            }
            (Lie::NoPoint, Act::Answer { j, point, .. }) if lies(&j) => *point = [0xff; 32],
            (Lie::Encrypted, Act::Answer { j, seed, .. }) if lies(&j) => *seed ^= JUNK,
            _ => {}
        }
    }
}

/// The labels `Delta` and every `Delta_{i,0}` of an honest run.
pub(super) fn known(setting: &Setting<'_>) -> Vec<Block> {
    let mut known = Vec::new();
    let ends = setting.run(
        |act| {
            if let Act::Delta(shown) = act {
                known = shown.to_vec();
            }
        },
        honest,
    );
    assert!(ends.evaluator.is_ok() && !known.is_empty());
    known
}

fn run(lie: Lie, copies: &[usize], setting: &Setting<'_>) -> Ends {
    let mut garbler = Garbler::new(lie, copies, setting);
    setting.run(|act| garbler.act(act), honest)
}

/// The verdicts if a copy is checked, and if it is evaluated, with others.
#[rustfmt::skip]
const TABLE: [(Lie, Verdict, Verdict); 27] = {
    use Verdict::{Abort, Output, Recovered};
    [
        (Lie::OtherSeed,        Abort(checks::INPUT_LABEL),      Output),
        (Lie::OtherDelta,       Abort(checks::INPUT_LABEL),      Output),
        (Lie::OtherScalars,     Abort(checks::INPUT_RECOVERY),   Output),
        (Lie::OtherSalt,        Abort(checks::OUTPUT_TABLE),     Output),
        (Lie::SwappedLabels,    Abort(checks::INPUT_LABEL),      Recovered),
        (Lie::GarbageLabels,    Abort(checks::INPUT_LABEL),      Output),
        (Lie::R,                Output,                    Abort(checks::INPUT_OPENING)),
        (Lie::OtherX,           Abort(checks::INPUT_COMMITMENT), Recovered),
        (Lie::CommittedGarbage, Abort(checks::INPUT_COMMITMENT), Output),
        (Lie::OtherLabelOpened, Output,                    Abort(checks::INPUT_OPENING)),
        (Lie::GarbageLabelsOpened, Output,                 Abort(checks::INPUT_OPENING)),
        (Lie::Masking,          Output,                    Abort(checks::INPUT_OPENING)),
        (Lie::AnsweredLabels,   Abort(checks::INPUT_COMMITMENT), Abort(checks::INPUT_OPENING)),
        (Lie::AnsweredBits,     Abort(checks::INPUT_COMMITMENT), Abort(checks::INPUT_OPENING)),
        (Lie::AnsweredR,        Abort(checks::INPUT_COMMITMENT), Abort(checks::INPUT_OPENING)),
        (Lie::GarbageGates,     Abort(checks::GARBLED_CIRCUIT),  Output),
        (Lie::OtherGates,       Abort(checks::GARBLED_CIRCUIT),  Recovered),
        (Lie::SwappedOutput,    Abort(checks::OUTPUT_TABLE),     Recovered),
        (Lie::GarbageRows,      Abort(checks::OUTPUT_TABLE),     Output),
        (Lie::SwappedRows,      Abort(checks::OUTPUT_TABLE),     Output),
        (Lie::BothRows,         Abort(checks::OUTPUT_TABLE),     Recovered),
        (Lie::OutputCommitment, Abort(checks::OUTPUT_TABLE),     Abort(checks::OUTPUT_OPENING)),
        (Lie::Salt,             Output,                    Abort(checks::OUTPUT_OPENING)),
        (Lie::TableKey,         Output,                    Abort(checks::OUTPUT_OPENING)),
        (Lie::Point,            Abort(checks::INPUT_RECOVERY),   Output),
        (Lie::NoPoint,          Abort(checks::INPUT_RECOVERY),   Output),
        (Lie::Encrypted,        Abort(checks::INPUT_RECOVERY),   Output),
    ]
};

/// The lies that can be told in one phase, or in two, and their verdicts.
fn table(prepared: bool) -> impl Iterator<Item = (Lie, Verdict, Verdict)> {
    TABLE.into_iter().filter(move |(lie, ..)| prepared || *lie != Lie::TableKey).map(move |row| match row {
        // The tables come before the labels.
        (lie @ (Lie::OtherSeed | Lie::OtherDelta), _, evaluated) if prepared => {
            (lie, Verdict::Abort(checks::GARBLED_CIRCUIT), evaluated)
        }
        row => row,
    })
}

/// Whether a gate of another function changes the output is decided by permute bits, and by the output.
fn check(lie: Lie, ends: &Ends, setting: &Setting<'_>, wanted: Verdict, what: &str) {
    let found = ends.verdict(setting);
    let by_chance = lie == Lie::OtherGates && wanted == Verdict::Recovered && found == Verdict::Output;
    assert!(found == wanted || by_chance, "{lie:?} {what}, evaluated {:?}: {found:?}", ends.evaluated);
}

/// The verdict that a lie leads to if exactly the evaluated copies are those of the lie.
fn guessed(lie: Lie, evaluated: Verdict, program: &Program, prepared: bool) {
    let setting = Setting { prepared, evaluated: Some(vec![0, 2]), ..Setting::new(program, 4, 30) };
    let ends = run(lie, &[0, 2], &setting);
    match lie {
        // This is what escapes.
        Lie::SwappedLabels | Lie::OtherX | Lie::SwappedOutput => {
            let outputs = ends.evaluator.expect("an output");
            assert!(outputs != setting.expected() && !ends.disagree, "{lie:?}");
        }
        // May be wrong, may disagree.
        Lie::OtherGates => {}
        // With both labels of a bit the input opens whether another copy is good or not.
        Lie::BothRows => assert_eq!(ends.verdict(&setting), Verdict::Recovered, "{lie:?}"),
        Lie::GarbageLabels | Lie::CommittedGarbage | Lie::GarbageGates | Lie::GarbageRows | Lie::SwappedRows => {
            assert_eq!(ends.verdict(&setting), Verdict::Abort(checks::NO_VALID_COPY), "{lie:?}");
        }
        _ => assert_eq!(ends.verdict(&setting), evaluated, "{lie:?}"),
    }
}

fn verdicts(prepared: bool) {
    let program = program(Recipients::All);
    for (lie, checked, evaluated) in table(prepared) {
        // If two checks fail the first one is named.
        let everywhere = match lie {
            Lie::OutputCommitment => evaluated,
            _ if checked == Verdict::Output => evaluated,
            _ => checked,
        };
        // In one checked copy; in one evaluated copy, with company; in several; in all.
        for (copies, choice, verdict) in [
            (&[1][..], vec![0, 2], checked),
            (&[0], vec![0, 2], evaluated),
            (&[0, 2], vec![0, 1, 2], evaluated),
            (&[0, 1, 2, 3], vec![0, 2], everywhere),
        ] {
            let setting = Setting { prepared, evaluated: Some(choice), ..Setting::new(&program, 4, 20) };
            let ends = run(lie, copies, &setting);
            check(lie, &ends, &setting, verdict, &format!("in {copies:?}"));
        }
        guessed(lie, evaluated, &program, prepared);
    }
}

#[test]
fn every_lie_has_its_verdict() {
    verdicts(false);
}

#[test]
fn every_lie_has_its_verdict_in_two_phases() {
    verdicts(true);
}

/// The verdicts where the evaluator chooses itself.
fn verdicts_with_forty_copies(prepared: bool, dealt: bool) {
    let program = program(Recipients::only(1));
    let mut seen = [0; 2];
    for (seed, (lie, checked, evaluated)) in (100..).zip(table(prepared)) {
        let setting = Setting { prepared, dealt, ..Setting::new(&program, 40, seed) };
        let ends = run(lie, &[7], &setting);
        let is_evaluated = ends.evaluated.contains(&7);
        check(lie, &ends, &setting, if is_evaluated { evaluated } else { checked }, "in 7");
        seen[usize::from(is_evaluated)] += 1;
    }
    assert!(seen.iter().all(|&times| times > 5), "{seen:?}");
}

#[test]
fn every_lie_has_its_verdict_with_forty_copies() {
    // The full stack.
    verdicts_with_forty_copies(false, false);
}

#[test]
fn every_lie_has_its_verdict_with_forty_copies_in_two_phases() {
    verdicts_with_forty_copies(true, true);
}

#[test]
fn a_gate_of_another_function_is_caught_or_recovered_from() {
    let program = program(Recipients::only(1));
    let mut seen = [0; 3];
    for seed in 0..60 {
        let setting = Setting::new(&program, 3, 1000 + seed);
        let ends = run(Lie::OtherGates, &[1], &setting);
        if ends.evaluated == [1] {
            continue;
        }
        let found = ends.verdict(&setting);
        let i = [Verdict::Abort(checks::GARBLED_CIRCUIT), Verdict::Output, Verdict::Recovered]
            .iter()
            .position(|verdict| *verdict == found)
            .unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!(i == 0, !ends.evaluated.contains(&1));
        seen[i] += 1;
    }
    assert!(seen[0] > 10 && seen[2] > 10, "{seen:?}");
}

#[test]
fn lies_about_all_copies_are_named_whatever_is_evaluated() {
    let program = program(Recipients::All);
    let settings = [vec![0], vec![1, 2], vec![0, 1, 2, 3]]
        .map(|choice| Setting { evaluated: Some(choice), ..Setting::new(&program, 4, 40) }.both());
    for setting in settings.into_iter().flatten() {
        let check = |what: &str, liar: &mut (dyn FnMut(Act<'_>) + Send)| {
            let ends = setting.run(liar, honest);
            assert_eq!(ends.verdict(&setting), Verdict::Abort(checks::OUTPUT_LABELS), "{what}");
        };
        for at in [0, 1, 9] {
            check("H", &mut |act| {
                if let Act::Hashes(hashes) = act
                    && let Some(hash) = hashes.get_mut(at)
                {
                    hash[7] ^= 4;
                }
            });
        }
        for at in [0, 1, 4] {
            check("Delta in step 7", &mut |act| {
                if let Act::Delta(shown) = act {
                    shown[at] ^= JUNK;
                }
            });
        }
        // Delta_{0,1} is not Delta_{0,0} ^ Delta, in all that shows it.
        let known = known(&setting);
        let other = known[0] ^ known[1] ^ JUNK;
        let mut message = [0; 64];
        message[..16].copy_from_slice(&other.to_bytes());
        message[24] = 1;
        let mut outputs = 0;
        check("inconsistent Deltas", &mut |act| match act {
            Act::Outputs { .. } => outputs += 1,
            Act::Hashes(hashes) if outputs == 1 => {
                let key = setting.session().child("hashes of output labels").to_bytes();
                ShortHash::new(key).hash(&[message], &mut hashes[1..2]);
            }
            Act::Rows { table, .. } if outputs == 1 => table[1] ^= JUNK,
            _ => {}
        });
    }
}

/// A garbler that tells another difference of its input than it goes on with has all checked copies against
/// it. Where none is checked nothing disagrees, and nothing is made of it.
#[test]
fn the_input_that_is_told_is_the_one_that_is_used() {
    let program = program(Recipients::All);
    for bit in 0..BITS {
        for (choice, verdict) in [
            (vec![0], Verdict::Abort(checks::INPUT_COMMITMENT)),
            (vec![0, 1, 3], Verdict::Abort(checks::INPUT_COMMITMENT)),
            (vec![0, 1, 2, 3], Verdict::Output),
        ] {
            let setting = Setting { prepared: true, evaluated: Some(choice), ..Setting::new(&program, 4, 45) };
            let ends = setting.run(
                |act| {
                    if let Act::Difference(bits) = act {
                        bits[0] ^= 1 << bit;
                    }
                },
                honest,
            );
            assert_eq!(ends.verdict(&setting), verdict, "bit {bit}, evaluated {:?}", ends.evaluated);
        }
    }
}

/// The copies whose answers of step 7 are spoiled, where the first, the second and the fourth are evaluated
/// and disagree.
const SPOILED: [(&[usize], Verdict); 5] = [
    (&[0, 1], Verdict::Recovered),
    (&[1, 3], Verdict::Recovered),
    (&[0, 3], Verdict::Recovered),
    (&[0, 1, 3], Verdict::Abort(checks::NO_RECOVERY)),
    (&[0, 1, 2], Verdict::Abort(checks::INPUT_RECOVERY)),
];

/// Outputs that disagree lead nowhere only if the answers of all evaluated copies are spoiled.
#[test]
fn recovery_needs_one_honest_answer() {
    let program = program(Recipients::All);
    let settings = Setting { evaluated: Some(vec![0, 1, 3]), ..Setting::new(&program, 5, 50) }.both();
    for (setting, (spoiled, verdict)) in settings.iter().flat_map(|setting| SPOILED.map(|case| (setting, case))) {
        for lie in [Lie::Point, Lie::NoPoint, Lie::Encrypted] {
            let (mut output, mut answer) =
                (Garbler::swapping_output(&[1], setting), Garbler::new(lie, spoiled, setting));
            let ends = setting.run(
                |act| match act {
                    Act::Answer { .. } => answer.act(act),
                    other => output.act(other),
                },
                honest,
            );
            assert_eq!(ends.verdict(setting), verdict, "{lie:?} in {spoiled:?}");
        }
    }
}

/// The garbler's own outputs are right too: recovery yields pad and key.
#[test]
fn the_garbler_gets_its_output_and_does_not_learn_of_recovery() {
    for to in [Recipients::All, Recipients::only(0)] {
        let program = program(to);
        for setting in (Setting { evaluated: Some(vec![0, 2, 3]), ..Setting::new(&program, 4, 60) }).both() {
            let mut garbler = Garbler::swapping_output(&[2], &setting);
            let ends = setting.run(|act| garbler.act(act), honest);
            assert!(ends.disagree && ends.opened.iter().all(|&opened| opened));
            assert!(ends.garbler.expect("an output") == setting.expected());
        }
    }
}

#[test]
fn lies_about_a_code_are_named() {
    let program = program(Recipients::only(1));
    let mut seen = [0; 2];
    for seed in 0..12 {
        let setting = Setting { form: Form::Coded, ..Setting::new(&program, 5, 70 + seed) };
        assert_eq!(setting.run(honest, honest).verdict(&setting), Verdict::Output);
        // One value of many suffices: every copy that is decoded depends on it.
        let coded = |act: Act<'_>| {
            if let Act::Coded(values) = act {
                values[0] ^= JUNK;
            }
        };
        assert_eq!(setting.run(coded, honest).verdict(&setting), Verdict::Abort(checks::CODED_CIRCUIT));
        let hash = |act: Act<'_>| {
            if let Act::TablesHash { j: 1, digest } = act {
                digest[9] ^= 2;
            }
        };
        let ends = setting.run(hash, honest);
        let evaluated = ends.evaluated.contains(&1);
        let wanted = if evaluated { checks::CODED_CIRCUIT } else { checks::GARBLED_CIRCUIT };
        assert_eq!(ends.verdict(&setting), Verdict::Abort(wanted));
        seen[usize::from(evaluated)] += 1;
    }
    assert!(seen.iter().all(|&times| times > 1), "{seen:?}");
}

/// Checks that garblers provoke: each lie of the table in a copy that is checked, in one that is evaluated,
/// and in all that are evaluated; then those that are told elsewhere.
pub(super) fn caught() -> Vec<&'static Check> {
    let program = program(Recipients::only(1));
    let setting = Setting { evaluated: Some(vec![0, 2]), ..Setting::new(&program, 4, 80) };
    let mut named = Vec::new();
    let mut hear = |ends: Ends| named.extend(ends.evaluator.err().and_then(|error| error.check()));
    for (lie, ..) in table(false) {
        [&[1][..], &[0], &[0, 2]].into_iter().for_each(|copies| hear(run(lie, copies, &setting)));
    }
    hear(setting.run(
        |act| {
            if let Act::Delta(shown) = act {
                shown[0] ^= JUNK;
            }
        },
        honest,
    ));
    let (mut output, mut answer) =
        (Garbler::swapping_output(&[0], &setting), Garbler::new(Lie::Encrypted, &[0, 2], &setting));
    hear(setting.run(
        |act| match act {
            Act::Answer { .. } => answer.act(act),
            other => output.act(other),
        },
        honest,
    ));
    let coded = |act: Act<'_>| {
        if let Act::Coded(values) = act {
            values[0] ^= JUNK;
        }
    };
    hear(Setting { form: Form::Coded, ..Setting::new(&program, 5, 81) }.run(coded, honest));
    named
}
