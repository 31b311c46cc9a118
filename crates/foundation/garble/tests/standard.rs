//! Garbling under standard assumptions against a reference that takes the definition by its word: truth
//! tables, and AES one key at a time.

use std::collections::HashSet;

use comity_core::{Aes128, Backend, Bits, Block, Segment, Tape, TapeGate};
use comity_garble::{Evaluate, Garble, Labels, Scheme, Standard, parts};
use comity_testing::laws::{bits, rng};

/// The two labels of a wire, for zero and for one.
type Pair = [Block; 2];

/// The reference: what has been garbled, and under which keys at which points.
#[derive(Default)]
struct Reference {
    gate: u128,
    rows: Vec<Block>,
    last: Vec<bool>,
    points: Option<HashSet<([u8; 16], u128)>>,
}

impl Reference {
    fn f(&mut self, key: Block, side: u128, row: u128) -> Block {
        let point = self.gate << 3 | side << 2 | row;
        if let Some(points) = &mut self.points {
            assert!(points.insert((key.to_bytes(), point)), "a key meets a point twice");
        }
        let mut block = [Block::from_u128(point)];
        Aes128::new(Backend::detect(), key).encrypt(&mut block);
        block[0]
    }

    /// The value that the label of this permute bit stands for.
    fn value([zero, one]: Pair, permute: usize) -> usize {
        assert!(zero.lsb() != one.lsb());
        usize::from(usize::from(one.lsb()) == permute)
    }

    fn xor(&mut self, a: Pair, b: Pair) -> Pair {
        let translate = |this: &mut Reference, pair: Pair, side| {
            [0, 1].map(|bit| this.f(pair[Reference::value(pair, bit)], side, bit as u128))
        };
        let (a_by_bit, b_by_bit) = (translate(self, a, 0), translate(self, b, 1));
        let offset = (a_by_bit[0] ^ a_by_bit[1]).with_lsb(true);
        self.rows.push((b_by_bit[0] ^ b_by_bit[1] ^ offset).with_lsb(false));
        let by_bit =
            [(a_by_bit[0] ^ b_by_bit[0]).with_lsb(false), (a_by_bit[0] ^ b_by_bit[0]).with_lsb(false) ^ offset];
        self.gate += 1;
        [0, 1].map(|value| by_bit[usize::from(a[0].lsb() ^ b[0].lsb()) ^ value])
    }

    fn and(&mut self, a: Pair, b: Pair) -> Pair {
        let (mut keys, mut values) = ([Block::ZERO; 4], [0; 4]);
        for r in 0..4 {
            let (x, y) = (Reference::value(a, r >> 1), Reference::value(b, r & 1));
            values[r] = x & y;
            keys[r] = self.f(a[x], 0, r as u128) ^ self.f(b[y], 1, r as u128);
        }
        let odd = values.iter().position(|&value| value == 1).expect("one row of an AND");
        let [first, second] = [[[2, 3], [1, 3]], [[2, 3], [0, 2]], [[0, 1], [1, 3]], [[0, 1], [0, 2]]][odd];
        let mut labels = [Block::ZERO; 2];
        labels[values[0]] = keys[0];
        labels[1 - values[0]] = (keys[1] ^ keys[2] ^ keys[3]).with_lsb(!keys[0].lsb());
        let bit = |r: usize| labels[values[r]].lsb() ^ keys[r].lsb();
        assert!(!bit(0));
        self.rows.push((keys[first[0]] ^ keys[first[1]]).with_lsb(bit(1)));
        self.rows.push((keys[second[0]] ^ keys[second[1]]).with_lsb(bit(2)));
        self.last.push(bit(1) ^ bit(2) ^ bit(3));
        self.gate += 1;
        labels
    }

    /// Garbles a tape and gives its tables.
    fn garble(&mut self, tape: &Tape, slots: &mut [Pair]) -> Vec<u8> {
        let mut tables = Vec::new();
        for part in parts(tape) {
            for run in part.runs() {
                for gate in run.free {
                    let (a, b) = (slots[gate.a()], slots[gate.b()]);
                    slots[gate.out()] = match (gate.a(), gate.b()) {
                        (0, _) => b,
                        (1, _) => [b[1], b[0]],
                        (_, 0) => a,
                        _ => [a[1], a[0]],
                    };
                }
                self.gate = self.gate.next_multiple_of(4);
                for gate in run.sums {
                    slots[gate.out()] = self.xor(slots[gate.a()], slots[gate.b()]);
                }
                self.gate = self.gate.next_multiple_of(4);
                for gate in run.ands {
                    slots[gate.out()] = self.and(slots[gate.a()], slots[gate.b()]);
                }
            }
            tables.extend(self.rows.drain(..).flat_map(Block::to_bytes));
            tables.extend(std::mem::take(&mut self.last).into_iter().collect::<Bits>().to_bytes());
        }
        tables
    }
}

