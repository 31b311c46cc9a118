//! Three halves against a reference that takes the paper's matrices by their word, one gate and one hash at a
//! time.

use std::collections::HashSet;

use comity_core::{Aes128, Backend, Block, Delta, Segment, Tape, TapeGate};
use comity_garble::{Evaluate, Garble, Scheme, ThreeHalves, parts};
use comity_testing::laws::{bits, rng};

use super::standard::{gate, tape};

/// Rows over `A_L, A_R, B_L, B_R`.
type Matrix = [[u8; 4]; 2];
const S1: Matrix = [[1, 1, 1, 0], [1, 0, 0, 1]];
const S2: Matrix = [[1, 0, 0, 1], [0, 1, 1, 1]];
const FIXED: [[Matrix; 2]; 2] = [
    [[[0, 0, 1, 0], [0, 1, 0, 0]], [[0, 0, 1, 0], [0, 0, 0, 0]]],
    [[[0, 0, 0, 0], [0, 1, 0, 0]], [[0, 0, 0, 0], [0, 0, 0, 0]]],
];

/// The hash, and the keys that have hashed something.
struct Hashing {
    start: u128,
    keys: HashSet<u128>,
}

impl Hashing {
    /// The half and the bit of both labels under a tweak.
    fn of(&mut self, labels: [u128; 2], tweak: u128) -> [(u64, u8); 2] {
        let key = self.start ^ tweak;
        assert!(self.keys.insert(key), "a key serves two labels");
        labels.map(|label| {
            let (low, high) = (label as u64, (label >> 64) as u64);
            let turned = u128::from(low ^ high) << 64 | u128::from(high);
            let mut block = [Block::from_u128(turned)];
            Aes128::new(Backend::detect(), Block::from_u128(key)).encrypt(&mut block);
            let hashed = block[0].to_u128() ^ turned;
            (hashed as u64, (hashed >> 64) as u8 & 1)
        })
    }
}

/// A gate of the labels for zero, as an evaluator sees it at any pair of permute bits: the right sides of
/// both equations without `G` and `z`, and `r1`, `r2` without `z`.
struct Gate {
    label: u128,
    sums: [u64; 3],
    bits: [u8; 5],
}

/// Gate `number`, whose three tweaks are followed by one that is not used.
fn garbled(number: u128, [a, b]: [u128; 2], delta: u128, hashing: &mut Hashing, [p, q]: [u8; 2]) -> Gate {
    let by_bit = |label: u128| if label & 1 == 0 { [label, label ^ delta] } else { [label ^ delta, label] };
    let (a_by_bit, b_by_bit) = (by_bit(a), by_bit(b));
    let x_by_bit = [a_by_bit[0] ^ b_by_bit[0], a_by_bit[0] ^ b_by_bit[0] ^ delta];
    let hashes = [(a_by_bit, 0), (b_by_bit, 1), (x_by_bit, 2)].map(|(labels, k)| hashing.of(labels, 4 * number + k));
    let odd = [1 ^ (a & 1) as u8, 1 ^ (b & 1) as u8];
    let r = |i: u8, j: u8| match (i, j) {
        (0, 0) => [p, q],
        (0, 1) => [odd[0] ^ odd[1] ^ p, odd[0] ^ q],
        (1, 0) => [odd[1] ^ p, odd[0] ^ odd[1] ^ q],
        _ => [odd[0] ^ p, odd[1] ^ q],
    };
    let output = |i: u8, j: u8| {
        let (left, right) = (a_by_bit[usize::from(i)], b_by_bit[usize::from(j)]);
        let halves = [left as u64, (left >> 64) as u64, right as u64, (right >> 64) as u64];
        let [r1, r2] = r(i, j);
        let x = hashes[2][usize::from(i ^ j)].0;
        let mut out = [hashes[0][usize::from(i)].0 ^ x, hashes[1][usize::from(j)].0 ^ x];
        for (row, out) in out.iter_mut().enumerate() {
            for (column, half) in halves.iter().enumerate() {
                let fixed = FIXED[usize::from(i)][usize::from(j)][row][column];
                if fixed ^ (r1 & S1[row][column]) ^ (r2 & S2[row][column]) == 1 {
                    *out ^= half;
                }
            }
        }
        let offset = if [i, j] == odd { delta } else { 0 };
        [out[0] ^ offset as u64, out[1] ^ (offset >> 64) as u64]
    };
    let [zeroth, first, second, both] = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| output(i, j));
    let sums = [both[0] ^ zeroth[0], both[1] ^ zeroth[1], first[0] ^ zeroth[0]];
    // The other three equations hold with the same three sums.
    assert_eq!(first[1] ^ zeroth[1], sums[1] ^ sums[2]);
    assert_eq!([second[0] ^ zeroth[0], second[1] ^ zeroth[1]], [sums[0] ^ sums[2], sums[2]]);
    let bit = |k: usize, permute: usize| hashes[k][permute].1;
    let bits = [
        p ^ bit(0, 0) ^ bit(2, 0),
        q ^ bit(1, 0) ^ bit(2, 0),
        odd[0] ^ bit(0, 0) ^ bit(0, 1),
        odd[1] ^ bit(1, 0) ^ bit(1, 1),
        odd[0] ^ odd[1] ^ bit(2, 0) ^ bit(2, 1),
    ];
    Gate { label: u128::from(zeroth[0]) | u128::from(zeroth[1]) << 64, sums, bits }
}

