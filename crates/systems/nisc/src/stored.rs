//! The form with stored copies (AMPR14, section 5, "When communication is through a third-party service").
//!
//! The sender puts every copy, which is all that is made from its seed, into a store, each for itself; the
//! answer has the rest, and a hash of each copy. The receiver fetches the copies that it evaluates; what the
//! checked ones should be it knows from their seeds, and holds against the hashes. So it receives about half
//! of what the plain form takes, and the sender sends all.
//!
//! **Why that is as good as the plain form.** A hash fixes a copy before anything of it is fetched, and all
//! hashes are compared before anybody looks at an output. Whoever would escape here, with a wrong copy in the
//! answer's hashes, would in the plain form with the same copies: `1/(2^t - 1)`. What a store has beyond that
//! is the choice to give a copy, another one or none. That is an abort if the copy is evaluated, and nothing
//! if it is checked: it depends on the choice of copies, never on an input. It must be an **abort, and not
//! one copy less to evaluate**: else a sender would store one copy only, a wrong one, which is evaluated half
//! of the time.
//!
//! **Assumption**: whoever runs the store, or sees it being read, does not tell senders which copies were
//! fetched while the query takes answers. So nothing may be fetched before all answers to the query are here,
//! and it is refreshed after that; then who learns the choice learns it of a query that takes no more
//! answers. Fetching the same copies again tells nothing new. Readers of all copies, in place of those that
//! are evaluated, hide the choice from anybody who sees the reading.
//!
//! Copies carry no checksum here: a layer above must see to it that they come from the answer's sender, and
//! come whole, or a damaged one would be taken for a cheat.

use std::io::{Read, Write};

use comity_circuit::Program;
use comity_core::{Backend, Bits, Result};
use comity_protocol::Honest;
use rand_core::CryptoRng;

use crate::open::{Opened, open_from};
use crate::plan::AnswerPlan;
use crate::query::{Query, Secret};
use crate::respond::{Question, respond_as};
use crate::stream::{In, Out};

/// The writers of an answer whose copies are stored.
pub struct Writers<'a, W> {
    /// The answer without its copies.
    pub answer: &'a mut dyn Write,
    /// The writers of the copies: copy `i` goes to `copies[i]`.
    pub copies: &'a mut [W],
}

/// Answers as [`respond`](crate::respond()), for a query with [stored copies](crate::Copies::stored). Each copy has the
/// [`copy_bytes`](crate::Cost::copy_bytes) of the program.
///
/// # Errors
/// As [`respond`](crate::respond()), and [`InvalidInput`](comity_core::Kind) unless there are as many writers as
/// stored copies.
pub fn respond_stored<W: Write>(
    backend: Backend,
    query: &Query,
    context: &[u8; 32],
    program: &Program,
    inputs: &[Option<Bits>],
    rng: &mut dyn CryptoRng,
    to: Writers<'_, W>,
) -> Result<()> {
    let out = Out::new(to.answer).with_copies(to.copies);
    respond_as(backend, &Question { query, context, program }, inputs, rng, out, &mut Honest)
}

/// Opens as [`open`](crate::open()) an answer whose copies are stored: `copies[i]` reads copy `i`, and must
/// be `Some` if copy `i` is [evaluated](Secret::evaluated). Other copies are read and ignored.
///
/// # Errors
/// As [`open`](crate::open()). [`GarbledCircuit`](crate::checks::GARBLED_CIRCUIT) if a checked copy is not
/// the one that was hashed, and [`CodedCircuit`](crate::checks::CODED_CIRCUIT) if an evaluated one is not; or
/// [`InvalidPoint`](crate::checks::INVALID_POINT), [`IdentityPoint`](crate::checks::IDENTITY_POINT) or
/// [`InputEquality`](crate::checks::INPUT_EQUALITY) if an evaluated copy fails one of these before the hashes
/// are compared. [`Malformed`](comity_core::Kind) if a copy ends too early.
/// [`InvalidInput`](comity_core::Kind) if an evaluated copy is missing.
pub fn open_stored<R: Read>(
    backend: Backend,
    secret: &Secret,
    context: &[u8; 32],
    program: &Program,
    answer: &mut dyn Read,
    copies: &mut [Option<R>],
) -> Result<Opened> {
    let plan = AnswerPlan::new(program, secret.copies())?;
    open_from(backend, secret, context, program, plan, In::new(answer, plan.answer_bytes()).with_copies(copies))
}
