//! Two parties and more meet, in whatever order they come, and whoever else comes to their ports.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;

use crate::common::{SOON, call, greet, hasty, in_time, plain, secure, tls};
use comity_channel::hello::{Refusal, farewell};
use comity_channel::{Channel, PerPeer};
use comity_core::{Kind, PartyId};
use comity_net::{
    Connection, Event, Fingerprint, Identity, Limits, Listener, Security, Settings, SystemRng, connect, meet,
};
use comity_testing::PATIENCE;

/// The settings of each of `parties` parties.
fn group(parties: u16, tls: bool) -> Vec<Settings> {
    let identities: Vec<Identity> = (0..parties).map(|_| Identity::generate(&mut SystemRng)).collect();
    let security = |me: u16| match tls {
        false => Security::Plain { anywhere: false },
        true => Security::Tls { identity: identities[usize::from(me)].clone(), peers: keys(me, &identities) },
    };
    (0..parties)
        .map(|me| Settings {
            me: PartyId(me),
            parties,
            security: security(me),
            timeout: PATIENCE,
            limits: Limits::default(),
            relay: None,
        })
        .collect()
}

fn keys(me: u16, identities: &[Identity]) -> PerPeer<Fingerprint> {
    PerPeer::new(PartyId(me), identities.len() as u16, |party| identities[usize::from(party.0)].fingerprint())
}

/// Each party's listener, and the addresses of those whom it calls: of each pair the lower id listens.
fn places(group: &[Settings]) -> Vec<(Listener, Vec<(PartyId, String)>)> {
    let listeners: Vec<Listener> = group.iter().map(|own| Listener::bind("127.0.0.1:0", own).unwrap()).collect();
    let addresses: Vec<String> = listeners.iter().map(|listener| listener.address().to_string()).collect();
    let lower = |me: usize| (0..me).map(|party| (PartyId(party as u16), addresses[party].clone())).collect();
    listeners.into_iter().enumerate().map(|(me, listener)| (listener, lower(me))).collect()
}

/// Each party says to each other one who it is.
fn introduce(mut links: PerPeer<Connection>) {
    let me = links.me();
    for (party, link) in links.iter_mut() {
        assert_eq!(link.party(), party);
        link.send(&me.0.to_le_bytes()).and_then(|()| link.flush()).unwrap();
    }
    for (party, link) in links.iter_mut() {
        let mut said = [0; 2];
        link.recv(&mut said).unwrap();
        assert_eq!(u16::from_le_bytes(said), party.0);
    }
    // Nobody leaves before all have read.
    links.iter_mut().for_each(|(_, link)| link.send(&[0]).and_then(|()| link.flush()).unwrap());
    links.iter_mut().for_each(|(_, link)| link.recv(&mut [0]).unwrap());
}

#[test]
fn all_parties_meet_in_any_order() {
    for (parties, tls) in [(2, false), (2, true), (3, false), (5, true), (9, false)] {
        let group = group(parties, tls);
        let places = places(&group);
        thread::scope(|scope| {
            // Some come before the others wait for anybody.
            for (own, (listener, at)) in group.iter().zip(&places).rev() {
                scope.spawn(move || introduce(meet(Some(listener), at, own, &mut |_| {}).unwrap()));
            }
        });
    }
}

/// The wait of one of two for the other, while `stranger` does what it likes. What the wait says of it; the
/// peer comes after that.
fn wait_among(settings: [Settings; 2], strangers: usize, stranger: impl FnOnce(&str) + Send) -> Vec<String> {
    let listener = Listener::bind("127.0.0.1:0", &settings[0]).unwrap();
    let address = listener.address().to_string();
    let (said, heard) = mpsc::channel();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let said = said;
            let tell = &mut |event: Event<'_>| {
                if let Event::TurnedAway(why) = event {
                    said.send(why.to_string()).unwrap();
                }
            };
            greet(listener.accept(tell), 0).map(drop)
        });
        let (done, end) = mpsc::channel::<()>();
        let address = address.as_str();
        scope.spawn(move || {
            stranger(address);
            drop(done);
        });
        let all: Vec<String> = (0..strangers).map(|_| heard.recv_timeout(PATIENCE).unwrap()).collect();
        greet(call(address, &settings[1]), 1).unwrap();
        waiting.join().unwrap().unwrap();
        let _ = end.recv();
        all
    })
}

