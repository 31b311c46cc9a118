//! `comity plan`: what a run would cost, by protocol, before anybody is bothered.

mod outline;

use std::path::PathBuf;

use clap::Args;
use comity::{Card, NetProfile, PRIVATE_FUNCTIONS, Params, Program, RunCost};
use comity_protocol::{Adversary, Protocol};
use comity_terminal::chart::{Bar, Bars, Curves, Panel, Scale, svg};
use comity_terminal::console::{check_writable, deliver, emit, note};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::{bytes, duration, scaled};
use comity_terminal::text::Listing;
use serde::Serialize;

use crate::args::ProgramArgs;
use crate::list::{List, value};
use crate::resolve::resolve;
use outline::{Described, Detail};

/// What stands below the help.
pub(crate) const ABOUT: &str = "\
Bytes and rounds are counted from what each protocol says that it sends; those
that are marked with ~ are estimates, within some ten per cent. Time is that of
the messages that wait for each other, and of bytes or work, whichever takes
longer: half of it or twice as much is usual. `comity bench` measures.
A protocol that computes in several forms, if it is named, shows which it takes
for the operations of each line of the source, and what its pure forms cost.
The last line says which malicious protocol sends least, and which is done first:
all of those whose times such an estimate cannot tell apart.

NET is lan (1 ms, 2.32 Gbit/s), wan (75 ms, 200 Mbit/s), or a round trip and a
bandwidth, as in 20ms,100mbit.";

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    program: ProgramArgs,
    /// The protocol, or all that can run it
    #[arg(long, value_name = "NAME|all", default_value = "all")]
    protocol: String,
    /// An option of the protocol, which has to be named
    #[arg(long, value_name = "KEY=VALUE", value_parser = crate::args::key_value)]
    option: Vec<(String, String)>,
    /// The number of parties [default: as many as the program has, and two at least]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=i64::from(Program::MAX_PARTIES)))]
    parties: Option<u16>,
    /// The network: lan, wan, or its round trip and bandwidth, such as 20ms,100mbit
    #[arg(long, value_name = "NET", default_value = "lan")]
    net: String,
    /// Statistical security in bits
    #[arg(long, value_name = "BITS", default_value_t = 40)]
    rho: u32,
    /// Draw bytes by protocol, and time over the speed of the network, to FILE as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    json: bool,
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct Report {
    program: String,
    parties: u16,
    rho: u32,
    net: Net,
    plans: Vec<Planned>,
    /// If there are several that withstand parties who cheat.
    cheapest_malicious: Option<Cheapest>,
}

/// What to take, by what is dear, of the protocols that withstand parties who cheat.
#[derive(Serialize)]
struct Cheapest {
    bytes: &'static str,
    rounds: &'static str,
    /// The first, and all others that may be as fast.
    seconds: Vec<&'static str>,
}

/// Times that differ by less are taken for equal. They are estimates on one machine, so that their ratio is
/// better known than they are.
const ALIKE: f64 = 1.25;

impl Cheapest {
    /// None if there are fewer than two.
    fn of(plans: &[Costed], net: &NetProfile) -> Option<Cheapest> {
        let plans = plans.iter().map(|costed| &costed.plan);
        let mut plans: Vec<&RunCost> = plans.filter(|plan| plan.card.adversary == Adversary::Malicious).collect();
        if plans.len() < 2 {
            return None;
        }
        let bytes = plans.iter().min_by_key(|plan| plan.bytes())?.card.name;
        let rounds = plans.iter().min_by_key(|plan| plan.rounds.iter().max().copied())?.card.name;
        plans.sort_by(|a, b| a.seconds(net).total_cmp(&b.seconds(net)));
        let most = ALIKE * plans[0].seconds(net);
        let first = plans.iter().take_while(|plan| plan.seconds(net) <= most);
        Some(Cheapest { bytes, rounds, seconds: first.map(|plan| plan.card.name).collect() })
    }

    fn words(&self) -> String {
        let Cheapest { bytes, rounds, seconds } = self;
        let first = match &seconds[..] {
            [one] => (*one).to_owned(),
            several => format!("{} (too close to tell)", several.join(" or ")),
        };
        format!(
            "against parties who cheat: {bytes} sends least, {rounds} has the fewest rounds; soonest on this network: {first}"
        )
    }
}

#[derive(Serialize)]
struct Net {
    round_trip_seconds: f64,
    bits_per_second: u64,
}

/// The plan of one protocol.
#[derive(Serialize)]
struct Planned {
    protocol: &'static str,
    adversary: &'static str,
    and_gates: u64,
    /// The bytes that each party sends.
    bytes: Vec<u64>,
    /// The rounds of each party.
    rounds: Vec<u64>,
    /// Whether bytes and rounds are exact.
    exact: bool,
    seconds: f64,
    /// Seconds of work, without the network.
    work_seconds: f64,
    /// The messages that wait for each other, one after another.
    delays: u64,
    /// What a run from a store uses up.
    materials: Vec<Material>,
    /// What the protocol makes of the operations, if it was named and computes in several forms.
    #[serde(flatten)]
    detail: Option<Described>,
}

