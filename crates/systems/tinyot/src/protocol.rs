//! The protocol as comity's front knows it: programs, material made ahead, sessions by hand.

use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, Result};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Job, Material, Need, Opt, Options, Party, Press,
    Protocol, Reactive, Supplies, Takes, Talk, Values,
};
use comity_share::Share;
use comity_sharing::{ByHand, Lasting, ShareRows};
use comity_triples::material::prepare;
use comity_triples::{Ands, DealerKind, Uses, dealer, dealer_over, from_shelf, stored_bytes};

use crate::among;
use crate::machine::Machine;
use crate::run::run_with;
use crate::sharing::PairSharing;

/// TinyOT, whole: see the [crate](crate).
pub struct TinyOt;

static CARD: Card = Card {
    name: "tinyot",
    kind: CardKind::Protocol,
    paper: "Nielsen, Nordholt, Orlandi, Burra: A New Approach to Practical Active-Secure Two-Party Computation (Crypto 2012)",
    parties: 2..=16,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: true,
    goal: Goal::Size,
    offline: &[Material { name: "shares", program: false, from: None, options: &["dealer"], units: &["AND gates"] }],
    options: &[Opt {
        name: "dealer",
        values: Values::OneOf(&["fast", "nnob12"]),
        default: Default::Given("fast"),
        agreed: true,
        about: "How authenticated triples are made: from SoftSpoken OT extension and the leaky AND of 2018, or, for two parties, \
                as the paper of 2012 does",
    }],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "authenticated shares (Nielsen, Nordholt, Orlandi, Burra 2012; Hazay, Scholl, Soria-Vazquez 2017)",
    protects: "parties that cheat, even all but one together, learn only their outputs, and are caught before anything else leaves the \
               others, but with probability 2^-rho",
    risk: "any party could stop the run at any time, also when it has its own outputs and others do not, and among more than two nobody can \
           tell which it was",
    about: "Authenticated shares: about 225 bytes an AND gate between two parties and 172 near a million of them, 245 and 194 between every two of three, \
            most before the inputs matter (offline), then two bits; but some 15 rounds ahead between two and 45 among more, and a round \
            of messages for each layer of AND gates: for networks with short delays, and computations in steps (`comity repl`).",
};

/// The most AND gates of a session by hand: the session's failure probability is divided among this many.
const MOST: u64 = 1 << 32;

/// The least number of AND gates that triples are made for by hand, when none are left: a small batch costs
/// more a triple.
pub(crate) const AT_LEAST: u64 = 1 << 12;

pub(crate) fn kind(options: &Options) -> DealerKind {
    match options.word("dealer") {
        "nnob12" => DealerKind::Nnob12,
        _ => DealerKind::Fast,
    }
}

impl Protocol for TinyOt {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fits_parties(&self, parties: u16, options: &Options) -> Result<()> {
        if parties > 2 && kind(options) == DealerKind::Nnob12 {
            return Err(Error::invalid_input(format!(
                "the dealer nnob12 of tinyot is for two parties, and there are {parties}: leave --dealer out"
            )));
        }
        Ok(())
    }

    fn needs(&self, program: &Program, _: &Options, _: Params) -> Result<Vec<Need>> {
        Ok(vec![Uses::of(program).need()])
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(Uses::triples(units).need())
    }

    fn stored_bytes(&self, need: &Need, parties: u16) -> u64 {
        stored_bytes(need, parties)
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, talk)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        self.fits_parties(me.here.parties, job.options)?;
        match from.shelf("shares") {
            Some(shelf) if me.here.parties > 2 => among::run_on(me, shelf, job),
            Some(shelf) => {
                let (ch, here, _, observer) = me.pair()?;
                let dealer = from_shelf(shelf, here.me)?;
                run_with(ch, here, Box::new(dealer), job, observer)
            }
            None => run_over::<Csw>(me, job),
        }
    }

    /// Makes lots that suffice for a whole number of runs of the program each, so that no batch is left over.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        self.fits_parties(me.here.parties, ahead.options)?;
        prepare(me, ahead, kind(ahead.options), to)
    }

    fn reactive(&self, me: &mut Party<'_, '_>, options: &Options) -> Result<Box<dyn Reactive>> {
        self.fits_parties(me.here.parties, options)?;
        if me.here.parties > 2 {
            return Ok(Box::new(among::by_hand(me, MOST)?));
        }
        let (ch, here, rng, _) = me.pair()?;
        let dealer = dealer(ch, here.child("dealer"), kind(options), Ands::UpTo(MOST), rng)?;
        Ok(Box::new(ByHand::new(Kept(Machine::new(here.child("machine"), dealer)))))
    }
}

/// Runs a program on new material, by these base OTs (as [`dealer_over`]). Outputs for this party go to the observer.
///
/// # Errors
/// Those of the dealer and of the channels, and the [checks](comity_triples::checks).
pub fn run_over<B: BaseOt<Model = Malicious>>(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let mut me = me.sub("tinyot");
    if me.here.parties > 2 {
        return among::run_over::<B>(&mut me, job);
    }
    let (ch, here, rng, observer) = me.pair()?;
    observer.phase("setup");
    let ands = Ands::Exactly(job.program.and_gates());
    let dealer = dealer_over::<B>(ch, here.child("dealer"), kind(job.options), ands, rng)?;
    run_with(ch, here, dealer, job, observer)
}

/// A computation by hand.
struct Kept(Machine<'static>);

impl Lasting for Kept {
    type Rows = ShareRows<Share>;
    type Sharing<'a, 'n: 'a> = PairSharing<'a, 'static>;
    const AT_LEAST: u64 = AT_LEAST;

    fn sharing<'a, 'n: 'a>(&'a mut self, me: &'a mut Party<'_, 'n>) -> Result<PairSharing<'a, 'static>> {
        Ok(PairSharing::new(me.pair()?.0, &mut self.0))
    }

    fn plan(&mut self, ands: u64) {
        self.0.plan(ands);
    }
}
