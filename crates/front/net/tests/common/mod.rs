//! Parties on loopback.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::thread;
use std::time::Duration;

use comity_channel::{Hello, Result, hello};
use comity_core::Params;
use comity_net::{Connection, Identity, Listener, Security, Settings, SystemRng, connect};

pub(crate) fn plain() -> Settings {
    settings(Security::Plain { anywhere: false })
}

pub(crate) fn settings(security: Security) -> Settings {
    Settings { security, timeout: Duration::from_secs(20) }
}

/// Soon at an end, where a time-out is what is tested; long enough for an honest exchange on a busy machine.
pub(crate) fn hasty(mut settings: Settings) -> Settings {
    settings.timeout = Duration::from_millis(600);
    settings
}

/// TLS settings of two parties that trust each other.
pub(crate) fn tls() -> [Settings; 2] {
    let [a, b] = [(); 2].map(|()| Identity::generate(&mut SystemRng));
    let peers = [b.fingerprint(), a.fingerprint()];
    [(a, peers[0]), (b, peers[1])].map(|(identity, peer)| settings(Security::Tls { identity, peer }))
}

/// Connects two parties; what each got.
pub(crate) fn meet(listening: &Settings, connecting: &Settings) -> (Result<Connection>, Result<Connection>) {
    let listener = Listener::bind("127.0.0.1:0", listening).unwrap();
    let address = listener.address().to_string();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| listener.accept(&mut |_| {}));
        let connected = connect(&address, connecting, &mut |_| {});
        (accepted.join().unwrap(), connected)
    })
}

pub(crate) fn greet(connection: Result<Connection>, party: u32) -> Result<Connection> {
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
    let mut connection = connection?;
    hello(&mut connection, &ours, &mut SystemRng)?;
    Ok(connection)
}
