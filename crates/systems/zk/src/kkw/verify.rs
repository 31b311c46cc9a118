//! The verifier: makes the first message again from what is shown.

use comity_core::{Backend, Error, Result};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::corrections::corrections;
use super::hashes::Hashes;
use super::online::{Given, by_execution, replay, row, rows, tapes};
use super::parameters::HIDDEN_NONE;
use super::prove::Seeded;
use super::tree::{Node, Tree, count};
use super::{GROUP, LAST, PARTIES, SEED, Shape};
use crate::checks;
use crate::sliced::words;
use crate::statement::Statement;

/// Bytes of an opened execution whatever the statement: the seeds beside the path to the hidden party, its commitment, the blinding.
pub(super) const FIXED: usize = SEED * PARTIES.ilog2() as usize + 32 + 32;

/// What is shown of an execution in which a party stays hidden.
struct Execution<'a> {
    index: usize,
    hidden: usize,
    path: &'a [[u8; SEED]],
    commitment: &'a [u8; 32],
    blinding: &'a [u8; 32],
    inputs: &'a [u8],
    /// The corrections; none if they are the hidden party's.
    corrections: &'a [u8],
    said: &'a [u8],
}

/// What is shown in an answer.
struct Shown<'a> {
    holes: Vec<bool>,
    roots: &'a [[u8; SEED]],
    /// The hashes of what was said in the executions whose roots are shown.
    said: &'a [[u8; 32]],
    opened: Vec<Execution<'a>>,
}

/// Checks an answer to a challenge: what is shown must be what the hash of the first message is of, where the hidden parties' shares of the
/// outputs are what is missing of the expected ones.
///
/// # Errors
/// [`Malformed`](comity_core::Kind) if the answer has another length, or ones where a row is padded;
/// [`WRONG_OPENING`](checks::WRONG_OPENING).
pub(crate) fn check(
    backend: Backend,
    statement: &Statement,
    salt: &[u8; 32],
    first: &[u8; 32],
    challenge: &[u8],
    answer: &[u8],
) -> Result<()> {
    let shown = Shown::read(statement, challenge, answer)?;
    let hashes = Hashes::new(challenge.len(), statement.digest(), salt);
    let mut all = vec![[[0; 32]; 2]; challenge.len()];
    shown.roots(backend, statement, &hashes, &mut all)?;
    for group in shown.opened.chunks(GROUP) {
        replayed(backend, statement, &hashes, group, &mut all)?;
    }
    if bool::from(hashes.first(&all).ct_eq(first)) { Ok(()) } else { Err(checks::WRONG_OPENING.into()) }
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
            opened.push(Execution { index, hidden, path, commitment, blinding, inputs, corrections, said });
        }
        Ok(Shown { holes, roots, said, opened })
    }

    /// The hashes of the executions whose roots are shown.
    fn roots(&self, backend: Backend, statement: &Statement, hashes: &Hashes, all: &mut [[[u8; 32]; 2]]) -> Result<()> {
        let shape = Shape::new(statement);
        let mut roots = vec![[0; SEED]; self.holes.len()];
        Node { key: &hashes.tree, tree: Tree::Executions }.rebuild(&self.holes, self.roots, &mut roots);
        let closed = roots.iter().enumerate().filter(|(execution, _)| !self.holes[*execution]);
        let seeds: Seeded = closed
            .map(|(execution, root)| {
                let mut of_parties = [[0; SEED]; PARTIES];
                Node { key: &hashes.tree, tree: Tree::Parties(execution) }.leaves(root, &mut of_parties);
                (execution, of_parties)
            })
            .collect();
        let rows = words!(seeds.len(), W => corrections::<W>(backend, hashes, statement, &seeds))?;
        for (row, ((execution, seeds), said)) in seeds.iter().zip(self.said).enumerate() {
            let corrections = &rows.row(row)[..shape.gate_bytes()];
            let party = |party| hashes.party(*execution, party, &seeds[party], corrections);
            all[*execution] = [hashes.execution(*execution, &core::array::from_fn(party)), *said];
        }
        Ok(())
    }
}

/// The hashes of a group of executions in which a party stays hidden.
fn replayed(
    backend: Backend,
    statement: &Statement,
    hashes: &Hashes,
    group: &[Execution<'_>],
    all: &mut [[[u8; 32]; 2]],
) -> Result<()> {
    let shape = Shape::new(statement);
    let mut seeds: Seeded = Vec::with_capacity(GROUP);
    let [mut corrections, mut said, mut inputs] = [shape.ands, shape.ands, shape.secret].map(rows);
    let mut places = [0; GROUP];
    for (lane, opened) in group.iter().enumerate() {
        let (mut of_parties, hidden) = ([[0; SEED]; PARTIES], opened.hidden);
        let holes: [bool; PARTIES] = core::array::from_fn(|party| party == hidden);
        let node = Node { key: &hashes.tree, tree: Tree::Parties(opened.index) };
        node.rebuild(&holes, opened.path, &mut of_parties);
        seeds.push((opened.index, of_parties));
        corrections.set(row(lane, LAST), opened.corrections);
        said.set(row(lane, hidden), opened.said);
        inputs.set(row(lane, 0), opened.inputs);
        places[lane] = (1u64 << hidden).to_le();
    }
    let given = Given {
        tapes: tapes(backend, hashes, shape, &seeds, |lane| Some(group[lane].hidden)),
        corrections: corrections.to_words(backend),
        hidden: said.to_words(backend),
        inputs: inputs.to_words(backend),
        places,
    };
    let (gates, outputs): (Zeroizing<_>, _) = replay(backend, statement, given)?;
    let said = by_execution([&gates[..shape.ands], &outputs]);
    for ((opened, (_, seeds)), said) in group.iter().zip(&seeds).zip(&said) {
        let party = |party| match party == opened.hidden {
            true => *opened.commitment,
            false => hashes.party(opened.index, party, &seeds[party], opened.corrections),
        };
        let committed = hashes.execution(opened.index, &core::array::from_fn(party));
        let said = hashes.said(opened.index, opened.blinding, opened.inputs, said);
        all[opened.index] = [committed, said];
    }
    Ok(())
}
