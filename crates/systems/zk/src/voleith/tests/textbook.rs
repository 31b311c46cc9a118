//! What a prover shows, computed bit by bit from its leaves: which column of `u` hides what.

use comity_core::{Aes128, Backend, Block, Prg, gf128};

use super::{FEW, prover};
use crate::tests::rng;
use crate::voleith::hashes::{Digest, Hashes, seed};
use crate::voleith::{HASH_MASK, PADS, ROWS, Shape};
use crate::zkboo::tests::of_two;

/// The sum of blocks, place by place.
fn add(sum: &mut [Block], blocks: &[Block]) {
    sum.iter_mut().zip(blocks).for_each(|(sum, block)| *sum ^= *block);
}

/// The bit in a column of a row.
fn bit(row: &[Block], column: usize) -> bool {
    row[column / 128].to_u128() >> (column % 128) & 1 == 1
}

/// A row's hash: two sums of products, each under a block of the row of its own.
fn hash(row: &[Block], challenge: &Digest) -> [Block; HASH_MASK] {
    core::array::from_fn(|half| {
        let mut prg = Prg::new(Backend::detect(), Block::new(core::array::from_fn(|i| challenge[16 * half + i])));
        let times = |sum: Block, block: &Block| sum ^ gf128::mul(Backend::detect(), prg.block(), *block);
        row[HASH_MASK..].iter().fold(row[half], times)
    })
}

#[test]
fn what_is_shown_is_the_textbooks() {
    let (statement, delta) = (of_two(0), 13u128);
    let width = Shape::new(&statement).width();
    let times = |a, b| gf128::mul(Backend::detect(), a, b);
    for witness in 0..3u8 {
        let prover = prover(&statement, witness, FEW, &mut rng(1), &mut |_: super::Act<'_>| ());
        let hashes = Hashes::new(FEW, statement.digest(), prover.salt());
        // Streams, their sums u of each tree, and those of the leaves that have a bit, v.
        let (mut commitments, mut u, mut v) = (Vec::new(), Vec::new(), vec![vec![Block::ZERO; width]; ROWS]);
        for (tree, (grown, (levels, first))) in prover.trees.iter().zip(FEW.each()).enumerate() {
            let (of_leaves, keys) = hashes.leaves(tree as u64, grown.leaves());
            commitments.extend(of_leaves);
            let mut sum = vec![Block::ZERO; width];
            for (leaf, key) in keys.iter().enumerate() {
                let mut stream = vec![Block::ZERO; width];
                Aes128::new(Backend::detect(), *key).count(hashes.counter.into(), &mut stream);
                add(&mut sum, &stream);
                (0..levels)
                    .filter(|level| leaf >> level & 1 == 1)
                    .for_each(|level| add(&mut v[first + level], &stream));
            }
            u.push(sum);
        }
        let (mut correction, u) = (u[1].clone(), &u[0]);
        add(&mut correction, u);
        let corrections = Block::bytes_of(&correction);
        let corrected = hashes.corrected(&commitments, corrections);
        let (sum, rows) = (hash(u, &corrected), v.iter().flat_map(|row| hash(row, &corrected)).collect::<Vec<_>>());
        // Two bits and their product, each under a column of u that serves nothing else.
        let bits = [witness & 1, witness >> 1, witness & witness >> 1].map(|bit| bit == 1);
        let pad = |i: usize| 128 * PADS + i;
        let told = (0..3).fold(0, |told, i| told | u8::from(bits[i] ^ bit(u, pad(i))) << i);
        let challenge = hashes.told(&corrected, &sum, &rows, &[told]);
        // The MAC of a column: a bit of each row.
        let mac =
            |column| Block::from_u128((0..ROWS).fold(0, |mac, row| mac | u128::from(bit(&v[row], column)) << row));
        let [a, b, c] = [0, 1, 2].map(|i| mac(pad(i)));
        let coefficient = Prg::new(Backend::detect(), seed(&challenge)).block();
        let crossed = b.masked(bits[0]) ^ a.masked(bits[1]) ^ c;
        // The masks: an element of the field in a block of u of its own, and its MAC.
        let own = (0..128).fold(Block::ZERO, |sum, i| sum ^ times(mac(128 * HASH_MASK + i), Block::from_u128(1 << i)));
        let sums = [times(coefficient, times(a, b)) ^ own, times(coefficient, crossed) ^ u[HASH_MASK]];
        // The product, and what is not it: their MACs are one.
        assert!(*prover.first() == hashes.last(&challenge, &sums, &[c, c]), "witness {witness}");
        let shown = [corrections, Block::bytes_of(&sum), Block::bytes_of(&sums[1..]), &[told]].concat();
        assert!(prover.answer(&delta.to_le_bytes()).starts_with(&shown), "witness {witness}");
    }
}

#[test]
fn nothing_of_a_hidden_leaf_is_shown() {
    let statement = of_two(0);
    for delta in 0..super::DELTAS {
        let prover = prover(&statement, 2, FEW, &mut rng(1), &mut |_: super::Act<'_>| ());
        let hashes = Hashes::new(FEW, statement.digest(), prover.salt());
        let leaves: Vec<Vec<_>> = prover.trees.iter().map(|tree| tree.leaves().to_vec()).collect();
        let answer = prover.answer(&delta.to_le_bytes());
        let there = |what: &[u8]| answer.windows(what.len()).any(|window| window == what);
        for (tree, (leaves, hidden)) in leaves.iter().zip(FEW.hidden(delta)).enumerate() {
            let (commitments, keys) = hashes.leaves(tree as u64, leaves);
            assert!(!there(&leaves[hidden]) && !there(&keys[hidden].to_bytes()), "its seed, or its stream's key");
            for (leaf, commitment) in commitments.iter().enumerate() {
                assert_eq!(there(commitment), leaf == hidden, "leaf {leaf} of tree {tree}");
            }
            // Beside it lies the only leaf that is shown as such.
            assert!(there(&leaves[hidden ^ 1]), "tree {tree}");
        }
    }
}
