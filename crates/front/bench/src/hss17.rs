//! Hazay, Scholl, Soria-Vazquez (Asiacrypt 2017), section 6: its tables 2, 3 and 4, the curves of figures 10
//! and 11, and what it says of slow networks, beside the same of `bmr`. Parties are threads of this process.

use std::time::{Duration, Instant};

use comity_bmr::{Bmr, Ground, Opener, Planned, TripleMasks, prepare_with, use_up};
use comity_channel::{Mesh, NetProfile, Result};
use comity_circuit::{Goal, Observer, Program, ProgramBuilder, Recipients};
use comity_core::{Bits, Params};
use comity_net::SystemRng;
use comity_protocol::{Empty, Here, Honest, Job, Options, Party, Protocol};
use comity_share::Joint;
use comity_terminal::chart::{Curves, Panel, Scale};
use comity_terminal::failure::Outcome;
use comity_tinyot::TinyOt;
use comity_triples::bucket::Budget;
use comity_triples::many::{Many, objects};

use crate::mesh::{Traffic, among_counted};
use crate::picture::Rows;
use crate::suite::{Bench, Suite, backend};
use crate::text::{Table, bytes, time};
use crate::two::{inputs, session};

/// The tables and curves.
pub(crate) const HSS17: Bench = Bench {
    name: "hss17",
    about: "Hazay, Scholl, Soria-Vazquez 2017, tables 1 to 4 and figures 10 and 11: AES and SHA-256 among 2 to 10 (only if named)",
    ceiling: Some("machine.loopback"),
    run: tables,
};

/// Section 6.1's networks.
pub(crate) const DELAY: Bench = Bench {
    name: "hss17.delay",
    about: "the same paper's section 6.1: AES and SHA-256 among three with 100 ms on the way, by bmr and by tinyot (only if named)",
    ceiling: None,
    run: delay,
};

const RHO: u32 = 40;

/// Times of a run, of which the median counts.
const RUNS: usize = 3;

/// The cost of a phase, or of all: of the party that had most.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) seconds: f64,
    pub(crate) sent: u64,
    pub(crate) rounds: u64,
}

/// For each phase the greatest cost of a party, from the costs of all parties.
pub(crate) fn most_of<const N: usize>(all: &[Vec<Cost>]) -> [Cost; N] {
    let mut phases = [Cost::default(); N];
    for costs in all {
        for (most, cost) in phases.iter_mut().zip(costs) {
            most.seconds = most.seconds.max(cost.seconds);
            most.sent = most.sent.max(cost.sent);
            most.rounds = most.rounds.max(cost.rounds);
        }
    }
    phases
}

/// The phases of a run: base OTs with the check of keys, what depends on no program, what depends on no
/// input, and the rest.
const PHASES: [&str; 4] = ["setup", "independent", "dependent", "online"];

/// The cost of a garbling, phase by phase; and the bucket size.
struct Costs {
    phases: [Cost; 4],
    bucket: usize,
}

/// The paper's circuit for AES: a block of party 0, and a key of which each other one has a share.
pub(crate) fn aes(parties: u16) -> Program {
    let mut program = ProgramBuilder::for_goal("aes128", Goal::Size);
    let block = program.input("block", 0u16, 128);
    let keys: Vec<_> = (1..parties).map(|party| program.input(format!("key {party}"), party, 128)).collect();
    let mut builder = program.builder();
    let mut shares = Vec::from_iter((1..parties).map(|party| builder.input(&format!("share {party}"), 128)));
    let mut key = shares.pop().expect("two parties at least");
    for share in shares {
        key = key.iter().zip(&share).map(|(&key, &share)| builder.xor(key, share)).collect();
    }
    builder.output("key", &key);
    let joined = program.circuit(builder.finish());
    let cipher = program.circuit(comity_library::find("aes128").expect("the library has AES"));
    let (key, out) = (program.register(128), program.register(128));
    program.call(joined, &keys.iter().map(|key| key.span()).collect::<Vec<_>>(), &[key.span()]);
    program.call(cipher, &[key.span(), block.span()], &[out.span()]);
    program.reveal("ciphertext", Recipients::All, out);
    program.finish().expect("a valid program")
}

fn sha256() -> Program {
    comity_library::program("sha256").expect("the library has SHA-256")
}

pub(crate) fn here(net: &Mesh<'_>, session: comity_core::SessionId) -> Here {
    let params = Params::new(128, RHO).expect("rho is in range");
    Here { me: net.me(), parties: net.parties(), session, params, backend: backend() }
}

