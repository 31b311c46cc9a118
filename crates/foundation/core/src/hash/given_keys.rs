//! AES under given keys, a key for each block or for two: the pseudorandom function of garbling under
//! standard assumptions.
//!
//! **Source**: Gueron, Lindell, Nof, Pinkas (CCS 2015; D13.3 section 2.1): the key schedules of many keys are
//! pipelined, as encryptions are, so that a fresh key a block costs a small multiple of a fixed one. Here
//! sixteen schedules run side by side, sliced by words.

use crate::arch::Backend;
use crate::arch::garble as kernels;
use crate::memory::block::Block;

/// The number of keys whose schedules run side by side.
pub const KEYS_AT_ONCE: usize = 16;

/// Encrypts each block under its own key, sixteen at a time.
///
/// # Panics
/// If there is not a key for each block.
pub fn encrypt_under(backend: Backend, keys: &[[Block; KEYS_AT_ONCE]], blocks: &mut [[Block; KEYS_AT_ONCE]]) {
    assert_eq!(keys.len(), blocks.len(), "a key for each block");
    kernels::under_keys(backend, keys, blocks, None);
}

/// Encrypts `first[i]` and `second[i]` under one key, which is expanded once.
///
/// # Panics
/// If there is not a key for each block.
pub fn encrypt_twice_under(
    backend: Backend,
    keys: &[[Block; KEYS_AT_ONCE]],
    first: &mut [[Block; KEYS_AT_ONCE]],
    second: &mut [[Block; KEYS_AT_ONCE]],
) {
    assert!(keys.len() == first.len() && keys.len() == second.len(), "a key for two blocks");
    kernels::under_keys(backend, keys, first, Some(second));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::aes::Aes128;
    use crate::hash::prg::Prg;

    /// FIPS 197, appendix C.1, and SP 800-38A, F.1.1 (whose key is that of appendix B): in every place of a
    /// group.
    #[test]
    fn known_answers_come_out_in_every_place() {
        let block = |hex: u128| Block::new(hex.to_be_bytes());
        let vectors = [
            (
                0x000102030405060708090a0b0c0d0e0f,
                0x00112233445566778899aabbccddeeff,
                0x69c4e0d86a7b0430d8cdb78070b4c55a,
            ),
            (
                0x2b7e151628aed2a6abf7158809cf4f3c,
                0x6bc1bee22e409f96e93d7e117393172a,
                0x3ad77bb40d7a3660a89ecaf32466ef97,
            ),
            (
                0x2b7e151628aed2a6abf7158809cf4f3c,
                0xae2d8a571e03ac9c9eb76fac45af8e51,
                0xf5d3d58503b9699de785895a96fdbaaf,
            ),
        ]
        .map(|(key, plain, cipher)| (block(key), block(plain), block(cipher)));
        for backend in Backend::available() {
            let at = |i: usize| vectors[i % vectors.len()];
            let keys: [[Block; 16]; 3] = core::array::from_fn(|g| core::array::from_fn(|i| at(16 * g + i).0));
            let plain: [[Block; 16]; 3] = core::array::from_fn(|g| core::array::from_fn(|i| at(16 * g + i).1));
            let cipher: [[Block; 16]; 3] = core::array::from_fn(|g| core::array::from_fn(|i| at(16 * g + i).2));
            let mut blocks = plain;
            encrypt_under(backend, &keys, &mut blocks);
            assert!(blocks == cipher, "{backend}");
            let (mut first, mut second) = (plain, plain);
            encrypt_twice_under(backend, &keys, &mut first, &mut second);
            assert!(first == cipher && second == cipher, "{backend}");
        }
    }

    #[test]
    fn every_backend_encrypts_as_under_one_key_at_a_time() {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(1));
        for groups in 0..5 {
            let mut random =
                || (0..groups).map(|_| core::array::from_fn(|_| rng.block())).collect::<Vec<[Block; 16]>>();
            let (keys, plain, other) = (random(), random(), random());
            for backend in Backend::available() {
                let alone = |plain: &[[Block; 16]]| {
                    let mut blocks = plain.to_vec();
                    for (key, block) in keys.as_flattened().iter().zip(blocks.as_flattened_mut()) {
                        Aes128::new(backend, *key).encrypt(core::slice::from_mut(block));
                    }
                    blocks
                };
                let mut once = plain.clone();
                encrypt_under(backend, &keys, &mut once);
                assert!(once == alone(&plain), "{backend}: {groups} groups");
                let (mut first, mut second) = (plain.clone(), other.clone());
                encrypt_twice_under(backend, &keys, &mut first, &mut second);
                assert!(first == alone(&plain) && second == alone(&other), "{backend}: {groups} groups");
            }
        }
    }
}
