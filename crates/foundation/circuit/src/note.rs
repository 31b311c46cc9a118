//! Notes: which words a circuit's gates compute, kept beside the gates.
//!
//! A circuit is gates, and whoever runs gates needs no more. But a product of 64 bits is one operation for a
//! protocol that holds words, and a table is one for a protocol that looks tables up: so the functions that
//! build words [note](crate::Builder::noted) what they build. A [`Note`] says: from gate `at` on, the gates
//! of `op` for `goal` were built over these words, and these wires are what came out.
//!
//! **A note is checked, never believed.** [`Circuit::with_notes`](crate::Circuit::with_notes) builds the
//! given gates again, has the gates of each noted operation built at its place, and wants the very same
//! wires. Since a builder joins only what is equal on all inputs, that proves a note at any width, where
//! trying all inputs ends at a dozen bits.
//!
//! Bits that only move (widening, truncation, shifts by public amounts) are not noted; they show in which
//! wires the words of a note have: `[x5 .. x31, 0 ..]` is `x >> 5`, `[0, 0, x0 .. x29]` is 4 x.

mod check;
mod eval;

use std::fmt;

use crate::goal::Goal;
use crate::table::LookupTable;

pub use check::{Gadgets, NoteError, NoteFlaw};

/// An operation on words, which are least significant bit first.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WordOp {
    /// `x + y` modulo 2^n.
    Add,
    /// `x - y` modulo 2^n.
    Sub,
    /// `-x` modulo 2^n.
    Neg,
    /// `x · y` modulo 2^n.
    Mul,
    /// `x · y` in 2n bits, unsigned.
    MulWide,
    /// `x²` modulo 2^n.
    Square,
    /// The quotient; all ones if the divisor is zero.
    Div {
        /// Whether the words are signed.
        signed: bool,
    },
    /// The remainder; `x` if the divisor is zero.
    Rem {
        /// Whether the words are signed.
        signed: bool,
    },
    /// The quotient and the remainder. A divisor whose bits are all constants is treated as a public number.
    DivRem {
        /// Whether the words are signed.
        signed: bool,
    },
    /// Whether `x < y`, or `x <= y`.
    Less {
        /// Whether the words are signed.
        signed: bool,
        /// Whether equal words count.
        or_equal: bool,
    },
    /// Whether `x == y`.
    Equal,
    /// The second word if the first, a bit, is one; else the third.
    Select,
    /// `x << y` by a private amount.
    Shl,
    /// `x >> y` by a private amount, zeros shifted in.
    Shr,
    /// `x >> y` by a private amount, the sign shifted in.
    ShrSigned,
    /// `x` rotated to the left by a private amount.
    Rotl,
    /// The bitwise and.
    And,
    /// The bitwise or.
    Or,
    /// The bitwise exclusive or.
    Xor,
    /// The bitwise not.
    Not,
    /// The row of a public table at a private index.
    Lookup(LookupTable),
    /// The sum of `n` products modulo 2^bits: the words of the one side, then those of the other.
    Dot {
        /// The number of products.
        n: u32,
    },
    /// The product of a matrix of m rows and n columns and one of n rows and p columns, row after row, modulo
    /// 2^bits.
    MatMul {
        /// The rows of the first matrix, and of the product.
        m: u32,
        /// The columns of the first matrix, and the rows of the second.
        n: u32,
        /// The columns of the second matrix, and of the product.
        p: u32,
    },
    /// `(x · y + 2^(fraction-1)) >> fraction`, the product modulo 2^n, in n - fraction bits: the product of two
    /// numbers with `fraction` bits behind the point, rounded once. For all bits of the product, extend the
    /// words by `fraction` bits first, with the sign or with zeros.
    MulShift {
        /// The bits behind the point.
        fraction: u32,
    },
}