/// A tape of `gates` gates: segments of up to 40 XOR gates, every eighth of them a NOT, and up to 40 AND
/// gates, from the lower half of the slots to the upper one.
pub(super) fn tape(gates: usize, seed: u128) -> Tape {
    const SLOTS: u32 = 120;
    let mut rng = rng(seed);
    let mut below = |n: u32| (rng.block().to_u128() % u128::from(n)) as u32;
    let (mut xors, mut ands, mut segments) = (vec![], vec![], vec![]);
    while xors.len() + ands.len() < gates {
        let segment = Segment { xors: below(41), ands: below(41) };
        for _ in 0..segment.xors {
            let first = if below(8) == 0 { below(2) } else { below(SLOTS) };
            let [a, b] = if below(2) == 0 { [first, below(SLOTS)] } else { [below(SLOTS), first] };
            xors.push(TapeGate::new(a, b, 2 + below(SLOTS - 2)));
        }
        for i in 0..segment.ands {
            ands.push(TapeGate::new(below(SLOTS / 2), below(SLOTS / 2), SLOTS / 2 + i));
        }
        segments.push(segment);
    }
    Tape::new(SLOTS, xors, ands, segments).expect("a valid tape")
}

/// What a garbler made of a tape: the labels of its slots before and after, and the tables.
struct Made {
    before: Vec<Pair>,
    after: Vec<Pair>,
    tables: Vec<u8>,
}

fn garble(backend: Backend, tape: &Tape, seed: u128) -> Made {
    let mut rng = rng(seed);
    let mut garbler = Standard::garbler(backend, &mut rng);
    let mut slots: Vec<Labels> = (0..tape.slots()).map(|_| garbler.input(&mut rng)).collect();
    (slots[0], slots[1]) = (garbler.constant(false), garbler.constant(true));
    let labels = |garbler: &<Standard as Scheme>::Garbler, slots: &[Labels]| -> Vec<Pair> {
        slots.iter().map(|wire| [false, true].map(|bit| garbler.label(wire, bit))).collect()
    };
    let (before, mut tables) = (labels(&garbler, &slots), Vec::new());
    for part in parts(tape) {
        let mut blocks = vec![Block::ZERO; Standard::rows(&part)];
        garbler.garble(&part, &mut slots, &mut blocks);
        tables.extend_from_slice(&Block::bytes_of(&blocks)[..Standard::bytes(&part)]);
    }
    Made { before, after: labels(&garbler, &slots), tables }
}

/// The active labels of a tape's slots, from those before.
fn evaluate(backend: Backend, tape: &Tape, mut tables: &[u8], slots: &mut [Block]) {
    let mut evaluator = Standard::evaluator(backend);
    for part in parts(tape) {
        let mut blocks = vec![Block::ZERO; Standard::rows(&part)];
        let bytes = tables.split_off(..Standard::bytes(&part)).expect("tables");
        Block::bytes_of_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        evaluator.evaluate(&part, slots, &blocks);
    }
    assert!(tables.is_empty());
}

fn active(labels: &[Pair], values: &[bool]) -> Vec<Block> {
    labels.iter().zip(values).map(|(pair, &value)| pair[usize::from(value)]).collect()
}

/// Garbles and evaluates a tape, against the reference and the plain evaluator.
fn holds(backend: Backend, tape: &Tape, seed: u128, watch_points: bool) {
    let made = garble(backend, tape, seed);
    let mut reference = Reference { points: watch_points.then(HashSet::new), ..Reference::default() };
    let mut slots = made.before.clone();
    assert!(reference.garble(tape, &mut slots) == made.tables, "{backend}: tables");
    assert!(slots == made.after, "{backend}: labels");
    let mut values: Vec<bool> = bits(tape.slots(), &mut rng(!seed)).iter().collect();
    (values[0], values[1]) = (false, true);
    let mut labels = active(&made.before, &values);
    evaluate(backend, tape, &made.tables, &mut labels);
    tape.evaluate(&mut values);
    assert!(labels == active(&made.after, &values), "{backend}: active labels");
}

#[test]
fn a_million_random_gates_are_the_reference_s() {
    holds(Backend::detect(), &tape(1 << 20, 1), 2, false);
}

/// On every backend, and no key meets a point twice, not even where both inputs of a gate are one wire.
#[test]
fn every_backend_garbles_as_the_reference_does() {
    for (gates, seed) in [(0, 3), (1, 4), (60, 5), (1 << 13, 6)] {
        Backend::available().into_iter().for_each(|backend| holds(backend, &tape(gates, seed), seed, true));
    }
}

/// The tape of one gate over slots 2 and 3, with slot 5 for the output, the inputs inverted first where that
/// is said.
pub(super) fn gate(and: bool, inverted: [bool; 2], [a, b]: [u32; 2]) -> Tape {
    let nots = [(a, 3), (b, 4)].map(|(slot, to)| TapeGate::new(slot, Tape::ONE, to));
    let mut xors: Vec<TapeGate> =
        nots.into_iter().zip(inverted).filter_map(|(not, inverted)| inverted.then_some(not)).collect();
    let of = |slot, to, inverted| if inverted { to } else { slot };
    let gate = TapeGate::new(of(a, 3, inverted[0]), of(b, 4, inverted[1]), 5);
    let mut ands = Vec::new();
    if and {
        ands.push(gate)
    } else {
        xors.push(gate)
    }
    let segment = Segment { xors: xors.len() as u32, ands: ands.len() as u32 };
    Tape::new(6, xors, ands, vec![segment]).expect("a valid tape")
}

