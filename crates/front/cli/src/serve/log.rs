//! `Log`: a line of JSON a run. Values are no part of it, nor are messages, which might quote one.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use comity::Digest;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use serde::Serialize;

use crate::job::file::Job;

/// The file that lines are added to.
pub(super) struct Log {
    path: PathBuf,
    file: File,
}

/// A run that has begun.
pub(super) struct Entry {
    run: u64,
    begun: Instant,
}

/// A run that has ended, as its line has it.
#[derive(Serialize)]
pub(super) struct Run {
    run: u64,
    /// The end of the run, in seconds since 1970.
    when: u64,
    /// The time since the wait for its parties began.
    seconds: f64,
    job: String,
    program: String,
    protocol: String,
    party: u16,
    peers: Vec<Peer>,
    /// `done`, or the kind of the failure.
    result: &'static str,
    /// The party whose doing the failure was, where that is known.
    culprit: Option<u16>,
}

#[derive(Serialize)]
struct Peer {
    party: u16,
    name: String,
    key: Option<String>,
}

impl Log {
    pub(super) fn open(path: &Path) -> Outcome<Log> {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
        Ok(Log { path: path.to_owned(), file })
    }

    pub(super) fn add(&mut self, run: &Run) -> Outcome {
        let written = self.file.write_all(to_line(run).as_bytes());
        written.map_err(|error| Failure::input(format!("{}: {error}", self.path.display())))
    }
}

impl Entry {
    pub(super) fn begins(run: u64) -> Entry {
        Entry { run, begun: Instant::now() }
    }

    pub(super) fn ended(
        self,
        job: &Job,
        digest: Digest,
        program: Digest,
        party: u16,
        failure: Option<&Failure>,
    ) -> Run {
        let others = job.party.members().iter().filter(|member| member.id.0 != party);
        let peer = |member: &comity::Member| Peer {
            party: member.id.0,
            name: member.name.clone(),
            key: member.key.map(|key| key.to_string()),
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Run {
            run: self.run,
            when: now.map_or(0, |now| now.as_secs()),
            seconds: self.begun.elapsed().as_secs_f64(),
            job: digest.text("job"),
            program: program.text("program"),
            protocol: job.protocol.clone(),
            party,
            peers: others.map(peer).collect(),
            result: failure.map_or("done", |failure| failure.kind.name()),
            culprit: failure.and_then(|failure| failure.party),
        }
    }
}
