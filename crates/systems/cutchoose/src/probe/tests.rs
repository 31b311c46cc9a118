use comity_core::{Backend, Prg};
use proptest::prelude::*;
use rand_core::Rng;

use super::bound::suffices;
use super::*;

fn prg(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn random_bits(len: usize, prg: &mut Prg) -> Bits {
    let mut bytes = vec![0; len.div_ceil(8)];
    prg.fill(&mut bytes);
    Bits::from_bytes(&bytes, len)
}

/// Row `i` of E as the definition says: the chunk's columns of M, then of the identity.
fn row_of_e(probe: &Probe, i: usize) -> Vec<usize> {
    let columns = probe.matrix.columns();
    let (chunk, row) = (i / probe.rows, i % probe.rows);
    let start = chunk * (columns + probe.rows);
    let ones = (0..columns).filter(|&column| {
        let unit = probe.matrix.pack((0..columns).map(|other| other == column));
        probe.matrix.product(row, &unit)
    });
    ones.chain([columns + row]).map(|column| start + column).collect()
}

#[test]
fn the_papers_table_3_is_reproduced() {
    for (rows, printed) in [(40, 5.68), (65, 4.0), (80, 3.5), (103, 3.0), (143, 2.5), (229, 2.0), (520, 1.5)] {
        let c = (columns(40, rows) + rows) as f64 / rows as f64;
        assert!((c - printed).abs() < 0.005 + 1e-9, "{rows} rows: {c}, printed is {printed}");
    }
    assert_eq!(columns(40, 232), 230);
}

#[test]
fn other_security_parameters_compute_theirs() {
    assert_eq!([40, 64, 80, 128].map(|rho| columns(rho, 1)), [166, 271, 341, 552]);
    assert_eq!([40, 64, 80, 128].map(|rho| columns(rho, 232)), [230, 348, 424, 648]);
    assert_eq!([40, 64, 80, 128].map(|rho| columns(rho, 2048)), [323, 486, 588, 878]);
    // One row has one one in the identity, and that is all that rho = 1 asks for; no rows have no sum.
    assert_eq!([columns(1, 232), columns(0, 232), columns(40, 0)], [0; 3]);
}

/// The paper's formula in logarithms: log2 of the sum over i of C(k, i) cdf(rho - i - 1).
fn paper(rho: u32, rows: usize, columns: usize) -> f64 {
    let binomials = |n: usize| {
        let mut log = 0.0;
        (1..=rho as usize).map(move |j| {
            let this = log;
            log = if j > n { f64::NEG_INFINITY } else { log + ((n - j + 1) as f64).log2() - (j as f64).log2() };
            this
        })
    };
    let sum = |logs: &[f64]| {
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most.is_finite() { most + logs.iter().map(|log| (log - most).exp2()).sum::<f64>().log2() } else { most }
    };
    let tails: Vec<f64> = binomials(columns).map(|log| log - columns as f64).collect();
    let sets: Vec<f64> = binomials(rows).collect();
    sum(&(1..rho as usize).map(|i| sets[i] + sum(&tails[..rho as usize - i])).collect::<Vec<_>>())
}

#[test]
fn the_columns_meet_the_papers_formula_and_one_fewer_does_not() {
    for rho in [2, 3, 8, 40, 64, 80, 128] {
        for rows in [1, 2, 7, 40, 128, 232, 1000, 2048, 16384] {
            let enough = columns(rho, rows);
            assert!(paper(rho, rows, enough) <= 1e-9 - f64::from(rho), "rho {rho}, {rows} rows");
            assert!(paper(rho, rows, enough - 1) > -1e-9 - f64::from(rho), "rho {rho}, {rows} rows");
        }
    }
}

#[test]
fn the_bound_is_the_exact_rational() {
    let choose = |n: u128, k: u128| (0..k).fold(1, |product, j| product * (n - j) / (j + 1));
    for rho in 1..=9_u32 {
        for rows in 0..=8 {
            for columns in 0..40 {
                // Times 2^columns.
                let cdf = |most: u128| (0..=most).filter(|&j| j <= columns).map(|j| choose(columns, j)).sum::<u128>();
                let sets = (1..u128::from(rho)).filter(|&i| i <= rows);
                let bad: u128 = sets.map(|i| choose(rows, i) * cdf(u128::from(rho) - i - 1)).sum();
                let want = bad << rho <= 1 << columns;
                assert_eq!(suffices(rho, rows as u32, columns as u32), want, "{rho}, {rows}, {columns}");
            }
        }
    }
}

#[test]
fn random_matrices_at_the_bound_fail_no_more_often() {
    // Not the published ones, but 4000 of rho = 4 with 6 rows: with the bound at 1/16 they fail far less often, as the
    // union bound is not tight; with half the columns nearly always.
    let mut prg = prg(1);
    let mut failures = |columns: usize| {
        let bad = |prg: &mut Prg| {
            let rows: Vec<u64> = (0..6).map(|_| prg.next_u64() & ((1 << columns) - 1)).collect();
            (1..1_u32 << 6).any(|set| {
                let sum = rows.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).fold(0, |sum, (_, row)| sum ^ row);
                sum.count_ones() + set.count_ones() < 4
            })
        };
        (0..4000).filter(|_| bad(&mut prg)).count()
    };
    let enough = columns(4, 6);
    assert!(failures(enough) <= 4000 / 16);
    assert!(failures(enough / 2) > 4000 / 16);
}

