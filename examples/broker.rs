//! A program in comity's language, run from Rust: two brokers find the price at which most is traded.
//!
//! The same program as in `orderbook/`. Each broker is a thread here, and reads its book from a CSV file.
//!
//! ```text
//! cargo run --release --example broker
//! ```

#![allow(clippy::print_stdout, reason = "it is a program for people")]

use std::error::Error;

use comity::{Channel, Program, Session, compile, memory, value};

const SOURCE: &str = include_str!("orderbook/orderbook.cty");
const EAST: &str = include_str!("orderbook/east.csv");
const WEST: &str = include_str!("orderbook/west.csv");

/// What one broker learns, each output with its name.
fn broker(
    party: u16,
    program: &Program,
    book: &str,
    peer: impl Channel,
) -> Result<Vec<String>, Box<dyn Error + Send + Sync>> {
    // A text is read, and a result shown, as the type in the program says.
    let index = usize::from(party);
    let input = &program.inputs()[index];
    let book = value::read(&input.name, &input.ty, book)?;
    let report = Session::new(party).over(peer).run(program, [(index, book)])?;
    let shown = report.outputs.iter().map(|(i, bits)| {
        let output = &program.outputs()[*i];
        format!("{}: {}", output.name, value::show(&output.ty, bits))
    });
    Ok(shown.collect())
}

/// What both brokers learn.
fn trade(east: &str, west: &str) -> Result<[Vec<String>; 2], Box<dyn Error + Send + Sync>> {
    let program = &compile("orderbook.cty", SOURCE)?;
    let (to_west, to_east) = memory::pair();
    std::thread::scope(|scope| {
        let west = scope.spawn(move || broker(1, program, west, to_east));
        let east = broker(0, program, east, to_west)?;
        Ok([east, west.join().expect("the west's thread does not panic")?])
    })
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let [east, west] = trade(EAST, WEST)?;
    println!("the east learns {}", east.join(", "));
    println!("the west learns {}", west.join(", "));
    Ok(())
}

#[test]
fn most_is_traded_at_the_price_that_both_learn() {
    let [east, west] = trade(EAST, WEST).unwrap();
    assert_eq!(east, ["price: 107", "pieces: 112530"]);
    assert_eq!(west, east);
}
