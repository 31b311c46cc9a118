//! Secure multi-party computation: the facade of the comity crates.