/// The form in which parties hold values between them. A protocol with several forms computes each operation
/// in one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// Additive shares of words modulo 2^k.
    Arithmetic,
    /// Bits shared by XOR.
    Boolean,
    /// Labels of a garbled circuit.
    Yao,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 3] = [Form::Arithmetic, Form::Boolean, Form::Yao];

    /// The form's name, as the language and options have it.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Arithmetic => "arithmetic",
            Form::Boolean => "boolean",
            Form::Yao => "yao",
        }
    }

    /// The form of this name.
    pub fn named(name: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.name() == name)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A bit of an argument of a [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgBit {
    /// A wire of the circuit, a constant or an input bit included.
    Wire(u32),
    /// A bit that is no longer an input of the circuit, since no gate that is left reads it. Such bits are
    /// counted in the order in which the circuit's notes name them. The gates that are left compute the same,
    /// whatever the bit is.
    Gone(u32),
    /// A result bit of an earlier note whose gate is no longer there.
    Result {
        /// The note's index.
        note: u32,
        /// The bit, counted through all results of the note.
        bit: u32,
    },
}

/// A statement that some gates of a circuit compute an operation on words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// The operation.
    pub op: WordOp,
    /// The goal for which its gates were built.
    pub goal: Goal,
    /// The form that the operation is pinned to; `None` if any will do. A protocol of one form ignores it.
    pub pin: Option<Form>,
    /// The line of the source text, for people; 0 if it is not known. It is no part of a digest.
    pub line: u32,
    /// The gate before which the operation's gates begin.
    pub at: u32,
    /// The arguments, words of bits.
    pub args: Vec<Vec<ArgBit>>,
    /// The wires of the results' bits, one result after another; `None` for a bit whose gate is no longer
    /// there.
    pub outs: Vec<Option<u32>>,
}

impl WordOp {
    /// The widest words that are multiplied or divided in a note.
    pub const WIDEST_FACTOR: usize = 1 << 11;
    /// The widest words of any other operation.
    pub const WIDEST: usize = 1 << 16;
    /// The most steps of a shift by a private amount: bits times bits of the amount.
    const MOST_MUXES: usize = 1 << 22;
    /// The most bits times bits of the products of one sum or matrix: those that are checked have as many gates.
    const MOST_SUMMED: usize = 1 << 25;

