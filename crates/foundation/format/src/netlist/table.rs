//! Truth tables as gates, with few ANDs.
//!
//! A function of up to four variables that needs at most two ANDs is found by search, with as few as there
//! can be: every linear function, every multiplexer and majority (1), every function of three variables (2 at
//! most). What needs more is split at a variable, `f = f0 ^ x (f0 ^ f1)`, at the one where most is shared;
//! above four variables at the last one.
//!
//! A table's bit `i` is the function's value where variable `j` is bit `j` of `i`.

use std::collections::BTreeMap;

use comity_circuit::{Builder, Circuit, Wire};

/// The most variables of a table in one word.
pub(super) const MOST: usize = 6;
/// The most variables that are searched.
const SEARCHED: usize = 4;
/// Each variable's own table, of four variables.
const VARIABLES: [u16; SEARCHED] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00];

/// The circuits of the tables met so far.
#[derive(Default)]
pub(super) struct Tables {
    known: BTreeMap<(usize, u16), Circuit>,
}

impl Tables {
    /// The value of a table of up to [`MOST`] variables.
    pub(super) fn gates(&mut self, b: &mut Builder, table: u64, wires: &[Wire]) -> Wire {
        let (table, wires) = reduced(table, wires);
        match wires.len() {
            0 => Wire::constant(table & 1 == 1),
            k if k > SEARCHED => {
                let half = 1 << (k - 1);
                let (low, high) = (table & ((1 << half) - 1), table >> half);
                let (zero, change) = (self.gates(b, low, &wires[..k - 1]), self.gates(b, low ^ high, &wires[..k - 1]));
                let chosen = b.and(wires[k - 1], change);
                b.xor(chosen, zero)
            }
            _ => {
                let circuit = self.circuit(wires.len(), table as u16);
                let args: Vec<Vec<Wire>> = wires.iter().map(|&wire| vec![wire]).collect();
                b.call(circuit, &args)[0][0]
            }
        }
    }

    /// The circuit of a function that depends on all of its up to four variables.
    fn circuit(&mut self, k: usize, table: u16) -> &Circuit {
        if !self.known.contains_key(&(k, table)) {
            let circuit = search(k, table).unwrap_or_else(|| self.split(k, table));
            self.known.insert((k, table), circuit);
        }
        &self.known[&(k, table)]
    }

    fn split(&mut self, k: usize, table: u16) -> Circuit {
        let all = u64::from(table);
        let mut best: Option<Circuit> = None;
        for variable in 0..k {
            for base in [false, true] {
                let (mut b, wires) = inputs(k);
                let rest: Vec<Wire> = wires.iter().copied().filter(|&wire| wire != wires[variable]).collect();
                let (from, to) = (cofactor(all, k, variable, base), cofactor(all, k, variable, !base));
                let (kept, change) = (self.gates(&mut b, from, &rest), self.gates(&mut b, from ^ to, &rest));
                let select = if base { b.not(wires[variable]) } else { wires[variable] };
                let chosen = b.and(select, change);
                let value = b.xor(chosen, kept);
                b.output("value", &[value]);
                let circuit = b.finish();
                let cost = |circuit: &Circuit| (circuit.counts().and, circuit.gates().len());
                if best.as_ref().is_none_or(|best| cost(&circuit) < cost(best)) {
                    best = Some(circuit);
                }
            }
        }
        best.expect("there is a variable to split at")
    }
}

/// The value of a table of any number of variables: its bits are split in halves down to tables of a word.
pub(super) fn large(tables: &mut Tables, b: &mut Builder, bits: &[bool], wires: &[Wire]) -> Wire {
    if wires.len() <= MOST {
        let table = bits.iter().enumerate().fold(0, |table, (i, &bit)| table | u64::from(bit) << i);
        return tables.gates(b, table, wires);
    }
    let (low, high) = bits.split_at(bits.len() / 2);
    let (last, rest) = (wires[wires.len() - 1], &wires[..wires.len() - 1]);
    if low == high {
        return large(tables, b, low, rest);
    }
    let (zero, one) = (large(tables, b, low, rest), large(tables, b, high, rest));
    b.mux(last, one, zero)
}

fn inputs(k: usize) -> (Builder, Vec<Wire>) {
    let mut b = Builder::new();
    let wires = (0..k).map(|_| b.input("x", 1)[0]).collect();
    (b, wires)
}

