//! Hash functions against the example values of FIPS 180-4 and FIPS 202; padding and chaining are done here.

use comity_circuit::Circuit;
use comity_library::sha;

use crate::{circuit, run_hex};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes a message with a compression function of blocks of `block` bytes.
fn digest(compress: &Circuit, initial: &str, block: usize, message: &[u8]) -> String {
    let mut padded = [message, &[0x80]].concat();
    // The length takes an eighth of a block, of which we need the last 8 bytes.
    while padded.len() % block != block - block / 8 {
        padded.push(0);
    }
    padded.resize(padded.len() + block / 8 - 8, 0);
    padded.extend((8 * message.len() as u64).to_be_bytes());
    let chain = |state: String, block: &[u8]| run_hex(compress, &[&hex(block), &state]).remove(0);
    padded.chunks(block).fold(initial.into(), chain)
}

/// A message of many blocks; its digests below are those of an independent implementation.
fn long() -> Vec<u8> {
    (0..1000u32).map(|i| (i * i + 7 * i) as u8).collect()
}

const TWO_BLOCKS: &[u8] = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
const TWO_LONG_BLOCKS: &[u8] = b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
    hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";

#[test]
fn sha_1_is_that_of_fips_180() {
    let c = circuit([512, 160], |b, [message, state]| vec![sha::sha1(b, message, state)]);
    let initial: String = sha::SHA1_INITIAL.iter().map(|word| format!("{word:08x}")).collect();
    for (message, expected) in [
        (&b""[..], "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        (b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (TWO_BLOCKS, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        (&long(), "6c7f234e147775177577bca29a1fcfd7b30845a6"),
    ] {
        assert_eq!(digest(&c, &initial, 64, message), expected);
    }
}

#[test]
fn sha_256_is_that_of_fips_180() {
    let c = circuit([512, 256], |b, [message, state]| vec![sha::sha256(b, message, state)]);
    let initial: String = sha::SHA256_INITIAL.iter().map(|word| format!("{word:08x}")).collect();
    for (message, expected) in [
        (&b""[..], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (TWO_BLOCKS, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        (&long(), "3a6247ffca08d357d4eab1bbd8372cabf9e11e54b66007607c3d5546a422dd57"),
    ] {
        assert_eq!(digest(&c, &initial, 64, message), expected);
    }
}

#[test]
fn sha_512_is_that_of_fips_180() {
    let c = circuit([1024, 512], |b, [message, state]| vec![sha::sha512(b, message, state)]);
    let initial: String = sha::SHA512_INITIAL.iter().map(|word| format!("{word:016x}")).collect();
    for (message, expected) in [
        (
            &b""[..],
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
             47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
        ),
        (
            b"abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        (
            TWO_LONG_BLOCKS,
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
             501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
        ),
        (
            &long(),
            "a0906063b64bf38e601c2c563fe680ad026969597d154bb9c1161e4da1ef5982\
             a0dc73407cfa81a245fda3f3b8f0bbcade702921e9e1e8b9e2451b4e88873c76",
        ),
    ] {
        assert_eq!(digest(&c, &initial, 128, message), expected);
    }
}

#[test]
fn keccak_f_is_that_of_fips_202() {
    let c = circuit([1600], |b, [state]| vec![sha::keccak_f(b, state)]);
    for (bits, message, expected) in [
        (224, &b""[..], "6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7"),
        (256, b"", "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
        (224, &[0xa3; 200], "9376816aba503f72f96ce7eb65ac095deee3be4bf9bbc2a1cb7e11e0"),
        (256, &[0xa3; 200], "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787"),
        (
            512,
            &[0xa3; 200],
            "e76dfad22084a8b1467fcf2ffa58361bec7628edf5f3fdc0e4805dc48caeeca8\
             1b7c13c30adf52a3659584739a2df46be589c51ca1a4a8416df6545a1ce8ba00",
        ),
    ] {
        assert_eq!(sha3(&c, bits, message), expected);
    }
}

/// The digest of SHA-3 of `bits` bits.
fn sha3(permutation: &Circuit, bits: usize, message: &[u8]) -> String {
    let rate = 200 - bits / 4;
    let mut padded = [message, &[0x06]].concat();
    padded.resize(padded.len().next_multiple_of(rate), 0);
    *padded.last_mut().unwrap() |= 0x80;
    let absorb = |state: String, block: &[u8]| {
        let byte = |i: usize| u8::from_str_radix(&state[2 * i..2 * i + 2], 16).unwrap();
        let mixed: Vec<u8> = (0..200).map(|i| byte(i) ^ block.get(i).unwrap_or(&0)).collect();
        run_hex(permutation, &[&hex(&mixed)]).remove(0)
    };
    let state = padded.chunks(rate).fold("00".repeat(200), absorb);
    state[..bits / 4].into()
}
