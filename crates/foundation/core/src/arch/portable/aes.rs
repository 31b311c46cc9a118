//! AES-128 on eight blocks at once, each under its own key, bitsliced: constant time on any machine.
//!
//! *Layout.* The state is eight *planes* of 128 bits; plane `b` holds bit `b` of every byte of the eight blocks.
//! Byte `4 * row + column` of a plane belongs to that position of the AES state, and bit `i` of the byte to block
//! `i`. AES itself numbers its bytes column by column; row by row, ShiftRows turns each 32-bit lane by whole
//! bytes, and MixColumns turns the plane by whole lanes.
//!
//! *Cost.* About 350 operations on 128 bits a round for eight blocks; expanding eight keys costs half of that.

use crate::arch::RoundKeys;
use crate::memory::block::Block;

type Planes = [u128; 8];

/// The round keys of eight independent keys, bitsliced.
pub(crate) struct Keys8([Planes; 11]);

/// Expands eight independent keys.
pub(crate) fn expand8(keys: &[Block; 8]) -> Keys8 {
    let mut key = pack(keys);
    let mut rounds = [key; 11];
    let mut constant = 1u8;
    for round in &mut rounds[1..] {
        // RotWord and SubWord of the last column; the other three columns go along for nothing.
        let turned = sub_bytes(key.map(|plane| plane.rotate_right(32)));
        for (bit, plane) in key.iter_mut().enumerate() {
            let rcon = 0xff * u128::from(constant >> bit & 1);
            // Each word adds the one before it: a prefix sum over the columns.
            *plane ^= (turned[bit] >> 24) & lanes(0x0000_00ff) ^ rcon;
            *plane ^= (*plane << 8) & lanes(0xffff_ff00);
            *plane ^= (*plane << 16) & lanes(0xffff_0000);
        }
        *round = key;
        constant = (constant << 1) ^ (0x1b * (constant >> 7));
    }
    Keys8(rounds)
}

/// Encrypts block `i` under key `i`.
pub(crate) fn encrypt8(keys: &Keys8, blocks: &mut [Block; 8]) {
    let mut state = pack(blocks);
    add(&mut state, &keys.0[0]);
    for round in &keys.0[1..10] {
        state = mix_columns(sub_bytes(state).map(shift_rows));
        add(&mut state, round);
    }
    state = sub_bytes(state).map(shift_rows);
    add(&mut state, &keys.0[10]);
    *blocks = unpack(state);
}

/// The round keys of one key, as in FIPS 197.
pub(crate) fn expand(key: Block) -> RoundKeys {
    expand8(&[key; 8]).0.map(|round| unpack(round)[0])
}

/// Encrypts every block under one key.
pub(crate) fn encrypt(rounds: &RoundKeys, blocks: &mut [[u8; 16]]) {
    let keys = broadcast(rounds);
    for_each8(blocks, |batch, _| encrypt8(&keys, batch));
}

/// Writes the encryptions of `first`, `first + 1`, ...
pub(crate) fn counter(rounds: &RoundKeys, first: u128, out: &mut [[u8; 16]]) {
    let keys = broadcast(rounds);
    for_each8(out, |batch, start| {
        *batch = core::array::from_fn(|i| Block::from_u128(first.wrapping_add((start + i) as u128)));
        encrypt8(&keys, batch);
    });
}

/// Replaces block `j` = x by pi(pi(x) ^ (first + j)) ^ pi(x).
pub(crate) fn tccr(rounds: &RoundKeys, first: u128, blocks: &mut [[u8; 16]]) {
    let keys = broadcast(rounds);
    for_each8(blocks, |batch, start| {
        encrypt8(&keys, batch);
        let inner = *batch;
        for (i, block) in batch.iter_mut().enumerate() {
            *block ^= Block::from_u128(first.wrapping_add((start + i) as u128));
        }
        encrypt8(&keys, batch);
        for (block, inner) in batch.iter_mut().zip(inner) {
            *block ^= inner;
        }
    });
}

/// Replaces every block x by pi(x) ^ x.
pub(crate) fn cr(rounds: &RoundKeys, blocks: &mut [[u8; 16]]) {
    let keys = broadcast(rounds);
    for_each8(blocks, |batch, _| {
        let plain = *batch;
        encrypt8(&keys, batch);
        for (block, plain) in batch.iter_mut().zip(plain) {
            *block ^= plain;
        }
    });
}

