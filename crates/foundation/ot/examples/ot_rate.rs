//! How many oblivious transfers a second two threads of this process make over a channel in memory.
//!
//! `cargo run --release -p comity-ot --example ot_rate [-- BACKEND]`

#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::time::{Duration, Instant};

use comity_channel::MemoryChannel;
use comity_core::{Backend, Bits, Block, Prg, SessionId};
use comity_ot::{base::simplest, iknp};
use comity_testing::Pair;

const RUNS: usize = 7;
/// OTs in one call, and calls in one run.
const CALL: usize = 1 << 20;
const CALLS: usize = 16;

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
    let rate = |name: &str, send: Send, receive: Receive| {
        let runs = (0..RUNS).map(|_| {
            let (time, ()) = Pair::run(
                |ch| {
                    let delta = Block::from_u128(0x1234_5678_9abc_def1).with_lsb(true);
                    let mut sender =
                        iknp::Sender::setup::<comity_ot::base::Simplest, _>(ch, &session, backend, delta, &mut rng(1))
                            .expect("an honest receiver");
                    let mut out = vec![[Block::ZERO; 2]; CALL];
                    let start = Instant::now();
                    for _ in 0..CALLS {
                        send(&mut sender, ch, &mut out);
                    }
                    start.elapsed()
                },
                |ch| {
                    let mut receiver =
                        iknp::Receiver::setup::<comity_ot::base::Simplest, _>(ch, &session, backend, &mut rng(2))
                            .expect("an honest sender");
                    let mut out = vec![Block::ZERO; CALL];
                    for _ in 0..CALLS {
                        receive(&mut receiver, ch, &choices, &mut out);
                    }
                },
            );
            time
        });
        println!("{name}: {:.1} million/s", (CALL * CALLS) as f64 / median(runs).as_secs_f64() / 1e6);
    };
    rate(
        "correlated",
        |sender, ch, out| sender.extend(ch, &mut out.as_flattened_mut()[..CALL]).expect("an honest receiver"),
        |receiver, ch, choices, out| receiver.extend(ch, choices, out).expect("an honest sender"),
    );
    rate(
        "random",
        |sender, ch, out| sender.random(ch, out).expect("an honest receiver"),
        |receiver, ch, choices, out| receiver.random(ch, choices, out).expect("an honest sender"),
    );
    rate(
        "chosen",
        |sender, ch, out| sender.send(ch, out).expect("an honest receiver"),
        |receiver, ch, choices, _| drop(receiver.receive(ch, choices).expect("an honest sender")),
    );
}

type Send = fn(&mut iknp::Sender, &mut MemoryChannel, &mut [[Block; 2]]);
type Receive = fn(&mut iknp::Receiver, &mut MemoryChannel, &Bits, &mut [Block]);

/// Fixed seeds: this is a measurement, and nothing is kept secret.
fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<_> = times.collect();
    times.sort();
    times[times.len() / 2]
}
