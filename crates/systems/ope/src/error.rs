//! What can go wrong without a database.

/// The result of this crate's operations.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The error of a refused operation, which has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No two codes are left between neighbours, and spreading them out again does not help.
    #[error("the codes of {bits} bits are used up: choose wider ones (`bytea`)")]
    Exhausted {
        /// Bits of a code.
        bits: u32,
    },
    /// Codes do not rise as their values do.
    #[error("codes are not in the order of their values")]
    Disordered,
    /// A coin that was thrown for this value before.
    #[error("this coin was used for this value before: throw another")]
    CoinUsed,
    /// Sealed bytes do not open: they were changed, moved, or sealed under another key.
    #[error("sealed bytes do not open: they were changed, moved, or sealed under another key")]
    Sealed,
    /// Bytes that do not decode.
    #[error("{0}")]
    Malformed(String),
    /// A value, a type or a parameter that does not fit.
    #[error("{0}")]
    Invalid(String),
}
