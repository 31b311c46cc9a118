//! Regions of a program's memory: [`Region`].
//!
//! A region is the closure of overlapping reaches of values: from the first wire to the last that a value is at
//! in all turns and calls. It has one form for the whole program, so that memory is never converted. It can be
//! words if operations on words read or write it, every value in it begins at a multiple of a word, has whole
//! words, or is read and is the low bits of one, and moves by whole words; else it is bits.

use comity_circuit::{Circuit, Note, Program, Span, Step, WordOp};
use comity_share::ring::WIDEST_WORD;

use crate::cut::{Held, Shape, Source, Wires};
use crate::form::{Assignment, Form};
use crate::operation::allowed;

/// A part of a program's memory that has one form for the whole program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first wire.
    pub start: usize,
    /// The number of wires.
    pub wires: usize,
    /// The bits of its words, if it can be words.
    pub word: Option<u32>,
}

/// A value of a call, an input or an output, with the turns that move it.
struct Access {
    low: i128,
    high: i128,
    bits: u64,
    /// The greatest common divisor of the ways that it moves.
    step: u64,
    /// Whether a call reads it. The top bit of a number that is squared is not read, for one.
    is_read: bool,
    /// The widest word in it that an operation reads or writes.
    word: u32,
}

fn access(span: &Span, loops: &[u64], call: (i64, u64), is_read: bool, word: u32) -> Access {
    let (mut low, mut high) = (i128::from(span.start), i128::from(span.start) + i128::from(span.bits));
    let mut step = 0;
    for (stride, times) in span.strides.iter().copied().zip(loops.iter().copied()).chain([call]) {
        let end = i128::from(stride) * i128::from(times.saturating_sub(1));
        (low, high) = (low + end.min(0), high + end.max(0));
        if times > 1 {
            step = gcd(step, stride.unsigned_abs());
        }
    }
    // Where it begins counts from the first wire on: that of the region is a multiple of all steps in it.
    Access { low, high, bits: span.bits, step, is_read, word }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The regions of a program, in the order of the memory.
pub fn regions(program: &Program) -> Vec<Region> {
    let widest: Vec<[Vec<u32>; 2]> = program.circuits().iter().map(widest_words).collect();
    let mut all = Vec::new();
    walk(program.steps(), &mut Vec::new(), &widest, &mut all);
    all.retain(|access| access.high > access.low);
    all.sort_by_key(|access| access.low);
    let mut regions: Vec<Region> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let (low, mut high, mut end) = (all[at].low, all[at].high, at + 1);
        while end < all.len() && all[end].low < high {
            high = high.max(all[end].high);
            end += 1;
        }
        let of = &all[at..end];
        let step = of.iter().fold(0, |step, access| gcd(gcd(step, access.step), (access.low - low) as u64));
        let word = of.iter().map(|access| access.word).max().unwrap_or(0);
        let fits = |word: u64| {
            let whole = |access: &Access| access.bits.is_multiple_of(word) || access.is_read && access.bits < word;
            let all = ((high - low) as u64).is_multiple_of(word) && step.is_multiple_of(word);
            (1..=u64::from(WIDEST_WORD)).contains(&word) && all && of.iter().all(whole)
        };
        // As wide as what reads and writes it; or, where upper bits are not read, as what puts it there.
        let written = of.iter().filter(|access| !access.is_read).fold(step, |all, access| gcd(all, access.bits));
        let mut words = [u64::from(word), written].into_iter().filter(|_| word > 0);
        let word = words.find(|word| fits(*word)).map(|word| word as u32);
        regions.push(Region { start: low as usize, wires: (high - low) as usize, word });
        at = end;
    }
    regions
}

fn walk(steps: &[Step], loops: &mut Vec<u64>, widest: &[[Vec<u32>; 2]], all: &mut Vec<Access>) {
    for step in steps {
        match step {
            Step::Input { to: span, .. } | Step::Reveal { from: span, .. } => {
                all.push(access(span, loops, (0, 1), false, 0))
            }
            Step::Call { circuit, times, args, outs } => {
                for (is_read, (values, words)) in
                    [true, false].into_iter().zip([args, outs].into_iter().zip(&widest[*circuit]))
                {
                    let of = |((span, stride), word): (&(Span, i64), &u32)| {
                        access(span, loops, (*stride, *times), is_read, *word)
                    };
                    all.extend(values.iter().zip(words).map(of));
                }
            }
            Step::Repeat { times, body } => {
                loops.push(*times);
                walk(body, loops, widest, all);
                loops.pop();
            }
        }
    }
}

