//! The prover: executions in its head, and the answer to a challenge.

use comity_core::{Backend, Bits, Result};
use comity_protocol::{Conduct, Honest};
use zeroize::Zeroizing;

use super::hashes::Hashes;
use super::online::{Clear, Said, by_execution, packed};
use super::parameters::{HIDDEN_NONE, Parameters};
use super::tree::{Node, Tree};
use super::{GROUP, LAST, PARTIES, SEED, Shape};
use crate::draw::Draw;
use crate::statement::Statement;

/// A prover that has committed.
pub(crate) struct Committed<'a> {
    backend: Backend,
    statement: &'a Statement,
    parameters: Parameters,
    secret: Bits,
    clear: Clear,
    salt: [u8; 32],
    first: [u8; 32],
    pub(super) hashes: Hashes,
    root: Zeroizing<[u8; SEED]>,
    /// The roots of all executions.
    pub(super) roots: Zeroizing<Vec<[u8; SEED]>>,
    /// What blinds the hash of what was said.
    pub(super) blindings: Zeroizing<Vec<[u8; 32]>>,
    /// The hashes `h'_j` of what was said.
    pub(super) said: Vec<[u8; 32]>,
}

/// An act: a group of executions was run, and is about to be committed to and shown. An honest prover does not look at it.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(super) struct Played<'a> {
    /// The executions, a lane each.
    pub(super) executions: &'a [usize],
    /// What is said in them.
    pub(super) said: &'a mut Said,
}

/// Executions with the seeds of all their parties.
pub(super) type Seeded = Vec<(usize, [[u8; SEED]; PARTIES])>;

impl<'a> Committed<'a> {
    /// Runs and commits. `inputs` are all input values, of which the statement is true.
    pub(crate) fn new(
        backend: Backend,
        parameters: Parameters,
        statement: &'a Statement,
        inputs: &[Option<Bits>],
        draw: &mut Draw,
    ) -> Result<Committed<'a>> {
        Committed::with(backend, parameters, statement, inputs, draw, &mut Honest)
    }

    /// As [`Committed::new`], with a conduct.
    pub(super) fn with(
        backend: Backend,
        parameters: Parameters,
        statement: &'a Statement,
        inputs: &[Option<Bits>],
        draw: &mut Draw,
        conduct: &mut impl for<'b> Conduct<Played<'b>>,
    ) -> Result<Committed<'a>> {
        let salt = draw.salt();
        let (mut root, count) = (Zeroizing::new([0; SEED]), parameters.executions);
        draw.fill(&mut *root);
        let mut blindings = Zeroizing::new(vec![[0; 32]; count]);
        draw.fill(blindings.as_flattened_mut());
        let hashes = Hashes::new(count, statement.digest(), &salt);
        let mut roots = Zeroizing::new(vec![[0; SEED]; count]);
        Node { key: &hashes.tree, tree: Tree::Executions }.leaves(&root, &mut roots);
        let secret = statement.secret(inputs);
        let clear = Clear::new(backend, statement, &secret)?;
        let (first, said) = ([0; 32], Vec::with_capacity(count));
        let mut prover = Committed {
            backend,
            statement,
            parameters,
            secret,
            clear,
            salt,
            first,
            hashes,
            root,
            roots,
            blindings,
            said,
        };
        let mut all = Vec::with_capacity(count);
        let (shape, executions) = (Shape::new(statement), (0..count).collect::<Vec<_>>());
        let mut played = Said::new(shape);
        for group in executions.chunks(GROUP) {
            let seeds = prover.group(group, &mut played, conduct)?;
            let words = by_execution([&played.gates[..shape.ands], &played.outputs]);
            for (lane, (execution, seeds)) in seeds.iter().enumerate() {
                let corrections = packed(&played.corrections, lane, LAST, shape.ands);
                let party = |party| prover.hashes.party(*execution, party, &seeds[party], &corrections);
                let committed = prover.hashes.execution(*execution, &core::array::from_fn(party));
                let inputs = packed(&played.inputs, lane, 0, shape.secret);
                let said = prover.hashes.said(*execution, &prover.blindings[*execution], &inputs, &words[lane]);
                prover.said.push(said);
                all.push([committed, said]);
            }
        }
        prover.first = prover.hashes.first(&all);
        Ok(prover)
    }

    /// Runs the executions of a group; their seeds come back.
    fn group(
        &self,
        executions: &[usize],
        said: &mut Said,
        conduct: &mut impl for<'b> Conduct<Played<'b>>,
    ) -> Result<Zeroizing<Seeded>> {
        let mut seeds = Zeroizing::new(Vec::with_capacity(GROUP));
        for &execution in executions {
            let mut of_parties = [[0; SEED]; PARTIES];
            let node = Node { key: &self.hashes.tree, tree: Tree::Parties(execution) };
            node.leaves(&self.roots[execution], &mut of_parties);
            seeds.push((execution, of_parties));
        }
        said.play(self.backend, &self.hashes, self.statement, (&self.secret, &self.clear), &seeds)?;
        conduct.before(Played { executions, said });
        Ok(seeds)
    }

    /// The salt.
    pub(crate) fn salt(&self) -> &[u8; 32] {
        &self.salt
    }

    /// The hash of the first message.
    pub(crate) fn first(&self) -> &[u8; 32] {
        &self.first
    }

    /// Shows the roots of all executions that the challenge does not open, and of the others all parties but the hidden one.
    ///
    /// # Errors
    /// None that the first run has not met.
    pub(crate) fn answer(self, challenge: &[u8]) -> Result<Vec<u8>> {
        self.answer_with(challenge, &mut Honest)
    }

    /// As [`Committed::answer`], with a conduct.
    pub(super) fn answer_with(
        self,
        challenge: &[u8],
        conduct: &mut impl for<'b> Conduct<Played<'b>>,
    ) -> Result<Vec<u8>> {
        let shape = Shape::new(self.statement);
        let mut answer = Vec::with_capacity(super::answer_bytes(self.statement, challenge));
        let holes: Vec<bool> = challenge.iter().map(|hidden| *hidden != HIDDEN_NONE).collect();
        Node { key: &self.hashes.tree, tree: Tree::Executions }.open(&self.root, &holes, &mut answer);
        let closed = self.said.iter().zip(&holes).filter(|(_, hole)| !**hole);
        closed.for_each(|(said, _)| answer.extend(said));
        let opened: Vec<usize> = (0..self.parameters.executions).filter(|execution| holes[*execution]).collect();
        let mut played = Said::new(shape);
        for group in opened.chunks(GROUP) {
            let seeds = self.group(group, &mut played, conduct)?;
            for (lane, (execution, seeds)) in seeds.iter().enumerate() {
                let hidden = usize::from(challenge[*execution]);
                let holes: [bool; PARTIES] = core::array::from_fn(|party| party == hidden);
                let node = Node { key: &self.hashes.tree, tree: Tree::Parties(*execution) };
                node.open(&self.roots[*execution], &holes, &mut answer);
                let corrections = packed(&played.corrections, lane, LAST, shape.ands);
                answer.extend(self.hashes.party(*execution, hidden, &seeds[hidden], &corrections));
                answer.extend(self.blindings[*execution]);
                answer.extend(packed(&played.inputs, lane, 0, shape.secret));
                if hidden != LAST {
                    answer.extend(corrections);
                }
                answer.extend(packed(&played.gates, lane, hidden, shape.ands));
            }
        }
        Ok(answer)
    }
}
