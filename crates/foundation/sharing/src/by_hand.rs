//! A computation by hand on shares.

use std::any::Any;

use comity_circuit::{Call, Engine, Place, Program, Put, Recipients, Shown};
use comity_core::{Bits, Error, PartyId, Result};
use comity_protocol::{Party, Reactive, Shares};

use crate::engine::{SharedEngine, Sharing};
use crate::rows::WireRows;

/// A computation that outlives its steps: it lends its state to a sharing, together with the links of a step.
pub trait Lasting {
    /// A party's shares of a value.
    type Rows: WireRows + Send + Sync + 'static;
    /// The sharing of a step.
    type Sharing<'a, 'n>: Sharing<Rows = Self::Rows>
    where
        Self: 'a,
        'n: 'a;
    /// The least number of AND gates to make material for when it has run out: small batches cost more for
    /// each gate.
    const AT_LEAST: u64;

    /// The sharing of a step.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if it is for two parties, and there are more.
    fn sharing<'a, 'n: 'a>(&'a mut self, me: &'a mut Party<'_, 'n>) -> Result<Self::Sharing<'a, 'n>>;

    /// Announces that `ands` AND gates will follow.
    fn plan(&mut self, ands: u64);
}

/// Inputs, calls and outputs in any order.
pub struct ByHand<L>(L);

impl<L: Lasting> ByHand<L> {
    /// A session by hand on this computation.
    pub fn new(lasting: L) -> ByHand<L> {
        ByHand(lasting)
    }

    /// Has a new value of a number of bits made.
    fn made(
        &mut self,
        me: &mut Party<'_, '_>,
        bits: usize,
        make: impl FnOnce(&mut L::Sharing<'_, '_>, &mut L::Rows) -> Result<()>,
    ) -> Result<Shares> {
        let mut sharing = self.0.sharing(me)?;
        let mut held = sharing.rows();
        held.shape(bits, 1)?;
        make(&mut sharing, &mut held)?;
        Ok(shares(held, bits))
    }
}

fn held<R: 'static>(shares: &Shares) -> Result<&R> {
    let held: &dyn Any = &*shares.held;
    held.downcast_ref().ok_or_else(|| Error::invalid_input("the value belongs to a session of another protocol"))
}

fn shares<R: Send + Sync + 'static>(held: R, bits: usize) -> Shares {
    Shares { bits, held: Box::new(held) }
}

impl<L: Lasting> Reactive for ByHand<L> {
    fn input(&mut self, me: &mut Party<'_, '_>, owner: PartyId, bits: usize, value: Option<&Bits>) -> Result<Shares> {
        let put = Put { index: 0, owner: owner.into(), start: 0, bits };
        self.made(me, bits, |sharing, held| sharing.input(put, value, held))
    }

    fn random(&mut self, me: &mut Party<'_, '_>, bits: usize) -> Result<Shares> {
        self.made(me, bits, |sharing, held| sharing.random(held, 0..bits))
    }

    fn call(&mut self, me: &mut Party<'_, '_>, program: &Program, values: &[&Shares]) -> Result<Vec<Shares>> {
        let values: Vec<&L::Rows> = values.iter().map(|value| held(value)).collect::<Result<_>>()?;
        self.0.plan(program.and_gates().max(L::AT_LEAST));
        let engine = SharedEngine::new(self.0.sharing(me)?);
        let mut calling = Calling { engine, values: &values, outputs: Vec::new() };
        comity_circuit::run(program, &mut calling, &vec![None; values.len()], &mut ())?;
        Ok(calling.outputs)
    }

    fn reveal(&mut self, me: &mut Party<'_, '_>, to: Recipients, value: &Shares) -> Result<Option<Bits>> {
        let shown = Shown { index: 0, to, start: 0, bits: value.bits };
        self.0.sharing(me)?.reveal(shown, held(value)?)
    }
}

/// The engine of a call: inputs are values that are there, outputs stay shared.
struct Calling<'v, S: Sharing> {
    engine: SharedEngine<S>,
    values: &'v [&'v S::Rows],
    outputs: Vec<Shares>,
}

impl<S: Sharing<Rows: Send + Sync + 'static>> Engine for Calling<'_, S> {
    type Error = Error;
    const SHARES: bool = S::SHARES;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.engine.begin(program)
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<()> {
        let (_, memory) = self.engine.parts();
        for (bit, wire) in put.wires().enumerate() {
            memory.load(wire, self.values[put.index], alone(bit), 0);
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.engine.call(call)
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        let (sharing, memory) = self.engine.parts();
        let mut held = sharing.rows();
        held.shape(shown.bits, 1)?;
        for (bit, wire) in shown.wires().enumerate() {
            held.load(bit, memory, alone(wire), 0);
        }
        self.outputs.push(shares(held, shown.bits));
        Ok(None)
    }
}

/// One wire.
fn alone(wire: usize) -> Place {
    Place { start: wire, stride: 0 }
}
