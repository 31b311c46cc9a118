//! The functions over a builder.

use comity_circuit::{Builder, Circuit, Wire};
use comity_library::arith;
use comity_library::arrays::{self, Joined, Order};

use super::{numbers, signed};
use crate::{Random, run};

/// A circuit over groups of rows, `(how many, how wide)` each.
fn circuit(
    groups: &[(usize, usize)],
    build: impl FnOnce(&mut Builder, &[Vec<Vec<Wire>>]) -> Vec<Vec<Wire>>,
) -> Circuit {
    let mut b = Builder::new();
    let inputs: Vec<Vec<Vec<Wire>>> =
        groups.iter().map(|&(len, bits)| (0..len).map(|_| b.input("x", bits)).collect()).collect();
    for row in build(&mut b, &inputs) {
        b.output("y", &row);
    }
    b.finish()
}

/// Runs a circuit 64 times on arrays that `draw` makes, and compares with what `expected` makes of them.
fn check(
    circuit: &Circuit,
    mut draw: impl FnMut() -> Vec<u128>,
    mut expected: impl FnMut(&[u128]) -> Vec<u128>,
    what: &str,
) {
    let drawn: Vec<Vec<u128>> = (0..64).map(|_| draw()).collect();
    for (rows, got) in drawn.iter().zip(outputs(circuit, &drawn)) {
        assert_eq!(got, expected(rows), "{what} of {rows:?}");
    }
}

/// The outputs of a circuit for each of 64 inputs.
fn outputs(circuit: &Circuit, inputs: &[Vec<u128>]) -> Vec<Vec<u128>> {
    let columns: Vec<[u128; 64]> = (0..inputs[0].len()).map(|i| std::array::from_fn(|k| inputs[k][i])).collect();
    let out = run(circuit, &columns);
    (0..64).map(|k| out.iter().map(|column| column[k]).collect()).collect()
}

/// All permutations of 0 to n - 1.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let with = |at: usize| move |shorter: &Vec<usize>| [&shorter[..at], &[n - 1], &shorter[at..]].concat();
    (0..n).flat_map(|at| shorter.iter().map(with(at)).collect::<Vec<_>>()).collect()
}

const LENGTHS: [usize; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 24, 31, 32, 45];

#[test]
fn arrays_are_sorted_in_each_order() {
    let mut random = Random(1);
    for n in LENGTHS {
        for bits in [1, 2, 9] {
            let ascending = Order::ascending(bits);
            let descending = Order::descending(bits);
            type Oracle = fn(&mut Vec<u128>, usize);
            let cases: [(Order, Oracle); 4] = [
                (ascending, |rows, _| rows.sort()),
                (descending, |rows, _| rows.sort_by(|a, b| b.cmp(a))),
                (ascending.signed(), |rows, bits| rows.sort_by_key(|&x| signed(x, bits))),
                (descending.signed(), |rows, bits| rows.sort_by_key(|&x| -signed(x, bits))),
            ];
            for (order, oracle) in cases {
                for (name, sort) in [
                    ("sort", arrays::sort as fn(&mut Builder, &[Vec<Wire>], Order) -> Vec<Vec<Wire>>),
                    ("stable", arrays::sort_stable),
                    ("bitonic", arrays::bitonic_sort),
                ] {
                    let sorting = circuit(&[(n, bits)], |b, v| sort(b, &v[0], order));
                    let sorted = |rows: &[u128]| {
                        let mut rows = rows.to_vec();
                        oracle(&mut rows, bits);
                        rows
                    };
                    check(&sorting, || numbers(&mut random, n, bits), sorted, name);
                }
            }
        }
    }
}

