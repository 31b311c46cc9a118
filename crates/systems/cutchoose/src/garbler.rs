//! The garbler, `P1` of Figures 3 and 4.

use comity_channel::Channel;
use comity_circuit::{Call, Observer, Program};
use comity_core::{Bits, Block, Delta, Result};
use comity_garble::LockstepGarbler;
use comity_garble::lockstep::{self, LabelRows, Lockstep, PART, gate_keys, joined};
use comity_ot::committing;
use comity_protocol::{Conduct, Here, Job};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::checks;
use crate::conduct::Act;
use crate::consistency::{self, Weights};
use crate::copies::{CopySecret, KeyStreams, Replica};
use crate::gates::{self, CopySide};
use crate::intake::Outlet;
use crate::outputs::Tables;
use crate::plan::Plan;
use crate::recovery::{Commitments, First, Second};
use crate::rows::Layout;
use crate::transfer::{Ots, receive_block, send_labels};

pub(crate) fn run(
    ch: &mut dyn Channel,
    here: Here,
    job: &Job<'_>,
    ots: &dyn Ots,
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
) -> Result<()> {
    let (plan, backend) = (Plan::of(job, here.params), here.backend);
    let x = plan.garblers_input(&joined(job.program, here.me, job.inputs)?, rng);

    observer.phase("setup");
    let ots = ots.send(ch, here, plan.copies, plan.probe.encoded(), rng)?;
    // Step 7 begins here: what is random in the evaluator's message.
    let mut first = [0; First::BYTES];
    ch.recv(&mut first)?;
    let first = First::from_bytes(&first);

    observer.phase("inputs");
    // Step 1.
    let (seeds, keys) = ots.step1(ch, rng)?;
    let mut copies = Replica::all(here, &seeds);
    conduct.before(Act::Copies(&mut copies));
    let mut keys = KeyStreams::all(here, &keys);
    let committing = here.session.child("committing OT");
    let mut committing = committing::Receiver::setup_from(ch, &committing, backend, ots.seeds)?;
    // Step 2.
    let layout = Layout::new(&plan, job.program);
    let mut memory = layout.memory(plan.copies)?;
    send_labels(ch, backend, &plan.probe, &mut copies, &ots.inputs, Some((&layout, &mut memory)), conduct)?;
    // Step 3.
    let chosen = Zeroizing::new(committing.random(ch, &x)?);
    consistency::send_r(ch, &mut copies, &mut keys, &chosen, conduct)?;
    // Step 4: everything that is checked is sent before the values are known by which it is checked.
    let mus = consistency::send_a(ch, backend, &mut copies, &mut keys, &x, Some((&layout, &mut memory)), conduct)?;
    let opened = Zeroizing::new(committing.open_random(ch)?);
    let weights = Weights::new(backend, receive_block(ch)?);

    // Step 5.
    let outlet = Outlet::new(here, plan.form);
    let circuits = Circuits { plan: &plan, layout: &layout, copies: &copies, keys: &mut keys, memory, outlet };
    let outputs = circuits.garble(ch, here, job.program, rng, observer, conduct)?;
    observer.phase("checks");
    // While the evaluator is still at the gates.
    ch.flush()?;
    consistency::send_answers(ch, &copies, &x, &opened, &mus, weights, conduct)?;
    ch.flush()?;
    let commitments = Commitments::new(&here.session, &first, copies.iter().map(|copy| &copy.scalars))?;
    let known = GarblerEnd { plan: &plan, x: &x, copies: &copies, outputs: &outputs };
    known.settle(ch, commitments, observer, conduct)
}

/// The copies, keys and labels that step 5 starts with.
pub(crate) struct Circuits<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) layout: &'a Layout,
    pub(crate) copies: &'a [Replica],
    pub(crate) keys: &'a mut [KeyStreams],
    /// The labels for zero of both inputs.
    pub(crate) memory: LabelRows,
    pub(crate) outlet: Outlet,
}

