//! How long a run takes with given forms, as far as a graph says.

use comity_channel::NetProfile;

use crate::form::Form;
use crate::graph::{FormCost, FormGraph, Passed};

/// What it costs to convert a value from one form to another, as often as a run computes it, where that is for sale at
/// several prices: for the lowest.
pub(super) type Convert<'c> = &'c dyn Fn(Form, Form, &Passed, &Prices) -> FormCost;

/// What is counted, and for how much: seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    pub(super) byte: f64,
    pub(super) round: f64,
    pub(super) ns: f64,
}

impl Prices {
    /// The prices on a network with the same bandwidth both ways.
    pub(super) fn of(net: &NetProfile) -> Prices {
        Prices { byte: 4.0 / net.bits_per_second as f64, round: net.round_trip.as_secs_f64(), ns: 1e-9 }
    }

    /// The seconds of a cost, one after another.
    pub(super) fn seconds(&self, cost: &FormCost) -> f64 {
        cost.bytes * self.byte + cost.rounds * self.round + cost.ns * self.ns
    }
}

impl FormGraph {
    /// The seconds that a run takes: its rounds, as many as wait for each other, and the longer of the times
    /// for its bytes and for its work. `None` if a node cannot have its form.
    pub(super) fn seconds(&self, forms: &[Form], convert: Convert<'_>, prices: &Prices) -> Option<f64> {
        let (mut bytes, mut ns) = (0.0, 0.0);
        // When a node is done, and when its values are there in each form.
        let mut done = vec![0f64; self.nodes.len()];
        let mut ready = vec![0f64; self.nodes.len()];
        let mut of: Vec<&Passed> = self.values.iter().collect();
        of.sort_by_key(|value| value.from);
        let mut values = of.into_iter().peekable();
        for (node, costs) in self.nodes.iter().enumerate() {
            let cost = costs.costs[forms[node] as usize]?;
            (bytes, ns) = (bytes + cost.bytes, ns + cost.ns);
            done[node] = ready[node] + cost.rounds;
            while let Some(value) = values.next_if(|value| value.from <= node) {
                for to in Form::ALL {
                    if !value.to.iter().any(|&reader| forms[reader] == to) {
                        continue;
                    }
                    let cost = convert(forms[value.from], to, value, prices);
                    (bytes, ns) = (bytes + cost.bytes, ns + cost.ns);
                    let there = done[value.from] + cost.rounds;
                    for &reader in value.to.iter().filter(|&&reader| forms[reader] == to) {
                        ready[reader] = ready[reader].max(there);
                    }
                }
            }
        }
        let rounds = done.into_iter().fold(0.0, f64::max);
        Some(rounds * prices.round + (bytes * prices.byte).max(ns * prices.ns))
    }
}
