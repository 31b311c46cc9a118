//! The protocol that runs a program: figures 6, 7 and 9, chunk after chunk.
//!
//! Steps of the program wait until a chunk is full, or the program at its end. While they come, wires get their masks and keys, gates
//! are noted, and nothing is evaluated. Then for all that waits together:
//!
//! 1. (figure 6, steps 3 and 5; section 4.3, steps 5, 7 and 8) Products of masks are shared, masks of inputs opened to their owners and
//!    those of outputs to their recipients, and all of it checked.
//! 2. (figure 9) Owners say the public values of their inputs, `Lambda = x + lambda`.
//! 3. All say their keys of these public values.
//! 4. (figure 7) All shares of the garbled gates go to whoever collects them, the sums to all; then all compare
//!    digests of the public values and gates that they heard.
//! 5. (figure 9) Everybody evaluates.
//!
//! So a program that fits a chunk takes a constant number of rounds, and a longer one as many for each chunk.
//!
//! Nothing is evaluated before all parties agree on public values and gates. What an honest party said before that under differing
//! views is harmless: it says one key of each wire, never both.

use std::rc::Rc;

use comity_channel::{Mesh, PerPeer};
use comity_circuit::{Call, Engine, Owner, Place, Program, Recipients};
use comity_core::{Bits, Block, Cursor, Error, Part, PartyId, Result, Tape};
use comity_protocol::{Conduct, Here, Honest, Job, Party};
use zeroize::{Zeroize, Zeroizing};

use crate::act::Act;
use crate::evaluating::Evaluating;
use crate::garbling::{Garbling, Gates};
use crate::heard::Heard;
use crate::masks::{Masks, Opened};
use crate::opening::{Zeros, open};

/// Rows of garbled gates that a chunk holds at most, times parties, in gates: 2^17 gates' rows of one party's keys are 8 MiB.
pub(crate) const CHUNK: usize = 1 << 17;

/// Runs a job over masks. Outputs go to the observer.
///
/// # Errors
/// [`GARBLED_ROW`](crate::checks::GARBLED_ROW); [`EQUIVOCATION`](comity_share::checks::EQUIVOCATION); those of the masks and of the channels;
/// [`InvalidInput`](comity_core::Kind).
pub fn run_with(me: &mut Party<'_, '_>, masks: &mut dyn Masks, job: &Job<'_>) -> Result<()> {
    run_as(me, masks, job, &mut Honest)
}

/// As [`run_with`], for a party that may lie.
///
/// # Errors
/// As [`run_with`].
pub fn run_as(
    me: &mut Party<'_, '_>,
    masks: &mut dyn Masks,
    job: &Job<'_>,
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
) -> Result<()> {
    job.program.check_inputs(Some(me.me()), job.inputs)?;
    job.program.check_plain()?;
    let here = me.here.child("garbling");
    let Party { net, rng, observer, .. } = me;
    let (own, n) = (usize::from(here.me.0), usize::from(here.parties));
    let seed = Block::random(rng);
    let zeros = Zeros::setup(net, here.backend, &here.session, rng)?;
    let offset = masks.offset();
    let mut garbling = Garbling::new(here.backend, &here.session, own, n, offset, seed);
    let mut evaluating = Evaluating::new(here.backend, &here.session, own, n, offset);
    garbling.grow(2);
    evaluating.grow(2);
    let wires = usize::try_from(job.program.wires()).ok().filter(|wires| wires.checked_mul(2 * n + 1).is_some());
    let wires = wires.ok_or_else(|| Error::invalid_input("the program has more wires than memory can hold"))?;
    let mut engine = Garbled {
        net,
        here,
        masks,
        program: job.program,
        zeros,
        garbling,
        evaluating,
        masked: vec![Block::ZERO; wires * (n + 1)],
        active: vec![Block::ZERO; wires * n],
        chunk: Chunk::default(),
        chunks: 0,
        outputs: Vec::new(),
        room: CHUNK / n,
        conduct,
    };
    comity_circuit::run(job.program, &mut engine, job.inputs, *observer)?;
    engine.flush()?;
    let outputs = core::mem::take(&mut engine.outputs);
    drop(engine);
    outputs.into_iter().for_each(|(index, value)| observer.output(index, value));
    Ok(())
}

/// What waits for the end of a chunk.
#[derive(Default)]
struct Chunk<'p> {
    steps: Vec<Waiting<'p>>,
    gates: Gates,
    inputs: Vec<Input>,
    /// Rows of the masks of inputs, one after another, and this party's keys of 0.
    input_wires: Vec<Block>,
    outputs: Vec<Output>,
    /// Wires of inputs and outputs.
    bits: usize,
}

