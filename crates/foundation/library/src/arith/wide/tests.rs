use comity_circuit::{Observer, Plain, Program, Recipients, run};
use comity_core::Bits;

use super::*;

struct Outputs(Vec<Bits>);

impl Observer for Outputs {
    fn output(&mut self, _: usize, value: Bits) {
        self.0.push(value);
    }
}

/// A program from two words to one.
fn program(widths: [u64; 3], build: impl FnOnce(&mut Wide, &mut ProgramBuilder, [Register; 3])) -> Program {
    let mut p = ProgramBuilder::new("test");
    let (x, y) = (p.input("x", 0, widths[0]), p.input("y", 1, widths[1]));
    let out = p.register(widths[2]);
    build(&mut Wide::default(), &mut p, [x, y, out]);
    p.reveal("out", Recipients::All, out);
    p.finish().unwrap()
}

fn call(program: &Program, x: &[bool], y: &[bool]) -> Vec<bool> {
    let inputs = [x, y].map(|value| Some(value.iter().copied().collect::<Bits>()));
    let mut outputs = Outputs(vec![]);
    run(program, &mut Plain::new(), &inputs, &mut outputs).unwrap();
    outputs.0[0].iter().collect()
}

/// The product of numbers given bit by bit; where it is cyclic, modulo 2^(bits) - 1 and never all ones.
fn product(x: &[bool], y: &[bool], bits: usize, cyclic: bool) -> Vec<bool> {
    let mut sums = vec![0u32; bits];
    for (i, _) in x.iter().enumerate().filter(|&(_, &bit)| bit) {
        for (j, _) in y.iter().enumerate().filter(|&(_, &bit)| bit) {
            if cyclic || i + j < bits {
                sums[(i + j) % bits] += 1;
            }
        }
    }
    let mut carry = 0;
    loop {
        for sum in &mut sums {
            let total = *sum + carry;
            (*sum, carry) = (total & 1, total >> 1);
        }
        if !cyclic || carry == 0 {
            break;
        }
    }
    let all = sums.iter().all(|&bit| bit == 1) && cyclic;
    sums.into_iter().map(|bit| bit == 1 && !all).collect()
}

fn words(rng: &mut comity_circuit::random::Rng, bits: usize) -> [Vec<bool>; 6] {
    let [a, b, c]: [Vec<bool>; 3] = std::array::from_fn(|_| rng.values(&[bits])[0].iter().collect());
    let one = (0..bits).map(|i| i == 0).collect();
    [a, b, c, vec![true; bits], vec![false; bits], one]
}

#[test]
fn wide_products_and_squares_are_right_at_every_cut() {
    let mut rng = comity_circuit::random::Rng(1);
    for n in [1, 2, 72, 73, 74, 141, 142, 145, 146, 147, 300] {
        let full = program([n, n, 2 * n], |wide, p, [x, y, out]| wide.mul_full(p, 1, x.into(), y.into(), out.into()));
        let square = program([n, n, 2 * n], |wide, p, [x, _, out]| wide.square_full(p, 1, x.into(), out.into()));
        let low = program([n, n, n], |wide, p, [x, y, out]| wide.mul(p, 1, x.into(), y.into(), out.into()));
        let bits = n as usize;
        for x in words(&mut rng, bits) {
            assert_eq!(call(&square, &x, &x), product(&x, &x, 2 * bits, false), "{n} bits");
            for y in words(&mut rng, bits) {
                assert_eq!(call(&full, &x, &y), product(&x, &y, 2 * bits, false), "{n} bits");
                assert_eq!(call(&low, &x, &y), product(&x, &y, bits, false), "{n} bits");
            }
        }
    }
}

#[test]
fn several_products_are_computed_side_by_side() {
    let mut rng = comity_circuit::random::Rng(2);
    let n = 150;
    let three = program([3 * n, 3 * n, 6 * n], |wide, p, [x, y, out]| {
        wide.mul_full(p, 3, Words::packed(x, n), Words::packed(y, n), Words::packed(out, 2 * n));
    });
    let [x, y, ..] = words(&mut rng, 3 * n as usize);
    let each = x.chunks(150).zip(y.chunks(150)).flat_map(|(x, y)| product(x, y, 300, false));
    assert_eq!(call(&three, &x, &y), each.collect::<Vec<_>>());
}

#[test]
fn cyclic_products_are_right_at_every_cut() {
    let mut rng = comity_circuit::random::Rng(3);
    for (n, cuts) in [(3, 0), (160, 0), (162, 1), (320, 1), (324, 2), (648, 3)] {
        assert_eq!(cyclic::cuts(n), cuts);
        let cyclic = program([n; 3], |wide, p, [x, y, out]| wide.mul_cyclic(p, x, y, out));
        let bits = n as usize;
        for x in words(&mut rng, bits) {
            for y in words(&mut rng, bits) {
                let mut got = call(&cyclic, &x, &y);
                if got.iter().all(|&bit| bit) {
                    got.fill(false);
                }
                assert_eq!(got, product(&x, &y, bits, true), "{n} bits");
            }
        }
    }
}

#[test]
fn cuts_save_ands() {
    let n = 1024;
    let full = program([n, n, 2 * n], |wide, p, [x, y, out]| wide.mul_full(p, 1, x.into(), y.into(), out.into()));
    let square = program([n, n, 2 * n], |wide, p, [x, _, out]| wide.square_full(p, 1, x.into(), out.into()));
    let cyclic = program([n; 3], |wide, p, [x, y, out]| wide.mul_cyclic(p, x, y, out));
    let low = program([n; 3], |wide, p, [x, y, out]| wide.mul(p, 1, x.into(), y.into(), out.into()));
    let ands = [full, square, cyclic, low].map(|program| program.and_gates());
    // One circuit of the full product has 336,502 ANDs, one of the lower half 290,470.
    for (ands, most) in ands.into_iter().zip([347_000, 197_000, 191_000, 303_000]) {
        assert!(ands <= most, "{ands} ANDs, {most} at most");
    }
}