#[derive(Serialize)]
struct Material {
    name: &'static str,
    /// The amount, in the first unit of the material.
    amount: u64,
    unit: &'static str,
    /// The most bytes that it takes on a disk.
    bytes: u64,
}

/// A plan, and the AND gates of the form of the program that suits its protocol.
struct Costed {
    plan: RunCost,
    ands: u64,
    /// Of a protocol that was named.
    detail: Option<Detail>,
}

/// The command.
pub(crate) fn run(args: &PlanArgs, list: List) -> Outcome {
    let net: NetProfile = args.net.parse().map_err(Failure::from)?;
    if let Some(path) = &args.plot {
        check_writable(path)?;
    }
    let (parties, plans) = plans(args, list)?;
    if let Some(path) = &args.plot {
        deliver(picture(&plans, &net, &args.program.program), Some(path))?;
    }
    let cheapest_malicious = Cheapest::of(&plans, &net);
    if args.json {
        let net = Net { round_trip_seconds: net.round_trip.as_secs_f64(), bits_per_second: net.bits_per_second };
        let described = plans.iter().map(|costed| describe(costed, &args.net)).collect::<Outcome<_>>()?;
        let program = args.program.program.clone();
        return emit(&to_line(&Report { program, parties, rho: args.rho, net, plans: described, cheapest_malicious }));
    }
    emit(&table(&plans, &net))?;
    for Costed { plan, detail, .. } in &plans {
        if let Some(detail) = detail {
            emit(&detail.tables(plan, &net))?;
        }
    }
    if let Some(cheapest) = &cheapest_malicious {
        emit(&format!("{}\n", cheapest.words()))?;
    }
    if plans.iter().any(|costed| !costed.plan.exact) {
        note("~ is an estimate; time, too, depends on the machines (`comity plan --help`)");
    }
    Ok(())
}

/// The protocols whose plans can be asked for: those for private functions run universal programs alone.
fn all(list: List) -> impl Iterator<Item = &'static dyn Protocol> {
    list.0.iter().chain(PRIVATE_FUNCTIONS).copied()
}

/// The options of a protocol: those that are asked for, and the network, if what it does depends on it.
fn options(args: &PlanArgs, card: &Card) -> Outcome<Vec<(String, String)>> {
    const NET: &str = "net";
    let text = |(name, said): &(String, String)| Ok((name.clone(), value(card, name, said)?.into_owned()));
    let mut options = args.option.iter().map(text).collect::<Outcome<Vec<_>>>()?;
    if card.option(NET).is_some() && options.iter().all(|(name, _)| name != NET) {
        options.push((NET.to_owned(), args.net.clone()));
    }
    Ok(options)
}

/// The plans of the protocols that are asked for, in the order of the list.
fn plans(args: &PlanArgs, list: List) -> Outcome<(u16, Vec<Costed>)> {
    let params = Params::new(128, args.rho)?;
    let one = |protocol: &'static dyn Protocol| -> Outcome<(u16, Costed)> {
        let resolved = resolve(&args.program, protocol.card().goal)?;
        let parties = args.parties.unwrap_or_else(|| resolved.program.parties().max(2));
        let options = options(args, protocol.card())?;
        let plan = RunCost::new(list.0, protocol, &resolved.program, parties, params, &options)
            .map_err(|error| resolved.names.explain(error.into()))?;
        let ands = resolved.program.and_gates();
        let named = args.protocol != "all";
        let cost =
            |options: &[(String, String)]| RunCost::new(list.0, protocol, &resolved.program, parties, params, options);
        let outline = |options: &[(String, String)]| {
            RunCost::outline(list.0, protocol, &resolved.program, parties, params, options)
        };
        let detail = match if named { outline(&options)? } else { None } {
            Some(outline) => {
                let other = |&(name, value): &(&'static str, &'static str)| {
                    let mut options = options.clone();
                    options.retain(|(said, _)| said != name);
                    options.push((name.to_owned(), value.to_owned()));
                    Ok((name, value, cost(&options)?))
                };
                let others = outline.others.iter().map(other).collect::<Outcome<_>>()?;
                Some(Detail { outline, others })
            }
            None => None,
        };
        Ok((parties, Costed { plan, ands, detail }))
    };
    if args.protocol != "all" {
        let protocol = all(list).find(|protocol| protocol.card().name == args.protocol);
        let (parties, costed) = one(protocol.map_or_else(|| comity::among(list.0, &args.protocol), Ok)?)?;
        return Ok((parties, vec![costed]));
    }
    if !args.option.is_empty() {
        return Err(Failure::input("--option belongs to one protocol: name it with --protocol"));
    }
    // A program that cannot be read is told of; a protocol that cannot run it is left out.
    let resolved = resolve(&args.program, comity::Goal::Size)?;
    resolved.warn();
    let parties = args.parties.unwrap_or_else(|| resolved.program.parties().max(2));
    let plans: Vec<Costed> = all(list).filter_map(|protocol| Some(one(protocol).ok()?.1)).collect();
    if plans.is_empty() {
        let name = &args.program.program;
        return Err(Failure::input(format!("{name}: no protocol here runs it among {parties} parties")));
    }
    Ok((parties, plans))
}

