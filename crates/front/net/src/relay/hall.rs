//! The hall of a relay: connections that have not said what they are, and those that wait for another one.

use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use comity_channel::foreign;

use crate::limits::Now;
use crate::relay::wire::{Answer, Knock, OPENING, Room, Side};
use crate::relay::{host, share};
use crate::tls::AT_A_RELAY;

/// The most connections that may be in their openings at once; a further one takes the place of the oldest.
/// One host may have fewer.
const MAX_UNHEARD: usize = 64;

/// The most connections that may wait for another one; a further one takes the place of the oldest. One host
/// may have fewer.
const MAX_WAITING: usize = 256;

/// The time for an opening.
const OPENS: Duration = Duration::from_secs(10);

/// The time that a caller may wait for the other one. If it waits longer, it calls again.
const WAITS: Duration = Duration::from_secs(300);

/// The last words to a caller that speaks neither TLS nor the relay's protocol.
const FAREWELL: &[u8] = b"comity: this is a relay\n";

/// A connection that is to be paired.
struct Guest {
    stream: TcpStream,
    peer: SocketAddr,
    since: Instant,
}

/// One that has not said all of its opening.
struct Unheard {
    guest: Guest,
    said: [u8; OPENING],
    count: usize,
}

/// The callers that are there and not carried.
#[derive(Default)]
pub(crate) struct Hall {
    /// Oldest first.
    unheard: VecDeque<Unheard>,
    waiting: HashMap<Room, (Side, Guest)>,
}

/// Two that have met: the lower one first.
pub(crate) struct Couple {
    pub(crate) room: Room,
    pub(crate) ends: [TcpStream; 2],
    pub(crate) peers: [SocketAddr; 2],
}

/// Whether an opening has come.
enum Heard {
    NotYet,
    Gone,
    Whole(Knock),
    /// The bytes are not an opening, for this reason.
    Foreign(String),
}

impl Hall {
    /// Somebody has come. Returns why another one had to go for that.
    pub(crate) fn enter(&mut self, stream: TcpStream, now: &Now) -> Option<String> {
        let peer = stream.peer_addr().ok()?;
        stream.set_nonblocking(true).ok()?;
        let mut of_host = self.unheard.iter().enumerate().filter(|(_, other)| host(&other.guest.peer) == host(&peer));
        let oldest = match of_host.clone().count() >= share(MAX_UNHEARD) {
            true => of_host.next().map(|(at, _)| at),
            false => Some(0).filter(|_| self.unheard.len() >= MAX_UNHEARD),
        };
        let oldest = oldest.and_then(|at| self.unheard.remove(at));
        let guest = Guest { stream, peer, since: now.get() };
        self.unheard.push_back(Unheard { guest, said: [0; OPENING], count: 0 });
        oldest.map(|oldest| format!("{} made room for others, before it said anything", oldest.guest.peer))
    }

    /// Hears those that have something to say: couples that have met, and whether there was anything.
    pub(crate) fn hear(&mut self, now: &Now, turned_away: &mut dyn FnMut(String)) -> (Vec<Couple>, bool) {
        let (mut couples, mut busy) = (Vec::new(), false);
        for _ in 0..self.unheard.len() {
            let Some(mut unheard) = self.unheard.pop_front() else { break };
            let heard = unheard.hear(now);
            busy |= !matches!(heard, Heard::NotYet);
            match heard {
                Heard::NotYet => self.unheard.push_back(unheard),
                Heard::Gone => {}
                Heard::Whole(knock) => couples.extend(self.seat(knock, unheard.guest, now, turned_away)),
                Heard::Foreign(why) => {
                    unheard.part();
                    turned_away(format!("{} {why}", unheard.guest.peer));
                }
            }
        }
        (couples, busy)
    }

