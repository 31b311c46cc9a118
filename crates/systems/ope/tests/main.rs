//! Order-preserving encryption, as its users have it.

mod order;
mod ore;
mod sealed;
