//! `comity run`: one party of a computation.

use std::collections::BTreeMap;

use comity::{Card, Report, Session, Watch};
use comity_core::{Backend, Params, PartyId};

use crate::args::{Format, NetworkArgs, RunArgs, SessionArgs};
use crate::children;
use crate::console::{check_writable, deliver, emit, note};
use crate::failure::{Failure, Outcome};
use crate::json::{self, Event};
use crate::prepare;
use crate::progress::{Progress, Ticker};
use crate::resolve::{Resolved, resolve};
use crate::values::{self, Order, Outputs};

/// How this party meets its peer.
enum Route<'a> {
    Listen(&'a str),
    Connect(&'a str),
}

/// The command.
pub(crate) fn run(args: &RunArgs) -> Outcome {
    // First of all, so that the parent can go on talking.
    let orders = if args.attached { Some(children::take_orders()?) } else { None };
    let resolved = resolve(&args.program)?;
    let party = args.network.party;
    let (mut session, address) = session(Some(&resolved), &args.network, &args.session)?;
    let order = Order::new(&resolved, &args.values.bits)?;
    let inputs = match &orders {
        Some(orders) => values::from_orders(&resolved, orders)?,
        None => values::read(&resolved, &order, &args.values.input, Some(party))?,
    };
    if let Some(path) = &args.result.output {
        check_writable(path)?;
    }

    if let Some(dir) = &args.store {
        session = session.store(prepare::open(dir, &args.key)?);
    }
    let mut watch = Watcher::new(party, &args.session, args.attached, resolved.program.and_gates());
    let report =
        session.run_watched(&resolved.program, inputs, &mut watch).map_err(|e| Failure::from(e).with_peer(address))?;
    watch.progress.finish();

    if args.session.verbose {
        watch.say(&profile(&report));
    }
    let (report, texts) = describe(&report, &resolved, &order, args.values.format);
    if args.attached {
        return emit(&json::line(&Event::Report { run: Box::new(report), texts }));
    }
    if report.outputs.is_empty() {
        note(&format!("party {party}: done; the outputs are for the other party"));
    }
    let text = if args.result.json { json::line(&report) } else { values::lines(&resolved, &texts) };
    deliver(&text, args.result.output.as_deref())
}

/// A session as the flags say, and the address in them.
pub(crate) fn session<'a>(
    resolved: Option<&Resolved>,
    network: &'a NetworkArgs,
    args: &SessionArgs,
) -> Outcome<(Session<'static>, &'a str)> {
    let protocol = args.list.named(args.protocol.as_deref())?;
    let party = network.party;
    let parties = *protocol.card().parties.start();
    protocol.card().has(PartyId(party), parties)?;
    if let Some(resolved) = resolved {
        check_parties(resolved, protocol.card(), parties)?;
    }
    let route = route(network)?;
    let mut session = Session::new(party)
        .params(Params::new(args.kappa, args.rho)?)
        .timeout(args.timeout)
        .backend(backend()?)
        .plaintext(network.plaintext);
    if args.protocol.is_some() {
        session = session.with(protocol);
    }
    for (name, value) in &args.option {
        session = session.option(name, value);
    }
    if let Some(dir) = &network.tls {
        session = session.tls(dir);
    }
    Ok(match route {
        Route::Listen(address) => (session.listen(address), address),
        Route::Connect(address) => (session.connect(address), address),
    })
}

/// Where the peer is; of two parties that name each other, the lower one listens.
fn route(args: &NetworkArgs) -> Outcome<Route<'_>> {
    let mut peers = args.peer.iter();
    match (&args.connect, &args.listen, peers.next(), peers.next()) {
        (_, _, _, Some(_)) => Err(Failure::input("this protocol has two parties: name one peer")),
        (Some(address), ..) => Ok(Route::Connect(address)),
        (None, _, Some(peer), _) if peer.party == args.party => {
            Err(Failure::input(format!("--peer {}: this is party {} itself", peer.party, args.party)))
        }
        (None, Some(address), Some(peer), _) if args.party < peer.party => Ok(Route::Listen(address)),
        (None, _, Some(peer), _) => Ok(Route::Connect(&peer.address)),
        (None, Some(address), None, _) => Ok(Route::Listen(address)),
        (None, None, None, _) => Err(Failure::input(
            "where is the other party? One side says --listen ADDR, the other --connect ADDR, such as 127.0.0.1:7000",
        )),
    }
}

/// The CPU backend that `COMITY_BACKEND` forces, or the fastest.
pub(crate) fn backend() -> Outcome<Backend> {
    match std::env::var("COMITY_BACKEND") {
        Err(std::env::VarError::NotPresent) => Ok(Backend::detect()),
        found => {
            let name = found.unwrap_or_default();
            Backend::named(&name).ok_or_else(|| {
                let names: Vec<&str> = Backend::available().into_iter().map(Backend::name).collect();
                let names = names.join(", ");
                Failure::input(format!("COMITY_BACKEND={name}: this machine has no such backend; it has: {names}"))
            })
        }
    }
}

/// Whether a run of so many parties has all that give or learn a value.
pub(crate) fn check_parties(resolved: &Resolved, card: &Card, parties: u16) -> Outcome {
    card.fits(parties, &resolved.program).map_err(|error| {
        Failure::from(error).at(&resolved.text).and(
            "`comity eval` computes it in the clear, for checking; --owner and --output-to give values to other parties",
        )
    })
}

