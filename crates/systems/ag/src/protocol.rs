//! The protocol as comity's front knows it.

use comity_channel::Channel;
use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, PartyId, Result};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Here, Honest, Job, Lot, Material, Need, Opt,
    OptionValue, Options, Party, Press, Protocol, Supplies, Takes, Talk, Values,
};
use comity_triples::bucket::Budget;
use comity_triples::fast::{Fast, OBJECTS};
use comity_triples::material::prepare;
use comity_triples::{Ands, DealerKind, TripleDealer, Uses, dealer};
use rand_core::CryptoRng;

use crate::live::Live;
use crate::run::{Order, offline, online, whole};
use crate::stored;

/// Authenticated garbling, whole: see the [crate](crate).
pub struct Ag;

/// The material that is for one program.
const GARBLING: &str = "authenticated garbling";

static CARD: Card = Card {
    name: "ag",
    kind: CardKind::Protocol,
    paper: "Katz, Ranellucci, Rosulek, Wang: Optimizing Authenticated Garbling for Faster Secure Two-Party Computation (Crypto 2018, \
            ePrint 2018/578)",
    parties: 2..=2,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[
        Material { name: GARBLING, program: true, from: None, options: &["role", "dealer"], units: &["runs"] },
        Material { name: "shares", program: false, from: None, options: &["dealer"], units: &["AND gates"] },
    ],
    options: &[
        Opt {
            name: "role",
            values: Values::Part(&["garbler", "evaluator"]),
            default: Default::FromProgram,
            agreed: true,
            about: "The role of this party; the other party has the other role. A party that does not set it takes the \
                role that is left; if neither sets it, the one with more input bits garbles",
        },
        Opt {
            name: "dealer",
            values: Values::OneOf(&["fast", "nnob12"]),
            default: Default::Given("fast"),
            agreed: true,
            about: "How authenticated triples are made: from SoftSpoken OT extension and the leaky AND of 2018, or as the paper of \
                    2012 does",
        },
        Opt {
            name: "stored",
            values: Values::OneOf(&["garbling", "shares"]),
            default: Default::Given("garbling"),
            agreed: false,
            about: "What a run takes from its store, and `comity prepare PROGRAM` puts there: the program garbled, or shares for \
                    any program, which tinyot can use up, too",
        },
    ],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "one garbled circuit under authenticated masks (Katz, Ranellucci, Rosulek, Wang 2018), for two parties",
    protects: "a party that cheats learns only its outputs, and is caught before anything that depends on the cheat is revealed, but \
               with probability 2^-rho",
    risk: "a peer could stop the run at any time, also when it has its own outputs and this party does not",
    about: "One garbled circuit, whose permute bits are shared and authenticated so that neither party can garble or evaluate another \
            one. About 265 bytes an AND gate, and 207 near a million of them, most before the inputs matter (offline); some 20 rounds, and \
            more for each chunk of 32,640 AND gates, however deep the program is.",
};

/// The most leaky ANDs of a batch, 96 bytes each: as few as keep the buckets as small as any number would.
/// Memory that is touched for the first time takes longer than what is done in it. The second one is what
/// 10^9 AND gates want, in less than 64 MiB in all.
///
/// There is no larger one. Buckets of three for `n` AND gates in `k` batches of `l` buckets want `k l >= n`
/// and `k 2^-3 l^-2 <= 2^-40`: a million and a half ANDs two batches of 764,000 buckets, 210 MiB, and ten
/// million 1.1 million buckets, 320 MiB. That would send 209 bytes an AND in place of 264, but the programs'
/// memory is promised to stay small, and the first touch of that much memory takes longer than the leaky ANDs
/// that it spares.
const OBJECTS_OF_A_BATCH: [usize; 3] = [1 << 17, 23 << 14, OBJECTS];

/// The most leaky ANDs of a batch for `ands` AND gates.
pub(crate) fn objects(ands: u64, rho: u32) -> usize {
    let size = |objects| Budget::known(ands, rho, 1, objects).ok()?.known_batch().map(|(batch, _)| batch.size);
    let best = OBJECTS_OF_A_BATCH.into_iter().min_by_key(|&objects| size(objects).unwrap_or(usize::MAX));
    best.expect("there are some")
}

/// The party that garbles.
fn garbling(options: &Options) -> PartyId {
    options.first("role")
}

