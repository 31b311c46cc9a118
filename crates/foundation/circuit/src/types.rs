//! `Type`: how people read and write a value's bits.

use std::fmt;

/// The type of an input or output value: what its bits mean to people. Protocols see bits alone, so a type is no part
/// of what a program computes, or of its digest.
///
/// A number's wire 0 is its least significant bit; the elements of an array, and the fields of a struct or tuple,
/// follow each other, the first on the first wires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Bits without further meaning.
    Bits(usize),
    /// One bit, true or false.
    Bool,
    /// An unsigned number of this width in bits.
    Uint(usize),
    /// A signed number of this width in bits, in two's complement.
    Int(usize),
    /// An IEEE 754 number of 32 or 64 bits.
    Float(FloatWidth),
    /// An array: the type of its elements and their number.
    Array(Box<Type>, usize),
    /// A tuple of values of several types.
    Tuple(Vec<Type>),
    /// A struct of named values of several types.
    Struct {
        /// The type's name.
        name: String,
        /// The type's fields, in order.
        fields: Vec<(String, Type)>,
    },
}

/// The formats of [`Type::Float`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatWidth {
    /// binary32.
    F32,
    /// binary64.
    F64,
}

impl Type {
    /// The number of bits of a value of this type; `usize::MAX` if that is more than a number holds.
    pub fn bits(&self) -> usize {
        let sum = |bits: &mut dyn Iterator<Item = usize>| bits.fold(0, usize::saturating_add);
        match self {
            Type::Bits(bits) | Type::Uint(bits) | Type::Int(bits) => *bits,
            Type::Bool => 1,
            Type::Float(FloatWidth::F32) => 32,
            Type::Float(FloatWidth::F64) => 64,
            Type::Array(element, count) => element.bits().saturating_mul(*count),
            Type::Tuple(types) => sum(&mut types.iter().map(Type::bits)),
            Type::Struct { fields, .. } => sum(&mut fields.iter().map(|(_, ty)| ty.bits())),
        }
    }

    /// The type with the fields of every struct in it, for people who have to write a value:
    /// `[Bid {price: u32, item: u8}; 4]`.
    pub fn describe(&self) -> String {
        match self {
            Type::Array(element, count) => format!("[{}; {count}]", element.describe()),
            Type::Tuple(types) => {
                let all: Vec<String> = types.iter().map(Type::describe).collect();
                format!("({}{})", all.join(", "), if all.len() == 1 { "," } else { "" })
            }
            Type::Struct { name, fields } => {
                let all: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {}", ty.describe())).collect();
                format!("{name} {{{}}}", all.join(", "))
            }
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bits(1) => f.write_str("1 bit"),
            Type::Bits(bits) => write!(f, "{bits} bits"),
            Type::Bool => f.write_str("bool"),
            Type::Uint(bits) => write!(f, "u{bits}"),
            Type::Int(bits) => write!(f, "i{bits}"),
            Type::Float(FloatWidth::F32) => f.write_str("f32"),
            Type::Float(FloatWidth::F64) => f.write_str("f64"),
            Type::Array(element, count) => write!(f, "[{element}; {count}]"),
            Type::Tuple(types) => {
                f.write_str("(")?;
                for (i, ty) in types.iter().enumerate() {
                    write!(f, "{}{ty}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(if types.len() == 1 { ",)" } else { ")" })
            }
            Type::Struct { name, .. } => f.write_str(name),
        }
    }
}
