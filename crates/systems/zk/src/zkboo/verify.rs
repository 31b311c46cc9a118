//! The verifier of figure 3.5.

use comity_circuit::run;
use comity_core::{Backend, Error, Result};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::commitments::{BRANCHES, COMMITMENT, Hashes, SEED, place};
use super::decomposition::phi;
use super::{Shape, words};
use crate::bound::Bound;
use crate::checks;
use crate::gates::{Branches, Head, Nobody};
use crate::sliced::{Rows, Shares, Word, all, and, padded};
use crate::statement::Statement;
use crate::system::System;

/// The opened values of a round, as they stand in an answer.
struct Round<'a> {
    e: usize,
    seeds: [&'a [u8; SEED]; 2],
    hidden: &'a [u8; COMMITMENT],
    /// The input share of the last branch, if that is opened.
    share: &'a [u8],
    /// View `e`, in ZKBoo.
    view: Option<&'a [u8]>,
    /// View `e + 1`.
    next: &'a [u8],
}

/// Checks an answer to a challenge: the hash of the first message must be that of the opened values, together
/// with output shares that add up to the expected outputs.
///
/// Step 1 is not a comparison: the share of the hidden branch is *computed*, as what is missing of the
/// expected outputs. Step 2 likewise: the shares of the opened branches are those that their views give. So
/// no share is taken from the prover, and the hash decides on all of them. Step 3 needs the view of branch
/// `e` only: values of `e + 1` are what the functions of `e` read.
///
/// # Errors
/// [`Malformed`](comity_core::Kind) if the answer has another length, or ones where a row is padded;
/// [`WRONG_VIEW`](checks::WRONG_VIEW), [`WRONG_OPENING`](checks::WRONG_OPENING).
pub(crate) fn check(
    backend: Backend,
    system: System,
    bound: &Bound<'_>,
    salt: &[u8; 32],
    first: &[u8; 32],
    trits: &[u8],
    answer: &[u8],
) -> Result<()> {
    let opened = Opened::read(system, Shape::new(bound.statement, trits.len()), trits, answer)?;
    let hashes = Hashes::new(system, trits.len(), bound.binding(), salt);
    let found = words!(trits.len(), W => opened.first::<W>(backend, &hashes, bound.statement))?;
    if bool::from(found.ct_eq(first)) { Ok(()) } else { Err(checks::WRONG_OPENING.into()) }
}

/// The openings of all rounds.
struct Opened<'a> {
    shape: Shape,
    rounds: Vec<Round<'a>>,
}

