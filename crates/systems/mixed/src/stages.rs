//! A circuit's parts and conversions in the order in which they run: [`Stages`].
//!
//! Between the memory and the parts stands a *frame* for each call: labels, bits and words that nobody needs
//! after the call. Each stage converts what its parts read, all of one kind at once, and runs the parts. At the
//! end all results go to the memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use comity_arith::WordCircuit;
use comity_circuit::{Builder, Circuit, Goal, Group, Lowered, Wire};
use comity_core::Result;
use comity_library::arith;

use crate::cut::{Bit, Cut, Held, Possible, Shape, Source, WordKey};
use crate::form::Form;
use crate::parts::{Part, Parts, WordIn};

/// Where a bit of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BitAt {
    /// A bit of an input value.
    Value { value: usize, bit: usize },
    /// In the frame.
    Frame(usize),
}

impl BitAt {
    fn next(self) -> BitAt {
        match self {
            BitAt::Value { value, bit } => BitAt::Value { value, bit: bit + 1 },
            BitAt::Frame(at) => BitAt::Frame(at + 1),
        }
    }
}

/// Where a word of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordAt {
    Value { value: usize, word: usize },
    Frame(usize),
}

/// A word that becomes its bits, as labels or shared: those of the parties' shares, first and second, are put before
/// them, and a circuit adds these.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) word: WordAt,
    pub(crate) bits: u32,
    pub(crate) to: usize,
}

impl Opening {
    /// Where the bits of the sum are.
    pub(crate) fn sum(&self) -> usize {
        self.to + 2 * self.bits as usize
    }
}

/// Bits that become a word.
#[derive(Debug)]
pub(crate) struct Closing {
    pub(crate) bits: Vec<BitAt>,
    pub(crate) to: usize,
}

/// A part that is run.
pub(crate) enum Runs {
    /// Gates, on labels or on shares of bits: one place for each input value; the results go to the frame.
    Gates { form: Form, circuit: Lowered, ins: Vec<BitAt>, out: usize },
    /// Words: the shares of each input word, as many bits as are read, and where the results go in the frame.
    Words { circuit: WordCircuit, ins: Vec<Option<(WordAt, u32)>>, outs: Vec<usize> },
}

/// Conversions, and the parts that read what they give.
#[derive(Default)]
pub(crate) struct Stage {
    /// The lowest bits of words, which are shared as bits as they stand.
    pub(crate) lowest: Vec<(WordAt, usize)>,
    /// Words that become labels.
    pub(crate) openings: Vec<Opening>,
    /// Words that become shares of bits, and the circuit that adds the shares of all of them.
    pub(crate) added: Vec<Opening>,
    pub(crate) adder: Option<Lowered>,
    /// Shares of bits that become labels.
    pub(crate) joined: Vec<(BitAt, usize)>,
    /// Labels that become shares of bits.
    pub(crate) split: Vec<(BitAt, usize)>,
    pub(crate) closings: Vec<Closing>,
    pub(crate) parts: Vec<Runs>,
}

impl Stage {
    /// The OTs of the conversions of a call: all are sent by party 0.
    pub(crate) fn ots(&self) -> u64 {
        let opened = self.openings.iter().map(|opening| u64::from(opening.bits));
        let closed = self.closings.iter().map(|closing| closing.bits.len() as u64 - 1);
        self.joined.len() as u64 + opened.chain(closed).sum::<u64>()
    }
}

/// A result bit on its way to the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moved {
    Constant(bool),
    From { at: BitAt, negated: bool },
}

/// A circuit that is cut into parts, for values that lie in the memory in one way.
pub(crate) struct Stages {
    pub(crate) stages: Vec<Stage>,
    /// The labels, bits and words of the frame of a call, in the order words, bits, labels.
    pub(crate) frame: [usize; 3],
    /// The bits of output values that lie in the memory as bits.
    pub(crate) bits: Vec<(usize, Form, Vec<Moved>)>,
    /// The words of output values that lie there as words: the value, the number of the word, where it is.
    pub(crate) words: Vec<(usize, usize, usize)>,
}

/// What is where, while stages are planned.
struct Placing<'a, 'c> {
    cut: &'a Cut<'c>,
    /// The form of adders, and the bits that are read of each word as bits.
    adders: Form,
    opened: BTreeMap<WordKey, u32>,
    frame: [usize; 3],
    /// Where bits are, in each form of bits.
    bits: HashMap<(Form, Source), BitAt>,
    words: HashMap<WordKey, WordAt>,
    closed: HashMap<Vec<Source>, usize>,
}

