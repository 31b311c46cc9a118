//! Files that hold programs: which kind one is, and what it holds.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use comity::pfe::Arity;
use comity_circuit::{Goal, Program};
use comity_format::{Format, ReadError, SequentialCircuit};
use comity_terminal::failure::{Ending, Failure, Outcome};
use zeroize::Zeroizing;

/// The longest program text that is read: far more than anybody writes.
const LONGEST_PROGRAM: u64 = 16 << 20;

/// The content of a file.
pub(crate) enum Source {
    /// A circuit, perhaps with flip-flops, and the format that it is written in.
    Design(SequentialCircuit, Format),
    /// A program in comity's language, or that of a shape.
    Program(Program),
}

/// Opens a file for reading. A folder is refused, and so is a pipe or a device, which may never end.
pub(crate) fn regular(path: &Path) -> Outcome<File> {
    let cannot = |error| Failure::disk(&format!("{}: cannot read it", path.display()), &error);
    let metadata = fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "a pipe or a device: save its content to a file first" };
        return Err(Failure::input(format!("{}: this is {what}", path.display())));
    }
    File::open(path).map_err(cannot)
}

/// Reads a short file, which may be a pipe, such as one from a command that prints it: at most `longest`
/// bytes, within `time`.
pub(crate) fn short(path: &Path, longest: u64, time: Duration) -> Outcome<Zeroizing<Vec<u8>>> {
    let (tell, heard) = mpsc::channel();
    let of = path.to_owned();
    // A pipe without a writer is waited for without end, and so that thread ends with the process.
    thread::spawn(move || {
        let mut bytes = Zeroizing::new(Vec::new());
        let read = File::open(of).and_then(|file| file.take(longest + 1).read_to_end(&mut bytes));
        let _ = tell.send(read.map(|_| bytes));
    });
    let name = path.display();
    let bytes = heard.recv_timeout(time).map_err(|_| {
        Failure::new(Ending::Timeout, format!("{name}: its end was not reached within {} s", time.as_secs()))
    })?;
    let bytes = bytes.map_err(|error| Failure::disk(&format!("{name}: cannot read it"), &error))?;
    if bytes.len() as u64 > longest {
        return Err(Failure::input(format!("{name}: it has more than {longest} bytes, and should be short")));
    }
    Ok(bytes)
}

/// Reads a program or circuit file; a program in comity's language is compiled for a goal. An error names the
/// file, the line and most often the column.
pub(crate) fn open(path: &Path, goal: Goal) -> Outcome<Source> {
    let name = path.display();
    let unreadable = |e: std::io::Error| Failure::input(format!("{name}: {e}"));
    if path.is_dir() {
        return Err(Failure::input(format!("{name}: this is a folder; name a program or circuit file")));
    }
    let file = File::open(path).map_err(unreadable)?;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("cty") => return program(path, file, goal).map(Source::Program),
        Some("shape") => return Ok(Source::Program(arity(path)?.program(goal))),
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

/// The oddities of a circuit's file, for people.
pub(crate) fn oddities(path: &Path, design: &SequentialCircuit) -> Vec<String> {
    let name = path.display();
    design.warnings().iter().map(|odd| format!("{name}: {odd}")).collect()
}

fn program(path: &Path, file: File, goal: Goal) -> Outcome<Program> {
    let name = path.display().to_string();
    let text = text(&name, file)?;
    comity_language::compile_for(&name, &text, goal).map_err(|diagnostics| Failure::input(diagnostics.to_string()))
}

/// Reads the shape of a private function whose numbers of readers are public: the program of such a file is
/// their universal circuit.
pub(crate) fn arity(path: &Path) -> Outcome<Arity> {
    let name = path.display().to_string();
    if path.extension().is_none_or(|extension| extension != "shape") {
        return Err(Failure::input(format!("{name}: the name of a shape's file ends in .shape, as credit.shape does")));
    }
    let text = text(&name, regular(path)?)?;
    text.parse().map_err(|why| Failure::input(format!("{name}: {why}")))
}

/// The text of a file.
fn text(name: &str, file: File) -> Outcome<String> {
    let mut text = Vec::new();
    let read = file.take(LONGEST_PROGRAM + 1).read_to_end(&mut text);
    if read.map_err(|e| Failure::input(format!("{name}: {e}")))? as u64 > LONGEST_PROGRAM {
        return Err(Failure::input(format!("{name}: a program has at most {LONGEST_PROGRAM} bytes")));
    }
    String::from_utf8(text).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Failure::input(format!("{name}:{line}: this is not a text file: bytes that are not UTF-8"))
    })
}
