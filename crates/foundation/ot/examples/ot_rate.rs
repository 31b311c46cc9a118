//! How many oblivious transfers a second two threads of this process make over a channel in memory.
//!
//! `cargo run --release -p comity-ot --example ot_rate [-- BACKEND]`

#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::time::{Duration, Instant};

use comity_core::{Backend, Bits, Block, Prg, SessionId};
use comity_ot::base::{Simplest, simplest};
use comity_ot::{DeltaReceiver, DeltaSender, HashedReceiver, HashedSender, RandomReceiver, RandomSender, iknp};
use comity_testing::Pair;

const RUNS: usize = 7;
/// OTs in one call, and calls in one run.
const CALL: usize = 1 << 17;
const CALLS: usize = 128;

fn main() {
    let backend = match std::env::args().nth(1) {
        Some(name) => Backend::named(&name).expect("a backend of this machine"),
        None => Backend::detect(),
    };
    println!("backend {}", backend.name());
    let session = SessionId::new([7; 32]);
    let choices: Bits = (0..CALL).map(|i| i % 3 == 0).collect();
    let setup = (0..RUNS).map(|_| {
        let choices = choices.slice(0, 128);
        let (_, time) = Pair::run(
            |ch| simplest::send(ch, &session, 128, &mut rng(1)).expect("an honest receiver"),
            |ch| {
                let start = Instant::now();
                simplest::receive(ch, &session, &choices, &mut rng(2)).expect("an honest sender");
                start.elapsed()
            },
        );
        time
    });
    println!("128 base OTs: {:.2} ms", median(setup).as_secs_f64() * 1e3);
    let rate = |name: &str, correlated: bool| {
        let runs = (0..RUNS).map(|_| {
            let (time, ()) = Pair::run(
                |ch| {
                    let delta = Block::from_u128(0x1234_5678_9abc_def1).with_lsb(true);
                    let sender = iknp::Sender::setup::<Simplest, _>(ch, &session, backend, delta, &mut rng(1));
                    let mut sender = sender.expect("an honest receiver");
                    let mut out = vec![[Block::ZERO; 2]; CALL];
                    let start = Instant::now();
                    if correlated {
                        for _ in 0..CALLS {
                            sender.extend(ch, &mut out.as_flattened_mut()[..CALL]).expect("an honest receiver");
                        }
                    } else {
                        let mut sender = HashedSender::new(sender);
                        for _ in 0..CALLS {
                            sender.sender_random(ch, &mut out).expect("an honest receiver");
                        }
                    }
                    start.elapsed()
                },
                |ch| {
                    let receiver = iknp::Receiver::setup::<Simplest, _>(ch, &session, backend, &mut rng(2));
                    let mut receiver = receiver.expect("an honest sender");
                    let mut out = vec![Block::ZERO; CALL];
                    if correlated {
                        for _ in 0..CALLS {
                            receiver.extend(ch, &choices, &mut out).expect("an honest sender");
                        }
                    } else {
                        let mut receiver = HashedReceiver::new(receiver);
                        for _ in 0..CALLS {
                            receiver.sender_random(ch, &choices, &mut out).expect("an honest sender");
                        }
                    }
                },
            );
            time
        });
        println!("{name}: {:.1} million/s", (CALL * CALLS) as f64 / median(runs).as_secs_f64() / 1e6);
    };
    rate("correlated", true);
    rate("random", false);
}

/// Fixed seeds: this is a measurement, and nothing is kept secret.
fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<_> = times.collect();
    times.sort();
    times[times.len() / 2]
}