#[test]
fn payloads_go_with_their_keys() {
    let mut random = Random(2);
    for n in LENGTHS {
        let (key, width) = (3, 10);
        let draw = |random: &mut Random| -> Vec<u128> {
            numbers(random, n, key).into_iter().map(|x| x | u128::from(random.next() % 128) << key).collect()
        };
        for order in [Order::ascending(key), Order::descending(key)] {
            let sign = if order == Order::ascending(key) { 1 } else { -1 };
            let by_key = move |row: &u128| sign * (row & 7) as i32;
            let stable = circuit(&[(n, width)], |b, v| arrays::sort_stable(b, &v[0], order));
            let sorted = |rows: &[u128]| {
                let mut rows = rows.to_vec();
                rows.sort_by_key(by_key);
                rows
            };
            check(&stable, || draw(&mut random), sorted, "a stable sort");
        }
        // Without stability the rows of a key come in some order: compare them as sets, by sorting again outside.
        let sorting = circuit(&[(n, width)], |b, v| {
            let rows = arrays::sort(b, &v[0], Order::ascending(key));
            let keys = rows.iter().map(|row| row[..key].to_vec()).collect::<Vec<_>>();
            let again = arrays::sort(b, &rows, Order::ascending(width));
            [keys, again].concat()
        });
        let oracle = |rows: &[u128]| {
            let (mut keys, mut all) = (rows.iter().map(|row| row & 7).collect::<Vec<_>>(), rows.to_vec());
            keys.sort_unstable();
            all.sort_unstable();
            [keys, all].concat()
        };
        check(&sorting, || draw(&mut random), oracle, "rows with payloads");
    }
}

#[test]
fn sorted_arrays_of_any_lengths_are_merged() {
    let mut random = Random(3);
    for n in 0..10 {
        for m in [0, 1, 2, 3, 4, 7, 8, 9, 16] {
            if n + m == 0 {
                continue;
            }
            let merging = circuit(&[(n, 5), (m, 5)], |b, v| arrays::merge(b, &v[0], &v[1], Order::ascending(5)));
            let draw = || {
                let (mut x, mut y) = (numbers(&mut random, n, 5), numbers(&mut random, m, 5));
                x.sort_unstable();
                y.sort_unstable();
                [x, y].concat()
            };
            let oracle = |rows: &[u128]| {
                let mut rows = rows.to_vec();
                rows.sort_unstable();
                rows
            };
            check(&merging, draw, oracle, "merging");
        }
    }
}

#[test]
fn the_first_ones_are_found() {
    let mut random = Random(4);
    for n in LENGTHS {
        for k in [1, 2, 3, 5, 8, n, n + 3] {
            let top = circuit(&[(n, 6)], |b, v| arrays::top_k(b, &v[0], k, Order::descending(6)));
            let oracle = |rows: &[u128]| {
                let mut rows = rows.to_vec();
                rows.sort_by(|a, b| b.cmp(a));
                rows.truncate(k);
                rows
            };
            check(&top, || numbers(&mut random, n, 6), oracle, "the first k");
        }
        let first = circuit(&[(n, 6)], |b, v| {
            let (order, negative) = (Order::ascending(6), Order::ascending(6).signed());
            vec![
                arrays::argmin(b, &v[0]),
                arrays::argmax(b, &v[0]),
                arrays::first(b, &v[0], order),
                arrays::first(b, &v[0], negative),
                arrays::arg_first(b, &v[0], negative).0,
            ]
        });
        let oracle = |rows: &[u128]| {
            let at = |value: u128| rows.iter().position(|&row| row == value).unwrap() as u128;
            let (least, most) = (*rows.iter().min().unwrap(), *rows.iter().max().unwrap());
            let negative = *rows.iter().min_by_key(|&&row| signed(row, 6)).unwrap();
            vec![at(least), at(most), least, negative, at(negative)]
        };
        check(&first, || numbers(&mut random, n, 6), oracle, "the first");
    }
}

