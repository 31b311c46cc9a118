//! The trees: from base OTs to all seeds for the receiver, and all but one of each tree for the sender.
//!
//! Level `i` of a tree has `2^(i+1)` nodes, and the number of a node is that of its parent with bit `i` for its side.
//! The sender numbers nodes by their distance from the missing path, `x ^ delta`: the missing node is always number
//! zero, and what depends on delta is which of two values goes where, chosen without a branch.

use blake3::Hasher;
use comity_core::{Backend, Bits, Block, Error, Prg, Result, SessionId, verdict};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use super::{Checking, ROWS, Shape};
use crate::checks;
use crate::model::Malicious;
use crate::seeds::{ReceiverSeeds, SenderSeeds};

/// The seeds of each tree in order: all of them, or all but the missing one, which is the first. Wiped on drop.
///
/// An extension makes its own. A forest by itself is for other products with a delta that stays: the streams of
/// a tree's seeds, summed up by [`SmallFieldVole`](comity_core::SmallFieldVole), are shares of its bits times the
/// sum of all streams.
pub struct Forest(pub(super) Vec<Zeroizing<Vec<Block>>>);

/// A check value of a seed.
type Check = [u8; 32];

/// The receiver's message of the set-up: for every level of a tree but the first the sums of the left and of the right
/// nodes, each under a base OT; in the malicious model also the sum and the hash of the check values of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trees(Vec<u8>);

impl Trees {
    /// The message for trees of `k` levels in the model `M` with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if they are too many or too few, [`InvalidInput`](comity_core::Kind) if `k` is
    /// not from 1 to 8.
    pub fn from_bytes<M: Checking>(bytes: &[u8], k: usize) -> Result<Trees> {
        let expected = Trees::len::<M>(Shape::new(k)?);
        if bytes.len() != expected {
            let len = bytes.len();
            return Err(Error::malformed(format!("trees of {k} levels are {expected} bytes long, not {len}")));
        }
        Ok(Trees(bytes.to_vec()))
    }

    /// The bytes of the message.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Bytes in the message.
    pub(crate) fn len<M: Checking>(shape: Shape) -> usize {
        shape.depths().map(Trees::tree_len::<M>).sum()
    }

    fn tree_len<M: Checking>(depth: usize) -> usize {
        // A tree of one level is a base OT as it is.
        32 * (depth - 1) + if M::CHECKED && depth > 1 { 2 * size_of::<Check>() } else { 0 }
    }
}

/// The receiver's trees, from random OTs.
pub(crate) fn build<M: Checking>(
    session: &SessionId,
    backend: Backend,
    shape: Shape,
    seeds: &SenderSeeds<M>,
) -> (Forest, Trees) {
    assert_eq!(seeds.len(), ROWS, "one base OT for each bit of delta");
    let mut message = Vec::with_capacity(Trees::len::<M>(shape));
    let mut pairs = seeds.pairs();
    let trees = shape.depths().enumerate().map(|(tree, depth)| {
        let (levels, rest) = pairs.split_at(depth);
        pairs = rest;
        let mut nodes = Zeroizing::new(Vec::with_capacity(1 << depth));
        // The message that the choice bit names opens the other side.
        nodes.extend([levels[0][1], levels[0][0]]);
        for pair in &levels[1..] {
            let half = nodes.len();
            nodes.resize(2 * half, Block::ZERO);
            for y in 0..half {
                [nodes[y], nodes[y + half]] = children(backend, nodes[y]);
            }
            for (side, nodes) in nodes.chunks(half).enumerate() {
                message.extend_from_slice(&(sum(nodes) ^ pair[1 - side]).to_bytes());
            }
        }
        if M::CHECKED && depth > 1 {
            let checks = check_values(session, tree, &mut nodes);
            let total = checks.iter().fold([0; 32], xor);
            message.extend_from_slice(&total);
            message.extend_from_slice(&digest(session, tree, &checks));
        }
        nodes
    });
    (Forest(trees.collect()), Trees(message))
}

