//! Authenticated garbling: whole runs and prepared ones, beside cut and choose in the same run.

use comity_ag::Ag;
use comity_channel::{Counter, Mesh};
use comity_circuit::{Observer, Program};
use comity_core::Bits;
use comity_cutchoose::CutChoose;
use comity_net::SystemRng;
use comity_protocol::{Ahead, Party, Protocol};
use comity_terminal::failure::{Failure, Outcome};

use crate::kept::Kept;
use crate::suite::{Bench, Suite};
use crate::text::{Table, bytes, ratio, time};
use crate::two::{NETWORKS, Run, Wire, Work, median, play, repeat};

/// Authenticated garbling.
pub(crate) const AG: Bench = Bench {
    name: "ag",
    about: "authenticated garbling: AES, SHA-256, a million ANDs, sorting; beside cut and choose (slow networks only if named)",
    ceiling: Some("machine.loopback"),
    run: ag,
};

const RHO: u32 = 40;

/// Programs: the name, what of the library, how often side by side, and whether it runs only if it is named.
const PROGRAMS: [(&str, &str, u64, bool); 4] = [
    ("aes128", "aes128", 1, false),
    ("sha256", "sha256-iv", 1, false),
    ("aes128x163", "aes128", 163, false),
    ("sort1024x32", "sort1024x32", 1, true),
];

fn ag(suite: &mut Suite) -> Outcome {
    for (network, net) in NETWORKS {
        if net.is_some() && !suite.named(AG.name) {
            continue;
        }
        let mut table =
            Table::new(["", "ANDs", "ours", "cut and choose", "ratio", "bytes/AND", "rounds", "online", "kept"]);
        for (name, of, times, long) in PROGRAMS {
            let row = format!("ag.{name}.{network}");
            if long && !suite.named(AG.name) || !suite.wants(&row) {
                continue;
            }
            let program = program(of, times);
            program.lowered();
            let work = || Work::new(&program, Ag.card(), RHO)?.with("role", "garbler");
            let mut setup = 0;
            let runs = repeat(|| {
                let (run, before) = execute(&work()?, &Ag, net)?;
                setup = before;
                Ok(run)
            })?;
            suite.record(&row, "s", None, runs.iter().map(|run| run.seconds).collect());
            let ands = program.and_gates() as f64;
            suite.record(&format!("{row}.rate"), "and/s", None, runs.iter().map(|run| ands / run.seconds).collect());
            let Some(run) = median(runs) else { continue };
            let each = (run.total() - setup) as f64 / ands;
            if net.is_none() {
                suite.record(&format!("ag.{name}.bytes"), "bytes/and", None, vec![each]);
                suite.record(&format!("ag.{name}.setup"), "bytes", None, vec![setup as f64]);
                suite.record(&format!("ag.{name}.rounds"), "rounds", None, vec![run.rounds as f64]);
            }
            let other = || Work::new(&program, CutChoose.card(), RHO)?.with("role", "garbler");
            let others = repeat(|| execute(&other()?, &CutChoose, net).map(|(run, _)| run.seconds))?;
            suite.record(&format!("{row}.cutchoose"), "s", None, others);
            let mut kept = 0;
            let online = repeat(|| {
                let (run, stored) = prepared(&program, &work()?, net)?;
                kept = stored;
                Ok(run.seconds)
            })?;
            suite.record(&format!("{row}.online"), "s", None, online);
            let of = |part: &str| suite.value(&format!("{row}{part}"));
            table.row([
                name.to_owned(),
                program.and_gates().to_string(),
                time(of("")),
                time(of(".cutchoose")),
                ratio(of(".cutchoose"), of("")),
                format!("{each:.1}"),
                run.rounds.to_string(),
                time(of(".online")),
                bytes(kept),
            ]);
        }
        table.print(suite, &format!("Authenticated garbling beside cut and choose, {network}, rho = {RHO}"));
    }
    Ok(())
}

fn program(name: &str, times: u64) -> Program {
    let there = "the library has the circuits of the benchmarks";
    match times {
        1 => comity_library::program(name).expect(there),
        _ => Program::map(comity_library::find(name).expect(there), times, &[]).expect("a valid program"),
    }
}

/// An observer that notes the bytes that a party has sent when its base OTs are done.
struct AfterSetup {
    counter: Counter,
    sent: u64,
}

impl Observer for AfterSetup {
    fn output(&mut self, _: usize, _: Bits) {}

    fn phase(&mut self, name: &'static str) {
        if name == "offline" {
            self.sent = self.counter.counts().sent;
        }
    }
}

/// A run, and the bytes of its setup, both ways.
fn execute(work: &Work<'_>, protocol: &dyn Protocol, net: Option<comity_channel::NetProfile>) -> Outcome<(Run, u64)> {
    let party = |ch: &mut Wire, party: u16| {
        let mut observer = AfterSetup { counter: ch.counter(), sent: 0 };
        work.run(protocol, ch, party, &mut observer)?;
        Ok(observer.sent)
    };
    let (run, one, two) = play(net, |ch| party(ch, 0), |ch| party(ch, 1))?;
    Ok((run, one + two))
}

/// An online phase, and the bytes that the parties kept for it.
fn prepared(program: &Program, work: &Work<'_>, net: Option<comity_channel::NetProfile>) -> Outcome<(Run, u64)> {
    let need = Ag.needs(program, work.job(&[]).options, work.here(0).params).map_err(Failure::from)?.remove(0);
    let prepare = |ch: &mut Wire, party: u16| {
        let here = work.here(party);
        let (mut kept, mut net) = (Kept::of(need.material), Mesh::of_two(here.me, ch));
        let mut me = Party { net: &mut net, here, rng: &mut SystemRng, observer: &mut Nobody };
        let options = work.job(&[]).options;
        let ahead = Ahead { program: Some(program), options, make: &need, together: 1 };
        Ag.prepare(&mut me, &ahead, &mut comity_protocol::Empty, &mut kept)?;
        Ok(kept)
    };
    let (_, mut one, mut two) = play(None, |ch| prepare(ch, 0), |ch| prepare(ch, 1))?;
    let stored = [&one, &two].iter().flat_map(|kept| &kept.batches).map(|batch| batch.len() as u64).sum();
    let online = |ch: &mut Wire, party: u16, kept: &mut Kept| {
        let (here, inputs) = (work.here(party), work.inputs(party));
        let mut net = Mesh::of_two(here.me, ch);
        let mut me = Party { net: &mut net, here, rng: &mut SystemRng, observer: &mut Nobody };
        Ag.run(&mut me, &work.job(&inputs), kept)
    };
    let (run, (), ()) = play(net, |ch| online(ch, 0, &mut one), |ch| online(ch, 1, &mut two))?;
    Ok((run, stored))
}

/// Nobody looks at outputs.
struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}
