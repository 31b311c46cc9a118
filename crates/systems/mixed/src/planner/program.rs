//! The graph of a program: its operations and regions, what they cost in each form, and who reads what.
//!
//! Costs of bits are those of the operation's gates as they would be built: few on labels, of little depth on
//! shared bits. A circuit that is called several times has one node for each operation, with the costs of all
//! calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use comity_circuit::{ArgBit, Builder, Circuit, Goal, Note, Op, Program, Span, Step, Wire, WordOp};
use comity_core::PartyId;
use comity_library::gadget;
use comity_share::triples::OtKind;

use crate::cut::{Bit, Cut, Held, Node as CutNode, Shape, Source, Wires};
use crate::form::{Assignment, CircuitForms, Form};
use crate::graph::{FormCost, FormGraph, Node, NodeOf, Passed};
use crate::memory::{Region, regions};
use crate::operation::allowed;
use crate::prices;

/// The calls of one step.
struct Site {
    /// All of them, and how many one after another.
    times: f64,
    turns: f64,
    /// The regions of the values.
    ins: Vec<Option<usize>>,
    outs: Vec<Option<usize>>,
}

/// A region or a circuit, where it first appears.
#[derive(Clone, Copy)]
enum First {
    Region(usize),
    Circuit(usize),
}

/// What is there before nodes are made.
struct Walk {
    regions: Vec<Region>,
    seen: Vec<bool>,
    order: Vec<First>,
    sites: Vec<Vec<Site>>,
    /// The bits that each party puts into each region, the garbler first.
    inputs: Vec<[u64; 2]>,
}

impl Walk {
    fn region(&mut self, span: &Span) -> Option<usize> {
        let start = span.start as usize;
        let after = self.regions.partition_point(|region| region.start <= start);
        let at = after.checked_sub(1).filter(|_| span.bits > 0)?;
        if !std::mem::replace(&mut self.seen[at], true) {
            self.order.push(First::Region(at));
        }
        Some(at)
    }

    fn steps(&mut self, steps: &[Step], turns: f64) {
        for step in steps {
            match step {
                Step::Input { owner, to, .. } => {
                    if let Some(at) = self.region(to) {
                        self.inputs[at][usize::from(owner.party() != Some(PartyId(0)))] += to.bits;
                    }
                }
                Step::Call { circuit, times, args, outs } => {
                    let ins = args.iter().map(|(span, _)| self.region(span)).collect();
                    if self.sites[*circuit].is_empty() {
                        self.order.push(First::Circuit(*circuit));
                    }
                    let outs = outs.iter().map(|(span, _)| self.region(span)).collect();
                    self.sites[*circuit].push(Site { times: turns * *times as f64, turns, ins, outs });
                }
                Step::Repeat { times, body } => self.steps(body, turns * *times as f64),
                Step::Reveal { .. } => {}
            }
        }
    }
}

/// What gives a value to readers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    /// A word of an input value, by its number.
    Input(usize, usize),
    /// A result of a note.
    Note(usize, usize),
    /// What gates give to this node.
    Gates(usize),
}

/// An operation, its arguments' bits by their names, and what its gates are for.
type Asked = (WordOp, Vec<Vec<u32>>, Goal);

struct Making<'p> {
    program: &'p Program,
    kind: OtKind,
    walk: Walk,
    graph: FormGraph,
    region_nodes: Vec<Option<usize>>,
    gadgets: HashMap<Asked, (u64, u64)>,
}

/// The graph of a program.
pub(crate) fn graph(program: &Program, kind: OtKind) -> FormGraph {
    let regions = regions(program);
    let (count, circuits) = (regions.len(), program.circuits().len());
    let sites = (0..circuits).map(|_| Vec::new()).collect();
    let mut walk = Walk { regions, seen: vec![false; count], order: Vec::new(), sites, inputs: vec![[0; 2]; count] };
    walk.steps(program.steps(), 1.0);
    let (graph, gadgets) = Default::default();
    let mut making = Making { program, kind, walk, graph, region_nodes: vec![None; count], gadgets };
    for first in std::mem::take(&mut making.walk.order) {
        match first {
            First::Region(at) => making.region(at),
            First::Circuit(at) => making.circuit(at),
        }
    }
    making.graph
}

/// The assignment that the forms of a program's graph are.
pub(crate) fn assignment(program: &Program, graph: &FormGraph, forms: &[Form]) -> Assignment {
    let circuits = program.circuits().iter().map(|circuit| CircuitForms::uniform(circuit, Form::Yao)).collect();
    let mut assignment = Assignment { circuits, regions: vec![Form::Yao; regions(program).len()] };
    for (node, form) in graph.nodes.iter().zip(forms) {
        match node.of {
            NodeOf::Note(circuit, note) => assignment.circuits[circuit].notes[note] = *form,
            NodeOf::Gates(circuit) => assignment.circuits[circuit].gates = *form,
            NodeOf::Region(region) => assignment.regions[region] = *form,
        }
    }
    assignment
}

