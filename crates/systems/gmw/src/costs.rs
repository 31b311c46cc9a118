//! What a run costs: base OTs, triples and openings, with lengths.

use comity_circuit::Lowered;
use comity_core::PartyId;
use comity_protocol::{Costing, Talk, Walked};
use comity_share::triples::{CHUNK, OtKind};

use crate::PIECE;
use crate::dealers::MOST;
use crate::engine::together;

/// Seconds of work for a triple with each peer, for an AND, and for the base OTs with each peer.
const TRIPLE: f64 = 40e-9;
const GATE: f64 = 4e-9;
const BASE: f64 = 0.016;

/// Calls that the walk over a program hands on at once have so many AND gates at most.
const HANDED: u64 = 1 << 22;

/// Goes through the messages of a run.
pub(crate) fn costs(of: &Costing<'_>, extension: OtKind, talk: &mut Talk) {
    let (ands, others) = (of.program.and_gates(), f64::from(of.parties - 1));
    if ands > 0 {
        setup(of.parties, extension, talk);
        talk.work(BASE * others);
    }
    // The seeds of the streams.
    talk.exchange(16);
    let mut left = ands;
    talk.repeat(left / MOST as u64, &mut |talk| triples(MOST as u64, of.parties, extension, talk));
    left %= MOST as u64;
    if left > 0 {
        triples(left, of.parties, extension, talk);
    }
    talk.work(TRIPLE * others * ands as f64);
    of.walk(talk, &mut |talk, step| match step {
        Walked::Input(_) => {}
        Walked::Call { circuit, ands, times } => {
            let handed = (HANDED / ands.max(1)).max(1);
            talk.repeat(times / handed, &mut |talk| calls(circuit, handed, talk));
            if !times.is_multiple_of(handed) {
                calls(circuit, times % handed, talk);
            }
            talk.work(GATE * ands.saturating_mul(times) as f64);
        }
        Walked::Output(index) => {
            let output = &of.program.outputs()[index];
            talk.exchange_each(|_, to| if output.to.includes(to) { output.bits.div_ceil(8) as u64 } else { 0 });
        }
    });
}

/// The base OTs of an extension each way, with every peer; the lower one of two begins as the sender.
fn setup(parties: u16, extension: OtKind, talk: &mut Talk) {
    for low in 0..parties {
        for high in low + 1..parties {
            let (low, high) = (PartyId(low), PartyId(high));
            for (sender, receiver) in [(low, high), (high, low)] {
                talk.say(receiver, sender, 32);
                talk.say(sender, receiver, 128 * 32);
                match extension {
                    // Trees of four levels: both sums of each level but the first.
                    OtKind::SoftSpoken => talk.say(receiver, sender, 32 * 3 * 32),
                    OtKind::Iknp => {}
                    OtKind::Silent => talk.about(),
                }
            }
        }
    }
}

/// So many triples.
fn triples(count: u64, parties: u16, extension: OtKind, talk: &mut Talk) {
    let chunk = |talk: &mut Talk, ots: u64| match extension {
        OtKind::SoftSpoken => talk.exchange(31 * 16 * ots.div_ceil(128)),
        OtKind::Iknp => talk.exchange(127 * ots.div_ceil(8)),
        OtKind::Silent => talk.exchange(ots * 3 / 20 + 24_000),
    };
    talk.repeat(count / CHUNK as u64, &mut |talk| chunk(talk, CHUNK as u64));
    if !count.is_multiple_of(CHUNK as u64) {
        chunk(talk, count % CHUNK as u64);
    }
    if parties > 2 {
        let first = |party: PartyId| PartyId(u16::from(party == PartyId(0)));
        talk.exchange_each(|from, to| if first(from) == to { 0 } else { 16 * count.div_ceil(64) });
    }
}

/// Calls side by side: an opening a layer.
fn calls(circuit: &Lowered, times: u64, talk: &mut Talk) {
    let layered = circuit.layered();
    let together = together(layered.slots(), times);
    let turn = |talk: &mut Talk, copies: u64| {
        for layer in layered.layers().iter().filter(|layer| layer.ands > 0) {
            let piece = PIECE as u64 / copies * copies;
            let ands = layer.ands as u64 * copies;
            let opening = |talk: &mut Talk, ands: u64| talk.exchange(2 * ands.div_ceil(8));
            talk.repeat(ands / piece, &mut |talk| opening(talk, piece));
            if !ands.is_multiple_of(piece) {
                opening(talk, ands % piece);
            }
        }
    };
    talk.repeat(times / together, &mut |talk| turn(talk, together));
    if !times.is_multiple_of(together) {
        turn(talk, times % together);
    }
}
