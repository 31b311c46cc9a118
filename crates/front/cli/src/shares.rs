//! Values in shares: `--input NAME=shared:FILE`, and `--shares-out` for what `--output-to shared` leaves with
//! each party.
//!
//! A file holds one party's share of one value. Where one command is all parties (`comity local`), a file of
//! party I is FILE.I.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use comity::{Owner, Recipients, Session, ValueShare};
use comity_files::{Access, create};
use comity_terminal::console::check_writable;
use comity_terminal::failure::{Failure, Outcome};

use crate::flags::Assigned;
use crate::resolve::Resolved;

/// What `--input` begins with if it names a share.
const SHARED: &str = "shared:";

#[derive(Args, Debug, Clone)]
pub(crate) struct ShareArgs {
    /// Write this party's share of an output that stays shared (`--output-to shared`) to FILE, which must not
    /// be there yet; with `local`, party I's goes to FILE.I
    #[arg(long, value_name = "[OUTPUT=]FILE")]
    pub(crate) shares_out: Vec<Assigned>,
    /// Let values come in as shares though the protocol withstands parties that cheat: shares have no MACs,
    /// and whoever holds one can flip bits of the value, unseen
    #[arg(long)]
    pub(crate) unauthenticated_shares: bool,
}

/// Files of shares, by the index of the value.
pub(crate) type Files = BTreeMap<usize, PathBuf>;

/// The values that come in as shares and where this party's are: they are then every party's. And the other values.
pub(crate) fn come_in(resolved: &mut Resolved, given: &[Assigned]) -> Outcome<(Files, Vec<Assigned>)> {
    let (mut files, mut values) = (Files::new(), Vec::new());
    for assigned in given {
        let Some(path) = assigned.value.strip_prefix(SHARED) else {
            values.push(assigned.clone());
            continue;
        };
        let Some(name) = &assigned.name else {
            return Err(Failure::input("which input is this a share of? Name it, as in --input NAME=shared:FILE"));
        };
        let index = resolved.input(name)?;
        if path.is_empty() || files.insert(index, path.into()).is_some() {
            let title = resolved.title(index);
            return Err(Failure::input(format!("input {title} wants one file: --input {name}=shared:FILE")));
        }
        let program = resolved.program.clone().with_owner(index, Owner::Shared);
        resolved.program = program.map_err(|e| Failure::input(e.to_string()))?;
    }
    let missing =
        |(index, input): &(usize, &comity_circuit::Input)| input.owner == Owner::Shared && !files.contains_key(index);
    if let Some((index, _)) = resolved.inputs().iter().enumerate().find(missing) {
        return Err(Failure::input(format!(
            "input {} comes in as shares: each party gives its own, with --input {index}=shared:FILE",
            resolved.title(index)
        )));
    }
    Ok((files, values))
}

/// Whether no value comes in as shares, and none stays shared.
pub(crate) fn are_none(resolved: &Resolved) -> bool {
    resolved.inputs().iter().all(|input| input.owner != Owner::Shared)
        && resolved.outputs().iter().all(|output| output.to != Recipients::Shared)
}

/// Where shares go: a file for each output that stays shared.
pub(crate) fn go_out(resolved: &Resolved, args: &ShareArgs) -> Outcome<Files> {
    let mut files = Files::new();
    let shared = |index: usize| resolved.outputs()[index].to == Recipients::Shared;
    let all: Vec<usize> = (0..resolved.outputs().len()).filter(|index| shared(*index)).collect();
    let title = |index: usize| format!("output {index} (`{}`)", resolved.outputs()[index].name);
    for assigned in &args.shares_out {
        let index = match (&assigned.name, &all[..]) {
            (Some(name), _) => resolved.output(name)?,
            (None, [only]) => *only,
            (None, []) => {
                return Err(Failure::input(
                    "--shares-out: no output stays shared; name one with --output-to OUTPUT=shared",
                ));
            }
            (None, _) => {
                return Err(Failure::input(
                    "several outputs stay shared: name the output, as in --shares-out OUTPUT=FILE",
                ));
            }
        };
        if !shared(index) {
            return Err(Failure::input(format!("{} does not stay shared: --output-to {index}=shared", title(index))));
        }
        if files.insert(index, PathBuf::from(&assigned.value)).is_some() {
            return Err(Failure::input(format!("{} goes to one file", title(index))));
        }
    }
    match all.iter().find(|index| !files.contains_key(index)) {
        Some(&index) => Err(Failure::input(format!(
            "{} stays shared: say where this party's share goes, with --shares-out {index}=FILE",
            title(index)
        ))),
        None => Ok(files),
    }
}

/// The files of one party of `comity local`.
pub(crate) fn of_party(files: &Files, party: u16) -> Files {
    let own = |path: &Path| {
        let mut path = path.as_os_str().to_owned();
        path.push(format!(".{party}"));
        PathBuf::from(path)
    };
    files.iter().map(|(index, path)| (*index, own(path))).collect()
}

/// The flags that tell a party of `comity local` its files.
pub(crate) fn flags(come_in: &Files, go_out: &Files, args: &ShareArgs, party: u16) -> Vec<String> {
    let come_in = of_party(come_in, party);
    let go_out = of_party(go_out, party);
    let inputs = come_in.iter().map(|(index, path)| format!("--input={index}={SHARED}{}", path.display()));
    let outputs = go_out.iter().map(|(index, path)| format!("--shares-out={index}={}", path.display()));
    let allowed = args.unauthenticated_shares.then(|| "--unauthenticated-shares".to_owned());
    inputs.chain(outputs).chain(allowed).collect()
}

/// The session with this party's shares.
pub(crate) fn put_in<'a>(
    session: Session<'a>,
    resolved: &Resolved,
    files: &Files,
    args: &ShareArgs,
) -> Outcome<Session<'a>> {
    files.iter().try_fold(session.unauthenticated_shares(args.unauthenticated_shares), |session, (&index, path)| {
        let share = read(path, resolved.inputs()[index].bits)
            .map_err(|why| Failure::input(format!("input {}: {}: {why}", resolved.title(index), path.display())))?;
        Ok(session.share(index, share))
    })
}

fn read(path: &Path, bits: usize) -> Result<ValueShare, String> {
    let limit = ValueShare::longest(bits);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| e.to_string())?;
    if file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())? as u64 > limit {
        return Err(format!("the file is far longer than a share of {bits} bits"));
    }
    ValueShare::decode(&bytes).map_err(|e| e.to_string())
}

/// Refuses files that could not be written in the end, before any work is done for them.
pub(crate) fn check(files: &Files) -> Outcome {
    let paths: Vec<&PathBuf> = files.values().collect();
    for (i, path) in paths.iter().enumerate() {
        if paths[..i].contains(path) {
            return Err(Failure::input(format!("{}: a file holds one share", path.display())));
        }
        if path.exists() {
            return Err(there(path));
        }
        check_writable(path)?;
    }
    Ok(())
}

/// Writes the shares, each to its file, which only its owner can read.
pub(crate) fn write(shares: &[(usize, ValueShare)], files: &Files) -> Outcome {
    for (index, share) in shares {
        let path = &files[index];
        create(path, Access::Owner, share.encode().as_bytes()).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => there(path),
            _ => unwritable(path, &e),
        })?;
    }
    Ok(())
}

fn there(path: &Path) -> Failure {
    let path = path.display();
    Failure::input(format!("{path} exists, and may hold the share of another value: name a new file"))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{}: cannot write this party's share: {error}", path.display()))
}
