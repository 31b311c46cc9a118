//! Circuit-Phasing: D13.3, section 5.1, by Pinkas, Schneider, Segev, Zohner (USENIX Security 2015, ePrint
//! 2015/634), section 4.
//!
//! Both sides put short items into bins, the receiver one a bin and the sender all of its own, filled up to
//! as many as the fullest bin can have. A [program](comparison) compares what is in a bin, under any protocol
//! that runs programs; only the receiver learns its outputs, a bit for each bin.
//!
//! **Adversary**: that of the protocol. A malicious receiver has a slot a bin, 1.27 for each of its items and
//! 1,301 at least, and may put an item into several; a malicious sender may put other items into each of an
//! item's bins, and as many as there is room for. The result is then that of such sets. **Assumptions**:
//! those of the protocol; BLAKE3 as a random oracle (digests).
//!
//! **Cost**: `b beta (mu - 1)` AND gates, for `b` = 1.27 n2 bins of at most `beta` items with
//! `mu = rho + log2(n1) + log2(n2) - log2(b) + 2` bits; the inputs `b mu` and `b beta mu` bits.
//!
//! **Failure**: items that hashing cannot place are left out, each side's own by probability 2^-rho; `beta` is
//! [computed](fullest_bin), and not a constant of a measurement.

use comity_circuit::{Builder, Goal, Observer, Program, ProgramBuilder, Recipients, Wire};
use comity_core::{Bits, Error, PartyId, Result, declassify};
use comity_hashing::{BinEntry, Cuckoo, FUNCTIONS, Permutation, ROOMY, Simple, bins, fullest_bin};
use comity_protocol::{Empty, Job, OptionValue, Options, Party, Protocol};

use crate::bins::{FUNCTION_BITS, Placed, left_out};
use crate::set::{Matches, Sent, Set};
use crate::short;
use crate::sizes::Sizes;
use crate::terms::Terms;

/// Dummies, which no function puts anywhere; the sender's differ from the receiver's.
const SENDERS_DUMMY: u128 = FUNCTIONS as u128;
const RECEIVERS_DUMMY: u128 = 1 << FUNCTION_BITS | FUNCTIONS as u128;

/// The session of the comparison, under that of the run.
const LABEL: &str = "private set intersection: comparison of bins";

/// The most input bits of a program: of sets of about 2^18.
const MOST: u64 = 1 << 29;

/// The lengths that follow from the sizes.
#[derive(Clone, Copy)]
struct Shape {
    /// The number of bins.
    bins: u32,
    /// The sender's slots in a bin.
    slots: usize,
    /// The bits of a slot.
    bits: u32,
}

impl Shape {
    /// The shape for sets of these sizes, if a program on this machine can have it. One of the sizes is only
    /// the peer's claim.
    fn new(sizes: Sizes) -> Result<Shape> {
        let bins = bins(sizes.receiver, ROOMY);
        let slots = fullest_bin(sizes.sender, bins, sizes.rho).max(1);
        let bits = Permutation::rest_bits(bins, sizes.item_bits()) + FUNCTION_BITS;
        if u64::from(bins) * slots as u64 * u64::from(bits) > MOST {
            let Sizes { sender, receiver, .. } = sizes;
            return Err(Error::invalid_input(format!(
                "sets of {sender} and {receiver} items are too large for a circuit: take kkrt"
            )));
        }
        Ok(Shape { bins, slots, bits })
    }
}

/// The slots of all bins of the sender or the receiver, if there is a circuit for these sizes.
pub(crate) fn slots(sizes: Sizes, sends: bool) -> Option<usize> {
    let shape = Shape::new(sizes).ok()?;
    Some(shape.bins as usize * if sends { shape.slots } else { 1 })
}

/// The program that compares two sets of these announced sizes, in their bins: the first input is the
/// sender's, the second the receiver's, and the only output has a bit for each bin of the receiver's.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if the sets are too large for a program.
pub fn comparison(sender: usize, receiver: usize, rho: u32, sends: PartyId, goal: Goal) -> Result<Program> {
    program(Shape::new(Sizes { sender, receiver, rho })?, sends, goal)
}

