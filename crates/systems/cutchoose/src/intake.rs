//! How the tables of the garbled circuits travel: all of them, or coded.
//!
//! **All**: the tables of every copy. The evaluator garbles the checked copies again and compares.
//!
//! **Coded** ([`comity_garble::coded`]; AMPR14, section 5): the evaluator can make the tables of the checked
//! copies itself, so of `t` copies it lacks only the `e` that it evaluates; but the garbler must not know
//! which. It sends `e` values of the polynomial through the tables of all copies, from which, with the
//! `t - e` that it knows, the evaluator finds the others; and a hash of each copy's tables, which the checked
//! and the decoded ones must have. The garbler does not learn which copies are evaluated before its last
//! message, as in the first form. (To ask for them would tell it, in time to spoil just their input
//! recovery.) If the values sent are not those of the tables hashed, decoding gives something else for
//! *every* choice, so that the abort tells nothing about it. There are more copies than rho, since the number
//! of evaluated ones is fixed: `C(t, e) >= 2^rho`.
//!
//! **Cost** of an AND gate: 32 bytes for each copy, or for each evaluated copy (608 in place of 1,280 at
//! rho = 40); coded, both sides hash the tables of all copies, which costs more time than it saves where the
//! network is fast.

use comity_channel::Channel;
use comity_circuit::Call;
use comity_core::{Block, Delta, ErasureCode, Params, Result, SessionId};
use comity_garble::coded::{DIGEST, RowDecoder, RowEncoder};
use comity_garble::lockstep::{CopyChoice, LabelRows, Lockstep, LockstepMemory, PART, gate_keys};
use comity_garble::{LockstepChecker, LockstepEvaluator, LockstepGarbler, Part};
use comity_protocol::{Conduct, Here, Options};
use rand_core::CryptoRng;

use crate::checks;
use crate::conduct::Act;
use crate::random::random_bits;

/// The form in which the garbled circuits travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The tables of all copies: 32 bytes for each of the `rho` copies and each AND gate. The fastest where
    /// the network is.
    All,
    /// An erasure code of the tables, half as many bytes, and more work for both: for slow networks.
    Coded,
}

impl Form {
    /// The most that rho can be in coded form.
    pub(crate) const MOST_CODED: u32 = 127;

    /// The form that the options say.
    pub(crate) fn of(options: &Options) -> Form {
        if options.switch("coded") { Form::Coded } else { Form::All }
    }

    /// The number of copies, and that of the evaluated ones if it is fixed.
    pub(crate) fn copies(self, params: Params) -> (usize, Option<usize>) {
        match self {
            Form::All => (params.rho as usize, None),
            Form::Coded => {
                let (copies, evaluated) = ErasureCode::pairs(params.rho)[0];
                (copies, Some(evaluated))
            }
        }
    }

    /// Draws the evaluated copies: uniform among the sets that are not empty, or among those of the fixed size.
    pub(crate) fn choose(self, params: Params, rng: &mut dyn CryptoRng) -> CopyChoice {
        let (copies, evaluated) = self.copies(params);
        let Some(evaluated) = evaluated else { return CopyChoice::nonempty(|| random_bits(copies, rng)) };
        let number = |_| random_bits(128, rng).words().iter().fold(0, |n, &w| n << 64 | u128::from(w));
        CopyChoice::smallest((0..copies).map(number), evaluated)
    }
}

/// The key of the hashes of the copies' tables.
fn digest_key(session: &SessionId) -> [u8; DIGEST] {
    session.child("hash of the tables of a copy").to_bytes()
}

/// The way in which tables leave the garbler.
pub(crate) enum Outlet {
    /// Tables as they are.
    All,
    /// Tables coded.
    Coded(Box<RowEncoder>),
}

impl Outlet {
    pub(crate) fn new(here: Here, form: Form) -> Outlet {
        let (copies, Some(evaluated)) = form.copies(here.params) else { return Outlet::All };
        let code = ErasureCode::new(here.backend, copies, evaluated);
        Outlet::Coded(Box::new(RowEncoder::new(code, &digest_key(&here.session))))
    }

    /// Sends the tables of a stretch of a tape.
    pub(crate) fn send(
        &mut self,
        ch: &mut dyn Channel,
        tables: &[Block],
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        let Outlet::Coded(encoder) = self else { return ch.send(Block::bytes_of(tables)) };
        let coded = encoder.encode(tables);
        conduct.before(Act::Coded(coded));
        ch.send(Block::bytes_of(coded))
    }

    /// Sends a hash of each copy, after the last tables.
    pub(crate) fn finish(&mut self, ch: &mut dyn Channel, conduct: &mut impl for<'a> Conduct<Act<'a>>) -> Result<()> {
        let Outlet::Coded(encoder) = self else { return Ok(()) };
        encoder.digests().enumerate().try_for_each(|(j, mut digest)| {
            conduct.before(Act::TablesHash { j, digest: &mut digest });
            ch.send(&digest)
        })
    }
}

