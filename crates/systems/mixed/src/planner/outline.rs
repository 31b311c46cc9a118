//! A plan for people: by line of the source.

use std::collections::BTreeMap;

use comity_circuit::Program;
use comity_protocol::{Converted, Outline, Outlined};

use crate::form::{Assignment, Form};
use crate::graph::{FormGraph, Node, NodeOf};
use crate::prices::Conversions;

/// The operations of one kind and form in a line, so far.
#[derive(Default)]
struct Kind {
    times: f64,
    bytes: f64,
    rounds: f64,
    /// The rounds of the conversions before it.
    waits: f64,
    /// The conversions before it, counted by forms, width, and the adder's form.
    conversions: BTreeMap<(Form, Form, u32, Option<Form>), f64>,
}

/// What the forms of a graph's nodes mean for its program. A conversion is listed with the first operation that
/// reads its result.
pub(crate) fn outline(
    program: &Program,
    graph: &FormGraph,
    (forms, assignment): (&[Form], &Assignment),
    conversions: &Conversions,
) -> Outline {
    let mut kinds: BTreeMap<(u32, &'static str, Form), Kind> = BTreeMap::new();
    let mut remarks = Vec::new();
    let key = |node: usize| name(program, &graph.nodes[node]).map(|name| (graph.nodes[node].line, name, forms[node]));
    for (node, form) in forms.iter().enumerate() {
        let Some(key) = key(node) else { continue };
        let cost = graph.nodes[node].costs[*form as usize].unwrap_or_default();
        let kind = kinds.entry(key).or_default();
        kind.times += graph.nodes[node].times;
        kind.bytes += cost.bytes;
        kind.rounds = kind.rounds.max(cost.rounds);
        let pin = pin(program, &graph.nodes[node]).filter(|pin| pin != form);
        let remark = pin.map(|pin| {
            let (line, name, _) = key;
            format!(
                "line {line}: `{name}` is pinned to {pin}, in which nobody can compute it: it is converted to {form}"
            )
        });
        if let Some(remark) = remark.filter(|remark| !remarks.contains(remark)) {
            remarks.push(remark);
        }
    }
    for value in &graph.values {
        let from = forms[value.from];
        for to in Form::ALL.into_iter().filter(|to| *to != from) {
            let Some(reader) = value.to.iter().find(|&&reader| forms[reader] == to) else { continue };
            let adders = assignment.circuits[value.circuit].adders;
            let cost = conversions.of(value, from, to, adders);
            // Results go to the memory: what is converted there belongs to who computed it.
            let Some(key) = key(*reader).or_else(|| key(value.from)) else { continue };
            let kind = kinds.entry(key).or_default();
            kind.bytes += cost.bytes;
            kind.waits = kind.waits.max(cost.rounds);
            let adder = (from == Form::Arithmetic && value.bits > 1).then_some(adders);
            *kind.conversions.entry((from, to, value.bits, adder)).or_default() += value.times;
        }
    }
    let lines = kinds.into_iter().map(|((line, operation, form), kind)| {
        let converted = |((from, to, bits, adder), times)| Converted { from, to, bits, adder, times: times as u64 };
        let Kind { times, bytes, rounds, waits, conversions } = kind;
        let mut conversions: Vec<Converted> = conversions.into_iter().map(converted).collect();
        conversions.sort_by_key(|converted| std::cmp::Reverse(converted.times));
        Outlined {
            line,
            operation,
            times: times as u64,
            form,
            conversions,
            bytes: bytes as u64,
            rounds: rounds + waits,
        }
    });
    let others = Form::ALL.map(|form| ("sharing", form.name())).to_vec();
    Outline { lines: lines.collect(), remarks, others }
}

/// The name of a node's operation; none of a region's.
fn name(program: &Program, node: &Node) -> Option<&'static str> {
    match node.of {
        NodeOf::Note(circuit, note) => Some(program.circuits()[circuit].notes()[note].op.name()),
        NodeOf::Gates(_) => Some("gates"),
        NodeOf::Region(_) => None,
    }
}

fn pin(program: &Program, node: &Node) -> Option<Form> {
    match node.of {
        NodeOf::Note(circuit, note) => program.circuits()[circuit].notes()[note].pin,
        _ => None,
    }
}