/// The table of one variable fewer that is left when that one has this value.
fn cofactor(table: u64, k: usize, variable: usize, value: bool) -> u64 {
    let (below, bit) = ((1usize << variable) - 1, usize::from(value) << variable);
    (0..1usize << (k - 1)).fold(0, |left, i| {
        let from = (i & below) | bit | (i & !below) << 1;
        left | (table >> from & 1) << i
    })
}

/// The table without variables that are constants or copies of others, or on which nothing depends.
fn reduced(table: u64, wires: &[Wire]) -> (u64, Vec<Wire>) {
    let (mut table, mut wires) = (table, wires.to_vec());
    let mut i = 0;
    while i < wires.len() {
        let (k, wire) = (wires.len(), wires[i]);
        let value = match wire.as_constant() {
            Some(value) => Some(value),
            None => (cofactor(table, k, i, false) == cofactor(table, k, i, true)).then_some(false),
        };
        let twin = wires[..i].iter().position(|&other| other == wire);
        table = match (value, twin) {
            (Some(value), _) => cofactor(table, k, i, value),
            (None, Some(twin)) => {
                let differ = |index: usize| index >> twin & 1 != index >> i & 1;
                // Where the two differ the table does not matter.
                let alike = (0..1usize << k).fold(0, |alike, index| {
                    let from = if differ(index) { index ^ 1 << i } else { index };
                    alike | (table >> from & 1) << index
                });
                cofactor(alike, k, i, false)
            }
            (None, None) => {
                i += 1;
                continue;
            }
        };
        wires.remove(i);
        // What depended on it alone may depend on nothing now.
        i = 0;
    }
    (table, wires)
}

/// The span of a few functions: all their sums, in echelon form.
#[derive(Clone, Default)]
struct Span {
    rows: Vec<(u16, u32)>,
}

impl Span {
    /// The rest of a function without what the span has of it, and the generators that make that up.
    fn reduce(&self, mut function: u16) -> (u16, u32) {
        let mut used = 0;
        for &(row, generators) in &self.rows {
            if function & 1 << row.ilog2() != 0 {
                function ^= row;
                used ^= generators;
            }
        }
        (function, used)
    }

    fn add(&mut self, function: u16, generator: u32) {
        let (left, used) = self.reduce(function);
        if left != 0 {
            self.rows.push((left, used ^ generator));
            self.rows.sort_by_key(|row| std::cmp::Reverse(row.0));
        }
    }
}

/// The circuit of a function that needs no more than two ANDs. With the factors of an AND, a sum of a factor
/// and any known function gives the same AND up to known ones, so pairs of linear functions without a
/// constant are enough.
fn search(k: usize, table: u16) -> Option<Circuit> {
    let mask = if k == SEARCHED { u16::MAX } else { (1 << (1 << k)) - 1 };
    let variables: Vec<u16> = VARIABLES[..k].iter().map(|variable| variable & mask).collect();
    let mut known = Span::default();
    known.add(mask, 1);
    variables.iter().enumerate().for_each(|(i, &variable)| known.add(variable, 2 << i));
    let sum =
        |set: usize, all: &[u16]| all.iter().enumerate().fold(0, |s, (i, f)| if set >> i & 1 == 1 { s ^ f } else { s });
    if let (0, used) = known.reduce(table) {
        return Some(assemble(k, &[], used));
    }
    let pairs = |n: usize| (1usize..1 << n).flat_map(move |a| (a + 1..1 << n).map(move |b| (a, b)));
    for (a, b) in pairs(k) {
        if let (0, used) = {
            let mut more = known.clone();
            more.add(sum(a, &variables) & sum(b, &variables), 2 << k);
            more.reduce(table)
        } {
            return Some(assemble(k, &[(a, b)], used));
        }
    }
    for (a, b) in pairs(k).filter(|(a, b)| b < &(a ^ b)) {
        let mut functions = variables.clone();
        functions.push(sum(a, &variables) & sum(b, &variables));
        let mut more = known.clone();
        more.add(functions[k], 2 << k);
        for (c, d) in pairs(k + 1).filter(|(c, d)| d < &(c ^ d)) {
            if let (0, used) = more.reduce(table ^ (sum(c, &functions) & sum(d, &functions))) {
                return Some(assemble(k, &[(a, b), (c, d)], used ^ 4 << k));
            }
        }
    }
    None
}

