//! Private functions by Yao's protocol, garbled by the owner of the function: `yao-pfe`.
//!
//! **Sources**: PRACTICE deliverable D13.3 (2016), sections 2.4.2 and 2.4.3, which have the universal circuit
//! evaluated by Yao's protocol with one ciphertext less where a scheme hides which gate it is; the
//! [switches and gates](comity_garble::hidden) are half gates of the garbler's (Zahur, Rosulek, Evans,
//! Eurocrypt 2015) and gates of three rows.
//!
//! **Functionality**: that of the universal program, also of one with [public arities](Arity). Party 0 puts
//! in a function, party 1 its input, and whoever is to learns the output.
//!
//! **Protocol**
//! 1. *Setup*: the owner draws delta; 128 base OTs make it the sender of an OT extension whose correlation is delta.
//! 2. *Input*: the extension's correlation is the pair of labels of each bit of `x`.
//! 3. *Switches and gates*, in the order of the [walk](fn@comity_library::universal::walk): the owner knows
//!    which way each switch goes and which function each gate is. So neither has labels: a switch is an AND
//!    of the difference of its two wires with a known bit, one row; a gate is three rows.
//! 4. *Output*: permute bits go to each recipient, in one message each way.
//!
//! **Against a semi-honest evaluator**: it has one label of each wire and the rows. How many rows there are,
//! and which switch or gate each one is of, follows from the shape. Each row is hidden by a mask under a key
//! of its own that it cannot compute, as the labels that it does not have differ by delta from those that it
//! has; so rows and labels are jointly uniform, whichever bits and functions are garbled, and a simulator
//! draws them at random, with the permute bits of the output that the functionality gives. **Against a
//! semi-honest owner**: it sees the receiver's side of OTs, which hides `x`, and permute bits that its own
//! make the output.
//!
//! **An owner that cheats** can garble anything: each row as it likes, and so any function of all labels, not
//! one of the shape only; it can make the output depend on `x` in any way, and give each recipient another
//! one. Still nothing comes back to it but the permute bits of an output that it is to learn: `v` bits a run,
//! in the choice of which it is free, as it is in any case. An output that is only for party 1 tells it
//! nothing at all, if party 1 does not tell it either, not even that the run failed. **An evaluator that
//! cheats** in the OTs can learn delta, and with it the function. Who fears either takes `ag` or `cutchoose`.
//! Nothing a peer sends causes a panic, a hang, or more memory than the shape says.
//!
//! **Assumptions**: AES-128 as an ideal cipher, gap Diffie-Hellman and a random oracle in ristretto255 (base OT).
//!
//! **Cost**: 16 bytes a switch and output, 48 a gate, 16 a bit of `x`; about 10 KiB for the base OTs. With
//! public arities an output costs nothing. Memory of either side: four labels a pole, and the bits of the
//! function, packed. Time does not depend on the function once its bits are there.

mod ends;
mod network;
mod sides;
#[cfg(test)]
mod tests;

use comity_circuit::{Goal, Observer, Program};
use comity_core::{Block, Error, Params, PartyId, Result};
use comity_garble::hidden::{GATE_ROWS, HiddenEvaluator, HiddenGarbler};
use comity_library::universal::Shape;
use comity_library::universal::arity::Arity;
use comity_ot::base::Simplest;
use comity_ot::{CotReceiver, CotSender, iknp};
use comity_protocol::{
    Adversary, Card, CardKind, Corrupt, Costing, Job, Options, Party, Protocol, Supplies, Takes, Talk,
};
use comity_yao::{gate_keys, reveal};

use ends::{ByKind, ByPlace};
use network::{Network, Side};
use sides::{Evaluating, Garbling};

/// Yao's protocol for universal programs: see the [module](self).
pub struct YaoPfe;

static CARD: Card = Card {
    name: "yao-pfe",
    kind: CardKind::Service,
    paper: "PRACTICE deliverable D13.3 (2016), section 2.4; Yao 1986; Zahur, Rosulek, Evans: Two Halves Make a Whole (Eurocrypt 2015)",
    parties: 2..=2,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[],
    options: &[],
    phases: &["setup", "inputs", "gates", "outputs"],
    summary: "Yao's garbled circuits for private functions, garbled by the function's owner",
    protects: "a party that follows the protocol learns nothing but its outputs and the function's shape, whatever it computes afterwards",
    risk: "a peer that breaks the rules could learn the function, or make the output any function of the input, unnoticed",
    about: "One garbled universal circuit, 16 bytes a switch and 48 a gate. The owner of the function garbles. A party that cheats could learn \
            the function, or compute another one.",
};

