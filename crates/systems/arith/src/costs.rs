//! What a run costs: base OTs, triples and openings, with lengths.
//!
//! A protocol that runs [circuits on words](crate::WordCircuit) beside others goes through the same messages.

use comity_circuit::Step;
use comity_core::{PartyId, Result};
use comity_protocol::{Costing, Talk};
use comity_share::ring::{MatrixProduct, WordProduct};
use comity_share::triples::OtKind;

use crate::conversions::Lifted;
use crate::dealers::{MOST_WORDS, most_matrices};
use crate::engine::Taken;
use crate::lanes::together;
use crate::layout::Layout;
use crate::machine::one_by_one;
use crate::plan::{Layer, WordPlan};

/// Seconds of work for an OT with what is made of it.
pub const OT: f64 = 14e-9;
/// Seconds of work for a product, beside its OTs.
pub const PRODUCT: f64 = 30e-9;
/// Seconds of work for an AND gate that is garbled.
pub const AND: f64 = 18e-9;
/// Seconds of work for base OTs.
const BASE: f64 = 0.02;

/// Where the OTs and the triples of a run come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtsFrom {
    /// The run makes them by this extension.
    Extension(OtKind),
    /// They were made ahead.
    Store,
}

impl From<OtKind> for OtsFrom {
    fn from(kind: OtKind) -> OtsFrom {
        OtsFrom::Extension(kind)
    }
}

/// Goes through the messages of a run on triples from OT.
pub(crate) fn costs(of: &Costing<'_>, extension: OtKind, talk: &mut Talk) -> Result<()> {
    let layout = Layout::new(of.program).map_err(|refusal| refusal.error(of.program))?;
    let taken = Taken::new(of.program, &layout);
    let any = taken.multiplies();
    let Taken { products, matrices, ots } = taken;
    if any {
        setup(extension, [true; 2], talk);
    }
    if ots[0] > 0 {
        setup(extension, ots.map(|ots| ots > 0), talk);
    }
    // The seeds of the streams.
    talk.exchange(16);
    for (&what, &count) in &products {
        make_products(what, count, extension, talk);
    }
    for (&what, &count) in &matrices {
        make_matrices(what, count, extension, talk);
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
        messages(plan).for_each(|layer| layer.talk(copies, extension.into(), talk));
    };
    talk.repeat(times / together, &mut |talk| turn(talk, together));
    if !times.is_multiple_of(together) {
        turn(talk, times % together);
    }
}

/// The messages of a layer of operations on words, for one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordMessages {
    /// Bits that either party opens for products.
    pub opened: u64,
    /// Those among them for squares: of a square that is a product of stored triples both factors are opened.
    pub squares: u64,
    /// Bits that either party opens for products of matrices; and where these are products of words.
    pub matrices: [u64; 2],
    /// OTs that transfer labels.
    pub labels: u64,
    /// AND gates that are garbled on these labels.
    pub ands: u64,
    /// For bits that become words: the OTs, and the bits that their sender sends besides.
    pub lifts: [u64; 2],
    /// For choices: the OTs each way, and the bits that their sender sends besides.
    pub choices: [u64; 2],
}

/// What each layer of a plan sends; of those that send something.
pub(crate) fn messages(plan: &WordPlan) -> impl Iterator<Item = WordMessages> + '_ {
    plan.layers.iter().map(|layer| of_layer(plan, layer)).filter(|messages| *messages != WordMessages::default())
}

fn of_layer(plan: &WordPlan, layer: &Layer) -> WordMessages {
    let gates = || layer.garbles.iter().map(|garble| &plan.circuits[garble.circuit]);
    let shown = |what: WordProduct| u64::from(what.bits) * if what.square { 1 } else { 2 };
    let mut lifts = [0; 2];
    for lift in &layer.lifts {
        for i in 0..Lifted::ots(lift.bits, lift.to) {
            lifts = [lifts[0] + 1, lifts[1] + u64::from(lift.to - i)];
        }
    }
    let choices = layer.choices.iter().map(|choice| u64::from(choice.word.bits));
    WordMessages {
        opened: layer.products.iter().map(|factors| shown(factors.what)).sum(),
        squares: layer.products.iter().filter(|of| of.what.square).map(|factors| shown(factors.what)).sum(),
        matrices: layer.matrices.iter().fold([0; 2], |[matrices, words], matrix| {
            let ([x, y, _], bits) = (matrix.what.words(), u64::from(matrix.what.bits));
            let (_, products) = one_by_one(matrix.what, 1);
            [matrices + (x + y) as u64 * bits, words + 2 * products * bits]
        }),
        labels: gates().flat_map(|gates| &gates.ins).map(|bits| u64::from(*bits)).sum(),
        ands: gates().map(|gates| gates.lowered.tape().ands().len() as u64).sum(),
        lifts,
        choices: [layer.choices.len() as u64, choices.sum()],
    }
}

