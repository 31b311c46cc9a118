//! `comity serve`: one party of a job, run after run.

mod books;
mod inputs;
mod log;
mod results;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use clap::Args;
use comity::{Card, Error, PartyId, Result, Supply, Watch};
use comity_terminal::console::note;
use comity_terminal::failure::{Ending, Failure, Outcome};

use crate::args::{NetworkArgs, SessionArgs, duration, seconds};
use crate::flags::{Assigned, BitOrder, Who};
use crate::job::checked;
use crate::job::file::{Job, of_program};
use crate::list::List;
use crate::resolve::Resolved;
use crate::session::{self, Ours};
use crate::shares::are_none;
use crate::storage::{self, KeyArgs};
use crate::values::Order;
use crate::watcher::Watcher;
use crate::{guarded, interrupt};
use books::{Books, Peer};
use inputs::Inputs;
use log::{Entry, Log};
use results::Results;

/// The help: what a service promises.
pub(crate) const ABOUT: &str = "\
A service waits for the job's parties, runs, and waits again, whatever they do: one
that sends garbage, stops, or goes away ends its own run, and nothing else.

A peer that varies its input learns the function at each: a peer may have as many
runs as the job says (runs = 1 if it says nothing), counted by its key. A run counts
from the moment that all have agreed on it, also if it fails: the peer may have its
output then. After a run that ended in misbehaviour (a check that failed, a message
that does not decode: exit code 4 of a single run) that key is not served again,
by any job with these books: what a protocol lets a cheat get away with (2^-rho) is
for one session: with tries without end a cheat succeeds. Where nobody can tell which of
several it was, they are not served together again. Both are kept in the books
(JOB.books beside the job, or --books FILE), on the disk before a run begins. Never
put back an old copy of them. When some party's runs are used up, the service ends.

--log FILE gets a line of JSON a run: run, when (seconds since 1970), seconds, job,
program (digest), protocol, party, peers (party, name, key), result (done, or the
kind of the failure) and culprit. Values are never in it, nor are outputs printed:
--outputs DIR keeps each run's result, as `comity run --json` prints it; there is room
for it on the disk before a run begins. At 16 MiB the log becomes FILE.1, in place of
the one before, and begins anew.

A signal (Ctrl-C, SIGTERM) stops the run that is on and ends the service in order.";

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// The job (see `comity job`)
    pub(crate) job: PathBuf,
    /// An input value, read anew for each run
    ///
    /// NAME=@FILE, or as in `comity run`.
    #[arg(long, short, value_name = "[NAME_OR_INDEX=]VALUE", allow_hyphen_values = true)]
    pub(crate) input: Vec<Assigned>,
    /// A command that prints the values for a run
    ///
    /// It is for the shell, prints NAME=VALUE lines, and sees the run's number in COMITY_RUN.
    #[arg(long, value_name = "COMMAND", conflicts_with = "input")]
    pub(crate) input_command: Option<String>,
    /// Bit order of values, as in `comity run`
    #[arg(long, value_name = "[VALUE=]lsb|msb")]
    pub(crate) bits: Vec<BitOrder>,
    /// End after this number of runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) jobs: Option<u64>,
    /// Add a line of JSON a run to FILE
    ///
    /// Who, what, when and how it ended, and no values.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Keep count of every peer's runs in FILE [default: JOB.books]
    #[arg(long, value_name = "FILE")]
    pub(crate) books: Option<PathBuf>,
    /// Write each run's result to DIR/run-N.json
    #[arg(long, value_name = "DIR")]
    pub(crate) outputs: Option<PathBuf>,
    /// Which party this is, in a job without keys
    #[arg(long, value_name = "PARTY")]
    pub(crate) party: Option<Who>,
    /// Wait for the others at this address
    ///
    /// :PORT is every address of this machine. By default it is the one in the job.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Meet parties that nobody can call at this relay
    ///
    /// All call the relay (`comity relay`) and speak TLS through it. By default it is the one in the job.
    #[arg(long, value_name = "ADDR")]
    pub(crate) relay: Option<String>,
    /// The folder with this party's key [default: COMITY_KEYS, or what the job says]
    #[arg(long, value_name = "DIR")]
    pub(crate) tls: Option<PathBuf>,
    /// The store of material, if the job uses one up [default: COMITY_STORE, or what the job says]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    /// How long the others may take
    ///
    /// It bounds the hello, the wait for a first message and for the rest of a message that has begun, and
    /// sending.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// End each run after this time
    ///
    /// In seconds, or as in 90s, 5m, 2h; the wait for its parties, up to --timeout, comes on top.
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = duration)]
    pub(crate) deadline: Duration,
    /// Say more on standard error
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// The pause after an attempt at which the parties did not agree.
const PAUSE: Duration = Duration::from_secs(1);

