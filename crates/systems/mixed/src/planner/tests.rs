//! The planner against all assignments.

use comity_channel::NetProfile;
use comity_circuit::random::Rng;

use super::*;
use crate::graph::{FormCost, NodeOf, Passed};

/// Prices of conversions somewhat as they are; none from labels to bits.
fn convert(from: Form, to: Form, value: &Passed, _: &Prices) -> FormCost {
    let bits = value.bits;
    let (bytes, rounds, ns) = match (from, to) {
        (Form::Arithmetic, _) => (35.0, 1.0, 28.0),
        (_, Form::Arithmetic) => (6.0, 1.0, 12.0),
        (Form::Boolean, Form::Yao) => (20.0, 1.0, 10.0),
        _ => return FormCost::default(),
    };
    if from == to {
        FormCost::default()
    } else {
        FormCost { bytes: bytes * f64::from(bits), rounds, ns: ns * f64::from(bits) }.over(value.times, value.turns)
    }
}

/// A graph of up to `most` nodes, each of which can have at least one of these forms.
fn random(rng: &mut Rng, most: usize, of: &[Form]) -> FormGraph {
    let count = 1 + rng.below(most);
    let nodes = (0..count).map(|_| {
        let mut costs = [None; 3];
        let sure = rng.below(of.len());
        for (i, form) in of.iter().enumerate() {
            if i == sure || rng.below(4) > 0 {
                let [bytes, ns] = [3000, 2000].map(|most| rng.below(most) as f64);
                costs[*form as usize] = Some(FormCost { bytes, rounds: rng.below(4) as f64, ns });
            }
        }
        Node { of: NodeOf::Region(0), line: 0, times: 1.0, costs }
    });
    let nodes: Vec<Node> = nodes.collect();
    let values = (0..count).map(|from| {
        let mut to: Vec<usize> = (0..rng.below(4)).map(|_| rng.below(count)).collect();
        to.sort_unstable();
        to.dedup();
        Passed { from, to, circuit: 0, bits: 1 + rng.below(64) as u32, times: 1.0 + rng.below(3) as f64, turns: 1.0 }
    });
    let values = values.collect();
    FormGraph { nodes, values }
}

/// All assignments of what the nodes can have.
fn every(graph: &FormGraph, each: &mut dyn FnMut(&[Form])) {
    let can = |node: &Node| Form::ALL.into_iter().filter(|form| node.costs[*form as usize].is_some()).collect();
    let forms: Vec<Vec<Form>> = graph.nodes.iter().map(can).collect();
    let all: usize = forms.iter().map(Vec::len).product();
    for mut number in 0..all {
        let chosen = forms.iter().map(|forms| {
            let form = forms[number % forms.len()];
            number /= forms.len();
            form
        });
        each(&chosen.collect::<Vec<_>>());
    }
}

fn prices(rng: &mut Rng) -> Prices {
    Prices::of(&[NetProfile::LAN, NetProfile::WAN][rng.below(2)])
}

#[test]
fn of_two_forms_the_cut_is_the_best() {
    let mut rng = Rng(1);
    let mut mixed = 0;
    for _ in 0..600 {
        let mut two = Form::ALL.to_vec();
        two.remove(rng.below(3));
        let graph = random(&mut rng, 10, &two);
        let problem = Problem::new(&graph, &convert, &prices(&mut rng));
        let found = least(&problem, &graph);
        let mut best = u64::MAX;
        every(&graph, &mut |forms| best = best.min(problem.cost(forms)));
        assert_eq!(problem.cost(&found), best, "{graph:?}");
        mixed += usize::from(two.iter().all(|form| found.contains(form)));
    }
    assert!(mixed > 100, "{mixed} have both forms");
}

#[test]
fn of_three_forms_the_moves_are_within_two_per_cent_of_the_best() {
    let mut rng = Rng(2);
    let (mut mixed, mut best_found) = (0, 0);
    for _ in 0..400 {
        let graph = random(&mut rng, 8, &Form::ALL);
        let problem = Problem::new(&graph, &convert, &prices(&mut rng));
        let found = least(&problem, &graph);
        let mut best = u64::MAX;
        every(&graph, &mut |forms| best = best.min(problem.cost(forms)));
        let cost = problem.cost(&found);
        assert!(cost >= best && cost as f64 <= 1.02 * best as f64, "{cost} and {best}: {graph:?}");
        best_found += usize::from(cost == best);
        mixed += usize::from(Form::ALL.iter().all(|form| found.contains(form)));
    }
    assert!(mixed > 40 && best_found > 390, "{mixed} have all forms, {best_found} are the best");
}

