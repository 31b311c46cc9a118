//! The verifier: makes the first message again from what is shown.

use comity_core::{Backend, Error, Result};
use subtle::ConstantTimeEq;

use super::columns::Columns;
use super::corrections::corrections;
use super::hashes::{EXECUTIONS, Execution, Hashes};
use super::heard::Heard;
use super::parameters::HIDDEN_NONE;
use super::replay::{Given, replay};
use super::strips::{Strip, Tapes};
use super::{GROUP, LAST, PARTIES, Shape};
use crate::bound::Bound;
use crate::checks;
use crate::sliced::words;
use crate::statement::Statement;
use crate::tree::{SEED, Seed, count};

/// Bytes of an opened execution whatever the statement: the seeds beside the path to the hidden party, its
/// commitment, the blinding.
pub(super) const FIXED: usize = SEED * PARTIES.ilog2() as usize + 32 + 32;

/// The shown values of an execution in which a party stays hidden.
struct Opened<'a> {
    index: usize,
    hidden: usize,
    path: &'a [Seed],
    commitment: &'a [u8; 32],
    blinding: &'a [u8; 32],
    inputs: &'a [u8],
    /// The corrections; empty if they are the hidden party's.
    corrections: &'a [u8],
    said: &'a [u8],
}

/// The shown values of an answer.
struct Shown<'a> {
    holes: Vec<bool>,
    roots: &'a [Seed],
    /// The hashes `h'_j` of the executions whose roots are shown.
    said: &'a [[u8; 32]],
    opened: Vec<Opened<'a>>,
}

/// Checks an answer to a challenge: the hash of the first message must be that of the shown values, with the
/// hidden parties' shares of the outputs such that all shares add up to the expected ones.
///
/// # Errors
/// [`Malformed`](comity_core::Kind) if the answer has another length, or ones where a row is padded;
/// [`WRONG_OPENING`](checks::WRONG_OPENING).
pub(crate) fn check(
    backend: Backend,
    bound: &Bound<'_>,
    salt: &[u8; 32],
    first: &[u8; 32],
    challenge: &[u8],
    answer: &[u8],
) -> Result<()> {
    let found = first_of(backend, bound, salt, challenge, answer)?;
    if bool::from(found.ct_eq(first)) { Ok(()) } else { Err(checks::WRONG_OPENING.into()) }
}

/// The hash of the first message that an answer opens.
pub(super) fn first_of(
    backend: Backend,
    bound: &Bound<'_>,
    salt: &[u8; 32],
    challenge: &[u8],
    answer: &[u8],
) -> Result<[u8; 32]> {
    let statement = bound.statement;
    let shown = Shown::read(statement, challenge, answer)?;
    let hashes = Hashes::new(challenge.len(), bound.binding(), salt);
    let mut all = vec![[[0; 32]; 2]; challenge.len()];
    shown.roots(backend, statement, &hashes, &mut all)?;
    let mut room = (Strip::new(backend, Shape::new(statement)), Heard::new(backend));
    for group in shown.opened.chunks(GROUP) {
        replayed(backend, statement, &hashes, group, &mut room, &mut all)?;
    }
    Ok(hashes.first(&all))
}

impl<'a> Shown<'a> {
    fn read(statement: &Statement, challenge: &[u8], answer: &'a [u8]) -> Result<Shown<'a>> {
        let shape = Shape::new(statement);
        let (wanted, there) = (super::answer_bytes(statement, challenge), answer.len());
        if there != wanted {
            return Err(Error::malformed(format!("a proof with an answer of {there} bytes; {wanted} are wanted")));
        }
        let holes: Vec<bool> = challenge.iter().map(|hidden| *hidden != HIDDEN_NONE).collect();
        let mut rest = answer;
        let mut take = |bytes: usize| rest.split_off(..bytes).expect("the length was checked");
        let roots = take(SEED * count(&holes)).as_chunks().0;
        let said = take(32 * holes.iter().filter(|hole| !**hole).count()).as_chunks().0;
        let mut opened = Vec::new();
        for (index, &hidden) in challenge.iter().enumerate().filter(|(_, hidden)| **hidden != HIDDEN_NONE) {
            let hidden = usize::from(hidden);
            let path = take(FIXED - 64).as_chunks().0;
            let [commitment, blinding] = [(); 2].map(|()| take(32).try_into().expect("32 bytes"));
            let inputs = take(shape.input_bytes());
            let corrections = take(if hidden == LAST { 0 } else { shape.gate_bytes() });
            let said = take(shape.gate_bytes());
            let rows = [(inputs, shape.secret), (corrections, shape.ands), (said, shape.ands)];
            if rows.iter().any(|(row, bits)| row.last().is_some_and(|last| bits % 8 != 0 && last >> (bits % 8) != 0)) {
                return Err(Error::malformed("a proof with bits beyond the end of a row"));
            }
            opened.push(Opened { index, hidden, path, commitment, blinding, inputs, corrections, said });
        }
        Ok(Shown { holes, roots, said, opened })
    }

    /// The hashes of the executions whose roots are shown.
    fn roots(&self, backend: Backend, statement: &Statement, hashes: &Hashes, all: &mut [[[u8; 32]; 2]]) -> Result<()> {
        let shape = Shape::new(statement);
        let roots = hashes.trees.rebuild(EXECUTIONS, &self.holes, self.roots);
        let closed = roots.leaves().iter().enumerate().filter(|(execution, _)| !self.holes[*execution]);
        let executions: Vec<Execution> = closed.map(|(execution, root)| hashes.grow(execution, root)).collect();
        let rows = words!(executions.len(), W => corrections::<W>(backend, hashes, statement, &executions))?;
        for (row, (execution, said)) in executions.iter().zip(self.said).enumerate() {
            let parties = hashes.parties(execution, &rows.row(row)[..shape.gate_bytes()]);
            all[execution.number] = [hashes.execution(execution.number, &parties), *said];
        }
        Ok(())
    }
}

/// The hashes of a group of executions in which a party stays hidden.
fn replayed(
    backend: Backend,
    statement: &Statement,
    hashes: &Hashes,
    group: &[Opened<'_>],
    (strip, heard): &mut (Strip, Heard),
    all: &mut [[[u8; 32]; 2]],
) -> Result<()> {
    let shape = Shape::new(statement);
    let (mut executions, mut places) = (Vec::new(), [0; GROUP]);
    for ((opened, place), said) in group.iter().zip(&mut places).zip(&mut heard.executions) {
        let holes: [bool; PARTIES] = core::array::from_fn(|party| party == opened.hidden);
        let tree = hashes.trees.rebuild(opened.index as u64, &holes, opened.path);
        executions.push(Execution { number: opened.index, tree });
        *place = (1u64 << opened.hidden).to_le();
        hashes.said(opened.index, opened.blinding, opened.inputs, said);
    }
    let given = Given {
        tapes: Tapes::new(backend, hashes, shape, &executions, |lane| Some(group[lane].hidden)),
        corrections: Columns::of_rows(backend, group.iter().map(|opened| opened.corrections), shape.ands),
        hidden: Columns::of_rows(backend, group.iter().map(|opened| opened.said), shape.ands),
        inputs: Columns::of_rows(backend, group.iter().map(|opened| opened.inputs), shape.secret),
        places,
    };
    replay(backend, statement, &given, strip, heard)?;
    for ((opened, execution), said) in group.iter().zip(&executions).zip(&mut heard.executions) {
        let mut parties = hashes.parties(execution, opened.corrections);
        parties[opened.hidden] = *opened.commitment;
        all[opened.index] = [hashes.execution(opened.index, &parties), said.finish()];
    }
    Ok(())
}
