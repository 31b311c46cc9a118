//! Values of a [`Type`] as text: for people, and as JSON.

use comity_core::Bits;

use super::{BitOrder, FloatWidth, Type, number, to_hex};

/// The style in which the parts of a value are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    People,
    Json,
}

/// The text of a value as people read it: what [`read`](super::read) reads.
///
/// # Panics
/// If the value has another number of bits than the type.
pub fn show(ty: &Type, value: &Bits) -> String {
    written(ty, value, Style::People)
}

/// The JSON of a value: numbers, booleans, arrays (tuples, too) and objects. Whole numbers beyond 2^53, which
/// many readers of JSON would round, are strings of their decimal digits; so are infinities and `NaN`; bits
/// are strings of hex digits after `0x`. [`read`](super::read) reads all of it.
///
/// # Panics
/// If the value has another number of bits than the type.
pub fn show_json(ty: &Type, value: &Bits) -> String {
    written(ty, value, Style::Json)
}

fn written(ty: &Type, value: &Bits, style: Style) -> String {
    assert_eq!(ty.bits(), value.len(), "a value of the type {ty}");
    let mut text = String::new();
    write(ty, value, &mut 0, style, &mut text);
    text
}

fn write(ty: &Type, value: &Bits, at: &mut usize, style: Style, text: &mut String) {
    let mut next = |bits: usize| {
        *at += bits;
        value.slice(*at - bits, bits)
    };
    match ty {
        Type::Bool => *text += if next(1).get(0) { "true" } else { "false" },
        Type::Uint(bits) => whole(&next(*bits), false, style, text),
        Type::Int(bits) => whole(&next(*bits), true, style, text),
        Type::Float(FloatWidth::F32) => {
            let value = f32::from_bits(next(32).words().first().copied().unwrap_or(0) as u32);
            float(value.is_finite(), format!("{value:?}"), style, text);
        }
        Type::Float(FloatWidth::F64) => {
            let value = f64::from_bits(next(64).words().first().copied().unwrap_or(0));
            float(value.is_finite(), format!("{value:?}"), style, text);
        }
        Type::Bits(bits) => {
            let hex = format!("0x{}", to_hex(&next(*bits), BitOrder::Lsb));
            *text += &if style == Style::Json { format!("\"{hex}\"") } else { hex };
        }
        Type::Array(element, count) => {
            list('[', ']', std::iter::repeat_n(&**element, *count), value, at, style, text);
        }
        Type::Tuple(types) if style == Style::Json => list('[', ']', types.iter(), value, at, style, text),
        Type::Tuple(types) => list('(', ')', types.iter(), value, at, style, text),
        Type::Struct { fields, .. } => {
            let quote = if style == Style::Json { "\"" } else { "" };
            text.push('{');
            for (i, (name, ty)) in fields.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                *text += &format!("{comma}{quote}{name}{quote}: ");
                write(ty, value, at, style, text);
            }
            text.push('}');
        }
    }
}

fn list<'a>(
    open: char,
    close: char,
    types: impl Iterator<Item = &'a Type>,
    value: &Bits,
    at: &mut usize,
    style: Style,
    text: &mut String,
) {
    text.push(open);
    for (i, ty) in types.enumerate() {
        *text += if i == 0 { "" } else { ", " };
        write(ty, value, at, style, text);
    }
    text.push(close);
}

fn whole(value: &Bits, signed: bool, style: Style, text: &mut String) {
    let number = number::show(value, signed);
    let exact = number.parse::<i64>().is_ok_and(|number| number.unsigned_abs() <= 1 << 53);
    if style == Style::Json && !exact {
        *text += &format!("\"{number}\"");
    } else {
        *text += &number;
    }
}

fn float(finite: bool, number: String, style: Style, text: &mut String) {
    if style == Style::Json && !finite {
        *text += &format!("\"{number}\"");
    } else {
        *text += &number;
    }
}
