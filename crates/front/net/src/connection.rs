//! `Connection`: a channel over TCP, plain or TLS, and the further connections that its forks are.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use comity_channel::hello::Refusal;
use comity_channel::{AHEAD, Channel, RecvHalf, SendHalf, duplex};
use comity_core::{Error, Kind, PartyId, Result, SessionId};
use rand_core::Rng;

use crate::address::Address;
use crate::hub::Hub;
use crate::identity::Fingerprint;
use crate::relayed;
use crate::rng::SystemRng;
use crate::settings::Settings;
use crate::tcp;
use crate::transport::{Id, Opening, Purpose, Transport};

/// The most bytes that go out at once without a thread: any socket takes them without the peer reading.
const SMALL: usize = 16 << 10;

/// A channel to a peer over TCP.
pub struct Connection {
    transport: Transport,
    origin: Origin,
    peer: PartyId,
    id: Id,
    /// The number of forks of each label.
    forks: HashMap<String, u64>,
}

/// The way that further connections come by.
#[derive(Clone)]
enum Origin {
    Accepted(Arc<Hub>),
    Connected { to: Address, settings: Box<Settings> },
    Relayed { by: Address, settings: Box<Settings> },
}

/// Connects to party `peer`, which listens at `address` (`HOST:PORT`), and tries again until the time-out.
/// `waiting` is called once, with a text for the user, if nobody answers the first try.
///
/// # Errors
///
/// [`InvalidInput`](comity_core::Kind) if there is no such peer, the address does not parse, or it is on
/// another machine and plain text is not allowed there; [`Io`](comity_core::Kind) if nobody listens there.
/// [`Untrusted`](comity_core::Kind) if the peer has another key.
pub fn connect(address: &str, peer: PartyId, settings: &Settings, waiting: &mut dyn FnMut(&str)) -> Result<Connection> {
    dial(address, peer, settings, &AtomicBool::new(false), waiting)?.kept()
}

/// As [`connect`], until `given_up`.
pub(crate) fn dial(
    address: &str,
    peer: PartyId,
    settings: &Settings,
    given_up: &AtomicBool,
    waiting: &mut dyn FnMut(&str),
) -> Result<Connection> {
    if !settings.is_peer(peer) {
        let (me, parties) = (settings.me, settings.parties);
        return Err(Error::invalid_input(format!("party {me} of {parties} has no peer {peer} to connect to")));
    }
    let relayed = settings.is_relayed(peer);
    if relayed {
        settings.room(peer)?;
    }
    let address = Address::to_call(address)?;
    settings.check(address.sockets())?;
    let mut id = Id::default();
    SystemRng.fill_bytes(&mut id);
    let opening = Opening { purpose: Purpose::First, from: settings.me, to: peer, id };
    if relayed {
        return at_relay(&address, peer, settings, &opening, given_up, waiting).map_err(|error| error.by(peer));
    }
    open(&address, settings, &opening, given_up, waiting).map_err(|error| error.by(peer))
}

fn open(
    address: &Address,
    settings: &Settings,
    opening: &Opening,
    given_up: &AtomicBool,
    waiting: &mut dyn FnMut(&str),
) -> Result<Connection> {
    let stream = tcp::connect(address, settings.timeout, &settings.limits, given_up, waiting)?;
    let transport = Transport::connect(stream, settings, opening)?;
    let origin = Origin::Connected { to: Address::known(transport.peer()), settings: Box::new(settings.clone()) };
    Ok(Connection { transport, origin, peer: opening.to, id: opening.id, forks: HashMap::new() })
}

/// Opens a connection with a party that calls the same relay.
fn at_relay(
    by: &Address,
    peer: PartyId,
    settings: &Settings,
    opening: &Opening,
    given_up: &AtomicBool,
    waiting: &mut dyn FnMut(&str),
) -> Result<Connection> {
    let (opening, transport) = relayed::meet(by, peer, settings, opening, given_up, waiting)?;
    let origin = Origin::Relayed { by: Address::known(transport.peer()), settings: Box::new(settings.clone()) };
    Ok(Connection { transport, origin, peer, id: opening.id, forks: HashMap::new() })
}

impl Connection {
    /// The channel over a connection that has arrived.
    pub(crate) fn accepted(hub: Arc<Hub>, opening: &Opening, transport: Transport) -> Connection {
        Connection {
            transport,
            origin: Origin::Accepted(hub),
            peer: opening.from,
            id: opening.id,
            forks: HashMap::new(),
        }
    }

    /// The connection, once all have met: from now on it sends signs of life while it sends nothing else.
    /// Before that, a peer that is gone is found by its missing message.
    pub(crate) fn kept(self) -> Result<Connection> {
        self.transport.keep()?;
        Ok(self)
    }

