//! Semi-honest computation between two parties on three forms of shares: words, bits, and labels of garbled
//! circuits (Demmler, Schneider, Zohner: ABY, NDSS 2015).

mod form;
mod graph;

pub use form::{Assignment, CircuitForms, Form};
pub use graph::{Cost, Graph, Node, NodeOf, Value};
