//! Triples and square pairs of words: right at any width, drawn, and hidden by OTs that are.

use comity_channel::{Channel, Mesh};
use comity_core::{Backend, Block, PartyId, Prg, Result};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_share::ring::{RingDealer, RingTriples, WordProduct, WordReader, word_mask};
use comity_share::triples::OtKind;
use comity_testing::Net;
use comity_testing::laws::{assert_fresh, said_by_two};
use comity_testing::ot::DealtBaseOts;

use super::SESSION;

pub(super) fn dealer<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    net: &mut Mesh<'_>,
    kind: OtKind,
    seed: u128,
) -> RingDealer {
    let (session, backend) = (SESSION, Backend::detect());
    let mut rng = Prg::new(backend, Block::from_u128(seed << 16 | u128::from(net.me().0)));
    RingDealer::setup::<B>(net, session, backend, kind, &mut rng).unwrap()
}

/// What both parties have of `n` for products of these kinds, over these base OTs.
fn dealt_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    kind: OtKind,
    seed: u128,
    whats: &[(WordProduct, usize)],
) -> Vec<[RingTriples; 2]> {
    let parties = Net::<2>::run(|net| {
        let mut dealer = dealer::<B>(net, kind, seed);
        whats.iter().map(|&(what, n)| dealer.deal(net, what, n).unwrap()).collect::<Vec<_>>()
    });
    let [zero, one] = parties;
    zero.into_iter().zip(one).map(|(zero, one)| [zero, one]).collect()
}

/// What [`dealt_over`] gives over dealt base OTs.
fn dealt(kind: OtKind, seed: u128, whats: &[(WordProduct, usize)]) -> Vec<[RingTriples; 2]> {
    dealt_over::<DealtBaseOts>(kind, seed, whats)
}

fn holds(what: WordProduct, n: usize, [zero, one]: &[RingTriples; 2]) {
    assert!(zero.len() >= n && zero.len() == one.len(), "{what:?}: {} of {n}", zero.len());
    let ([a0, b0, c0], [a1, b1, c1], mask) = (zero.shares(), one.shares(), word_mask(what.bits));
    for i in 0..zero.len() {
        let sum = |x: &[u128], y: &[u128]| x[i].wrapping_add(y[i]) & mask;
        let (a, c) = (sum(a0, a1), sum(c0, c1));
        let b = if what.square { a } else { sum(b0, b1) };
        assert_eq!(a.wrapping_mul(b) & mask, c, "{what:?}, number {i} of {n}");
        assert!([a0, b0, c0, a1, b1, c1].iter().filter_map(|shares| shares.get(i)).all(|&share| share & !mask == 0));
    }
}

#[test]
fn products_are_right_at_any_width() {
    for kind in [OtKind::SoftSpoken, OtKind::Iknp] {
        let mut whats = Vec::new();
        for bits in [1, 2, 3, 4, 5, 8, 31, 32, 33, 63, 64, 65, 100, 127, 128] {
            whats.extend([(WordProduct { bits, square: false }, 33), (WordProduct { bits, square: true }, 34)]);
        }
        // More than a chunk, and not a whole one.
        whats.push((WordProduct { bits: 64, square: false }, 2 * 2048 + 5));
        whats.push((WordProduct { bits: 128, square: true }, 2 * 1024 + 1));
        for (&(what, n), both) in whats.iter().zip(dealt(kind, 1, &whats)) {
            holds(what, n, &both);
        }
    }
    let whats = [(WordProduct { bits: 40, square: false }, 100), (WordProduct { bits: 7, square: true }, 51)];
    for (&(what, n), both) in whats.iter().zip(dealt(OtKind::Silent, 2, &whats)) {
        holds(what, n, &both);
    }
}

