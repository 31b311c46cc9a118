//! The programs by name, run in the plain evaluator.

use comity_circuit::{Builder, Observer, Plain, Program, ProgramBuilder, Recipients};
use comity_core::Bits;
use comity_library::arith;
use comity_library::arrays::{Order, steps};

use super::{numbers, signed};
use crate::Random;

struct Outputs(Vec<Bits>);

impl Observer for Outputs {
    fn output(&mut self, _: usize, value: Bits) {
        self.0.push(value);
    }
}

/// The value of rows of `bits` bits each.
fn value(rows: &[u128], bits: usize) -> Bits {
    rows.iter().flat_map(|row| (0..bits).map(move |i| row >> i & 1 == 1)).collect()
}

/// The rows of `bits` bits each of a value.
fn rows(value: &Bits, bits: usize) -> Vec<u128> {
    let bit = |i: usize| u128::from(value.get(i));
    (0..value.len() / bits).map(|row| (0..bits).fold(0, |word, i| word | bit(row * bits + i) << i)).collect()
}

fn run(program: &Program, inputs: Vec<Bits>) -> Vec<Bits> {
    let mut outputs = Outputs(Vec::new());
    let inputs: Vec<Option<Bits>> = inputs.into_iter().map(Some).collect();
    comity_circuit::run(program, &mut Plain::new(), &inputs, &mut outputs).expect("the inputs fit");
    outputs.0
}

/// Runs a program of two shares on an array.
fn run_shared(random: &mut Random, name: &str, array: &[u128], bits: usize) -> Vec<Bits> {
    let share = numbers(random, array.len(), bits);
    let other: Vec<u128> = share.iter().zip(array).map(|(a, b)| a ^ b).collect();
    run(&comity_library::program(name).expect(name), vec![value(&share, bits), value(&other, bits)])
}

const SIZES: [(usize, usize); 22] = [
    (1, 1),
    (1, 5),
    (2, 1),
    (2, 8),
    (3, 3),
    (4, 2),
    (5, 7),
    (8, 4),
    (15, 3),
    (16, 5),
    (17, 4),
    (24, 6),
    (31, 5),
    (32, 1),
    (33, 8),
    (47, 6),
    (64, 6),
    (65, 3),
    (100, 9),
    (127, 5),
    (129, 7),
    (300, 10),
];

#[test]
fn sorts() {
    let mut random = Random(11);
    for (n, w) in SIZES {
        for _ in 0..4 {
            let mut array = numbers(&mut random, n, w);
            let out = run_shared(&mut random, &format!("sort{n}x{w}"), &array, w);
            let negative = run_shared(&mut random, &format!("ssort{n}x{w}"), &array, w);
            array.sort_unstable();
            assert_eq!(rows(&out[0], w), array, "sort{n}x{w}");
            array.sort_unstable_by_key(|&x| signed(x, w));
            assert_eq!(rows(&negative[0], w), array, "ssort{n}x{w}");
        }
    }
}

#[test]
fn sorting_costs_less_than_published() {
    for (name, published, merge_exchange) in
        [("sort1024x32", 1_802_240, 1_540_032), ("sort4096x32", 10_223_616, 8_912_832)]
    {
        let ands = comity_library::program(name).unwrap().and_gates();
        assert!(ands < merge_exchange && ands < published, "{name}: {ands}");
    }
    assert_eq!(comity_library::program("sort1024x32").unwrap().and_gates(), (24_063 - 3 * 64) * 64);
    assert_eq!(comity_library::program("sort4096x32").unwrap().and_gates(), (139_263 - 3 * 256) * 64);
}

#[test]
fn programs_cost_what_circuits_do() {
    for (n, w, k) in [(1, 3, 1), (7, 5, 2), (16, 4, 16), (40, 6, 3), (128, 8, 17), (150, 4, 5)] {
        let mut b = Builder::new();
        let array: Vec<_> = (0..n).map(|_| b.input("row", w)).collect();
        for row in comity_library::arrays::top_k(&mut b, &array, k, Order::descending(w)) {
            b.output("top", &row);
        }
        let circuit = b.finish().counts().and;
        // A program's comparisons are whole; a circuit drops the half that is not used, which costs as many ANDs.
        assert_eq!(
            comity_library::program(&format!("top{k}of{n}x{w}")).unwrap().and_gates(),
            circuit,
            "top{k}of{n}x{w}"
        );
    }
}

#[test]
fn the_largest_are_built() {
    for name in [
        "sort1048576x1024",
        "sort1000000x64",
        "top1000of1000000x64",
        "top1048576of1048576x1024",
        "argmin1048576x1024",
        "merge524288x1024",
    ] {
        assert!(comity_library::program(name).unwrap().and_gates() > 1 << 20, "{name}");
    }
    for name in ["prefixsum1048576x1024", "read1048576x1024", "write1048576x1024", "dedup65536x1024"] {
        assert!(comity_library::program(name).unwrap().and_gates() > 1 << 20, "{name}");
    }
    assert!(comity_library::program("join65536x1024x1024").unwrap().and_gates() > 1 << 20);
}

