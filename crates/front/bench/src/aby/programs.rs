//! The programs of the benchmark, each with forms that somebody chose by hand, or without.

use comity_circuit::{Builder, Form, Program, ProgramBuilder, Recipients, Register, Wire};
use comity_core::Bits;
use comity_library::arith;
use comity_library::arrays::{self, Order};

/// A program of the paper's abstract.
#[derive(Clone, Copy)]
pub(crate) struct Application {
    /// Its name in the measurements.
    pub(crate) name: &'static str,
    /// Builds it: with the forms that fit best by hand, or with none.
    pub(crate) program: fn(bool) -> Program,
}

/// The three applications.
pub(crate) const APPLICATIONS: [Application; 3] = [
    Application { name: "match", program: |by_hand| matching(512, by_hand) },
    Application { name: "power", program: |by_hand| power(32, by_hand) },
    Application { name: "intersection", program: |by_hand| intersection(64, by_hand) },
];

/// What pins operations, or leaves them as they are.
struct Pins(bool);

impl Pins {
    fn to<R>(&self, b: &mut Builder, form: Form, build: impl FnOnce(&mut Builder) -> R) -> R {
        let outer = b.pin(if self.0 { Some(form) } else { None });
        let result = build(b);
        b.pin(outer);
        result
    }
}

/// Biometric matching: the least squared distance of a vector of four words of 32 bits from `known` others. By hand
/// distances are words, and their minimum is a garbled circuit.
pub(crate) fn matching(known: usize, by_hand: bool) -> Program {
    const PARTS: usize = 4;
    const BITS: usize = 32;
    let pins = Pins(by_hand);
    let mut p = ProgramBuilder::new("match");
    let mut b = p.builder();
    let (x, y) = (b.input("one", PARTS * BITS), b.input("other", PARTS * BITS));
    let distance = pins.to(&mut b, Form::Arithmetic, |b| {
        let squares: Vec<Vec<Wire>> = x
            .chunks(BITS)
            .zip(y.chunks(BITS))
            .map(|(x, y)| {
                let difference = arith::sub(b, x, y);
                arith::square(b, &difference)
            })
            .collect();
        squares.into_iter().reduce(|sum, square| arith::add(b, &sum, &square)).expect("four")
    });
    b.output("distance", &distance);
    let distance = p.circuit(b.finish());
    let mut b = p.builder();
    let all = b.input("distances", known * BITS);
    let least = pins.to(&mut b, Form::Yao, |b| {
        let mut words: Vec<Vec<Wire>> = all.chunks(BITS).map(<[_]>::to_vec).collect();
        while words.len() > 1 {
            let pairs = words.chunks(2).map(|pair| match pair {
                [x, y] => arith::min(b, x, y),
                rest => rest[0].clone(),
            });
            words = pairs.collect();
        }
        words.remove(0)
    });
    b.output("least", &least);
    let least_of = p.circuit(b.finish());
    let (vector, bits, many) = ((PARTS * BITS) as u64, BITS as u64, known as u64);
    let (one, others) = (p.input("one", 0, vector), p.input("others", 1, vector * many));
    let (distances, least) = (p.register(bits * many), p.register(bits));
    let args = [(one.span(), 0), (others.element(0, vector).span(), vector as i64)];
    p.map(distance, many, &args, &[(distances.element(0, bits).span(), bits as i64)]);
    p.call(least_of, &[distances.span()], &[least.span()]);
    p.reveal("least", Recipients::All, least);
    p.finish().expect("a valid program")
}