/// The object that `--json` prints, and the outputs as a person reads them.
fn describe(
    report: &Report,
    resolved: &Resolved,
    order: &Order,
    format: Format,
) -> (json::Run, BTreeMap<usize, String>) {
    let mut outputs = Outputs::default();
    for (index, bits) in &report.outputs {
        outputs.add(resolved, order, *index, bits, format);
    }
    let run = json::Run {
        program: resolved.text.clone(),
        protocol: report.protocol.to_owned(),
        options: report.options.iter().map(|(name, value)| ((*name).to_owned(), json::option(*value))).collect(),
        adversary: report.adversary.name().to_owned(),
        kappa: report.params.kappa,
        rho: report.params.rho,
        party: report.party,
        parties: report.parties,
        outputs: outputs.hex,
        values: outputs.values,
        and_gates: report.and_gates,
        seconds: json::Seconds {
            total: report.seconds,
            phases: report.phases.iter().map(|&(name, s)| (name.to_owned(), s)).collect::<BTreeMap<_, _>>(),
        },
        bytes: json::Bytes { sent: report.bytes_sent, received: report.bytes_received },
        peers: report
            .peers
            .iter()
            .map(|(peer, counts)| (peer.0, json::Bytes { sent: counts.sent, received: counts.received }))
            .collect(),
        rounds: report.rounds,
        peak_rss_bytes: report.peak_rss,
    };
    (run, outputs.texts)
}

/// What a run cost, and where its time went: a line for all of it, and one for each phase.
pub(crate) fn profile(report: &Report) -> String {
    let mut text = format!(
        "{} AND gates in {}; {} sent, {} received, {} rounds",
        report.and_gates,
        duration(report.seconds),
        bytes(report.bytes_sent),
        bytes(report.bytes_received),
        report.rounds
    );
    for (name, seconds) in &report.phases {
        let share = 100.0 * seconds / report.seconds.max(f64::MIN_POSITIVE);
        text += &format!("\n  {name:<8}{:>10}{share:>5.0} %", duration(*seconds));
    }
    text
}

/// A time for people.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// A number of bytes for people.
pub(crate) fn bytes(count: u64) -> String {
    if count < 1000 { format!("{count} bytes") } else { format!("{}B", crate::bench::scaled(count as f64)) }
}

/// Tells the person at the terminal, or the parent process, how it goes.
pub(crate) struct Watcher {
    attached: bool,
    verbose: bool,
    party: u16,
    seconds: u64,
    pub(crate) progress: Progress,
    ticker: Ticker,
}

impl Watcher {
    pub(crate) fn new(party: u16, args: &SessionArgs, attached: bool, and_gates: u64) -> Watcher {
        Watcher {
            attached,
            verbose: args.verbose,
            party,
            seconds: args.timeout.as_secs_f64().ceil() as u64,
            progress: Progress::new(and_gates),
            ticker: Ticker::new(),
        }
    }

    /// A note for the person at the terminal, who may see those of several parties.
    pub(crate) fn say(&self, text: &str) {
        if self.attached {
            self.tell(&Event::Note(text.to_owned()));
        } else {
            note(&format!("party {}: {text}", self.party));
        }
    }

    fn tell(&self, event: &Event) {
        // Without a parent this process ends by itself.
        let _ = emit(&json::line(event));
    }
}

impl Watch for Watcher {
    fn listening(&mut self, address: &str) {
        if self.attached {
            self.tell(&Event::Listening(address.to_owned()));
        } else {
            note(&format!("party {}: waiting for the peer at {address}, up to {} s", self.party, self.seconds));
        }
    }

    fn connecting(&mut self, address: &str) {
        if !self.attached {
            note(&format!("party {}: connecting to {address}, trying up to {} s", self.party, self.seconds));
        }
    }

    fn exposed(&mut self, card: &Card) {
        note(&format!("{} is {}: {}", card.name, card.adversary, card.risk));
    }

    fn connected(&mut self, peer: &str) {
        if self.verbose {
            self.say(&format!("connected: {peer}"));
        }
    }

    fn taken(&mut self, left: usize, deleted: usize) {
        if deleted > 0 {
            self.say(&format!("the other party has lost its part of {deleted} of the preparations here: deleted"));
        }
        if self.verbose || left == 0 {
            self.say(&format!("a preparation is used up; left for this program and peer: {left}"));
        }
    }

    fn material(&mut self, left: u32, need: u32, behind: u32) {
        if behind > 0 {
            self.say(&format!(
                "the other party had used {behind} blocks of the store's material that were unused here: they are gone, too. A \
                 crash costs one or two; if it is more, an old copy of this store was put back, or the other party lies"
            ));
        }
        if self.verbose || left < 2 * need {
            self.say(&format!("{need} of {left} blocks of material are used up"));
        }
    }

    fn discarded(&mut self, preparations: usize) {
        self.say(&format!("the other party has lost its part of {preparations} of the preparations here: deleted"));
    }

    fn damaged(&mut self, why: &str) {
        self.say(&format!("passed over in the store: {why}"));
    }

    fn destroyed(&mut self, name: &str) {
        self.say(&format!("material for {name} was destroyed: a run broke off while it was checked"));
    }

    fn phase(&mut self, name: &'static str) {
        if self.verbose {
            self.say(&format!("phase: {name}"));
        }
    }

    fn and_gates(&mut self, done: u64) {
        if !self.attached {
            self.progress.update(done);
        } else if self.ticker.due() {
            self.tell(&Event::Progress(done));
        }
    }
}