#[test]
fn merges() {
    let mut random = Random(12);
    for (n, w) in SIZES {
        let mut arrays = [0, 1].map(|_| numbers(&mut random, n, w));
        arrays.iter_mut().for_each(|array| array.sort_unstable());
        let merge = comity_library::program(&format!("merge{n}x{w}")).unwrap();
        let out = run(&merge, arrays.iter().map(|array| value(array, w)).collect());
        let mut all = arrays.concat();
        all.sort_unstable();
        assert_eq!(rows(&out[0], w), all, "merge{n}x{w}");
    }
}

#[test]
fn finds_the_greatest() {
    let mut random = Random(13);
    for (n, w) in SIZES {
        for k in [1, 2, 3, 16, 17, n, n + 2] {
            let array = numbers(&mut random, n, w);
            let out = run_shared(&mut random, &format!("top{k}of{n}x{w}"), &array, w);
            let mut expected = array.clone();
            expected.sort_unstable_by(|a, b| b.cmp(a));
            expected.resize(k, 0);
            assert_eq!(rows(&out[0], w), expected, "top{k}of{n}x{w}");
        }
        for _ in 0..3 {
            let array = numbers(&mut random, n, w);
            let bits = (n.next_power_of_two().ilog2() as usize).max(1);
            for (name, best) in [("argmin", array.iter().min()), ("argmax", array.iter().max())] {
                let out = run_shared(&mut random, &format!("{name}{n}x{w}"), &array, w);
                let best = *best.unwrap();
                let index = array.iter().position(|&x| x == best).unwrap() as u128;
                assert_eq!((rows(&out[0], bits)[0], rows(&out[1], w)[0]), (index, best), "{name} of {array:?}");
            }
        }
    }
}

#[test]
fn adds_up_prefixes() {
    let mut random = Random(14);
    for (n, w) in SIZES {
        let array = numbers(&mut random, n, w);
        let mask = (1 << w) - 1;
        type Together<'a> = &'a dyn Fn(u128, u128) -> u128;
        let cases: [(&str, Together); 3] =
            [("sum", &|a, b| (a + b) & mask), ("min", &|a, b| a.min(b)), ("max", &|a, b| a.max(b))];
        for (name, together) in cases {
            let out = run_shared(&mut random, &format!("prefix{name}{n}x{w}"), &array, w);
            let expected: Vec<u128> = (0..n).map(|i| array[..=i].iter().copied().reduce(together).unwrap()).collect();
            assert_eq!(rows(&out[0], w), expected, "prefix{name}{n}x{w}");
        }
    }
}

#[test]
fn reads_and_writes() {
    let mut random = Random(15);
    for (n, w) in SIZES {
        let bits = (n.next_power_of_two().ilog2() as usize).max(1);
        let read = comity_library::program(&format!("read{n}x{w}")).unwrap();
        let write = comity_library::program(&format!("write{n}x{w}")).unwrap();
        let indices: Vec<usize> =
            if n < 40 { (0..1 << bits).collect() } else { vec![0, 1, n - 1, (1 << bits) - 1, n / 2] };
        for index in indices {
            let array = numbers(&mut random, n, w);
            let word = random.words(w)[0];
            let at = value(&[index as u128], bits);
            let out = run(&read, vec![value(&array, w), at.clone()]);
            assert_eq!(rows(&out[0], w), [array.get(index).copied().unwrap_or(0)], "read{n}x{w} at {index}");
            let out = run(&write, vec![value(&array, w), at, value(&[word], w)]);
            let mut written = array;
            if let Some(row) = written.get_mut(index) {
                *row = word;
            }
            assert_eq!(rows(&out[0], w), written, "write{n}x{w} at {index}");
        }
    }
}

#[test]
fn drops_duplicates() {
    let mut random = Random(16);
    for (n, w) in SIZES {
        for _ in 0..3 {
            let mut array = numbers(&mut random, n, w);
            let out = run_shared(&mut random, &format!("dedup{n}x{w}"), &array, w);
            array.sort_unstable();
            array.dedup();
            let count = array.len() as u128;
            array.resize(n, 0);
            assert_eq!(rows(&out[0], w), array, "dedup{n}x{w}");
            assert_eq!(rows(&out[1], out[1].len()), [count]);
        }
    }
}

