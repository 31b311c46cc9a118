//! Parties on loopback.

use std::thread;
use std::time::Duration;

use comity_channel::{Hello, Mesh, PerPeer, Result, hello};
use comity_core::{Params, PartyId};
use comity_net::{Connection, Fingerprint, Identity, Listener, Security, Settings, SystemRng, connect};
use comity_testing::PATIENCE;

pub(crate) fn plain() -> Settings {
    settings(0, Security::Plain { anywhere: false })
}

pub(crate) fn settings(me: u16, security: Security) -> Settings {
    Settings::of_two(PartyId(me), security, PATIENCE)
}

/// The settings of party 1 of two, who calls party 0.
pub(crate) fn calling(settings: &Settings) -> Settings {
    let security = match &settings.security {
        Security::Tls { identity, peers } => {
            let key = *peers.iter().next().expect("the only peer").1;
            Security::Tls { identity: identity.clone(), peers: PerPeer::new(PartyId(1), 2, |_| key) }
        }
        plain => plain.clone(),
    };
    Settings { me: PartyId(1), security, ..settings.clone() }
}

/// TLS with one peer's key.
pub(crate) fn secure(me: u16, identity: &Identity, peer: Fingerprint) -> Settings {
    let peers = PerPeer::new(PartyId(me), 2, |_| peer);
    settings(me, Security::Tls { identity: identity.clone(), peers })
}

/// A call of party 0 of two.
pub(crate) fn call(address: &str, settings: &Settings) -> Result<Connection> {
    connect(address, PartyId(0), &calling(settings), &mut |_| {})
}

/// A time-out that is soon at an end: where one is all that can come, however busy the machine is.
pub(crate) const SOON: Duration = Duration::from_millis(100);

pub(crate) fn hasty(settings: Settings, timeout: Duration) -> Settings {
    Settings { timeout, ..settings }
}

/// The result of something under the first time-out that is long enough for it, where a time-out must come
/// later on, and how long that one is.
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
    [secure(0, &a, b.fingerprint()), secure(1, &b, a.fingerprint())]
}

/// Connects two parties; returns what each got.
pub(crate) fn meet(listening: &Settings, connecting: &Settings) -> (Result<Connection>, Result<Connection>) {
    let listener = Listener::bind("127.0.0.1:0", listening).unwrap();
    let address = listener.address().to_string();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| listener.accept(&mut |_| {}));
        let connected = call(&address, connecting);
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
