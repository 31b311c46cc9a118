//! The words of a circuit, and bits as parts of these: [`Words`].
//!
//! Bits that an operation reads, or that go out, are a sum of words, each times a power of two, and a
//! constant: in the simplest case one word. Constants, truncations and shifts to the left are no more than
//! that. Bits from the middle of a word, or with others above them, are a [`Piece`], for which shares alone
//! do not do.

use std::collections::HashMap;
use std::ops::Range;

use comity_circuit::{ArgBit, Circuit, Note, Op, WordOp};
use comity_share::ring::WIDEST_WORD;

/// Why a program cannot be run on words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The line of the source text, or 0.
    pub(crate) line: u32,
    /// What is there.
    pub(crate) what: String,
}

impl Refusal {
    pub(crate) fn new(line: u32, what: impl Into<String>) -> Refusal {
        Refusal { line, what: what.into() }
    }

    fn wide(line: u32, bits: usize) -> Refusal {
        Refusal::new(line, format!("has a word of {bits} bits, and {WIDEST_WORD} are the most"))
    }
}

/// A word of a value, or what follows on its first bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    /// The value's number.
    pub(crate) value: usize,
    /// The first bit of the value that is the word's.
    pub(crate) offset: usize,
    /// The bits of the word before that one: only of arguments.
    pub(crate) skip: usize,
    /// The bits of the value that are the word's.
    pub(crate) bits: usize,
}

/// What bits are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// A word.
    Word(usize),
    /// An input value, where no words are known of.
    Input(usize),
}

/// Bits of a word, at a place among other bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) of: Of,
    /// The first bit, and how many.
    pub(crate) from: u32,
    pub(crate) bits: u32,
    /// The place.
    pub(crate) at: u32,
    /// Whether it is the negation of a bit.
    pub(crate) negated: bool,
    /// How often in a row; more than once only of one bit.
    pub(crate) times: u32,
}

/// Bits, as pieces of words and constants.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) bits: u32,
    pub(crate) constant: u128,
    pub(crate) pieces: Vec<Piece>,
}

/// Whether an operation is one on shared words, and its results; where not, why.
pub(crate) fn results(note: &Note) -> Result<Vec<usize>, Refusal> {
    let widths: Vec<usize> = note.args.iter().map(Vec::len).collect();
    let results = note.op.results(&widths).unwrap_or_default();
    let other = || Err(Refusal::new(note.line, format!("has the operation `{}`", note.op.name())));
    match note.op {
        WordOp::And | WordOp::Or | WordOp::Xor if results != [1] => other(),
        WordOp::And | WordOp::Or | WordOp::Xor | WordOp::Select | WordOp::MulWide => Ok(results),
        WordOp::Add
        | WordOp::Sub
        | WordOp::Neg
        | WordOp::Not
        | WordOp::Mul
        | WordOp::Square
        | WordOp::Dot { .. }
        | WordOp::MatMul { .. }
        | WordOp::MulShift { .. }
        | WordOp::Div { .. }
        | WordOp::Rem { .. }
        | WordOp::DivRem { .. }
        | WordOp::Less { .. }
        | WordOp::Equal
        | WordOp::Shl
        | WordOp::Shr
        | WordOp::ShrSigned
        | WordOp::Rotl => match widths.iter().find(|bits| **bits > WIDEST_WORD as usize) {
            Some(bits) => Err(Refusal::wide(note.line, *bits)),
            None => Ok(results),
        },
        _ => other(),
    }
}

/// The bit of a note's result.
fn result(note: usize, bit: usize, out: Option<u32>) -> ArgBit {
    out.map_or(ArgBit::Result { note: note as u32, bit: bit as u32 }, ArgBit::Wire)
}

pub(crate) fn is_constant(bit: &ArgBit) -> bool {
    matches!(bit, ArgBit::Wire(Circuit::ZERO | Circuit::ONE))
}

/// The words of a circuit, to be found by their bits.
pub(crate) struct Words<'c> {
    pub(crate) circuit: &'c Circuit,
    /// Where each input value begins, and the first gate.
    starts: Vec<usize>,
    /// How many words are of input values; the computed ones follow.
    pub(crate) inputs: usize,
    /// Of each computed word the first of its bits among the results of its note.
    firsts: Vec<usize>,
    /// The computed words of each note.
    pub(crate) of_note: Vec<Range<usize>>,
    pub(crate) bits: Vec<Vec<ArgBit>>,
    /// The words that a bit is of, and which of theirs it is.
    at: HashMap<ArgBit, Vec<(usize, usize)>>,
}