/// Nobody looks at outputs.
pub(crate) struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// Measures phases.
pub(crate) struct Meter<'t> {
    traffic: &'t Traffic,
    pub(crate) costs: Vec<Cost>,
}

impl<'t> Meter<'t> {
    /// A meter that has measured no phase yet.
    pub(crate) fn new(traffic: &'t Traffic) -> Meter<'t> {
        Meter { traffic, costs: Vec::new() }
    }

    /// Measures a phase, from when all parties begin it to when all have ended it.
    pub(crate) fn phase<T>(&mut self, net: &mut Mesh<'_>, run: impl FnOnce(&mut Mesh<'_>) -> Result<T>) -> Result<T> {
        net.tell(&[0])?;
        let (start, (sent, rounds)) = (Instant::now(), self.traffic.counts());
        let done = run(net)?;
        let (now, turns) = self.traffic.counts();
        net.tell(&[1])?;
        let seconds = start.elapsed().as_secs_f64();
        self.costs.push(Cost { seconds, sent: now - sent, rounds: turns - rounds });
        Ok(done)
    }
}

/// The phases of a run among `parties` parties, one after the other.
fn costs(parties: u16, program: &Program, net: Option<NetProfile>) -> Outcome<Costs> {
    let (ands, session) = (program.and_gates(), session());
    program.lowered();
    let budget = Budget::known(ands, RHO, 1, objects(parties))?;
    let bucket = budget.known_batch().map_or(0, |(batch, _)| batch.size);
    let options = Options::new(Bmr.card());
    let all = among_counted(parties, net, |net, traffic| {
        let (here, mut meter) = (here(net, session), Meter::new(traffic));
        // Set-up alone, since what is made ahead is made along with it.
        meter.phase(net, |net| Joint::setup(net, here.child("setup"), &mut SystemRng).map(drop))?;
        let own = inputs(program, here.me.0);
        let planned = Planned::of(program);
        let mut masks = meter.phase(net, |net| {
            let bits = (planned.shares + planned.own) as usize;
            let dealer = Many::new_for(net, here.child("dealer"), budget.clone(), bits, &mut SystemRng)?;
            let mut masks = TripleMasks::new(here.child("masks"), Box::new(dealer), planned, &mut SystemRng);
            masks.prepare(net)?;
            Ok(masks)
        })?;
        let mut kept = Vec::new();
        meter.phase(net, |net| {
            let mut me = Party { net, here, rng: &mut SystemRng, observer: &mut Nobody };
            prepare_with(
                &mut me,
                Ground { masks: &mut masks, opener: Opener::Balanced },
                program,
                &mut kept,
                &mut Honest,
            )
        })?;
        meter.phase(net, |net| {
            let mut me = Party { net, here, rng: &mut SystemRng, observer: &mut Nobody };
            use_up(&mut me, &mut &kept[..], &Job { program, inputs: &own, options: &options }, &mut Honest)
        })?;
        Ok(meter.costs)
    })?;
    let mut phases: [Cost; 4] = most_of(&all);
    // The second phase had a set-up of its own.
    let [setup, independent, ..] = &mut phases;
    independent.seconds = (independent.seconds - setup.seconds).max(0.0);
    independent.sent = independent.sent.saturating_sub(setup.sent);
    independent.rounds = independent.rounds.saturating_sub(setup.rounds);
    Ok(Costs { phases, bucket })
}

/// The median of some runs, phase by phase, as measurements of this name; long runs are made once.
fn record(suite: &mut Suite, name: &str, parties: u16, program: &Program) -> Outcome<Option<Costs>> {
    if !suite.wants(name) {
        return Ok(None);
    }
    let runs = if program.and_gates() > 1 << 14 { 1 } else { RUNS };
    let all = (0..runs).map(|_| costs(parties, program, suite.network())).collect::<Outcome<Vec<_>>>()?;
    for (i, phase) in PHASES.into_iter().enumerate() {
        let of = |value: fn(&Cost) -> f64| all.iter().map(|costs| value(&costs.phases[i])).collect();
        suite.record(&format!("{name}.{phase}"), "s", None, of(|cost| cost.seconds));
        suite.record(&format!("{name}.{phase}.bytes"), "bytes", None, of(|cost| cost.sent as f64));
        suite.record(&format!("{name}.{phase}.rounds"), "rounds", None, of(|cost| cost.rounds as f64));
    }
    let mut median = all.into_iter().next_back().expect("a run");
    for (phase, cost) in PHASES.into_iter().zip(&mut median.phases) {
        cost.seconds = suite.value(&format!("{name}.{phase}")).unwrap_or(cost.seconds);
    }
    Ok(Some(median))
}

