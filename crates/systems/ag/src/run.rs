//! `Run`: one party's way through a program, as an engine: all at once, or in two phases.
//!
//! | | offline: masks, products, rows | online: labels, masked values, checks |
//! |---|---|---|
//! | all at once | from a [dealer](Live), chunk by chunk | with each chunk |
//! | [`Run::offline`] | likewise, to a batch | |
//! | [`Run::online`] | from the batch | yes |

use std::io::{Read, Write};
use std::ops::Range;

use comity_channel::Channel;
use comity_circuit::{Call, Engine, Observer, Program, Put, Shown};
use comity_core::{AuthEvaluator, AuthGarbler, Bits, Block, Error, PartyId, Prg, Result, declassify};
use comity_protocol::{Conduct, Here, Job};
use comity_share::Share;
use rand_core::CryptoRng;
use zeroize::Zeroize;

use crate::checks;
use crate::conduct::Act;
use crate::gates::{Algebra, Gates, Masked, pack, unpack};
use crate::live::Live;
use crate::stored::{self, Head};
use crate::verdict::Verdict;
use crate::walk::{Column, Queue, Stretch, linear};

/// Where masks, products and rows come from.
enum Source<'a, 'd> {
    /// From a dealer; the rows from the garbler.
    Live(&'a mut Live<'d>),
    /// From a batch.
    Stored(&'a mut dyn Read),
}

/// The two sides, with their state.
enum Side {
    /// The garbler: where labels of inputs come from; and unless all was garbled before, what garbles.
    Garbler { labels: Box<Prg>, garbler: Option<AuthGarbler> },
    /// The evaluator; none if another phase evaluates. Labels of its own inputs that the garbler owes it.
    Evaluator { evaluator: Option<AuthEvaluator>, owed: Vec<Range<usize>> },
}

/// A party that runs a program.
pub(crate) struct Run<'a, 'd, C> {
    ch: &'a mut (dyn Channel + 'a),
    algebra: Algebra,
    source: Source<'a, 'd>,
    /// Where it all goes, if this is the offline phase.
    to: Option<&'a mut dyn Write>,
    side: Side,
    queue: Queue<'a>,
    masks: Column<Share>,
    /// Labels for the masked value zero at the garbler, active ones at the evaluator.
    labels: Column<Block>,
    /// Masked values, zeros and ones.
    masked: Column<u8>,
    gates: Gates,
    bits: Masked,
    room: Room,
    verdict: Verdict<'a>,
    conduct: C,
}

/// Room for a stretch. Wiped on drop.
#[derive(Default)]
struct Room {
    terms: Vec<Block>,
    rows: Vec<Block>,
}

impl Room {
    fn resize(&mut self, ands: usize) {
        if self.terms.capacity() < 3 * ands {
            // Memory that is moved is not wiped where it was.
            self.terms.zeroize();
        }
        self.terms.resize(3 * ands, Block::ZERO);
        self.rows.resize(2 * ands, Block::ZERO);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.terms.zeroize();
    }
}

/// The parts of a run, besides its place.
struct Parts<'a, 'd> {
    algebra: Algebra,
    source: Source<'a, 'd>,
    to: Option<&'a mut dyn Write>,
    side: Side,
}

/// Runs this party's side of a program on a dealer's material. Outputs for this party go to the observer.
/// `here.session` is the run's alone.
///
/// Phases: `offline`, in which masks of all inputs are made, and masks and triples of the first chunk; then
/// those of the program.
///
/// # Errors
/// Those of the dealer and of the channel, and the [`checks`].
pub(crate) fn whole(
    ch: &mut dyn Channel,
    here: Here,
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
    live: &mut Live<'_>,
    job: &Job<'_>,
    conduct: impl for<'c> Conduct<Act<'c>>,
) -> Result<()> {
    observer.phase("offline");
    let program = job.program;
    live.prepare(ch, program)?;
    let algebra = live.algebra(job.options.first("role"));
    let start = live.starts.next_start();
    let side = match algebra.garbles {
        true => Side::Garbler {
            labels: Box::new(Prg::new(here.backend, Block::random(rng))),
            garbler: Some(AuthGarbler::new(here.backend, algebra.key.block(), start)),
        },
        false => Side::Evaluator { evaluator: Some(AuthEvaluator::new(here.backend, start.block())), owed: Vec::new() },
    };
    let parts = Parts { algebra, source: Source::Live(live), to: None, side };
    let mut run = Run::new(ch, here, rng, program, parts, conduct);
    comity_circuit::run(program, &mut run, job.inputs, observer)?;
    run.ch.flush()
}

