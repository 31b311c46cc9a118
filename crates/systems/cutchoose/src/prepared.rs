//! Offline and online (section 4.2): everything that can be done before the inputs are known, and then the rest.
//!
//! **Offline**, [`prepare`]: all oblivious transfers, for random choices; the garbled circuits, which the evaluator checks as
//! they come, and of which it keeps the evaluated copies; `R`, for a random input of the garbler; the output
//! tables, under keys that the evaluator does not have yet; and of step 7 what the evaluator's message has before `Omega` is known.
//!
//! **Online**, [`Loaded::run`]: each party says how its input differs from the random choices (`y'` and `x` stay hidden by
//! them), then the labels of steps 2 and 4 travel, the keys that open `c_j^T`, the challenge of step 4, and steps 6 to 9 are as
//! ever. (The answer to the challenge is looked at with the other checks: nobody waits for it.)
//!
//! **Adversary**: as for a single execution, but the paper's Theorem 1 does not cover it by itself. A party sees the garbled
//! circuits before it chooses its input, so the garbling must be *adaptively* secure. That holds for half gates where the
//! hash is an ideal cipher that a simulator may program, and what turns output labels to results (the opening of `c_j^T`) must
//! not be known before the inputs are fixed: its keys travel last, after the transfers of `y'`.
//!
//! **Once**. A preparation serves one run, whether it succeeds or not; [`Loaded::run`] consumes it. Two runs on one
//! preparation (a restored backup, a copied folder, a snapshot of a virtual machine) show the evaluator two sets of
//! input labels, and with them the garbler's input `x`; and a garbler that sees two `y'` against one choice learns where two inputs differ.
//!
//! **What leaks**, more than in a single execution: online the evaluator's time grows with the number of copies that it evaluates, and so
//! does the size of its preparation, which tells the number to whoever sees it (`log2(rho)` bits less to guess).
//!
//! **Size**: [`prepared_size`]; at the evaluator 32 bytes for each AND gate and evaluated copy.

use std::io::{Read, Write};

use comity_channel::Channel;
use comity_circuit::{Lowered, Observer, Program};
use comity_core::{
    Backend, Bits, Block, Delta, Error, LockstepChecker, LockstepEvaluator, PartyId, Prg, Result, SessionId,
};
use comity_garble::Cursor;
use comity_ot::committing;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::checks;
use crate::conduct::{Act, Conduct, Honest};
use crate::copies::{Copy, Key, Secret, fill_rows, mask};
use crate::evaluator::Known;
use crate::gates::{Machine, PART, Side, load, slots, store};
use crate::intake::Outlet;
use crate::outputs::{Batch, Results, Tables, receive_commitments};
use crate::plan::{Plan, joined};
use crate::recovery::{Commitments, First, Trapdoor};
use crate::rows::{Layout, Owner, Rows};
use crate::saved::{put, put_bits, put_bytes, take, take_bits, take_bytes};
use crate::transfer::{
    Choice, Opened, ReceiverOts, SenderOts, make_labels, random_bits, random_block, receive_block, receive_labels,
    send_labels,
};
use crate::{Config, Form, check, consistency, garbler, gate_keys};

/// The form of a preparation's bytes.
const MAGIC: &[u8; 16] = b"comity wmk17 v2\n";

/// The most bytes that a preparation of this program takes at either party, if all copies were evaluated; half of it is usual.
pub fn prepared_size(program: &Program, garbler: u32, params: comity_core::Params) -> u64 {
    let plan = Plan::new(program, garbler, params, Form::All);
    let copies = plan.copies as u64;
    let bits = (plan.garblers() + plan.probe.encoded() + 4 * plan.revealed()) as u64;
    (2 * copies * (program.and_gates() + plan.tag_gates()) + (copies + 8) * bits + 8 * copies) * Block::BYTES as u64
}

