//! What a command prints: results to standard output or a file, everything else to standard error.
//!
//! A result is text or one JSON object ([`json`]); a failure has a kind, whose exit code and name people script against
//! ([`failure`]). Numbers, times and sizes are written for people in one way ([`numbers`]).

pub mod chart;
pub mod console;
pub mod failure;
pub mod json;
pub mod numbers;
pub mod progress;
pub mod suggest;
pub mod text;