/// A step that waits to be evaluated.
enum Waiting<'p> {
    Input { start: usize, bits: usize },
    Load(Rc<Calling<'p>>, u64),
    Walk(Part<'p>),
    Store(Rc<Calling<'p>>, u64),
    Reveal { start: usize },
}

/// A call that outlives the step that made it.
struct Calling<'p> {
    circuit: &'p comity_circuit::Lowered,
    args: Vec<Place>,
    outs: Vec<Place>,
}

struct Input {
    owner: PartyId,
    bits: usize,
    /// The value, at its owner.
    value: Option<Bits>,
}

struct Output {
    index: usize,
    to: Recipients,
    /// Rows of the masks.
    rows: Vec<Block>,
}

struct Garbled<'a, 'n, 'p, C> {
    net: &'a mut Mesh<'n>,
    here: Here,
    masks: &'a mut dyn Masks,
    program: &'p Program,
    zeros: Zeros,
    garbling: Garbling,
    evaluating: Evaluating,
    /// The program's wires as they are garbled, and as they are evaluated.
    masked: Vec<Block>,
    active: Vec<Block>,
    chunk: Chunk<'p>,
    chunks: u64,
    outputs: Vec<(usize, Bits)>,
    /// AND gates, and wires of inputs and outputs, that a chunk has room for.
    room: usize,
    conduct: &'a mut C,
}

impl<C: for<'c> Conduct<Act<'c>>> Engine for Garbled<'_, '_, '_, C> {
    type Wire = ();
    type Error = Error;

    fn input(&mut self, _: usize, owner: Owner, value: Option<&Bits>, start: usize, wires: &mut [()]) -> Result<()> {
        let owner = owner.party().ok_or_else(|| Error::invalid_input("a value in shares cannot be put in"))?;
        let (n, stride, bits) = (self.evaluating.stride(), self.garbling.stride(), wires.len());
        let mut rows = vec![Block::ZERO; bits * n];
        self.masks.random(self.net, &mut rows)?;
        let wires = &mut self.masked[start * stride..][..bits * stride];
        self.garbling.fresh(&rows, wires);
        self.chunk.input_wires.extend_from_slice(wires);
        self.chunk.inputs.push(Input { owner, bits, value: value.cloned() });
        self.chunk.steps.push(Waiting::Input { start, bits });
        self.chunk.bits += bits;
        self.flush_if_full()
    }

    fn call(&mut self, call: &Call<'_>, _: &mut [()]) -> Result<()> {
        let lowered = self.program.lowered();
        let circuit = lowered.iter().find(|lowered| core::ptr::eq(*lowered, call.circuit));
        let circuit = circuit.ok_or_else(|| Error::invalid_input("the call is another program's"))?;
        let calling = Rc::new(Calling { circuit, args: call.args.to_vec(), outs: call.outs.to_vec() });
        let (n, stride, tape) = (self.evaluating.stride(), self.garbling.stride(), circuit.tape());
        self.garbling.grow(tape.slots());
        let mut rows = Vec::new();
        for t in 0..call.times {
            calling.load(t, stride, &self.masked, &mut self.garbling.slots);
            self.chunk.steps.push(Waiting::Load(calling.clone(), t));
            let mut cursor = Cursor::default();
            while let Some(part) = cursor.advance(tape, Tape::MAX_ANDS) {
                rows.resize(part.ands() * n, Block::ZERO);
                self.masks.random(self.net, &mut rows)?;
                self.garbling.walk(&part, &rows, &mut self.chunk.gates);
                self.chunk.steps.push(Waiting::Walk(part));
                self.flush_if_full()?;
            }
            calling.store(t, stride, &self.garbling.slots, &mut self.masked);
            self.chunk.steps.push(Waiting::Store(calling.clone(), t));
        }
        Ok(())
    }

    fn reveal(&mut self, index: usize, to: Recipients, start: usize, wires: &[()]) -> Result<Option<Bits>> {
        let (n, stride) = (self.evaluating.stride(), self.garbling.stride());
        let wires = &self.masked[start * stride..][..wires.len() * stride];
        let rows: Vec<Block> = wires.chunks_exact(stride).flat_map(|wire| &wire[..n]).copied().collect();
        self.chunk.bits += rows.len() / n;
        self.chunk.outputs.push(Output { index, to, rows });
        self.chunk.steps.push(Waiting::Reveal { start });
        self.flush_if_full()?;
        Ok(None)
    }
}

