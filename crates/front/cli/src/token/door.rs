//! Where holders come to a token: a socket of its machine, or an address that they call by TLS.

use std::thread;
use std::time::Duration;

use comity::token::TokenKeys;
use comity::{Channel, Error, Fingerprint, HELPER_READY, Kind, PartyId, PerPeer};
use comity_net::{Event, Identity, Limits, Listener, LocalListener, Security, Settings};
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};

use super::ServeTokenArgs;

/// How long a holder may take for the handshake, and for the rest of a message that has begun.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause after a holder that could not come in: whatever is wrong is wrong again at once.
const PAUSE: Duration = Duration::from_secs(1);

/// The place where a token waits.
pub(super) enum Door {
    Socket(LocalListener, String),
    /// The holders' side of the TLS line is that of party 1 of two, whose key may be any of several.
    Address(Listener),
}

impl Door {
    /// Opens the door that the flags name. `identity` is the token's own, by which holders know it over TLS.
    pub(super) fn open(args: &ServeTokenArgs, identity: Option<Identity>, limits: &Limits) -> Outcome<Door> {
        let Some(address) = &args.listen else {
            let path = args.socket.as_ref().expect("the flags name a socket or an address");
            return Ok(Door::Socket(LocalListener::bind(path)?, path.display().to_string()));
        };
        let identity = identity.ok_or_else(|| {
            Failure::input(
                "a token whose key is in a PKCS #11 module is served at a socket (--socket PATH): for TLS the key itself would be needed",
            )
        })?;
        let mut known = args.holder.clone();
        known.sort_by_key(|key| key.to_bytes());
        known.dedup();
        let peers = PerPeer::from_vec(PartyId(0), known).expect("this party is the first one");
        let security = Security::Tls { identity, peers };
        let settings = Settings { limits: limits.clone(), ..Settings::of_two(PartyId(0), security, PATIENCE) };
        Ok(Door::Address(Listener::bind(address, &settings)?))
    }

    /// The place, for people.
    pub(super) fn place(&self) -> String {
        match self {
            Door::Socket(_, path) => path.clone(),
            Door::Address(listener) => listener.place(),
        }
    }

    /// Waits for the next holder; `None` when the limits are reached. A connection that fails does not end
    /// the wait.
    pub(super) fn next(&self, limits: &Limits, verbose: bool) -> Option<Box<dyn Channel>> {
        let listener = match self {
            Door::Socket(listener, _) => return Some(Box::new(listener.accept(limits)?)),
            Door::Address(listener) => listener,
        };
        while limits.check().is_ok() {
            let came = listener.accept_within(limits, &mut |event| {
                // A port that is open for long has strangers all day.
                if let (Event::TurnedAway(why), true) = (event, verbose) {
                    note(&format!("turned somebody away: {why}"));
                }
            });
            // One that is gone by now is seen to be so where it is served.
            match came.and_then(|mut holder| holder.post(&[HELPER_READY]).map(|()| holder)) {
                Ok(holder) => return Some(Box::new(holder)),
                Err(Error { kind: Kind::TimedOut(_) | Kind::Stopped, .. }) => {}
                Err(error) => {
                    note(&format!("a holder could not come in: {error}"));
                    thread::sleep(PAUSE);
                }
            }
        }
        None
    }
}

/// The identity of a token whose keys follow from this secret: the key that it signs with.
pub(super) fn identity(secret: &[u8; TokenKeys::SECRET]) -> Identity {
    Identity::from_secret(TokenKeys::signing_secret(secret))
}

/// A holder's fingerprint, as a flag.
pub(super) fn fingerprint(text: &str) -> Result<Fingerprint, String> {
    text.parse().map_err(|error: Error| error.to_string())
}
