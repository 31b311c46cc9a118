//! `Listener`: the one port of a party, where those who were not called come in.
//!
//! Whatever reaches the port is heard on a thread of its own, so that a silent stranger keeps nobody waiting;
//! at most [`MAX_UNHEARD`] are heard at once, and a further one takes the place of the oldest. A caller that
//! is not expected is turned away, with a reason if it speaks comity (to [`MAX_PARTING`] at once, and to
//! others none), and the wait goes on. Nothing is accepted while nobody waits: strangers then stay in the
//! system's queue, which is bounded.
//!
//! In plain text anybody can claim to be the fork of a peer. Before all have met no forks are kept, and after
//! that the oldest of those that nobody has asked for makes room for a further one.

use std::collections::{HashMap, VecDeque};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use comity_channel::hello::{Refusal, farewell};
use comity_core::{Error, Kind, PartyId, Result};

use crate::address::{Address, place};
use crate::limits::Limits;
use crate::settings::Settings;
use crate::tcp;
use crate::transport::{Id, Opening, Purpose, Transport};

/// The most connections that may be in their handshakes at once. An honest one is there for milliseconds.
const MAX_UNHEARD: usize = 64;

/// The most forks of the peers that arrive before this side asks for them. More is not what any protocol here does.
const MAX_UNCLAIMED: usize = 64;

/// The most connections that at once get the reason why they are turned away, each on its thread for half a
/// second.
const MAX_PARTING: usize = 64;

/// The most reasons that are kept until somebody asks for them.
const MAX_REASONS: usize = 16;

/// A place where peers can connect. It stays open as long as it or any connection from it lives, since forks
/// arrive there.
#[derive(Clone)]
pub struct Listener(pub(crate) Arc<Hub>);

/// The state that a [`Listener`] and the connections from it share.
pub(crate) struct Hub {
    pub(crate) sockets: Vec<TcpListener>,
    address: SocketAddr,
    pub(crate) settings: Settings,
    arrivals: Mutex<Arrivals>,
}

/// The connections that have come, and nobody has asked for yet.
#[derive(Default)]
struct Arrivals {
    /// Connections that have not said whose they are, oldest first: a number, and the socket to shut it.
    unheard: VecDeque<(u64, TcpStream)>,
    next: u64,
    /// The number of those that are being told why they are turned away.
    parting: usize,
    stage: Stage,
    /// The limits of the run that they are for.
    limits: Limits,
    first: HashMap<PartyId, (Opening, Transport)>,
    /// Oldest first.
    forks: VecDeque<((PartyId, Id), Transport)>,
    turned_away: u64,
    /// The reasons why some were turned away.
    reasons: VecDeque<Error>,
}

/// The connections that can be expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nobody waits.
    #[default]
    Idle,
    /// First ones, and nobody has met all others yet, and so no forks.
    Meeting,
    /// Forks, and no first one.
    Met,
}

impl Listener {
    /// Listens at `address` (`HOST:PORT`; port 0 is any free one). `:PORT` is every address of this machine,
    /// and so is `[::]:PORT`; `0.0.0.0:PORT` is every IPv4 address. A name stands for all of its addresses
    /// that this machine has.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) if the address does not parse, or can be reached from other
    /// machines and plain text is not allowed there; [`Io`](comity_core::Kind) if the port is in use.
    pub fn bind(address: &str, settings: &Settings) -> Result<Listener> {
        let resolved = Address::to_listen(address)?;
        settings.check(resolved.sockets())?;
        let sockets = tcp::listen(&resolved)?;
        let bound = sockets[0].local_addr().map_err(|error| Error::io(format!("listening at {address}"), error))?;
        let arrivals = Arrivals { limits: settings.limits.clone(), ..Arrivals::default() };
        let hub = Hub { sockets, address: bound, settings: settings.clone(), arrivals: Mutex::new(arrivals) };
        Ok(Listener(Arc::new(hub)))
    }

