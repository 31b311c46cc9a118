//! Two millionaires want to know who is richer, and neither says how rich.
//!
//! Both parties are threads of this program, connected in memory; `peer.rs` has them on two machines.
//!
//! ```text
//! cargo run --release --example millionaires
//! ```

#![allow(clippy::print_stdout, reason = "it is a program for people")]

use comity::{Bits, Error, Program, Session, library, memory};

/// Whether Alice has more than Bob, as each of them learns it.
fn richer(alice: u64, bob: u64) -> Result<[bool; 2], Error> {
    // Value 0 belongs to party 0, value 1 to party 1, and both learn the output.
    let program = Program::from_circuit(library::find("gt64").expect("a built-in")).expect("two parties");
    let (to_bob, to_alice) = memory::pair();
    std::thread::scope(|scope| {
        let program = &program;
        let bob = scope.spawn(move || Session::new(1).over(to_alice).run(program, [(1, number(bob))]));
        let alice = Session::new(0).over(to_bob).run(program, [(0, number(alice))])?;
        let bob = bob.join().expect("Bob's thread does not panic")?;
        Ok([alice, bob].map(|report| report.outputs[0].1.get(0)))
    })
}

/// A number as 64 bits, least significant first.
fn number(value: u64) -> Bits {
    Bits::from_bytes(&value.to_le_bytes(), 64)
}

fn main() -> Result<(), Error> {
    let [alice, bob] = richer(1_500_000, 1_200_000)?;
    println!("Alice learned that she is {}richer.", if alice { "" } else { "not " });
    println!("Bob learned that Alice is {}richer.", if bob { "" } else { "not " });
    Ok(())
}

#[test]
fn the_richer_one_is_found() {
    assert_eq!(richer(2, 1).unwrap(), [true, true]);
    assert_eq!(richer(1, 1).unwrap(), [false, false]);
    assert_eq!(richer(1, u64::MAX).unwrap(), [false, false]);
}
