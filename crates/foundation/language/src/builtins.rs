//! The functions that are there without being declared.

/// A built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Min,
    Max,
    Abs,
    AbsDiff,
    Popcount,
    LeadingZeros,
    TrailingZeros,
    Hamming,
    Sqrt,
    WideMul,
    MulShift,
    RotateLeft,
    RotateRight,
    Bits,
    FromBits,
    Sum,
    Dot,
    MatMul,
    Any,
    All,
    Sort,
    Len,
}

/// How a call is written, for messages and for the list of names.
pub(crate) const BUILTINS: &[(&str, Builtin, &str)] = &[
    ("min", Builtin::Min, "min(a, b) or min(array)"),
    ("max", Builtin::Max, "max(a, b) or max(array)"),
    ("abs", Builtin::Abs, "abs(signed number)"),
    ("abs_diff", Builtin::AbsDiff, "abs_diff(a, b)"),
    ("popcount", Builtin::Popcount, "popcount(number)"),
    ("leading_zeros", Builtin::LeadingZeros, "leading_zeros(number)"),
    ("trailing_zeros", Builtin::TrailingZeros, "trailing_zeros(number)"),
    ("hamming", Builtin::Hamming, "hamming(a, b)"),
    ("sqrt", Builtin::Sqrt, "sqrt(unsigned number)"),
    ("wide_mul", Builtin::WideMul, "wide_mul(a, b) of two unsigned numbers"),
    ("mul_shift", Builtin::MulShift, "mul_shift(a, b, by)"),
    ("rotate_left", Builtin::RotateLeft, "rotate_left(number, by)"),
    ("rotate_right", Builtin::RotateRight, "rotate_right(number, by)"),
    ("bits", Builtin::Bits, "bits(number)"),
    ("from_bits", Builtin::FromBits, "from_bits(array of bool)"),
    ("sum", Builtin::Sum, "sum(array of numbers)"),
    ("dot", Builtin::Dot, "dot(a, b) of two arrays of whole numbers, equally long"),
    (
        "mat_mul",
        Builtin::MatMul,
        "mat_mul(a, b) of arrays of rows of whole numbers, as many rows in `b` as a row of `a` has numbers",
    ),
    ("any", Builtin::Any, "any(array of bool)"),
    ("all", Builtin::All, "all(array of bool)"),
    ("sort", Builtin::Sort, "sort(array of numbers)"),
    ("len", Builtin::Len, "len(array)"),
];

impl Builtin {
    pub(crate) fn find(name: &str) -> Option<Builtin> {
        BUILTINS.iter().find(|(text, ..)| *text == name).map(|&(_, builtin, _)| builtin)
    }

    pub(crate) fn name(self) -> &'static str {
        BUILTINS.iter().find(|(_, builtin, _)| *builtin == self).map_or("", |&(name, ..)| name)
    }

    /// How a call is written.
    pub(crate) fn usage(self) -> &'static str {
        BUILTINS.iter().find(|(_, builtin, _)| *builtin == self).map_or("", |&(.., usage)| usage)
    }
}
