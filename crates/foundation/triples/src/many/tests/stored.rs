//! What is stored comes out as it was made, and once.

use comity_testing::Kept;

use super::*;
use crate::dealers::{Ands, DealerKind};
use crate::many::OfTwo;
use crate::many::stored::{RowAmounts, RowMaker, RowsFromShelf};

const AMOUNTS: RowAmounts = RowAmounts { parties: 3, triples: 100, masks: 50, shares: 40 };

/// Batches of one party, as bytes.
fn batches(net: &mut Mesh<'_>, amounts: &RowAmounts, count: usize) -> Vec<Vec<u8>> {
    let (here, budget) = (here(net.me(), amounts.parties, SESSION), Budget::known(300, 8, 1, 4000).unwrap());
    let dealer = Many::new(net, here, budget, &mut rng(5, here.me)).unwrap();
    let mut maker = RowMaker::new(Box::new(dealer));
    let batch = |_| {
        let mut bytes = Vec::new();
        maker.make(net, amounts).unwrap().write(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, amounts.bytes());
        bytes
    };
    (0..count).map(batch).collect()
}

/// What is dealt from a shelf of two batches is what it has to be, and comes once: what all of it is, and
/// what is left then.
fn from_a_shelf<const N: usize>() {
    let amounts = RowAmounts { parties: N as u16, ..AMOUNTS };
    let views = Net::<N>::run(|net| {
        let me = net.me();
        let mut kept = Kept::new("shares", batches(net, &amounts, 3));
        let mut dealer = RowsFromShelf::new(&mut kept, me, amounts).unwrap();
        let key = dealer.key().clone();
        // More than a batch has, and what is left.
        let triples = vec![dealer.deal(net, 101).unwrap(), dealer.deal(net, 1).unwrap()];
        assert_eq!([triples[0].len(), triples[1].len()], [200, 100]);
        assert!(dealer.deal(net, 1).is_err(), "triples come once");
        let shares = dealer.shares(net, 100).unwrap();
        let masks = dealer.masks(net, 50).unwrap();
        let more = [dealer.masks(net, 40).unwrap(), dealer.masks(net, 60).unwrap()];
        let bits = |masks: &[RowShares]| own(&masks[usize::from(me.0)]);
        assert!((0..2).all(|i| bits(&more[i]).slice(0, 40) != bits(&masks).slice(0, 40)), "masks come once");
        assert!(dealer.masks(net, 1).is_err() && dealer.shares(net, 21).is_err());
        drop(dealer);
        assert!(kept.batches.is_empty());
        (key, triples, shares, masks)
    });
    holds(&views);
}

#[test]
fn every_bit_comes_out_once_and_as_it_was_made() {
    from_a_shelf::<2>();
    from_a_shelf::<3>();
    from_a_shelf::<5>();
}

#[test]
fn shares_of_two_are_rows_too() {
    let views = Net::<2>::run(|net| {
        let here = here(net.me(), 2, SESSION);
        let ands = Ands::Exactly(300);
        let rng = &mut rng(4, here.me);
        let of_two = crate::dealer(net.pair().unwrap().1, here, DealerKind::Fast, ands, rng).unwrap();
        deal(net, &mut OfTwo::new(of_two), 300).unwrap()
    });
    assert!(views[0].1.iter().map(RowTriples::len).sum::<usize>() >= 300);
    holds(&views);
}
