//! Running a program over an engine.

use comity_core::{Bits, Error, PartyId};

use crate::engine::{Call, Engine, Observer, Place, Put, Shown};
use crate::lower::Lowered;
use crate::party::{Owner, Recipients};
use crate::program::{Program, Span, Step};

/// The reason why a program could not be run, or was not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// The inputs do not fit the program. Nothing was run.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The engine failed.
    #[error("{0}")]
    Engine(E),
}

/// The way in which inputs do not fit a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// More or fewer places for values than the program has input values.
    #[error("{given} input values are given where the program has {takes}")]
    Count {
        /// The number of places given.
        given: usize,
        /// The number of input values that the program has.
        takes: usize,
    },
    /// A value of the wrong length.
    #[error("input value {index} (`{name}`) of {owner} has {takes} bits; the value given has {given}")]
    Length {
        /// The index of the input value.
        index: usize,
        /// The name of the value.
        name: String,
        /// The owner of the value, who gives it.
        owner: Owner,
        /// The bits of the value given.
        given: usize,
        /// The bits that the program takes.
        takes: usize,
    },
    /// A value that this party has to give and does not.
    #[error("input value {index} (`{name}`, {takes} bits) is missing; {owner} gives it")]
    Missing {
        /// The index of the input value.
        index: usize,
        /// The name of the value.
        name: String,
        /// The owner of the value, who gives it.
        owner: Owner,
        /// The bits that the program takes.
        takes: usize,
    },
    /// A value that another party has to give.
    #[error("input value {index} (`{name}`) is given by {owner}, not by this one")]
    NotOurs {
        /// The index of the input value.
        index: usize,
        /// The name of the value.
        name: String,
        /// The owner of the value, who gives it.
        owner: Owner,
    },
    /// A value that comes in shared.
    #[error("input value {index} (`{name}`) comes in as shares, which are not taken here: give it to one party")]
    SharedInput {
        /// The index of the input value.
        index: usize,
        /// The name of the value.
        name: String,
    },
    /// A value that goes out shared.
    #[error("output value {index} (`{name}`) goes out as shares, which are not given here: reveal it to somebody")]
    SharedOutput {
        /// The index of the output value.
        index: usize,
        /// The name of the value.
        name: String,
    },
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Error {
        Error::invalid_input(error.to_string())
    }
}

impl From<RunError<Error>> for Error {
    fn from(error: RunError<Error>) -> Error {
        match error {
            RunError::Engine(error) => error,
            RunError::Input(error) => error.into(),
        }
    }
}

impl Program {
    /// Checks that these are exactly the input values that the party has to give, or without a party, all of
    /// them. Values without bits may be left out.
    ///
    /// # Errors
    /// [`InputError`] for the first value that does not fit.
    pub fn check_inputs(&self, party: Option<PartyId>, inputs: &[Option<Bits>]) -> Result<(), InputError> {
        self.check_lengths(inputs.iter().map(Option::as_ref))?;
        for (index, (input, value)) in self.inputs().iter().zip(inputs).enumerate() {
            let (name, owner, takes) = match (party.is_none_or(|party| input.owner.includes(party)), value) {
                (true, None) if input.bits > 0 => (input.name.clone(), input.owner, input.bits),
                (false, Some(_)) => {
                    return Err(InputError::NotOurs { index, name: input.name.clone(), owner: input.owner });
                }
                _ => continue,
            };
            return Err(InputError::Missing { index, name, owner, takes });
        }
        Ok(())
    }

    /// Checks that each value is put in by one party and revealed. A protocol without shares asks this before
    /// anything is sent; [`run`] asks it again for an engine that [has no shares](Engine::SHARES).
    ///
    /// # Errors
    /// [`InputError::SharedInput`], [`InputError::SharedOutput`].
    pub fn check_plain(&self) -> Result<(), InputError> {
        if let Some((index, input)) = self.inputs().iter().enumerate().find(|(_, input)| input.owner == Owner::Shared) {
            return Err(InputError::SharedInput { index, name: input.name.clone() });
        }
        match self.outputs().iter().enumerate().find(|(_, output)| output.to == Recipients::Shared) {
            Some((index, output)) => Err(InputError::SharedOutput { index, name: output.name.clone() }),
            None => Ok(()),
        }
    }

    pub(crate) fn check_lengths<'a>(
        &self,
        inputs: impl ExactSizeIterator<Item = Option<&'a Bits>>,
    ) -> Result<(), InputError> {
        let (given, takes) = (inputs.len(), self.inputs().len());
        if given != takes {
            return Err(InputError::Count { given, takes });
        }
        for (index, (input, value)) in self.inputs().iter().zip(inputs).enumerate() {
            let (given, takes) = (value.map_or(input.bits, Bits::len), input.bits);
            if given != takes {
                return Err(InputError::Length { index, name: input.name.clone(), owner: input.owner, given, takes });
            }
        }
        Ok(())
    }
}