fn program(Shape { bins, slots, bits }: Shape, sends: PartyId, goal: Goal) -> Result<Program> {
    let (bins, slots, bits) = (u64::from(bins), slots as u64, u64::from(bits));
    let mut program = ProgramBuilder::for_goal("private set intersection by comparison of bins", goal);
    let mut b = program.builder();
    let (theirs, own) = (b.input("sender", (slots * bits) as usize), b.input("receiver", bits as usize));
    let equal: Vec<Wire> = theirs.chunks(bits as usize).map(|slot| equal(&mut b, slot, &own)).collect();
    // An item is in one slot at most: a sum will do.
    let found = equal[1..].iter().fold(equal[0], |found, &equal| b.xor(found, equal));
    b.output("found", &[found]);
    let circuit = b.finish();
    let bin = program.circuit(circuit);
    let theirs = program.input("sender", sends.0, bins * slots * bits);
    let own = program.input("receiver", sends.other().0, bins * bits);
    let found = program.register(bins);
    let args =
        [(theirs.slice(0, slots * bits).span(), (slots * bits) as i64), (own.slice(0, bits).span(), bits as i64)];
    program.map(bin, bins, &args, &[(found.slice(0, 1).span(), 1)]);
    program.reveal("found", Recipients::only(sends.other().0), found);
    program.finish().map_err(|error| Error::invalid_input(format!("sets too large for a circuit: {error}; take kkrt")))
}

/// Whether two values are the same: a tree of ANDs.
fn equal(b: &mut Builder, one: &[Wire], other: &[Wire]) -> Wire {
    let mut level: Vec<Wire> = one.iter().zip(other).map(|(&x, &y)| b.xnor(x, y)).collect();
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| if let [x, y] = *pair { b.and(x, y) } else { pair[0] }).collect();
    }
    level[0]
}

