//! `SequentialCircuit`: what a netlist holds, with its flip-flops.

use comity_circuit::{Circuit, Owner, Program, ProgramError, Recipients, Span, Step};

/// A circuit, or one with flip-flops that is to run for some clock cycles.
///
/// With flip-flops the circuit is one cycle: its last input value is the state before it, and its last output value the
/// state after it, such that the initial state is all zeros. The clock is no input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequentialCircuit {
    circuit: Circuit,
    state: usize,
    warnings: Vec<String>,
}

impl SequentialCircuit {
    pub(crate) fn new(circuit: Circuit, state: usize) -> SequentialCircuit {
        SequentialCircuit { circuit, state, warnings: Vec::new() }
    }

    /// The same circuit, with the oddities of its file.
    pub(crate) fn with_warnings(self, warnings: Vec<String>) -> SequentialCircuit {
        SequentialCircuit { warnings, ..self }
    }

    /// Oddities of the file that do not stop reading it: sentences, each of which names its line.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The number of flip-flops.
    pub fn flip_flops(&self) -> usize {
        self.state
    }

    /// The circuit: all of it without flip-flops, else one cycle.
    pub fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// The circuit, if there are no flip-flops.
    pub fn into_circuit(self) -> Option<Circuit> {
        if self.state == 0 { Some(self.circuit) } else { None }
    }

    /// The program that runs `count` clock cycles from the initial state, with the same inputs in each, and reveals the
    /// outputs of the last one to all parties. Input value `i` belongs to party `i` ([`Owner::of_value`]).
    ///
    /// # Errors
    /// [`ProgramError`] for no cycles at all, too many values, or more gates than can be counted.
    pub fn cycles(&self, count: u64) -> Result<Program, ProgramError> {
        let span = |start: u64, bits: usize| Span { start, bits: bits as u64, strides: Vec::new() };
        let state = usize::from(self.state > 0);
        let (inputs, outputs) = (self.circuit.inputs(), self.circuit.outputs());
        let mut end = 0u64;
        let mut place = |bits: usize| {
            end += bits as u64;
            span(end - bits as u64, bits)
        };
        let args: Vec<(Span, i64)> = inputs.iter().map(|group| (place(group.bits), 0)).collect();
        let mut outs: Vec<(Span, i64)> =
            outputs[..outputs.len() - state].iter().map(|group| (place(group.bits), 0)).collect();
        let mut steps = Vec::new();
        for (i, (group, (to, _))) in inputs[..inputs.len() - state].iter().zip(&args).enumerate() {
            steps.push(Step::Input { name: group.name.clone(), owner: Owner::of_value(i), to: to.clone() });
        }
        let reveals: Vec<Step> = outputs
            .iter()
            .zip(&outs)
            .map(|(group, (from, _))| Step::Reveal {
                name: group.name.clone(),
                to: Recipients::All,
                from: from.clone(),
            })
            .collect();
        if state == 1 {
            outs.push(args[args.len() - 1].clone());
        }
        let call = Step::Call { circuit: 0, times: 1, args, outs };
        steps.push(Step::Repeat { times: count, body: vec![call] });
        steps.extend(reveals);
        Program::new("cycles", end, vec![self.circuit.clone()], steps)
    }
}
