//! Two parties, a thread each, over TCP on this machine, as fast as it is or as slow as a network.

use std::thread;
use std::time::{Duration, Instant};

use crate::suite::backend;
use comity_channel::{Channel, Counted, Mesh, NetProfile, Result, Simulated};
use comity_circuit::{Observer, Program};
use comity_core::{Bits, Params, PartyId, SessionId};
use comity_net::{Connection, Listener, Security, Settings, SystemRng, connect};
use comity_protocol::{Card, Empty, Here, Job, Options, Party, Protocol};
use comity_terminal::failure::{Failure, Outcome};
use rand_core::Rng;

/// The time for which the two parties of a benchmark, threads of this process, wait for each other: a busy
/// machine makes it slow, and does not break it off.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// The channel that the parties speak over: it counts.
pub(crate) type Wire = Counted<Box<dyn Channel>>;

/// The networks of the paper, with their names.
pub(crate) const NETWORKS: [(&str, Option<NetProfile>); 3] =
    [("localhost", None), ("lan", Some(NetProfile::LAN)), ("wan", Some(NetProfile::WAN))];

/// The cost of one run.
pub(crate) struct Run {
    /// The time from when both are connected to when both are done.
    pub(crate) seconds: f64,
    /// The bytes that each party sent.
    pub(crate) bytes: [u64; 2],
    /// The number of times that a party turned from sending to waiting for an answer; that of the party which
    /// did so more often.
    pub(crate) rounds: u64,
    /// The phases of each party, in order, and the time of each.
    pub(crate) phases: [Vec<(&'static str, f64)>; 2],
}

impl Run {
    /// The bytes both ways.
    pub(crate) fn total(&self) -> u64 {
        self.bytes.iter().sum()
    }
}

/// Both ends of a connection.
pub(crate) fn connections(net: Option<NetProfile>) -> Outcome<[Wire; 2]> {
    let settings = |me| Settings::of_two(PartyId(me), Security::Plain { anywhere: false }, PATIENCE);
    let listener = Listener::bind("127.0.0.1:0", &settings(0)).map_err(Failure::from)?;
    let address = listener.address().to_string();
    let (one, two) = thread::scope(|scope| {
        let other = scope.spawn(|| connect(&address, PartyId(0), &settings(1), &mut |_| ()));
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

/// Plays two parties against each other.
pub(crate) fn play<A: Send, B>(
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

/// An observer that notes when phases begin.
pub(crate) struct Phases {
    marks: Vec<(&'static str, Instant)>,
}

impl Observer for Phases {
    fn output(&mut self, _: usize, _: Bits) {}

    fn phase(&mut self, name: &'static str) {
        self.marks.push((name, Instant::now()));
    }
}

impl Phases {
    pub(crate) fn new() -> Phases {
        Phases { marks: Vec::new() }
    }

    /// The time of each phase, the last one until now.
    pub(crate) fn finish(self) -> Vec<(&'static str, f64)> {
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

/// Work: what two parties run, in a session of its own.
pub(crate) struct Work<'a> {
    program: &'a Program,
    options: Options,
    session: SessionId,
    rho: u32,
}

impl<'a> Work<'a> {
    /// A program under a protocol's usual options, but for those that follow from the program.
    pub(crate) fn new(program: &'a Program, card: &'static Card, rho: u32) -> Outcome<Work<'a>> {
        Params::new(128, rho)?;
        Ok(Work { program, options: Options::new(card), session: session(), rho })
    }

    /// The work with an option set, as party 0 says it.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Outcome<Work<'a>> {
        self.options.set(PartyId(0), name, value)?;
        Ok(self)
    }

    /// The place of a party.
    pub(crate) fn here(&self, party: u16) -> Here {
        here(party, self.session, self.rho)
    }

    /// A party's inputs: alternating bits.
    pub(crate) fn inputs(&self, party: u16) -> Vec<Option<Bits>> {
        inputs(self.program, party)
    }

    /// The job on these inputs.
    pub(crate) fn job<'j>(&'j self, inputs: &'j [Option<Bits>]) -> Job<'j> {
        Job { program: self.program, inputs, options: &self.options }
    }

    /// A party's whole run. Phases go to the observer.
    pub(crate) fn run(
        &self,
        protocol: &dyn Protocol,
        ch: &mut dyn Channel,
        party: u16,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (here, inputs) = (self.here(party), self.inputs(party));
        let mut net = Mesh::of_two(here.me, ch);
        let mut me = Party { net: &mut net, here, rng: &mut SystemRng, observer };
        protocol.run(&mut me, &self.job(&inputs), &mut Empty)
    }
}

/// A party's inputs: alternating bits.
pub(crate) fn inputs(program: &Program, party: u16) -> Vec<Option<Bits>> {
    let value = |bits: usize| (0..bits).map(|bit| bit % 2 == 0).collect();
    program.inputs().iter().map(|input| input.owner.includes(party).then(|| value(input.bits))).collect()
}

/// The place of a party of two.
///
/// # Panics
/// If rho is out of range.
pub(crate) fn here(party: u16, session: SessionId, rho: u32) -> Here {
    let params = Params::new(128, rho).expect("rho is in range");
    Here { me: PartyId(party), parties: 2, session, params, backend: backend() }
}

/// A session of its own for every run.
pub(crate) fn session() -> SessionId {
    let mut bytes = [0; 32];
    SystemRng.fill_bytes(&mut bytes);
    SessionId::new(bytes)
}

/// Runs something once to warm up and then some times more, within a few seconds. A long run is done only
/// once.
pub(crate) fn repeat<T>(mut run: impl FnMut() -> Outcome<T>) -> Outcome<Vec<T>> {
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
pub(crate) fn median(mut runs: Vec<Run>) -> Option<Run> {
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let middle = runs.len() / 2;
    runs.into_iter().nth(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

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
