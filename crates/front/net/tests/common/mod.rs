//! Parties on loopback.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::thread;
use std::time::Duration;

use comity_channel::{Hello, Mesh, PerPeer, Result, hello};
use comity_core::{Params, PartyId};
use comity_net::{Connection, Identity, Listener, Security, Settings, SystemRng, connect};
use comity_testing::PATIENCE;

pub(crate) fn plain() -> Settings {
    settings(Security::Plain { anywhere: false })
}

pub(crate) fn settings(security: Security) -> Settings {
    Settings { security, timeout: PATIENCE }
}

/// Soon at an end: where a time-out is all that can come, however busy the machine is.
pub(crate) const SOON: Duration = Duration::from_millis(100);

pub(crate) fn hasty(settings: Settings, timeout: Duration) -> Settings {
    Settings { timeout, ..settings }
}

/// What something makes of the first time-out that is long enough for it, where a time-out must come later on, and how
/// long that one is.
pub(crate) fn in_time<T>(mut attempt: impl FnMut(Duration) -> Option<T>) -> (T, Duration) {
    let mut timeout = SOON;
    loop {
        if let Some(done) = attempt(timeout) {
            return (done, timeout);
        }
        assert!(timeout < PATIENCE, "{timeout:?} are not enough");
        timeout *= 2;
    }
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

pub(crate) fn greet(connection: Result<Connection>, party: u16) -> Result<Connection> {
    let ours = Hello {
        protocol: "yao".into(),
        params: Params::default(),
        options: Vec::new(),
        me: PartyId(party),
        parties: 2,
        program: "and".into(),
        program_digest: [0; 32],
        owners: String::new(),
        recipients: String::new(),
        key: None,
        peer_keys: PerPeer::new(PartyId(party), 2, |_| None),
        group: None,
    };
    let mut connection = connection?;
    hello(&mut Mesh::of_two(ours.me, &mut connection), &ours, &mut SystemRng)?;
    Ok(connection)
}
