//! What a built-in is: its name, the numbers in it, its values, and how it is built.

use std::ops::RangeInclusive;

use comity_circuit::{Builder, Circuit, Goal, Program, Wire};

use crate::universal::valiant::{self, Split};
use crate::universal::{Shape, direct};

/// A family of built-in circuits or programs: their names, and what they take and return.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name. The capitals N, W and K in it stand for numbers: `addN`, `sortNxW`.
    pub pattern: &'static str,
    /// The function computed, in a few words.
    pub about: &'static str,
    /// The largest number for each capital of the pattern, in the pattern's order. [`range`](Entry::range)
    /// has the smallest, too.
    pub limits: &'static [usize],
    /// The input values.
    pub inputs: &'static [Value],
    /// The output values.
    pub outputs: &'static [Value],
    pub(crate) build: Build,
}

/// An input or output value of a built-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The value's name.
    pub name: &'static str,
    /// The number of its bits.
    pub width: Width,
}

/// The numbers in a name; those that it does not have are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The width of a word, or the number of elements.
    pub n: usize,
    /// The width of an element.
    pub w: usize,
    /// The number that K stands for.
    pub k: usize,
}

/// The width of a value, which may depend on the numbers in the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A fixed number of bits.
    Fixed(usize),
    /// N.
    N,
    /// N + 1.
    NPlus1,
    /// 2N.
    TwiceN,
    /// The bits of the binary N: ⌊log2 N⌋ + 1.
    BitsOfN,
    /// The bits that it takes to name one of N things: ⌈log2 N⌉, and at least 1.
    IndexOfN,
    /// W.
    W,
    /// N values of W bits.
    NTimesW,
    /// K values of W bits.
    KTimesW,
    /// N values of K bits.
    NTimesK,
    /// 2N values of W bits.
    TwiceNTimesW,
    /// N bytes.
    NBytes,
    /// K bytes.
    KBytes,
    /// The bits that say which circuit of N inputs, W outputs and K gates is meant.
    Function,
    /// As [`Width::Function`], for Valiant's universal circuits.
    FunctionOf(Split),
    /// As [`Width::Function`], where gates choose among all wires.
    DirectFunction,
}

/// A function that builds several values from values.
type Several = fn(&mut Builder, Size, &[Vec<Wire>]) -> Vec<Vec<Wire>>;

/// The way in which a built-in is built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Build {
    /// A circuit from two values to one.
    Words(fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>),
    /// A circuit from two values to a single bit.
    Bit(fn(&mut Builder, &[Wire], &[Wire]) -> Wire),
    /// A circuit from any values to one.
    Any(fn(&mut Builder, Size, &[Vec<Wire>]) -> Vec<Wire>),
    /// A circuit from any values to several.
    Several(Several),
    /// A program of several calls. Its values are those that the entry names.
    Program(fn(Goal, Size) -> Program),
}

impl Width {
    /// The number of bits for these numbers.
    pub fn bits(self, size: Size) -> usize {
        let Size { n, w, k } = size;
        match self {
            Width::Fixed(bits) => bits,
            Width::N => n,
            Width::NPlus1 => n + 1,
            Width::TwiceN => 2 * n,
            Width::BitsOfN => (usize::BITS - n.leading_zeros()) as usize,
            Width::IndexOfN => ((usize::BITS - n.saturating_sub(1).leading_zeros()) as usize).max(1),
            Width::W => w,
            Width::NTimesW => n * w,
            Width::KTimesW => k * w,
            Width::NTimesK => n * k,
            Width::TwiceNTimesW => 2 * n * w,
            Width::NBytes => 8 * n,
            Width::KBytes => 8 * k,
            Width::Function => Shape { inputs: n, outputs: w, gates: k }.program_bits(),
            Width::DirectFunction => direct::program_bits(Shape { inputs: n, outputs: w, gates: k }),
            Width::FunctionOf(split) => valiant::program_bits(Shape { inputs: n, outputs: w, gates: k }, split),
        }
    }
}