impl Circuits<'_> {
    /// Garbles: step 5.
    pub(crate) fn garble(
        self,
        ch: &mut dyn Channel,
        here: Here,
        program: &Program,
        rng: &mut dyn CryptoRng,
        observer: &mut dyn Observer,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<Tables> {
        let Circuits { plan, layout, copies, keys, memory, outlet } = self;
        let Here { backend, session, .. } = here;
        let deltas: Vec<Delta> = copies.iter().map(|copy| Delta::new(copy.delta.block())).collect();
        let kernel = LockstepGarbler::new(backend, &deltas, gate_keys(&session), plan.slots(program));
        let lockstep = Lockstep { kernel, wires: memory };
        let tables = vec![Block::ZERO; 2 * plan.copies * PART];
        let outputs = Tables::new(backend, &session, plan.copies, plan.revealed(), rng);
        let side = Garbling { ch, copies, keys, lockstep, tables, outlet, outputs, rng, conduct };
        let side = gates::run(plan, layout, program, side, observer)?;
        let Garbling { ch, copies, keys, mut outlet, mut outputs, conduct, .. } = side;
        outlet.finish(ch, conduct)?;
        outputs.finish(ch, copies, keys, conduct)?;
        Ok(outputs)
    }
}

/// The garbler when all gates are done.
pub(crate) struct GarblerEnd<'a> {
    pub(crate) plan: &'a Plan,
    /// The garbler's whole input.
    pub(crate) x: &'a Bits,
    pub(crate) copies: &'a [Replica],
    pub(crate) outputs: &'a Tables,
}

impl GarblerEnd<'_> {
    /// Step 7, and the garbler's outputs.
    pub(crate) fn settle(
        &self,
        ch: &mut dyn Channel,
        commitments: Commitments,
        observer: &mut dyn Observer,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        let GarblerEnd { plan, x, copies, outputs } = *self;
        let mut second = [0; Second::BYTES];
        ch.recv(&mut second)?;
        outputs.reveal(ch, conduct)?;
        let mut seeds: Vec<CopySecret> = copies.iter().map(|copy| copy.seed.clone()).collect();
        for (j, (seed, point)) in seeds.iter_mut().zip(commitments.points()).enumerate() {
            let mut point = *point;
            conduct.before(Act::Answer { j, point: &mut point, seed: &mut seed.0 });
            ch.send(&point)?;
        }
        // With these the evaluator has work while the pads are made.
        ch.flush()?;
        let pads = commitments.pads(&Second::from_bytes(second), outputs.delta())?;
        for (seed, pad) in seeds.iter().zip(pads.iter()) {
            ch.send(&(seed.0 ^ *pad).to_bytes())?;
        }
        ch.flush()?;

        // The garbler's outputs.
        if plan.mac.is_some() {
            let mut passed = vec![0; plan.passed_bits().div_ceil(8)];
            ch.recv(&mut passed)?;
            let values = plan.open(&Bits::from_bytes(&passed, plan.passed_bits()), x).ok_or(checks::OUTPUT_TAG)?;
            values.into_iter().for_each(|(index, value)| observer.output(index, value));
        }
        Ok(())
    }
}

/// The garbler's side of step 5.
struct Garbling<'a, D> {
    ch: &'a mut (dyn Channel + 'a),
    copies: &'a [Replica],
    keys: &'a mut [KeyStreams],
    lockstep: Lockstep<LockstepGarbler>,
    tables: Vec<Block>,
    outlet: Outlet,
    outputs: Tables,
    rng: &'a mut (dyn CryptoRng + 'a),
    conduct: &'a mut D,
}

impl<D: for<'a> Conduct<Act<'a>>> CopySide for Garbling<'_, D> {
    fn memories(&mut self, each: &mut dyn FnMut(&mut LabelRows)) {
        each(&mut self.lockstep.wires);
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let Garbling { ch, copies, lockstep, tables, outlet, conduct, .. } = self;
        lockstep::call(lockstep, call, |lockstep, part| {
            let tables = &mut tables[..2 * copies.len() * part.ands()];
            lockstep.kernel.garble(part, tables);
            conduct.before(Act::Tables(tables));
            outlet.send(*ch, tables, *conduct)
        })
    }

    fn reveal(&mut self, at: usize, bits: usize) -> Result<()> {
        let rows = self.lockstep.wires.get_mut(at, bits);
        self.conduct.before(Act::Outputs { rows, copies: self.copies });
        self.outputs.send(self.ch, self.copies, self.keys, rows, self.rng, self.conduct)
    }
}
