//! What both sides do at the poles of a universal circuit: inputs come in, gates are computed, outputs go out.

use comity_core::{Block, Result};
use comity_library::universal::arity::{Arity, Arrival, Places};
use comity_library::universal::{Pole, Shape};
use zeroize::Zeroize;

use super::network::Side;

/// ANDs of a gate of any function.
const GATE_ANDS: u64 = 3;

/// What is done at poles.
pub(super) trait Ends {
    /// The graphs of the lowest level.
    const GRAPHS: usize;
    /// A pole, of its kind the one of this number: of each graph a wire `came`, and one is `given`. Returns the AND
    /// gates that it is in the universal circuit.
    fn pole(&mut self, side: &mut impl Side, pole: (Pole, usize), came: &[Block], given: &mut [Block]) -> Result<u64>;
    /// The labels of the output, at the end.
    fn output(&mut self) -> Vec<Block>;
}

/// The poles of a shape: each of two graphs.
pub(super) struct ByKind {
    x: Vec<Block>,
    y: Vec<Block>,
}

impl ByKind {
    /// With the labels of the input.
    pub(super) fn new(shape: Shape, x: Vec<Block>) -> ByKind {
        ByKind { x, y: vec![Block::ZERO; shape.outputs] }
    }
}

impl Ends for ByKind {
    const GRAPHS: usize = 2;

    fn pole(
        &mut self,
        side: &mut impl Side,
        (kind, number): (Pole, usize),
        came: &[Block],
        given: &mut [Block],
    ) -> Result<u64> {
        match kind {
            Pole::Input => {
                given.fill(self.x[number]);
                Ok(0)
            }
            Pole::Gate => {
                given.fill(side.gate([came[0], came[1]])?);
                Ok(GATE_ANDS)
            }
            Pole::Output => {
                let mut change = [came[0] ^ came[1]];
                side.switches(&mut change)?;
                self.y[number] = came[0] ^ change[0];
                Ok(1)
            }
        }
    }

    fn output(&mut self) -> Vec<Block> {
        core::mem::take(&mut self.y)
    }
}

impl Drop for ByKind {
    fn drop(&mut self) {
        [&mut self.x, &mut self.y].into_iter().for_each(Zeroize::zeroize);
    }
}

/// The places of a circuit of public arities, all of one graph.
pub(super) struct ByPlace<'a> {
    arity: &'a Arity,
    places: &'a Places,
    /// The labels that leave, by their places.
    leaving: Vec<Block>,
    /// The first wire of a gate, until the second one is there.
    first: Block,
    y: Vec<Block>,
}

impl<'a> ByPlace<'a> {
    /// With the labels of the input.
    pub(super) fn new(arity: &'a Arity, places: &'a Places, mut x: Vec<Block>) -> ByPlace<'a> {
        let (leaving, y) = (vec![Block::ZERO; places.len()], vec![Block::ZERO; arity.shape().outputs]);
        let mut ends = ByPlace { arity, places, leaving, first: Block::ZERO, y };
        x.iter().enumerate().for_each(|(wire, label)| ends.leave(wire, *label));
        x.zeroize();
        ends
    }

    /// A wire leaves at all of its places.
    fn leave(&mut self, wire: usize, label: Block) {
        let (first, readers) = (self.places.first[wire] as usize, self.arity.readers()[wire] as usize);
        self.leaving[first..][..readers].fill(label);
    }
}

impl Ends for ByPlace<'_> {
    const GRAPHS: usize = 1;

    fn pole(
        &mut self,
        side: &mut impl Side,
        (_, at): (Pole, usize),
        came: &[Block],
        given: &mut [Block],
    ) -> Result<u64> {
        let mut and_gates = 0;
        match self.places.taken(at) {
            Some(Arrival::First) => self.first = came[0],
            Some(Arrival::Second(number)) => {
                let wire = side.gate([self.first, came[0]])?;
                self.leave(self.arity.shape().inputs + number, wire);
                and_gates = GATE_ANDS;
            }
            Some(Arrival::Output(number)) => self.y[number] = came[0],
            None => {}
        }
        if self.places.is_given(at) {
            given[0] = self.leaving[at];
        }
        Ok(and_gates)
    }

    fn output(&mut self) -> Vec<Block> {
        core::mem::take(&mut self.y)
    }
}

impl Drop for ByPlace<'_> {
    fn drop(&mut self) {
        [&mut self.leaving, &mut self.y].into_iter().for_each(Zeroize::zeroize);
        self.first.zeroize();
    }
}
