//! `Bool`: one secret bit.

use comity_circuit::{Type, Wire};

use super::{Design, Operand, Uint, Value};
use crate::arith;

/// A secret bit of a [`Design`]. `&`, `|`, `^` and `!` work on it, with a `bool` on the right too.
#[derive(Clone, Copy)]
pub struct Bool<'d> {
    design: &'d Design,
    wire: Wire,
}

impl<'d> Bool<'d> {
    pub(super) fn new(design: &'d Design, wire: Wire) -> Bool<'d> {
        Bool { design, wire }
    }

    /// Whether both bits are true or both false. No AND.
    #[track_caller]
    pub fn eq(self, other: impl Operand<Self>) -> Bool<'d> {
        !(self ^ other)
    }

    /// Whether just one of both bits is true. No AND.
    #[track_caller]
    pub fn ne(self, other: impl Operand<Self>) -> Bool<'d> {
        self ^ other
    }

    /// `yes` where the bit is true, else `no`: both have the same type. One AND for each bit.
    ///
    /// # Panics
    /// If their types differ, or they belong to another design.
    #[track_caller]
    pub fn select<V: Value<'d>>(self, yes: V, no: impl Operand<V>) -> V {
        let no = no.like(&yes);
        assert!(yes.ty() == no.ty(), "selected from are {} and {}: make them equal", shown(&yes), shown(&no));
        let (x, y) = (self.design.wires_of(&yes), self.design.wires_of(&no));
        if x.is_empty() {
            return yes;
        }
        let wires = self.design.build(|b| arith::mux(b, self.wire, &x, &y));
        yes.over(&mut wires.into_iter())
    }

    /// The number 1 or 0, of `bits` bits. No gates.
    #[track_caller]
    pub fn to_uint(self, bits: usize) -> Uint<'d> {
        let mut wires = vec![Wire::ZERO; bits.max(1)];
        wires[0] = self.wire;
        self.design.number(&wires)
    }

    /// The bit's wire.
    pub fn wire(self) -> Wire {
        self.wire
    }

    /// Builds one gate from this bit and another.
    #[track_caller]
    pub(super) fn gate(self, other: Bool<'d>, gate: fn(&mut comity_circuit::Builder, Wire, Wire) -> Wire) -> Bool<'d> {
        self.design.same(other.design);
        Bool::new(self.design, self.design.build(|b| gate(b, self.wire, other.wire)))
    }

    /// A constant beside this bit.
    pub(super) fn constant(self, value: bool) -> Bool<'d> {
        self.design.bool(value)
    }
}

impl<'d> Value<'d> for Bool<'d> {
    fn ty(&self) -> Type {
        Type::Bool
    }

    fn design(&self) -> Option<&'d Design> {
        Some(self.design)
    }

    fn collect(&self, wires: &mut Vec<Wire>) {
        wires.push(self.wire);
    }

    fn over(&self, wires: &mut dyn Iterator<Item = Wire>) -> Self {
        Bool::new(self.design, wires.next().expect("a wire for each bit"))
    }
}

fn shown<'d>(value: &impl Value<'d>) -> String {
    value.ty().to_string()
}
