//! Types of values.

use std::fmt;
use std::rc::Rc;

use comity_circuit::{FloatWidth, Type};

/// The widest number.
pub(crate) const MAX_WIDTH: u32 = 1 << 16;
/// The bits of a [`Ty::Number`] where it meets private values.
pub(crate) const NUMBER_BITS: u32 = 64;

/// The bits of the largest number without a type.
pub(crate) const MAX_NUMBER: u32 = 126;

/// The most parts of a type, those of parts counted too; all elements of an array are one.
pub(crate) const MAX_PARTS: u32 = 1 << 12;
/// The most types inside each other.
pub(crate) const MAX_INSIDE: u32 = 96;

/// A type. Array lengths and widths are known: functions are checked once for each set of sizes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    Bool,
    Uint(u32),
    Int(u32),
    F32,
    F64,
    /// A public whole number that is no value of a certain width: a length, a loop's bound, an index.
    Number,
    Array(Rc<Ty>, u64),
    Tuple(Rc<[Ty]>),
    Struct(Rc<Struct>),
    /// A type that is to be inferred.
    Var(u32),
    /// The type of an expression with a mistake: fits everything.
    Error,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) fields: Vec<(String, Ty)>,
}

impl Ty {
    pub(crate) fn unit() -> Ty {
        Ty::Tuple(Rc::new([]))
    }

    pub(crate) fn is_unit(&self) -> bool {
        matches!(self, Ty::Tuple(parts) if parts.is_empty())
    }

    pub(crate) fn is_int(&self) -> bool {
        matches!(self, Ty::Uint(_) | Ty::Int(_) | Ty::Number)
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    pub(crate) fn signed(&self) -> bool {
        matches!(self, Ty::Int(_) | Ty::Number)
    }

    /// A value that has no parts.
    pub(crate) fn is_leaf(&self) -> bool {
        !matches!(self, Ty::Array(..) | Ty::Tuple(_) | Ty::Struct(_))
    }

    /// Whether the type is no larger than [`MAX_PARTS`] and [`MAX_INSIDE`] say, so that it can be walked
    /// through: each type may hold the one before twice, and a few lines make one without end.
    pub(crate) fn is_small(&self) -> bool {
        self.fits(&mut MAX_PARTS.clone(), MAX_INSIDE)
    }

    fn fits(&self, parts: &mut u32, inside: u32) -> bool {
        let Some(left) = parts.checked_sub(1) else { return false };
        *parts = left;
        let Some(inside) = inside.checked_sub(1) else { return false };
        match self {
            Ty::Array(element, _) => element.fits(parts, inside),
            Ty::Tuple(types) => types.iter().all(|ty| ty.fits(parts, inside)),
            Ty::Struct(info) => info.fields.iter().all(|(_, ty)| ty.fits(parts, inside)),
            _ => true,
        }
    }

    /// The number of bits of a value; saturating.
    pub(crate) fn bits(&self) -> u64 {
        let sum = |bits: &mut dyn Iterator<Item = u64>| bits.fold(0, u64::saturating_add);
        match self {
            Ty::Bool => 1,
            Ty::Uint(bits) | Ty::Int(bits) => u64::from(*bits),
            Ty::F32 => 32,
            Ty::F64 => 64,
            Ty::Number => u64::from(NUMBER_BITS),
            Ty::Array(element, count) => element.bits().saturating_mul(*count),
            Ty::Tuple(types) => sum(&mut types.iter().map(Ty::bits)),
            Ty::Struct(info) => sum(&mut info.fields.iter().map(|(_, ty)| ty.bits())),
            Ty::Var(_) | Ty::Error => 0,
        }
    }

    /// The number of parts of a value.
    pub(crate) fn parts(&self) -> u64 {
        match self {
            Ty::Array(_, count) => *count,
            Ty::Tuple(types) => types.len() as u64,
            Ty::Struct(info) => info.fields.len() as u64,
            _ => 0,
        }
    }

    /// The type of part `i` and where it begins.
    pub(crate) fn part(&self, i: u64) -> (&Ty, u64) {
        let before = |bits: &mut dyn Iterator<Item = u64>| bits.fold(0, u64::saturating_add);
        match self {
            Ty::Array(element, _) => (element, element.bits().saturating_mul(i)),
            Ty::Tuple(types) => (&types[i as usize], before(&mut types.iter().take(i as usize).map(Ty::bits))),
            Ty::Struct(info) => {
                let start = before(&mut info.fields.iter().take(i as usize).map(|(_, ty)| ty.bits()));
                (&info.fields[i as usize].1, start)
            }
            _ => (self, 0),
        }
    }

    /// The smallest and largest whole number of this type, if a small number holds them.
    pub(crate) fn range(&self) -> (i128, i128) {
        match *self {
            Ty::Uint(bits) if bits <= 126 => (0, (1 << bits) - 1),
            Ty::Uint(_) => (0, i128::MAX),
            Ty::Int(bits) if bits <= 126 => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            Ty::Number => (-(1 << 126), 1 << 126),
            _ => (i128::MIN, i128::MAX),
        }
    }

    /// The type as people see it on the program.
    pub(crate) fn to_value_type(&self) -> Type {
        match self {
            Ty::Bool => Type::Bool,
            Ty::Uint(bits) => Type::Uint(*bits as usize),
            Ty::Int(bits) => Type::Int(*bits as usize),
            Ty::F32 => Type::Float(FloatWidth::F32),
            Ty::F64 => Type::Float(FloatWidth::F64),
            Ty::Number | Ty::Var(_) | Ty::Error => Type::Bits(self.bits() as usize),
            Ty::Array(element, count) => Type::Array(Box::new(element.to_value_type()), *count as usize),
            Ty::Tuple(types) => Type::Tuple(types.iter().map(Ty::to_value_type).collect()),
            Ty::Struct(info) => Type::Struct {
                name: info.name.clone(),
                fields: info.fields.iter().map(|(name, ty)| (name.clone(), ty.to_value_type())).collect(),
            },
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Bool => f.write_str("bool"),
            Ty::Uint(bits) => write!(f, "u{bits}"),
            Ty::Int(bits) => write!(f, "i{bits}"),
            Ty::F32 => f.write_str("f32"),
            Ty::F64 => f.write_str("f64"),
            Ty::Number | Ty::Var(_) => f.write_str("a number"),
            Ty::Array(element, count) => write!(f, "[{element}; {count}]"),
            Ty::Tuple(types) if types.is_empty() => f.write_str("nothing"),
            Ty::Tuple(types) => {
                f.write_str("(")?;
                for (i, ty) in types.iter().enumerate() {
                    write!(f, "{}{ty}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(if types.len() == 1 { ",)" } else { ")" })
            }
            Ty::Struct(info) => f.write_str(&info.name),
            Ty::Error => f.write_str("?"),
        }
    }
}
