//! `Relay`: a place where two parties meet if neither can be called.
//!
//! Both connect to the relay and name a *room*, a hash of their group and of the pair ([`wire`]). When both
//! sides of a room are there, each gets what the other one says. What they say is the TLS that they speak
//! anywhere, each with the other's key pinned: a relay is no party to it, needs no key, and is not trusted.
//! It learns addresses, times, sizes and rooms, and can cut a line, which anybody on the way can. It carries
//! TLS records and nothing else, as far as their headers say.
//!
//! Everything is bounded. Connections that say nothing and those that wait are held by one thread, in a
//! limited number and for a limited time; a caller at a full house takes the place of the oldest. A pair is
//! two threads with a buffer each, by default at most [`PAIRS`] pairs. Where another pair wants room, one
//! that has said nothing for 20 seconds is ended; if all pairs talk, the new one is sent away. One address
//! has a share of all that at most, so that no single host shuts a relay. Nothing is kept when a connection
//! ends.

mod carry;
mod hall;
mod records;
pub(crate) mod wire;

use std::io::Write;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::time::Duration;

use comity_core::Result;

use crate::address::{Address, place};
use crate::limits::{Limits, Now};
use crate::relay::carry::{End, Pair};
use crate::relay::hall::{Couple, Hall};
use crate::relay::records::Records;
use crate::relay::wire::{Answer, Knock, Side};
use crate::tcp;

/// The default for the most pairs at once: with two sockets each they fit into the 1,024 files that a process
/// usually has.
pub const PAIRS: usize = 256;

/// The silence after which a pair makes room for another one: parties that have met say four times as often
/// that they are there.
const SILENT: Duration = Duration::from_secs(20);

/// The number of `all` places that one address can have: a quarter, but at least eight of them, or all.
const fn share(all: usize) -> usize {
    const FEW: usize = 8;
    let quarter = all / 4;
    let some = if quarter < FEW { FEW } else { quarter };
    if some < all { some } else { all }
}

/// The host of an address, as far as can be told. In IPv6, whoever has one address has the 64 bits below.
fn host(address: &SocketAddr) -> IpAddr {
    match address.ip().to_canonical() {
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 64 << 64)),
        four => four,
    }
}

/// The rounds after which waiting callers are looked at: most of the time nothing has changed.
const ROUNDS: u32 = 16;

/// A relay's port.
pub struct Relay {
    sockets: Vec<TcpListener>,
    address: SocketAddr,
    pairs: usize,
}

/// Something that happens at a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayEvent {
    /// Two have met.
    Paired {
        /// The addresses that they came from, that of the party with the lower id first.
        peers: [SocketAddr; 2],
        /// The room: a hash. Only who knows the room already can tell who the parties are.
        room: [u8; 32],
    },
    /// A caller was sent away: its address, and why.
    TurnedAway(String),
}

/// The counts of callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of pairs that were carried.
    pub paired: u64,
    /// The number of callers that were sent away.
    pub turned_away: u64,
}

impl Relay {
    /// Listens at `address`, as [`Listener::bind`](crate::Listener::bind) does, for `pairs` pairs at once.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the address does not parse; [`Io`](comity_core::Kind) if the
    /// port is in use.
    pub fn bind(address: &str, pairs: usize) -> Result<Relay> {
        let sockets = tcp::listen(&Address::to_listen(address)?)?;
        let bound = sockets[0].local_addr();
        let address = bound.map_err(|error| comity_core::Error::io(format!("listening at {address}"), error))?;
        Ok(Relay { sockets, address, pairs })
    }

    /// The place where it listens, for people.
    pub fn place(&self) -> String {
        place(&self.address)
    }

    /// The address where it listens, with the port that it got.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Carries until it is stopped, or its time is over; then all connections end.
    ///
    /// # Errors
    /// [`Io`](comity_core::Kind) if the port is lost. No caller can cause that.
    pub fn run(&self, limits: &Limits, tell: &mut dyn FnMut(RelayEvent)) -> Result<Tally> {
        let mut house = House { hall: Hall::default(), pairs: Vec::new(), most: self.pairs, tally: Tally::default() };
        let (mut since, mut round) = (limits.now.get(), 0_u32);
        let ended = loop {
            if limits.check().is_err() {
                break Ok(());
            }
            match tcp::accept(&self.sockets) {
                Ok(Some(stream)) => {
                    if let Some(why) = house.hall.enter(stream, &limits.now) {
                        house.turned_away(why, tell);
                    }
                    since = limits.now.get();
                    // A crowd is heard as it comes.
                    house.hear(&limits.now, tell);
                    continue;
                }
                Ok(None) => {}
                Err(error) => break Err(error),
            }
            if house.hear(&limits.now, tell) {
                since = limits.now.get();
                continue;
            }
            round = round.wrapping_add(1);
            if round.is_multiple_of(ROUNDS) {
                house.tidy(&limits.now, tell);
            }
            tcp::pause(&limits.now, since);
        };
        house.hall.close();
        house.pairs.iter_mut().for_each(|(_, pair)| pair.end());
        ended.map(|()| house.tally)
    }
}

