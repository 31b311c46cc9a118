//! Which program a file is for.

use comity_circuit::{Goal, Recipients};
use comity_language::expression::{self, Base};
use comity_mail::Reference;
use comity_terminal::failure::{Ending, Failure, Outcome};

use crate::args::{Optimize, ProgramArgs, RoleArgs};
use crate::resolve::{Resolved, resolve};

/// The program that is to be published, with all outputs for the publisher.
pub(super) fn named(text: &str, owner: &[crate::flags::Owner]) -> Outcome<Resolved> {
    let roles = RoleArgs { owner: owner.to_vec(), output_to: Vec::new() };
    let args = ProgramArgs { program: text.to_owned(), roles, optimize: Optimize::Size };
    to_publisher(resolve(&args, Goal::Size)?)
}

/// Gives the publisher the outputs that would be told to all; nobody else can learn anything here.
fn to_publisher(mut resolved: Resolved) -> Outcome<Resolved> {
    for index in 0..resolved.outputs().len() {
        if resolved.outputs()[index].to == Recipients::All {
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
                "the query is for the program `{}`, which is not built in: name your own copy of it with --program FILE, \
                 and read what it computes (its hash must be {})",
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
    let mut resolved = named(text, &[])?;
    let owners = reference.owners();
    if owners.len() == resolved.inputs().len() {
        for (index, &party) in owners.iter().enumerate() {
            let program = resolved.program.with_owner(index, u16::from(party));
            resolved.program = program.map_err(|e| Failure::input(e.to_string()))?;
        }
    }
    let ours = resolved.program.digest();
    if ours != *digest {
        return Err(Failure::new(
            Ending::Mismatch,
            format!(
                "{text}: this is not the program of the query: its hash is {}, and the query is for {}",
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