/// The tables of a tape, and its labels for zero.
fn reference(tape: &Tape, delta: Block, start: Block, seed: Block, slots: &mut [Block]) -> Vec<u8> {
    let mut hashing = Hashing { start: start.to_u128(), keys: HashSet::new() };
    let (mut number, mut tables) = (0, Vec::new());
    let (delta, mut hiding) = (delta.to_u128(), comity_core::Prg::new(Backend::detect(), seed));
    for part in parts(tape) {
        let (mut pairs, mut singles, mut bits) = (Vec::new(), Vec::new(), Vec::new());
        let mut random = vec![0; part.ands()];
        hiding.fill(&mut random);
        let mut random = random.into_iter();
        for (xors, ands) in part.gates() {
            for gate in xors {
                slots[gate.out()] = slots[gate.a()] ^ slots[gate.b()];
            }
            for (gate, random) in ands.iter().zip(&mut random) {
                let labels = [gate.a(), gate.b()].map(|slot| slots[slot].to_u128());
                let made = garbled(number, labels, delta, &mut hashing, [random & 1, random >> 1 & 1]);
                number += 1;
                pairs.extend(made.sums[..2].iter().flat_map(|sum| sum.to_le_bytes()));
                singles.extend(made.sums[2].to_le_bytes());
                bits.extend(made.bits.map(|bit| bit == 1));
                slots[gate.out()] = Block::from_u128(made.label);
            }
        }
        let bits: comity_core::Bits = bits.into_iter().collect();
        tables.extend([pairs, singles, bits.to_bytes()].concat());
    }
    tables
}

struct Made {
    delta: Block,
    start: Block,
    before: Vec<Block>,
    after: Vec<Block>,
    tables: Vec<u8>,
}

fn garble(backend: Backend, tape: &Tape, seed: u128, hiding: Block) -> Made {
    let mut rng = rng(seed);
    let (delta, start) = (rng.block().with_lsb(true), rng.block());
    let mut garbler = ThreeHalves::garbler(backend, Delta::new(delta), start, hiding);
    let mut slots: Vec<Block> = (0..tape.slots()).map(|_| garbler.input(&mut rng)).collect();
    (slots[0], slots[1]) = (Block::ZERO, delta);
    let (before, mut tables) = (slots.clone(), Vec::new());
    for part in parts(tape) {
        let mut blocks = vec![Block::ZERO; ThreeHalves::rows(&part)];
        garbler.garble(&part, &mut slots, &mut blocks);
        tables.extend_from_slice(&Block::bytes_of(&blocks)[..ThreeHalves::bytes(&part)]);
    }
    Made { delta, start, before, after: slots, tables }
}

fn evaluate(backend: Backend, tape: &Tape, start: Block, mut tables: &[u8], slots: &mut [Block]) {
    let mut evaluator = ThreeHalves::evaluator(backend, start);
    for part in parts(tape) {
        let mut blocks = vec![Block::ZERO; ThreeHalves::rows(&part)];
        let bytes = tables.split_off(..ThreeHalves::bytes(&part)).expect("tables");
        Block::bytes_of_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        evaluator.evaluate(&part, slots, &blocks);
    }
    assert!(tables.is_empty());
}

fn active(made: &Made, labels: &[Block], values: &[bool]) -> Vec<Block> {
    labels.iter().zip(values).map(|(&label, &value)| label ^ made.delta.masked(value)).collect()
}

