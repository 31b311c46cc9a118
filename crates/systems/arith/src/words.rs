//! What a circuit's notes compute of its input words, as steps on shares: [`WordPlan`].
//!
//! A word of bits is read as `c + 2^s w`, where `w` is a word that is there (of an input, or a note's result)
//! or the low bits of one: shares of `w` give shares of it, modulo 2^bits. So are constants, truncations and
//! shifts to the left. What takes bits of a word from its middle on is no such thing, nor is what has a
//! word's bits and zeros above them.

use std::collections::HashMap;

use comity_circuit::{ArgBit, Circuit, Note, WordOp};
use comity_share::ring::{WIDEST_WORD, WordProduct, word_mask};

/// Why a program cannot be run on words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The line of the source text, or 0.
    pub(crate) line: u32,
    /// What is there.
    pub(crate) what: String,
}

impl Refusal {
    fn new(line: u32, what: impl Into<String>) -> Refusal {
        Refusal { line, what: what.into() }
    }
}

/// A word of a value: the value's number, the first bit and the number of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) value: usize,
    pub(crate) offset: usize,
    pub(crate) bits: usize,
}

/// `constant + 2^shift * word`, modulo 2^bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) bits: u32,
    pub(crate) constant: u128,
    /// The slot of a word, and the shift.
    pub(crate) of: Option<(usize, u32)>,
}

/// What is done without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    Add(Term, Term),
    Sub(Term, Term),
    Scale(Term, u128),
}

/// A product of shared words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors {
    pub(crate) what: WordProduct,
    pub(crate) x: Term,
    pub(crate) y: Term,
    pub(crate) out: usize,
}

/// Products that wait for those of the layers before, all in one message; and what follows from them.
#[derive(Default)]
pub(crate) struct Layer {
    pub(crate) products: Vec<Factors>,
    pub(crate) locals: Vec<(Local, usize)>,
}

/// A circuit on shares of words.
pub(crate) struct WordPlan {
    /// The words of the input values; word `i` goes to slot `i`.
    pub(crate) ins: Vec<Port>,
    /// The words of the output values, and what they are.
    pub(crate) outs: Vec<(Port, Term)>,
    /// The number of slots.
    pub(crate) slots: usize,
    pub(crate) layers: Vec<Layer>,
}

/// Input bits that are read as a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) port: Port,
    /// The bits of the word, of which the upper ones may not be read.
    pub(crate) whole: usize,
    /// The line of who reads it.
    pub(crate) line: u32,
}

/// What a circuit reads and writes, as far as it shows without knowing where words begin: hints for
/// [`Layout`](crate::layout::Layout).
#[derive(Default)]
pub(crate) struct Sketch {
    /// Input bits that are read as a word.
    pub(crate) loads: Vec<Load>,
    /// Output bits that are a result.
    pub(crate) stores: Vec<Port>,
    /// Output bits that are input bits: the input's, and the output's place.
    pub(crate) copies: Vec<(Port, Port)>,
}

/// Whether the operation is one on shares of words.
fn runs(op: &WordOp) -> bool {
    matches!(op, WordOp::Add | WordOp::Sub | WordOp::Neg | WordOp::Mul | WordOp::Square)
}

/// The bit of a note's result.
fn result(note: usize, bit: usize, out: Option<u32>) -> ArgBit {
    out.map_or(ArgBit::Result { note: note as u32, bit: bit as u32 }, ArgBit::Wire)
}

fn is_constant(bit: &ArgBit) -> bool {
    matches!(bit, ArgBit::Wire(Circuit::ZERO | Circuit::ONE))
}

/// The words of a circuit, to be found by their bits.
struct Words<'c> {
    circuit: &'c Circuit,
    /// Where each input value begins, and the first gate.
    starts: Vec<usize>,
    inputs: usize,
    bits: Vec<Vec<ArgBit>>,
    /// The words that a bit is of, and which of theirs it is.
    at: HashMap<ArgBit, Vec<(usize, usize)>>,
}

