//! `Books`: how many runs each peer had, and who is not served again.
//!
//! Peers are known by their keys; in a job without keys by their numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use comity::{Member, PartyId};
use comity_core::listed;
use comity_terminal::failure::Outcome;
use serde::{Deserialize, Serialize};

use crate::journal::{Journal, Words};

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
    /// The job whose run began; `None` if the key misbehaved, which counts for all jobs.
    job: Option<String>,
    /// The keys of the others, where one of them all misbehaved and nobody can tell which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    or: Vec<String>,
}

/// The words for books that cannot be opened.
const WORDS: Words = Words {
    busy: "another service is using these books: a service needs its own (--books)",
    other: "this file does not hold the books of a service",
};

/// The books of a service.
pub(super) struct Books {
    journal: Journal,
    job: String,
    peers: Vec<Peer>,
    /// The number of runs that each peer may have.
    most: u64,
    /// The runs of this job by key.
    runs: BTreeMap<String, u64>,
    /// Sets of keys, one of which misbehaved. Most often a set is one key.
    misbehaved: BTreeSet<BTreeSet<String>>,
}

impl Books {
    /// The books in this file, which is made if it is not there.
    pub(super) fn open(path: &Path, job: String, peers: Vec<Peer>, most: u64) -> Outcome<Books> {
        let (mut runs, mut misbehaved) = (BTreeMap::new(), BTreeSet::new());
        let journal = Journal::open(path, WORDS, |Line { key, job: whose, or }| match whose {
            Some(whose) if whose == job => *runs.entry(key).or_default() += 1,
            Some(_) => {}
            None => _ = misbehaved.insert(or.into_iter().chain([key]).collect()),
        })?;
        Ok(Books { journal, job, peers, most, runs, misbehaved })
    }

    /// The reason why there can be no further run, if there is one.
    pub(super) fn refused(&self) -> Option<String> {
        let whose =
            |keys: &BTreeSet<String>| self.peers.iter().filter(|peer| keys.contains(&peer.key)).collect::<Vec<_>>();
        let misbehaved =
            self.misbehaved.iter().find_map(|keys| Some(whose(keys)).filter(|peers| peers.len() == keys.len()));
        match misbehaved.as_deref() {
            None => {}
            Some([Peer { party, .. }]) => {
                return Some(format!(
                    "a run with party {party} ended in misbehaviour, and its key is not served again"
                ));
            }
            Some(peers) => {
                let parties = listed(peers.iter().map(|peer| PartyId(peer.party)));
                return Some(format!(
                    "a run with {parties} ended in misbehaviour, nobody can tell whose, and these keys are not served together again"
                ));
            }
        }
        self.peers.iter().find_map(|Peer { party, key }| {
            let had = self.runs.get(key).copied().unwrap_or(0);
            let runs = if self.most == 1 { "run" } else { "runs" };
            let all = || format!("party {party} has had the {} {runs} that the job allows", self.most);
            (had >= self.most).then(all)
        })
    }

    /// Notes that a run begins, for every peer.
    pub(super) fn begin(&mut self) -> Outcome {
        let job = Some(self.job.clone());
        let lines = self.peers.iter().map(|peer| Line { key: peer.key.clone(), job: job.clone(), or: Vec::new() });
        self.journal.write(&lines.collect::<Vec<_>>())?;
        for peer in &self.peers {
            *self.runs.entry(peer.key.clone()).or_default() += 1;
        }
        Ok(())
    }

    /// Notes that a run ended in misbehaviour: of this party; or of one of them, and nobody can tell which.
    /// Then no key is barred for itself, or a cheat could have it so for whoever is honest, but all of them
    /// together are.
    pub(super) fn misbehaved(&mut self, party: Option<u16>) -> Outcome {
        let culprits = self.peers.iter().filter(|peer| party.is_none_or(|party| party == peer.party));
        let keys: BTreeSet<String> = culprits.map(|peer| peer.key.clone()).collect();
        let mut or: Vec<String> = keys.iter().cloned().collect();
        let Some(key) = or.pop() else { return Ok(()) };
        self.journal.write(&[Line { key, job: None, or }])?;
        self.misbehaved.insert(keys);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

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
        // Another job counts for itself; a peer that misbehaved is served by none.
        let mut other = open("job:b");
        assert_eq!(other.refused(), None);
        other.misbehaved(Some(2)).unwrap();
        drop(other);
        assert!(open("job:b").refused().unwrap().contains("party 2 ended in misbehaviour"));
        assert!(open("job:c").refused().is_some());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn books_are_one_services() {
        let path = file("one");
        let open = || Books::open(&path, "job:a".to_owned(), peers(), 1);
        let books = open().unwrap();
        assert!(open().map(drop).unwrap_err().message.contains("another service"));
        drop(books);
        open().unwrap();
        std::fs::remove_file(&path).unwrap();
    }

    /// A cheat that nobody can name gets no honest key barred: only those together among whom it was.
    #[test]
    fn where_nobody_can_tell_who_misbehaved_no_key_is_barred_for_itself() {
        let path = file("nobody");
        let peer = |party, key: &str| Peer { party, key: key.to_owned() };
        let open = |peers: Vec<Peer>| Books::open(&path, "job:a".to_owned(), peers, 9).unwrap();
        open(peers()).misbehaved(None).unwrap();
        let together = open(peers()).refused().unwrap();
        assert!(together.contains("nobody can tell whose") && together.contains("not served together"), "{together}");
        let more = vec![peer(1, "three"), peer(2, "two"), peer(3, "one")];
        assert!(open(more).refused().is_some(), "whoever it was is among these, too");
        for others in [vec![peer(1, "one")], vec![peer(1, "two")], vec![peer(1, "one"), peer(2, "three")]] {
            assert_eq!(open(others).refused(), None);
        }
        // One that is named is barred for itself, in whatever company.
        open(peers()).misbehaved(Some(2)).unwrap();
        assert!(
            open(vec![peer(1, "two"), peer(2, "three")]).refused().unwrap().contains("party 1 ended in misbehaviour")
        );
        assert_eq!(open(vec![peer(1, "one")]).refused(), None);
        std::fs::remove_file(&path).unwrap();
    }
}
