//! The way to a party through a relay: both call the relay, and speak TLS through it.
//!
//! Of a pair the lower id hears TLS, as it would listen, and the higher one begins it. Whoever else comes
//! into the pair's room fails at the other's pinned key, and ends no wait: both come again until their time
//! is over.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use comity_channel::foreign;
use comity_core::{Error, Kind, PartyId, Result};

use crate::address::Address;
use crate::relay::wire::{ANSWER, Answer, Knock, Side, beside};
use crate::settings::Settings;
use crate::tcp::{self, seconds};
use crate::transport::{Opening, Purpose, Transport};

/// The longest pause between two calls.
const PAUSE: Duration = Duration::from_millis(500);

/// A wait for the other one of a pair.
struct Wait<'a> {
    relay: &'a Address,
    settings: &'a Settings,
    given_up: &'a AtomicBool,
    begin: Instant,
}

/// Meets a party at a relay for what `opening` says, which goes from the higher one to the lower one: a first
/// connection, or a fork.
pub(crate) fn meet(
    relay: &Address,
    peer: PartyId,
    settings: &Settings,
    opening: &Opening,
    given_up: &AtomicBool,
    waiting: &mut dyn FnMut(&str),
) -> Result<(Opening, Transport)> {
    let room = settings.room(peer)?;
    let room = match opening.purpose {
        Purpose::First => room,
        Purpose::Fork => beside(&room, &opening.id),
    };
    let knock = Knock { side: Side::of(settings.me, peer), room };
    let wait = Wait { relay, settings, given_up, begin: settings.limits.now.get() };
    let mut pause = Duration::from_millis(10);
    let mut last = None;
    loop {
        if wait.left().is_zero() || given_up.load(Relaxed) {
            return Err(wait.in_vain(peer, last));
        }
        let stream = tcp::connect(relay, wait.left(), &settings.limits, given_up, waiting).map_err(no_relay)?;
        match wait.once(stream, peer, &knock, opening) {
            Ok(met) => return Ok(met),
            Err(Failed::Here(error)) => return Err(error),
            Err(Failed::There(error)) => last = Some(error),
        }
        thread::sleep(pause.min(wait.left()));
        pause = (pause * 2).min(PAUSE);
    }
}

/// The error where nobody listens at the relay's address.
fn no_relay(error: Error) -> Error {
    match error.kind {
        Kind::Io { context, source } => Error::system(format!("no relay: {context}"), source),
        _ => error,
    }
}

/// Why one call came to nothing.
enum Failed {
    /// Another call would come to nothing, too.
    Here(Error),
    /// Another call may do better.
    There(Error),
}

impl Wait<'_> {
    /// The time that is left.
    fn left(&self) -> Duration {
        self.settings.timeout.saturating_sub(self.settings.limits.now.since(self.begin))
    }

    /// One call of the relay: the other one, if it is there.
    fn once(
        &self,
        stream: TcpStream,
        peer: PartyId,
        knock: &Knock,
        opening: &Opening,
    ) -> Result<(Opening, Transport), Failed> {
        let relay = self.relay;
        let there = |why: &str| Failed::There(Error::stranger(format!("the relay at {relay} {why}")));
        (&stream).write_all(&knock.encode()).map_err(|_| there("closed the connection"))?;
        match self.answer(&stream)? {
            Some(Answer::Paired) => {}
            Some(Answer::Full) => return Err(there("has no room for more")),
            Some(Answer::Ends) => return Err(there("ended")),
            Some(Answer::Replaced) => {
                return Err(there(
                    "gave this party's place to another connection: the party runs twice, or somebody who knows the \
                        group uses its name",
                ));
            }
            Some(Answer::Alone) | None => return Err(there("closed the connection before the other one came")),
        }
        let met = match knock.side {
            Side::Higher => Transport::connect(stream, self.settings, opening).map(|transport| (*opening, transport)),
            Side::Lower => self.hear(stream, peer, opening),
        };
        met.map_err(|error| match error.kind {
            Kind::Stopped | Kind::Deadline(_) | Kind::InvalidInput(_) => Failed::Here(error),
            _ => Failed::There(error),
        })
    }

    /// The lower one's part: the other one's opening has to be the one that is expected.
    fn hear(&self, stream: TcpStream, peer: PartyId, expected: &Opening) -> Result<(Opening, Transport)> {
        let (opening, transport) = Transport::accept(stream, self.settings, &self.settings.limits, Some(peer))?;
        let same = match expected.purpose {
            Purpose::First => opening.purpose == Purpose::First,
            Purpose::Fork => opening.purpose == Purpose::Fork && opening.id == expected.id,
        };
        match same {
            true => Ok((opening, transport)),
            false => Err(Error::stranger(format!("party {peer} opened another connection than the expected one"))),
        }
    }

    /// The relay's answer, as soon as the other one is there; `None` if the relay closed.
    fn answer(&self, mut stream: &TcpStream) -> Result<Option<Answer>, Failed> {
        let (mut bytes, mut count) = ([0; ANSWER], 0);
        while count < ANSWER {
            match stream.read(&mut bytes[count..]) {
                Ok(0) if count == 0 => return Ok(None),
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) =>
                {
                    self.settings.limits.check().map_err(Failed::Here)?;
                    if self.left().is_zero() || self.given_up.load(Relaxed) {
                        return Err(Failed::There(Error::timed_out("nobody else came to the relay")));
                    }
                }
                Err(_) => return Ok(None),
            }
        }
        Answer::decode(&bytes).map(Some).ok_or_else(|| {
            let relay = self.relay;
            let speaks = foreign(&bytes[..count]).map_or(String::new(), |what| format!(" (it speaks {what})"));
            Failed::Here(Error::stranger(format!(
                "no relay of this version of comity is at {relay}{speaks}: check the address and the port"
            )))
        })
    }

    /// The error when time is over: that of the last call, if it says more than that nobody came.
    fn in_vain(&self, peer: PartyId, last: Option<Error>) -> Error {
        let (relay, timeout) = (self.relay, seconds(self.settings.timeout));
        let why = match last {
            Some(Error { kind: Kind::TimedOut(_), .. }) | None => {
                "does it run, with the same relay, group and keys?".to_owned()
            }
            Some(error) => error.to_string(),
        };
        Error::timed_out(format!("party {peer} did not come to the relay at {relay} within {timeout}: {why}")).by(peer)
    }
}