/// Whether runs are on shares rather than on garbled programs.
fn on_shares(options: &Options) -> bool {
    options.word("stored") == "shares"
}

/// The dealer that is asked for.
pub(crate) fn kind(options: &Options) -> DealerKind {
    if options.word("dealer") == "nnob12" { DealerKind::Nnob12 } else { DealerKind::Fast }
}

/// A dealer for a number of AND gates, set up with the peer by these base OTs; the dealer of 2012 has its
/// own.
fn set_up<B: BaseOt<Model = Malicious>>(
    ch: &mut dyn Channel,
    here: Here,
    rng: &mut dyn CryptoRng,
    options: &Options,
    ands: u64,
) -> Result<Box<dyn TripleDealer>> {
    let here = here.child("dealer");
    if kind(options) == DealerKind::Nnob12 {
        return dealer(ch, here, DealerKind::Nnob12, Ands::Exactly(ands), rng);
    }
    let budget = Budget::known(ands, here.params.rho, 1, objects(ands, here.params.rho))?;
    Ok(Box::new(Fast::over::<B>(ch, here, budget, rng)?))
}

impl Protocol for Ag {
    fn card(&self) -> &'static Card {
        &CARD
    }

    /// The party with more input bits garbles: its masked bits travel with their labels, the other's before them.
    fn settle(&self, options: &mut Options, program: &Program) {
        let bits =
            |party| program.inputs().iter().filter(move |i| i.owner.includes(PartyId(party))).map(|i| i.bits as u64);
        let garbler = PartyId(u16::from(bits(1).sum::<u64>() > bits(0).sum::<u64>()));
        options.settle("role", OptionValue::First(garbler));
    }

    fn needs(&self, program: &Program, options: &Options, _: Params) -> Result<Vec<Need>> {
        Ok(vec![match on_shares(options) {
            true => Uses::of(program).need(),
            false => Need { material: GARBLING, units: vec![1], batches: 1, bytes: stored::size(program) },
        }])
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(Uses::triples(units).need())
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, talk)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        if let Some(shelf) = from.shelf(GARBLING) {
            let mut batch = shelf.take()?.ok_or_else(|| Error::invalid_input("no garbled program is left"))?;
            let (ch, here, rng, observer) = me.pair()?;
            online(ch, here, rng, observer, &mut *batch, job, Honest)?;
            return stored::FORM.ends(&mut *batch);
        }
        if let Some(shelf) = from.shelf("shares") {
            let (ch, here, rng, observer) = me.pair()?;
            let dealer = comity_triples::from_shelf(shelf, here.me)?;
            let mut live = Live::new(Box::new(dealer), here.session.child("ag on shares"));
            return whole(ch, here, rng, observer, &mut live, job, Honest);
        }
        run_over::<Csw>(me, job)
    }

    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let program = match ahead.program {
            Some(program) if ahead.make.material == GARBLING => program,
            _ => return prepare(me, ahead, kind(ahead.options), to),
        };
        // A lot a run: no key outlives one.
        for run in 0..ahead.make.batches {
            let mut me = me.sub(&format!("garbled program {run}"));
            let lot = Lot { units: vec![1], batches: 1 };
            to.put(&mut me, &lot, &mut |me, _, out| {
                let (ch, here, rng, observer) = me.pair()?;
                observer.phase("setup");
                let dealer = set_up::<Csw>(ch, here, rng, ahead.options, program.and_gates())?;
                let mut live = Live::new(dealer, here.session.child("material"));
                let order = Order { program, garbler: garbling(ahead.options), to: out };
                offline(ch, here, rng, observer, &mut live, order, Honest)
            })?;
        }
        Ok(())
    }
}

/// Runs a program on new material, by these base OTs. Outputs for this party go to the observer.
///
/// # Errors
/// Those of the dealer and of the channel, and the [checks](crate::checks).
pub fn run_over<B: BaseOt<Model = Malicious>>(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let mut me = me.sub("ag");
    let (ch, here, rng, observer) = me.pair()?;
    observer.phase("setup");
    let dealer = set_up::<B>(ch, here, rng, job.options, job.program.and_gates())?;
    let mut live = Live::new(dealer, here.session.child("material"));
    whole(ch, here, rng, observer, &mut live, job, Honest)
}
