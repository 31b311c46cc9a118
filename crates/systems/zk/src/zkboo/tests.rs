//! ZKBoo against a textbook of it, cheats, and a simulator.

mod cheats;
pub(crate) mod simulator;
mod textbook;

use comity_circuit::{Builder, Program};
use comity_core::Bits;

use crate::statement::Statement;

/// The statement that two secret bits are both one.
fn both() -> Statement {
    of_two(1)
}

/// The statement that the product of two secret bits is this one.
pub(crate) fn of_two(product: u8) -> Statement {
    let mut b = Builder::new();
    let x = b.input("x", 2);
    let both = b.and(x[0], x[1]);
    let neither = b.not(both);
    b.output("both", &[both, neither]);
    let program = Program::from_circuit(b.finish()).unwrap();
    Statement::new(&program, &[None], &[Some(Bits::from_bytes(&[product | (1 - product) << 1], 2))], b"").unwrap()
}

/// Input values of these two bits.
pub(crate) fn two(bits: u8) -> Vec<Option<Bits>> {
    vec![Some(Bits::from_bytes(&[bits], 2))]
}