#[test]
fn rows_are_read_and_written_at_an_index() {
    let mut random = Random(5);
    for n in LENGTHS {
        // Just enough bits, and more; and so few that not all rows have an index.
        for bits in [n.ilog2() as usize + 1, 1, 2, 9] {
            let access = circuit(&[(n, 4), (1, bits), (1, 4)], |b, v| {
                let mut out = vec![arrays::read(b, &v[0], &v[1][0])];
                out.extend(arrays::write(b, &v[0], &v[1][0], &v[2][0]));
                out.extend(arrays::demux(b, &v[1][0], n).into_iter().map(|bit| vec![bit]));
                out
            });
            let draw = || {
                let mut values = numbers(&mut random, n, 4);
                let index = random.next() as usize % (n + 2);
                values.push(index as u128 & ((1 << bits) - 1));
                values.push(u128::from(random.next() % 16));
                values
            };
            let oracle = |values: &[u128]| {
                let (rows, index, word) = (&values[..n], values[n] as usize, values[n + 1]);
                let mut written = rows.to_vec();
                let mut here = vec![0; n];
                if index < n {
                    written[index] = word;
                    here[index] = 1;
                }
                [vec![rows.get(index).copied().unwrap_or(0)], written, here].concat()
            };
            check(&access, draw, oracle, "reading and writing");
        }
    }
}

#[test]
fn prefixes_take_all_rows_so_far_together() {
    let mut random = Random(6);
    for n in LENGTHS {
        let prefixes = circuit(&[(n, 6)], |b, v| {
            let sums = arrays::prefix(b, &v[0], arith::add);
            let most = arrays::prefix(b, &v[0], arith::max);
            [sums, most, arrays::prefix(b, &v[0], arith::or)].concat()
        });
        let scan = |rows: &[u128], together: fn(u128, u128) -> u128| {
            let so_far = |state: &mut u128, row: &u128| {
                *state = together(*state, *row);
                Some(*state)
            };
            rows.iter().scan(0, so_far).collect::<Vec<_>>()
        };
        let oracle =
            |rows: &[u128]| [scan(rows, |a, b| (a + b) & 63), scan(rows, u128::max), scan(rows, |a, b| a | b)].concat();
        check(&prefixes, || numbers(&mut random, n, 6), oracle, "prefixes");
    }
}

#[test]
fn rows_are_compacted_in_order() {
    let mut random = Random(7);
    for n in (1..=20).chain([31, 32, 33, 63, 64, 65, 100]) {
        let compacting = circuit(&[(n, 1), (n, 7)], |b, v| {
            let flags: Vec<Wire> = v[0].iter().map(|flag| flag[0]).collect();
            let (rows, count) = arrays::compact(b, &flags, &v[1]);
            // Those behind, in some order: as a check that none is lost, the sum of all.
            let all: Vec<&[Wire]> = rows.iter().map(|row| &row[..]).collect();
            let sum = arith::sum(b, &all);
            let kept = rows.iter().enumerate().map(|(i, row)| {
                let i = arith::constant(i as u128, count.len());
                let inside = arith::lt(b, &i, &count);
                row.iter().map(|&bit| b.and(inside, bit)).collect::<Vec<_>>()
            });
            let kept: Vec<Vec<Wire>> = kept.collect();
            [kept, vec![count.clone(), sum]].concat()
        });
        let mut density = 0;
        let draw = || {
            density = (density + 1) % 5;
            let flags = (0..n).map(|_| u128::from(random.next() % 4 < density)).collect::<Vec<_>>();
            [flags, numbers(&mut random, n, 7)].concat()
        };
        let oracle = |values: &[u128]| {
            let (flags, rows) = values.split_at(n);
            let mut kept: Vec<u128> =
                rows.iter().zip(flags).filter(|(_, flag)| **flag == 1).map(|(&row, _)| row).collect();
            let count = kept.len() as u128;
            kept.resize(n, 0);
            [kept, vec![count, rows.iter().sum::<u128>() & 127]].concat()
        };
        check(&compacting, draw, oracle, "compacting");
    }
}

#[test]
fn duplicates_are_dropped() {
    let mut random = Random(8);
    for n in LENGTHS {
        let dedup = circuit(&[(n, 5)], |b, v| {
            let (rows, count) = arrays::dedup(b, &v[0], Order::ascending(5));
            [rows, vec![count]].concat()
        });
        let oracle = |rows: &[u128]| {
            let mut rows = rows.to_vec();
            rows.sort_unstable();
            rows.dedup();
            let count = rows.len() as u128;
            rows.resize(n, 0);
            rows.push(count);
            rows
        };
        check(&dedup, || numbers(&mut random, n, 5), oracle, "different rows");
    }
}