impl<'p, C: for<'c> Conduct<Act<'c>>> Garbled<'_, '_, 'p, C> {
    fn flush_if_full(&mut self) -> Result<()> {
        let full = self.chunk.gates.len() + self.chunk.bits + Tape::MAX_ANDS > self.room;
        if full { self.flush() } else { Ok(()) }
    }

    /// Garbles, opens and evaluates what waits.
    fn flush(&mut self) -> Result<()> {
        let chunk = core::mem::take(&mut self.chunk);
        if chunk.steps.is_empty() {
            return Ok(());
        }
        let session = self.here.session.child(&format!("chunk {}", self.chunks));
        self.chunks += 1;
        let (n, stride) = (self.evaluating.stride(), self.garbling.stride());
        let rows = |wires: &[Block]| -> Zeroizing<Vec<Block>> {
            Zeroizing::new(wires.chunks_exact(stride).flat_map(|wire| &wire[..n]).copied().collect())
        };

        // 1. Masks: products, and openings.
        let factors = [rows(&chunk.gates.u), rows(&chunk.gates.v)];
        let mut products = Zeroizing::new(vec![Block::ZERO; factors[0].len()]);
        let input_rows = rows(&chunk.input_wires);
        let mut opened = Vec::with_capacity(chunk.inputs.len() + chunk.outputs.len());
        let mut rest = &input_rows[..];
        for input in &chunk.inputs {
            let now;
            (now, rest) = rest.split_at(input.bits * n);
            opened.push(Opened { rows: now, to: Recipients::only(input.owner) });
        }
        opened.extend(chunk.outputs.iter().map(|output| Opened { rows: &output.rows, to: output.to }));
        let mut values = self.masks.products(self.net, [&factors[0], &factors[1]], &mut products, &opened)?.into_iter();
        drop(opened);

        // 2. and 3. Public values of inputs, and keys.
        let mut heard = Heard::new(session);
        let public = self.public_values(&chunk.inputs, &mut values, &mut heard)?;
        let keys = self.keys(&chunk.input_wires, &public)?;

        // 4. The garbled gates.
        let mut shares = self.garbling.garble(&chunk.gates, &products);
        self.conduct.before(Act::Garbled(&mut shares));
        let table = open(self.net, &mut self.zeros, shares, self.conduct)?;
        self.conduct.before(Act::Opened(&table));
        heard.hear(Block::bytes_of(&table));
        heard.settle(self.net)?;

        // 5. Evaluation.
        let zeros: Zeroizing<Vec<Block>> =
            Zeroizing::new(chunk.gates.w.chunks_exact(stride).map(|wire| wire[n]).collect());
        self.evaluate(&chunk, &keys, &table, &zeros, &mut values)
    }

    /// Step 2: the public values of all inputs, bit after bit.
    fn public_values(
        &mut self,
        inputs: &[Input],
        masks: &mut impl Iterator<Item = Option<Bits>>,
        heard: &mut Heard,
    ) -> Result<Bits> {
        let (me, parties) = (self.here.me, self.here.parties);
        let mut own = Bits::default();
        for input in inputs {
            let mask = masks.next().flatten();
            if input.owner == me {
                let given = mask.zip(input.value.as_ref()).filter(|(mask, value)| mask.len() == value.len());
                let (mut public, value) =
                    given.ok_or_else(|| Error::invalid_input("an input value is missing or has another length"))?;
                public.xor_assign(value);
                own.extend_from(&public);
            }
        }
        let bits = |party: PartyId| inputs.iter().filter(|i| i.owner == party).map(|i| i.bits).sum::<usize>();
        let said = PerPeer::new(me, parties, |peer| {
            let mut said = own.to_bytes();
            self.conduct.before(Act::Public(peer, &mut said));
            said
        });
        let mut bytes = PerPeer::new(me, parties, |peer| vec![0; bits(peer).div_ceil(8)]);
        self.net.exchange(&said, &mut bytes)?;
        let mut all: Vec<(Bits, usize)> = (0..parties)
            .map(PartyId)
            .map(|party| if party == me { own.clone() } else { Bits::from_bytes(&bytes[party], bits(party)) })
            .map(|bits| (bits, 0))
            .collect();
        all.iter().for_each(|(bits, _)| heard.hear(&bits.to_bytes()));
        let mut public = Bits::default();
        for input in inputs {
            let (bits, used) = &mut all[usize::from(input.owner.0)];
            public.extend_from(&bits.slice(*used, input.bits));
            *used += input.bits;
        }
        Ok(public)
    }

