//! Private functions by an extended permutation: `pfe-ot` and `pfe-linear`.
//!
//! **Sources**: P. Mohassel, S. Sadeghian, "How to Hide Circuits in MPC: An Efficient Framework for Private
//! Function Evaluation" (Eurocrypt 2013), the protocol over garbled circuits, for `pfe-ot`; J. Katz, L.
//! Malka, "Constant-Round Private Function Evaluation with Linear Complexity" (Asiacrypt 2011), in the form
//! with group elements of O. Biçer, M. Bingöl, M. Kiraz, A. Levi, "Highly Efficient and Re-Executable Private
//! Function Evaluation with Linear Complexity" (IEEE TDSC 2020), for `pfe-linear`; PRACTICE deliverable D13.3
//! (2016), section 2.4.4, which compares with the first (Table 2.1). Network: Waksman (1968).
//!
//! **Functionality**: that of the [direct program](comity_library::universal::direct): party 0 puts in a
//! circuit, whose wires are read as often as it likes, party 1 its input.
//!
//! **Protocol.** Here the owner of the *input* garbles, and does not know which wires its gates read. The
//! circuit is an extended permutation from `u + k` *sources* (inputs and what gates give) to `2 k + v`
//! *places* (what gates and outputs read).
//! 1. *Setup*: two OT extensions, party 0 the receiver of both: one of delta, the offset between labels, and
//!    one of an offset that is nothing else. For `pfe-linear` points of sources and places besides, or those of
//!    an earlier run that both have.
//! 2. *Switches*, of `pfe-ot`: the extended permutation is a permutation network, a row of copies and a
//!    second network. Each source has a random mask of the garbler's. A switch or copy of two masks `m_a`,
//!    `m_b` is a C-OT of `q` and `q ^ m_a ^ m_b`, which party 0 chooses from by its way; the garbler adds `q`
//!    to both masks, or to that of the copy. At the end each place has a mask, which *is* the label for zero
//!    of what is read there, but for step 3. For `pfe-linear` these labels are random.
//! 3. *Negations*: a correlated OT of delta for each place: it adds delta to the label where party 0 reads
//!    the wire negated.
//! 4. *Gates*: all gates are alike. An AND of both labels is garbled, and a C-OT chooses between it and their
//!    sum, an XOR, as a copy does.
//! 5. The garbler sends what brings labels from sources to places, and the rows. For `pfe-ot` that is the
//!    label for zero of each source under its mask, and its own active labels: taken through the network with
//!    what the OTs gave, the first are at each place the label for zero there, under that of the source, and
//!    the sum of both makes one active label the other one. For `pfe-linear` it is what opens labels by
//!    points. Party 0 evaluates gate by gate.
//! 6. *Output*: permute bits go to each recipient.
//!
//! **Differences from the papers**: there all gates are NANDs; here step 4 hides which one of two a gate is,
//! and step 3 has negations for nothing else, so that `k` is the number of gates without inverters, as in
//! D13.3's tables. Switches are C-OTs of one block, where the paper has OTs of two strings of two blocks. In
//! the linear ones rows hold points; here they hold labels, which open points, so that gates are garbled as
//! anywhere. That protocol is run again with the points that it has; here [`PfePermuted::linear_again`] is.
//!
//! **Adversary**: semi-honest, either party. The garbler sees the receiver's side of OTs, which hides every
//! choice, points that are uniform whichever sources they are of, and permute bits that its own make the
//! output. Party 0 of `pfe-ot` sees messages of C-OTs, each under a fresh `q`, labels for zero under masks,
//! and one active label of each wire. Masks at two places may differ by what is known to it: then it knows
//! the difference of two labels for zero, which is not delta. Party 0 of `pfe-linear` has one of the two
//! points of each source, and of the other one it knows nothing, by the Diffie-Hellman assumption; which of
//! both it is, it does not see, by the decisional one. An owner of the function that cheats can learn delta
//! from the extensions, and with it `x`; a garbler that cheats can garble any gates. Neither can cause a
//! panic, a hang, or more memory than the shape says.
//!
//! **Not hidden**: the owner reads the labels of its gates where they are, so that whoever shares its machine and sees
//! which memory it reads learns the function. What is sent, and when, does not depend on it.
//!
//! **Assumptions**: AES-128 as an ideal cipher, gap Diffie-Hellman and a random oracle in ristretto255 (base
//! OT); for `pfe-linear` decisional Diffie-Hellman there.
//!
//! **Cost**: for each gate 80 bytes and two negations of 16, and besides: `pfe-ot` about `4 k log2 (2 k)`
//! switches, 32 bytes each, and a block of memory for each; `pfe-linear` 226 bytes and eleven
//! multiplications of points a gate, of which three have a table; with kept points 96 bytes and three multiplications
//! less.