/// Writes the hashes of block `j` and of its sum with `delta`, both under the tweak `first + j`.
pub(crate) fn tccr_pairs(
    rounds: &RoundKeys,
    first: u128,
    delta: [u8; 16],
    blocks: &[[u8; 16]],
    pairs: &mut [[[u8; 16]; 2]],
) {
    both(delta, blocks, pairs, |start, side| tccr(rounds, first.wrapping_add(start), side));
}

/// Writes pi(x) ^ x for every block, and for its sum with `delta`.
pub(crate) fn cr_pairs(rounds: &RoundKeys, delta: [u8; 16], blocks: &[[u8; 16]], pairs: &mut [[[u8; 16]; 2]]) {
    both(delta, blocks, pairs, |_, side| cr(rounds, side));
}

/// Hashes blocks and their sums with `delta`; `hash` gets some of either, and the index of the first.
fn both(delta: [u8; 16], blocks: &[[u8; 16]], pairs: &mut [[[u8; 16]; 2]], hash: impl Fn(u128, &mut [[u8; 16]])) {
    for ((pairs, blocks), start) in pairs.chunks_mut(64).zip(blocks.chunks(64)).zip((0..).step_by(64)) {
        let mut sides = [[[0; 16]; 64]; 2];
        for (i, block) in blocks.iter().enumerate() {
            sides[0][i] = *block;
            sides[1][i] = (Block::new(*block) ^ Block::new(delta)).to_bytes();
        }
        for side in &mut sides {
            hash(start, &mut side[..blocks.len()]);
        }
        for (i, pair) in pairs.iter_mut().enumerate() {
            *pair = [sides[0][i], sides[1][i]];
        }
    }
}

/// Runs `f` on eight blocks at a time, with the index of the first; the last batch is padded.
fn for_each8(blocks: &mut [[u8; 16]], mut f: impl FnMut(&mut [Block; 8], usize)) {
    for (batch, chunk) in blocks.chunks_mut(8).enumerate() {
        let mut work: [Block; 8] = core::array::from_fn(|i| Block::new(chunk.get(i).copied().unwrap_or_default()));
        f(&mut work, 8 * batch);
        for (block, result) in chunk.iter_mut().zip(work) {
            *block = result.to_bytes();
        }
    }
}

/// The bitsliced form of one key's round keys, eight times the same.
fn broadcast(rounds: &RoundKeys) -> Keys8 {
    Keys8(rounds.map(|round| pack(&[round; 8])))
}

/// A plane with the same 32 bits in each of its four lanes.
const fn lanes(pattern: u32) -> u128 {
    pattern as u128 * 0x0000_0001_0000_0001_0000_0001_0000_0001
}

fn add(state: &mut Planes, round: &Planes) {
    for (plane, key) in state.iter_mut().zip(round) {
        *plane ^= key;
    }
}

/// Turns row `r` left by `r` bytes.
fn shift_rows(plane: u128) -> u128 {
    let row = |r: u32| u128::from(((plane >> (32 * r)) as u32).rotate_right(8 * r)) << (32 * r);
    row(0) | row(1) | row(2) | row(3)
}

fn mix_columns(state: Planes) -> Planes {
    // With a, b, c, d going down a column: 2a + 3b + c + d = 2(a + b) + (b + c + d).
    let pair = state.map(|plane| plane ^ plane.rotate_right(32));
    let mut mixed: Planes = core::array::from_fn(|bit| state[bit].rotate_right(32) ^ pair[bit].rotate_right(64));
    for bit in 0..8 {
        mixed[bit] ^= pair[(bit + 7) % 8];
    }
    for bit in [1, 3, 4] {
        mixed[bit] ^= pair[7];
    }
    mixed
}

/// Transposes a state: bytes in columns to bytes in rows, and back.
fn transpose_state(mut block: u128) -> u128 {
    for (shift, mask) in
        [(24, 0x0000_0000_ff00_ff00_0000_0000_ff00_ff00), (48, 0x0000_0000_0000_0000_ffff_0000_ffff_0000)]
    {
        let swap = (block >> shift ^ block) & mask;
        block ^= swap ^ swap << shift;
    }
    block
}

