//! `Transport`: frames or TLS on one socket, and its opening, the first message of every connection.
//!
//! The connecting side opens with one message: what the connection is (a session's first, or a fork), who it
//! is from and to, and an id. The id of the first is drawn at random; that of a fork is hashed from its
//! parent's, its label and how often the label was used, so both sides know which fork a connection is, in
//! whatever order they arrive. The listening side says nothing: opening costs no flight.

use std::net::{SocketAddr, TcpStream};

use comity_channel::{RecvHalf, SendHalf};
use comity_core::{Error, PartyId, Result};

use crate::identity::Fingerprint;
use crate::keep::keep;
use crate::limits::Limits;
use crate::parting::part;
use crate::plain::Plain;
use crate::settings::{Security, Settings};
use crate::tcp;
use crate::tls::Tls;

/// The first bytes that a connecting side sends.
const MAGIC: [u8; 8] = *b"comity\x00e";

/// Bytes of an opening: magic, purpose, from, to and id.
const OPENING: usize = MAGIC.len() + 1 + 2 + 2 + 32;

/// The messages that must come soon, once a session's first connection is open: the hello, and the first one
/// of the protocol.
const PROMPT: u32 = 2;

/// The id that a connection is known by, at both of its ends.
pub(crate) type Id = [u8; 32];

/// Checks that these bytes are an opening. Not for users: fuzzing opens connections in memory.
///
/// # Errors
/// As a listening party's.
#[doc(hidden)]
pub fn opens(bytes: &[u8]) -> Result<()> {
    Opening::decode(bytes.first_chunk().ok_or(Error::closed())?).map(drop)
}

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The first connection of a session.
    First,
    /// A further connection, beside one that is there.
    Fork,
}

/// The opening of a connection: what its first message says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) purpose: Purpose,
    pub(crate) from: PartyId,
    pub(crate) to: PartyId,
    pub(crate) id: Id,
}

/// One connection.
pub(crate) enum Transport {
    Plain(Box<Plain>),
    Tls(Box<Tls>),
}

impl Opening {
    fn encode(&self) -> [u8; OPENING] {
        let mut bytes = [0; OPENING];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8] = match self.purpose {
            Purpose::First => 0,
            Purpose::Fork => 1,
        };
        bytes[9..11].copy_from_slice(&self.from.0.to_le_bytes());
        bytes[11..13].copy_from_slice(&self.to.0.to_le_bytes());
        bytes[13..].copy_from_slice(&self.id);
        bytes
    }

    fn decode(bytes: &[u8; OPENING]) -> Result<Opening> {
        if bytes[..8] != MAGIC {
            return Err(Error::stranger("the peer does not open its connection as this version of comity does"));
        }
        let purpose = match bytes[8] {
            0 => Purpose::First,
            1 => Purpose::Fork,
            _ => return Err(Error::stranger("the peer opens a connection of an unknown kind")),
        };
        let party = |at: usize| PartyId(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        let id = *bytes[13..].first_chunk().expect("an opening ends with an id");
        Ok(Opening { purpose, from: party(9), to: party(11), id })
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        let socket = match &*self {
            Transport::Plain(plain) => &plain.line.socket,
            Transport::Tls(tls) => tls.socket(),
        };
        // A message that is under way on a thread is given up.
        if self.buffered().is_some() && socket.is_ahead() {
            part(socket);
        }
    }
}

impl Transport {
    /// Opens a connection on this socket.
    pub(crate) fn connect(stream: TcpStream, settings: &Settings, opening: &Opening) -> Result<Transport> {
        let socket = settings.socket(stream, &settings.limits)?;
        let mut transport = match &settings.security {
            Security::Plain { .. } => Transport::Plain(Box::new(Plain::new(socket))),
            Security::Tls { identity, peers } => {
                Transport::Tls(Box::new(Tls::connect(socket, identity, peers[opening.to])?))
            }
        };
        transport.expect(match opening.purpose {
            Purpose::First => PROMPT,
            Purpose::Fork => 0,
        });
        transport.send(&opening.encode())?;
        transport.flush()?;
        Ok(transport)
    }

