//! Typed values: programs written in Rust as one writes arithmetic.
//!
//! A [`Design`] hands out inputs; `+`, `-`, `<<` and the rest build gates; [`Design::finish`] makes a [`Program`] that
//! knows who gives and who learns each value, and its type.
//!
//! ```
//! use comity_circuit::Recipients;
//! use comity_library::typed::{Design, U};
//!
//! // The price in the middle, if the buyer's highest is at least the seller's lowest; else 0.
//! let d = Design::new("bargain");
//! let lowest = d.input("lowest", 0, U(32));
//! let highest = d.input("highest", 1, U(32));
//! let middle = (lowest.widen(33) + highest.widen(33)) >> 1;
//! let price = highest.ge(lowest).select(middle.truncate(32), 0);
//! d.output("price", Recipients::All, price);
//! assert_eq!(d.finish()?.and_gates(), 96); // an addition, a comparison, a selection
//! # Ok::<(), comity_circuit::ProgramError>(())
//! ```
//!
//! - Types are [`Uint`] and [`Int`] of any width, [`Bool`], arrays ([`Vec`] and `[T; N]`), tuples, and what else
//!   implements [`Value`]. An input's type is written [`U`]`(32)`, [`I`]`(17)`, [`B`], [`Array`]`(U(32), 100)`,
//!   `(U(32), B)`.
//! - Values are small handles and `Copy`: `x * x + x` needs no `&` and no `clone`.
//! - **Widths are numbers, not type parameters.** They often come from data (an index into n things, the sum of n
//!   numbers), and stable Rust has no type for "one bit more than N". What a type checker would find is found when the
//!   program is built, before anybody puts in a secret: a mistake panics, and names the line at fault.
//! - Integer arithmetic wraps, as the circuits do; [`widen`](Number::widen) first where the carry matters. A Rust
//!   integer beside a value is a constant of its type (`x + 1`), and constants fold away.
//! - Comparisons are methods that return a [`Bool`] (`x.lt(y)`), since Rust's own return a `bool`. There is no secret
//!   `if`: [`Bool::select`] chooses between two values that are both computed.
//! - It costs what the functions in [`arith`](crate::arith) cost, which do the work; the module adds no gate
//!   of its own.
//!
//! A design is one circuit. What repeats a thousand times is a [`ProgramBuilder`] that calls the
//! [circuit](Design::circuit) of a design in a loop.
//!
//! # Panics
//! Operations panic on values of two designs, on operands of different widths, and on constants that do not fit.

mod array;
mod boolean;
mod number;
mod ops;
mod shape;

use std::cell::{RefCell, RefMut};

use comity_circuit::{
    Builder, Circuit, Form, Goal, Owner, Program, ProgramBuilder, ProgramError, Recipients, Type, Wire,
};

pub use array::{dot, get, mat_mul, set, sort_by_key, sum};
pub use boolean::Bool;
pub use number::{Int, Number, Sign, Signed, Uint, Unsigned};
pub use ops::{Amount, Operand};
pub use shape::{Array, B, I, Shape, U, Value};

/// A program in the making: hands out inputs, takes outputs, and owns the gates between them.
pub struct Design {
    name: String,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    builder: Builder,
    /// The wires of all numbers; a number is a run of them.
    wires: Vec<Wire>,
    owners: Vec<(Owner, Type)>,
    recipients: Vec<(Recipients, Type)>,
}

/// The wires of a number, in [`State::wires`].
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    bits: usize,
}

impl Design {
    /// An empty program.
    pub fn new(name: impl Into<String>) -> Design {
        Design::for_goal(name, Goal::default())
    }

    /// An empty program whose operations take the form for a goal.
    pub fn for_goal(name: impl Into<String>, goal: Goal) -> Design {
        let state = State { builder: Builder::for_goal(goal), ..State::default() };
        Design { name: name.into(), state: RefCell::new(state) }
    }

