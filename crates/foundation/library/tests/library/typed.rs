//! Typed values against Rust's own, and their cost against the library's functions called by hand.

use std::panic::{AssertUnwindSafe, catch_unwind};

use comity_circuit::{Builder, Observer, Plain, Program, Recipients, Type, Wire, run};
use comity_core::Bits;
use comity_library::arith;
use comity_library::typed::{
    Array, B, Bool, Design, I, Int, Shape, U, Uint, Unsigned, Value, dot, get, mat_mul, set, sort_by_key, sum,
};
use proptest::prelude::*;

#[derive(Default)]
struct Outputs(Vec<u128>);

impl Observer for Outputs {
    fn output(&mut self, index: usize, value: Bits) {
        assert_eq!(index, self.0.len());
        self.0.push(value.iter().enumerate().fold(0, |number, (i, bit)| number | u128::from(bit) << i));
    }
}

/// The outputs of a program for these inputs.
fn evaluate(program: &Program, inputs: &[u128]) -> Vec<u128> {
    let bits = |value: u128, bits: usize| (0..bits).map(|i| value >> i & 1 == 1).collect::<Bits>();
    let inputs = program.inputs().iter().zip(inputs).map(|(value, &n)| Some(bits(n, value.bits)));
    let mut outputs = Outputs::default();
    run(program, &mut Plain::default(), &inputs.collect::<Vec<_>>(), &mut outputs).unwrap();
    outputs.0
}

/// A design of two inputs and what `build` makes of them.
fn design<S: Shape + Copy>(shape: S, build: impl for<'d> Fn(&'d Design, S::Value<'d>, S::Value<'d>)) -> Program {
    let d = Design::new("test");
    let (x, y) = (d.input("x", 0, shape), d.input("y", 1, shape));
    build(&d, x, y);
    d.finish().unwrap()
}

