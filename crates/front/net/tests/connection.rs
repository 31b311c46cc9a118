//! Connections over real loopback sockets: what they carry, and what each kind of trouble is called on both sides.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{SOON, call, calling, greet, hasty, in_time, meet, plain, secure, settings, tls};
use comity_channel::hello::{Refusal, farewell};
use comity_channel::{AHEAD, Channel, Error, Result};
use comity_core::{Kind, PartyId};
use comity_net::{Connection, Identity, Listener, Security, Settings, SystemRng, connect, settle};
use comity_testing::check_channels;

#[test]
fn plain_connections_are_channels() {
    let (accepted, connected) = meet(&plain(), &plain());
    check_channels(&mut accepted.unwrap(), Box::new(connected.unwrap()), 64 << 20);
    let (accepted, connected) = meet(&plain(), &plain());
    check_channels(&mut connected.unwrap(), Box::new(accepted.unwrap()), 1 << 20);
}

#[test]
fn tls_connections_are_channels() {
    let [a, b] = tls();
    let (accepted, connected) = meet(&a, &b);
    check_channels(&mut accepted.unwrap(), Box::new(connected.unwrap()), 64 << 20);
    let (accepted, connected) = meet(&a, &b);
    check_channels(&mut connected.unwrap(), Box::new(accepted.unwrap()), 1 << 20);
}

/// What one side says last comes, though the other one is busy with what was before it, and has said
/// something that is never read: to close then would reset the connection.
#[test]
fn what_is_said_last_comes_though_the_connection_is_dropped() {
    let [a, b] = tls();
    for (one, other) in [(plain(), plain()), (a, b)] {
        let (one, other) = meet(&one, &other);
        let (mut one, mut other) = (one.unwrap(), other.unwrap());
        other.send(&[1]).and_then(|()| other.flush()).unwrap();
        let sent = thread::spawn(move || one.send(&vec![7; 16 << 20]).and_then(|()| one.flush()));
        // As long as it takes until it is dropped there.
        let (mut piece, mut left) = (vec![0; 64 << 10], 256);
        while left > 0 {
            if !sent.is_finished() {
                thread::sleep(Duration::from_millis(1));
            }
            other.recv(&mut piece).unwrap();
            left -= 1;
        }
        sent.join().unwrap().unwrap();
    }
    settle();
}

/// Connects two parties and lets them say hello; how that ended on each side.
fn meet_and_greet(listening: &Settings, connecting: &Settings) -> [Result<Connection>; 2] {
    let listener = Listener::bind("127.0.0.1:0", listening).unwrap();
    let address = listener.address().to_string();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| greet(listener.next(), 0));
        let connected = greet(call(&address, connecting), 1);
        [accepted.join().unwrap(), connected]
    })
}

/// As [`meet`], if both have said hello in time.
fn greeted(listening: &Settings, connecting: &Settings) -> Option<[Connection; 2]> {
    let [here, there] = meet_and_greet(listening, connecting);
    Some([here.ok()?, there.ok()?])
}

/// A port where nobody listens.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn nobody_listening_is_told() {
    let address = free_address();
    let mut told = Vec::new();
    let result = connect(&address, PartyId(0), &calling(&hasty(plain(), SOON)), &mut |text| told.push(text.to_owned()));
    let said = result.err().unwrap();
    assert!(matches!(said, Error { kind: Kind::Io { .. }, .. }), "{said}");
    assert!(said.to_string().starts_with(&format!("nobody listens at {address} (tried for 0.1 s)")), "{said}");
    assert_eq!(told, [format!("waiting for the peer at {address}")]);
}

#[test]
fn a_peer_that_comes_late_is_waited_for() {
    let address = free_address();
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let connected = scope.spawn(|| {
            let mut say = move |text: &str| tell.send(text.to_owned()).unwrap();
            greet(connect(&address, PartyId(0), &calling(&plain()), &mut say), 1)
        });
        // It has called in vain.
        assert_eq!(told.recv().unwrap(), format!("waiting for the peer at {address}"));
        let listener = Listener::bind(&address, &plain()).unwrap();
        greet(listener.next(), 0).unwrap();
        connected.join().unwrap().unwrap();
    });
}

