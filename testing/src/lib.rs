//! What comity's tests stand on: parties on threads, ideal functionalities, deviations, and what every channel
//! must do.
//!
//! - [`Pair`] and [`Net`] run parties side by side; a hang or a panic fails the test and names the party.
//! - [`assert_realizes`] holds a protocol to an ideal function on random inputs.
//! - [`laws!`] stamps on a protocol what every protocol must do.
//! - [`deviate`] breaks an honest run in every way at every message, and has a judge look at how each party ends;
//!   [`deviate_among`] does so among many, of whom any number cheat.
//! - [`assert_waits`] holds messages back that must not leave yet.
//! - [`ot`] has the ideal functionalities of oblivious transfer, and holds protocols against them.
//! - [`meter`] counts the bits of a secret that are linear in what somebody knows.
//! - [`Kept`] is a shelf in memory, [`Stock`] one of each of several materials, and [`Stocked`] runs on these.
//! - [`Process`] is one that a test watches and kills, [`drawn`] when; [`peak_memory`] is what one takes.
//! - [`check_channels`] holds a channel to the promises of its trait.
//!
//! No assertion here depends on time, but for parties that do not end at all: they have [`PATIENCE`].

use std::time::Duration;

mod conformance;
mod deviate;
mod kept;
pub mod laws;
mod memory;
pub mod meter;
pub mod ot;
mod parties;
mod process;
mod realize;
mod waits;

pub use conformance::check_channels;
pub use deviate::{BrokenRun, Case, Deviation, Lie, Verdict, deviate, deviate_among, never_wrong, never_wrong_among};
pub use kept::{Kept, Stock, Stocked};
pub use memory::{peak_memory, resident_memory};
pub use parties::{Net, Pair};
pub use process::{End, Process, before_kill, drawn};
pub use realize::assert_realizes;
pub use waits::{assert_waits, told};

/// The patience of a test: what has not come after this time never comes. It bounds each wait for something
/// that must happen, and is so long that no machine is too busy for it: a test that waits it out fails. Where
/// a time-out must happen, a test sets its own.
pub const PATIENCE: Duration = Duration::from_secs(600);
