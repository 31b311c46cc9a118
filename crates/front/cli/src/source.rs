//! Files that hold programs: which kind one is, and what it holds.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use comity_circuit::{Goal, Program};
use comity_format::{Format, ReadError, SequentialCircuit};
use comity_terminal::failure::{Failure, Outcome};

/// The longest program text that is read: far more than anybody writes.
const LONGEST_PROGRAM: u64 = 16 << 20;

/// The content of a file.
pub(crate) enum Source {
    /// A circuit, perhaps with flip-flops, and the format that it is written in.
    Design(SequentialCircuit, Format),
    /// A program in comity's language.
    Program(Program),
}

/// Reads a program or circuit file; a program in comity's language is compiled for a goal. An error names the file, the line and most often the column.
pub(crate) fn open(path: &Path, goal: Goal) -> Outcome<Source> {
    let name = path.display();
    let unreadable = |e: std::io::Error| Failure::input(format!("{name}: {e}"));
    if path.is_dir() {
        return Err(Failure::input(format!("{name}: this is a folder; name a program or circuit file")));
    }
    let file = File::open(path).map_err(unreadable)?;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("cty") => return program(path, file, goal).map(Source::Program),
        Some("v" | "sv") => {
            return Err(Failure::input(format!(
                "{name}: Verilog has to become a netlist first: \
                 yosys -p 'read_verilog {name}; synth -flatten -auto-top; abc -g AND,XOR; write_json {name}.json'"
            )));
        }
        _ => {}
    }
    let read = comity_format::read_sequential(BufReader::with_capacity(1 << 16, file));
    read.map(|(design, format)| Source::Design(design, format)).map_err(|e| match e {
        ReadError::Io(e) => unreadable(e),
        ReadError::Malformed { line, column: None, what } => Failure::input(format!("{name}:{line}: {what}")),
        ReadError::Malformed { line, column: Some(column), what } => {
            Failure::input(format!("{name}:{line}:{column}: {what}"))
        }
    })
}

/// What is odd about a circuit's file, for people.
pub(crate) fn oddities(path: &Path, design: &SequentialCircuit) -> Vec<String> {
    let name = path.display();
    design.warnings().iter().map(|odd| format!("{name}: {odd}")).collect()
}

fn program(path: &Path, file: File, goal: Goal) -> Outcome<Program> {
    let name = path.display().to_string();
    let mut text = Vec::new();
    let read = file.take(LONGEST_PROGRAM + 1).read_to_end(&mut text);
    if read.map_err(|e| Failure::input(format!("{name}: {e}")))? as u64 > LONGEST_PROGRAM {
        return Err(Failure::input(format!("{name}: a program has at most {LONGEST_PROGRAM} bytes")));
    }
    let text = String::from_utf8(text).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Failure::input(format!("{name}:{line}: this is not a text file: bytes that are not UTF-8"))
    })?;
    comity_language::compile_for(&name, &text, goal).map_err(|diagnostics| Failure::input(diagnostics.to_string()))
}
