//! Correlations of a sparse vector: in each block of `2^depth` elements one random element at a random place.
//!
//! A [tree](comity_ot::silent::Tree) of silent OT, over COTs of a delta of its own, leaves the receiver with
//! all of a block's leaves but one. Leaves are hashed, which takes that delta out of them, under a key of the
//! tree's own. The sender tells the sum of the hashed leaves plus the key `b` of a product; so the receiver,
//! which has `c = a delta + b`, finds the missing leaf with `a delta` added (Weng, Yang, Katz, Wang, S&P
//! 2021, figure 7).
//!
//! **Check** in the malicious model (the same, and Ferret's): when the receiver has all trees, and not
//! before, it tells a random point. Both sum up the leaves times its powers. The receiver's sum has
//! `delta sum_i a_i p_i` more, where `p_i` is the power at the end of path `i`; it tells that sum of
//! `a_i p_i`, masked by one more product, and the sender's hash of its sum must be the receiver's. Otherwise
//! [`INCONSISTENT_NOISE`].
//!
//! *Bound.* As for silent OT: a sender whose trees are not consistent with where all paths end passes with at
//! most 2^22 2^-128, or by guessing ends, which tells it as much of the noise as it risked. A receiver that
//! lies gets a hash to test values of delta with.
//!
//! **Side channels**: no branch or memory index depends on where noise is.

use comity_channel::Channel;
use comity_core::{Aes128, Backend, Block, Prg, Result, gf128, verdict};
use comity_ot::silent::{LeafSum, Tree};
use comity_ot::softspoken::{self, Checking};
use comity_ot::{CotReceiver, CotSender};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::Setting;
use crate::checks::INCONSISTENT_NOISE;

/// Trees whose messages travel together.
const GROUP: usize = 64;

/// The sender's side: the leaves of a tree for each key of a product but the last one, which masks the check.
///
/// # Errors
/// Those of the COTs and the channel.
pub fn send<M: Checking>(
    ch: &mut dyn Channel,
    setting: &Setting,
    cots: &mut softspoken::Sender<M>,
    delta: Block,
    b: &[Block],
    depth: usize,
    rng: &mut dyn CryptoRng,
) -> Result<Zeroizing<Vec<Block>>> {
    let (&mask, b) = b.split_last().expect("the mask of the check");
    let (backend, trees) = (setting.backend, b.len());
    let mut q = Zeroizing::new(vec![Block::ZERO; trees * depth]);
    cots.extend_random(ch, &mut q)?;
    q.iter_mut().for_each(|q| *q = q.with_lsb(false));
    let tree_delta = cots.delta().with_lsb(true);
    let nonce = Block::random(rng);
    ch.send(&nonce.to_bytes())?;
    let keys = keys(backend, nonce, trees);
    let mut all = Zeroizing::new(vec![Block::ZERO; trees << depth]);
    let mut tree = Tree::new(backend, depth);
    let mut message = Vec::with_capacity(GROUP * depth);
    for (i, leaves) in all.chunks_exact_mut(1 << depth).enumerate() {
        let [key, leaf_key] = keys[i];
        tree.grow(key, tree_delta, &q[i * depth..][..depth], |sum| message.push(sum));
        hash(backend, leaf_key, tree.leaves(), leaves);
        message.push(leaves.iter().fold(b[i], |sum, &leaf| sum ^ leaf));
        if (i + 1).is_multiple_of(GROUP) || i + 1 == trees {
            ch.send(Block::bytes_of(&message))?;
            ch.flush()?;
            message.clear();
        }
    }
    if M::MALICIOUS {
        let mut challenge = [Block::ZERO; 2];
        ch.recv(Block::bytes_of_mut(&mut challenge))?;
        let mut sum = LeafSum::new(backend, challenge[0], 1 << depth);
        all.chunks_exact(1 << depth).for_each(|leaves| sum.add(leaves));
        let total = sum.leaves() ^ mask ^ gf128::mul(backend, challenge[1], delta);
        ch.send(&answer(setting, &challenge, total))?;
        ch.flush()?;
    }
    Ok(all)
}

/// The receiver's side of sparse correlations: `c = a delta + b` in each place.
pub struct Noise {
    /// The sparse vector: one element of a product in each block, else zero.
    pub a: Zeroizing<Vec<Block>>,
    /// The leaves.
    pub c: Zeroizing<Vec<Block>>,
}