/// Runs the offline phase for a program, and writes this party's preparation.
///
/// # Errors
/// As [`run`](crate::run), and [`Io`](comity_core::Kind) if it cannot be written. After an error what was written is worth nothing.
pub fn prepare(
    ch: &mut dyn Channel,
    session: &SessionId,
    config: &Config,
    program: &Program,
    rng: &mut dyn CryptoRng,
    to: &mut impl Write,
    observer: &mut dyn Observer,
) -> Result<()> {
    prepare_as(ch, session, config, program, rng, to, observer, &mut Honest)
}

#[allow(clippy::too_many_arguments, reason = "as the public function, and how to behave")]
pub(crate) fn prepare_as(
    ch: &mut dyn Channel,
    session: &SessionId,
    config: &Config,
    program: &Program,
    rng: &mut dyn CryptoRng,
    to: &mut impl Write,
    observer: &mut dyn Observer,
    conduct: &mut impl Conduct,
) -> Result<()> {
    check(config, program)?;
    let session = session.child("cutchoose, prepared");
    put_bytes(to, MAGIC)?;
    put_bytes(to, &session.to_bytes())?;
    put_bytes(to, &program.digest())?;
    put_bytes(to, &[config.party as u8, config.garbler as u8, config.params.rho as u8])?;
    let plan = Plan::new(program, config.garbler, config.params, Form::All);
    if config.party == config.garbler {
        prepare_garbler(ch, &session, config.backend, &plan, program, rng, to, observer, conduct)
    } else {
        prepare_evaluator(ch, &session, config.backend, &plan, program, rng, to, observer, conduct)
    }
}

/// The copies that follow from seeds.
fn copies(backend: Backend, session: &SessionId, seeds: &[Secret]) -> Vec<Copy> {
    seeds.iter().enumerate().map(|(j, seed)| Copy::new(backend, session, j, seed.clone())).collect()
}

/// Puts the labels for zero of both inputs into memory.
fn make_inputs(plan: &Plan, copies: &mut [Copy], layout: &Layout, memory: &mut Rows) -> Result<()> {
    make_labels(&plan.probe, copies, layout, memory)?;
    for run in layout.runs(Owner::Garbler, 0, plan.garblers()) {
        fill_rows(copies.iter_mut().map(|copy| &mut copy.a), memory.get_mut(run.row, run.bits));
    }
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "as the public function, and how to behave")]
fn prepare_garbler(
    ch: &mut dyn Channel,
    session: &SessionId,
    backend: Backend,
    plan: &Plan,
    program: &Program,
    rng: &mut dyn CryptoRng,
    to: &mut impl Write,
    observer: &mut dyn Observer,
    conduct: &mut impl Conduct,
) -> Result<()> {
    observer.phase("setup");
    let ots = SenderOts::new(ch, session, backend, plan.copies, plan.probe.encoded(), rng)?;
    let mut first = [0; First::BYTES];
    ch.recv(&mut first)?;
    // Looked at now, so that bad points do not wait in the store.
    First::from_bytes(&first).points()?;
    let (seeds, keys) = ots.step1(ch, rng)?;
    let mut made = copies(backend, session, &seeds);
    conduct.before(Act::Copies(&mut made));
    let mut streams: Vec<Key> = keys.iter().enumerate().map(|(j, key)| Key::new(backend, session, j, key)).collect();

    // Step 3, for a random input.
    observer.phase("inputs");
    let mut committing = committing::Receiver::setup_from(ch, &session.child("committing OT"), backend, ots.seeds)?;
    let random = random_bits(plan.garblers(), rng);
    let chosen = Zeroizing::new(committing.random(ch, &random)?);
    consistency::send_r(ch, &mut made, &mut streams, &chosen, conduct)?;
    let opened = Zeroizing::new(committing.open_random(ch)?);

    // Step 5, with keys of its own for the output tables.
    let table_keys: Vec<Secret> = (0..plan.copies).map(|_| Secret(random_block(rng))).collect();
    for (j, (stream, key)) in streams.iter_mut().zip(&table_keys).enumerate() {
        stream.t = Key::new(backend, session, j, key).t;
    }
    let layout = Layout::new(plan, program);
    let mut memory = layout.memory(plan.copies)?;
    make_inputs(plan, &mut made, &layout, &mut memory)?;
    let outputs = garbler::garble(
        ch,
        session,
        backend,
        program,
        plan,
        &layout,
        Outlet::All,
        &made,
        &mut streams,
        memory,
        rng,
        observer,
        conduct,
    )?;
    ch.flush()?;

    put_bytes(to, &first)?;
    let blocks = |secrets: &[Secret]| Zeroizing::new(secrets.iter().map(|secret| secret.0).collect::<Vec<_>>());
    [&seeds, &keys, &table_keys].into_iter().try_for_each(|secrets| put(to, &blocks(secrets)))?;
    put(to, ots.inputs.as_flattened())?;
    put_bits(to, &random)?;
    put(to, opened.as_flattened())?;
    outputs.save(to)
}

