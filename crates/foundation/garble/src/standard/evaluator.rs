//! The evaluator.

use comity_core::{Backend, Block, Part, Tape, TapeGate};

use super::prf::{BATCH, Prf, Side, point};
use super::runs::Runs;
use super::{active, check, gate_rows, opened};
use crate::scheme::Evaluate;

/// The evaluator's side of [`Standard`](super::Standard).
pub struct StandardEvaluator {
    prf: Prf,
    runs: Runs,
}

impl StandardEvaluator {
    pub(super) fn new(backend: Backend) -> StandardEvaluator {
        StandardEvaluator { prf: Prf::new(backend), runs: Runs::new() }
    }
}

/// XOR gates of which none reads what another writes; that one writes what an earlier one reads may be.
fn xors(prf: &mut Prf, gates: &[TapeGate], slots: &mut [Block], rows: &[Block]) {
    let number = prf.take(gates.len());
    let mut permute = [[false; 2]; BATCH];
    for ((i, gate), number) in gates.iter().enumerate().zip(number..) {
        let [a, b] = [gate.a(), gate.b()].map(|slot| slots[slot]);
        permute[i] = [a.lsb(), b.lsb()];
        for (side, label, at) in [(Side::First, a, 2 * i), (Side::Second, b, 2 * i + 1)] {
            prf.set(at, label, [point(number, side, u8::from(label.lsb())), Block::ZERO]);
        }
    }
    let translated = prf.once(2 * gates.len()).as_chunks::<2>().0;
    for (((gate, &[a, b]), row), [i, j]) in gates.iter().zip(translated).zip(rows).zip(permute) {
        slots[gate.out()] = (a ^ b ^ row.masked(j)).with_lsb(i ^ j);
    }
}

/// AND gates that do not depend on each other; the third bit of the first one is bit `first` of `bits`.
fn ands(prf: &mut Prf, gates: &[TapeGate], slots: &mut [Block], rows: &[Block], (bits, first): (&[u8], usize)) {
    let number = prf.take(gates.len());
    for ((i, gate), number) in gates.iter().enumerate().zip(number..) {
        let [a, b] = [gate.a(), gate.b()].map(|slot| slots[slot]);
        let row = 2 * u8::from(a.lsb()) + u8::from(b.lsb());
        for (side, label, at) in [(Side::First, a, 2 * i), (Side::Second, b, 2 * i + 1)] {
            prf.set(at, label, [point(number, side, row), Block::ZERO]);
        }
    }
    let hashed = prf.once(2 * gates.len()).as_chunks::<2>().0;
    for (i, ((gate, &[a, b]), &rows)) in gates.iter().zip(hashed).zip(rows.as_chunks::<2>().0).enumerate() {
        let permute = [gate.a(), gate.b()].map(|slot| slots[slot].lsb());
        let last = bits[(first + i) / 8] >> ((first + i) % 8) & 1 == 1;
        slots[gate.out()] = opened(a ^ b, permute, rows, last);
    }
}

impl Evaluate for StandardEvaluator {
    fn constant(&self, bit: bool) -> Block {
        active(bit)
    }

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        check(part, slots.len(), tables.len());
        [Tape::ZERO, Tape::ONE].iter().for_each(|&slot| slots[slot as usize] = active(slot == Tape::ONE));
        let (mut rows, bits) = tables.split_at(gate_rows(part));
        let (bits, mut done) = (Block::bytes_of(bits), 0);
        let StandardEvaluator { prf, runs } = self;
        for (linear, products) in part.gates() {
            runs.all(
                linear,
                slots,
                |label| label,
                |gates, slots| {
                    let own = rows.split_off(..gates.len()).expect("a row for each XOR gate");
                    xors(prf, gates, slots, own);
                },
            );
            for gates in products.chunks(BATCH) {
                let own = rows.split_off(..2 * gates.len()).expect("two rows for each AND gate");
                ands(prf, gates, slots, own, (bits, done));
                done += gates.len();
            }
        }
    }
}
