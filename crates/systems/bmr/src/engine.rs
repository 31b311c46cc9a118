//! A program, chunk after chunk: garbled and evaluated at once, or garbled before and evaluated later.
//!
//! Steps of the program wait until a chunk is full, or the program at its end. While they come, wires get
//! their masks and keys, and nothing is evaluated. Then for all that waits together, a round each:
//!
//! 1. Products of masks are shared, by opening masked ones, and masks of outputs opened, which are those of
//!    gates of their own (`garbling`). At the same time owners say the public values of their inputs,
//!    `x + lambda`, which depend on nothing of it.
//! 2. All that was opened is checked, and that all heard the same; products of masks with offsets come before
//!    it where they take messages ([`Masks`]). At the same time shares of rows go to those who collect them,
//!    but of a later chunk a round later, when the check has passed: keys of its wires are known from the
//!    chunk before (`Garbler::shares`).
//! 3. All say their keys of the public values, and at the same time the rows.
//! 4. Everybody compares which rows it heard, and evaluates.
//!
//! Nothing depends on an input but the public values, and inputs are fixed when rows are opened, as the proof
//! wants it. What could tell something of a mask if an earlier message was false is a row with its keys: no
//! key leaves before round 2 is passed, and no row for which there are keys.
//!
//! **The party that speaks last** knows nothing of an output when it says its public values: the masks that were
//! opened are of wires whose public values only evaluation shows. Evaluation takes the keys of the inputs, which
//! leave when the inputs' public values are fixed. An input that comes after an output in the program may depend on
//! it: they may be in two chunks.
//!
//! So a program that fits a chunk takes a constant number of rounds, and a longer one as many for each chunk.
//!
//! *Ahead*, all but public values, keys and evaluation comes before inputs are known, as in the paper's
//! implementation (section 6.1); the run has a round for the first and one for the second, and compares
//! public values in a third. Rows are then seen before inputs are chosen, which the proof of Theorem 51 does
//! not cover: it holds where `F` is an ideal cipher that a simulator may program on keys that nobody has
//! asked for, since active keys leave only when inputs are fixed.
//!
//! *Ahead, with XOR gates in rows*, what is kept is shares, and the run opens them: in its first round public
//! values are said, with the seeds of figure 7, in its second one shares leave, and in its third one rows and
//! keys. Then rows are seen when inputs are fixed, as in a run that garbles, and it is enough that `F` is a
//! PRF.

use std::io::{Read, Write};
use std::rc::Rc;

use comity_channel::{Echo, Mesh, PerPeer};
use comity_circuit::{Call, Engine, Program, Put, Shown};
use comity_core::{Bits, Cursor, Error, Result};
use comity_protocol::{Conduct, Here, Honest, Job, Party};
use comity_share::Beside;

use crate::act::GarblingAct;
use crate::chunk::{Calling, Chunk, Input, Output, Step, garbled_xors, room};
use crate::evaluator::Evaluator;
use crate::garbler::{Garbler, Ground};
#[cfg(doc)]
use crate::masks::Masks;
use crate::masks::said_beside;
use crate::opening::{Opener, Opening, Zeros};
use crate::protocol::opener;
use crate::stored::{Head, read_chunk, write_chunk};

/// Runs a job. Outputs go to the observer.
///
/// # Errors
/// [`GARBLED_ROW`](crate::checks::GARBLED_ROW); [`EQUIVOCATION`](comity_share::checks::EQUIVOCATION); those
/// of the masks and of the channels; [`InvalidInput`](comity_core::Kind).
pub fn run_with(me: &mut Party<'_, '_>, ground: Ground<'_>, job: &Job<'_>) -> Result<()> {
    run_as(me, ground, job, &mut Honest)
}

