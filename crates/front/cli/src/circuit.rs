//! `comity circuit`: list, describe, convert and check circuits.

use std::path::Path;

use comity_circuit::{Recipients, library};

use crate::args::{CircuitCommand, CircuitFormat};
use crate::console::{deliver, emit, note};
use crate::failure::{Failure, Outcome};
use crate::json;
use crate::resolve::{Resolved, circuit, resolve};

/// The command.
pub(crate) fn run(command: &CircuitCommand) -> Outcome {
    match command {
        CircuitCommand::List { json } => list(*json),
        CircuitCommand::Info { program, json } => {
            let resolved = resolve(program)?;
            let info = describe(&resolved);
            emit(&if *json { json::line(&info) } else { text(&resolved, &info) })
        }
        CircuitCommand::Export { program, format, output } => export(program, *format, output.as_deref()),
        CircuitCommand::Check { file, json } => check(file, *json),
    }
}

fn describe(resolved: &Resolved) -> json::Info {
    let totals = resolved.program.totals();
    json::Info {
        name: resolved.text.clone(),
        inputs: (resolved.inputs().iter())
            .map(|v| json::Input { party: v.party, name: v.name.clone(), bits: v.bits as u64 })
            .collect(),
        outputs: (resolved.outputs().iter())
            .map(|v| json::Output { name: v.name.clone(), bits: v.bits as u64 })
            .collect(),
        and: totals.and,
        xor: totals.xor,
        not: totals.not,
        and_depth: totals.and_depth,
        calls: totals.calls,
    }
}

/// [`json::Info`] for people.
fn text(resolved: &Resolved, info: &json::Info) -> String {
    let names = info.inputs.iter().map(|v| &v.name).chain(info.outputs.iter().map(|v| &v.name));
    let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}\n", info.name);
    for (index, value) in info.inputs.iter().enumerate() {
        text += &format!("  input {index}   {:width$}  {} bits, from party {}\n", value.name, value.bits, value.party);
    }
    for (index, value) in resolved.outputs().iter().enumerate() {
        let to = match value.to {
            Recipients::All => "all parties".to_owned(),
            Recipients::Party(party) => format!("party {party}"),
        };
        text += &format!("  output {index}  {:width$}  {} bits, to {to}\n", value.name, value.bits);
    }
    let calls = if info.calls == 1 { String::new() } else { format!(" in {} calls", info.calls) };
    text +=
        &format!("  {} AND, {} XOR, {} NOT gates{calls}; AND depth {}\n", info.and, info.xor, info.not, info.and_depth);
    text
}

fn list(json: bool) -> Outcome {
    let values = |values: &[library::Value]| -> String {
        let all: Vec<String> = values.iter().map(|v| format!("{} {}", v.name, v.width)).collect();
        all.join(", ")
    };
    if json {
        let all: Vec<_> = (library::names().iter())
            .map(|e| json::Builtin { name: e.pattern, about: e.about, largest: e.largest })
            .collect();
        return emit(&json::line(&all));
    }
    let width = library::names().iter().map(|e| e.pattern.len()).max().unwrap_or(0);
    let mut text = String::new();
    for entry in library::names() {
        text += &format!("{:width$}  {}\n", entry.pattern, entry.about);
        text += &format!("{:width$}  bits: {} -> {}\n", "", values(entry.inputs), values(&[entry.output]));
    }
    emit(&text)?;
    note("N stands for a number, as in add64: the width in bits (for chainN, how many gates).");
    Ok(())
}

fn export(program: &str, format: CircuitFormat, output: Option<&Path>) -> Outcome {
    let circuit = circuit(program)?;
    deliver(&crate::shim::write(&circuit, format)?, output)
}

fn check(file: &Path, json: bool) -> Outcome {
    Ok(())
}
