//! `Connection`: a channel over TCP, plain or TLS, and the further connections that its forks are.
//!
//! The connecting side opens every connection with one message: what it is (the session's first connection, or a
//! fork) and its id. The id of the first is drawn at random; that of a fork is hashed from its parent's, its
//! label and how often the label was used, so both sides know which fork a connection is, in whatever order they
//! arrive. The listening side says nothing: opening costs no flight.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use comity_channel::{Channel, RecvHalf, SendHalf, duplex};
use comity_core::{Error, Result, SessionId};
use rand_core::Rng;

use crate::address::{Address, check_plaintext};
use crate::identity::{Fingerprint, Identity};
use crate::plain::{Plain, Socket};
use crate::rng::SystemRng;
use crate::tcp;
use crate::tls::Tls;

/// The first bytes that a connecting side sends.
const MAGIC: [u8; 8] = *b"comity\x00c";

/// Magic, kind and id.
const OPENING: usize = MAGIC.len() + 1 + 32;

/// The messages that must come soon, once a connection is open: the hello, and the first one of the protocol.
const PROMPT: u32 = 2;

/// At most this much goes out in an exchange before receiving begins: any socket takes it without the peer reading.
const SMALL: usize = 16 << 10;

/// Forks of the peer that arrived before this side asked for them. More is not what any protocol here does.
const MAX_UNCLAIMED: usize = 64;

/// How a connection is protected.
#[derive(Clone)]
pub enum Security {
    /// Not at all but for accidents. Only on this machine, unless `anywhere`.
    Plain {
        /// Plain text is wanted beyond this machine as well.
        anywhere: bool,
    },
    /// TLS 1.3, and only with the peer that has this key.
    Tls {
        /// This party's key.
        identity: Identity,
        /// The fingerprint of the peer's key.
        peer: Fingerprint,
    },
}

/// What both sides of a connection set.
#[derive(Clone)]
pub struct Settings {
    /// How connections are protected; both sides must agree.
    pub security: Security,
    /// Bounds connecting, the handshake, the hello and the wait for the first message after it, each; and a pause in
    /// the middle of a message. Between later messages waiting is not bounded, since an honest peer may compute for
    /// long: a peer that vanishes is noticed by TCP.
    pub timeout: Duration,
}

/// A place where a peer can connect. Stays open while it or any connection from it is there, since forks arrive there.
pub struct Listener(Arc<Hub>);

struct Hub {
    socket: TcpListener,
    address: SocketAddr,
    settings: Settings,
    /// Forks that arrived and were not asked for yet.
    unclaimed: Mutex<HashMap<Id, Transport>>,
}

type Id = [u8; 32];

/// A channel to a peer over TCP.
pub struct Connection {
    transport: Transport,
    origin: Origin,
    id: Id,
    /// How often each label was forked.
    forks: HashMap<String, u64>,
}

/// Where further connections come from.
#[derive(Clone)]
enum Origin {
    Accepted(Arc<Hub>),
    Connected { to: Address, settings: Settings },
}

enum Transport {
    Plain(Box<Plain>),
    Tls(Box<Tls>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    First,
    Fork,
}

/// Connects to a peer that listens at `address` (`HOST:PORT`), trying until the time-out. `waiting` is called once,
/// with a text for the user, if the peer is not there at once.
///
/// # Errors
///
/// [`InvalidInput`](comity_core::Kind) if the address is none, or is not on this machine and plain text is not allowed there;
/// [`Io`](comity_core::Kind) if nobody listens there.
pub fn connect(address: &str, settings: &Settings, waiting: &mut dyn FnMut(&str)) -> Result<Connection> {
    let address = Address::resolve(address)?;
    settings.check(address.sockets())?;
    let mut id = Id::default();
    SystemRng.fill_bytes(&mut id);
    open(&address, settings, waiting, Purpose::First, id)
}

fn open(
    address: &Address,
    settings: &Settings,
    waiting: &mut dyn FnMut(&str),
    kind: Purpose,
    id: Id,
) -> Result<Connection> {
    let stream = tcp::connect(address, settings.timeout, waiting)?;
    let socket = settings.socket(stream)?;
    let to = Address::known(socket.peer);
    let mut transport = match &settings.security {
        Security::Plain { .. } => Transport::Plain(Box::new(Plain::new(socket))),
        Security::Tls { identity, peer } => Transport::Tls(Box::new(Tls::connect(socket, identity, *peer)?)),
    };
    transport.expect(kind.prompt());
    let mut opening = [0; OPENING];
    opening[..8].copy_from_slice(&MAGIC);
    opening[8] = kind as u8;
    opening[9..].copy_from_slice(&id);
    transport.send(&opening)?;
    transport.flush()?;
    let origin = Origin::Connected { to, settings: settings.clone() };
    Ok(Connection { transport, origin, id, forks: HashMap::new() })
}

impl Settings {
    fn check(&self, sockets: &[SocketAddr]) -> Result<()> {
        match self.security {
            Security::Plain { anywhere } => sockets.iter().try_for_each(|socket| check_plaintext(socket, anywhere)),
            Security::Tls { .. } => Ok(()),
        }
    }

