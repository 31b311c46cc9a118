//! Triples of matrices: right at any shape and width, drawn, and hidden by OTs that are.

use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_share::ring::{MatrixProduct, MatrixTriples, WordReader, word_mask};
use comity_share::triples::OtKind;
use comity_testing::Net;
use comity_testing::laws::assert_fresh;
use comity_testing::ot::DealtBaseOts;

use super::ring::{dealer, said};

fn matrices(bits: u32, [m, n, p]: [u32; 3]) -> MatrixProduct {
    MatrixProduct { bits, m, n, p }
}

fn dealt_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    kind: OtKind,
    seed: u128,
    whats: &[(MatrixProduct, usize)],
) -> Vec<[MatrixTriples; 2]> {
    let [zero, one] = Net::<2>::run(|net| {
        let mut dealer = dealer::<B>(net, kind, seed);
        whats.iter().map(|&(what, n)| dealer.deal_matrices(net, what, n).unwrap()).collect::<Vec<_>>()
    });
    zero.into_iter().zip(one).map(|(zero, one)| [zero, one]).collect()
}

fn holds(what: MatrixProduct, count: usize, [zero, one]: &[MatrixTriples; 2]) {
    let mask = word_mask(what.bits);
    let both: Vec<Vec<u128>> = (0..3)
        .map(|part| {
            let (x, y) = (zero.shares()[part], one.shares()[part]);
            assert!(x.iter().chain(y).all(|share| share & !mask == 0) && x.len() == count * what.words()[part]);
            x.iter().zip(y).map(|(x, y)| x.wrapping_add(*y) & mask).collect()
        })
        .collect();
    let [m, n, p] = [what.m, what.n, what.p].map(|size| size as usize);
    for (at, found) in both[2].iter().enumerate() {
        let (product, row, column) = (at / (m * p), at / p % m, at % p);
        let term =
            |l: usize| both[0][(product * m + row) * n + l].wrapping_mul(both[1][(product * n + l) * p + column]);
        let sum = (0..n).fold(0u128, |sum, l| sum.wrapping_add(term(l))) & mask;
        assert_eq!(*found, sum, "{what:?}, product {product}, row {row}, column {column}");
    }
}

#[test]
fn products_are_right_at_any_shape_and_width() {
    for kind in [OtKind::SoftSpoken, OtKind::Silent] {
        let mut whats = Vec::new();
        for bits in [1, 2, 7, 31, 64, 65, 128] {
            for shape in [[1, 1, 1], [1, 3, 1], [2, 3, 4], [4, 3, 2], [1, 2, 9], [9, 2, 1], [3, 1, 3]] {
                whats.push((matrices(bits, shape), 3));
            }
        }
        if kind == OtKind::SoftSpoken {
            // Rows of more words than two blocks of a generator, and more words than a chunk, at its end or not.
            whats.extend([
                (matrices(64, [2, 3, 50]), 2),
                (matrices(64, [40, 40, 40]), 2),
                (matrices(128, [2, 1, 2]), 700),
            ]);
        }
        for (&(what, n), both) in whats.iter().zip(dealt_over::<DealtBaseOts>(kind, 1, &whats)) {
            holds(what, n, &both);
        }
    }
}

#[test]
fn a_chunk_is_of_products() {
    let most = [1, 16, 64, 128].map(|bits| matrices(bits, [40, 40, 40]).chunk());
    assert_eq!(most, [26214, 1638, 409, 204]);
    assert_eq!(matrices(128, [1 << 14, 1, 1 << 14]).chunk(), 1);
}