/// A list of different keys of five bits with payloads above.
fn list(random: &mut Random, len: usize, payload: usize) -> Vec<u128> {
    let mut keys: Vec<u128> = (0..32).collect();
    for i in 0..len {
        keys.swap(i, i + random.next() as usize % (32 - i));
    }
    keys.truncate(len);
    keys.into_iter().map(|key| key | u128::from(random.next() % (1 << payload)) << 5).collect()
}

#[test]
fn lists_are_joined_on_equal_keys() {
    let mut random = Random(9);
    for (n, m) in [(1, 1), (1, 4), (3, 2), (4, 4), (7, 12), (13, 13), (20, 9)] {
        let output = |joined: Joined| [joined.rows, vec![joined.count]].concat();
        let joined = |left: &[u128], right: &[u128], rows: usize| {
            let mut joined: Vec<u128> = Vec::new();
            for &l in left {
                let other = right.iter().find(|&&r| r % 32 == l % 32);
                joined.extend(other.map(|r| l | r >> 5 << 8));
            }
            let count = joined.len() as u128;
            joined.resize(rows, 0);
            joined.push(count);
            joined
        };
        let nested = circuit(&[(n, 8), (m, 9)], |b, v| output(arrays::join_loop(b, 5, &v[0], &v[1])));
        let draw = || [list(&mut random, n, 3), list(&mut random, m, 4)].concat();
        check(&nested, draw, |rows| joined(&rows[..n], &rows[n..], n), "a join by comparing all");

        let merged = circuit(&[(n, 8), (m, 9)], |b, v| {
            let (joined, sorted) = arrays::join_sorted(b, 5, &v[0], &v[1]);
            [output(joined), vec![vec![sorted]]].concat()
        });
        let mut turn = 0;
        let draw = || {
            let (mut left, mut right) = (list(&mut random, n, 3), list(&mut random, m, 4));
            left.sort_unstable_by_key(|row| row % 32);
            right.sort_unstable_by_key(|row| row % 32);
            turn += 1;
            // Now and then two rows are out of order, or have the same key.
            let spoilt = if turn % 2 == 0 { &mut left } else { &mut right };
            match turn % 9 {
                0 if spoilt.len() > 1 => spoilt.swap(0, 1),
                1 if spoilt.len() > 1 => spoilt[1] = spoilt[0],
                _ => {}
            }
            [left, right].concat()
        };
        let oracle = |rows: &[u128]| {
            let (left, right) = rows.split_at(n);
            let sorted = [left, right].iter().all(|list| list.windows(2).all(|pair| pair[0] % 32 < pair[1] % 32));
            let least = n.min(m);
            let rows = if sorted { joined(left, right, least) } else { vec![0; least + 1] };
            [rows, vec![u128::from(sorted)]].concat()
        };
        check(&merged, draw, oracle, "a join by merging");
    }
}

#[test]
fn switches_permute() {
    let mut random = Random(10);
    for n in (1..=17).chain([31, 32, 33, 100]) {
        let count = arrays::switch_count(n);
        let permuting = circuit(&[(n, 7), (count, 1)], |b, v| {
            let switches: Vec<Wire> = v[1].iter().map(|switch| switch[0]).collect();
            arrays::permute(b, &v[0], &switches)
        });
        assert_eq!(permuting.counts().and, 7 * count as u64);
        // All permutations of few rows, random ones of many.
        let mut left: Vec<Vec<usize>> = match n {
            1..=6 => permutations(n),
            _ => Vec::new(),
        };
        let rounds = left.len().div_ceil(64).max(1);
        for _ in 0..rounds {
            let mut drawn = Vec::new();
            let draw = || {
                let from = left.pop().unwrap_or_else(|| {
                    let mut from: Vec<usize> = (0..n).collect();
                    (1..n).for_each(|i| from.swap(i, random.next() as usize % (i + 1)));
                    from
                });
                let switches = arrays::switches(&from);
                drawn.push(from);
                (0..n as u128).chain(switches.into_iter().map(u128::from)).collect()
            };
            let given: Vec<Vec<u128>> = std::iter::repeat_with(draw).take(64).collect();
            for (from, got) in drawn.iter().zip(outputs(&permuting, &given)) {
                assert!(from.iter().map(|&row| row as u128).eq(got), "{from:?}");
            }
        }
    }
}