pub(crate) fn send(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Sent> {
    let shape = Shape::new(sizes)?;
    let placed = short::place(me, set, sizes, shape.bins, u128::BITS)?;
    let left_out = send_placed(me, terms, (&placed, set.items.len()), shape)?;
    Ok(Sent { theirs: sizes.receiver, left_out })
}

/// The sender's side, after its items are placed; the first `own` are no dummies. How many of these are left out.
fn send_placed(me: &mut Party<'_, '_>, terms: &Terms, (placed, own): (&Placed, usize), shape: Shape) -> Result<usize> {
    let (slots, left_out) = fill(placed, shape, own);
    let program = program(shape, me.here.me, goal(terms)?)?;
    let inputs = [Some(value(&slots, shape.bits)), None];
    run_below(me, over(terms)?, LABEL, &program, &inputs)?;
    Ok(left_out)
}

pub(crate) fn receive(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Matches> {
    let shape = Shape::new(sizes)?;
    let placed = short::place(me, set, sizes, shape.bins, u128::BITS)?;
    receive_placed(me, terms, (&placed, set.items.len()), shape, sizes.sender)
}

/// The receiver's side, after its items are placed; the first `own` are no dummies.
fn receive_placed(
    me: &mut Party<'_, '_>,
    terms: &Terms,
    (placed, own): (&Placed, usize),
    shape: Shape,
    theirs: usize,
) -> Result<Matches> {
    let table = Cuckoo::place(placed.len() as u32, placed.bins, |item| placed.places(item));
    let slots = receivers_slots(placed, &table);
    let program = program(shape, me.here.me.other(), goal(terms)?)?;
    let inputs = [None, Some(value(&slots, shape.bits))];
    let found = run_below(me, over(terms)?, LABEL, &program, &inputs)?.ok_or_else(|| {
        Error::invalid_input("the protocol below private set intersection ended without an output: a defect of it")
    })?;
    let matches = found.iter().map(|found| declassify(found, "the receiver learns which of its bins match"));
    let items = table.bins().zip(matches).filter(|(_, found)| *found).filter_map(|(entry, _)| Some(entry?.item()));
    let mut matched: Vec<u32> = items.filter(|&item| (item as usize) < own).collect();
    matched.sort_unstable();
    Ok(Matches { theirs, matched, payload: Vec::new(), left_out: left_out(&table, own) })
}

/// The receiver's slots, one a bin.
fn receivers_slots(placed: &Placed, table: &Cuckoo) -> Vec<u128> {
    let slot = |entry: BinEntry| placed.input(entry.item(), entry.function());
    table.bins().map(|entry| entry.map_or(RECEIVERS_DUMMY, slot)).collect()
}

/// The sender's slots, bin by bin, and how many of its own items are missing from one of their bins.
fn fill(placed: &Placed, shape: Shape, own: usize) -> (Vec<u128>, usize) {
    let mut slots = vec![SENDERS_DUMMY; shape.bins as usize * shape.slots];
    let mut used = vec![0; shape.bins as usize];
    let mut lost = Vec::new();
    let simple = Simple::new(placed.len() as u32, shape.bins, 1, |item| placed.places(item));
    for (bin, parts) in simple.runs().enumerate() {
        for (function, items) in parts.into_iter().enumerate() {
            for &item in items {
                if used[bin] == shape.slots {
                    lost.push(item);
                    continue;
                }
                slots[bin * shape.slots + used[bin]] = placed.input(item, function);
                used[bin] += 1;
            }
        }
    }
    lost.sort_unstable();
    lost.dedup();
    (slots, lost.iter().filter(|&&item| (item as usize) < own).count())
}

/// Slots as one value of a program.
fn value(slots: &[u128], bits: u32) -> Bits {
    slots.iter().flat_map(|slot| (0..bits).map(move |bit| slot >> bit & 1 == 1)).collect()
}

/// The form of circuits that suits the protocol below.
fn goal(terms: &Terms) -> Result<Goal> {
    Ok(over(terms)?.card().goal)
}

/// The protocol below.
fn over(terms: &Terms) -> Result<&'static dyn Protocol> {
    terms.over.ok_or_else(|| Error::invalid_input("circuit runs over a general protocol: name one (`--protocol NAME`)"))
}

/// The general protocol below, and the party that garbles, where one does and it matters which.
#[derive(Clone, Copy)]
pub(crate) struct Below {
    pub(crate) over: &'static dyn Protocol,
    pub(crate) garbler: Option<PartyId>,
}

impl From<&'static dyn Protocol> for Below {
    fn from(over: &'static dyn Protocol) -> Below {
        Below { over, garbler: None }
    }
}

/// The option of protocols in which one party garbles.
const ROLE: &str = "role";

/// Runs a program under a general protocol, in a session of this label. Its only output, if it is for this party.
pub(crate) fn run_below(
    me: &mut Party<'_, '_>,
    below: impl Into<Below>,
    label: &str,
    program: &Program,
    inputs: &[Option<Bits>],
) -> Result<Option<Bits>> {
    let Below { over, garbler } = below.into();
    let mut options = Options::new(over.card());
    if let Some(garbler) = garbler.filter(|_| over.card().option(ROLE).is_some()) {
        options.settle(ROLE, OptionValue::First(garbler));
    }
    over.settle(&mut options, program);
    over.card().fits(me.here.parties, program)?;
    over.fits(program, &options, me.here.params)?;
    let mut observer = Outputs { found: None, observer: me.observer };
    let here = me.here.child(label);
    let mut below = Party { net: me.net, here, rng: me.rng, observer: &mut observer };
    over.run(&mut below, &Job { program, inputs, options: &options }, &mut Empty)?;
    Ok(observer.found)
}

/// An observer that keeps the output, which is nobody's outside, and tells all else.
struct Outputs<'o> {
    found: Option<Bits>,
    observer: &'o mut dyn Observer,
}

impl Observer for Outputs<'_> {
    fn output(&mut self, _: usize, value: Bits) {
        self.found = Some(value);
    }

    fn phase(&mut self, name: &'static str) {
        self.observer.phase(name);
    }

    fn and_gates(&mut self, done: u64) {
        self.observer.and_gates(done);
    }
}

#[cfg(test)]
mod tests;