fn show<'d>(d: &'d Design, values: &[&dyn Value<'d>]) {
    for value in values {
        let wires: Uint = d.number(&value.to_wires());
        d.output("out", Recipients::All, wires);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn unsigned_numbers_are_rusts(x: u16, y: u16) {
        let program = design(U(16), |d, x, y| {
            show(d, &[&(x + y), &(x - y), &(x * y), &(x & y), &(x | y), &(x ^ y), &!x, &(x << 3), &(x >> 3)]);
            show(d, &[&(x + 7), &(x - 7u8), &(x * 1000), &(x ^ 0xffffu32), &x.min(y), &x.max(y), &x.wide_mul(y)]);
            show(d, &[&x.eq(y), &x.ne(y), &x.lt(y), &x.le(y), &x.gt(y), &x.ge(y), &x.lt(256), &x.eq(x)]);
            show(d, &[&x.widen(20), &x.truncate(5), &x.rotate_left(3), &x.rotate_right(3), &x.popcount(), &x.hamming(y)]);
            show(d, &[&x.lt(y).select(x, y), &x.lt(y).select(x, 9), &x.bit(15).to_uint(4), &sum(&[x, y, x])]);
            let product = mat_mul(&[vec![x, y], vec![y, x]], &[vec![x], vec![y]]);
            show(d, &[&dot(&[x, y], &[y, x]), &product[0][0], &product[1][0], &x.mul_shift(y, 8), &x.mul_shift(9, 16)]);
        });
        let bit = u128::from;
        let (wx, wy) = (u128::from(x), u128::from(y));
        let mut expected = [x.wrapping_add(y), x.wrapping_sub(y), x.wrapping_mul(y), x & y, x | y, x ^ y, !x, x << 3, x >> 3]
            .map(u128::from).to_vec();
        expected.extend([x.wrapping_add(7), x.wrapping_sub(7), x.wrapping_mul(1000), !x, x.min(y), x.max(y)].map(u128::from));
        expected.push(wx * wy);
        expected.extend([x == y, x != y, x < y, x <= y, x > y, x >= y, x < 256, true].map(bit));
        expected.extend([wx, wx & 31, u128::from(x.rotate_left(3)), u128::from(x.rotate_right(3))]);
        expected.extend([x.count_ones(), (x ^ y).count_ones()].map(u128::from));
        expected.extend([wx.min(wy), if x < y { wx } else { 9 }, wx >> 15, u128::from(x.wrapping_add(y).wrapping_add(x))]);
        let (twice, squares) = (2 * wx * wy, wx * wx + wy * wy);
        expected.extend([twice, squares, twice, (wx * wy + 128) >> 8, (wx * 9 + 32768) >> 16].map(|word| word & 0xffff));
        prop_assert_eq!(evaluate(&program, &[wx, wy]), expected);
    }

    #[test]
    fn signed_numbers_are_rusts(x: i16, y: i16) {
        let program = design(I(16), |d, x, y| {
            show(d, &[&(x + y), &(x - y), &(x * y), &-x, &(x >> 3), &(x << 3), &x.min(y), &x.max(y), &(x + -300)]);
            show(d, &[&x.lt(y), &x.le(y), &x.gt(y), &x.ge(y), &x.lt(-5), &x.is_negative()]);
            show(d, &[&x.mul_shift(y, 12), &x.mul_shift(x, 1), &x.mul_shift(-3, 16), &x.mul_shift(y, 0)]);
            show(d, &[&x.widen(32), &x.as_uint().widen(32)]);
        });
        let word = |x: i16| u128::from(x as u16);
        let mut expected = [x.wrapping_add(y), x.wrapping_sub(y), x.wrapping_mul(y), x.wrapping_neg(), x >> 3, x << 3]
            .map(word).to_vec();
        expected.extend([x.min(y), x.max(y), x.wrapping_sub(300)].map(word));
        expected.extend([x < y, x <= y, x > y, x >= y, x < -5, x < 0].map(u128::from));
        let rounded = |x: i16, y: i16, by: i32| word(((i64::from(x) * i64::from(y) + (1 << by >> 1)) >> by) as i16);
        expected.extend([rounded(x, y, 12), rounded(x, x, 1), rounded(x, -3, 16), rounded(x, y, 0)]);
        expected.extend([u128::from(i32::from(x) as u32), word(x)]);
        prop_assert_eq!(evaluate(&program, &[word(x), word(y)]), expected);
    }

    #[test]
    fn division_and_secret_shifts_are_rusts(x: u16, y: u16, by in 0usize..20) {
        let program = design(U(16), |d, x, y| {
            show(d, &[&(x / y), &(x % y), &(x / 10), &(x % 1000), &(x * x), &x.wide_mul(x), &x.sqrt()]);
            show(d, &[&x.leading_zeros(), &x.abs_diff(y), &(x << by), &(x >> by)]);
        });
        let mut expected = vec![x.checked_div(y).unwrap_or(!0), x.checked_rem(y).unwrap_or(x), x / 10, x % 1000].into_iter();
        let mut expected: Vec<u128> = expected.by_ref().map(u128::from).collect();
        expected.extend([u128::from(x.wrapping_mul(x)), u128::from(x) * u128::from(x), u128::from(x.isqrt())]);
        expected.extend([u128::from(x.leading_zeros()), u128::from(x.abs_diff(y))]);
        let shifted = [u32::from(x).checked_shl(by as u32).unwrap_or(0) as u16, u32::from(x).checked_shr(by as u32).unwrap_or(0) as u16];
        expected.extend(shifted.map(u128::from));
        let inputs = [x, y].map(u128::from);
        prop_assert_eq!(evaluate(&program, &inputs), expected);
        let secret = Design::new("shifts");
        let (a, amount, s) = (secret.input("x", 0, U(16)), secret.input("by", 0, U(5)), secret.input("s", 0, I(16)));
        let (mut left, mut right) = (a, s);
        left <<= amount;
        right >>= amount;
        show(&secret, &[&left, &(a >> amount), &right]);
        let arithmetic = (i32::from(x as i16) >> by) as u16;
        prop_assert_eq!(evaluate(&secret.finish().unwrap(), &[u128::from(x), by as u128, u128::from(x)]),
            [shifted[0], shifted[1], arithmetic].map(u128::from));
    }

    #[test]
    fn signed_division_is_rusts(x: i16, y: i16) {
        let program = design(I(16), |d, x, y| {
            show(d, &[&(x / y), &(x % y), &(x / 7), &(x % -10), &(x * x), &x.abs(), &x.abs_diff(y)]);
            show(d, &[&(x / d.int(-1, 16)), &(x.widen(200) / d.int(-3, 200)).truncate(16)]);
        });
        let word = |x: i16| u128::from(x as u16);
        let (quotient, remainder) = if y == 0 { (-1, x) } else { (x.wrapping_div(y), x.wrapping_rem(y)) };
        let mut expected = [quotient, remainder, x / 7, x % -10, x.wrapping_mul(x)].map(word).to_vec();
        expected.extend([u128::from(x.unsigned_abs()), u128::from(x.abs_diff(y)), word(x.wrapping_neg()), word(x / -3)]);
        prop_assert_eq!(evaluate(&program, &[word(x), word(y)]), expected);
    }

    #[test]
    fn arrays_are_sorted_and_written(array: [u8; 11], index in 0usize..16) {
        let d = Design::new("test");
        let (values, at) = (d.input("values", 0, Array(U(8), 11)), d.input("at", 1, U(4)));
        let (mut sorted, mut written, mut pairs) = (values.clone(), values.clone(), Vec::new());
        sort_by_key(&mut sorted, |&value| value);
        set(&mut written, at, d.uint(7, 8));
        pairs.extend(values.iter().enumerate().map(|(i, &value)| (d.uint(i as u128, 4), value)));
        sort_by_key(&mut pairs, |pair| -pair.1.as_int());
        let places: Vec<Uint> = pairs.into_iter().map(|pair| pair.0).collect();
        for values in [&sorted, &written, &places] {
            show(&d, &[values]);
        }
        let pack = |array: &[u8]| array.iter().rev().fold(0, |all, &value| all << 8 | u128::from(value));
        let outputs = evaluate(&d.finish().unwrap(), &[pack(&array), index as u128]);
        let (mut sorted, mut written) = (array, array);
        sorted.sort_unstable();
        if let Some(element) = written.get_mut(index) {
            *element = 7;
        }
        prop_assert_eq!(&outputs[..2], &[pack(&sorted), pack(&written)]);
        let places: Vec<usize> = (0..11).map(|i| (outputs[2] >> (4 * i) & 15) as usize).collect();
        let keys: Vec<i8> = places.iter().map(|&place| (array[place] as i8).wrapping_neg()).collect();
        prop_assert!(keys.is_sorted() && (0..11).all(|i| places.contains(&i)), "{:?}", places);
    }

    #[test]
    fn an_element_with_a_secret_index_is_found(array: [u8; 11], index in 0usize..16) {
        let d = Design::new("test");
        let (values, at) = (d.input("values", 0, Array(U(8), 11)), d.input("at", 1, U(4)));
        d.output("value", Recipients::All, get(&values, at));
        let packed = array.iter().rev().fold(0, |all, &value| all << 8 | u128::from(value));
        prop_assert_eq!(evaluate(&d.finish().unwrap(), &[packed, index as u128]), [array.get(index).map_or(0, |&value| value.into())]);
    }
}

#[test]
fn bits_are_rusts() {
    let program = design(B, |d, x, y| {
        let mut all = x;
        all &= y;
        show(
            d,
            &[&(x & y), &(x | y), &(x ^ y), &!x, &x.eq(y), &x.ne(y), &(x & true), &(x | true), &x.select(y, !y), &all],
        );
    });
    for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let expected = [x & y, x | y, x ^ y, !x, x == y, x != y, x, true, if x { y } else { !y }, x & y];
        assert_eq!(evaluate(&program, &[x, y].map(u128::from)), expected.map(u128::from), "{x} {y}");
    }
}