impl<'c> Words<'c> {
    fn new(circuit: &'c Circuit, ins: &[Port]) -> Words<'c> {
        let mut starts = vec![2];
        for group in circuit.inputs() {
            starts.push(starts.last().expect("there is one") + group.bits);
        }
        let wires = |port: &Port| {
            let start = starts[port.value] + port.offset;
            (start..start + port.bits).map(|wire| ArgBit::Wire(wire as u32)).collect::<Vec<_>>()
        };
        let mut bits: Vec<Vec<ArgBit>> = ins.iter().map(wires).collect();
        for (index, note) in circuit.notes().iter().enumerate() {
            let outs = if runs(&note.op) { &note.outs[..] } else { &[] };
            bits.push(outs.iter().enumerate().map(|(bit, &out)| result(index, bit, out)).collect());
        }
        let mut at: HashMap<ArgBit, Vec<(usize, usize)>> = HashMap::new();
        for (word, bits) in bits.iter().enumerate() {
            for (place, bit) in bits.iter().enumerate().filter(|(_, bit)| !is_constant(bit)) {
                at.entry(*bit).or_default().push((word, place));
            }
        }
        Words { circuit, starts, inputs: ins.len(), bits, at }
    }

    fn first_gate(&self) -> usize {
        *self.starts.last().expect("there is one")
    }

    /// The input value of a wire, and the bit.
    fn input(&self, bit: &ArgBit) -> Option<(usize, usize)> {
        let ArgBit::Wire(wire) = *bit else { return None };
        let wire = wire as usize;
        if wire < 2 || wire >= self.first_gate() {
            return None;
        }
        let value = self.starts.partition_point(|&start| start <= wire) - 1;
        Some((value, wire - self.starts[value]))
    }

    /// These bits as a term, whose word is one of the circuit's.
    fn resolve(&self, bits: &[ArgBit]) -> Option<Term> {
        let low = bits.iter().position(|bit| !is_constant(bit)).unwrap_or(bits.len());
        let term = |shift: usize, of| {
            let one = |(i, bit): (usize, &ArgBit)| u128::from(*bit == ArgBit::Wire(Circuit::ONE)) << i;
            let constant = bits[..shift].iter().enumerate().map(one).sum();
            Term { bits: bits.len() as u32, constant, of }
        };
        if bits.len() > WIDEST_WORD as usize {
            return None;
        }
        let Some(bit) = bits.get(low) else { return Some(term(bits.len(), None)) };
        let fits = |&&(word, place): &&(usize, usize)| {
            let Some(shift) = low.checked_sub(place) else { return false };
            self.bits[word].starts_with(&bits[shift..])
        };
        let &(word, place) = self.at.get(bit)?.iter().find(fits)?;
        Some(term(low - place, Some((word, (low - place) as u32))))
    }

    /// Input bits that are read as a word with constants below it.
    fn load(&self, bits: &[ArgBit]) -> Option<Port> {
        let low = bits.iter().position(|bit| !is_constant(bit))?;
        let (value, offset) = self.input(&bits[low])?;
        let follow = bits[low..].iter().zip(offset..).all(|(bit, place)| self.input(bit) == Some((value, place)));
        follow.then_some(Port { value, offset, bits: bits.len() - low })
    }

    /// Why these bits are no word: for somebody on that line.
    fn refuse(&self, bits: &[ArgBit], line: u32) -> Refusal {
        if bits.len() > WIDEST_WORD as usize {
            return Refusal::new(line, format!("has a word of {} bits, and {WIDEST_WORD} are the most", bits.len()));
        }
        let other = |note: &&Note| {
            let is = |bit: &ArgBit| matches!(*bit, ArgBit::Wire(wire) if note.outs.contains(&Some(wire)));
            !runs(&note.op) && bits.iter().filter(|bit| !is_constant(bit)).any(is)
        };
        if let Some(note) = self.circuit.notes().iter().find(other) {
            return Refusal::new(note.line, format!("has the operation `{}`", note.op.name()));
        }
        let low = bits.iter().position(|bit| !is_constant(bit)).unwrap_or(0);
        let of_words =
            bits[low..].iter().all(|bit| is_constant(bit) || self.at.contains_key(bit) || self.input(bit).is_some());
        let what = match of_words {
            true => "widens a word, shifts it to the right, or takes bits out of it",
            false => "computes on single bits",
        };
        Refusal::new(line, what)
    }
}

/// The arguments of a note, as far as its lowest bits need them. A square modulo 2^k does not depend on the
/// top bit; nor does it matter for it whether shares are of the word or of the word plus 2^(k-1).
fn arguments(note: &Note, bits: usize) -> impl Iterator<Item = &[ArgBit]> {
    let read = if note.op == WordOp::Square { (bits - 1).max(1) } else { bits };
    note.args.iter().map(move |word| &word[..read])
}

impl Sketch {
    pub(crate) fn new(circuit: &Circuit) -> Sketch {
        let words = Words::new(circuit, &[]);
        let (mut sketch, mut needed) = (Sketch::default(), vec![0; circuit.notes().len()]);
        let mut at = 0;
        for (value, group) in circuit.outputs().iter().enumerate() {
            let wires = &circuit.output_wires()[at..at + group.bits];
            at += group.bits;
            let bits: Vec<ArgBit> = wires.iter().map(|&wire| ArgBit::Wire(wire)).collect();
            sketch.output(&words, value, &bits, &mut needed);
        }
        for (index, note) in circuit.notes().iter().enumerate().rev() {
            if needed[index] == 0 || !runs(&note.op) {
                continue;
            }
            for (word, all) in arguments(note, needed[index]).zip(&note.args) {
                if let Some(port) = words.load(word) {
                    let unread = &all[word.len()..];
                    let follows = |(bit, place): (&ArgBit, usize)| {
                        matches!(bit, ArgBit::Gone(_)) || words.input(bit) == Some((port.value, place))
                    };
                    let of_it = unread.iter().zip(port.offset + port.bits..).all(follows);
                    let whole = port.bits + if of_it { unread.len() } else { 0 };
                    sketch.loads.push(Load { port, whole, line: note.line });
                } else if let Some(Term { bits, of: Some((word, shift)), .. }) = words.resolve(word) {
                    needed[word] = needed[word].max((bits - shift) as usize);
                }
            }
        }
        sketch
    }