/// Says these bytes, and reads until it is turned away.
fn says(address: &str, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    // Whoever listens may have heard enough before all is said.
    let _ = stream.write_all(bytes);
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn strangers_end_no_wait() {
    for settings in [[plain(), plain()], tls()] {
        let said = wait_among(settings.clone(), 3, |address| {
            says(address, b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
            says(address, b"SSH-2.0-OpenSSH_9.9 and more\r\n");
            says(address, &[0xa5; 1000]);
        });
        // In any order: a stranger is gone before it is told of.
        assert!(["HTTP", "SSH"].iter().all(|name| said.iter().any(|said| said.contains(name))), "{said:?}");
    }
}

#[test]
fn a_thousand_silent_strangers_keep_nobody_waiting() {
    for settings in [[plain(), plain()], tls()] {
        let listener = Listener::bind("127.0.0.1:0", &settings[0]).unwrap();
        let address = listener.address();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| greet(listener.accept(&mut |_| {}), 0).map(drop));
            let silent: Vec<_> = (0..1000).map_while(|_| TcpStream::connect(address).ok()).collect();
            assert!(silent.len() > 100, "strangers have no room on this machine");
            greet(call(&address.to_string(), &settings[1]), 1).unwrap();
            waiting.join().unwrap().unwrap();
        });
    }
}

#[test]
fn who_has_another_key_is_no_peer() {
    let [own, peer, eve] = [(); 3].map(|()| Identity::generate(&mut SystemRng));
    let settings = [secure(0, &own, peer.fingerprint()), secure(1, &peer, own.fingerprint())];
    let said = wait_among(settings, 1, |address| {
        let refused = greet(call(address, &secure(1, &eve, own.fingerprint())), 1).err().unwrap();
        assert!(matches!(&refused.kind, Kind::Untrusted(text) if text.contains("does not trust")), "{refused}");
    });
    assert!(said[0].contains(&eve.fingerprint().to_string()), "{said:?}");
}

#[test]
fn plain_text_at_a_tls_port_is_turned_away() {
    let [listening, calling] = tls();
    let said = wait_among([listening, calling], 1, |address| {
        let refused = greet(call(address, &plain()), 1).err().unwrap();
        assert!(matches!(refused.kind, Kind::Stranger(_)), "{refused}");
    });
    assert!(said[0].contains("plain text"), "{said:?}");
}

/// What somebody hears who calls party 0 of three as party `me`, to reach party `to`, while it waits.
fn answer(me: u16, to: u16) -> Vec<u8> {
    let group = group(3, false);
    let listener = Listener::bind("127.0.0.1:0", &group[0]).unwrap();
    let address = listener.address().to_string();
    let calling = Settings { me: PartyId(me), parties: 9, ..group[0].clone() };
    // Longer than any call takes on this machine, since the wait ends by its time-out.
    let (heard, _) = in_time(|timeout| {
        thread::scope(|scope| {
            let waiting = scope.spawn(|| meet(Some(&listener), &[], &hasty(group[0].clone(), timeout), &mut |_| {}));
            let mut heard = vec![0; farewell(Refusal::NotExpected, PartyId(0), 3).len()];
            let link = connect(&address, PartyId(to), &calling, &mut |_| {});
            let read = link.and_then(|mut link| link.recv(&mut heard));
            let error = waiting.join().unwrap().err().unwrap();
            assert!(matches!(&error.kind, Kind::TimedOut(text) if text.contains("parties 1 and 2")), "{error}");
            read.is_ok().then_some(heard)
        })
    });
    heard
}

#[test]
fn who_is_not_expected_is_told_so() {
    // Another party is looked for; there is no such party; it says that it is the one that it calls.
    for (me, to) in [(1, 2), (3, 0), (8, 1)] {
        assert_eq!(answer(me, to), farewell(Refusal::NotExpected, PartyId(0), 3), "party {me} to {to}");
    }
}

