//! The equations of a gate, at the few bits at which all of their cases can be counted.

use std::collections::HashMap;

use crate::arch::Backend;
use crate::hash::prg::Prg;
use crate::memory::block::Block;

use super::{Garbled, Halves, Hash, evaluated};

const BITS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

fn hash(value: usize) -> Hash {
    Hash { half: value as u64 & 1, bit: value >> 1 == 1 }
}

fn plus(label: Halves, delta: Halves, times: bool) -> Halves {
    if times { Halves(label.0 ^ delta.0, label.1 ^ delta.1) } else { label }
}

/// Every pair of permute bits gives the label that it should, whichever pair is the odd one, whatever `p` and
/// `q` are.
#[test]
#[cfg_attr(miri, ignore = "safe code")]
fn every_pair_gives_its_label() {
    let mut rng = Prg::new(Backend::detect(), Block::from_u128(1));
    for (odd, random) in BITS.into_iter().flat_map(|odd| BITS.map(|random| (odd, random))) {
        for _ in 0..50 {
            let labels = [(); 2].map(|()| Halves::of(rng.block().with_lsb(false)));
            let delta = Halves::of(rng.block().with_lsb(true));
            let hashes = [(); 3].map(|()| [(); 2].map(|()| Hash::of(rng.block())));
            let garbled = Garbled::of(labels, delta, hashes, odd, random);
            for [i, j] in BITS {
                let active = [plus(labels[0], delta, i), plus(labels[1], delta, j)];
                let seen = [hashes[0][usize::from(i)], hashes[1][usize::from(j)], hashes[2][usize::from(i ^ j)]];
                let label = evaluated(active, seen, garbled.sums, garbled.bits);
                assert!(label.block() == plus(garbled.label, delta, [i, j] == odd).block());
            }
        }
    }
}

/// Halves of one bit: given an evaluator's labels and hashes, `G0`, `G1`, `G2` and the five bits are uniform
/// on 2^8, whatever the odd pair and the offset are.
#[test]
#[cfg_attr(miri, ignore = "safe code")]
fn what_is_seen_of_a_gate_is_uniform() {
    for (known, permute) in (0..4 * 64).flat_map(|known| BITS.map(|permute| (known, permute))) {
        let [i, j] = permute;
        let rights = [known & 1, known >> 1 & 1];
        let seen = [known >> 2 & 3, known >> 4 & 3, known >> 6];
        for (odd, right) in BITS.into_iter().flat_map(|odd| [(odd, 0), (odd, 1)]) {
            let delta = Halves(1, right);
            let active = [Halves(u64::from(i), rights[0] as u64), Halves(u64::from(j), rights[1] as u64)];
            let labels = [plus(active[0], delta, i), plus(active[1], delta, j)];
            let mut views = HashMap::new();
            for secret in 0..256 {
                let pair = |k: usize, permute: bool, unknown: usize| {
                    let (known, unknown) = (hash(seen[k]), hash(unknown));
                    if permute { [unknown, known] } else { [known, unknown] }
                };
                let hashes = [pair(0, i, secret & 3), pair(1, j, secret >> 2 & 3), pair(2, i ^ j, secret >> 4 & 3)];
                let random = [secret >> 6 & 1 == 1, secret >> 7 == 1];
                let garbled = Garbled::of(labels, delta, hashes, odd, random);
                *views.entry((garbled.sums, garbled.bits)).or_insert(0) += 1;
            }
            assert!(views.len() == 256 && views.values().all(|&times| times == 1));
        }
    }
}
