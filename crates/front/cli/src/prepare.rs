//! `comity prepare`: the offline phase, for later runs.

use std::path::PathBuf;

use clap::Args;
use comity::Filled;
use comity_terminal::console::emit;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::{bytes, duration};

use crate::args::{NetworkArgs, Optimize, ProgramArgs, RoleArgs, SessionArgs};
use crate::flags::Size;
use crate::interrupt;
use crate::json;
use crate::parties::{self, names};
use crate::profile::profile;
use crate::resolve::resolve_for;
use crate::session::{self, Ours};
use crate::storage::{KeyArgs, open_or_create};
use crate::watcher::Watcher;

#[derive(Args, Debug)]
pub(crate) struct PrepareArgs {
    /// What the runs will compute, as in `comity run`; without one, material for any program
    pub(crate) program: Option<String>,
    #[command(flatten)]
    pub(crate) roles: RoleArgs,
    /// What the program is compiled to, as in `comity run`
    #[arg(long, value_enum, value_name = "GOAL", default_value_t = Optimize::Auto)]
    pub(crate) optimize: Optimize,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// The folder where the material goes
    ///
    /// It is made if it is not there. Keep it out of backups: see below.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: PathBuf,
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    /// How many runs to prepare
    ///
    /// Without a program, how much of the protocol's material: of `tinyot`, for how many AND gates.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) count: u64,
    /// Without a program, the most wires that a program may have, where --count is the most AND gates
    ///
    /// For `spdz-bmr`, whose material is for both. Wires of inputs and outputs are counted, and those behind
    /// AND gates; with `--option xor=garbled` those behind XOR gates, too.
    #[arg(long, value_name = "W", conflicts_with = "program", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) wires: Option<u64>,
    /// Refuse if all lots of the store could then take more than this: bytes, or as in 500MiB, 20GiB
    #[arg(long, value_name = "BYTES", default_value = "8GiB")]
    pub(crate) store_limit: Size,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

/// The command.
pub(crate) fn run(args: &PrepareArgs) -> Outcome {
    interrupt::on();
    let named =
        |program: &String| ProgramArgs { program: program.clone(), roles: args.roles.clone(), optimize: args.optimize };
    let group = args.network.group.as_deref().map(parties::group).transpose()?;
    let goal = args.session.list.goal(args.session.protocol.as_deref())?;
    let resolved =
        args.program.as_ref().map(|program| resolve_for(&named(program), goal, group.as_ref())).transpose()?;
    if resolved.is_none() && !(args.roles.owner.is_empty() && args.roles.output_to.is_empty()) {
        return Err(Failure::input("--owner and --output-to need a PROGRAM, and the command names none"));
    }
    let program = resolved.as_ref().map(|resolved| &resolved.program);
    let names = names(program, group.as_ref())?;
    let party = session::party(&args.network, &names, group.as_ref())?;
    let ours = session::session(program, party, &names, group.as_ref(), &args.network, &args.session);
    let Ours { session, parties, place } = ours.map_err(|failure| names.explain(failure))?;
    let (store, made) = open_or_create(&args.store, &args.key)?;
    let session = session.store(store);
    let gates = resolved.as_ref().map_or(1, |resolved| resolved.program.and_gates()).saturating_mul(args.count);
    let mut watch = Watcher::new(party, parties, &names, &args.session, false, gates);
    let limit = args.store_limit.0;
    let done = match (&resolved, args.wires) {
        (Some(resolved), _) => session.prepare(&resolved.program, args.count, limit, &mut watch),
        (None, Some(wires)) => session.prepare_within(args.count, wires, limit, &mut watch),
        (None, None) => session.prepare_any(args.count, limit, &mut watch),
    };
    let done = match done {
        Ok(done) => done,
        Err(error) => {
            made.undo();
            return Err(place.failure(error));
        }
    };
    watch.progress.finish();
    if args.session.verbose {
        watch.say(&profile(&done.report));
    }
    if args.json {
        let program = resolved.map_or("any program".to_owned(), |resolved| resolved.text);
        return emit(&to_line(&describe(&done, program)));
    }
    let made = match (done.unit, done.count) {
        ("runs", 1) => "1 run is".to_owned(),
        ("runs", count) => format!("{count} runs are"),
        (unit, count) => format!("{count} {unit} of any programs are"),
    };
    let (size, time) = (bytes(done.stored_bytes), duration(done.report.seconds));
    emit(&format!("{made} prepared: {size} in {}, in {time}\n", args.store.display()))
}

/// The object that `--json` prints.
fn describe(done: &Filled, program: String) -> json::Prepare {
    let report = &done.report;
    json::Prepare {
        program,
        protocol: report.protocol.to_owned(),
        adversary: report.adversary.name().to_owned(),
        kappa: report.params.kappa,
        rho: report.params.rho,
        party: report.party,
        parties: report.parties,
        count: done.count,
        and_gates: report.and_gates,
        stored_bytes: done.stored_bytes,
        seconds: json::Seconds {
            total: report.seconds,
            phases: report.phases.iter().map(|&(name, s)| (name.to_owned(), s)).collect(),
        },
        bytes: json::Bytes { sent: report.bytes_sent, received: report.bytes_received },
        peers: json::peers(report),
        rounds: report.rounds,
        peak_rss_bytes: report.peak_rss,
    }
}