/// As [`run_with`], for a party that may lie.
///
/// # Errors
/// As [`run_with`].
pub fn run_as(
    me: &mut Party<'_, '_>,
    mut ground: Ground<'_>,
    job: &Job<'_>,
    conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>,
) -> Result<()> {
    job.program.check_inputs(Some(me.me()), job.inputs)?;
    job.program.check_plain()?;
    let here = me.here.child("garbling");
    let garbler = Garbler::setup(here, ground.lend(), job.program, me.rng)?;
    let evaluator = Evaluator::new(here, garbler.offset(), job.program)?;
    let zeros = Zeros::new(here, me.rng);
    let room = room(job.program, here.parties.into());
    walk(me, here, (job.program, room), job.inputs, Mode::Run { garbler, evaluator, zeros }, conduct)
}

/// Garbles a program whose inputs are not known, and writes what this party has of it.
///
/// # Errors
/// As [`run_with`]; those of writing. After an error what was written is worth nothing.
pub fn prepare_with(
    me: &mut Party<'_, '_>,
    ground: Ground<'_>,
    program: &Program,
    to: &mut dyn Write,
    conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>,
) -> Result<()> {
    let room = room(program, me.here.parties.into());
    prepare_in(me, ground, program, to, room, conduct)
}

/// As [`prepare_with`], in chunks of this room, which is that of every run on it.
///
/// # Errors
/// As [`prepare_with`].
pub(crate) fn prepare_in(
    me: &mut Party<'_, '_>,
    mut ground: Ground<'_>,
    program: &Program,
    to: &mut dyn Write,
    room: usize,
    conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>,
) -> Result<()> {
    program.check_plain()?;
    let here = me.here.child("garbling");
    ground.masks.ahead_of_inputs();
    let garbler = Garbler::setup(here, ground.lend(), program, me.rng)?;
    Head::new(here, program, garbler.offset()).write(to)?;
    let zeros = garbler.offset().map(|_| Zeros::new(here, me.rng));
    let none = vec![None; program.inputs().len()];
    walk(me, here, (program, room), &none, Mode::Prepare { garbler, zeros, to }, conduct)
}

/// Runs a job on what [`prepare_with`] wrote, which is used up by it, whatever comes of it.
///
/// # Errors
/// As [`run_with`]; those of reading; [`Store`](comity_core::Kind) if it is another program's or party's.
pub fn use_up(
    me: &mut Party<'_, '_>,
    from: &mut dyn Read,
    job: &Job<'_>,
    conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>,
) -> Result<()> {
    job.program.check_inputs(Some(me.me()), job.inputs)?;
    let head = Head::read(from, me.here, job.program)?;
    let here = me.here.child("evaluation of what was garbled");
    let garbled = Here { session: head.session, ..here };
    let evaluator = Evaluator::new(garbled, head.offset, job.program)?;
    let opens = head.offset.is_none().then(|| (opener(job.options), Zeros::new(here, me.rng)));
    let room = room(job.program, here.parties.into());
    walk(me, here, (job.program, room), job.inputs, Mode::Use { evaluator, opens, from }, conduct)
}

fn walk<'a, 'p>(
    me: &'a mut Party<'_, '_>,
    here: Here,
    (program, room): (&'p Program, usize),
    inputs: &[Option<Bits>],
    mode: Mode<'a>,
    conduct: &'a mut impl for<'c> Conduct<GarblingAct<'c>>,
) -> Result<()> {
    let Party { net, observer, .. } = me;
    let xor_gates = mode.xor_gates();
    let (chunk, learned) = (Chunk::default(), Vec::new());
    let mut walk = Walk { net, here, program, mode, chunk, room, xor_gates, chunks: 0, learned, conduct };
    comity_circuit::run(program, &mut walk, inputs, *observer)?;
    walk.finish_chunk()?;
    let learned = walk.learned;
    learned.into_iter().for_each(|(index, value)| observer.output(index, value));
    Ok(())
}

/// What is done to a chunk.
enum Mode<'a> {
    Run {
        garbler: Garbler<'a>,
        evaluator: Evaluator,
        zeros: Zeros,
    },
    /// Without zero-shares what is kept is shares.
    Prepare {
        garbler: Garbler<'a>,
        zeros: Option<Zeros>,
        to: &'a mut dyn Write,
    },
    /// What was kept as shares is opened so.
    Use {
        evaluator: Evaluator,
        opens: Option<(Opener, Zeros)>,
        from: &'a mut dyn Read,
    },
}

