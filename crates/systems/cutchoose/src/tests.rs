//! Whole runs in which one party is honest but for one lie.
//!
//! # Lies of the garbler, and verdicts
//!
//! A lie about a copy is told in some copies. *Checked*: what happens if the evaluator checks one of them.
//! *Evaluated*: if it evaluates all of them, and an honest copy besides. If those copies are exactly the
//! evaluated ones, which is one guess among `2^rho - 1`, the output may be wrong, or the run ends with *no
//! valid copy*. Else it is never wrong. *Recovered* means that the outputs disagree, the seeds open, and the
//! output is computed from both inputs in the clear; *ignored* that the copy has no say; *nothing* that the
//! lie is not even looked at. Each abort is the check of that name.
//!
//! | Step | Lie | Checked | Evaluated |
//! |---|---|---|---|
//! | 1 | a copy is made from another seed, or with another `delta_j` | `InputLabel` | harmless: the copy computes the same |
//! | 1 | other `s_j`, `t_j` than the seed's | `InputRecovery` | harmless, or another copy recovers |
//! | 1 | another salt of `c_j^T` | `OutputTable` | harmless |
//! | 2 | both labels of an input bit swapped | `InputLabel` | recovered |
//! | 2 | both labels of an input bit are garbage | `InputLabel` | ignored |
//! | 2 | one label of an input bit is garbage | as above if the bit of `y'` is that one, else nothing | the same |
//! | 3 | wrong `R` | nothing: it is under `key_j` | `InputOpening` |
//! | 4 | the labels of a bit swapped: another `x` in this copy | `InputCommitment` | recovered |
//! | 4 | a garbage label, and an answer for it | `InputCommitment` | ignored |
//! | 4 | the other label opened, or garbage, or a wrong `N_j` | nothing: it is under `key_j` | `InputOpening` |
//! | 4 | any of the three sums of an answer is wrong | `InputCommitment` | `InputOpening` |
//! | 5 | garbage in place of a garbled gate | `GarbledCircuit` | ignored |
//! | 5 | another gate, garbled as it should be | `GarbledCircuit` | recovered, where the output differs |
//! | 5 | labels of an output bit swapped | `OutputTable` | recovered |
//! | 5 | garbage in `T`; or `T_{j,i,0}` gives `Delta_{i,1}` | `OutputTable` | ignored |
//! | 5 | both rows of `T` open with one label | `OutputTable` | recovered |
//! | 5 | wrong `c_j^T` | `OutputTable` | `OutputOpening` |
//! | 5 | wrong salt under `key_j` | nothing | `OutputOpening` |
//! | 7 | wrong `C_j`, be it a point or not, or wrong `Enc(seed_j)` | `InputRecovery` | harmless, or another copy recovers |
//! | 7 | the same in all evaluated copies, by a guess, and outputs that disagree | | `NoRecovery` |
//!
//! In two phases all are told as in one, those of steps 1, 3 and 5 offline, and have the same verdicts, but
//! where the tables are checked first: a copy from another seed or with another `delta_j` is `GarbledCircuit`
//! if it is checked. A wrong key of a copy's output tables is a lie as the salt is one: `OutputOpening` if
//! the copy is evaluated, nothing if not. Another `x` in the difference that is told than in what follows is
//! `InputCommitment`, whichever copies are checked.
//!
//! In coded form besides: values of the code that are not those of the tables hashed are `CodedCircuit`
//! whatever is evaluated; a wrong hash of a copy is `GarbledCircuit` if the copy is checked and
//! `CodedCircuit` if not.
//!
//! Lies that are about no copy have one verdict, `OutputLabels`: a wrong `H(Delta_{i,b})`; a `Delta_{i,1}` that is not
//! `Delta_{i,0} ^ Delta`, hashes and all; another `Delta` or `Delta_{i,0}` in step 7 than in step 5.
//!
//! # Lies of the evaluator, and verdicts
//!
//! | Step | Lie | Verdict at the garbler |
//! |---|---|---|
//! | 1 | no copy is evaluated | none visible; it learns no output, and that is its own affair |
//! | 3 | the committing OT is opened to something else | `WrongOpening`, of comity-ot |
//! | 3 | it is opened early, as everything else may be said early | none visible: the garbler has sent all `R` when it looks |
//! | 7 | `h`, `g1` or `h1` are no canonical points | `InvalidPoint` |
//! | 7 | `h` or `g1` is the identity | `IdentityPoint` |
//! | 7 | `h1` is the identity | none: it is as good as any |
//! | 7 | Omega is guessed | none visible; what it opens is garbage |
//! | 9 | a bit of what it passes on is flipped, or it is of another run | `OutputTag` |
//!
//! # Elsewhere
//!
//! Lies in base OTs, in the extension and in the committing OT are tested where those are, in comity-ot: a
//! party that asks for both messages of an OT, hence for key and seed of a copy, is `InconsistentChoices`
//! (`softspoken::tests::cheats`); trees of seeds that are not what they should be are `InconsistentTree` (the
//! same, and `committing::tests`); base OTs are `BaseOtChallenge`, `InvalidPoint` and `IdentityPoint`
//! (`base::csw::tests`). Changes on the wire: `tests/deviations.rs`.

