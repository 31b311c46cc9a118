//! Half-trees and tables, on every backend, against what they are by definition.

use comity_core::{Aes128, Backend, Block, HugeTable, Prg, TreeHash};

use crate::backends;

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn blocks(n: usize, seed: u128) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; n];
    rng(seed).fill_blocks(&mut blocks);
    blocks
}

/// The hash `pi(s) ^ s`, where `s` is the block with its halves exchanged, and their sum in the upper one.
fn hash(backend: Backend, key: Block, x: Block) -> Block {
    let x = x.to_u128();
    let s = Block::from_u128((x ^ x >> 64) << 64 | x >> 64);
    let mut block = [s];
    Aes128::new(backend, key).encrypt(&mut block);
    block[0] ^ s
}

#[test]
fn children_are_the_hash_and_what_it_lacks_to_the_parent() {
    let key = Block::from_u128(0x0f1e_2d3c);
    for backend in backends() {
        for depth in 0..if cfg!(miri) { 5 } else { 10 } {
            let parents = blocks(1 << depth, depth + 1);
            let left: Vec<Block> = parents.iter().map(|&x| hash(backend, key, x)).collect();
            let right: Vec<Block> = parents.iter().zip(&left).map(|(&x, &left)| x ^ left).collect();
            for leaves in [false, true] {
                // What lies in the place of the right children does not matter.
                let mut nodes = [&parents[..], &blocks(1 << depth, 77)].concat();
                let sum = TreeHash::new(backend, key).children(&mut nodes, leaves);
                let what = format!("{backend}, {} parents, leaves: {leaves}", parents.len());
                assert_eq!(sum, left.iter().fold(Block::ZERO, |sum, &x| sum ^ x), "{what}");
                let expected = left.iter().chain(&right).map(|x| if leaves { x.with_lsb(false) } else { *x });
                assert!(nodes.into_iter().eq(expected), "{what}");
            }
        }
    }
}

#[test]
fn blocks_are_added_under_marked_parents_only() {
    for backend in backends() {
        for fours in [1, 2, 4, if cfg!(miri) { 8 } else { 64 }] {
            let before = blocks(8 * fours, 3);
            let add = [blocks(4, 4), blocks(4, 5)].map(|side| [side[0], side[1], side[2], side[3]]);
            let marks: Vec<u32> = (0..fours).map(|i| if i % 3 == 0 { u32::MAX } else { 0 }).collect();
            let mut nodes = before.clone();
            TreeHash::new(backend, Block::ZERO).add_under(&marks, &add, &mut nodes);
            for (i, (node, &before)) in nodes.iter().zip(&before).enumerate() {
                let (side, parent) = (i / (4 * fours), i % (4 * fours));
                let added = add[side][parent % 4].masked(parent / 4 % 3 == 0);
                assert!(*node == before ^ added, "{backend}, node {i} of {}", 8 * fours);
            }
        }
    }
}

#[test]
#[should_panic(expected = "are no level")]
fn nodes_that_are_no_level_are_refused() {
    TreeHash::new(Backend::detect(), Block::ZERO).children(&mut [Block::ZERO; 6], false);
}

#[test]
#[should_panic(expected = "a word for four parents")]
fn marks_must_be_as_many_as_parents() {
    TreeHash::new(Backend::detect(), Block::ZERO).add_under(&[0], &[[Block::ZERO; 4]; 2], &mut [Block::ZERO; 16]);
}

/// Tables on common pages and on a huge one, whose end is not a page's.
#[test]
fn sums_are_of_the_places_that_numbers_stand_for() {
    // A huge page is Miri's, too, but most of the table zero.
    for len in [1, 3, 1000, if cfg!(miri) { (1 << 15) + 5 } else { (1 << 17) + 5 }] {
        let mut table = HugeTable::zeroed(len);
        assert!(table.len() == len && table.iter().all(|&block| block == Block::ZERO));
        rng(1).fill_blocks(&mut table[..if cfg!(miri) { len.min(1000) } else { len }]);
        for &rows in if cfg!(miri) { &[0, 1, 70][..] } else { &[0, 1, 63, 64, 200] } {
            let mut numbers = vec![[0; 10]; rows];
            rng(2).fill_words(numbers.as_flattened_mut());
            if let Some(row) = numbers.first_mut() {
                // The ends of the range.
                row[..2].copy_from_slice(&[0, u32::MAX]);
            }
            let from = blocks(rows, 3);
            let expected: Vec<Block> = (numbers.iter().zip(&from))
                .map(|(row, &from)| {
                    let place = |x: u32| (u128::from(x) * len as u128 / (1 << 32)) as usize;
                    row.iter().fold(from, |sum, &x| sum ^ table[place(x)])
                })
                .collect();
            for backend in backends() {
                let mut out = vec![Block::ZERO; rows];
                table.gather_add(backend, &mut numbers.clone(), from.as_chunks::<1>().0, out.as_chunks_mut().0);
                assert!(out == expected, "{backend}, {rows} rows, {len} blocks");
            }
        }
    }
}