#[allow(clippy::too_many_arguments, reason = "as the public function, and how to behave")]
fn prepare_evaluator(
    ch: &mut dyn Channel,
    session: &SessionId,
    backend: Backend,
    plan: &Plan,
    program: &Program,
    rng: &mut dyn CryptoRng,
    to: &mut impl Write,
    observer: &mut dyn Observer,
    conduct: &mut impl Conduct,
) -> Result<()> {
    observer.phase("setup");
    let mut choice = Choice::random(plan.copies, rng);
    conduct.before(Act::Choice(&mut choice));
    let random = random_bits(plan.probe.encoded(), rng);
    let ots = ReceiverOts::new(ch, session, backend, &choice, &random, rng)?;
    let trapdoor = random_block(rng);
    let (_, first) = Trapdoor::new(&mut Prg::new(backend, trapdoor));
    let mut first = first.to_bytes();
    conduct.before(Act::First(&mut first));
    ch.send(&first)?;
    let secrets = ots.step1(ch, &choice)?;
    let Opened { mut checked, evaluated: mut keys } = Opened::new(backend, session, &choice, &secrets);

    observer.phase("inputs");
    let committing = session.child("committing OT");
    let mut committing = committing::Sender::setup_from(ch, &committing, backend, ots.seeds, rng)?;
    let mut m = Zeroizing::new(vec![[Block::ZERO; 2]; plan.garblers()]);
    committing.random(ch, &mut m)?;
    let r = consistency::receive_r(ch, &choice, &mut keys, m.len())?;
    let mut opening = committing.opening()?.to_bytes();
    conduct.before(Act::Opening(&mut opening));
    ch.send(&opening)?;
    ch.flush()?;

    put_bits(to, &choice.bits)?;
    put_bits(to, &random)?;
    put(to, &ots.inputs)?;
    let secrets = Zeroizing::new(secrets.iter().map(|secret| secret.0).collect::<Vec<_>>());
    put(to, &secrets)?;
    put(to, &[trapdoor])?;
    put(to, m.as_flattened())?;
    r.iter().try_for_each(|r| put(to, r))?;

    // Step 5, and step 9b.
    let deltas: Vec<Delta> = checked.iter().map(|copy| Delta::new(copy.delta.block())).collect();
    let slots = slots(plan, program.lowered());
    let layout = Layout::new(plan, program);
    let mut memory = layout.memory(checked.len())?;
    make_inputs(plan, &mut checked, &layout, &mut memory)?;
    let side = Checking {
        ch,
        checker: LockstepChecker::new(backend, &deltas, &choice.checked, plan.copies, gate_keys(session), slots),
        memory: [memory],
        tables: vec![Block::ZERO; 2 * plan.copies * PART],
        kept: vec![Block::ZERO; 2 * choice.evaluated.len() * PART],
        results: Results::new(backend, session, &choice, 0),
        batch: Batch::default(),
        choice: &choice,
        checked: &checked,
        to,
    };
    let mut machine = Machine::new(plan, &layout, program.wires(), side);
    comity_circuit::run(program, &mut machine, &vec![None; program.inputs().len()], observer)?;
    let Checking { ch, checker, to, .. } = machine.finish()?;
    let commitments = receive_commitments(ch, plan.copies)?;
    if checker.differing().next().is_some() {
        return Err(checks::GARBLED_CIRCUIT.into());
    }
    put_bytes(to, commitments.as_flattened().as_flattened())
}

