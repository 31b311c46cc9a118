//! Which program a file is for.

use comity_circuit::{Goal, Recipients};
use comity_language::expression::{self, Base};
use comity_mail::Reference;
use comity_terminal::failure::{Ending, Failure, Outcome};

use crate::args::{Optimize, ProgramArgs, RoleArgs};
use crate::flags::{OutputTo, Owner};
use crate::resolve::{Resolved, resolve};

/// The program that is to be published, with all outputs for the publisher.
pub(super) fn named(text: &str, owner: &[Owner], output_to: &[OutputTo]) -> Outcome<Resolved> {
    let roles = RoleArgs { owner: owner.to_vec(), output_to: output_to.to_vec() };
    let args = ProgramArgs { program: text.to_owned(), roles, optimize: Optimize::Size };
    let resolved = resolve(&args, Goal::Size)?;
    for output in resolved.outputs() {
        if output.to != Recipients::All && !output.to.includes(0u16) {
            return Err(Failure::input(format!(
                "{text}: output `{}` is for {}, and what is published tells party 0 only: say --output-to 0 if it is \
                 meant for you",
                output.name, output.to
            )));
        }
    }
    to_publisher(resolved, |to| to == Recipients::All)
}

/// Gives the publisher such outputs, as those that would be told to all; nobody else can learn anything here.
fn to_publisher(mut resolved: Resolved, which: impl Fn(Recipients) -> bool) -> Outcome<Resolved> {
    for index in 0..resolved.outputs().len() {
        if which(resolved.outputs()[index].to) {
            let program = resolved.program.with_recipients(index, Recipients::only(0));
            resolved.program = program.map_err(|e| Failure::input(e.to_string()))?;
        }
    }
    Ok(resolved)
}

/// The program of a query, for a sender: the one that the sender names, or a built-in. A stranger's word opens no file.
pub(super) fn of_query(reference: &Reference, digest: &[u8; 32], given: Option<&str>) -> Outcome<Resolved> {
    let text = match given {
        Some(text) => text,
        None if is_built_in(reference.text()) => reference.text(),
        None => {
            return Err(Failure::input(format!(
                "the query is for the program `{}`, which is not built in: get it, read what it computes, and name \
                    your copy with --program FILE (its hash must be {})",
                reference.text(),
                hex(digest)
            )));
        }
    };
    referred(reference, digest, text)
}

/// The program of a key, for the publisher: the one that is named now, or that was named then.
pub(super) fn of_key(key: &comity_mail::QueryKey, given: Option<&str>) -> Outcome<Resolved> {
    let found = referred(key.reference(), key.secret().program(), given.unwrap_or(key.named()));
    found.map_err(|failure| match given {
        Some(_) => failure,
        None => Failure { message: format!("{}\nName the program with --program.", failure.message), ..failure },
    })
}

fn is_built_in(text: &str) -> bool {
    let parsed = expression::parse(text, &comity_library::is_name, &|_| false);
    matches!(parsed, Ok(expression) if matches!(&expression.base, Base::Name(name) if comity_library::is_name(name)))
}

fn referred(reference: &Reference, digest: &[u8; 32], text: &str) -> Outcome<Resolved> {
    let roles = RoleArgs { owner: Vec::new(), output_to: Vec::new() };
    let args = ProgramArgs { program: text.to_owned(), roles, optimize: Optimize::Size };
    let mut resolved = to_publisher(resolve(&args, Goal::Size)?, |to| to == Recipients::All)?;
    let owners = reference.owners();
    if owners.len() == resolved.inputs().len() {
        for (index, &party) in owners.iter().enumerate() {
            let program = resolved.program.with_owner(index, u16::from(party));
            resolved.program = program.map_err(|e| Failure::input(e.to_string()))?;
        }
    }
    if resolved.program.digest() != *digest {
        // The publisher may have said that the outputs of others are its own.
        resolved = to_publisher(resolved, |_| true)?;
    }
    let ours = resolved.program.digest();
    if ours != *digest {
        return Err(Failure::new(
            Ending::Mismatch,
            format!(
                "{text}: this is not the program of the query: its hash is {}, and the query's program has {}",
                hex(&ours),
                hex(digest)
            ),
        ));
    }
    Ok(resolved)
}

/// A digest in hex.
pub(super) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