    /// What an output value's bits show: results first, which have a bit that a gate drives; then copies.
    fn output(&mut self, words: &Words<'_>, value: usize, bits: &[ArgBit], needed: &mut [usize]) {
        let mut covered = vec![false; bits.len()];
        let mut from = 0;
        for place in 0..bits.len() {
            if place < from || is_constant(&bits[place]) || words.input(&bits[place]).is_some() {
                continue;
            }
            let longest = |&(word, bit): &(usize, usize)| {
                let start = place.checked_sub(bit).filter(|start| *start >= from)?;
                let alike = words.bits[word].iter().zip(&bits[start..]).take_while(|(one, other)| one == other).count();
                (start + alike > place).then_some((alike, start, word))
            };
            let found = words.at.get(&bits[place]).into_iter().flatten().filter_map(longest);
            if let Some((alike, start, word)) = found.max_by_key(|&(alike, start, _)| (alike, start)) {
                self.stores.push(Port { value, offset: start, bits: alike });
                needed[word] = needed[word].max(alike);
                covered[start..start + alike].fill(true);
                from = start + alike;
            }
        }
        let mut place = 0;
        while place < bits.len() {
            let (start, next) = (place, words.input(&bits[place]).filter(|_| !covered[place]));
            place += 1;
            let Some((of, offset)) = next else { continue };
            while place < bits.len()
                && !covered[place]
                && words.input(&bits[place]) == Some((of, offset + place - start))
            {
                place += 1;
            }
            let bits = place - start;
            self.copies.push((Port { value: of, offset, bits }, Port { value, offset: start, bits }));
        }
    }
}

impl WordPlan {
    /// The plan of a circuit whose values are these words.
    pub(crate) fn new(circuit: &Circuit, ins: Vec<Port>, outs: Vec<Port>) -> Result<WordPlan, Refusal> {
        let words = Words::new(circuit, &ins);
        let first = words.inputs;
        let mut needed = vec![0; circuit.notes().len()];
        let need = |needed: &mut Vec<usize>, term: &Term| {
            if let Some((word, shift)) = term.of.filter(|(word, _)| *word >= first) {
                let needed = &mut needed[word - first];
                *needed = (*needed).max((term.bits - shift) as usize);
            }
        };
        let mut starts = vec![0];
        for group in circuit.outputs() {
            starts.push(starts.last().expect("there is one") + group.bits);
        }
        let mut terms = Vec::with_capacity(outs.len());
        for port in outs {
            let wires = &circuit.output_wires()[starts[port.value] + port.offset..][..port.bits];
            let bits: Vec<ArgBit> = wires.iter().map(|&wire| ArgBit::Wire(wire)).collect();
            let driven = |note: &&Note| note.outs.iter().flatten().any(|wire| wires.contains(wire) && *wire > 1);
            let line = || circuit.notes().iter().find(driven).map_or(0, |note| note.line);
            let term = words.resolve(&bits).ok_or_else(|| words.refuse(&bits, line()))?;
            need(&mut needed, &term);
            terms.push((port, term));
        }
        // From the last one on: what a note reads is known when all who read it are.
        let mut steps: Vec<Option<(u32, Vec<Term>)>> = vec![None; circuit.notes().len()];
        for (index, note) in circuit.notes().iter().enumerate().rev().filter(|(_, note)| runs(&note.op)) {
            if needed[index] == 0 {
                continue;
            }
            let mut args = Vec::with_capacity(2);
            for word in arguments(note, needed[index]) {
                let term = words.resolve(word).ok_or_else(|| words.refuse(word, note.line))?;
                need(&mut needed, &term);
                args.push(term);
            }
            steps[index] = Some((needed[index] as u32, args));
        }
        Ok(WordPlan::scheduled(circuit, ins, terms, steps))
    }

