//! `comity nisc inspect`: what a file is, and whether it is whole.

use std::path::Path;

use comity_mail::{FileKind, Query, QueryKey, Reference, examine, examine_copy};
use comity_nisc::Copies;
use comity_terminal::console::emit;
use comity_terminal::failure::{self, Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::bytes;
use serde::Serialize;

use super::args::InspectArgs;
use super::files;
use super::program::hex;
use crate::nisc::unseen::unseen;

/// The object that `--json` prints.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Report {
    Query {
        fingerprint: String,
        program: Program,
        copies: Protection,
        epoch: u32,
        input_bits: usize,
        bytes: u64,
    },
    Key {
        fingerprint: String,
        program: Program,
        copies: Protection,
        epoch: u32,
        /// The most answers that a batch should have.
        expected: u32,
        opened: usize,
        spent: bool,
    },
    Answer {
        name: String,
        /// The fingerprint of the query.
        query: String,
        /// The hash of the program.
        program: String,
        bytes: u64,
    },
    Copy {
        bytes: u64,
    },
}

#[derive(Serialize)]
struct Program {
    /// The program as its publisher calls it; the hash decides.
    text: String,
    hash: String,
    /// The party of each input value.
    owners: Vec<u8>,
}

#[derive(Serialize)]
struct Protection {
    total: usize,
    /// The number of copies that are evaluated, if they are coded.
    evaluated: Option<usize>,
    /// Whether the copies wait in a store.
    stored: bool,
    /// Minus log2 of the chance that a cheat in one answer is unseen.
    security: f64,
}

/// The command.
pub(super) fn run(args: &InspectArgs) -> Outcome {
    let path = &args.file;
    let report = report(path).map_err(|failure| failure.at(&path.display().to_string()))?;
    emit(&if args.json { to_line(&report) } else { text(path, &report) })
}

fn report(path: &Path) -> Outcome<Report> {
    let start = files::start(path, &mut files::open(path)?)?;
    Ok(match FileKind::of(&start) {
        Some(FileKind::Query) => {
            let query = Query::from_bytes(&files::read(path, FileKind::Query)?)?;
            let message = query.message();
            Report::Query {
                fingerprint: hex(query.fingerprint()),
                program: program(query.reference(), message.program()),
                copies: protection(message.copies()),
                epoch: message.epoch(),
                input_bits: message.input_bits(),
                bytes: query.to_bytes().len() as u64,
            }
        }
        Some(FileKind::Key) => {
            let key = QueryKey::from_bytes(&files::read(path, FileKind::Key)?)?;
            Report::Key {
                fingerprint: hex(key.fingerprint()),
                program: program(key.reference(), key.secret().program()),
                copies: protection(key.secret().copies()),
                epoch: key.secret().epoch(),
                expected: key.expected(),
                opened: key.opened(),
                spent: key.spent(),
            }
        }
        Some(FileKind::Answer) => {
            let (head, bytes) = examine(&mut files::open(path)?)?;
            let (name, query, program) = (head.name.to_string(), hex(&head.query), hex(&head.program));
            Report::Answer { name, query, program, bytes }
        }
        Some(FileKind::Copy) => Report::Copy { bytes: examine_copy(&mut files::open(path)?)? },
        None => {
            let message = "the file is not a query, a key or an answer of `comity nisc`";
            return Err(Failure::new(failure::Ending::Malformed, message));
        }
    })
}

fn program(reference: &Reference, hash: &[u8; 32]) -> Program {
    Program { text: reference.text().to_owned(), hash: hex(hash), owners: reference.owners().to_vec() }
}

fn protection(copies: Copies) -> Protection {
    Protection {
        total: copies.total(),
        evaluated: copies.evaluated(),
        stored: copies.is_stored(),
        security: copies.security(),
    }
}

/// The report for people.
fn text(path: &Path, report: &Report) -> String {
    let common = |fingerprint: &String, program: &Program, copies: &Protection, epoch: u32| {
        let coded = match copies.evaluated {
            Some(e) => format!(", coded, {e} evaluated"),
            None => if copies.stored { ", stored" } else { "" }.to_owned(),
        };
        let inputs = program.owners.iter().enumerate().map(|(i, party)| match party {
            0 => format!("{i} the publisher's"),
            _ => format!("{i} the sender's"),
        });
        let inputs = inputs.collect::<Vec<_>>().join(", ");
        format!(
            "  fingerprint  {fingerprint}\n  program      {}, hash {}\n  inputs       {inputs}\n  \
             copies       {}{coded}; {}\n  refreshed    {epoch} times\n",
            program.text,
            program.hash,
            copies.total,
            unseen(copies.security)
        )
    };
    let path = path.display();
    match report {
        Report::Query { fingerprint, program, copies, epoch, input_bits, bytes: count } => format!(
            "{path}: a query, whole, {}\n{}  publisher    {input_bits} input bits\n",
            bytes(*count),
            common(fingerprint, program, copies, *epoch)
        ),
        Report::Key { fingerprint, program, copies, epoch, expected, opened, spent } => format!(
            "{path}: the key of a query: keep it to yourself\n{}  answers      {opened} opened, up to {expected} \
             expected\n  state        {}\n",
            common(fingerprint, program, copies, *epoch),
            if *spent {
                "spent: only the answers that were opened can be opened again"
            } else {
                "ready to open answers"
            }
        ),
        Report::Answer { name, query, program, bytes: count } => format!(
            "{path}: an answer, whole, {}\n  sender       {name} (so it says)\n  to query     {query}\n  \
             program      hash {program}\n",
            bytes(*count)
        ),
        Report::Copy { bytes: count } => format!("{path}: a stored copy of an answer, whole, {}\n", bytes(*count)),
    }
}
