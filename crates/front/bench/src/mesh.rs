//! Many parties, a thread each, over TCP on this machine: what they can tell each other at once, and their hello.

use std::thread;
use std::time::Instant;

use comity_channel::{Channel, Counted, Counter, Hello, Mesh, NetProfile, PerPeer, Result, Simulated, hello};
use comity_core::{Params, PartyId};
use comity_net::{Limits, Listener, Security, Settings, SystemRng, meet};
use comity_terminal::failure::{Failure, Outcome};

use crate::suite::{Bench, Suite};
use crate::two::PATIENCE;

/// Exchanges and hellos among more than two.
pub(super) const MESH: Bench = Bench {
    name: "mesh",
    about: "many parties over TCP on this machine, a thread each: 1 MiB from each to each, and a hello",
    ceiling: Some("machine.loopback"),
    run: mesh,
};

/// Bytes from each party to each other one, in an exchange.
const MESSAGE: usize = 1 << 20;

/// Exchanges that make a sample, and the number of samples.
const ROUNDS: usize = 8;
const SAMPLES: usize = 15;

fn mesh(suite: &mut Suite) -> Outcome {
    let net = suite.network();
    for parties in [3, 5, 9] {
        let name = format!("mesh.exchange.n{parties}");
        if !suite.wants(&name) {
            continue;
        }
        let bytes = (usize::from(parties) * usize::from(parties - 1) * MESSAGE * ROUNDS) as f64;
        let seconds = among(parties, net, |mesh| {
            let out = PerPeer::new(mesh.me(), parties, |peer| vec![peer.0 as u8; MESSAGE]);
            let mut into = PerPeer::new(mesh.me(), parties, |_| vec![0; MESSAGE]);
            samples(mesh, |mesh| (0..ROUNDS).try_for_each(|_| mesh.exchange(&out, &mut into)))
        })?;
        // A simulated network is its own ceiling.
        let ceiling = suite.value("machine.loopback").filter(|_| net.is_none());
        suite.record(&name, "bytes/s", ceiling, seconds.into_iter().map(|seconds| bytes / seconds).collect());
    }
    if suite.wants("mesh.hello.n9") {
        let seconds = among(9, net, |mesh| {
            let ours = greeting(mesh.me(), mesh.parties());
            samples(mesh, |mesh| hello(mesh, &ours, &mut SystemRng).map(drop))
        })?;
        suite.record("mesh.hello.n9", "s", None, seconds);
    }
    Ok(())
}

/// The time of each of some turns, the first of which warms up, from when all begin to when all are done.
fn samples(mesh: &mut Mesh<'_>, mut turn: impl FnMut(&mut Mesh<'_>) -> Result<()>) -> Result<Vec<f64>> {
    let mut seconds = Vec::with_capacity(SAMPLES + 1);
    for _ in 0..=SAMPLES {
        let _ = mesh.tell(&[0])?;
        let start = Instant::now();
        turn(mesh)?;
        let _ = mesh.tell(&[1])?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(seconds.split_off(1))
}

/// Runs `parties` parties that have met. Returns what party 0 measured.
pub(super) fn among(
    parties: u16,
    net: Option<NetProfile>,
    party: impl Fn(&mut Mesh<'_>) -> Result<Vec<f64>> + Sync,
) -> Outcome<Vec<f64>> {
    Ok(among_counted(parties, net, |mesh, _| party(mesh))?.swap_remove(0))
}

/// The traffic of a party: counters of its links.
pub(super) struct Traffic(Vec<Counter>);

impl Traffic {
    /// The bytes that it has sent, and the turns of the link that has most.
    pub(super) fn counts(&self) -> (u64, u64) {
        let counts = self.0.iter().map(Counter::counts);
        counts.fold((0, 0), |(sent, rounds), link| (sent + link.sent, rounds.max(link.rounds)))
    }
}

/// Runs `parties` parties that have met. Returns what each measured.
pub(super) fn among_counted<T: Send>(
    parties: u16,
    net: Option<NetProfile>,
    party: impl Fn(&mut Mesh<'_>, &Traffic) -> Result<T> + Sync,
) -> Outcome<Vec<T>> {
    let settings = |me| {
        let security = Security::Plain { anywhere: false };
        Settings { me: PartyId(me), parties, security, timeout: PATIENCE, limits: Limits::default(), relay: None }
    };
    let listen = |me| Listener::bind("127.0.0.1:0", &settings(me));
    let listeners = (0..parties).map(listen).collect::<Result<Vec<_>>>().map_err(Failure::from)?;
    let all: Vec<(PartyId, String)> =
        (0..).map(PartyId).zip(listeners.iter().map(|listener| listener.address().to_string())).collect();
    let run = |me: u16, listener: &Listener| {
        let links = meet(Some(listener), &all[..usize::from(me)], &settings(me), &mut |_| ())?;
        let links = links.map(|_, link| -> Counted<Box<dyn Channel>> {
            Counted::new(match net {
                Some(profile) => Box::new(Simulated::new(link, profile)),
                None => Box::new(link),
            })
        });
        let traffic = Traffic(links.iter().map(|(_, link)| link.counter()).collect());
        party(&mut Mesh::new(links), &traffic)
    };
    let found = thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> =
            (0..).zip(&listeners).map(|(me, listener)| scope.spawn(move || run(me, listener))).collect();
        let found: Vec<_> = threads.into_iter().map(|party| party.join().expect("a party does not panic")).collect();
        found.into_iter().collect::<Result<Vec<_>>>()
    });
    found.map_err(Failure::from)
}

/// A hello that all agree on.
fn greeting(me: PartyId, parties: u16) -> Hello {
    Hello {
        protocol: "sum".into(),
        options: Vec::new(),
        params: Params::default(),
        me,
        parties,
        program: "add8".into(),
        program_digest: [7; 32],
        owners: String::new(),
        recipients: String::new(),
        key: None,
        peer_keys: PerPeer::new(me, parties, |_| None),
        group: None,
    }
}
