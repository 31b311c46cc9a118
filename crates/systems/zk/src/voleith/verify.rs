//! The verifier: computes what Delta must have been the hash of.

use comity_circuit::run;
use comity_core::{Backend, Block, Result, SmallFieldVole, gf128, transpose_columns};
use subtle::ConstantTimeEq;

use super::hashes::{Digest, Hashes, seed};
use super::linear::LinearHash;
use super::opening::Opening;
use super::{HASH_MASK, Mac, Parameters, ROWS, Shape};
use crate::checks;
use crate::gates::{Branches, Head, Nobody};
use crate::macs::{Gates, block, packed, word};
use crate::sliced::{Shares, all, and};
use crate::statement::Statement;

/// Checks an answer to a challenge.
///
/// # Errors
/// [`Malformed`](comity_core::Kind) if the answer has another length, or ones where it pads;
/// [`WRONG_OPENING`](checks::WRONG_OPENING).
pub(crate) fn check(
    backend: Backend,
    parameters: Parameters,
    statement: &Statement,
    salt: &[u8; 32],
    first: &[u8; 32],
    delta: &[u8],
    answer: &[u8],
) -> Result<()> {
    let delta = Block::new(delta.try_into().expect("a challenge of 16 bytes"));
    let found = fixed(backend, parameters, statement, salt, delta, answer)?;
    if bool::from(found.ct_eq(first)) { Ok(()) } else { Err(checks::WRONG_OPENING.into()) }
}

/// What Delta is the hash of, if this is the answer to it.
pub(super) fn fixed(
    backend: Backend,
    parameters: Parameters,
    statement: &Statement,
    salt: &[u8; 32],
    delta: Block,
    answer: &[u8],
) -> Result<Digest> {
    let shape = Shape::new(statement);
    let width = shape.width();
    let shown = Opening::read(shape, parameters, answer)?;
    let hashes = Hashes::new(parameters, statement.digest(), salt);
    // Step 1: the commitments, and keys instead of MACs.
    let (mut commitments, mut rows) = (Vec::with_capacity(parameters.leaves()), vec![Block::ZERO; ROWS * width]);
    let hidden = parameters.hidden(delta.to_u128());
    let mut corrections = shown.corrections.chunks_exact(Block::BYTES * width);
    for ((tree, (levels, first)), (hidden, (seeds, commitment))) in
        parameters.each().enumerate().zip(hidden.zip(&shown.trees))
    {
        let holes: Vec<bool> = (0..1 << levels).map(|leaf| leaf == hidden).collect();
        let grown = hashes.trees.rebuild(tree as u64, &holes, seeds);
        let (mut of_leaves, streams) = hashes.leaves(tree as u64, grown.leaves());
        of_leaves[hidden] = **commitment;
        commitments.extend(of_leaves);
        // The hidden leaf would be in place zero, which no row counts.
        let seen: Vec<Block> = (1..1 << levels).map(|leaf| streams[leaf ^ hidden]).collect();
        let rows = &mut rows[first * width..][..levels * width];
        SmallFieldVole::starting_at(backend, &seen, hashes.counter).fill(&mut vec![Block::ZERO; width], rows);
        if tree > 0 {
            let correction = corrections.next().expect("a row for each tree but the first");
            let set = rows.chunks_exact_mut(width).enumerate().filter(|(level, _)| hidden >> level & 1 == 1);
            set.for_each(|(_, row)| {
                Block::bytes_of_mut(row).iter_mut().zip(correction).for_each(|(key, bits)| *key ^= bits);
            });
        }
    }
    let corrected = hashes.corrected(&commitments, shown.corrections);
    // Step 2: the linear hashes of the prover's rows, from those of the keys'.
    let mut hashed = LinearHash::new(backend, &corrected, width).each(&rows);
    for (row, hashed) in hashed.chunks_exact_mut(HASH_MASK).enumerate() {
        let set = delta.to_u128() >> row & 1 == 1;
        hashed.iter_mut().zip(shown.sum).for_each(|(hashed, sum)| *hashed ^= sum.masked(set));
    }
    let challenge = hashes.told(&corrected, &shown.sum, &hashed, shown.told);
    // Step 3.
    let mut keys = vec![Block::ZERO; ROWS * (width - HASH_MASK)];
    transpose_columns(backend, Block::bytes_of(&rows), ROWS * HASH_MASK, &mut keys);
    let (masks, keys) = keys.split_at_mut(ROWS);
    for (i, key) in keys.iter_mut().take(shape.bits).enumerate() {
        *key ^= delta.masked(shown.told[i / 8] >> (i % 8) & 1 == 1);
    }
    let verifying = Verifying { delta: word(delta), keys, taken: 0, gates: Gates::with_room(shape.bits) };
    let mut engine = Head::new(backend, verifying, statement.public());
    run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
    let (mut verifying, outputs) = engine.finish();
    let [products, terms] = verifying.gates.sums(backend, seed(&challenge));
    // The prover's sum of products is what is missing of ours.
    let ours = products ^ gf128::mul(backend, terms, delta) ^ packed(backend, masks);
    let sums = [ours ^ gf128::mul(backend, shown.terms, delta), shown.terms];
    // The MACs of the expected outputs.
    let expected = statement.outputs();
    let macs = outputs.iter().zip(expected.iter()).map(|(Shares([key]), bit)| block(*key) ^ delta.masked(bit));
    let macs: Vec<Block> = macs.collect();
    Ok(hashes.last(&challenge, &sums, &macs))
}

/// The verifier's gates: a wire is a key.
struct Verifying<'a> {
    delta: Mac,
    keys: &'a [Block],
    taken: usize,
    gates: Gates,
}

impl Verifying<'_> {
    /// The key of the next bit.
    #[inline(always)]
    fn next(&mut self) -> Mac {
        self.taken += 1;
        word(self.keys[self.taken - 1])
    }
}

impl Branches<2, 1> for Verifying<'_> {
    fn secret(&mut self) -> Shares<2, 1> {
        Shares([self.next()])
    }

    #[inline(always)]
    fn public(&self, bit: bool) -> Shares<2, 1> {
        Shares([and(self.delta, all(bit))])
    }

    #[inline(always)]
    fn and(&mut self, Shares([a]): Shares<2, 1>, Shares([b]): Shares<2, 1>) -> Shares<2, 1> {
        let key = self.next();
        self.gates.push([a, b], key);
        Shares([key])
    }
}