    /// Step 3: the active keys of all inputs, `n` a wire.
    fn keys(&mut self, wires: &[Block], public: &Bits) -> Result<Vec<Block>> {
        let (me, parties) = (self.here.me, self.here.parties);
        let (n, stride, offset) = (self.evaluating.stride(), self.garbling.stride(), self.masks.offset());
        let active = |(wire, bit): (&[Block], bool)| wire[n] ^ offset.masked(bit);
        let own: Vec<Block> = wires.chunks_exact(stride).zip(public.iter()).map(active).collect();
        let out = PerPeer::new(me, parties, |peer| {
            let mut said = Block::bytes_of(&own).to_vec();
            self.conduct.before(Act::Keys(peer, &mut said));
            said
        });
        let mut bytes = PerPeer::new(me, parties, |_| vec![0; own.len() * Block::BYTES]);
        self.net.exchange(&out, &mut bytes)?;
        let mut keys = vec![Block::ZERO; own.len() * n];
        let mut put = |party: PartyId, from: &[Block]| {
            for (wire, key) in keys.chunks_exact_mut(n).zip(from) {
                wire[usize::from(party.0)] = *key;
            }
        };
        put(me, &own);
        let mut theirs = vec![Block::ZERO; own.len()];
        for (peer, bytes) in bytes.iter() {
            Block::bytes_of_mut(&mut theirs).copy_from_slice(bytes);
            put(peer, &theirs);
        }
        Ok(keys)
    }

    /// Step 5.
    fn evaluate(
        &mut self,
        chunk: &Chunk<'p>,
        mut keys: &[Block],
        mut table: &[Block],
        mut zeros: &[Block],
        masks: &mut impl Iterator<Item = Option<Bits>>,
    ) -> Result<()> {
        let n = self.evaluating.stride();
        let mut outputs = chunk.outputs.iter();
        for step in &chunk.steps {
            match step {
                Waiting::Input { start, bits } => {
                    let now;
                    (now, keys) = keys.split_at(bits * n);
                    self.active[start * n..][..bits * n].copy_from_slice(now);
                }
                Waiting::Load(calling, t) => {
                    self.evaluating.grow(calling.circuit.tape().slots());
                    calling.load(*t, n, &self.active, &mut self.evaluating.slots);
                }
                Waiting::Walk(part) => self.evaluating.walk(part, &mut table, &mut zeros)?,
                Waiting::Store(calling, t) => calling.store(*t, n, &self.evaluating.slots, &mut self.active),
                Waiting::Reveal { start } => {
                    let (Some(output), Some(mask)) = (outputs.next(), masks.next()) else { continue };
                    let Some(mut value) = mask else { continue };
                    let wires = self.active[start * n..][..output.rows.len()].chunks_exact(n);
                    value.xor_assign(&wires.map(|wire| wire[usize::from(self.here.me.0)].lsb()).collect());
                    self.outputs.push((output.index, value));
                }
            }
        }
        Ok(())
    }
}

impl<C> Drop for Garbled<'_, '_, '_, C> {
    fn drop(&mut self) {
        self.masked.zeroize();
    }
}

impl Drop for Chunk<'_> {
    fn drop(&mut self) {
        self.input_wires.zeroize();
    }
}

impl Calling<'_> {
    /// As [`Call::load`], of wires of `stride` blocks.
    fn load(&self, t: u64, stride: usize, memory: &[Block], slots: &mut [Block]) {
        let mut slot = 2;
        for (&width, arg) in self.circuit.input_widths().iter().zip(&self.args) {
            let from = &memory[arg.at(t) * stride..][..width * stride];
            slots[slot * stride..][..width * stride].copy_from_slice(from);
            slot += width;
        }
    }

    /// As [`Call::store`], of wires of `stride` blocks.
    fn store(&self, t: u64, stride: usize, slots: &[Block], memory: &mut [Block]) {
        let mut outputs = self.circuit.outputs().iter();
        for (&width, out) in self.circuit.output_widths().iter().zip(&self.outs) {
            let to = &mut memory[out.at(t) * stride..][..width * stride];
            for (wire, &slot) in to.chunks_exact_mut(stride).zip(outputs.by_ref()) {
                wire.copy_from_slice(&slots[slot as usize * stride..][..stride]);
            }
        }
    }
}
