//! A scheme without free XOR, to see that the interface holds one: rows for XOR gates, two labels a wire, no offset.
//!
//! After Gueron, Lindell, Nof, Pinkas (CCS 2015), whose assumption is a pseudorandom function alone: XOR
//! gates as there, with one row; AND gates with the three rows of Naor, Pinkas and Sumner (1999) in place of
//! their two and four encrypted bits. For tests: slow, and its garbler is not careful with secrets.

use comity_core::{Aes128, Backend, Block, Part, Prg, Tape, TapeGate};
use comity_garble::{Evaluate, Garble, Private, Scheme};
use rand_core::CryptoRng;

/// The scheme without free XOR.
pub(crate) struct Standard;

impl Standard {
    pub(crate) fn garbler(backend: Backend, seed: Block) -> StandardGarbler {
        let mut rng = Prg::new(backend, seed);
        let hidden = [false, true].map(|bit| with_permute_bit(rng.block(), !bit));
        StandardGarbler { backend, rng, hidden, gate: 0 }
    }

    pub(crate) fn evaluator(backend: Backend) -> StandardEvaluator {
        StandardEvaluator { backend, gate: 0 }
    }
}

impl Scheme for Standard {
    const AND_ROWS: usize = 3;
    const XOR_ROWS: usize = 1;
    type Garbler = StandardGarbler;
    type Evaluator = StandardEvaluator;
}

impl Private for Standard {}

/// The garbler: the labels of constants that are never active, and the number of the next gate.
pub(crate) struct StandardGarbler {
    backend: Backend,
    rng: Prg,
    hidden: [Block; 2],
    gate: u128,
}

pub(crate) struct StandardEvaluator {
    backend: Backend,
    gate: u128,
}

fn with_permute_bit(block: Block, bit: bool) -> Block {
    block.with_lsb(bit)
}

/// The pseudorandom function: under a label, of a gate's number and a place in it.
fn f(backend: Backend, label: Block, gate: u128, place: u128) -> Block {
    let mut block = [Block::from_u128(gate << 4 | place)];
    Aes128::new(backend, label).encrypt(&mut block);
    block[0]
}

/// The mask of the row for these two labels.
fn both(backend: Backend, a: Block, b: Block, gate: u128) -> Block {
    let place = 2 * u128::from(a.lsb()) + u128::from(b.lsb());
    f(backend, a, gate, place) ^ f(backend, b, gate, 4 + place)
}

impl StandardGarbler {
    /// The two labels of a wire: of the constant zero where nothing was written.
    fn read(&self, wire: [Block; 2]) -> [Block; 2] {
        if wire == <[Block; 2]>::default() { self.constant(false) } else { wire }
    }

    /// The labels `C_0`, `C_1` and the row of an XOR gate.
    fn xor(&self, a: [Block; 2], b: [Block; 2], row: &mut Block) -> [Block; 2] {
        // Pads of a's labels keep their permute bits; their difference becomes b's too, by the row.
        let a = a.map(|label| f(self.backend, label, self.gate, 8).with_lsb(label.lsb()));
        let difference = a[0] ^ a[1];
        let point = usize::from(b[0].lsb());
        let mut pads = [Block::ZERO; 2];
        pads[point] = f(self.backend, b[point], self.gate, 9).with_lsb(false);
        pads[1 - point] = pads[point] ^ difference;
        *row = f(self.backend, b[1 - point], self.gate, 9) ^ pads[1 - point];
        let zero = a[0] ^ pads[0];
        [zero, zero ^ difference]
    }

