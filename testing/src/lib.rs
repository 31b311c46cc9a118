//! Pairs of parties, ideal functionalities and deviations for comity's tests.

mod parties;

pub use parties::Pair;