fn describe(Costed { plan, ands, detail }: &Costed, net: &str) -> Outcome<Planned> {
    let net: NetProfile = net.parse().map_err(Failure::from)?;
    let materials = plan.materials.iter().map(|need| Material {
        name: need.material,
        amount: need.units[0],
        unit: unit(plan, need.material),
        bytes: need.bytes,
    });
    Ok(Planned {
        protocol: plan.card.name,
        adversary: plan.card.adversary.name(),
        and_gates: *ands,
        bytes: plan.sent.clone(),
        rounds: plan.rounds.clone(),
        exact: plan.exact,
        seconds: plan.seconds(&net),
        work_seconds: plan.work,
        delays: plan.delays,
        materials: materials.collect(),
        detail: detail.as_ref().map(|detail| detail.describe(&net)),
    })
}

/// What the first amount of a material counts.
fn unit(plan: &RunCost, material: &str) -> &'static str {
    let of = plan.card.offline.iter().find(|known| known.name == material);
    of.and_then(|material| material.units.first()).copied().unwrap_or("units")
}

/// A line for each protocol.
fn table(plans: &[Costed], net: &NetProfile) -> String {
    let mut text = Listing::new(&[-11, -13, 11, 11, 8, 11]);
    let heads = ["protocol", "adversary", "AND gates", "sent", "rounds", "time", "  material of a run from a store"];
    text.row(heads.map(str::to_owned));
    for Costed { plan, ands, .. } in plans {
        let about = if plan.exact { "" } else { "~" };
        let sent = format!("{about}{}", bytes(plan.bytes()));
        let rounds = format!("{about}{}", plan.rounds.iter().max().copied().unwrap_or(0));
        let materials = plan.materials.iter().map(|need| {
            let (amount, unit) = (need.units[0], unit(plan, need.material));
            let unit = if amount == 1 { unit.trim_end_matches('s') } else { unit };
            format!("{amount} {unit} of {}, up to {}", need.material, bytes(need.bytes))
        });
        let material = materials.reduce(|all, next| format!("{all}; {next}")).unwrap_or("-".to_owned());
        let time = duration(plan.seconds(net));
        let (name, adversary) = (plan.card.name.to_owned(), plan.card.adversary.name().to_owned());
        text.row([name, adversary, ands.to_string(), sent, rounds, time, format!("  {material}")]);
    }
    text.to_string()
}

/// Bytes by protocol, and time over bandwidth and over round trips.
fn picture(plans: &[Costed], net: &NetProfile, program: &str) -> String {
    let bars = plans.iter().enumerate().map(|(colour, Costed { plan, .. })| Bar {
        name: plan.card.name.to_owned(),
        value: plan.bytes() as f64,
        label: bytes(plan.bytes()),
        mark: None,
        colour,
    });
    let curve = |at: &dyn Fn(f64) -> NetProfile, points: &[f64]| -> Vec<(String, Vec<(f64, f64)>)> {
        let points = |plan: &RunCost| points.iter().map(|&x| (x, plan.seconds(&at(x)))).collect();
        plans.iter().map(|costed| (costed.plan.card.name.to_owned(), points(&costed.plan))).collect()
    };
    // Four points a decade.
    let over =
        |low: i32, high: i32| -> Vec<f64> { (4 * low..=4 * high).map(|i| 10f64.powf(f64::from(i) / 4.0)).collect() };
    let bandwidth = |bits: f64| NetProfile { bits_per_second: bits as u64, ..*net };
    let round_trip = |seconds: f64| NetProfile { round_trip: std::time::Duration::from_secs_f64(seconds), ..*net };
    svg(&[
        Panel::Bars(Bars {
            title: format!("{program}: bytes sent by all parties"),
            unit: "bytes".into(),
            series: Vec::new(),
            bars: bars.collect(),
        }),
        Panel::Curves(Curves {
            title: format!("time over bandwidth, round trip {}", duration(net.round_trip.as_secs_f64())),
            x: "bit/s".into(),
            y: "seconds".into(),
            scales: [Scale::Decades; 2],
            series: curve(&bandwidth, &over(6, 10)),
        }),
        Panel::Curves(Curves {
            title: format!("time over round trip, {}bit/s", scaled(net.bits_per_second as f64)),
            x: "seconds".into(),
            y: "seconds".into(),
            scales: [Scale::Decades; 2],
            series: curve(&round_trip, &over(-4, 0)),
        }),
    ])
}
