//! How many bytes a second a connection carries over loopback, one thread a side, beside what a bare socket carries.

#![allow(clippy::print_stdout, reason = "its purpose")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use comity_channel::{Channel, PerPeer};
use comity_core::{PartyId, Result};
use comity_net::{Connection, Identity, Listener, Security, Settings, SystemRng, connect};

fn main() -> Result<()> {
    let [a, b] = [(); 2].map(|()| Identity::generate(&mut SystemRng));
    let tls = [(0, &a, &b), (1, &b, &a)].map(|(me, own, peer)| {
        let peers = PerPeer::new(PartyId(me), 2, |_| peer.fingerprint());
        settings(me, Security::Tls { identity: own.clone(), peers })
    });
    let plain = [0, 1].map(|me| settings(me, Security::Plain { anywhere: false }));
    for round in 0..3 {
        println!("round {round}: a bare socket: {:.2} GB/s", bare(4 << 30));
        for (name, settings) in [("plain", &plain), ("TLS", &tls)] {
            for (piece, total) in [(16, 1 << 27), (4 << 10, 1 << 30), (64 << 10, 4 << 30), (1 << 20, 4 << 30)] {
                println!("{name:5}, {piece:8} bytes a call: {:.2} GB/s", stream(settings, piece, total)?);
            }
        }
    }
    Ok(())
}

fn settings(me: u16, security: Security) -> Settings {
    Settings::of_two(PartyId(me), security, Duration::from_secs(10))
}

/// GB/s of `total` bytes sent and received in calls of `piece` bytes.
fn stream([listening, connecting]: &[Settings; 2], piece: usize, total: usize) -> Result<f64> {
    let listener = Listener::bind("127.0.0.1:0", listening)?;
    let address = listener.address().to_string();
    thread::scope(|scope| {
        scope.spawn(move || send(listener.accept(&mut |_| {})?, piece, total));
        let mut channel = connect(&address, PartyId(0), connecting, &mut |_| {})?;
        let mut bytes = vec![0; piece];
        channel.send(&[0])?;
        channel.flush()?;
        let begin = Instant::now();
        for _ in 0..total / piece {
            channel.recv(&mut bytes)?;
        }
        let seconds = begin.elapsed().as_secs_f64();
        channel.send(&[0])?;
        channel.flush()?;
        Ok(total as f64 / seconds / 1e9)
    })
}

fn send(mut channel: Connection, piece: usize, total: usize) -> Result<()> {
    let bytes = vec![7; piece];
    channel.recv(&mut [0])?;
    for _ in 0..total / piece {
        channel.send(&bytes)?;
    }
    channel.recv(&mut [0])
}

fn bare(total: usize) -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("no loopback");
    let address = listener.local_addr().expect("no address");
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut stream, _) = listener.accept().expect("no connection");
            let bytes = vec![7; 128 << 10];
            for _ in 0..total / bytes.len() {
                stream.write_all(&bytes).expect("sending failed");
            }
        });
        let mut stream = TcpStream::connect(address).expect("no connection");
        let mut bytes = vec![0; 128 << 10];
        let begin = Instant::now();
        for _ in 0..total / bytes.len() {
            stream.read_exact(&mut bytes).expect("receiving failed");
        }
        total as f64 / begin.elapsed().as_secs_f64() / 1e9
    })
}