#[test]
fn who_only_knocks_is_no_peer() {
    for settings in [[plain(), plain()], tls()] {
        let listener = Listener::bind("127.0.0.1:0", &settings[0]).unwrap();
        let address = listener.address().to_string();
        for reset in [false, true] {
            let knock = TcpStream::connect(&address).unwrap();
            if reset {
                socket2::SockRef::from(&knock).set_linger(Some(Duration::ZERO)).unwrap();
            }
        }
        thread::scope(|scope| {
            let connected = scope.spawn(|| greet(call(&address, &settings[1]), 1));
            greet(listener.next(), 0).unwrap();
            connected.join().unwrap().unwrap();
        });
    }
}

#[test]
fn nobody_connecting_is_told() {
    let listener = Listener::bind("127.0.0.1:0", &hasty(plain(), SOON)).unwrap();
    let mut told = Vec::new();
    let said = listener.accept(&mut |event| told.push(format!("{event:?}"))).err().unwrap();
    assert!(matches!(said, Error { kind: Kind::TimedOut(_), .. }), "{said}");
    assert!(said.to_string().contains(&listener.address().to_string()), "{said}");
    assert_eq!(told, ["Waiting([PartyId(1)])"]);
}

#[test]
fn a_port_in_use_is_told() {
    let first = Listener::bind("127.0.0.1:0", &plain()).unwrap();
    let address = first.address().to_string();
    let said = Listener::bind(&address, &plain()).err().unwrap().to_string();
    assert!(said.contains(&address) && said.contains("in use"), "{said}");
}

#[test]
fn plain_text_stays_on_this_machine() {
    // 192.0.2.0/24 is for documentation: nobody is there, and nobody must be asked.
    for result in [
        call("192.0.2.1:7000", &plain()).map(|_| ()),
        Listener::bind("0.0.0.0:0", &plain()).map(|_| ()),
        Listener::bind("[::]:0", &plain()).map(|_| ()),
    ] {
        match result {
            Err(Error { kind: Kind::InvalidInput(said), .. }) => {
                assert!(said.contains("--tls") && said.contains("--plaintext"), "{said}")
            }
            other => panic!("{other:?}"),
        }
    }
    Listener::bind("0.0.0.0:0", &settings(0, Security::Plain { anywhere: true })).unwrap();
    Listener::bind("0.0.0.0:0", &tls()[0]).unwrap();
}

fn untrusted(result: Result<Connection>) -> String {
    match result {
        Err(Error { kind: Kind::Untrusted(said), .. }) => said,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a wrong key was trusted"),
    }
}

#[test]
fn a_wrong_key_is_told_on_both_sides() {
    let [right, peer, other] = [(); 3].map(|()| Identity::generate(&mut SystemRng));
    let security = |own: &Identity, trusted: &Identity| secure(0, own, trusted.fingerprint());
    let [right_key, peer_key, other_key] = [&right, &peer, &other].map(|key| key.fingerprint().to_string());
    // The side that trusts the wrong key names both; the other one learns that its own is not trusted.
    let [here, there] = meet_and_greet(&security(&right, &other), &security(&peer, &right)).map(untrusted);
    assert!(here.contains(&format!("expected {other_key}, presented {peer_key}")), "{here}");
    assert!(there.contains("does not trust") && there.contains(&peer_key), "{there}");
    let [here, there] = meet_and_greet(&security(&right, &peer), &security(&peer, &other)).map(untrusted);
    assert!(here.contains("does not trust") && here.contains(&right_key), "{here}");
    assert!(there.contains(&format!("expected {other_key}, presented {right_key}")), "{there}");
    for result in meet_and_greet(&security(&right, &peer), &security(&peer, &right)) {
        result.unwrap();
    }
}

fn no_comity(result: Result<Connection>) -> String {
    match result {
        Err(Error { kind: Kind::Stranger(said), .. }) => said,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("that was not comity"),
    }
}

#[test]
fn tls_against_plain_text_is_told_on_both_sides() {
    let [secure, _] = tls();
    for [listening, connecting] in [[&secure, &plain()], [&plain(), &secure]] {
        for said in meet_and_greet(listening, connecting).map(no_comity) {
            assert!(said.contains("TLS") && said.contains("plain text on both"), "{said}");
        }
    }
}

