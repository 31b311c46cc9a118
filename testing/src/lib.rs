//! Pairs of parties, ideal functionalities and deviations for comity's tests.

mod conformance;
mod parties;

pub use conformance::check_channels;
pub use parties::Pair;
