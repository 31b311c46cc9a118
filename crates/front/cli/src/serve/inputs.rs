//! `Inputs`: this party's values, read anew for each run.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use comity_core::Bits;
use comity_terminal::failure::{Failure, Outcome};
use zeroize::Zeroizing;

use crate::flags::Assigned;
use crate::resolve::Resolved;
use crate::values::{self, Order};

/// The source of values, and those of the next run, once they are read.
pub(super) struct Inputs<'a> {
    given: &'a [Assigned],
    command: Option<&'a str>,
    next: Option<BTreeMap<usize, Bits>>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(given: &'a [Assigned], command: Option<&'a str>) -> Inputs<'a> {
        Inputs { given, command, next: None }
    }

    /// The values of this run. They are read when the wait for its parties begins.
    pub(super) fn of(
        &mut self,
        run: u64,
        resolved: &Resolved,
        order: &Order,
        party: u16,
    ) -> Outcome<BTreeMap<usize, Bits>> {
        if let Some(values) = &self.next {
            return Ok(values.clone());
        }
        let values = match self.command {
            Some(command) => values::read(resolved, order, &ask(command, run)?, Some(party))?,
            None => values::read(resolved, order, self.given, Some(party))?,
        };
        Ok(self.next.insert(values).clone())
    }

    /// A run has used them.
    pub(super) fn used(&mut self) {
        self.next = None;
    }
}

/// The values that a command prints.
fn ask(command: &str, run: u64) -> Outcome<Vec<Assigned>> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::input(format!("the command for the inputs of run {run}: {why}"));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env("COMITY_RUN", run.to_string()).stdin(Stdio::null()).stderr(Stdio::inherit());
    let done = shell.output().map_err(|error| failed(&error))?;
    let text = Zeroizing::new(done.stdout);
    if !done.status.success() {
        return Err(failed(&format!("it ended with {}", done.status)));
    }
    let text = str::from_utf8(&text).map_err(|_| failed(&"it printed bytes that are not UTF-8 text"))?;
    text.lines()
        .filter(|line| !line.trim().is_empty())
        // A value stays out of messages.
        .map(|line| line.parse().map_err(|_| failed(&"a line is not NAME=VALUE")))
        .collect()
}
