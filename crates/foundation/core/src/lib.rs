//! What every protocol of comity stands on: blocks, bits, hashes and kernels.
//!
//! The types here know no protocol and no peer. Speed lives in [`arch`], which holds one folder for each kind
//! of machine and the only `unsafe` code of the project; everything outside it is safe Rust over a [`Backend`],
//! a small capability that proves that the machine can run what it names. All backends give equal bytes.

mod arch;
mod bits;
mod block;
mod error;
mod params;
mod tape;

pub use arch::Backend;
pub use bits::Bits;
pub use block::Block;
pub use error::{Error, Misbehaviour, Result};
pub use params::Params;
pub use tape::{Gate, Segment, Tape, TapeError};