/// The command.
pub(crate) fn run(args: &ServeArgs, list: List) -> Outcome {
    interrupt::on();
    let (job, resolved) = checked(&args.job, list)?;
    if !are_none(&resolved) {
        return Err(Failure::input(
            "a service keeps no shares: values that come in as shares, or stay shared, are for `comity run --job`",
        ));
    }
    serve(args, &job, &resolved, list).map_err(|failure| resolved.names.explain(failure))
}

fn serve(args: &ServeArgs, job: &Job, resolved: &Resolved, list: List) -> Outcome {
    let network = job.network(args.tls.as_deref(), args.listen.as_deref(), args.party.as_ref());
    let network = NetworkArgs { relay: args.relay.clone(), ..network };
    let party = session::party(&network, &resolved.names, Some(&job.party))?;
    let session = SessionArgs {
        timeout: args.timeout,
        // Whoever comes when the wait is almost over has as long as the first one.
        deadline: Some(args.deadline.saturating_add(args.timeout)),
        verbose: args.verbose,
        ..job.session_args(list, party)?
    };
    let order = Order::new(resolved, &args.bits)?;
    let mut inputs = Inputs::new(&args.input, args.input_command.as_deref());
    let mut log = args.log.as_deref().map(Log::open).transpose()?;
    // The results of a service that ran before are not written over.
    let (mut results, before) = match &args.outputs {
        Some(dir) => Results::open(dir, resolved).map(|(results, last)| (Some(results), last))?,
        None => (None, 0),
    };
    let digest = job.digest(resolved);
    let peers: Vec<Peer> = job.party.members().iter().filter(|member| member.id.0 != party).map(Peer::of).collect();
    let books = args.books.clone().unwrap_or_else(|| beside(&args.job));
    let mut books = Books::open(&books, digest.text("job"), peers, job.runs)?;
    let begin = || -> Outcome<Ours> {
        let ours =
            session::session(Some(&resolved.program), party, &resolved.names, Some(&job.party), &network, &session)?;
        let session = ours.session.job(digest.0);
        let session = match job.store_dir(args.store.as_deref())? {
            Some(dir) => session.store(storage::open(&dir, &job.store_key(&args.key))?),
            None => session,
        };
        Ok(Ours { session, ..ours })
    };
    let listener = begin()?.session.listener()?;
    let (mut runs, mut told) = (0, false);
    while args.jobs.is_none_or(|jobs| runs < jobs) && !interrupt::stop().is_stopped() {
        if let Some(why) = books.refused() {
            note(&format!("the service ends: {}", resolved.names.named(&why)));
            break;
        }
        let number = before + runs + 1;
        let values = inputs.of(number, resolved, &order, party)?;
        if let Some(results) = &mut results {
            results.reserve(number)?;
        }
        let started = Entry::begins(number);
        let watcher = Watcher::new(party, job.party.parties(), &resolved.names, &session, false, u64::MAX);
        let mut watch = Attendant { watcher, books: &mut books, told, connected: false, agreed: false, cannot: None };
        let ours = begin()?;
        let Ours { session: run, place, .. } = match &listener {
            Some(listener) => Ours { session: ours.session.at(listener), ..ours },
            None => ours,
        };
        let ended =
            guarded(|| run.run_watched(&resolved.program, values, &mut watch).map_err(|error| place.failure(error)));
        let Attendant { connected, agreed, cannot, .. } = watch;
        told = true;
        if let Some(failure) = cannot {
            return Err(failure);
        }
        if let (Ok(report), Some(results)) = (&ended, &mut results) {
            results.keep(number, report, resolved, &order)?;
        }
        let failure = ended.as_ref().err();
        if failure.is_some_and(|failure| failure.kind == Ending::Misbehaved || failure.kind == Ending::Malformed)
            && agreed
        {
            books.misbehaved(failure.and_then(|failure| failure.party))?;
        }
        if let Some(log) = log.as_mut().filter(|_| connected) {
            log.add(&started.ended(job, digest, of_program(resolved), party, failure))?;
        }
        if let Err(failure) = &ended
            && connected
        {
            note(&format!("run {number}: {}", resolved.names.named(&failure.message)));
        }
        if agreed {
            runs += 1;
            inputs.used();
        } else if connected || failure.is_some_and(|failure| failure.kind != Ending::Timeout) {
            // Whoever disagrees does so again and again, and not faster than this.
            thread::sleep(PAUSE);
        }
        // What is wrong on this side is so the next time, too.
        if let Err(failure) = ended
            && is_ours(&failure, connected, party)
        {
            return Err(failure);
        }
    }
    Ok(())
}

