//! How the tables of the garbled circuits travel: all of them, or coded.
//!
//! **All**: the tables of every copy. The evaluator garbles the checked copies again and compares.
//!
//! **Coded** (AMPR14, section 5): the evaluator can make the tables of the checked copies itself, so of `t` copies it lacks only the
//! `e` that it evaluates; but the garbler must not know which. It sends `e` values of the polynomial through the tables of all
//! copies, from which, with the `t - e` that it knows, the evaluator finds the others; and a hash of each copy's
//! tables, which the checked and the decoded ones must have. The garbler does not learn which copies are evaluated before
//! its last message, as in the first form. (To ask for them would tell it, in time to spoil just their input recovery.) If the
//! values sent are not those of the tables hashed, decoding gives something else for *every* choice, so that the
//! abort tells nothing about it. There are more copies than rho, since the number of evaluated ones is fixed:
//! `C(t, e) >= 2^rho`.
//!
//! **Cost** of an AND gate: 32 bytes for each copy, or for each evaluated copy (608 in place of 1,280 at rho = 40); coded, both
//! sides hash the tables of all copies, which costs more time than it saves where the network is fast.

use comity_channel::Channel;
use comity_circuit::Lowered;
use comity_core::{Bits, Block, Delta, ErasureCode, ErasureDecoder, Params};
use comity_core::{LockstepChecker, LockstepEvaluator, LockstepGarbler, Result, SessionId};
use comity_garble::Part;
use comity_protocol::{Conduct, Here, Options};
use rand_core::CryptoRng;
use subtle::{Choice as Bit, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::checks;
use crate::conduct::Act;
use crate::gates::{PART, gate_keys, load, store};
use crate::rows::Rows;
use crate::transfer::{Choice, random_bits};

/// How the garbled circuits travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// All copies: 32 bytes for each of the `rho` copies and each AND gate. The fastest where the network is.
    All,
    /// An erasure code of them, half as many bytes, and more work for both: for slow networks.
    Coded,
}

impl Form {
    /// The most that rho can be in coded form.
    pub(crate) const MOST_CODED: u32 = 127;

    /// What these options say.
    pub(crate) fn of(options: &Options) -> Form {
        if options.switch("coded") { Form::Coded } else { Form::All }
    }

    /// How many copies there are, and if their number is fixed, how many are evaluated.
    pub(crate) fn copies(self, params: Params) -> (usize, Option<usize>) {
        match self {
            Form::All => (params.rho as usize, None),
            Form::Coded => {
                let (copies, evaluated) = ErasureCode::pairs(params.rho)[0];
                (copies, Some(evaluated))
            }
        }
    }

    /// Which copies are evaluated: uniform among the sets that are not empty, or among those of the fixed size.
    pub(crate) fn choose(self, params: Params, rng: &mut dyn CryptoRng) -> Choice {
        let (copies, evaluated) = self.copies(params);
        let Some(evaluated) = evaluated else { return Choice::random(copies, rng) };
        // A uniform set of this size: sort by random keys, of 128 bits, so that none are equal.
        let mut key = || random_bits(128, rng).words().iter().fold(0, |n, &w| n << 64 | u128::from(w));
        let mut order: Zeroizing<Vec<(u128, usize)>> = Zeroizing::new((0..copies).map(|j| (key(), j)).collect());
        order.sort_unstable();
        let mut bits = Bits::zeros(copies);
        order[..evaluated].iter().for_each(|&(_, j)| bits.set(j, true));
        Choice::new(bits)
    }
}

/// Running hashes of the tables of copies.
struct Digests {
    hashers: Vec<blake3::Hasher>,
    column: Vec<Block>,
}

impl Digests {
    fn new(session: &SessionId, copies: usize) -> Digests {
        let key = session.child("hash of the tables of a copy").to_bytes();
        Digests { hashers: vec![blake3::Hasher::new_keyed(&key); copies], column: Vec::with_capacity(2 * PART) }
    }

    /// Takes in rows with the tables of some copies side by side.
    fn update(&mut self, rows: &[Block], copies: impl ExactSizeIterator<Item = usize>) {
        let width = copies.len();
        for (k, j) in copies.enumerate() {
            self.column.clear();
            self.column.extend(rows.iter().skip(k).step_by(width));
            self.hashers[j].update(Block::bytes_of(&self.column));
        }
    }
}

/// How tables leave the garbler.
pub(crate) enum Outlet {
    /// As they are.
    All,
    /// Coded.
    Coded(Box<Coder>),
}

/// What codes tables.
pub(crate) struct Coder {
    code: ErasureCode,
    coded: Vec<Block>,
    digests: Digests,
}

impl Outlet {
    pub(crate) fn new(here: Here, form: Form) -> Outlet {
        let (copies, Some(evaluated)) = form.copies(here.params) else { return Outlet::All };
        Outlet::Coded(Box::new(Coder {
            code: ErasureCode::new(here.backend, copies, evaluated),
            coded: vec![Block::ZERO; 2 * evaluated * PART],
            digests: Digests::new(&here.session, copies),
        }))
    }

    /// Sends the tables of a stretch of a tape.
    pub(crate) fn send(
        &mut self,
        ch: &mut dyn Channel,
        tables: &[Block],
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        let Outlet::Coded(coder) = self else { return ch.send(Block::bytes_of(tables)) };
        let Coder { code, coded, digests } = &mut **coder;
        let coded = &mut coded[..tables.len() / code.messages() * code.coded()];
        code.encode_rows(tables, coded);
        digests.update(tables, 0..code.messages());
        conduct.before(Act::Coded(coded));
        ch.send(Block::bytes_of(coded))
    }

