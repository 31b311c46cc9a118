//! Tables at a private index.

use comity_circuit::{Circuit, Goal, LookupTable, Program, Step, eval_many};
use comity_core::Bits;
use comity_library::aes::table_program;
use comity_library::{lookup, program_for, table_circuit};

use crate::{Random, circuit_for, run, run_program};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

fn random_table(delta: usize, sigma: usize, rows: usize) -> LookupTable {
    let mut random = Random((delta * 1000 + sigma) as u64);
    let width = sigma.div_ceil(8);
    let byte =
        |i: usize, random: u64| if i % width + 1 == width { random % (1 << ((sigma - 1) % 8 + 1)) } else { random };
    let bytes = (0..rows * width).map(|i| byte(i, random.next()) as u8).collect();
    LookupTable::new(delta, sigma, bytes).expect("rows of the right width")
}

/// Whether a circuit gives the rows of the table, by its gates and, if it has any, by what is noted.
fn is_table(circuit: &Circuit, table: &LookupTable) -> bool {
    let bit = |i: usize, at: usize| i >> at & 1 == 1;
    let indices: Vec<Vec<Bits>> =
        (0..1 << table.delta()).map(|i| vec![(0..table.delta()).map(|at| bit(i, at)).collect()]).collect();
    let rows = eval_many(&Program::from_circuit(circuit.clone()).unwrap(), &indices).unwrap();
    let noted = circuit.gates().is_empty() || circuit.table() == Some(table);
    noted && rows.iter().enumerate().all(|(i, row)| row[0] == table.row(i))
}

#[test]
fn the_circuit_of_a_table_is_the_table() {
    for (delta, sigma) in [(1, 1), (1, 9), (2, 3), (3, 1), (4, 4), (5, 17), (6, 8), (7, 1), (8, 8), (10, 3), (12, 2)] {
        for rows in [0, 1, (1 << delta) - 1, 1 << delta] {
            let table = random_table(delta, sigma, rows);
            for goal in GOALS {
                let circuit = table_circuit(&table, goal);
                assert!(is_table(&circuit, &table), "{delta} {sigma} {rows} {goal:?}");
            }
        }
    }
}

#[test]
fn an_index_beyond_the_end_gives_zero() {
    let table = random_table(3, 5, 6);
    for goal in GOALS {
        let c = circuit_for(goal, [6], |b, [index]| vec![lookup(b, &table, index)]);
        let out = run(&c, &[std::array::from_fn(|k| k as u128)]);
        for (k, &got) in out[0].iter().enumerate() {
            let want = if k < 6 { table.bytes()[k].into() } else { 0 };
            assert_eq!(got, want, "at {k}");
        }
    }
}

#[test]
fn a_table_of_bytes_costs_what_is_said() {
    let table = random_table(8, 8, 256);
    let [size, depth] = GOALS.map(|goal| table_circuit(&table, goal).counts());
    assert!(size.and <= 82, "{} ANDs", size.and);
    assert_eq!((depth.and, depth.and_depth), (142, 3));
    // The rows share sums of few wires: one by one they take 1,146 and 950.
    assert!(size.xor <= 774 && depth.xor <= 648, "{} and {} XORs", size.xor, depth.xor);
}

#[test]
fn aes_by_tables_looks_up_200_in_10_rounds() {
    for goal in GOALS {
        let program = program_for("aes128table", goal).unwrap();
        let key_and_block = ["2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734"];
        assert_eq!(run_program(&program, &key_and_block), ["3925841d02dc09fbdc118597196a0b32"]);
        let lookups = program.steps().iter().filter_map(|step| match step {
            Step::Call { circuit, times, .. } if program.circuits()[*circuit].table().is_some() => Some(*times),
            _ => None,
        });
        assert_eq!(lookups.collect::<Vec<_>>(), [20; 10]);
        // All ANDs are those of the lookups.
        let (ands, depth) = if goal == Goal::Size { (6_400, 60) } else { (6_800, 40) };
        assert_eq!((program.totals().and, program.totals().and_depth), (ands, depth));
    }
}

/// Blocks side by side become what they become one by one, in the same number of rounds.
#[test]
fn aes_by_tables_of_many_blocks_is_that_of_each() {
    let (one, many) = (program_for("aes128table", Goal::Depth).unwrap(), table_program(Goal::Depth, 3));
    assert_eq!(many.totals().and_depth, one.totals().and_depth);
    let key = Bits::from_bytes(&[0x5a; 16], 128);
    let blocks = [1_u8, 2, 3].map(|block| Bits::from_bytes(&[block; 16], 128));
    let each = eval_many(&one, &blocks.clone().map(|block| vec![key.clone(), block])).unwrap();
    let all: Bits = blocks.iter().flat_map(Bits::iter).collect();
    let expected: Bits = each.iter().flat_map(|values| values[0].iter()).collect();
    assert_eq!(eval_many(&many, &[vec![key, all]]).unwrap()[0][0], expected);
}

#[test]
fn sums_by_tables_are_sums_in_few_rounds() {
    for (width, looked_up) in
        [(1, vec![]), (2, vec![1]), (5, vec![4]), (6, vec![5, 1]), (64, vec![63, 59, 47]), (100, vec![99, 95, 83, 35])]
    {
        for goal in GOALS {
            let program = program_for(&format!("add{width}table"), goal).unwrap();
            let lookups = program.steps().iter().filter_map(|step| match step {
                Step::Call { circuit, times, .. } if program.circuits()[*circuit].table().is_some() => Some(*times),
                _ => None,
            });
            assert_eq!(lookups.collect::<Vec<_>>(), looked_up, "{width}");
            let mask = u128::MAX >> (128 - width);
            let mut random = Random(width as u64);
            // A carry through all bits, none, and what comes.
            let wide = |random: &mut Random| u128::from(random.next()) << 64 | u128::from(random.next());
            let pairs = [(mask, 1), (mask / 3, mask / 3 * 2), (0, 0), (mask, mask)];
            let more: Vec<_> = (0..60).map(|_| (wide(&mut random) & mask, wide(&mut random) & mask)).collect();
            for (x, y) in pairs.into_iter().chain(more) {
                let bits = |value: u128| Bits::from_bytes(&value.to_le_bytes(), width);
                let out = eval_many(&program, &[vec![bits(x), bits(y)]]).unwrap().remove(0);
                assert!(out == [bits(x.wrapping_add(y) & mask)], "{x:x} + {y:x} in {width} bits");
            }
        }
    }
}
