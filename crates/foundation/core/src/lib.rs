//! What every protocol of comity stands on: blocks, bits, hashes and kernels.
//!
//! The types here know no protocol and no peer. Speed lives in `arch`, which holds one folder for each kind
//! of machine and the only `unsafe` code of the project; everything outside it is safe Rust over a [`Backend`],
//! a small capability that proves that the machine can run what it names. All backends give equal bytes.

mod aes;
mod arch;
mod bits;
mod block;
mod clear;
mod commit;
mod cr;
mod erasure;
mod error;
mod framing;
mod gate_hash;
mod gates;
pub mod gf128;
mod half_tree;
mod lockstep;
mod params;
mod party;
mod prg;
mod session;
mod short_hash;
mod subset;
mod sum_hash;
mod table;
mod tape;
mod tccr;
mod transcript;
mod transpose;
mod vole;

pub use aes::Aes128;
pub use arch::{Backend, Vectorize};
pub use bits::Bits;
pub use block::Block;
pub use clear::Lanes;
pub use commit::{Commitment, Opening, commit};
pub use cr::CrHash;
pub use erasure::{ErasureCode, ErasureDecoder};
pub use error::{Check, Error, Kind, Result};
pub use gate_hash::GateHash;
pub use gates::{Cursor, Delta, Evaluator, Garbler, Part};
pub use half_tree::TreeHash;
pub use lockstep::{LockstepChecker, LockstepEvaluator, LockstepGarbler};
pub use params::Params;
pub use party::PartyId;
pub use prg::Prg;
pub use session::SessionId;
pub use short_hash::ShortHash;
pub use subset::SubsetSums;
pub use sum_hash::{SumHash, sum_rows};
pub use table::Table;
pub use tape::{Gate, Segment, Tape, TapeError};
pub use tccr::TccrHash;
pub use transcript::Transcript;
pub use transpose::{transpose, transpose_columns};
pub use vole::SmallFieldVole;
