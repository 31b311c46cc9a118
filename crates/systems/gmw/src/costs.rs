//! What a run costs: base OTs, triples and openings, with lengths.

use comity_core::PartyId;
use comity_protocol::{Costing, Talk, Walked};
use comity_share::triples::{CHUNK, OtKind};
use comity_sharing::{BitRows, PIECE};

use crate::dealers::MOST;
use crate::sharing::{look_ups, table_in, triples_of};
use crate::table::UnitPool;

/// Seconds of work for a triple with each peer, and for the base OTs with each peer.
const TRIPLE: f64 = 14e-9;
const BASE: f64 = 0.02;

/// Seconds of work for an AND.
const GATE: f64 = 4e-9;

/// Goes through the messages of a run on triples from OT.
pub(crate) fn costs(of: &Costing<'_>, extension: OtKind, talk: &mut Talk) {
    if triples_of(of.program) > 0 {
        setup(of.parties, extension, talk);
    }
    costs_on(of, &|talk, count| triples(count, of.parties, extension, talk), talk);
}

/// Goes through the messages of [`run_with`](crate::run_with) a dealer. `dealer` goes through the messages by
/// which a number of triples are made, each time that this happens.
pub fn costs_on(of: &Costing<'_>, dealer: &dyn Fn(&mut Talk, u64), talk: &mut Talk) {
    let ands = triples_of(of.program);
    // The seeds of the streams.
    talk.exchange(16);
    dealing(ands, dealer, talk);
    for (delta, count) in look_ups(of.program) {
        let most = UnitPool::most(delta) as u64;
        if count > most {
            // The later ones are made amid the calls, as many at a time as these want.
            talk.about();
        }
        talk.repeat(count / most, &mut |talk| vectors(delta, most, talk));
        vectors(delta, count % most, talk);
    }
    of.walk(talk, &mut |talk, step| match step {
        Walked::Input(_) => {}
        Walked::Call { circuit, ands, times } => {
            let index = of.program.lowered().iter().position(|known| std::ptr::eq(known, circuit));
            let delta = index.and_then(|index| table_in(of.program, index)).map(|table| table.delta() as u64);
            match delta {
                Some(delta) => BitRows::handed(circuit, times, |times, turns| {
                    talk.repeat(turns, &mut |talk| talk.exchange((delta * times).div_ceil(8)));
                }),
                None => BitRows::messages(circuit, times, |ands, turns| {
                    talk.repeat(turns, &mut |talk| talk.exchange(2 * ands.div_ceil(8)));
                }),
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
pub fn setup(parties: u16, extension: OtKind, talk: &mut Talk) {
    talk.work(BASE * f64::from(parties - 1));
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

/// The messages that make `triples` triples: `dealer` goes through the dealer's own, each time that it makes
/// some.
pub fn dealing(triples: u64, dealer: &dyn Fn(&mut Talk, u64), talk: &mut Talk) {
    talk.repeat(triples / MOST as u64, &mut |talk| dealer(talk, MOST as u64));
    if !triples.is_multiple_of(MOST as u64) {
        dealer(talk, triples % MOST as u64);
    }
}

/// The messages that make `count` triples from OT.
pub fn triples(count: u64, parties: u16, extension: OtKind, talk: &mut Talk) {
    talk.work(TRIPLE * f64::from(parties - 1) * count as f64);
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

/// Unit vectors for `copies` indices of `delta` bits, joined two and two.
pub fn vectors(delta: usize, copies: u64, talk: &mut Talk) {
    let mut lines = vec![2; delta];
    while lines.len() > 1 {
        let products: u64 = lines.chunks_exact(2).map(|two| (two[0] - 1) * (two[1] - 1)).sum();
        opened(products * copies, talk);
        lines = lines.chunks(2).map(|two| two.iter().product()).collect();
    }
}

/// The messages of `ands` ANDs.
pub fn opened(ands: u64, talk: &mut Talk) {
    let piece = PIECE as u64;
    let opening = |talk: &mut Talk, ands: u64| talk.exchange(2 * ands.div_ceil(8));
    talk.repeat(ands / piece, &mut |talk| opening(talk, piece));
    if !ands.is_multiple_of(piece) {
        opening(talk, ands % piece);
    }
}
