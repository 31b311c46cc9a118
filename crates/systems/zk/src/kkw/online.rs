//! Executions, eight at a time: a word has a bit for each of an execution's 64 parties, and a lane for each execution.

use comity_circuit::run;
use comity_core::{Backend, Bits, Result};
use zeroize::Zeroizing;

use super::hashes::{Hashes, place};
use super::{GROUP, LAST, PARTIES, SEED, Shape};
use crate::gates::{Branches, Head, Nobody};
use crate::sliced::{Rows, Shares, Word, all, and, padded, xor};
use crate::statement::Statement;

/// A word of a group.
pub(super) type Parties = Word<GROUP>;

/// The word in which, for each execution, all bits are the sum of its parties' bits.
#[inline(always)]
fn sum(word: Parties) -> Parties {
    word.map(|bits| u64::from(bits.count_ones() & 1).wrapping_neg())
}

/// The word in which, for each execution, all bits are that of party 0.
#[inline(always)]
fn spread(word: Parties) -> Parties {
    word.map(|bits| (u64::from_le(bits) & 1).wrapping_neg())
}

/// The rows of a group: a row for each party of each execution.
pub(super) fn rows(columns: usize) -> Rows {
    Rows::zeros(GROUP * PARTIES, columns)
}

/// The row of a party of an execution of the group.
pub(super) fn row(lane: usize, party: usize) -> usize {
    PARTIES * lane + party
}

/// What all parties say in each execution of a group: a word of it for each of the words. Each line of memory is read once for all
/// executions.
pub(super) fn by_execution(said: [&[Parties]; 2]) -> [Vec<u8>; GROUP] {
    let mut executions = core::array::from_fn(|_| Vec::with_capacity(8 * (said[0].len() + said[1].len())));
    for words in said {
        let (eights, rest) = words.as_chunks::<8>();
        for eight in eights {
            for (lane, bytes) in executions.iter_mut().enumerate() {
                bytes.extend_from_slice(eight.map(|word| word[lane].to_ne_bytes()).as_flattened());
            }
        }
        for word in rest {
            executions.iter_mut().zip(word).for_each(|(bytes, word)| bytes.extend(word.to_ne_bytes()));
        }
    }
    executions
}

/// A party's bits in an execution, packed: one bit of each of `bits` words.
pub(super) fn packed(words: &[Parties], lane: usize, party: usize, bits: usize) -> Vec<u8> {
    let bit = |word: &Parties| (u64::from_le(word[lane]) >> party & 1) as u8;
    words[..bits].chunks(8).map(|eight| eight.iter().rev().fold(0, |byte, word| byte << 1 | bit(word))).collect()
}

/// The tapes of a group. A party without a seed has zeros.
pub(super) fn tapes(
    backend: Backend,
    hashes: &Hashes,
    shape: Shape,
    executions: &[(usize, [[u8; SEED]; PARTIES])],
    hidden: impl Fn(usize) -> Option<usize>,
) -> Zeroizing<Vec<Parties>> {
    let mut rows = rows(shape.columns());
    fill(backend, hashes, &mut rows, executions, hidden);
    rows.to_words::<GROUP>(backend)
}

/// Fills the rows of these executions, but for those of hidden parties.
fn fill(
    backend: Backend,
    hashes: &Hashes,
    rows: &mut Rows,
    executions: &[(usize, [[u8; SEED]; PARTIES])],
    hidden: impl Fn(usize) -> Option<usize>,
) {
    for (lane, (execution, seeds)) in executions.iter().enumerate() {
        for (party, seed) in seeds.iter().enumerate().filter(|(party, _)| hidden(lane) != Some(*party)) {
            hashes.tape.fill(backend, place(*execution, party), seed, rows.row_mut(row(lane, party)));
        }
    }
}

