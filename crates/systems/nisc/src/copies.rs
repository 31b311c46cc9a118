//! What follows from the two secrets of a copy: `seed_i`, from which all of copy `i` is made, and `k_i`,
//! under which travels what only the evaluator of the copy may see. Every use has a stream of its own, and
//! nothing reads a place twice.

use comity_core::{Backend, Block, Delta, Prg, SessionId};
use comity_garble::lockstep::expand;
use comity_ot::base::pvw::Coins;
use zeroize::Zeroizing;

/// A copy of the garbled circuit, and all else of an answer that is made from `seed_i`.
pub(crate) struct AnswerCopy {
    /// The offset between the labels of every wire.
    pub(crate) delta: Delta,
    /// The stream of labels for zero of the receiver's input.
    pub(crate) x: Prg,
    /// The stream of labels for zero of the sender's input.
    pub(crate) y: Prg,
    /// The stream of the scalars `r_{i,j,b}`.
    pub(crate) scalars: Prg,
    /// The stream of the permutations `pi_{i,j}`.
    pub(crate) order: Prg,
    /// The randomness of the answers to the input OTs.
    pub(crate) coins: Coins,
}

impl AnswerCopy {
    /// Copy `i` from its seed.
    pub(crate) fn new(backend: Backend, session: &SessionId, i: usize, seed: Block) -> AnswerCopy {
        let mut bytes = Zeroizing::new([0; 5 * Block::BYTES + Coins::BYTES]);
        expand("comity NISC: from the seed of a copy", session, i, seed, &mut bytes[..]);
        let (coins, keys) = bytes.split_first_chunk().expect("coins were derived");
        let block = |at| Block::new(std::array::from_fn(|byte| keys[Block::BYTES * at + byte]));
        let [x, y, scalars, order] = [1, 2, 3, 4].map(|at| Prg::new(backend, block(at)));
        AnswerCopy { delta: Delta::new(block(0)), x, y, scalars, order, coins: Coins::from_bytes(coins) }
    }
}

/// The stream of `k_i`, which masks the values that are encrypted under it.
pub(crate) fn mask(backend: Backend, session: &SessionId, i: usize, key: Block) -> Prg {
    let mut bytes = Zeroizing::new([0; Block::BYTES]);
    expand("comity NISC: from the key of a copy", session, i, key, &mut bytes[..]);
    Prg::new(backend, Block::new(*bytes))
}