#[test]
fn each_is_taken_once() {
    let what = matrices(32, [2, 3, 1]);
    let mut both = dealt_over::<DealtBaseOts>(OtKind::SoftSpoken, 3, &[(what, 10)]).remove(0);
    let mut all: Vec<u128> = Vec::new();
    for (n, there) in [(4, 4), (100, 6), (1, 0)] {
        let some = both.each_mut().map(|triples| {
            let mut some = MatrixTriples::default();
            assert_eq!(triples.take(what, n, &mut some), there);
            some
        });
        holds(what, there, &some);
        all.extend(some[0].shares()[2]);
    }
    assert!(both.iter().all(MatrixTriples::is_empty) && all.len() == 20);
    all.sort_unstable();
    assert!(all.windows(2).all(|two| two[0] != two[1]), "32 bits of 20 words");
}

/// Every share of either party is drawn, whichever matrix chooses.
#[test]
fn shares_are_drawn() {
    let whats = [(matrices(64, [4, 5, 6]), 30), (matrices(64, [6, 5, 4]), 30)];
    let [one, other] = [4, 5].map(|seed| dealt_over::<Simplest>(OtKind::SoftSpoken, seed, &whats));
    for (one, other) in one.iter().flatten().zip(other.iter().flatten()) {
        for (one, other) in one.shares().into_iter().zip(other.shares()) {
            assert!(one.iter().all(|share| !other.contains(share)), "a share comes twice");
            for bit in 0..64 {
                let ones = one.iter().filter(|share| *share >> bit & 1 == 1).count();
                assert!(ones.abs_diff(one.len() / 2) < 90, "bit {bit} is one in {ones} of {}", one.len());
            }
        }
    }
}

#[test]
fn nothing_is_said_twice() {
    assert_fresh(0, |seed| {
        said(seed, |net, seed| {
            let mut dealer = dealer::<Simplest>(net, OtKind::SoftSpoken, seed);
            dealer.deal_matrices(net, matrices(64, [2, 3, 4]), 3).map(drop)
        })
    });
}

/// What a sender tells is each word of a row under a mask of its own for each OT, cut from the OT's message or
/// made from it: were two masks of a row one, the words' difference would show.
#[test]
fn each_word_of_a_row_is_told_under_a_mask_of_its_own() {
    for (row, count) in [(2, 40), (5, 20)] {
        let what = matrices(64, [1, 1, row]);
        let said = said(
            6 + u128::from(row),
            match row {
                2 => |net, seed| {
                    let mut dealer = dealer::<DealtBaseOts>(net, OtKind::SoftSpoken, seed);
                    dealer.deal_matrices(net, matrices(64, [1, 1, 2]), 40).map(drop)
                },
                _ => |net, seed| {
                    let mut dealer = dealer::<DealtBaseOts>(net, OtKind::SoftSpoken, seed);
                    dealer.deal_matrices(net, matrices(64, [1, 1, 5]), 20).map(drop)
                },
            },
        );
        let bytes = count * what.told() as usize / 8;
        let told: Vec<&Vec<u8>> = said.iter().filter(|message| message.len() == bytes).collect();
        assert_eq!(told.len(), 2, "one message of each party");
        let dealt = dealt_over::<DealtBaseOts>(OtKind::SoftSpoken, 6 + u128::from(row), &[(what, count)]).remove(0);
        for (told, triples) in told.into_iter().zip(&dealt) {
            let (mut reader, [_, rows, _]) = (WordReader::new(told), triples.shares());
            let (mut masks, mut ones) = (Vec::new(), 0);
            for words in rows.chunks(row as usize) {
                for bits in (1..=64).rev() {
                    for word in words {
                        let mask = reader.take(bits).wrapping_sub(*word) & word_mask(bits);
                        ones += mask.count_ones() as usize;
                        masks.extend((bits > 40).then_some(mask));
                    }
                }
            }
            let all = 8 * bytes;
            // Six standard deviations of less than 210,000 bits.
            assert!(ones.abs_diff(all / 2) < 1400, "{ones} of {all} bits of masks are one");
            masks.sort_unstable();
            assert!(masks.windows(2).all(|two| two[0] != two[1]), "a mask comes twice");
        }
    }
}
