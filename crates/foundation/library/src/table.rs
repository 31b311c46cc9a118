//! The tables of built-ins, one for each subject.

mod arrays;
mod benchmarks;
mod ciphers;
mod floats;
mod hashes;
mod universal;
mod words;

use crate::entry::{Build, Entry, Value, Width};

/// All tables, in the order in which a list shows them.
pub(crate) const TABLES: &[&[Entry]] = &[
    ciphers::ENTRIES,
    hashes::ENTRIES,
    words::ENTRIES,
    arrays::ENTRIES,
    floats::ENTRIES,
    universal::ENTRIES,
    benchmarks::ENTRIES,
];

const fn value(name: &'static str, width: Width) -> Value {
    Value { name, width }
}

const fn fixed(name: &'static str, bits: usize) -> Value {
    value(name, Width::Fixed(bits))
}

/// A name without numbers.
const fn single(
    pattern: &'static str,
    about: &'static str,
    inputs: &'static [Value],
    outputs: &'static [Value],
    build: Build,
) -> Entry {
    Entry { pattern, about, limits: &[], inputs, outputs, build }
}

/// A family of names with numbers in them, and the largest ones.
const fn sized(
    (pattern, limits): (&'static str, &'static [usize]),
    about: &'static str,
    inputs: &'static [Value],
    outputs: &'static [Value],
    build: Build,
) -> Entry {
    Entry { pattern, about, limits, inputs, outputs, build }
}
