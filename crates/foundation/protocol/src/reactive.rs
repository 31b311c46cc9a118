//! `Reactive`: a computation by hand, whose values outlive the programs that are called on them.

use std::any::Any;

use comity_circuit::{Program, Recipients};
use comity_core::{Bits, PartyId, Result};

use crate::party::Party;

/// One party's share of a value: only the engine that made it can open it.
pub struct Shares {
    /// The engine's own.
    pub held: Box<dyn Any + Send + Sync>,
    /// The number of bits of the value.
    pub bits: usize,
}

/// Inputs, calls and outputs in any order. All parties make the same calls in the same order.
pub trait Reactive {
    /// Shares a value of `bits` bits. The party `owner` gives it, the others give `None`.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the value is missing, has another length, or is another
    /// party's; those of the protocol.
    fn input(&mut self, me: &mut Party<'_, '_>, owner: PartyId, bits: usize, value: Option<&Bits>) -> Result<Shares>;

    /// A random value that nobody knows.
    ///
    /// # Errors
    /// Errors of the protocol.
    fn random(&mut self, me: &mut Party<'_, '_>, bits: usize) -> Result<Shares>;

    /// The outputs that a program computes of these values, not revealed. The owners and the recipients that
    /// the program names do not matter.
    ///
    /// # Errors
    /// Errors of the protocol.
    fn call(&mut self, me: &mut Party<'_, '_>, program: &Program, values: &[&Shares]) -> Result<Vec<Shares>>;

    /// Reveals a value, after a check of everything before it. The value is there if this party is to learn it.
    ///
    /// # Errors
    /// Errors of the protocol: then it is at its end.
    fn reveal(&mut self, me: &mut Party<'_, '_>, to: Recipients, value: &Shares) -> Result<Option<Bits>>;
}
