//! How long 128 base OTs take two threads of this process over TCP on loopback, beside the group operations that
//! they stand on.
//!
//! `cargo run --release -p comity-ot --example base_rate`

#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use comity_channel::{Channel, Counted, RecvHalf, SendHalf};
use comity_core::{Backend, Bits, Block, Error, Prg, Result, SessionId};
use comity_ot::base::pvw::{Crs, Receiver, Sender};
use comity_ot::base::{BaseOt, Csw, Pvw, Simplest};
use curve25519_dalek::ristretto::{RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::MultiscalarMul;

const RUNS: usize = 21;
const OTS: usize = 128;
const SESSION: SessionId = SessionId::new([7; 32]);

fn main() {
    let (point, scalar) = (RistrettoPoint::mul_base(&Scalar::from(3u8)), Scalar::from(7u8).invert());
    let table = RistrettoBasepointTable::create(&point);
    let bytes = point.compress();
    println!("microseconds for one group operation");
    operation("variable point", || point * scalar);
    operation("pair of variable points", || RistrettoPoint::multiscalar_mul([scalar, scalar], [point, point]));
    operation("fixed point", || &table * &scalar);
    operation("table for a point", || RistrettoBasepointTable::create(&point));
    operation("decoding", || bytes.decompress());
    operation("encoding, in 32", || RistrettoPoint::double_and_compress_batch(&[point; 32]));
    println!("{OTS} base OTs over TCP on loopback, median of {RUNS} in milliseconds, bytes of both sides");
    Crs::common();
    protocol::<Simplest>("simplest");
    protocol::<Csw>("csw");
    protocol::<Pvw>("pvw");
    println!("pvw, one side after the other");
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..RUNS {
        let start = Instant::now();
        let (receiver, query) = Receiver::new(Crs::common(), &choices(), &mut rng(1));
        times[0].push(start.elapsed());
        let start = Instant::now();
        let sender = Sender::new(Crs::common(), &query).expect("an honest receiver");
        times[1].push(start.elapsed());
        let start = Instant::now();
        let payloads = [[Block::ZERO; 2]; OTS];
        let answer = sender.answer(&SESSION, 0, Block::ZERO, &payloads).expect("a pair for each");
        times[2].push(start.elapsed());
        let start = Instant::now();
        black_box(receiver.receive(&SESSION, 0, &answer).expect("an honest sender"));
        times[3].push(start.elapsed());
    }
    for (name, times) in ["query", "check of the query", "answer", "receipt"].into_iter().zip(times) {
        println!("{name:<24}{:>8.2}", median(times).as_secs_f64() * 1e3);
    }
}

fn operation<T>(name: &str, mut operation: impl FnMut() -> T) {
    const TIMES: u32 = 200;
    let mut time = || {
        let start = Instant::now();
        for _ in 0..TIMES {
            black_box(operation());
        }
        start.elapsed() / TIMES
    };
    let best = (0..5).map(|_| time()).min().unwrap_or_default();
    println!("{name:<24}{:>8.2}", best.as_secs_f64() * 1e6);
}

fn protocol<B: BaseOt>(name: &str) {
    let mut bytes = (0, 0);
    let times = Vec::from_iter((0..RUNS).map(|_| {
        let (mut a, b) = connected();
        let mut b = Counted::new(b);
        let start = Instant::now();
        let receiving = thread::spawn(move || {
            B::receive(&mut b, &SESSION, &choices(), &mut rng(1)).expect("an honest sender");
            let counts = b.counter().counts();
            ((counts.sent, counts.received), Instant::now())
        });
        B::send(&mut a, &SESSION, OTS, &mut rng(2)).expect("an honest receiver");
        let ended = Instant::now();
        let (counts, receiver_ended) = receiving.join().expect("the receiver ends");
        bytes = counts;
        ended.max(receiver_ended) - start
    }));
    println!("{name:<24}{:>8.2}  {} + {}", median(times).as_secs_f64() * 1e3, bytes.0, bytes.1);
}

fn choices() -> Bits {
    (0..OTS).map(|i| i % 3 == 0).collect()
}

/// Fixed seeds: this is a measurement, and nothing is kept secret.
fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
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
        self.unsent.extend_from_slice(bytes);
        Ok(())
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
        unreachable!("base OT does not split its channel")
    }

    fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<()> {
        unreachable!("base OT sends and receives in turn")
    }

    fn fork(&mut self, _: &str) -> Result<Box<dyn Channel>> {
        unreachable!("base OT does not fork its channel")
    }
}