/// The tables on their way to the evaluator, and all copies that they are for.
pub(crate) struct Intake {
    evaluated: Lockstep<LockstepEvaluator>,
    arriving: Arriving,
}

/// The form in which tables arrive, and the checked copies.
enum Arriving {
    All { checked: Lockstep<LockstepChecker>, tables: Vec<Block> },
    Coded(Box<Decoding>),
}

/// A decoder of tables: those of the checked copies are known.
struct Decoding {
    checked: Lockstep<LockstepGarbler>,
    decoder: RowDecoder,
    known: Vec<Block>,
    missing: Vec<Block>,
}

impl Intake {
    /// An intake. `deltas` are those of the checked copies; `slots` as many as the garbler has. The memories are that
    /// of the checked copies, with labels for zero, and that of the evaluated ones, with active labels.
    pub(crate) fn new(
        here: Here,
        form: Form,
        choice: &CopyChoice,
        deltas: &[Delta],
        slots: usize,
        [zeros, active]: [LabelRows; 2],
    ) -> Intake {
        let (backend, start, copies) = (here.backend, gate_keys(&here.session), choice.copies());
        let (checked, evaluated) = (&choice.checked, &choice.evaluated);
        let room = |copies: usize| vec![Block::ZERO; 2 * copies * PART];
        let (kernel, arriving) = match form {
            Form::All => {
                let kernel = LockstepChecker::new(backend, deltas, checked, copies, start, slots);
                let checked = Lockstep { kernel, wires: zeros };
                let kernel = LockstepEvaluator::of(backend, evaluated, copies, start, slots);
                (kernel, Arriving::All { checked, tables: room(copies) })
            }
            Form::Coded => {
                let kernel = LockstepGarbler::new(backend, deltas, start, slots);
                let code = ErasureCode::new(backend, copies, evaluated.len());
                let decoding = Decoding {
                    checked: Lockstep { kernel, wires: zeros },
                    decoder: RowDecoder::new(&code, choice, &digest_key(&here.session)),
                    known: room(checked.len()),
                    missing: room(evaluated.len()),
                };
                let kernel = LockstepEvaluator::new(backend, evaluated.len(), start, slots);
                (kernel, Arriving::Coded(Box::new(decoding)))
            }
        };
        Intake { evaluated: Lockstep { kernel, wires: active }, arriving }
    }

    /// The memories of the checked copies and of the evaluated ones.
    pub(crate) fn memories(&mut self) -> [&mut LabelRows; 2] {
        let zeros = match &mut self.arriving {
            Arriving::All { checked, .. } => &mut checked.wires,
            Arriving::Coded(decoding) => &mut decoding.checked.wires,
        };
        [zeros, &mut self.evaluated.wires]
    }

    /// Receives the tables of a stretch of a tape, garbles it in the checked copies and evaluates it in the others.
    pub(crate) fn receive(&mut self, ch: &mut dyn Channel, choice: &CopyChoice, part: &Part<'_>) -> Result<()> {
        match &mut self.arriving {
            Arriving::All { checked, tables } => {
                let tables = &mut tables[..2 * choice.copies() * part.ands()];
                ch.recv(Block::bytes_of_mut(tables))?;
                checked.kernel.check(part, tables);
                self.evaluated.kernel.evaluate(part, tables);
            }
            Arriving::Coded(decoding) => {
                let Decoding { checked, decoder, known, missing } = &mut **decoding;
                let known = &mut known[..2 * choice.checked.len() * part.ands()];
                let missing = &mut missing[..2 * choice.evaluated.len() * part.ands()];
                checked.kernel.garble(part, known);
                decoder.decode(choice, known, missing, |coded| ch.recv(coded))?;
                self.evaluated.kernel.evaluate(part, missing);
            }
        }
        Ok(())
    }

    /// Step 9b, after the last tables: the checked copies must be what their seeds give.
    pub(crate) fn finish(self, ch: &mut dyn Channel, choice: &CopyChoice) -> Result<()> {
        match self.arriving {
            Arriving::All { checked, .. } => match checked.kernel.differing().next() {
                Some(_) => Err(checks::GARBLED_CIRCUIT.into()),
                None => Ok(()),
            },
            Arriving::Coded(decoding) => {
                let mut digest = [0; DIGEST];
                let arrived = || ch.recv(&mut digest).map(|()| digest);
                decoding.decoder.check(choice, arrived, [checks::GARBLED_CIRCUIT, checks::CODED_CIRCUIT])
            }
        }
    }
}

impl LockstepMemory for Intake {
    fn load(&mut self, call: &Call<'_>, t: u64) {
        self.evaluated.load(call, t);
        match &mut self.arriving {
            Arriving::All { checked, .. } => checked.load(call, t),
            Arriving::Coded(decoding) => decoding.checked.load(call, t),
        }
    }

    fn store(&mut self, call: &Call<'_>, t: u64) {
        self.evaluated.store(call, t);
        match &mut self.arriving {
            Arriving::All { checked, .. } => checked.store(call, t),
            Arriving::Coded(decoding) => decoding.checked.store(call, t),
        }
    }
}