mod dealer;
mod evaluators;
mod garblers;
mod laws;
mod rates;
mod wire;

use comity_channel::Channel;
use comity_circuit::{Builder, Program, Recipients};
use comity_core::{Backend, Bits, Block, Check, Params, PartyId, Prg, Result, SessionId};
use comity_garble::lockstep::CopyChoice;
use comity_ot::base::Csw;
use comity_protocol::{Here, Job, Options, Protocol};
use comity_testing::Pair;
use comity_testing::laws::{Outputs, clear};

use crate::conduct::Act;
use crate::intake::Form;
use crate::prepared::{Offline, Prepared};
use crate::protocol::CutChoose;
use crate::transfer::{Extended, Ots};
use crate::{evaluator, garbler};
use dealer::Dealt;

/// Input bits of either party in the programs here.
const BITS: usize = 4;

/// A program of `x & y`, and whether any bit of it is set.
fn program(to: Recipients) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", BITS), b.input("y", BITS));
    let both: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
    // An OR by sums: what is pinned has XORs.
    let either = |any, &bit| {
        let (sum, all) = (b.xor(any, bit), b.and(any, bit));
        b.xor(sum, all)
    };
    let any = both[1..].iter().fold(both[0], either);
    b.output("both", &both);
    b.output("any", &[any]);
    let program = Program::from_circuit(b.finish()).expect("a program");
    program.with_recipients(0, to).and_then(|program| program.with_recipients(1, to)).expect("recipients")
}

/// The setting of a run.
#[derive(Clone)]
struct Setting<'a> {
    program: &'a Program,
    rho: u32,
    form: Form,
    /// Whether there is an offline phase.
    prepared: bool,
    /// The seed of the parties' randomness.
    seed: u128,
    /// The number that the session is derived from.
    session: u128,
    backend: Backend,
    x: Bits,
    y: Bits,
    /// The evaluated copies, if the evaluator does not draw them.
    evaluated: Option<Vec<usize>>,
    /// Whether the OTs come from a dealer.
    dealt: bool,
}