/// Runs a program: walks its steps over the engine. `inputs[i]` is input value `i` where the engine runs for its
/// owner, and outputs go to the observer as the engine reveals them. A value without bits is not put in.
///
/// Memory: the engine's, for the program's wires and circuits; it does not grow with the length of the
/// program.
///
/// # Errors
/// [`RunError`]. Only the engine knows which party it runs for, so it is the engine that refuses a value that
/// is missing or another party's; [`Program::check_inputs`] checks that beforehand.
pub fn run<E: Engine>(
    program: &Program,
    engine: &mut E,
    inputs: &[Option<Bits>],
    observer: &mut dyn Observer,
) -> Result<(), RunError<E::Error>> {
    if !E::SHARES {
        program.check_plain()?;
    }
    program.check_lengths(inputs.iter().map(Option::as_ref))?;
    engine.begin(program).map_err(RunError::Engine)?;
    let circuits = program.lowered();
    let mut walk =
        Walk { engine, observer, circuits, inputs, turns: Vec::new(), phase: "", next: (0, 0), and_gates: 0 };
    walk.steps(program.steps()).map_err(RunError::Engine)
}

struct Walk<'a, E: Engine> {
    engine: &'a mut E,
    observer: &'a mut dyn Observer,
    circuits: &'a [Lowered],
    inputs: &'a [Option<Bits>],
    /// The turns of the loops around the step, outermost first.
    turns: Vec<u64>,
    phase: &'static str,
    /// The indices of the next input and output value.
    next: (usize, usize),
    and_gates: u64,
}

impl<E: Engine> Walk<'_, E> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), E::Error> {
        steps.iter().try_for_each(|step| match step {
            Step::Input { owner, to, .. } => {
                self.begin("inputs");
                let index = self.next.0;
                self.next.0 += 1;
                match to.bits as usize {
                    0 => Ok(()),
                    bits => {
                        let put = Put { index, owner: *owner, start: self.position(to), bits };
                        self.engine.input(put, self.inputs[index].as_ref())
                    }
                }
            }
            Step::Call { circuit, times, args, outs } => {
                self.begin("gates");
                self.call(*circuit, *times, args, outs)
            }
            Step::Repeat { times, body } => {
                let depth = self.turns.len();
                self.turns.push(0);
                for turn in 0..*times {
                    self.turns[depth] = turn;
                    self.steps(body)?;
                }
                self.turns.pop();
                Ok(())
            }
            Step::Reveal { to, from, .. } => {
                self.begin("outputs");
                let index = self.next.1;
                self.next.1 += 1;
                let shown = Shown { index, to: *to, start: self.position(from), bits: from.bits as usize };
                if let Some(value) = self.engine.reveal(shown)? {
                    self.observer.output(index, value);
                }
                Ok(())
            }
        })
    }

    fn call(&mut self, index: usize, times: u64, args: &[(Span, i64)], outs: &[(Span, i64)]) -> Result<(), E::Error> {
        let circuit = &self.circuits[index];
        let mut done = 0;
        while done < times {
            let moved = |(span, stride): &(Span, i64)| {
                let start = self.position(span) as i64 + done as i64 * stride;
                Place { start: start as usize, stride: *stride as isize }
            };
            let args: Vec<_> = args.iter().map(moved).collect();
            let outs: Vec<_> = outs.iter().map(moved).collect();
            let all = Call { index, circuit, times: times - done, args: &args, outs: &outs };
            let now = Call { times: self.engine.at_once(&all).clamp(1, all.times), ..all };
            self.engine.call(&now)?;
            done += now.times;
            self.and_gates += now.times * now.ands();
            self.observer.and_gates(self.and_gates);
        }
        Ok(())
    }

    /// The wire where a span starts in this turn. [`Program::new`] checked that it is inside the memory in every turn.
    fn position(&self, span: &Span) -> usize {
        let moved = |(&stride, &turn): (&i64, &u64)| stride.wrapping_mul(turn as i64);
        let offset = span.strides.iter().zip(&self.turns).map(moved).fold(0, i64::wrapping_add);
        span.start.wrapping_add_signed(offset) as usize
    }

    fn begin(&mut self, phase: &'static str) {
        if self.phase != phase {
            self.phase = phase;
            self.observer.phase(phase);
        }
    }
}

#[cfg(test)]
mod tests;