/// The owner of the function, and the party whose input it is computed of.
const OWNER: PartyId = PartyId(0);

/// Seconds of work for a row, garbled and evaluated at the same time, and for the base OTs.
const ROW: f64 = 15e-9;
const BASE: f64 = 0.018;

/// The universal program that is run.
enum Universal {
    Of(Shape),
    OfArity(Arity),
}

impl Universal {
    /// The one that a program is.
    fn of(program: &Program) -> Result<Universal> {
        let found = Shape::of(program).map(Universal::Of).or_else(|| Arity::of(program).map(Universal::OfArity));
        found.ok_or_else(|| {
            let (name, is) = (CARD.name, program.name());
            Error::invalid_input(format!("{name} runs universal programs, and `{is}` is not one: run it with `yao`"))
        })
    }

    fn shape(&self) -> Shape {
        match self {
            Universal::Of(shape) => *shape,
            Universal::OfArity(arity) => arity.shape(),
        }
    }

    /// The number of rows.
    fn rows(&self) -> usize {
        let bits = match self {
            Universal::Of(shape) => shape.program_bits(),
            Universal::OfArity(arity) => arity.program_bits(),
        };
        bits - (4 - GATE_ROWS) * self.shape().gates
    }

    /// The labels of the output, of those of the input.
    fn computed(&self, side: impl Side, x: Vec<Block>, observer: &mut dyn Observer) -> Result<Vec<Block>> {
        observer.phase("gates");
        match self {
            Universal::Of(shape) => Network::new(side, shape, ByKind::new(*shape, x), observer).run(shape),
            Universal::OfArity(arity) => {
                let places = arity.places();
                Network::new(side, &places, ByPlace::new(arity, &places, x), observer).run(&places)
            }
        }
    }
}

impl Protocol for YaoPfe {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fits(&self, program: &Program, _: &Options, _: Params) -> Result<()> {
        Universal::of(program).map(drop)
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        let (universal, evaluator) = (Universal::of(of.program)?, OWNER.other());
        // Simplest OT: a point, and one for each bit of delta.
        talk.say(evaluator, OWNER, 32);
        talk.say(OWNER, evaluator, 128 * 32);
        talk.work(BASE);
        talk.say(evaluator, OWNER, 128 * universal.shape().inputs.div_ceil(8) as u64);
        let rows = universal.rows() as u64;
        talk.say(OWNER, evaluator, 16 * rows);
        talk.work(ROW * rows as f64);
        let output = &of.program.outputs()[0];
        talk.exchange_each(|_, to| if output.to.includes(to) { output.bits.div_ceil(8) as u64 } else { 0 });
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let universal = Universal::of(job.program)?;
        let mut me = me.sub("yao-pfe");
        let (ch, here, rng, observer) = me.pair()?;
        let session = here.session.child("input OT");
        let mut x = vec![Block::ZERO; universal.shape().inputs];
        observer.phase("setup");
        let y = if here.me == OWNER {
            let function = job.inputs[0].as_ref().expect("of the owner, checked");
            // Step 1.
            let garbler = HiddenGarbler::fresh(here.backend, gate_keys(&here.session), rng);
            let mut ot = iknp::Sender::setup::<Simplest>(ch, &session, here.backend, garbler.delta(), rng)?;
            // Step 2.
            observer.phase("inputs");
            ot.extend(ch, &mut x)?;
            // Step 3.
            universal.computed(Garbling::new(garbler, function, ch), x, observer)?
        } else {
            let value = job.inputs[1].as_ref().expect("of this party, checked");
            // Step 1.
            let mut ot = iknp::Receiver::setup::<Simplest>(ch, &session, here.backend, rng)?;
            // Step 2.
            observer.phase("inputs");
            ot.extend(ch, value, &mut x)?;
            // Step 3.
            let evaluator = HiddenEvaluator::new(here.backend, gate_keys(&here.session));
            universal.computed(Evaluating::new(evaluator, universal.rows(), ch), x, observer)?
        };
        // Step 4.
        observer.phase("outputs");
        if let Some(value) = reveal(ch, here.me, job.program.outputs()[0].to, &y)? {
            observer.output(0, value);
        }
        ch.flush()
    }
}