impl Stages {
    /// The stages of a circuit whose operations have these forms, and its gates, and its adders the last.
    ///
    /// # Errors
    /// Those of [`WordCircuit::new`].
    pub(crate) fn new(circuit: &Circuit, (notes, gates, adders): Possible, shape: &Shape) -> Result<Stages> {
        let cut = Cut::new(circuit, (notes, gates), shape);
        let Parts { levels, opened } = Parts::new(&cut)?;
        let (bits, words, closed) = Default::default();
        let mut placing = Placing { cut: &cut, adders, opened, frame: [0; 3], bits, words, closed };
        let mut stages: Vec<Stage> = levels.into_iter().map(|level| placing.stage(level)).collect();
        let mut last = Stage::default();
        let mut moved = Vec::new();
        for (value, held) in shape.outs.iter().enumerate() {
            if let Held::Bits(form) = *held {
                let bits = cut.wires.output(value);
                let sources: BTreeSet<Source> = bits.iter().filter_map(|bit| bit.source()).collect();
                placing.need(form, &sources, &mut last);
                let at = |bit: &Bit| match *bit {
                    Bit::Constant(bit) => Moved::Constant(bit),
                    Bit::Of { source, negated } => Moved::From { at: placing.bits[&(form, source)], negated },
                };
                moved.push((value, form, bits.iter().map(at).collect()));
            }
        }
        let out = |(index, word): (usize, &crate::cut::OutWord)| match placing.words[&WordKey::Out(index as u32)] {
            WordAt::Frame(at) => (word.value, word.word, at),
            WordAt::Value { .. } => unreachable!("a result is in the frame"),
        };
        let words = cut.out_words.iter().enumerate().map(out).collect();
        stages.push(last);
        for stage in stages.iter_mut().filter(|stage| !stage.added.is_empty()) {
            let widths: Vec<u32> = stage.added.iter().map(|added| added.bits).collect();
            stage.adder = Some(adder(&widths, Goal::Depth));
        }
        Ok(Stages { stages, frame: placing.frame, bits: moved, words })
    }
}

impl Placing<'_, '_> {
    fn room(&mut self, form: Form, size: usize) -> usize {
        let end = &mut self.frame[form as usize];
        *end += size;
        *end - size
    }

    /// Where a bit is, where it was computed as one.
    fn native(&self, source: Source) -> Option<(Form, BitAt)> {
        if self.cut.word(source).is_some() {
            return None;
        }
        let form = self.cut.form_of(source);
        match source {
            Source::Input { value, bit } => Some((form, BitAt::Value { value: value as usize, bit: bit as usize })),
            _ => Some((form, self.bits[&(form, source)])),
        }
    }

    fn word_at(&self, key: WordKey) -> WordAt {
        match key {
            WordKey::Input { value, word } => WordAt::Value { value: value as usize, word: word as usize },
            _ => self.words[&key],
        }
    }

    /// Has bits in a form of bits, and says in a stage how they get there.
    fn need(&mut self, form: Form, sources: &BTreeSet<Source>, stage: &mut Stage) {
        // Words first: labels that they become may be wanted as bits.
        let mut wanted = Vec::new();
        for &source in sources {
            if self.bits.contains_key(&(form, source)) {
                continue;
            }
            match self.native(source) {
                Some((of, at)) if of == form => {
                    self.bits.insert((form, source), at);
                }
                Some((of, at)) => {
                    self.bits.insert((of, source), at);
                    wanted.push(source);
                }
                None => {
                    let (key, bit) = self.cut.word(source).expect("what is no bit is of a word");
                    let bits = self.opened[&key];
                    let is_there = [Form::Boolean, Form::Yao].iter().any(|of| self.bits.contains_key(&(*of, source)));
                    if !is_there && bits == 1 {
                        let to = self.room(Form::Boolean, 1);
                        stage.lowest.push((self.word_at(key), to));
                        self.bits.insert((Form::Boolean, source), BitAt::Frame(to));
                    } else if !is_there {
                        let adders = self.adders;
                        let to = self.room(adders, 3 * bits as usize);
                        let opening = Opening { word: self.word_at(key), bits, to };
                        for other in 0..bits {
                            let source = source_of(source, bit, other);
                            let at = BitAt::Frame(opening.sum() + other as usize);
                            self.bits.insert((adders, source), at);
                        }
                        if adders == Form::Boolean { &mut stage.added } else { &mut stage.openings }.push(opening);
                    }
                    if !self.bits.contains_key(&(form, source)) {
                        wanted.push(source);
                    }
                }
            }
        }
        let to = self.room(form, wanted.len());
        for (source, to) in wanted.into_iter().zip(to..) {
            let other = if form == Form::Yao { Form::Boolean } else { Form::Yao };
            let from = self.bits[&(other, source)];
            if form == Form::Yao {
                stage.joined.push((from, to))
            } else {
                stage.split.push((from, to))
            }
            self.bits.insert((form, source), BitAt::Frame(to));
        }
    }

