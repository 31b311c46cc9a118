//! What form each operation and each region of a program's memory has: [`Assignment`].

use comity_circuit::{Circuit, Program};

pub use comity_circuit::Form;

use crate::memory::regions;

/// The form of every operation and every region of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Assignment {
    /// The forms in each circuit, by its number.
    pub circuits: Vec<CircuitForms>,
    /// The form of each region, by its number.
    pub regions: Vec<Form>,
}

impl Assignment {
    /// One form for all operations and regions of a program that can have it; the others are labels.
    pub fn uniform(program: &Program, form: Form) -> Assignment {
        let of = |circuit: &Circuit| CircuitForms::uniform(circuit, form);
        Assignment {
            circuits: program.circuits().iter().map(of).collect(),
            regions: vec![form; regions(program).len()],
        }
    }
}

/// The forms of a circuit's operations. Where an operation cannot have the form that is asked for, it has
/// the form of the gates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CircuitForms {
    /// The form of each of its [notes](comity_circuit::Note).
    pub notes: Vec<Form>,
    /// The form of the gates that belong to no note; never arithmetic.
    pub gates: Form,
    /// The form of the adders by which words become bits: shares of bits, or else labels.
    pub adders: Form,
}

impl CircuitForms {
    /// One form for all operations and gates of a circuit. Words become bits by garbled adders.
    pub fn uniform(circuit: &Circuit, form: Form) -> CircuitForms {
        CircuitForms { notes: vec![form; circuit.notes().len()], gates: form, adders: Form::Yao }
    }
}