/// Step 5 at the evaluator, offline: checks, and keeps what the evaluated copies need.
struct Checking<'a, W> {
    ch: &'a mut (dyn Channel + 'a),
    checker: LockstepChecker,
    memory: [Rows; 1],
    tables: Vec<Block>,
    kept: Vec<Block>,
    results: Results,
    batch: Batch,
    choice: &'a Choice,
    checked: &'a [Copy],
    to: &'a mut W,
}

impl<W: Write> Side for Checking<'_, W> {
    fn memories(&mut self) -> &mut [Rows] {
        &mut self.memory
    }

    fn call(&mut self, circuit: &Lowered, args: &[usize], outs: &[usize]) -> Result<()> {
        let [memory] = &mut self.memory;
        load(&mut self.checker, circuit, args, memory);
        let (copies, kept) = (self.choice.bits.len(), self.choice.evaluated.len());
        let mut cursor = Cursor::default();
        while let Some(part) = cursor.advance(circuit.tape(), PART) {
            let tables = &mut self.tables[..2 * copies * part.ands()];
            self.ch.recv(Block::bytes_of_mut(tables))?;
            self.checker.check(&part, tables);
            let kept = &mut self.kept[..2 * kept * part.ands()];
            for (to, from) in kept.chunks_exact_mut(self.choice.evaluated.len()).zip(tables.chunks_exact(copies)) {
                to.iter_mut().zip(&self.choice.evaluated).for_each(|(to, &j)| *to = from[j]);
            }
            put(self.to, kept)?;
        }
        store(&mut self.checker, circuit, outs, memory);
        Ok(())
    }

    fn reveal(&mut self, at: usize, bits: usize) -> Result<()> {
        let zeros = self.memory[0].get(at, bits);
        let batch = &mut self.batch;
        batch.resize(bits, self.choice);
        self.results.receive(self.ch, self.choice, self.checked, batch, zeros)?;
        put_bytes(self.to, batch.bound.as_flattened().as_flattened())?;
        put(self.to, &batch.tables)?;
        put(self.to, &batch.pads)
    }
}

/// A preparation, for one run.
pub struct Prepared<R> {
    session: SessionId,
    config: Config,
    from: R,
}

impl<R: Read> Prepared<R> {
    /// The preparation that was written for this program and party.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if it is none, or for another program or party.
    pub fn open(mut from: R, backend: Backend, party: u32, program: &Program) -> Result<Prepared<R>> {
        let (mut magic, mut session, mut digest, mut rest) = ([0; 16], [0; 32], [0; 32], [0; 3]);
        take_bytes(&mut from, &mut magic)?;
        if magic != *MAGIC {
            return Err(Error::invalid_input("this is no preparation of cutchoose, or one of another version"));
        }
        take_bytes(&mut from, &mut session)?;
        take_bytes(&mut from, &mut digest)?;
        take_bytes(&mut from, &mut rest)?;
        if digest != program.digest() {
            return Err(Error::invalid_input("the preparation is for another program"));
        }
        let [own, garbler, rho] = rest.map(u32::from);
        if own != party || garbler > 1 {
            return Err(Error::invalid_input(format!("the preparation is party {own}'s, and this is party {party}")));
        }
        let config = Config { backend, party, garbler, params: comity_core::Params::new(128, rho)?, form: Form::All };
        Ok(Prepared { session: SessionId::new(session), config, from })
    }

