//! The sums over a field's seeds, against each stream generated and added by itself.

use comity_core::{Backend, Block, Prg, SmallFieldVole};

use crate::backends;

/// The lengths of the calls: more than a step of the widest registers, with every kind of rest.
const CALLS: [usize; 8] = [1, 32, 7, 0, 8, 75, 64, 3];

fn seeds(n: usize) -> Vec<Block> {
    let mut seeds = vec![Block::ZERO; n];
    Prg::new(Backend::detect(), Block::from_u128(n as u128)).fill_blocks(&mut seeds);
    seeds
}

fn xor(to: &mut [Block], from: &[Block]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to ^= *from);
}

#[test]
fn rows_are_sums_of_streams() {
    for backend in backends() {
        for bits in 1..=if cfg!(miri) { 2 } else { SmallFieldVole::MAX_BITS } {
            let all = seeds(1 << bits);
            for missing in [0, 1] {
                let mut streams: Vec<Prg> = all.iter().map(|&seed| Prg::new(backend, seed)).collect();
                let mut vole = SmallFieldVole::new(backend, &all[missing..]);
                assert_eq!(vole.bits(), bits);
                // The portable encryption is slow.
                let calls = match (backend.name(), bits) {
                    ("portable", 9..) => &CALLS[..1],
                    ("portable", 5..) | (_, 9..) => &CALLS[..3],
                    _ if cfg!(miri) => &CALLS[1..6],
                    _ => &CALLS[..],
                };
                for &n in calls {
                    let mut expected = vec![Block::ZERO; (bits + 1) * n];
                    for (x, stream) in streams.iter_mut().enumerate().skip(missing) {
                        let mut blocks = vec![Block::ZERO; n];
                        stream.fill_blocks(&mut blocks);
                        xor(&mut expected[..n], &blocks);
                        for b in (0..bits).filter(|b| x >> b & 1 == 1) {
                            xor(&mut expected[(b + 1) * n..(b + 2) * n], &blocks);
                        }
                    }
                    let (mut sum, mut rows) = (vec![Block::ZERO; n], vec![Block::ZERO; bits * n]);
                    vole.fill(&mut sum, &mut rows);
                    assert!(sum == expected[..n] && rows == expected[n..], "{backend}, {bits} bits, {n} blocks");
                }
            }
        }
    }
}

#[test]
fn without_the_seed_of_delta_the_rows_differ_by_delta_times_the_sum() {
    let (bits, delta, n) = (5, 0b10110, 40);
    let all = seeds(1 << bits);
    let moved: Vec<Block> = (1..all.len()).map(|y| all[y ^ delta]).collect();
    let (mut sum, mut v, mut w) = (vec![Block::ZERO; n], vec![Block::ZERO; bits * n], vec![Block::ZERO; bits * n]);
    SmallFieldVole::new(Backend::detect(), &all).fill(&mut sum, &mut v);
    SmallFieldVole::new(Backend::detect(), &moved).fill(&mut vec![Block::ZERO; n], &mut w);
    for b in 0..bits {
        for j in 0..n {
            assert_eq!(w[b * n + j] ^ v[b * n + j], sum[j].masked(delta >> b & 1 == 1));
        }
    }
}

#[test]
fn streams_begin_where_they_are_told_to() {
    let (bits, n, first) = (3, 40, 5);
    let all = seeds(1 << bits);
    let fill = |mut vole: SmallFieldVole, n: usize| {
        let (mut sum, mut rows) = (vec![Block::ZERO; n], vec![Block::ZERO; bits * n]);
        vole.fill(&mut sum, &mut rows);
        (sum, rows.chunks(n).map(<[Block]>::to_vec).collect::<Vec<_>>())
    };
    for backend in backends() {
        let (sum, rows) = fill(SmallFieldVole::new(backend, &all), n + first);
        let (later, later_rows) = fill(SmallFieldVole::starting_at(backend, &all, first as u64), n);
        assert!(later == sum[first..], "{backend}");
        assert!(rows.iter().zip(&later_rows).all(|(row, later)| row[first..] == later[..]), "{backend}");
    }
}

#[test]
fn only_fields_are_taken() {
    for &n in if cfg!(miri) { &[0, 5, 6, 9][..] } else { &[0, 5, 6, 9, 254, 257, 4097, 8191] } {
        let seeds = seeds(n);
        let made = std::panic::catch_unwind(|| SmallFieldVole::new(Backend::detect(), &seeds).bits());
        assert!(made.is_err(), "{n} seeds");
    }
}
