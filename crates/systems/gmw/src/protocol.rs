//! The protocol as comity's front knows it: programs, material made ahead, sessions by hand.

use std::any::Any;

use comity_circuit::{Call, Engine, Goal, Observer, Program, Put, Recipients, Shown};
use comity_core::{Bits, Error, Params, PartyId, Result};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Job, Lot, Material, Need, Opt, Options, Party,
    Protocol, Reactive, Shares, Shelf, Supplies, Takes, Talk, Values,
};
use comity_share::BitTriples;
use comity_share::triples::{OtKind, TakenTriples};
use zeroize::Zeroizing;

use crate::dealers::{BATCH, BitDealer, MOST, OtTriples, StoredTriples, batch_bytes, write_batch};
use crate::engine::{BitSharing, pack, triples_of, unpack};
use crate::machine::BitMachine;

/// GMW, whole: see the [crate](crate).
pub struct Gmw;

static CARD: Card = Card {
    name: "gmw",
    kind: CardKind::Protocol,
    paper: "Goldreich, Micali, Wigderson: How to Play Any Mental Game (STOC 1987); Beaver: Efficient Multiparty Protocols Using \
            Circuit Randomization (Crypto 1991)",
    parties: 2..=16,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Shares,
    reactive: true,
    goal: Goal::Depth,
    offline: &[Material { name: "triples", program: false, from: None, options: &["dealer"], units: &["AND gates"] }],
    options: &[Opt {
        name: "dealer",
        values: Values::OneOf(&["softspoken", "iknp", "silent"]),
        default: Default::Given("softspoken"),
        agreed: true,
        about: "Which OT extension triples are made from: softspoken (7.8 bytes a triple among two), iknp (31.8), or silent \
                (0.3, for slow networks)",
    }],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "XOR shares and multiplication triples (Goldreich, Micali, Wigderson 1987), for two to sixteen parties",
    protects: "parties that follow the protocol learn nothing but their outputs, whatever they compute afterwards, also together",
    risk: "a peer that breaks the rules could learn the other parties' inputs, or make outputs wrong, unnoticed",
    about: "Each bit is shared among all. Among two 7.8 bytes an AND gate before the inputs matter (offline), then half a byte; a round \
            of messages for each layer of AND gates: for parties who trust each other's software, networks with short delays, and \
            more than two parties.",
};

/// Batches of a lot, if no program needs more: 268 million ANDs, 100 MB.
const LOT: u64 = 1 << 12;

/// By hand, for so many AND gates triples are made at least when there are none left.
const AT_LEAST: u64 = 1 << 14;

fn extension(options: &Options) -> OtKind {
    match options.word("dealer") {
        "iknp" => OtKind::Iknp,
        "silent" => OtKind::Silent,
        _ => OtKind::SoftSpoken,
    }
}

/// How many batches a program uses up.
fn batches(program: &Program) -> u64 {
    triples_of(program).div_ceil(BATCH as u64).max(1)
}

/// So many batches.
fn need(batches: u64) -> Need {
    Need {
        material: "triples",
        units: vec![batches.saturating_mul(BATCH as u64)],
        batches,
        bytes: batches.saturating_mul(batch_bytes(BATCH) + 4096),
    }
}

/// A dealer from OT, in a session of its own.
fn from_ot(me: &mut Party<'_, '_>, options: &Options) -> Result<Box<BitDealer<'static>>> {
    Ok(Box::new(OtTriples::setup(&mut me.sub("dealer"), extension(options))?))
}

/// Runs a program on a dealer's triples, or without a dealer if it has no AND gates. Outputs for this party go to the observer.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program; those of the dealer and of the channels.
pub fn run_with(me: &mut Party<'_, '_>, dealer: Option<Box<BitDealer<'_>>>, job: &Job<'_>) -> Result<()> {
    let mut machine = BitMachine::setup(me, dealer)?;
    me.observer.phase("offline");
    for circuit in job.program.lowered() {
        circuit.layered();
    }
    let mut engine = BitSharing::new(me.net, &mut machine);
    engine.prepare(job.program)?;
    comity_circuit::run(job.program, &mut engine, job.inputs, me.observer)?;
    me.net.flush()
}

