//! What a circuit's notes compute of its input words, as steps on shares: [`WordPlan`].
//!
//! Steps that need messages are in layers, those of one kind in a layer in the same messages. An operation is
//! made of few kinds: products of words, and of matrices of words; small circuits, whose results are bits
//! shared by XOR (for one bit the same as shares modulo two); bits converted to words; words chosen by a bit;
//! and what each party does with its own share.

mod planner;

use comity_circuit::{ArgBit, Circuit, Lowered, Note, WordOp};
use comity_share::ring::{MatrixProduct, WIDEST_WORD, WordProduct, word_mask};

use crate::circuits::divide;
use crate::conversions::Lifted;
use crate::words::{Pattern, Piece, Port, Refusal, Words};
use planner::Planner;

/// `constant + factor * word`, modulo 2^bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) bits: u32,
    pub(crate) constant: u128,
    /// The slot of a word, and the factor.
    pub(crate) of: Option<(usize, u128)>,
}

/// What is done without a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    Sum(Vec<Term>),
    /// Bits of the share: the first one, and how many.
    High(Term, u32, u32),
    /// The share, or minus it at the second party.
    Opposed(Term),
    /// The quotient of the share by a number.
    Quotient(Term, u128),
    /// The remainder of the share by a number.
    Remainder(Term, u128),
}

impl Local {
    /// A party's share of it, by that of terms.
    #[inline]
    pub(crate) fn share(&self, first: bool, of: impl Fn(&Term) -> u128) -> u128 {
        match self {
            Local::Sum(terms) => terms.iter().fold(0, |sum, term| sum.wrapping_add(of(term))),
            Local::High(word, from, bits) => of(word) >> from & word_mask(*bits),
            Local::Opposed(word) if first => of(word),
            Local::Opposed(word) => of(word).wrapping_neg(),
            Local::Quotient(word, by) => divide(of(word), *by, word.bits).0,
            Local::Remainder(word, by) => divide(of(word), *by, word.bits).1,
        }
    }
}

/// A product of shared words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors {
    pub(crate) what: WordProduct,
    pub(crate) x: Term,
    pub(crate) y: Term,
    pub(crate) out: usize,
}

/// A product of shared matrices, row after row.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) what: MatrixProduct,
    pub(crate) x: Vec<Term>,
    pub(crate) y: Vec<Term>,
    pub(crate) outs: Vec<usize>,
}

/// A small circuit of the shares of these words; each result is a word of bits, shared by XOR.
#[derive(Clone, Debug)]
pub(crate) struct Garble {
    /// The circuit's number in the plan.
    pub(crate) circuit: usize,
    pub(crate) ins: Vec<Term>,
    pub(crate) outs: Vec<usize>,
}

/// Bits shared by XOR that become a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lift {
    pub(crate) of: usize,
    pub(crate) bits: u32,
    pub(crate) to: u32,
    pub(crate) out: usize,
}

/// A word, or zero if a bit is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) by: Term,
    pub(crate) word: Term,
    pub(crate) out: usize,
}

/// Steps that wait for those of the layers before; kind after kind, and what follows from them.
#[derive(Default)]
pub(crate) struct Layer {
    pub(crate) products: Vec<Factors>,
    pub(crate) matrices: Vec<Matrix>,
    pub(crate) garbles: Vec<Garble>,
    pub(crate) lifts: Vec<Lift>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) locals: Vec<(Local, usize)>,
}

/// A circuit of a plan.
pub(crate) struct Gates {
    pub(crate) ins: Vec<u32>,
    pub(crate) outs: Vec<u32>,
    pub(crate) lowered: Lowered,
    #[cfg(test)]
    pub(crate) circuit: Circuit,
}

/// A circuit on shares of words.
pub(crate) struct WordPlan {
    /// The words of the input values; word `i` goes to slot `i`.
    pub(crate) ins: Vec<Port>,
    /// The words of the output values, and what they are.
    pub(crate) outs: Vec<(Port, Term)>,
    /// The bits that are read of each word of the input values.
    pub(crate) needs: Vec<u32>,
    /// The number of slots.
    pub(crate) slots: usize,
    pub(crate) layers: Vec<Layer>,
    pub(crate) circuits: Vec<Gates>,
}

/// A note whose results, or one of them, are needed.
struct Needed {
    note: usize,
    first: usize,
    args: Vec<Pattern>,
}