    /// The place where it listens, for people.
    pub fn place(&self) -> String {
        place(&self.0.address)
    }

    /// The address where it listens, with the port that it got.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Expects first connections from now on, for a run with these limits.
    pub(crate) fn open(&self, limits: &Limits) {
        let mut arrivals = self.lock();
        (arrivals.stage, arrivals.limits) = (Stage::Meeting, limits.clone());
        // Nobody forks before all have met: these are of a run that is over.
        arrivals.forks.clear();
    }

    /// The limits of the run that is on.
    pub(crate) fn limits(&self) -> Limits {
        self.lock().limits.clone()
    }

    /// Expects no first connection from now on. Connections that have not said who they are are closed.
    pub(crate) fn close(&self) {
        let mut arrivals = self.lock();
        arrivals.stage = Stage::Met;
        arrivals.first.clear();
        // No fork of a peer is among them: peers fork after their hello, which they say once all have met.
        arrivals.unheard.drain(..).for_each(|(_, stream)| shut(&stream));
    }

    /// A first connection that has come.
    pub(crate) fn came(&self) -> Option<(Opening, Transport)> {
        let mut arrivals = self.lock();
        let party = *arrivals.first.keys().next()?;
        arrivals.first.remove(&party)
    }

    /// The number of connections that were turned away, and the reasons since the last call.
    pub(crate) fn turned_away(&self) -> (u64, Vec<Error>) {
        let mut arrivals = self.lock();
        (arrivals.turned_away, arrivals.reasons.drain(..).collect())
    }

    /// Takes a connection that has arrived, if there is one, and hears it on a thread of its own.
    pub(crate) fn admit(self: &Arc<Hub>) -> Result<bool> {
        let Some(stream) = tcp::accept(&self.sockets)? else { return Ok(false) };
        let Ok(handle) = stream.try_clone() else { return Ok(true) };
        let mut arrivals = self.lock();
        if arrivals.unheard.len() >= MAX_UNHEARD
            && let Some((_, oldest)) = arrivals.unheard.pop_front()
        {
            shut(&oldest);
            arrivals.turned_away += 1;
        }
        let number = arrivals.next;
        arrivals.next += 1;
        arrivals.unheard.push_back((number, handle));
        let limits = arrivals.limits.clone();
        drop(arrivals);
        let hub = self.clone();
        let hear = move || {
            if !tcp::has_left(&stream) {
                let heard = Transport::accept(stream, &hub.settings, &limits, None);
                hub.heard(number, heard);
            } else {
                hub.forget(number);
            }
        };
        if thread::Builder::new().name("arrival".into()).spawn(hear).is_err() {
            // As many threads as the system has: whoever it was comes again.
            self.forget(number);
        }
        Ok(true)
    }

    /// Settles a handshake: a connection has said who it is, or failed to.
    fn heard(&self, number: u64, heard: Result<(Opening, Transport)>) {
        if !self.forget(number) {
            return;
        }
        let (opening, transport) = match heard {
            Ok(heard) => heard,
            // A caller that goes without an answer was no peer, or comes again.
            Err(Error { kind: Kind::Closed, .. }) => return,
            Err(error) => return self.refused(error),
        };
        if let Some((refusal, transport)) = self.keep(opening, transport) {
            self.turn_away(refusal, &opening, transport);
        }
    }

    /// Tells the reason to a connection that speaks comity, and closes it. In a crowd it only closes it.
    pub(crate) fn turn_away(&self, refusal: Refusal, opening: &Opening, transport: Transport) {
        let (from, address) = (opening.from, transport.peer());
        if self.parts() {
            transport.part(&farewell(refusal, self.settings.me, self.settings.parties));
            self.lock().parting -= 1;
        }
        self.refused(Error::stranger(match refusal {
            Refusal::NotExpected => format!("party {from} is at {address}, and looks for party {}", opening.to),
            Refusal::CameAgain => format!("party {from} at {address} connected a second time"),
            Refusal::UnderWay => format!("party {from} at {address} came after all had met"),
        }));
    }

