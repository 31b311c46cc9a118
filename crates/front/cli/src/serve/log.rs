//! `Log`: a line of JSON a run. Values are no part of it, nor are messages, which might quote one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use comity::Digest;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use serde::Serialize;

use crate::job::file::Job;

/// The bytes after which a log begins anew.
const LONGEST: u64 = 16 << 20;

/// The file that lines are added to. This file and the one before it have at most `longest` bytes each.
pub(super) struct Log {
    path: PathBuf,
    file: File,
    longest: u64,
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
        Ok(Log { path: path.to_owned(), file: begin(path)?, longest: LONGEST })
    }

    pub(super) fn add(&mut self, run: &Run) -> Outcome {
        self.write(&to_line(run))
    }

    /// Adds a line, in a new file if the one that is there would get too long.
    fn write(&mut self, line: &str) -> Outcome {
        let failed = |error: io::Error| Failure::disk(&self.path.display().to_string(), &error);
        let there = self.file.metadata().map_err(failed)?;
        if there.is_file() && there.len() > 0 && there.len() + line.len() as u64 > self.longest {
            let mut before = self.path.clone().into_os_string();
            before.push(".1");
            fs::rename(&self.path, before).map_err(failed)?;
            self.file = begin(&self.path)?;
        }
        self.file.write_all(line.as_bytes()).map_err(failed)
    }
}

fn begin(path: &Path) -> Outcome<File> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.map_err(|error| Failure::disk(&path.display().to_string(), &error))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_bounded_and_no_line_is_cut() {
        let path = std::env::temp_dir().join(format!("comity-log-{}", std::process::id()));
        let before = path.with_extension("1");
        let mut log = Log { longest: 30, ..Log::open(&path).unwrap() };
        for number in 0..8 {
            log.write(&format!("line {number}, 12\n")).unwrap();
        }
        // Two lines of eleven bytes are in one file.
        let [old, new] = [&before, &path].map(|file| fs::read_to_string(file).unwrap());
        assert_eq!((old.as_str(), new.as_str()), ("line 4, 12\nline 5, 12\n", "line 6, 12\nline 7, 12\n"));
        fs::remove_file(before).unwrap();
        fs::remove_file(path).unwrap();
    }
}