    /// How it was prepared.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The session in which it was prepared: the peer's preparation has the same.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Reads what is needed before the peer is there, so that the online phase is short. `inputs[i]` is there exactly for
    /// this party's values.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program, or the preparation ends too soon.
    pub fn load<'a>(self, program: &'a Program, inputs: &[Option<Bits>]) -> Result<Loaded<'a, R>> {
        self.load_as(program, inputs, &mut Honest)
    }

    pub(crate) fn load_as<'a>(
        self,
        program: &'a Program,
        inputs: &[Option<Bits>],
        conduct: &mut impl Conduct,
    ) -> Result<Loaded<'a, R>> {
        program.check_inputs(Some(PartyId(self.config.party as u16)), inputs)?;
        let plan = Plan::new(program, self.config.garbler, self.config.params, Form::All);
        let own = joined(program, self.config.party, inputs)?;
        let Prepared { session, config, mut from } = self;
        let from_ = &mut from;
        let secrets = |from: &mut R, n: usize| -> Result<Vec<Secret>> {
            let mut blocks = Zeroizing::new(vec![Block::ZERO; n]);
            take(from, &mut blocks)?;
            Ok(blocks.iter().map(|&block| Secret(block)).collect())
        };
        let backend = config.backend;
        let role = if config.party == config.garbler {
            let mut first = [0; First::BYTES];
            take_bytes(from_, &mut first)?;
            let seeds = secrets(from_, plan.copies)?;
            let keys = secrets(from_, plan.copies)?;
            let table_keys = secrets(from_, plan.copies)?;
            let mut ots = Zeroizing::new(vec![[Block::ZERO; 2]; plan.probe.encoded()]);
            take(from_, ots.as_flattened_mut())?;
            let random = take_bits(from_, plan.garblers())?;
            let mut opened = Zeroizing::new(vec![[Block::ZERO; 2]; plan.garblers()]);
            take(from_, opened.as_flattened_mut())?;
            let outputs = Tables::load(backend, &session, &plan, from_)?;
            let mut copies = copies(backend, &session, &seeds);
            conduct.before(Act::Copies(&mut copies));
            let scalars = copies.iter().map(|copy| &copy.scalars);
            let commitments = Commitments::new(&session, &First::from_bytes(&first), scalars)?;
            Role::Garbler { copies, keys, table_keys, ots, random, opened, outputs, commitments: Box::new(commitments) }
        } else {
            let choice = Choice::new(take_bits(from_, plan.copies)?);
            let random = take_bits(from_, plan.probe.encoded())?;
            let mut ots = Zeroizing::new(vec![Block::ZERO; plan.probe.encoded()]);
            take(from_, &mut ots)?;
            let secrets = secrets(from_, plan.copies)?;
            let mut trapdoor = Zeroizing::new([Block::ZERO]);
            take(from_, &mut trapdoor[..])?;
            let (trapdoor, _) = Trapdoor::new(&mut Prg::new(backend, trapdoor[0]));
            let mut m = Zeroizing::new(vec![[Block::ZERO; 2]; plan.garblers()]);
            take(from_, m.as_flattened_mut())?;
            let mut r = vec![Zeroizing::new(vec![Block::ZERO; plan.garblers()]); choice.evaluated.len()];
            r.iter_mut().try_for_each(|r| take(from_, r))?;
            Role::Evaluator { choice, random, ots, secrets, trapdoor: Box::new(trapdoor), m, r }
        };
        Ok(Loaded { session, config, program, plan, own, role, from })
    }
}

/// A preparation in memory, but for the garbled circuits.
pub struct Loaded<'a, R> {
    session: SessionId,
    config: Config,
    program: &'a Program,
    plan: Plan,
    own: Bits,
    role: Role,
    from: R,
}

#[allow(clippy::large_enum_variant, reason = "there is one of them")]
enum Role {
    Garbler {
        copies: Vec<Copy>,
        keys: Vec<Secret>,
        table_keys: Vec<Secret>,
        ots: Zeroizing<Vec<[Block; 2]>>,
        /// The choices of the committing OT.
        random: Bits,
        opened: Zeroizing<Vec<[Block; 2]>>,
        outputs: Tables,
        commitments: Box<Commitments>,
    },
    Evaluator {
        choice: Choice,
        /// The choices of step 2.
        random: Bits,
        ots: Zeroizing<Vec<Block>>,
        secrets: Vec<Secret>,
        trapdoor: Box<Trapdoor>,
        m: Zeroizing<Vec<[Block; 2]>>,
        r: Vec<Zeroizing<Vec<Block>>>,
    },
}

