//! The graph with prices in whole numbers, whose sums are the same on all machines and in any order.

use super::min_cut::NEVER;
use super::seconds::{Convert, Prices};
use crate::form::Form;
use crate::graph::FormGraph;

/// A value, and what its conversion costs from each form to each.
pub(super) struct Value {
    pub(super) from: u32,
    pub(super) to: Vec<u32>,
    pub(super) costs: [[u64; 3]; 3],
}

/// What each node costs in each form, and each value.
pub(super) struct Problem {
    pub(super) nodes: Vec<[u64; 3]>,
    pub(super) values: Vec<Value>,
}

/// The most that all costs add up to, once they are whole numbers.
const ALL: f64 = (1u64 << 50) as f64;

impl Problem {
    /// The graph with everything counted one after another.
    pub(super) fn new(graph: &FormGraph, convert: Convert<'_>, prices: &Prices) -> Problem {
        let nodes: Vec<[Option<f64>; 3]> =
            graph.nodes.iter().map(|node| node.costs.map(|cost| cost.map(|cost| prices.seconds(&cost)))).collect();
        let values: Vec<[[f64; 3]; 3]> = graph
            .values
            .iter()
            .map(|value| Form::ALL.map(|from| Form::ALL.map(|to| prices.seconds(&convert(from, to, value, prices)))))
            .collect();
        let most = |costs: &[f64]| costs.iter().copied().fold(0.0, f64::max);
        // A value is converted to two forms at most.
        let all: f64 = nodes.iter().map(|costs| most(&costs.map(|cost| cost.unwrap_or(0.0)))).sum::<f64>()
            + values.iter().map(|costs| 2.0 * most(&costs.map(|row| most(&row)))).sum::<f64>();
        let whole = |cost: f64| (cost * (ALL / all.max(f64::MIN_POSITIVE)).min(1e15)).round() as u64;
        Problem {
            nodes: nodes.iter().map(|costs| costs.map(|cost| cost.map_or(NEVER, whole))).collect(),
            values: graph
                .values
                .iter()
                .zip(&values)
                .map(|(value, costs)| Value {
                    from: value.from as u32,
                    to: value.to.iter().map(|&node| node as u32).collect(),
                    costs: costs.map(|row| row.map(whole)),
                })
                .collect(),
        }
    }

    /// What an assignment costs; [`NEVER`] or more if a node cannot have its form.
    pub(super) fn cost(&self, forms: &[Form]) -> u64 {
        let nodes =
            self.nodes.iter().zip(forms).fold(0u64, |sum, (costs, form)| sum.saturating_add(costs[*form as usize]));
        self.values.iter().fold(nodes, |sum, value| {
            let price = value.costs[forms[value.from as usize] as usize];
            let read = |to: &Form| value.to.iter().any(|&node| forms[node as usize] == *to);
            Form::ALL.iter().filter(|to| read(to)).fold(sum, |sum, to| sum.saturating_add(price[*to as usize]))
        })
    }
}