mod bringing;
mod network;
mod points;

#[cfg(test)]
mod tests;

use comity_channel::Channel;
use comity_circuit::{Goal, Observer, Program};
use comity_core::{Bits, Block, Delta, Error, Params, PartyId, Result, declassify};
use comity_garble::hidden::{GATE_ROWS, HiddenEvaluator, HiddenGarbler};
use comity_library::universal::Shape;
use comity_library::universal::direct::Direct;
use comity_ot::base::Simplest;
use comity_ot::flavour::{receive_correlated, send_correlated};
use comity_ot::{CotReceiver, CotSender, HashedReceiver, HashedSender, iknp};
use comity_protocol::{
    Adversary, Card, CardKind, Corrupt, Costing, Here, Job, Options, Party, Protocol, Supplies, Takes, Talk,
};
use comity_yao::{gate_keys, reveal};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use bringing::{Ends, Giving, Taking};

/// A protocol for private functions by an extended permutation: see the [module](self).
pub struct PfePermuted {
    card: &'static Card,
    by: By,
}

/// What brings labels from sources to places.
enum By {
    Network,
    /// By points, and where they are kept from run to run, if they are.
    Points(Option<points::Keep>),
}

/// Mohassel and Sadeghian's protocol, by OT alone.
pub static PFE_OT: PfePermuted = PfePermuted { card: &OT_CARD, by: By::Network };

/// Katz and Malka's protocol, by points: bytes and work grow with the gates, and no faster. Each run has new points.
pub static PFE_LINEAR: PfePermuted = PfePermuted { card: &LINEAR_CARD, by: By::Points(None) };

impl PfePermuted {
    /// [`PFE_LINEAR`] for several runs of one function, one party's side of them: points of the first run serve
    /// in all, as long as both parties keep them. Each later run sends 96 bytes a gate less. An observer sees
    /// that all runs have the same wiring.
    pub fn linear_again() -> PfePermuted {
        PfePermuted { card: &LINEAR_CARD, by: By::Points(Some(points::Keep::default())) }
    }
}

const PROTECTS: &str = "a party that follows the protocol learns nothing but its outputs and the function's shape, whatever it computes afterwards";
const RISK: &str = "a peer that breaks the rules could learn this party's input, or make the output wrong, unnoticed";

