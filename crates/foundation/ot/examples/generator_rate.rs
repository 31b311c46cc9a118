//! How many correlated oblivious transfers with random choice bits a second the correlation generator makes between two
//! threads of this process over TCP on loopback, 2^24 of them, beside what AES and look-ups in its table alone would allow.
//!
//! `cargo run --release -p comity-ot --example generator_rate [-- BACKEND]`

#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use comity_channel::{Channel, Counted, RecvHalf, SendHalf};
use comity_core::{Backend, Block, Error, Prg, Result, SessionId};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::generator::{Parameters, Receiver, Sender};
use comity_ot::softspoken::Checking;
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
    println!("backend {}; {} million OTs, median of {RUNS}", backend.name(), (CALL * CALLS) / 1_000_000);
    let security = Parameters::STANDARD.security();
    println!("{:?}: {security:.1} bits", Parameters::STANDARD);
    let (aes, table) = (aes(backend), table());
    println!("AES {aes:.0} M blocks/s; rows of ten look-ups {table:.0} M/s");
    // Of each OT: its places take 2.5 blocks, and its leaf one at each pass over the trees.
    println!("{:<12}{:>12}{:>12}{:>11}{:>15}", "model", "M OT/s", "bytes/OT", "share", "set-up");
    run::<SemiHonest, Simplest>(backend, 1.0 / ((2.5 + 2.0) / aes + 1.0 / table));
    run::<Malicious, Csw>(backend, 1.0 / ((2.5 + 3.0) / aes + 1.0 / table));
}

fn run<M: Checking, B: BaseOt<Model: AtLeast<M>>>(backend: Backend, ceiling: f64) {
    let mut bytes = 0.0;
    let mut setup = Duration::ZERO;
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let (a, b) = connected();
            let (mut a, mut b) = (Counted::new(a), Counted::new(b));
            let receiving = thread::spawn(move || {
                let mut receiver =
                    Receiver::<M>::setup::<B, _>(&mut b, &SESSION, backend, &mut rng(1)).expect("an honest sender");
                let mut out = vec![Block::ZERO; CALL];
                for _ in 0..CALLS + 1 {
                    receiver.extend_random(&mut b, &mut out).expect("an honest sender");
                }
            });
            let start = Instant::now();
            let mut sender =
                Sender::<M>::setup::<B, _>(&mut a, &SESSION, backend, Block::from_u128(1 << 77 | 1), &mut rng(2))
                    .expect("an honest receiver");
            setup = start.elapsed();
            let mut out = vec![Block::ZERO; CALL];
            // Once before the time starts, so that all memory is there.
            sender.extend_random(&mut a, &mut out).expect("an honest receiver");
            let before = a.counter().counts();
            let start = Instant::now();
            for _ in 0..CALLS {
                sender.extend_random(&mut a, &mut out).expect("an honest receiver");
            }
            receiving.join().expect("the receiver ends");
            let time = start.elapsed();
            let after = a.counter().counts();
            bytes = (after.sent - before.sent + after.received - before.received) as f64 / (CALL * CALLS) as f64;
            time
        })
        .collect();
    times.sort();
    let rate = (CALL * CALLS) as f64 / times[RUNS / 2].as_secs_f64() / 1e6;
    let share = 100.0 * rate / ceiling;
    println!("{:<12}{rate:>12.1}{bytes:>12.4}{share:>10.0}%{:>12.1} ms", M::NAME, 1e3 * setup.as_secs_f64());
}

/// Millions of sums of ten random places of a table of the generator's size a second, the places being known.
fn table() -> f64 {
    const TABLE: usize = 1 << 17;
    let table = vec![Block::ZERO; TABLE];
    let table: &[Block; TABLE] = (&table[..]).try_into().expect("as many");
    let mut places = vec![0; 4 * 10 * 4096];
    rng(9).fill(&mut places);
    let rows: &[[u8; 40]] = places.as_chunks().0;
    let mut out = vec![Block::ZERO; rows.len()];
    let mut time = || {
        let start = Instant::now();
        for (out, row) in out.iter_mut().zip(rows) {
            *out = row.as_chunks().0.iter().fold(Block::ZERO, |sum, &place| {
                sum ^ table[((u64::from(u32::from_le_bytes(place)) * (103 << 10)) >> 32) as usize & (TABLE - 1)]
            });
        }
        std::hint::black_box(&mut out);
        start.elapsed()
    };
    let best = (0..200).map(|_| time()).min().unwrap_or_default();
    out.len() as f64 / best.as_secs_f64() / 1e6
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
