//! Words of other languages, and what is written here instead.

use crate::lexer::Kind;

/// The words for a range as an index.
pub(crate) const SLICE: &str =
    "there are no slices: an array of some elements is written `[a[0], a[1]]`, and a loop takes them by their indices";

/// A hint for a token that the parser cannot go on with: how comity's language writes what other languages
/// write so.
pub(crate) fn at(before: &Kind, here: &Kind) -> Option<&'static str> {
    match (before, here) {
        (_, Kind::Symbol("?")) => Some("there is no `a ? b : c`: it is written `if a { b } else { c }`"),
        (_, Kind::Name("and")) => Some("`and` is written `&&`"),
        (_, Kind::Name("or")) => Some("`or` is written `||`"),
        (Kind::Name("not"), _) => Some("`not` is written `!`"),
        (Kind::Symbol("*"), Kind::Symbol("*")) => {
            Some("there is no `**`: a square is written `x * x`, and a power of two `1 << n`")
        }
        (Kind::Symbol("["), Kind::Symbol(":" | ".." | "..=")) => Some(SLICE),
        (Kind::Name(name), Kind::Symbol("<")) => ty(name),
        _ => None,
    }
}

/// A hint for a function of another language: how comity's language writes it.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    match name {
        "range" => Some("a loop is written `for i in 0..10 { ... }`"),
        "not" => Some("it is written `!`"),
        "pow" => Some("a square is written `x * x`, and a power of two `1 << n`"),
        "int" => Some("a conversion is written `x as i64`"),
        _ => ty(name),
    }
}

/// A hint for a type of another language: how comity's language writes it.
pub(crate) fn ty(name: &str) -> Option<&'static str> {
    Some(match name {
        "usize" | "uint" | "cint" => "numbers say how wide they are: `u32`",
        "isize" | "int" | "sint" => "numbers say how wide they are: `i32`",
        "float" | "double" | "sfloat" => "there are `f32` and `f64`",
        "fix" | "sfix" | "cfix" | "ufixed" | "fixed" => {
            "there are `f32` and `f64`; whole numbers of a small unit, such as cents in `i64`, cost less"
        }
        "boolean" | "sbool" | "sbit" | "sbitint" => "it is called `bool`",
        "char" => "use `u8`",
        "String" | "str" | "string" => "use an array of `u8`",
        "Vec" | "list" | "Array" => "use an array, `[u32; 8]`: lengths are public",
        _ => return None,
    })
}
