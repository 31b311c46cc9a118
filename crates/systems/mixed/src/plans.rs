//! How each call of a program runs under an assignment: [`Plans`].

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use comity_arith::dealers::Adds;
use comity_circuit::{Call, Circuit, Goal, Lowered, Place, Program, Span, Step};
use comity_core::PartyId;
use comity_share::ring::{MatrixProduct, WIDEST_WORD, WordProduct};

use crate::cut::{Held, Shape, possible};
use crate::form::{Assignment, CircuitForms, Form};
use crate::memory::Memory;
use crate::parts::shallow;
use crate::stages::{Runs, Stages, adder};

/// The bytes of the frames of calls that run side by side, about.
const SIDE_BY_SIDE: usize = 32 << 20;

/// How calls of a circuit run.
pub(crate) enum Plan {
    /// As they stand, in one form of bits: by the program's own gates, or by these.
    Whole(Form, Option<Lowered>),
    /// Cut into parts.
    Staged(Stages),
}

/// Plans of calls that were made, by the circuit, its forms, and the shape of a call: assignments that are tried out
/// have most of them in common.
#[derive(Default)]
pub(crate) struct Made(HashMap<(usize, Option<CircuitForms>, Shape), Arc<Plan>>);

/// How calls of each circuit run, by the shapes of calls, and where values lie.
pub(crate) struct Plans {
    pub(crate) memory: Memory,
    circuits: Vec<Vec<(Shape, Arc<Plan>)>>,
    /// The most words, bits and labels of frames.
    pub(crate) room: [usize; 3],
    /// Circuits that add words of 1, 2, ... bits, for labels.
    adders: Vec<Lowered>,
}

/// What a run takes.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) products: BTreeMap<WordProduct, u64>,
    pub(crate) matrices: BTreeMap<MatrixProduct, u64>,
    /// AND gates on shares of bits.
    pub(crate) ands: u64,
    /// Whether there are labels or conversions, and the OTs that each party sends for these.
    pub(crate) converts: bool,
    pub(crate) ots: [u64; 2],
    /// Of those that party 0 sends: for labels of words that are opened, and for labels of other bits.
    pub(crate) opened: u64,
    pub(crate) labels: u64,
    /// The adders that open words.
    pub(crate) adders: Adds,
}

impl Taken {
    /// Whether words are multiplied.
    pub(crate) fn multiplies(&self) -> bool {
        !self.products.is_empty() || !self.matrices.is_empty()
    }

    /// The OTs that party 0 sends and of which something else is made than labels.
    pub(crate) fn hashed(&self) -> u64 {
        self.ots[0].saturating_sub(self.opened).saturating_sub(self.labels)
    }
}

impl Plans {
    /// The plans of a program's calls.
    pub(crate) fn new(program: &Program, assignment: &Assignment) -> Plans {
        Plans::with(program, assignment, &mut Made::default())
    }

    /// As [`Plans::new`], with what was made before.
    pub(crate) fn with(program: &Program, assignment: &Assignment, made: &mut Made) -> Plans {
        let memory = Memory::new(program, assignment);
        let circuits = program.circuits().iter().map(|_| Vec::new()).collect();
        let mut plans = Plans { memory, circuits, room: [0; 3], adders: Vec::new() };
        plans.walk(program, program.steps(), assignment, made);
        let widest = plans.circuits.iter().flatten().filter_map(|(_, plan)| match &**plan {
            Plan::Staged(stages) => stages.stages.iter().flat_map(|stage| &stage.openings).map(|of| of.bits).max(),
            Plan::Whole(..) => None,
        });
        let widths = 1..=widest.max().unwrap_or(0).min(WIDEST_WORD);
        plans.adders = widths.map(|bits| adder(&[bits], Goal::Size)).collect();
        plans
    }

    fn walk(&mut self, program: &Program, steps: &[Step], assignment: &Assignment, made: &mut Made) {
        for step in steps {
            match step {
                Step::Call { circuit, times, args, outs } => {
                    let shape = self.shape_of(args, outs);
                    let index = match self.circuits[*circuit].iter().position(|(of, _)| *of == shape) {
                        Some(index) => index,
                        None => {
                            let forms = assignment.circuits.get(*circuit);
                            let make = || Arc::new(plan(&program.circuits()[*circuit], forms, &shape));
                            let key = (*circuit, forms.cloned(), shape.clone());
                            let plan = made.0.entry(key).or_insert_with(make).clone();
                            self.circuits[*circuit].push((shape, plan));
                            self.circuits[*circuit].len() - 1
                        }
                    };
                    if let Plan::Staged(stages) = &*self.circuits[*circuit][index].1 {
                        let copies = together(stages, *times) as usize;
                        for (room, frame) in self.room.iter_mut().zip(stages.frame) {
                            *room = (*room).max(frame * copies);
                        }
                    }
                }
                Step::Repeat { body, .. } => self.walk(program, body, assignment, made),
                Step::Input { .. } | Step::Reveal { .. } => {}
            }
        }
    }

    fn shape_of(&self, args: &[(Span, i64)], outs: &[(Span, i64)]) -> Shape {
        let of = |(span, _): &(Span, i64)| (span.start as usize, span.bits as usize);
        self.memory.shape([&mut args.iter().map(of), &mut outs.iter().map(of)])
    }

    /// The plan of a call of a step.
    pub(crate) fn of_step(&self, step: &Step) -> Option<&Plan> {
        let Step::Call { circuit, args, outs, .. } = step else { return None };
        self.find(*circuit, || self.shape_of(args, outs))
    }

