//! The protocol as comity's front knows it: programs, material made ahead, sessions by hand.

use comity_circuit::{Goal, Program};
use comity_core::{Params, Result};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Job, Need, Opt, Options, Party, Press, Protocol,
    Reactive, Supplies, Takes, Talk, Values, WriteBatch,
};
use comity_share::BitTriples;
use comity_share::triples::{OtKind, TakenTriples};
use comity_sharing::{Batches, BitRows, ByHand, Lasting, SharedEngine, fill_lots, whole_runs};

use crate::dealers::{BATCH, BitDealer, MOST, OtTriples, StoredTriples, TRIPLES, batch_bytes, write_batch};
use crate::machine::BitMachine;
use crate::sharing::{BitSharing, triples_of};

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
    offline: &[TRIPLES],
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

/// The need of `batches` batches.
fn need(batches: u64) -> Need {
    Need {
        material: TRIPLES.name,
        units: vec![batches.saturating_mul(BATCH as u64)],
        batches,
        bytes: batches.saturating_mul(batch_bytes(BATCH) + 4096),
    }
}

/// A dealer from OT, in a session of its own.
fn from_ot(me: &mut Party<'_, '_>, options: &Options) -> Result<Box<BitDealer<'static>>> {
    Ok(Box::new(OtTriples::setup(&mut me.sub("dealer"), extension(options))?))
}

/// Writes batches from a dealer for `triples` triples, which the first batch sets up.
fn material(options: Options, triples: u64) -> Box<WriteBatch<'static>> {
    let (mut dealer, mut ready) = (None, BitTriples::default());
    Box::new(move |me, batch, out| {
        let dealer = match &mut dealer {
            Some(dealer) => dealer,
            none => {
                me.observer.phase("setup");
                let dealer = from_ot(me, &options)?;
                me.observer.phase("offline");
                none.insert(dealer)
            }
        };
        if ready.is_empty() {
            ready = dealer.deal(me.net, MOST.min(triples as usize - batch as usize * BATCH))?;
        }
        let mut next = TakenTriples::default();
        ready.take(BATCH, &mut next);
        write_batch(BitTriples::new(next.a, next.b, next.c), me.here.me, me.here.parties, out)
    })
}

/// Runs a program on a dealer's triples, or without a dealer if it has no AND gates. Outputs for this party
/// go to the observer.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program; those of the dealer and of
/// the channels.
pub fn run_with(me: &mut Party<'_, '_>, dealer: Option<Box<BitDealer<'_>>>, job: &Job<'_>) -> Result<()> {
    let mut machine = BitMachine::setup(me, dealer)?;
    me.observer.phase("offline");
    for circuit in job.program.lowered() {
        circuit.layered();
    }
    let mut sharing = BitSharing::new(me.net, &mut machine);
    sharing.prepare(job.program)?;
    comity_circuit::run(job.program, &mut SharedEngine::new(sharing), job.inputs, me.observer)?;
    me.net.flush()
}

impl Protocol for Gmw {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, program: &Program, _: &Options, _: Params) -> Result<Vec<Need>> {
        Ok(vec![need(batches(program))])
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
        let dealer: Option<Box<BitDealer<'_>>> = match (triples_of(job.program), from.shelf(TRIPLES.name)) {
            (0, _) => None,
            (_, Some(shelf)) => Some(Box::new(StoredTriples::new(shelf, BATCH))),
            (_, None) => Some(from_ot(&mut me, job.options)?),
        };
        run_with(&mut me, dealer, job)
    }

    /// Makes lots that suffice for a whole number of runs of the program each, so that no batch is left over.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let of = Batches { units: BATCH as u64, lot: whole_runs(LOT, ahead.together) };
        fill_lots(me, ahead, to, of, |triples| material(ahead.options.clone(), triples))
    }

    fn reactive(&self, me: &mut Party<'_, '_>, options: &Options) -> Result<Box<dyn Reactive>> {
        let mut me = me.sub("gmw by hand");
        let dealer = from_ot(&mut me, options)?;
        Ok(Box::new(ByHand::new(Kept(BitMachine::setup(&mut me, Some(dealer))?))))
    }
}

/// A computation by hand.
struct Kept(BitMachine<'static>);

impl Lasting for Kept {
    type Rows = BitRows;
    type Sharing<'a, 'n: 'a> = BitSharing<'a, 'n, 'static>;
    const AT_LEAST: u64 = 1 << 14;

    fn sharing<'a, 'n: 'a>(&'a mut self, me: &'a mut Party<'_, 'n>) -> Result<BitSharing<'a, 'n, 'static>> {
        Ok(BitSharing::new(me.net, &mut self.0))
    }

    fn plan(&mut self, ands: u64) {
        self.0.plan(ands);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_takes_whole_batches() {
        let aes = || comity_library::find("aes128").unwrap();
        let add = Program::from_circuit(comity_library::find("add8").unwrap()).unwrap();
        assert_eq!((batches(&add), batches(&Program::map(aes(), 400, &[]).unwrap())), (1, 40));
    }
}
