//! `comity nisc`: a query, answers by mail, and one batch that opens them.

pub(crate) mod args;
mod files;
mod inspect;
mod keyfile;
mod meter;
mod open;
mod program;
mod store;
mod unseen;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use comity_core::Bits;
use comity_files::Access;
use comity_mail::{FileKind, Name, Query, QueryKey, stored_bytes};
use comity_net::SystemRng;
use comity_nisc::{Copies, Cost};
use comity_terminal::console::{emit, note};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::numbers::bytes;

use crate::backend::backend;
use crate::resolve::Resolved;
use crate::values::{self, Order};
use args::{InputArgs, NiscCommand, PublishArgs, RefreshArgs, RespondArgs};
use files::{Partial, failed};
use keyfile::KeyFile;
use meter::Meter;
use program::hex;
use store::Place;
use unseen::unseen;

/// The command.
pub(crate) fn run(command: &NiscCommand) -> Outcome<ExitCode> {
    match command {
        NiscCommand::Publish(args) => publish(args),
        NiscCommand::Respond(args) => respond(args),
        NiscCommand::Open(args) => return open::run(args),
        NiscCommand::Refresh(args) => refresh(args),
        NiscCommand::Inspect(args) => inspect::run(args),
    }
    .map(|()| ExitCode::SUCCESS)
}

fn publish(args: &PublishArgs) -> Outcome {
    let resolved = program::named(&args.program, &args.owner, &args.output_to)?;
    let copies = copies(args)?;
    let cost = Cost::new(&resolved.program, copies)?;
    let inputs = inputs(&resolved, &args.inputs, 0)?;
    KeyFile::check_new(&args.secret)?;
    if args.out == args.secret {
        return Err(Failure::input("--out and --secret name one file: the query is published, the key stays with you"));
    }
    let key = QueryKey::publish(
        backend()?,
        &resolved.program,
        &resolved.text,
        &inputs,
        copies,
        args.answers,
        &mut SystemRng,
    )?;
    let query = write_query(&key, &args.out)?;
    // The key first: a query without its key is worth nothing.
    KeyFile::create(&args.secret, &key)?;
    query.keep()?;
    note(&format!(
        "{}: send it to whoever should answer; an answer has {}{}. {}: keep it to yourself, and keep only one of it. The \
         fingerprint of the query, to compare with senders:",
        args.out.display(),
        bytes(cost.answer_bytes),
        if args.stored {
            format!(", and its sender stores {} files of {} each", copies.total(), bytes(stored_bytes(cost.copy_bytes)))
        } else {
            String::new()
        },
        args.secret.display()
    ));
    let left = copies.security() - f64::from(args.answers).log2();
    if copies.total() == 1 {
        note(
            "warning: one copy is evaluated and never checked. This is no protection at all, and good for trying out only: \
              whoever answers can make any output come out, also one that depends on your input",
        );
    } else if left < 39.9 {
        note(&format!("warning: of {} expected answers, {}", args.answers, unseen(left)));
    }
    emit(&format!("{}\n", hex(key.fingerprint())))
}

/// The copies of the garbled circuit that the flags ask for.
fn copies(args: &PublishArgs) -> Outcome<Copies> {
    // log2 Q, rounded up.
    let rho = args.rho + args.answers.next_power_of_two().trailing_zeros();
    match (args.coded, args.copies) {
        (false, None) if rho == 1 => Err(Failure::input(
            "--rho 1: with one copy of the circuit, which is evaluated and never checked, there is no protection at \
                all. Choose 2 or more, or --coded; --copies 1 is there for trying out",
        )),
        (false, copies) => {
            let form = if args.stored { Copies::stored } else { Copies::all };
            Ok(form(copies.unwrap_or(rho as usize))?)
        }
        (true, None) => {
            let first = Copies::frontier(rho)?.into_iter().next();
            first.ok_or_else(|| Failure::input(format!("--coded: no number of copies serves --rho {rho}")))
        }
        (true, Some(total)) => {
            let all = Copies::frontier(rho)?;
            all.iter().copied().find(|copies| copies.total() == total).ok_or_else(|| {
                let numbers: Vec<String> = all.iter().map(|copies| copies.total().to_string()).collect();
                let numbers = numbers.join(", ");
                Failure::input(format!("--copies {total} --coded: for {rho} bits of security, choose one of {numbers}"))
            })
        }
    }
}

