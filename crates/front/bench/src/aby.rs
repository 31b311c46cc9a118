//! Mixed protocols as ABY's paper has them (Demmler, Schneider, Zohner, NDSS 2015): conversions between all
//! forms, products in each, and the three applications of its abstract, each in the pure forms, with forms by
//! hand, and with those that the planner chooses.
//!
//! Two parties over TCP on this machine, one thread each, base OTs and triples included. Plans are for the
//! network that is simulated, or for this machine's own.

mod programs;

use comity_channel::NetProfile;
use comity_circuit::{Form, Program};
use comity_core::Params;
use comity_mixed::Mixed;
use comity_protocol::{Costing, Options, Protocol, Talk};
use comity_terminal::failure::Outcome;

use crate::suite::{Bench, Suite};
use crate::text::{Table, bytes, time};
use crate::two::{Phases, Run, Work, play, repeat};
use programs::{APPLICATIONS, Application, conversions, products};

/// The group, whose name all its measurements' names begin with.
pub(super) const ABY: Bench = Bench {
    name: "aby",
    about: "mixed protocols as in ABY's paper: conversions, products, and its applications in pure forms, by hand and planned",
    ceiling: Some("machine.loopback"),
    run,
};

/// The network of two processes of this machine, for which plans are made where none is simulated.
const HERE: &str = "60us,20gbit";

/// Words that are converted, and multiplied, in a run.
const CONVERTED: u64 = 1 << 15;
const MULTIPLIED: u64 = 1 << 11;

/// How the operations of an application get their forms.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// All in one form, as far as they can have it.
    Pure(Form),
    /// As the program pins them.
    ByHand,
    /// As the planner chooses.
    Auto,
}

impl Sharing {
    const ALL: [Sharing; 5] = [
        Sharing::Pure(Form::Yao),
        Sharing::Pure(Form::Boolean),
        Sharing::Pure(Form::Arithmetic),
        Sharing::ByHand,
        Sharing::Auto,
    ];

    fn name(self) -> &'static str {
        match self {
            Sharing::Pure(form) => form.name(),
            Sharing::ByHand => "hand",
            Sharing::Auto => "auto",
        }
    }

    /// The value of the option `sharing`.
    fn option(self) -> &'static str {
        match self {
            Sharing::Pure(form) => form.name(),
            Sharing::ByHand | Sharing::Auto => "auto",
        }
    }

    fn program(self, of: Application) -> Program {
        (of.program)(self == Sharing::ByHand)
    }
}

fn run(suite: &mut Suite) -> Outcome {
    let net = suite.network();
    for from in Form::ALL {
        for to in Form::ALL.into_iter().filter(|to| *to != from) {
            for bits in [32, 64] {
                let row = format!("aby.convert.{from}.{to}.k{bits}");
                rates(suite, &row, CONVERTED, || conversions(from, to, bits, CONVERTED))?;
            }
        }
    }
    for form in Form::ALL {
        for bits in [32, 64] {
            let row = format!("aby.product.{form}.k{bits}");
            rates(suite, &row, MULTIPLIED, || products(form, bits, MULTIPLIED))?;
        }
    }
    let mut table = Table::new(["application", "forms", "expected", "time", "bytes", "rounds"]);
    for of in APPLICATIONS {
        let row = |sharing: Sharing| format!("aby.{}.{}", of.name, sharing.name());
        let wanted = Sharing::ALL.into_iter().filter(|sharing| suite.wants(&row(*sharing)));
        let wanted: Vec<(Sharing, Program)> = wanted.map(|sharing| (sharing, sharing.program(of))).collect();
        // In turns: what else the machine does is then no difference between forms.
        let turns: Vec<Vec<Run>> = repeat(|| {
            let run = |(sharing, program): &(Sharing, Program)| measured(program, sharing.option(), net);
            wanted.iter().map(run).collect()
        })?;
        let seconds = |at: usize| turns.iter().map(|turn| turn[at].seconds).collect::<Vec<f64>>();
        for (at, (sharing, program)) in wanted.iter().enumerate() {
            suite.record(&row(*sharing), "s", None, seconds(at));
            let run = middle(&turns, at);
            table.row([
                of.name.to_owned(),
                sharing.name().to_owned(),
                time(Some(expected(program, sharing.option(), net)?)),
                time(Some(run.seconds)),
                bytes(run.total()),
                run.rounds.to_string(),
            ]);
        }
        let (planned, others): (Vec<usize>, Vec<usize>) =
            (0..wanted.len()).partition(|at| wanted[*at].0 == Sharing::Auto);
        let median = |at: &usize| middle(&turns, *at).seconds;
        let best = others.into_iter().min_by(|one, other| median(one).total_cmp(&median(other)));
        if let (Some(&planned), Some(best)) = (planned.first(), best) {
            let ratios = seconds(best).iter().zip(seconds(planned)).map(|(best, planned)| best / planned).collect();
            suite.record(&format!("aby.{}.auto_of_best", of.name), "of best", None, ratios);
        }
    }
    table.print(suite, "ABY's applications: forms by hand and as planned");
    Ok(())
}

