//! Constant arrays at a private index, which are tables of a program for depth.

use comity_circuit::{Circuit, Goal, Program, Step};

use super::{LIMITS, compile_for, gives, run};

/// The numbers of calls that look up a table, in order, loops once.
fn lookups(program: &Program) -> Vec<u64> {
    fn walk(program: &Program, steps: &[Step], found: &mut Vec<u64>) {
        for step in steps {
            match step {
                Step::Call { circuit, times, .. } if program.circuits()[*circuit].table().is_some() => {
                    found.push(*times)
                }
                Step::Repeat { body, .. } => walk(program, body, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    walk(program, program.steps(), &mut found);
    found
}

const SQUARES: &str = "const T: [u8; 10] = [0, 1, 4, 9, 16, 25, 36, 49, 64, 81];\n";

#[test]
fn a_constant_array_at_a_private_index_is_a_table_for_depth() {
    let source = format!("{SQUARES} fn main(x: u4 from 0) -> u8 {{ T[x] + 1 }}");
    let program = compile_for(&source, Goal::Depth, LIMITS[1]);
    assert_eq!(lookups(&program), [1]);
    let table = program.circuits().iter().find_map(Circuit::table).expect("a table");
    assert_eq!((table.delta(), table.sigma(), &table.bytes()[..10]), (4, 8, &[0, 1, 4, 9, 16, 25, 36, 49, 64, 81][..]));
    assert_eq!(lookups(&compile_for(&source, Goal::Size, LIMITS[1])), [0; 0]);
    (0..16).for_each(|x| gives(&source, &[x], &[if x < 10 { x * x + 1 } else { 1 }]));
    // A wide index: its upper bits are looked at, too.
    let wide = format!("{SQUARES} fn main(x: u40 from 0) -> u8 {{ T[x] }}");
    assert_eq!(lookups(&compile_for(&wide, Goal::Depth, LIMITS[1])), [1]);
    for (x, y) in [(7, 49), (10, 0), (16 + 7, 0), ((1 << 39) + 3, 0)] {
        gives(&wide, &[x], &[y]);
    }
}

#[test]
fn lookups_that_do_not_need_each_other_are_one_call() {
    let source = format!(
        "{SQUARES} fn main(x: [u4; 6] from 0) -> ([u8; 6], u8) {{
            let mut y = [0; 6];
            for i in 0..6 {{ y[i] = T[x[i] ^ 1]; }}
            let z = T[y[0]];
            (y, z ^ T[z])
        }}"
    );
    let program = compile_for(&source, Goal::Depth, LIMITS[0]);
    assert_eq!(lookups(&program), [6, 1, 1]);
    let square = |x: i128| if x < 10 { x * x } else { 0 };
    let x = [2, 3, 8, 15, 10, 1];
    let mut want: Vec<i128> = x.iter().map(|x| square(x ^ 1)).collect();
    let z = square(want[0]);
    want.push(z ^ square(z));
    gives(&source, &x, &want);
    assert_eq!(run(&program, &x), want);
}

#[test]
fn a_lookup_in_a_loop_that_is_kept_stays_in_it() {
    let source = format!(
        "{SQUARES} fn main(x: [u4; 40] from 0) -> u16 {{ let mut s = 0; for y in x {{ s += T[y] as u16; }} s }}"
    );
    let program = compile_for(&source, Goal::Depth, LIMITS[2]);
    assert_eq!(lookups(&program), [1]);
    let x: Vec<i128> = (0..40).map(|i| i % 16).collect();
    let want: i128 = x.iter().map(|x| if *x < 10 { x * x } else { 0 }).sum();
    gives(&source, &x, &[want]);
    assert_eq!(run(&program, &x), [want]);
}
