//! A bit `y_j` of the sender's input: `u_{i,j,b}`, commitments to them, adapters from them, and the proof of equality.
//!
//! Copy by copy six blocks: both commitments and both adapters in the order of `pi_{i,j}`. A commitment is a
//! hash of `u`, with 256 bits; an adapter is the label `W_{i,j,b}` plus `REHash(u_{i,j,b})`, a hash of the
//! same under another key.

use comity_core::{Block, Delta, Result, SessionId, ShortHash, verdict};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use crate::checks;
use crate::copies::AnswerCopy;
use crate::group::{Powers, doubled, note, of_g, uniform};

/// Rows that a bit of the sender's input takes.
pub(crate) const ROWS: usize = 6;

/// The hashes of `u_{i,j,b}`: the commitment and REHash.
struct Hashes([ShortHash; 2]);

impl Hashes {
    fn new(session: &SessionId, j: usize) -> Hashes {
        let parts = [&session.to_bytes()[..], &(j as u64).to_le_bytes()].concat();
        let contexts = ["comity NISC: commitment to an input label", "comity NISC: REHash"];
        Hashes(contexts.map(|context| ShortHash::new(blake3::derive_key(context, &parts))))
    }

    /// The commitment and the pad of each `u`.
    fn of(&self, u: &[[u8; 64]]) -> Zeroizing<Vec<([Block; 2], Block)>> {
        let [mut commitments, mut pads] = [(); 2].map(|()| Zeroizing::new(vec![[0; 32]; u.len()]));
        self.0[0].hash(u, &mut commitments);
        self.0[1].hash(u, &mut pads);
        let halves = |hash: &[u8; 32]| [0, 16].map(|at| Block::new(std::array::from_fn(|i| hash[at + i])));
        let each = commitments.iter().zip(pads.iter());
        Zeroizing::new(each.map(|(commitment, pad)| (halves(commitment), halves(pad)[0])).collect())
    }
}

/// Two encoded points as a message.
fn messages(points: &[CompressedRistretto]) -> Zeroizing<Vec<[u8; 64]>> {
    let joined = |[a, b]: &[CompressedRistretto; 2]| {
        let mut message = [0; 64];
        message[..32].copy_from_slice(a.as_bytes());
        message[32..].copy_from_slice(b.as_bytes());
        message
    };
    Zeroizing::new(points.as_chunks().0.iter().map(joined).collect())
}

/// The values drawn from the seeds for a bit, for each copy.
pub(crate) struct Drawn {
    /// The halves of `r_{i,j,0}` and `r_{i,j,1}`.
    pub(crate) halves: Zeroizing<Vec<[Scalar; 2]>>,
    /// The permutations `pi_{i,j}`.
    order: Zeroizing<Vec<u8>>,
}

impl Drawn {
    /// Draws the values for the next bit.
    pub(crate) fn next(copies: &mut [AnswerCopy]) -> Drawn {
        let mut halves = Zeroizing::new(Vec::with_capacity(copies.len()));
        let mut order = Zeroizing::new(vec![0; copies.len()]);
        for (copy, order) in copies.iter_mut().zip(order.iter_mut()) {
            halves.push([(); 2].map(|()| uniform(|wide| copy.scalars.fill(wide))));
            copy.order.fill(std::slice::from_mut(order));
        }
        Drawn { halves, order }
    }
}

/// The six rows of bit `j` in these copies; `zeros` are their labels for zero.
pub(crate) fn commit(
    session: &SessionId,
    j: usize,
    powers: &impl Powers,
    copies: &[Delta],
    drawn: &Drawn,
    zeros: &[Block],
) -> Vec<Block> {
    let width = copies.len();
    let mut points = Zeroizing::new(Vec::with_capacity(4 * width));
    for [zero, one] in drawn.halves.iter() {
        // u_{i,j,0} and u_{i,j,1}
        points.extend([powers.g(zero), powers.h(zero)]);
        points.extend([powers.g(one), powers.h(one) + powers.half_g()]);
    }
    let hashed = Hashes::new(session, j).of(&messages(&doubled(&points)));
    let mut rows = vec![Block::ZERO; ROWS * width];
    for (i, (((delta, order), pair), zero)) in
        copies.iter().zip(drawn.order.iter()).zip(hashed.as_chunks::<2>().0).zip(zeros).enumerate()
    {
        let labels = [*zero, *zero ^ delta.block()];
        let mut sides = [0, 1].map(|b| [pair[b].0[0], pair[b].0[1], labels[b] ^ pair[b].1]);
        let [first, second] = &mut sides;
        let swap = Choice::from(order & 1);
        first.iter_mut().zip(second).for_each(|(a, b)| Block::conditional_swap(a, b, swap));
        let column = [sides[0][0], sides[0][1], sides[1][0], sides[1][1], sides[0][2], sides[1][2]];
        column.iter().enumerate().for_each(|(row, block)| rows[row * width + i] = *block);
        sides.as_flattened_mut().zeroize();
    }
    rows
}

/// Half of the input commitment to a bit, from half of its `r_j`.
pub(crate) fn input_commitment(powers: &impl Powers, half_r: &Scalar, bit: Choice) -> [RistrettoPoint; 2] {
    let value = RistrettoPoint::conditional_select(&RistrettoPoint::identity(), powers.half_g(), bit);
    [powers.g(half_r), powers.h(half_r) + value]
}

/// The active labels of bit `j` in the evaluated copies, from halves of the input commitment and of the proofs.
///
/// # Errors
/// [`INPUT_EQUALITY`](crate::checks::INPUT_EQUALITY) if a proof is wrong: it takes the commitment to labels
/// that were not committed to in that copy.
pub(crate) fn find(
    session: &SessionId,
    j: usize,
    commitment: &[RistrettoPoint; 2],
    h: &RistrettoBasepointTable,
    proofs: &[Scalar],
    rows: &[Block],
) -> Result<Zeroizing<Vec<Block>>> {
    let mut points = Zeroizing::new(Vec::with_capacity(2 * proofs.len()));
    for rho in proofs {
        note(1, 0);
        points.extend([commitment[0] - of_g(rho), commitment[1] - h * rho]);
    }
    let hashed = Hashes::new(session, j).of(&messages(&doubled(&points)));
    let width = proofs.len();
    let mut labels = Zeroizing::new(Vec::with_capacity(width));
    let mut found = Choice::from(1);
    for (k, (commitment, pad)) in hashed.iter().enumerate() {
        let row = |at: usize| rows[at * width + k];
        let opens = |at| row(at).ct_eq(&commitment[0]) & row(at + 1).ct_eq(&commitment[1]);
        let second = opens(2);
        found &= opens(0) | second;
        labels.push(Block::conditional_select(&row(4), &row(5), second) ^ *pad);
    }
    if verdict(found) { Ok(labels) } else { Err(checks::INPUT_EQUALITY.into()) }
}
