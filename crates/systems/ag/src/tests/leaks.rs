//! Whether an abort tells an input: a garbler that spoils what serves one value alone learns nothing from
//! which party aborts.

use comity_circuit::{Builder, Program};
use comity_core::{Bits, Block};

use super::dealer::{Game, Masks};
use crate::conduct::Act;

/// Runs for each input.
const RUNS: u64 = 300;

/// `(x & y) ^ y`.
fn tiny() -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 1), b.input("y", 1));
    let and = b.and(x[0], y[0]);
    let z = b.xor(and, y[0]);
    b.output("z", &[z]);
    Program::from_circuit(b.finish()).unwrap()
}

/// The rate at which runs abort, for each pair of inputs.
fn rates(liar: u16, masks: Masks, lie: impl Fn(&mut Act<'_>) + Sync) -> [f64; 4] {
    let program = tiny();
    [0, 1, 2, 3].map(|case: u8| {
        let inputs = [case & 1, case >> 1].map(|bit| Bits::from_bytes(&[bit], 1));
        let aborted = (0..RUNS).filter(|&seed| {
            let game =
                Game { program: &program, inputs: &inputs, garbler: 0, seed: seed << 2 | u64::from(case), masks };
            let ended = game.play(|me, act| {
                if me == liar {
                    lie(act)
                }
            });
            ended[1 - usize::from(liar)].0.is_err()
        });
        aborted.count() as f64 / RUNS as f64
    })
}

/// The largest difference of rates.
fn spread(rates: [f64; 4]) -> f64 {
    rates.iter().copied().fold(0.0, f64::max) - rates.iter().copied().fold(1.0, f64::min)
}

/// Five standard deviations of a difference, and more.
const ERROR: f64 = 0.21;

/// The second row of the gate, which is visited if the masked value of `y` is one.
fn spoil_row(act: &mut Act<'_>) {
    if let Act::Tables { rows, .. } = act {
        rows[1] ^= Block::from_u128(1);
    }
}

/// The labels that stand for the masked value `one` alone; bit 0 stays, by which they are known.
fn spoil_label(act: &mut Act<'_>, one: bool) {
    if let Act::Labels(labels) = act {
        let spoiled = Block::from_u128(2).masked(labels[0].lsb() == one);
        labels[0] ^= spoiled;
    }
}

#[test]
fn aborts_are_as_frequent_whatever_the_inputs_are() {
    let row = rates(0, Masks::Random, spoil_row);
    assert!(spread(row) < ERROR && row[0] > 0.3 && row[0] < 0.7, "{row:?}");
    for one in [false, true] {
        let label = rates(0, Masks::Random, |act| spoil_label(act, one));
        assert!(spread(label) < ERROR && label[0] > 0.05 && label[0] < 0.95, "{one}: {label:?}");
    }
    // A false masked value is always caught.
    let masked = rates(1, Masks::Random, |act| {
        if let Act::Masked(bits) = act {
            bits[0] ^= 1
        }
    });
    assert_eq!(masked, [1.0; 4]);
}

#[test]
fn without_masks_the_same_lie_would_tell() {
    let row = rates(0, Masks::Zero, spoil_row);
    assert_eq!(row, [0.0, 0.0, 1.0, 1.0], "aborts exactly if y is one");
}
