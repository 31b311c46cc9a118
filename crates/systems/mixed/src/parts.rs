//! The circuits of the parts of a [`Cut`], with what each reads and what of it is read.
//!
//! Parts are built from the last one on, so that nothing is computed, and nothing converted, that nobody reads.
//! Parts of bits have all their operations' gates, built for few gates on labels, and for little depth on shares
//! of bits. Parts of words have the operations again, noted, and are planned by `arith`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use comity_arith::WordCircuit;
use comity_circuit::{Builder, Circuit, Goal, Op, Wire};
use comity_core::Result;
use comity_library::gadget;
use comity_share::ring::WIDEST_WORD;

use crate::cut::{Bit, Cut, Held, Node, Source, Wires, WordKey};
use crate::form::Form;

/// An input word of a part of words.
#[derive(Clone, Debug)]
pub(crate) enum WordIn {
    /// The low bits of a word that is shared as a sum.
    Word(WordKey, u32),
    /// Bits, of which the first is the lowest.
    Bits(Vec<Source>),
    /// Nothing is read of it.
    Unread,
}

/// A part.
pub(crate) enum Part {
    /// Gates. The circuit has one input value and one output value.
    Bits { form: Form, circuit: Circuit, ins: Vec<Source>, outs: Vec<Source> },
    /// Operations on words, with the widths of those that are read.
    Words { circuit: WordCircuit, ins: Vec<WordIn>, outs: Vec<(WordKey, u32)> },
}

/// The parts of a circuit, by levels, and the bits that are read of each word as bits.
pub(crate) struct Parts {
    pub(crate) levels: Vec<Vec<Part>>,
    pub(crate) opened: BTreeMap<WordKey, u32>,
}

/// What is read of what is computed.
#[derive(Default)]
struct Demand {
    bits: BTreeSet<Source>,
    words: BTreeMap<WordKey, u32>,
    opened: BTreeMap<WordKey, u32>,
}

impl Demand {
    fn word(&mut self, key: WordKey, bits: u32) {
        let most = self.words.entry(key).or_default();
        *most = bits.max(*most);
    }

    /// A bit is read as a bit.
    fn bit(&mut self, cut: &Cut<'_>, source: Source) {
        match cut.word(source) {
            Some((key, bit)) => {
                self.word(key, bit + 1);
                let most = self.opened.entry(key).or_default();
                *most = (bit + 1).max(*most);
            }
            None => {
                self.bits.insert(source);
            }
        }
    }
}

impl Parts {
    /// The parts of a circuit.
    ///
    /// # Errors
    /// Those of [`WordCircuit::new`].
    pub(crate) fn new(cut: &Cut<'_>) -> Result<Parts> {
        let mut demand = Demand::default();
        for (value, held) in cut.shape.outs.iter().enumerate() {
            if matches!(held, Held::Bits(_)) {
                cut.wires.output(value).into_iter().filter_map(Bit::source).for_each(|source| demand.bit(cut, source));
            }
        }
        for (index, word) in cut.out_words.iter().enumerate() {
            demand.word(WordKey::Out(index as u32), word.bits.len() as u32);
        }
        let mut levels: Vec<Vec<Part>> = Vec::new();
        for index in (0..cut.parts.len()).rev() {
            let nodes = &cut.parts[index];
            let part = match nodes.form {
                Form::Arithmetic => words(cut, index, &mut demand)?,
                form => bits(cut, index, form, &mut demand),
            };
            while levels.len() <= nodes.level as usize {
                levels.push(Vec::new());
            }
            levels[nodes.level as usize].extend(part);
        }
        Ok(Parts { levels, opened: demand.opened })
    }
}

/// Wires by what computes their bits.
#[derive(Default)]
struct Known(HashMap<Source, Wire>);

impl Known {
    /// The wire of a bit; any wire for a bit that was not computed, since nothing reads it.
    fn wire(&self, b: &mut Builder, bit: Bit) -> Wire {
        match bit {
            Bit::Constant(bit) => Wire::constant(bit),
            Bit::Of { source, negated } => {
                let wire = self.0.get(&source).copied().unwrap_or(Wire::ZERO);
                if negated { b.not(wire) } else { wire }
            }
        }
    }

    /// Builds an operation on these words.
    fn note(&mut self, b: &mut Builder, wires: &Wires<'_>, index: usize, args: &[Vec<Wire>]) {
        let note = &wires.circuit.notes()[index];
        b.set_line(note.line);
        let results = gadget(b, &note.op, args);
        for (bit, wire) in results.into_iter().flatten().enumerate() {
            self.0.insert(Source::Note { note: index as u32, bit: bit as u32 }, wire);
        }
    }

