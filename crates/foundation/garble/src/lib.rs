//! Garbling schemes.
