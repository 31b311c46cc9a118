//! Schemes against the plain evaluator.

mod schemes;
mod standard;