    /// Another connection of its party counts: this one is closed, with the reason.
    pub(crate) fn replaced(self) {
        let Connection { transport, origin, peer, id, .. } = self;
        if let Origin::Accepted(hub) = origin {
            let opening = Opening { purpose: Purpose::First, from: peer, to: hub.settings.me, id };
            hub.turn_away(Refusal::CameAgain, &opening, transport);
        }
    }

    /// Whether the peer may have to receive before all of these bytes have gone, and those before them.
    fn is_large(&self, out: &[u8]) -> bool {
        self.transport.buffered().is_none_or(|before| before + out.len() > SMALL)
    }

    /// Whether the peer is gone, before anything was read from it.
    pub(crate) fn is_gone(&self) -> bool {
        self.transport.is_gone()
    }

    /// The party at the other end.
    pub fn party(&self) -> PartyId {
        self.peer
    }

    /// The peer's address.
    pub fn peer(&self) -> SocketAddr {
        self.transport.peer()
    }

    /// The fingerprint of the key that the peer proved; `None` in plain text.
    pub fn key(&self) -> Option<Fingerprint> {
        self.transport.key()
    }
}

impl Channel for Connection {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.transport.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        if self.transport.buffered().is_some() {
            self.transport.flush()?;
        }
        self.transport.recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.transport.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        if self.is_large(bytes) {
            return self.transport.post(bytes);
        }
        self.send(bytes)?;
        self.flush()
    }

    /// Not sent as a short message is: no number of pieces may wait for the peer to receive.
    fn post_more(&mut self, bytes: &[u8]) -> Result<()> {
        self.transport.post(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        self.transport.split()
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        if !self.is_large(out) {
            self.send(out)?;
            return self.recv(into);
        }
        // A copy of what does not go at once costs less than to start a thread. Behind an earlier post this one might
        // wait.
        if out.len() > AHEAD || self.transport.buffered().is_none() {
            return duplex(self.split(), out, into);
        }
        self.transport.post(out)?;
        match self.transport.recv(into) {
            Err(error) if !matches!(error.kind, Kind::Closed) => Err(error),
            received => self.transport.flush().and(received),
        }
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        let count = self.forks.entry(label.to_owned()).or_default();
        let id = SessionId::derive("fork of a connection", &[&self.id, label.as_bytes(), &count.to_le_bytes()]);
        *count += 1;
        let id = id.to_bytes();
        let fork = match &self.origin {
            Origin::Connected { to, settings } => {
                let opening = Opening { purpose: Purpose::Fork, from: settings.me, to: self.peer, id };
                open(to, settings, &opening, &AtomicBool::new(false), &mut |_| {})?
            }
            Origin::Relayed { by, settings } => {
                let opening = Opening { purpose: Purpose::Fork, from: settings.me, to: self.peer, id };
                at_relay(by, self.peer, settings, &opening, &AtomicBool::new(false), &mut |_| {})?
            }
            Origin::Accepted(hub) => Connection {
                transport: hub.claim(self.peer, id, label)?,
                origin: self.origin.clone(),
                peer: self.peer,
                id,
                forks: HashMap::new(),
            },
        };
        Ok(Box::new(fork.kept()?))
    }
}

#[cfg(test)]
mod tests {
    use comity_channel::PerPeer;

    use super::*;
    use crate::hub::Listener;
    use crate::identity::Identity;
    use crate::settings::Security;

    /// To know a public key is not enough: whoever poses as its owner cannot sign the handshake.
    #[test]
    fn keys_are_proved() {
        let [alice, bob, eve] = [(); 3].map(|()| Identity::generate(&mut SystemRng));
        let settings = |me: u16, own: &Identity, peer: &Identity| {
            let peers = PerPeer::new(PartyId(me), 2, |_| peer.fingerprint());
            let security = Security::Tls { identity: own.clone(), peers };
            Settings::of_two(PartyId(me), security, comity_testing::PATIENCE)
        };
        let impostors = [eve.posing_as(&alice), eve.posing_as(&bob)];
        let cases = [(&alice, &bob, true), (&impostors[0], &bob, false), (&alice, &impostors[1], false)];
        for (listening, calling, honest) in cases {
            let listener = Listener::bind("127.0.0.1:0", &settings(0, listening, &bob)).unwrap();
            let address = listener.address().to_string();
            std::thread::scope(|scope| {
                let accepted = scope.spawn(|| listener.next().and_then(|mut ch| ch.recv(&mut [0])));
                let connected = connect(&address, PartyId(0), &settings(1, calling, &alice), &mut |_| {});
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