/// A party's input values, as the protocol takes them.
fn inputs(resolved: &Resolved, args: &InputArgs, party: u16) -> Outcome<Vec<Option<Bits>>> {
    let order = Order::new(resolved, &args.bits)?;
    let mut own: BTreeMap<usize, Bits> = values::read(resolved, &order, &args.input, Some(party))?;
    Ok((0..resolved.inputs().len()).map(|index| own.remove(&index)).collect())
}

/// The query of a key, complete but for its name.
fn write_query(key: &QueryKey, path: &std::path::Path) -> Outcome<Partial> {
    let mut partial = Partial::new(path, Access::Umask)?;
    partial.write_all(key.query().to_bytes()).map_err(|e| failed(path, "cannot write it", &e))?;
    Ok(partial)
}

fn respond(args: &RespondArgs) -> Outcome {
    let query_at = args.query.display().to_string();
    if args.out == args.query {
        return Err(Failure::input(
            "--out names the query itself, which others may have to answer, too: name a new file",
        ));
    }
    let query =
        Query::from_bytes(&files::read(&args.query, FileKind::Query)?).map_err(|e| Failure::from(e).at(&query_at))?;
    let name = match &args.name {
        Some(name) => Name::new(name).map_err(|e| Failure::input(format!("--name: {e}")))?,
        None => Name::random(&mut SystemRng),
    };
    let message = query.message();
    let resolved = program::of_query(query.reference(), message.program(), args.program.as_deref())
        .map_err(|failure| failure.at(&query_at))?;
    let inputs = inputs(&resolved, &args.inputs, 1)?;
    let length = Cost::new(&resolved.program, message.copies())?.answer_bytes;
    note(&format!(
        "answering as `{name}` the query with the fingerprint {}: its publisher learns {} of `{}`",
        hex(query.fingerprint()),
        outputs(&resolved),
        resolved.text
    ));
    let place = args.store.as_deref().map(Place::new).transpose()?;
    let mut out = Meter::new(Partial::new(&args.out, Access::Umask)?, length);
    let (backend, rng) = (backend()?, &mut SystemRng);
    let refused = |error| match error {
        comity_core::Error { kind: comity_core::Kind::Io { source, .. }, .. } => {
            failed(&args.out, "cannot write it", &source)
        }
        // What is wrong here is wrong in the query.
        error => Failure::from(error).at(&query_at),
    };
    match (message.copies().is_stored(), place) {
        (false, None) => {
            comity_mail::respond(backend, &query, &resolved.program, &inputs, &name, rng, &mut out).map_err(refused)?;
        }
        (true, Some(place)) => {
            let to = comity_mail::Destination { answer: &mut out, place: |file: &str| place.begin(file) };
            let stored = comity_mail::respond_stored(backend, &query, &resolved.program, &inputs, &name, rng, to);
            // The copies first: an answer without them is worth nothing.
            place.keep(stored.map_err(|error| match error {
                error @ comity_core::Error { kind: comity_core::Kind::Io { .. }, .. } => Failure::from(error),
                error => refused(error),
            })?)?;
        }
        (true, None) => {
            return Err(Failure::input(format!(
                "{query_at}: its publisher wants the copies of the circuit in a store: name the folder or the URL with \
                    --store"
            )));
        }
        (false, Some(_)) => {
            return Err(Failure::input(format!(
                "--store: an answer to {query_at} holds its copies itself; leave --store out"
            )));
        }
    }
    out.into_inner().keep()
}

/// The outputs of a program, for people.
fn outputs(resolved: &Resolved) -> String {
    let names: Vec<String> = resolved.outputs().iter().map(|output| format!("`{}`", output.name)).collect();
    match names.len() {
        0..=8 => names.join(", "),
        count => format!("{count} outputs"),
    }
}

fn refresh(args: &RefreshArgs) -> Outcome {
    let (file, key) = KeyFile::open(&args.key)?;
    if !key.spent() && key.opened() == 0 && !args.discard {
        return Err(Failure::input(format!(
            "{}: no answer to its query was opened yet, and none can be opened after a refresh: add --discard to \
                refresh all the same",
            args.key.display()
        )));
    }
    let next = key.refresh(&mut SystemRng)?;
    let query = write_query(&next, &args.out)?;
    file.save(&next)?;
    query.keep()?;
    note(&format!(
        "{}: send it to whoever should answer; answers to the last query are not opened any more. Its fingerprint:",
        args.out.display()
    ));
    emit(&format!("{}\n", hex(next.fingerprint())))
}