impl WordPlan {
    /// The plan of a circuit whose values are these words.
    pub(crate) fn new(circuit: &Circuit, ins: Vec<Port>, outs: Vec<Port>) -> Result<WordPlan, Refusal> {
        let words = Words::new(circuit, &ins);
        let mut planner = Planner::new(&words, ins);
        let mut starts = vec![0];
        for group in circuit.outputs() {
            starts.push(starts.last().expect("there is one") + group.bits);
        }
        let mut ends = Vec::with_capacity(outs.len());
        for port in outs {
            let wires = &circuit.output_wires()[starts[port.value] + port.offset..][..port.bits];
            let bits: Vec<ArgBit> = wires.iter().map(|&wire| ArgBit::Wire(wire)).collect();
            let driven = |note: &&Note| note.outs.iter().flatten().any(|wire| wires.contains(wire) && *wire > 1);
            let line = || circuit.notes().iter().find(driven).map_or(0, |note| note.line);
            let read = words.pattern(&bits, words.bits.len(), 0);
            let pattern = read.map_err(|refusal| match refusal.line {
                0 => Refusal { line: line(), ..refusal },
                _ => refusal,
            })?;
            planner.demand(&pattern, true);
            ends.push((port, pattern));
        }
        // From the last one on: what a note reads is known when all who read it are.
        let mut steps = Vec::new();
        for (index, note) in circuit.notes().iter().enumerate().rev() {
            let mut of_note = Vec::new();
            for (computed, args) in words.demands(index, &planner.needed) {
                if let Some(bits) = planner.needed[computed.clone()].iter().find(|bits| **bits > WIDEST_WORD) {
                    let what = format!("has a product of {bits} bits, and {WIDEST_WORD} are the most");
                    return Err(Refusal::new(note.line, what));
                }
                let pattern = |word: &Vec<ArgBit>| words.pattern(word, words.of_note[index].start, note.line);
                let args = args.iter().map(pattern).collect::<Result<Vec<Pattern>, Refusal>>()?;
                let linear = !is_gates(note, &args);
                args.iter().for_each(|arg| planner.demand(arg, linear));
                of_note.push(Needed { note: index, first: computed.start, args });
            }
            steps.extend(of_note.into_iter().rev());
        }
        for Needed { note, first, args } in steps.iter().rev() {
            planner.step(&circuit.notes()[*note], words.of_note[*note].len(), *first, args);
        }
        for (port, pattern) in &ends {
            let (term, _) = planner.term(pattern);
            planner.plan.outs.push((*port, term));
        }
        planner.plan.needs = planner.needed[..planner.plan.ins.len()].to_vec();
        Ok(planner.plan)
    }

    /// The products of one call.
    pub(crate) fn products(&self) -> impl Iterator<Item = WordProduct> + '_ {
        self.layers.iter().flat_map(|layer| layer.products.iter().map(|factors| factors.what))
    }

    /// The products of matrices of one call.
    pub(crate) fn matrices(&self) -> impl Iterator<Item = MatrixProduct> + '_ {
        self.layers.iter().flat_map(|layer| layer.matrices.iter().map(|matrix| matrix.what))
    }

    /// The most blocks that a call takes.
    pub(crate) fn blocks(&self) -> usize {
        let sum = |widths: &[u32]| widths.iter().map(|bits| *bits as usize).sum::<usize>();
        let layer = |layer: &Layer| {
            let gates = layer.garbles.iter().map(|garble| &self.circuits[garble.circuit]);
            let labels: usize = gates.map(|gates| 4 * sum(&gates.ins) + sum(&gates.outs)).sum();
            let lifts: usize = layer.lifts.iter().map(|lift| 3 * Lifted::ots(lift.bits, lift.to) as usize).sum();
            labels.max(lifts).max(6 * layer.choices.len())
        };
        self.layers.iter().map(layer).max().unwrap_or(0).max(self.slots).max(1)
    }
}

impl Term {
    /// A party's share of it: `first` adds the constant.
    #[inline]
    pub(crate) fn share(&self, first: bool, word: impl FnOnce(usize) -> u128) -> u128 {
        let constant = if first { self.constant } else { 0 };
        let of = self.of.map_or(0, |(slot, factor)| word(slot).wrapping_mul(factor));
        constant.wrapping_add(of) & word_mask(self.bits)
    }

    fn constant(bits: u32, constant: u128) -> Term {
        Term { bits, constant, of: None }
    }

    /// The low bits of a slot's word.
    fn slot(slot: usize, bits: u32) -> Term {
        Term { bits, constant: 0, of: Some((slot, 1)) }
    }

    fn times(self, by: u128) -> Term {
        let of = self.of.map(|(slot, factor)| (slot, factor.wrapping_mul(by)));
        Term { constant: self.constant.wrapping_mul(by), of, ..self }
    }

    fn minus(self) -> Term {
        self.times(u128::MAX)
    }
}

/// The public number, not zero, by which words are divided.
fn divisor(note: &Note, args: &[Pattern]) -> Option<u128> {
    let divides = matches!(
        note.op,
        WordOp::Div { signed: false } | WordOp::Rem { signed: false } | WordOp::DivRem { signed: false }
    );
    let by = args.get(1).filter(|by| divides && by.pieces.is_empty())?.constant;
    (by != 0).then_some(by)
}

/// Whether an operation is run as the gates that it is noted beside: on the bits of words.
fn is_gates(note: &Note, args: &[Pattern]) -> bool {
    match note.op {
        WordOp::Less { .. } | WordOp::Shl | WordOp::Shr | WordOp::ShrSigned | WordOp::Rotl => true,
        WordOp::Div { .. } | WordOp::Rem { .. } | WordOp::DivRem { .. } => divisor(note, args).is_none(),
        // The difference of two words is for nothing, that of pieces is not.
        WordOp::Equal => args.iter().any(|arg| arg.pieces.iter().any(|piece| !is_low(piece, arg.bits))),
        _ => false,
    }
}

/// Whether a piece is the low bits of a word up to the top of what is read: then its shares do.
fn is_low(piece: &Piece, bits: u32) -> bool {
    piece.from == 0 && piece.bits >= bits - piece.at
}

#[cfg(test)]
mod tests;