impl WordMessages {
    /// Adds the OTs that each party sends in `calls` calls to those of others.
    pub fn count_ots(&self, calls: u64, all: &mut [u64; 2]) {
        let ots = [self.labels + self.lifts[0] + self.choices[0], self.choices[0]];
        all.iter_mut().zip(ots).for_each(|(all, ots)| *all = all.saturating_add(ots.saturating_mul(calls)));
    }

    /// Goes through the messages of `copies` calls side by side.
    pub fn talk(&self, copies: u64, from: OtsFrom, talk: &mut Talk) {
        let [matrices, words] = self.matrices;
        let (opened, matrices) = match from {
            OtsFrom::Extension(_) => (self.opened, matrices),
            OtsFrom::Store => (self.opened + self.squares, words),
        };
        talk.exchange((opened * copies).div_ceil(8));
        talk.exchange((matrices * copies).div_ceil(8));
        if self.labels > 0 {
            chosen_ots(copies * self.labels, [PartyId(0), PartyId(1)], from, talk);
            garbled(self.ands * copies, talk);
            talk.work((self.labels * copies) as f64 * OT);
        }
        told(self.lifts, copies, [PartyId(0), PartyId(1)], from, talk);
        for ends in [[PartyId(0), PartyId(1)], [PartyId(1), PartyId(0)]] {
            told(self.choices, copies, ends, from, talk);
        }
    }
}

/// The messages of AND gates that party 0 garbles.
pub fn garbled(ands: u64, talk: &mut Talk) {
    talk.say(PartyId(0), PartyId(1), 32 * ands);
    talk.work(ands as f64 * AND);
}

/// The messages of OTs on words, whose sender is the first party: the OTs and its further bits are those of one
/// call.
pub fn told([ots, bits]: [u64; 2], copies: u64, [sender, receiver]: [PartyId; 2], from: OtsFrom, talk: &mut Talk) {
    let (ots, bits) = (ots * copies, bits * copies);
    if ots > 0 {
        chosen_ots(ots, [sender, receiver], from, talk);
        talk.say(sender, receiver, bits.div_ceil(8));
        talk.work(ots as f64 * OT);
    }
}

/// The messages of OTs whose choice bits the receiver gives.
pub fn chosen_ots(ots: u64, [sender, receiver]: [PartyId; 2], from: OtsFrom, talk: &mut Talk) {
    let extension = match from {
        OtsFrom::Extension(extension) => extension,
        OtsFrom::Store => return talk.say(receiver, sender, ots.div_ceil(8)),
    };
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
pub fn setup(extension: OtKind, sends: [bool; 2], talk: &mut Talk) {
    talk.work(BASE);
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

/// The messages that deal `count` triples or square pairs, as many at a time as there can be.
pub fn make_products(what: WordProduct, count: u64, extension: OtKind, talk: &mut Talk) {
    let most = MOST_WORDS as u64;
    talk.repeat(count / most, &mut |talk| deal(what, most, extension, talk));
    deal(what, count % most, extension, talk);
    talk.work(PRODUCT * count as f64 + OT * (u64::from(what.ots()) * count) as f64);
}

/// The messages that deal `count` triples or square pairs.
fn deal(what: WordProduct, count: u64, extension: OtKind, talk: &mut Talk) {
    let each = if what.square { count.div_ceil(2) } else { count };
    chunks((each, what.chunk() as u64), [what.ots().into(), what.told()], extension, talk);
}

/// The messages that deal `count` triples of matrices, as many at a time as there can be.
pub fn make_matrices(what: MatrixProduct, count: u64, extension: OtKind, talk: &mut Talk) {
    let most = most_matrices(what) as u64;
    let ([choosing, row], bits) = (what.rows().map(|words| words as u64), u64::from(what.bits));
    let deal = |talk: &mut Talk, count: u64| {
        chunks((count * choosing, what.chunk() as u64), [bits, what.told()], extension, talk);
    };
    talk.repeat(count / most, &mut |talk| deal(talk, most));
    deal(talk, count % most);
    talk.work((PRODUCT * row as f64 + OT * bits as f64) * (choosing * count) as f64);
}

/// The messages of random OTs, and what is told for each of as many products, so many at a time.
fn chunks((products, most): (u64, u64), [ots, told]: [u64; 2], extension: OtKind, talk: &mut Talk) {
    let chunk = |talk: &mut Talk, n: u64| {
        match extension {
            OtKind::SoftSpoken => talk.exchange(31 * 16 * (n * ots).div_ceil(128)),
            OtKind::Iknp => talk.exchange(127 * (n * ots).div_ceil(8)),
            OtKind::Silent => talk.exchange(n * ots * 3 / 20 + 24_000),
        }
        talk.exchange((n * told).div_ceil(8));
    };
    talk.repeat(products / most, &mut |talk| chunk(talk, most));
    if !products.is_multiple_of(most) {
        chunk(talk, products % most);
    }
}