    /// The plan of a call.
    pub(crate) fn of_call(&self, call: &Call<'_>) -> &Plan {
        let shape = || {
            let of = |(place, bits): (&Place, &usize)| (place.at(0), *bits);
            let (args, outs) = (call.circuit.input_widths(), call.circuit.output_widths());
            self.memory.shape([&mut call.args.iter().zip(args).map(of), &mut call.outs.iter().zip(outs).map(of)])
        };
        self.find(call.index, shape).expect("a plan was made for each call")
    }

    fn find(&self, circuit: usize, shape: impl FnOnce() -> Shape) -> Option<&Plan> {
        let plans = &self.circuits[circuit];
        if let [(_, only)] = &plans[..] {
            return Some(only);
        }
        let shape = shape();
        plans.iter().find(|(of, _)| *of == shape).map(|(_, plan)| &**plan)
    }

    /// The circuit that adds two words.
    pub(crate) fn adder(&self, bits: u32) -> &Lowered {
        &self.adders[bits as usize - 1]
    }

    /// What a program's run takes.
    pub(crate) fn taken(&self, program: &Program) -> Taken {
        let mut taken = Taken { converts: self.memory.has(Form::Yao), ..Taken::default() };
        self.take(program, program.steps(), 1, &mut taken);
        taken.converts |= taken.ots[0] > 0;
        taken
    }

    fn take(&self, program: &Program, steps: &[Step], turns: u64, taken: &mut Taken) {
        for step in steps {
            match step {
                Step::Call { circuit, times, .. } => {
                    let times = turns.saturating_mul(*times);
                    let mut ands = |lowered: &Lowered| {
                        let ands = lowered.tape().ands().len() as u64;
                        taken.ands = taken.ands.saturating_add(times.saturating_mul(ands));
                    };
                    match self.of_step(step).expect("it is a call") {
                        Plan::Whole(Form::Boolean, lowered) => {
                            ands(lowered.as_ref().unwrap_or_else(|| &program.lowered()[*circuit]));
                        }
                        Plan::Whole(..) => taken.converts = true,
                        Plan::Staged(stages) => {
                            for stage in &stages.stages {
                                taken.ots[0] = taken.ots[0].saturating_add(times.saturating_mul(stage.ots()));
                                stage.adder.iter().for_each(&mut ands);
                                let labels = times.saturating_mul(stage.joined.len() as u64);
                                taken.labels = taken.labels.saturating_add(labels);
                                for opening in &stage.openings {
                                    let bits = times.saturating_mul(opening.bits.into());
                                    taken.opened = taken.opened.saturating_add(bits);
                                    taken.adders.add(opening.bits, times);
                                }
                                for part in &stage.parts {
                                    match part {
                                        Runs::Gates { form: Form::Boolean, circuit, .. } => ands(circuit),
                                        Runs::Gates { .. } => taken.converts = true,
                                        Runs::Words { circuit, .. } => {
                                            let add = |all: &mut u64| *all = all.saturating_add(times);
                                            circuit
                                                .products()
                                                .for_each(|what| add(taken.products.entry(what).or_default()));
                                            circuit
                                                .matrices()
                                                .for_each(|what| add(taken.matrices.entry(what).or_default()));
                                            for layer in circuit.messages() {
                                                layer.count_ots(times, &mut taken.ots);
                                                let labels = times.saturating_mul(layer.labels);
                                                taken.labels = taken.labels.saturating_add(labels);
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                Step::Repeat { times, body } => self.take(program, body, turns.saturating_mul(*times), taken),
                Step::Input { owner, to, .. } => {
                    let is_labels = self.memory.held(to.start as usize, to.bits as usize) == Held::Bits(Form::Yao);
                    if is_labels && owner.includes(PartyId(1)) {
                        taken.ots[0] = taken.ots[0].saturating_add(to.bits);
                        taken.labels = taken.labels.saturating_add(to.bits);
                    }
                }
                Step::Reveal { .. } => {}
            }
        }
    }
}

/// How calls of a circuit run whose values lie in the memory like this.
fn plan(circuit: &Circuit, forms: Option<&CircuitForms>, shape: &Shape) -> Plan {
    let yao = CircuitForms::uniform(circuit, Form::Yao);
    let forms = forms.unwrap_or(&yao);
    let possible = |forms: &CircuitForms| possible(circuit, forms);
    let (notes, gates, adders) = possible(forms);
    if let Some(form) = shape.only().filter(|form| gates == *form && notes.iter().all(|note| note == form)) {
        let anew = form == Form::Boolean && !circuit.notes().is_empty();
        return Plan::Whole(form, anew.then(|| Lowered::new(&shallow(circuit))));
    }
    let stages = Stages::new(circuit, (notes, gates, adders), shape);
    // What cannot be planned on words after all is gates.
    let all_gates = || CircuitForms { adders, ..CircuitForms::uniform(circuit, gates) };
    let gates = || Stages::new(circuit, possible(&all_gates()), shape);
    Plan::Staged(stages.or_else(|_| gates()).expect("words that are only copied are planned"))
}

/// How many of `times` calls run side by side.
pub(crate) fn together(stages: &Stages, times: u64) -> u64 {
    let [words, bits, labels] = stages.frame;
    let most = (SIDE_BY_SIDE / (16 * words + bits + 16 * labels).max(1)).max(1) as u64;
    let parts = stages.stages.iter().flat_map(|stage| &stage.parts);
    let of_words = parts.filter_map(|part| match part {
        Runs::Words { circuit, .. } => Some(circuit.together(times)),
        Runs::Gates { .. } => None,
    });
    let most = most.min(of_words.min().unwrap_or(u64::MAX)).max(1);
    times.div_ceil(times.div_ceil(most).max(1))
}