/// The sender's trees, from random OTs whose choice bits are delta.
///
/// # Errors
/// [`InconsistentTree`](crate::checks::INCONSISTENT_TREE) if a check fails, in the malicious model.
pub(crate) fn puncture<M: Checking>(
    session: &SessionId,
    backend: Backend,
    shape: Shape,
    seeds: &ReceiverSeeds<M>,
    message: &Trees,
) -> Result<Forest> {
    assert_eq!(seeds.len(), ROWS, "one base OT for each bit of delta");
    let mut message = &message.0[..];
    let mut level = 0;
    let mut consistent = Choice::from(1);
    let mut trees = Vec::with_capacity(shape.trees());
    for (tree, depth) in shape.depths().enumerate() {
        let (part, rest) = message.split_at(Trees::tree_len::<M>(depth));
        message = rest;
        let (sums, check) = part.split_at(32 * (depth - 1));
        let delta: Vec<Choice> =
            (level..level + depth).map(|i| Choice::from(u8::from(seeds.choices().get(i)))).collect();
        let chosen = &seeds.chosen()[level..level + depth];
        level += depth;
        let mut nodes = Zeroizing::new(Vec::with_capacity(1 << depth));
        nodes.extend([Block::ZERO, chosen[0]]);
        for ((sums, &pad), &bit) in sums.as_chunks::<32>().0.iter().zip(&chosen[1..]).zip(&delta[1..]) {
            let half = nodes.len();
            nodes.resize(2 * half, Block::ZERO);
            for y in 1..half {
                let [mut near, mut far] = children(backend, nodes[y]);
                Block::conditional_swap(&mut near, &mut far, bit);
                [nodes[y], nodes[y + half]] = [near, far];
            }
            // The sum of the side that delta is not on, and so of all nodes far from the path.
            let [left, right] = [0, 1].map(|side| block(&sums[16 * side..]));
            let far = Block::conditional_select(&right, &left, bit) ^ pad;
            nodes[half] = far ^ sum(&nodes[half + 1..]);
        }
        if M::CHECKED && depth > 1 {
            let (total, expected) = check.split_at(32);
            let mut checks = check_values(session, tree, &mut nodes[1..]);
            let mut missing = [0; 32];
            missing.copy_from_slice(total);
            missing = checks.iter().fold(missing, xor);
            checks.insert(0, missing);
            // From the order of x ^ delta to that of x.
            for (bit, &delta) in delta.iter().enumerate() {
                for y in (0..checks.len()).filter(|y| y >> bit & 1 == 0) {
                    let (low, high) = checks.split_at_mut(y | 1 << bit);
                    for (a, b) in low[y].iter_mut().zip(&mut high[0]) {
                        u8::conditional_swap(a, b, delta);
                    }
                }
            }
            consistent &= digest(session, tree, &checks)[..].ct_eq(expected);
        }
        nodes.remove(0);
        trees.push(nodes);
    }
    if !verdict(consistent) {
        return Err(checks::INCONSISTENT_TREE.into());
    }
    Ok(Forest(trees))
}

impl Forest {
    /// All seeds of trees of `k` levels, from both messages of each of 128 random OTs, and the message for the
    /// party that chose in these. The session is for these trees alone.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `k` is not from 1 to 8.
    ///
    /// # Panics
    /// If there are not 128 OTs.
    pub fn all(session: &SessionId, backend: Backend, k: usize, pairs: Vec<[Block; 2]>) -> Result<(Forest, Trees)> {
        Ok(build(session, backend, Shape::new(k)?, &SenderSeeds::<Malicious>::new(pairs)))
    }

