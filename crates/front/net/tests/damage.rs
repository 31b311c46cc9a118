//! Bytes damaged on the way, by a proxy between the parties: always an error, never other data, never a hang.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use crate::common::{call, greet, hasty, in_time, plain, tls};
use comity_channel::{Channel, Error, Result};
use comity_core::Kind;
use comity_net::{Connection, Listener, Security, Settings};

#[derive(Clone, Copy, Debug)]
enum Damage {
    None,
    Flip(usize),
    Drop(usize),
    Duplicate(usize),
    /// A cut: everything from here on is lost.
    Cut(usize),
}

impl Damage {
    /// Whether the damage is done when `bytes` bytes have come.
    fn is_done(self, bytes: usize) -> bool {
        match self {
            Damage::None => true,
            Damage::Flip(at) | Damage::Drop(at) | Damage::Duplicate(at) | Damage::Cut(at) => at < bytes,
        }
    }
}

/// Copies one direction, damaged.
fn forward(mut from: TcpStream, mut to: TcpStream, damage: Damage) -> usize {
    let mut at = 0;
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let mut piece = bytes[..count].to_vec();
        let inside = |position: usize| (at..at + count).contains(&position).then(|| position - at);
        let mut cut = false;
        match damage {
            Damage::None => {}
            Damage::Flip(position) => inside(position).into_iter().for_each(|i| piece[i] ^= 1 << (position % 8)),
            Damage::Drop(position) => inside(position).into_iter().for_each(|i| _ = piece.remove(i)),
            Damage::Duplicate(position) => inside(position).into_iter().for_each(|i| piece.insert(i, piece[i])),
            Damage::Cut(position) => {
                if let Some(i) = inside(position) {
                    piece.truncate(i);
                    cut = true;
                }
            }
        }
        at += count;
        if to.write_all(&piece).is_err() || cut {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
    at
}

/// A proxy in front of `target`; damages what goes there, or what comes from it. Returns how many bytes went there and
/// came back: none if the target does not wait any more.
fn proxy(listener: &TcpListener, target: SocketAddr, damage: Damage, back: bool) -> [usize; 2] {
    let (client, _) = listener.accept().unwrap();
    let Ok(server) = TcpStream::connect(target) else { return [0, 0] };
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    let (there, here) = if back { (Damage::None, damage) } else { (damage, Damage::None) };
    let (client2, server2) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let out = thread::spawn(move || forward(client, server, there));
    let returned = forward(server2, client2, here);
    [out.join().unwrap(), returned]
}

/// The bytes that a party says: no two neighbouring bytes are equal, so that each byte too many shows.
fn said_by(party: u16) -> Vec<u8> {
    (0..3 + 40_000 + 20_000).map(|i: u32| (i * 7 + i / 256 + u32::from(party) * 3) as u8).collect()
}

/// Exchanges messages both ways, of all kinds of sizes; returns what was received.
fn talk(connection: Result<Connection>, party: u16) -> Result<Vec<u8>> {
    let mut ch = greet(connection, party)?;
    let ours = said_by(party);
    let mut got = vec![0; ours.len()];
    for range in [0..1, 1..2, 2..3, 3..40_003, 40_003..60_003] {
        ch.exchange(&ours[range.clone()], &mut got[range])?;
    }
    Ok(got)
}

/// One session through the proxy: what each side got, and how many bytes went each way.
fn session(settings: &[Settings; 2], damage: Damage, back: bool) -> ([Result<Vec<u8>>; 2], [usize; 2]) {
    let listener = Listener::bind("127.0.0.1:0", &settings[0]).unwrap();
    let between = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = between.local_addr().unwrap().to_string();
    thread::scope(|scope| {
        let bytes = scope.spawn(|| proxy(&between, listener.address(), damage, back));
        let accepted = scope.spawn(|| talk(listener.next(), 0));
        let connected = talk(call(&address, &settings[1]), 1);
        ([accepted.join().unwrap(), connected], bytes.join().unwrap())
    })
}

fn check(settings: [Settings; 2]) {
    let (honest, lengths) = session(&settings, Damage::None, false);
    for (party, result) in honest.into_iter().enumerate() {
        assert_eq!(result.unwrap(), said_by(1 - party as u16));
    }
    // Dense at the start, where openings, handshakes, hellos and headers are; then over all; the very end.
    let cases = [false, true].into_iter().flat_map(|back| {
        let len = lengths[usize::from(back)];
        let dense = (0..700).step_by(29);
        let sparse = (700..len).step_by(len / 23);
        let all = dense.chain(sparse).enumerate().map(move |(i, at)| {
            let kinds = [Damage::Flip(at), Damage::Drop(at), Damage::Duplicate(at), Damage::Cut(at)];
            (kinds[i % 4], back)
        });
        // To repeat the very last byte is no damage: it comes when everything has been said.
        all.chain([Damage::Flip(len - 1), Damage::Drop(len - 1), Damage::Cut(len - 1)].map(|last| (last, back)))
    });
    let cases: Vec<_> = cases.collect();
    thread::scope(|scope| {
        for share in cases.chunks(cases.len().div_ceil(8)) {
            let settings = &settings;
            scope.spawn(move || share.iter().for_each(|&(damage, back)| check_case(settings, damage, back)));
        }
    });
}

fn check_case(settings: &[Settings; 2], damage: Damage, back: bool) {
    // A session that ended in a time-out before the damage was done, on a busy machine, says nothing.
    let (results, _) = in_time(|timeout| {
        let settings = settings.each_ref().map(|settings| hasty(settings.clone(), timeout));
        let (results, bytes) = session(&settings, damage, back);
        damage.is_done(bytes[usize::from(back)]).then_some(results)
    });
    // The side that the damage was on the way to cannot be content; the other one may be, if it was done.
    let harmed = usize::from(back);
    assert!(results[harmed].is_err(), "{damage:?}, back {back}: the damage went unnoticed");
    for (party, result) in results.into_iter().enumerate() {
        match result {
            Ok(bytes) => {
                assert_eq!(bytes, said_by(1 - party as u16), "{damage:?}: other data was taken for the peer's")
            }
            Err(Error { kind: Kind::Malformed(_) | Kind::Stranger(_) | Kind::Closed | Kind::TimedOut(_), .. }) => {}
            // A damaged TLS handshake proves no key.
            Err(Error { kind: Kind::Untrusted(_), .. }) if matches!(settings[0].security, Security::Tls { .. }) => {}
            Err(other) => panic!("{damage:?}, back {back}, party {party}: {other}"),
        }
    }
}

#[test]
fn no_damage_passes_on_plain_tcp() {
    check([plain(), plain()]);
}

#[test]
fn no_damage_passes_on_tls() {
    check(tls());
}
