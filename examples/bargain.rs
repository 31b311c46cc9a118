//! A program of one's own: a seller and a buyer see whether a deal is possible, and at which price.
//!
//! The seller has a lowest price, the buyer a highest one. If they overlap, both learn the price in the middle; if not,
//! both learn 0, and neither learns how far apart they were.
//!
//! ```text
//! cargo run --release --example bargain
//! ```

#![allow(clippy::print_stdout, reason = "it is a program for people")]

use comity::typed::{Design, U};
use comity::{Bits, Error, Program, Recipients, Session, memory};

/// What is computed: numbers, which become AND, XOR and NOT gates.
fn bargain() -> Program {
    let d = Design::new("bargain");
    let lowest = d.input("lowest", 0, U(32));
    let highest = d.input("highest", 1, U(32));
    // One bit more, so that the sum is not cut off.
    let middle = (lowest.widen(33) + highest.widen(33)) >> 1;
    let price = highest.ge(lowest).select(middle.truncate(32), 0);
    d.output("price", Recipients::All, price);
    d.finish().expect("two parties")
}

/// The price that both learn.
fn price(lowest: u32, highest: u32) -> Result<u32, Error> {
    let program = bargain();
    let (to_buyer, to_seller) = memory::pair();
    std::thread::scope(|scope| {
        let program = &program;
        let buyer = scope.spawn(move || Session::new(1).over(to_seller).run(program, [(1, number(highest))]));
        let seller = Session::new(0).over(to_buyer).run(program, [(0, number(lowest))])?;
        let buyer = buyer.join().expect("the buyer's thread does not panic")?;
        assert_eq!(seller.outputs, buyer.outputs);
        Ok(seller.outputs[0].1.words()[0] as u32)
    })
}

fn number(value: u32) -> Bits {
    Bits::from_bytes(&value.to_le_bytes(), 32)
}

fn main() -> Result<(), Error> {
    println!("AND gates: {}", bargain().and_gates());
    println!("at least 900, at most 1,000: the price is {}", price(900, 1000)?);
    println!("at least 900, at most 800: the price is {}", price(900, 800)?);
    Ok(())
}

#[test]
fn the_price_is_in_the_middle_or_there_is_none() {
    for (lowest, highest, middle) in [(900, 1000, 950), (7, 7, 7), (u32::MAX - 1, u32::MAX, u32::MAX - 1), (8, 7, 0)] {
        assert_eq!(price(lowest, highest).unwrap(), middle, "{lowest}, {highest}");
    }
}
