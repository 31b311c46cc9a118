//! Offline and online (section 4.2): everything that can be done before the inputs are known, and then the rest.
//!
//! **Offline**, [`prepare`]: all oblivious transfers, for random choices; the garbled circuits, which the
//! evaluator checks as they come, and of which it keeps the evaluated copies; `R`, for a random input of the
//! garbler; the output tables, under keys that the evaluator does not have yet; and of step 7 what the
//! evaluator's message has before `Omega` is known.
//!
//! **Online**, [`Loaded::run`]: each party says how its input differs from the random choices (`y'` and `x`
//! stay hidden by them), then the labels of steps 2 and 4 travel, the keys that open `c_j^T`, the challenge
//! of step 4, and steps 6 to 9 are as ever. (The answer to the challenge is looked at with the other checks:
//! nobody waits for it.)
//!
//! **Adversary**: as for a single execution, but the paper's Theorem 1 does not cover it by itself. A party
//! sees the garbled circuits before it chooses its input, so the garbling must be *adaptively* secure. That
//! holds for half gates where the hash is an ideal cipher that a simulator may program, and what turns output
//! labels to results (the opening of `c_j^T`) must not be known before the inputs are fixed: its keys travel
//! last, after the transfers of `y'`.
//!
//! **Once**. What is prepared is one batch, a lot by itself. It serves one run, whether that succeeds or not;
//! [`Loaded::run`] consumes it. Two runs on one batch (a restored backup, a copied folder, a snapshot of a
//! virtual machine) show the evaluator two sets of input labels, and with them the garbler's input `x`; and a
//! garbler that sees two `y'` against one choice learns where two inputs differ.
//!
//! **What leaks**, more than in a single execution: online the evaluator's time grows with the number of
//! copies that it evaluates, and so does the size of its batch, which tells the number to whoever sees it
//! (`log2(rho)` bits less to guess).
//!
//! **Size**: [`prepared_size`]; at the evaluator 32 bytes for each AND gate and evaluated copy.
//!
//! Modules: `garbler` and `evaluator`, each with both phases of one side; `format`, what opens a batch.

mod evaluator;
mod format;
mod garbler;

use std::io::{Read, Write};

use comity_channel::Channel;
use comity_circuit::{Observer, Program};
use comity_core::{Backend, Bits, Block, Error, Params, PartyId, Result, SessionId, declassify};
use comity_garble::lockstep::{GarblingParty, LabelRows, joined};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{BatchForm, Conduct, Here, Honest, Party};
use rand_core::CryptoRng;

use crate::conduct::Act;
use crate::copies::Replica;
use crate::intake::Form;
use crate::plan::Plan;
use crate::rows::Layout;
use crate::transfer::{Extended, Ots, make_labels};
use format::Head;

/// The form of a batch.
pub(crate) const FORM: BatchForm = BatchForm { magic: b"comity wmk17 v2\n", name: "a batch of copies" };

/// The most bytes that a batch for this program takes at either party, if all copies were evaluated; half of
/// it is usual.
pub(crate) fn prepared_size(program: &Program, garbler: PartyId, params: Params) -> u64 {
    let plan = Plan::new(program, garbler, params, Form::All);
    let copies = plan.copies as u64;
    let bits = (plan.garblers() + plan.probe.encoded() + 4 * plan.revealed()) as u64;
    (2 * copies * (program.and_gates() + plan.tag_gates()) + (copies + 8) * bits + 8 * copies) * Block::BYTES as u64
}

/// Runs the offline phase for a program that [fits](comity_protocol::Card::fits), and writes this party's batch.
///
/// # Errors
/// Errors of the channel, [`Misbehaved`](comity_core::Kind) for each check that fails, and
/// [`Io`](comity_core::Kind) if the batch cannot be written. After an error the written bytes are useless.
pub fn prepare(me: &mut Party<'_, '_>, program: &Program, garbler: PartyId, to: &mut dyn Write) -> Result<()> {
    prepare_over::<Csw>(me, program, garbler, to)
}

/// As [`prepare`], by other base OTs.
///
/// # Errors
/// As [`prepare`].
pub fn prepare_over<B: BaseOt<Model = Malicious>>(
    me: &mut Party<'_, '_>,
    program: &Program,
    garbler: PartyId,
    to: &mut dyn Write,
) -> Result<()> {
    let (ch, here, rng, observer) = me.pair()?;
    Offline::new(program, garbler, here, &Extended::<B>::NEW).run(ch, rng, to, observer, &mut Honest)
}

/// The offline phase of a run: its plan and its session.
pub(crate) struct Offline<'a> {
    /// The party in the session of the offline phase.
    here: Here,
    program: &'a Program,
    plan: Plan,
    ots: &'a dyn Ots,
}

impl<'a> Offline<'a> {
    pub(crate) fn new(program: &'a Program, garbler: PartyId, here: Here, ots: &'a dyn Ots) -> Offline<'a> {
        let plan = Plan::new(program, garbler, here.params, Form::All);
        Offline { here: here.child("cutchoose, prepared"), program, plan, ots }
    }

    pub(crate) fn run(
        &self,
        ch: &mut dyn Channel,
        rng: &mut dyn CryptoRng,
        to: &mut dyn Write,
        observer: &mut dyn Observer,
        conduct: &mut impl for<'c> Conduct<Act<'c>>,
    ) -> Result<()> {
        let Offline { here, program, ref plan, .. } = *self;
        Head {
            session: here.session,
            program: program.digest(),
            party: here.me,
            garbler: plan.garbler,
            params: here.params,
        }
        .write(to)?;
        observer.phase("setup");
        match plan.garbler == here.me {
            true => garbler::offline(ch, self, rng, to, observer, conduct),
            false => evaluator::offline(ch, self, rng, to, observer, conduct),
        }
    }
}