    /// Gives a caller a place, or the caller that waits for it.
    fn seat(&mut self, knock: Knock, guest: Guest, now: &Now, turned_away: &mut dyn FnMut(String)) -> Option<Couple> {
        let Knock { side, room } = knock;
        match self.waiting.remove(&room) {
            Some((other, earlier)) if other == side => {
                turned_away(format!("{} was replaced by {}, which came to its place", earlier.peer, guest.peer));
                earlier.answer(Answer::Replaced);
            }
            Some((_, other)) if other.is_there() => {
                let (lower, higher) = if side == Side::Lower { (guest, other) } else { (other, guest) };
                let peers = [lower.peer, higher.peer];
                return Some(Couple { room, ends: [lower.stream, higher.stream], peers });
            }
            _ => {}
        }
        let of_host = |other: &Guest| host(&other.peer) == host(&guest.peer);
        let crowd = self.waiting.values().filter(|(_, other)| of_host(other)).count() >= share(MAX_WAITING);
        if crowd || self.waiting.len() >= MAX_WAITING {
            let others = self.waiting.iter().filter(|(_, (_, other))| !crowd || of_host(other));
            let oldest = others.min_by_key(|(_, (_, other))| other.since).map(|(room, _)| *room);
            if let Some((_, oldest)) = oldest.and_then(|room| self.waiting.remove(&room)) {
                turned_away(format!("{} made room for others that wait", oldest.peer));
                oldest.answer(Answer::Full);
            }
        }
        self.waiting.insert(room, (side, Guest { since: now.get(), ..guest }));
        None
    }

    /// Lets those go that wait in vain, or are gone.
    pub(crate) fn tidy(&mut self, now: &Now) {
        self.waiting.retain(|_, (_, guest)| {
            let late = now.since(guest.since) >= WAITS;
            if late {
                guest.answer(Answer::Alone);
            }
            !late && guest.is_there()
        });
    }

    /// Sends all away.
    pub(crate) fn close(&mut self) {
        self.unheard.clear();
        self.waiting.drain().for_each(|(_, (_, guest))| guest.answer(Answer::Ends));
    }
}

impl Unheard {
    fn hear(&mut self, now: &Now) -> Heard {
        match self.guest.read(&mut self.said[self.count..]) {
            None => return Heard::Gone,
            Some(count) => self.count += count,
        }
        let said = &self.said[..self.count];
        if !Knock::may_begin(said) {
            let speaks = foreign(said)
                .map_or("did not open the connection as a party does".to_owned(), |what| format!("speaks {what}"));
            return Heard::Foreign(speaks);
        }
        if self.count == OPENING {
            return match Knock::decode(&self.said) {
                Some(knock) => Heard::Whole(knock),
                None => Heard::Foreign("did not open the connection as a party does".into()),
            };
        }
        if now.since(self.guest.since) >= OPENS {
            return Heard::Foreign(format!("did not say what it wants for {} s", OPENS.as_secs()));
        }
        Heard::NotYet
    }

    /// Says where it is to one that takes this for something else.
    fn part(&self) {
        let tls = foreign(&self.said[..self.count]) == Some("TLS");
        self.guest.last_word(if tls { &AT_A_RELAY } else { FAREWELL });
    }
}

impl Guest {
    /// Reads the bytes that are there; `None` if the connection is gone.
    fn read(&self, into: &mut [u8]) -> Option<usize> {
        match (&self.stream).read(into) {
            Ok(0) if !into.is_empty() => None,
            Ok(count) => Some(count),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Some(0),
            Err(_) => None,
        }
    }

    /// Whether it still waits: it is not gone, and says nothing before its time.
    fn is_there(&self) -> bool {
        matches!(self.stream.peek(&mut [0]), Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted))
    }

    fn answer(&self, answer: Answer) {
        self.last_word(&answer.encode());
    }

    /// Says this if it goes at once, and ends the connection.
    fn last_word(&self, word: &[u8]) {
        // To close while something is unread would take the word back.
        let _ = (&self.stream).read(&mut [0; 4096]);
        let _ = (&self.stream).write(word);
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