    /// Reads who an arrived connection says it is. With TLS its key says that, too, and the opening must
    /// agree. `only` is the party that it has to be, if it can be no other one.
    pub(crate) fn accept(
        stream: TcpStream,
        settings: &Settings,
        limits: &Limits,
        only: Option<PartyId>,
    ) -> Result<(Opening, Transport)> {
        let socket = settings.socket(stream, limits)?;
        let (mut transport, proved) = match &settings.security {
            Security::Plain { .. } => (Transport::Plain(Box::new(Plain::new(socket))), None),
            Security::Tls { identity, peers } => {
                let may = |party: PartyId| only.is_none_or(|only| party == only);
                let keys = peers.iter().filter(|(party, _)| may(*party)).map(|(_, key)| *key).collect();
                let (tls, key) = Tls::accept(socket, identity, keys)?;
                (Transport::Tls(Box::new(tls)), peers.iter().find(|(_, known)| **known == key).map(|(party, _)| party))
            }
        };
        transport.expect(1);
        let mut bytes = [0; OPENING];
        transport.recv(&mut bytes)?;
        let mut opening = Opening::decode(&bytes)?;
        if settings.parties == 2 {
            // There is one peer only: if it takes itself for another party, the hello says so at both sides.
            (opening.from, opening.to) = (settings.me.other(), settings.me);
        } else if let Some(party) = proved
            && party != opening.from
        {
            return Err(Error::untrusted(format!(
                "the peer at {} says that it is party {}, but its key belongs to party {party}",
                transport.peer(),
                opening.from
            )));
        }
        transport.expect(match opening.purpose {
            Purpose::First => PROMPT,
            Purpose::Fork => 0,
        });
        Ok((opening, transport))
    }

    /// Says from now on that this side is there while it says nothing else.
    pub(crate) fn keep(&self) -> Result<()> {
        match self {
            Transport::Plain(plain) => keep(&plain.line),
            Transport::Tls(tls) => keep(&tls.session),
        }
    }

    /// The peer's address.
    pub(crate) fn peer(&self) -> SocketAddr {
        match self {
            Transport::Plain(plain) => plain.line.socket.peer,
            Transport::Tls(tls) => tls.socket().peer,
        }
    }

    /// The fingerprint of the key that the peer proved.
    pub(crate) fn key(&self) -> Option<Fingerprint> {
        match self {
            Transport::Plain(_) => None,
            Transport::Tls(tls) => tls.session.pinned.presented(),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Transport::Plain(plain) => plain.sending.here()?.send(bytes),
            Transport::Tls(tls) => tls.sending.here()?.send(bytes),
        }
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        match self {
            Transport::Plain(plain) => plain.sending.here()?.flush(),
            Transport::Tls(tls) => tls.sending.here()?.flush(),
        }
    }

    pub(crate) fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        match self {
            Transport::Plain(plain) => plain.receiving.recv(bytes),
            Transport::Tls(tls) => tls.receiving.recv(bytes),
        }
    }

    pub(crate) fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        match self {
            Transport::Plain(plain) => (Box::new(&mut plain.sending), Box::new(&mut plain.receiving)),
            Transport::Tls(tls) => (Box::new(&mut tls.sending), Box::new(&mut tls.receiving)),
        }
    }

    /// Whether the peer is gone, and has left nothing to be read.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Transport::Plain(plain) => tcp::is_gone(&plain.line.socket.stream),
            Transport::Tls(tls) => tcp::is_gone(&tls.socket().stream),
        }
    }

    /// Sends bytes after the buffered ones: those that do not go at once on a thread of the connection.
    pub(crate) fn post(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Transport::Plain(plain) => plain.sending.post(bytes),
            Transport::Tls(tls) => tls.sending.post(bytes),
        }
    }

    /// The number of bytes that are not yet flushed; `None` while a message is under way that was posted.
    pub(crate) fn buffered(&self) -> Option<usize> {
        match self {
            Transport::Plain(plain) => plain.sending.idle().map(|half| half.buffered()),
            Transport::Tls(tls) => tls.sending.idle().map(|half| half.buffered()),
        }
    }

    /// Says `last` and closes, so that the peer can still read it.
    pub(crate) fn part(mut self, last: &[u8]) {
        // It is being given up: an error has nobody to go to.
        if self.send(last).and_then(|()| self.flush()).is_ok() {
            match &self {
                Transport::Plain(plain) => tcp::part(&plain.line.socket.stream, &[]),
                Transport::Tls(tls) => tcp::part(&tls.socket().stream, &[]),
            }
        }
    }

    /// Bounds the wait for the peer's next messages, from now on.
    fn expect(&mut self, messages: u32) {
        match self {
            Transport::Plain(plain) => plain.receiving.expect(messages),
            Transport::Tls(tls) => tls.receiving.expect(messages),
        }
    }
}