/// Each gate of two wires, of a wire and itself, and of a wire and a constant; its inputs inverted or not;
/// with sixteen draws of permute bits and all values.
#[test]
fn every_gate_computes_its_truth_table() {
    for (and, inverted) in
        [false, true].into_iter().flat_map(|and| (0..4u8).map(move |bits| (and, [bits & 1 == 1, bits > 1])))
    {
        for [a, b] in [[2, 2], [2, 0], [2, 1], [0, 2], [1, 2], [0, 1], [1, 1]] {
            let tape = gate(and, inverted, [a, b]);
            for (seed, x) in (0..16).flat_map(|seed| [(seed, false), (seed, true)]) {
                let made = garble(Backend::detect(), &tape, seed);
                let mut values = vec![false, true, x, false, false, false];
                let mut labels = active(&made.before, &values);
                evaluate(Backend::detect(), &tape, &made.tables, &mut labels);
                tape.evaluate(&mut values);
                assert!(labels[5] == made.after[5][usize::from(values[5])]);
            }
        }
    }
}

/// `x & x` and `x & !x`: with the same points on both sides of a gate the keys would cancel, and the output's
/// label be known to everybody.
#[test]
fn the_labels_of_a_wire_with_itself_are_no_public_ones() {
    for (inverted, seed) in [[false, false], [false, true], [true, false]].into_iter().zip(20..) {
        let made = garble(Backend::detect(), &gate(true, inverted, [2, 2]), seed);
        assert!(made.after[5].iter().all(|label| label.with_lsb(false) != Block::ZERO));
    }
}

/// Each bit of each row: the evaluator ends with a block that is not a label of the wire, or the row was not
/// looked at.
#[test]
fn a_wrong_bit_of_any_row_makes_no_label_of_the_wire() {
    for and in [false, true] {
        let tape = Tape::new(
            5,
            (!and).then_some(TapeGate::new(2, 3, 4)).into_iter().collect(),
            and.then_some(TapeGate::new(2, 3, 4)).into_iter().collect(),
            vec![Segment { xors: u32::from(!and), ands: u32::from(and) }],
        )
        .expect("a valid tape");
        let made = garble(Backend::detect(), &tape, 30);
        let mut looked_at = HashSet::new();
        for values in 0..4u8 {
            let before = active(&made.before, &[false, true, values & 1 == 1, values > 1, false]);
            let evaluated = |tables: &[u8]| {
                let mut labels = before.clone();
                evaluate(Backend::detect(), &tape, tables, &mut labels);
                labels[4]
            };
            let honest = evaluated(&made.tables);
            for bit in 0..8 * made.tables.len() {
                let mut tables = made.tables.clone();
                tables[bit / 8] ^= 1 << (bit % 8);
                let label = evaluated(&tables);
                if label != honest {
                    // Bit 0 of an AND's rows is a permute bit, and a label with the wrong one is no label of
                    // the wire, either.
                    assert!(!made.after[4].contains(&label), "bit {bit}");
                    looked_at.insert(bit);
                }
            }
        }
        // All but bit 0 of an XOR's row, which is zero whoever reads it, and the bits that fill up the byte
        // of the AND's last.
        let all: HashSet<usize> = if and { (0..257).collect() } else { (1..128).collect() };
        assert!(looked_at == all);
    }
}

/// What the labels of constants hide is drawn: with another generator they are others, and not each other's.
#[test]
fn what_constants_hide_is_drawn() {
    let hidden = |seed| {
        let garbler = Standard::garbler(Backend::detect(), &mut rng(seed));
        [false, true].map(|bit| garbler.label(&garbler.constant(bit), !bit).with_lsb(false))
    };
    let (first, second) = (hidden(40), hidden(41));
    let all: HashSet<_> = [first, second].as_flattened().iter().map(|label| label.to_bytes()).collect();
    assert_eq!(all.len(), 4);
    assert!(first[0] ^ first[1] != second[0] ^ second[1], "the hidden labels of both constants are keys of their own");
}

/// The other label of a wire whose active label is public: drawn, anew for each wire, with the other permute
/// bit.
#[test]
fn what_is_around_a_label_is_drawn() {
    let mut all = HashSet::new();
    for seed in [42, 43] {
        let mut garbler = Standard::garbler(Backend::detect(), &mut rng(seed));
        for active in [1, 2, 3].map(Block::from_u128) {
            for bit in [false, true] {
                let wire = garbler.around(active, bit);
                assert!(garbler.label(&wire, bit) == active);
                let other = garbler.label(&wire, !bit);
                assert!(other.lsb() != active.lsb() && all.insert(other.with_lsb(false).to_bytes()));
            }
        }
    }
}