/// What the paper's tables 3 and 4 quote: the number of parties, whose protocol, and the bytes of the phases,
/// without set-up.
const QUOTED: [(u16, &str, [&str; 3]); 15] = [
    (2, "the paper, on triples of Wang, Ranellucci, Katz 2017", ["2.86 MB", "872 kB", "4.22 kB"]),
    (2, "Wang, Ranellucci, Katz 2017", ["2.86 MB", "570 kB", "4.86 kB"]),
    (2, "Nielsen, Schneider, Trifiletti 2017", ["14.94 MB", "227 kB", "16.13 kB"]),
    (2, "Nielsen, Schneider, Trifiletti 2017, each of 1024", ["6.42 MB", "227 kB", "16.13 kB"]),
    (2, "Rindal, Rosulek 2016, each of 32", ["", "3.75 MB", "25.76 kB"]),
    (3, "the paper", ["14.01 MB", "1.31 MB", ""]),
    (3, "Wang, Ranellucci, Katz 2017, for many", ["4.8 MB", "1.3 MB", ""]),
    (3, "MASCOT-BMR-FX", ["3.83 GB", "12.19 MB", ""]),
    (3, "SPDZ-BMR, covert 1/5", ["7.91 GB", "61.57 MB", ""]),
    (3, "SPDZ-BMR", ["25.77 GB", "61.57 MB", ""]),
    (10, "the paper", ["63.22 MB", "4.37 MB", ""]),
    (10, "Wang, Ranellucci, Katz 2017, for many", ["20.4 MB", "4.4 MB", ""]),
    (10, "MASCOT-BMR-FX", ["54.37 GB", "178.25 MB", ""]),
    (10, "SPDZ-BMR, covert 1/5", ["100.98 GB", "846.73 MB", ""]),
    (10, "SPDZ-BMR", ["328.94 GB", "846.73 MB", ""]),
];

/// The paper's table 2, among nine, and what it quotes beside it: seconds before inputs, and after.
const TABLE2: [(&str, &str, f64, Option<f64>); 6] = [
    ("aes", "the paper, B = 5", 1.329, Some(0.035_34)),
    ("aes", "the paper, B = 3 of 2^20 ANDs", 0.5869, Some(0.033_30)),
    ("aes", "Wang, Ranellucci, Katz 2017, for many, all in, 10 Gbit/s", 0.2, None),
    ("sha256", "the paper, B = 5", 10.443, Some(0.260_58)),
    ("sha256", "the paper, B = 3 of 2^20 ANDs", 6.652, Some(0.2528)),
    ("sha256", "Wang, Ranellucci, Katz 2017, for many, all in, 10 Gbit/s", 2.2, None),
];