impl<'c> Words<'c> {
    pub(crate) fn new(circuit: &'c Circuit, ins: &[Port]) -> Words<'c> {
        let mut starts = vec![2];
        for group in circuit.inputs() {
            starts.push(starts.last().expect("there is one") + group.bits);
        }
        let (firsts, of_note, bits, at) = Default::default();
        let mut words = Words { circuit, starts, inputs: ins.len(), firsts, of_note, bits, at };
        for port in ins {
            let start = words.starts[port.value] + port.offset;
            // Nobody reads what comes before.
            let before = (0..port.skip).map(|_| ArgBit::Wire(Circuit::ZERO));
            let bits = before.chain((start..start + port.bits).map(|wire| ArgBit::Wire(wire as u32))).collect();
            words.push(bits);
        }
        for (index, note) in circuit.notes().iter().enumerate() {
            let first = words.bits.len();
            let mut start = 0;
            for bits in results(note).unwrap_or_default() {
                let ends = if note.op == WordOp::Select { words.cuts(note) } else { vec![start + bits] };
                for end in ends {
                    words.firsts.push(start);
                    words.push((start..end).map(|bit| result(index, bit, note.outs[bit])).collect());
                    start = end;
                }
            }
            words.of_note.push(first..words.bits.len());
        }
        words
    }

    fn push(&mut self, bits: Vec<ArgBit>) {
        let word = self.bits.len();
        for (place, bit) in bits.iter().enumerate().filter(|(_, bit)| !is_constant(bit)) {
            self.at.entry(*bit).or_default().push((word, place));
        }
        self.bits.push(bits);
    }

    /// Where the words end that are chosen: each bit is chosen by itself, so they begin where words of both
    /// sides do.
    fn cuts(&self, note: &Note) -> Vec<usize> {
        let begins = |bit: &ArgBit| {
            is_constant(bit) || self.at.get(bit).is_some_and(|places| places.iter().any(|(_, place)| *place == 0))
        };
        let (x, y) = (&note.args[1], &note.args[2]);
        let (mut cuts, mut start) = (Vec::new(), 0);
        for bit in 1..x.len() {
            let both = begins(&x[bit]) && begins(&y[bit]) && !(is_constant(&x[bit]) && is_constant(&y[bit]));
            if both || bit - start == WIDEST_WORD as usize {
                cuts.push(bit);
                start = bit;
            }
        }
        cuts.push(x.len());
        cuts
    }

    fn first_gate(&self) -> usize {
        *self.starts.last().expect("there is one")
    }

    /// The input value of a wire, and the bit.
    pub(crate) fn input(&self, bit: &ArgBit) -> Option<(usize, usize)> {
        let ArgBit::Wire(wire) = *bit else { return None };
        let wire = wire as usize;
        if wire < 2 || wire >= self.first_gate() {
            return None;
        }
        let value = self.starts.partition_point(|&start| start <= wire) - 1;
        Some((value, wire - self.starts[value]))
    }

    /// The words that a bit is of, and which of theirs.
    pub(crate) fn places(&self, bit: &ArgBit) -> &[(usize, usize)] {
        self.at.get(bit).map_or(&[], Vec::as_slice)
    }

    /// The bit of which this one is the negation, by a gate that no operation is.
    fn negation(&self, bit: &ArgBit) -> Option<ArgBit> {
        let ArgBit::Wire(wire) = *bit else { return None };
        let gate = self.circuit.gates().get((wire as usize).checked_sub(self.first_gate())?)?;
        let negates = gate.op == Op::Xor && (gate.a == Circuit::ONE || gate.b == Circuit::ONE);
        negates.then_some(ArgBit::Wire(if gate.a == Circuit::ONE { gate.b } else { gate.a }))
    }

    /// The longest piece that these bits begin with, of the words before `limit`.
    fn piece(&self, bits: &[ArgBit], limit: usize) -> Option<Piece> {
        let same = |(read, of): &(&ArgBit, &ArgBit)| read == of || matches!(read, ArgBit::Gone(_));
        let run = |&(word, place): &(usize, usize)| {
            let run = bits.iter().zip(&self.bits[word][place..]).take_while(same).count();
            (run, Of::Word(word), place)
        };
        let known = self.places(&bits[0]).iter().filter(|(word, _)| *word < limit).map(run);
        let input = || {
            let (value, place) = self.input(&bits[0]).filter(|_| self.inputs == 0)?;
            let follows = |(bit, place): &(&ArgBit, usize)| {
                self.input(bit) == Some((value, *place)) || matches!(bit, ArgBit::Gone(_))
            };
            let run = bits.iter().zip(place..).take_while(follows).count();
            Some((run.min(WIDEST_WORD as usize), Of::Input(value), place))
        };
        // Of those that are as long the first one.
        let all = input().into_iter().chain(known);
        let (run, of, place) = all.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let times = if run == 1 { bits.iter().take_while(|bit| **bit == bits[0]).count() } else { 1 };
        Some(Piece { of, from: place as u32, bits: run as u32, at: 0, negated: false, times: times as u32 })
    }

    /// These bits, of the words before `limit`; or the first bit that is of none.
    pub(crate) fn read(&self, bits: &[ArgBit], limit: usize) -> Result<Pattern, usize> {
        let mut pattern = Pattern { bits: bits.len() as u32, constant: 0, pieces: Vec::new() };
        let mut at = 0;
        while at < bits.len() {
            match bits[at] {
                ArgBit::Wire(Circuit::ONE) => pattern.constant |= 1 << at,
                ArgBit::Wire(Circuit::ZERO) | ArgBit::Gone(_) => {}
                bit => {
                    let found = self.piece(&bits[at..], limit).or_else(|| {
                        let mut piece = self.piece(&[self.negation(&bit)?], limit)?;
                        piece.negated = true;
                        piece.times = bits[at..].iter().take_while(|other| **other == bit).count() as u32;
                        Some(piece)
                    });
                    let piece = Piece { at: at as u32, ..found.ok_or(at)? };
                    pattern.pieces.push(piece);
                    at += (piece.bits * piece.times) as usize;
                    continue;
                }
            }
            at += 1;
        }
        Ok(pattern)
    }

    /// As [`Words::read`], for somebody on that line.
    pub(crate) fn pattern(&self, bits: &[ArgBit], limit: usize, line: u32) -> Result<Pattern, Refusal> {
        if bits.len() > WIDEST_WORD as usize {
            return Err(Refusal::wide(line, bits.len()));
        }
        self.read(bits, limit).map_err(|at| self.refuse(&bits[at], line))
    }

    /// Why this bit is of no word: for somebody on that line.
    fn refuse(&self, bit: &ArgBit, line: u32) -> Refusal {
        let is = |index: usize, note: &Note| match *bit {
            ArgBit::Wire(wire) => note.outs.contains(&Some(wire)),
            ArgBit::Result { note, .. } => note as usize == index,
            ArgBit::Gone(_) => false,
        };
        let of = |(index, note): (usize, &Note)| results(note).err().filter(|_| is(index, note));
        let other = self.circuit.notes().iter().enumerate().find_map(of);
        other.unwrap_or_else(|| Refusal::new(line, "computes on single bits"))
    }

    /// What an operation reads, where `needed` has the number of bits that are needed of each word: the words
    /// that it computes at once, and the bits of its arguments. A choice is one for each word; all others
    /// compute all.
    pub(crate) fn demands(&self, index: usize, needed: &[u32]) -> Vec<(Range<usize>, Vec<Vec<ArgBit>>)> {
        let (note, all) = (&self.circuit.notes()[index], self.of_note[index].clone());
        let low = |word: &[ArgBit], bits: u32| word[..bits as usize].to_vec();
        let most = all.clone().map(|word| needed[word]).max().unwrap_or(0);
        if most == 0 {
            return Vec::new();
        }
        let args = match note.op {
            WordOp::Select => {
                let choice = |word: usize| {
                    let start = self.firsts[word - self.inputs];
                    let arm = |arm: usize| low(&note.args[arm][start..], needed[word]);
                    (word..word + 1, vec![note.args[0].clone(), arm(1), arm(2)])
                };
                return all.filter(|word| needed[*word] > 0).map(choice).collect();
            }
            WordOp::Add
            | WordOp::Sub
            | WordOp::Neg
            | WordOp::Not
            | WordOp::Mul
            | WordOp::Dot { .. }
            | WordOp::MatMul { .. } => note.args.iter().map(|word| low(word, most)).collect(),
            // The bits behind the point carry into those before it.
            WordOp::MulShift { fraction } => note.args.iter().map(|word| low(word, fraction + most)).collect(),
            // A square modulo 2^k does not depend on the top bit; nor does it matter for it whether shares
            // are of the word or of the word plus 2^(k-1).
            WordOp::Square => vec![low(&note.args[0], (most - 1).max(1))],
            WordOp::MulWide => {
                let zeros = |word: &Vec<ArgBit>| {
                    let zeros = std::iter::repeat(ArgBit::Wire(Circuit::ZERO));
                    word.iter().copied().chain(zeros).take(most as usize).collect()
                };
                note.args.iter().map(zeros).collect()
            }
            _ => note.args.clone(),
        };
        vec![(all, args)]
    }
}
