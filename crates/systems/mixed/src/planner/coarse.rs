//! A smaller graph for a large one: operations of one line that cost the same get one form.

use std::collections::HashMap;

use crate::form::Form;
use crate::graph::{FormCost, FormGraph, Node, NodeOf, Passed};

/// The smaller graph, and which of its nodes each node is in.
pub(super) fn coarse(graph: &FormGraph) -> (FormGraph, Vec<usize>) {
    let mut known = HashMap::new();
    let mut small = FormGraph::default();
    let mut place = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let bits =
            |cost: &Option<FormCost>| cost.map(|cost| [cost.bytes, cost.ns].map(|part| (part / node.times).to_bits()));
        let alike = match node.of {
            NodeOf::Note(circuit, _) => Some((circuit, node.line, node.costs.each_ref().map(bits))),
            NodeOf::Gates(_) | NodeOf::Region(_) => None,
        };
        let next = small.nodes.len();
        let at = alike.map_or(next, |alike| *known.entry(alike).or_insert(next));
        match small.nodes.get_mut(at) {
            Some(all) => add(all, node),
            None => small.nodes.push(node.clone()),
        }
        place.push(at);
    }
    let mut values: HashMap<(usize, Vec<usize>, u32), usize> = HashMap::new();
    for value in &graph.values {
        let from = place[value.from];
        let mut to: Vec<usize> = value.to.iter().map(|&node| place[node]).collect();
        to.sort_unstable();
        to.dedup();
        let next = small.values.len();
        let at = *values.entry((from, to.clone(), value.bits)).or_insert(next);
        match small.values.get_mut(at) {
            Some(all) => {
                all.times += value.times;
                all.turns = all.turns.max(value.turns);
            }
            None => small.values.push(Passed { from, to, ..value.clone() }),
        }
    }
    (small, place)
}

/// Another node of the same kind.
fn add(all: &mut Node, node: &Node) {
    all.times += node.times;
    for (all, cost) in all.costs.iter_mut().zip(&node.costs) {
        if let (Some(all), Some(cost)) = (all, cost) {
            *all =
                FormCost { bytes: all.bytes + cost.bytes, rounds: all.rounds.max(cost.rounds), ns: all.ns + cost.ns };
        }
    }
}

/// The forms of all nodes, by those of the smaller graph's.
pub(super) fn fine(forms: &[Form], place: &[usize]) -> Vec<Form> {
    place.iter().map(|&at| forms[at]).collect()
}