/// The number of ANDs of one function over two words, called by hand.
fn by_hand(bits: usize, gates: impl Fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>) -> u64 {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", bits), b.input("y", bits));
    let out = gates(&mut b, &x, &y);
    b.output("out", &out);
    b.finish().counts().and
}

#[test]
fn nothing_costs_more_than_by_hand() {
    type Typed = fn(Uint<'_>, Uint<'_>) -> Vec<Wire>;
    type Gates = fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>;
    let all: [(Typed, Gates); 20] = [
        (|x, y| (x / y).to_wires(), arith::div),
        (|x, y| (x % y).to_wires(), arith::rem),
        (|x, _| (x * x).to_wires(), |b, x, _| arith::square(b, x)),
        (|x, y| (x << y).to_wires(), arith::shl_by),
        (|x, y| (x.as_int() >> y).to_wires(), arith::sar_by),
        (|x, y| (x + y).to_wires(), arith::add),
        (|x, y| (x - y).to_wires(), arith::sub),
        (|x, y| (x * y).to_wires(), arith::mul),
        (|x, y| x.wide_mul(y).to_wires(), arith::mul_full),
        (|x, y| (x | y).to_wires(), arith::or),
        (|x, y| x.eq(y).to_wires(), |b, x, y| vec![arith::eq(b, x, y)]),
        (|x, y| x.le(y).to_wires(), |b, x, y| vec![arith::le(b, x, y)]),
        (|x, y| x.min(y).to_wires(), arith::min),
        (|x, y| x.hamming(y).to_wires(), arith::hamming),
        (|x, y| x.bit(0).select(x, y).to_wires(), |b, x, y| arith::mux(b, x[0], x, y)),
        (|x, _| (-x.as_int()).to_wires(), |b, x, _| arith::negate(b, x)),
        (
            |x, y| dot(&[x, y], &[y, y]).to_wires(),
            |b, x, y| arith::dot(b, &[x.to_vec(), y.to_vec()], &[y.to_vec(), y.to_vec()]),
        ),
        (
            |x, y| mat_mul(&[vec![x], vec![y]], &[vec![y, x]]).concat().iter().flat_map(Uint::to_wires).collect(),
            |b, x, y| {
                let [x, y] = [x, y].map(<[Wire]>::to_vec);
                arith::mat_mul(b, [2, 1, 2], &[x.clone(), y.clone()], &[y, x]).concat()
            },
        ),
        (
            |x, y| x.mul_shift(y, 1).to_wires(),
            |b, x, y| {
                let [x, y] = [x, y].map(|x| arith::padded(x, x.len() + 1));
                arith::mul_shift(b, &x, &y, 1)
            },
        ),
        (
            |x, y| sum(&[x, y, x ^ y]).to_wires(),
            |b, x, y| {
                let z = arith::xor(b, x, y);
                arith::sum(b, &[x, y, &z])
            },
        ),
    ];
    for (i, (typed, gates)) in all.into_iter().enumerate() {
        for bits in [1, 2, 31, 32, 64] {
            let program =
                design(U(bits), |d, x, y| d.output("out", Recipients::All, d.number::<Unsigned>(&typed(x, y))));
            assert_eq!(program.and_gates(), by_hand(bits, gates), "function {i} at {bits} bits");
        }
    }
    let constant = design(U(32), |d, x, _| d.output("out", Recipients::All, x + 0));
    assert_eq!(constant.and_gates(), 0);
    let divided = design(U(32), |d, x, _| d.output("out", Recipients::All, x / 10));
    assert_eq!(divided.and_gates(), by_hand(32, |b, x, _| arith::div_rem_by(b, x, 10).0));
    let d = Design::new("sort");
    let mut rows = d.input("rows", 0, Array((U(8), U(16)), 16));
    sort_by_key(&mut rows, |&(_, key)| key);
    d.output("rows", Recipients::All, rows);
    assert_eq!(d.finish().unwrap().and_gates(), 60 * (16 + 24), "60 comparisons of 16 bits, exchanges of 24");
}

