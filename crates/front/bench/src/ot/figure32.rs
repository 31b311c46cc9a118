//! D13.3's Figure 3.2: what the flavours of OT cost beside R-OT, on 128-bit strings, over a fast and a slow network.
//!
//! The networks are simulated, with the paper's bandwidths. The whole figure takes some minutes, so it is drawn only if
//! it is asked for by name; `ot.figure32.wan.n10` is a part of it.

use std::time::Duration;

use comity_channel::{Channel, NetProfile, Result};
use comity_core::{Bits, Block};
use comity_net::SystemRng;
use comity_ot::base::Simplest;
use comity_ot::{HashedReceiver, HashedSender, RandomReceiver, RandomSender, flavour, iknp};
use comity_terminal::failure::Outcome;

use crate::ot::parties::{Measured, Party, SESSION, measure, random_bits, random_block};
use crate::ot::plot::{Plot, Series};
use crate::ot::wire::Wire;
use crate::suite::{Bench, Suite, backend};

/// The figure, over semi-honest IKNP.
pub(crate) const FIGURE: Bench = Bench {
    name: "ot.figure32",
    about: "flavours of OT on 128-bit strings over simulated networks, beside R-OT (some minutes; if named)",
    ceiling: None,
    run: figure,
};

/// Gigabit Ethernet, and the paper's link between continents.
const NETWORKS: [(&str, NetProfile); 2] = [
    ("lan", NetProfile { round_trip: Duration::from_micros(500), bits_per_second: 1_000_000_000 }),
    ("wan", NetProfile { round_trip: Duration::from_millis(100), bits_per_second: 120_000_000 }),
];

/// The numbers of OTs, as log2.
const SIZES: [u32; 8] = [10, 12, 14, 16, 18, 20, 22, 24];

/// OTs of one call: as many as a flavour handles in one round.
const CALL: usize = 1 << 18;

const BITS: usize = 128;
const BYTES: usize = flavour::bytes(BITS);

/// A flavour: R-OT is the base line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavour {
    Random,
    SenderRandom,
    Correlated,
    ReceiverRandom,
    Chosen,
}

/// The flavours that are held against R-OT, with their places in names.
const FLAVOURS: [(Flavour, &str); 4] = [
    (Flavour::SenderRandom, "sr_ot"),
    (Flavour::Correlated, "c_ot"),
    (Flavour::ReceiverRandom, "rr_ot"),
    (Flavour::Chosen, "ot"),
];

/// The series as they are drawn.
const SERIES: [Series; 4] = [
    Series { letter: 's', name: "SR-OT" },
    Series { letter: 'c', name: "C-OT" },
    Series { letter: 'r', name: "RR-OT" },
    Series { letter: 'o', name: "OT" },
];

fn figure(suite: &mut Suite) -> Outcome {
    if !suite.named(FIGURE.name) {
        return Ok(());
    }
    for (network, profile) in NETWORKS {
        let mut points = Vec::new();
        for size in SIZES {
            let mut point = |flavour, name: &str| -> Outcome<Option<f64>> {
                let name = format!("ot.figure32.{network}.n{size}.{name}");
                if suite.wants(&name) {
                    // Small runs are repeated, large ones take long enough.
                    let measured = run(profile, flavour, 1 << size, if size <= 18 { 5 } else { 1 })?;
                    suite.record(&name, "s", None, measured.seconds);
                }
                Ok(suite.value(&name))
            };
            let base = point(Flavour::Random, "r_ot")?;
            for (series, (flavour, name)) in FLAVOURS.into_iter().enumerate() {
                if let (Some(seconds), Some(base)) = (point(flavour, name)?, base) {
                    points.push((size, series, seconds / base));
                }
            }
        }
        if !points.is_empty() {
            let title = format!("D13.3, Figure 3.2: {network} ({profile})");
            let plot = Plot { title, baseline: "R-OT", sizes: &SIZES, series: &SERIES, points };
            suite.page(&format!("{}, times R-OT's run time", plot.title), &plot.text());
            suite.draw(plot.panel());
        }
    }
    Ok(())
}

/// Both parties, set up and then measured.
fn run(profile: NetProfile, flavour: Flavour, n: usize, runs: usize) -> Outcome<Measured> {
    let backend = backend();
    let call = CALL.min(n);
    let choices = random_bits(call);
    let (mut sending, mut receiving) = (Buffers::new(call), Buffers::new(call));
    measure(
        Some(profile),
        runs,
        Party::new(
            |ch| {
                iknp::Sender::setup::<Simplest>(ch, &SESSION, backend, random_block(), &mut SystemRng)
                    .map(HashedSender::new)
            },
            |ot, ch| (0..n / call).try_for_each(|_| send(ot, ch, flavour, &mut sending)),
        ),
        Party::new(
            |ch| iknp::Receiver::setup::<Simplest>(ch, &SESSION, backend, &mut SystemRng).map(HashedReceiver::new),
            |ot, ch| (0..n / call).try_for_each(|_| receive(ot, ch, flavour, &choices, &mut receiving)),
        ),
    )
}

/// The buffers of a party in one call; used again in the next.
struct Buffers {
    pairs: Vec<[Block; 2]>,
    chosen: Vec<Block>,
    messages: [Vec<u8>; 2],
}

impl Buffers {
    fn new(n: usize) -> Buffers {
        let message = vec![0x5a; n * BYTES];
        Buffers { pairs: vec![[Block::ZERO; 2]; n], chosen: vec![Block::ZERO; n], messages: [message.clone(), message] }
    }
}

fn send<S: RandomSender>(ot: &mut S, ch: &mut Wire, flavour: Flavour, buffers: &mut Buffers) -> Result<()> {
    let Buffers { pairs, messages: [zeros, ones], .. } = buffers;
    match flavour {
        Flavour::Random => ot.random(ch, pairs),
        Flavour::SenderRandom => ot.sender_random(ch, pairs),
        Flavour::Correlated => flavour::send_correlated(ot, ch, BITS, zeros, |_, zero, one| {
            one.iter_mut().zip(zero).for_each(|(one, zero)| *one = zero ^ 0x5a);
        }),
        Flavour::ReceiverRandom => flavour::send_to_random(ot, ch, BITS, [zeros, ones]),
        Flavour::Chosen => flavour::send(ot, ch, BITS, [zeros, ones]),
    }?;
    ch.flush()
}

fn receive<R: RandomReceiver>(
    ot: &mut R,
    ch: &mut Wire,
    flavour: Flavour,
    choices: &Bits,
    buffers: &mut Buffers,
) -> Result<()> {
    let Buffers { chosen, messages: [out, _], .. } = buffers;
    let n = choices.len();
    match flavour {
        Flavour::Random => ot.random(ch, chosen).map(drop),
        Flavour::SenderRandom => ot.sender_random(ch, choices, chosen),
        Flavour::Correlated => flavour::receive_correlated(ot, ch, BITS, choices, out),
        Flavour::ReceiverRandom => flavour::receive_random(ot, ch, BITS, n, out).map(drop),
        Flavour::Chosen => flavour::receive(ot, ch, BITS, choices, out),
    }
}