/// The fewest ones of a sum of rows, of which there are few: all sums are tried.
fn distance(probe: &Probe) -> u32 {
    let rows = (0..probe.rows).map(|i| row_of_e(probe, i).iter().fold(0, |row, one| row | 1 << one));
    let rows: Vec<u128> = rows.collect();
    let mut sum = 0_u128;
    let sums = (1..1_usize << rows.len()).map(|i| {
        sum ^= rows[i.trailing_zeros() as usize];
        sum.count_ones()
    });
    sums.min().expect("a row")
}

#[test]
fn the_published_matrices_have_the_distance_but_for_eight_tiny_ones() {
    let sizes = (1..=12).flat_map(|rho| (1..=14).map(move |rows| (rho, rows)));
    let bad = sizes.filter(|&(rho, rows)| {
        let distance = distance(&Probe::new(rho, rows));
        assert!(distance >= rho - 1, "rho {rho}, {rows} rows: {distance}");
        distance < rho
    });
    let bad: Vec<_> = bad.collect();
    assert_eq!(bad, [(2, 3), (2, 6), (2, 7), (2, 10), (3, 2), (3, 9), (4, 10), (8, 14)]);
}

/// Whoever spoils a label of some bits of y' is not noticed if these bits are what it hopes for.
#[test]
fn fewer_bits_than_the_distance_are_uniform_and_no_more() {
    let probe = Probe::new(3, 3);
    let (width, distance) = (probe.encoded(), distance(&probe));
    assert!(distance >= 3);
    let inputs: Vec<usize> = (0..1 << width)
        .map(|encoded| probe.decode(&Bits::from_words(vec![encoded], width)).words()[0] as usize)
        .collect();
    let most = 1 << (width - probe.bits()) >> (distance - 1);
    let mut reached = false;
    for spoiled in 1..1_usize << width {
        // How many encodings of each input have which bits there.
        let mut counts = vec![[0; 8]; 1 << width];
        inputs.iter().enumerate().for_each(|(encoded, &input)| counts[encoded & spoiled][input] += 1);
        for counts in &counts {
            if spoiled.count_ones() < distance {
                assert!(counts.iter().all(|count| *count == counts[0]), "{spoiled:b}");
            } else {
                assert!(counts.iter().all(|count| *count <= most), "{spoiled:b}");
                reached |= counts.contains(&most) && counts.contains(&0);
            }
        }
    }
    assert!(reached, "the bound is the least");
}

#[test]
fn one_and_two_rows_of_the_large_matrix_have_the_distance() {
    let probe = Probe::new(40, 232);
    let e: Vec<Bits> = (0..232)
        .map(|i| {
            let ones = row_of_e(&probe, i);
            (0..probe.encoded()).map(|j| ones.contains(&j)).collect()
        })
        .collect();
    let weight = |a: &Bits, b: &Bits| a.words().iter().zip(b.words()).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    for (i, row) in e.iter().enumerate() {
        assert!(weight(row, &Bits::zeros(row.len())) >= 40, "row {i}");
        assert!(e[..i].iter().all(|other| weight(row, other) >= 40), "row {i}");
    }
}

#[test]
fn the_matrix_is_the_published_one() {
    let digest = |rho, bits| {
        let probe = Probe::new(rho, bits);
        let e: Vec<u8> = (0..bits.min(300))
            .flat_map(|i| row_of_e(&probe, i))
            .flat_map(|column| (column as u32).to_le_bytes())
            .collect();
        blake3::hash(&e).to_hex()[..16].to_owned()
    };
    let digests = [digest(40, 232), digest(40, 5000), digest(80, 128)];
    assert_eq!(digests, ["16b582a503c7a1c1", "bee5d5faba6b5c48", "80b4e1e130a375da"]);
}