/// The books beside a job.
fn beside(job: &Path) -> PathBuf {
    let mut name = job.as_os_str().to_owned();
    name.push(".books");
    name.into()
}

/// Whether what failed is on this side: its values, files or flags before anybody came, and after that its
/// disk, or its store that is used up. Whatever else happens with a peer is the peer's doing, be it a lack of
/// its own, and ends its run alone.
fn is_ours(failure: &Failure, connected: bool, party: u16) -> bool {
    match failure.kind {
        Ending::Store => true,
        Ending::Input | Ending::Usage => !connected || failure.party == Some(party),
        _ => false,
    }
}

/// What a run of the service is watched by: it is written into the books before anybody can learn anything from it.
struct Attendant<'a> {
    watcher: Watcher,
    books: &'a mut Books,
    /// Whether the person at the terminal knows where it listens.
    told: bool,
    connected: bool,
    agreed: bool,
    /// The reason why the books could not be written.
    cannot: Option<Failure>,
}

impl Watch for Attendant<'_> {
    fn agreed(&mut self) -> Result<()> {
        if let Err(failure) = self.books.begin() {
            let why = failure.message.clone();
            self.cannot = Some(failure);
            return Err(Error::store(why));
        }
        self.agreed = true;
        Ok(())
    }

    fn connected(&mut self, peer: &str) {
        self.connected = true;
        self.watcher.connected(peer);
    }

    fn listening(&mut self, address: &str) {
        if !self.told {
            self.watcher.say(&format!("serving at {address}"));
        }
    }

    fn at_relay(&mut self, relay: &str) {
        if !self.told {
            self.watcher.say(&format!("serving at the relay {relay}"));
        }
    }

    fn waiting(&mut self, _: &[PartyId], _: &[PartyId]) {}

    fn connecting(&mut self, address: &str) {
        if !self.told {
            self.watcher.say(&format!("calling {address} until it is there"));
        }
    }

    fn turned_away(&mut self, why: &str) {
        // A port that is open for long has strangers all day.
        if self.watcher.is_verbose() {
            self.watcher.turned_away(why);
        }
    }

    fn exposed(&mut self, card: &Card) {
        if !self.told {
            self.watcher.exposed(card);
        }
    }

    fn overheard(&mut self) {
        if !self.told {
            self.watcher.overheard();
        }
    }

    fn taken(&mut self, taken: &Supply) {
        self.watcher.taken(taken);
    }

    fn discarded(&mut self, lots: usize) {
        self.watcher.discarded(lots);
    }

    fn damaged(&mut self, why: &str) {
        self.watcher.damaged(why);
    }

    fn destroyed(&mut self, program: &str) {
        self.watcher.destroyed(program);
    }

    fn phase(&mut self, name: &'static str) {
        self.watcher.phase(name);
    }
}