const fn card(name: &'static str, paper: &'static str, [summary, about]: [&'static str; 2]) -> Card {
    Card {
        name,
        kind: CardKind::Service,
        paper,
        parties: 2..=2,
        adversary: Adversary::SemiHonest,
        corrupt: Corrupt::AllButOne,
        takes: Takes::Any,
        reactive: false,
        goal: Goal::Size,
        offline: &[],
        options: &[],
        phases: &["setup", "switches", "inputs", "gates", "outputs"],
        summary,
        protects: PROTECTS,
        risk: RISK,
        about,
    }
}

static OT_CARD: Card = card(
    "pfe-ot",
    "Mohassel, Sadeghian: How to Hide Circuits in MPC (Eurocrypt 2013); PRACTICE deliverable D13.3 (2016), section 2.4.4",
    [
        "private functions by an extended permutation over oblivious transfer",
        "An extended permutation by OT: about 4 k log2(2k) switches of 32 bytes for k gates, and no copies. The owner of the input garbles. A party \
         that cheats could learn the other's input, or make the output wrong, unnoticed.",
    ],
);

static LINEAR_CARD: Card = card(
    "pfe-linear",
    "Katz, Malka: Constant-Round Private Function Evaluation with Linear Complexity (Asiacrypt 2011); Biçer, Bingöl, Kiraz, Levi (IEEE TDSC 2020)",
    [
        "private functions by points of a group, in time and bytes that are linear in the gates",
        "An extended permutation by group elements: some 340 bytes and eleven multiplications a gate, and no copies; for slow networks. The owner of the input \
         garbles. A party that cheats could learn the other's input, or make the output wrong, unnoticed.",
    ],
);

/// The owner of the function.
const OWNER: PartyId = PartyId(0);

/// The table of an AND gate.
const AND: u8 = 0b1000;

/// OTs of which the receiver sends its part in one message.
const ROUND: usize = 1 << 18;

/// Seconds of work for a C-OT at both sides, for the base OTs of one extension, and for a multiplication of a point.
const OT: f64 = 60e-9;
const BASE: f64 = 0.018;
const PRODUCT: f64 = 35e-6;

fn shape(program: &Program, name: &str) -> Result<Shape> {
    Shape::of_direct(program).ok_or_else(|| {
        let is = program.name();
        Error::invalid_input(format!("{name} runs direct programs, such as direct96x1x640, and `{is}` is not one"))
    })
}

impl Protocol for PfePermuted {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn fits(&self, program: &Program, _: &Options, _: Params) -> Result<()> {
        shape(program, self.card.name).map(drop)
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        let (shape, garbler) = (shape(of.program, self.card.name)?, OWNER.other());
        let ends = Ends::new(shape);
        for _ in 0..2 {
            talk.say(OWNER, garbler, 32);
            talk.say(garbler, OWNER, 128 * 32);
            talk.work(BASE);
        }
        let (switches, brings) = match &self.by {
            By::Network => (network::count(ends), 16 * (ends.sources + ends.inputs)),
            By::Points(_) => {
                talk.exchange_each(|_, _| size_of::<points::Name>() as u64);
                talk.say(garbler, OWNER, (points::POINT * ends.sources) as u64);
                talk.say(OWNER, garbler, (points::POINT * ends.places) as u64);
                // Of each place one and then two, and one at the end; and of sources with a table.
                talk.work(PRODUCT * (3 * ends.places) as f64);
                let gates = 2 * points::POINT * shape.gates + points::POINT * shape.inputs;
                (0, points::PLACE * ends.places + gates)
            }
        };
        talk.say(OWNER, garbler, 128 * ends.places.div_ceil(8) as u64);
        let mut left = switches + shape.gates;
        while left > 0 {
            let now = left.min(ROUND);
            talk.say(OWNER, garbler, 128 * now.div_ceil(8) as u64);
            talk.say(garbler, OWNER, 16 * now as u64);
            talk.work(OT * now as f64);
            left -= now;
        }
        talk.say(garbler, OWNER, (brings + 16 * GATE_ROWS * shape.gates) as u64);
        let output = &of.program.outputs()[0];
        talk.exchange_each(|_, to| if output.to.includes(to) { output.bits.div_ceil(8) as u64 } else { 0 });
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let shape = shape(job.program, self.card.name)?;
        let mut me = me.sub(self.card.name);
        let (ch, here, rng, observer) = me.pair()?;
        let side = Side { by: &self.by, here, shape, ends: Ends::new(shape) };
        let y = if here.me == OWNER {
            let bits = job.inputs[0].as_ref().expect("of the owner, checked");
            // Where the owner's own memory is read follows its function: the module says so.
            let bits = bits.iter().map(|bit| declassify(bit, "its owner's memory follows a function")).collect();
            let circuit = Direct::of(&bits, shape).ok_or_else(|| {
                Error::invalid_input(
                    "the function's bits are not those of a circuit: a gate reads a wire that nothing before it drives",
                )
            })?;
            side.evaluate(ch, &circuit, rng, observer)?
        } else {
            side.garble(ch, job.inputs[1].as_ref().expect("of this party, checked"), rng, observer)?
        };
        // Step 6.
        observer.phase("outputs");
        if let Some(value) = reveal(ch, here.me, job.program.outputs()[0].to, &y)? {
            observer.output(0, value);
        }
        ch.flush()
    }
}

/// The garbler's side of the extension for switches, whose offset is that of no label: hashes of it are sent.
fn switching(ch: &mut dyn Channel, here: &Here, rng: &mut dyn CryptoRng) -> Result<iknp::Sender> {
    let offset = Zeroizing::new(Delta::new(Block::random(rng)).block());
    iknp::Sender::setup::<Simplest>(ch, &here.session.child("switches"), here.backend, *offset, rng)
}

/// What both sides know.
struct Side<'a> {
    by: &'a By,
    here: Here,
    shape: Shape,
    ends: Ends,
}