impl<R: Read> Loaded<'_, R> {
    /// Runs the online phase. Outputs for this party go to the observer, when all checks are done.
    ///
    /// # Errors
    /// As [`run`](crate::run). The preparation is gone, whatever happens.
    pub fn run(self, ch: &mut dyn Channel, rng: &mut dyn CryptoRng, observer: &mut dyn Observer) -> Result<()> {
        self.run_as(ch, rng, observer, &mut Honest)
    }

    pub(crate) fn run_as(
        self,
        ch: &mut dyn Channel,
        rng: &mut dyn CryptoRng,
        observer: &mut dyn Observer,
        conduct: &mut impl Conduct,
    ) -> Result<()> {
        let Loaded { session, config, program, plan, own, role, mut from } = self;
        let backend = config.backend;
        observer.phase("inputs");
        match role {
            Role::Garbler { mut copies, keys, table_keys, mut ots, random, mut opened, outputs, commitments } => {
                let x = plan.garblers_input(&own, rng);
                let mut keys: Vec<Key> =
                    keys.iter().enumerate().map(|(j, key)| Key::new(backend, &session, j, key)).collect();
                // How x differs from the random input, and y' from the random choices.
                let mut ours = x.clone();
                ours.xor_assign(&random);
                tell(ch, &ours, conduct)?;
                let theirs = receive_bits(ch, plan.probe.encoded())?;
                swap(&mut ots, &theirs);
                swap(&mut opened, &ours);
                // Steps 2 and 4.
                send_labels(ch, backend, &plan.probe, &mut copies, &ots, None, conduct)?;
                let mus = consistency::send_a(ch, backend, &mut copies, &mut keys, &x, None, conduct)?;
                for (j, (key, table_key)) in keys.iter_mut().zip(&table_keys).enumerate() {
                    let mut encrypted = table_key.0.to_bytes();
                    conduct.before(Act::TableKey { j, key: &mut encrypted });
                    mask(&mut key.t, &mut encrypted);
                    ch.send(&encrypted)?;
                }
                observer.phase("checks");
                let challenge = receive_block(ch)?;
                consistency::send_answers(ch, backend, &copies, &x, &opened, challenge, &mus, conduct)?;
                ch.flush()?;
                garbler::settle(ch, &plan, &x, &copies, &outputs, *commitments, observer, conduct)
            }
            Role::Evaluator { choice, random, ots, secrets, trapdoor, mut m, r } => {
                let encoded = plan.probe.encode(&own, rng);
                let mut ours = encoded.clone();
                ours.xor_assign(&random);
                tell(ch, &ours, conduct)?;
                let theirs = receive_bits(ch, plan.garblers())?;
                swap(&mut m, &theirs);
                let Opened { mut checked, evaluated: mut keys } = Opened::new(backend, &session, &choice, &secrets);
                // Steps 2 and 4, and step 9a.
                let layout = Layout::new(&plan, program);
                let mut memory = layout.memory(choice.evaluated.len())?;
                receive_labels(
                    ch,
                    backend,
                    &plan.probe,
                    &choice,
                    &mut checked,
                    &encoded,
                    &ots,
                    &layout,
                    None,
                    &mut memory,
                )?;
                let challenge = random_block(rng);
                let expected = consistency::receive_a(
                    ch,
                    backend,
                    &choice,
                    &mut checked,
                    &mut keys,
                    &r,
                    &m,
                    challenge,
                    &layout,
                    None,
                    &mut memory,
                )?;
                let mut encrypted = Zeroizing::new(vec![[0; Block::BYTES]; plan.copies]);
                ch.recv(encrypted.as_flattened_mut())?;
                for (key, &j) in keys.iter_mut().zip(&choice.evaluated) {
                    mask(&mut key.t, &mut encrypted[j]);
                    key.t = Key::new(backend, &session, j, &Secret(Block::new(encrypted[j]))).t;
                }
                // The garbler's keys are here too: nothing that is checked can change any more.
                let mut told = challenge;
                conduct.before(Act::Challenge(&mut told));
                ch.send(&told.to_bytes())?;
                ch.flush()?;
                // Step 6.
                let columns: Vec<usize> = (0..choice.evaluated.len()).collect();
                let slots = slots(&plan, program.lowered());
                let side = Replaying {
                    evaluator: LockstepEvaluator::of(backend, &columns, columns.len(), gate_keys(&session), slots),
                    memory: [memory],
                    tables: vec![Block::ZERO; 2 * columns.len() * PART],
                    results: Results::new(backend, &session, &choice, plan.revealed()),
                    batch: Batch::default(),
                    choice: &choice,
                    keys: &mut keys,
                    from: &mut from,
                };
                let mut machine = Machine::new(&plan, &layout, program.wires(), side);
                comity_circuit::run(program, &mut machine, &vec![None; program.inputs().len()], observer)?;
                let Replaying { mut results, .. } = machine.finish()?;
                observer.phase("checks");
                let mut commitments = vec![[[0; 32]; 2]; plan.copies];
                take_bytes(&mut from, commitments.as_flattened_mut().as_flattened_mut())?;
                results.open(commitments, &choice, &mut keys)?;
                let known = Known {
                    session: &session,
                    program,
                    plan: &plan,
                    choice: &choice,
                    checked: &checked,
                    y: &own,
                    r: &r,
                    m: &m,
                    expected: &expected,
                };
                known.settle(ch, backend, results, &trapdoor, rng, observer, conduct)
            }
        }
    }
}

