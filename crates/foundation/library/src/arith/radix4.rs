//! Sums in a few rounds of tables: carries of radix four.
//!
//! A run of bits makes a carry, or passes one on that comes in. What four neighbouring runs do together is a
//! function of eight bits, which is a [`LookupTable`]: the ANDs of two, three and four bits that are in it
//! are then one look-up, and one round where a protocol looks tables up. The runs double twice at each level
//! (as Kogge and Stone's do once, 1973): 64 bits take three levels, 1,024 five, where trees of ANDs of two
//! bits take 6 and 10 layers. It is dear in material, a unit vector of 247 or 120 triples for each bit and
//! level, and pays where a round is.

use comity_circuit::{Builder, Circuit, Goal, LookupTable, Program, ProgramBuilder, Recipients, Register, Wire};

use super::prefix::{Carry, of_sum, prefixes};
use crate::lookup::{Special, table_circuit, table_of};

/// The sum of two numbers of `n` bits, modulo 2^n.
pub(crate) fn table_program(goal: Goal, n: usize) -> Program {
    let mut p = ProgramBuilder::for_goal(format!("add{n}table"), goal);
    let inputs = [p.input("a", 0, n as u64), p.input("b", 1, n as u64)];
    let sum = p.register(n as u64);
    // The carry of the highest bit is not needed.
    let runs = n - 1;
    let state = p.register(2 * runs as u64);
    if runs > 0 {
        let operands = [inputs[0].span(), inputs[1].span()];
        let indices = p.register(8 * runs as u64);
        let [x, y, out] = ["a", "b", "indices"];
        let gather = linear(&p, &[(x, n), (y, n)], out, |values| (0..runs).flat_map(|i| first(values, i)).collect());
        let gather = p.circuit(gather);
        p.call(gather, &operands, &[indices.span()]);
        look_up(&mut p, table_of(8, 2, of_bits), &indices, &state, runs);
    }
    let mut covered = 4;
    while covered < runs {
        join(&mut p, &state, runs, covered);
        covered *= 4;
    }
    let mut b = p.builder();
    let [x, y] = ["a", "b"].map(|name| b.input(name, n));
    let state_wires = if runs > 0 { b.input("state", 2 * runs) } else { Vec::new() };
    let bits: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.xor(x, y)).collect();
    let carries = [Wire::ZERO].into_iter().chain(state_wires.chunks(2).map(|run| run[0]));
    let bits: Vec<Wire> = bits.into_iter().zip(carries).map(|(bit, carry)| b.xor(bit, carry)).collect();
    b.output("sum", &bits);
    let last = p.circuit(b.finish());
    let mut args = vec![inputs[0].span(), inputs[1].span()];
    args.extend((runs > 0).then(|| state.span()));
    p.call(last, &args, &[sum.span()]);
    p.reveal("sum", Recipients::All, sum);
    p.finish().expect("a built-in program is in order")
}

/// Joins each run with the three below it, of `covered` bits each; the lowest ones are whole already. A run's
/// two bits are whether it makes a carry and whether it passes one on.
fn join(p: &mut ProgramBuilder, state: &Register, runs: usize, covered: usize) {
    let (more, last) = (runs - covered, covered * 4 >= runs);
    // What is passed on from below the bottom is asked for at no later level.
    let (delta, sigma) = if last { (6, 1) } else { (7, 2) };
    let (indices, rows) = (p.register((delta * more) as u64), p.register((sigma * more) as u64));
    let gather = linear(p, &[("state", 2 * runs)], "indices", |values| {
        let run =
            |i: usize, back: usize| i.checked_sub(back * covered).map(|at| [values[0][2 * at], values[0][2 * at + 1]]);
        let index = |i: usize| {
            let below = (1..4).flat_map(|back| run(i, back).unwrap_or([Wire::ZERO; 2]));
            let own = [values[0][2 * i + 1]];
            own.into_iter().chain(below).take(delta).collect::<Vec<_>>()
        };
        (covered..runs).flat_map(index).collect()
    });
    let gather = p.circuit(gather);
    p.call(gather, &[state.span()], &[indices.span()]);
    look_up(p, table_of(delta, sigma, of_runs), &indices, &rows, more);
    let mut b = p.builder();
    let (old, found) = (b.input("state", 2 * runs), b.input("rows", sigma * more));
    let mut new = old;
    for (i, row) in found.chunks(sigma).enumerate() {
        let run = 2 * (covered + i);
        new[run] = b.xor(new[run], row[0]);
        if let [_, passes] = *row {
            new[run + 1] = passes;
        }
    }
    b.output("state", &new);
    let put = p.circuit(b.finish());
    p.call(put, &[state.span(), rows.span()], &[state.span()]);
}

/// Looks up all indices, which lie side by side.
fn look_up(p: &mut ProgramBuilder, table: LookupTable, from: &Register, to: &Register, times: usize) {
    let (delta, sigma) = (table.delta() as u64, table.sigma() as u64);
    let circuit = p.circuit(table_circuit(&table, p.goal()));
    let side_by_side = |register: &Register, width: u64| (register.slice(0, width).span(), width as i64);
    p.map(circuit, times as u64, &[side_by_side(from, delta)], &[side_by_side(to, sigma)]);
}

/// A circuit that only puts wires elsewhere.
fn linear(
    p: &ProgramBuilder,
    inputs: &[(&str, usize)],
    output: &str,
    put: impl FnOnce(&[Vec<Wire>]) -> Vec<Wire>,
) -> Circuit {
    let mut b = p.builder();
    let values: Vec<Vec<Wire>> = inputs.iter().map(|&(name, bits)| b.input(name, bits)).collect();
    b.output(output, &put(&values));
    b.finish()
}

/// The index of bit `i` at the first level: its own bits of both numbers, then those of the three below it.
fn first(values: &[Vec<Wire>], i: usize) -> Vec<Wire> {
    let bit = |back: usize, value: &Vec<Wire>| i.checked_sub(back).map_or(Wire::ZERO, |at| value[at]);
    (0..4).flat_map(|back| [bit(back, &values[0]), bit(back, &values[1])]).collect()
}

/// Whether four bits of a sum make a carry, and whether they pass one on.
fn of_bits(b: &mut Builder, index: &[Wire]) -> Vec<Wire> {
    let up = |of: usize| index.chunks(2).rev().map(|bits| bits[of]).collect::<Vec<_>>();
    let (mut runs, _) = of_sum(b, &up(0), &up(1));
    prefixes(b, &mut runs);
    let Carry { makes, passes } = runs[3];
    vec![makes, passes]
}

/// The carry of three runs and one above them: whether they hand a carry to the one above that this one
/// passes, and whether all four pass one. With an index of six bits only the first.
fn of_runs(b: &mut Builder, index: &[Wire]) -> Vec<Wire> {
    let run =
        |back: usize| Carry { makes: index[2 * back - 1], passes: index.get(2 * back).copied().unwrap_or(Wire::ZERO) };
    let own = Carry { makes: Wire::ZERO, passes: index[0] };
    let mut runs = [run(3), run(2), run(1), own];
    prefixes(b, &mut runs);
    let all = [runs[3].makes, runs[3].passes];
    all[..index.len() - 5].to_vec()
}

/// The tables, and the gates of each, which are fewer than those of any table of the size.
pub(crate) fn tables() -> [Special; 3] {
    [(table_of(8, 2, of_bits), of_bits), (table_of(6, 1, of_runs), of_runs), (table_of(7, 2, of_runs), of_runs)]
}