    /// All seeds but one of each tree, from what was chosen in 128 random OTs by the bits of delta, and the
    /// message of the party that has all.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `k` is not from 1 to 8, [`Malformed`](comity_core::Kind) if the
    /// message has another length, [`InconsistentTree`](crate::checks::INCONSISTENT_TREE) if a tree is not of
    /// these OTs.
    ///
    /// # Panics
    /// If there are not 128 OTs, and a choice for each.
    pub fn but_one(
        session: &SessionId,
        backend: Backend,
        k: usize,
        (choices, chosen): (Bits, Vec<Block>),
        message: &[u8],
    ) -> Result<Forest> {
        let (seeds, message) =
            (ReceiverSeeds::<Malicious>::new(choices, chosen), Trees::from_bytes::<Malicious>(message, k)?);
        puncture(session, backend, Shape::new(k)?, &seeds, &message)
    }

    /// The seeds, tree by tree.
    pub fn trees(&self) -> impl Iterator<Item = &[Block]> {
        self.0.iter().map(|seeds| &seeds[..])
    }

    /// The seeds that a sender with this delta holds of all, in its order.
    pub(crate) fn without(&self, shape: Shape, delta: Block) -> Forest {
        let mut delta = delta.to_u128();
        let trees = self.0.iter().zip(shape.depths()).map(|(seeds, depth)| {
            let missing = delta as usize & ((1 << depth) - 1);
            delta >>= depth;
            Zeroizing::new((1..seeds.len()).map(|y| seeds[y ^ missing]).collect())
        });
        Forest(trees.collect())
    }

    /// A hash of all seeds.
    pub(crate) fn digest(&self, session: &SessionId) -> [u8; 32] {
        let mut hasher = Hasher::new_derive_key("comity SoftSpoken OT: all seeds that the sender holds");
        hasher.update(&session.to_bytes());
        for seeds in &self.0 {
            hasher.update(Block::bytes_of(seeds));
        }
        let digest = *hasher.finalize().as_bytes();
        hasher.zeroize();
        digest
    }
}

/// The choice bits as a block.
pub(crate) fn delta<M: Checking>(seeds: &ReceiverSeeds<M>) -> Block {
    Block::from_u128(seeds.choices().iter().enumerate().fold(0, |delta, (i, bit)| delta | u128::from(bit) << i))
}

/// The two children of a node.
fn children(backend: Backend, seed: Block) -> [Block; 2] {
    let mut children = [Block::ZERO; 2];
    Prg::new(backend, seed).fill_blocks(&mut children);
    children
}

fn sum(blocks: &[Block]) -> Block {
    blocks.iter().fold(Block::ZERO, |sum, &block| sum ^ block)
}

/// Gives the check values of seeds, and replaces the seeds by their keys: both come from one hash, and the check value
/// binds to the seed.
fn check_values(session: &SessionId, tree: usize, seeds: &mut [Block]) -> Vec<Check> {
    let mut start = Hasher::new_derive_key("comity SoftSpoken OT: a seed's check value and key");
    start.update(&session.to_bytes()).update(&(tree as u64).to_le_bytes());
    let check = |seed: &mut Block| {
        let mut hasher = start.clone();
        let mut output = hasher.update(&seed.to_bytes()).finalize_xof();
        let mut check = [0; 32];
        output.fill(&mut check);
        output.fill(Block::bytes_of_mut(std::slice::from_mut(seed)));
        output.zeroize();
        hasher.zeroize();
        check
    };
    seeds.iter_mut().map(check).collect()
}

/// The hash of a tree's check values.
fn digest(session: &SessionId, tree: usize, checks: &[Check]) -> Check {
    let mut hasher = Hasher::new_derive_key("comity SoftSpoken OT: the check values of a tree");
    hasher.update(&session.to_bytes()).update(&(tree as u64).to_le_bytes()).update(checks.as_flattened());
    *hasher.finalize().as_bytes()
}

fn xor(a: Check, b: &Check) -> Check {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// The block in the first sixteen bytes.
fn block(bytes: &[u8]) -> Block {
    Block::new(std::array::from_fn(|i| bytes[i]))
}