#[test]
fn every_backend_garbles_as_the_reference_does() {
    for (gates, seed) in [(0, 3), (1, 4), (60, 5), (1 << 13, 6), (1 << 17, 7)] {
        let (tape, hiding) = (tape(gates, seed), Block::from_u128(seed << 64));
        for backend in Backend::available() {
            if gates > 1 << 13 && backend != Backend::detect() {
                continue;
            }
            let made = garble(backend, &tape, seed, hiding);
            let mut slots = made.before.clone();
            assert!(reference(&tape, made.delta, made.start, hiding, &mut slots) == made.tables, "{backend}: tables");
            assert!(slots == made.after, "{backend}: labels");
            let mut values: Vec<bool> = bits(tape.slots(), &mut rng(!seed)).iter().collect();
            (values[0], values[1]) = (false, true);
            let mut labels = active(&made, &made.before, &values);
            evaluate(backend, &tape, made.start, &made.tables, &mut labels);
            tape.evaluate(&mut values);
            assert!(labels == active(&made, &made.after, &values), "{backend}: active labels");
        }
    }
}

/// Each gate of two wires, of a wire and itself, and of a wire and a constant, with sixteen draws of permute
/// bits and of the random ones.
#[test]
fn every_gate_computes_its_truth_table() {
    for (and, inverted) in [false, true].into_iter().flat_map(|and| (0..4u8).map(move |b| (and, [b & 1 == 1, b > 1]))) {
        for [a, b] in [[2, 2], [2, 0], [2, 1], [0, 2], [1, 2], [0, 1], [1, 1]] {
            let tape = gate(and, inverted, [a, b]);
            for (seed, x) in (0..16).flat_map(|seed| [(seed, false), (seed, true)]) {
                let made = garble(Backend::detect(), &tape, seed, Block::from_u128(seed));
                let mut values = vec![false, true, x, false, false, false];
                let mut labels = active(&made, &made.before, &values);
                evaluate(Backend::detect(), &tape, made.start, &made.tables, &mut labels);
                tape.evaluate(&mut values);
                assert!(labels[5] == made.after[5] ^ made.delta.masked(values[5]));
            }
        }
    }
}

/// Each bit of a table, whatever two bits are random: the evaluator ends with a block that is not a label of
/// the wire, or the bit was not looked at.
#[test]
fn a_wrong_bit_of_a_table_makes_no_label_of_the_wire() {
    let and = TapeGate::new(2, 3, 4);
    let tape = Tape::new(5, vec![], vec![and], vec![Segment { xors: 0, ands: 1 }]).expect("a valid tape");
    let made = garble(Backend::detect(), &tape, 30, Block::from_u128(31));
    let mut looked_at = HashSet::new();
    for values in 0..4u8 {
        let before = active(&made, &made.before, &[false, true, values & 1 == 1, values > 1, false]);
        let evaluated = |tables: &[u8]| {
            let mut labels = before.clone();
            evaluate(Backend::detect(), &tape, made.start, tables, &mut labels);
            labels[4]
        };
        let honest = evaluated(&made.tables);
        for bit in 0..8 * made.tables.len() {
            let mut tables = made.tables.clone();
            tables[bit / 8] ^= 1 << (bit % 8);
            let label = evaluated(&tables);
            if label != honest {
                assert!(label != made.after[4] && label != made.after[4] ^ made.delta, "bit {bit}");
                looked_at.insert(bit);
            }
        }
    }
    assert!(looked_at == (0..197).collect());
}

/// The bits that hide the odd row are drawn: with another seed alone, tables and labels are others in three
/// gates of four.
#[test]
fn what_hides_the_odd_row_is_drawn() {
    let tape = tape(2_000, 40);
    let [first, second] = [41, 42].map(|hiding| garble(Backend::detect(), &tape, 43, Block::from_u128(hiding)));
    assert!(first.start == second.start && first.before == second.before);
    let first_part = |made: &Made| made.tables[..24].to_vec();
    assert!(first.tables != second.tables && first_part(&first) != first_part(&second) || first.after != second.after);
    let ands = gate(true, [false, false], [2, 1]);
    let different: HashSet<Vec<u8>> =
        (0..64u128).map(|hiding| garble(Backend::detect(), &ands, 44, Block::from_u128(hiding)).tables).collect();
    assert_eq!(different.len(), 4, "two bits hide a row, and each of the four cases comes");
}
