//! Circuits and programs by name.

use comity_circuit::{Circuit, Goal, Program};
use strsim::damerau_levenshtein;

use crate::entry::{Build, Entry, Size};
use crate::error::LibraryError;
use crate::table::TABLES;

/// The entries of all built-ins, in the order in which a list shows them.
pub fn names() -> impl Iterator<Item = &'static Entry> + Clone {
    TABLES.iter().copied().flatten()
}

/// Whether a built-in has this name, without building it.
pub fn contains(name: &str) -> bool {
    resolve(name).is_ok()
}

/// Whether a name has the form of a built-in's, whatever numbers stand in it, without building anything.
pub fn is_name(name: &str) -> bool {
    entry_of(name).is_some()
}

/// The built-in circuit of this name, if there is one. The error of [`circuit`] says why there is not.
pub fn find(name: &str) -> Option<Circuit> {
    circuit(name).ok()
}

/// The built-in circuit of this name, such as `aes128` or `add64`, in as few ANDs as we know how.
///
/// # Errors
/// As [`circuit_for`].
pub fn circuit(name: &str) -> Result<Circuit, LibraryError> {
    circuit_for(name, Goal::Size)
}

/// The built-in circuit of this name, such as `aes128` or `add64`, in the form for a goal.
///
/// # Errors
/// [`LibraryError`], with the nearest names or the numbers that exist; [`LibraryError::NoCircuit`] for a program.
pub fn circuit_for(name: &str, goal: Goal) -> Result<Circuit, LibraryError> {
    let (entry, size) = resolve(name)?;
    entry.circuit(size, goal).ok_or_else(|| LibraryError::NoCircuit { name: name.into() })
}

/// The built-in program of this name, in as few ANDs as we know how.
///
/// # Errors
/// As [`program_for`].
pub fn program(name: &str) -> Result<Program, LibraryError> {
    program_for(name, Goal::Size)
}

/// The built-in program of this name, in the form for a goal: a circuit is a program with one call. In a
/// circuit input value `i` belongs to party `i`, and all parties learn the outputs.
///
/// # Errors
/// [`LibraryError`], with the nearest names or the numbers that exist.
pub fn program_for(name: &str, goal: Goal) -> Result<Program, LibraryError> {
    let (entry, size) = resolve(name)?;
    let program = match (entry.build, entry.circuit(size, goal)) {
        (Build::Program(build), _) => build(goal, size),
        (_, circuit) => Program::from_circuit(circuit.expect("all but programs are circuits"))
            .expect("a built-in has fewer values than there can be parties"),
    };
    Ok(program.with_name(name).with_goal(goal))
}

/// The entry that a name has the form of, and the digits where it has numbers.
fn entry_of(name: &str) -> Option<(&'static Entry, Vec<&str>)> {
    // A name without numbers comes first: `aes128` is no width.
    let exact = names().filter(|entry| entry.limits.is_empty() && entry.pattern == name);
    let sized = names().filter(|entry| !entry.limits.is_empty());
    exact.chain(sized).find_map(|entry| Some((entry, entry.digits(name)?)))
}

/// The entry of a name, and its numbers.
fn resolve(name: &str) -> Result<(&'static Entry, Size), LibraryError> {
    let Some((entry, digits)) = entry_of(name) else {
        return Err(LibraryError::Unknown { name: name.into(), nearest: nearest(name) });
    };
    let size = entry.size(&digits).ok_or_else(|| LibraryError::Width {
        name: name.into(),
        pattern: entry.pattern,
        limits: entry.capitals().map(|(capital, largest)| (capital, entry.range(capital, largest))).collect(),
    })?;
    Ok((entry, size))
}

/// The names that are at most a slip of the hand away, the nearest first, at most three.
fn nearest(name: &str) -> Vec<String> {
    let numbers =
        || name.split(|c: char| !c.is_ascii_digit()).map(|d| d.trim_start_matches('0')).filter(|d| !d.is_empty());
    let mut near: Vec<(usize, String)> = names()
        .map(|entry| {
            // A missing number is no slip in the letters.
            let mut given = numbers();
            let distance = damerau_levenshtein(name, &entry.name(|| given.next().unwrap_or_default().to_owned()));
            let mut given = numbers();
            (distance, entry.name(|| given.next().unwrap_or("32").to_owned()))
        })
        .filter(|&(distance, _)| distance <= name.chars().count() / 3)
        .collect();
    near.sort_by_key(|&(distance, _)| distance);
    let best = near.first().map_or(0, |&(distance, _)| distance);
    near.into_iter().filter(|&(distance, _)| distance == best).map(|(_, name)| name).take(3).collect()
}
