//! AES, the generator and the hash: published vectors, and equal bytes on every backend.

use comity_core::{Aes128, Backend, Block, CrHash, Prg, TccrHash};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};

use crate::{backends, reference};

/// Blocks from hexadecimal digits.
fn blocks(hex: &str) -> Vec<Block> {
    let digits: Vec<u8> = hex.bytes().filter_map(|c| char::from(c).to_digit(16)).map(|d| d as u8).collect();
    let bytes: Vec<u8> = digits.chunks(2).map(|d| d[0] << 4 | d[1]).collect();
    bytes.chunks(16).map(|b| Block::new(b.try_into().unwrap())).collect()
}

fn bytes(blocks: &[Block]) -> &[u8] {
    Block::bytes_of(blocks)
}

/// Some blocks, all different.
fn some_blocks(count: usize) -> Vec<Block> {
    let block = |i: u128| Block::from_u128((i + 1).wrapping_mul(0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6979));
    (0..count as u128).map(block).collect()
}

const NIST_KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const NIST_TEXT: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

#[test]
fn published_vectors() {
    let cases = [
        // FIPS 197, appendix B.
        (NIST_KEY, "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
        // FIPS 197, appendix C.1.
        ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
        // NIST SP 800-38A, F.1.1 (ECB-AES128.Encrypt).
        (
            NIST_KEY,
            NIST_TEXT,
            "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf
             43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4",
        ),
    ];
    for backend in backends() {
        for (key, plain, cipher) in cases {
            let mut state = blocks(plain);
            Aes128::new(backend, blocks(key)[0]).encrypt(&mut state);
            assert_eq!(bytes(&state), bytes(&blocks(cipher)), "{backend}");
        }
    }
}

#[test]
fn nist_sp_800_38a_counter_mode() {
    // F.5.1 (CTR-AES128.Encrypt). Its counter is big-endian.
    let first = u128::from_be_bytes(blocks("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")[0].to_bytes());
    let cipher = blocks(
        "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
         5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee",
    );
    for backend in backends() {
        let mut pad: Vec<Block> = (0..4).map(|i| Block::new((first + i).to_be_bytes())).collect();
        Aes128::new(backend, blocks(NIST_KEY)[0]).encrypt(&mut pad);
        let text = blocks(NIST_TEXT);
        let result: Vec<Block> = pad.iter().zip(text).map(|(&a, b)| a ^ b).collect();
        assert_eq!(bytes(&result), bytes(&cipher), "{backend}");
    }
}

#[test]
fn every_length_and_key_encrypts_alike() {
    // Miri is thousands of times slower.
    let counts: &[usize] = if cfg!(miri) { &[0, 1, 7, 9, 33] } else { &core::array::from_fn::<_, 71, _>(|i| i) };
    for backend in backends() {
        for (&count, key) in counts.iter().zip(some_blocks(counts.len())) {
            let (mut expected, mut state) = (some_blocks(count), some_blocks(count));
            let portable = Aes128::new(reference(), key);
            expected.iter_mut().for_each(|block| portable.encrypt(core::slice::from_mut(block)));
            Aes128::new(backend, key).encrypt(&mut state);
            assert_eq!(bytes(&state), bytes(&expected), "{backend}, {count} blocks");
        }
    }
}

#[test]
fn the_generator_is_aes_in_counter_mode() {
    let seed = blocks(NIST_KEY)[0];
    let count = if cfg!(miri) { 50 } else { 1000 };
    for backend in backends() {
        let mut expected: Vec<Block> = (0..count).map(Block::from_u128).collect();
        Aes128::new(backend, seed).encrypt(&mut expected);
        let mut stream = vec![Block::ZERO; expected.len()];
        Prg::new(backend, seed).fill_blocks(&mut stream);
        assert_eq!(bytes(&stream), bytes(&expected), "{backend}");
        let mut prg = Prg::new(backend, seed);
        assert!(expected.iter().all(|&block| prg.block() == block), "{backend}");
    }
    // The encryption of the zero block under the key of FIPS 197, appendix B, starts the stream.
    let first = Prg::from_seed(seed.to_bytes()).block();
    assert_eq!(bytes(&[first]), bytes(&blocks("7df76b0c1ab899b33e42f047b91b546f")));
}

#[test]
fn numbers_are_read_from_the_stream() {
    for backend in backends() {
        let mut stream = [0; 24];
        Prg::new(backend, Block::ZERO).fill(&mut stream);
        let mut prg = Prg::new(backend, Block::ZERO);
        assert_eq!(prg.next_u32().to_le_bytes(), stream[..4]);
        assert_eq!(prg.next_u64().to_le_bytes(), stream[4..12]);
        let mut rest = [0; 12];
        prg.fill_bytes(&mut rest);
        assert_eq!(rest, stream[12..]);
    }
}

proptest! {
    #[test]
    fn the_stream_does_not_depend_on_the_requests(
        seed in any::<[u8; 16]>(),
        lengths in prop::collection::vec(prop_oneof![0usize..40, 200usize..300, 0usize..2000], 0..12),
    ) {
        let total = lengths.iter().sum();
        let mut whole = vec![0; total];
        Prg::new(reference(), Block::new(seed)).fill(&mut whole);
        for backend in backends() {
            let mut prg = Prg::new(backend, Block::new(seed));
            let mut pieces = Vec::new();
            for &length in &lengths {
                let start = pieces.len();
                pieces.resize(start + length, 0);
                prg.fill(&mut pieces[start..]);
            }
            prop_assert_eq!(&pieces, &whole);
        }
    }

    #[test]
    fn the_hash_is_its_definition(
        seed in any::<[u8; 16]>(),
        count in 0usize..100,
        tweak in prop_oneof![
            any::<u128>(),
            (0u64..100).prop_map(|n| u128::from(u64::MAX - n)),
            (0u128..100).prop_map(|n| u128::MAX - n),
            (0u128..1000),
        ],
    ) {
        let mut input = vec![Block::ZERO; count];
        Prg::from_seed(seed).fill_blocks(&mut input);
        let pi = Aes128::new(reference(), TccrHash::KEY);
        let mut inner = input.clone();
        pi.encrypt(&mut inner);
        let mut outer: Vec<Block> =
            inner.iter().zip(0..).map(|(&x, j)| x ^ Block::from_u128(tweak.wrapping_add(j))).collect();
        pi.encrypt(&mut outer);
        let expected: Vec<Block> = outer.iter().zip(&inner).map(|(&a, &b)| a ^ b).collect();
        for backend in backends() {
            let mut hashed = input.clone();
            TccrHash::new(backend).hash(tweak, &mut hashed);
            prop_assert_eq!(bytes(&hashed), bytes(&expected));
        }
    }
}

#[test]
fn pairs_are_the_hashes_of_both_sides() {
    // Miri leaves the last one out.
    let cases = [(0, 0), (1, 7), (15, 1 << 90), (16, u64::MAX as u128 - 5), (33, u128::MAX - 20), (200, 3)];
    for backend in backends() {
        let hash = TccrHash::new(backend);
        let delta = Block::from_u128(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
        // The tweak's low half wraps inside of some of these.
        for &(n, tweak) in &cases[..if cfg!(miri) { 5 } else { 6 }] {
            let mut blocks = vec![Block::ZERO; n];
            Prg::new(backend, Block::from_u128(n as u128)).fill_blocks(&mut blocks);
            let mut pairs = vec![[Block::ZERO; 2]; n];
            // Without a tweak: pi(x) ^ x.
            CrHash::new(backend).hash_pairs(delta, &blocks, &mut pairs);
            let pi = Aes128::new(reference(), TccrHash::KEY);
            for (side, add) in [Block::ZERO, delta].into_iter().enumerate() {
                let plain: Vec<Block> = blocks.iter().map(|&block| block ^ add).collect();
                let (mut encrypted, mut hashed) = (plain.clone(), plain.clone());
                pi.encrypt(&mut encrypted);
                CrHash::new(backend).hash_blocks(&mut hashed);
                for j in 0..n {
                    assert!(hashed[j] == encrypted[j] ^ plain[j], "{backend}: block {j} of {n}");
                    assert!(pairs[j][side] == hashed[j], "{backend}: {n} blocks: side {side} of pair {j}");
                }
            }
            hash.hash_pairs(tweak, delta, &blocks, &mut pairs);
            let mut sides = [blocks.clone(), blocks.iter().map(|&block| block ^ delta).collect()];
            for (side, hashed) in sides.iter_mut().enumerate() {
                hash.hash(tweak, hashed);
                for (j, (pair, hashed)) in pairs.iter().zip(hashed).enumerate() {
                    assert!(pair[side] == *hashed, "{backend}: {n} blocks: side {side} of pair {j}");
                }
            }
        }
    }
}

#[test]
fn masking_adds_the_stream_whatever_the_requests() {
    let seed = Block::from_u128(11);
    let len = if cfg!(miri) { 300 } else { 3000 };
    let mut stream = vec![0; len];
    Prg::new(Backend::detect(), seed).fill(&mut stream);
    let plain: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
    let mut masked = plain.clone();
    let mut prg = Prg::new(Backend::detect(), seed);
    let (first, rest) = masked.split_at_mut(33);
    [first, rest].into_iter().for_each(|part| prg.mask(part));
    assert!(masked.iter().zip(&plain).zip(&stream).all(|((masked, plain), pad)| *masked == plain ^ pad));
}

#[test]
fn random_blocks_are_the_generators_bytes() {
    let [mut drawing, mut filling] = [(); 2].map(|()| Prg::new(Backend::detect(), Block::from_u128(12)));
    let drawn: Vec<Block> = (0..20).map(|_| Block::random(&mut drawing)).collect();
    assert!(drawn.iter().all(|block| *block == filling.block()));
}

/// A block that is added to all results is that: on every backend, in place and counting.
#[test]
fn a_cipher_adds_a_block() {
    let add = Block::from_u128(0xfeed_0000_beef << 60);
    for backend in backends() {
        let cipher = Aes128::new(backend, Block::from_u128(77));
        for count in [1, 7, 40, 133] {
            let (mut plain, mut added) = (some_blocks(count), some_blocks(count));
            cipher.encrypt(&mut plain);
            cipher.adding(add).encrypt(&mut added);
            assert!(plain.iter().zip(&added).all(|(plain, added)| *plain ^ add == *added), "{backend}");
            cipher.count(u128::MAX - 3, &mut plain);
            cipher.adding(add).count(u128::MAX - 3, &mut added);
            assert!(plain.iter().zip(&added).all(|(plain, added)| *plain ^ add == *added), "{backend}");
        }
    }
}

/// Blocks under many keys are what each key by itself makes of them, on every backend and for any number of blocks.
#[test]
fn many_keys_are_each_of_them() {
    for backend in backends() {
        for (groups, each) in [(1, 1), (1, 2), (3, 3), (2, 8), (0, 0), (2, 0)] {
            let all = some_blocks(16 * groups * (1 + each));
            let (keys, blocks) = all.split_at(16 * groups);
            let (keys, mut blocks) = (keys.as_chunks().0, blocks.as_chunks().0.to_vec());
            let mut expected = blocks.clone();
            for (g, of_group) in expected.chunks_exact_mut(each.max(1)).enumerate() {
                for (i, &key) in keys[g].iter().enumerate() {
                    let cipher = Aes128::new(reference(), key);
                    of_group.iter_mut().for_each(|row| cipher.encrypt(&mut row[i..=i]));
                }
            }
            Aes128::encrypt_each(backend, keys, &mut blocks);
            assert!(blocks == expected, "{backend}: {groups} groups of keys, {each} groups of blocks each");
        }
    }
}
