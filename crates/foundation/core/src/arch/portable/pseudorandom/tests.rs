//! The equations of a gate, at the few bits at which all of their cases can be counted.

use std::collections::HashMap;

use super::{Garbled, opened};
use crate::arch::Backend;
use crate::hash::prg::Prg;
use crate::memory::block::Block;

const ROWS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

fn block(value: usize) -> Block {
    Block::from_u128(value as u128)
}

/// Every row opens to the label of its value, whatever the permute bits are.
#[test]
#[cfg_attr(miri, ignore = "safe code")]
fn every_row_opens_to_the_label_of_its_value() {
    let mut rng = Prg::new(Backend::detect(), block(1));
    for permute in ROWS {
        for _ in 0..100 {
            let keys = [(); 4].map(|()| rng.block());
            let garbled = Garbled::of(keys, permute);
            for (key, row) in keys.into_iter().zip(ROWS) {
                let value = (row[0] ^ permute[0]) & (row[1] ^ permute[1]);
                assert!(opened(key, row, garbled.rows, garbled.last) == garbled.labels[usize::from(value)]);
            }
            assert!(garbled.labels[0].lsb() != garbled.labels[1].lsb());
        }
    }
}

/// Keys of two bits, of which bit 0 becomes the permute bit: given the one key that the evaluator has, the
/// tables and the label that it does not find are uniform, each as often as each other, and alike whatever the
/// permute bits are.
#[test]
#[cfg_attr(miri, ignore = "safe code")]
fn what_is_seen_of_a_gate_is_uniform_but_for_the_open_row() {
    for (open, key, permute) in (0..4).flat_map(|open| (0..4).flat_map(move |key| ROWS.map(|odd| (open, key, odd)))) {
        let mut seen = HashMap::new();
        for others in 0..64 {
            let mut unknown = [others & 3, others >> 2 & 3, others >> 4].into_iter();
            let keys: [Block; 4] =
                core::array::from_fn(|r| block(if r == open { key } else { unknown.next().expect("three") }));
            let garbled = Garbled::of(keys, permute);
            let active = opened(keys[open], ROWS[open], garbled.rows, garbled.last);
            let inactive = if garbled.labels[0] == active { garbled.labels[1] } else { garbled.labels[0] };
            // Its bit 0 is that of the active one, inverted.
            let view = [garbled.rows[0], garbled.rows[1], inactive.with_lsb(false)].map(Block::to_u128);
            *seen.entry((view, garbled.last)).or_insert(0) += 1;
        }
        assert!(seen.len() == 64 && seen.values().all(|&times| times == 1), "row {open} is open");
    }
}