    /// Whether one more connection can get the reason why it is turned away. If so, its place is taken.
    fn parts(&self) -> bool {
        let mut arrivals = self.lock();
        let room = arrivals.parting < MAX_PARTING;
        arrivals.parting += usize::from(room);
        room
    }

    /// Keeps an arrival for the thread that waits for it. An arrival that nobody expects comes back.
    fn keep(&self, opening: Opening, transport: Transport) -> Option<(Refusal, Transport)> {
        if opening.to != self.settings.me || !self.settings.is_peer(opening.from) {
            return Some((Refusal::NotExpected, transport));
        }
        let mut arrivals = self.lock();
        match opening.purpose {
            Purpose::Fork if arrivals.stage == Stage::Met => {
                let key = (opening.from, opening.id);
                arrivals.forks.retain(|(other, _)| *other != key);
                if arrivals.forks.len() >= MAX_UNCLAIMED {
                    arrivals.forks.pop_front();
                }
                arrivals.forks.push_back((key, transport));
                None
            }
            // It may have been started anew: the later one counts.
            Purpose::First if arrivals.stage == Stage::Meeting => {
                let earlier = arrivals.first.insert(opening.from, (opening, transport));
                earlier.map(|(_, transport)| (Refusal::CameAgain, transport))
            }
            _ => Some((Refusal::UnderWay, transport)),
        }
    }

    /// Counts one more connection that was turned away.
    fn refused(&self, why: Error) {
        let mut arrivals = self.lock();
        arrivals.turned_away += 1;
        if arrivals.reasons.len() < MAX_REASONS {
            arrivals.reasons.push_back(why);
        }
    }

    /// Forgets a handshake; whether it was there still to be heard.
    fn forget(&self, number: u64) -> bool {
        let mut arrivals = self.lock();
        let before = arrivals.unheard.len();
        arrivals.unheard.retain(|(other, _)| *other != number);
        arrivals.unheard.len() < before
    }

    /// Waits for a fork of a peer. Other threads may wait for other forks meanwhile: a thread that gets a
    /// connection keeps it for the one that wants it.
    pub(crate) fn claim(self: &Arc<Hub>, peer: PartyId, id: Id, label: &str) -> Result<Transport> {
        let limits = self.limits();
        let begin = limits.now.get();
        loop {
            limits.check()?;
            if let Some(transport) = self.lock().claimed(&(peer, id)) {
                return Ok(transport);
            }
            if self.admit()? {
                continue;
            }
            if limits.now.since(begin) >= self.settings.timeout {
                let timeout = tcp::seconds(self.settings.timeout);
                let text = format!("the peer did not open the channel \"{label}\" for {timeout}");
                return Err(Error::timed_out(text).by(peer));
            }
            tcp::pause(&limits.now, begin);
        }
    }
}

impl Arrivals {
    /// Takes the fork that is known by this, if it has come.
    fn claimed(&mut self, key: &(PartyId, Id)) -> Option<Transport> {
        let at = self.forks.iter().position(|(other, _)| other == key)?;
        self.forks.remove(at).map(|(_, transport)| transport)
    }
}