/// Sends bytes to a listener from a socket that is not comity's; returns what the listener says.
fn stranger(settings: &Settings, bytes: &[u8]) -> Error {
    let listener = Listener::bind("127.0.0.1:0", settings).unwrap();
    // Before anybody waits for it.
    let mut stream = TcpStream::connect(listener.address()).unwrap();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| listener.next().err().unwrap());
        // The listener may have heard enough, and have gone.
        let _ = stream.write_all(bytes);
        accepted.join().unwrap()
    })
}

#[test]
fn strangers_are_told() {
    let [secure, _] = tls();
    for settings in [plain(), secure.clone()] {
        let said = stranger(&settings, b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
        assert!(matches!(&said, Error { kind: Kind::Stranger(text), .. } if text.contains("HTTP")), "{said}");
        let said = stranger(&settings, b"SSH-2.0-OpenSSH_9.9 and more\r\n");
        assert!(matches!(&said, Error { kind: Kind::Stranger(text), .. } if text.contains("SSH")), "{said}");
        let said = stranger(&settings, &[0xa5; 1000]);
        assert!(matches!(said, Error { kind: Kind::Stranger(_), .. }), "{said}");
        // A peer that connects and says nothing, and one that stops in its first word.
        for begun in [&b""[..], b"\x16\x03"] {
            let said = stranger(&hasty(settings.clone(), SOON), begun);
            assert!(matches!(said, Error { kind: Kind::TimedOut(_), .. }), "{said}");
        }
    }
    // A record that claims more than TLS allows.
    let said = stranger(&secure, &[22, 3, 1, 0xff, 0xff].iter().copied().chain([0; 70_000]).collect::<Vec<_>>());
    assert!(matches!(said, Error { kind: Kind::Untrusted(_), .. }), "{said}");
}

#[test]
fn what_is_not_comity_is_told_to_who_connects() {
    let [secure, _] = tls();
    for settings in [plain(), secure] {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap().to_string();
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = server.accept().unwrap();
                let mut scratch = [0; 16];
                stream.read_exact(&mut scratch).unwrap();
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
                let _ = stream.shutdown(std::net::Shutdown::Write);
                while matches!(stream.read(&mut scratch), Ok(1..)) {}
            });
            let said = no_comity(greet(call(&address, &settings), 1));
            assert!(said.contains("HTTP"), "{said}");
        });
    }
}

#[test]
fn a_lost_peer_is_told_in_the_middle() {
    for [a, b] in [[plain(), plain()], tls()] {
        let [mut here, mut there] = meet_and_greet(&a, &b).map(Result::unwrap);
        there.send(&[7; 1000]).and_then(|()| there.flush()).unwrap();
        here.recv(&mut [0; 10]).unwrap();
        drop(there);
        assert!(matches!(here.recv(&mut [0; 1000]), Err(Error { kind: Kind::Closed, .. })));
        // And again, without waiting.
        assert!(matches!(here.recv(&mut [0; 1]), Err(Error { kind: Kind::Closed, .. })));
        let sent = (0..100).try_for_each(|_| here.send(&[0; 100_000]));
        assert!(matches!(sent, Err(Error { kind: Kind::Closed, .. })), "{sent:?}");
    }
}

#[test]
fn what_is_posted_does_not_hold_back_who_leaves() {
    const POSTED: usize = 64 << 20;
    for [a, b] in [[plain(), plain()], tls()] {
        let [mut here, mut there] = meet_and_greet(&a, &b).map(Result::unwrap);
        // More than any socket takes, to a peer that does not receive: whoever leaves gives it up.
        there.post(&vec![7; POSTED]).unwrap();
        drop(there);
        assert!(matches!(here.recv(&mut vec![0; POSTED]), Err(Error { kind: Kind::Closed, .. })));
        // What was flushed has gone.
        let [mut here, mut there] = meet_and_greet(&a, &b).map(Result::unwrap);
        thread::scope(|scope| {
            scope.spawn(move || there.post(&vec![7; POSTED]).and_then(|()| there.flush()).unwrap());
            here.recv(&mut vec![0; POSTED]).unwrap();
        });
        // A peer that has gone cannot be sent more, and says so at the latest when it is flushed.
        let [here, mut there] = meet_and_greet(&a, &b).map(Result::unwrap);
        drop(here);
        let sent = there.post(&vec![7; POSTED]).and_then(|()| there.flush());
        assert!(matches!(sent, Err(Error { kind: Kind::Closed, .. })), "{sent:?}");
        assert!(there.send(&vec![7; POSTED]).is_err());
    }
}

