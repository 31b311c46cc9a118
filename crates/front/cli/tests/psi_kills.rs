//! `comity psi serve` is killed at drawn instants while a client asks or prepares: whatever was begun, no
//! garbled circuit is used twice, and what was answered is counted.
//!
//! The client cheats: before every query it puts back its store as it was when the queries were prepared, and
//! so says that none of them was used. Where its lot goes on is then the service's word alone, and must be
//! later each time.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use comity_testing::drawn;

use crate::common::*;
use crate::psi_base::{client, published, serve, timeout};

#[test]
fn a_service_that_is_killed_uses_nothing_twice() {
    Kills::new("psi-kills").rounds(9);
}

#[test]
#[ignore = "a campaign: a service is killed 200 times"]
fn a_service_that_is_killed_two_hundred_times_uses_nothing_twice() {
    let mut kills = Kills::new("psi-many-kills");
    while kills.killed < 200 {
        kills.rounds(30);
    }
}

/// The work of a client while its service is killed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Work {
    /// Asks with prepared queries.
    Stored,
    /// Asks with queries that are made at once.
    Fresh,
    /// Prepares.
    Prepare,
}

/// A base, its service's state, and a client.
struct Kills {
    folder: Folder,
    state: String,
    base: String,
    table: String,
    /// The bytes that go when nobody is killed.
    takes: HashMap<Work, usize>,
    /// For each lot of the client how many batches were used when it last heard of it.
    used: HashMap<String, u64>,
    /// The lots of the copy, which the service may have used up.
    old: HashSet<String>,
    /// The queries that were answered.
    answered: u64,
    round: u64,
    killed: usize,
}

impl Kills {
    fn new(test: &str) -> Kills {
        let folder = Folder::new(test);
        let [_, state, base] = published(&folder, &["--max-queries", "1000000"]);
        let table = client(&folder, &[1, 200]);
        let (takes, used, old) = Default::default();
        let mut kills = Kills { folder, state, base, table, takes, used, old, answered: 0, round: 0, killed: 0 };
        kills.prepared();
        kills
    }

