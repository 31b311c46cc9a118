//! What a party sets before it meets the others.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use comity_channel::PerPeer;
use comity_core::{Error, PartyId, Result, SessionId};

use crate::address::check_plaintext;
use crate::group::Digest;
use crate::identity::{Fingerprint, Identity};
use crate::limits::Limits;
use crate::relay::wire::Room;
use crate::socket::Socket;

/// The protection of connections.
#[derive(Clone)]
pub enum Security {
    /// Plain text, protected against accidents only. Allowed only on this machine, unless `anywhere` is set.
    Plain {
        /// Whether plain text is allowed beyond this machine, too.
        anywhere: bool,
    },
    /// TLS 1.3, and only with peers that have these keys.
    Tls {
        /// This party's key.
        identity: Identity,
        /// The fingerprint of each other party's key. All are different.
        peers: PerPeer<Fingerprint>,
    },
}

/// A party's settings: its place among the parties, and how it meets the others.
#[derive(Clone)]
pub struct Settings {
    /// This party.
    pub me: PartyId,
    /// The number of parties, this one included.
    pub parties: u16,
    /// The protection of connections; all must agree.
    pub security: Security,
    /// The time-out of connecting, of the handshake, of the hello, and of the wait for the first message
    /// after it, each; of a pause in the middle of a message; and of a peer that neither takes what is sent
    /// nor says anything. Between later messages a wait lasts as long as the peer says that it is there,
    /// since an honest one may compute for long: a silence of 20 s ends it.
    pub timeout: Duration,
    /// The limits of the run: its clock, its deadline, and the handle that stops it.
    pub limits: Limits,
    /// The parties that are met at a relay, if any are.
    pub relay: Option<ByRelay>,
}

/// The parties to be called at the address of a relay: they call it, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByRelay {
    /// The parties.
    pub peers: Vec<PartyId>,
    /// The digest of the group that all hold; `None` for two parties that trust each other's keys without a
    /// group.
    pub group: Option<Digest>,
}

impl Settings {
    /// The settings of one of two parties.
    ///
    /// # Panics
    /// If `me` is neither 0 nor 1.
    pub fn of_two(me: PartyId, security: Security, timeout: Duration) -> Settings {
        assert!(me.0 < 2, "party {me} does not exist: two parties are numbered 0 and 1");
        Settings { me, parties: 2, security, timeout, limits: Limits::default(), relay: None }
    }

    /// Whether `party` is one of the other parties.
    pub(crate) fn is_peer(&self, party: PartyId) -> bool {
        party != self.me && party.0 < self.parties
    }

    /// Whether `party` is met at a relay.
    pub(crate) fn is_relayed(&self, party: PartyId) -> bool {
        self.relay.as_ref().is_some_and(|relay| relay.peers.contains(&party))
    }

    /// The room where this party and `peer` meet at a relay: a hash of the group, and of the pair with its
    /// keys. Sides that do not agree on these have no room in common.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) without TLS.
    pub(crate) fn room(&self, peer: PartyId) -> Result<Room> {
        let Security::Tls { identity, peers } = &self.security else {
            return Err(Error::invalid_input(
                "a relay is not trusted and could read and change plain text, so it carries TLS only: use --tls DIR, \
                    with keys from `comity key new`",
            ));
        };
        let mut pair = [(self.me, identity.fingerprint()), (peer, peers[peer])];
        pair.sort_by_key(|(party, _)| *party);
        let [lower, higher] = pair.map(|(party, key)| (party.0.to_le_bytes(), key.to_bytes()));
        let group: &[u8] = self.relay.as_ref().and_then(|relay| relay.group.as_ref()).map_or(&[], |group| &group.0);
        Ok(SessionId::derive("relay room v1", &[group, &lower.0, &lower.1, &higher.0, &higher.1]).to_bytes())
    }

    /// Checks that these addresses may be spoken to with this protection.
    pub(crate) fn check(&self, sockets: &[SocketAddr]) -> Result<()> {
        match self.security {
            Security::Plain { anywhere } => sockets.iter().try_for_each(|socket| check_plaintext(socket, anywhere)),
            Security::Tls { .. } => Ok(()),
        }
    }

    /// A socket of a run with these limits.
    pub(crate) fn socket(&self, stream: TcpStream, limits: &Limits) -> Result<Socket> {
        match stream.peer_addr() {
            Ok(peer) => Ok(Socket::new(stream, peer, self.timeout, limits.clone())),
            Err(error) if error.kind() == std::io::ErrorKind::NotConnected => Err(Error::closed()),
            Err(error) => Err(Error::io("asking for the peer's address", error)),
        }
    }
}
