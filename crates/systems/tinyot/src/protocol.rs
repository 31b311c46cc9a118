//! The protocol as comity's front knows it: programs, material made ahead, sessions by hand.

use std::any::Any;
use std::ops::RangeInclusive;

use comity_circuit::{Call, Engine, Goal, Observer, Owner, Program, Recipients};
use comity_core::{Bits, Error, Params, PartyId, Result};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Default, Job, Lot, Material, Need, Opt, Options, Party, Protocol,
    Reactive, Shares, Shelf, Supplies, Takes, Values,
};
use comity_share::Share;
use zeroize::Zeroizing;

use crate::among;
use crate::dealers::{Ands, DealerKind, dealer};
use crate::engine::Sharing;
use crate::machine::Machine;
use crate::run::run_with;
use crate::stored::{Amounts, FromShelf, Maker};

/// TinyOT, whole: see the [crate](crate).
pub struct TinyOt;

static CARD: Card = card(2);

/// The card of the protocol for at most so many parties.
pub(crate) const fn card(most: u16) -> Card {
    Card {
        name: "tinyot",
        kind: CardKind::Protocol,
        paper: "Nielsen, Nordholt, Orlandi, Burra: A New Approach to Practical Active-Secure Two-Party Computation (Crypto 2012)",
        parties: RangeInclusive::new(2, most),
        adversary: Adversary::Malicious,
        corrupt: Corrupt::AllButOne,
        takes: Takes::Any,
        reactive: true,
        goal: Goal::Size,
        offline: &[Material { name: "shares", program: false, from: None, units: &["AND gates"] }],
        options: &[Opt {
            name: "dealer",
            values: Values::OneOf(&["fast", "nnob12"]),
            default: Default::Given("fast"),
            agreed: true,
            about: "How authenticated triples are made: from SoftSpoken OT extension and the leaky AND of 2018, or, for two parties, \
                    as the paper of 2012 does",
        }],
        phases: &["setup", "offline", "inputs", "gates", "outputs"],
        summary: "authenticated shares (Nielsen, Nordholt, Orlandi, Burra 2012), for two parties",
        protects: "a party that cheats learns only its outputs, and is caught before anything else leaves the other one, but \
                   with probability 2^-rho",
        risk: "a peer could stop the run at any time, also when it has its own outputs and this party does not",
        about: "Authenticated shares: about 170 bytes an AND gate, most of them before the inputs matter (offline), then two bits; \
                but a round of messages for each layer of AND gates: for networks with short delays, and computations in steps \
                (`comity repl`).",
    }
}

/// What a batch of stored material holds: 1.1 MB. There are as many random bits as triples, for protocols that mask each AND gate's
/// output, too.
const BATCH: Amounts = Amounts { triples: 1 << 13, masks: [1 << 11; 2], shares: 1 << 13 };

/// Batches of a lot, if no program needs more: eight million ANDs, 1.1 GB, some ten seconds to make.
const LOT: u64 = 1 << 10;

/// The most AND gates of a session by hand. What may go wrong in a session is shared among so many.
const MOST: u64 = 1 << 32;

/// By hand, for so many AND gates triples are made at least when there are none left: a small batch costs more a triple.
pub(crate) const AT_LEAST: u64 = 1 << 12;

/// A dealer of party `party` from a shelf of `shares`.
///
/// # Errors
/// As [`FromShelf::new`].
pub fn from_shelf(shelf: &mut dyn Shelf, party: PartyId) -> Result<FromShelf<'_>> {
    FromShelf::new(shelf, party, BATCH)
}

fn kind(options: &Options) -> DealerKind {
    match options.word("dealer") {
        "nnob12" => DealerKind::Nnob12,
        _ => DealerKind::Fast,
    }
}

/// How many batches a program uses up.
fn batches(program: &Program) -> u64 {
    let of = |party| program.inputs().iter().filter(move |i| i.owner.party() == Some(PartyId(party)));
    let masks = (0..2).map(|party| {
        let bits: u64 = of(party).map(|input| input.bits as u64).sum();
        bits.div_ceil(BATCH.masks[usize::from(party)] as u64)
    });
    program.and_gates().div_ceil(BATCH.triples as u64).max(masks.max().unwrap_or(0)).max(1)
}

/// So many batches.
fn need(batches: u64) -> Need {
    Need {
        material: "shares",
        units: vec![batches.saturating_mul(BATCH.triples as u64)],
        batches,
        bytes: batches.saturating_mul(BATCH.bytes() + 4096),
    }
}