impl Making<'_> {
    fn region(&mut self, at: usize) {
        let [garbler, evaluator] = self.walk.inputs[at];
        let costs = Form::ALL.map(|form| {
            let put_in =
                prices::input(garbler, true, form, self.kind).and(prices::input(evaluator, false, form, self.kind));
            (form != Form::Arithmetic || self.walk.regions[at].word.is_some()).then_some(put_in)
        });
        self.region_nodes[at] = Some(self.graph.nodes.len());
        self.graph.nodes.push(Node { of: NodeOf::Region(at), line: 0, times: 1.0, costs });
    }

    fn circuit(&mut self, at: usize) {
        let circuit = &self.program.circuits()[at];
        let sites = std::mem::take(&mut self.walk.sites[at]);
        let times: f64 = sites.iter().map(|site| site.times).sum();
        let turns: f64 = sites.iter().map(|site| site.turns).sum();
        let of_bits = |groups: usize| vec![Held::Bits(Form::Boolean); groups];
        let shape = Shape { ins: of_bits(circuit.inputs().len()), outs: of_bits(circuit.outputs().len()) };
        let forms = (vec![Form::Boolean; circuit.notes().len()], Form::Boolean);
        let cut = Cut::new(circuit, forms, &shape);
        let live: Vec<CutNode> = cut.parts.iter().flat_map(|part| part.nodes.iter().copied()).collect();
        let all = |cost: FormCost| cost.over(times, turns);
        let gates: Vec<usize> =
            live.iter().filter_map(|node| if let CutNode::Gate(gate) = node { Some(*gate) } else { None }).collect();
        let gates_node = (!gates.is_empty()).then(|| {
            let (ands, depth) = loose(&cut.wires, &gates);
            let costs = Form::ALL.map(|form| prices::gates(ands, depth, form, self.kind).map(all));
            self.graph.nodes.push(Node { of: NodeOf::Gates(at), line: 0, times, costs });
            self.graph.nodes.len() - 1
        });
        let first = self.graph.nodes.len();
        let lives: BTreeSet<usize> =
            live.iter().filter_map(|node| if let CutNode::Note(note) = node { Some(*note) } else { None }).collect();
        for (index, note) in circuit.notes().iter().enumerate() {
            let pin = note.pin.filter(|pin| allowed(note, *pin));
            let costs = Form::ALL.map(|form| {
                let can = allowed(note, form) && pin.is_none_or(|pin| pin == form);
                let cost = if lives.contains(&index) { self.note(note, form) } else { Some(FormCost::default()) };
                cost.filter(|_| can).map(all)
            });
            self.graph.nodes.push(Node { of: NodeOf::Note(at, index), line: note.line, times, costs });
        }
        self.values(&cut, &live, &sites, (at, first, gates_node));
    }

    /// What one run of an operation costs.
    fn note(&mut self, note: &Note, form: Form) -> Option<FormCost> {
        let constant =
            |word: &Vec<ArgBit>| word.iter().all(|bit| matches!(bit, ArgBit::Wire(Circuit::ZERO | Circuit::ONE)));
        let bits = note.args.iter().map(Vec::len).max().unwrap_or(0) as u32;
        if form == Form::Arithmetic {
            // A product with a public number is a sum.
            let op = match note.op {
                WordOp::Mul | WordOp::MulWide if note.args.iter().any(constant) => &WordOp::Add,
                ref op => op,
            };
            return prices::operation(op, bits, (0, 0), form, self.kind);
        }
        let goal = if form == Form::Boolean { Goal::Depth } else { Goal::Size };
        let gates = self.gadget(note, goal);
        prices::operation(&note.op, bits, gates, form, self.kind)
    }

    /// The AND gates of an operation for a goal, and their depth.
    fn gadget(&mut self, note: &Note, goal: Goal) -> (u64, u64) {
        // Bits by the order in which they come, behind the constants.
        let mut names: HashMap<ArgBit, u32> = HashMap::new();
        let mut name = |bit: &ArgBit| match *bit {
            ArgBit::Wire(wire @ (Circuit::ZERO | Circuit::ONE)) => wire,
            bit => {
                let next = 2 + names.len() as u32;
                *names.entry(bit).or_insert(next)
            }
        };
        let words: Vec<Vec<u32>> = note.args.iter().map(|word| word.iter().map(&mut name).collect()).collect();
        let inputs = names.len();
        *self.gadgets.entry((note.op.clone(), words, goal)).or_insert_with_key(|(op, words, _)| {
            let mut b = Builder::for_goal(goal);
            let bits = b.input("", inputs);
            let wire = |&name: &u32| match name {
                0 | 1 => Wire::constant(name == 1),
                _ => bits[name as usize - 2],
            };
            let args: Vec<Vec<Wire>> = words.iter().map(|word| word.iter().map(wire).collect()).collect();
            let results = b.quiet(|b| gadget(b, op, &args)).concat();
            b.output("", &results);
            let counts = b.finish().counts();
            (counts.and, counts.and_depth)
        })
    }

    /// The values of the calls of circuit `at`. Its notes' nodes begin at `first`.
    fn values(
        &mut self,
        cut: &Cut<'_>,
        live: &[CutNode],
        sites: &[Site],
        (at, first, gates): (usize, usize, Option<usize>),
    ) {
        let circuit = cut.wires.circuit;
        let node = |node: &CutNode| match node {
            CutNode::Note(note) => Some(first + note),
            CutNode::Gate(_) => gates,
            CutNode::Out(_) => None,
        };
        // The words of values of which nobody says what words are in them: as wide as what reads them.
        let mut units: Vec<usize> = vec![0; circuit.inputs().len()];
        for reader in live {
            if let CutNode::Note(note) = reader {
                for word in cut.wires.words(*note) {
                    for value in word.iter().filter_map(|bit| input_of(*bit)) {
                        units[value] = units[value].max(word.len());
                    }
                }
            }
        }
        let word = |value: usize, site: &Site| site.ins[value].and_then(|region| self.walk.regions[region].word);
        for (value, unit) in units.iter_mut().enumerate() {
            let known = sites.first().and_then(|site| word(value, site)).map(|bits| bits as usize);
            *unit = known.unwrap_or(if *unit == 0 { circuit.inputs()[value].bits } else { *unit }).max(1);
        }
        let mut readers: BTreeMap<Given, (BTreeSet<usize>, BTreeSet<Source>)> = BTreeMap::new();
        let mut read = |bit: Bit, reader: usize| {
            let Some(source) = bit.source() else { return };
            let given = match source {
                Source::Input { value, bit } => Given::Input(value as usize, bit as usize / units[value as usize]),
                Source::Note { note, bit } => Given::Note(note as usize, result(cut, note as usize, bit as usize)),
                Source::Gate(_) => Given::Gates(reader),
            };
            let (to, bits) = readers.entry(given).or_default();
            to.insert(reader);
            bits.insert(source);
        };
        for reader in live {
            let Some(to) = node(reader) else { continue };
            cut.reads(*reader).into_iter().for_each(|bit| read(bit, to));
        }
        for value in 0..circuit.outputs().len() {
            let regions: BTreeSet<usize> = sites.iter().filter_map(|site| site.outs[value]).collect();
            let bits = cut.wires.output(value);
            for region in regions.into_iter().filter_map(|region| self.region_nodes_of(region)) {
                bits.iter().for_each(|bit| read(*bit, region));
            }
        }
        let (times, turns) = (sites.iter().map(|site| site.times).sum(), sites.iter().map(|site| site.turns).sum());
        for (given, (to, bits)) in readers {
            let width = |bits: usize| bits as u32;
            let (from, bits) = match given {
                Given::Input(value, _) => {
                    // From each region of which calls have it.
                    let mut from: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
                    for site in sites {
                        if let Some(region) = site.ins[value] {
                            let (times, turns) = from.entry(region).or_default();
                            (*times, *turns) = (*times + site.times, *turns + site.turns);
                        }
                    }
                    for (region, (times, turns)) in from {
                        let from = self.region_nodes_of(region).expect("a region comes before what reads it");
                        let (to, bits) = (to.iter().copied().collect(), width(bits.len()));
                        self.graph.values.push(Passed { from, to, circuit: at, bits, times, turns });
                    }
                    continue;
                }
                Given::Note(note, result) => (first + note, cut.results(note)[result]),
                Given::Gates(_) => (gates.expect("gates have a node"), bits.len()),
            };
            let to: Vec<usize> = to.into_iter().filter(|node| *node != from).collect();
            if !to.is_empty() {
                self.graph.values.push(Passed { from, to, circuit: at, bits: width(bits), times, turns });
            }
        }
    }

    /// The node of a region; one that is written first here gets its node now.
    fn region_nodes_of(&mut self, region: usize) -> Option<usize> {
        if self.region_nodes[region].is_none() {
            self.region(region);
        }
        self.region_nodes[region]
    }
}