    fn socket(&self, stream: TcpStream) -> Result<Socket> {
        match stream.peer_addr() {
            Ok(peer) => Ok(Socket { stream, peer, timeout: self.timeout }),
            Err(error) if error.kind() == ErrorKind::NotConnected => Err(Error::closed()),
            Err(error) => Err(Error::io("asking for the peer's address", error)),
        }
    }
}

impl Purpose {
    fn prompt(self) -> u32 {
        match self {
            Purpose::First => PROMPT,
            Purpose::Fork => 0,
        }
    }
}

impl Listener {
    /// Listens at `address` (`HOST:PORT`; port 0 is any free one).
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) if the address is none, or can be reached from other machines and plain text is not
    /// allowed there; [`Io`](comity_core::Kind) if the port is in use.
    pub fn bind(address: &str, settings: &Settings) -> Result<Listener> {
        let resolved = Address::resolve(address)?;
        settings.check(resolved.sockets())?;
        let socket = tcp::listen(&resolved)?;
        let bound = socket.local_addr().map_err(|error| Error::io(format!("listening at {address}"), error))?;
        let unclaimed = Mutex::default();
        Ok(Listener(Arc::new(Hub { socket, address: bound, settings: settings.clone(), unclaimed })))
    }

    /// Where it listens, with the port that it got.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// Waits for a peer to connect. `waiting` is called once, with a text for the user, if none is there at once. Who connects and
    /// leaves without a word, as a probe of the port does, is no peer.
    ///
    /// # Errors
    ///
    /// [`TimedOut`](comity_core::Kind) if none comes. [`Malformed`](comity_core::Kind) and [`Untrusted`](comity_core::Kind) if what connects first does
    /// not speak the same language or has the wrong key.
    pub fn accept(&self, waiting: &mut dyn FnMut(&str)) -> Result<Connection> {
        let hub = &self.0;
        let begin = Instant::now();
        let mut told = false;
        loop {
            if let Some(stream) = tcp::accept(&hub.socket, hub.settings.timeout)? {
                if tcp::has_left(&stream) {
                    continue;
                }
                match hub.admit(stream)? {
                    (Purpose::First, id, transport) => {
                        let origin = Origin::Accepted(hub.clone());
                        return Ok(Connection { transport, origin, id, forks: HashMap::new() });
                    }
                    (Purpose::Fork, id, transport) => hub.keep(id, transport),
                }
            } else if begin.elapsed() >= hub.settings.timeout {
                let timeout = tcp::seconds(hub.settings.timeout);
                return Err(Error::timed_out(format!("nobody connected to {} for {timeout}", hub.address)));
            } else {
                if !told {
                    waiting(&format!("waiting for the peer at {}", hub.address));
                    told = true;
                }
                tcp::pause(begin);
            }
        }
    }
}

impl Hub {
    /// Hears what a connection that has arrived is.
    fn admit(&self, stream: TcpStream) -> Result<(Purpose, Id, Transport)> {
        let socket = self.settings.socket(stream)?;
        let mut transport = match &self.settings.security {
            Security::Plain { .. } => Transport::Plain(Box::new(Plain::new(socket))),
            Security::Tls { identity, peer } => Transport::Tls(Box::new(Tls::accept(socket, identity, *peer)?)),
        };
        transport.expect(1);
        let mut opening = [0; OPENING];
        transport.recv(&mut opening)?;
        let kind = match opening[8] {
            0 => Purpose::First,
            1 => Purpose::Fork,
            _ => return Err(Error::stranger("the peer opens a connection of an unknown kind")),
        };
        if opening[..8] != MAGIC {
            return Err(Error::stranger("the peer does not open its connection as comity does"));
        }
        let id = *opening[9..].first_chunk().expect("an opening ends with an id");
        transport.expect(kind.prompt());
        Ok((kind, id, transport))
    }

    fn keep(&self, id: Id, transport: Transport) {
        let mut unclaimed = self.unclaimed.lock().unwrap_or_else(PoisonError::into_inner);
        if unclaimed.len() < MAX_UNCLAIMED {
            unclaimed.insert(id, transport);
        }
    }

