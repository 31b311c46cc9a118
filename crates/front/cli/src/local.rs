//! `comity local`: all parties on this machine, one process each, with the real protocol.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use comity::{Card, Program};
use comity_core::Bits;
use comity_protocol::Values;
use comity_terminal::console::{check_writable, deliver, note};
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;

use crate::args::{Format, ProgramArgs, ResultArgs, SessionArgs, ValueArgs};
use crate::children::{self, Finished, Plan};
use crate::interrupt;
use crate::json::{self, Orders};
use crate::resolve::{Resolved, resolve};
use crate::session::fits_parties;
use crate::shares::{self, Files, ShareArgs};
use crate::values::{self, Order};

#[derive(Args, Debug)]
pub(crate) struct LocalArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// The number of parties
    ///
    /// By default as many as the program has, and two at least.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=i64::from(Program::MAX_PARTIES)))]
    pub(crate) parties: Option<u16>,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    #[command(flatten)]
    pub(crate) shares: ShareArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// The command.
pub(crate) fn run(args: &LocalArgs) -> Outcome {
    let mut resolved = resolve(&args.program, args.session.list.goal(args.session.protocol.as_deref())?)?;
    let (come_in, given) = shares::come_in(&mut resolved, &args.values.input)?;
    let go_out = shares::go_out(&resolved, &args.shares)?;
    let order = Order::new(&resolved, &args.values.bits)?;
    resolved.warn();
    let inputs = values::read(&resolved, &order, &given, None)?;
    if let Some(path) = &args.result.output {
        check_writable(path)?;
    }
    let finished =
        together(&resolved, &inputs, (&come_in, &go_out), args).map_err(|failure| resolved.names.explain(failure))?;
    let text = if args.result.json {
        to_line(&json::Local { parties: finished.runs })
    } else {
        if let Some(text) = who_learns(&resolved, finished.runs.len() as u16) {
            note(&text);
        }
        values::lines(&resolved, &merged(&finished.texts)?)
    };
    deliver(&text, args.result.output.as_deref())
}

/// Runs every party in a process of its own.
pub(crate) fn together(
    resolved: &Resolved,
    inputs: &BTreeMap<usize, Bits>,
    (come_in, go_out): (&Files, &Files),
    args: &LocalArgs,
) -> Outcome<Finished> {
    interrupt::on();
    let parties = args.parties.unwrap_or_else(|| resolved.program.parties().max(2));
    let card = fits_parties(Some(&resolved.program), &args.session, parties)?.card();
    let orders = |party: u16| Orders { parties, inputs: values::to_orders(resolved, party, inputs) };
    children::run(Plan {
        args: arguments(args),
        flags: (0..parties)
            .map(|party| [own(args, card, party), shares::flags(come_in, go_out, &args.shares, party)].concat())
            .collect(),
        orders: (0..parties).map(orders).collect(),
        and_gates: resolved.program.and_gates(),
    })
}

/// The options that one party gets: choices between two parts are party 0's. Options that some party has to
/// set, and nobody sets here, have their values for a trial: one person runs all parties.
fn own(args: &LocalArgs, card: &Card, party: u16) -> Vec<String> {
    let part = |name: &str| card.option(name).is_some_and(|option| matches!(option.values, Values::Part(_)));
    let said = args.session.option.iter().filter(|(name, _)| !part(name) || party == 0);
    let trial = card.trial().filter(|(name, _)| args.session.option.iter().all(|(said, _)| said != name));
    let flag = |name: &str, value: &str| format!("--option={name}={value}");
    said.map(|(name, value)| flag(name, value)).chain(trial.map(|(name, value)| flag(name, value))).collect()
}

/// The arguments that all parties share. The inputs are not among them.
fn arguments(args: &LocalArgs) -> Vec<String> {
    let mut all: Vec<String> = vec!["run".into(), args.program.program.clone()];
    let mut flag = |name: &str, value: String| all.extend([format!("--{name}={value}")]);
    if let Some(goal) = args.program.optimize.to_possible_value() {
        flag("optimize", goal.get_name().to_owned());
    }
    args.program.roles.owner.iter().for_each(|owner| flag("owner", owner.to_string()));
    args.program.roles.output_to.iter().for_each(|to| flag("output-to", to.to_string()));
    args.values.bits.iter().for_each(|order| flag("bits", order.to_string()));
    let format = match args.values.format {
        Format::Value => "value",
        Format::Hex => "hex",
        Format::Bits => "bits",
    };
    flag("format", format.into());
    if let Some(protocol) = &args.session.protocol {
        flag("protocol", protocol.clone());
    }
    flag("kappa", args.session.kappa.to_string());
    flag("rho", args.session.rho.to_string());
    flag("timeout", args.session.timeout.as_secs_f64().to_string());
    if let Some(deadline) = args.session.deadline {
        flag("deadline", deadline.as_secs_f64().to_string());
    }
    if args.session.verbose {
        all.push("--verbose".into());
    }
    all
}

/// Who learns what, if not all learn all: in a real run each party sees its own outputs, and here one person
/// sees those of all.
fn who_learns(resolved: &Resolved, parties: u16) -> Option<String> {
    let outputs = resolved.outputs();
    if outputs.iter().all(|output| (0..parties).all(|party| output.to.includes(party))) {
        return None;
    }
    let line = |party: u16| {
        let own = outputs.iter().filter(|output| output.to.includes(party));
        let own: Vec<String> = own.map(|output| format!("`{}`", output.name)).collect();
        let learns = if own.is_empty() { "nothing".to_owned() } else { own.join(", ") };
        format!("party {} learns {learns}", resolved.names.title(party))
    };
    Some((0..parties).map(line).collect::<Vec<_>>().join("; "))
}

/// The outputs of all parties together. What several learn must be the same.
pub(crate) fn merged<'a>(
    parties: impl IntoIterator<Item = &'a BTreeMap<usize, String>>,
) -> Outcome<BTreeMap<usize, String>> {
    let mut outputs = BTreeMap::new();
    for (index, value) in parties.into_iter().flatten() {
        if outputs.insert(*index, value.clone()).is_some_and(|before| before != *value) {
            return Err(Failure::new(Ending::Bug, format!("the parties learned different values of output {index}")));
        }
    }
    Ok(outputs)
}