#[test]
fn a_program_knows_its_parties_and_types() {
    let d = Design::new("offers");
    let offers = d.input("offers", 0, Array((U(32), B), 3));
    let limit = d.input("limit", 2, I(17));
    let first: (Uint, Bool) = offers[0];
    let either: (Uint, Bool) = first.1.select(first, offers[1]);
    d.output("one", Recipients::only(2), either);
    d.output("all", Recipients::All, [limit, limit + 1]);
    let program = d.finish().unwrap();
    assert_eq!(program.name(), "offers");
    let shown = |ty: &Type| ty.to_string();
    let inputs: Vec<_> = program.inputs().iter().map(|i| (i.name.as_str(), i.owner, shown(&i.ty))).collect();
    assert_eq!(inputs, [("offers", 0.into(), "[(u32, bool); 3]".into()), ("limit", 2.into(), "i17".into())]);
    let outputs: Vec<_> = program.outputs().iter().map(|o| (o.name.as_str(), o.to, shown(&o.ty))).collect();
    let expected =
        [("one", Recipients::only(2), "(u32, bool)".to_owned()), ("all", Recipients::All, "[i17; 2]".to_owned())];
    assert_eq!(outputs, expected);
    let packed = |offers: [(u128, u128); 3]| offers.iter().rev().fold(0, |all, (n, b)| all << 33 | b << 32 | n);
    let offers = packed([(5, 0), (6, 1), (7, 1)]);
    assert_eq!(evaluate(&program, &[offers, 0x1ffff]), [1 << 32 | 6, 0x1ffff]);
}

#[test]
fn built_in_circuits_are_called() {
    let d = Design::new("sum");
    let (x, y) = (d.input("x", 0, Array(U(16), 2)), d.input("y", 1, U(32)));
    let add = comity_library::circuit("add32").unwrap();
    d.output("sum", Recipients::All, d.call(&add, &[&x, &y])[0]);
    assert_eq!(evaluate(&d.finish().unwrap(), &[0x0001_0002, 0xffff_ffff]), [0x0001_0001]);
}

