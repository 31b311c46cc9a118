//! What a party sets before it meets the others.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use comity_channel::PerPeer;
use comity_core::{Error, PartyId, Result};

use crate::address::check_plaintext;
use crate::identity::{Fingerprint, Identity};
use crate::plain::Socket;

/// The protection of connections.
#[derive(Clone)]
pub enum Security {
    /// Plain text, protected from accidents alone. Only on this machine, unless `anywhere`.
    Plain {
        /// Plain text is wanted beyond this machine as well.
        anywhere: bool,
    },
    /// TLS 1.3, and only with peers that have these keys.
    Tls {
        /// This party's key.
        identity: Identity,
        /// The fingerprint of each other party's key. No two are alike.
        peers: PerPeer<Fingerprint>,
    },
}

/// A party's settings: who it is among how many, and how it meets the others.
#[derive(Clone)]
pub struct Settings {
    /// This party.
    pub me: PartyId,
    /// The number of parties, this one included.
    pub parties: u16,
    /// The protection of connections; all must agree.
    pub security: Security,
    /// The time-out of connecting, the handshake, the hello and the wait for the first message after it, each; and a pause in
    /// the middle of a message. Between later messages waiting is not bounded, since an honest peer may compute for
    /// long: a peer that vanishes is noticed by TCP.
    pub timeout: Duration,
}

impl Settings {
    /// The settings of one of two parties.
    ///
    /// # Panics
    /// If `me` is neither 0 nor 1.
    pub fn of_two(me: PartyId, security: Security, timeout: Duration) -> Settings {
        assert!(me.0 < 2, "party {me} is none of two");
        Settings { me, parties: 2, security, timeout }
    }

    /// Whether `party` is one of the other parties.
    pub(crate) fn is_peer(&self, party: PartyId) -> bool {
        party != self.me && party.0 < self.parties
    }

    /// Checks that these addresses may be spoken to with this protection.
    pub(crate) fn check(&self, sockets: &[SocketAddr]) -> Result<()> {
        match self.security {
            Security::Plain { anywhere } => sockets.iter().try_for_each(|socket| check_plaintext(socket, anywhere)),
            Security::Tls { .. } => Ok(()),
        }
    }

    pub(crate) fn socket(&self, stream: TcpStream) -> Result<Socket> {
        match stream.peer_addr() {
            Ok(peer) => Ok(Socket { stream, peer, timeout: self.timeout }),
            Err(error) if error.kind() == std::io::ErrorKind::NotConnected => Err(Error::closed()),
            Err(error) => Err(Error::io("asking for the peer's address", error)),
        }
    }
}
