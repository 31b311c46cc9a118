//! One process for each party, all of them this same executable, under one parent.
//!
//! A child gets its input values over its standard input, never in its arguments, which other users can read.
//! It listens at a port of the system's choice and says which; when all have, each is told where all are. Its
//! standard input stays open as long as the parent lives: a child that reads its end stops, so that no child
//! outlives its parent however that ends. What a child has to say comes back as JSON lines ([`Event`]).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use comity::Error;
use comity_terminal::console::note;
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::progress::Progress;

use crate::interrupt;
use crate::json::{Addresses, Event, Orders, Run};

/// The time that the other parties have to end by themselves once one has failed.
const GRACE: Duration = Duration::from_secs(2);

/// The run that the parties are to do.
pub(crate) struct Plan {
    /// The arguments that all parties share, from `run` on.
    pub(crate) args: Vec<String>,
    /// For each party, the arguments that only this party gets.
    pub(crate) flags: Vec<Vec<String>>,
    /// The input values of each party.
    pub(crate) orders: Vec<Orders>,
    /// AND gates, for the progress bar.
    pub(crate) and_gates: u64,
}

/// The outcome of the run.
pub(crate) struct Finished {
    /// Each party's report.
    pub(crate) runs: Vec<Run>,
    /// Each party's outputs, as a person reads them.
    pub(crate) texts: Vec<BTreeMap<usize, String>>,
    /// Each party's process.
    pub(crate) pids: Vec<u32>,
}

/// The time between two looks whether the whole is to stop.
const TICK: Duration = Duration::from_millis(50);

/// An event that a party's reader hears from it; `None` at the end.
type Heard = (usize, Option<Event>);

/// Runs all parties over loopback and returns their reports, party by party.
pub(crate) fn run(plan: Plan) -> Outcome<Finished> {
    let (tell, heard) = mpsc::channel::<Heard>();
    let mut processes = Processes { children: Vec::new() };
    let mut progress = Progress::new(plan.and_gates);
    for orders in plan.flags.into_iter().zip(plan.orders) {
        processes.spawn_party(&plan.args, &orders, &tell)?;
    }
    let parties = processes.children.len();
    let (mut addresses, mut done) = (vec![None; parties], vec![0; parties]);
    let mut deadline: Option<Instant> = None;
    while processes.children.iter().any(|p| p.ended.is_none()) {
        if interrupt::stop().is_stopped() {
            // Children end with their parent, and take away what they had begun.
            processes.dismiss();
            processes.end();
            return Err(Error::stopped().into());
        }
        let left = deadline.map_or(TICK, |d| d.saturating_duration_since(Instant::now()).min(TICK));
        let (party, event) = match heard.recv_timeout(left) {
            Ok(heard) => heard,
            Err(RecvTimeoutError::Timeout) if deadline.is_none_or(|d| Instant::now() < d) => continue,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        };
        match event {
            Some(Event::Listening(address)) => {
                addresses[party] = Some(address);
                if let Some(all) = addresses.iter().cloned().collect::<Option<Vec<_>>>() {
                    processes.introduce(&Addresses(all));
                }
            }
            Some(Event::Progress(gates)) => {
                done[party] = gates;
                // The slowest party's.
                progress.update(done.iter().copied().min().unwrap_or(0));
            }
            Some(Event::Note(text)) => note(&format!("party {party}: {text}")),
            Some(Event::Report { run, texts }) => processes.children[party].said = Some(Ok((*run, texts))),
            Some(Event::Error { kind, message, party: whose }) => {
                let kind = Ending::named(&kind).unwrap_or(Ending::Bug);
                processes.children[party].said = Some(Err(Failure { kind, message, party: whose }));
            }
            None => processes.reap(party),
        }
        if deadline.is_none() && processes.children.iter().any(Party::failed) {
            deadline = Some(Instant::now() + GRACE);
            // A party that has not been told where the others are waits for nothing else.
            if addresses.iter().any(Option::is_none) {
                processes.dismiss();
            }
        }
    }
    progress.finish();
    processes.reports()
}

/// The children. Dropping it ends those that still run.
struct Processes {
    children: Vec<Party>,
}

struct Party {
    child: Child,
    /// The child's standard input, kept open as long as the child is wanted.
    stdin: Option<ChildStdin>,
    /// The child's result.
    said: Option<Outcome<(Run, BTreeMap<usize, String>)>>,
    /// Whether it was told to stop, since another party failed.
    dismissed: bool,
    ended: Option<ExitStatus>,
}

impl Party {
    fn failed(&self) -> bool {
        matches!(self.said, Some(Err(_))) || (self.said.is_none() && self.ended.is_some())
    }
}

