//! D13.3's Figure 3.2: what the flavours of OT cost beside R-OT, on 128-bit strings, over a fast and a slow network.
//!
//! The networks are simulated, with the paper's bandwidths. The whole figure takes some minutes, so it is drawn only if
//! it is asked for by name; `ot.figure32.wan.n10` is a part of it.

use std::time::Duration;

use comity_channel::{Channel, NetProfile, Result};
use comity_core::{Backend, Bits, Block};
use comity_net::SystemRng;
use comity_ot::base::Simplest;
use comity_ot::{HashedReceiver, HashedSender, RandomReceiver, RandomSender, flavour, iknp};

use super::parties::{Measured, Party, Wire, measure};
use super::{Bench, SESSION, Suite, random_bits, random_block};
use crate::failure::Outcome;

/// The figure, over semi-honest IKNP.
pub(in crate::bench) const FIGURE: Bench = Bench {
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

/// log2 of how many OTs.
const SIZES: [u32; 8] = [10, 12, 14, 16, 18, 20, 22, 24];

/// OTs of one call: as many as a flavour handles in one round.
const CALL: usize = 1 << 18;

const BITS: usize = 128;
const BYTES: usize = flavour::bytes(BITS);

/// A flavour: R-OT, the base line, first. The letter stands for it in the plot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavour {
    Random,
    SenderRandom,
    Correlated,
    ReceiverRandom,
    Chosen,
}

impl Flavour {
    const ALL: [(Flavour, &'static str, char, &'static str); 5] = [
        (Flavour::Random, "r_ot", '-', "R-OT"),
        (Flavour::SenderRandom, "sr_ot", 's', "SR-OT"),
        (Flavour::Correlated, "c_ot", 'c', "C-OT"),
        (Flavour::ReceiverRandom, "rr_ot", 'r', "RR-OT"),
        (Flavour::Chosen, "ot", 'o', "OT"),
    ];
}

fn figure(suite: &mut Suite) -> Outcome {
    if !suite.named(FIGURE.name) {
        return Ok(());
    }
    for (network, profile) in NETWORKS {
        let mut plot = Plot::default();
        for size in SIZES {
            // Small runs are repeated, large ones take long enough.
            let runs = if size <= 18 { 5 } else { 1 };
            let mut base = None;
            for (flavour, name, letter, _) in Flavour::ALL {
                let name = format!("ot.figure32.{network}.n{size}.{name}");
                if !suite.wants(&name) {
                    continue;
                }
                let measured = run(profile, flavour, 1 << size, runs)?;
                suite.record(&name, "s", None, measured.seconds);
                let seconds = suite.value(&name).expect("it was just recorded");
                let base = *base.get_or_insert(seconds);
                if flavour != Flavour::Random && suite.wants(&format!("ot.figure32.{network}.n{size}.r_ot")) {
                    plot.points.push((size, letter, seconds / base));
                }
            }
        }
        if !plot.points.is_empty() {
            suite.page(format!("Figure 3.2, {network} ({profile}): times R-OT's run time\n{}", plot.draw()));
        }
    }
    Ok(())
}

/// Both parties, set up and then measured.
fn run(profile: NetProfile, flavour: Flavour, n: usize, runs: usize) -> Outcome<Measured> {
    let backend = Backend::detect();
    let call = CALL.min(n);
    let choices = random_bits(call);
    let (mut sending, mut receiving) = (Buffers::new(call), Buffers::new(call));
    measure(
        Some(profile),
        runs,
        Party::new(
            |ch| {
                iknp::Sender::setup::<Simplest, _>(ch, &SESSION, backend, random_block(), &mut SystemRng)
                    .map(HashedSender::new)
            },
            |ot, ch| (0..n / call).try_for_each(|_| send(ot, ch, flavour, &mut sending)),
        ),
        Party::new(
            |ch| iknp::Receiver::setup::<Simplest, _>(ch, &SESSION, backend, &mut SystemRng).map(HashedReceiver::new),
            |ot, ch| (0..n / call).try_for_each(|_| receive(ot, ch, flavour, &choices, &mut receiving)),
        ),
    )
}

/// What a party reads and writes in one call; used again in the next.
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

/// Overheads by size, drawn with letters.
#[derive(Default)]
struct Plot {
    /// log2 of the number of OTs, the flavour's letter, and how many times R-OT's time it took.
    points: Vec<(u32, char, f64)>,
}

impl Plot {
    /// Lines of the plot for an overhead of one.
    const SCALE: f64 = 4.0;
    /// No overhead is drawn higher: a run that was disturbed shall not squeeze the others.
    const TOP: f64 = 5.0;
    /// Columns of one size.
    const WIDTH: usize = 8;

    fn draw(&self) -> String {
        let line = |overhead: f64| (overhead.min(Plot::TOP) * Plot::SCALE).round() as usize;
        let top = self.points.iter().map(|&(_, _, overhead)| line(overhead)).max().unwrap_or(0) + 1;
        let mut grid = vec![vec![' '; Plot::WIDTH * SIZES.len()]; top + 1];
        grid[line(1.0).min(top)].fill('-');
        for &(size, letter, overhead) in &self.points {
            // The flavours of one size stand side by side, so that none hides another.
            let column = SIZES.iter().position(|&other| other == size).expect("one of the sizes") * Plot::WIDTH;
            let beside = Flavour::ALL.iter().position(|entry| entry.2 == letter).expect("one of the flavours");
            grid[line(overhead)][column + beside] = letter;
        }
        let mut text = String::new();
        for (i, cells) in grid.iter().enumerate().rev() {
            let cells: String = cells.iter().collect();
            text += &format!("{:>6.2} |{}\n", i as f64 / Plot::SCALE, cells.trim_end());
        }
        let sizes: String =
            SIZES.iter().map(|size| format!("{:<width$}", format!(" 2^{size}"), width = Plot::WIDTH)).collect();
        text += &format!("{:8}{}\n{:8}", "", sizes.trim_end(), "");
        let legend: Vec<String> = Flavour::ALL.iter().map(|(_, _, letter, name)| format!("{letter} {name}")).collect();
        text + &legend.join("   ") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn_where_it_belongs() {
        let plot = Plot { points: vec![(10, 's', 1.0), (10, 'o', 2.5), (24, 'c', 1.5), (12, 'r', 99.0)] };
        let drawn = plot.draw();
        let line = |of: &str| drawn.lines().find(|line| line.trim_start().starts_with(of)).unwrap().to_owned();
        assert!(line("2.50").contains('o') && line("1.50").ends_with('c') && line("1.00").contains("-s-"));
        assert!(line("5.00").ends_with('r'), "what is too high stands at the top");
        assert!(drawn.contains("2^24") && drawn.contains("o OT"));
        assert!(line("1.50").len() > line("2.50").len(), "larger sizes stand further right");
    }
}