#[test]
fn of_two_with_one_id_the_later_one_counts() {
    let group = group(3, false);
    let listener = Listener::bind("127.0.0.1:0", &group[0]).unwrap();
    let address = listener.address().to_string();
    thread::scope(|scope| {
        let (came, come) = mpsc::channel();
        let (listener, own) = (&listener, &group[0]);
        let waiting = scope.spawn(move || {
            let tell = &mut |event: Event<'_>| {
                if let Event::Waiting(missing) = event {
                    came.send(missing.len()).unwrap();
                }
            };
            meet(Some(listener), &[], own, tell)
        });
        let call = |me: u16| connect(&address, PartyId(0), &group[usize::from(me)], &mut |_| {}).unwrap();
        let mut first = call(1);
        while come.recv_timeout(PATIENCE).unwrap() > 1 {}
        let mut again = call(1);
        let mut heard = vec![0; farewell(Refusal::CameAgain, PartyId(0), 3).len()];
        first.recv(&mut heard).unwrap();
        assert_eq!(heard, farewell(Refusal::CameAgain, PartyId(0), 3));
        again.send(b"I am").and_then(|()| again.flush()).unwrap();
        let _last = call(2);
        let mut met = waiting.join().unwrap().unwrap();
        let mut said = [0; 4];
        met[PartyId(1)].recv(&mut said).unwrap();
        assert_eq!(&said, b"I am");
    });
}

#[test]
fn a_key_is_its_partys_alone() {
    let identities: Vec<Identity> = (0..3).map(|_| Identity::generate(&mut SystemRng)).collect();
    let settings = |me: u16, key: usize| {
        let security = Security::Tls { identity: identities[key].clone(), peers: keys(me, &identities) };
        Settings { me: PartyId(me), parties: 3, security, timeout: PATIENCE, limits: Limits::default(), relay: None }
    };
    let own = settings(0, 0);
    let listener = Listener::bind("127.0.0.1:0", &own).unwrap();
    let address = listener.address().to_string();
    thread::scope(|scope| {
        let (turned, away) = mpsc::channel();
        let (listener, own) = (&listener, &own);
        let waiting = scope.spawn(move || {
            let tell = &mut |event: Event<'_>| {
                if let Event::TurnedAway(why) = event {
                    turned.send((why.to_string(), matches!(why.kind, Kind::Untrusted(_)))).unwrap();
                }
            };
            meet(Some(listener), &[], own, tell)
        });
        let call = |me: u16, key: usize| connect(&address, PartyId(0), &settings(me, key), &mut |_| {}).unwrap();
        // Party 2's key is proved, and party 1's place asked for.
        let mut liar = call(1, 2);
        let (why, untrusted) = away.recv_timeout(PATIENCE).unwrap();
        assert!(untrusted && why.contains("says that it is party 1, but its key belongs to party 2"), "{why}");
        assert!(liar.recv(&mut [0]).is_err());
        let _others = [call(2, 2), call(1, 1)];
        assert!(waiting.join().unwrap().is_ok());
    });
}

#[test]
fn who_is_missing_is_named() {
    let group = group(4, false);
    let listener = Listener::bind("127.0.0.1:0", &group[1]).unwrap();
    // Nobody listens where party 0 should; parties 2 and 3 would have to come.
    let nobody = Listener::bind("127.0.0.1:0", &group[0]).unwrap().address().to_string();
    let mut waits = Vec::new();
    let tell = &mut |event: Event<'_>| {
        if let Event::Waiting(missing) = event {
            waits.push(missing.to_vec());
        }
    };
    let at = [(PartyId(0), nobody.clone())];
    let error = meet(Some(&listener), &at, &hasty(group[1].clone(), SOON), tell).err().unwrap();
    assert!(matches!(&error.kind, Kind::TimedOut(text) if text.contains("parties 0, 2 and 3")), "{error}");
    assert_eq!(waits, [[0, 2, 3].map(PartyId)]);
    // Without a listener nobody can come.
    let error = meet(None, &at, &group[1], &mut |_| {}).err().unwrap();
    assert!(matches!(&error.kind, Kind::InvalidInput(text) if text.contains("where is party 2")), "{error}");
}

#[test]
fn another_key_where_a_party_was_called_is_told_at_once() {
    let (group, other) = (group(3, true), group(3, true));
    let listener = Listener::bind("127.0.0.1:0", &other[0]).unwrap();
    let at = [(PartyId(0), listener.address().to_string())];
    let own = Listener::bind("127.0.0.1:0", &group[1]).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| listener.next().err().unwrap());
        let error = meet(Some(&own), &at, &group[1], &mut |_| {}).err().unwrap();
        assert!(matches!(error.kind, Kind::Untrusted(_)), "{error}");
        assert_eq!(error.party, Some(PartyId(0)));
        assert!(matches!(waiting.join().unwrap().kind, Kind::Untrusted(_)));
    });
}
