//! Parties that meet at a relay, and whoever else comes to it. The relay's clock is the tests' own where time counts.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use comity_channel::{Channel, PerPeer};
use comity_core::{Error, Kind, PartyId, Result};
use comity_net::{
    ByRelay, Connection, Digest, Identity, Limits, Now, Relay, RelayEvent, Security, Settings, Stop, SystemRng, Tally,
    connect, meet,
};
use comity_testing::PATIENCE;
#[cfg(target_os = "linux")]
use socket2::{Domain, Socket, Type};

use crate::common::{SOON, greet, hasty, in_time, plain};

/// A relay on a thread of its own, which is stopped in the end.
struct Running {
    address: SocketAddr,
    stop: Stop,
    /// The seconds that its clock shows, if it stands.
    seconds: Arc<AtomicU64>,
    events: Receiver<RelayEvent>,
    thread: Option<JoinHandle<Tally>>,
}

impl Running {
    fn start(pairs: usize) -> Running {
        Running::begin(pairs, Now::default(), Arc::default())
    }

    /// A relay whose clock stands until it is told to go on.
    fn timed() -> Running {
        Running::timed_for(10)
    }

    /// As [`Running::timed`], for `pairs` pairs.
    fn timed_for(pairs: usize) -> Running {
        let (start, seconds) = (Instant::now(), Arc::<AtomicU64>::default());
        let hand = seconds.clone();
        Running::begin(pairs, Now::new(move || start + Duration::from_secs(hand.load(Relaxed))), seconds)
    }

    fn begin(pairs: usize, now: Now, seconds: Arc<AtomicU64>) -> Running {
        let relay = Relay::bind("127.0.0.1:0", pairs).unwrap();
        let (address, stop, (said, events)) = (relay.address(), Stop::default(), mpsc::channel());
        let limits = Limits::new(now, stop.clone());
        let tell = move |event| _ = said.send(event);
        let thread = thread::spawn(move || relay.run(&limits, &mut { tell }).unwrap());
        Running { address, stop, seconds, events, thread: Some(thread) }
    }

    fn at(&self) -> String {
        self.address.to_string()
    }

    fn end(&mut self) -> Tally {
        self.stop.stop();
        self.thread.take().unwrap().join().unwrap()
    }