fn message<R>(mistake: impl FnOnce(&Design) -> R) -> String {
    let d = Design::new("first");
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| mistake(&d))) else { panic!("it is no mistake") };
    panic.downcast_ref::<String>().cloned().unwrap_or_else(|| panic.downcast_ref::<&str>().unwrap().to_string())
}

#[test]
fn mistakes_are_named() {
    let number = |d: &Design, bits| -> Vec<Wire> { d.input("x", 0, U(bits)).to_wires() };
    assert_eq!(message(|d| number(d, 0)), "a number has at least one bit");
    let widths = message(|d| {
        let (x, y) = (d.input("x", 0, U(8)), d.input("y", 0, U(9)));
        let _ = x + y;
    });
    assert_eq!(widths, "u8 on the left, u9 on the right: widen or truncate one of them");
    let other = Design::new("second");
    let y = other.input("y", 0, U(8));
    let mixed = message(|d| {
        let _ = d.input("x", 0, U(8)).lt(y);
    });
    assert_eq!(mixed, "values of `first` and of `second` do not mix");
    assert_eq!(message(|d| d.output("y", Recipients::All, y)), mixed);
    let selected = message(|d| {
        let _ = d.bool(true).select(y, y);
    });
    assert_eq!(selected, mixed);
    let types = message(|d| {
        let x = d.input("x", 0, (U(8), U(4)));
        let _ = d.bool(true).select(x.0, x.1);
    });
    assert_eq!(types, "selected from are u8 and u4: make them equal");
    let late = message(|d| {
        let x = d.input("x", 0, U(8));
        let _ = x + x.rotate_left(1);
        d.input("y", 0, B);
    });
    assert_eq!(late, "input `y` comes after an operation: ask for all inputs first");
    let odd = message(|d| {
        let x = d.input("x", 0, (U(8), U(4)));
        d.output("x", Recipients::All, vec![x.0, x.1]);
    });
    assert_eq!(odd, "an array of u8 has an element of another type, u4");
    let call = |args: fn(&Design) -> Vec<Uint<'_>>| {
        message(|d| {
            let args = args(d);
            let args: Vec<&dyn Value> = args.iter().map(|x| x as &dyn Value).collect();
            d.call(&comity_library::circuit("add8").unwrap(), &args);
        })
    };
    assert_eq!(call(|d| vec![d.uint(1, 8)]), "the circuit has 2 input values; 1 are given");
    assert_eq!(call(|d| vec![d.uint(1, 8), d.uint(1, 7)]), "the circuit's `b` has 8 bits; 7 are given");
    assert_eq!(message(|d| d.uint(1, 8).widen(7).bits()), "u8 is not widened to 7 bits; truncate it");
    assert_eq!(message(|d| d.uint(1, 8).truncate(9).bits()), "u8 is not truncated to 9 bits; widen it");
    assert_eq!(message(|d| d.uint(1, 8).bit(8).to_wires()), "bit 8 of a number of 8 bits");
}

#[test]
fn constants_fit_or_are_refused() {
    let d = Design::new("test");
    let value = |wires: Vec<Wire>| wires.iter().rev().fold(0u128, |n, w| n << 1 | u128::from(w.as_constant().unwrap()));
    assert_eq!(value(d.uint(255, 8).to_wires()), 255);
    assert_eq!(value(d.uint(u128::MAX, 128).to_wires()), u128::MAX);
    assert_eq!(value(d.int(-128, 8).to_wires()), 128);
    assert_eq!(value(d.int(i128::MIN, 128).to_wires()), 1 << 127);
    let wide: Vec<_> = d.int(-1, 200).to_wires().iter().map(|w| w.as_constant()).collect();
    assert_eq!(wide, [Some(true); 200]);
    let smallest: Int = d.int(0, 128) + i128::MIN;
    assert_eq!(value(smallest.to_wires()), 1 << 127);
    for (message, expected) in [
        (message(|d| d.uint(256, 8).bits()), "256 does not fit u8"),
        (message(|d| d.int(128, 8).bits()), "128 does not fit i8"),
        (message(|d| d.int(-129, 8).bits()), "-129 does not fit i8"),
        (message(|d| (d.uint(1, 8) + -1).bits()), "-1 does not fit u8"),
        (message(|d| d.uint(1, 8).lt(300).to_wires()), "300 does not fit u8"),
        (message(|d| d.uint(0, 0).bits()), "0 does not fit u0"),
    ] {
        assert_eq!(message, expected);
    }
}
