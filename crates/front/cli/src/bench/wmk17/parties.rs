//! Garbler and evaluator, a thread each, over TCP on this machine, as fast as it is or as slow as a network.

use std::thread;
use std::time::{Duration, Instant};

use comity_channel::{Channel, Counted, NetProfile, Result, Simulated};
use comity_circuit::{Observer, Program};
use comity_core::{Backend, Bits, Params, SessionId};
use comity_cutchoose::{Config, Form, Prepared};
use comity_net::{Connection, Listener, Security, Settings, SystemRng, connect};
use rand_core::Rng;

use crate::failure::{Failure, Outcome};

/// What the parties speak over: it counts.
pub(super) type Wire = Counted<Box<dyn Channel>>;

/// The party that garbles. Programs give the outputs to the other one, as the paper's do.
pub(super) const GARBLER: u32 = 0;

/// The networks of the paper, with their names.
pub(super) const NETWORKS: [(&str, Option<NetProfile>); 3] =
    [("localhost", None), ("lan", Some(NetProfile::LAN)), ("wan", Some(NetProfile::WAN))];

/// What one run took.
pub(super) struct Run {
    /// From when both are connected to when both are done.
    pub(super) seconds: f64,
    /// What garbler and evaluator sent.
    pub(super) bytes: [u64; 2],
    /// How often the evaluator turned from sending to waiting for an answer, or the garbler, if that is more.
    pub(super) rounds: u64,
    /// The phases of garbler and evaluator, in order, and how long each took.
    pub(super) phases: [Vec<(&'static str, f64)>; 2],
}

impl Run {
    /// Bytes both ways.
    pub(super) fn total(&self) -> u64 {
        self.bytes.iter().sum()
    }
}

/// A connection's both ends.
fn connections(net: Option<NetProfile>) -> Outcome<[Wire; 2]> {
    let settings = Settings { security: Security::Plain { anywhere: false }, timeout: Duration::from_secs(30) };
    let listener = Listener::bind("127.0.0.1:0", &settings).map_err(Failure::from)?;
    let address = listener.address().to_string();
    let (one, two) = thread::scope(|scope| {
        let other = scope.spawn(|| connect(&address, &settings, &mut |_| ()));
        (listener.accept(&mut |_| ()), other.join().expect("a party does not panic"))
    });
    let wire = |connection: Connection| -> Wire {
        Counted::new(match net {
            Some(profile) => Box::new(Simulated::new(connection, profile)),
            None => Box::new(connection),
        })
    };
    Ok([wire(one.map_err(Failure::from)?), wire(two.map_err(Failure::from)?)])
}

/// Plays two parties against each other. The first one is the garbler, where there is one.
pub(super) fn play<A: Send, B>(
    net: Option<NetProfile>,
    first: impl FnOnce(&mut Wire) -> Result<A> + Send,
    second: impl FnOnce(&mut Wire) -> Result<B>,
) -> Outcome<(Run, A, B)> {
    let [mut one, mut two] = connections(net)?;
    let start = Instant::now();
    let (a, b, seconds) = thread::scope(|scope| {
        // A party that fails hangs up, so that the other one fails too.
        let one = scope.spawn(move || {
            let a = first(&mut one)?;
            one.flush()?;
            Ok((a, one))
        });
        let b = second(&mut two).and_then(|b| two.flush().map(|()| (b, two)));
        let a: Result<_> = one.join().expect("a party does not panic");
        (a, b, start.elapsed().as_secs_f64())
    });
    let ((a, one), (b, two)) = (a.map_err(Failure::from)?, b.map_err(Failure::from)?);
    let [one, two] = [one.counts(), two.counts()];
    let run = Run {
        seconds,
        bytes: [one.sent, two.sent],
        rounds: one.rounds.max(two.rounds),
        phases: [Vec::new(), Vec::new()],
    };
    Ok((run, a, b))
}

/// Notes when phases begin.
struct Phases {
    marks: Vec<(&'static str, Instant)>,
}

impl Observer for Phases {
    fn output(&mut self, _: usize, _: Bits) {}

    fn phase(&mut self, name: &'static str) {
        self.marks.push((name, Instant::now()));
    }
}

impl Phases {
    fn new() -> Phases {
        Phases { marks: Vec::new() }
    }

    /// How long each took, the last one until now.
    fn finish(self) -> Vec<(&'static str, f64)> {
        let ends: Vec<Instant> = self.marks.iter().skip(1).map(|mark| mark.1).chain([Instant::now()]).collect();
        let mut phases: Vec<(&'static str, f64)> = Vec::new();
        for ((name, start), end) in self.marks.into_iter().zip(ends) {
            let seconds = (end - start).as_secs_f64();
            match phases.iter_mut().find(|phase| phase.0 == name) {
                Some(phase) => phase.1 += seconds,
                None => phases.push((name, seconds)),
            }
        }
        phases
    }
}

/// How the protocol runs.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) net: Option<NetProfile>,
    pub(super) rho: u32,
    pub(super) form: Form,
}

impl Setting {
    fn config(self, party: u32) -> Outcome<Config> {
        let params = Params::new(128, self.rho).map_err(Failure::from)?;
        Ok(Config { backend: Backend::detect(), party, garbler: GARBLER, params, form: self.form })
    }
}

/// A party's inputs: alternating bits.
fn inputs(program: &Program, party: u32) -> Vec<Option<Bits>> {
    let value = |bits: usize| (0..bits).map(|bit| bit % 2 == 0).collect();
    program.inputs().iter().map(|input| (input.party == party).then(|| value(input.bits))).collect()
}

/// A session of its own for every run.
pub(super) fn session() -> SessionId {
    let mut bytes = [0; 32];
    SystemRng.fill_bytes(&mut bytes);
    SessionId::new(bytes)
}

/// A single execution.
pub(super) fn execute(program: &Program, setting: Setting) -> Outcome<Run> {
    // So that nobody waits for it in the run.
    program.lowered();
    let (session, configs) = (session(), [setting.config(0)?, setting.config(1)?]);
    let party = |ch: &mut Wire, config: &Config| {
        let mut phases = Phases::new();
        let inputs = inputs(program, config.party);
        comity_cutchoose::run(ch, &session, config, program, &inputs, &mut SystemRng, &mut phases)?;
        Ok(phases.finish())
    };
    let (mut run, garbler, evaluator) = play(setting.net, |ch| party(ch, &configs[0]), |ch| party(ch, &configs[1]))?;
    run.phases = [garbler, evaluator];
    Ok(run)
}

/// An execution in two parts.
pub(super) struct Split {
    /// The offline phase.
    pub(super) offline: Run,
    /// What each party keeps.
    pub(super) prepared: [u64; 2],
    /// How long the slower party reads, before the peer need be there.
    pub(super) load: f64,
    /// The online phase.
    pub(super) online: Run,
}

/// Offline and online. Preparations are kept in memory: what a disk takes is not in the figures.
pub(super) fn execute_split(program: &Program, setting: Setting) -> Outcome<Split> {
    program.lowered();
    let (session, configs) = (session(), [setting.config(0)?, setting.config(1)?]);
    let prepare = |ch: &mut Wire, config: &Config| {
        let mut kept = Vec::new();
        comity_cutchoose::prepare(ch, &session, config, program, &mut SystemRng, &mut kept, &mut Phases::new())?;
        Ok(kept)
    };
    let (offline, one, two) = play(setting.net, |ch| prepare(ch, &configs[0]), |ch| prepare(ch, &configs[1]))?;
    let load = |kept, party| {
        let start = Instant::now();
        let prepared = Prepared::open(kept, Backend::detect(), party, program).map_err(Failure::from)?;
        let loaded = prepared.load(program, &inputs(program, party)).map_err(Failure::from)?;
        Outcome::Ok((loaded, start.elapsed().as_secs_f64()))
    };
    let ((first, a), (second, b)) = (load(&one[..], 0)?, load(&two[..], 1)?);
    let (online, (), ()) = play(
        setting.net,
        |ch| first.run(ch, &mut SystemRng, &mut Phases::new()),
        |ch| second.run(ch, &mut SystemRng, &mut Phases::new()),
    )?;
    Ok(Split { offline, prepared: [one.len() as u64, two.len() as u64], load: a.max(b), online })
}

/// Runs something once to warm up and then some times more, within a few seconds; what is long only once.
pub(super) fn repeat<T>(mut run: impl FnMut() -> Outcome<T>) -> Outcome<Vec<T>> {
    const LONG: Duration = Duration::from_secs(3);
    const MOST: usize = 11;
    let start = Instant::now();
    let mut runs = vec![run()?];
    if start.elapsed() < LONG {
        runs.clear();
        while runs.len() < MOST && (runs.len() < 3 || start.elapsed() < LONG) {
            runs.push(run()?);
        }
    }
    Ok(runs)
}

/// The run that took the median time.
pub(super) fn median(mut runs: Vec<Run>) -> Option<Run> {
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let middle = runs.len() / 2;
    runs.into_iter().nth(middle)
}

#[cfg(test)]
mod tests {
    use comity_circuit::library;

    use super::super::subjects::for_evaluator;
    use super::*;

    #[test]
    fn both_ways_of_execution_are_measured() {
        let program = for_evaluator(library::program("add8").unwrap());
        let setting = Setting { net: None, rho: 3, form: Form::All };
        let run = execute(&program, setting).unwrap();
        assert!(run.seconds > 0.0 && run.bytes.iter().all(|&bytes| bytes > 1_000) && run.rounds > 2);
        for phases in &run.phases {
            let names: Vec<&str> = phases.iter().map(|phase| phase.0).collect();
            assert_eq!(names, ["setup", "inputs", "gates", "outputs", "checks"]);
            assert!(phases.iter().map(|phase| phase.1).sum::<f64>() <= run.seconds);
        }
        let split = execute_split(&program, setting).unwrap();
        assert!(split.online.total() < split.offline.total() && split.prepared.iter().all(|&bytes| bytes > 1_000));
        // What one execution sends, and how inputs differ from random ones, and other keys for the output tables.
        let both = split.offline.total() + split.online.total();
        assert!((run.total()..run.total() + 1_000).contains(&both), "{both} and {}", run.total());
    }

    #[test]
    fn the_median_run_is_the_one_in_the_middle() {
        let run = |seconds| Run { seconds, bytes: [0; 2], rounds: 0, phases: [Vec::new(), Vec::new()] };
        assert_eq!(median([3.0, 1.0, 2.0].map(run).into()).unwrap().seconds, 2.0);
        assert!(median(Vec::new()).is_none());
        let mut count = 0;
        let counted = repeat(|| {
            count += 1;
            Ok(count)
        });
        assert_eq!(counted.unwrap(), Vec::from_iter(2..=12), "all but the first, which warms up");
    }
}