    /// Waits for a fork of the peer. Other threads may wait for other forks meanwhile: whoever meets a connection
    /// keeps it for the one that wants it.
    fn claim(&self, wanted: Id, label: &str) -> Result<Transport> {
        let begin = Instant::now();
        loop {
            let mut unclaimed = self.unclaimed.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(transport) = unclaimed.remove(&wanted) {
                return Ok(transport);
            }
            drop(unclaimed);
            if let Some(stream) = tcp::accept(&self.socket, self.settings.timeout)? {
                // Strangers are turned away: the session is under way, and they are no part of it.
                if let Ok((Purpose::Fork, id, transport)) = self.admit(stream) {
                    self.keep(id, transport);
                }
            } else if begin.elapsed() >= self.settings.timeout {
                let timeout = tcp::seconds(self.settings.timeout);
                return Err(Error::timed_out(format!("the peer did not open the channel \"{label}\" for {timeout}")));
            } else {
                tcp::pause(begin);
            }
        }
    }
}

impl Connection {
    /// The peer's address.
    pub fn peer(&self) -> SocketAddr {
        match &self.transport {
            Transport::Plain(plain) => plain.socket.peer,
            Transport::Tls(tls) => tls.socket().peer,
        }
    }
}

impl Transport {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Transport::Plain(plain) => plain.split().0.send(bytes),
            Transport::Tls(tls) => tls.split().0.send(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Transport::Plain(plain) => plain.split().0.flush(),
            Transport::Tls(tls) => tls.split().0.flush(),
        }
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        match self {
            Transport::Plain(plain) => plain.split().1.recv(bytes),
            Transport::Tls(tls) => tls.split().1.recv(bytes),
        }
    }

    /// So many messages of the peer must come soon, from now on.
    fn expect(&mut self, messages: u32) {
        match self {
            Transport::Plain(plain) => plain.expect(messages),
            Transport::Tls(tls) => tls.expect(messages),
        }
    }

    fn buffered(&self) -> usize {
        match self {
            Transport::Plain(plain) => plain.buffered(),
            Transport::Tls(tls) => tls.buffered(),
        }
    }
}

impl Channel for Connection {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.transport.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.transport.flush()?;
        self.transport.recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.transport.flush()
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        match &mut self.transport {
            Transport::Plain(plain) => {
                let (sending, receiving) = plain.split();
                (Box::new(sending), Box::new(receiving))
            }
            Transport::Tls(tls) => {
                let (sending, receiving) = tls.split();
                (Box::new(sending), Box::new(receiving))
            }
        }
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        if self.transport.buffered() + out.len() > SMALL {
            return duplex(self.split(), out, into);
        }
        self.send(out)?;
        self.recv(into)
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        let count = self.forks.entry(label.to_owned()).or_default();
        let id = SessionId::derive("fork of a connection", &[&self.id, label.as_bytes(), &count.to_le_bytes()]);
        let id = id.to_bytes();
        *count += 1;
        let origin = self.origin.clone();
        let fork = match &self.origin {
            Origin::Connected { to, settings } => open(to, settings, &mut |_| {}, Purpose::Fork, id)?,
            Origin::Accepted(hub) => Connection { transport: hub.claim(id, label)?, origin, id, forks: HashMap::new() },
        };
        Ok(Box::new(fork))
    }
}

#[cfg(test)]
mod tests {
    use comity_core::Kind;

    use super::*;

    /// To know a public key is not enough: whoever poses as its owner cannot sign the handshake.
    #[test]
    fn keys_are_proved() {
        let [alice, bob, eve] = [(); 3].map(|()| Identity::generate(&mut SystemRng));
        let settings = |own: &Identity, peer: &Identity| Settings {
            security: Security::Tls { identity: own.clone(), peer: peer.fingerprint() },
            timeout: comity_testing::PATIENCE,
        };
        let impostors = [eve.posing_as(&alice), eve.posing_as(&bob)];
        let cases = [(&alice, &bob, true), (&impostors[0], &bob, false), (&alice, &impostors[1], false)];
        for (listening, connecting, honest) in cases {
            let listener = Listener::bind("127.0.0.1:0", &settings(listening, &bob)).unwrap();
            let address = listener.address().to_string();
            std::thread::scope(|scope| {
                let accepted = scope.spawn(|| listener.accept(&mut |_| {}).and_then(|mut ch| ch.recv(&mut [0])));
                let connected = connect(&address, &settings(connecting, &alice), &mut |_| {});
                let sent = connected.and_then(|mut ch| {
                    ch.send(&[1])?;
                    ch.recv(&mut [0])
                });
                let accepted = accepted.join().unwrap();
                assert!(sent.is_err(), "nothing was said back");
                if honest {
                    accepted.unwrap();
                } else {
                    assert!(accepted.is_err(), "a key was taken for proved");
                    assert!(
                        matches!(sent, Err(Error { kind: Kind::Malformed(_) | Kind::Untrusted(_), .. })),
                        "{sent:?}"
                    );
                }
            });
        }
    }
}