/// The run that took the median time, of those at this place of each turn.
fn middle(turns: &[Vec<Run>], at: usize) -> &Run {
    let mut runs: Vec<&Run> = turns.iter().map(|turn| &turn[at]).collect();
    runs.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    runs[runs.len() / 2]
}

/// Measures how many operations a program does in a second, if that is wanted.
fn rates(suite: &mut Suite, row: &str, times: u64, program: impl FnOnce() -> Program) -> Outcome {
    if !suite.wants(row) {
        return Ok(());
    }
    let (program, net) = (program(), suite.network());
    let rates = repeat(|| Ok(times as f64 / measured(&program, "auto", net)?.seconds))?;
    suite.record(row, "ops/s", None, rates);
    Ok(())
}

/// The options of a run: its forms, and the network for which they are chosen.
fn settings(sharing: &str, net: Option<NetProfile>) -> [(&'static str, String); 2] {
    [("sharing", sharing.to_owned()), ("net", net.map_or(HERE.to_owned(), |net| net.to_string()))]
}

/// A whole run. The plan is made before, as `comity run` does it before it calls anybody.
fn measured(program: &Program, sharing: &str, net: Option<NetProfile>) -> Outcome<Run> {
    let mut work = Work::new(program, Mixed.card(), Params::default().rho)?;
    for (name, value) in settings(sharing, net) {
        work = work.with(name, &value)?;
    }
    Mixed.fits(program, work.job(&[]).options, Params::default())?;
    let party = |me: u16| {
        let work = &work;
        move |ch: &mut crate::two::Wire| work.run(&Mixed, ch, me, &mut Phases::new())
    };
    Ok(play(net, party(0), party(1))?.0)
}

/// The seconds that the planner expects a run to take.
fn expected(program: &Program, sharing: &str, net: Option<NetProfile>) -> Outcome<f64> {
    let mut options = Options::new(Mixed.card());
    for (name, value) in settings(sharing, net) {
        options.set(comity_core::PartyId(0), name, &value)?;
    }
    let mut talk = Talk::new(2);
    let params = Params::default();
    Mixed.costs(&Costing { program, options: &options, params, parties: 2 }, &mut talk)?;
    let net = net.map_or_else(|| HERE.parse::<NetProfile>(), Ok)?;
    let sent = [0, 1].map(|party| talk.sent(comity_core::PartyId(party))).into_iter().max().unwrap_or(0);
    let transfer = sent as f64 * 8.0 / net.bits_per_second as f64;
    Ok(talk.delays() as f64 * net.round_trip.as_secs_f64() / 2.0 + transfer.max(talk.seconds()))
}

#[cfg(test)]
mod tests {
    use comity_circuit::{Plain, run};

    use super::*;

    /// The planner's forms are as good as the best that is known, or better: by what is expected of whole runs.
    #[test]
    fn plans_are_as_good_as_forms_by_hand() {
        for of in APPLICATIONS {
            let [noted, by_hand] = [Sharing::Auto, Sharing::ByHand].map(|sharing| sharing.program(of));
            for net in [None, Some(NetProfile::LAN), Some(NetProfile::WAN)] {
                let seconds = |sharing: Sharing| {
                    let program = if sharing == Sharing::ByHand { &by_hand } else { &noted };
                    expected(program, sharing.option(), net).unwrap()
                };
                let auto = seconds(Sharing::Auto);
                for sharing in Sharing::ALL.into_iter().filter(|sharing| *sharing != Sharing::Auto) {
                    let other = seconds(sharing);
                    assert!(auto * 0.95 <= other, "{} {}: {auto} and {other} s, {net:?}", of.name, sharing.name());
                }
            }
        }
    }

    /// A run of a power by the planner's forms is that of labels alone: the plan has their digest.
    #[test]
    fn a_plan_that_is_one_form_alone_is_that_form() {
        let program = programs::power(32, false);
        let digest = |sharing: Sharing| {
            let mut options = Options::new(Mixed.card());
            for (name, value) in settings(sharing.option(), Some(NetProfile::LAN)) {
                options.set(comity_core::PartyId(0), name, &value).unwrap();
            }
            Mixed.agrees_on(&program, &options).unwrap()
        };
        assert_eq!(digest(Sharing::Auto), digest(Sharing::Pure(Form::Yao)));
        assert_ne!(digest(Sharing::Auto), digest(Sharing::Pure(Form::Boolean)));
    }

    /// What the programs compute, and that they run in the forms that they say.
    #[test]
    fn applications_and_conversions_are_what_they_are_called() {
        let word = |value: u128, bits: usize| comity_core::Bits::from_u128(value, bits).unwrap();
        let words = |values: &[u128]| {
            let mut all = comity_core::Bits::default();
            values.iter().for_each(|value| all.extend_from(&word(*value, 32)));
            all
        };
        let first = |program: &Program, inputs: [comity_core::Bits; 2]| {
            struct Seen(Vec<comity_core::Bits>);
            impl comity_circuit::Observer for Seen {
                fn output(&mut self, _: usize, value: comity_core::Bits) {
                    self.0.push(value);
                }
            }
            let mut seen = Seen(Vec::new());
            run(program, &mut Plain::default(), &inputs.map(Some), &mut seen).unwrap();
            seen.0.remove(0).to_u128().unwrap()
        };
        for by_hand in [false, true] {
            let others = words(&[9, 9, 9, 9, 1, 2, 3, 0, 4, 4, 4, 4]);
            let least = programs::matching(3, by_hand);
            assert_eq!(first(&least, [words(&[1, 2, 3, 4]), others]), 3 * 3 + 2 * 2 + 1);
            let power = programs::power(32, by_hand);
            assert_eq!(first(&power, [words(&[3]), words(&[13])]), 1_594_323);
            let common = programs::intersection(4, by_hand);
            assert_eq!(first(&common, [words(&[1, 5, 7, 9]), words(&[2, 5, 9, 10])]), 2);
        }
        let converted = conversions(Form::Arithmetic, Form::Yao, 32, 1);
        assert_eq!(first(&converted, [words(&[5]), words(&[6])]), 11 ^ 22);
        for (program, operations) in [(&converted, ["add", "xor"]), (&products(Form::Yao, 32, 1), ["mul", "mul"])] {
            let notes = program.circuits()[0].notes();
            assert!(notes.iter().all(|note| operations.contains(&note.op.name()) && note.pin.is_some()));
        }
        let run = measured(&converted, "auto", None).unwrap();
        assert!(run.total() > 32 * 16, "labels of 32 bits: {} bytes", run.total());
    }
}
