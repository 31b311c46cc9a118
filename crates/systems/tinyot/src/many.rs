//! The machine of any number of parties, and programs on it, over the [dealer of many](comity_triples::many).

mod machine;
mod sharing;
#[cfg(test)]
pub(crate) mod tests;

pub use self::machine::RowMachine;
pub use self::sharing::RowSharing;