#[test]
fn encodings_are_as_long_as_stated() {
    let encoded = |rho, inputs: [usize; 8]| inputs.map(|bits| Probe::new(rho, bits).encoded());
    let inputs = [0, 1, 32, 128, 256, 1000, 16384, 131072];
    assert_eq!(encoded(40, inputs), [0, 167, 216, 339, 489, 1289, 18968, 151744]);
    assert_eq!(encoded(80, inputs), [0, 342, 393, 525, 686, 1524, 21088, 168704]);
    // Two chunks where one would be too long, of which the second is shorter by one.
    assert_eq!(Probe::new(40, 2049).encoded(), 2049 + 2 * columns(40, 1025));
    assert_eq!((Probe::new(40, 1).bits(), Probe::new(40, 0).decode(&Bits::default()).len()), (1, 0));
}

#[test]
fn an_encoding_is_uniform_but_for_what_it_encodes() {
    let mut prg = prg(2);
    let probe = Probe::with_chunk(8, 5, 3);
    for y in [0, 31, 9] {
        let y = Bits::from_bytes(&[y], 5);
        let mut ones = vec![0; probe.encoded()];
        for _ in 0..2000 {
            let encoded = probe.encode(&y, &mut prg);
            encoded.iter().zip(&mut ones).for_each(|(bit, ones)| *ones += u32::from(bit));
        }
        // Six standard deviations of 22.4 about 1000.
        assert!(ones.iter().all(|ones| (866..=1134).contains(ones)), "{ones:?}");
    }
}

#[test]
#[should_panic(expected = "the input's length")]
fn an_input_of_another_length_is_refused() {
    Probe::new(40, 10).encode(&Bits::zeros(11), &mut prg(3));
}

#[test]
#[should_panic(expected = "the labels of an encoded input")]
fn too_few_labels_are_refused() {
    Probe::new(40, 1).decode_rows(2, &[Block::ZERO; 333], &mut [Block::ZERO; 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_encoded_is_decoded_in_bits_and_in_labels(
        rho in 1..50_u32, bits in 0..200_usize, most in 1..100_usize, width in 0..20_usize, seed: u128,
    ) {
        let mut prg = prg(seed);
        let probe = Probe::with_chunk(rho, bits, most);
        prop_assert!(probe.rows <= most);
        let y = random_bits(bits, &mut prg);
        let encoded = probe.encode(&y, &mut prg);
        prop_assert_eq!(encoded.len(), probe.encoded());
        prop_assert!(probe.decode(&encoded) == y);

        // Any bits are an encoding of something: of E times them.
        let any = random_bits(probe.encoded(), &mut prg);
        let e: Vec<Vec<usize>> = (0..bits).map(|i| row_of_e(&probe, i)).collect();
        let times = |row: &Vec<usize>| row.iter().fold(false, |sum, &j| sum ^ any.get(j));
        prop_assert!(probe.decode(&any) == e.iter().map(times).collect());

        let mut labels = vec![Block::ZERO; width * probe.encoded()];
        prg.fill_blocks(&mut labels);
        let mut out = vec![Block::from_u128(seed); width * bits];
        probe.decode_rows(width, &labels, &mut out);
        for (i, row) in e.iter().enumerate() {
            for copy in 0..width {
                let want = row.iter().fold(Block::ZERO, |sum, j| sum ^ labels[width * j + copy]);
                prop_assert!(out[width * i + copy] == want, "bit {}, copy {}", i, copy);
            }
        }
    }

    #[test]
    fn with_free_xor_the_labels_of_an_encoding_become_those_of_the_input(seed: u128) {
        let mut prg = prg(seed);
        let (bits, width) = (2100, 9);
        let probe = Probe::new(40, bits);
        let y = random_bits(bits, &mut prg);
        let encoded = probe.encode(&y, &mut prg);
        let mut deltas = vec![Block::ZERO; width];
        let mut zeros = vec![Block::ZERO; width * probe.encoded()];
        prg.fill_blocks(&mut deltas);
        prg.fill_blocks(&mut zeros);
        let choose = |zeros: &[Block], bits: &Bits| -> Vec<Block> {
            let labels = zeros.iter().enumerate();
            labels.map(|(i, &zero)| zero ^ deltas[i % width].masked(bits.get(i / width))).collect()
        };
        let mut of_zeros = vec![Block::ZERO; width * bits];
        let mut of_encoded = of_zeros.clone();
        probe.decode_rows(width, &zeros, &mut of_zeros);
        probe.decode_rows(width, &choose(&zeros, &encoded), &mut of_encoded);
        prop_assert!(of_encoded == choose(&of_zeros, &y));
    }
}
