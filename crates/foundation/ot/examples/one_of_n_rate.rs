//! How many 1-out-of-N oblivious transfers a second, one entry evaluated in each, two threads of this process make over
//! TCP on loopback, beside what AES and memory allow.
//!
//! `cargo run --release -p comity-ot --example one_of_n_rate [-- BACKEND]`

#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use comity_channel::{Channel, Counted, RecvHalf, SendHalf};
use comity_core::{Backend, Block, Error, Prg, Result, SessionId};
use comity_ot::AtLeast;
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::one_of_n::{Kk13, Kkrt16, Oos16, Receiver, Scheme, Sender};

const RUNS: usize = 3;
/// OTs in one call, and calls in one run: 2^24 in all.
const CALL: usize = 1 << 16;
const CALLS: usize = 256;

/// AES blocks of an OT at the busier side, the receiver: both streams of 512 rows, and a hash.
const AES: f64 = 8.0 + 6.0;
/// Bytes of an OT on the wire.
const BYTES: f64 = 64.0;

const SESSION: SessionId = SessionId::new([7; 32]);

fn main() {
    let backend = match std::env::args().nth(1) {
        Some(name) => Backend::named(&name).expect("a backend of this machine"),
        None => Backend::detect(),
    };
    let (aes, copy) = (aes(backend), copy());
    println!("backend {}; {} million OTs, median of {RUNS}", backend.name(), CALL * CALLS / 1_000_000);
    println!("ceilings: {aes:.0} million AES blocks/s, {copy:.1} GB/s copied");
    println!("{:<8}{:>10}{:>12}{:>10}{:>10}", "scheme", "M OT/s", "bytes/OT", "of AES", "of copy");
    run::<Kk13, Simplest>("kk13", backend, aes, copy);
    run::<Kkrt16, Simplest>("kkrt16", backend, aes, copy);
    run::<Oos16, Csw>("oos16", backend, aes, copy);
}

fn run<S: Scheme, B: BaseOt<Model: AtLeast<S::Model>>>(name: &str, backend: Backend, aes: f64, copy: f64) {
    let choices: Vec<u128> = (0..CALL as u128).map(|j| j * j + 5).collect();
    let mut bytes = 0.0;
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let (mut a, b) = connected();
            let mut b = Counted::new(b);
            let chosen = choices.clone();
            let receiving = thread::spawn(move || {
                let mut receiver =
                    Receiver::<S>::setup::<B, _>(&mut b, &SESSION, backend, &mut rng(1)).expect("an honest sender");
                let before = b.counter().counts().sent;
                let mut out = vec![Block::ZERO; CALL];
                for _ in 0..CALLS + 1 {
                    receiver.receive(&mut b, &chosen, &mut out).expect("an honest sender");
                }
                (b.counter().counts().sent - before, out)
            });
            let mut sender =
                Sender::<S>::setup::<B, _>(&mut a, &SESSION, backend, &mut rng(2)).expect("an honest receiver");
            let mut out = vec![Block::ZERO; CALL];
            let mut call = || {
                let keys = sender.keys(&mut a, CALL).expect("an honest receiver");
                keys.evaluate_each(&choices, &mut out).expect("entries in range");
            };
            // Once before the time starts, so that all memory is there.
            call();
            let start = Instant::now();
            (0..CALLS).for_each(|_| call());
            let time = start.elapsed();
            let (sent, received) = receiving.join().expect("the receiver ends");
            assert!(received == out, "both sides have the same blocks");
            bytes = sent as f64 / (CALL * (CALLS + 1)) as f64;
            time
        })
        .collect();
    times.sort();
    let rate = (CALL * CALLS) as f64 / times[RUNS / 2].as_secs_f64() / 1e6;
    let (of_aes, of_copy) = (100.0 * rate * AES / aes, 100.0 * rate * BYTES / 1e3 / copy);
    println!("{name:<8}{rate:>10.1}{bytes:>12.3}{of_aes:>9.0}%{of_copy:>9.0}%");
}

/// Gigabytes a second that are copied between two buffers that no cache holds.
fn copy() -> f64 {
    let (from, mut to) = (vec![1u8; 256 << 20], vec![2u8; 256 << 20]);
    let mut time = || {
        let start = Instant::now();
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&to);
        start.elapsed()
    };
    let best = (0..4).map(|_| time()).min().unwrap_or_default();
    from.len() as f64 / best.as_secs_f64() / 1e9
}

/// Millions of AES blocks a second of one thread, in counter mode and in cache, while another one does the same: both
/// parties encrypt at once.
fn aes(backend: Backend) -> f64 {
    let rate = || {
        let mut blocks = vec![Block::ZERO; 4096];
        let mut prg = Prg::new(backend, Block::ZERO);
        let (start, mut calls) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_millis(500) {
            prg.fill_blocks(std::hint::black_box(&mut blocks));
            calls += 1;
        }
        (calls * blocks.len()) as f64 / start.elapsed().as_secs_f64() / 1e6
    };
    thread::scope(|scope| {
        let other = scope.spawn(rate);
        rate().min(other.join().expect("the other thread ends"))
    })
}

/// Fixed seeds: this is a measurement, and nothing is kept secret.
fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

/// A socket as a channel, just enough for what is measured.
struct Socket {
    stream: TcpStream,
    unsent: Vec<u8>,
}

fn connected() -> (Socket, Socket) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    let one = TcpStream::connect(address).expect("a listener");
    let (other, _) = listener.accept().expect("a connection");
    let socket = |stream: TcpStream| {
        stream.set_nodelay(true).expect("a connected socket");
        Socket { stream, unsent: Vec::new() }
    };
    (socket(one), socket(other))
}

impl Channel for Socket {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() < 1 << 14 {
            self.unsent.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush()?;
        self.stream.write_all(bytes).map_err(|error| Error::io("sending", error))
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.flush()?;
        self.stream.read_exact(bytes).map_err(|error| Error::io("receiving", error))
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.write_all(&self.unsent).map_err(|error| Error::io("sending", error))?;
        self.unsent.clear();
        Ok(())
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        unreachable!("an extension does not split its channel")
    }

    fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<()> {
        unreachable!("an extension sends and receives in turn")
    }

    fn fork(&mut self, _: &str) -> Result<Box<dyn Channel>> {
        unreachable!("an extension does not fork its channel")
    }
}
