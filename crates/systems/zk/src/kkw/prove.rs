//! The prover: executions in its head, and the answer to a challenge.

use comity_core::{Backend, Bits, Result};
use comity_protocol::{Conduct, Honest};
use zeroize::Zeroizing;

use super::columns::{Columns, Packed};
use super::hashes::{EXECUTIONS, Execution, Hashes};
use super::heard::Heard;
use super::online::{Play, Played};
use super::parameters::{HIDDEN_NONE, Parameters};
use super::strips::{Parties, Strip, Tapes};
use super::{GROUP, LAST, PARTIES, Shape};
use crate::bound::Bound;
use crate::draw::Draw;
use crate::tree::{Grown, SEED};

/// A prover that has committed.
pub(crate) struct Committed<'a> {
    backend: Backend,
    shape: Shape,
    play: Play<'a>,
    salt: [u8; 32],
    first: [u8; 32],
    pub(super) hashes: Hashes,
    /// The roots of all executions.
    pub(super) roots: Grown,
    /// The blindings of the hashes `h'_j`.
    pub(super) blindings: Zeroizing<Vec<[u8; 32]>>,
    /// The hashes `h'_j` of what the parties said.
    pub(super) said: Vec<[u8; 32]>,
}

/// A group of executions that is about to be run.
struct Group {
    executions: Vec<Execution>,
    tapes: Tapes,
    /// The masked values of secret inputs.
    inputs: Packed,
}

