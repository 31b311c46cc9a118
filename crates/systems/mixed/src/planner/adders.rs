//! The form of the adders by which words become bits, circuit by circuit.
//!
//! All values of a circuit are converted equally often, so that one form serves them all about equally well. How much
//! less it is to need labels at all, or triples, no value says by itself: whole runs are counted of few assignments.

use std::collections::BTreeMap;

use comity_channel::NetProfile;
use comity_circuit::Program;

use super::program::assignment;
use super::seconds::Prices;
use crate::form::{Assignment, Form};
use crate::graph::FormGraph;
use crate::prices::Conversions;

/// The assignments to choose from that give a graph's nodes these forms: with garbled adders alone; where words become
/// bits, with adders on shares of bits in all circuits; and with those where they cost less by themselves.
pub(crate) fn assignments(
    program: &Program,
    graph: &FormGraph,
    forms: &[Form],
    conversions: &Conversions,
    net: &NetProfile,
) -> Vec<Assignment> {
    let prices = Prices::of(net);
    let garbled = assignment(program, graph, forms);
    let mut seconds: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
    for value in graph.values.iter().filter(|value| forms[value.from] == Form::Arithmetic && value.bits > 1) {
        let is_read = |as_form: &Form| value.to.iter().any(|&reader| forms[reader] == *as_form);
        // What becomes labels is shared as bits, too.
        let Some(to) = [Form::Yao, Form::Boolean].into_iter().find(is_read) else { continue };
        let of = seconds.entry(value.circuit).or_default();
        for (sum, adders) in of.iter_mut().zip([Form::Yao, Form::Boolean]) {
            *sum += prices.seconds(&conversions.of(value, Form::Arithmetic, to, adders));
        }
    }
    let shared = |is_chosen: &dyn Fn(&[f64; 2]) -> bool| {
        let mut assignment = garbled.clone();
        let chosen = seconds.iter().filter(|(_, seconds)| is_chosen(seconds));
        chosen.for_each(|(&circuit, _)| assignment.circuits[circuit].adders = Form::Boolean);
        assignment
    };
    let mut all = vec![garbled.clone()];
    for other in [shared(&|_| true), shared(&|[garbled, shared]| shared < garbled)] {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}
