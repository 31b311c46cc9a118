//! Calling a program: its inputs are values that are there, its outputs stay shared.

use comity_channel::Channel;
use comity_circuit::{Call, Engine, Observer, Owner, Recipients};
use comity_core::{Bits, Error, Result};
use comity_tinyot::engine::Sharing;
use zeroize::Zeroizing;

use super::Shared;

/// What a party holds of one bit.
pub(super) type Wire = <Sharing<'static, 'static, dyn Channel> as Engine>::Wire;

/// The engine of a call.
pub(super) struct Calling<'v, E> {
    engine: E,
    values: &'v [&'v Shared],
    outputs: Vec<Zeroizing<Vec<Wire>>>,
}

impl<'v, E> Calling<'v, E> {
    pub(super) fn new(engine: E, values: &'v [&'v Shared]) -> Calling<'v, E> {
        Calling { engine, values, outputs: Vec::new() }
    }

    /// What the program gave.
    pub(super) fn outputs(self) -> Vec<Zeroizing<Vec<Wire>>> {
        self.outputs
    }
}

impl<E: Engine<Wire = Wire, Error = Error>> Engine for Calling<'_, E> {
    type Wire = Wire;
    type Error = Error;

    fn input(&mut self, index: usize, _: Owner, _: Option<&Bits>, _: usize, wires: &mut [Wire]) -> Result<()> {
        wires.copy_from_slice(&self.values[index].wires);
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>, memory: &mut [Wire]) -> Result<()> {
        self.engine.call(call, memory)
    }

    fn reveal(&mut self, _: usize, _: Recipients, _: usize, wires: &[Wire]) -> Result<Option<Bits>> {
        self.outputs.push(Zeroizing::new(wires.to_vec()));
        Ok(None)
    }
}

/// Nothing is revealed in a call, so nobody is told.
pub(super) struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}