/// Places of two blocks: each of them is the sum of the first or of the second blocks.
#[test]
fn sums_are_of_all_blocks_of_a_place() {
    let (len, rows) = (77, 70);
    let (mut both, mut numbers, from) = (HugeTable::zeroed(2 * len), vec![[0; 21]; rows], blocks(2 * rows, 3));
    rng(1).fill_blocks(&mut both);
    rng(2).fill_words(numbers.as_flattened_mut());
    for backend in backends() {
        let mut out = vec![[Block::ZERO; 2]; rows];
        both.gather_add(backend, &mut numbers.clone(), from.as_chunks().0, &mut out);
        for column in 0..2 {
            let mut single = HugeTable::zeroed(len);
            single.iter_mut().zip(both.as_chunks::<2>().0).for_each(|(single, both)| *single = both[column]);
            let from: Vec<_> = from.as_chunks::<2>().0.iter().map(|from| [from[column]]).collect();
            let mut expected = vec![[Block::ZERO]; rows];
            single.gather_add(backend, &mut numbers.clone(), &from, &mut expected);
            assert!(out.iter().zip(&expected).all(|(out, expected)| out[column] == expected[0]), "{backend}, {column}");
        }
    }
}

#[test]
#[should_panic(expected = "a table of 3 blocks, 2 a place")]
fn a_place_is_whole() {
    HugeTable::zeroed(3).gather_add::<1, 2>(Backend::detect(), &mut [], &[], &mut []);
}

/// Parts of one block and of as many as a number tells apart, the last of the table among them.
#[test]
fn sums_are_of_the_places_in_a_part() {
    let longest = if cfg!(miri) { 1 << 8 } else { 1 << 16 };
    let mut table = HugeTable::zeroed(longest + 96);
    rng(1).fill_blocks(&mut table);
    for part in [7..8, 3..5, 32..96, longest - 32..longest + 96, 96..longest + 96] {
        for &rows in if cfg!(miri) { &[0, 70][..] } else { &[0, 1, 63, 200] } {
            let mut numbers = vec![[0; 5]; rows];
            rng(2).fill_shorts(numbers.as_flattened_mut());
            if let Some(row) = numbers.first_mut() {
                row[..2].copy_from_slice(&[0, u16::MAX]);
            }
            let before = blocks(rows, 3);
            let expected: Vec<Block> = (numbers.iter().zip(&before))
                .map(|(row, &before)| {
                    let place = |x: u16| (usize::from(x) * part.len()) >> 16;
                    row.iter().fold(before, |sum, &x| sum ^ table[part.clone()][place(x)])
                })
                .collect();
            for backend in backends() {
                let mut to = before.clone();
                table.add_gathered(backend, part.clone(), &mut numbers.clone(), &mut to);
                assert!(to == expected, "{backend}, {rows} rows, {part:?}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "a part of 6 blocks")]
fn a_part_is_a_power_of_two() {
    HugeTable::zeroed(8).add_gathered::<1>(Backend::detect(), 1..7, &mut [], &mut []);
}

#[test]
#[should_panic(expected = "a part of 131072 blocks")]
#[cfg_attr(miri, ignore = "the table takes minutes to wipe")]
fn a_part_is_no_longer_than_numbers_tell() {
    HugeTable::zeroed(1 << 17).add_gathered::<1>(Backend::detect(), 0..1 << 17, &mut [], &mut []);
}

#[test]
#[should_panic(expected = "a table of 0 blocks")]
fn an_empty_table_has_no_places() {
    HugeTable::zeroed(0).gather_add::<1, 1>(Backend::detect(), &mut [], &[], &mut []);
}

#[test]
fn words_are_the_streams_bytes() {
    let (mut words, mut bytes) = ([0; 9], [0; 36]);
    rng(5).fill_words(&mut words);
    rng(5).fill(&mut bytes);
    assert_eq!(words.map(u32::to_le_bytes).as_flattened(), bytes);
    let mut shorts = [0; 18];
    rng(5).fill_shorts(&mut shorts);
    assert_eq!(shorts.map(u16::to_le_bytes).as_flattened(), bytes);
}
