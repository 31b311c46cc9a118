//! Hashing.