/// Transposes bits: word `i`, bit `j` of each byte to word `j`, bit `i`. It is its own inverse.
fn transpose_bits(words: &mut Planes) {
    for (shift, mask) in [(4, 0x0f), (2, 0x33), (1, 0x55)] {
        let mask = mask * (u128::MAX / 0xff);
        for i in 0..8 {
            if i & shift == 0 {
                let swap = (words[i] >> shift ^ words[i + shift]) & mask;
                words[i + shift] ^= swap;
                words[i] ^= swap << shift;
            }
        }
    }
}

fn pack(blocks: &[Block; 8]) -> Planes {
    let mut planes = blocks.map(|block| transpose_state(block.to_u128()));
    transpose_bits(&mut planes);
    planes
}

fn unpack(mut planes: Planes) -> [Block; 8] {
    transpose_bits(&mut planes);
    planes.map(|word| Block::from_u128(transpose_state(word)))
}

/// SubBytes by the straight-line program of Boyar and Peralta ("A depth-16 circuit for the AES S-box", 2011):
/// 32 AND. The names are the paper's.
#[rustfmt::skip]
fn sub_bytes(planes: Planes) -> Planes {
    let [x7, x6, x5, x4, x3, x2, x1, x0] = planes;
    // The linear layer into the tower field.
    let y14 = x3 ^ x5;   let y13 = x0 ^ x6;   let y9 = x0 ^ x3;    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;    let y1 = t0 ^ x7;    let y4 = y1 ^ x3;    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;    let y5 = y1 ^ x6;    let y3 = y5 ^ y8;    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;   let y20 = t1 ^ x1;   let y6 = y15 ^ x7;   let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;  let y7 = x7 ^ y11;   let y17 = y10 ^ y11; let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;  let y21 = y13 ^ y16; let y18 = x0 ^ y16;
    // Inversion.
    let t2 = y12 & y15;  let t3 = y3 & y6;    let t4 = t3 ^ t2;    let t5 = y4 & x7;
    let t6 = t5 ^ t2;    let t7 = y13 & y16;  let t8 = y5 & y1;    let t9 = t8 ^ t7;
    let t10 = y2 & y7;   let t11 = t10 ^ t7;  let t12 = y9 & y11;  let t13 = y14 & y17;
    let t14 = t13 ^ t12; let t15 = y8 & y10;  let t16 = t15 ^ t12; let t17 = t4 ^ t14;
    let t18 = t6 ^ t16;  let t19 = t9 ^ t14;  let t20 = t11 ^ t16; let t21 = t17 ^ y20;
    let t22 = t18 ^ y19; let t23 = t19 ^ y21; let t24 = t20 ^ y18; let t25 = t21 ^ t22;
    let t26 = t21 & t23; let t27 = t24 ^ t26; let t28 = t25 & t27; let t29 = t28 ^ t22;
    let t30 = t23 ^ t24; let t31 = t22 ^ t26; let t32 = t31 & t30; let t33 = t32 ^ t24;
    let t34 = t23 ^ t33; let t35 = t27 ^ t33; let t36 = t24 & t35; let t37 = t36 ^ t34;
    let t38 = t27 ^ t36; let t39 = t29 & t38; let t40 = t25 ^ t39; let t41 = t40 ^ t37;
    let t42 = t29 ^ t33; let t43 = t29 ^ t40; let t44 = t33 ^ t37; let t45 = t42 ^ t41;
    let z0 = t44 & y15;  let z1 = t37 & y6;   let z2 = t33 & x7;   let z3 = t43 & y16;
    let z4 = t40 & y1;   let z5 = t29 & y7;   let z6 = t42 & y11;  let z7 = t45 & y17;
    let z8 = t41 & y10;  let z9 = t44 & y12;  let z10 = t37 & y3;  let z11 = t33 & y4;
    let z12 = t43 & y13; let z13 = t40 & y5;  let z14 = t29 & y2;  let z15 = t42 & y9;
    let z16 = t45 & y14; let z17 = t41 & y8;
    // The linear layer back, with the affine map of FIPS 197.
    let t46 = z15 ^ z16; let t47 = z10 ^ z11; let t48 = z5 ^ z13;  let t49 = z9 ^ z10;
    let t50 = z2 ^ z12;  let t51 = z2 ^ z5;   let t52 = z7 ^ z8;   let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;   let t55 = z16 ^ z17; let t56 = z12 ^ t48; let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;  let t59 = z3 ^ t54;  let t60 = t46 ^ t57; let t61 = z14 ^ t57;
    let t62 = t52 ^ t58; let t63 = t49 ^ t58; let t64 = z4 ^ t59;  let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;  let t67 = t64 ^ t65;
    let s0 = t59 ^ t63;  let s6 = !(t56 ^ t62); let s7 = !(t48 ^ t60); let s3 = t53 ^ t66;
    let s4 = t51 ^ t66;  let s5 = t47 ^ t65;  let s1 = !(t64 ^ s3);  let s2 = !(t55 ^ t67);
    [s7, s6, s5, s4, s3, s2, s1, s0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The S-box from its definition: inversion in GF(2^8), then the affine map.
    fn s_box() -> [u8; 256] {
        let double = |x: u8| (x << 1) ^ (0x1b * (x >> 7));
        let affine = |x: u8| [1, 2, 3, 4].iter().fold(x, |sum, &n| sum ^ x.rotate_left(n)) ^ 0x63;
        let mut table = [affine(0); 256];
        // The powers of x + 1 are all elements but zero; power i is the inverse of power 255 - i.
        let powers: Vec<u8> = core::iter::successors(Some(1), |&x| Some(x ^ double(x))).take(256).collect();
        for i in 0..=255 {
            table[usize::from(powers[i])] = affine(powers[255 - i]);
        }
        table
    }

    #[test]
    fn sub_bytes_is_the_s_box() {
        let table = s_box();
        for start in [0, 128] {
            let blocks = core::array::from_fn(|i| Block::new(core::array::from_fn(|j| (start + 16 * i + j) as u8)));
            let expected = blocks.map(|b: Block| b.to_bytes().map(|x| table[usize::from(x)]));
            assert_eq!(unpack(sub_bytes(pack(&blocks))).map(Block::to_bytes), expected);
        }
    }

    #[test]
    fn fips_197_appendix_a1() {
        let key = Block::new(*b"\x2b\x7e\x15\x16\x28\xae\xd2\xa6\xab\xf7\x15\x88\x09\xcf\x4f\x3c");
        let rounds = expand(key);
        assert_eq!(rounds[0].to_bytes(), key.to_bytes());
        assert_eq!(rounds[1].to_bytes(), *b"\xa0\xfa\xfe\x17\x88\x54\x2c\xb1\x23\xa3\x39\x39\x2a\x6c\x76\x05");
        assert_eq!(rounds[10].to_bytes(), *b"\xd0\x14\xf9\xa8\xc9\xee\x25\x89\xe1\x3f\x0c\xc8\xb6\x63\x0c\xa6");
    }

    #[test]
    fn each_block_is_encrypted_under_its_own_key() {
        // FIPS 197, appendices B and C.1, in turn.
        let cases = [
            (
                *b"\x2b\x7e\x15\x16\x28\xae\xd2\xa6\xab\xf7\x15\x88\x09\xcf\x4f\x3c",
                *b"\x32\x43\xf6\xa8\x88\x5a\x30\x8d\x31\x31\x98\xa2\xe0\x37\x07\x34",
                *b"\x39\x25\x84\x1d\x02\xdc\x09\xfb\xdc\x11\x85\x97\x19\x6a\x0b\x32",
            ),
            (
                *b"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f",
                *b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff",
                *b"\x69\xc4\xe0\xd8\x6a\x7b\x04\x30\xd8\xcd\xb7\x80\x70\xb4\xc5\x5a",
            ),
        ];
        let case = |i: usize| cases[i * 5 % 3 % 2];
        let keys = core::array::from_fn(|i| Block::new(case(i).0));
        let mut blocks = core::array::from_fn(|i| Block::new(case(i).1));
        encrypt8(&expand8(&keys), &mut blocks);
        for (i, block) in blocks.iter().enumerate() {
            assert_eq!(block.to_bytes(), case(i).2, "block {i}");
        }
    }
}