/// The receiver's side: a block for each product but the last one, which masks the check.
///
/// # Errors
/// Those of the COTs and the channel; [`INCONSISTENT_NOISE`] in the malicious model.
pub fn receive<M: Checking>(
    ch: &mut dyn Channel,
    setting: &Setting,
    cots: &mut softspoken::Receiver<M>,
    [a, c]: [&[Block]; 2],
    depth: usize,
    rng: &mut dyn CryptoRng,
) -> Result<Noise> {
    let ((&mask_a, a), (&mask_c, c)) = a.split_last().zip(c.split_last()).expect("the mask of the check");
    let (backend, trees) = (setting.backend, a.len());
    let mut t = Zeroizing::new(vec![Block::ZERO; trees * depth]);
    let choices = cots.extend_random(ch, &mut t)?;
    t.iter_mut().zip(choices.iter()).for_each(|(t, choice)| *t = t.with_lsb(choice));
    let mut nonce = [Block::ZERO];
    ch.recv(Block::bytes_of_mut(&mut nonce))?;
    let keys = keys(backend, nonce[0], trees);
    let point = Block::random(rng);
    let mut sum = LeafSum::new(backend, point, if M::MALICIOUS { 1 << depth } else { 0 });
    let mut noise = Noise {
        a: Zeroizing::new(vec![Block::ZERO; trees << depth]),
        c: Zeroizing::new(vec![Block::ZERO; trees << depth]),
    };
    let mut tree = Tree::new(backend, depth);
    let mut message = vec![Block::ZERO; GROUP * depth];
    for i in 0..trees {
        if i.is_multiple_of(GROUP) {
            message.truncate(depth * GROUP.min(trees - i));
            ch.recv(Block::bytes_of_mut(&mut message))?;
        }
        let (&told, sums) = message[i % GROUP * depth..][..depth].split_last().expect("a tree has levels");
        let [key, leaf_key] = keys[i];
        let levels = &t[i * depth..][..depth];
        tree.grow_without(key, levels, sums);
        let range = i << depth..(i + 1) << depth;
        let (sparse, leaves) = (&mut noise.a[range.clone()], &mut noise.c[range]);
        hash(backend, leaf_key, tree.leaves(), leaves);
        // What is missing to the leaf at the path's end: the sum of all others, and the difference of the sums.
        let missing = leaves.iter().fold(told ^ c[i], |sum, &leaf| sum ^ leaf);
        for ((leaf, element), node) in leaves.iter_mut().zip(sparse).zip(tree.leaves()) {
            *leaf ^= missing.masked(node.lsb());
            *element = a[i].masked(node.lsb());
        }
        if M::MALICIOUS {
            sum.add(leaves);
            sum.add_end(levels, a[i]);
        }
    }
    if M::MALICIOUS {
        let challenge = [point, sum.ends() ^ mask_a];
        ch.send(Block::bytes_of(&challenge))?;
        let expected = answer(setting, &challenge, sum.leaves() ^ mask_c);
        let mut answer = [0; 32];
        ch.recv(&mut answer)?;
        if !verdict(expected.ct_eq(&answer)) {
            return Err(INCONSISTENT_NOISE.into());
        }
    }
    Ok(noise)
}

/// For each tree the key that it grows under, and the one that its leaves are hashed under.
fn keys(backend: Backend, nonce: Block, trees: usize) -> Vec<[Block; 2]> {
    let mut keys = vec![[Block::ZERO; 2]; trees];
    Prg::new(backend, nonce).fill_blocks(keys.as_flattened_mut());
    keys
}

/// Hashes leaves: `pi(x) ^ x` for AES-128 under a key. The leaf that the receiver lacks differs from what it
/// has by an unknown delta, and looks random in an ideal cipher's eyes.
fn hash(backend: Backend, key: Block, leaves: &[Block], out: &mut [Block]) {
    out.copy_from_slice(leaves);
    Aes128::new(backend, key).encrypt(out);
    out.iter_mut().zip(leaves).for_each(|(out, &leaf)| *out ^= leaf);
}

/// The sender's answer to a challenge where its leaves add up to `sum`.
fn answer(setting: &Setting, challenge: &[Block], sum: Block) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("comity vole: the sum of sparse correlations");
    hasher.update(&setting.session.to_bytes()).update(Block::bytes_of(challenge)).update(&sum.to_bytes());
    let answer = *hasher.finalize().as_bytes();
    zeroize::Zeroize::zeroize(&mut hasher);
    answer
}

#[cfg(test)]
mod tests {
    use comity_core::SessionId;

    use super::*;

    #[test]
    fn an_answer_is_of_its_run_its_challenge_and_its_sum() {
        let of = |session: &[u8], challenge: u128, sum: u128| {
            let setting = Setting { session: SessionId::derive("test", &[session]), backend: Backend::detect() };
            answer(&setting, &[Block::from_u128(challenge), Block::ZERO], Block::from_u128(sum))
        };
        let all = [of(b"1", 1, 1), of(b"2", 1, 1), of(b"1", 2, 1), of(b"1", 1, 2)];
        assert!((1..4).all(|i| all[i] != all[0]));
    }

    /// A party that has the hash of a leaf, and the key, does not have the leaf.
    #[test]
    fn the_hash_of_a_leaf_is_no_permutation() {
        let (key, leaves) = (Block::from_u128(1), [Block::from_u128(2)]);
        let (mut hashed, mut permuted) = ([Block::ZERO], leaves);
        hash(Backend::detect(), key, &leaves, &mut hashed);
        Aes128::new(Backend::detect(), key).encrypt(&mut permuted);
        assert_ne!(hashed, permuted);
    }
}
