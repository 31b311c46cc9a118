//! Why a name gives no circuit or program.

use std::ops::RangeInclusive;

/// The reason why a name gives no built-in circuit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// No built-in has this name.
    #[error("there is no built-in circuit `{name}`{}", suggestion(.nearest))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Names that are almost the same, the nearest first.
        nearest: Vec<String>,
    },
    /// A number in the name is too small or too large.
    #[error("`{name}`: {}", ranges(pattern, limits))]
    Width {
        /// The name that was asked for.
        name: String,
        /// The pattern that it follows.
        pattern: &'static str,
        /// The numbers that each capital of the pattern may stand for.
        limits: Vec<(char, RangeInclusive<usize>)>,
    },
    /// The name is that of a program of several calls, where a circuit was wanted.
    #[error("`{name}` is a program of several calls, not a circuit")]
    NoCircuit {
        /// The name that was asked for.
        name: String,
    },
}

fn ranges(pattern: &str, limits: &[(char, RangeInclusive<usize>)]) -> String {
    let ranges: Vec<String> = limits
        .iter()
        .map(|(capital, range)| format!("{capital} in `{pattern}` is from {} to {}", range.start(), range.end()))
        .collect();
    ranges.join(", ")
}

fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
    format!("; did you mean {}?", quoted.join(" or "))
}
