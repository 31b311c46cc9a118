//! Table 5: building blocks.

use std::hint::black_box;
use std::time::Instant;

use comity_channel::{Channel, Result};
use comity_circuit::Lowered;
use comity_core::{Bits, Block, Cursor, Delta, Garbler, Part, Tape};
use comity_cutchoose::Probe;
use comity_garble::LockstepGarbler;
use comity_net::SystemRng;
use comity_ot::base::{BaseOt, Csw};
use comity_ot::{HashedReceiver, HashedSender, Malicious, RandomReceiver, RandomSender, softspoken};
use comity_terminal::failure::Outcome;

use crate::picture::Rows;
use crate::suite::{Bench, Suite, backend};
use crate::text::{Table, ratio, time};
use crate::two::{NETWORKS, Wire, play, repeat, session};
use crate::wmk17::single::{RHO, named};

/// Building blocks.
pub(crate) const TABLE5: Bench = Bench {
    name: "wmk17.table5",
    about: "WMK17, table 5: building blocks (if wmk17 is named; the slow network only if the table is)",
    ceiling: Some("machine.aes"),
    run,
};

/// The paper's seconds, where it gives them: on localhost and over both networks.
const PAPER: [(&str, [Option<f64>; 3]); 7] = [
    ("probe", [Some(5.8e-3), None, None]),
    ("probe.copies40", [None, None, None]),
    ("garble", [Some(3.42), None, None]),
    ("garble.lockstep40", [Some(3.42), None, None]),
    ("garble_send", [Some(4.83), Some(7.53), Some(87.4)]),
    ("base_ot", [Some(113e-3), Some(133e-3), Some(249e-3)]),
    ("ot_extension", [Some(4.99), Some(5.64), Some(25.6)]),
];

/// AES circuits.
const CIRCUITS: usize = 10_000;
/// Copies in lockstep.
const COPIES: usize = RHO as usize;
/// AND gates of one part, so that its tables stay in cache.
const PART: usize = Tape::MAX_ANDS;
/// Base OTs.
const BASE_OTS: usize = 1 << 10;
/// OTs of the extension, and how many are made in one call.
const OTS: usize = 8_000_000;
const CALL: usize = 500_000;

