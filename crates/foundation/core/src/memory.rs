//! How bits and blocks lie in memory.

pub(crate) mod bits;
pub(crate) mod block;
pub(crate) mod table;
pub(crate) mod transpose;
