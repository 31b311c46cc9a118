//! The evaluator, offline and online.

use std::io::{Read, Write};

use comity_channel::Channel;
use comity_circuit::{Call, Observer};
use comity_core::{Bits, Block, Delta, Prg, Result};
use comity_garble::lockstep::{self, CopyChoice, LabelRows, Lockstep, PART, gate_keys};
use comity_garble::{LockstepChecker, LockstepEvaluator};
use comity_ot::committing;
use comity_protocol::{Conduct, Here};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::format::{put_secrets, take_secrets};
use super::{FORM, Offline, Online, make_inputs, receive_bits, swap, tell};
use crate::checks;
use crate::conduct::Act;
use crate::consistency::{self, Weights};
use crate::copies::{CopySecret, KeyStreams};
use crate::evaluator::EvaluatorEnd;
use crate::gates::{self, CopySide};
use crate::outputs::{Batch, Results, receive_commitments};
use crate::plan::Plan;
use crate::random::random_bits;
use crate::recovery::Trapdoor;
use crate::rows::{Layout, Places};
use crate::transfer::{OpenedCopies, receive_labels};

/// The evaluator's offline phase.
pub(super) fn offline(
    ch: &mut dyn Channel,
    offline: &Offline<'_>,
    rng: &mut dyn CryptoRng,
    to: &mut dyn Write,
    observer: &mut dyn Observer,
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
) -> Result<()> {
    let &Offline { here, program, ref plan, ots } = offline;
    let Here { backend, session, .. } = here;
    let mut choice = CopyChoice::nonempty(|| random_bits(plan.copies, rng));
    conduct.before(Act::Choice(&mut choice));
    let random = random_bits(plan.probe.encoded(), rng);
    let ots = ots.receive(ch, here, &choice, &random, rng)?;
    let trapdoor = Block::random(rng);
    let (_, first) = Trapdoor::new(&mut Prg::new(backend, trapdoor));
    let mut first = first.to_bytes();
    conduct.before(Act::First(&mut first));
    ch.send(&first)?;
    let secrets = ots.step1(ch, &choice)?;
    let mut opened = OpenedCopies::new(here, choice, &secrets);

    observer.phase("inputs");
    let committing = session.child("committing OT");
    let mut committing = committing::Sender::setup_from(ch, &committing, backend, ots.seeds, rng)?;
    let mut m = Zeroizing::new(vec![[Block::ZERO; 2]; plan.garblers()]);
    committing.random(ch, &mut m)?;
    let r = consistency::receive_r(ch, &opened.choice, &mut opened.keys, m.len())?;
    let mut opening = committing.opening()?.to_bytes();
    conduct.before(Act::Opening(&mut opening));
    ch.send(&opening)?;
    ch.flush()?;

    FORM.put_bits(to, &opened.choice.evaluated_bits())?;
    FORM.put_bits(to, &random)?;
    FORM.put_blocks(to, &ots.inputs)?;
    put_secrets(to, &secrets)?;
    FORM.put_blocks(to, &[trapdoor])?;
    FORM.put_blocks(to, m.as_flattened())?;
    r.iter().try_for_each(|r| FORM.put_blocks(to, r))?;

    // Step 5, and step 9b.
    let layout = Layout::new(plan, program);
    let mut memory = layout.memory(opened.checked.len())?;
    make_inputs(plan, &mut opened.checked, &layout, &mut memory)?;
    let deltas: Vec<Delta> = opened.checked.iter().map(|copy| Delta::new(copy.delta.block())).collect();
    let (choice, slots) = (&opened.choice, plan.slots(program));
    let kernel = LockstepChecker::new(backend, &deltas, &choice.checked, plan.copies, gate_keys(&session), slots);
    let side = Checking {
        ch,
        checked: Lockstep { kernel, wires: memory },
        tables: vec![Block::ZERO; 2 * plan.copies * PART],
        kept: vec![Block::ZERO; 2 * choice.evaluated.len() * PART],
        results: Results::new(backend, &session, choice, 0),
        batch: Batch::default(),
        opened: &opened,
        to,
    };
    let Checking { ch, checked, to, .. } = gates::run(plan, &layout, program, side, observer)?;
    let commitments = receive_commitments(ch, plan.copies)?;
    if checked.kernel.differing().next().is_some() {
        return Err(checks::GARBLED_CIRCUIT.into());
    }
    FORM.put(to, commitments.as_flattened().as_flattened())
}

