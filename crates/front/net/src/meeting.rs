//! Meeting: one connection to each other party, some of whom listen and some of whom come.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use comity_channel::PerPeer;
use comity_core::{Error, Kind, PartyId, Result, listed};

use crate::connection::{Connection, dial};
use crate::hub::Listener;
use crate::limits::Limits;
use crate::settings::Settings;
use crate::tcp;
use crate::transport::{Purpose, Transport};

/// Something that happens while parties meet.
#[derive(Debug)]
pub enum Event<'a> {
    /// Parties that are not there yet.
    Waiting(&'a [PartyId]),
    /// A stranger connected to the port, and was turned away.
    TurnedAway(&'a Error),
}

/// Meets all other parties. It calls those in `at`, who listen at these addresses or call the relay there;
/// all others have to come to `listener`. Returns when all are there.
///
/// # Errors
///
/// [`TimedOut`](comity_core::Kind) names the missing parties. [`InvalidInput`](comity_core::Kind) if some
/// party has to connect and this party does not listen, or an address does not parse. If the called peer is
/// not the one that answers: [`Untrusted`](comity_core::Kind), [`Stranger`](comity_core::Kind).
pub fn meet(
    listener: Option<&Listener>,
    at: &[(PartyId, String)],
    settings: &Settings,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<PerPeer<Connection>> {
    let mut there: PerPeer<Option<Connection>> = PerPeer::new(settings.me, settings.parties, |_| None);
    let comes = |party: PartyId| at.iter().all(|(called, _)| *called != party);
    if let Some(party) = there.peers().find(|&party| comes(party))
        && listener.is_none()
    {
        return Err(Error::invalid_input(format!(
            "where is party {party}? Give its address, or an address of this party to listen at"
        )));
    }
    let ringing = Ringing::begin(at, settings);
    if let Some(listener) = listener {
        listener.0.open(&settings.limits);
    }
    let met = gather(listener, &ringing, at, &mut there, settings, tell);
    ringing.given_up.store(true, Relaxed);
    if let Some(listener) = listener {
        listener.0.close();
    }
    met?;
    let kept = there.into_vec().into_iter().map(|connection| connection.expect("all have come").kept());
    let kept: Vec<Connection> = kept.collect::<Result<_>>()?;
    Ok(PerPeer::from_vec(settings.me, kept).expect("one a peer"))
}

impl Listener {
    /// Waits for the only peer of one of two parties. `tell` gets the events of the wait.
    ///
    /// # Errors
    ///
    /// [`TimedOut`](comity_core::Kind) if it does not come. Strangers are turned away, and end no wait.
    ///
    /// # Panics
    /// If there are not two parties: use [`meet`] for more.
    pub fn accept(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<Connection> {
        self.accept_within(&self.0.settings.limits, tell)
    }

    /// As [`Listener::accept`], for a run with limits of its own.
    ///
    /// # Errors
    /// As [`Listener::accept`].
    ///
    /// # Panics
    /// As [`Listener::accept`].
    pub fn accept_within(&self, limits: &Limits, tell: &mut dyn FnMut(Event<'_>)) -> Result<Connection> {
        assert_eq!(self.0.settings.parties, 2, "one of two waits for one");
        let settings = Settings { limits: limits.clone(), ..self.0.settings.clone() };
        let mut one = meet(Some(self), &[], &settings, tell)?.into_vec();
        Ok(one.pop().expect("the peer is there"))
    }

    /// The next first connection, whoever opens it; it waits for no further party. For tools that try a port;
    /// parties [`meet`].
    ///
    /// # Errors
    ///
    /// The error of the connection. [`TimedOut`](comity_core::Kind) if nobody comes.
    pub fn next(&self) -> Result<Connection> {
        let hub = &self.0;
        let limits = hub.limits();
        let begin = limits.now.get();
        loop {
            limits.check()?;
            if let Some(stream) = tcp::accept(&hub.sockets)? {
                if tcp::has_left(&stream) {
                    continue;
                }
                let (opening, transport) = Transport::accept(stream, &hub.settings, &limits, None)?;
                if opening.purpose == Purpose::First {
                    hub.close();
                    return Connection::accepted(hub.clone(), &opening, transport).kept();
                }
            } else if limits.now.since(begin) >= hub.settings.timeout {
                let timeout = tcp::seconds(hub.settings.timeout);
                return Err(Error::timed_out(format!("nobody connected to {} for {timeout}", self.place())));
            } else {
                tcp::pause(&limits.now, begin);
            }
        }
    }
}

/// The time for the last words of calls whose time is over.
const GRACE: Duration = Duration::from_millis(200);

/// The words for a called party that is not there, which counts as missing; any other error is returned.
fn nobody(error: Error) -> Result<String> {
    match error.kind {
        Kind::TimedOut(why) => Ok(why),
        Kind::Io { .. } => Ok(error.to_string()),
        _ => Err(error),
    }
}

fn gather(
    listener: Option<&Listener>,
    ringing: &Ringing,
    at: &[(PartyId, String)],
    there: &mut PerPeer<Option<Connection>>,
    settings: &Settings,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<()> {
    let Settings { limits, timeout, .. } = settings;
    let begin = limits.now.get();
    let called = |party: PartyId| at.iter().find(|(called, _)| *called == party);
    let (mut told, mut unanswered) = (0, Vec::new());
    loop {
        limits.check()?;
        while let Ok((party, answer)) = ringing.answers.try_recv() {
            match answer {
                Ok(connection) => there[party] = Some(connection),
                // Nobody is there: this party is one of those who are missing.
                Err(error) => unanswered.push(nobody(error).map_err(|error| error.by(party))?),
            }
        }
        if there.iter().all(|(_, here)| here.is_some()) {
            return Ok(());
        }
        // A party that goes while others are missing may come again.
        for (party, here) in there.iter_mut().filter(|(_, here)| here.as_ref().is_some_and(Connection::is_gone)) {
            *here = None;
            if let Some((_, address)) = called(party) {
                ringing.ring(party, address, settings);
            }
        }
        let missing: Vec<PartyId> = there.iter().filter(|(_, here)| here.is_none()).map(|(party, _)| party).collect();
        let mut busy = false;
        if let Some(Listener(hub)) = listener {
            busy = hub.admit()?;
            while let Some((opening, transport)) = hub.came() {
                busy = true;
                let connection = Connection::accepted(hub.clone(), &opening, transport);
                let party = connection.party();
                if called(party).is_none()
                    && let Some(earlier) = there[party].replace(connection)
                {
                    earlier.replaced();
                }
            }
            hub.turned_away().1.iter().for_each(|why| tell(Event::TurnedAway(why)));
        }
        if busy {
            continue;
        }
        if limits.now.since(begin) >= *timeout || unanswered.len() == missing.len() {
            // Calls end when the time does, and say why.
            while unanswered.len() < missing.len()
                && let Ok((_, Err(error))) = ringing.answers.recv_timeout(GRACE)
            {
                unanswered.extend(nobody(error));
            }
            return Err(late(&missing, &unanswered, listener, settings));
        }
        if told != missing.len() {
            told = missing.len();
            tell(Event::Waiting(&missing));
        }
        tcp::pause(&limits.now, begin);
    }
}

/// The error that names the missing parties, with the known reasons.
fn late(missing: &[PartyId], unanswered: &[String], listener: Option<&Listener>, settings: &Settings) -> Error {
    let mut text =
        format!("{} did not come within {}", listed(missing.iter().copied()), tcp::seconds(settings.timeout));
    if let Some(listener) = listener {
        text += &format!(" (listening at {})", listener.place());
        let (count, _) = listener.0.turned_away();
        if count > 0 {
            text += &format!("; {count} strangers were turned away");
        }
    }
    let first = |(at, why): &(usize, &String)| !unanswered[..*at].contains(why);
    unanswered.iter().enumerate().filter(first).for_each(|(_, why)| text += &format!("; {why}"));
    match missing {
        [one] => Error::timed_out(text).by(*one),
        _ => Error::timed_out(text),
    }
}

/// The parties that are being called, each on a thread of its own.
struct Ringing {
    answer: Sender<(PartyId, Result<Connection>)>,
    answers: Receiver<(PartyId, Result<Connection>)>,
    given_up: Arc<AtomicBool>,
}

impl Ringing {
    fn begin(at: &[(PartyId, String)], settings: &Settings) -> Ringing {
        let (answer, answers) = mpsc::channel();
        let ringing = Ringing { answer, answers, given_up: Arc::new(AtomicBool::new(false)) };
        at.iter().for_each(|(party, address)| ringing.ring(*party, address, settings));
        ringing
    }

    /// Calls a party, on a thread that is not joined: a call that nobody waits for any more ends by itself.
    fn ring(&self, party: PartyId, address: &str, settings: &Settings) {
        let (answer, given_up, settings) = (self.answer.clone(), self.given_up.clone(), settings.clone());
        let address = address.to_owned();
        thread::spawn(move || {
            let called = dial(&address, party, &settings, &given_up, &mut |_| {});
            // Without a receiver the wait is over.
            let _ = answer.send((party, called));
        });
    }
}