fn tables(suite: &mut Suite) -> Outcome {
    if !suite.named(HSS17.name) {
        return Ok(());
    }
    let mut curves =
        Table::new(["parties", "circuit", "ANDs", "B", "setup", "independent", "dependent", "online", "bytes/AND"]);
    let mut sent = Table::new(["AES, bytes that a party sends", "setup", "independent", "dependent", "online"]);
    let mut nine = Table::new(["9 parties", "preparation", "online"]);
    let mut drawn = Rows::of(["preparation", "online"]);
    // Figures 10 and 11: each phase over the number of parties, for each of the circuits.
    let mut figures = ["aes", "sha256"].map(|name| (name, PHASES.map(|phase| (phase.to_owned(), Vec::new()))));
    for parties in 2..=10u16 {
        for name in ["aes", "sha256"] {
            let program = if name == "aes" { aes(parties) } else { sha256() };
            let Some(found) = record(suite, &format!("hss17.n{parties}.{name}"), parties, &program)? else { continue };
            for (_, phases) in figures.iter_mut().filter(|figure| figure.0 == name) {
                let points = found.phases.map(|cost| (f64::from(parties), cost.seconds));
                phases.iter_mut().zip(points).for_each(|((_, curve), point)| curve.push(point));
            }
            let ands = program.and_gates();
            let [s, i, d, o] = found.phases.map(|cost| time(Some(cost.seconds)));
            let each = (found.phases[1].sent + found.phases[2].sent) as f64 / ands as f64;
            let bucket = found.bucket.to_string();
            let (who, ands) = (parties.to_string(), ands.to_string());
            curves.row([who, name.to_owned(), ands, bucket.clone(), s, i, d, o, format!("{each:.0}")]);
            if name == "aes" && QUOTED.iter().any(|quoted| quoted.0 == parties) {
                let [s, i, d, o] = found.phases.map(|cost| bytes(cost.sent));
                sent.row([format!("{parties}: bmr, B = {bucket}"), s, i, d, o]);
                for (_, who, [i, d, o]) in QUOTED.iter().filter(|quoted| quoted.0 == parties) {
                    sent.row([&format!("{parties}: {who}"), "", i, d, o].map(String::from));
                }
            }
            if parties == 9 {
                let before = found.phases[..3].iter().map(|cost| cost.seconds).sum();
                let online = Some(found.phases[3].seconds);
                nine.row([format!("{name}: bmr, B = {bucket}"), time(Some(before)), time(online)]);
                drawn.row(format!("{name}: bmr"), [Some(before), online]);
                for (_, who, before, online) in TABLE2.iter().filter(|row| row.0 == name) {
                    nine.row([format!("{name}: {who}"), time(Some(*before)), time(*online)]);
                    let who =
                        if who.starts_with("the paper") { who.split(" of ").next().unwrap_or(who) } else { "WRK17" };
                    drawn.row(format!("{name}: {who}"), [Some(*before), *online]);
                }
            }
        }
    }
    drawn.draw(suite, "HSS17, Table 2: 9 parties", "seconds");
    for (number, (name, phases)) in [10, 11].into_iter().zip(figures) {
        let series: Vec<_> = phases.into_iter().filter(|(_, curve)| !curve.is_empty()).collect();
        if !series.is_empty() {
            suite.draw(Panel::Curves(Curves {
                title: format!("HSS17, Figure {number}: {name}"),
                x: "parties".into(),
                y: "seconds".into(),
                scales: [Scale::Even, Scale::Decades],
                series,
            }));
        }
    }
    nine.print(suite, "Table 2 (the paper: 6,800 and 90,825 ANDs, five machines of 20 cores, 1 Gbit/s)");
    sent.print(suite, "Tables 3 and 4 (the paper: 6,800 ANDs); the bytes of set-up, with base OTs, apart");
    curves.print(suite, "Table 1's B and bytes, and figures 10 and 11: every number of parties");
    Ok(())
}

/// A network with 100 ms on the way from party to party, and bandwidth enough.
const SLOW: NetProfile = NetProfile { round_trip: Duration::from_millis(200), bits_per_second: 1_000_000_000 };

fn delay(suite: &mut Suite) -> Outcome {
    if !suite.named(DELAY.name) {
        return Ok(());
    }
    let mut table = Table::new(["100 ms on the way, 3 parties", "all in", "rounds", "the paper"]);
    let protocols: [(&str, &dyn Protocol, &str); 2] =
        [("bmr", &Bmr, "a few seconds"), ("tinyot", &TinyOt, "at least 4 s online")];
    for (name, program) in [("aes", aes(3)), ("sha256", sha256())] {
        for (protocol, run, expected) in protocols {
            let expected = if (protocol, name) == ("tinyot", "sha256") { "more than 10 minutes" } else { expected };
            let row = format!("hss17.delay.{protocol}.{name}");
            if !suite.wants(&row) {
                continue;
            }
            let (session, options) = (session(), Options::new(run.card()));
            for circuit in program.lowered() {
                circuit.layered();
            }
            let all = among_counted(3, Some(SLOW), |net, traffic| {
                let (here, own) = (here(net, session), inputs(&program, net.me().0));
                let mut meter = Meter::new(traffic);
                meter.phase(net, |net| {
                    let mut me = Party { net, here, rng: &mut SystemRng, observer: &mut Nobody };
                    run.run(&mut me, &Job { program: &program, inputs: &own, options: &options }, &mut Empty)
                })?;
                Ok(meter.costs[0])
            })?;
            let seconds = all.iter().map(|cost| cost.seconds).fold(0.0, f64::max);
            let rounds = all.iter().map(|cost| cost.rounds).max().unwrap_or(0);
            suite.record(&row, "s", None, vec![seconds]);
            suite.record(&format!("{row}.rounds"), "rounds", None, vec![rounds as f64]);
            let who = format!("{name} by {protocol}");
            table.row([who, time(Some(seconds)), rounds.to_string(), expected.to_owned()]);
        }
    }
    table.print(suite, "Section 6.1: where the way is long");
    Ok(())
}