/// An order for a program to be garbled ahead: the garbler, and where the batch goes.
pub(crate) struct Order<'o> {
    pub(crate) program: &'o Program,
    pub(crate) garbler: PartyId,
    pub(crate) to: &'o mut dyn Write,
}

/// The offline phase: everything that does not depend on inputs goes to a batch.
///
/// # Errors
/// As [`whole`], and those of writing. What was written before an error is worth nothing.
pub(crate) fn offline(
    ch: &mut dyn Channel,
    here: Here,
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
    live: &mut Live<'_>,
    order: Order<'_>,
    conduct: impl for<'c> Conduct<Act<'c>>,
) -> Result<()> {
    let Order { program, garbler, to } = order;
    observer.phase("offline");
    live.prepare(ch, program)?;
    let algebra = live.algebra(garbler);
    let start = live.starts.next_start();
    let seed = Block::random(rng);
    let head = Head {
        party: here.me,
        garbler,
        program: program.digest(),
        key: algebra.key.clone(),
        block: if algebra.garbles { seed } else { start.block() },
    };
    head.write(to)?;
    let side = match algebra.garbles {
        true => Side::Garbler {
            labels: Box::new(Prg::new(here.backend, seed)),
            garbler: Some(AuthGarbler::new(here.backend, algebra.key.block(), start)),
        },
        false => Side::Evaluator { evaluator: None, owed: Vec::new() },
    };
    let parts = Parts { algebra, source: Source::Live(live), to: Some(to), side };
    let mut run = Run::new(ch, here, rng, program, parts, conduct);
    comity_circuit::run(program, &mut run, &vec![None; program.inputs().len()], observer)?;
    run.ch.flush()?;
    drop(run);
    // Nothing counts as made before what was opened is settled.
    live.settle(ch)
}

/// The online phase, on a batch of this program.
///
/// # Errors
/// As [`whole`]; [`Store`](comity_core::Kind) if it is no such batch.
pub(crate) fn online(
    ch: &mut dyn Channel,
    here: Here,
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
    from: &mut dyn Read,
    job: &Job<'_>,
    conduct: impl for<'c> Conduct<Act<'c>>,
) -> Result<()> {
    let (program, garbler) = (job.program, job.options.first("role"));
    let Head { key, block, .. } = Head::read(from, program, here.me, garbler)?;
    let algebra = Algebra { me: here.me, garbles: garbler == here.me, key };
    let side = match algebra.garbles {
        true => Side::Garbler { labels: Box::new(Prg::new(here.backend, block)), garbler: None },
        false => Side::Evaluator { evaluator: Some(AuthEvaluator::new(here.backend, block)), owed: Vec::new() },
    };
    let parts = Parts { algebra, source: Source::Stored(from), to: None, side };
    let mut run = Run::new(ch, here, rng, program, parts, conduct);
    comity_circuit::run(program, &mut run, job.inputs, observer)?;
    run.ch.flush()
}

