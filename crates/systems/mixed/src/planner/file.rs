//! A plan in a file: which forms somebody wants, by the lines of the source.
//!
//! ```text
//! # LINE [OPERATION] FORM: those of the line's operations that can be in the form, or all of one name.
//! 4 arithmetic
//! 4 less yao
//! # Gates that are no operation on words: floats, roots, hashes, arrays at private indices.
//! gates boolean
//! ```
//!
//! What a file does not name is free. An operation by its name goes before its line. Line 0 is that of operations
//! of which no line is known, as in programs that Rust builds.

use std::collections::HashMap;

use comity_circuit::Program;
use comity_core::{Error, Result};

use crate::form::Form;
use crate::graph::{FormGraph, NodeOf};

/// What a line of the file is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum What {
    Gates,
    Line(u32),
    Operation(u32, String),
}

/// What a line of the file asks for, and which line it is.
struct Wish {
    at: usize,
    what: What,
    form: Form,
}

/// Pins the nodes of a program's graph as the text of a file says.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) names the first line that is no wish, is there twice, names an operation
/// that the program does not have, or asks for a form that it cannot have.
pub(super) fn pin(text: &str, program: &Program, graph: &mut FormGraph) -> Result<()> {
    let mut wishes = Vec::new();
    let mut seen = HashMap::new();
    for (line, at) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wish = wish(line, at)?;
        if let Some(before) = seen.insert(wish.what.clone(), at) {
            return Err(refused(at, format!("line {before} gives the form of these operations already")));
        }
        wishes.push(wish);
    }
    // Operations by name come last: theirs is the last word.
    wishes.sort_by_key(|wish| matches!(wish.what, What::Operation(..)));
    let of = |node: usize| match graph.nodes[node].of {
        NodeOf::Note(circuit, note) => Some(program.circuits()[circuit].notes()[note].op.name()),
        _ => None,
    };
    let mut wanted: Vec<Option<Form>> = vec![None; graph.nodes.len()];
    for Wish { at, what, form } in &wishes {
        let is = |node: &usize| match what {
            What::Gates => matches!(graph.nodes[*node].of, NodeOf::Gates(_)),
            What::Line(line) => of(*node).is_some() && graph.nodes[*node].line == *line,
            What::Operation(line, name) => of(*node) == Some(name) && graph.nodes[*node].line == *line,
        };
        let named: Vec<usize> = (0..graph.nodes.len()).filter(is).collect();
        let can = |node: &&usize| graph.nodes[**node].costs[*form as usize].is_some();
        let possible = named.iter().filter(can).count();
        if named.is_empty() {
            return Err(refused(*at, missing(what, program, graph)));
        }
        if possible == 0 || (matches!(what, What::Operation(..)) && possible < named.len()) {
            let node = named.iter().find(|node| !can(node)).expect("one cannot");
            let name = of(*node).unwrap_or("gates");
            return Err(refused(
                *at,
                format!(
                    "`{name}` of `{}` cannot be {form} there: it is not on words, or pinned otherwise in the source",
                    program.name()
                ),
            ));
        }
        named.iter().filter(can).for_each(|&node| wanted[node] = Some(*form));
    }
    for (node, form) in graph.nodes.iter_mut().zip(wanted) {
        if let Some(form) = form {
            Form::ALL.iter().filter(|other| **other != form).for_each(|other| node.costs[*other as usize] = None);
        }
    }
    Ok(())
}

fn refused(at: usize, why: String) -> Error {
    Error::invalid_input(format!("line {at} of the plan: {why}"))
}

/// One line of the file.
fn wish(line: &str, at: usize) -> Result<Wish> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let form = |word: &str| {
        let names = Form::ALL.map(Form::name).join(", ");
        Form::named(word)
            .ok_or_else(|| refused(at, format!("`{}` is not a form: there are {names}", word.escape_debug())))
    };
    let number = |word: &str| {
        let number = word.parse().ok();
        number.ok_or_else(|| refused(at, format!("`{}` is not the number of a line, nor `gates`", word.escape_debug())))
    };
    let (what, form) = match words[..] {
        ["gates", word] => (What::Gates, form(word)?),
        [line, word] => (What::Line(number(line)?), form(word)?),
        [line, name, word] => (What::Operation(number(line)?, name.to_owned()), form(word)?),
        _ => {
            return Err(refused(
                at,
                format!("`{}` is not LINE FORM, LINE OPERATION FORM or gates FORM", line.escape_debug()),
            ));
        }
    };
    Ok(Wish { at, what, form })
}

/// Why there is nothing that a wish is about.
fn missing(what: &What, program: &Program, graph: &FormGraph) -> String {
    let name = program.name();
    let (line, operation) = match what {
        What::Gates => return format!("`{name}` has operations on words only, and no other gates"),
        What::Line(line) => (line, None),
        What::Operation(line, operation) => (line, Some(operation)),
    };
    let mut there: Vec<&str> = graph
        .nodes
        .iter()
        .filter_map(|node| match node.of {
            NodeOf::Note(circuit, note) if node.line == *line => {
                Some(program.circuits()[circuit].notes()[note].op.name())
            }
            _ => None,
        })
        .collect();
    there.sort_unstable();
    there.dedup();
    match (there.is_empty(), operation) {
        (false, Some(operation)) => {
            format!("line {line} of `{name}` has no `{}`; it has {}", operation.escape_debug(), there.join(", "))
        }
        _ => format!("line {line} of `{name}` has no operation on words"),
    }
}

#[cfg(test)]
mod tests;
