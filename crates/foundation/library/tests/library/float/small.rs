//! Formats that the machine does not have: computed in its double precision, which is exact enough to be rounded once
//! more without harm, since it has more than twice the precision and two bits.

use comity_library::float::FloatFormat;

use super::{Binary, Unary, bit, pairs};
use crate::{Random, all_pairs, circuit, run};

fn value(format: FloatFormat, bits: u128) -> f64 {
    let (e, f) = (format.exponent(), format.fraction());
    let field = (bits >> f & ((1 << e) - 1)) as i32;
    let fraction = (bits & ((1 << f) - 1)) as f64;
    let bias = (1 << (e - 1)) - 1;
    let magnitude = if field == (1 << e) - 1 {
        if fraction == 0.0 { f64::INFINITY } else { f64::NAN }
    } else {
        let hidden = if field > 0 { 2f64.powi(f as i32) } else { 0.0 };
        (hidden + fraction) * 2f64.powi(field.max(1) - bias - f as i32)
    };
    if bits >> (e + f) & 1 == 1 { -magnitude } else { magnitude }
}

fn nan(format: FloatFormat) -> u128 {
    ((1 << (format.exponent() + 1)) - 1) << (format.fraction() - 1)
}

fn rounded(format: FloatFormat, x: f64) -> u128 {
    let (e, f) = (format.exponent(), format.fraction());
    if x.is_nan() {
        return nan(format);
    }
    let bias = (1 << (e - 1)) - 1;
    let sign = u128::from(x.is_sign_negative()) << (e + f);
    // In units of the last place, of a number of this exponent or of the subnormal ones.
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).clamp(1 - bias, 2000);
    let units = (x.abs() / 2f64.powi(exponent - f as i32)).round_ties_even();
    let infinity = ((1u128 << e) - 1) << f;
    if x.is_infinite() || exponent > bias {
        return sign | infinity;
    }
    sign | ((((exponent + bias - 1) as u128) << f) + units as u128)
}

fn check_binary(formats: &[FloatFormat], name: &str, build: Binary, expected: impl Fn(FloatFormat, f64, f64) -> u128) {
    for &format in formats {
        let n = format.bits();
        let c = circuit([n, n], |b, [x, y]| vec![build(format, b, x, y)]);
        let mut random = Random(11);
        let batches = if n == 8 { all_pairs(8) } else { (0..1000).map(|_| pairs(&mut random, format)).collect() };
        for [x, y] in batches {
            let out = run(&c, &[x, y]);
            for k in 0..64 {
                let want = expected(format, value(format, x[k]), value(format, y[k]));
                assert_eq!(out[0][k], want, "{format:?} {name}({:#x}, {:#x})", x[k], y[k]);
            }
        }
    }
}

fn check_unary(from: FloatFormat, name: &str, build: Unary, expected: impl Fn(f64) -> u128) {
    let n = from.bits();
    let c = circuit([n], |b, [x]| vec![build(from, b, x)]);
    let mut random = Random(12);
    let all = (0..1 << n.min(16)).step_by(64).map(|start| std::array::from_fn(|k| (start + k) as u128));
    let batches: Vec<[u128; 64]> =
        if n <= 16 { all.collect() } else { (0..1000).map(|_| pairs(&mut random, from)[0]).collect() };
    for x in batches {
        let out = run(&c, &[x]);
        for k in 0..64 {
            assert_eq!(out[0][k], expected(value(from, x[k])), "{from:?} {name}({:#x})", x[k]);
        }
    }
}

const TINY: FloatFormat = FloatFormat::new(4, 3);
const FLAT: FloatFormat = FloatFormat::new(5, 2);
const FORMATS: [FloatFormat; 4] = [TINY, FLAT, FloatFormat::F16, FloatFormat::BF16];

#[test]
fn the_oracle_rounds_as_the_machine_does() {
    let mut random = Random(10);
    for _ in 0..2000 {
        let [x, _] = pairs(&mut random, FloatFormat::F64);
        for x in x {
            let x = f64::from_bits(x as u64);
            let machine = if x.is_nan() { f32::NAN } else { x as f32 };
            assert_eq!(rounded(FloatFormat::F32, x), machine.to_bits().into(), "{x:e}");
        }
    }
}

#[test]
fn small_formats_compute_like_large_ones() {
    check_binary(&FORMATS, "add", FloatFormat::add, |format, x, y| rounded(format, x + y));
    check_binary(&FORMATS, "sub", FloatFormat::sub, |format, x, y| rounded(format, x - y));
    check_binary(&FORMATS, "mul", FloatFormat::mul, |format, x, y| rounded(format, x * y));
    check_binary(&FORMATS, "div", FloatFormat::div, |format, x, y| rounded(format, x / y));
    for format in FORMATS {
        check_unary(format, "sqrt", FloatFormat::sqrt, |x| rounded(format, x.sqrt()));
    }
}

