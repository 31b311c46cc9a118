//! Words of any width.

use comity_circuit::{Builder, Goal, Program, ProgramBuilder, Recipients, Wire};

use super::{fixed, sized, value};
use crate::arith;
use crate::entry::{Build, Entry, Size, Value, Width};

/// The widest words: a circuit of them is still built in milliseconds.
const WORD: usize = 65_536;
/// The widest factors: their product has a million ANDs.
const FACTOR: usize = 2_048;
/// The widest operands of a division: 2 million ANDs.
const DIVISOR: usize = 2_048;
/// The widest words modulo a secret number.
const MODULUS: usize = 1_024;
/// The most words of a sum of products, and the widest.
const DOT: &[usize] = &[1 << 20, 256];
/// The longest chain.
const CHAIN: usize = 1 << 20;

/// A word of N bits.
const ONE: &[Value] = &[value("a", Width::N)];
/// Two words of N bits.
const PAIR: &[Value] = &[value("a", Width::N), value("b", Width::N)];

const RESULT: &[Value] = &[value("result", Width::N)];

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

const fn one(
    pattern: &'static str,
    about: &'static str,
    output: &'static [Value],
    build: fn(&mut Builder, Size, &[Vec<Wire>]) -> Vec<Wire>,
) -> Entry {
    sized((pattern, &[WORD]), about, ONE, output, Build::Any(build))
}

/// A word and an amount that covers its bits.
const SHIFT: &[Value] = &[value("a", Width::N), value("amount", Width::IndexOfN)];

