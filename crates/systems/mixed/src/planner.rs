//! Which form each operation gets.
//!
//! Operations cost something in each form that they can have, and values that go from one form to another
//! cost a conversion. Bytes and work add up: the best assignment to two forms is a least cut, and a good one
//! to three is found by moves that are least cuts. Rounds do not add up, since what is done side by side
//! waits together: candidates are made for several prices of a round, and a whole run of each is counted.
//! Small programs are tried out. All is a function of the program and of the network that the parties agreed
//! on, the same on every machine.

mod adders;
mod coarse;
mod file;
mod min_cut;
mod moves;
mod outline;
mod problem;
mod program;
mod seconds;

use comity_channel::NetProfile;
use comity_circuit::Program;
use comity_core::Result;

use crate::form::Form;
use crate::graph::{FormGraph, Node, Passed};
use crate::prices::Conversions;
pub(crate) use adders::assignments;
pub(crate) use outline::outline;
use problem::Problem;
pub(crate) use program::graph;
use seconds::{Convert, Prices};

/// Free nodes below which all assignments are tried, and how many steps that may take.
const FEW: usize = 14;
const MOST_STEPS: u64 = 1 << 26;
/// The shares of a round's time for which candidates are made: operations that wait together share it.
const SHARES: [f64; 4] = [0.0, 1.0 / 64.0, 1.0 / 8.0, 1.0];
/// Nodes above which moves begin at one assignment, and above which like operations of a line go together.
const SEVERAL: usize = 200;
const MANY: usize = 2000;

/// The candidates of which a whole run is counted, beside those of one form, for each way to price conversions.
const COUNTED: usize = 5;

/// How somebody wants a program's operations to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted<'t> {
    /// In one form as far as possible.
    Pure(Form),
    /// Whichever is soonest.
    Auto,
    /// As the text of a file says; what it does not name, whichever is soonest.
    File(&'t str),
}

/// The form of each node of a program's graph. `run` says how long a run takes with these forms.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) names the line of a file that does not fit the program.
pub(crate) fn forms(
    program: &Program,
    graph: &FormGraph,
    wanted: Wanted<'_>,
    conversions: &Conversions,
    net: &NetProfile,
    run: &mut dyn FnMut(&[Form]) -> f64,
) -> Result<Vec<Form>> {
    let garbled: Convert<'_> = &|from, to, value, _| conversions.of(value, from, to, Form::Yao);
    let cheaper: Convert<'_> = &|from, to, value, prices| {
        let [garbled, shared] = [Form::Yao, Form::Boolean].map(|adders| conversions.of(value, from, to, adders));
        if prices.seconds(&shared) < prices.seconds(&garbled) { shared } else { garbled }
    };
    let auto = |graph: &FormGraph, run: &mut dyn FnMut(&[Form]) -> f64| {
        let can_be = |value: &Passed| graph.nodes[value.from].costs[Form::Arithmetic as usize].is_some();
        let is_open = graph.values.iter().any(|value| can_be(value) && conversions.is_open(value.bits));
        let converts = [garbled, cheaper];
        assign(graph, &converts[..if is_open { 2 } else { 1 }], net, run)
    };
    match wanted {
        Wanted::Pure(form) => Ok(pure(graph, form)),
        Wanted::Auto => Ok(auto(graph, run)),
        Wanted::File(text) => {
            let mut pinned = graph.clone();
            file::pin(text, program, &mut pinned)?;
            Ok(auto(&pinned, run))
        }
    }
}

