//! One process for each party, all of them this same executable, under one parent.
//!
//! A child gets its input values over its standard input, never in its arguments, which other users can read. Its
//! standard input stays open as long as the parent lives: a child that reads its end stops, so that no child
//! outlives its parent however that ends. What a child has to say comes back as JSON lines ([`Event`]).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::console::note;
use crate::failure::{Failure, Kind, Outcome};
use crate::json::{self, Event, Orders, Run};
use crate::progress::Progress;

/// How long the other parties have to end by themselves once one has failed.
const GRACE: Duration = Duration::from_secs(2);

/// What the parties are to do.
pub(crate) struct Plan {
    /// The arguments that all parties share, from `run` on.
    pub(crate) args: Vec<String>,
    /// The input values of each party.
    pub(crate) orders: Vec<Orders>,
    /// AND gates, for the progress bar.
    pub(crate) and_gates: u64,
}

/// What came of it.
pub(crate) struct Family {
    /// Each party's report.
    pub(crate) runs: Vec<Run>,
    /// Each party's process.
    pub(crate) pids: Vec<u32>,
}

/// What a party's reader hears from it; `None` at the end.
type Heard = (usize, Option<Event>);

/// Runs all parties over loopback and returns their reports, party by party.
pub(crate) fn run(plan: Plan) -> Outcome<Family> {
    let (tell, heard) = mpsc::channel::<Heard>();
    let mut nursery = Nursery { members: Vec::new() };
    let mut progress = Progress::new(plan.and_gates);
    let mut orders = plan.orders.into_iter();
    let first = orders.next().ok_or_else(|| Failure::new(Kind::Bug, "a plan without parties"))?;
    nursery.bear(&plan.args, ["--listen", "127.0.0.1:0"], &first, &tell)?;
    let mut deadline: Option<Instant> = None;
    while nursery.members.iter().any(|m| m.ended.is_none()) {
        let left = deadline.map_or(Duration::MAX, |d| d.saturating_duration_since(Instant::now()));
        let (party, event) = match heard.recv_timeout(left) {
            Ok(heard) => heard,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        };
        match event {
            Some(Event::Listening(address)) => {
                for orders in orders.by_ref() {
                    nursery.bear(&plan.args, ["--connect", &address], &orders, &tell)?;
                }
            }
            Some(Event::Progress(done)) if party == 0 => progress.update(done),
            Some(Event::Progress(_)) => {}
            Some(Event::Note(text)) => note(&format!("party {party}: {text}")),
            Some(Event::Report(report)) => nursery.members[party].said = Some(Ok(*report)),
            Some(Event::Error { kind, message }) => {
                let kind = Kind::named(&kind).unwrap_or(Kind::Bug);
                nursery.members[party].said = Some(Err(Failure::new(kind, message)));
            }
            None => nursery.bury(party),
        }
        if deadline.is_none() && nursery.members.iter().any(Member::failed) {
            deadline = Some(Instant::now() + GRACE);
        }
    }
    progress.finish();
    nursery.reports()
}

/// The children. Dropping it ends those that still run.
struct Nursery {
    members: Vec<Member>,
}

struct Member {
    child: Child,
    /// Kept open as long as the child is wanted.
    stdin: Option<ChildStdin>,
    /// Its result.
    said: Option<Outcome<Run>>,
    ended: Option<ExitStatus>,
}

impl Member {
    fn failed(&self) -> bool {
        matches!(self.said, Some(Err(_))) || (self.said.is_none() && self.ended.is_some())
    }
}

impl Nursery {
    /// Starts the next party.
    fn bear(&mut self, args: &[String], address: [&str; 2], orders: &Orders, tell: &Sender<Heard>) -> Outcome {
        let party = self.members.len();
        let failed = |e: std::io::Error| Failure::new(Kind::Network, format!("cannot start party {party}: {e}"));
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .args(args)
            .args(["--party", &party.to_string(), "--attached"])
            .args(address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        self.members.push(Member { child, stdin, said: None, ended: None });
        if let Some(stdin) = &mut self.members[party].stdin {
            // A child that is gone already says why by itself.
            let _ = stdin.write_all(json::line(orders).as_bytes());
        }
        let tell = tell.clone();
        thread::spawn(move || {
            for line in stdout.map(BufReader::new).into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or(Event::Note(line));
                if tell.send((party, Some(event))).is_err() {
                    return;
                }
            }
            let _ = tell.send((party, None));
        });
        Ok(())
    }

    /// A child closed its output: takes note of how it ended.
    fn bury(&mut self, party: usize) {
        let member = &mut self.members[party];
        member.stdin = None;
        member.ended = member.child.wait().ok();
    }

    /// All reports, or the failure that came first in the chain of causes: a party whose peer went away knows less than
    /// the peer.
    fn reports(&mut self) -> Outcome<Family> {
        let pids = self.members.iter().map(|m| m.child.id()).collect();
        let mut runs = Vec::new();
        let mut worst: Option<Failure> = None;
        for (party, member) in self.members.iter_mut().enumerate() {
            let failure = match (member.said.take(), member.ended) {
                (Some(Ok(report)), _) => {
                    runs.push(report);
                    continue;
                }
                (Some(Err(failure)), _) => failure,
                // Ended without a word: killed from outside, most often. That explains what the others met.
                (None, Some(status)) => {
                    Failure::new(Kind::Network, format!("the process ended without a result ({status})"))
                }
                (None, None) => Failure::new(Kind::Closed, "the process was stopped, since another party failed"),
            };
            let failure = Failure { message: format!("party {party}: {}", failure.message), ..failure };
            if worst.as_ref().is_none_or(|w| failure.kind > w.kind) {
                worst = Some(failure);
            }
        }
        worst.map_or(Ok(Family { runs, pids }), Err)
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        for member in self.members.iter_mut().filter(|m| m.ended.is_none()) {
            let _ = member.child.kill();
            let _ = member.child.wait();
        }
    }
}

/// The child's side: reads its orders, and from then on ends this process when the parent is gone.
pub(crate) fn attend() -> Outcome<BTreeMap<usize, String>> {
    let mut line = String::new();
    let orders: Option<Orders> =
        std::io::stdin().lock().read_line(&mut line).ok().and_then(|_| serde_json::from_str(&line).ok());
    let orders = orders.ok_or_else(|| Failure::input("--attached is for processes that comity itself starts"))?;
    thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(i32::from(Kind::Closed.code()));
    });
    Ok(orders.inputs)
}
