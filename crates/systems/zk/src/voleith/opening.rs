//! The answer to the last challenge, as it stands in a file.

use comity_core::{Block, Error, Result};

use super::hashes::Digest;
use super::{HASH_MASK, Parameters, Shape};
use crate::statement::Statement;
use crate::tree::{SEED, Seed};

/// The values that a prover shows.
pub(super) struct Opening<'a> {
    /// The corrections of all trees but the first, a row each.
    pub(super) corrections: &'a [u8],
    /// The linear hash of `u`.
    pub(super) sum: [Block; HASH_MASK],
    /// The differences of `u` and the secret bits and gates.
    pub(super) told: &'a [u8],
    /// The sum of the gates' terms.
    pub(super) terms: Block,
    /// For each tree the seeds beside the path to the hidden leaf, and the commitment to that.
    pub(super) trees: Vec<(&'a [Seed], &'a Digest)>,
}

/// The bytes of an answer.
pub(crate) fn answer_bytes(statement: &Statement, parameters: Parameters) -> usize {
    bytes(Shape::new(statement), parameters)
}

pub(super) fn bytes(shape: Shape, parameters: Parameters) -> usize {
    let rows = (parameters.trees() - 1) * Block::BYTES * shape.width();
    let trees: usize = parameters.levels.iter().map(|levels| SEED * levels + 32).sum();
    rows + Block::BYTES * (HASH_MASK + 1) + shape.told_bytes() + trees
}

impl<'a> Opening<'a> {
    /// The opening in these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if they are too many or too few, or have ones where they pad.
    pub(super) fn read(shape: Shape, parameters: Parameters, answer: &'a [u8]) -> Result<Opening<'a>> {
        let (wanted, there) = (bytes(shape, parameters), answer.len());
        if there != wanted {
            return Err(Error::malformed(format!("a proof with an answer of {there} bytes; {wanted} are wanted")));
        }
        let mut rest = answer;
        let mut take = |bytes: usize| rest.split_off(..bytes).expect("the length was checked");
        let corrections = take((parameters.trees() - 1) * Block::BYTES * shape.width());
        let [sum @ .., terms] =
            [(); HASH_MASK + 1].map(|()| Block::new(take(Block::BYTES).try_into().expect("a block")));
        let told = take(shape.told_bytes());
        if told.last().is_some_and(|last| !shape.bits.is_multiple_of(8) && last >> (shape.bits % 8) != 0) {
            return Err(Error::malformed("a proof with bits beyond the end of a row"));
        }
        let tree = |levels: &usize| (take(SEED * levels).as_chunks().0, take(32).try_into().expect("a digest"));
        let trees = parameters.levels.iter().map(tree).collect();
        Ok(Opening { corrections, sum, told, terms, trees })
    }
}