const fn shift(
    pattern: &'static str,
    about: &'static str,
    build: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Entry {
    sized((pattern, &[WORD]), about, SHIFT, RESULT, Build::Words(build))
}

const fn division(
    pattern: &'static str,
    about: &'static str,
    output: &'static [Value],
    build: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Entry {
    sized((pattern, &[DIVISOR]), about, PAIR, output, Build::Words(build))
}

const fn modular(
    pattern: &'static str,
    about: &'static str,
    limits: &'static [usize],
    build: fn(&mut Builder, Size, &[Vec<Wire>]) -> Vec<Wire>,
) -> Entry {
    const INPUTS: &[Value] = &[value("a", Width::N), value("b", Width::N), value("modulus", Width::N)];
    sized((pattern, limits), about, INPUTS, RESULT, Build::Any(build))
}

pub(super) const ENTRIES: &[Entry] = &[
    words("addN", "a + b modulo 2^N", &[value("sum", Width::N)], arith::add),
    sized(
        ("addNtable", &[1024]),
        "the same by look-ups of carries of radix four: 64 bits in three rounds",
        PAIR,
        &[value("sum", Width::N)],
        Build::Program(|goal, size| arith::radix4::table_program(goal, size.n)),
    ),
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
    words("addsatN", "a + b, or 2^N - 1 if that is less, unsigned", &[value("sum", Width::N)], arith::add_saturating),
    words("subsatN", "a - b, or 0 if b is greater, unsigned", &[value("difference", Width::N)], arith::sub_saturating),
    words(
        "saddsatN",
        "a + b, or the nearest number of N bits, signed",
        &[value("sum", Width::N)],
        arith::add_saturating_signed,
    ),
    words(
        "ssubsatN",
        "a - b, or the nearest number of N bits, signed",
        &[value("difference", Width::N)],
        arith::sub_saturating_signed,
    ),
    words(
        "addprefixN",
        "a + b modulo 2^N in few layers, for secret sharing",
        &[value("sum", Width::N)],
        arith::add_prefix,
    ),
    words(
        "subprefixN",
        "a - b modulo 2^N in few layers, for secret sharing",
        &[value("difference", Width::N)],
        arith::sub_prefix,
    ),
    one("negN", "-a modulo 2^N", RESULT, |b, _, v| arith::negate(b, &v[0])),
    one("absN", "|a| of a signed a, as an unsigned number", RESULT, |b, _, v| arith::abs(b, &v[0])),
    words("absdiffN", "|a - b|, unsigned", &[value("difference", Width::N)], arith::abs_diff),
    words(
        "sabsdiffN",
        "|a - b|, signed a and b, unsigned result",
        &[value("difference", Width::N)],
        arith::abs_diff_signed,
    ),
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
    sized(
        ("sqrN", &[FACTOR]),
        "a * a modulo 2^N, signed or unsigned",
        ONE,
        &[value("square", Width::N)],
        Build::Any(|b, _, v| arith::square(b, &v[0])),
    ),
    sized(
        ("sqrfullN", &[FACTOR]),
        "a * a in 2N bits, unsigned",
        ONE,
        &[value("square", Width::TwiceN)],
        Build::Any(|b, _, v| arith::square_full(b, &v[0])),
    ),
    division("divN", "a / b, unsigned; all ones for b = 0", &[value("quotient", Width::N)], arith::div),
    division("remN", "a % b, unsigned; a for b = 0", &[value("remainder", Width::N)], arith::rem),
    sized(
        ("divremN", &[DIVISOR]),
        "a / b and a % b, unsigned; all ones and a for b = 0",
        PAIR,
        &[value("quotient", Width::N), value("remainder", Width::N)],
        Build::Several(|b, _, v| <[_; 2]>::from(arith::div_rem(b, &v[0], &v[1])).to_vec()),
    ),
    division(
        "sdivN",
        "a / b, signed, rounded towards zero; -1 for b = 0",
        &[value("quotient", Width::N)],
        arith::div_signed,
    ),
    division(
        "sremN",
        "a % b, signed, with the sign of a; a for b = 0",
        &[value("remainder", Width::N)],
        arith::rem_signed,
    ),
    sized(
        ("sdivremN", &[DIVISOR]),
        "a / b and a % b, signed, rounded towards zero; -1 and a for b = 0",
        PAIR,
        &[value("quotient", Width::N), value("remainder", Width::N)],
        Build::Several(|b, _, v| <[_; 2]>::from(arith::div_rem_signed(b, &v[0], &v[1])).to_vec()),
    ),
    sized(
        ("sqrtN", &[2 * DIVISOR]),
        "the integer square root of a, rounded down",
        ONE,
        &[value("root", Width::N)],
        Build::Any(|b, size, v| arith::padded(&arith::sqrt(b, &v[0]), size.n)),
    ),
    modular("modaddN", "a + b modulo a third number, for a and b less than that", &[WORD], |b, _, v| {
        arith::add_mod(b, &v[0], &v[1], &v[2])
    }),
    modular("modsubN", "a - b modulo a third number, for a and b less than that", &[WORD], |b, _, v| {
        arith::sub_mod(b, &v[0], &v[1], &v[2])
    }),
    modular("modmulN", "a * b modulo a third number, for a and b less than that", &[MODULUS], |b, _, v| {
        arith::mul_mod(b, &v[0], &v[1], &v[2])
    }),
    sized(
        ("dotNxW", DOT),
        "the sum of the products of N pairs of numbers of W bits, modulo 2^W",
        &[value("a", Width::NTimesW), value("b", Width::NTimesW)],
        &[value("sum", Width::W)],
        Build::Program(dot),
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
    bit(
        "ltprefixN",
        "whether a < b, unsigned, in few layers, for secret sharing",
        &[fixed("less", 1)],
        arith::lt_prefix,
    ),
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
    words("xorN", "a xor b, bit by bit", RESULT, arith::xor),
    words("andN", "a and b, bit by bit", RESULT, arith::and),
    words("orN", "a or b, bit by bit", RESULT, arith::or),
    shift("shlN", "a shifted to the left; 0 from N bits on", arith::shl_by),
    shift("shrN", "a shifted to the right; 0 from N bits on", arith::shr_by),
    shift("sarN", "a shifted to the right, signed; its sign from N bits on", arith::sar_by),
    shift("rotlN", "a rotated to the left", arith::rotl_by),
    shift("rotrN", "a rotated to the right", arith::rotr_by),
    one("popcountN", "how many bits of a are one", &[value("count", Width::BitsOfN)], |b, _, v| {
        arith::popcount(b, &v[0])
    }),
    one("parityN", "whether the number of ones in a is odd", &[fixed("odd", 1)], |b, _, v| {
        vec![arith::parity(b, &v[0])]
    }),
    one(
        "clzN",
        "how many zeros there are above the highest one of a; N for 0",
        &[value("count", Width::BitsOfN)],
        |b, _, v| arith::leading_zeros(b, &v[0]),
    ),
    one(
        "ctzN",
        "how many zeros there are below the lowest one of a; N for 0",
        &[value("count", Width::BitsOfN)],
        |b, _, v| arith::trailing_zeros(b, &v[0]),
    ),
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

/// A program of one product after another, added to what there is.
fn dot(goal: Goal, Size { n, w, .. }: Size) -> Program {
    let mut p = ProgramBuilder::for_goal("dot", goal);
    let mut b = p.builder();
    let [x, y, sum] = ["a", "b", "sum"].map(|name| b.input(name, w));
    let more = arith::mul_add(&mut b, &x, &y, &sum);
    b.output("sum", &more);
    let step = p.circuit(b.finish());
    let (n, w) = (n as u64, w as u64);
    let (x, y) = (p.input("a", 0, n * w), p.input("b", 1, n * w));
    let sum = p.register(w);
    p.repeat(n, |p, turn| {
        let [x, y] = [x, y].map(|words| words.slice(0, w).span().moving(turn, w as i64));
        p.call(step, &[x, y, sum.span()], &[sum.span()]);
    });
    p.reveal("sum", Recipients::All, sum);
    p.finish().expect("a loop over words that are there")
}

/// The chain: a bit that is masked by the bits of one value and flipped by those of the other, in turn.
fn chain(b: &mut Builder, Size { n, .. }: Size, values: &[Vec<Wire>]) -> Vec<Wire> {
    let (masks, flips) = (&values[0], &values[1]);
    let mut bit = flips[127];
    for i in 0..n {
        let masked = b.and(bit, masks[i % 128]);
        bit = b.xor(masked, flips[i % 128]);
    }
    vec![bit]
}