/// The evaluator's side of step 5, offline: it checks, and keeps the values that the evaluated copies need.
struct Checking<'a> {
    ch: &'a mut (dyn Channel + 'a),
    checked: Lockstep<LockstepChecker>,
    tables: Vec<Block>,
    kept: Vec<Block>,
    results: Results,
    batch: Batch,
    opened: &'a OpenedCopies,
    to: &'a mut dyn Write,
}

impl CopySide for Checking<'_> {
    fn memories(&mut self, each: &mut dyn FnMut(&mut LabelRows)) {
        each(&mut self.checked.wires);
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let Checking { ch, checked, tables, kept, opened, to, .. } = self;
        let (copies, evaluated) = (opened.choice.copies(), &opened.choice.evaluated);
        lockstep::call(checked, call, |checked, part| {
            let tables = &mut tables[..2 * copies * part.ands()];
            ch.recv(Block::bytes_of_mut(tables))?;
            checked.kernel.check(part, tables);
            let kept = &mut kept[..2 * evaluated.len() * part.ands()];
            for (to, from) in kept.chunks_exact_mut(evaluated.len()).zip(tables.chunks_exact(copies)) {
                to.iter_mut().zip(evaluated).for_each(|(to, &j)| *to = from[j]);
            }
            FORM.put_blocks(*to, kept)
        })
    }

    fn reveal(&mut self, at: usize, bits: usize) -> Result<()> {
        let zeros = self.checked.wires.get(at, bits);
        let batch = &mut self.batch;
        batch.resize(bits, &self.opened.choice);
        self.results.receive(self.ch, self.opened, batch, zeros)?;
        FORM.put(self.to, batch.bound.as_flattened().as_flattened())?;
        FORM.put_blocks(self.to, &batch.tables)?;
        FORM.put_blocks(self.to, &batch.pads)
    }
}

/// The evaluator's batch, but for the garbled circuits.
pub(super) struct Kept {
    choice: CopyChoice,
    /// The choices of step 2.
    random: Bits,
    ots: Zeroizing<Vec<Block>>,
    secrets: Vec<CopySecret>,
    trapdoor: Box<Trapdoor>,
    m: Zeroizing<Vec<[Block; 2]>>,
    r: Vec<Zeroizing<Vec<Block>>>,
}

impl Kept {
    pub(super) fn load(here: Here, plan: &Plan, from: &mut dyn Read) -> Result<Kept> {
        let choice = CopyChoice::new(&FORM.take_bits(from, plan.copies)?);
        let random = FORM.take_bits(from, plan.probe.encoded())?;
        let mut ots = Zeroizing::new(vec![Block::ZERO; plan.probe.encoded()]);
        FORM.take_blocks(from, &mut ots)?;
        let secrets = take_secrets(from, plan.copies)?;
        let mut trapdoor = Zeroizing::new([Block::ZERO]);
        FORM.take_blocks(from, &mut trapdoor[..])?;
        let (trapdoor, _) = Trapdoor::new(&mut Prg::new(here.backend, trapdoor[0]));
        let mut m = Zeroizing::new(vec![[Block::ZERO; 2]; plan.garblers()]);
        FORM.take_blocks(from, m.as_flattened_mut())?;
        let mut r = vec![Zeroizing::new(vec![Block::ZERO; plan.garblers()]); choice.evaluated.len()];
        r.iter_mut().try_for_each(|r| FORM.take_blocks(from, r))?;
        Ok(Kept { choice, random, ots, secrets, trapdoor: Box::new(trapdoor), m, r })
    }

