//! Yao end to end: two parties, a thread each, over TCP on this machine, from the hello to the outputs.

use std::time::Instant;

use comity::{Report, Session};
use comity_channel::{NetProfile, PerPeer, Simulated};
use comity_circuit::{Builder, Circuit, Program};
use comity_core::{Bits, PartyId};
use comity_net::{Connection, Identity, Listener, Security, Settings, SystemRng, connect};
use comity_terminal::failure::{Failure, Outcome};

use crate::suite::{Bench, Suite, backend};
use crate::two::PATIENCE;

/// Whole runs of the protocol.
pub(super) const YAO: Bench = Bench {
    name: "yao",
    about: "semi-honest Yao over TCP on this machine, one thread a party",
    ceiling: Some("machine.loopback"),
    run: yao,
};

fn yao(suite: &mut Suite) -> Outcome {
    let net = suite.network();
    let find = |name: &str| comity_library::find(name).expect("the library has the circuits of the benchmarks");
    let blocks = Program::map(find("aes128"), 1000, &[0]).expect("a valid program");
    let chain = Program::iterate(chain(), 2000, &[(0, 0)]).expect("a valid program");
    let one = Program::from_circuit(find("aes128")).expect("a valid program");
    for (name, program, tls) in
        [("yao.aes128x1000", &blocks, false), ("yao.aes128x1000.tls", &blocks, true), ("yao.chain20m", &chain, false)]
    {
        // What a connection could carry at 32 bytes a gate; a simulated network is its own ceiling.
        let ceiling = suite.value("machine.loopback").filter(|_| net.is_none()).map(|bytes| bytes / 32.0);
        suite.rate(name, "and/s", ceiling, 5, || {
            both(program, tls, net)?;
            Ok(program.and_gates() as f64)
        })?;
    }
    if suite.wants("yao.aes128.latency") {
        let seconds = (0..21).map(|_| Ok(both(&one, false, net)?.0)).collect::<Outcome<Vec<f64>>>()?;
        suite.record("yao.aes128.latency", "s", None, seconds);
    }
    if suite.wants("yao.aes128x1000.bytes") {
        let (_, report) = both(&blocks, false, net)?;
        let bytes = (report.bytes_sent + report.bytes_received) as f64 / report.and_gates as f64;
        suite.record("yao.aes128x1000.bytes", "bytes/and", None, vec![bytes]);
    }
    Ok(())
}

/// 10,000 AND gates, each of which waits for the one before it.
fn chain() -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 64), b.input("y", 64));
    let mut link = x[0];
    for i in 0..10_000 {
        let and = b.and(link, y[i % 64]);
        link = b.xor(and, x[i % 63 + 1]);
    }
    b.output("x", &[&[link], &x[1..]].concat());
    b.finish()
}

/// How each party protects its connection.
fn security(tls: bool) -> [Security; 2] {
    if tls {
        let [a, b] = [(); 2].map(|()| Identity::generate(&mut SystemRng));
        let (first, second) = (a.fingerprint(), b.fingerprint());
        let secure =
            |me: u16, identity: Identity, key| Security::Tls { identity, peers: PerPeer::new(PartyId(me), 2, |_| key) };
        [secure(0, a, second), secure(1, b, first)]
    } else {
        [(); 2].map(|()| Security::Plain { anywhere: false })
    }
}

/// A party's session over a connection, as fast as it is or as slow as a network.
fn session(party: u16, connection: Connection, net: Option<NetProfile>) -> Session<'static> {
    let session = Session::new(party).protocol("yao").backend(backend());
    match net {
        Some(profile) => session.over(Simulated::new(connection, profile)),
        None => session.over(connection),
    }
}

/// Runs both parties on inputs of alternating bits; returns the seconds from connecting to the last output, and party
/// 0's report.
fn both(program: &Program, tls: bool, net: Option<NetProfile>) -> Outcome<(f64, Report)> {
    let [first, second] = security(tls);
    let first = Settings::of_two(PartyId(0), first, PATIENCE);
    let second = Settings::of_two(PartyId(1), second, PATIENCE);
    let listener = Listener::bind("127.0.0.1:0", &first).map_err(Failure::from)?;
    let address = listener.address().to_string();
    program.lowered();
    let inputs = |party: u32| {
        let own = program.inputs().iter().enumerate().filter(move |(_, input)| input.owner.includes(party as u16));
        own.map(|(i, input)| (i, (0..input.bits).map(|bit| bit % 2 == 0).collect::<Bits>())).collect::<Vec<_>>()
    };
    let start = Instant::now();
    let report = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let connection = connect(&address, PartyId(0), &second, &mut |_| ())?;
            session(1, connection, net).run(program, inputs(1))
        });
        let connection = listener.accept(&mut |_| ())?;
        let report = session(0, connection, net).run(program, inputs(0));
        other.join().expect("a party does not panic")?;
        report
    });
    Ok((start.elapsed().as_secs_f64(), report.map_err(Failure::from)?))
}
