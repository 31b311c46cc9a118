//! What a run costs: base OTs, triples and openings, with lengths.

use comity_circuit::Step;
use comity_core::{PartyId, Result};
use comity_protocol::{Costing, Talk};
use comity_share::ring::WordProduct;
use comity_share::triples::OtKind;

use crate::conversions::Lifted;
use crate::dealers::MOST_WORDS;
use crate::engine::Taken;
use crate::lanes::together;
use crate::layout::Layout;
use crate::plan::{Layer, WordPlan};

/// Seconds of work for an OT each way with what is made of it, for a product, for an AND gate, and for the
/// base OTs.
const OT: f64 = 14e-9;
const PRODUCT: f64 = 30e-9;
const AND: f64 = 18e-9;
const BASE: f64 = 0.02;

/// Goes through the messages of a run on triples from OT.
pub(crate) fn costs(of: &Costing<'_>, extension: OtKind, talk: &mut Talk) -> Result<()> {
    let layout = Layout::new(of.program).map_err(|refusal| refusal.error(of.program))?;
    let Taken { products, converts } = Taken::new(of.program, &layout);
    if !products.is_empty() {
        setup(extension, [true; 2], talk);
        talk.work(BASE);
    }
    if converts[0] {
        setup(extension, converts, talk);
        talk.work(BASE);
    }
    // The seeds of the streams.
    talk.exchange(16);
    for (&what, &count) in &products {
        let most = MOST_WORDS as u64;
        talk.repeat(count / most, &mut |talk| deal(what, most, extension, talk));
        deal(what, count % most, extension, talk);
        talk.work(PRODUCT * count as f64 + OT * (u64::from(what.ots()) * count) as f64);
    }
    let mut outputs = of.program.outputs().iter();
    steps(of.program.steps(), (&layout, extension), talk, &mut |talk| {
        let output = outputs.next().expect("an output for each reveal");
        talk.exchange_each(|_, to| if output.to.includes(to) { output.bits.div_ceil(8) as u64 } else { 0 });
    });
    Ok(())
}

fn steps(all: &[Step], of: (&Layout, OtKind), talk: &mut Talk, reveal: &mut dyn FnMut(&mut Talk)) {
    for step in all {
        match step {
            Step::Input { .. } => {}
            Step::Call { times, .. } => calls(of.0.plan_of(step).expect("it is a call"), *times, of.1, talk),
            Step::Repeat { times, body } => {
                talk.repeat(*times, &mut |talk| steps(body, of, talk, &mut |_| {}));
            }
            Step::Reveal { .. } => reveal(talk),
        }
    }
}

/// Calls side by side: the messages of each layer.
fn calls(plan: &WordPlan, times: u64, extension: OtKind, talk: &mut Talk) {
    let together = together(plan, times);
    let turn = |talk: &mut Talk, copies: u64| {
        for layer in &plan.layers {
            let bits = |what: WordProduct| u64::from(what.bits) * if what.square { 1 } else { 2 };
            let all: u64 = layer.products.iter().map(|factors| bits(factors.what)).sum();
            talk.exchange((all * copies).div_ceil(8));
            conversions(plan, layer, copies, extension, talk);
        }
    };
    talk.repeat(times / together, &mut |talk| turn(talk, together));
    if !times.is_multiple_of(together) {
        turn(talk, times % together);
    }
}

/// Circuits, words of bits, and choices.
fn conversions(plan: &WordPlan, layer: &Layer, copies: u64, extension: OtKind, talk: &mut Talk) {
    let gates = || layer.garbles.iter().map(|garble| &plan.circuits[garble.circuit]);
    let labels: u64 = gates().flat_map(|gates| &gates.ins).map(|bits| u64::from(*bits)).sum();
    if labels > 0 {
        chosen_ots(copies * labels, [PartyId(0), PartyId(1)], extension, talk);
        let ands: u64 = gates().map(|gates| gates.lowered.tape().ands().len() as u64).sum();
        talk.say(PartyId(0), PartyId(1), 32 * ands * copies);
        talk.work((ands * copies) as f64 * AND + (labels * copies) as f64 * OT);
    }
    let lifts =
        layer.lifts.iter().flat_map(|lift| (0..Lifted::ots(lift.bits, lift.to)).map(|i| u64::from(lift.to - i)));
    words_by_bits(lifts, copies, [PartyId(0), PartyId(1)], extension, talk);
    let choices = || layer.choices.iter().map(|choice| u64::from(choice.word.bits));
    for ends in [[PartyId(0), PartyId(1)], [PartyId(1), PartyId(0)]] {
        words_by_bits(choices(), copies, ends, extension, talk);
    }
}

/// OTs on words of these widths, which the first party sends.
fn words_by_bits(
    widths: impl Iterator<Item = u64>,
    copies: u64,
    [sender, receiver]: [PartyId; 2],
    extension: OtKind,
    talk: &mut Talk,
) {
    let (ots, bits) = widths.fold((0, 0), |(ots, bits), width| (ots + copies, bits + width * copies));
    if ots > 0 {
        chosen_ots(ots, [sender, receiver], extension, talk);
        talk.say(sender, receiver, bits.div_ceil(8));
        talk.work(ots as f64 * OT);
    }
}

/// OTs whose choice bits the receiver has.
fn chosen_ots(ots: u64, [sender, receiver]: [PartyId; 2], extension: OtKind, talk: &mut Talk) {
    match extension {
        OtKind::SoftSpoken => talk.say(receiver, sender, 32 * 16 * ots.div_ceil(128)),
        OtKind::Iknp => talk.say(receiver, sender, 128 * ots.div_ceil(8)),
        OtKind::Silent => {
            talk.say(sender, receiver, ots * 3 / 20 + 24_000);
            talk.say(receiver, sender, ots.div_ceil(8));
        }
    }
}

/// The base OTs of an extension, from each party that sends; party 0 begins as the sender.
fn setup(extension: OtKind, sends: [bool; 2], talk: &mut Talk) {
    let ways = [(PartyId(0), PartyId(1)), (PartyId(1), PartyId(0))];
    for ((sender, receiver), _) in ways.into_iter().zip(sends).filter(|(_, sends)| *sends) {
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

/// The messages that deal `count` triples or square pairs.
fn deal(what: WordProduct, count: u64, extension: OtKind, talk: &mut Talk) {
    let each = if what.square { count.div_ceil(2) } else { count };
    let chunk = |talk: &mut Talk, n: u64| {
        let ots = n * u64::from(what.ots());
        match extension {
            OtKind::SoftSpoken => talk.exchange(31 * 16 * ots.div_ceil(128)),
            OtKind::Iknp => talk.exchange(127 * ots.div_ceil(8)),
            OtKind::Silent => talk.exchange(ots * 3 / 20 + 24_000),
        }
        talk.exchange((n * what.told()).div_ceil(8));
    };
    let most = what.chunk() as u64;
    talk.repeat(each / most, &mut |talk| chunk(talk, most));
    if !each.is_multiple_of(most) {
        chunk(talk, each % most);
    }
}