    fn stage(&mut self, parts: Vec<Part>) -> Stage {
        let mut stage = Stage::default();
        // What is shared as bits may be wanted as labels, too.
        for form in [Form::Boolean, Form::Yao] {
            let mut needed = BTreeSet::new();
            for part in &parts {
                match part {
                    Part::Bits { form: of, ins, .. } if *of == form => needed.extend(ins.iter().copied()),
                    Part::Words { ins, .. } if form == Form::Boolean => {
                        for word in ins {
                            if let WordIn::Bits(sources) = word {
                                needed.extend(sources.iter().copied());
                            }
                        }
                    }
                    _ => {}
                }
            }
            self.need(form, &needed, &mut stage);
        }
        // No part of a level reads another one of it.
        let runs: Vec<Runs> = parts.into_iter().map(|part| self.part(part, &mut stage)).collect();
        stage.parts = runs;
        stage
    }

    fn part(&mut self, part: Part, stage: &mut Stage) -> Runs {
        match part {
            Part::Bits { form, circuit, ins, outs } => {
                let places: Vec<BitAt> = ins.iter().map(|source| self.bits[&(form, *source)]).collect();
                // Values are the longest runs of neighbours.
                let (mut values, mut widths): (Vec<BitAt>, Vec<usize>) = Default::default();
                let mut last = None;
                for place in places {
                    match widths.last_mut().filter(|_| last == Some(place)) {
                        Some(width) => *width += 1,
                        None => {
                            values.push(place);
                            widths.push(1);
                        }
                    }
                    last = Some(place.next());
                }
                let out = self.room(form, outs.len());
                for (source, at) in outs.into_iter().zip(out..) {
                    self.bits.insert((form, source), BitAt::Frame(at));
                }
                let circuit = Lowered::new(&with_inputs(&circuit, &widths));
                Runs::Gates { form, circuit, ins: values, out }
            }
            Part::Words { circuit, ins, outs } => {
                let ins = ins.into_iter().map(|word| match word {
                    WordIn::Unread => None,
                    WordIn::Word(key, bits) => Some((self.word_at(key), bits)),
                    WordIn::Bits(sources) => {
                        let bits = sources.len() as u32;
                        let to = match self.closed.get(&sources) {
                            Some(&to) => to,
                            None => {
                                let places =
                                    sources.iter().map(|source| self.bits[&(Form::Boolean, *source)]).collect();
                                let to = self.room(Form::Arithmetic, 1);
                                stage.closings.push(Closing { bits: places, to });
                                self.closed.insert(sources, to);
                                to
                            }
                        };
                        Some((WordAt::Frame(to), bits))
                    }
                });
                let ins = ins.collect();
                let first = self.room(Form::Arithmetic, outs.len());
                for ((key, _), to) in outs.iter().zip(first..) {
                    self.words.insert(*key, WordAt::Frame(to));
                }
                Runs::Words { circuit, ins, outs: (first..first + outs.len()).collect() }
            }
        }
    }
}

/// A circuit that adds pairs of words of these widths.
pub(crate) fn adder(widths: &[u32], goal: Goal) -> Lowered {
    let mut b = Builder::for_goal(goal);
    let pairs = widths.iter().map(|&bits| ["x", "y"].map(|name| b.input(name, bits as usize)));
    let pairs: Vec<[Vec<Wire>; 2]> = pairs.collect();
    for [x, y] in pairs {
        let sum = b.quiet(|b| arith::add(b, &x, &y));
        b.output("sum", &sum);
    }
    Lowered::new(&b.finish())
}

/// Bit `other` of the word of which this is bit `bit`.
fn source_of(source: Source, bit: u32, other: u32) -> Source {
    match source {
        Source::Input { value, bit: at } => Source::Input { value, bit: at - bit + other },
        Source::Note { note, bit: at } => Source::Note { note, bit: at - bit + other },
        Source::Gate(_) => unreachable!("a gate is of no word"),
    }
}

/// The circuit with its input bits as values of these widths.
fn with_inputs(circuit: &Circuit, widths: &[usize]) -> Circuit {
    let group = |bits: usize| Group { name: String::new(), bits };
    let inputs = widths.iter().map(|bits| group(*bits)).collect();
    let outputs = vec![group(circuit.output_wires().len())];
    Circuit::new(inputs, outputs, circuit.gates().to_vec(), circuit.output_wires().to_vec())
        .expect("values are cut anew, and no wire changes")
}