#[test]
fn each_is_taken_once() {
    let what = WordProduct { bits: 16, square: false };
    let mut both = dealt(OtKind::SoftSpoken, 3, &[(what, 10)]).remove(0);
    let mut all: Vec<u128> = Vec::new();
    for n in [4, 100] {
        let some = both.each_mut().map(|triples| {
            let mut some = RingTriples::default();
            triples.take(n, &mut some);
            some
        });
        holds(what, n.min(6), &some);
        all.extend(some[0].shares()[2]);
    }
    assert!(both.iter().all(RingTriples::is_empty) && all.len() == 10);
    all.sort_unstable();
    assert!(all.windows(2).all(|two| two[0] != two[1]), "16 bits of ten triples");
}

/// Every share of either party is drawn: two dealers with other seeds have no share in common, each bit of
/// one is one half of the time.
#[test]
fn shares_are_drawn() {
    let whats = [(WordProduct { bits: 64, square: false }, 600), (WordProduct { bits: 64, square: true }, 600)];
    let [one, other] = [4, 5].map(|seed| dealt_over::<Simplest>(OtKind::SoftSpoken, seed, &whats));
    for (one, other) in one.iter().flatten().zip(other.iter().flatten()) {
        for (one, other) in one.shares().into_iter().zip(other.shares()) {
            assert!(one.iter().all(|share| !other.contains(share)), "a share comes twice");
            for bit in (0..64).filter(|_| !one.is_empty()) {
                let ones = one.iter().filter(|share| *share >> bit & 1 == 1).count();
                assert!(ones.abs_diff(one.len() / 2) < 80, "bit {bit} is one in {ones} of {}", one.len());
            }
        }
    }
}

pub(super) fn said(seed: u128, deal: fn(&mut Mesh<'_>, u128) -> Result<()>) -> Vec<Vec<u8>> {
    let party = |me: u16| move |ch: &mut dyn Channel| deal(&mut Mesh::of_two(PartyId(me), ch), seed);
    said_by_two(party(0), party(1))
}

#[test]
fn nothing_is_said_twice() {
    assert_fresh(0, |seed| {
        said(seed, |net, seed| {
            let mut dealer = dealer::<Simplest>(net, OtKind::SoftSpoken, seed);
            dealer.deal(net, WordProduct { bits: 64, square: false }, 20).map(drop)
        })
    });
}

/// What a sender tells is its word under a mask of its own for each OT: constant masks would tell the word,
/// or how words differ.
#[test]
fn a_word_is_told_under_masks() {
    const MANY: usize = 40;
    let what = WordProduct { bits: 64, square: false };
    let said = said(6, |net, seed| {
        let mut dealer = dealer::<DealtBaseOts>(net, OtKind::SoftSpoken, seed);
        dealer.deal(net, WordProduct { bits: 64, square: false }, MANY).map(drop)
    });
    let bytes = MANY * what.told() as usize / 8;
    let told: Vec<&Vec<u8>> = said.iter().filter(|message| message.len() == bytes).collect();
    assert_eq!(told.len(), 2, "one message of each party");
    let dealt = dealt(OtKind::SoftSpoken, 6, &[(what, MANY)]).remove(0);
    for (told, triples) in told.into_iter().zip(&dealt) {
        let (mut reader, [a, ..]) = (WordReader::new(told), triples.shares());
        let (mut masks, mut ones) = (Vec::new(), 0);
        // One of 64 bits, two that have 64 bits together, and one of 32.
        let widths = [64].into_iter().chain((1..32).flat_map(|i| [64 - i, i])).chain([32]);
        for (&a, bits) in a.iter().flat_map(|a| widths.clone().map(move |bits| (a, bits))) {
            let mask = reader.take(bits).wrapping_sub(a) & word_mask(bits);
            ones += mask.count_ones() as usize;
            masks.extend((bits > 40).then_some(mask));
        }
        let all = MANY * 64 * 65 / 2;
        // Six standard deviations.
        assert!(ones.abs_diff(all / 2) < 900, "{ones} of {all} bits of masks are one");
        masks.sort_unstable();
        assert!(masks.windows(2).all(|two| two[0] != two[1]), "a mask comes twice");
    }
}