/// The widest words of each input value and of each output value that operations on words read and write: runs
/// of bits that are an argument or a result.
fn widest_words(circuit: &Circuit) -> [Vec<u32>; 2] {
    let wires = Wires::new(circuit);
    let mut words = [vec![0; circuit.inputs().len()], vec![0; circuit.outputs().len()]];
    // What chooses or compares looks at each bit by itself, and says nothing of where words begin.
    let is_loose = |note: &Note| matches!(note.op, WordOp::Select | WordOp::Equal);
    let on_words: Vec<bool> =
        circuit.notes().iter().map(|note| allowed(note, Form::Arithmetic) && !is_loose(note)).collect();
    for (note, _) in circuit.notes().iter().zip(&on_words).filter(|(_, on)| **on) {
        for word in &note.args {
            let mut run: Option<(u32, u32, u32)> = None;
            for bit in word.iter().map(|bit| wires.arg(*bit).source()) {
                let next = match (bit, run) {
                    (Some(Source::Input { value, bit }), Some((of, at, bits))) if (value, bit) == (of, at) => {
                        Some((of, at + 1, bits + 1))
                    }
                    (Some(Source::Input { value, bit }), _) => Some((value, bit + 1, 1)),
                    _ => None,
                };
                if let Some((value, _, bits)) = next {
                    words[0][value as usize] = words[0][value as usize].max(bits);
                }
                run = next;
            }
        }
    }
    for (value, widest) in words[1].iter_mut().enumerate() {
        let mut run: Option<(u32, u32, u32)> = None;
        for bit in wires.output(value) {
            let next = match (bit.source(), run) {
                (Some(Source::Note { note, bit }), run) if on_words[note as usize] => match run {
                    Some((of, at, bits)) if (note, bit) == (of, at) => Some((of, at + 1, bits + 1)),
                    _ => Some((note, bit + 1, 1)),
                },
                _ => None,
            };
            if let Some((_, _, bits)) = next {
                *widest = bits.max(*widest);
            }
            run = next;
        }
    }
    words
}

/// Where the values of a program lie, by the forms of its regions.
pub(crate) struct Memory {
    regions: Vec<(Region, Held)>,
    /// The words before those of each region.
    before: Vec<usize>,
    words: usize,
}

impl Memory {
    /// The memory of a program under an assignment. A region that cannot be words is labels where it should be.
    pub(crate) fn new(program: &Program, assignment: &Assignment) -> Memory {
        let held = |(index, region): (usize, Region)| {
            let form = assignment.regions.get(index).copied().unwrap_or(Form::Yao);
            let held = match (form, region.word) {
                (Form::Arithmetic, Some(bits)) => Held::Words(bits),
                (Form::Arithmetic, None) => Held::Bits(Form::Yao),
                (form, _) => Held::Bits(form),
            };
            (region, held)
        };
        let regions: Vec<(Region, Held)> = regions(program).into_iter().enumerate().map(held).collect();
        let (mut before, mut words) = (Vec::with_capacity(regions.len()), 0);
        for (region, held) in &regions {
            before.push(words);
            if let Held::Words(bits) = held {
                words += region.wires / *bits as usize;
            }
        }
        Memory { regions, before, words }
    }

    /// The number of words.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Whether some region has this form of bits.
    pub(crate) fn has(&self, form: Form) -> bool {
        self.regions.iter().any(|(_, held)| *held == Held::Bits(form))
    }

    fn region(&self, wire: usize) -> Option<usize> {
        let after = self.regions.partition_point(|(region, _)| region.start <= wire);
        after.checked_sub(1).filter(|index| wire - self.regions[*index].0.start < self.regions[*index].0.wires)
    }

    /// How a value is held that begins at this wire; one without bits is of no region.
    pub(crate) fn held(&self, wire: usize, bits: usize) -> Held {
        match self.region(wire).filter(|_| bits > 0) {
            Some(index) => self.regions[index].1,
            None => Held::Bits(Form::Yao),
        }
    }

    /// The number of the word that begins at this wire, and the bits of words there.
    pub(crate) fn word(&self, wire: usize) -> (usize, u32) {
        let index = self.region(wire).expect("a value is in a region");
        let (region, held) = self.regions[index];
        let Held::Words(bits) = held else { unreachable!("a word is in a region of words") };
        (self.before[index] + (wire - region.start) / bits as usize, bits)
    }

    /// The shape of a call.
    pub(crate) fn shape(&self, values: [&mut dyn Iterator<Item = (usize, usize)>; 2]) -> Shape {
        let [ins, outs] = values.map(|values| values.map(|(wire, bits)| self.held(wire, bits)).collect());
        Shape { ins, outs }
    }
}
