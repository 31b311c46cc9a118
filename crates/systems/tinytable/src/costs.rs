//! What a run without a store costs: making the tables, and then the run on them, with lengths.

use comity_circuit::{Program, Step};
use comity_core::{PartyId, Result};
use comity_gmw::costs::{dealing, opened, setup, triples, vectors};
use comity_gmw::table::PublicTable;
use comity_protocol::{Costing, Talk, Walked};
use comity_share::triples::OtKind;
use comity_sharing::BitRows;
use comity_triples::costs::{counted, deal_for_two};
use comity_triples::fast;

use crate::boxes::{Boxed, Boxing, is_full, messages};
use crate::kept::TablesHead;
use crate::protocol::kind;
use crate::semi_honest::TOGETHER;

/// Seconds of work for an AND gate, ahead and online.
const GATE: f64 = 4e-9;

/// The messages of the semi-honest form.
pub(crate) fn semi_honest(of: &Costing<'_>, extension: OtKind, talk: &mut Talk) {
    let boxed = Boxed::new(of.program, Boxing::of(of.options));
    let (made, gates, boxes) = (boxed.triples(), boxed.gates(), boxed.boxes());
    if of.program.and_gates() > 0 {
        setup(2, extension, talk);
    }
    // The seeds of the machine's streams.
    talk.exchange(16);
    let dealer = |talk: &mut Talk, count: u64| triples(count, 2, extension, talk);
    let unit_bits =
        boxes.iter().fold(0_u64, |bits, (delta, count)| bits.saturating_add(count.saturating_mul(1 << delta)));
    if gates > TOGETHER as u64 || is_full(unit_bits) || !outputs_last(of.program) {
        // Products are made in several parts, of which each may end inside a byte.
        talk.about();
    }
    dealing(made, &dealer, talk);
    opened(gates, talk);
    boxes.into_iter().for_each(|(delta, count)| vectors(delta, count, talk));
    for output in of.program.outputs() {
        talk.exchange_each(|_, to| if output.to.includes(to) { output.bits.div_ceil(8) as u64 } else { 0 });
    }
    of.walk(talk, &mut |talk, step| match step {
        Walked::Input(index) => {
            let input = &of.program.inputs()[index];
            if let Some(owner) = input.owner.party() {
                talk.say(owner, PartyId(1 - owner.0), input.bits.div_ceil(8) as u64);
            }
        }
        Walked::Call { circuit, ands, times } => {
            let index = of.program.lowered().iter().position(|known| std::ptr::eq(known, circuit));
            match index.and_then(|index| boxed.table(index)) {
                Some(table) => BitRows::handed(circuit, times, |calls, turns| {
                    talk.repeat(turns, &mut |talk| rows(table, calls).for_each(|bits| talk.exchange(bits.div_ceil(8))));
                }),
                None => BitRows::messages(circuit, times, |ands, turns| {
                    talk.repeat(turns, &mut |talk| talk.exchange(ands.div_ceil(8)));
                }),
            }
            talk.work(GATE * ands.saturating_mul(times) as f64);
        }
        Walked::Output(_) => {}
    });
}

/// The messages of the malicious form: an estimate, as the dealer's are.
///
/// # Errors
/// Those of the dealer's.
pub(crate) fn malicious(of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
    let ands = of.program.and_gates();
    counted(kind(of.options))?;
    deal_for_two(of, ands, fast::OBJECTS, talk)?;
    // Masks of inputs and of gates, with what is checked; and what is opened, with a digest.
    talk.exchange(4 * (of.input_bits() + ands) + 1_400);
    talk.turns(4 + 3 * (ands >> 16));
    talk.exchange(ands / 4 + 32);
    // The run: masked inputs, a bit a gate, and outputs.
    talk.exchange(of.input_bits() / 8 + ands / 8 + 32);
    talk.turns(of.program.totals().and_depth);
    talk.exchange(of.program.outputs().iter().map(|output| output.bits as u64 / 8 + 32).sum());
    Ok(())
}

/// The bits of the rows of `calls` calls that come at once, message by message.
fn rows(table: &PublicTable, calls: u64) -> impl Iterator<Item = u64> {
    let bits = table.bits();
    messages(table.delta(), calls).map(move |(_, boxes)| (bits * boxes) as u64)
}

/// Whether all inputs come before all gates, and outputs after them.
fn outputs_last(program: &Program) -> bool {
    let place = |step: &Step| match step {
        Step::Input { .. } => 0,
        Step::Call { .. } | Step::Repeat { .. } => 1,
        Step::Reveal { .. } => 2,
    };
    program.steps().is_sorted_by_key(place)
}

/// The most bytes that a party keeps of the semi-honest form.
pub(crate) fn table_bytes(boxed: &Boxed<'_>) -> u64 {
    let program = boxed.program();
    let bits = |bits: usize| bits.div_ceil(8) as u64;
    let values = program.inputs().iter().map(|input| bits(input.bits));
    let values: u64 = values.chain(program.outputs().iter().map(|output| bits(output.bits))).sum();
    let mut tables = 0_u64;
    boxed.calls(&mut |index, times, turns| {
        let circuit = &program.lowered()[index];
        let mut of_calls = 0_u64;
        match boxed.table(index) {
            Some(table) => BitRows::handed(circuit, times, |calls, turns| {
                let vectors = messages(table.delta(), calls).map(|(_, boxes)| bits(boxes) << table.delta());
                let of = vectors.chain(rows(table, calls).map(|bits| bits.div_ceil(8))).sum::<u64>();
                of_calls = of_calls.saturating_add(turns.saturating_mul(of));
            }),
            None => BitRows::messages(circuit, times, |ands, turns| {
                of_calls = of_calls.saturating_add(turns.saturating_mul(2 * ands.div_ceil(8)));
            }),
        }
        tables = tables.saturating_add(of_calls.saturating_mul(turns));
    });
    (TablesHead::BYTES + values).saturating_add(tables)
}
