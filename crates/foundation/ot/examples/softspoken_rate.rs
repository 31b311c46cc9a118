//! How many correlated oblivious transfers with random choice bits a second SoftSpoken makes between two threads of this
//! process over TCP on loopback, beside what AES allows.
//!
//! `cargo run --release -p comity-ot --example softspoken_rate [-- BACKEND]`

#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use comity_channel::{Channel, Counted, RecvHalf, SendHalf};
use comity_core::{Backend, Block, Error, Prg, Result, SessionId};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::softspoken::{Checking, Receiver, Sender};
use comity_ot::{AtLeast, DeltaReceiver, DeltaSender, Malicious, SemiHonest};

const RUNS: usize = 5;
/// OTs in one call, and calls in one run.
const CALL: usize = 1 << 20;
const CALLS: usize = 16;

const SESSION: SessionId = SessionId::new([7; 32]);

fn main() {
    let backend = match std::env::args().nth(1) {
        Some(name) => Backend::named(&name).expect("a backend of this machine"),
        None => Backend::detect(),
    };
    println!("backend {}; {} million OTs, median of {RUNS}", backend.name(), CALL * CALLS / 1_000_000);
    let ceiling = aes(backend);
    println!("AES on two threads at once: {ceiling:.0} million blocks a second each");
    println!("{:<12}{:>3}{:>12}{:>12}{:>14}{:>8}", "model", "k", "M OT/s", "bytes/OT", "M AES/s", "share");
    for k in [1, 2, 4, 8] {
        run::<SemiHonest, Simplest>(backend, k, ceiling);
        run::<Malicious, Csw>(backend, k, ceiling);
    }
}

fn run<M: Checking, B: BaseOt<Model: AtLeast<M>>>(backend: Backend, k: usize, ceiling: f64) {
    let mut bytes = 0.0;
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let (mut a, b) = connected();
            let mut b = Counted::new(b);
            let receiving = thread::spawn(move || {
                let mut receiver =
                    Receiver::<M>::setup::<B, _>(&mut b, &SESSION, backend, k, &mut rng(1)).expect("an honest sender");
                let mut out = vec![Block::ZERO; CALL];
                for _ in 0..CALLS + 1 {
                    receiver.extend_random(&mut b, &mut out).expect("an honest sender");
                }
                b.counter().counts().sent
            });
            let mut sender =
                Sender::<M>::setup::<B, _>(&mut a, &SESSION, backend, k, Block::from_u128(1 << 77 | 1), &mut rng(2))
                    .expect("an honest receiver");
            let mut out = vec![Block::ZERO; CALL];
            // Once before the time starts, so that all memory is there.
            sender.extend_random(&mut a, &mut out).expect("an honest receiver");
            let start = Instant::now();
            for _ in 0..CALLS {
                sender.extend_random(&mut a, &mut out).expect("an honest receiver");
            }
            let time = start.elapsed();
            bytes = receiving.join().expect("the receiver ends") as f64 / (CALL * (CALLS + 1)) as f64;
            time
        })
        .collect();
    times.sort();
    let rate = (CALL * CALLS) as f64 / times[RUNS / 2].as_secs_f64() / 1e6;
    let encryptions = rate * (128usize.div_ceil(k) << k) as f64 / 128.0;
    let share = 100.0 * encryptions / ceiling;
    println!("{:<12}{k:>3}{rate:>12.1}{bytes:>12.3}{encryptions:>14.1}{share:>7.0}%", M::NAME);
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
