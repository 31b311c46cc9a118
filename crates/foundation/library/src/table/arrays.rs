//! Arrays.
//!
//! An array is one value of rows, the first one on its lowest wires. Where one array is computed on, each party gives
//! one of the same size and the rows are their exclusive or, as in the sorting benchmarks of Wang, Malozemoff and Katz
//! (2017): an array that is shared, or that one party has while the other gives zeros.

use comity_circuit::{Builder, CircuitId, Goal, Program, ProgramBuilder, Recipients, Register, Wire};

use super::{fixed, sized, value};
use crate::arith;
use crate::arrays::Order;
use crate::arrays::steps::{self, Array};
use crate::entry::{Build, Entry, Size, Value, Width};

/// The most rows.
const ROWS: usize = 1 << 20;
/// The most rows of an array where one circuit has a wire for each.
const COMPACTED: usize = 1 << 16;
/// The widest rows.
const ROW: usize = 1 << 10;

/// An array of which each party gives a share.
const SHARED: &[Value] = &[value("a", Width::NTimesW), value("b", Width::NTimesW)];

const fn shared(
    pattern: (&'static str, &'static [usize]),
    about: &'static str,
    outputs: &'static [Value],
    build: fn(Goal, Size) -> Program,
) -> Entry {
    sized(pattern, about, SHARED, outputs, Build::Program(build))
}

pub(super) const ENTRIES: &[Entry] = &[
    shared(
        ("sortNxW", &[ROWS, ROW]),
        "the N words a xor b in ascending order, unsigned",
        &[value("sorted", Width::NTimesW)],
        |goal, size| on_shared(goal, size, |p, rows| sort(p, rows, Order::ascending(size.w))),
    ),
    shared(
        ("ssortNxW", &[ROWS, ROW]),
        "the N words a xor b in ascending order, signed",
        &[value("sorted", Width::NTimesW)],
        |goal, size| on_shared(goal, size, |p, rows| sort(p, rows, Order::ascending(size.w).signed())),
    ),
    shared(
        ("topKofNxW", &[ROWS, ROWS, ROW]),
        "the K greatest of the N words a xor b, unsigned, the greatest first; zeros if there are fewer",
        &[value("greatest", Width::KTimesW)],
        |goal, size| {
            on_shared(goal, size, |p, rows| {
                let top = steps::top_k(p, rows, size.k, Order::descending(size.w));
                if size.k == top.len() {
                    return vec![("greatest", top.register())];
                }
                let greatest = Array::new(p, size.k, size.w);
                p.copy(&top.register().span(), &greatest.first(top.len()).register().span());
                vec![("greatest", greatest.register())]
            })
        },
    ),
    shared(
        ("argminNxW", &[ROWS, ROW]),
        "the smallest of the N words a xor b, unsigned, and where it is; the lowest index of equals",
        &[value("index", Width::IndexOfN), value("minimum", Width::W)],
        |goal, size| on_shared(goal, size, |p, rows| first(p, rows, "minimum", Order::ascending(size.w))),
    ),
    shared(
        ("argmaxNxW", &[ROWS, ROW]),
        "the greatest of the N words a xor b, unsigned, and where it is; the lowest index of equals",
        &[value("index", Width::IndexOfN), value("maximum", Width::W)],
        |goal, size| on_shared(goal, size, |p, rows| first(p, rows, "maximum", Order::descending(size.w))),
    ),
    shared(
        ("prefixsumNxW", &[ROWS, ROW]),
        "the sums of the first 1 to N words a xor b, modulo 2^W",
        &[value("sums", Width::NTimesW)],
        |goal, size| on_shared(goal, size, |p, rows| prefix(p, rows, "sums", arith::add)),
    ),
    shared(
        ("prefixminNxW", &[ROWS, ROW]),
        "the smallest of the first 1 to N words a xor b, unsigned",
        &[value("minima", Width::NTimesW)],
        |goal, size| on_shared(goal, size, |p, rows| prefix(p, rows, "minima", arith::min)),
    ),
    shared(
        ("prefixmaxNxW", &[ROWS, ROW]),
        "the greatest of the first 1 to N words a xor b, unsigned",
        &[value("maxima", Width::NTimesW)],
        |goal, size| on_shared(goal, size, |p, rows| prefix(p, rows, "maxima", arith::max)),
    ),
    shared(
        ("dedupNxW", &[COMPACTED, ROW]),
        "the different ones of the N words a xor b, ascending, then zeros; and how many they are",
        &[value("words", Width::NTimesW), value("count", Width::BitsOfN)],
        |goal, size| {
            on_shared(goal, size, |p, rows| {
                let count = steps::dedup(p, rows, Order::ascending(size.w));
                vec![("words", rows.register()), ("count", count)]
            })
        },
    ),
    sized(
        ("mergeNxW", &[ROWS / 2, ROW]),
        "two arrays of N ascending words, unsigned, as one",
        &[value("a", Width::NTimesW), value("b", Width::NTimesW)],
        &[value("merged", Width::TwiceNTimesW)],
        Build::Program(|goal, size| {
            program(goal, |p| {
                let [a, b] = inputs(p, [("a", 0, size.n * size.w), ("b", 1, size.n * size.w)]);
                let merged = steps::merge(p, Array::of(a, size.w), Array::of(b, size.w), Order::ascending(size.w));
                vec![("merged", merged.register())]
            })
        }),
    ),
    sized(
        ("readNxW", &[ROWS, ROW]),
        "the word at an index of an array of N; zero beyond its end",
        &[value("array", Width::NTimesW), value("index", Width::IndexOfN)],
        &[value("word", Width::W)],
        Build::Program(|goal, size| {
            program(goal, |p| {
                let [array, index] =
                    inputs(p, [("array", 0, size.n * size.w), ("index", 1, Width::IndexOfN.bits(size))]);
                vec![("word", steps::read(p, Array::of(array, size.w), index))]
            })
        }),
    ),
    sized(
        ("writeNxW", &[ROWS, ROW]),
        "an array of N with a word put in at an index; as it was for one beyond its end",
        &[value("array", Width::NTimesW), value("index", Width::IndexOfN), value("word", Width::W)],
        &[value("array", Width::NTimesW)],
        Build::Program(|goal, size| {
            program(goal, |p| {
                let index = Width::IndexOfN.bits(size);
                let [array, index, word] =
                    inputs(p, [("array", 0, size.n * size.w), ("index", 1, index), ("word", 1, size.w)]);
                steps::write(p, Array::of(array, size.w), index, word);
                vec![("array", array)]
            })
        }),
    ),
    sized(
        ("joinNxWxK", &[COMPACTED, ROW, ROW]),
        "the keys of W bits that two strictly ascending lists of N share, with the payloads of K bits",
        &[
            value("keys-a", Width::NTimesW),
            value("payloads-a", Width::NTimesK),
            value("keys-b", Width::NTimesW),
            value("payloads-b", Width::NTimesK),
        ],
        &[
            value("keys", Width::NTimesW),
            value("payloads-a", Width::NTimesK),
            value("payloads-b", Width::NTimesK),
            value("count", Width::BitsOfN),
            fixed("sorted", 1),
        ],
        Build::Program(join),
    ),
];