/// An exchange cannot deadlock, not even behind posts of so many bytes that a further post would wait.
#[test]
fn an_exchange_does_not_wait_for_what_was_posted() {
    const POSTED: usize = 16 << 20;
    for [a, b] in [[plain(), plain()], tls()] {
        let sides = meet_and_greet(&a, &b).map(Result::unwrap);
        thread::scope(|scope| {
            for mut side in sides {
                scope.spawn(move || {
                    let mut bytes = vec![0; POSTED + AHEAD];
                    let (first, rest) = bytes.split_at_mut(POSTED);
                    side.post(&vec![7; POSTED]).unwrap();
                    side.exchange(&vec![8; AHEAD], first).unwrap();
                    side.recv(rest).and_then(|()| side.flush()).unwrap();
                    assert!(bytes[..POSTED].iter().all(|&byte| byte == 7));
                    assert!(bytes[POSTED..].iter().all(|&byte| byte == 8));
                });
            }
        });
    }
}

#[test]
fn only_first_messages_must_come_soon() {
    for [a, b] in [[plain(), plain()], tls()] {
        let ([mut here, mut there], _) = in_time(|timeout| greeted(&hasty(a.clone(), timeout), &b));
        // The hello came; the first message does not.
        assert!(matches!(here.recv(&mut [0]), Err(Error { kind: Kind::TimedOut(_), .. })));
        assert!(matches!(there.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    }
    for [a, b] in [[plain(), plain()], tls()] {
        let ([mut here, mut there], timeout) = in_time(|timeout| {
            let mut sides = greeted(&hasty(a.clone(), timeout), &b)?;
            for (from, to) in [(1, 0), (0, 1)] {
                sides[from].send(&[1]).and_then(|()| sides[from].flush()).ok()?;
                sides[to].recv(&mut [0]).ok()?;
            }
            Some(sides)
        });
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(2 * timeout);
                there.send(&[2]).and_then(|()| there.flush()).unwrap();
                // Here so that the connection is open until the other side has read.
                assert!(matches!(there.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
            });
            let mut byte = [0];
            here.recv(&mut byte).unwrap();
            assert_eq!(byte, [2], "an honest peer may compute for long");
            drop(here);
        });
    }
}

#[test]
fn strangers_do_not_disturb_forks() {
    for [a, b] in [[plain(), plain()], tls()] {
        let listener = Listener::bind("127.0.0.1:0", &a).unwrap();
        let address = listener.address();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut ch = greet(call(&address.to_string(), &b), 1).unwrap();
                let mut nobody = TcpStream::connect(address).unwrap();
                nobody.write_all(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").unwrap();
                let mut other_session = call(&address.to_string(), &b).unwrap();
                let mut fork = ch.fork("side").unwrap();
                fork.send(b"here").and_then(|()| fork.flush()).unwrap();
                ch.recv(&mut [0]).unwrap();
                let why = farewell(Refusal::UnderWay, PartyId(0), 2);
                let mut heard = vec![0; why.len()];
                other_session.recv(&mut heard).unwrap();
                assert_eq!(heard, why);
                drop(nobody);
            });
            let mut ch = greet(listener.next(), 0).unwrap();
            let mut said = [0; 4];
            ch.fork("side").unwrap().recv(&mut said).unwrap();
            assert_eq!(&said, b"here");
            ch.send(&[0]).and_then(|()| ch.flush()).unwrap();
        });
    }
}

#[test]
fn a_fork_that_the_peer_does_not_make_is_told() {
    let ([mut here, _there], _) = in_time(|timeout| greeted(&hasty(plain(), timeout), &plain()));
    let said = here.fork("side").err().unwrap();
    assert!(matches!(&said, Error { kind: Kind::TimedOut(text), .. } if text.contains("side")), "{said}");
}