impl<'a> Opened<'a> {
    fn read(system: System, shape: Shape, trits: &[u8], answer: &'a [u8]) -> Result<Opened<'a>> {
        let (wanted, there) = (shape.answer_bytes(system, trits), answer.len());
        if there != wanted {
            return Err(Error::malformed(format!("a proof with an answer of {there} bytes; {wanted} are wanted")));
        }
        let mut rest = answer;
        let mut take = |bytes: usize| rest.split_off(..bytes).expect("the length was checked");
        let mut rounds = Vec::with_capacity(trits.len());
        for &trit in trits {
            let e = usize::from(trit);
            let seeds = [(); 2].map(|()| take(SEED).try_into().expect("a seed"));
            let hidden = take(COMMITMENT).try_into().expect("a commitment");
            let share = take(if e == 0 { 0 } else { shape.share_bytes() });
            let view = (system == System::ZkBoo).then(|| take(shape.view_bytes()));
            let next = take(shape.view_bytes());
            let rows = [(share, shape.secret), (view.unwrap_or_default(), shape.ands), (next, shape.ands)];
            if rows.iter().any(|(row, bits)| row.last().is_some_and(|last| bits % 8 != 0 && last >> (bits % 8) != 0)) {
                return Err(Error::malformed("a proof with bits beyond the end of a row"));
            }
            rounds.push(Round { e, seeds, hidden, share, view, next });
        }
        Ok(Opened { shape, rounds })
    }

    /// The hash of the first message that these openings come from.
    fn first<const W: usize>(&self, backend: Backend, hashes: &Hashes, statement: &Statement) -> Result<[u8; 32]> {
        let shape = &self.shape;
        // The tapes of branches e and e + 1; where one of these is the last one, its input share is in the
        // tape's place.
        let tapes = [0, 1].map(|which| {
            let mut rows = Rows::zeros(64 * W, shape.columns());
            let branch = |opened: &Round<'_>| (opened.e + which) % BRANCHES;
            let rounds = self.rounds.iter().enumerate();
            let seeds = rounds.clone().map(|(round, opened)| (place(round, branch(opened)), opened.seeds[which]));
            for ((round, opened), tape) in rounds.zip(hashes.tape().tapes(backend, seeds)) {
                tape.fill(0, rows.row_mut(round));
                if branch(opened) == BRANCHES - 1 {
                    rows.set(round, opened.share);
                }
            }
            rows.to_words::<W>(backend)
        });
        let mut given = Rows::zeros(64 * W, shape.ands);
        let mut is_first = [[0; W]; 2];
        for (round, opened) in self.rounds.iter().enumerate() {
            given.set(round, opened.next);
            for (which, mask) in is_first.iter_mut().enumerate() {
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(mask);
                bytes[round / 8] |= u8::from((opened.e + which) % BRANCHES == 0) << (round % 8);
            }
        }
        let pair = Pair {
            tapes,
            given: given.to_words::<W>(backend),
            computed: Zeroizing::new(vec![[0; W]; padded(shape.ands)]),
            is_first,
            inputs: 0,
            ands: 0,
            gates_from: padded(shape.secret),
        };
        let mut engine = Head::new(backend, pair, statement.public());
        run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
        let (pair, outputs) = engine.finish();
        let computed = Rows::of_words(backend, &pair.computed);
        let outputs = [0, 1].map(|which| {
            let mut of_branch = vec![[0; W]; padded(shape.outputs)];
            of_branch.iter_mut().zip(&*outputs).for_each(|(to, from)| *to = from.0[which]);
            Rows::of_words(backend, &of_branch)
        });
        let expected = statement.outputs().to_bytes();
        let mut first = hashes.first();
        for (round, opened) in self.rounds.iter().enumerate() {
            let view = &computed.row(round)[..shape.view_bytes()];
            if opened.view.is_some_and(|given| given != view) {
                return Err(checks::WRONG_VIEW.into());
            }
            let e = opened.e;
            let branches = [e, (e + 1) % BRANCHES, (e + 2) % BRANCHES];
            let mut commitments = [*opened.hidden; BRANCHES];
            for ((&branch, seed), view) in branches.iter().zip(opened.seeds).zip([view, opened.next]) {
                commitments[branch] = hashes.view(round, branch, seed, opened.share, view);
            }
            let shown = [0, 1].map(|which| &outputs[which].row(round)[..shape.output_bytes()]);
            let missing: Vec<u8> = expected.iter().zip(shown[0]).zip(shown[1]).map(|((y, a), b)| y ^ a ^ b).collect();
            let mut shares = [&missing[..]; BRANCHES];
            branches.iter().zip(shown).for_each(|(&branch, share)| shares[branch] = share);
            first.add(&commitments, shares);
        }
        Ok(first.digest())
    }
}

/// The two branches that are opened, `e` and `e + 1`, each round with its own `e`.
struct Pair<const W: usize> {
    /// The tapes: columns for secret input bits, which hold the input shares, then, in new tiles, for AND gates.
    tapes: [Zeroizing<Vec<Word<W>>>; 2],
    /// View `e + 1`, as it was opened.
    given: Zeroizing<Vec<Word<W>>>,
    /// View `e`, as it is computed.
    computed: Zeroizing<Vec<Word<W>>>,
    /// The rounds in which the one, or the other, is the first branch, which holds constants and public values.
    is_first: [Word<W>; 2],
    inputs: usize,
    ands: usize,
    gates_from: usize,
}

impl<const W: usize> Branches<W, 2> for Pair<W> {
    fn secret(&mut self) -> Shares<W, 2> {
        let at = self.inputs;
        self.inputs += 1;
        Shares([self.tapes[0][at], self.tapes[1][at]])
    }

    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<W, 2> {
        Shares(self.is_first.map(|mask| and(mask, all(bit))))
    }

    #[inline(always)]
    fn and(&mut self, a: Shares<W, 2>, b: Shares<W, 2>) -> Shares<W, 2> {
        let at = self.ands;
        self.ands += 1;
        let tapes = [0, 1].map(|i| self.tapes[i][self.gates_from + at]);
        self.computed[at] = phi(a.0, b.0, tapes);
        Shares([self.computed[at], self.given[at]])
    }
}
