//! `ProgramBuilder`: programs from code.
//!
//! Values live in [`Register`]s, runs of wires of the program's memory. A step reads and writes [`Span`]s: a register
//! as it stands, or one that moves with the turns of the loops around it.
//!
//! ```
//! use comity_circuit::{Builder, ProgramBuilder, Recipients, Wire};
//!
//! let mut b = Builder::new();
//! let (x, y) = (b.input("x", 32), b.input("y", 32));
//! let either: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.or(x, y)).collect();
//! b.output("either", &either);
//!
//! // Which of 32 flags any of a thousand sets has, one set after another.
//! let mut p = ProgramBuilder::new("union");
//! let sets = p.input("sets", 0, 32 * 1000);
//! let union = p.register(32);
//! let or = p.circuit(b.finish());
//! p.repeat(1000, |p, turn| {
//!     p.call(or, &[union.span(), sets.slice(0, 32).span().moving(turn, 32)], &[union.span()]);
//! });
//! p.reveal("union", Recipients::All, union);
//! assert_eq!(p.finish()?.and_gates(), 32_000);
//! # Ok::<(), comity_circuit::ProgramError>(())
//! ```

use std::borrow::Cow;
use std::collections::HashMap;

use comity_core::Bits;

use super::{Program, ProgramError, Span, Step};
use crate::builder::{Builder, Wire};
use crate::circuit::Circuit;
use crate::goal::Goal;
use crate::party::{Owner, Recipients};

/// A run of wires of the memory that holds a value. All zero until something is written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    start: u64,
    bits: u64,
}

/// A circuit that a program calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitId(usize);

/// The turn of a loop, by which spans inside it move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn(usize);

/// Builds a [`Program`] step by step. Mistakes are reported by [`ProgramBuilder::finish`].
pub struct ProgramBuilder {
    name: String,
    goal: Goal,
    wires: u64,
    circuits: CircuitList,
    /// The steps of the open loops, innermost last; the first are the program's.
    open: Vec<Vec<Step>>,
}

/// Circuits in the order in which they came, of which equal ones are kept once.
#[derive(Default)]
pub struct CircuitList {
    circuits: Vec<Circuit>,
    /// The indices of the circuits of a shape.
    known: HashMap<(usize, usize, usize), Vec<usize>>,
}

impl CircuitList {
    /// The index of the circuit with these values, gates and pins, added if it is new. If two differ in their
    /// notes only, the first one with notes stays, unless operations are pinned otherwise.
    pub fn add(&mut self, circuit: Cow<'_, Circuit>) -> usize {
        let shape = (circuit.input_bits(), circuit.gates().len(), circuit.output_wires().len());
        let same = self.known.entry(shape).or_default();
        let known = |index: &&usize| {
            let known = &self.circuits[**index];
            known.same_gates(&circuit) && same_pins(known, &circuit)
        };
        if let Some(&index) = same.iter().find(known) {
            if self.circuits[index].notes().is_empty() {
                self.circuits[index] = circuit.into_owned();
            }
            return index;
        }
        same.push(self.circuits.len());
        self.circuits.push(circuit.into_owned());
        self.circuits.len() - 1
    }

    /// The circuits, in order.
    pub fn into_circuits(self) -> Vec<Circuit> {
        self.circuits
    }
}

/// Whether the circuits' operations are pinned alike.
fn same_pins(one: &Circuit, other: &Circuit) -> bool {
    let pins = |circuit: &Circuit| circuit.notes().iter().map(|note| note.pin).collect::<Vec<_>>();
    let (one, other) = (pins(one), pins(other));
    one == other || one.iter().chain(&other).all(Option::is_none)
}

impl Register {
    /// The number of bits.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// The part of the register from wire `from` on, `bits` wires of it.
    ///
    /// # Panics
    /// If they are not all in the register.
    #[must_use]
    pub fn slice(self, from: u64, bits: u64) -> Register {
        assert!(from.checked_add(bits).is_some_and(|end| end <= self.bits), "{from} + {bits} bits of {}", self.bits);
        Register { start: self.start + from, bits }
    }

    /// Element `index` of an array of elements of `bits` bits each.
    ///
    /// # Panics
    /// If it is not in the register.
    #[must_use]
    pub fn element(self, index: u64, bits: u64) -> Register {
        self.slice(index.checked_mul(bits).expect("an index in the register"), bits)
    }

    /// The span of the register, the same in every turn.
    pub fn span(self) -> Span {
        Span { start: self.start, bits: self.bits, strides: Vec::new() }
    }
}

impl Span {
    /// The span, moved by `stride` more wires in each turn of a loop.
    #[must_use]
    pub fn moving(mut self, turn: Turn, stride: i64) -> Span {
        if self.strides.len() <= turn.0 {
            self.strides.resize(turn.0 + 1, 0);
        }
        self.strides[turn.0] += stride;
        self
    }
}