impl Setting<'_> {
    /// A setting of all ones against 0110, OTs from the dealer.
    fn new(program: &Program, rho: u32, seed: u128) -> Setting<'_> {
        Setting {
            program,
            rho,
            form: Form::All,
            prepared: false,
            seed,
            session: seed,
            backend: Backend::detect(),
            x: Bits::from_bytes(&[0b1111], BITS),
            y: Bits::from_bytes(&[0b0110], BITS),
            evaluated: None,
            dealt: true,
        }
    }

    /// The setting in one phase, and in two.
    fn both(self) -> [Self; 2] {
        [Setting { prepared: false, ..self.clone() }, Setting { prepared: true, ..self }]
    }

    /// The session that all copies are made in.
    fn session(&self) -> SessionId {
        let given = self.given();
        if self.prepared { given.child("cutchoose, prepared") } else { given }
    }

    /// The session that the parties are given.
    fn given(&self) -> SessionId {
        SessionId::derive("lies", &[&self.session.to_le_bytes()])
    }

    /// The program's outputs in the clear.
    fn expected(&self) -> Vec<(usize, Bits)> {
        clear(self.program, &[self.x.clone(), self.y.clone()]).into_iter().enumerate().collect()
    }

    /// A party's inputs; 0 garbles.
    fn inputs(&self, party: u16) -> [Option<Bits>; 2] {
        if party == 0 { [Some(self.x.clone()), None] } else { [None, Some(self.y.clone())] }
    }

    /// The options that are set, as party 0 says them.
    fn options(&self) -> Options {
        let mut options = Options::new(CutChoose.card());
        for (name, value) in [("role", "garbler"), ("coded", if self.form == Form::Coded { "yes" } else { "no" })] {
            options.set(PartyId(0), name, value).expect("an option of the card");
        }
        options
    }

    /// The place where a party stands, in the session that it is given.
    fn here(&self, party: u16) -> Here {
        let params = Params::new(128, self.rho).expect("parameters in range");
        Here { me: PartyId(party), parties: 2, session: self.given(), params, backend: self.backend }
    }

    /// The source of the OTs.
    fn ots(&self) -> &'static dyn Ots {
        if self.dealt { &Dealt } else { &Extended::<Csw>::NEW }
    }

    /// Runs one party; returns its outputs.
    fn party(&self, ch: &mut dyn Channel, party: u16, mut act: &mut dyn FnMut(Act<'_>)) -> Result<Vec<(usize, Bits)>> {
        if self.prepared {
            let stored = self.offline(ch, party, act)?;
            return self.online(ch, party, &stored, act);
        }
        let (here, inputs, options) = (self.here(party), self.inputs(party), self.options());
        let job = Job { program: self.program, inputs: &inputs, options: &options };
        let (mut rng, mut outputs) = (self.rng(party), Outputs::default());
        match party {
            0 => garbler::run(ch, here, &job, self.ots(), &mut rng, &mut outputs, &mut act)?,
            _ => evaluator::run(ch, here, &job, self.ots(), &mut rng, &mut outputs, &mut act)?,
        }
        Ok(outputs.0)
    }

    /// Runs one party's offline phase; returns its batch.
    fn offline(&self, ch: &mut dyn Channel, party: u16, mut act: &mut dyn FnMut(Act<'_>)) -> Result<Vec<u8>> {
        let (here, mut stored, mut observer) = (self.here(party), Vec::new(), Outputs::default());
        let offline = Offline::new(self.program, PartyId(0), here, self.ots());
        offline.run(ch, &mut self.rng(party), &mut stored, &mut observer, &mut act)?;
        assert!(observer.0.is_empty(), "there are no outputs before there are inputs");
        Ok(stored)
    }

    /// Runs one party's online phase; returns its outputs.
    fn online(
        &self,
        ch: &mut dyn Channel,
        party: u16,
        stored: &[u8],
        mut act: &mut dyn FnMut(Act<'_>),
    ) -> Result<Vec<(usize, Bits)>> {
        let mut outputs = Outputs::default();
        let prepared = Prepared::open(stored, self.backend, PartyId(party), self.program)?;
        let loaded = prepared.load_as(self.program, &self.inputs(party), &mut act)?;
        loaded.run_as(ch, &mut self.rng(2 + party), &mut outputs, &mut act)?;
        Ok(outputs.0)
    }

    /// The randomness of a party; 2 and 3 are the parties online.
    fn rng(&self, party: u16) -> Prg {
        Prg::new(self.backend, Block::from_u128(self.seed << 1 | u128::from(party & 1) | u128::from(party >> 1) << 127))
    }

    /// Runs both parties. An evaluator that has a choice made for it does not draw another.
    fn run(&self, mut garbler: impl FnMut(Act<'_>) + Send, mut evaluator: impl FnMut(Act<'_>) + Send) -> Ends {
        let (mut seeds, mut evaluated, mut disagree, mut opened) = (Vec::new(), Vec::new(), false, Vec::new());
        let (garblers, evaluators) = Pair::run(
            |ch| {
                self.party(ch, 0, &mut |act| {
                    if let Act::Copies(copies) = &act {
                        seeds = copies.iter().map(|copy| copy.seed.0).collect();
                    }
                    garbler(act);
                })
            },
            |ch| {
                self.party(ch, 1, &mut |mut act| {
                    match (&mut act, &self.evaluated) {
                        (Act::Choice(choice), Some(forced)) => **choice = chosen(self.rho, forced),
                        (Act::Decoded(decoded), _) => disagree = decoded.disagree.into(),
                        (Act::Recovered { j, seed }, _) => opened.push((*j, seed.0)),
                        _ => {}
                    }
                    if let Act::Choice(choice) = &act {
                        evaluated.clone_from(&choice.evaluated);
                    }
                    evaluator(act);
                })
            },
        );
        let opened = opened.iter().map(|&(j, seed)| seed == seeds[j]).collect();
        Ends { garbler: garblers, evaluator: evaluators, evaluated, disagree, opened }
    }
}

/// The choice that evaluates these copies.
fn chosen(rho: u32, evaluated: &[usize]) -> CopyChoice {
    CopyChoice::new(&(0..rho as usize).map(|j| evaluated.contains(&j)).collect())
}

/// A conduct without a lie.
fn honest(_: Act<'_>) {}

/// The ends of a run, and what the evaluator saw.
struct Ends {
    garbler: Result<Vec<(usize, Bits)>>,
    evaluator: Result<Vec<(usize, Bits)>>,
    evaluated: Vec<usize>,
    /// Whether copies disagreed.
    disagree: bool,
    /// Whether what the evaluator took for the seed of an evaluated copy in step 8 is the seed, for each.
    opened: Vec<bool>,
}

/// The verdict: how the evaluator should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Abort(&'static Check),
    /// The right output, and nothing to recover.
    Output,
    /// The right output, because the garbler's input was recovered.
    Recovered,
}

impl Ends {
    /// The verdict that the evaluator came to.
    ///
    /// # Panics
    /// If its output is wrong, or it ended with another error than that of a check; or if seeds opened
    /// without copies that disagree.
    fn verdict(&self, setting: &Setting<'_>) -> Verdict {
        match &self.evaluator {
            Err(error) => Verdict::Abort(error.check().unwrap_or_else(|| panic!("not the error of a check: {error}"))),
            Ok(outputs) => {
                assert!(*outputs == setting.expected(), "the output is wrong");
                if self.disagree {
                    assert!(self.opened.contains(&true), "copies disagree, and no seed opens");
                    Verdict::Recovered
                } else {
                    assert!(!self.opened.contains(&true), "a seed opens without need");
                    Verdict::Output
                }
            }
        }
    }

    /// The check that the garbler says the evaluator failed.
    fn complaint(&self) -> Option<&'static Check> {
        let error = self.garbler.as_ref().err()?;
        Some(error.check().unwrap_or_else(|| panic!("not the error of a check: {error}")))
    }
}

#[test]
fn honest_parties_open_nothing() {
    for (to, seed) in [(Recipients::only(1), 1), (Recipients::All, 2)] {
        let program = program(to);
        let settings = [true, false].map(|dealt| Setting { dealt, ..Setting::new(&program, 6, seed) }.both());
        for setting in settings.into_iter().flatten() {
            let ends = setting.run(honest, honest);
            assert_eq!((ends.verdict(&setting), ends.complaint()), (Verdict::Output, None));
            assert!(to != Recipients::All || ends.garbler.is_ok_and(|outputs| outputs == setting.expected()));
        }
    }
}