#[test]
fn small_formats_are_ordered_like_large_ones() {
    check_binary(&FORMATS, "eq", |f, b, x, y| bit(f.eq(b, x, y)), |_, x, y| u128::from(x == y));
    check_binary(&FORMATS, "lt", |f, b, x, y| bit(f.lt(b, x, y)), |_, x, y| u128::from(x < y));
    check_binary(&FORMATS, "le", |f, b, x, y| bit(f.le(b, x, y)), |_, x, y| u128::from(x <= y));
    check_binary(&FORMATS, "gt", |f, b, x, y| bit(f.gt(b, x, y)), |_, x, y| u128::from(x > y));
    check_binary(&FORMATS, "ge", |f, b, x, y| bit(f.ge(b, x, y)), |_, x, y| u128::from(x >= y));
    check_binary(&FORMATS, "min", FloatFormat::min, |format, x, y| {
        rounded(format, if y.is_nan() || is_below(x, y) { x } else { y })
    });
    check_binary(&FORMATS, "max", FloatFormat::max, |format, x, y| {
        rounded(format, if y.is_nan() || is_below(y, x) { x } else { y })
    });
}

/// Whether x is less, -0 being less than 0.
pub(super) fn is_below(x: f64, y: f64) -> bool {
    x < y || x == y && x.is_sign_negative()
}

#[test]
fn conversions_between_formats_are_exact_or_rounded() {
    for (from, to) in [
        (TINY, TINY),
        (TINY, FloatFormat::new(4, 5)),
        (TINY, FloatFormat::F16),
        (TINY, FloatFormat::F32),
        (FloatFormat::F16, TINY),
        (FloatFormat::F16, FLAT),
        (FloatFormat::F16, FloatFormat::new(4, 5)),
        (FloatFormat::new(6, 10), FloatFormat::F16),
        (FloatFormat::F16, FloatFormat::F32),
        (FloatFormat::F16, FloatFormat::F64),
        (FloatFormat::BF16, FloatFormat::F32),
        (FloatFormat::BF16, FloatFormat::new(5, 7)),
        (FloatFormat::F32, FloatFormat::BF16),
        (FloatFormat::F32, FloatFormat::F16),
        (FloatFormat::F32, FloatFormat::new(8, 22)),
        (FloatFormat::F32, FloatFormat::new(8, 24)),
        (FloatFormat::F64, FloatFormat::F16),
    ] {
        let n = from.bits();
        let c = circuit([n], |b, [x]| vec![from.convert(b, x, to)]);
        let mut random = Random(13);
        for _ in 0..1000 {
            let [x, _] = pairs(&mut random, from);
            let out = run(&c, &[x]);
            for k in 0..64 {
                assert_eq!(out[0][k], rounded(to, value(from, x[k])), "{from:?} to {to:?}: {:#x}", x[k]);
            }
        }
    }
}

#[test]
fn integers_of_any_width_become_floats_and_come_back() {
    for (format, bits) in
        [(TINY, 1), (TINY, 2), (TINY, 7), (TINY, 16), (FLAT, 40), (FloatFormat::F16, 5), (FloatFormat::F16, 33)]
    {
        let unsigned = circuit([bits], |b, [x]| vec![format.from_unsigned(b, x)]);
        let signed = circuit([bits], |b, [x]| vec![format.from_signed(b, x)]);
        let mut random = Random(14);
        for _ in 0..100 {
            let x = random.words(bits);
            let (out, out_signed) = (run(&unsigned, &[x]), run(&signed, &[x]));
            for k in 0..64 {
                assert_eq!(out[0][k], rounded(format, x[k] as f64), "{format:?} of u{bits} {}", x[k]);
                let number = (x[k] as i128) << (128 - bits) >> (128 - bits);
                assert_eq!(out_signed[0][k], rounded(format, number as f64), "{format:?} of i{bits} {number}");
            }
        }
        let mask = u128::MAX >> (128 - bits);
        check_unary_to(format, bits, |x| if x < mask as f64 { x as u128 } else { mask * u128::from(!x.is_nan()) });
    }
}

fn check_unary_to(format: FloatFormat, bits: usize, unsigned: impl Fn(f64) -> u128) {
    let n = format.bits();
    let c = circuit([n], |b, [x]| {
        let signed = if bits > 1 { format.to_signed(b, x, bits) } else { vec![] };
        vec![format.to_unsigned(b, x, bits), signed]
    });
    let (least, most) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    for start in (0..1 << n).step_by(64) {
        let x: [u128; 64] = std::array::from_fn(|k| start + k as u128);
        let out = run(&c, &[x]);
        for k in 0..64 {
            let number = value(format, x[k]);
            assert_eq!(out[0][k], unsigned(number), "u{bits} of {format:?} {:#x}", x[k]);
            if bits > 1 {
                let want = (number as i128).clamp(least, most) as u128 & (u128::MAX >> (128 - bits));
                assert_eq!(out[1][k], want, "i{bits} of {format:?} {:#x}", x[k]);
            }
        }
    }
}