/// The form of each node of a graph with which a run takes least on this network, as far as was found: never
/// more than in one form as far as possible. Candidates are made with each of these prices of conversions. `run` says
/// how long a run takes with these forms.
///
/// # Panics
/// If a node can have no form.
fn assign(
    graph: &FormGraph,
    converts: &[Convert<'_>],
    net: &NetProfile,
    run: &mut dyn FnMut(&[Form]) -> f64,
) -> Vec<Form> {
    if graph.nodes.len() > MANY {
        let (small, place) = coarse::coarse(graph);
        if small.nodes.len() < graph.nodes.len() {
            let forms = assign(&small, converts, net, &mut |forms| run(&coarse::fine(forms, &place)));
            return coarse::fine(&forms, &place);
        }
    }
    let prices = Prices::of(net);
    let mut all: Vec<Vec<Form>> = Form::ALL.iter().map(|form| pure(graph, *form)).collect();
    for convert in converts {
        let found = candidates(graph, convert, &prices, &all);
        all.extend(found);
    }
    let timed = all.into_iter().map(|forms| (run(&forms), forms));
    timed.min_by(|(one, _), (other, _)| one.total_cmp(other)).expect("there are candidates").1
}

/// The most promising assignments beside those that are known.
fn candidates(graph: &FormGraph, convert: Convert<'_>, prices: &Prices, known: &[Vec<Form>]) -> Vec<Vec<Form>> {
    let mut candidates: Vec<Vec<Form>> = Vec::new();
    let mut add = |forms: Vec<Form>| {
        if !known.contains(&forms) && !candidates.contains(&forms) {
            candidates.push(forms)
        }
    };
    if let Some(forms) = few(graph, convert, prices) {
        add(forms);
    }
    // Bytes and work overlap, so that one of them alone may be what counts.
    for (byte, ns) in [(prices.byte, prices.ns), (prices.byte, 0.0), (0.0, prices.ns)] {
        for share in SHARES {
            let prices = Prices { byte, ns, round: share * prices.round };
            add(least(&Problem::new(graph, convert, &prices), graph));
        }
    }
    let sooner = |forms: &Vec<Form>| graph.seconds(forms, convert, prices).unwrap_or(f64::INFINITY);
    candidates.sort_by(|one, other| sooner(one).total_cmp(&sooner(other)));
    candidates.truncate(COUNTED);
    candidates
}

/// Each form, and the two others.
const TURNS: [[Form; 3]; 3] = [
    [Form::Arithmetic, Form::Boolean, Form::Yao],
    [Form::Boolean, Form::Arithmetic, Form::Yao],
    [Form::Yao, Form::Arithmetic, Form::Boolean],
];

/// Every node in this form if it can have it; else as Yao's labels, as bits, or as words.
pub(crate) fn pure(graph: &FormGraph, form: Form) -> Vec<Form> {
    let can = |node: &Node| {
        let forms = [form, Form::Yao, Form::Boolean, Form::Arithmetic];
        forms.into_iter().find(|form| node.costs[*form as usize].is_some()).expect("a node can have some form")
    };
    graph.nodes.iter().map(can).collect()
}

/// A good assignment where all is counted one after another; the best one if the nodes have two forms to
/// choose from.
fn least(problem: &Problem, graph: &FormGraph) -> Vec<Form> {
    let cheapest = |costs: &[u64; 3]| Form::ALL.into_iter().min_by_key(|form| costs[*form as usize]).expect("three");
    let more = if graph.nodes.len() > SEVERAL { &[][..] } else { &Form::ALL };
    let starts = [problem.nodes.iter().map(cheapest).collect()].into_iter();
    let starts = starts.chain(more.iter().map(|form| pure(graph, *form)));
    let descended = starts.map(|forms| descend(problem, forms));
    descended.min_by_key(|forms| problem.cost(forms)).expect("there are starts")
}

/// Moves until none helps.
fn descend(problem: &Problem, mut forms: Vec<Form>) -> Vec<Form> {
    let mut cost = problem.cost(&forms);
    loop {
        let before = cost;
        for [form, one, other] in TURNS {
            for two in [true, false] {
                let moved = match two {
                    true => moves::swap(problem, &forms, [one, other]),
                    false => moves::expand(problem, &forms, form),
                };
                let less = problem.cost(&moved);
                if less < cost {
                    (forms, cost) = (moved, less);
                }
            }
        }
        if cost == before {
            return forms;
        }
    }
}

/// The best of all assignments by the graph, if they are few.
fn few(graph: &FormGraph, convert: Convert<'_>, prices: &Prices) -> Option<Vec<Form>> {
    let can = |node: usize| Form::ALL.into_iter().filter(move |form| graph.nodes[node].costs[*form as usize].is_some());
    let free: Vec<(usize, Vec<Form>)> = (0..graph.nodes.len())
        .map(|node| (node, can(node).collect::<Vec<_>>()))
        .filter(|(_, forms)| forms.len() > 1)
        .collect();
    let steps = (graph.nodes.len() + 3 * graph.values.len()) as u64;
    let all = free.iter().try_fold(1u64, |all, (_, forms)| all.checked_mul(forms.len() as u64))?;
    if free.len() >= FEW || all.saturating_mul(steps) > MOST_STEPS {
        return None;
    }
    let mut forms = pure(graph, Form::Yao);
    let mut best: Option<(f64, Vec<Form>)> = None;
    for mut number in 0..all {
        for (node, can) in &free {
            forms[*node] = can[(number % can.len() as u64) as usize];
            number /= can.len() as u64;
        }
        let seconds = graph.seconds(&forms, convert, prices).expect("each has a form that it can have");
        if best.as_ref().is_none_or(|(least, _)| seconds < *least) {
            best = Some((seconds, forms.clone()));
        }
    }
    best.map(|(_, forms)| forms)
}

#[cfg(test)]
mod tests;
