//! Connections over real loopback sockets: what they carry, and what each kind of trouble is called on both sides.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use comity_channel::{Channel, Error, Hello, Result, hello};
use comity_core::Params;
use comity_net::{Connection, Identity, Listener, Security, Settings, SystemRng, connect};
use comity_testing::check_channels;

fn plain() -> Settings {
    settings(Security::Plain { anywhere: false })
}

fn settings(security: Security) -> Settings {
    Settings { security, timeout: Duration::from_secs(10) }
}

/// TLS settings of two parties that trust each other.
fn tls() -> [Settings; 2] {
    let [a, b] = [(); 2].map(|()| Identity::generate(&mut SystemRng));
    let peers = [b.fingerprint(), a.fingerprint()];
    [(a, peers[0]), (b, peers[1])].map(|(identity, peer)| settings(Security::Tls { identity, peer }))
}

/// Connects two parties; what each got.
fn meet(listening: &Settings, connecting: &Settings) -> (Result<Connection>, Result<Connection>) {
    let listener = Listener::bind("127.0.0.1:0", listening).unwrap();
    let address = listener.address().to_string();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| listener.accept(&mut |_| {}));
        let connected = connect(&address, connecting, &mut |_| {});
        (accepted.join().unwrap(), connected)
    })
}

fn greet(connection: Result<Connection>, party: u32) -> Result<()> {
    let ours = Hello {
        protocol: "yao".into(),
        params: Params::default(),
        parties: 2,
        party,
        peer: 1 - party,
        program: "and".into(),
        program_digest: [0; 32],
        owners: String::new(),
        recipients: String::new(),
    };
    hello(&mut connection?, &ours, &mut SystemRng).map(|_| ())
}

/// Connects two parties and lets them say hello; how that ended on each side.
fn meet_and_greet(listening: &Settings, connecting: &Settings) -> [Result<()>; 2] {
    let listener = Listener::bind("127.0.0.1:0", listening).unwrap();
    let address = listener.address().to_string();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| greet(listener.accept(&mut |_| {}), 0));
        let connected = greet(connect(&address, connecting, &mut |_| {}), 1);
        [accepted.join().unwrap(), connected]
    })
}

#[test]
fn plain_connections_are_channels() {
    let (accepted, connected) = meet(&plain(), &plain());
    check_channels(&mut accepted.unwrap(), Box::new(connected.unwrap()), 64 << 20);
    let (accepted, connected) = meet(&plain(), &plain());
    check_channels(&mut connected.unwrap(), Box::new(accepted.unwrap()), 1 << 20);
}

#[test]
fn tls_connections_are_channels() {
    let [a, b] = tls();
    let (accepted, connected) = meet(&a, &b);
    check_channels(&mut accepted.unwrap(), Box::new(connected.unwrap()), 64 << 20);
    let (accepted, connected) = meet(&a, &b);
    check_channels(&mut connected.unwrap(), Box::new(accepted.unwrap()), 1 << 20);
}