fn input_of(bit: Bit) -> Option<usize> {
    match bit.source() {
        Some(Source::Input { value, .. }) => Some(value as usize),
        _ => None,
    }
}

/// Which result of a note a bit is of.
fn result(cut: &Cut<'_>, note: usize, bit: usize) -> usize {
    let mut end = 0;
    let mut before = |bits: &usize| {
        end += bits;
        end <= bit
    };
    cut.results(note).iter().copied().take_while(|bits| before(bits)).count()
}

/// The AND gates among these gates, and how many of them wait for each other; of notes none do.
fn loose(wires: &Wires<'_>, gates: &[usize]) -> (u64, u64) {
    let mut depths: HashMap<u32, u64> = HashMap::with_capacity(gates.len());
    let (mut ands, mut deepest) = (0, 0);
    for &gate in gates {
        let of = |bit: Bit| match bit.source() {
            Some(Source::Gate(gate)) => depths.get(&gate).copied().unwrap_or(0),
            _ => 0,
        };
        let is_and = u64::from(wires.circuit.gates()[gate].op == Op::And);
        let depth = wires.of_gate(gate).into_iter().map(of).max().unwrap_or(0) + is_and;
        (ands, deepest) = (ands + is_and, deepest.max(depth));
        depths.insert(gate as u32, depth);
    }
    (ands, deepest)
}