impl Protocol for TinyOt {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, program: &Program, _: &Options, _: Params) -> Result<Need> {
        Ok(need(batches(program)))
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(need(units.max(1).div_ceil(BATCH.triples as u64)))
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        if me.here.parties > 2 {
            for_two(kind(job.options) == DealerKind::Nnob12, "the dealer nnob12")?;
            for_two(from.shelf("shares").is_some(), "material made ahead")?;
            return among::run(&mut me.sub("tinyot"), job);
        }
        if let Some(shelf) = from.shelf("shares") {
            let (ch, here, _, observer) = me.pair()?;
            let dealer = from_shelf(shelf, here.me)?;
            return run_with(ch, here, Box::new(dealer), job, observer);
        }
        let mut me = me.sub("tinyot");
        let (ch, here, rng, observer) = me.pair()?;
        observer.phase("setup");
        let ands = Ands::Exactly(job.program.and_gates());
        let dealer = dealer(ch, here.child("dealer"), kind(job.options), ands, rng)?;
        run_with(ch, here, dealer, job, observer)
    }

    /// Lots of so many batches that whole runs of the program come out of each, so that none is left over.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Shelf,
    ) -> Result<()> {
        for_two(me.here.parties > 2, "material made ahead")?;
        let whole = lot(ahead.together);
        let mut done = 0;
        while done < ahead.make.batches {
            let batches = whole.min(ahead.make.batches - done);
            let mut me = me.sub(&format!("material from batch {done} on"));
            let mut maker: Option<Maker<'_>> = None;
            let ands = batches * BATCH.triples as u64;
            to.put(&mut me, &Lot { units: vec![ands], batches }, &mut |me, batch, out| {
                let (ch, here, rng, observer) = me.pair()?;
                let maker = match &mut maker {
                    Some(maker) => maker,
                    none => {
                        observer.phase("setup");
                        let dealer = dealer(ch, here.child("dealer"), kind(ahead.options), Ands::Exactly(ands), rng)?;
                        observer.phase("offline");
                        none.insert(Maker::new(dealer))
                    }
                };
                maker.make(ch, &BATCH)?.write(out)?;
                observer.and_gates((done + batch + 1) * BATCH.triples as u64);
                Ok(())
            })?;
            done += batches;
        }
        Ok(())
    }

    fn reactive(&self, me: &mut Party<'_, '_>, options: &Options) -> Result<Box<dyn Reactive>> {
        if me.here.parties > 2 {
            for_two(kind(options) == DealerKind::Nnob12, "the dealer nnob12")?;
            return Ok(Box::new(among::by_hand(me, MOST)?));
        }
        let (ch, here, rng, _) = me.pair()?;
        let dealer = dealer(ch, here.child("dealer"), kind(options), Ands::UpTo(MOST), rng)?;
        Ok(Box::new(ByHand { machine: Machine::new(here.child("machine"), dealer) }))
    }
}

/// Refuses what only two parties have.
fn for_two(refused: bool, what: &str) -> Result<()> {
    if !refused {
        return Ok(());
    }
    Err(Error::invalid_input(format!("{what} is for two parties in tinyot; with more, run without it")))
}

/// How many batches a lot has from which runs of so many are made.
fn lot(together: u64) -> u64 {
    LOT.checked_div(together).map_or(LOT, |runs| runs.max(1) * together)
}

/// A computation by hand.
struct ByHand {
    machine: Machine<'static>,
}

/// What a party holds of a value.
type Held = Zeroizing<Vec<Share>>;

fn held(shares: &Shares) -> Result<&Held> {
    let held: &dyn Any = &*shares.held;
    held.downcast_ref().ok_or_else(|| Error::invalid_input("the value is another protocol's"))
}

fn shares(held: Held) -> Shares {
    Shares { bits: held.len(), held: Box::new(held) }
}

fn room(bits: usize) -> Held {
    Zeroizing::new(vec![Share::default(); bits])
}

impl Reactive for ByHand {
    fn input(&mut self, me: &mut Party<'_, '_>, owner: PartyId, bits: usize, value: Option<&Bits>) -> Result<Shares> {
        let (mut wires, (ch, ..)) = (room(bits), me.pair()?);
        self.machine.input(ch, owner, value, &mut wires)?;
        Ok(shares(wires))
    }

    fn random(&mut self, me: &mut Party<'_, '_>, bits: usize) -> Result<Shares> {
        let (mut wires, (ch, ..)) = (room(bits), me.pair()?);
        self.machine.random(ch, &mut wires)?;
        Ok(shares(wires))
    }

    fn call(&mut self, me: &mut Party<'_, '_>, program: &Program, values: &[&Shares]) -> Result<Vec<Shares>> {
        let values: Vec<&Held> = values.iter().map(|value| held(value)).collect::<Result<_>>()?;
        self.machine.plan(program.and_gates().max(AT_LEAST));
        let (ch, ..) = me.pair()?;
        let mut calling = Calling { engine: Sharing::new(ch, &mut self.machine), values: &values, outputs: Vec::new() };
        comity_circuit::run(program, &mut calling, &vec![None; values.len()], &mut Nobody)?;
        Ok(calling.outputs.into_iter().map(shares).collect())
    }

    fn reveal(&mut self, me: &mut Party<'_, '_>, to: Recipients, value: &Shares) -> Result<Option<Bits>> {
        let (ch, ..) = me.pair()?;
        self.machine.reveal(ch, to, held(value)?)
    }
}

/// The engine of a call: inputs are values that are there, outputs stay shared.
struct Calling<'v, E> {
    engine: E,
    values: &'v [&'v Held],
    outputs: Vec<Held>,
}

impl<E: Engine<Wire = Share, Error = Error>> Engine for Calling<'_, E> {
    type Wire = Share;
    type Error = Error;

    fn input(&mut self, index: usize, _: Owner, _: Option<&Bits>, _: usize, wires: &mut [Share]) -> Result<()> {
        wires.copy_from_slice(self.values[index]);
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>, memory: &mut [Share]) -> Result<()> {
        self.engine.call(call, memory)
    }

    fn reveal(&mut self, _: usize, _: Recipients, _: usize, wires: &[Share]) -> Result<Option<Bits>> {
        self.outputs.push(Zeroizing::new(wires.to_vec()));
        Ok(None)
    }
}

/// Nothing is revealed in a call, so nobody is told.
pub(crate) struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lot_holds_whole_runs() {
        let aes = || comity_library::find("aes128").unwrap();
        let add = Program::from_circuit(comity_library::find("add8").unwrap()).unwrap();
        assert_eq!((batches(&add), lot(1), lot(0)), (1, LOT, LOT));
        let many = Program::map(aes(), 4, &[]).unwrap();
        assert_eq!((batches(&many), lot(batches(&many))), (4, LOT / 4 * 4));
        let large = batches(&Program::map(aes(), 2000, &[]).unwrap());
        assert_eq!(lot(large), large);
    }
}
