//! What a run costs: base OTs, triples and openings, with lengths.

use comity_circuit::Step;
use comity_core::{PartyId, Result};
use comity_protocol::{Costing, Talk};
use comity_share::ring::WordProduct;
use comity_share::triples::OtKind;

use crate::dealers::MOST_WORDS;
use crate::engine::{products_of, together};
use crate::layout::Layout;
use crate::words::WordPlan;

/// Seconds of work for an OT each way with what is made of it, for a product, and for the base OTs.
const OT: f64 = 14e-9;
const PRODUCT: f64 = 30e-9;
const BASE: f64 = 0.02;

/// Goes through the messages of a run on triples from OT.
pub(crate) fn costs(of: &Costing<'_>, extension: OtKind, talk: &mut Talk) -> Result<()> {
    let layout = Layout::new(of.program).map_err(|refusal| refusal.error(of.program))?;
    let products = products_of(of.program, &layout);
    if !products.is_empty() {
        setup(extension, talk);
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
    steps(of.program.steps(), &layout, talk, &mut |talk| {
        let output = outputs.next().expect("an output for each reveal");
        talk.exchange_each(|_, to| if output.to.includes(to) { output.bits.div_ceil(8) as u64 } else { 0 });
    });
    Ok(())
}

fn steps(all: &[Step], layout: &Layout, talk: &mut Talk, reveal: &mut dyn FnMut(&mut Talk)) {
    for step in all {
        match step {
            Step::Input { .. } => {}
            Step::Call { times, .. } => calls(layout.plan_of(step).expect("it is a call"), *times, talk),
            Step::Repeat { times, body } => {
                talk.repeat(*times, &mut |talk| steps(body, layout, talk, &mut |_| {}));
            }
            Step::Reveal { .. } => reveal(talk),
        }
    }
}

/// Calls side by side: a message each way a layer.
fn calls(plan: &WordPlan, times: u64, talk: &mut Talk) {
    let together = together(plan, times);
    let turn = |talk: &mut Talk, copies: u64| {
        for layer in &plan.layers {
            let bits = |what: WordProduct| u64::from(what.bits) * if what.square { 1 } else { 2 };
            let all: u64 = layer.products.iter().map(|factors| bits(factors.what)).sum();
            talk.exchange((all * copies).div_ceil(8));
        }
    };
    talk.repeat(times / together, &mut |talk| turn(talk, together));
    if !times.is_multiple_of(together) {
        turn(talk, times % together);
    }
}

/// The base OTs of an extension each way; party 0 begins as the sender.
fn setup(extension: OtKind, talk: &mut Talk) {
    for (sender, receiver) in [(PartyId(0), PartyId(1)), (PartyId(1), PartyId(0))] {
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

/// So many triples or square pairs.
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
