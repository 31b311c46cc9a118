//! Faults by plan: two to five processes, of which one is killed, stopped, cut off, slowed down or has a full
//! disk, at an instant that follows from a seed. Whoever is honest, which all are, ends with the right
//! result, or says in words what happened, by the exit code that the kind of it has; a lot is used at most
//! once; and nothing is left behind.
//!
//! A failure names its seed, and
//! `COMITY_FAULT_SEEDS=417 cargo test -p comity-cli --test tests faults -- --ignored` is that plan again
//! (`100-199` are a hundred). An instant is a number of bytes on the links, not a time: a slow machine
//! changes nothing.

#![cfg(unix)]

mod links;
mod plan;

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::panic;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use links::Links;
use plan::{Fault, Plan, Work};

use crate::common::*;

/// The time-outs of a run in which somebody is lost: for one that never comes, and for one that stops amid
/// the run. They judge nothing, since a party that is late says so as well.
const LOST: [&str; 4] = ["--timeout", "3", "--deadline", "6s"];

#[test]
fn ten_plans_of_faults_end_well() {
    (0..10).for_each(|seed| carry_out(Plan::new(seed)));
}

#[test]
#[ignore = "a campaign: make test-long"]
fn many_plans_of_faults_end_well() {
    let seeds = std::env::var("COMITY_FAULT_SEEDS").unwrap_or_else(|_| "0-999".into());
    let (first, last) = seeds.split_once('-').unwrap_or((&seeds, &seeds));
    let [first, last] = [first, last].map(|seed| seed.parse::<u64>().expect("COMITY_FAULT_SEEDS is 417, or 100-199"));
    let failed = |seed: &u64| panic::catch_unwind(|| carry_out(Plan::new(*seed))).is_err();
    let failed: Vec<u64> = (first..=last).filter(failed).collect();
    assert!(failed.is_empty(), "these plans end badly: {failed:?}");
}

/// The places of the parties of a plan: their stores, and the program.
struct Scene {
    folder: Folder,
    plan: Plan,
    program: String,
}

/// Carries a plan out, and judges.
fn carry_out(plan: Plan) {
    // A failing plan is known by its seed.
    let _ = writeln!(std::io::stderr(), "{plan}");
    let scene = Scene::new(plan);
    if plan.work == Work::Stored {
        scene.whole(Work::Prepare);
    }
    let lots = scene.lots();
    let ends = scene.with_fault();
    scene.judge(&ends);
    if plan.work == Work::Run {
        return;
    }
    // A store that was left by a kill is tidied by whoever opens it next: here the run that comes after.
    let after = scene.lots();
    if plan.work == Work::Stored {
        let learned = ends.iter().any(|done| done.code == 0);
        for (party, (before, after)) in lots.iter().zip(&after).enumerate() {
            assert!(after.iter().all(|lot| before.contains(lot)), "{plan}: party {party} has a lot that nobody made");
        }
        let most = after.iter().zip(&lots).map(|(after, before)| before.len() - after.len()).max().unwrap_or(0);
        assert!(!learned || most == 1, "{plan}: somebody has a result, and {most} lots were used");
        assert!(most <= 1, "{plan}: {most} lots were used for one run");
    } else {
        let all: Vec<&String> = after.iter().flatten().collect();
        assert!(all.len() <= 2 * plan.parties, "{plan}: more lots than were asked for");
    }
    scene.goes_on(&ends);
}

impl Scene {
    fn new(plan: Plan) -> Scene {
        let folder = Folder::new(&format!("faults-{}", plan.seed));
        let names: Vec<String> = (0..plan.parties).map(|party| format!("p{party}")).collect();
        let values: Vec<String> = (0..plan.parties).map(|party| format!("x{party}")).collect();
        let inputs = names.iter().zip(&values).map(|(name, value)| format!("{value}: u16 from {name}"));
        let text = format!(
            "parties {};\n\nfn main({}) -> (sum: u16 to all) {{\n    {}\n}}\n",
            names.join(", "),
            inputs.collect::<Vec<_>>().join(", "),
            values.join(" + ")
        );
        let program = folder.file("sum.cty", &text);
        Scene { folder, plan, program }
    }

    fn store(&self, party: usize) -> String {
        self.folder.path(&format!("store{party}"))
    }