/// A function from groups of rows to rows.
type Build<'a> = &'a dyn Fn(&mut Builder, &[Vec<Vec<Wire>>]) -> Vec<Vec<Wire>>;

#[test]
fn costs_are_those_of_the_documentation() {
    let ands = |groups: &[(usize, usize)], build: Build| circuit(groups, build).counts().and;
    let order = Order::ascending(32);
    assert_eq!(ands(&[(2, 32)], &|b, v| arrays::sort(b, &v[0], order)), 64);
    assert_eq!(ands(&[(2, 50)], &|b, v| arrays::sort(b, &v[0], order)), 32 + 50, "a payload adds its width");
    assert_eq!(ands(&[(16, 32)], &|b, v| arrays::sort(b, &v[0], order)), 60 * 64);
    assert_eq!(ands(&[(128, 32)], &|b, v| arrays::sort(b, &v[0], order)), (1471 - 24) * 64);
    assert_eq!(ands(&[(16, 32)], &|b, v| arrays::bitonic_sort(b, &v[0], order)), 80 * 64);
    assert_eq!(ands(&[(8, 32), (8, 32)], &|b, v| arrays::merge(b, &v[0], &v[1], order)), 25 * 64);
    for k in [1usize, 2, 3, 4, 7, 8, 10, 16, 40] {
        let (n, log) = (512, k.next_power_of_two().ilog2() as u64);
        let group = 1 << log;
        let group_cost = ands(&[(group, 1)], &|b, v| arrays::sort(b, &v[0], Order::ascending(1)));
        let cost = ands(&[(n, 1)], &|b, v| arrays::top_k(b, &v[0], k, Order::ascending(1)));
        let most = n as u64 / group as u64 * group_cost + n as u64 + n as u64 * log / 2;
        assert!(cost <= most, "the first {k}: {cost} comparisons, not {most}");
    }
    for n in [2, 8, 10, 64] {
        let size = n as u64;
        assert_eq!(ands(&[(n, 32)], &|b, v| arrays::top_k(b, &v[0], 1, order)), (size - 1) * 64);
        assert_eq!(ands(&[(n, 32)], &|b, v| vec![arrays::first(b, &v[0], order)]), (size - 1) * 64);
    }
    let index = |b: &mut Builder, v: &[Vec<Vec<Wire>>]| {
        let (index, row) = arrays::arg_first(b, &v[0], Order::ascending(32));
        vec![index, row]
    };
    assert_eq!(ands(&[(64, 32)], &index), 63 * 64 + 64 - 6 - 1);
    assert_eq!(ands(&[(64, 32), (1, 6)], &|b, v| vec![arrays::read(b, &v[0], &v[1][0])]), 63 * 32);
    assert_eq!(ands(&[(64, 32), (1, 6)], &|b, v| vec![arrays::demux(b, &v[1][0], 64)]), 64 - 6 - 1);
    assert_eq!(ands(&[(64, 8), (1, 6), (1, 8)], &|b, v| arrays::write(b, &v[0], &v[1][0], &v[2][0])), 64 * 8 + 57);
    let compact = |b: &mut Builder, v: &[Vec<Vec<Wire>>]| {
        let flags: Vec<Wire> = v[0].iter().map(|flag| flag[0]).collect();
        arrays::compact(b, &flags, &v[1]).0
    };
    assert!(ands(&[(64, 1), (64, 32)], &compact) <= 32 * 6 * 33 + 128);
}
