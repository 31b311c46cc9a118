//! The prover of figure 3.5: Commit, and the answer of Prove.

use comity_circuit::run;
use comity_core::{Backend, Bits, Result};
use zeroize::Zeroizing;

use super::commitments::{BRANCHES, COMMITMENT, Hashes, SEED, place};
use super::decomposition::phi;
use super::{Shape, words};
use crate::bound::Bound;
use crate::draw::Draw;
use crate::gates::{Branches, Head, Nobody};
use crate::sliced::{Rows, Shares, Word, all, padded, xor};
use crate::system::System;

/// A prover that has committed.
pub(crate) struct Committed {
    system: System,
    shape: Shape,
    salt: [u8; 32],
    first: [u8; 32],
    pub(super) seeds: Zeroizing<Vec<[[u8; SEED]; BRANCHES]>>,
    commitments: Vec<[[u8; COMMITMENT]; BRANCHES]>,
    /// The input shares of the last branch, which do not come from its seed.
    pub(super) shares: Rows,
    /// The outputs of each branch's AND gates.
    pub(super) views: [Rows; BRANCHES],
}

impl Committed {
    /// Steps 1 to 4 of Commit, in all rounds. `inputs` are all input values; they must make the statement
    /// true.
    pub(crate) fn new(
        backend: Backend,
        system: System,
        rounds: usize,
        bound: &Bound<'_>,
        inputs: &[Option<Bits>],
        draw: &mut Draw,
    ) -> Result<Committed> {
        words!(rounds, W => Committed::sliced::<W>(backend, system, rounds, bound, inputs, draw))
    }

    fn sliced<const W: usize>(
        backend: Backend,
        system: System,
        rounds: usize,
        bound: &Bound<'_>,
        inputs: &[Option<Bits>],
        draw: &mut Draw,
    ) -> Result<Committed> {
        let statement = bound.statement;
        let shape = Shape::new(statement, rounds);
        let salt = draw.salt();
        let hashes = Hashes::new(system, rounds, bound.binding(), &salt);
        // Step 1: the tapes k_1, k_2, k_3.
        let mut seeds = Zeroizing::new(vec![[[0; SEED]; BRANCHES]; rounds]);
        draw.fill(seeds.as_flattened_mut().as_flattened_mut());
        let tapes = [0, 1, 2].map(|branch| {
            let mut rows = Rows::zeros(64 * W, shape.columns());
            let seeds = seeds.iter().enumerate().map(|(round, seeds)| (place(round, branch), &seeds[branch]));
            for (round, tape) in hashes.tape().tapes(backend, seeds).enumerate() {
                tape.fill(0, rows.row_mut(round));
            }
            rows.to_words::<W>(backend)
        });
        // Step 2: the protocol in the head, on all rounds at once.
        let views = [(); BRANCHES].map(|()| Zeroizing::new(vec![[0; W]; padded(shape.ands)]));
        let shares = Zeroizing::new(vec![[0; W]; padded(shape.secret)]);
        let secret = statement.secret(inputs);
        let head = Three { tapes, views, shares, secret, inputs: 0, ands: 0, gates_from: padded(shape.secret) };
        let mut engine = Head::new(backend, head, statement.public());
        run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
        let (head, outputs) = engine.finish();
        let views = head.views.map(|view| Rows::of_words(backend, &view));
        let shares = Rows::of_words(backend, &head.shares);
        let outputs = [0, 1, 2].map(|branch| {
            let mut of_branch = Zeroizing::new(vec![[0; W]; padded(shape.outputs)]);
            of_branch.iter_mut().zip(&*outputs).for_each(|(to, from)| *to = from.0[branch]);
            Rows::of_words(backend, &of_branch)
        });
        // Steps 3 and 4: commitments, and the hash of all that goes out.
        let mut first = hashes.first();
        let mut commitments = Vec::with_capacity(rounds);
        for (round, seeds) in seeds.iter().enumerate() {
            let share = &shares.row(round)[..shape.share_bytes()];
            let commit = |branch: usize| {
                let view = &views[branch].row(round)[..shape.view_bytes()];
                hashes.view(round, branch, &seeds[branch], share, view)
            };
            let of_round = [0, 1, 2].map(commit);
            first.add(&of_round, [0, 1, 2].map(|branch| &outputs[branch].row(round)[..shape.output_bytes()]));
            commitments.push(of_round);
        }
        let first = first.digest();
        Ok(Committed { system, shape, salt, first, seeds, commitments, shares, views })
    }

    /// The salt.
    pub(crate) fn salt(&self) -> &[u8; 32] {
        &self.salt
    }

    /// The hash of the first message.
    pub(crate) fn first(&self) -> &[u8; 32] {
        &self.first
    }

    /// Opens branches `e` and `e + 1` of each round, where `e` is the round's trit of the challenge.
    pub(crate) fn answer(self, trits: &[u8]) -> Vec<u8> {
        let shape = &self.shape;
        let mut answer = Vec::with_capacity(shape.answer_bytes(self.system, trits));
        for (round, &trit) in trits.iter().enumerate() {
            let e = usize::from(trit);
            let (next, hidden) = ((e + 1) % BRANCHES, (e + 2) % BRANCHES);
            answer.extend(self.seeds[round][e]);
            answer.extend(self.seeds[round][next]);
            answer.extend(self.commitments[round][hidden]);
            if hidden != BRANCHES - 1 {
                answer.extend(&self.shares.row(round)[..shape.share_bytes()]);
            }
            if self.system == System::ZkBoo {
                answer.extend(&self.views[e].row(round)[..shape.view_bytes()]);
            }
            answer.extend(&self.views[next].row(round)[..shape.view_bytes()]);
        }
        answer
    }
}

/// The three branches in the prover's head.
struct Three<const W: usize> {
    /// The tapes: columns for secret input bits, then, in new tiles, for AND gates.
    tapes: [Zeroizing<Vec<Word<W>>>; BRANCHES],
    views: [Zeroizing<Vec<Word<W>>>; BRANCHES],
    /// The input shares of the last branch.
    shares: Zeroizing<Vec<Word<W>>>,
    secret: Bits,
    /// The secret input bits and the AND gates that were taken.
    inputs: usize,
    ands: usize,
    /// The first column of the tapes for AND gates.
    gates_from: usize,
}

impl<const W: usize> Branches<W, BRANCHES> for Three<W> {
    fn secret(&mut self) -> Shares<W, BRANCHES> {
        let at = self.inputs;
        self.inputs += 1;
        let (one, two) = (self.tapes[0][at], self.tapes[1][at]);
        self.shares[at] = xor(all(self.secret.get(at)), xor(one, two));
        Shares([one, two, self.shares[at]])
    }

    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<W, BRANCHES> {
        Shares([all(bit), all(false), all(false)])
    }

    #[inline(always)]
    fn and(&mut self, Shares(a): Shares<W, BRANCHES>, Shares(b): Shares<W, BRANCHES>) -> Shares<W, BRANCHES> {
        let at = self.ands;
        self.ands += 1;
        let tapes: [Word<W>; BRANCHES] = core::array::from_fn(|i| self.tapes[i][self.gates_from + at]);
        let shares: [Word<W>; BRANCHES] = core::array::from_fn(|i| {
            let next = (i + 1) % BRANCHES;
            phi([a[i], a[next]], [b[i], b[next]], [tapes[i], tapes[next]])
        });
        self.views.iter_mut().zip(shares).for_each(|(view, share)| view[at] = share);
        Shares(shares)
    }
}