impl ProgramBuilder {
    /// An empty program.
    pub fn new(name: impl Into<String>) -> ProgramBuilder {
        ProgramBuilder::for_goal(name, Goal::default())
    }

    /// An empty program whose circuits are built for a goal; [`ProgramBuilder::builder`] begins one of them.
    pub fn for_goal(name: impl Into<String>, goal: Goal) -> ProgramBuilder {
        ProgramBuilder { name: name.into(), goal, wires: 0, circuits: CircuitList::default(), open: vec![Vec::new()] }
    }

    /// The goal of the program's circuits.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// An empty circuit for the program's goal.
    pub fn builder(&self) -> Builder {
        Builder::for_goal(self.goal)
    }

    /// A new register, room for a value.
    pub fn register(&mut self, bits: u64) -> Register {
        let start = self.wires;
        // A memory that is too large is refused at the end, by its size.
        self.wires = start.saturating_add(bits);
        Register { start, bits }
    }

    /// The register of the next input value, put in by its owner.
    ///
    /// # Panics
    /// Inside a loop.
    pub fn input(&mut self, name: impl Into<String>, owner: impl Into<Owner>, bits: u64) -> Register {
        let register = self.register(bits);
        self.top(Step::Input { name: name.into(), owner: owner.into(), to: register.span() });
        register
    }

    /// Reveals the next output value.
    ///
    /// # Panics
    /// Inside a loop.
    pub fn reveal(&mut self, name: impl Into<String>, to: Recipients, from: Register) {
        self.top(Step::Reveal { name: name.into(), to, from: from.span() });
    }

    /// A register that holds a constant. It is written here and now, so a loop writes it in every turn.
    pub fn constant(&mut self, value: &Bits) -> Register {
        let mut b = Builder::new();
        b.output("constant", &value.iter().map(Wire::constant).collect::<Vec<_>>());
        let circuit = self.circuit(b.finish());
        let register = self.register(value.len() as u64);
        self.call(circuit, &[], &[register.span()]);
        register
    }

    /// Copies wires. The spans do not overlap unless they are equal.
    pub fn copy(&mut self, from: &Span, to: &Span) {
        let mut b = Builder::new();
        let wires = b.input("from", from.bits as usize);
        b.output("to", &wires);
        let circuit = self.circuit(b.finish());
        self.call(circuit, std::slice::from_ref(from), std::slice::from_ref(to));
    }

    /// A circuit to call. If circuits have equal gates, only one of them is kept.
    pub fn circuit(&mut self, circuit: Circuit) -> CircuitId {
        CircuitId(self.circuits.add(Cow::Owned(circuit)))
    }

    /// The circuit itself.
    pub fn circuit_of(&self, id: CircuitId) -> &Circuit {
        &self.circuits.circuits[id.0]
    }

    /// Calls a circuit once: one span for each of its input values, and one for each of its output values.
    pub fn call(&mut self, circuit: CircuitId, args: &[Span], outs: &[Span]) {
        let still = |spans: &[Span]| spans.iter().map(|span| (span.clone(), 0)).collect::<Vec<_>>();
        self.map(circuit, 1, &still(args), &still(outs));
    }

    /// Calls a circuit `times` times; beside each span stands how far it moves from one call to the next. The calls
    /// must be independent of each other.
    pub fn map(&mut self, circuit: CircuitId, times: u64, args: &[(Span, i64)], outs: &[(Span, i64)]) {
        self.push(Step::Call { circuit: circuit.0, times, args: args.to_vec(), outs: outs.to_vec() });
    }

    /// Repeats what `body` builds, `times` times, one turn after another.
    pub fn repeat(&mut self, times: u64, body: impl FnOnce(&mut ProgramBuilder, Turn)) {
        let turn = Turn(self.open.len() - 1);
        self.open.push(Vec::new());
        body(self, turn);
        let body = self.open.pop().expect("the loop that was opened");
        self.push(Step::Repeat { times, body });
    }

    /// The number of wires that the memory has so far.
    pub fn wires(&self) -> u64 {
        self.wires
    }

    /// The program.
    ///
    /// # Errors
    /// [`ProgramError`], which names the step.
    pub fn finish(mut self) -> Result<Program, ProgramError> {
        let steps = self.open.pop().expect("the program's own steps");
        Ok(Program::new(self.name, self.wires, self.circuits.into_circuits(), steps)?.with_goal(self.goal))
    }

    fn push(&mut self, step: Step) {
        self.open.last_mut().expect("the program's own steps").push(step);
    }

    fn top(&mut self, step: Step) {
        assert_eq!(self.open.len(), 1, "values are put in and revealed outside of loops");
        self.push(step);
    }
}
