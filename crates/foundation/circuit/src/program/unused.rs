//! Input values that no output depends on, as far as the places of values show it.

use super::{Program, Span, Step};
use crate::circuit::{Circuit, Op};

/// The wires from the first to the last that a span can be at, in all turns and calls.
fn reach(span: &Span, loops: &[u64], call: Option<(i64, u64)>) -> (i128, i128) {
    let (mut low, mut high) = (i128::from(span.start), i128::from(span.start) + i128::from(span.bits));
    let moves = span.strides.iter().copied().zip(loops.iter().copied()).chain(call);
    for (stride, times) in moves {
        let end = i128::from(stride) * i128::from(times.saturating_sub(1));
        (low, high) = (low + end.min(0), high + end.max(0));
    }
    (low, high)
}

/// For each input value of a circuit, whether an output depends on it.
fn live(circuit: &Circuit) -> Vec<bool> {
    let first = circuit.first_gate_wire();
    let mut needed = vec![false; first + circuit.gates().len()];
    circuit.output_wires().iter().for_each(|&wire| needed[wire as usize] = true);
    for (i, gate) in circuit.gates().iter().enumerate().rev() {
        if needed[first + i] && (gate.op == Op::And || gate.a != gate.b) {
            (needed[gate.a as usize], needed[gate.b as usize]) = (true, true);
        }
    }
    let mut at = 2;
    let mut next = |bits: usize| {
        at += bits;
        needed[at - bits..at].contains(&true)
    };
    circuit.inputs().iter().map(|group| next(group.bits)).collect()
}

impl Program {
    /// The input values that nothing reads, most often a slip in the program: the outputs are the same
    /// whatever such a value is. A value of which only a part is read counts as read, and so does one whose
    /// wires lie among others that are read.
    pub fn unused_inputs(&self) -> Vec<usize> {
        let live: Vec<Vec<bool>> = self.circuits().iter().map(live).collect();
        let mut read = Vec::new();
        walk(self.steps(), &mut Vec::new(), &live, &mut read);
        let mut places = Vec::new();
        for step in self.steps() {
            if let Step::Input { to, .. } = step {
                places.push(reach(to, &[], None));
            }
        }
        let unread = |(low, high): (i128, i128)| low < high && !read.iter().any(|&(from, to)| low < to && from < high);
        places.into_iter().enumerate().filter(|&(_, place)| unread(place)).map(|(index, _)| index).collect()
    }
}

/// Collects the wires that are read by a circuit that needs them, or revealed.
fn walk(steps: &[Step], loops: &mut Vec<u64>, live: &[Vec<bool>], read: &mut Vec<(i128, i128)>) {
    for step in steps {
        match step {
            Step::Call { circuit, times, args, .. } => {
                let needed = args.iter().zip(&live[*circuit]).filter(|(_, live)| **live);
                read.extend(needed.map(|((span, stride), _)| reach(span, loops, Some((*stride, *times)))));
            }
            Step::Repeat { times, body } => {
                loops.push(*times);
                walk(body, loops, live, read);
                loops.pop();
            }
            Step::Reveal { from, .. } => read.push(reach(from, loops, None)),
            Step::Input { .. } => {}
        }
    }
}