/// What was said in a group of executions, and what nobody says: words for secret inputs, AND gates and outputs. The next group is
/// written over it.
pub(super) struct Said {
    /// The tapes, as rows and as words.
    rows: Rows,
    tapes: Zeroizing<Vec<Parties>>,
    /// The masked values of secret inputs.
    pub(super) inputs: Zeroizing<Vec<Parties>>,
    /// What the parties say at each AND gate.
    pub(super) gates: Zeroizing<Vec<Parties>>,
    /// The parties' shares of the masks of the outputs.
    pub(super) outputs: Vec<Parties>,
    /// The corrections, in the last party's place.
    pub(super) corrections: Zeroizing<Vec<Parties>>,
}

impl Said {
    /// Room for the executions of a group.
    pub(super) fn new(shape: Shape) -> Said {
        let words = |count: usize| Zeroizing::new(vec![[0; GROUP]; count]);
        let [gates, corrections] = [(); 2].map(|()| words(padded(shape.ands)));
        let (tapes, inputs) = (words(padded(shape.columns())), words(padded(shape.secret)));
        Said { rows: rows(shape.columns()), tapes, inputs, gates, outputs: Vec::new(), corrections }
    }

    /// The prover's executions with these seeds: all parties, on the values of the witness.
    pub(super) fn play(
        &mut self,
        backend: Backend,
        hashes: &Hashes,
        statement: &Statement,
        (secret, clear): (&Bits, &Clear),
        executions: &[(usize, [[u8; SEED]; PARTIES])],
    ) -> Result<()> {
        fill(backend, hashes, &mut self.rows, executions, |_| None);
        self.rows.write_words(backend, &mut self.tapes);
        let whole = Whole { said: self, clear, secret, shape: Shape::new(statement), inputs: 0, ands: 0 };
        let mut engine = Head::new(backend, whole, statement.public());
        run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
        let (whole, outputs) = engine.finish();
        whole.said.outputs = outputs.iter().map(|Shares([masks])| *masks).collect();
        Ok(())
    }
}

/// A wire is the parties' shares of its mask. What the wire is, is the same in all executions: it is looked up.
struct Whole<'a> {
    said: &'a mut Said,
    clear: &'a Clear,
    secret: &'a Bits,
    shape: Shape,
    inputs: usize,
    ands: usize,
}

/// The place of the last party.
const OF_LAST: Parties = [(1u64 << LAST).to_le(); GROUP];

impl Branches<GROUP, 1> for Whole<'_> {
    fn secret(&mut self) -> Shares<GROUP, 1> {
        let at = self.inputs;
        self.inputs += 1;
        let mask = self.said.tapes[at];
        self.said.inputs[at] = xor(all(self.secret.get(at)), sum(mask));
        Shares([mask])
    }

    /// What is public has no mask.
    #[inline(always)]
    fn public(&self, _: bool) -> Shares<GROUP, 1> {
        Shares([all(false)])
    }

    #[inline(always)]
    fn and(&mut self, Shares([a]): Shares<GROUP, 1>, Shares([b]): Shares<GROUP, 1>) -> Shares<GROUP, 1> {
        let at = self.ands;
        self.ands += 1;
        let tapes = &self.said.tapes;
        let (mask, product) = (tapes[self.shape.masks() + at], tapes[self.shape.products() + at]);
        let (mask_a, mask_b) = (sum(a), sum(b));
        let correction = and(xor(and(mask_a, mask_b), sum(product)), OF_LAST);
        self.said.corrections[at] = correction;
        let [clear_a, clear_b] = self.clear.ands[at].map(all);
        let cross = xor(and(xor(clear_a, mask_a), b), and(xor(clear_b, mask_b), a));
        self.said.gates[at] = xor(cross, xor(xor(product, correction), mask));
        Shares([mask])
    }
}

/// The values of all AND gates' inputs, which are those of every execution.
pub(super) struct Clear {
    ands: Zeroizing<Vec<[bool; 2]>>,
}