    /// The operation's name, for people.
    pub fn name(&self) -> &'static str {
        match self {
            WordOp::Add => "add",
            WordOp::Sub => "sub",
            WordOp::Neg => "neg",
            WordOp::Mul => "mul",
            WordOp::MulWide => "mul_wide",
            WordOp::Square => "square",
            WordOp::Div { signed: false } => "div",
            WordOp::Div { signed: true } => "div_signed",
            WordOp::Rem { signed: false } => "rem",
            WordOp::Rem { signed: true } => "rem_signed",
            WordOp::DivRem { signed: false } => "div_rem",
            WordOp::DivRem { signed: true } => "div_rem_signed",
            WordOp::Less { signed: false, or_equal: false } => "less",
            WordOp::Less { signed: false, or_equal: true } => "less_equal",
            WordOp::Less { signed: true, or_equal: false } => "less_signed",
            WordOp::Less { signed: true, or_equal: true } => "less_equal_signed",
            WordOp::Equal => "equal",
            WordOp::Select => "select",
            WordOp::Shl => "shl",
            WordOp::Shr => "shr",
            WordOp::ShrSigned => "shr_signed",
            WordOp::Rotl => "rotl",
            WordOp::And => "and",
            WordOp::Or => "or",
            WordOp::Xor => "xor",
            WordOp::Not => "not",
            WordOp::Lookup(_) => "lookup",
            WordOp::Dot { .. } => "dot",
            WordOp::MatMul { .. } => "mat_mul",
            WordOp::MulShift { .. } => "mul_shift",
        }
    }

    /// The number of words that the operation takes.
    pub fn arity(&self) -> usize {
        match self {
            WordOp::Neg | WordOp::Square | WordOp::Not | WordOp::Lookup(_) => 1,
            WordOp::Select => 3,
            WordOp::Dot { n } => 2 * *n as usize,
            WordOp::MatMul { m, n, p } => (*n as usize).saturating_mul(*m as usize + *p as usize),
            _ => 2,
        }
    }

    /// The widths of the results for arguments of these widths. `None` if the operation does not take such
    /// arguments: their number or widths are wrong, or a word has no bits or too many.
    pub fn results(&self, args: &[usize]) -> Option<Vec<usize>> {
        let most = match self {
            WordOp::Mul | WordOp::MulWide | WordOp::Square => WordOp::WIDEST_FACTOR,
            WordOp::Dot { .. } | WordOp::MatMul { .. } | WordOp::MulShift { .. } => WordOp::WIDEST_FACTOR,
            WordOp::Div { .. } | WordOp::Rem { .. } | WordOp::DivRem { .. } => WordOp::WIDEST_FACTOR,
            _ => WordOp::WIDEST,
        };
        if args.iter().any(|bits| !(1..=most).contains(bits)) {
            return None;
        }
        match (self, args) {
            (WordOp::Dot { n }, &[bits, ..]) => self.summed(args, *n as usize).then(|| vec![bits]),
            (WordOp::MatMul { m, n, p }, &[bits, ..]) => {
                let results = (*m as usize).saturating_mul(*p as usize);
                self.summed(args, results.saturating_mul(*n as usize)).then(|| vec![bits; results])
            }
            (WordOp::MulShift { fraction }, &[n, m]) => {
                let fraction = *fraction as usize;
                (n == m && (1..n).contains(&fraction)).then(|| vec![n - fraction])
            }
            (WordOp::Dot { .. } | WordOp::MatMul { .. } | WordOp::MulShift { .. }, _) => None,
            (WordOp::Lookup(table), &[index]) => (index == table.delta()).then(|| vec![table.sigma()]),
            (WordOp::Lookup(_), _) => None,
            (WordOp::Neg | WordOp::Square | WordOp::Not, &[n]) => Some(vec![n]),
            (WordOp::Select, &[1, n, m]) if n == m => Some(vec![n]),
            (WordOp::Shl | WordOp::Shr | WordOp::ShrSigned | WordOp::Rotl, &[n, by]) => {
                (n * by <= WordOp::MOST_MUXES).then(|| vec![n])
            }
            (WordOp::Neg | WordOp::Square | WordOp::Not | WordOp::Select, _) => None,
            (WordOp::MulWide, &[n, m]) if n == m => Some(vec![2 * n]),
            (WordOp::DivRem { .. }, &[n, m]) if n == m => Some(vec![n, n]),
            (WordOp::Less { .. } | WordOp::Equal, &[n, m]) if n == m => Some(vec![1]),
            (_, &[n, m]) if n == m => Some(vec![n]),
            _ => None,
        }
    }

    /// Whether these are the words of sums of `products` products in all, not too many of them.
    fn summed(&self, args: &[usize], products: usize) -> bool {
        let alike = args.len() == self.arity() && args.iter().all(|bits| *bits == args[0]);
        alike && (1..=WordOp::MOST_SUMMED).contains(&products.saturating_mul(args[0] * args[0]))
    }
}

/// The most that is built to check the notes of a circuit, in gates: a multiple of what the notes and the
/// gates take in an encoding.
pub(crate) fn most_gates(gates: usize, notes: &[Note]) -> usize {
    const MOST: usize = 1 << 26;
    let bytes: usize = notes.iter().map(Note::bytes).sum();
    MOST.min(4 * gates + 100 * bytes)
}

impl Note {
    /// About the bytes that the note takes in an encoding, and never more.
    pub(crate) fn bytes(&self) -> usize {
        let table = if let WordOp::Lookup(table) = &self.op { table.bytes().len() } else { 0 };
        table + 4 * (self.args.iter().map(|word| 1 + word.len()).sum::<usize>() + self.outs.len())
    }

    /// Whether the circuit would be without this note, were its results not read by others: no gate is a result of it.
    pub(crate) fn is_idle(&self, first_gate_wire: usize) -> bool {
        self.outs.iter().flatten().all(|&wire| (wire as usize) < first_gate_wire)
    }
}

#[cfg(test)]
mod tests;