/// The registers that a program reveals, by name.
type Named = Vec<(&'static str, Register)>;

/// A program that reveals what `build` returns to all.
fn program(goal: Goal, build: impl FnOnce(&mut ProgramBuilder) -> Named) -> Program {
    let mut p = ProgramBuilder::for_goal("array", goal);
    for (name, register) in build(&mut p) {
        p.reveal(name, Recipients::All, register);
    }
    p.finish().expect("the steps stay in the memory, which is large enough for the largest array")
}

fn inputs<const N: usize>(p: &mut ProgramBuilder, values: [(&'static str, u16, usize); N]) -> [Register; N] {
    values.map(|(name, party, bits)| p.input(name, party, bits as u64))
}

/// A program on the rows that two parties share.
fn on_shared(goal: Goal, Size { n, w, .. }: Size, build: impl FnOnce(&mut ProgramBuilder, Array) -> Named) -> Program {
    program(goal, |p| {
        let [a, b] = inputs(p, [("a", 0, n * w), ("b", 1, n * w)]).map(|share| Array::of(share, w));
        let open = two_words(p, w, arith::xor);
        steps::each(p, open, &[a, b], &[a]);
        build(p, a)
    })
}

/// A circuit of two words.
fn two_words(
    p: &mut ProgramBuilder,
    width: usize,
    build: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> CircuitId {
    let mut b = p.builder();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let z = build(&mut b, &x, &y);
    b.output("z", &z);
    p.circuit(b.finish())
}

fn sort(p: &mut ProgramBuilder, rows: Array, order: Order) -> Named {
    steps::sort(p, rows, order);
    vec![("sorted", rows.register())]
}

fn first(p: &mut ProgramBuilder, rows: Array, name: &'static str, order: Order) -> Named {
    let (index, row) = steps::arg_first(p, rows, order);
    vec![("index", index), (name, row)]
}

fn prefix(
    p: &mut ProgramBuilder,
    rows: Array,
    name: &'static str,
    together: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Named {
    let together = two_words(p, rows.width(), together);
    steps::prefix(p, rows, together);
    vec![(name, rows.register())]
}

fn join(goal: Goal, Size { n, w, k }: Size) -> Program {
    program(goal, |p| {
        let values = [("keys-a", 0, n * w), ("payloads-a", 0, n * k), ("keys-b", 1, n * w), ("payloads-b", 1, n * k)];
        let [keys_a, payloads_a, keys_b, payloads_b] = inputs(p, values);
        let (keys, payloads) = ([keys_a, keys_b], [payloads_a, payloads_b]);
        let joined = steps::join_sorted(p, keys.map(|r| Array::of(r, w)), payloads.map(|r| Array::of(r, k)));
        // Rows taken apart into the three columns, over the inputs.
        let mut b = p.builder();
        let row = b.input("row", w + 2 * k);
        b.output("key", &row[..w]);
        b.output("a", &row[w..w + k]);
        b.output("b", &row[w + k..]);
        let split = p.circuit(b.finish());
        steps::each(
            p,
            split,
            &[joined.rows],
            &[Array::of(keys_a, w), Array::of(payloads_a, k), Array::of(payloads_b, k)],
        );
        vec![
            ("keys", keys_a),
            ("payloads-a", payloads_a),
            ("payloads-b", payloads_b),
            ("count", joined.count),
            ("sorted", joined.sorted),
        ]
    })
}
