//! Words of any width.

use super::{fixed, sized, value};
use crate::library::arith;
use crate::library::registry::{Build, Entry, Size, Value, Width};
use crate::{Builder, Wire};

/// The widest words: a circuit of them is still built in milliseconds.
const WORD: usize = 65_536;
/// The widest factors: their product has a million ANDs.
const FACTOR: usize = 2_048;
/// The longest chain.
const CHAIN: usize = 1 << 20;

/// Two words of N bits.
const PAIR: &[Value] = &[value("a", Width::N), value("b", Width::N)];

const fn words(
    pattern: &'static str,
    about: &'static str,
    output: &'static [Value],
    build: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Entry {
    sized((pattern, &[WORD]), about, PAIR, output, Build::Words(build))
}

const fn bit(
    pattern: &'static str,
    about: &'static str,
    output: &'static [Value],
    build: fn(&mut Builder, &[Wire], &[Wire]) -> Wire,
) -> Entry {
    sized((pattern, &[WORD]), about, PAIR, output, Build::Bit(build))
}

pub(super) const ENTRIES: &[Entry] = &[
    words("addN", "a + b modulo 2^N", &[value("sum", Width::N)], arith::add),
    sized(
        ("addfullN", &[WORD]),
        "a + b with its carry",
        PAIR,
        &[value("sum", Width::NPlus1)],
        Build::Words(|b, x, y| {
            let (mut sum, carry) = arith::add_carry(b, x, y, Wire::ZERO);
            sum.push(carry);
            sum
        }),
    ),
    words("subN", "a - b modulo 2^N", &[value("difference", Width::N)], arith::sub),
    sized(
        ("mulN", &[FACTOR]),
        "a * b modulo 2^N, signed or unsigned",
        PAIR,
        &[value("product", Width::N)],
        Build::Words(arith::mul),
    ),
    sized(
        ("mulfullN", &[FACTOR]),
        "a * b in 2N bits, unsigned",
        PAIR,
        &[value("product", Width::TwiceN)],
        Build::Words(arith::mul_full),
    ),
    bit("eqN", "whether a = b", &[fixed("equal", 1)], arith::eq),
    bit("ltN", "whether a < b, unsigned", &[fixed("less", 1)], arith::lt),
    bit("leN", "whether a <= b, unsigned", &[fixed("result", 1)], arith::le),
    bit("gtN", "whether a > b, unsigned", &[fixed("greater", 1)], arith::gt),
    bit("geN", "whether a >= b, unsigned", &[fixed("result", 1)], arith::ge),
    bit("sltN", "whether a < b, signed", &[fixed("less", 1)], arith::lt_signed),
    bit("sleN", "whether a <= b, signed", &[fixed("result", 1)], arith::le_signed),
    bit("sgtN", "whether a > b, signed", &[fixed("greater", 1)], arith::gt_signed),
    bit("sgeN", "whether a >= b, signed", &[fixed("result", 1)], arith::ge_signed),
    words("minN", "the smaller one, unsigned", &[value("minimum", Width::N)], arith::min),
    words("maxN", "the greater one, unsigned", &[value("maximum", Width::N)], arith::max),
    words("sminN", "the smaller one, signed", &[value("minimum", Width::N)], arith::min_signed),
    words("smaxN", "the greater one, signed", &[value("maximum", Width::N)], arith::max_signed),
    sized(
        ("muxN", &[WORD]),
        "a if select is 1, else b",
        &[fixed("select", 1), value("a", Width::N), value("b", Width::N)],
        &[value("chosen", Width::N)],
        Build::Any(|b, _, v| arith::mux(b, v[0][0], &v[1], &v[2])),
    ),
    words("xorN", "a xor b, bit by bit", &[value("result", Width::N)], arith::xor),
    words("andN", "a and b, bit by bit", &[value("result", Width::N)], arith::and),
    words("orN", "a or b, bit by bit", &[value("result", Width::N)], arith::or),
    sized(
        ("hammingN", &[WORD]),
        "in how many bits a and b differ",
        PAIR,
        &[value("distance", Width::BitsOfN)],
        Build::Words(arith::hamming),
    ),
    sized(
        ("chainN", &[CHAIN]),
        "N ANDs, each of which needs the one before: for measuring",
        &[fixed("a", 128), fixed("b", 128)],
        &[fixed("end", 1)],
        Build::Any(chain),
    ),
];

/// A bit that is masked by the bits of one value and flipped by those of the other, in turn.
fn chain(b: &mut Builder, Size { n, .. }: Size, values: &[Vec<Wire>]) -> Vec<Wire> {
    let (masks, flips) = (&values[0], &values[1]);
    let mut bit = flips[127];
    for i in 0..n {
        let masked = b.and(bit, masks[i % 128]);
        bit = b.xor(masked, flips[i % 128]);
    }
    vec![bit]
}
