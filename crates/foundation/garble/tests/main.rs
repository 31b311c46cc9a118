//! Schemes against the plain evaluator, and what copies in lockstep run on.

mod coded;
mod lockstep;
mod schemes;
mod standard;
mod three_halves;
