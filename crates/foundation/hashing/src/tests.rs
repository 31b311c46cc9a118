//! Placement is right, and fails as seldom as is said.

mod failure;

use comity_core::{Backend, Block, Prg};

use crate::{Cuckoo, FUNCTIONS, Permutation, ROOMY, Simple, bins, distinct, fullest_bin};

/// Digests of a generator.
fn digests(seed: u128, n: usize) -> Vec<u128> {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(seed));
    (0..n).map(|_| prg.block().to_u128()).collect()
}

#[test]
fn bins_of_an_item_differ_and_are_uniform() {
    for count in [3, 4, 7, 1000] {
        let mut hits = vec![[0u32; FUNCTIONS]; count as usize];
        for digest in digests(1, 30_000) {
            let places = distinct(digest, count);
            assert!(places[0] != places[1] && places[0] != places[2] && places[1] != places[2], "{places:?}");
            places.iter().enumerate().for_each(|(i, &bin)| hits[bin as usize][i] += 1);
        }
        let mean = 30_000.0 / f64::from(count);
        let far = |&hits: &u32| (f64::from(hits) - mean).abs() > 6.0 * mean.sqrt();
        assert!(!hits.as_flattened().iter().any(far), "{count} bins: {hits:?}");
    }
    assert_eq!(distinct(u128::MAX, u32::MAX), [u32::MAX - 1, u32::MAX - 2, u32::MAX - 3]);
}

#[test]
#[should_panic(expected = "2 bins for 3 functions")]
fn three_functions_take_three_bins() {
    distinct(0, 2);
}

#[test]
fn every_item_is_in_one_of_its_bins() {
    for n in [0usize, 1, 2, 5, 255, 256, 257, 5000] {
        let (digests, count) = (digests(2, n), bins(n, ROOMY));
        let cuckoo = Cuckoo::place(n as u32, count, |item| distinct(digests[item as usize], count));
        assert_eq!(cuckoo.left_out(), []);
        let mut seen = vec![false; n];
        for (bin, entry) in cuckoo.bins().enumerate() {
            let Some(entry) = entry else { continue };
            let item = entry.item() as usize;
            assert!(!std::mem::replace(&mut seen[item], true), "item {item} twice");
            assert_eq!(distinct(digests[item], count)[entry.function()] as usize, bin);
        }
        assert!(seen.into_iter().all(|seen| seen), "{n}");
    }
}

#[test]
fn an_item_is_left_out_only_if_no_placement_exists() {
    // Five items for the same three bins, and a chain that only a search of all moves resolves.
    let same = |_| [0, 1, 2];
    let cuckoo = Cuckoo::place(5, 3, same);
    assert_eq!(cuckoo.left_out().len(), 2);
    assert_eq!(cuckoo.bins().flatten().count(), 3);
    // Item j goes to bins j, j + 1, j + 2 on a line: all fit only one step apart, whatever came first.
    let n = 400;
    let line = |item: u32| [item.min(n - 3), (item + 1).min(n - 2), (item + 2).min(n - 1)];
    let cuckoo = Cuckoo::place(n, n, line);
    assert_eq!(cuckoo.left_out(), []);
    assert_eq!(cuckoo.bins().flatten().count(), n as usize);
}

#[test]
fn simple_hashing_has_each_item_in_all_of_its_bins() {
    let (digests, count, width) = (digests(3, 1000), 1271, 100);
    let places = |item: u32| distinct(digests[item as usize], count);
    let simple = Simple::new(1000, count, width, places);
    let mut hits = vec![[0; FUNCTIONS]; 1000];
    assert_eq!(simple.runs().len(), 13);
    for (run, parts) in simple.runs().enumerate() {
        for (function, items) in parts.into_iter().enumerate() {
            for &item in items {
                assert_eq!(places(item)[function] / width, run as u32);
                hits[item as usize][function] += 1;
            }
        }
    }
    assert!(hits.as_flattened().iter().all(|&hits| hits == 1));
    assert_eq!(Simple::new(0, 5, 2, places).runs().flatten().flatten().count(), 0);
}

#[test]
fn bin_function_and_rest_are_the_item() {
    for (bits, count) in [(8, 3), (41, 1301), (80, 1_258_292), (126, u32::MAX)] {
        let permutation = Permutation::new(Backend::detect(), Block::from_u128(9), count);
        let mut items: Vec<u128> = digests(4, 500).iter().map(|digest| digest >> (128 - bits)).collect();
        items.extend([0, u128::MAX >> (128 - bits)]);
        let rest_bits = Permutation::rest_bits(count, bits);
        let mut all = Vec::new();
        permutation.shorten(&items, |short| all.push(short));
        for (item, short) in items.iter().zip(&all) {
            assert!(short.rest >> rest_bits == 0, "{bits} bits, {count} bins");
            assert!(short.bins.windows(2).all(|two| two[0] != two[1]) && short.bins[0] != short.bins[2]);
            for (function, &bin) in short.bins.iter().enumerate() {
                assert_eq!(permutation.item(bin, function, short.rest), *item);
            }
        }
        let most = all[500..].iter().map(|short| 128 - short.rest.leading_zeros()).max();
        assert_eq!(most, Some(rest_bits), "{bits} bits, {count} bins");
    }
    assert_eq!(Permutation::rest_bits(3, 128), 127);
}

#[test]
fn the_fullest_bin_is_as_full_as_computed() {
    // At rho = 3 one run in eight or fewer has a fuller bin, and it is no gross overestimate.
    let (n, count) = (300, bins(300, ROOMY));
    let most = fullest_bin(n, count, 3);
    let fullest: Vec<usize> = (0..300)
        .map(|seed| {
            let mut load = vec![0usize; count as usize];
            for digest in digests(1000 + seed, n) {
                distinct(digest, count).iter().for_each(|&bin| load[bin as usize] += 1);
            }
            load.into_iter().max().expect("bins")
        })
        .collect();
    let over = fullest.iter().filter(|&&load| load > most).count();
    assert!(over * 8 <= 300, "{over} of 300 above {most}");
    assert!(fullest.iter().any(|&load| load + 1 >= most), "{most} is far too many");
    assert_eq!(fullest_bin(0, 1301, 40), 0);
    assert_eq!(fullest_bin(2, 3, 40), 2);
    assert!(fullest_bin(1 << 20, bins(1 << 20, ROOMY), 40) < 30);
    // Where few items in a bin are as rare as many: the mean is 2418, with a deviation of 49.
    assert!((2418 + 7 * 49..2418 + 10 * 49).contains(&fullest_bin(1 << 20, 1301, 40)));
}
