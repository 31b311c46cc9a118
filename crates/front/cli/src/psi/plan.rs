//! `comity psi plan`: what each method takes, before anything is sent.
//!
//! Bytes are by the method's formula, and exact. All else is measured: three small runs in this process show
//! what an item of either side costs here. To that comes what the network adds.

use std::thread;

use comity::psi::{Item, Method, Set, Terms};
use comity::{Adversary, Error, Intersection, Recipients, Session, memory};
use comity_core::Params;
use comity_terminal::console::emit;
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::{bytes, duration, grouped};
use comity_terminal::text::Listing;
use serde::Serialize;

use super::args::PlanArgs;

/// What a method takes, for the party that learns the common rows.
#[derive(Serialize)]
struct Plan {
    method: &'static str,
    adversary: &'static str,
    seconds: f64,
    bytes_sent: u64,
    bytes_received: u64,
    rounds: u64,
    memory_bytes: u64,
}

/// Items of a set in a run that is measured.
const SMALL: usize = 1 << 13;

/// The receiver's items in such a run of a method that would send more than [`DEAR`] bytes for [`SMALL`].
const FEW: usize = 64;
const DEAR: u64 = 64 << 20;

/// Bytes that a party holds for each own item, beside what goes over the wire: item, digest, places in tables.
const HELD: u64 = 160;

/// The most keys that are reckoned with: far more than any machine holds.
const MOST: usize = 1 << 40;

/// The command.
pub(super) fn run(args: &PlanArgs) -> Outcome {
    if let Some(many) = [args.mine.0, args.theirs.0].into_iter().find(|&count| count > MOST) {
        let (many, most) = (grouped(many as u64), grouped(MOST as u64));
        return Err(Failure::input(format!("{many} keys are too many: the most is {most}")));
    }
    let mut plans = Vec::new();
    for method in Method::ALL.into_iter().filter(|method| !method.card().over) {
        for &adversary in method.card().adversaries {
            plans.push(plan(method, adversary, args)?);
        }
    }
    if args.json {
        return emit(&to_line(&plans));
    }
    let mut text = Listing::new(&[-9, -13, 10, 11, 11, 8, 10]);
    text.row(["method", "adversary", "time", "sent", "received", "rounds", "memory"].map(str::to_owned));
    for plan in &plans {
        text.row([
            plan.method.to_owned(),
            plan.adversary.to_owned(),
            duration(plan.seconds),
            bytes(plan.bytes_sent),
            bytes(plan.bytes_received),
            plan.rounds.to_string(),
            bytes(plan.memory_bytes),
        ]);
    }
    let (mine, theirs) = (grouped(args.mine.0 as u64), grouped(args.theirs.0 as u64));
    emit(&format!("{mine} keys here, {theirs} at the other side; the rows are learnt here\n{text}"))
}

fn plan(method: Method, adversary: Adversary, args: &PlanArgs) -> Outcome<Plan> {
    let (mine, theirs) = (args.mine.0, args.theirs.0);
    let terms = Terms { payload: args.payload, ..Terms::new(method, adversary) };
    let cost = |mine, theirs| method.cost(adversary, (theirs, mine), args.payload, Params::default().rho);
    // A method that takes much for each item of the receiver is tried with few of these.
    let dear = cost(SMALL, SMALL).is_some_and(|cost| cost.from_sender + cost.from_receiver > DEAR);
    let few = if dear { FEW } else { SMALL };
    let small = Sample::take(&terms, SMALL, few)?;
    let receiver = Sample::take(&terms, SMALL, 2 * few)?;
    let sender = Sample::take(&terms, 2 * SMALL, few)?;
    // A plane through three points; what is measured is never less than nothing.
    let scaled = |of: fn(&Sample) -> f64| {
        let (base, by_mine, by_theirs) =
            (of(&small), (of(&receiver) - of(&small)).max(0.0), (of(&sender) - of(&small)).max(0.0));
        let items = |count: usize, tried: usize| count as f64 / tried as f64;
        let fixed = (base - by_mine - by_theirs).max(0.0);
        fixed + by_mine * items(mine, few) + by_theirs * items(theirs, SMALL)
    };
    let (bytes_sent, bytes_received) = match (cost(mine, theirs), cost(few, SMALL)) {
        (Some(cost), Some(sample)) => {
            // Terms, the coin and the set-up of OTs are in no formula, and are about the same at all sizes.
            let fixed = |measured: f64, formula: u64| (measured as u64).saturating_sub(formula);
            (
                cost.from_receiver + fixed(small.sent, sample.from_receiver),
                cost.from_sender + fixed(small.received, sample.from_sender),
            )
        }
        _ => (scaled(|s| s.sent) as u64, scaled(|s| s.received) as u64),
    };
    let wire = args.net.map_or(0.0, |net| {
        let seconds = (bytes_sent + bytes_received) as f64 * 8.0 / net.bits_per_second as f64;
        seconds + small.rounds as f64 * net.round_trip.as_secs_f64()
    });
    Ok(Plan {
        method: method.name(),
        adversary: adversary.name(),
        seconds: scaled(|s| s.seconds) + wire,
        bytes_sent,
        bytes_received,
        rounds: small.rounds,
        memory_bytes: HELD * mine as u64 + bytes_sent.max(bytes_received),
    })
}

/// The cost of a small run at the receiver.
struct Sample {
    seconds: f64,
    sent: f64,
    received: f64,
    rounds: u64,
}

impl Sample {
    /// A run between sets of these sizes, half of them common, in this process.
    fn take(terms: &Terms, sender: usize, receiver: usize) -> Outcome<Sample> {
        let items = |from: usize, count: usize| -> Vec<Item> {
            (from..from + count).map(|at| Item::of(&(at as u64).to_le_bytes())).collect()
        };
        let (theirs, mine) = (items(0, sender), items(sender / 2, receiver));
        let cells = vec![7; sender * terms.payload];
        let widths = [terms.payload];
        let payload = (terms.payload > 0).then_some(comity::Columns { widths: &widths, header: &[] });
        let (a, b) = memory::pair();
        let run = |party: u16, channel, items: &[Item], cells: &[u8], payload| {
            let set = [Set { items, payload: cells, pad_to: 0 }];
            let (terms, to) = (*terms, Recipients::only(0_u16));
            let wanted = Intersection { terms, encoding: "plan", hashed: None, to, sets: &set, payload };
            Session::new(party).over(channel).intersect(&wanted, &mut ())
        };
        let (done, other) = thread::scope(|scope| {
            let other = scope.spawn(|| run(1, b, &theirs, &cells, payload).map(drop));
            let done = run(0, a, &mine, &[], None);
            (done, other.join())
        });
        other.map_err(|_| Failure::new(Ending::Bug, "a measuring run broke off"))??;
        let done = done.map_err(|error: Error| Failure::from(error))?;
        Ok(Sample {
            seconds: done.seconds,
            sent: done.traffic.sent as f64,
            received: done.traffic.received as f64,
            rounds: done.traffic.rounds,
        })
    }
}
