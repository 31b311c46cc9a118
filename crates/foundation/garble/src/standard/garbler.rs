//! The garbler.

use comity_core::{Backend, Block, Part, Prg, Tape, TapeGate};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::prf::{BATCH, Prf, Side, point};
use super::runs::Runs;
use super::{active, check, gate_rows};
use crate::labels::Labels;
use crate::scheme::Garble;

/// The garbler's side of [`Standard`](super::Standard).
pub struct StandardGarbler {
    secrets: Secrets,
    /// Labels that are never active.
    hidden: Prg,
    prf: Prf,
    runs: Runs,
}

/// What the labels of constants hide.
struct Secrets {
    /// The label of the constant zero that is never active, and so the offset of its wire; its permute bit is
    /// one.
    delta: Zeroizing<Block>,
    /// The wire of the constant one.
    one: Zeroizing<Labels>,
}

impl StandardGarbler {
    pub(super) fn new(backend: Backend, rng: &mut dyn CryptoRng) -> StandardGarbler {
        let mut hidden = Prg::new(backend, Block::random(rng));
        let delta = Zeroizing::new(hidden.block().with_lsb(true));
        let one = Zeroizing::new(Labels::new([hidden.block().with_lsb(false), active(true)], *delta));
        StandardGarbler { secrets: Secrets { delta, one }, hidden, prf: Prf::new(backend), runs: Runs::new() }
    }

    /// The wire whose label for `bit` is this one, with a fresh other label: for a bit of the garbler's,
    /// whose label the evaluator has.
    pub fn around(&mut self, active: Block, bit: bool) -> Labels {
        let other = self.hidden.block().with_lsb(!active.lsb());
        let zero = active ^ (active ^ other).masked(bit);
        self.wire([zero, zero ^ active ^ other])
    }

    /// The wire with these labels for zero and for one, whose permute bits differ.
    pub fn wire(&self, labels: [Block; 2]) -> Labels {
        Labels::new(labels, *self.secrets.delta)
    }
}

impl Secrets {
    /// The two labels by their permute bits.
    fn by_permute_bit(&self, wire: Labels) -> [Block; 2] {
        let offset = wire.offset ^ *self.delta;
        let first = wire.zero ^ offset.masked(wire.zero.lsb());
        [first, first ^ offset]
    }

    fn constant(&self, bit: bool) -> Labels {
        // The bit is public: a constant's.
        if bit { *self.one } else { Labels::default() }
    }

    fn not(&self, wire: Labels) -> Labels {
        Labels { zero: wire.label(*self.delta, true), offset: wire.offset }
    }

    /// XOR gates of which none reads what another writes; that one writes what an earlier one reads may be.
    fn xors(&self, prf: &mut Prf, gates: &[TapeGate], slots: &mut [Labels], rows: &mut [Block]) {
        let number = prf.take(gates.len());
        let mut permute = [false; BATCH];
        for ((i, gate), number) in gates.iter().enumerate().zip(number..) {
            let [a, b] = [gate.a(), gate.b()].map(|slot| self.by_permute_bit(slots[slot]));
            permute[i] = slots[gate.a()].zero.lsb() ^ slots[gate.b()].zero.lsb();
            for (side, labels, at) in [(Side::First, a, 4 * i), (Side::Second, b, 4 * i + 2)] {
                prf.set(at, labels[0], [point(number, side, 0), Block::ZERO]);
                prf.set(at + 1, labels[1], [point(number, side, 1), Block::ZERO]);
            }
        }
        let translated = prf.once(4 * gates.len()).as_chunks::<4>().0;
        for (((gate, &[a0, a1, b0, b1]), row), permute) in gates.iter().zip(translated).zip(rows).zip(permute) {
            let offset = (a0 ^ a1).with_lsb(true);
            *row = (b0 ^ b1 ^ offset).with_lsb(false);
            let zero = (a0 ^ b0).with_lsb(false) ^ offset.masked(permute);
            slots[gate.out()] = Labels { zero, offset: offset ^ *self.delta };
        }
    }