impl Mode<'_> {
    /// Whether XOR gates have rows.
    fn xor_gates(&self) -> bool {
        match self {
            Mode::Run { garbler, .. } | Mode::Prepare { garbler, .. } => garbler.offset().is_none(),
            Mode::Use { opens, .. } => opens.is_some(),
        }
    }
}

struct Walk<'a, 'n, 'p, C> {
    net: &'a mut Mesh<'n>,
    here: Here,
    program: &'p Program,
    mode: Mode<'a>,
    chunk: Chunk<'p>,
    room: usize,
    /// Whether XOR gates have rows.
    xor_gates: bool,
    chunks: u64,
    /// Outputs that are known, in the order of the program.
    learned: Vec<(usize, Bits)>,
    conduct: &'a mut C,
}

impl<'a, 'n, C: for<'c> Conduct<GarblingAct<'c>>> Walk<'a, 'n, '_, C> {
    /// The garbling side, with the links and how it behaves, unless all is garbled.
    fn garbler(&mut self) -> Option<(&mut Garbler<'a>, &mut Mesh<'n>, &mut C)> {
        match &mut self.mode {
            Mode::Run { garbler, .. } | Mode::Prepare { garbler, .. } => Some((garbler, self.net, self.conduct)),
            Mode::Use { .. } => None,
        }
    }

    fn finish_if_full(&mut self) -> Result<()> {
        if self.chunk.fill.full(self.room) { self.finish_chunk() } else { Ok(()) }
    }

    fn finish_chunk(&mut self) -> Result<()> {
        let chunk = core::mem::take(&mut self.chunk);
        if chunk.steps.is_empty() {
            return Ok(());
        }
        let (net, conduct) = (&mut *self.net, &mut *self.conduct);
        let mut echo = Echo::new(self.here.session.child(&format!("chunk {}", self.chunks)));
        let first = self.chunks == 0;
        self.chunks += 1;
        match &mut self.mode {
            Mode::Run { garbler, evaluator, zeros } => {
                let mut masked = garbler.known();
                let (own, out) = evaluator.own_inputs(&chunk, &masked, conduct)?;
                let lengths = PerPeer::new(self.here.me, self.here.parties, |peer| chunk.bytes_of(peer));
                let mut beside = Beside { out, lengths };
                zeros.say(&mut beside);
                let mut said = garbler.products(net, &chunk, &beside)?;
                zeros.hear(&mut said);
                let public = evaluator.public_values(&chunk, &own, &said, &mut echo);
                let opening;
                (opening, masked.outputs) = garbler.shares(net, zeros, (&echo, !first), conduct)?;
                garbler.bits().check_begins()?;
                let (own, keys) = evaluator.keys(&masked, &public, conduct);
                let (rows, keys) = opening.tell(net, &keys, &mut echo, conduct)?;
                net.settle(echo)?;
                let active = evaluator.active(&public, own, &keys);
                self.learned.extend(evaluator.evaluate(&chunk, active, &rows, &masked)?);
                garbler.bits().check_passed()?;
            }
            Mode::Prepare { garbler, zeros: None, to } => {
                let mut masked = garbler.known();
                garbler.products(net, &chunk, &Beside::nothing(net))?;
                let shares = garbler.garbled(net, conduct)?;
                masked.outputs = garbler.settle(net)?;
                write_chunk(*to, &masked, &shares)?;
            }
            Mode::Prepare { garbler, zeros: Some(zeros), to } => {
                let mut masked = garbler.known();
                let mut beside = Beside::nothing(net);
                zeros.say(&mut beside);
                let mut said = garbler.products(net, &chunk, &beside)?;
                zeros.hear(&mut said);
                let opening;
                (opening, masked.outputs) = garbler.shares(net, zeros, (&echo, false), conduct)?;
                let nothing = PerPeer::new(self.here.me, self.here.parties, |_| Vec::new());
                let (rows, _) = opening.tell(net, &nothing, &mut echo, conduct)?;
                net.settle(echo)?;
                write_chunk(*to, &masked, &rows)?;
            }
            Mode::Use { evaluator, opens, from } => {
                let (masked, rows) = read_chunk(*from, &chunk, self.here, evaluator.keys_of_wire())?;
                let (own, out) = evaluator.own_inputs(&chunk, &masked, conduct)?;
                let lengths = PerPeer::new(self.here.me, self.here.parties, |peer| chunk.bytes_of(peer));
                let mut beside = Beside { out, lengths };
                if let Some((_, zeros)) = opens {
                    zeros.say(&mut beside);
                }
                let mut inputs = said_beside(net, &beside)?;
                if let Some((_, zeros)) = opens {
                    zeros.hear(&mut inputs);
                }
                let public = evaluator.public_values(&chunk, &own, &inputs, &mut echo);
                // No key leaves before all heard the same public values, where rows are still to be opened.
                let opened = match opens {
                    Some((opener, zeros)) => {
                        let mut opening = Opening::new(*opener, zeros, rows);
                        let heard = said_beside(net, &opening.with_digest(&echo, conduct))?;
                        opening.compared(&echo, heard)?;
                        Err(opening)
                    }
                    None => Ok(rows),
                };
                let (own, said) = evaluator.keys(&masked, &public, conduct);
                let (rows, keys) = match opened {
                    Ok(rows) => (rows, said_beside(net, &Beside::alike(said))?),
                    Err(opening) => opening.tell(net, &said, &mut echo, conduct)?,
                };
                net.settle(echo)?;
                let active = evaluator.active(&public, own, &keys);
                self.learned.extend(evaluator.evaluate(&chunk, active, &rows, &masked)?);
            }
        }
        Ok(())
    }
}