/// Shuts a socket, so that the thread that hears it ends.
fn shut(stream: &TcpStream) {
    // A socket that cannot be shut down is closed already.
    let _ = stream.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};

    use super::*;
    use crate::settings::Security;

    /// Takes `count` connections, all of which are on their way.
    fn admit(hub: &Arc<Hub>, count: usize) {
        for _ in 0..count {
            while !hub.admit().unwrap() {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn so_many_are_heard_at_once_and_the_oldest_goes_first() {
        let settings = Settings::of_two(PartyId(0), Security::Plain { anywhere: false }, comity_testing::PATIENCE);
        let Listener(hub) = Listener::bind("127.0.0.1:0", &settings).unwrap();
        hub.open(&settings.limits);
        let silent =
            |count: usize| -> Vec<TcpStream> { (0..count).map(|_| TcpStream::connect(hub.address).unwrap()).collect() };
        let mut strangers = silent(MAX_UNHEARD);
        admit(&hub, MAX_UNHEARD);
        let open = |stream: &TcpStream| {
            stream.set_nonblocking(true).unwrap();
            let open = matches!(stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
            stream.set_nonblocking(false).unwrap();
            open
        };
        assert!(strangers.iter().all(open));
        let unheard = || hub.lock().unheard.len();
        assert_eq!(unheard(), MAX_UNHEARD);
        strangers.extend(silent(3));
        admit(&hub, 3);
        for (at, mut stranger) in strangers.iter().enumerate() {
            match at {
                0..3 => assert_eq!(stranger.read(&mut [0]).unwrap(), 0, "stranger {at} is sent away"),
                _ => assert!(open(stranger), "stranger {at} is still heard"),
            }
        }
        assert_eq!((unheard(), hub.turned_away().0), (MAX_UNHEARD, 3));
        hub.close();
        strangers.iter().for_each(|mut stranger| assert_eq!(stranger.read(&mut [0]).unwrap(), 0));
    }

    /// A stranger that claims to be the fork of the peer, and then says nothing.
    fn fork(hub: &Hub, id: u64) -> (Opening, Transport) {
        let caller = TcpStream::connect(hub.address).unwrap();
        let settings = Settings { me: PartyId(1), ..hub.settings.clone() };
        let mut bytes = Id::default();
        bytes[..8].copy_from_slice(&id.to_le_bytes());
        let opening = Opening { purpose: Purpose::Fork, from: PartyId(1), to: PartyId(0), id: bytes };
        (opening, Transport::connect(caller, &settings, &opening).unwrap())
    }

    /// Three thousand forks of nobody, none of which closes: before the parties have met no fork is kept, and
    /// after that only a bounded number; threads and sockets are bounded, too.
    #[test]
    fn forks_of_strangers_shut_nobody_out() {
        const CROWD: u64 = 3000;
        let settings = Settings::of_two(PartyId(0), Security::Plain { anywhere: false }, comity_testing::PATIENCE);
        let Listener(hub) = Listener::bind("127.0.0.1:0", &settings).unwrap();
        hub.open(&settings.limits);
        let held = || {
            let arrivals = hub.lock();
            (arrivals.unheard.len(), arrivals.forks.len(), arrivals.parting)
        };
        let bounded = || {
            let (unheard, forks, parting) = held();
            assert!(unheard <= MAX_UNHEARD && forks <= MAX_UNCLAIMED && parting <= MAX_PARTING);
        };
        // As many wait at a time as a process has sockets for.
        let mut crowd = VecDeque::new();
        let mut come = |from: u64, count: u64| {
            for id in from..from + count {
                crowd.push_back(fork(&hub, id));
                admit(&hub, 1);
                bounded();
                if crowd.len() > 300 {
                    crowd.pop_front();
                }
            }
        };
        come(0, CROWD / 2);
        // The peer comes through all of them.
        let called = {
            let stream = TcpStream::connect(hub.address).unwrap();
            let own = Settings { me: PartyId(1), ..settings.clone() };
            let opening = Opening { purpose: Purpose::First, from: PartyId(1), to: PartyId(0), id: [7; 32] };
            Transport::connect(stream, &own, &opening).unwrap()
        };
        admit(&hub, 1);
        while hub.lock().first.is_empty() {
            bounded();
            thread::yield_now();
        }
        assert_eq!(held().1, 0, "no fork before a meeting");
        assert!(hub.came().is_some());
        hub.close();
        come(CROWD / 2, CROWD / 2);
        // Its fork is claimed, whoever else waits.
        let (opening, _fork) = fork(&hub, CROWD);
        assert!(hub.claim(PartyId(1), opening.id, "side").is_ok());
        drop(called);
    }
}
