//! A table of programs.

use super::gives;

#[test]
fn the_auction() {
    let source = "
        // Second-price auction.
        parties seller, alice, bob;
        const BIDS = 4;
        struct Bid { price: u32, item: u8 }
        fn better(a: Bid, b: Bid) -> Bid { if a.price > b.price { a } else { b } }
        fn main(reserve: u32 from seller, bids: [Bid; BIDS] from alice, limit: i17 from bob)
            -> (winner: u8 to all, price: u32 to seller)
        {
            let mut best = Bid { price: reserve, item: 0 };
            for i in 0..BIDS {
                if bids[i].price > best.price { best = bids[i]; }
            }
            (best.item, best.price)
        }";
    gives(source, &[5, 3, 1, 9, 2, 7, 3, 9, 4, -3], &[2, 9]);
    gives(source, &[50, 3, 1, 9, 2, 7, 3, 9, 4, -3], &[0, 50]);
}