#[test]
fn a_plan_is_never_worse_than_one_form_and_the_same_each_time() {
    let mut rng = Rng(3);
    for _ in 0..40 {
        let graph = random(&mut rng, 40, &Form::ALL);
        let net = [NetProfile::LAN, NetProfile::WAN][rng.below(2)];
        let prices = Prices::of(&net);
        let mut run = |forms: &[Form]| graph.seconds(forms, &convert, &prices).unwrap();
        let found = assign(&graph, &[&convert], &net, &mut run);
        assert_eq!(found, assign(&graph, &[&convert], &net, &mut run));
        for form in Form::ALL {
            assert!(run(&found) <= run(&pure(&graph, form)));
        }
    }
}

#[test]
fn few_nodes_are_tried_out_with_their_true_rounds() {
    let mut rng = Rng(4);
    for _ in 0..60 {
        let graph = random(&mut rng, 7, &Form::ALL);
        let prices = Prices::of(&NetProfile::WAN);
        let seconds = |forms: &[Form]| graph.seconds(forms, &convert, &prices).unwrap();
        let found = assign(&graph, &[&convert], &NetProfile::WAN, &mut { seconds });
        let mut best = f64::MAX;
        every(&graph, &mut |forms| best = best.min(seconds(forms)));
        assert_eq!(seconds(&found), best);
    }
}

/// Two products side by side wait together, and for two one after another one waits twice.
#[test]
fn rounds_are_those_of_the_longest_path() {
    let costs = |rounds| [Some(FormCost { rounds, ..FormCost::default() }), None, Some(FormCost::default())];
    let node = |rounds| Node { of: NodeOf::Region(0), line: 0, times: 1.0, costs: costs(rounds) };
    let value = |from, to: &[usize]| Passed { from, to: to.to_vec(), circuit: 0, bits: 8, times: 1.0, turns: 1.0 };
    let graph = FormGraph {
        nodes: vec![node(0.0), node(1.0), node(1.0), node(1.0)],
        values: vec![value(0, &[1, 2]), value(1, &[3])],
    };
    let prices = Prices { byte: 0.0, round: 1.0, ns: 0.0 };
    let rounds = |forms: [Form; 4]| graph.seconds(&forms, &convert, &prices);
    let (a, y) = (Form::Arithmetic, Form::Yao);
    assert_eq!(rounds([a, a, a, a]), Some(2.0));
    assert_eq!(rounds([a, a, a, y]), Some(2.0));
    assert_eq!(rounds([y, a, a, y]), Some(3.0));
    assert_eq!(rounds([y; 4]), Some(0.0));
    assert_eq!(rounds([Form::Boolean, a, a, a]), None);
}

/// A long chain of turns: products, sums and comparisons.
#[test]
fn like_operations_of_a_large_graph_go_together() {
    let cost = |bytes, ns| Some(FormCost { bytes, rounds: 0.0, ns });
    let kinds = [
        [cost(1000.0, 1800.0), cost(17_000.0, 60_000.0), cost(68_000.0, 38_000.0)],
        [cost(0.0, 6.0), cost(1600.0, 6000.0), cost(1008.0, 600.0)],
        [None, cost(1500.0, 5600.0), cost(1024.0, 600.0)],
    ];
    let mut graph = FormGraph::default();
    for turn in 0..2000 {
        for (kind, costs) in kinds.iter().enumerate() {
            let at = graph.nodes.len();
            let of = NodeOf::Note(0, at);
            graph.nodes.push(Node { of, line: kind as u32, times: 1.0, costs: *costs });
            // What was compared decides nothing.
            let to = if turn == 1999 || kind == 2 { Vec::new() } else { vec![at + 1, at + 3] };
            graph.values.push(Passed { from: at, to, circuit: 0, bits: 64, times: 1.0, turns: 1.0 });
        }
    }
    graph.values.iter_mut().for_each(|value| value.to.retain(|node| *node < graph.nodes.len()));
    let (small, place) = coarse::coarse(&graph);
    assert_eq!((small.nodes.len(), small.values.len()), (3, 5));
    assert_eq!(small.nodes[0].costs[0], cost(2e6, 3.6e6));
    assert_eq!(place[..6], [0, 1, 2, 0, 1, 2]);
    let prices = Prices::of(&NetProfile::LAN);
    let mut run = |forms: &[Form]| graph.seconds(forms, &convert, &prices).unwrap();
    let found = assign(&graph, &[&convert], &NetProfile::LAN, &mut run);
    assert_eq!(found[..3], [Form::Arithmetic, Form::Arithmetic, Form::Yao]);
    assert!(found.chunks(3).all(|turn| turn == &found[..3]));
    for form in Form::ALL {
        assert!(run(&found) <= run(&pure(&graph, form)));
    }
}