impl<C: for<'c> Conduct<GarblingAct<'c>>> Engine for Walk<'_, '_, '_, C> {
    type Error = Error;

    /// Both sides have made their memory: the garbling one where its links and masks are, the evaluating one
    /// for what it was garbled under.
    fn begin(&mut self, _: &Program) -> Result<()> {
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        let owner =
            put.owner.party().ok_or_else(|| Error::invalid_input("this protocol takes no input values in shares"))?;
        if let Some((garbler, net, conduct)) = self.garbler() {
            garbler.input(net, owner, put.wires(), conduct)?;
        }
        self.chunk.input(Input { owner, bits: put.bits, value: value.cloned() }, put.start);
        self.finish_if_full()
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let calling = Rc::new(Calling::new(self.program, call));
        for t in 0..call.times {
            if let Some((garbler, ..)) = self.garbler() {
                garbler.load(&calling, t);
            }
            self.chunk.step(Step::Load(calling.clone(), t));
            let mut cursor = Cursor::default();
            while let Some(part) = calling.advance(&mut cursor) {
                if let Some((garbler, net, conduct)) = self.garbler() {
                    garbler.walk(net, &part, conduct)?;
                }
                let xors = if self.xor_gates { garbled_xors(&part) } else { 0 };
                self.chunk.walk(part, xors);
                self.finish_if_full()?;
            }
            if let Some((garbler, ..)) = self.garbler() {
                garbler.store(&calling, t);
            }
            self.chunk.step(Step::Store(calling.clone(), t));
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        let Shown { index, to, start, bits } = shown;
        if let Some((garbler, net, conduct)) = self.garbler() {
            garbler.reveal(net, shown.wires(), conduct)?;
        }
        self.chunk.reveal(Output { index, to, bits }, start);
        // Known at the end of the chunk.
        self.finish_if_full().map(|()| None)
    }
}
