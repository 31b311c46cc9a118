//! Values, and how they are taken apart.

use std::rc::Rc;

use super::affine::Affine;
use super::public::Ranged;
use super::segment::{Bit, Cell};
use super::{Failure, Lower};
use crate::diagnostic::Span;
use crate::types::Ty;

/// A variable's place in the memory, which changes when the variable does.
pub(super) type HomeId = u32;

/// A value. Its type is known where it is used.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A public whole number.
    Public(Rc<Affine>),
    /// A public whole number that is not linear in the turns.
    Ranged(Rc<Ranged>),
    /// A value without parts, the least significant bit first.
    Bits(Rc<[Bit]>),
    /// The parts of an array, tuple or struct.
    Parts(Rc<Vec<Value>>),
    /// An array of equal elements.
    Fill(Rc<Value>),
    /// A value in the memory, its parts one after another.
    Stored(Cell, Option<HomeId>),
}

/// Values of more bits are not taken apart to be copied.
pub(super) const LARGE: u64 = 1 << 15;

impl Value {
    pub(super) fn number(value: i128) -> Value {
        Value::Public(Rc::new(Affine::constant(value)))
    }

    pub(super) fn bool(value: bool) -> Value {
        Value::Bits(Rc::new([Bit::Constant(value)]))
    }

    /// Whether two values are the same thing, without looking deep.
    pub(super) fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Public(a), Value::Public(b)) => a == b,
            (Value::Ranged(a), Value::Ranged(b)) => Rc::ptr_eq(a, b),
            (Value::Bits(a), Value::Bits(b)) => Rc::ptr_eq(a, b) || a == b,
            (Value::Parts(a), Value::Parts(b)) => Rc::ptr_eq(a, b),
            (Value::Fill(a), Value::Fill(b)) => a.same(b),
            (Value::Stored(a, x), Value::Stored(b, y)) => a == b && x == y,
            _ => false,
        }
    }
}

impl Lower<'_> {
    /// Part `i` of a value.
    pub(super) fn part(&self, value: &Value, ty: &Ty, i: u64) -> Value {
        match value {
            Value::Parts(parts) => parts[i as usize].clone(),
            Value::Fill(element) => (**element).clone(),
            Value::Stored(cell, home) => Value::Stored(cell.at(ty.part(i).1), *home),
            other => other.clone(),
        }
    }

    /// The bits of a value without parts.
    pub(super) fn leaf(&mut self, value: &Value, ty: &Ty, at: Span) -> Result<Rc<[Bit]>, Failure> {
        match value {
            Value::Bits(bits) => Ok(bits.clone()),
            Value::Public(number) => self.materialize(number, ty, at),
            Value::Ranged(number) => self.widened(number, ty, at),
            Value::Stored(cell, None) => Ok((0..ty.bits()).map(|i| Bit::Cell(cell.at(i))).collect()),
            Value::Stored(cell, Some(home)) => self.recall(*home, *cell, ty.bits(), at),
            Value::Parts(_) | Value::Fill(_) => Err(Failure::internal(at)),
        }
    }

    /// All bits of a value, part after part.
    pub(super) fn flatten(&mut self, value: &Value, ty: &Ty, at: Span) -> Result<Vec<Bit>, Failure> {
        let mut bits = Vec::new();
        self.flatten_into(value, ty, at, &mut bits)?;
        Ok(bits)
    }

    fn flatten_into(&mut self, value: &Value, ty: &Ty, at: Span, bits: &mut Vec<Bit>) -> Result<(), Failure> {
        if ty.is_leaf() {
            bits.extend_from_slice(&self.leaf(value, ty, at)?);
            return Ok(());
        }
        self.spend(ty.parts(), at)?;
        if let Value::Stored(cell, None) = value {
            bits.extend((0..ty.bits()).map(|i| Bit::Cell(cell.at(i))));
            return Ok(());
        }
        for i in 0..ty.parts() {
            self.flatten_into(&self.part(value, ty, i), ty.part(i).0, at, bits)?;
        }
        Ok(())
    }

    /// The value of these bits, part after part.
    pub(super) fn unflatten(&self, ty: &Ty, bits: &[Bit]) -> Value {
        if ty.is_leaf() {
            return Value::Bits(bits.into());
        }
        let part = |i: u64| {
            let (ty, start) = ty.part(i);
            self.unflatten(ty, &bits[start as usize..(start + ty.bits()) as usize])
        };
        Value::Parts(Rc::new((0..ty.parts()).map(part).collect()))
    }

    /// The value as it is now, however the variables that it comes from change.
    pub(super) fn snapshot(&mut self, value: &Value, ty: &Ty, at: Span) -> Result<Value, Failure> {
        match value {
            Value::Stored(_, Some(_)) if ty.is_leaf() => Ok(Value::Bits(self.leaf(value, ty, at)?)),
            Value::Stored(..) if ty.bits() == 0 => Ok(self.unflatten(ty, &[])),
            Value::Stored(cell, Some(_)) if ty.bits() > LARGE => {
                self.flush(at)?;
                let to = self.allocate(ty.bits(), at)?;
                self.copy(*cell, to, ty.bits());
                Ok(Value::Stored(to, None))
            }
            Value::Stored(_, Some(_)) => {
                self.spend(ty.parts(), at)?;
                let mut parts = Vec::new();
                for i in 0..ty.parts() {
                    parts.push(self.snapshot(&self.part(value, ty, i), ty.part(i).0, at)?);
                }
                Ok(Value::Parts(Rc::new(parts)))
            }
            Value::Parts(parts) if parts.iter().any(holds_home) => {
                let mut copies = Vec::with_capacity(parts.len());
                for (i, part) in (0..).zip(parts.iter()) {
                    copies.push(self.snapshot(part, ty.part(i).0, at)?);
                }
                Ok(Value::Parts(Rc::new(copies)))
            }
            Value::Fill(element) => Ok(Value::Fill(Rc::new(self.snapshot(element, ty.part(0).0, at)?))),
            other => Ok(other.clone()),
        }
    }

    /// Whether the value is known without running, and which one of two it is.
    pub(super) fn as_bool(value: &Value) -> Option<bool> {
        match value {
            Value::Bits(bits) => match bits[..] {
                [Bit::Constant(value)] => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value as a public number, if it is one.
    pub(super) fn as_public(value: &Value, ty: &Ty) -> Option<Rc<Affine>> {
        match value {
            Value::Public(number) => Some(number.clone()),
            Value::Bits(bits) if bits.len() <= 126 && ty.is_int() => {
                let mut number = 0i128;
                for (i, bit) in bits.iter().enumerate() {
                    let Bit::Constant(bit) = bit else { return None };
                    number |= i128::from(*bit) << i;
                }
                if ty.signed() && bits.last() == Some(&Bit::Constant(true)) {
                    number -= 1 << bits.len();
                }
                Some(Rc::new(Affine::constant(number)))
            }
            _ => None,
        }
    }
}

fn holds_home(value: &Value) -> bool {
    match value {
        Value::Stored(_, home) => home.is_some(),
        Value::Parts(parts) => parts.iter().any(holds_home),
        Value::Fill(element) => holds_home(element),
        _ => false,
    }
}
