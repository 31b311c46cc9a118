//! The table of built-in circuits.

use super::registry::{Build, Entry, Value, Width};
use super::{aes, arith, sha};
use crate::{Builder, Wire};

/// The widest words: a circuit of them is still built in milliseconds.
const WORD: usize = 65_536;
/// The widest factors: their product has a million ANDs.
const FACTOR: usize = 2_048;
/// The longest chain.
const CHAIN: usize = 1 << 20;

const fn value(name: &'static str, width: Width) -> Value {
    Value { name, width }
}

const fn fixed(name: &'static str, bits: usize) -> Value {
    value(name, Width::Fixed(bits))
}

/// Two words of N bits.
const PAIR: &[Value] = &[value("a", Width::N), value("b", Width::N)];

const fn single(
    pattern: &'static str,
    about: &'static str,
    inputs: &'static [Value],
    output: Value,
    build: Build,
) -> Entry {
    Entry { pattern, about, largest: None, inputs, output, build }
}

const fn sized(
    (pattern, largest): (&'static str, usize),
    about: &'static str,
    inputs: &'static [Value],
    output: Value,
    build: Build,
) -> Entry {
    Entry { pattern, about, largest: Some(largest), inputs, output, build }
}

const fn words(
    pattern: &'static str,
    about: &'static str,
    output: &'static str,
    build: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Entry {
    sized((pattern, WORD), about, PAIR, value(output, Width::N), Build::Words(build))
}

const fn bit(
    pattern: &'static str,
    about: &'static str,
    output: &'static str,
    build: fn(&mut Builder, &[Wire], &[Wire]) -> Wire,
) -> Entry {
    sized((pattern, WORD), about, PAIR, fixed(output, 1), Build::Bit(build))
}

pub(super) const TABLE: &[Entry] = &[
    single(
        "aes128",
        "AES-128 of one block, with its key expansion (FIPS 197)",
        &[fixed("key", 128), fixed("block", 128)],
        fixed("ciphertext", 128),
        Build::Words(aes::encrypt),
    ),
    single(
        "aes192",
        "AES-192 of one block, with its key expansion (FIPS 197)",
        &[fixed("key", 192), fixed("block", 128)],
        fixed("ciphertext", 128),
        Build::Words(aes::encrypt),
    ),
    single(
        "aes256",
        "AES-256 of one block, with its key expansion (FIPS 197)",
        &[fixed("key", 256), fixed("block", 128)],
        fixed("ciphertext", 128),
        Build::Words(aes::encrypt),
    ),
    single(
        "sha1",
        "SHA-1's compression of a padded block into a chaining value (FIPS 180-4)",
        &[fixed("message", 512), fixed("state", 160)],
        fixed("digest", 160),
        Build::Words(sha::sha1),
    ),
    single(
        "sha1-iv",
        "SHA-1 of one padded block, from the initial chaining value",
        &[fixed("message", 512)],
        fixed("digest", 160),
        Build::Any(|b, _, v| sha::sha1(b, &v[0], &initial(&sha::SHA1_INITIAL.map(u64::from), 32))),
    ),
    single(
        "sha256",
        "SHA-256's compression of a padded block into a chaining value (FIPS 180-4)",
        &[fixed("message", 512), fixed("state", 256)],
        fixed("digest", 256),
        Build::Words(sha::sha256),
    ),
    single(
        "sha256-iv",
        "SHA-256 of one padded block, from the initial chaining value",
        &[fixed("message", 512)],
        fixed("digest", 256),
        Build::Any(|b, _, v| sha::sha256(b, &v[0], &initial(&sha::SHA256_INITIAL.map(u64::from), 32))),
    ),
    single(
        "sha512",
        "SHA-512's compression of a padded block into a chaining value (FIPS 180-4)",
        &[fixed("message", 1024), fixed("state", 512)],
        fixed("digest", 512),
        Build::Words(sha::sha512),
    ),
    single(
        "sha512-iv",
        "SHA-512 of one padded block, from the initial chaining value",
        &[fixed("message", 1024)],
        fixed("digest", 512),
        Build::Any(|b, _, v| sha::sha512(b, &v[0], &initial(&sha::SHA512_INITIAL, 64))),
    ),
    single(
        "keccak-f",
        "Keccak-f[1600], the permutation of SHA-3 (FIPS 202), on the state's bytes as printed",
        &[fixed("state", 1600)],
        fixed("state", 1600),
        Build::Any(|b, _, v| sha::keccak_f(b, &v[0])),
    ),
    words("addN", "a + b modulo 2^N", "sum", arith::add),
    sized(
        ("addfullN", WORD),
        "a + b with its carry",
        PAIR,
        value("sum", Width::NPlus1),
        Build::Words(|b, x, y| {
            let (mut sum, carry) = arith::add_carry(b, x, y, Wire::ZERO);
            sum.push(carry);
            sum
        }),
    ),
    words("subN", "a - b modulo 2^N", "difference", arith::sub),
    sized(
        ("mulN", FACTOR),
        "a * b modulo 2^N, signed or unsigned",
        PAIR,
        value("product", Width::N),
        Build::Words(arith::mul),
    ),
    sized(
        ("mulfullN", FACTOR),
        "a * b in 2N bits, unsigned",
        PAIR,
        value("product", Width::TwiceN),
        Build::Words(arith::mul_full),
    ),
    bit("eqN", "whether a = b", "equal", arith::eq),
    bit("ltN", "whether a < b, unsigned", "less", arith::lt),
    bit("leN", "whether a <= b, unsigned", "result", arith::le),
    bit("gtN", "whether a > b, unsigned", "greater", arith::gt),
    bit("geN", "whether a >= b, unsigned", "result", arith::ge),
    bit("sltN", "whether a < b, signed", "less", arith::lt_signed),
    bit("sleN", "whether a <= b, signed", "result", arith::le_signed),
    bit("sgtN", "whether a > b, signed", "greater", arith::gt_signed),
    bit("sgeN", "whether a >= b, signed", "result", arith::ge_signed),
    words("minN", "the smaller one, unsigned", "minimum", arith::min),
    words("maxN", "the greater one, unsigned", "maximum", arith::max),
    words("sminN", "the smaller one, signed", "minimum", arith::min_signed),
    words("smaxN", "the greater one, signed", "maximum", arith::max_signed),
    sized(
        ("muxN", WORD),
        "a if select is 1, else b",
        &[fixed("select", 1), value("a", Width::N), value("b", Width::N)],
        value("chosen", Width::N),
        Build::Any(|b, _, v| arith::mux(b, v[0][0], &v[1], &v[2])),
    ),
    words("xorN", "a xor b, bit by bit", "result", arith::xor),
    words("andN", "a and b, bit by bit", "result", arith::and),
    words("orN", "a or b, bit by bit", "result", arith::or),
    sized(
        ("hammingN", WORD),
        "in how many bits a and b differ",
        PAIR,
        value("distance", Width::BitsOfN),
        Build::Words(arith::hamming),
    ),
    sized(
        ("chainN", CHAIN),
        "N ANDs, each of which needs the one before: for measuring",
        &[fixed("a", 128), fixed("b", 128)],
        fixed("end", 1),
        Build::Any(chain),
    ),
];

/// A chaining value of words of so many bits, as wires.
fn initial(state: &[u64], bits: usize) -> Vec<Wire> {
    state.iter().rev().flat_map(|&word| arith::constant(word.into(), bits)).collect()
}

/// A bit that is masked by the bits of one value and flipped by those of the other, in turn.
fn chain(b: &mut Builder, n: usize, values: &[Vec<Wire>]) -> Vec<Wire> {
    let (masks, flips) = (&values[0], &values[1]);
    let mut bit = flips[127];
    for i in 0..n {
        let masked = b.and(bit, masks[i % 128]);
        bit = b.xor(masked, flips[i % 128]);
    }
    vec![bit]
}