/// Puts the labels for zero of both inputs into memory.
fn make_inputs(plan: &Plan, copies: &mut [Replica], layout: &Layout, memory: &mut LabelRows) -> Result<()> {
    make_labels(&plan.probe, copies, layout, memory)?;
    for run in layout.runs(GarblingParty::Garbler, 0, plan.garblers()) {
        memory.draw(run.row, run.bits, copies.iter_mut().map(|copy| &mut copy.a));
    }
    Ok(())
}

/// A stored batch, for one run.
pub struct Prepared<R> {
    here: Here,
    garbler: PartyId,
    from: R,
}

impl<R: Read> Prepared<R> {
    /// Opens the batch that was written for this program and party.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if it is not a batch, or is for another program or party.
    pub fn open(mut from: R, backend: Backend, party: PartyId, program: &Program) -> Result<Prepared<R>> {
        let head = Head::read(&mut from)?;
        if head.program != program.digest() {
            return Err(Error::store("the batch of copies is for another program; prepare new copies"));
        }
        if head.party != party || party.0.max(head.garbler.0) > 1 {
            let own = head.party;
            return Err(Error::store(format!("the batch is party {own}'s, and this is party {party}")));
        }
        let here = Here { me: party, parties: 2, session: head.session, params: head.params, backend };
        Ok(Prepared { here, garbler: head.garbler, from })
    }

    /// The party that garbled.
    pub fn garbler(&self) -> PartyId {
        self.garbler
    }

    /// The security parameters.
    pub fn params(&self) -> Params {
        self.here.params
    }

    /// The session in which the batch was prepared: the peer's batch has the same.
    pub fn session(&self) -> SessionId {
        self.here.session
    }

    /// Reads all that can be read before the peer is there, so that the online phase is short. `inputs[i]` is
    /// `Some` exactly for this party's values.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program;
    /// [`Store`](comity_core::Kind) if the batch ends too soon.
    pub fn load<'a>(self, program: &'a Program, inputs: &[Option<Bits>]) -> Result<Loaded<'a, R>> {
        self.load_as(program, inputs, &mut Honest)
    }

    pub(crate) fn load_as<'a>(
        self,
        program: &'a Program,
        inputs: &[Option<Bits>],
        conduct: &mut impl for<'c> Conduct<Act<'c>>,
    ) -> Result<Loaded<'a, R>> {
        let Prepared { here, garbler, mut from } = self;
        program.check_inputs(Some(here.me), inputs)?;
        let plan = Plan::new(program, garbler, here.params, Form::All);
        let own = joined(program, here.me, inputs)?;
        let role = match garbler == here.me {
            true => Role::Garbler(garbler::Kept::load(here, &plan, &mut from, conduct)?),
            false => Role::Evaluator(evaluator::Kept::load(here, &plan, &mut from)?),
        };
        Ok(Loaded { online: Online { here, program, plan, own }, role, from })
    }
}

/// A batch in memory, except for the garbled circuits.
pub struct Loaded<'a, R> {
    online: Online<'a>,
    role: Role,
    from: R,
}

/// The online phase of a run: its plan, its session and this party's input.
struct Online<'a> {
    /// The party in the session of the offline phase.
    here: Here,
    program: &'a Program,
    plan: Plan,
    /// This party's input.
    own: Bits,
}

#[allow(clippy::large_enum_variant, reason = "there is one of them")]
enum Role {
    Garbler(garbler::Kept),
    Evaluator(evaluator::Kept),
}

impl<R: Read> Loaded<'_, R> {
    /// Runs the online phase. Outputs for this party go to the observer when all checks are done.
    ///
    /// # Errors
    /// Errors of the channel, and [`Misbehaved`](comity_core::Kind) for each check that fails. The batch is
    /// used up in any case.
    pub fn run(self, ch: &mut dyn Channel, rng: &mut dyn CryptoRng, observer: &mut dyn Observer) -> Result<()> {
        self.run_as(ch, rng, observer, &mut Honest)
    }

    pub(crate) fn run_as(
        self,
        ch: &mut dyn Channel,
        rng: &mut dyn CryptoRng,
        observer: &mut dyn Observer,
        conduct: &mut impl for<'c> Conduct<Act<'c>>,
    ) -> Result<()> {
        let Loaded { online, role, mut from } = self;
        observer.phase("inputs");
        match role {
            Role::Garbler(kept) => kept.run(ch, &online, rng, observer, conduct),
            Role::Evaluator(kept) => kept.run(ch, &online, &mut from, rng, observer, conduct),
        }
    }
}

/// Sends the difference of this party's input from the random choices.
fn tell(ch: &mut dyn Channel, ours: &Bits, conduct: &mut impl for<'c> Conduct<Act<'c>>) -> Result<()> {
    let mut bytes = ours.to_bytes();
    conduct.before(Act::Difference(&mut bytes));
    ch.send(&bytes)
}

/// Receives bits of the peer.
fn receive_bits(ch: &mut dyn Channel, bits: usize) -> Result<Bits> {
    let mut bytes = vec![0; bits.div_ceil(8)];
    ch.recv(&mut bytes)?;
    Ok(Bits::from_bytes(&bytes, bits))
}

/// Swaps the pairs where a party's input differs from its random choices.
fn swap(pairs: &mut [[Block; 2]], differences: &Bits) {
    let public = |bit| declassify(bit, "the peer is told the difference");
    pairs.iter_mut().zip(differences.iter()).filter(|(_, bit)| public(*bit)).for_each(|(pair, _)| pair.swap(0, 1));
}