    /// After the last tables: a hash of each copy.
    pub(crate) fn finish(&mut self, ch: &mut dyn Channel, conduct: &mut impl for<'a> Conduct<Act<'a>>) -> Result<()> {
        let Outlet::Coded(coder) = self else { return Ok(()) };
        coder.digests.hashers.iter().enumerate().try_for_each(|(j, hasher)| {
            let mut digest = *hasher.finalize().as_bytes();
            conduct.before(Act::TablesHash { j, digest: &mut digest });
            ch.send(&digest)
        })
    }
}

/// How tables reach the evaluator, and the evaluated copies.
pub(crate) struct Intake {
    evaluator: LockstepEvaluator,
    form: Arriving,
}

/// The form in which tables arrive, and the checked copies.
enum Arriving {
    All { checker: LockstepChecker, tables: Vec<Block>, copies: usize },
    Coded(Box<Decoder>),
}

/// What decodes tables.
struct Decoder {
    garbler: LockstepGarbler,
    decoder: ErasureDecoder,
    digests: Digests,
    known: Vec<Block>,
    coded: Vec<Block>,
    missing: Vec<Block>,
}

impl Intake {
    /// `deltas` are those of the checked copies; `slots` as many as the garbler has.
    pub(crate) fn new(here: Here, form: Form, choice: &Choice, deltas: &[Delta], slots: usize) -> Intake {
        let (backend, start) = (here.backend, gate_keys(&here.session));
        let (checked, evaluated) = (&choice.checked, &choice.evaluated);
        let copies = checked.len() + evaluated.len();
        let room = |copies: usize| vec![Block::ZERO; 2 * copies * PART];
        match form {
            Form::All => Intake {
                evaluator: LockstepEvaluator::of(backend, evaluated, copies, start, slots),
                form: Arriving::All {
                    checker: LockstepChecker::new(backend, deltas, checked, copies, start, slots),
                    tables: room(copies),
                    copies,
                },
            },
            Form::Coded => Intake {
                evaluator: LockstepEvaluator::new(backend, evaluated.len(), start, slots),
                form: Arriving::Coded(Box::new(Decoder {
                    garbler: LockstepGarbler::new(backend, deltas, start, slots),
                    decoder: ErasureCode::new(backend, copies, evaluated.len()).decoder(evaluated),
                    digests: Digests::new(&here.session, copies),
                    known: room(checked.len()),
                    coded: room(evaluated.len()),
                    missing: room(evaluated.len()),
                })),
            },
        }
    }

    /// Before a circuit: the labels for zero of the checked copies, the active ones of the evaluated copies.
    pub(crate) fn load(&mut self, circuit: &Lowered, args: &[usize], zeros: &Rows, active: &Rows) {
        load(&mut self.evaluator, circuit, args, active);
        match &mut self.form {
            Arriving::All { checker, .. } => load(checker, circuit, args, zeros),
            Arriving::Coded(decoder) => load(&mut decoder.garbler, circuit, args, zeros),
        }
    }

    /// After a circuit.
    pub(crate) fn store(&mut self, circuit: &Lowered, outs: &[usize], zeros: &mut Rows, active: &mut Rows) {
        store(&mut self.evaluator, circuit, outs, active);
        match &mut self.form {
            Arriving::All { checker, .. } => store(checker, circuit, outs, zeros),
            Arriving::Coded(decoder) => store(&mut decoder.garbler, circuit, outs, zeros),
        }
    }

    /// Receives the tables of a stretch of a tape, garbles it in the checked copies and evaluates it in the others.
    pub(crate) fn receive(&mut self, ch: &mut dyn Channel, choice: &Choice, part: &Part<'_>) -> Result<()> {
        match &mut self.form {
            Arriving::All { checker, tables, copies } => {
                let tables = &mut tables[..2 * *copies * part.ands()];
                ch.recv(Block::bytes_of_mut(tables))?;
                checker.check(part, tables);
                self.evaluator.evaluate(part, tables);
            }
            Arriving::Coded(all) => {
                let Decoder { garbler, decoder, digests, known, coded, missing } = &mut **all;
                let (checked, evaluated) = (&choice.checked, &choice.evaluated);
                let known = &mut known[..2 * checked.len() * part.ands()];
                let [coded, missing] = [coded, missing].map(|b| &mut b[..2 * evaluated.len() * part.ands()]);
                garbler.garble(part, known);
                ch.recv(Block::bytes_of_mut(coded))?;
                decoder.decode_rows(known, coded, missing);
                digests.update(known, checked.iter().copied());
                digests.update(missing, evaluated.iter().copied());
                self.evaluator.evaluate(part, missing);
            }
        }
        Ok(())
    }

    /// Step 9b, after the last tables: the checked copies must be what their seeds give.
    pub(crate) fn finish(self, ch: &mut dyn Channel, choice: &Choice) -> Result<()> {
        let wrong = match self.form {
            Arriving::All { checker, .. } => checker.differing().next().is_some(),
            Arriving::Coded(decoder) => {
                let mut right = vec![Bit::from(1); decoder.digests.hashers.len()];
                for (hasher, right) in decoder.digests.hashers.iter().zip(&mut right) {
                    let mut digest = [0; 32];
                    ch.recv(&mut digest)?;
                    *right = hasher.finalize().as_bytes()[..].ct_eq(&digest);
                }
                let all = |copies: &[usize]| copies.iter().all(|&j| bool::from(right[j]));
                if all(&choice.checked) && !all(&choice.evaluated) {
                    return Err(checks::CODED_CIRCUIT.into());
                }
                !all(&choice.checked)
            }
        };
        if wrong { Err(checks::GARBLED_CIRCUIT.into()) } else { Ok(()) }
    }
}
