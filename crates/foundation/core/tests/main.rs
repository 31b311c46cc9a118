//! The kernels and what stands on them, as their users have them: each backend against the others.

mod aes;
mod authenticated;
mod bits;
mod erasure;
mod gates;
mod gf128;
mod lockstep;
mod names;
mod one_row;
mod private;
mod transpose;
mod trees;
mod vole;