    /// The evaluator's online phase. The garbled circuits come from where the rest was.
    pub(super) fn run(
        self,
        ch: &mut dyn Channel,
        online: &Online<'_>,
        from: &mut dyn Read,
        rng: &mut dyn CryptoRng,
        observer: &mut dyn Observer,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        let Kept { choice, random, ots, secrets, trapdoor, mut m, r } = self;
        let &Online { here, program, ref plan, ref own } = online;
        let Here { backend, session, .. } = here;
        let encoded = plan.probe.encode(own, rng);
        let mut ours = encoded.clone();
        ours.xor_assign(&random);
        tell(ch, &ours, conduct)?;
        let theirs = receive_bits(ch, plan.garblers())?;
        swap(&mut m, &theirs);
        let mut opened = OpenedCopies::new(here, choice, &secrets);
        // Steps 2 and 4, and step 9a.
        let layout = Layout::new(plan, program);
        let mut memory = layout.memory(opened.keys.len())?;
        let mut places = Places { layout: &layout, zeros: None, active: &mut memory };
        receive_labels(ch, backend, &plan.probe, &mut opened, &encoded, &ots, &mut places)?;
        let challenge = Block::random(rng);
        let expected = consistency::receive_a(ch, &mut opened, &r, &m, Weights::new(backend, challenge), &mut places)?;
        let mut encrypted = Zeroizing::new(vec![[0; Block::BYTES]; plan.copies]);
        ch.recv(encrypted.as_flattened_mut())?;
        for (key, &j) in opened.keys.iter_mut().zip(&opened.choice.evaluated) {
            key.t.mask(&mut encrypted[j]);
            key.t = KeyStreams::new(backend, &session, j, &CopySecret(Block::new(encrypted[j]))).t;
        }
        // The garbler's keys are here too: nothing that is checked can change any more.
        let mut told = challenge;
        conduct.before(Act::Challenge(&mut told));
        ch.send(&told.to_bytes())?;
        ch.flush()?;
        // Step 6.
        let columns: Vec<usize> = (0..opened.keys.len()).collect();
        let slots = plan.slots(program);
        let kernel = LockstepEvaluator::of(backend, &columns, columns.len(), gate_keys(&session), slots);
        let side = Replaying {
            evaluated: Lockstep { kernel, wires: memory },
            tables: vec![Block::ZERO; 2 * columns.len() * PART],
            results: Results::new(backend, &session, &opened.choice, plan.revealed()),
            batch: Batch::default(),
            opened: &mut opened,
            from: &mut *from,
        };
        let Replaying { mut results, .. } = gates::run(plan, &layout, program, side, observer)?;
        observer.phase("checks");
        let mut commitments = vec![[[0; 32]; 2]; plan.copies];
        FORM.take(from, commitments.as_flattened_mut().as_flattened_mut())?;
        results.open(commitments, &mut opened)?;
        let known = EvaluatorEnd {
            here,
            program,
            plan,
            opened: &opened,
            y: own,
            r: &r,
            m: &m,
            expected: &expected,
            trapdoor: &trapdoor,
        };
        known.settle(ch, results, rng, observer, conduct)
    }
}

/// The evaluator's side of step 6, online: evaluates the garbled circuits that were kept.
struct Replaying<'a> {
    evaluated: Lockstep<LockstepEvaluator>,
    tables: Vec<Block>,
    results: Results,
    batch: Batch,
    opened: &'a mut OpenedCopies,
    from: &'a mut dyn Read,
}

impl CopySide for Replaying<'_> {
    fn memories(&mut self, each: &mut dyn FnMut(&mut LabelRows)) {
        each(&mut self.evaluated.wires);
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let Replaying { evaluated, tables, opened, from, .. } = self;
        lockstep::call(evaluated, call, |evaluated, part| {
            let tables = &mut tables[..2 * opened.keys.len() * part.ands()];
            FORM.take_blocks(*from, tables)?;
            evaluated.kernel.evaluate(part, tables);
            Ok(())
        })
    }

    fn reveal(&mut self, at: usize, bits: usize) -> Result<()> {
        let batch = &mut self.batch;
        batch.resize(bits, &self.opened.choice);
        FORM.take(self.from, batch.bound.as_flattened_mut().as_flattened_mut())?;
        FORM.take_blocks(self.from, &mut batch.tables)?;
        FORM.take_blocks(self.from, &mut batch.pads)?;
        self.results.evaluate(batch, self.opened, self.evaluated.wires.get(at, bits));
        Ok(())
    }
}