impl<'a, 'd, C: for<'c> Conduct<Act<'c>>> Run<'a, 'd, C> {
    fn new(
        ch: &'a mut (dyn Channel + 'a),
        here: Here,
        rng: &'a mut dyn CryptoRng,
        program: &'a Program,
        parts: Parts<'a, 'd>,
        conduct: C,
    ) -> Run<'a, 'd, C> {
        let Parts { algebra, source, to, side } = parts;
        Run {
            ch,
            masks: Column::new(algebra.constant(true)),
            labels: Column::new(Block::ZERO),
            // The constant one is the masked value zero under the mask one.
            masked: Column::new(0),
            algebra,
            source,
            to,
            side,
            queue: Queue::new(program),
            gates: Gates::default(),
            bits: Masked::default(),
            room: Room::default(),
            verdict: Verdict::new(here, rng),
            conduct,
        }
    }

    /// Does all calls that wait.
    fn all_calls(&mut self) -> Result<()> {
        while let Some(chunk) = self.queue.chunk(true) {
            self.chunk(&chunk)?;
        }
        Ok(())
    }

    /// Does a chunk.
    fn chunk(&mut self, chunk: &[Stretch<'_>]) -> Result<()> {
        self.owed()?;
        let ands = chunk.iter().map(Stretch::ands).sum();
        self.gates.resize(ands);
        match &mut self.source {
            Source::Live(live) => live.masks(self.ch, &mut self.gates)?,
            Source::Stored(from) => {
                stored::take_shares(&mut **from, &mut self.gates.outputs)?;
                stored::take_shares(&mut **from, &mut self.gates.products)?;
            }
        }
        let Gates { inputs: [first, second], outputs, .. } = &mut self.gates;
        linear(&mut self.masks, chunk, |gate, u, v| {
            (first[gate], second[gate]) = (u, v);
            outputs[gate]
        });
        if let Source::Live(live) = &mut self.source {
            live.products(self.ch, &self.algebra, &mut self.gates, &mut self.conduct)?;
        }
        if let Some(to) = &mut self.to {
            stored::FORM.put(&mut **to, Share::bytes_of(&self.gates.outputs))?;
            stored::FORM.put(&mut **to, Share::bytes_of(&self.gates.products))?;
        }
        self.bits.resize(ands);
        let mut gate = 0;
        for stretch in chunk {
            self.stretch(stretch, gate)?;
            gate += stretch.ands();
        }
        if self.to.is_none() { self.check(chunk) } else { Ok(()) }
    }

    /// Garbles or evaluates a stretch of a chunk, after the chunk's first `gate` gates.
    fn stretch(&mut self, stretch: &Stretch<'_>, gate: usize) -> Result<()> {
        let ands = stretch.ands();
        let range = gate..gate + ands;
        self.room.resize(ands);
        let Room { terms, rows } = &mut self.room;
        match &mut self.side {
            Side::Garbler { garbler: None, .. } => Ok(()),
            Side::Garbler { garbler: Some(garbler), .. } => {
                self.algebra.terms(&self.gates, range, terms);
                self.labels.enter(stretch);
                if let Some(part) = &stretch.part {
                    garbler.garble(part, &mut self.labels.slots, terms, rows);
                }
                self.labels.leave(stretch);
                let mut flips = pack(terms[2 * ands..].iter().map(|label| label.lsb()));
                self.conduct.before(Act::Tables { rows, flips: &mut flips });
                self.ch.send(Block::bytes_of(rows))?;
                self.ch.send(&flips)
            }
            Side::Evaluator { evaluator, .. } => {
                let mut flips = vec![0; ands.div_ceil(8)];
                for bytes in [Block::bytes_of_mut(rows), &mut flips] {
                    match &mut self.source {
                        _ if bytes.is_empty() => {}
                        Source::Live(_) => self.ch.recv(bytes)?,
                        Source::Stored(from) => stored::FORM.take(&mut **from, bytes)?,
                    }
                    if let Some(to) = &mut self.to {
                        stored::FORM.put(&mut **to, bytes)?;
                    }
                }
                let Some(evaluator) = evaluator else { return Ok(()) };
                self.algebra.terms(&self.gates, range.clone(), terms);
                for (term, flip) in terms[2 * ands..].iter_mut().zip(unpack(&flips, ands)) {
                    *term ^= Block::from_u128(flip.into());
                }
                self.labels.enter(stretch);
                if let Some(part) = &stretch.part {
                    evaluator.evaluate(part, &mut self.labels.slots, terms, rows);
                }
                self.labels.leave(stretch);
                let outputs = self.bits.outputs[range].iter_mut().zip(&terms[2 * ands..]);
                outputs.for_each(|(bit, label)| *bit = label.lsb().into());
                Ok(())
            }
        }
    }

    /// The evaluator sends the masked values of a chunk, and both note what is to be checked.
    fn check(&mut self, chunk: &[Stretch<'_>]) -> Result<()> {
        let ands = self.bits.outputs.len();
        let mut told = pack(self.bits.outputs.iter().map(|&bit| bit == 1));
        match &self.side {
            Side::Evaluator { .. } => {
                self.conduct.before(Act::Masked(&mut told));
                self.ch.send(&told)?;
            }
            Side::Garbler { .. } => {
                self.ch.recv(&mut told)?;
                self.conduct.before(Act::Told(&mut told));
            }
        }
        self.bits.outputs.iter_mut().zip(unpack(&told, ands)).for_each(|(bit, told)| *bit = told);
        let Masked { inputs: [first, second], outputs } = &mut self.bits;
        linear(&mut self.masked, chunk, |gate, a, b| {
            (first[gate], second[gate]) = (a, b);
            outputs[gate]
        });
        self.verdict.note(&self.algebra, &self.gates, &self.bits, &mut self.conduct);
        Ok(())
    }

    /// The evaluator receives the labels of its own inputs, whose masked bits it has told before.
    fn owed(&mut self) -> Result<()> {
        if let Side::Evaluator { owed, .. } = &mut self.side {
            for wires in std::mem::take(owed) {
                self.active_labels(wires)?;
            }
        }
        Ok(())
    }

    /// The evaluator receives active labels of input wires whose masked values are known.
    fn active_labels(&mut self, wires: Range<usize>) -> Result<()> {
        let labels = &mut self.labels.memory[wires.clone()];
        self.ch.recv(Block::bytes_of_mut(labels))?;
        let told = &self.masked.memory[wires];
        let wrong = labels.iter().zip(told).fold(0, |wrong, (label, &bit)| wrong | u8::from(label.lsb()) ^ bit);
        match declassify(wrong == 0, "the others see whether a check passed") {
            true => Ok(()),
            false => Err(Error::from(checks::INPUT_LABEL).by(self.algebra.me.other())),
        }
    }

    /// The masked bits of an input, which its owner tells, and its labels.
    fn masked_input(&mut self, owner: PartyId, value: Option<&Bits>, wires: Range<usize>) -> Result<()> {
        let (own, n) = (owner == self.algebra.me, wires.len());
        let mut told = vec![0; n.div_ceil(8)];
        if own {
            let value = value.filter(|value| value.len() == n);
            let value = value.ok_or_else(|| Error::invalid_input(format!("an input of {n} bits is missing")))?;
            let masks = self.masks.memory[wires.clone()].iter().map(|mask| mask.bit());
            told = pack(masks.zip(value.iter()).map(|(mask, bit)| mask ^ bit));
            self.conduct.before(Act::MaskedInput(&mut told));
            self.ch.send(&told)?;
        } else {
            self.owed()?;
            self.ch.recv(&mut told)?;
        }
        let masked = &mut self.masked.memory[wires.clone()];
        masked.iter_mut().zip(unpack(&told, n)).for_each(|(wire, bit)| *wire = bit);
        match &mut self.side {
            Side::Garbler { .. } => {
                let zeros = self.labels.memory[wires].iter().zip(&*masked);
                let mut labels: Vec<Block> =
                    zeros.map(|(&zero, &bit)| zero ^ self.algebra.key.block().masked(bit == 1)).collect();
                self.conduct.before(Act::Labels(&mut labels));
                self.ch.send(Block::bytes_of(&labels))
            }
            // Labels of its own inputs are waited for when they are needed: several inputs cost one round.
            Side::Evaluator { owed, .. } if own => {
                owed.push(wires);
                Ok(())
            }
            Side::Evaluator { .. } => self.active_labels(wires),
        }
    }
}

impl<C: for<'c> Conduct<Act<'c>>> Engine for Run<'_, '_, C> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.masks.begin(program)?;
        self.labels.begin(program)?;
        self.masked.begin(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        let party =
            put.owner.party().ok_or_else(|| Error::invalid_input("this protocol takes no input values in shares"))?;
        self.all_calls()?;
        let wires = put.wires();
        let masks = &mut self.masks.memory[wires.clone()];
        match &mut self.source {
            Source::Live(live) => live.inputs(self.ch, party, masks)?,
            Source::Stored(from) => stored::take_shares(&mut **from, masks)?,
        }
        if let Side::Garbler { labels, .. } = &mut self.side {
            let zeros = &mut self.labels.memory[wires.clone()];
            labels.fill_blocks(zeros);
            zeros.iter_mut().for_each(|zero| *zero = zero.with_lsb(false));
        }
        match &mut self.to {
            Some(to) => stored::FORM.put(&mut **to, Share::bytes_of(masks)),
            None => self.masked_input(party, value, wires),
        }
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.queue.push(call);
        while let Some(chunk) = self.queue.chunk(false) {
            self.chunk(&chunk)?;
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.all_calls()?;
        if self.to.is_some() {
            return Ok(None);
        }
        self.owed()?;
        if let Source::Live(live) = &mut self.source {
            live.check_begins()?;
            live.settle(self.ch)?;
        }
        self.verdict.compare(self.ch, &mut self.conduct)?;
        let masks = &self.masks.memory[shown.wires()];
        let value = self.verdict.open(self.ch, &self.algebra, shown.to, masks, &mut self.conduct)?;
        if let Source::Live(live) = &mut self.source {
            live.check_passed()?;
        }
        let masked = &self.masked.memory[shown.wires()];
        Ok(value.map(|value| value.iter().zip(masked).map(|(mask, &bit)| mask ^ (bit == 1)).collect()))
    }
}