    /// The value of the next input, given by its owner. All inputs come before the first operation.
    ///
    /// # Panics
    /// After an operation that built a gate.
    #[track_caller]
    pub fn input<S: Shape>(&self, name: &str, owner: impl Into<Owner>, shape: S) -> S::Value<'_> {
        let ty = shape.ty();
        let wires = {
            let state = &mut *self.state();
            assert!(state.builder.gates() == 0, "input `{name}` comes after an operation: ask for all inputs first");
            let wires = state.builder.input(name, ty.bits());
            state.owners.push((owner.into(), ty));
            wires
        };
        shape.over(self, &mut wires.into_iter())
    }

    /// Reveals the next output.
    #[track_caller]
    pub fn output<'d>(&'d self, name: &str, to: Recipients, value: impl Value<'d>) {
        let wires = self.wires_of(&value);
        let state = &mut *self.state();
        state.builder.output(name, &wires);
        state.recipients.push((to, value.ty()));
    }

    /// The unsigned constant of `bits` bits.
    ///
    /// # Panics
    /// If it does not fit.
    #[track_caller]
    pub fn uint(&self, value: u128, bits: usize) -> Uint<'_> {
        self.number(&number::literal::<Unsigned>(false, value, bits))
    }

    /// The signed constant of `bits` bits.
    ///
    /// # Panics
    /// If it does not fit.
    #[track_caller]
    pub fn int(&self, value: i128, bits: usize) -> Int<'_> {
        self.number(&number::literal::<Signed>(value < 0, value.unsigned_abs(), bits))
    }

    /// The constant true or false.
    pub fn bool(&self, value: bool) -> Bool<'_> {
        Bool::new(self, Wire::constant(value))
    }

    /// Calls a circuit, such as [`comity_library::circuit`](crate::circuit) gives: a value for each of its input
    /// values, of as many bits, and a number for each of its output values.
    ///
    /// ```
    /// use comity_circuit::Recipients;
    /// use comity_library::typed::{Design, U};
    ///
    /// let d = Design::new("decrypt-or-not");
    /// let (key, block) = (d.input("key", 0, U(128)), d.input("block", 1, U(128)));
    /// let aes = comity_library::circuit("aes128")?;
    /// d.output("encrypted", Recipients::All, d.call(&aes, &[&key, &block])[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the arguments are not as many or as wide as the circuit's input values.
    #[track_caller]
    pub fn call<'d>(&'d self, circuit: &Circuit, args: &[&dyn Value<'d>]) -> Vec<Uint<'d>> {
        let (given, takes) = (args.len(), circuit.inputs().len());
        assert!(given == takes, "the circuit has {takes} input values; {given} are given");
        let args: Vec<Vec<Wire>> = args.iter().map(|arg| self.wires_of(*arg)).collect();
        for (arg, group) in args.iter().zip(circuit.inputs()) {
            let (given, takes) = (arg.len(), group.bits);
            assert!(given == takes, "the circuit's `{}` has {takes} bits; {given} are given", group.name);
        }
        let outputs = self.state().builder.call(circuit, &args);
        outputs.iter().map(|wires| self.number(wires)).collect()
    }

    /// Builds gates by hand, with any function over a [`Builder`]; no operation of the design is done meanwhile.
    ///
    /// ```
    /// use comity_library::arith;
    /// use comity_library::typed::{Design, U, Uint, Value};
    ///
    /// let d = Design::new("next");
    /// let x = d.input("x", 0, U(8)).to_wires();
    /// let next: Uint = d.number(&d.build(|b| arith::increment(b, &x)));
    /// assert_eq!(next.bits(), 8);
    /// ```
    pub fn build<R>(&self, gates: impl FnOnce(&mut Builder) -> R) -> R {
        gates(&mut self.state().builder)
    }

    /// Pins the operations that `part` does to a form. A protocol that computes in several forms computes them
    /// in this one, and others ignore it. Where one such part is in another the inner one's form holds.
    ///
    /// ```
    /// use comity_circuit::{Form, Recipients};
    /// use comity_library::typed::{Design, U};
    ///
    /// let d = Design::new("nearer");
    /// let (x, y) = (d.input("x", 0, U(32)), d.input("y", 1, U(32)));
    /// let (xx, yy) = d.in_form(Form::Arithmetic, || (x * x, y * y));
    /// d.output("nearer", Recipients::All, d.in_form(Form::Yao, || xx.lt(yy)));
    /// let pins: Vec<_> = d.finish()?.circuits()[0].notes().iter().map(|note| note.pin).collect();
    /// assert_eq!(pins, [Some(Form::Arithmetic), Some(Form::Arithmetic), Some(Form::Yao)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_form<R>(&self, form: Form, part: impl FnOnce() -> R) -> R {
        let outer = self.state().builder.pin(Some(form));
        let result = part();
        self.state().builder.pin(outer);
        result
    }

    /// The number on these wires, least significant first.
    ///
    /// # Panics
    /// If there are no wires.
    #[track_caller]
    pub fn number<S: Sign>(&self, wires: &[Wire]) -> Number<'_, S> {
        assert!(!wires.is_empty(), "a number has at least one bit");
        let mut state = self.state();
        let place = Place { first: state.wires.len(), bits: wires.len() };
        state.wires.extend(wires);
        Number::new(self, place)
    }

    /// The number of gates built so far, including those that no output needs.
    pub fn gates(&self) -> usize {
        self.state().builder.gates()
    }

    /// The program: each input and output with its party and its type.
    ///
    /// # Errors
    /// [`ProgramError`] if the parties' numbers or the memory are too large.
    pub fn finish(self) -> Result<Program, ProgramError> {
        let State { builder, owners, recipients, .. } = self.state.into_inner();
        let mut p = ProgramBuilder::for_goal(self.name, builder.goal());
        let circuit = builder.finish();
        let values = circuit.inputs().iter().zip(&owners);
        let inputs: Vec<_> =
            values.map(|(group, (owner, _))| p.input(&*group.name, *owner, group.bits as u64)).collect();
        let outputs: Vec<_> = circuit.outputs().iter().map(|group| p.register(group.bits as u64)).collect();
        let names: Vec<String> = circuit.outputs().iter().map(|group| group.name.clone()).collect();
        let circuit = p.circuit(circuit);
        let spans = |registers: &[comity_circuit::Register]| registers.iter().map(|r| r.span()).collect::<Vec<_>>();
        p.call(circuit, &spans(&inputs), &spans(&outputs));
        for ((name, register), (to, _)) in names.into_iter().zip(outputs).zip(&recipients) {
            p.reveal(name, *to, register);
        }
        let mut program = p.finish()?;
        for (i, (_, ty)) in owners.into_iter().enumerate() {
            program = program.with_input_type(i, ty)?;
        }
        for (i, (_, ty)) in recipients.into_iter().enumerate() {
            program = program.with_output_type(i, ty)?;
        }
        Ok(program)
    }

    /// The circuit alone, to be called by a [`ProgramBuilder`]: an input value for each input and an output
    /// value for each output. Owners and recipients are not part of it.
    pub fn circuit(self) -> Circuit {
        self.state.into_inner().builder.finish()
    }

    #[track_caller]
    fn state(&self) -> RefMut<'_, State> {
        self.state.try_borrow_mut().expect("values of a design are not used inside its `build`")
    }

    /// The wires of a value that must be this design's.
    #[track_caller]
    fn wires_of<'d>(&'d self, value: &(impl Value<'d> + ?Sized)) -> Vec<Wire> {
        if let Some(design) = value.design() {
            self.same(design);
        }
        value.to_wires()
    }

    #[track_caller]
    fn same(&self, other: &Design) {
        assert!(std::ptr::eq(self, other), "values of `{}` and of `{}` do not mix", self.name, other.name);
    }

    /// A number from two others. The two may have different widths.
    #[track_caller]
    fn binary<S: Sign>(
        &self,
        x: Place,
        y: Place,
        gates: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
    ) -> Number<'_, S> {
        let mut state = self.state();
        let State { builder, wires, .. } = &mut *state;
        let result = gates(builder, &wires[x.range()], &wires[y.range()]);
        let place = Place { first: wires.len(), bits: result.len() };
        wires.extend(result);
        Number::new(self, place)
    }

    /// A bit from two numbers.
    #[track_caller]
    fn relation(&self, x: Place, y: Place, gate: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Wire) -> Bool<'_> {
        let mut state = self.state();
        let State { builder, wires, .. } = &mut *state;
        let wire = gate(builder, &wires[x.range()], &wires[y.range()]);
        Bool::new(self, wire)
    }
}

impl Place {
    fn range(self) -> std::ops::Range<usize> {
        self.first..self.first + self.bits
    }
}
