//! `Books`: how many runs each peer had, and who is not served again.
//!
//! A line of JSON for each event, on the disk before what it is about goes on. Peers are known by their keys; in a job without keys by
//! their numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use comity::Member;
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;
use serde::{Deserialize, Serialize};

/// One of the other parties, and how it is known.
pub(super) struct Peer {
    party: u16,
    key: String,
}

impl Peer {
    pub(super) fn of(member: &Member) -> Peer {
        let key = member.key.map_or_else(|| format!("party {} without a key", member.id), |key| key.to_string());
        Peer { party: member.id.0, key }
    }
}

/// An event, as a line has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: String,
    /// The job whose run began; none if the key misbehaved, which is for all jobs.
    job: Option<String>,
}

/// The books of a service, open and locked.
pub(super) struct Books {
    path: PathBuf,
    file: File,
    job: String,
    peers: Vec<Peer>,
    /// The number of runs that each peer may have.
    most: u64,
    /// The runs of this job by key.
    runs: BTreeMap<String, u64>,
    misbehaved: BTreeSet<String>,
}

impl Books {
    /// The books in this file, which is made if it is not there.
    pub(super) fn open(path: &Path, job: String, peers: Vec<Peer>, most: u64) -> Outcome<Books> {
        let cannot = |why: &dyn std::fmt::Display| Failure::new(Ending::Store, format!("{}: {why}", path.display()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(|error| cannot(&error))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => cannot(&"another service has these books: a service needs its own (--books)"),
            TryLockError::Error(error) => cannot(&error),
        })?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| cannot(&error))?;
        // A line without an end was being written when the process died, and what it is about had not begun.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(|error| cannot(&error))?;
        let (mut runs, mut misbehaved) = (BTreeMap::new(), BTreeSet::new());
        for (number, line) in text[..whole].lines().enumerate() {
            let Line { key, job: whose } = serde_json::from_str(line)
                .map_err(|error| cannot(&format!("line {}: {error}; these are no books of a service", number + 1)))?;
            match whose {
                Some(whose) if whose == job => *runs.entry(key).or_default() += 1,
                Some(_) => {}
                None => _ = misbehaved.insert(key),
            }
        }
        Ok(Books { path: path.to_owned(), file, job, peers, most, runs, misbehaved })
    }

    /// The reason why there can be no further run, if there is one.
    pub(super) fn refused(&self) -> Option<String> {
        self.peers.iter().find_map(|Peer { party, key }| {
            let had = self.runs.get(key).copied().unwrap_or(0);
            if self.misbehaved.contains(key) {
                Some(format!("a run with party {party} ended in misbehaviour, and its key is not served again"))
            } else if had >= self.most {
                let runs = if self.most == 1 { "run" } else { "runs" };
                Some(format!("party {party} has had the {} {runs} that the job allows", self.most))
            } else {
                None
            }
        })
    }

    /// Notes that a run begins, for every peer.
    pub(super) fn begin(&mut self) -> Outcome {
        let job = Some(self.job.clone());
        let lines = self.peers.iter().map(|peer| Line { key: peer.key.clone(), job: job.clone() }).collect();
        self.write(lines)?;
        for peer in &self.peers {
            *self.runs.entry(peer.key.clone()).or_default() += 1;
        }
        Ok(())
    }

    /// Notes that a run ended in misbehaviour: of this party, or of one of them, and nobody knows which.
    pub(super) fn misbehaved(&mut self, party: Option<u16>) -> Outcome {
        let culprits = self.peers.iter().filter(|peer| party.is_none_or(|party| party == peer.party));
        let keys: Vec<String> = culprits.map(|peer| peer.key.clone()).collect();
        self.write(keys.iter().map(|key| Line { key: key.clone(), job: None }).collect())?;
        self.misbehaved.extend(keys);
        Ok(())
    }

    /// Writes lines, to the disk.
    fn write(&mut self, lines: Vec<Line>) -> Outcome {
        let text: String = lines.iter().map(to_line).collect();
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all());
        let path = self.path.display();
        written.map_err(|error| Failure::new(Ending::Store, format!("{path}: cannot write it: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of one test's, which is not there yet.
    fn file(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("comity-books-{test}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    fn peers() -> Vec<Peer> {
        [(1, "one"), (2, "two")].map(|(party, key)| Peer { party, key: key.to_owned() }).into()
    }

    #[test]
    fn runs_and_misbehaviour_outlive_the_service() {
        let path = file("runs");
        let open = |job: &str| Books::open(&path, job.to_owned(), peers(), 2).unwrap();
        for run in 0..2 {
            let mut books = open("job:a");
            assert_eq!(books.refused(), None, "before run {run}");
            books.begin().unwrap();
        }
        assert!(open("job:a").refused().unwrap().contains("party 1 has had the 2 runs"));
        // Another job counts for itself; who misbehaved is served by none.
        let mut other = open("job:b");
        assert_eq!(other.refused(), None);
        other.misbehaved(Some(2)).unwrap();
        drop(other);
        assert!(open("job:b").refused().unwrap().contains("party 2 ended in misbehaviour"));
        assert!(open("job:c").refused().is_some());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn half_a_line_is_no_event_and_another_text_no_book() {
        let path = file("half");
        let open = || Books::open(&path, "job:a".to_owned(), peers(), 1);
        std::fs::write(&path, "{\"key\":\"one\",\"job\":\"jo").unwrap();
        let mut books = open().unwrap();
        assert_eq!(books.refused(), None);
        assert!(open().map(drop).unwrap_err().message.contains("another service"));
        books.misbehaved(None).unwrap();
        drop(books);
        assert_eq!(open().unwrap().misbehaved.len(), 2);
        std::fs::write(&path, "hello\n").unwrap();
        assert!(open().map(drop).unwrap_err().message.contains("line 1"));
        std::fs::remove_file(&path).unwrap();
    }
}