    /// The next reason for which somebody was sent away.
    fn sends_away(&self) -> String {
        loop {
            if let RelayEvent::TurnedAway(why) = self.events.recv_timeout(PATIENCE).unwrap() {
                return why;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// The settings of the parties of a group, who all meet at a relay.
fn group(parties: u16) -> Vec<Settings> {
    let identities: Vec<Identity> = (0..parties).map(|_| Identity::generate(&mut SystemRng)).collect();
    let one = |me: PartyId| {
        let key = |party: PartyId| identities[usize::from(party.0)].fingerprint();
        let identity = identities[usize::from(me.0)].clone();
        let peers = (0..parties).map(PartyId).filter(|party| *party != me).collect();
        Settings {
            me,
            parties,
            security: Security::Tls { identity, peers: PerPeer::new(me, parties, key) },
            timeout: PATIENCE,
            limits: Limits::default(),
            relay: Some(ByRelay { peers, group: Some(Digest([7; 32])) }),
        }
    };
    (0..parties).map(PartyId).map(one).collect()
}

/// Calls the relay for the only peer.
fn call(own: &Settings, relay: &str) -> Result<Connection> {
    connect(relay, own.me.other(), own, &mut |_| {})
}

/// Both parties of two, met at this relay.
fn two(settings: &[Settings], relay: &str) -> [Connection; 2] {
    thread::scope(|scope| {
        let lower = scope.spawn(|| greet(call(&settings[0], relay), 0).unwrap());
        let higher = greet(call(&settings[1], relay), 1).unwrap();
        [lower.join().unwrap(), higher]
    })
}

/// Something said each way.
fn talk([one, other]: &mut [Connection; 2]) -> Result<()> {
    one.send(b"there").and_then(|()| one.flush())?;
    let mut said = [0; 5];
    other.recv(&mut said)?;
    assert_eq!(&said, b"there");
    other.send(b"and back").and_then(|()| other.flush())?;
    let mut said = [0; 8];
    one.recv(&mut said)?;
    assert_eq!(&said, b"and back");
    Ok(())
}

/// What a party says first to a relay.
fn knock(side: u8, room: u8) -> Vec<u8> {
    [b"comity\0r".as_slice(), &[side], &[room; 32]].concat()
}

/// A connection that has said this.
fn says(to: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = stream.write_all(bytes);
    stream
}

/// All that comes until the end.
fn hears(mut stream: &TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => panic!("it is still open"),
        _ => all,
    }
}

/// The answer of a relay that ends with this byte.
fn answer(code: u8) -> Vec<u8> {
    [b"comity\0R".as_slice(), &[code]].concat()
}

const PAIRED: u8 = 0;
const ALONE: u8 = 1;
const REPLACED: u8 = 2;
const FULL: u8 = 3;
const ENDS: u8 = 4;

/// A pair of raw connections that are carried.
fn carried(relay: &Running, room: u8) -> [TcpStream; 2] {
    let ends = [0, 1].map(|side| says(relay.address, &knock(side, room)));
    for mut end in &ends {
        let mut heard = [0; 9];
        end.read_exact(&mut heard).unwrap();
        assert_eq!(heard.to_vec(), answer(PAIRED));
    }
    ends
}

const HANDSHAKE: [u8; 7] = [22, 3, 1, 0, 2, 1, 0];

fn timed_out(error: &Error) -> String {
    assert!(matches!(error.kind, Kind::TimedOut(_)), "{error:?}");
    error.to_string()
}

#[test]
fn two_meet_and_talk_on_further_connections_too() {
    let mut relay = Running::start(10);
    let settings = group(2);
    let mut ends = two(&settings, &relay.at());
    talk(&mut ends).unwrap();
    let [lower, higher] = &mut ends;
    let mut forks = thread::scope(|scope| {
        let lower = scope.spawn(|| [lower.fork("a").unwrap(), lower.fork("b").unwrap()]);
        let higher = ["a", "b"].map(|label| higher.fork(label).unwrap());
        [lower.join().unwrap(), higher]
    });
    for (label, fork) in (0..).zip(&mut forks[0]) {
        fork.send(&[label]).and_then(|()| fork.flush()).unwrap();
    }
    for label in [1, 0] {
        let mut said = [9];
        forks[1][label].recv(&mut said).unwrap();
        assert_eq!(usize::from(said[0]), label);
    }
    assert_eq!(relay.end(), Tally { paired: 3, turned_away: 0 });
}

#[test]
fn many_meet_in_any_order() {
    let mut relay = Running::start(10);
    let (settings, at) = (group(4), relay.at());
    thread::scope(|scope| {
        for own in settings.iter().rev() {
            let calls: Vec<_> = own.relay.as_ref().unwrap().peers.iter().map(|peer| (*peer, at.clone())).collect();
            scope.spawn(move || {
                let mut links = meet(None, &calls, own, &mut |_| {}).unwrap();
                links
                    .iter_mut()
                    .for_each(|(_, link)| link.send(&[own.me.0 as u8]).and_then(|()| link.flush()).unwrap());
                for (party, link) in links.iter_mut() {
                    let mut said = [0];
                    link.recv(&mut said).unwrap();
                    assert_eq!(u16::from(said[0]), party.0);
                }
                links.iter_mut().for_each(|(_, link)| link.send(&[0]).and_then(|()| link.flush()).unwrap());
                links.iter_mut().for_each(|(_, link)| link.recv(&mut [0]).unwrap());
            });
        }
    });
    assert_eq!(relay.end().paired, 6);
}

#[test]
fn strangers_are_sent_away_and_the_parties_meet() {
    let relay = Running::start(10);
    let settings = group(2);
    for (bytes, word) in [
        (b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".to_vec(), "speaks HTTP"),
        (b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(), "speaks SSH"),
        (vec![0xa5; 3000], "did not open the connection as a party does"),
        (vec![22, 3, 1, 2, 0, 1, 0, 1], "speaks TLS"),
        (knock(2, 1), "did not open the connection as a party does"),
        (b"comity\0e".to_vec(), "did not open the connection as a party does"),
    ] {
        let stranger = says(relay.address, &bytes);
        let said = relay.sends_away();
        assert!(said.contains(word), "{word}: {said}");
        let heard = hears(&stranger);
        assert!(heard.is_empty() || heard.starts_with(b"comity: this is a relay") || heard[0] == 21, "{heard:?}");
    }
    // Far more than are heard at once, who say nothing or stop in the middle.
    let silent: Vec<TcpStream> = (0..200).map(|n| says(relay.address, &knock(0, 5)[..n % 41])).collect();
    talk(&mut two(&settings, &relay.at())).unwrap();
    drop(silent);
}

#[test]
fn a_party_that_takes_a_relay_for_its_peer_is_told() {
    let relay = Running::start(10);
    let own = Settings { relay: None, ..group(2)[1].clone() };
    let error = call(&own, &relay.at()).err().unwrap();
    assert!(error.to_string().contains("to meet there, both parties add --relay"), "{error}");
}

#[test]
fn nothing_but_tls_is_carried() {
    let relay = Running::start(10);
    for (side, bytes) in
        [(0, b"hello, who is there?".to_vec()), (1, vec![23, 3, 3, 0, 1, 0]), (1, vec![21, 3, 3, 0, 2, 2, 40])]
    {
        let ends = carried(&relay, side as u8);
        (&ends[side]).write_all(&bytes).unwrap();
        assert_eq!(hears(&ends[1 - side]), b"", "side {side}");
        hears(&ends[side]);
        assert!(relay.sends_away().contains("not TLS"));
    }
    // The side that hears the handshake may refuse it with an alert; and what follows a handshake has to be
    // TLS as well.
    let ends = carried(&relay, 9);
    let alert = [21, 3, 3, 0, 2, 2, 40];
    (&ends[0]).write_all(&alert).unwrap();
    (&ends[1]).write_all(&HANDSHAKE).unwrap();
    let mut heard = [0; 7];
    (&ends[1]).read_exact(&mut heard).unwrap();
    assert_eq!(heard, alert);
    (&ends[0]).read_exact(&mut heard).unwrap();
    assert_eq!(heard, HANDSHAKE);
    (&ends[1]).write_all(b"plain text").unwrap();
    assert_eq!(hears(&ends[0]), b"");
}

#[test]
fn plain_text_is_not_for_a_relay() {
    let own = Settings { relay: group(2)[0].relay.clone(), ..plain() };
    let error = call(&own, "127.0.0.1:1").err().unwrap();
    assert!(matches!(error.kind, Kind::InvalidInput(_)) && error.to_string().contains("TLS only"), "{error}");
}

#[test]
fn where_no_relay_is_that_is_said() {
    let own = &group(2)[0];
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let error = call(&hasty(own.clone(), SOON), &free).err().unwrap();
    assert!(error.to_string().contains("no relay: nobody listens at"), "{error}");
    for says in [b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(), b"comity: plain text is spoken here\n"] {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap().to_string();
        let error = thread::scope(|scope| {
            scope.spawn(|| {
                let mut caller = other.accept().unwrap().0;
                caller.read_exact(&mut [0; 41]).unwrap();
                caller.write_all(says).unwrap();
            });
            call(own, &address).err().unwrap()
        });
        assert!(matches!(error.kind, Kind::Stranger(_)), "{error:?}");
        assert!(error.to_string().contains("no relay of this version of comity is at"), "{error}");
    }
}

#[test]
fn a_peer_that_never_comes_is_named() {
    let relay = Running::start(10);
    for own in group(2) {
        let other = own.me.other();
        let error = call(&hasty(own, SOON), &relay.at()).err().unwrap();
        assert_eq!(error.party, Some(other));
        let said = timed_out(&error);
        assert!(said.contains(&format!("party {other} did not come to the relay at {}", relay.at())), "{said}");
        assert!(said.contains("same relay, group and keys"), "{said}");
    }
}

/// The first words of a party to a relay: whoever sees them knows the room.
fn overheard(own: &Settings) -> Vec<u8> {
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = relay.local_addr().unwrap().to_string();
    thread::scope(|scope| {
        let heard = scope.spawn(|| {
            let mut said = vec![0; 41];
            relay.accept().unwrap().0.read_exact(&mut said).unwrap();
            drop(relay);
            said
        });
        assert!(call(&hasty(own.clone(), SOON), &address).is_err());
        heard.join().unwrap()
    })
}

#[test]
fn rooms_are_of_a_group_and_a_pair() {
    let settings = group(3);
    let said = |own: &Settings, group: Option<Digest>, peer: u16| {
        let own =
            Settings { timeout: SOON, relay: own.relay.clone().map(|relay| ByRelay { group, ..relay }), ..own.clone() };
        let relay = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = relay.local_addr().unwrap().to_string();
        thread::scope(|scope| {
            scope.spawn(|| assert!(connect(&address, PartyId(peer), &own, &mut |_| {}).is_err()));
            let mut said = vec![0; 41];
            relay.accept().unwrap().0.read_exact(&mut said).unwrap();
            drop(relay);
            said
        })
    };
    let [one, other] = [Some(Digest([1; 32])), Some(Digest([2; 32]))];
    let first = said(&settings[0], one, 1);
    assert_eq!(first[8], 0);
    assert_eq!(said(&settings[1], one, 0), [&first[..8], &[1], &first[9..]].concat(), "the same room, the other side");
    for different in [said(&settings[0], other, 1), said(&settings[0], None, 1), said(&settings[0], one, 2)] {
        assert_ne!(different[9..], first[9..]);
    }
    assert_ne!(said(&group(3)[0], one, 1)[9..], first[9..], "other keys");
}

#[test]
fn somebody_else_in_the_room_ends_no_wait() {
    let relay = Running::start(10);
    let settings = group(2);
    let room = overheard(&settings[0])[9..].to_vec();
    let [lower, higher] = [0, 1].map(|side| [b"comity\0r".as_slice(), &[side], &room].concat());
    let at = relay.at();
    let mut ends = thread::scope(|scope| {
        let waits = scope.spawn(|| greet(call(&settings[0], &at), 0).unwrap());
        // One who says no TLS, and one who has another key.
        let stranger = says(relay.address, &higher);
        (&stranger).read_exact(&mut [0; 9]).unwrap();
        (&stranger).write_all(b"let me in").unwrap();
        hears(&stranger);
        let mallory = says(relay.address, &higher);
        (&mallory).read_exact(&mut [0; 9]).unwrap();
        (&mallory).write_all(&HANDSHAKE).unwrap();
        hears(&mallory);
        let comes = greet(call(&settings[1], &relay.at()), 1).unwrap();
        [waits.join().unwrap(), comes]
    });
    talk(&mut ends).unwrap();
    // And at the other side, where TLS begins.
    let mut ends = thread::scope(|scope| {
        let waits = scope.spawn(|| greet(call(&settings[1], &at), 1).unwrap());
        let mallory = says(relay.address, &lower);
        (&mallory).read_exact(&mut [0; 9]).unwrap();
        drop(mallory);
        let comes = greet(call(&settings[0], &relay.at()), 0).unwrap();
        [comes, waits.join().unwrap()]
    });
    talk(&mut ends).unwrap();
}

#[test]
fn a_taken_place_is_the_later_ones() {
    let relay = Running::start(10);
    let first = says(relay.address, &knock(0, 3));
    let second = says(relay.address, &knock(0, 3));
    assert_eq!(hears(&first), answer(REPLACED));
    let third = says(relay.address, &knock(1, 3));
    for mut end in [&second, &third] {
        let mut heard = [0; 9];
        end.read_exact(&mut heard).unwrap();
        assert_eq!(heard.to_vec(), answer(PAIRED));
    }
    assert!(relay.sends_away().contains("was replaced by"));
    // A party that is replaced again and again says so in the end.
    let settings = group(2);
    let taken = overheard(&settings[0]);
    let (said, _) = in_time(|timeout| {
        let own = hasty(settings[0].clone(), timeout);
        let over = Mutex::new(false);
        let said = thread::scope(|scope| {
            scope.spawn(|| {
                while !*over.lock().unwrap() {
                    let other = says(relay.address, &taken);
                    thread::yield_now();
                    drop(other);
                }
            });
            let error = call(&own, &relay.at()).err().unwrap();
            *over.lock().unwrap() = true;
            timed_out(&error)
        });
        said.contains("gave this party's place to another connection").then_some(said)
    });
    assert!(said.contains("runs twice"), "{said}");
}

#[test]
fn who_is_gone_has_no_place() {
    let relay = Running::start(10);
    let gone = says(relay.address, &knock(0, 4));
    let early = says(relay.address, &[knock(0, 6), vec![22]].concat());
    drop(gone);
    assert_eq!(hears(&early), b"", "nobody speaks before the other is there");
    let alone = says(relay.address, &knock(1, 4));
    let other = says(relay.address, &knock(0, 4));
    for mut end in [&alone, &other] {
        let mut heard = [0; 9];
        end.read_exact(&mut heard).unwrap();
        assert_eq!(heard.to_vec(), answer(PAIRED));
    }
}

#[test]
fn a_full_relay_says_so() {
    let relay = Running::start(1);
    let settings = group(2);
    let mut ends = two(&settings, &relay.at());
    let refused = [0, 1].map(|side| says(relay.address, &knock(side, 1)));
    refused.iter().for_each(|end| assert_eq!(hears(end), answer(FULL)));
    let (more, at) = (group(2), relay.at());
    let (said, _) = in_time(|timeout| {
        thread::scope(|scope| {
            let one = scope.spawn(|| call(&hasty(more[0].clone(), timeout), &at).err().unwrap());
            let other = call(&hasty(more[1].clone(), timeout), &relay.at()).err().unwrap();
            [one.join().unwrap(), other]
                .map(|error| timed_out(&error))
                .into_iter()
                .find(|said| said.contains("no room"))
        })
    });
    assert!(said.contains("the relay at"), "{said}");
    talk(&mut ends).unwrap();
    // When the pair is over there is room again.
    drop(ends);
    talk(&mut two(&more, &relay.at())).unwrap();
}

#[test]
fn crowds_that_wait_make_room_for_others() {
    let relay = Running::start(10);
    let crowd: Vec<TcpStream> = (0..300_u32)
        .map(|n| says(relay.address, &[b"comity\0r\0".as_slice(), &n.to_le_bytes(), &[1; 28]].concat()))
        .collect();
    // A quarter of the places is for one host.
    for _ in 0..(300 - 64) {
        assert!(relay.sends_away().contains("made room for others that wait"));
    }
    assert_eq!(hears(&crowd[0]), answer(FULL));
    talk(&mut two(&group(2), &relay.at())).unwrap();
}

/// One host has a share of the places, and all others are there for others: with its 512 sockets it could
/// carry nothing but itself.
#[cfg(target_os = "linux")]
#[test]
fn one_host_does_not_shut_a_relay() {
    let relay = Running::start(256);
    let come = |bytes: &[u8]| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 2], 0)).into()).unwrap();
        socket.connect(&relay.address.into()).unwrap();
        let mut stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    let (mut carried, mut refused) = (Vec::new(), 0);
    for pair in 0..256_u32 {
        let room = [&pair.to_le_bytes()[..], &[9; 28]].concat();
        let ends = [0, 1].map(|side| come(&[b"comity\0r".as_slice(), &[side], &room].concat()));
        let mut heard = [[0; 9]; 2];
        ends.iter().zip(&mut heard).for_each(|(mut end, heard)| end.read_exact(heard).unwrap());
        match heard.iter().all(|heard| heard[..] == answer(PAIRED)) {
            true => carried.push(ends),
            false => refused += 1,
        }
    }
    assert_eq!((carried.len(), refused), (64, 192));
    // Nor by connections that say nothing, or wait.
    let silent: Vec<TcpStream> = (0..300).map(|_| come(b"comity")).collect();
    let waiting: Vec<TcpStream> =
        (0..300_u32).map(|n| come(&[b"comity\0r\0".as_slice(), &n.to_le_bytes(), &[1; 28]].concat())).collect();
    let honest = says(relay.address, &knock(0, 5));
    talk(&mut two(&group(2), &relay.at())).unwrap();
    let _other = says(relay.address, &knock(1, 5));
    let mut heard = [0; 9];
    (&honest).read_exact(&mut heard).unwrap();
    assert_eq!(heard[..], answer(PAIRED), "it was not pushed out while it waited");
    drop((silent, waiting));
}

