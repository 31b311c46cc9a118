//! `comity circuit`: list, describe, convert and check circuits.

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use comity_circuit::{Circuit, Goal, Program, Type};
use comity_format::Format;
use comity_terminal::console::{emit, emit_bytes, note, write_whole};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;

use crate::args::{Optimize, ProgramArgs, RoleArgs, programs};
use crate::json;
use crate::resolve::{Resolved, circuit, resolve};
use crate::source::{self, Source};

#[derive(Subcommand, Debug)]
pub(crate) enum CircuitCommand {
    /// List the built-in circuits
    List {
        /// Only those with this word in their name or description; an instance's name, such as add64, finds
        /// what it is of
        word: Option<String>,
        /// Print one JSON array of names
        #[arg(long)]
        json: bool,
    },
    /// Describe a program: its values, whose they are, and its gates
    #[command(after_help = programs!())]
    Info {
        #[command(flatten)]
        program: ProgramArgs,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write a built-in circuit or a circuit file in a format that other tools read
    Export {
        /// A built-in name, or a program or circuit file
        program: String,
        /// Make one circuit of all calls of a program
        #[arg(long)]
        flatten: bool,
        /// The format
        #[arg(long, value_enum, default_value_t = CircuitFormat::BristolFashion)]
        format: CircuitFormat,
        /// The form of a built-in: few AND gates, or few of them one behind another
        #[arg(long, value_enum, value_name = "GOAL", default_value_t = Optimize::Auto)]
        optimize: Optimize,
        /// Write to FILE, which appears only when whole, and not to standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Check a program or circuit file: say what it is, or which line is wrong and why
    Check {
        /// The file
        file: PathBuf,
        /// Print one JSON object, as `info` does (an error, too)
        #[arg(long)]
        json: bool,
    },
}

/// A circuit file format.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CircuitFormat {
    /// Bristol Fashion
    BristolFashion,
    /// The older Bristol format: two inputs, one output, AND, XOR and INV gates
    Bristol,
    /// SHDL, the format of Fairplay: gates with truth tables
    Shdl,
}

/// The command.
pub(crate) fn run(command: &CircuitCommand) -> Outcome {
    match command {
        CircuitCommand::List { word, json } => list(word.as_deref(), *json),
        CircuitCommand::Info { program, json } => {
            let resolved = resolve(program, Goal::Size)?;
            resolved.warn();
            let info = describe(&resolved);
            emit(&if *json { to_line(&info) } else { format!("{}\n{}", info.name, body(&resolved, &info)) })
        }
        CircuitCommand::Export { program, flatten, format, optimize, output } => {
            let goal = optimize.goal(Goal::Size);
            let circuit = if *flatten { flattened(program, *optimize)? } else { circuit(program, goal)? };
            export(program, &circuit, *format, output.as_deref())
        }
        CircuitCommand::Check { file, json } => check(file, *json),
    }
}

fn describe(resolved: &Resolved) -> json::Info {
    let totals = resolved.program.totals();
    json::Info {
        name: resolved.text.clone(),
        party_names: resolved.names.of_program().to_vec(),
        inputs: (resolved.inputs().iter())
            .map(|v| json::Input {
                party: v.owner.party().map(|party| party.0),
                name: v.name.clone(),
                bits: v.bits as u64,
                ty: typed(&v.ty),
            })
            .collect(),
        outputs: (resolved.outputs().iter())
            .map(|v| json::Output {
                name: v.name.clone(),
                bits: v.bits as u64,
                to: json::recipients(v.to),
                ty: typed(&v.ty),
            })
            .collect(),
        and: totals.and,
        xor: totals.xor,
        not: totals.not,
        and_depth: totals.and_depth,
        calls: totals.calls,
        goal: resolved.program.goal().name(),
        notes: resolved.program.noted(),
    }
}

/// Values and gates, for people.
fn body(resolved: &Resolved, info: &json::Info) -> String {
    let names = info.inputs.iter().map(|v| &v.name).chain(info.outputs.iter().map(|v| &v.name));
    let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (index, value) in resolved.inputs().iter().enumerate() {
        let ty = kind(&typed(&value.ty), value.bits as u64);
        text += &format!("  input {index}   {:width$}  {ty}, from {}\n", value.name, value.owner);
    }
    for (index, value) in resolved.outputs().iter().enumerate() {
        let ty = kind(&typed(&value.ty), value.bits as u64);
        text += &format!("  output {index}  {:width$}  {ty}, to {}\n", value.name, value.to);
    }
    text = resolved.names.named(&text);
    let calls = if info.calls == 1 { String::new() } else { format!(" in {} calls", info.calls) };
    text +=
        &format!("  {} AND, {} XOR, {} NOT gates{calls}; AND depth {}\n", info.and, info.xor, info.not, info.and_depth);
    if !info.notes.is_empty() {
        let notes: Vec<String> = info.notes.iter().map(|(op, count)| format!("{count} {op}")).collect();
        text += &format!("  operations noted: {}\n", notes.join(", "));
    }
    text
}

/// A type, spelled out, if it says more than a width.
fn typed(ty: &Type) -> Option<String> {
    if matches!(ty, Type::Bits(_)) { None } else { Some(ty.describe()) }
}

/// A description of a value, for people.
fn kind(ty: &Option<String>, bits: u64) -> String {
    let width = if bits == 1 { "1 bit".to_owned() } else { format!("{bits} bits") };
    ty.as_ref().map_or(width.clone(), |ty| format!("{ty} ({width})"))
}

/// Whether a word is in the name or description of a built-in, or is the name of one of its size.
fn found(entry: &comity_library::Entry, word: &str) -> bool {
    let word = word.to_lowercase();
    let letters = |name: &str| name.split(|c: char| c.is_ascii_digit() || c.is_uppercase()).collect::<String>();
    let sized = comity_library::is_name(&word) && letters(entry.pattern) == letters(&word);
    sized || entry.pattern.to_lowercase().contains(&word) || entry.about.to_lowercase().contains(&word)
}

fn list(word: Option<&str>, json: bool) -> Outcome {
    let entries = || comity_library::names().filter(move |entry| word.is_none_or(|word| found(entry, word)));
    if let Some(word) = word
        && entries().next().is_none()
    {
        return Err(Failure::input(format!(
            "no built-in circuit has `{word}` in its name or description; `comity circuit list` lists all"
        )));
    }

    let values = |values: &[comity_library::Value]| -> String {
        let all: Vec<String> = values.iter().map(|v| format!("{} {}", v.name, v.width)).collect();
        all.join(", ")
    };
    if json {
        let all: Vec<_> = entries()
            .map(|e| json::Builtin { name: e.pattern, about: e.about, limits: e.capitals().collect() })
            .collect();
        return emit(&to_line(&all));
    }
    let width = entries().map(|e| e.pattern.len()).max().unwrap_or(0);
    let mut text = String::new();
    for entry in entries() {
        text += &format!("{:width$}  {}\n", entry.pattern, entry.about);
        text += &format!("{:width$}  bits: {} -> {}\n", "", values(entry.inputs), values(entry.outputs));
    }
    emit(&text)?;
    note(
        "N, W and K stand for numbers, as in add64 and sort1024x32: N is a width in bits or a count, W the width of an element.",
    );
    Ok(())
}

/// One circuit of all calls of a program.
fn flattened(program: &str, optimize: Optimize) -> Outcome<Circuit> {
    let roles = RoleArgs { owner: Vec::new(), output_to: Vec::new() };
    let resolved = resolve(&ProgramArgs { program: program.to_owned(), roles, optimize }, Goal::Size)?;
    resolved.warn();
    resolved.program.flatten().map_err(|e| Failure::input(format!("{program}: {e}")))
}

fn export(program: &str, circuit: &Circuit, format: CircuitFormat, output: Option<&Path>) -> Outcome {
    let format = match format {
        CircuitFormat::BristolFashion => Format::BristolFashion,
        CircuitFormat::Bristol => Format::Bristol,
        CircuitFormat::Shdl => Format::Shdl,
    };
    let mut file = Vec::new();
    comity_format::write(circuit, format, &mut file).map_err(|e| Failure::input(format!("{program}: {e}")))?;
    match output {
        Some(path) => write_whole(path, &file),
        None => emit_bytes(&file),
    }
}

fn check(file: &Path, json: bool) -> Outcome {
    let name = file.display().to_string();
    let mut oddities = Vec::new();
    let (program, what) = match source::open(file, Goal::Size)? {
        Source::Design(design, format) => {
            oddities = source::oddities(file, &design);
            let what = match format {
                Format::BristolFashion => "a circuit in Bristol Fashion",
                Format::Bristol => "a circuit in the older Bristol format",
                Format::Shdl => "a circuit in SHDL",
                Format::Blif => "a netlist in BLIF",
                Format::Yosys => "a netlist in yosys' JSON",
            };
            let (what, program) = match design.flip_flops() {
                0 => (what.to_owned(), Program::from_circuit(design.circuit().clone())),
                count => (format!("{what} with {count} flip-flops; one clock cycle:"), design.cycles(1)),
            };
            (program.map_err(|e| Failure::input(format!("{name}: {e}")))?, what)
        }
        Source::Program(program) => (program, "a program".to_owned()),
    };
    let resolved = Resolved { oddities, ..Resolved::whole(name, program) };
    resolved.warn();
    let info = describe(&resolved);
    if json {
        return emit(&to_line(&info));
    }
    emit(&format!("{}: {what}\n{}", file.display(), body(&resolved, &info)))
}