impl Protocol for Gmw {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, program: &Program, _: &Options, _: Params) -> Result<Need> {
        Ok(need(batches(program)))
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(need(units.max(1).div_ceil(BATCH as u64)))
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, extension(of.options), talk);
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let mut me = me.sub("gmw");
        me.observer.phase("setup");
        let dealer: Option<Box<BitDealer<'_>>> = match (triples_of(job.program), from.shelf("triples")) {
            (0, _) => None,
            (_, Some(shelf)) => Some(Box::new(StoredTriples::new(shelf, BATCH))),
            (_, None) => Some(from_ot(&mut me, job.options)?),
        };
        run_with(&mut me, dealer, job)
    }

    /// Lots of so many batches that whole runs of the program come out of each, so that none is left over.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Shelf,
    ) -> Result<()> {
        let whole = lot(ahead.together);
        let mut done = 0;
        while done < ahead.make.batches {
            let batches = whole.min(ahead.make.batches - done);
            let mut me = me.sub(&format!("material from batch {done} on"));
            let (mut dealer, mut ready) = (None, BitTriples::default());
            to.put(&mut me, &Lot { units: vec![batches * BATCH as u64], batches }, &mut |me, batch, out| {
                let dealer = match &mut dealer {
                    Some(dealer) => dealer,
                    none => {
                        me.observer.phase("setup");
                        let dealer = from_ot(me, ahead.options)?;
                        me.observer.phase("offline");
                        none.insert(dealer)
                    }
                };
                if ready.is_empty() {
                    ready = dealer.deal(me.net, MOST.min((batches - batch) as usize * BATCH))?;
                }
                let mut next = TakenTriples::default();
                ready.take(BATCH, &mut next);
                let next = BitTriples::new(next.a, next.b, next.c);
                write_batch(next, me.here.me, me.here.parties, out)?;
                me.observer.and_gates((done + batch + 1) * BATCH as u64);
                Ok(())
            })?;
            done += batches;
        }
        Ok(())
    }

    fn reactive(&self, me: &mut Party<'_, '_>, options: &Options) -> Result<Box<dyn Reactive>> {
        let mut me = me.sub("gmw by hand");
        let dealer = from_ot(&mut me, options)?;
        Ok(Box::new(ByHand { machine: BitMachine::setup(&mut me, Some(dealer))? }))
    }
}

/// How many batches a lot has from which runs of so many are made.
fn lot(together: u64) -> u64 {
    LOT.checked_div(together).map_or(LOT, |runs| runs.max(1) * together)
}

/// A computation by hand.
struct ByHand {
    machine: BitMachine<'static>,
}

/// What a party holds of a value: a byte a share.
type Held = Zeroizing<Vec<u8>>;

fn held(shares: &Shares) -> Result<&Held> {
    let held: &dyn Any = &*shares.held;
    held.downcast_ref().ok_or_else(|| Error::invalid_input("the value is another protocol's"))
}

fn shares(held: Held) -> Shares {
    Shares { bits: held.len(), held: Box::new(held) }
}

fn unpacked(packed: &comity_share::BitShares) -> Shares {
    let mut held = Zeroizing::new(vec![0; packed.len()]);
    unpack(packed, &mut held);
    shares(held)
}

impl Reactive for ByHand {
    fn input(&mut self, _: &mut Party<'_, '_>, owner: PartyId, bits: usize, value: Option<&Bits>) -> Result<Shares> {
        Ok(unpacked(&self.machine.input(owner.into(), value, bits)?))
    }

    fn random(&mut self, _: &mut Party<'_, '_>, bits: usize) -> Result<Shares> {
        Ok(unpacked(&self.machine.random(bits)))
    }

    fn call(&mut self, me: &mut Party<'_, '_>, program: &Program, values: &[&Shares]) -> Result<Vec<Shares>> {
        let values: Vec<&Held> = values.iter().map(|value| held(value)).collect::<Result<_>>()?;
        self.machine.plan(program.and_gates().max(AT_LEAST));
        let mut calling =
            Calling { engine: BitSharing::new(me.net, &mut self.machine), values: &values, outputs: Vec::new() };
        comity_circuit::run(program, &mut calling, &vec![None; values.len()], &mut Nobody)?;
        Ok(calling.outputs.into_iter().map(shares).collect())
    }

    fn reveal(&mut self, me: &mut Party<'_, '_>, to: Recipients, value: &Shares) -> Result<Option<Bits>> {
        self.machine.reveal(me.net, to, &pack(held(value)?))
    }
}

/// The engine of a call: inputs are values that are there, outputs stay shared.
struct Calling<'v, 'e, 'n> {
    engine: BitSharing<'e, 'n, 'static>,
    values: &'v [&'v Held],
    outputs: Vec<Held>,
}

impl Engine for Calling<'_, '_, '_> {
    type Error = Error;
    const SHARES: bool = true;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.engine.begin(program)
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<()> {
        self.engine.memory[put.wires()].copy_from_slice(self.values[put.index]);
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.engine.call(call)
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.outputs.push(Zeroizing::new(self.engine.memory[shown.wires()].to_vec()));
        Ok(None)
    }
}

/// Nothing is revealed in a call, so nobody is told.
struct Nobody;

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
        let many = Program::map(aes(), 400, &[]).unwrap();
        assert_eq!((batches(&many), lot(batches(&many))), (40, LOT / 40 * 40));
        assert_eq!(lot(2 * LOT), 2 * LOT);
    }
}