#[test]
fn a_silent_pair_makes_room_for_another_one() {
    let relay = Running::timed_for(1);
    let [one, other] = carried(&relay, 1);
    for (from, to) in [(&one, &other), (&other, &one)] {
        (&*from).write_all(&HANDSHAKE).unwrap();
        (&*to).read_exact(&mut [0; 7]).unwrap();
    }
    let more = |room| [0, 1].map(|side| says(relay.address, &knock(side, room)));
    // It is silent from the moment when nothing more is seen of it.
    for seconds in [0, 19] {
        relay.seconds.fetch_add(seconds, Relaxed);
        more(2).iter().for_each(|end| assert_eq!(hears(end), answer(FULL)));
    }
    relay.seconds.fetch_add(1, Relaxed);
    let ends = more(3);
    for mut end in &ends {
        let mut heard = [0; 9];
        end.read_exact(&mut heard).unwrap();
        assert_eq!(heard[..], answer(PAIRED));
    }
    assert!(hears(&one).is_empty() && hears(&other).is_empty());
    while !relay.sends_away().contains("said nothing for 20 s, and made room for others") {}
}

#[test]
fn a_relay_that_is_stopped_ends_in_order() {
    let mut relay = Running::start(10);
    let settings = group(2);
    let mut ends = two(&settings, &relay.at());
    talk(&mut ends).unwrap();
    let waits = says(relay.address, &knock(0, 8));
    // It has been heard when a later one takes its place.
    let later = says(relay.address, &knock(0, 8));
    assert_eq!(hears(&waits), answer(REPLACED));
    assert_eq!(relay.end().paired, 1);
    assert_eq!(hears(&later), answer(ENDS));
    for end in &mut ends {
        assert!(matches!(end.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    }
    // Those who wait when the relay ends go on calling, until their time is over.
    let error = call(&hasty(settings[0].clone(), SOON), &relay.at()).err().unwrap();
    assert!(error.to_string().contains("no relay: nobody listens at"), "{error}");
}

/// Lets the relay's time pass until somebody has heard the end.
fn until_end(relay: &Running, streams: &[&TcpStream]) -> Vec<Vec<u8>> {
    thread::scope(|scope| {
        let ends: Vec<_> = streams.iter().map(|stream| scope.spawn(|| hears(stream))).collect();
        while !ends.iter().all(|end| end.is_finished()) {
            relay.seconds.fetch_add(1, Relaxed);
            thread::yield_now();
        }
        ends.into_iter().map(|end| end.join().unwrap()).collect()
    })
}

#[test]
fn time_bounds_an_opening_a_wait_and_a_pair() {
    let relay = Running::timed();
    let silent = says(relay.address, b"comity");
    until_end(&relay, &[&silent]);
    assert!(relay.sends_away().contains("did not say what it wants for 10 s"));
    let waits = says(relay.address, &knock(0, 1));
    assert_eq!(until_end(&relay, &[&waits]), [answer(ALONE)]);
    // Two that begin no TLS, and two that said something once.
    let [one, other] = carried(&relay, 2);
    until_end(&relay, &[&one, &other]);
    assert!(relay.sends_away().contains("said nothing for too long"));
    let [one, other] = carried(&relay, 3);
    (&one).write_all(&HANDSHAKE).unwrap();
    (&other).write_all(&HANDSHAKE).unwrap();
    let heard = until_end(&relay, &[&one, &other]);
    assert_eq!(heard, [HANDSHAKE, HANDSHAKE]);
}

#[test]
fn a_pair_that_talks_is_carried_for_hours() {
    let relay = Running::timed();
    let [one, other] = carried(&relay, 1);
    for (from, to) in [(&one, &other), (&other, &one)].into_iter().cycle().take(200) {
        (&*from).write_all(&HANDSHAKE).unwrap();
        (&*to).read_exact(&mut [0; 7]).unwrap();
        relay.seconds.fetch_add(100, Relaxed);
    }
}
