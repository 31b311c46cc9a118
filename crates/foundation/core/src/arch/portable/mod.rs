//! Every kernel in plain Rust, without a branch or memory index on data: the fallback and the yardstick of the others.

pub(crate) mod aes;
pub(crate) mod clmul;
pub(crate) mod garble;
pub(crate) mod lockstep;
pub(crate) mod transpose;
