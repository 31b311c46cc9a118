//! A reactive program: an auction in rounds, in which what is asked next depends on what was learned before.
//!
//! Two bidders and no auctioneer. In each round both put in a bid, and both learn the higher of the two, but
//! not whose it is. Who does not want to go higher repeats the last bid. When a round brings nothing new,
//! both learn who has won, and the winner alone what there is to pay: the loser's last bid and one more. All
//! bids of all rounds stay secret but those that were the highest.
//!
//! ```text
//! cargo run --release --example rounds
//! ```

#![allow(clippy::print_stdout, reason = "it is a program for people")]

use comity::interactive::{Interactive, Shared};
use comity::value::Type;
use comity::{Bits, Channel, Error, Program, Recipients, Session, compile_expression, memory};

/// What one bidder learns.
#[derive(Debug, PartialEq, Eq)]
struct Learned {
    /// The highest bid of each round.
    rounds: Vec<u32>,
    winner: u32,
    /// What there is to pay, if this bidder has won.
    price: Option<u32>,
}

/// An expression over both bids.
fn of_bids(text: &str) -> Program {
    compile_expression("auction", &[("a", &Type::Uint(32)), ("b", &Type::Uint(32))], text).expect("a right expression")
}

/// One bidder, who goes `step` above the highest bid as long as that is not above `limit`.
fn bid(party: u16, limit: u32, step: u32, peer: impl Channel) -> Result<Learned, Error> {
    let highest = of_bids("max(a, b)");
    // A draw is party 0's.
    let winner = of_bids("b > a");
    let price = of_bids("min(a, b) + 1");
    let mut session = Session::new(party).over(peer).interactive(&mut ())?;
    let reveal = |session: &mut Interactive<'_>, program: &Program, bids: &[Shared; 2], to: Recipients| {
        let value = session.call(program, &[&bids[0], &bids[1]])?;
        session.reveal(to, &value[0]).map(|bits| bits.map(|bits| number(&bits)))
    };
    let (mut own, mut rounds) = (step.min(limit), Vec::new());
    loop {
        let bids = [put(&mut session, 0, own)?, put(&mut session, 1, own)?];
        let high = reveal(&mut session, &highest, &bids, Recipients::All)?.expect("it is for all");
        if rounds.last() == Some(&high) {
            let winner = reveal(&mut session, &winner, &bids, Recipients::All)?.expect("it is for all");
            let price = reveal(&mut session, &price, &bids, Recipients::only(winner as u16))?;
            return Ok(Learned { rounds, winner, price });
        }
        rounds.push(high);
        let next = high.saturating_add(step);
        if own < high && next <= limit {
            own = next;
        }
    }
}

/// The bid of `owner`, which alone gives it.
fn put(session: &mut Interactive<'_>, owner: u16, own: u32) -> Result<Shared, Error> {
    let own = (session.party() == owner).then(|| Bits::from_bytes(&own.to_le_bytes(), 32));
    session.input(owner, 32, own.as_ref())
}

/// A number of up to 32 bits.
fn number(bits: &Bits) -> u32 {
    bits.words()[0] as u32
}

/// Both bidders: each one's limit and step.
fn auction(zero: (u32, u32), one: (u32, u32)) -> Result<[Learned; 2], Error> {
    let (to_one, to_zero) = memory::pair();
    std::thread::scope(|scope| {
        let one = scope.spawn(move || bid(1, one.0, one.1, to_zero));
        let zero = bid(0, zero.0, zero.1, to_one)?;
        Ok([zero, one.join().expect("the bidder's thread does not panic")?])
    })
}

fn main() -> Result<(), Error> {
    for (party, learned) in auction((500, 100), (420, 70))?.into_iter().enumerate() {
        let Learned { rounds, winner, price } = learned;
        let price =
            price.map_or("what the other pays stays secret".to_owned(), |price| format!("the price is {price}"));
        println!("bidder {party} saw {rounds:?}; bidder {winner} has won; {price}");
    }
    Ok(())
}

#[test]
fn the_higher_limit_wins_and_pays_what_the_other_bid() {
    let [zero, one] = auction((500, 100), (420, 70)).unwrap();
    // 100 by bidder 0, 170 by 1, 270 by 0, 340 by 1, 440 by 0: too much for bidder 1, who stays at 340.
    let rounds = vec![100, 170, 270, 340, 440];
    assert_eq!(zero, Learned { rounds: rounds.clone(), winner: 0, price: Some(341) });
    assert_eq!(one, Learned { rounds, winner: 0, price: None });
    let [zero, one] = auction((50, 100), (60, 100)).unwrap();
    assert_eq!((zero.price, one.price, one.winner, one.rounds), (None, Some(51), 1, vec![60]));
}