    /// `rounds` rounds, each with a new service, which is killed; and then an honest one.
    fn rounds(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let work = match self.round % 6 {
                4 => Work::Fresh,
                5 => Work::Prepare,
                _ => Work::Stored,
            };
            self.one(work);
        }
        // After all of that the service serves.
        let answered = self.answered;
        self.whole(Work::Fresh);
        assert_eq!(self.answered, answered + 2);
        let (killed, answered, asked) = (self.killed, self.answered, self.asked());
        let _ = writeln!(std::io::stderr(), "{killed} services killed, {answered} queries answered, {asked} asked");
    }

    /// A store with queries that are left on both sides, and a copy of it.
    fn prepared(&mut self) {
        for work in [Work::Fresh, Work::Prepare] {
            let takes = self.whole(work);
            self.takes.insert(work, takes);
        }
        self.keep();
        self.restore();
        let takes = self.whole(Work::Stored);
        self.takes.insert(Work::Stored, takes);
        self.heard();
    }

    /// A round.
    fn one(&mut self, work: Work) {
        self.restore();
        let mut service = serve(&self.state, &[]);
        let between = Between::before(&service.address);
        let mut party = self.start(work, &between.address);
        // The bytes say where it is, about; a moment more is for what it does with its disk.
        let bytes = 1 + drawn(2 * self.round, self.takes[&work] as u64) as usize;
        let moment = Duration::from_micros(drawn(2 * self.round + 1, 4096));
        self.round += 1;
        while between.bytes() < bytes && party.runs() {
            thread::yield_now();
        }
        thread::sleep(moment);
        service.kill();
        self.killed += usize::from(party.runs());
        self.ended(work, party.end());
        self.heard();
    }

    /// The same without a kill; the bytes that went.
    fn whole(&mut self, work: Work) -> usize {
        let mut service = serve(&self.state, &[]);
        let between = Between::before(&service.address);
        let done = self.start(work, &between.address).end();
        done.ok();
        self.ended(work, done);
        let bytes = between.bytes();
        service.kill();
        bytes
    }

    fn start(&self, work: Work, address: &str) -> Background {
        let (store, key, out) = (self.store(), self.folder.path("store.key"), self.folder.path("found.csv"));
        let stored = ["--store", &store, "--key-file", &key];
        let meet = ["--base", &self.base, "--connect", address, &timeout()];
        let _ = fs::remove_file(&out);
        let query = ["psi", "query", &self.table, "--key", "email:lower", "--out", &out];
        let prepare = ["psi", "prepare", "--count", "256"];
        let all = match work {
            Work::Stored => [&query[..], &meet, &stored].concat(),
            Work::Fresh => [&query[..], &meet].concat(),
            Work::Prepare => [&prepare[..], &meet, &stored].concat(),
        };
        Background::start(command(&all))
    }

    /// The client has the right rows, or says what happened.
    fn ended(&mut self, work: Work, done: Done) {
        if done.code == 0 && work != Work::Prepare {
            let found = fs::read_to_string(self.folder.path("found.csv")).unwrap();
            assert_eq!(found, "n,email\n1,u1@example.org\n");
            self.answered += 2;
        }
        let lost = done.code == 3 && done.err.contains("error: ");
        // All of the lot that the client puts back again and again may be used up: it is dropped, and what is
        // asked is made at once.
        let used_up = work == Work::Stored && done.err.contains("of prepared queries");
        assert!(done.code == 0 || lost, "{work:?}: {}: {}", done.code, done.err);
        // An answer is counted before it is given, and one that nobody got may be.
        assert!(self.asked() >= self.answered, "{work:?}: {} counted, {} answered", self.asked(), self.answered);
        if used_up {
            self.used.clear();
            self.whole(Work::Prepare);
            self.keep();
        }
    }

    /// The queries that the service has written down.
    fn asked(&self) -> u64 {
        let asked = fs::read_to_string(format!("{}/asked", self.state)).unwrap_or_default();
        // The last line may be one that a kill cut off.
        let lines = asked.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        lines.map(|line| line["queries"].as_u64().unwrap()).sum()
    }

    fn store(&self) -> String {
        self.folder.path("store")
    }

    /// Keeps a copy of the client's store.
    fn keep(&mut self) {
        self.link(&self.store(), &self.folder.path("copy"));
        self.old = lots(&self.store(), &self.folder.path("store.key")).into_keys().collect();
    }

    /// Puts the copy back.
    fn restore(&self) {
        self.link(&self.folder.path("copy"), &self.store());
    }

    /// Replaces a folder by another one: files of a store are written once, and may have two names.
    fn link(&self, from: &str, to: &str) {
        let _ = fs::remove_dir_all(to);
        fs::create_dir(to).unwrap();
        for file in fs::read_dir(from).unwrap() {
            let name = file.unwrap().file_name();
            fs::hard_link(Path::new(from).join(&name), Path::new(to).join(&name)).unwrap();
        }
    }

    /// What the client has heard of its lots: each goes on later than before. The service has a half of each,
    /// and is as far.
    fn heard(&mut self) {
        let client = lots(&self.store(), &self.folder.path("store.key"));
        let service = lots(&format!("{}/prepared", self.state), &format!("{}/store.key", self.state));
        for (id, (used, batches)) in client {
            // Nobody has named it since it was put back, or made.
            if used == 0 {
                assert!(self.old.contains(&id) || service.contains_key(&id), "the client has lot {id} alone");
                continue;
            }
            let before = self.used.insert(id.clone(), used).unwrap_or(0);
            assert!(used > before, "round {}: batch {} of lot {id} is used again", self.round, used - 1);
            let there = service.get(&id).map_or(batches, |&(used, _)| used);
            assert!(there >= used, "round {}: batch {} of lot {id} is still there", self.round, used - 1);
        }
    }
}

/// The lots of a store: batches that are used, and that there were.
fn lots(store: &str, key: &str) -> HashMap<String, (u64, u64)> {
    let done = comity(&["store", "list", "--store", store, "--key-file", key, "--json"]);
    let list = done.json();
    assert_eq!(list["damaged"].as_array().map(Vec::len), Some(0), "{list}");
    let number = |lot: &serde_json::Value, name: &str| lot[name].as_u64().unwrap();
    let lots = list["lots"].as_array().unwrap().iter();
    lots.map(|lot| (lot["id"].as_str().unwrap().to_owned(), (number(lot, "batches_used"), number(lot, "batches"))))
        .collect()
}