/// The number of a party's bytes that a relay carries, if they begin with an opening; it looks at `together`
/// bytes at a time. Not for users: fuzzing has it in memory.
#[doc(hidden)]
pub fn carried(said: &[u8], together: usize) -> Option<usize> {
    let (opening, behind) = said.split_first_chunk()?;
    let mut records = Records::new(Knock::decode(opening)?.side == Side::Lower);
    Some(behind.chunks(together).take_while(|piece| records.pass(piece)).map(<[u8]>::len).sum())
}

/// All connections of a relay.
struct House {
    hall: Hall,
    /// Each with its addresses.
    pairs: Vec<([SocketAddr; 2], Pair)>,
    most: usize,
    tally: Tally,
}

impl House {
    fn turned_away(&mut self, why: String, tell: &mut dyn FnMut(RelayEvent)) {
        self.tally.turned_away += 1;
        tell(RelayEvent::TurnedAway(why));
    }

    /// Hears the hall; whether there was anything.
    fn hear(&mut self, now: &Now, tell: &mut dyn FnMut(RelayEvent)) -> bool {
        let mut reasons = Vec::new();
        let (couples, busy) = self.hall.hear(now, &mut |why| reasons.push(why));
        reasons.into_iter().for_each(|why| self.turned_away(why, tell));
        couples.into_iter().for_each(|couple| self.pair(couple, now, tell));
        busy
    }

    fn pair(&mut self, couple: Couple, now: &Now, tell: &mut dyn FnMut(RelayEvent)) {
        let Couple { room, ends, peers } = couple;
        if self.pairs.len() >= self.most {
            self.make_room(now, tell);
        }
        let of_host = |peer: &SocketAddr| {
            self.pairs.iter().filter(|(peers, _)| peers.iter().any(|other| host(other) == host(peer))).count()
        };
        let full = self.pairs.len() >= self.most || peers.iter().any(|peer| of_host(peer) >= share(self.most));
        let answer = if full { Answer::Full } else { Answer::Paired }.encode();
        // Whoever is gone is missed by the other one at once.
        ends.iter().for_each(|mut end| _ = end.write(&answer));
        let pair = if full { None } else { Pair::begin(ends, now) };
        match pair {
            Some(pair) => {
                self.pairs.push((peers, pair));
                self.tally.paired += 1;
                tell(RelayEvent::Paired { peers, room });
            }
            None => {
                let [one, other] = peers;
                self.turned_away(format!("{one} and {other} met, and the relay has no room for another pair"), tell);
            }
        }
    }

    /// Ends a pair, if there is one that is over, or the one that has said nothing for the longest time.
    fn make_room(&mut self, now: &Now, tell: &mut dyn FnMut(RelayEvent)) {
        self.tidy(now, tell);
        if self.pairs.len() < self.most {
            return;
        }
        let silences = self.pairs.iter_mut().enumerate().map(|(at, (_, pair))| (pair.silence(now), at));
        if let Some((silence, at)) = silences.max()
            && silence >= SILENT
        {
            let ([one, other], mut pair) = self.pairs.swap_remove(at);
            pair.end();
            let seconds = silence.as_secs();
            self.turned_away(format!("{one} and {other} said nothing for {seconds} s, and made room for others"), tell);
        }
    }

    /// Looks after the waiting callers and the pairs.
    fn tidy(&mut self, now: &Now, tell: &mut dyn FnMut(RelayEvent)) {
        self.hall.tidy(now);
        let mut reasons = Vec::new();
        self.pairs.retain_mut(|([one, other], pair)| match pair.look(now) {
            None => true,
            Some(End::Over) => false,
            Some(End::Foreign) => {
                reasons
                    .push(format!("{one} and {other} sent bytes that are not TLS, and a relay carries nothing else"));
                false
            }
            Some(End::Idle) => {
                reasons.push(format!("{one} and {other} said nothing for too long"));
                false
            }
        });
        reasons.into_iter().for_each(|why| self.turned_away(why, tell));
    }
}
