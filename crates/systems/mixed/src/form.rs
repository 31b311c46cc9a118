//! What form each operation and each region of a program's memory has: [`Assignment`].

use std::fmt;

/// A form in which two parties hold a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// Additive shares of words modulo 2^k.
    Arithmetic,
    /// Shares of bits, by XOR.
    Boolean,
    /// Labels of a garbled circuit, which party 0 garbles.
    Yao,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 3] = [Form::Arithmetic, Form::Boolean, Form::Yao];

    /// The form's name: `arithmetic`, `boolean` or `yao`.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Arithmetic => "arithmetic",
            Form::Boolean => "boolean",
            Form::Yao => "yao",
        }
    }

    /// The form of this name.
    pub fn named(name: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.name() == name)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The form of every operation and every region of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Assignment {
    /// By the number of the circuit.
    pub circuits: Vec<CircuitForms>,
    /// By the number of the region.
    pub regions: Vec<Form>,
}

/// The forms of a circuit's operations. Where an operation cannot have the form that is asked for, it has
/// the form of the gates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CircuitForms {
    /// Of each of its [notes](comity_circuit::Note).
    pub notes: Vec<Form>,
    /// Of the gates that no note accounts for; not arithmetic.
    pub gates: Form,
}