    /// Puts the steps, each of so many bits, into layers, and the words that are computed into slots of their own.
    fn scheduled(
        circuit: &Circuit,
        ins: Vec<Port>,
        outs: Vec<(Port, Term)>,
        steps: Vec<Option<(u32, Vec<Term>)>>,
    ) -> WordPlan {
        let first = ins.len();
        let mut plan = WordPlan { slots: first, ins, outs, layers: vec![Layer::default()] };
        // Of each word its slot, and its layer.
        let mut known: Vec<(usize, usize)> = (0..first).map(|slot| (slot, 0)).collect();
        let placed = |known: &[(usize, usize)], term: Term| {
            let of = term.of.map(|(word, shift)| (known[word].0, shift));
            (Term { of, ..term }, term.of.map_or(0, |(word, _)| known[word].1))
        };
        for (note, args) in circuit.notes().iter().zip(steps) {
            let Some((bits, args)) = args else {
                known.push((usize::MAX, 0));
                continue;
            };
            let (terms, layers): (Vec<Term>, Vec<usize>) = args.into_iter().map(|term| placed(&known, term)).unzip();
            let (x, y) = (terms[0], terms.get(1).copied().unwrap_or(terms[0]));
            let zero = Term { constant: 0, of: None, ..x };
            let mut layer = layers.into_iter().max().unwrap_or(0);
            let out = plan.slots;
            plan.slots += 1;
            let local = match &note.op {
                WordOp::Add => Some(Local::Add(x, y)),
                WordOp::Sub => Some(Local::Sub(x, y)),
                WordOp::Neg => Some(Local::Sub(zero, x)),
                _ if x.of.is_none() => Some(Local::Scale(y, x.constant)),
                _ if y.of.is_none() => Some(Local::Scale(x, y.constant)),
                // A bit is its own square.
                _ if x == y && bits == 1 => Some(Local::Scale(x, 1)),
                _ => None,
            };
            match local {
                Some(local) => plan.layer(layer).locals.push((local, out)),
                None => {
                    layer += 1;
                    let what = WordProduct { bits, square: x == y };
                    plan.layer(layer).products.push(Factors { what, x, y, out });
                }
            }
            known.push((out, layer));
        }
        plan.outs.iter_mut().for_each(|(_, term)| *term = placed(&known, *term).0);
        plan
    }

    fn layer(&mut self, layer: usize) -> &mut Layer {
        while self.layers.len() <= layer {
            self.layers.push(Layer::default());
        }
        &mut self.layers[layer]
    }

    /// The products of one call.
    pub(crate) fn products(&self) -> impl Iterator<Item = WordProduct> + '_ {
        self.layers.iter().flat_map(|layer| layer.products.iter().map(|factors| factors.what))
    }
}

impl Term {
    /// A party's share of it: `first` adds the constant.
    #[inline]
    pub(crate) fn share(&self, first: bool, word: impl FnOnce(usize) -> u128) -> u128 {
        let constant = if first { self.constant } else { 0 };
        let of = self.of.map_or(0, |(slot, shift)| word(slot) << shift);
        constant.wrapping_add(of) & word_mask(self.bits)
    }
}