pub(super) fn run(suite: &mut Suite) -> Outcome {
    if !named(suite) {
        return Ok(());
    }
    let group = TABLE5.name;
    let take = |suite: &mut Suite, name: &str, work: &mut dyn FnMut() -> Outcome<f64>| -> Outcome {
        let name = format!("{group}.{name}");
        if suite.wants(&name) {
            let seconds = repeat(work)?;
            suite.record(&name, "s", None, seconds);
        }
        Ok(())
    };
    for (name, width) in [("probe.localhost", 1), ("probe.copies40.localhost", COPIES)] {
        let probe = Probe::new(RHO, 1 << 15);
        let encoded: Vec<Block> = (0..width * probe.encoded()).map(|i| Block::from_u128(i as u128)).collect();
        let mut labels = vec![Block::ZERO; width * probe.bits()];
        take(suite, name, &mut || {
            let start = Instant::now();
            probe.decode_rows(width, &encoded, &mut labels);
            black_box(&mut labels);
            Ok(start.elapsed().as_secs_f64())
        })?;
    }
    let circuit =
        Lowered::new(&comity_library::find("aes128").expect("the library has the circuits of the benchmarks"));
    let tape = circuit.tape();
    take(suite, "garble.localhost", &mut || {
        let mut garbler = Garbler::new(backend(), Delta::new(Block::from_u128(5 << 70)), Block::from_u128(6));
        let mut slots: Vec<Block> = (0..tape.slots() as u128).map(|i| Block::from_u128(i << 100 | i)).collect();
        let mut tables = vec![Block::ZERO; 2 * PART];
        let start = Instant::now();
        walk(tape, CIRCUITS, |part| {
            garbler.garble(part, &mut slots, &mut tables[..2 * part.ands()]);
            Ok(())
        })?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    take(suite, "garble.lockstep40.localhost", &mut || {
        let start = Instant::now();
        lockstep(tape, |_| Ok(()))?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    for (network, net) in NETWORKS {
        if network == "wan" && !suite.named(group) {
            continue;
        }
        take(suite, &format!("garble_send.{network}"), &mut || {
            let send = |ch: &mut Wire| lockstep(tape, |tables| ch.send(Block::bytes_of(tables)));
            let receive = |ch: &mut Wire| {
                let mut tables = vec![Block::ZERO; 2 * COPIES * PART];
                walk(tape, CIRCUITS / COPIES, |part| {
                    ch.recv(Block::bytes_of_mut(&mut tables[..2 * COPIES * part.ands()]))
                })
            };
            Ok(play(net, send, receive)?.0.seconds)
        })?;
        let session = session();
        take(suite, &format!("base_ot.{network}"), &mut || {
            let choices = Bits::zeros(BASE_OTS);
            let send = |ch: &mut Wire| Csw::send(ch, &session, BASE_OTS, &mut SystemRng).map(drop);
            let receive = |ch: &mut Wire| Csw::receive(ch, &session, &choices, &mut SystemRng).map(drop);
            Ok(play(net, send, receive)?.0.seconds)
        })?;
        take(suite, &format!("ot_extension.{network}"), &mut || {
            let backend = backend();
            let send = |ch: &mut Wire| {
                let delta = Block::from_u128(0x5a5a_5a5a << 50);
                let sender =
                    softspoken::Sender::<Malicious>::setup::<Csw>(ch, &session, backend, 4, delta, &mut SystemRng)?;
                let (mut ot, mut pairs) = (HashedSender::new(sender), vec![[Block::ZERO; 2]; CALL]);
                (0..OTS / CALL).try_for_each(|_| ot.sender_random(ch, &mut pairs))
            };
            let receive = |ch: &mut Wire| {
                let receiver =
                    softspoken::Receiver::<Malicious>::setup::<Csw>(ch, &session, backend, 4, &mut SystemRng)?;
                let (mut ot, mut chosen) = (HashedReceiver::new(receiver), vec![Block::ZERO; CALL]);
                let choices: Bits = (0..CALL).map(|bit| bit % 3 == 0).collect();
                (0..OTS / CALL).try_for_each(|_| ot.sender_random(ch, &choices, &mut chosen))
            };
            Ok(play(net, send, receive)?.0.seconds)
        })?;
    }
    let mut table = Table::new(["", "network", "paper", "ours", "ratio"]);
    let mut drawn = Rows::of(["paper", "ours"]);
    for (name, paper) in PAPER {
        for ((network, _), paper) in NETWORKS.iter().zip(paper) {
            let ours = suite.value(&format!("{group}.{name}.{network}"));
            if ours.is_some() {
                drawn.row(format!("{name}, {network}"), [paper, ours]);
                table.row([name.to_owned(), (*network).to_owned(), time(paper), time(ours), ratio(paper, ours)]);
            }
        }
    }
    drawn.draw(suite, "WMK17, Table 5", "seconds");
    table.print(
        suite,
        "WMK17, Table 5: the rho-probe matrix for 2^15 bits, 10^4 AES circuits (the paper's of 6,800 ANDs, ours of \
         6,400), 2^10 base OTs, 8 * 10^6 OTs",
    );
    Ok(())
}

/// Walks a tape part by part, again and again.
fn walk(tape: &Tape, times: usize, mut each: impl FnMut(&Part<'_>) -> Result<()>) -> Result<()> {
    for _ in 0..times {
        let mut cursor = Cursor::default();
        while let Some(part) = cursor.advance(tape, PART) {
            each(&part)?;
        }
    }
    Ok(())
}

/// Garbles all circuits, as many in lockstep as the protocol has copies, and hands on the tables.
fn lockstep(tape: &Tape, mut each: impl FnMut(&[Block]) -> Result<()>) -> Result<()> {
    let deltas: Vec<Delta> = (0..COPIES as u128).map(|i| Delta::new(Block::from_u128(i << 70))).collect();
    let mut garbler = LockstepGarbler::new(backend(), &deltas, Block::from_u128(7), tape.slots());
    let mut tables = vec![Block::ZERO; 2 * COPIES * PART];
    walk(tape, CIRCUITS / COPIES, |part| {
        let tables = &mut tables[..2 * COPIES * part.ands()];
        garbler.garble(part, tables);
        each(tables)
    })
}