/// Modular exponentiation: a power modulo 2^bits, both numbers private, by squaring and multiplying. By hand all of
/// it is garbled: on words each turn waits for several messages.
pub(crate) fn power(bits: usize, by_hand: bool) -> Program {
    let pins = Pins(by_hand);
    let mut p = ProgramBuilder::new("power");
    let mut b = p.builder();
    let (so_far, base, bit) = (b.input("so far", bits), b.input("base", bits), b.input("bit", 1));
    let next = pins.to(&mut b, Form::Yao, |b| {
        let square = arith::square(b, &so_far);
        let product = arith::mul(b, &square, &base);
        arith::mux(b, bit[0], &product, &square)
    });
    b.output("next", &next);
    let step = p.circuit(b.finish());
    let width = bits as u64;
    let (base, exponent) = (p.input("base", 0, width), p.input("exponent", 1, width));
    let one: Bits = (0..bits).map(|bit| bit == 0).collect();
    let power = p.constant(&one);
    p.repeat(width, |p, turn| {
        let bit = exponent.element(width - 1, 1).span().moving(turn, -1);
        p.call(step, &[power.span(), base.span(), bit], &[power.span()]);
    });
    p.reveal("power", Recipients::All, power);
    p.finish().expect("a valid program")
}

/// Intersection of sets by a circuit: how many words of 32 bits two lists of `size` have in common, which their
/// owners sorted: they are merged, and neighbours compared. By hand all of it is garbled.
pub(crate) fn intersection(size: usize, by_hand: bool) -> Program {
    const BITS: usize = 32;
    let pins = Pins(by_hand);
    let mut p = ProgramBuilder::new("intersection");
    let mut b = p.builder();
    let words = |b: &mut Builder, name| b.input(name, size * BITS).chunks(BITS).map(<[_]>::to_vec).collect::<Vec<_>>();
    let (one, other) = (words(&mut b, "one"), words(&mut b, "other"));
    let count = pins.to(&mut b, Form::Yao, |b| {
        let merged = arrays::merge(b, &one, &other, Order::ascending(BITS));
        let equal: Vec<Wire> = merged.windows(2).map(|pair| arith::eq(b, &pair[0], &pair[1])).collect();
        arith::popcount(b, &equal)
    });
    b.output("count", &count);
    let circuit = p.circuit(b.finish());
    let bits = (size * BITS) as u64;
    let (one, other, found) = (p.input("one", 0, bits), p.input("other", 1, bits), p.register(count.len() as u64));
    p.call(circuit, &[one.span(), other.span()], &[found.span()]);
    p.reveal("count", Recipients::All, found);
    p.finish().expect("a valid program")
}

/// `times` words of `bits` bits that are computed in one form, and then read in another one: by what costs nothing in
/// either.
pub(crate) fn conversions(from: Form, to: Form, bits: usize, times: u64) -> Program {
    let free = |b: &mut Builder, form: Form, x: &[Wire], y: &[Wire]| {
        let outer = b.pin(Some(form));
        let result = if form == Form::Arithmetic { arith::add(b, x, y) } else { arith::xor(b, x, y) };
        b.pin(outer);
        result
    };
    on_pairs("conversions", bits, times, |b, x, y| {
        let first = free(b, from, x, y);
        // Of both of its bits, shifted, so that it does not cancel.
        free(b, to, &first, &arith::shl(&first, 1))
    })
}

/// `times` products of words of `bits` bits, in one form.
pub(crate) fn products(form: Form, bits: usize, times: u64) -> Program {
    on_pairs("products", bits, times, |b, x, y| {
        b.pin(Some(form));
        arith::mul(b, x, y)
    })
}

fn on_pairs(
    name: &str,
    bits: usize,
    times: u64,
    build: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Program {
    let mut p = ProgramBuilder::new(name);
    let mut b = p.builder();
    let (x, y) = (b.input("x", bits), b.input("y", bits));
    let result = build(&mut b, &x, &y);
    b.output("result", &result);
    let circuit = p.circuit(b.finish());
    let width = bits as u64;
    let (x, y, results) = (p.input("x", 0, width * times), p.input("y", 1, width * times), p.register(width * times));
    let each = |register: Register| (register.element(0, width).span(), width as i64);
    p.map(circuit, times, &[each(x), each(y)], &[each(results)]);
    p.reveal("results", Recipients::All, results);
    p.finish().expect("a valid program")
}
