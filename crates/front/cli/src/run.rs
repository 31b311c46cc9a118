//! `comity run`: one party of a computation.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use comity::{Bits, PartyGroup, Report};
use comity_circuit::Output;
use comity_terminal::console::{check_writable, deliver, emit};
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;

use crate::args::{Format, NetworkArgs, ProgramArgs, ResultArgs, SessionArgs, ValueArgs};
use crate::children::{self, Taken};
use crate::flags::Assigned;
use crate::interrupt;
use crate::job;
use crate::json::{self, Event};
use crate::parties;
use crate::profile::profile;
use crate::resolve::{Resolved, resolve_for};
use crate::session::{self, Ours};
use crate::shares::{self, Files, ShareArgs};
use crate::storage::{self, KeyArgs};
use crate::values::{self, Order, Outputs};
use crate::watcher::Watcher;

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    #[command(flatten)]
    pub(crate) shares: ShareArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
    /// Use up material of `comity prepare` in DIR
    ///
    /// Never a batch whose copy was used: see below.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    /// Run the job in FILE, in place of a program
    ///
    /// All parties hold it, and it says all that they agree on: see `comity job`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["owner", "output_to", "optimize", "group", "connect", "peer", "protocol", "option", "kappa", "rho", "label"])]
    pub(crate) job: Option<PathBuf>,
    /// The digest of the job that the other flags are from.
    #[arg(skip)]
    pub(crate) digest: Option<[u8; 32]>,
    /// The number of runs, one after another.
    #[arg(skip = 1u16)]
    pub(crate) runs: u16,
    /// Run for a parent process: values come as JSON on standard input, events go as JSON lines to standard
    /// output, and the end of standard input ends this process
    #[arg(long, hide = true)]
    pub(crate) attached: bool,
}

/// The command.
pub(crate) fn run(args: &RunArgs) -> Outcome {
    if let Some(path) = &args.job {
        return job::run_once(args, path);
    }
    if args.program.program.is_empty() {
        return Err(Failure::new(Ending::Usage, "what is computed? Name a PROGRAM, or a --job FILE (see --help)"));
    }
    interrupt::on();
    // First of all, so that the parent can go on talking.
    let orders = if args.attached { Some(children::take_orders()?) } else { None };
    let group = args.network.group.as_deref().map(parties::group).transpose()?;
    let goal = args.session.list.goal(args.session.protocol.as_deref())?;
    let mut resolved = resolve_for(&args.program, goal, group.as_ref())?;
    let (come_in, given) = shares::come_in(&mut resolved, &args.values.input)?;
    let party = session::party(&args.network, &resolved.names, group.as_ref())?;
    one(args, &resolved, (&come_in, &given), party, (group.as_ref(), orders))
        .map_err(|failure| resolved.names.explain(failure))
}

/// One party of the computation, as often as the arguments say.
pub(crate) fn one(
    args: &RunArgs,
    resolved: &Resolved,
    (come_in, given): (&Files, &[Assigned]),
    party: u16,
    (group, orders): (Option<&PartyGroup>, Option<Taken>),
) -> Outcome {
    let go_out = shares::go_out(resolved, &args.shares)?;
    let order = Order::new(resolved, &args.values.bits)?;
    if !args.attached {
        resolved.warn();
    }
    let program = &resolved.program;
    let begin = || session::session(Some(program), party, &resolved.names, group, &args.network, &args.session);
    let (ours, inputs) = match orders {
        Some(Taken { orders, addresses }) => {
            let inputs = values::from_orders(resolved, &orders.inputs)?;
            let ask = move |_: &str| children::introduce(&addresses);
            (session::attached(program, party, orders.parties, &resolved.names, &args.session, ask)?, inputs)
        }
        None => (begin()?, values::read(resolved, &order, given, Some(party))?),
    };
    if let Some(path) = &args.result.output {
        check_writable(path)?;
    }
    shares::check(&go_out)?;
    // Between two runs the place where this party is called stays open: a peer that is done with the one calls
    // for the next, and waits there.
    let listener = if args.runs > 1 { ours.session.listener()? } else { None };
    let at = |ours: Ours| match &listener {
        Some(listener) => Ours { session: ours.session.at(listener), ..ours },
        None => ours,
    };
    let computed = |ours, inputs| computed(args, resolved, at(ours), (party, inputs), (come_in, &go_out, &order));
    computed(ours, inputs.clone())?;
    (1..args.runs).try_for_each(|_| computed(begin()?, inputs.clone()))
}

