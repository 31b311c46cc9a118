//! binary32 and binary64 against the machine.

use comity_circuit::{Builder, Circuit, Wire};
use comity_library::float::FloatFormat;

use super::{Binary, Unary, bit, pairs};
use crate::{Random, circuit, run};

/// Batches of 64 for each operation.
const BATCHES: usize = 1500;

macro_rules! machine {
    ($module:ident, $format:expr, $float:ty, $bits:ty) => {
        mod $module {
            use super::*;

            const FORMAT: FloatFormat = $format;

            fn number(bits: u128) -> $float {
                <$float>::from_bits(bits as $bits)
            }

            fn pattern(x: $float) -> u128 {
                // All NaNs count as one.
                if x.is_nan() { <$float>::NAN.to_bits().into() } else { x.to_bits().into() }
            }

            fn binary(build: Binary, expected: fn($float, $float) -> u128) {
                let n = FORMAT.bits();
                let c = circuit([n, n], |b, [x, y]| vec![build(FORMAT, b, x, y)]);
                let mut random = Random(21);
                for _ in 0..BATCHES {
                    let [x, y] = pairs(&mut random, FORMAT);
                    let out = run(&c, &[x, y]);
                    for k in 0..64 {
                        let want = expected(number(x[k]), number(y[k]));
                        assert_eq!(out[0][k], want, "({:#x}, {:#x})", x[k], y[k]);
                    }
                }
            }

            fn unary(build: Unary, expected: fn($float) -> u128) {
                let c = circuit([FORMAT.bits()], |b, [x]| vec![build(FORMAT, b, x)]);
                let mut random = Random(22);
                for _ in 0..BATCHES {
                    let [x, _] = pairs(&mut random, FORMAT);
                    let out = run(&c, &[x]);
                    for k in 0..64 {
                        assert_eq!(out[0][k], expected(number(x[k])), "({:#x})", x[k]);
                    }
                }
            }

            fn integers(bits: usize, build: Unary, expected: fn(u128) -> u128) {
                let c = circuit([bits], |b, [x]| vec![build(FORMAT, b, x)]);
                let mut random = Random(23);
                for _ in 0..BATCHES {
                    // Long runs of equal bits make ties and carries.
                    let mut x = random.words(bits);
                    for x in &mut x {
                        *x = *x >> (random.next() as usize % bits) ^ u128::from(random.next() % 3);
                    }
                    let out = run(&c, &[x]);
                    for k in 0..64 {
                        assert_eq!(out[0][k], expected(x[k]), "({:#x})", x[k]);
                    }
                }
            }

            #[test]
            fn addition() {
                binary(FloatFormat::add, |x, y| pattern(x + y));
                binary(FloatFormat::sub, |x, y| pattern(x - y));
            }

            #[test]
            fn multiplication() {
                binary(FloatFormat::mul, |x, y| pattern(x * y));
            }

            #[test]
            fn division() {
                binary(FloatFormat::div, |x, y| pattern(x / y));
            }

            #[test]
            fn square_root() {
                unary(FloatFormat::sqrt, |x| pattern(x.sqrt()));
            }

            #[test]
            fn comparison() {
                binary(|f, b, x, y| bit(f.eq(b, x, y)), |x, y| u128::from(x == y));
                binary(|f, b, x, y| bit(f.lt(b, x, y)), |x, y| u128::from(x < y));
                binary(|f, b, x, y| bit(f.le(b, x, y)), |x, y| u128::from(x <= y));
                // Which zero it is Rust leaves open.
                binary(FloatFormat::min, |x, y| match x == 0.0 && y == 0.0 {
                    true => pattern(if x.is_sign_negative() { x } else { y }),
                    false => pattern(x.min(y)),
                });
                binary(FloatFormat::max, |x, y| match x == 0.0 && y == 0.0 {
                    true => pattern(if x.is_sign_negative() { y } else { x }),
                    false => pattern(x.max(y)),
                });
            }

            #[test]
            fn signs() {
                unary(FloatFormat::neg, |x| (-x).to_bits().into());
                unary(|f, _, x| f.abs(x), |x| x.abs().to_bits().into());
            }

            #[test]
            fn to_integers() {
                unary(|f, b, x| f.to_unsigned(b, x, 32), |x| (x as u32).into());
                unary(|f, b, x| f.to_unsigned(b, x, 64), |x| (x as u64).into());
                unary(|f, b, x| f.to_signed(b, x, 32), |x| (x as i32 as u32).into());
                unary(|f, b, x| f.to_signed(b, x, 64), |x| (x as i64 as u64).into());
                unary(|f, b, x| f.to_unsigned(b, x, 8), |x| (x as u8).into());
                unary(|f, b, x| f.to_signed(b, x, 128), |x| x as i128 as u128);
            }

            #[test]
            fn from_integers() {
                integers(32, FloatFormat::from_unsigned, |x| pattern(x as u32 as $float));
                integers(64, FloatFormat::from_unsigned, |x| pattern(x as u64 as $float));
                integers(128, FloatFormat::from_unsigned, |x| pattern(x as $float));
                integers(32, FloatFormat::from_signed, |x| pattern(x as i32 as $float));
                integers(64, FloatFormat::from_signed, |x| pattern(x as i64 as $float));
                integers(16, FloatFormat::from_signed, |x| pattern(x as i16 as $float));
            }
        }
    };
}

machine!(binary32, FloatFormat::F32, f32, u32);
machine!(binary64, FloatFormat::F64, f64, u64);

#[test]
fn singles_become_doubles_and_doubles_singles() {
    let widen = |b: &mut Builder, x: &[Wire]| FloatFormat::F32.convert(b, x, FloatFormat::F64);
    let narrow = |b: &mut Builder, x: &[Wire]| FloatFormat::F64.convert(b, x, FloatFormat::F32);
    let (widen, narrow): (Circuit, Circuit) =
        (circuit([32], |b, [x]| vec![widen(b, x)]), circuit([64], |b, [x]| vec![narrow(b, x)]));
    let mut random = Random(24);
    for _ in 0..BATCHES {
        let [x, _] = pairs(&mut random, FloatFormat::F32);
        let wide = run(&widen, &[x]);
        // Doubles near singles: at the edges of what can be rounded to one.
        let near = wide[0].map(|x| x ^ 1 << (random.next() % 32) ^ u128::from(random.next() % 2) << 28);
        let [any, _] = pairs(&mut random, FloatFormat::F64);
        let back = [near, any].map(|x| run(&narrow, &[x]));
        for k in 0..64 {
            let single = f32::from_bits(x[k] as u32);
            let want = if single.is_nan() { f64::NAN } else { single.into() };
            assert_eq!(wide[0][k], want.to_bits().into(), "{:#x}", x[k]);
            for (x, y) in [(near, &back[0]), (any, &back[1])] {
                let double = f64::from_bits(x[k] as u64);
                let want = if double.is_nan() { f32::NAN } else { double as f32 };
                assert_eq!(y[0][k], want.to_bits().into(), "{:#x}", x[k]);
            }
        }
    }
}
