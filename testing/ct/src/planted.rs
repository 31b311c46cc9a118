//! What memcheck must see: a branch on a secret, an index, and each through what a protocol computes of it.

use std::hint::black_box;

use comity_core::{Block, CrHash, classify};
use rand_core::Rng;

use crate::secret::{SecretRng, backend, bits};

/// The planted leaks, by name.
pub(crate) const PLANTED: &[(&str, fn())] = &[
    ("branch on a bit of an input", branch),
    ("index by a secret", index),
    ("branch on a hash of a secret", hashed),
    ("branch on a generator's output", drawn),
];

/// Goes one of two ways, and the compiler cannot make one of them.
#[inline(never)]
fn choose(bit: bool) {
    if black_box(bit) {
        println!("a secret was one");
    } else {
        println!("a secret was zero");
    }
}

fn branch() {
    choose(bits(70).get(69));
}

fn index() {
    let (table, mut at) = (black_box([7u8; 256]), [3u8]);
    classify(&mut at);
    black_box(table[usize::from(black_box(at[0]))]);
}

fn hashed() {
    let mut secret = [Block::from_u128(9)];
    classify(&mut secret);
    CrHash::new(backend()).hash_blocks(&mut secret);
    choose(secret[0].lsb());
}

fn drawn() {
    choose(SecretRng::new(1).next_u32() & 1 == 1);
}
