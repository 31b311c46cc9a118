//! Circuits by name.

use strsim::levenshtein;

use super::LibraryError;
use super::table::TABLE;
use crate::{Builder, Circuit, Wire};

/// A family of built-in circuits: its names, and what they take and return.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name, which ends in `N` if that stands for a number.
    pub pattern: &'static str,
    /// What the circuit computes, in a few words.
    pub about: &'static str,
    /// The largest N; none where the name is a single circuit's.
    pub largest: Option<usize>,
    /// The input values.
    pub inputs: &'static [Value],
    /// The output value.
    pub output: Value,
    pub(super) build: Build,
}

/// An input or output value of a built-in circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name.
    pub name: &'static str,
    /// How many bits it has.
    pub width: Width,
}

/// How many bits a value has, which may depend on the N in the circuit's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// So many.
    Fixed(usize),
    /// N.
    N,
    /// N + 1.
    NPlus1,
    /// 2N.
    TwiceN,
    /// As many as the binary N has: ⌊log2 N⌋ + 1.
    BitsOfN,
}

/// How a circuit is built.
#[derive(Clone, Copy, Debug)]
pub(super) enum Build {
    /// From two values.
    Words(fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>),
    /// From two values, to a single bit.
    Bit(fn(&mut Builder, &[Wire], &[Wire]) -> Wire),
    /// From N and any values.
    Any(fn(&mut Builder, usize, &[Vec<Wire>]) -> Vec<Wire>),
}

impl Width {
    /// The number of bits for this N.
    pub fn bits(self, n: usize) -> usize {
        match self {
            Width::Fixed(bits) => bits,
            Width::N => n,
            Width::NPlus1 => n + 1,
            Width::TwiceN => 2 * n,
            Width::BitsOfN => (usize::BITS - n.leading_zeros()) as usize,
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
        }
    }
}

impl Entry {
    /// The pattern up to the N.
    fn stem(&self) -> &'static str {
        if self.largest.is_some() { self.pattern.trim_end_matches('N') } else { self.pattern }
    }

    fn circuit(&self, n: usize) -> Circuit {
        let mut b = Builder::new();
        let inputs: Vec<Vec<Wire>> = self.inputs.iter().map(|value| b.input(value.name, value.width.bits(n))).collect();
        let output = match self.build {
            Build::Words(build) => build(&mut b, &inputs[0], &inputs[1]),
            Build::Bit(build) => vec![build(&mut b, &inputs[0], &inputs[1])],
            Build::Any(build) => build(&mut b, n, &inputs),
        };
        b.output(self.output.name, &output);
        b.finish()
    }
}

/// All built-in circuits.
pub fn names() -> &'static [Entry] {
    TABLE
}

/// Whether a built-in circuit has this name, without building it.
pub fn contains(name: &str) -> bool {
    resolve(name).is_ok()
}

/// The built-in circuit of this name, if there is one. [`circuit`] says why there is none.
pub fn find(name: &str) -> Option<Circuit> {
    circuit(name).ok()
}

/// The built-in circuit of this name, such as `aes128` or `add64`.
///
/// # Errors
/// [`LibraryError`], with the nearest names or the widths that exist.
pub fn circuit(name: &str) -> Result<Circuit, LibraryError> {
    resolve(name).map(|(entry, n)| entry.circuit(n))
}

/// The entry of a name, and its N.
fn resolve(name: &str) -> Result<(&'static Entry, usize), LibraryError> {
    if let Some(entry) = TABLE.iter().find(|entry| entry.largest.is_none() && entry.pattern == name) {
        return Ok((entry, 0));
    }
    let (stem, digits) = split(name);
    for entry in TABLE {
        let Some(largest) = entry.largest.filter(|_| entry.stem() == stem && is_number(digits)) else { continue };
        return match digits.parse() {
            Ok(n) if (1..=largest).contains(&n) => Ok((entry, n)),
            _ => Err(LibraryError::Width { name: name.into(), pattern: entry.pattern, largest }),
        };
    }
    Err(LibraryError::Unknown { name: name.into(), nearest: nearest(name) })
}

/// A name and the number at its end.
fn split(name: &str) -> (&str, &str) {
    name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// Whether the digits are some, without superfluous zeros: a circuit has one name.
fn is_number(digits: &str) -> bool {
    digits == "0" || !digits.is_empty() && !digits.starts_with('0')
}

/// The names that are at most a slip of the hand away, the nearest first, at most three.
fn nearest(name: &str) -> Vec<String> {
    let (_, digits) = split(name);
    let number = Some(digits.trim_start_matches('0')).filter(|digits| !digits.is_empty()).unwrap_or("32");
    let mut near: Vec<(usize, String)> = TABLE
        .iter()
        .map(|entry| match entry.largest {
            None => (levenshtein(name, entry.pattern), entry.pattern.into()),
            // A missing number is no slip in the letters.
            Some(_) => (levenshtein(name, &format!("{}{digits}", entry.stem())), format!("{}{number}", entry.stem())),
        })
        .filter(|&(distance, _)| distance <= 1 + name.chars().count() / 4)
        .collect();
    near.sort_by_key(|&(distance, _)| distance);
    let best = near.first().map_or(0, |&(distance, _)| distance);
    near.into_iter().filter(|&(distance, _)| distance == best).map(|(_, name)| name).take(3).collect()
}