    /// AND gates that do not depend on each other; the third bit of the first one is bit `first` of `bits`.
    fn ands(
        &self,
        prf: &mut Prf,
        gates: &[TapeGate],
        slots: &mut [Labels],
        rows: &mut [Block],
        (bits, first): (&mut [u8], usize),
    ) {
        let number = prf.take(gates.len());
        for ((i, gate), number) in gates.iter().enumerate().zip(number..) {
            let [a, b] = [gate.a(), gate.b()].map(|slot| self.by_permute_bit(slots[slot]));
            for bit in 0..2u8 {
                let [key_a, key_b] = [a, b].map(|labels| labels[usize::from(bit)]);
                // Of two rows each: `a` is the first bit of a row's number, `b` the second.
                let at = 4 * i + usize::from(bit);
                prf.set(at, key_a, [0, 1].map(|other| point(number, Side::First, 2 * bit + other)));
                prf.set(at + 2, key_b, [0, 1].map(|other| point(number, Side::Second, 2 * other + bit)));
            }
        }
        let [zeros, ones] = prf.twice(4 * gates.len());
        for (i, (gate, rows)) in gates.iter().zip(rows.as_chunks_mut::<2>().0).enumerate() {
            let [a, b] = [4 * i, 4 * i + 2];
            let keys = [zeros[a] ^ zeros[b], ones[a] ^ zeros[b + 1], zeros[a + 1] ^ ones[b], ones[a + 1] ^ ones[b + 1]];
            let odd = [gate.a(), gate.b()].map(|slot| !slots[slot].zero.lsb());
            let garbled = Garbled::new(keys, odd);
            *rows = garbled.rows;
            bits[(first + i) / 8] |= u8::from(garbled.last) << ((first + i) % 8);
            slots[gate.out()] = self.output(garbled.labels, odd);
        }
    }

    /// The wire of an AND gate: row 0 stands for one if it is the odd row.
    fn output(&self, [zeroth, other]: [Block; 2], odd: [bool; 2]) -> Labels {
        let offset = zeroth ^ other;
        Labels { zero: zeroth ^ offset.masked(!odd[0] & !odd[1]), offset: offset ^ *self.delta }
    }
}

/// A garbled gate whose output differs in one row from that in the others.
pub(super) struct Garbled {
    pub(super) rows: [Block; 2],
    /// The bit that counts in row 3.
    pub(super) last: bool,
    /// The label of row 0's value, and the other one.
    pub(super) labels: [Block; 2],
}

impl Garbled {
    /// The gate from the `K_r` of its rows and the permute bits of its odd row, without a branch on these.
    pub(super) fn new([k0, k1, k2, k3]: [Block; 4], [i, j]: [bool; 2]) -> Garbled {
        // The two rows beside the odd one of a sum stand for one value, so that the sum makes their labels
        // one: T1 = K_2 ^ K_3 where the odd row is 0 or 1, else K_0 ^ K_1; T2 = K_1 ^ K_3 where it is 0 or 2,
        // else K_0 ^ K_2.
        let (low, high) = (k0 ^ k1, k2 ^ k3);
        let first = high ^ (low ^ high).masked(i);
        let (even, uneven) = (k0 ^ k2, k1 ^ k3);
        let second = uneven ^ (even ^ uneven).masked(j);
        // Whether row r stands for another value than row 0: all of them, or the odd one.
        let zeroth = !i & !j;
        let differ = [zeroth | (!i & j), zeroth | (i & !j), zeroth | (i & j)];
        // Row 0 opens to bit 0 of K_0, its label's permute bit.
        let wanted = |r: usize, key: Block| key.lsb() ^ k0.lsb() ^ differ[r - 1];
        let [c1, c2] = [wanted(1, k1), wanted(2, k2)];
        Garbled {
            rows: [first.with_lsb(c1), second.with_lsb(c2)],
            last: wanted(3, k3) ^ c1 ^ c2,
            labels: [k0, (k1 ^ k2 ^ k3).with_lsb(!k0.lsb())],
        }
    }
}

impl Garble for StandardGarbler {
    type Wire = Labels;

    fn input(&mut self, rng: &mut dyn CryptoRng) -> Labels {
        let zero = Block::random(rng);
        self.wire([zero, Block::random(rng).with_lsb(!zero.lsb())])
    }

    fn constant(&self, bit: bool) -> Labels {
        self.secrets.constant(bit)
    }

    fn label(&self, wire: &Labels, bit: bool) -> Block {
        wire.label(*self.secrets.delta, bit)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [Labels], tables: &mut [Block]) {
        check(part, slots.len(), tables.len());
        let StandardGarbler { secrets, prf, runs, .. } = self;
        [Tape::ZERO, Tape::ONE].iter().for_each(|&slot| slots[slot as usize] = secrets.constant(slot == Tape::ONE));
        let (mut rows, bits) = tables.split_at_mut(gate_rows(part));
        bits.fill(Block::ZERO);
        let (bits, mut done) = (Block::bytes_of_mut(bits), 0);
        for (xors, ands) in part.gates() {
            let not = |wire| secrets.not(wire);
            runs.all(xors, slots, not, |gates, slots| {
                let own = rows.split_off_mut(..gates.len()).expect("a row for each XOR gate");
                secrets.xors(prf, gates, slots, own);
            });
            for gates in ands.chunks(BATCH) {
                let own = rows.split_off_mut(..2 * gates.len()).expect("two rows for each AND gate");
                secrets.ands(prf, gates, slots, own, (bits, done));
                done += gates.len();
            }
        }
    }
}