#[test]
fn compacts() {
    let mut random = Random(17);
    for n in (1..=18).chain([31, 32, 33, 65, 100, 128]) {
        let mut p = ProgramBuilder::new("compact");
        let (flags, array) = (p.input("flags", 0, n), p.input("rows", 0, 7 * n));
        let count = steps::compact(&mut p, steps::Array::of(flags, 1), steps::Array::of(array, 7));
        p.reveal("rows", Recipients::All, array);
        p.reveal("count", Recipients::All, count);
        let program = p.finish().unwrap();
        for density in 0..5 {
            let chosen: Vec<u128> = (0..n).map(|_| u128::from(random.next() % 4 < density)).collect();
            let array = numbers(&mut random, n as usize, 7);
            let out = run(&program, vec![value(&chosen, 1), value(&array, 7)]);
            let chosen = array.iter().zip(&chosen).filter(|(_, chosen)| **chosen == 1);
            let front: Vec<u128> = chosen.map(|(&row, _)| row).collect();
            assert_eq!(rows(&out[1], out[1].len()), [front.len() as u128]);
            assert_eq!(rows(&out[0], 7)[..front.len()], front, "{n} rows");
        }
    }
}

#[test]
fn joins() {
    let mut random = Random(18);
    for (n, w, k) in
        [(1, 1, 1), (1, 6, 3), (2, 6, 3), (3, 6, 5), (8, 6, 3), (13, 6, 7), (16, 5, 4), (31, 6, 2), (50, 7, 9)]
    {
        let program = comity_library::program(&format!("join{n}x{w}x{k}")).unwrap();
        for turn in 0..6 {
            let lists = [0, 1].map(|_| {
                let mut keys: Vec<u128> = (0..1 << w).collect();
                for i in 0..n {
                    let other = i + random.next() as usize % (keys.len() - i);
                    keys.swap(i, other);
                }
                keys.truncate(n);
                keys.sort_unstable();
                (keys, numbers(&mut random, n, k))
            });
            let [(mut left, payloads_a), (right, payloads_b)] = lists;
            let spoilt = turn == 5 && n > 1;
            if spoilt {
                left[n - 1] = left[n - 2];
            }
            let inputs = [(&left, w), (&payloads_a, k), (&right, w), (&payloads_b, k)];
            let out = run(&program, inputs.iter().map(|(rows, bits)| value(rows, *bits)).collect());
            let pairs: Vec<(usize, usize)> = (0..n)
                .filter(|_| !spoilt)
                .filter_map(|i| Some((i, right.iter().position(|&key| key == left[i])?)))
                .collect();
            let column = |row: &dyn Fn((usize, usize)) -> u128| {
                let mut column: Vec<u128> = pairs.iter().map(|&pair| row(pair)).collect();
                column.resize(n, 0);
                column
            };
            let name = format!("join{n}x{w}x{k} of {left:?} and {right:?}");
            assert_eq!(rows(&out[0], w), column(&|(i, _)| left[i]), "{name}");
            assert_eq!(rows(&out[1], k), column(&|(i, _)| payloads_a[i]), "{name}");
            assert_eq!(rows(&out[2], k), column(&|(_, j)| payloads_b[j]), "{name}");
            assert_eq!(rows(&out[3], out[3].len()), [pairs.len() as u128], "{name}");
            assert_eq!(rows(&out[4], 1), [u128::from(!spoilt)], "{name}");
        }
    }
}

#[test]
fn keys_bring_payloads() {
    let mut random = Random(19);
    let (n, key, width) = (77, 6, 15);
    let mut p = ProgramBuilder::new("by key");
    let array = p.input("rows", 0, (n * width) as u64);
    steps::sort(&mut p, steps::Array::of(array, width), Order::descending(key));
    p.reveal("rows", Recipients::All, array);
    let program = p.finish().unwrap();
    let given = numbers(&mut random, n, width);
    let got = rows(&run(&program, vec![value(&given, width)])[0], width);
    assert!(got.windows(2).all(|pair| pair[0] % 64 >= pair[1] % 64));
    let sorted = |mut rows: Vec<u128>| {
        rows.sort_unstable();
        rows
    };
    assert_eq!(sorted(got), sorted(given));
}

#[test]
fn each_row_is_called() {
    let mut p = ProgramBuilder::new("sums");
    let [a, b] = ["a", "b"].map(|name| steps::Array::of(p.input(name, 0, 40), 8));
    let mut add = Builder::new();
    let (x, y) = (add.input("x", 8), add.input("y", 8));
    let sum = arith::add(&mut add, &x, &y);
    add.output("sum", &sum);
    let add = p.circuit(add.finish());
    steps::each(&mut p, add, &[a, b], &[b]);
    p.reveal("sums", Recipients::All, b.register());
    let out = run(&p.finish().unwrap(), vec![value(&[1, 2, 3, 4, 255], 8), value(&[10, 20, 30, 40, 50], 8)]);
    assert_eq!(rows(&out[0], 8), [11, 22, 33, 44, 49]);
}