/// The circuit of ANDs of sums of variables and earlier ANDs, and a last sum: bit 0 of `used` is the constant one, then
/// come the variables, then the ANDs.
fn assemble(k: usize, ands: &[(usize, usize)], used: u32) -> Circuit {
    let (mut b, mut wires) = inputs(k);
    let sum = |b: &mut Builder, set: usize, wires: &[Wire]| {
        let chosen = wires.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        chosen.fold(Wire::ZERO, |sum, (_, &wire)| b.xor(sum, wire))
    };
    for &(left, right) in ands {
        let (left, right) = (sum(&mut b, left, &wires), sum(&mut b, right, &wires));
        wires.push(b.and(left, right));
    }
    let value = sum(&mut b, used as usize >> 1, &wires);
    let value = if used & 1 == 1 { b.not(value) } else { value };
    b.output("value", &[value]);
    b.finish()
}

#[cfg(test)]
mod tests {
    use comity_circuit::eval_circuit;
    use comity_core::Bits;

    use super::*;

    fn circuit(tables: &mut Tables, k: usize, table: u64, copies: &[usize]) -> Circuit {
        let (mut b, wires) = inputs(k);
        let args: Vec<Wire> = copies.iter().map(|&i| wires[i]).collect();
        let value = tables.gates(&mut b, table, &args);
        b.output("value", &[value]);
        b.finish()
    }

    fn check(tables: &mut Tables, k: usize, table: u64) -> u64 {
        let all: Vec<usize> = (0..k).collect();
        let circuit = circuit(tables, k, table, &all);
        for i in 0..1usize << k {
            let inputs: Vec<Bits> = (0..k).map(|j| [i >> j & 1 == 1].into_iter().collect()).collect();
            assert_eq!(eval_circuit(&circuit, &inputs)[0].get(0), table >> i & 1 == 1, "{table:#x} at {i}");
        }
        circuit.counts().and
    }

    #[test]
    fn every_function_of_three_variables_takes_as_few_ands_as_it_can() {
        let mut tables = Tables::default();
        for k in 0..=3usize {
            for table in 0..1u64 << (1 << k) {
                // The multiplicative complexity is the degree less one, for up to three variables.
                let degree = (0..1usize << k)
                    .filter(|&term| (0..1usize << k).filter(|i| i & !term == 0).fold(0, |s, i| s ^ table >> i & 1) == 1)
                    .map(usize::count_ones)
                    .max()
                    .unwrap_or(0);
                assert_eq!(check(&mut tables, k, table), u64::from(degree.saturating_sub(1)), "{k} {table:#x}");
            }
        }
        assert_eq!(check(&mut tables, 3, 0b1100_1010), 1, "a multiplexer");
        assert_eq!(check(&mut tables, 3, 0b1110_1000), 1, "a majority");
    }

    #[test]
    fn functions_of_more_variables_are_right_and_cheap() {
        let mut tables = Tables::default();
        let mut rng = comity_circuit::random::Rng(5);
        // No function of four variables needs more than three; the search and the split stay within four.
        assert!((0..300).all(|_| check(&mut tables, 4, rng.below(1 << 16) as u64) <= 4));
        assert_eq!(check(&mut tables, 4, 0x0777), 3, "!(ab | cd)");
        assert_eq!(check(&mut tables, 4, 0x8000), 3, "abcd");
        assert_eq!(check(&mut tables, 4, 0x7888), 2, "ab ^ cd");
        for k in 5..=6 {
            for _ in 0..30 {
                let table = (rng.below(1 << 32) as u64) << 32 | rng.below(1 << 32) as u64;
                check(&mut tables, k, if k == 6 { table } else { table & 0xffff_ffff });
            }
        }
    }

    #[test]
    fn constants_and_copies_are_seen_through() {
        let mut tables = Tables::default();
        // x ? a : a, and a majority of a, a, b.
        assert_eq!(circuit(&mut tables, 2, 0b1100_1010, &[1, 1, 0]).counts().and, 0);
        let majority = circuit(&mut tables, 2, 0b1110_1000, &[0, 0, 1]);
        assert_eq!((majority.gates().len(), majority.output_wires()), (0, &[2][..]));
    }

    #[test]
    fn large_tables_are_split() {
        let mut tables = Tables::default();
        let bits: Vec<bool> = (0..256u32).map(|i| i.wrapping_mul(i * 7 + 3) & 8 != 0).collect();
        let (mut b, wires) = inputs(8);
        let value = large(&mut tables, &mut b, &bits, &wires);
        b.output("value", &[value]);
        let circuit = b.finish();
        for (i, &bit) in bits.iter().enumerate() {
            let inputs: Vec<Bits> = (0..8).map(|j| [i >> j & 1 == 1].into_iter().collect()).collect();
            assert_eq!(eval_circuit(&circuit, &inputs)[0].get(0), bit, "{i}");
        }
    }
}