    /// The records of each party's lots, by their names.
    fn lots(&self) -> Vec<Vec<String>> {
        (0..self.plan.parties).map(|party| self.files(party, |name| name.ends_with(".lot"))).collect()
    }

    fn files(&self, party: usize, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let Ok(files) = fs::read_dir(self.store(party)) else { return Vec::new() };
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| wanted(name)).collect()
    }

    /// The flags of a party at this work.
    fn flags(&self, work: Work, party: usize, links: &Links) -> Vec<String> {
        let mut flags = vec![if work == Work::Prepare { "prepare" } else { "run" }.to_owned(), self.program.clone()];
        let mut say = |these: &[&str]| flags.extend(these.iter().map(|&flag| flag.to_owned()));
        say(&["--protocol", self.plan.protocol, "--rho", "7", "--json", "--party", &party.to_string()]);
        if party + 1 < self.plan.parties {
            say(&["--listen", "127.0.0.1:0"]);
        }
        for other in (0..self.plan.parties).filter(|&other| other != party) {
            say(&["--peer", &format!("{other}={}", links.address(party, other))]);
        }
        match work {
            Work::Prepare => say(&["--count", "2"]),
            Work::Run | Work::Stored => say(&["--input", &(party + 1).to_string()]),
        }
        if work != Work::Run {
            say(&["--store", &self.store(party), "--key-file", &self.folder.path(&format!("key{party}"))]);
        }
        flags
    }

    /// All parties at this work, over these links; one may have a limit on its files.
    fn start(&self, work: Work, links: &Links, limit: Option<(usize, u64)>, more: &[&str]) -> Vec<Background> {
        (0..self.plan.parties)
            .map(|party| {
                let flags = self.flags(work, party, links);
                let flags: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
                let limit = limit.filter(|(at, _)| *at == party).map(|(_, blocks)| blocks);
                let mut running = begin(&flags, limit);
                if party + 1 < self.plan.parties
                    && let Some(address) = running.address_after("")
                {
                    links.listens(party, &address);
                }
                running
            })
            .collect()
    }

    /// The same work without a fault, which must end well; returns how many bytes went.
    fn whole(&self, work: Work) -> u64 {
        let links = Links::new(self.plan.parties, u64::MAX, None, || ());
        let ends: Vec<Done> = self.start(work, &links, None, &[]).into_iter().map(Background::end).collect();
        ends.iter().for_each(|done| self.right(work, done));
        links.bytes()
    }

    fn right(&self, work: Work, done: &Done) {
        assert_eq!(done.code, 0, "{}: {}{}", self.plan, done.out, done.err);
        if work != Work::Prepare {
            let parties = self.plan.parties;
            assert_eq!(done.json()["values"]["sum"], parties * (parties + 1) / 2, "{}", self.plan);
        }
    }

    /// The instant in bytes: what a run like this takes is measured once in a process, with stores of its own.
    fn instant(&self) -> u64 {
        type Takes = HashMap<(&'static str, usize, Work), u64>;
        static TAKES: LazyLock<Mutex<Takes>> = LazyLock::new(Mutex::default);
        let Plan { protocol, parties, work, at, seed, .. } = self.plan;
        let known = TAKES.lock().unwrap().get(&(protocol, parties, work)).copied();
        let takes = known.unwrap_or_else(|| {
            let other = Scene::new(Plan { seed: seed | 1 << 63, ..self.plan });
            if work == Work::Stored {
                other.whole(Work::Prepare);
            }
            other.whole(work)
        });
        TAKES.lock().unwrap().insert((protocol, parties, work), takes);
        takes * at / 1000
    }

    /// All parties with the plan's fault.
    fn with_fault(&self) -> Vec<Done> {
        let Plan { parties, work, fault, victim, .. } = self.plan;
        let delay = match fault {
            Fault::Delay(time) => Some((victim, Duration::from_millis(time))),
            _ => None,
        };
        let limit = match fault {
            Fault::Full(blocks) => Some((victim, blocks)),
            _ => None,
        };
        let links = Links::new(parties, self.instant(), delay, || ());
        let more: &[&str] = if fault.is_harmless() { &[] } else { &LOST };
        // The instant waits until the victim's number is known.
        let (tell, told) = std::sync::mpsc::channel::<u32>();
        match fault {
            Fault::Kill => links.at_the_instant(move || signal("KILL", told.recv().unwrap())),
            Fault::Freeze => links.at_the_instant(move || signal("STOP", told.recv().unwrap())),
            Fault::Pause(time) => links.at_the_instant(move || {
                let process = told.recv().unwrap();
                signal("STOP", process);
                thread::sleep(Duration::from_millis(time));
                signal("CONT", process);
            }),
            Fault::Disconnect => links.at_the_instant(links.cutter(victim)),
            Fault::Delay(_) | Fault::Full(_) => {}
        }
        let mut all = self.start(work, &links, limit, more);
        let _ = tell.send(all[victim].id());
        if let Fault::Freeze = fault {
            // It cannot end while it is stopped: the others end, and then it is killed.
            let mut frozen = all.remove(victim);
            let mut ends: Vec<Done> = all.into_iter().map(Background::end).collect();
            frozen.kill();
            ends.insert(victim, frozen.end());
            return ends;
        }
        all.into_iter().map(Background::end).collect()
    }

    /// The verdict on how the parties ended.
    fn judge(&self, ends: &[Done]) {
        let Plan { work, fault, victim, .. } = self.plan;
        for (party, done) in ends.iter().enumerate() {
            let plan = &self.plan;
            let gone = party == victim && matches!(fault, Fault::Kill | Fault::Freeze);
            if done.code == 0 || fault.is_harmless() {
                self.right(work, done);
            } else if gone && done.code == -1 {
                continue;
            } else {
                assert_eq!(done.code, 3, "{plan}: party {party}: {}{}", done.out, done.err);
                let error = &done.json()["error"];
                let kinds = ["closed", "timeout", "network", "store"];
                assert!(kinds.iter().any(|kind| error["kind"] == *kind), "{plan}: party {party}: {error}");
                let full = matches!(fault, Fault::Full(_)) && party == victim;
                assert_eq!(full, error["kind"] == "store", "{plan}: party {party}: {error}");
                assert!(
                    error["message"].as_str().is_some_and(|text| text.len() > 20),
                    "{plan}: party {party}: {error}"
                );
            }
            // Whoever ended by itself has taken away what it had begun.
            let begun = self.files(party, |name| name.contains("partial") || name.contains(".new"));
            assert!(begun.is_empty(), "{plan}: party {party} left {begun:?}");
            let lots = self.files(party, |name| name.ends_with(".lot"));
            let whole = |name: &str| lots.iter().any(|lot| lot.split('.').next() == name.split('.').next());
            let stray = self.files(party, |name| name.contains(".batch-") && !whole(name));
            assert!(stray.is_empty(), "{plan}: party {party} left {stray:?}");
        }
    }

    /// After the fault the stores are of use: what all have is used, and if they have nothing in common all
    /// are told what to do.
    fn goes_on(&self, ends: &[Done]) {
        let plan = &self.plan;
        let lots = self.lots();
        let common = lots[0].iter().filter(|lot| lots.iter().all(|theirs| theirs.contains(lot))).count();
        let links = Links::new(plan.parties, u64::MAX, None, || ());
        let went_wrong = ends.iter().any(|done| done.code != 0);
        // Somebody may have no store at all, and then does not come.
        let more: &[&str] = if went_wrong { &LOST } else { &[] };
        let next: Vec<Done> = self.start(Work::Stored, &links, None, more).into_iter().map(Background::end).collect();
        let right = next.iter().all(|done| done.code == 0);
        if right {
            next.iter().for_each(|done| self.right(Work::Stored, done));
            let left = self.lots();
            assert!(
                left.iter().all(|left| left.len() < common.max(1)),
                "{plan}: a run used no lot: {lots:?}, then {left:?}"
            );
        } else {
            assert!(went_wrong, "{plan}: nothing went wrong before, and now: {}{}", next[0].out, next[0].err);
            for done in &next {
                assert!([2, 3].contains(&done.code), "{plan}: afterwards: {}{}", done.out, done.err);
            }
        }
    }
}

/// Starts a party; with a limit, no file that it writes can have more blocks of 512 bytes.
fn begin(flags: &[&str], limit: Option<u64>) -> Background {
    let party = command(flags);
    Background::start(match limit {
        Some(blocks) => limited(&party, blocks),
        None => party,
    })
}

/// Sends a signal to a process, which may have ended by itself.
fn signal(name: &str, process: u32) {
    let kill = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).stderr(Stdio::null()).status();
    kill.expect("a system with `kill`");
}