impl<'a> Committed<'a> {
    /// Runs and commits. `inputs` are all input values; they must make the statement true.
    pub(crate) fn new(
        backend: Backend,
        parameters: Parameters,
        bound: &Bound<'a>,
        inputs: &[Option<Bits>],
        draw: &mut Draw,
    ) -> Result<Committed<'a>> {
        Committed::with(backend, parameters, bound, inputs, draw, &mut Honest)
    }

    /// As [`Committed::new`], with a conduct.
    pub(super) fn with(
        backend: Backend,
        parameters: Parameters,
        bound: &Bound<'a>,
        inputs: &[Option<Bits>],
        draw: &mut Draw,
        conduct: &mut dyn for<'b> Conduct<Played<'b>>,
    ) -> Result<Committed<'a>> {
        let (statement, salt) = (bound.statement, draw.salt());
        let (mut root, count) = (Zeroizing::new([0; SEED]), parameters.executions);
        draw.fill(&mut *root);
        let mut blindings = Zeroizing::new(vec![[0; 32]; count]);
        draw.fill(blindings.as_flattened_mut());
        let hashes = Hashes::new(count, bound.binding(), &salt);
        let roots = hashes.trees.grow(EXECUTIONS, &root, count);
        let play = Play::new(backend, statement, statement.secret(inputs))?;
        let shape = Shape::new(statement);
        let (first, said) = ([0; 32], Vec::with_capacity(count));
        let mut prover = Committed { backend, shape, play, salt, first, hashes, roots, blindings, said };
        let (mut strip, mut corrections) = (Strip::new(backend, shape), Columns::zeros(shape.ands));
        let mut heard = Heard::new(backend);
        let mut all = Vec::with_capacity(count);
        for numbers in (0..count).collect::<Vec<_>>().chunks(GROUP) {
            let group = prover.group(numbers);
            for (lane, (said, &number)) in heard.executions.iter_mut().zip(numbers).enumerate() {
                prover.hashes.said(
                    number,
                    &prover.blindings[number],
                    &group.inputs.row(lane)[..shape.input_bytes()],
                    said,
                );
            }
            let mut tell = |said: &[Parties]| heard.hear(said);
            let outputs =
                prover.play.group(numbers, &group.tapes, (&mut strip, &mut corrections), &mut tell, conduct)?;
            heard.hear(&outputs);
            let corrections = corrections.to_rows(backend);
            for (lane, (said, execution)) in heard.executions.iter_mut().zip(&group.executions).enumerate() {
                let parties = prover.hashes.parties(execution, &corrections.row(lane)[..shape.gate_bytes()]);
                let committed = prover.hashes.execution(execution.number, &parties);
                prover.said.push(said.finish());
                all.push([committed, prover.said[execution.number]]);
            }
        }
        prover.first = prover.hashes.first(&all);
        Ok(prover)
    }

    /// Prepares a group of executions.
    fn group(&self, numbers: &[usize]) -> Group {
        let grow = |&number: &usize| self.hashes.grow(number, &self.roots.leaves()[number]);
        let executions: Vec<Execution> = numbers.iter().map(grow).collect();
        let tapes = Tapes::new(self.backend, &self.hashes, self.shape, &executions, |_| None);
        let inputs = self.play.inputs(&tapes).to_rows(self.backend);
        Group { executions, tapes, inputs }
    }

    /// The salt.
    pub(crate) fn salt(&self) -> &[u8; 32] {
        &self.salt
    }

    /// The hash of the first message.
    pub(crate) fn first(&self) -> &[u8; 32] {
        &self.first
    }

    /// Shows the roots of all executions that the challenge does not open, and of the others all parties but
    /// the hidden one.
    ///
    /// # Errors
    /// None beyond those that the first run would have met.
    pub(crate) fn answer(self, challenge: &[u8]) -> Result<Vec<u8>> {
        self.answer_with(challenge, &mut Honest)
    }

    /// As [`Committed::answer`], with a conduct.
    pub(super) fn answer_with(
        self,
        challenge: &[u8],
        conduct: &mut dyn for<'b> Conduct<Played<'b>>,
    ) -> Result<Vec<u8>> {
        let (backend, shape) = (self.backend, self.shape);
        let mut answer = Vec::new();
        let holes: Vec<bool> = challenge.iter().map(|hidden| *hidden != HIDDEN_NONE).collect();
        self.roots.open(&holes, &mut answer);
        let closed = self.said.iter().zip(&holes).filter(|(_, hole)| !**hole);
        closed.for_each(|(said, _)| answer.extend(said));
        let opened: Vec<usize> = (0..challenge.len()).filter(|execution| holes[*execution]).collect();
        let (mut strip, mut corrections) = (Strip::new(backend, shape), Columns::zeros(shape.ands));
        for numbers in opened.chunks(GROUP) {
            let group = self.group(numbers);
            let mut said = Columns::zeros(0);
            let places: Vec<u8> = numbers.iter().map(|number| challenge[*number]).collect();
            let mut tell = |words: &[Parties]| said.0.extend(words.iter().map(|word| of_parties(word, &places)));
            self.play.group(numbers, &group.tapes, (&mut strip, &mut corrections), &mut tell, conduct)?;
            said.0.resize(corrections.0.len(), 0);
            let [said, corrections] = [&said, &corrections].map(|columns| columns.to_rows(backend));
            for (lane, (execution, hidden)) in group.executions.iter().zip(places).enumerate() {
                let hidden = usize::from(hidden);
                let [said, corrections] = [&said, &corrections].map(|rows| &rows.row(lane)[..shape.gate_bytes()]);
                let holes: [bool; PARTIES] = core::array::from_fn(|party| party == hidden);
                execution.tree.open(&holes, &mut answer);
                answer.extend(self.hashes.parties(execution, corrections)[hidden]);
                answer.extend(self.blindings[execution.number]);
                answer.extend(&group.inputs.row(lane)[..shape.input_bytes()]);
                if hidden != LAST {
                    answer.extend(corrections);
                }
                answer.extend(said);
            }
        }
        Ok(answer)
    }
}

/// A party's bit of a word for each execution, in a column.
fn of_parties(word: &Parties, parties: &[u8]) -> u8 {
    let bit = |(lane, party): (usize, &u8)| (u64::from_le(word[lane]) >> party & 1) << lane;
    parties.iter().enumerate().map(bit).sum::<u64>() as u8
}
