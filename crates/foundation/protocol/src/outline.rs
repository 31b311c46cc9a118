//! `Outline`: what a protocol that computes in several forms makes of a program, for people.

use comity_circuit::Form;

/// The operations of a program, in which form each is computed, and what it costs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// By line of the source, and of one line by operation and form.
    pub lines: Vec<Outlined>,
    /// What was asked for and cannot be, in sentences.
    pub remarks: Vec<String>,
    /// Other values of options, whose costs are worth comparing: name and value.
    pub others: Vec<(&'static str, &'static str)>,
}

/// The operations of one kind and form in a line of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlined {
    /// The line; 0 if nobody knows.
    pub line: u32,
    /// The operation's name; `gates` for gates that no noted operation accounts for.
    pub operation: &'static str,
    /// How often a run computes it.
    pub times: u64,
    /// The form in which it is computed.
    pub form: Form,
    /// The values that are converted to that form for it, those first that are converted most.
    pub conversions: Vec<Converted>,
    /// The bytes of both parties, those of its conversions included.
    pub bytes: u64,
    /// Its messages one after another, in round trips, those of its conversions included: where those of one line
    /// run side by side.
    pub rounds: f64,
}

/// Conversions of values of one width from a form to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Converted {
    /// The form that the values had.
    pub from: Form,
    /// The form that they get.
    pub to: Form,
    /// The bits of each.
    pub bits: u32,
    /// Where a circuit adds both parties' shares for it: the form in which it is computed.
    pub adder: Option<Form>,
    /// How many.
    pub times: u64,
}
