//! DES and triple DES (FIPS 46-3).
//!
//! All of it but the S-boxes is wiring and XORs. The S-boxes are those of [`des_boxes`](super::des_boxes).

use comity_circuit::{Builder, Wire};

use super::des_boxes::S_BOXES;

/// A block of bits in the order of the standard: the first one is the most significant of a value.
type Block = Vec<Wire>;

#[rustfmt::skip]
const P: [usize; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10,
    2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25,
];

#[rustfmt::skip]
const CHOICE_1: [usize; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
    63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
];

#[rustfmt::skip]
const CHOICE_2: [usize; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];

/// The bits by which the halves of the key are rotated before each round.
const ROTATIONS: [usize; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];

/// The bits at these places, which the standard counts from 1.
fn pick(bits: &[Wire], places: impl IntoIterator<Item = usize>) -> Block {
    places.into_iter().map(|place| bits[place - 1]).collect()
}

/// The places that the bits come from in the initial permutation: the even columns, then the odd ones, from below.
fn initial_places() -> impl Iterator<Item = usize> {
    [58, 60, 62, 64, 57, 59, 61, 63].into_iter().flat_map(|first| (0..8).map(move |i| first - 8 * i))
}

fn reversed(bits: &[Wire]) -> Block {
    bits.iter().rev().copied().collect()
}

/// The keys of the rounds. No gates.
fn schedule(key: &[Wire]) -> Vec<Block> {
    assert_eq!(key.len(), 64, "a DES key has 64 bits");
    let mut chosen = pick(&reversed(key), CHOICE_1);
    let mut round = |by: usize| {
        chosen.chunks_mut(28).for_each(|half| half.rotate_left(by));
        pick(&chosen, CHOICE_2)
    };
    ROTATIONS.iter().map(|&by| round(by)).collect()
}

/// The cipher's function of half a block and a round key.
fn mix(b: &mut Builder, half: &[Wire], key: &[Wire]) -> Block {
    let mut bits = Vec::with_capacity(32);
    for (i, s_box) in S_BOXES.iter().enumerate() {
        // The constant one, and the six bits, the last one first.
        let mut inputs = vec![Wire::ONE];
        inputs.extend((0..6).rev().map(|j| b.xor(half[(4 * i + j + 31) % 32], key[6 * i + j])));
        bits.extend(s_box.build(b, &inputs).into_iter().rev());
    }
    pick(&bits, P)
}

fn rounds<'a>(b: &mut Builder, block: &[Wire], keys: impl Iterator<Item = &'a Block>) -> Vec<Wire> {
    assert_eq!(block.len(), 64, "a DES block has 64 bits");
    let block = pick(&reversed(block), initial_places());
    let (mut left, mut right) = (block[..32].to_vec(), block[32..].to_vec());
    for key in keys {
        let mixed = mix(b, &right, key);
        let next = crate::arith::xor(b, &left, &mixed);
        (left, right) = (right, next);
    }
    let last = [right, left].concat();
    let mut out = vec![Wire::ZERO; 64];
    for (bit, place) in last.into_iter().zip(initial_places()) {
        out[64 - place] = bit;
    }
    out
}

/// DES of a block of 64 bits under a key of 64, of which each byte's lowest is parity and is not looked at. 2,112
/// ANDs.
///
/// # Panics
/// If the block or the key has another length.
pub fn des(b: &mut Builder, key: &[Wire], block: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| rounds(b, block, schedule(key).iter()))
}

/// The decryption of a block, the inverse of [`des`]. As many ANDs.
///
/// # Panics
/// If the block or the key has another length.
pub fn des_decrypt(b: &mut Builder, key: &[Wire], block: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| rounds(b, block, schedule(key).iter().rev()))
}

/// Triple DES: encrypts under the first of three keys, decrypts under the second and encrypts under the third. Three
/// times the ANDs of [`des`].
///
/// # Panics
/// If the block has another length than 64 bits, or the keys together another than 192.
pub fn triple_des(b: &mut Builder, keys: &[Wire], block: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        assert_eq!(keys.len(), 192, "the three keys of triple DES have 192 bits");
        let first = des(b, &keys[128..], block);
        let second = des_decrypt(b, &keys[64..128], &first);
        des(b, &keys[..64], &second)
    })
}
