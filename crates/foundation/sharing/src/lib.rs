//! What protocols have in common that share each bit: one engine, one way to compute by hand, one way to make lots.
//!
//! Such a protocol is a [`Sharing`]: it says what a party holds of a wire, how inputs come in and outputs
//! out, and what happens to the XORs and to the ANDs of a layer. All else is here:
//!
//! - [`SharedEngine`] runs programs on it: a call goes through the layered lowering, and what depends on
//!   nothing but earlier layers is one step, the ANDs of one depth of all the calls that run side by side.
//! - [`WireRows`]: what a party holds of some wires, of each a row of as many copies as calls run side by
//!   side. [`ShareRows`] is that for shares of one size; [`BitRows`] packs shares that are bits.
//! - [`ByHand`] computes on values that outlive the programs that are called on them.
//! - [`fill_lots`] makes material ahead, lot after lot.
//!
//! Nothing is sent here, and nothing is checked: both are the protocol's.

mod bit_rows;
mod by_hand;
mod engine;
mod lots;
mod rows;

pub use bit_rows::{BitOperands, BitRows, PIECE};
pub use by_hand::{ByHand, Lasting};
pub use engine::{SharedEngine, Sharing, evenly, run_calls};
pub use lots::{Batches, fill_lots, whole_runs};
pub use rows::{ShareRows, WireRows};
