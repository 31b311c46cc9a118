//! Programs made from one circuit: called once, side by side, or again and again.
//!
//! Input value `i` belongs to party `i` ([`Owner::of_value`]) and all outputs go to all, until
//! [`Program::with_owner`] and [`Program::with_recipients`] say otherwise. The values have the names of the
//! circuit's.

use super::{Program, ProgramError, Span, Step};
use crate::circuit::{Circuit, Group};
use crate::party::{Owner, Recipients};

/// The place of a value of a circuit in the memory: the start, the bits that it takes, the bits of one call.
struct Place {
    start: u64,
    total: u64,
    bits: u64,
}

/// A layout, of values one after another.
struct Layout {
    end: u64,
}

impl Layout {
    fn place(&mut self, group: &Group, times: u64) -> Result<Place, ProgramError> {
        let (start, bits) = (self.end, group.bits as u64);
        let total = bits.checked_mul(times).ok_or(ProgramError::TooManyWires(u64::MAX))?;
        self.end = start.checked_add(total).ok_or(ProgramError::TooManyWires(u64::MAX))?;
        Ok(Place { start, total, bits })
    }
}

fn span(start: u64, bits: u64) -> Span {
    Span { start, bits, strides: Vec::new() }
}

/// A program of all inputs, then the steps, then all outputs.
fn assemble(
    circuit: Circuit,
    layout: &Layout,
    inputs: &[Place],
    middle: Step,
    outputs: &[Place],
) -> Result<Program, ProgramError> {
    let put_in = circuit.inputs().iter().zip(inputs).enumerate().map(|(i, (group, place))| Step::Input {
        name: group.name.clone(),
        owner: Owner::of_value(i),
        to: span(place.start, place.total),
    });
    let reveal = circuit.outputs().iter().zip(outputs).map(|(group, place)| Step::Reveal {
        name: group.name.clone(),
        to: Recipients::All,
        from: span(place.start, place.total),
    });
    let steps = put_in.chain([middle]).chain(reveal).collect();
    Program::new("circuit", layout.end, vec![circuit], steps)
}

impl Program {
    /// A program of one call of a circuit.
    ///
    /// # Errors
    /// [`ProgramError::TooManyWires`] if the values do not fit a memory.
    pub fn from_circuit(circuit: Circuit) -> Result<Program, ProgramError> {
        Program::map(circuit, 1, &[])
    }

    /// A program of `times` independent calls of a circuit. An input value holds the calls' values one after another,
    /// the first call's on its first wires, but for those in `shared`, which are one value that all calls read. Output
    /// values hold the calls' values likewise.
    ///
    /// # Errors
    /// [`ProgramError::ZeroTimes`]; [`ProgramError::NoValue`] and [`ProgramError::NamedTwice`] for `shared`;
    /// [`ProgramError::TooManyWires`] if the values do not fit a memory.
    pub fn map(circuit: Circuit, times: u64, shared: &[usize]) -> Result<Program, ProgramError> {
        let count = circuit.inputs().len();
        let mut each = vec![true; count];
        for &index in shared {
            let each = each.get_mut(index).ok_or(ProgramError::NoValue { what: "input", index, count })?;
            if !std::mem::take(each) {
                return Err(ProgramError::NamedTwice(index));
            }
        }
        let mut layout = Layout { end: 0 };
        let turns = |each: bool| if each { times } else { 1 };
        let inputs: Result<Vec<_>, _> =
            circuit.inputs().iter().zip(&each).map(|(group, &each)| layout.place(group, turns(each))).collect();
        let outputs: Result<Vec<_>, _> = circuit.outputs().iter().map(|group| layout.place(group, times)).collect();
        let (inputs, outputs) = (inputs?, outputs?);
        let moving =
            |place: &Place, each: bool| (span(place.start, place.bits), if each { place.bits as i64 } else { 0 });
        let call = Step::Call {
            circuit: 0,
            times,
            args: inputs.iter().zip(each).map(|(place, each)| moving(place, each)).collect(),
            outs: outputs.iter().map(|place| moving(place, true)).collect(),
        };
        assemble(circuit, &layout, &inputs, call, &outputs)
    }

    /// A program of `times` calls of a circuit, one after another. `feedback` pairs output values with input values:
    /// each turn puts out what the next one takes in, and the value that a party gives is that of the first turn. Other
    /// input values stay what they are; outputs are those of the last turn.
    ///
    /// # Errors
    /// [`ProgramError::ZeroTimes`]; [`ProgramError::NoValue`], [`ProgramError::NamedTwice`],
    /// [`ProgramError::FedBackTwice`] and [`ProgramError::Feedback`] for `feedback`.
    pub fn iterate(circuit: Circuit, times: u64, feedback: &[(usize, usize)]) -> Result<Program, ProgramError> {
        let (ins, outs) = (circuit.inputs(), circuit.outputs());
        let mut fed = vec![false; ins.len()];
        let mut back = vec![None; outs.len()];
        for &(output, input) in feedback {
            let no_value = |what, index, count| ProgramError::NoValue { what, index, count };
            let from = outs.get(output).ok_or(no_value("output", output, outs.len()))?;
            let to = ins.get(input).ok_or(no_value("input", input, ins.len()))?;
            if from.bits != to.bits {
                let (output_bits, input_bits) = (from.bits, to.bits);
                return Err(ProgramError::Feedback { output, output_bits, input, input_bits });
            }
            if std::mem::replace(&mut fed[input], true) {
                return Err(ProgramError::NamedTwice(input));
            }
            if back[output].replace(input).is_some() {
                return Err(ProgramError::FedBackTwice(output));
            }
        }
        let mut layout = Layout { end: 0 };
        let inputs: Vec<Place> = ins.iter().map(|group| layout.place(group, 1)).collect::<Result<_, _>>()?;
        // What is fed back is written over the input value that it becomes.
        let outputs: Vec<Place> = outs
            .iter()
            .zip(back)
            .map(|(group, back)| match back {
                Some(input) => Ok(Place { ..inputs[input] }),
                None => layout.place(group, 1),
            })
            .collect::<Result<_, _>>()?;
        let still = |place: &Place| (span(place.start, place.bits), 0);
        let (args, outs) = (inputs.iter().map(still).collect(), outputs.iter().map(still).collect());
        let call = Step::Call { circuit: 0, times: 1, args, outs };
        assemble(circuit, &layout, &inputs, Step::Repeat { times, body: vec![call] }, &outputs)
    }
}