    /// Builds a gate, or the gates of an operation.
    fn node(&mut self, b: &mut Builder, wires: &Wires<'_>, node: Node) {
        match node {
            Node::Note(note) => {
                let word = |word: Vec<Bit>| word.into_iter().map(|bit| self.wire(b, bit)).collect();
                let args: Vec<Vec<Wire>> = wires.words(note).map(word).collect();
                self.note(b, wires, note, &args);
            }
            Node::Gate(gate) => {
                let [x, y] = wires.of_gate(gate).map(|bit| self.wire(b, bit));
                let wire = match wires.circuit.gates()[gate].op {
                    Op::Xor => b.xor(x, y),
                    Op::And => b.and(x, y),
                };
                self.0.insert(Source::Gate(gate as u32), wire);
            }
            Node::Out(_) => unreachable!("an output word is a word"),
        }
    }
}

/// The bits that a part computes and others read.
fn read(cut: &Cut<'_>, part: usize, demand: &Demand) -> Vec<Source> {
    demand.bits.iter().copied().filter(|source| cut.is_of(*source, part)).collect()
}

/// A part of gates, if anything is read of it.
fn bits(cut: &Cut<'_>, part: usize, form: Form, demand: &mut Demand) -> Option<Part> {
    let outs = read(cut, part, demand);
    if outs.is_empty() {
        return None;
    }
    let nodes = &cut.parts[part].nodes;
    let all = nodes.iter().flat_map(|node| cut.reads(*node)).filter_map(Bit::source);
    let ins: BTreeSet<Source> = all.filter(|source| !cut.is_of(*source, part)).collect();
    let mut ins: Vec<Source> = ins.into_iter().collect();
    let mut circuit = built(cut, nodes, form, &ins, &outs);
    let mut used = vec![false; circuit.first_gate_wire()];
    let wires = circuit.gates().iter().flat_map(|gate| [gate.a, gate.b]).chain(circuit.output_wires().iter().copied());
    for wire in wires.map(|wire| wire as usize).filter(|wire| *wire < circuit.first_gate_wire()) {
        used[wire] = true;
    }
    if used[2..].contains(&false) {
        ins = ins.into_iter().zip(&used[2..]).filter(|(_, used)| **used).map(|(source, _)| source).collect();
        circuit = built(cut, nodes, form, &ins, &outs);
    }
    ins.iter().for_each(|source| demand.bit(cut, *source));
    Some(Part::Bits { form, circuit, ins, outs })
}

fn built(cut: &Cut<'_>, nodes: &[Node], form: Form, ins: &[Source], outs: &[Source]) -> Circuit {
    let mut b = Builder::for_goal(if form == Form::Boolean { Goal::Depth } else { Goal::Size });
    let wires = b.input("in", ins.len());
    let mut known = Known(ins.iter().copied().zip(wires).collect());
    b.quiet(|b| nodes.iter().for_each(|node| known.node(b, &cut.wires, *node)));
    let outs: Vec<Wire> = outs.iter().map(|source| known.0[source]).collect();
    b.output("out", &outs);
    b.finish()
}

/// The circuit with its operations' gates built anew, for little depth.
pub(crate) fn shallow(circuit: &Circuit) -> Circuit {
    let wires = Wires::new(circuit);
    let mut b = Builder::for_goal(Goal::Depth);
    let mut known = Known::default();
    for (value, group) in circuit.inputs().iter().enumerate() {
        let value = value as u32;
        let bits = b.input(&group.name, group.bits);
        known.0.extend((0..).zip(bits).map(|(bit, wire)| (Source::Input { value, bit }, wire)));
    }
    b.quiet(|b| wires.in_order(|node| known.node(b, &wires, node)));
    for (value, group) in circuit.outputs().iter().enumerate() {
        let bits: Vec<Wire> = wires.output(value).into_iter().map(|bit| known.wire(&mut b, bit)).collect();
        b.output(&group.name, &bits);
    }
    b.finish()
}