impl Processes {
    /// Starts the next party.
    fn spawn_party(
        &mut self,
        args: &[String],
        (flags, orders): &(Vec<String>, Orders),
        tell: &Sender<Heard>,
    ) -> Outcome {
        let party = self.children.len();
        let failed = |e: std::io::Error| Failure::new(Ending::Network, format!("cannot start party {party}: {e}"));
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .args(args)
            .args(["--party", &party.to_string(), "--attached"])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        self.children.push(Party { child, stdin, said: None, dismissed: false, ended: None });
        if let Some(stdin) = &mut self.children[party].stdin {
            // A child that is gone already says why by itself.
            let _ = stdin.write_all(to_line(orders).as_bytes());
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

    /// Tells all children where all are.
    fn introduce(&mut self, addresses: &Addresses) {
        let line = to_line(addresses);
        for stdin in self.children.iter_mut().filter_map(|party| party.stdin.as_mut()) {
            // A child that is gone already says why by itself.
            let _ = stdin.write_all(line.as_bytes());
        }
    }

    /// Ends the children that still run, by the end of their standard input.
    fn dismiss(&mut self) {
        for party in self.children.iter_mut().filter(|party| party.said.is_none() && party.ended.is_none()) {
            (party.stdin, party.dismissed) = (None, true);
        }
    }

    /// Gives children that were dismissed the time to end by themselves.
    fn end(&mut self) {
        let begin = Instant::now();
        for party in self.children.iter_mut().filter(|party| party.ended.is_none()) {
            while begin.elapsed() < GRACE {
                match party.child.try_wait() {
                    Ok(None) => thread::sleep(Duration::from_millis(5)),
                    ended => {
                        party.ended = ended.ok().flatten();
                        break;
                    }
                }
            }
        }
    }

    /// Takes note of how a child ended, which has closed its output.
    fn reap(&mut self, party: usize) {
        let party = &mut self.children[party];
        party.stdin = None;
        party.ended = party.child.wait().ok();
    }

    /// All reports, or the failure that came first in the chain of causes: a party whose peer went away knows less than
    /// the peer.
    fn reports(&mut self) -> Outcome<Finished> {
        let pids = self.children.iter().map(|p| p.child.id()).collect();
        let (mut runs, mut texts) = (Vec::new(), Vec::new());
        let mut worst: Option<Failure> = None;
        for (id, party) in self.children.iter_mut().enumerate() {
            let failure = match (party.said.take(), party.ended) {
                (Some(Ok((run, shown))), _) => {
                    runs.push(run);
                    texts.push(shown);
                    continue;
                }
                (Some(Err(failure)), _) => failure,
                // Ended without a word: killed from outside, most often. That explains what the others met.
                (None, Some(status)) if !party.dismissed => {
                    Failure::new(Ending::Network, format!("the party's process ended without a result ({status})"))
                }
                (None, _) => Failure::new(Ending::Closed, "the process was stopped, since another party failed"),
            };
            let failure = Failure { message: format!("party {id}: {}", failure.message), ..failure };
            if worst.as_ref().is_none_or(|w| failure.kind > w.kind) {
                worst = Some(failure);
            }
        }
        worst.map_or(Ok(Finished { runs, texts, pids }), Err)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for party in self.children.iter_mut().filter(|p| p.ended.is_none()) {
            let _ = party.child.kill();
            let _ = party.child.wait();
        }
    }
}

/// The orders of a child, and where its addresses come.
pub(crate) struct Taken {
    pub(crate) orders: Orders,
    pub(crate) addresses: Receiver<Addresses>,
}

/// Reads the child's orders, and from then on ends this process when the parent is gone.
pub(crate) fn take_orders() -> Outcome<Taken> {
    let orders: Option<Orders> = next_line();
    let orders = orders.ok_or_else(|| Failure::input("--attached is only for processes that `comity local` starts"))?;
    let (tell, addresses) = mpsc::channel();
    thread::spawn(move || {
        if let Some(all) = next_line() {
            // Without a receiver this process is ending already.
            let _ = tell.send(all);
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        }
        std::process::exit(i32::from(Ending::Closed.code()));
    });
    Ok(Taken { orders, addresses })
}

fn next_line<T: serde::de::DeserializeOwned>() -> Option<T> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// Waits for the addresses of all parties: this child's own, where it listens, went to the parent.
pub(crate) fn introduce(addresses: &Receiver<Addresses>) -> comity::Result<Vec<String>> {
    addresses.recv().map(|Addresses(all)| all).map_err(|_| comity::Error::closed())
}
