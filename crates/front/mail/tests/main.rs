//! Sealed answers, as their users have them.

mod batch;
mod common;
mod forms;
mod sealed;
mod stored;