impl std::fmt::Display for Width {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Width::Fixed(bits) => write!(f, "{bits}"),
            Width::N => f.write_str("N"),
            Width::NPlus1 => f.write_str("N+1"),
            Width::TwiceN => f.write_str("2N"),
            Width::BitsOfN => f.write_str("⌊log2 N⌋+1"),
            Width::IndexOfN => f.write_str("⌈log2 N⌉"),
            Width::W => f.write_str("W"),
            Width::NTimesW => f.write_str("N*W"),
            Width::KTimesW => f.write_str("K*W"),
            Width::NTimesK => f.write_str("N*K"),
            Width::TwiceNTimesW => f.write_str("2N*W"),
            Width::NBytes => f.write_str("8N"),
            Width::KBytes => f.write_str("8K"),
            Width::Function | Width::FunctionOf(_) | Width::DirectFunction => f.write_str("F(N,W,K)"),
        }
    }
}

/// Whether a character of a pattern stands for a number.
fn is_capital(c: char) -> bool {
    matches!(c, 'N' | 'W' | 'K')
}

impl Entry {
    /// The capitals of the pattern, in its order, and the largest number for each.
    pub fn capitals(&self) -> impl Iterator<Item = (char, usize)> {
        self.pattern.chars().filter(|&c| is_capital(c)).zip(self.limits.iter().copied())
    }

    /// The numbers that a capital of the pattern, whose largest number is given, may stand for: from 1 on;
    /// from 0 on where it counts the bytes of a message or a key.
    pub fn range(&self, capital: char, largest: usize) -> RangeInclusive<usize> {
        let counts_bytes = |width| matches!((capital, width), ('N', Width::NBytes) | ('K', Width::KBytes));
        let least = usize::from(!self.inputs.iter().any(|value| counts_bytes(value.width)));
        least..=largest
    }

    /// Whether a name has the pattern's letters, and the digits in it that stand for the capitals.
    pub(crate) fn digits<'a>(&self, name: &'a str) -> Option<Vec<&'a str>> {
        let (mut rest, mut numbers) = (name, Vec::new());
        for piece in self.pattern.split_inclusive(is_capital) {
            let letters = piece.trim_end_matches(is_capital);
            rest = rest.strip_prefix(letters)?;
            if letters.len() < piece.len() {
                let (digits, behind) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
                numbers.push(Some(digits).filter(|digits| is_number(digits))?);
                rest = behind;
            }
        }
        rest.is_empty().then_some(numbers)
    }

    /// The numbers of digits, if all are in range.
    pub(crate) fn size(&self, digits: &[&str]) -> Option<Size> {
        let mut size = Size::default();
        for ((capital, largest), digits) in self.capitals().zip(digits) {
            let number = digits.parse().ok().filter(|number| self.range(capital, largest).contains(number))?;
            match capital {
                'N' => size.n = number,
                'W' => size.w = number,
                _ => size.k = number,
            }
        }
        Some(size)
    }

    /// The pattern with numbers for its capitals.
    pub(crate) fn name(&self, mut number: impl FnMut() -> String) -> String {
        self.pattern.chars().map(|c| if is_capital(c) { number() } else { c.to_string() }).collect()
    }

    pub(crate) fn circuit(&self, size: Size, goal: Goal) -> Option<Circuit> {
        let mut b = Builder::for_goal(goal);
        let inputs: Vec<Vec<Wire>> = match self.build {
            Build::Program(_) => return None,
            _ => self.inputs.iter().map(|value| b.input(value.name, value.width.bits(size))).collect(),
        };
        let outputs = match self.build {
            Build::Words(build) => vec![build(&mut b, &inputs[0], &inputs[1])],
            Build::Bit(build) => vec![vec![build(&mut b, &inputs[0], &inputs[1])]],
            Build::Any(build) => vec![build(&mut b, size, &inputs)],
            Build::Several(build) => build(&mut b, size, &inputs),
            Build::Program(_) => return None,
        };
        for (value, wires) in self.outputs.iter().zip(&outputs) {
            b.output(value.name, wires);
        }
        Some(b.finish())
    }
}

/// Whether the digits are some, without superfluous zeros: a circuit has one name.
fn is_number(digits: &str) -> bool {
    digits == "0" || !digits.is_empty() && !digits.starts_with('0')
}