impl Clear {
    /// Runs the program on the values of the witness.
    pub(super) fn new(backend: Backend, statement: &Statement, secret: &Bits) -> Result<Clear> {
        let room = Zeroizing::new(Vec::with_capacity(Shape::new(statement).ands));
        let mut engine = Head::new(backend, Values { secret, inputs: 0, ands: room }, statement.public());
        run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
        Ok(Clear { ands: engine.finish().0.ands })
    }
}

/// A wire is its value.
struct Values<'a> {
    secret: &'a Bits,
    inputs: usize,
    ands: Zeroizing<Vec<[bool; 2]>>,
}

impl Branches<1, 1> for Values<'_> {
    fn secret(&mut self) -> Shares<1, 1> {
        self.inputs += 1;
        Shares([all(self.secret.get(self.inputs - 1))])
    }

    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<1, 1> {
        Shares([all(bit)])
    }

    #[inline(always)]
    fn and(&mut self, Shares([a]): Shares<1, 1>, Shares([b]): Shares<1, 1>) -> Shares<1, 1> {
        self.ands.push([a, b].map(|[value]| value & 1 == 1));
        Shares([and(a, b)])
    }
}

/// What the verifier has of a group: the tapes of all parties but one of each execution, the corrections where the last party is opened, what
/// the hidden parties said, and the masked inputs, in the place of party 0.
pub(super) struct Given {
    pub(super) tapes: Zeroizing<Vec<Parties>>,
    pub(super) corrections: Zeroizing<Vec<Parties>>,
    pub(super) hidden: Zeroizing<Vec<Parties>>,
    pub(super) inputs: Zeroizing<Vec<Parties>>,
    /// The place of the hidden party of each execution.
    pub(super) places: Parties,
}

/// The verifier's executions: what all parties said, where the hidden one's share of an output is what is missing of the expected one.
pub(super) fn replay(
    backend: Backend,
    statement: &Statement,
    given: Given,
) -> Result<(Zeroizing<Vec<Parties>>, Vec<Parties>)> {
    let shape = Shape::new(statement);
    let places = given.places;
    let watched =
        Watched { given, shape, said: Zeroizing::new(vec![[0; GROUP]; padded(shape.ands)]), inputs: 0, ands: 0 };
    let mut engine = Head::new(backend, watched, statement.public());
    run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
    let (watched, outputs) = engine.finish();
    let missing = |(Shares([masks, masked]), expected): (&Shares<GROUP, 2>, bool)| {
        let hidden = xor(xor(all(expected), *masked), sum(*masks));
        xor(*masks, and(hidden, places))
    };
    let outputs = outputs.iter().zip(statement.outputs().iter()).map(missing).collect();
    Ok((watched.said, outputs))
}

/// A wire is the shares of its mask, the hidden party's being zero, and the masked value in all bits of a lane.
struct Watched {
    given: Given,
    shape: Shape,
    said: Zeroizing<Vec<Parties>>,
    inputs: usize,
    ands: usize,
}

impl Branches<GROUP, 2> for Watched {
    fn secret(&mut self) -> Shares<GROUP, 2> {
        let at = self.inputs;
        self.inputs += 1;
        Shares([self.given.tapes[at], spread(self.given.inputs[at])])
    }

    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<GROUP, 2> {
        Shares([all(false), all(bit)])
    }

    #[inline(always)]
    fn and(&mut self, Shares(a): Shares<GROUP, 2>, Shares(b): Shares<GROUP, 2>) -> Shares<GROUP, 2> {
        let at = self.ands;
        self.ands += 1;
        let given = &self.given;
        let (mask, product) = (given.tapes[self.shape.masks() + at], given.tapes[self.shape.products() + at]);
        let cross = xor(and(a[1], b[0]), and(b[1], a[0]));
        let shown = xor(cross, xor(xor(product, given.corrections[at]), mask));
        let said = xor(shown, given.hidden[at]);
        self.said[at] = said;
        Shares([mask, xor(sum(said), and(a[1], b[1]))])
    }
}