    /// The labels `C_0`, `C_1` and the rows of an AND gate.
    fn and(&mut self, a: [Block; 2], b: [Block; 2], rows: &mut [Block]) -> [Block; 2] {
        let fresh = self.rng.block();
        let place = |v: usize| 2 * usize::from(a[v >> 1].lsb()) + usize::from(b[v & 1].lsb());
        let mask = |v: usize| both(self.backend, a[v >> 1], b[v & 1], self.gate);
        // The first row is zero, which makes the label of what it stands for.
        let first = (0..4).find(|&v| place(v) == 0).expect("two labels of a wire differ in their permute bits");
        let mut labels = [Block::ZERO; 2];
        labels[usize::from(first == 3)] = mask(first);
        labels[usize::from(first != 3)] = with_permute_bit(fresh, !mask(first).lsb());
        for v in (0..4).filter(|&v| v != first) {
            rows[place(v) - 1] = mask(v) ^ labels[usize::from(v == 3)];
        }
        labels
    }
}

impl Garble for StandardGarbler {
    /// The two labels stand for the wire.
    type Wire = [Block; 2];

    fn input(&mut self, rng: &mut dyn CryptoRng) -> [Block; 2] {
        let zero = Block::random(rng);
        [zero, with_permute_bit(Block::random(rng), !zero.lsb())]
    }

    fn constant(&self, bit: bool) -> [Block; 2] {
        let mut labels = [self.hidden[usize::from(bit)]; 2];
        labels[usize::from(bit)] = active(bit);
        labels
    }

    fn label(&self, wire: &[Block; 2], bit: bool) -> Block {
        let [zero, one] = self.read(*wire);
        zero ^ (zero ^ one).masked(bit)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [[Block; 2]], mut tables: &mut [Block]) {
        assert_eq!(tables.len(), Standard::rows(part));
        [Tape::ZERO, Tape::ONE].iter().for_each(|&slot| slots[slot as usize] = self.constant(slot == Tape::ONE));
        for (xors, ands) in part.gates() {
            for gate in xors {
                let row = tables.split_off_first_mut().expect("a row");
                let [a, b] = [gate.a(), gate.b()].map(|slot| self.read(slots[slot]));
                slots[gate.out()] = self.xor(a, b, row);
                self.gate += 1;
            }
            for gate in ands {
                let rows = tables.split_off_mut(..3).expect("three rows");
                let [a, b] = [gate.a(), gate.b()].map(|slot| self.read(slots[slot]));
                slots[gate.out()] = self.and(a, b, rows);
                self.gate += 1;
            }
        }
    }
}

/// The active label of a constant; its permute bit is not that of the hidden one. That of zero is what an
/// evaluator's memory holds where nothing was written.
fn active(bit: bool) -> Block {
    Block::ZERO.with_lsb(bit)
}

impl StandardEvaluator {
    fn xor(&self, a: Block, b: Block, row: Block) -> Block {
        let pad = f(self.backend, b, self.gate, 9);
        let b = if b.lsb() { pad ^ row } else { pad.with_lsb(false) };
        f(self.backend, a, self.gate, 8).with_lsb(a.lsb()) ^ b
    }

    fn and(&self, a: Block, b: Block, rows: &[Block]) -> Block {
        let place = 2 * usize::from(a.lsb()) + usize::from(b.lsb());
        let row = if place == 0 { Block::ZERO } else { rows[place - 1] };
        both(self.backend, a, b, self.gate) ^ row
    }
}

impl Evaluate for StandardEvaluator {
    fn constant(&self, bit: bool) -> Block {
        active(bit)
    }

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], mut tables: &[Block]) {
        assert_eq!(tables.len(), Standard::rows(part));
        [Tape::ZERO, Tape::ONE].iter().for_each(|&slot| slots[slot as usize] = active(slot == Tape::ONE));
        let inputs = |slots: &[Block], gate: &TapeGate| (slots[gate.a()], slots[gate.b()]);
        for (xors, ands) in part.gates() {
            for gate in xors {
                let (a, b) = inputs(slots, gate);
                slots[gate.out()] = self.xor(a, b, *tables.split_off_first().expect("a row"));
                self.gate += 1;
            }
            for gate in ands {
                let (a, b) = inputs(slots, gate);
                slots[gate.out()] = self.and(a, b, tables.split_off(..3).expect("three rows"));
                self.gate += 1;
            }
        }
    }
}
