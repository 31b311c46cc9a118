//! How bits and blocks lie in memory.

pub(crate) mod bits;
pub(crate) mod block;
pub(crate) mod huge_table;
pub(crate) mod transpose;
