//! The prover. Numbers are the steps in the [module](super).

use comity_circuit::run;
use comity_core::{Backend, Bits, Block, Result, SmallFieldVole, transpose_columns};
use comity_protocol::{Conduct, Honest};
use zeroize::Zeroizing;

use super::hashes::{Digest, Hashes, seed};
use super::linear::LinearHash;
use super::{HASH_MASK, Mac, PADS, Parameters, ROWS, Shape};
use crate::draw::Draw;
use crate::gates::{Branches, Head, Nobody};
use crate::macs::{Gates, block, packed, word};
use crate::sliced::{Shares, all, and, xor};
use crate::statement::Statement;
use crate::tree::{Grown, Seed};

/// An act: something that is about to be used or shown. An honest prover does not look at it.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(super) enum Act<'a> {
    /// The corrections of all trees but the first, and the rows of MACs.
    Corrections(&'a mut [Block], &'a mut [Block]),
    /// The linear hash of `u`, and those of all rows.
    Hashed(&'a mut [Block; HASH_MASK], &'a mut [Block]),
    /// What an AND gate gives, the number of the gate beside it.
    Product(u64, &'a mut Mac),
    /// The differences of `u` and the secret bits and gates.
    Told(&'a mut [u8]),
    /// The masked sums of the gates, and the second challenge.
    Sums(&'a mut [Block; 2], &'a Digest),
    /// The MACs of the outputs.
    Outputs(&'a mut [Block]),
}

/// A prover that has committed to all but Delta.
pub(crate) struct Committed {
    parameters: Parameters,
    salt: [u8; 32],
    first: Digest,
    pub(super) trees: Vec<Grown>,
    /// The commitments to the leaves of all trees.
    commitments: Vec<Digest>,
    /// The part that is shown whatever Delta is.
    shown: Vec<u8>,
}

impl Committed {
    /// Steps 1 to 3. `inputs` are all input values; they must make the statement true.
    pub(crate) fn new(
        backend: Backend,
        parameters: Parameters,
        statement: &Statement,
        inputs: &[Option<Bits>],
        draw: &mut Draw,
    ) -> Result<Committed> {
        Committed::with(backend, parameters, statement, inputs, draw, &mut Honest)
    }

    /// As [`Committed::new`], with a conduct.
    pub(super) fn with(
        backend: Backend,
        parameters: Parameters,
        statement: &Statement,
        inputs: &[Option<Bits>],
        draw: &mut Draw,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<Committed> {
        let (shape, salt) = (Shape::new(statement), draw.salt());
        let width = shape.width();
        let hashes = Hashes::new(parameters, statement.digest(), &salt);
        // Step 1.
        let (mut trees, mut commitments) = (Vec::new(), Vec::with_capacity(parameters.leaves()));
        let mut u = Zeroizing::new(vec![Block::ZERO; width]);
        let mut rows = Zeroizing::new(vec![Block::ZERO; ROWS * width]);
        let mut corrections = vec![Block::ZERO; (parameters.trees() - 1) * width];
        let mut root: Zeroizing<Seed> = Zeroizing::default();
        let mut to = &mut corrections[..];
        for (tree, (levels, first)) in parameters.each().enumerate() {
            draw.fill(&mut *root);
            let grown = hashes.trees.grow(tree as u64, &root, 1 << levels);
            let (of_leaves, streams) = hashes.leaves(tree as u64, grown.leaves());
            let mut vole = SmallFieldVole::starting_at(backend, &streams, hashes.counter);
            let rows = &mut rows[first * width..][..levels * width];
            if tree == 0 {
                vole.fill(&mut u, rows);
            } else {
                let correction = to.split_off_mut(..width).expect("a row for each tree but the first");
                vole.fill(correction, rows);
                correction.iter_mut().zip(&*u).for_each(|(own, first)| *own ^= *first);
            }
            commitments.extend(of_leaves);
            trees.push(grown);
        }
        conduct.before(Act::Corrections(&mut corrections, &mut rows));
        let corrections = Block::bytes_of(&corrections);
        // Step 2.
        let corrected = hashes.corrected(&commitments, corrections);
        let linear = LinearHash::new(backend, &corrected, width);
        let (mut sum, mut hashed) = (linear.hash(&u), linear.each(&rows));
        conduct.before(Act::Hashed(&mut sum, &mut hashed));
        // Step 3.
        let mut columns = Zeroizing::new(vec![Block::ZERO; ROWS * (width - HASH_MASK)]);
        transpose_columns(backend, Block::bytes_of(&rows), ROWS * HASH_MASK, &mut columns);
        let (masks, macs) = columns.split_at(ROWS);
        let secret = statement.secret(inputs);
        let proving = Proving {
            conduct,
            secret: &secret,
            inputs: 0,
            macs,
            bits: Bits::zeros(shape.bits),
            taken: 0,
            ands: 0,
            gates: Gates::with_room(shape.bits),
        };
        let mut engine = Head::new(backend, proving, statement.public());
        run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
        let (Proving { conduct, mut bits, mut gates, .. }, outputs) = engine.finish();
        bits.xor_assign(&Bits::from_bytes(Block::bytes_of(&u[PADS..]), shape.bits));
        let mut told = bits.to_bytes();
        conduct.before(Act::Told(&mut told));
        let challenge = hashes.told(&corrected, &sum, &hashed, &told);
        let [products, terms] = gates.sums(backend, seed(&challenge));
        let mut sums = [products ^ packed(backend, masks), terms ^ u[HASH_MASK]];
        conduct.before(Act::Sums(&mut sums, &challenge));
        let mut outputs: Zeroizing<Vec<Block>> =
            Zeroizing::new(outputs.iter().map(|Shares([mac, _])| block(*mac)).collect());
        conduct.before(Act::Outputs(&mut outputs));
        let first = hashes.last(&challenge, &sums, &outputs);
        let shown = [corrections, Block::bytes_of(&sum), Block::bytes_of(&sums[1..]), &told].concat();
        Ok(Committed { parameters, salt, first, trees, commitments, shown })
    }

    /// The salt.
    pub(crate) fn salt(&self) -> &[u8; 32] {
        &self.salt
    }

    /// The digest from which Delta is hashed.
    pub(crate) fn first(&self) -> &Digest {
        &self.first
    }

    /// Step 4: the values that the verifier needs for keys under this Delta.
    pub(crate) fn answer(self, delta: &[u8]) -> Vec<u8> {
        let delta = u128::from_le_bytes(delta.try_into().expect("a challenge of 16 bytes"));
        let (mut answer, mut commitments) = (self.shown, &self.commitments[..]);
        for (grown, hidden) in self.trees.iter().zip(self.parameters.hidden(delta)) {
            let leaves = grown.leaves().len();
            let holes: Vec<bool> = (0..leaves).map(|leaf| leaf == hidden).collect();
            grown.open(&holes, &mut answer);
            let of_tree = commitments.split_off(..leaves).expect("a commitment to each leaf");
            answer.extend(of_tree[hidden]);
        }
        answer
    }
}

/// The prover's gates: a wire is its MAC, and its value in all bits of a word.
struct Proving<'a, C> {
    conduct: &'a mut C,
    secret: &'a Bits,
    inputs: usize,
    /// The MACs of all pads.
    macs: &'a [Block],
    /// The secret bits, and what AND gates give.
    bits: Bits,
    taken: usize,
    ands: u64,
    gates: Gates,
}

impl<C> Proving<'_, C> {
    /// Gives the next bit a MAC.
    #[inline(always)]
    fn commit(&mut self, value: Mac) -> Mac {
        self.bits.set(self.taken, value[0] & 1 == 1);
        self.taken += 1;
        word(self.macs[self.taken - 1])
    }
}

impl<C: for<'b> Conduct<Act<'b>>> Branches<2, 2> for Proving<'_, C> {
    fn secret(&mut self) -> Shares<2, 2> {
        let value = all(self.secret.get(self.inputs));
        self.inputs += 1;
        Shares([self.commit(value), value])
    }

    /// A public bit has MAC zero: the verifier's key makes up for it.
    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<2, 2> {
        Shares([all(false), all(bit)])
    }

    #[inline(always)]
    fn and(&mut self, Shares([a, x]): Shares<2, 2>, Shares([b, y]): Shares<2, 2>) -> Shares<2, 2> {
        let mut product = and(x, y);
        self.conduct.before(Act::Product(self.ands, &mut product));
        self.ands += 1;
        let mac = self.commit(product);
        let crossed = xor(and(x, b), and(y, a));
        self.gates.push([a, b], xor(crossed, mac));
        Shares([mac, product])
    }
}
