//! A program as a graph whose nodes get forms: what a planner solves.

use crate::form::Form;

/// What a node of a [`FormGraph`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeOf {
    /// A noted operation: the numbers of the circuit and of the note.
    Note(usize, usize),
    /// The gates of a circuit that no note accounts for.
    Gates(usize),
    /// A region of the memory.
    Region(usize),
}

/// The costs of a run of an operation, of both parties together, offline and online.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FormCost {
    /// Bytes, both ways.
    pub bytes: f64,
    /// Messages that wait for each other, in round trips.
    pub rounds: f64,
    /// Nanoseconds of work.
    pub ns: f64,
}

/// An operation, or a region.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub of: NodeOf,
    /// The line of the source text, or 0.
    pub line: u32,
    /// How often a run computes it.
    pub times: f64,
    /// The cost of all of these in each form, in the order of [`Form::ALL`]; only rounds that follow one
    /// another count. `None` where the form is not possible, or the source asks for another one.
    pub costs: [Option<FormCost>; 3],
}

/// A value that one node computes and others read.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The node that computes it.
    pub from: usize,
    /// The nodes that read it: a conversion to a form is paid once, for all of them.
    pub to: Vec<usize>,
    /// The circuit in whose calls they read it.
    pub circuit: usize,
    /// The bits of the value.
    pub bits: u32,
    /// How often a run computes it.
    pub times: f64,
    /// How many of these computations follow one another: what the rounds of a conversion are counted by.
    pub turns: f64,
}

/// A program's operations and regions, in its order, and the values between them.
#[derive(Clone, Debug, Default)]
pub struct FormGraph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The values.
    pub values: Vec<Passed>,
}

impl FormGraph {
    /// The forms that a node can have.
    pub fn forms(&self, node: usize) -> impl Iterator<Item = Form> + '_ {
        let costs = &self.nodes[node].costs;
        Form::ALL.into_iter().filter(|form| costs[*form as usize].is_some())
    }
}