/// Tells how this party's input differs from the random choices.
fn tell(ch: &mut dyn Channel, ours: &Bits, conduct: &mut impl Conduct) -> Result<()> {
    let mut bytes = ours.to_bytes();
    conduct.before(Act::Difference(&mut bytes));
    ch.send(&bytes)
}

/// Bits of the peer.
fn receive_bits(ch: &mut dyn Channel, bits: usize) -> Result<Bits> {
    let mut bytes = vec![0; bits.div_ceil(8)];
    ch.recv(&mut bytes)?;
    Ok(Bits::from_bytes(&bytes, bits))
}

/// Swaps the pairs where the bits, which are public, are one.
fn swap(pairs: &mut [[Block; 2]], bits: &Bits) {
    pairs.iter_mut().zip(bits.iter()).filter(|(_, bit)| *bit).for_each(|(pair, _)| pair.swap(0, 1));
}

/// Step 6 at the evaluator, online: evaluates what was kept.
struct Replaying<'a, R> {
    evaluator: LockstepEvaluator,
    memory: [Rows; 1],
    tables: Vec<Block>,
    results: Results,
    batch: Batch,
    choice: &'a Choice,
    keys: &'a mut [Key],
    from: &'a mut R,
}

impl<R: Read> Side for Replaying<'_, R> {
    fn memories(&mut self) -> &mut [Rows] {
        &mut self.memory
    }

    fn call(&mut self, circuit: &Lowered, args: &[usize], outs: &[usize]) -> Result<()> {
        let [memory] = &mut self.memory;
        load(&mut self.evaluator, circuit, args, memory);
        let mut cursor = Cursor::default();
        while let Some(part) = cursor.advance(circuit.tape(), PART) {
            let tables = &mut self.tables[..2 * self.choice.evaluated.len() * part.ands()];
            take(self.from, tables)?;
            self.evaluator.evaluate(&part, tables);
        }
        store(&mut self.evaluator, circuit, outs, memory);
        Ok(())
    }

    fn reveal(&mut self, at: usize, bits: usize) -> Result<()> {
        let batch = &mut self.batch;
        batch.resize(bits, self.choice);
        take_bytes(self.from, batch.bound.as_flattened_mut().as_flattened_mut())?;
        take(self.from, &mut batch.tables)?;
        take(self.from, &mut batch.pads)?;
        self.results.evaluate(batch, self.choice, self.keys, self.memory[0].get(at, bits));
        Ok(())
    }
}
