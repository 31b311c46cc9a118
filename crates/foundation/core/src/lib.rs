//! What every protocol of comity stands on: blocks, bits, hashes and kernels.
//!
//! The types here know no protocol and no peer. Speed lives in `arch`, which holds one folder for each kind
//! of machine and the only `unsafe` code of the project; everything outside it is safe Rust over a [`Backend`],
//! a small capability that proves that the machine can run what it names. All backends give equal bytes.

mod arch;
mod error;
mod field;
mod hash;
mod memory;
mod params;
mod party;
mod session;
mod tape;

#[cfg(feature = "ct")]
pub use arch::ct;
pub use arch::{Backend, Vectorize, classify, declassify, declassify_all, mask, verdict};
pub use error::{Check, Error, Kind, Result};
pub use field::erasure::{ErasureCode, ErasureDecoder};
pub use field::gf128;
pub use field::subset::SubsetSums;
pub use field::vole::SmallFieldVole;
pub use hash::aes::Aes128;
pub use hash::commit::{Commitment, Opening, commit};
pub use hash::cr::CrHash;
pub use hash::gate_hash::GateHash;
pub use hash::half_tree::TreeHash;
pub use hash::prg::Prg;
pub use hash::short_hash::ShortHash;
pub use hash::sum_hash::{SumHash, sum_rows};
pub use hash::tccr::TccrHash;
pub use hash::transcript::Transcript;
pub use memory::bits::Bits;
pub use memory::block::Block;
pub use memory::huge_table::HugeTable;
pub use memory::transpose::{transpose, transpose_columns};
pub use params::Params;
pub use party::{PartyId, listed};
pub use session::SessionId;
pub use tape::authenticated::{AuthEvaluator, AuthGarbler, Start, Starts};
pub use tape::gates::{Delta, Evaluator, Garbler};
pub use tape::labels::Labels;
pub use tape::lanes::Lanes;
pub use tape::lockstep::{LockstepChecker, LockstepEvaluator, LockstepGarbler};
pub use tape::one_row::{PrivacyFreeEvaluator, PrivacyFreeGarbler};
pub use tape::part::{Cursor, Part};
pub use tape::pseudorandom::{PrfEvaluator, PrfGarbler};
pub use tape::runs::Run;
pub use tape::three_halves::{SlicedEvaluator, SlicedGarbler};
pub use tape::{Segment, Tape, TapeError, TapeGate};