impl Side<'_> {
    /// The side of the input's owner: the labels for zero of the output.
    fn garble(
        &self,
        ch: &mut dyn Channel,
        x: &Bits,
        rng: &mut dyn CryptoRng,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Block>> {
        let Side { here, shape, ends, .. } = self;
        // Step 1.
        observer.phase("setup");
        let mut garbler = HiddenGarbler::fresh(here.backend, gate_keys(&here.session), rng);
        let delta = garbler.delta();
        let session = here.session.child("negations");
        let mut negations = iknp::Sender::setup::<Simplest>(ch, &session, here.backend, delta, rng)?;
        let ot = switching(ch, here, rng)?;
        observer.phase("switches");
        let mut giving: Box<dyn Giving> = match self.by {
            By::Network => Box::new(network::Giver::new(*ends, rng)),
            By::Points(keep) => {
                Box::new(points::Giver::new(ch, here.session.child("points"), *ends, keep.as_ref(), rng)?)
            }
        };
        // Step 3: before the switches, since gates need both.
        let mut negated = Zeroizing::new(vec![Block::ZERO; ends.places]);
        negations.extend(ch, &mut negated)?;
        // Steps 2 and 4.
        let switches = giving.switches();
        let mut rows = vec![[Block::ZERO; GATE_ROWS]; shape.gates];
        // The labels for zero of sources.
        let mut zeros: Zeroizing<Vec<Block>> = Zeroizing::new((0..ends.inputs).map(|_| Block::random(rng)).collect());
        zeros.resize(ends.sources, Block::ZERO);
        let mut messages = Zeroizing::new(vec![Block::ZERO; switches + shape.gates]);
        send_correlated(&mut HashedSender::new(ot), ch, 128, Block::bytes_of_mut(&mut messages), |at, zero, one| {
            let q = Block::new(zero.try_into().expect("a block"));
            let correlation = match at.checked_sub(switches) {
                None => giving.switch(at, q),
                Some(gate) => {
                    let wires = [2 * gate, 2 * gate + 1].map(|place| giving.label(place) ^ negated[place]);
                    let and = garbler.gate(AND, wires, &mut rows[gate]);
                    zeros[ends.inputs + gate] = and ^ q;
                    and ^ wires[0] ^ wires[1]
                }
            };
            one.copy_from_slice(&(q ^ correlation).to_bytes());
        })?;
        // Step 5.
        observer.phase("inputs");
        giving.send(ch, &zeros, delta, x)?;
        observer.phase("gates");
        ch.send(Block::bytes_of(rows.as_flattened()))?;
        Ok((2 * shape.gates..ends.places).map(|place| giving.label(place) ^ negated[place]).collect())
    }

    /// The side of the function's owner: the active labels of the output.
    fn evaluate(
        &self,
        ch: &mut dyn Channel,
        circuit: &Direct,
        rng: &mut dyn CryptoRng,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Block>> {
        let Side { here, shape, ends, .. } = self;
        let reads = || circuit.gates.iter().flat_map(|gate| gate.reads).chain(circuit.outputs.iter().copied());
        let sources: Vec<usize> = reads().map(|read| read.wire as usize).collect();
        // Step 1.
        observer.phase("setup");
        let session = here.session.child("negations");
        let mut negations = iknp::Receiver::setup::<Simplest>(ch, &session, here.backend, rng)?;
        let session = here.session.child("switches");
        let ot = iknp::Receiver::setup::<Simplest>(ch, &session, here.backend, rng)?;
        observer.phase("switches");
        let mut taking: Box<dyn Taking + '_> = match self.by {
            By::Network => Box::new(network::Taker::new(*ends, &sources)),
            By::Points(keep) => {
                let session = here.session.child("points");
                Box::new(points::Taker::new(ch, session, *ends, &sources, keep.as_ref(), rng)?)
            }
        };
        // Step 3.
        let mut negated = Zeroizing::new(vec![Block::ZERO; ends.places]);
        negations.extend(ch, &reads().map(|read| read.negated).collect(), &mut negated)?;
        // Steps 2 and 4.
        let mut ways = taking.ways();
        let switches = ways.len();
        circuit.gates.iter().for_each(|gate| ways.push(gate.xor));
        let mut chosen = Zeroizing::new(vec![Block::ZERO; ways.len()]);
        receive_correlated(&mut HashedReceiver::new(ot), ch, 128, &ways, Block::bytes_of_mut(&mut chosen))?;
        // Step 5.
        observer.phase("inputs");
        taking.receive(ch, &chosen[..switches])?;
        observer.phase("gates");
        let mut rows = vec![[Block::ZERO; GATE_ROWS]; shape.gates];
        ch.recv(Block::bytes_of_mut(rows.as_flattened_mut()))?;
        let mut evaluator = HiddenEvaluator::new(here.backend, gate_keys(&here.session));
        for (number, (gate, rows)) in circuit.gates.iter().zip(&rows).enumerate() {
            let [a, b] = [2 * number, 2 * number + 1].map(|place| taking.label(place) ^ negated[place]);
            let and = evaluator.gate([a, b], rows);
            taking.source(and ^ chosen[switches + number] ^ (and ^ a ^ b).masked(gate.xor))?;
        }
        Ok((2 * shape.gates..ends.places).map(|place| taking.label(place) ^ negated[place]).collect())
    }
}