/// A part of words, if anything is read of it.
fn words(cut: &Cut<'_>, part: usize, demand: &mut Demand) -> Result<Option<Part>> {
    let nodes = &cut.parts[part].nodes;
    let mut outs: Vec<(WordKey, u32)> = Vec::new();
    for node in nodes {
        let keys: Vec<WordKey> = match *node {
            Node::Note(note) => {
                let results = 0..cut.results(note).len() as u32;
                results.map(|result| WordKey::Result { note: note as u32, result }).collect()
            }
            Node::Out(out) => vec![WordKey::Out(out as u32)],
            Node::Gate(_) => unreachable!("a gate is on bits"),
        };
        outs.extend(keys.into_iter().filter_map(|key| Some((key, *demand.words.get(&key)?))));
    }
    if outs.is_empty() {
        return Ok(None);
    }
    let mut taken = Taken::default();
    let read: Vec<Vec<Vec<Read>>> = nodes
        .iter()
        .map(|node| words_of(cut, *node).iter().map(|word| taken.word(cut, part, word)).collect())
        .collect();
    let mut ins = taken.ins;
    let mut b = Builder::new();
    let values: Vec<Vec<Wire>> = ins.iter().map(|word| b.input("in", width(word) as usize)).collect();
    let mut known = Known::default();
    let mut words: HashMap<WordKey, Vec<Wire>> = HashMap::new();
    for (node, read) in nodes.iter().zip(read) {
        let wire = |read: &Read, b: &mut Builder| match *read {
            Read::Here(bit) => known.wire(b, bit),
            Read::Taken { word, bit, negated: false } => values[word][bit as usize],
            Read::Taken { word, bit, negated: true } => b.not(values[word][bit as usize]),
        };
        let args: Vec<Vec<Wire>> =
            read.iter().map(|word| word.iter().map(|read| wire(read, &mut b)).collect()).collect();
        match *node {
            Node::Note(note) => {
                known.note(&mut b, &cut.wires, note, &args);
                let (mut start, note) = (0, note as u32);
                for (result, bits) in (0..).zip(cut.results(note as usize)) {
                    let bits = start..start + bits as u32;
                    start = bits.end;
                    let wires = bits.map(|bit| known.0[&Source::Note { note, bit }]).collect();
                    words.insert(WordKey::Result { note, result }, wires);
                }
            }
            Node::Out(out) => {
                words.extend(args.into_iter().map(|word| (WordKey::Out(out as u32), word)));
            }
            Node::Gate(_) => unreachable!("a gate is on bits"),
        }
    }
    for (key, bits) in &outs {
        b.output("out", &words[key][..*bits as usize]);
    }
    let circuit = WordCircuit::new(&b.finish())?;
    for (word, &bits) in ins.iter_mut().zip(circuit.needs()) {
        match word {
            _ if bits == 0 => *word = WordIn::Unread,
            WordIn::Word(_, width) => *width = bits,
            WordIn::Bits(sources) => sources.truncate(bits as usize),
            WordIn::Unread => {}
        }
        match word {
            WordIn::Word(key, bits) => demand.word(*key, *bits),
            WordIn::Bits(sources) => sources.iter().for_each(|source| demand.bit(cut, *source)),
            WordIn::Unread => {}
        }
    }
    Ok(Some(Part::Words { circuit, ins, outs }))
}

fn width(word: &WordIn) -> u32 {
    match word {
        WordIn::Word(_, bits) => *bits,
        WordIn::Bits(sources) => sources.len() as u32,
        WordIn::Unread => 0,
    }
}

/// The words that a node reads.
fn words_of(cut: &Cut<'_>, node: Node) -> Vec<Vec<Bit>> {
    match node {
        Node::Note(note) => cut.wires.words(note).collect(),
        _ => vec![cut.reads(node)],
    }
}

/// Where a bit that an operation on words reads is.
#[derive(Clone, Copy)]
enum Read {
    /// In the part, or constant.
    Here(Bit),
    /// In an input word of the part.
    Taken { word: usize, bit: u32, negated: bool },
}

/// The words that a part takes from others: whole words where they are shared as sums, and runs of bits where
/// they are not.
#[derive(Default)]
struct Taken {
    ins: Vec<WordIn>,
    words: HashMap<WordKey, usize>,
    runs: HashMap<Vec<Source>, usize>,
}

impl Taken {
    /// Where the bits of an argument are.
    fn word(&mut self, cut: &Cut<'_>, part: usize, word: &[Bit]) -> Vec<Read> {
        let mut all = Vec::with_capacity(word.len());
        let mut run = Vec::new();
        for &bit in word {
            let Bit::Of { source, negated } = bit else {
                self.end(&mut run, &mut all);
                all.push(Read::Here(bit));
                continue;
            };
            if cut.is_of(source, part) {
                self.end(&mut run, &mut all);
                all.push(Read::Here(bit));
            } else if let Some((key, bit)) = cut.word(source) {
                self.end(&mut run, &mut all);
                let next = self.ins.len();
                let word = *self.words.entry(key).or_insert(next);
                if word == next {
                    self.ins.push(WordIn::Word(key, bits_of(cut, key)));
                }
                all.push(Read::Taken { word, bit, negated });
            } else {
                let repeated = run.iter().any(|(of, _)| *of == source);
                if repeated || run.len() == WIDEST_WORD as usize {
                    self.end(&mut run, &mut all);
                }
                run.push((source, negated));
            }
        }
        self.end(&mut run, &mut all);
        all
    }

    /// The end of a run of bits, which is a word.
    fn end(&mut self, run: &mut Vec<(Source, bool)>, all: &mut Vec<Read>) {
        if run.is_empty() {
            return;
        }
        let sources: Vec<Source> = run.iter().map(|(source, _)| *source).collect();
        let next = self.ins.len();
        let word = *self.runs.entry(sources.clone()).or_insert(next);
        if word == next {
            self.ins.push(WordIn::Bits(sources));
        }
        all.extend((0..).zip(run.drain(..)).map(|(bit, (_, negated))| Read::Taken { word, bit, negated }));
    }
}

/// The bits of a word.
fn bits_of(cut: &Cut<'_>, key: WordKey) -> u32 {
    match key {
        WordKey::Input { value, .. } => match cut.shape.ins[value as usize] {
            Held::Words(unit) => unit,
            Held::Bits(_) => unreachable!("it is a word"),
        },
        WordKey::Result { note, result } => cut.results(note as usize)[result as usize] as u32,
        WordKey::Out(_) => unreachable!("no operation reads an output"),
    }
}