/// One run.
fn computed(
    args: &RunArgs,
    resolved: &Resolved,
    Ours { session, parties, place }: Ours,
    (party, inputs): (u16, BTreeMap<usize, Bits>),
    (come_in, go_out, order): (&Files, &Files, &Order),
) -> Outcome {
    let program = &resolved.program;
    let mut session = shares::put_in(session, resolved, come_in, &args.shares)?;
    if let Some(digest) = args.digest {
        session = session.job(digest);
    }
    if let Some(dir) = &args.store {
        session = session.store(storage::open(dir, &args.key)?);
    }
    let mut watch = Watcher::new(party, parties, &resolved.names, &args.session, args.attached, program.and_gates());
    let report = session.run_watched(program, inputs, &mut watch).map_err(|error| place.failure(error))?;
    watch.progress.finish();
    shares::write(&report.shares, go_out)?;
    for index in &report.unauthenticated {
        let title = resolved.title(*index);
        watch.say(&format!(
            "input {title} came in as shares, which have no MACs: whoever held a share could have flipped bits of the \
                value"
        ));
    }

    if args.session.verbose {
        watch.say(&profile(&report));
    }
    let (report, texts) = describe(&report, resolved, order, args.values.format, go_out);
    if args.attached {
        return emit(&to_line(&Event::Report { run: Box::new(report), texts }));
    }
    for (index, path) in &report.shares {
        watch.say(&format!("its share of output {index} (`{}`) is in {path}", resolved.outputs()[*index].name));
    }
    if report.outputs.is_empty() && report.shares.is_empty() {
        let others = if parties == 2 { "the other party" } else { "others" };
        watch.say(&format!("done; the outputs are for {others}"));
    }
    let text = if args.result.json { to_line(&report) } else { values::lines(resolved, &texts) };
    deliver(&text, args.result.output.as_deref())
}

/// The object that `--json` prints, and the outputs as a person reads them.
pub(crate) fn describe(
    report: &Report,
    resolved: &Resolved,
    order: &Order,
    format: Format,
    go_out: &Files,
) -> (json::Run, BTreeMap<usize, String>) {
    let mut outputs = Outputs::default();
    for (index, bits) in &report.outputs {
        outputs.add(resolved, order, *index, bits, format);
    }
    let learn = |(index, output): (usize, &Output)| {
        let parties = (0..report.parties).filter(|&party| output.to.includes(party)).collect();
        (resolved.output_key(index), parties)
    };
    let run = json::Run {
        program: resolved.text.clone(),
        protocol: report.protocol.to_owned(),
        options: report.options.iter().map(|(name, value)| ((*name).to_owned(), json::option(value.clone()))).collect(),
        adversary: report.adversary.name().to_owned(),
        garbling: report.garbling().map(str::to_owned),
        assumption: report.assumption.map(str::to_owned),
        kappa: report.params.kappa,
        rho: report.params.rho,
        party: report.party,
        parties: report.parties,
        outputs: outputs.hex,
        values: outputs.values,
        shares: go_out.iter().map(|(index, path)| (*index, path.display().to_string())).collect(),
        unauthenticated_shares: report.unauthenticated.clone(),
        recipients: resolved.outputs().iter().enumerate().map(learn).collect(),
        and_gates: report.and_gates,
        seconds: json::Seconds {
            total: report.seconds,
            phases: report.phases.iter().map(|&(name, s)| (name.to_owned(), s)).collect::<BTreeMap<_, _>>(),
        },
        bytes: json::Bytes { sent: report.bytes_sent, received: report.bytes_received },
        peers: json::peers(report),
        rounds: report.rounds,
        peak_rss_bytes: report.peak_rss,
    };
    (run, outputs.texts)
}
