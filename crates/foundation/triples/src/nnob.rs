//! The paper's own dealer: Nielsen, Nordholt, Orlandi, Burra, Crypto 2012, sections 4 and 5.
//!
//! Each box of the paper is a module, and runs in both directions at once:
//!
//! - `labit`: authenticated bits of which some may leak, from OTs (figure 12); `wabit`: the same by columns, bits under
//!   a weak key (figure 11); `abit`: under a good one (figure 9), where [`tau`] says how many weak bits that takes;
//!   `ot`: the OTs.
//! - `laot` and `aot`: authenticated OTs (figures 15 and 16).
//! - `laand` and `aand`: authenticated local ANDs, of the full version.
//! - `deal`: [`Nnob`], the dealer (figure 5), and triples by figure 6.
//!
//! **Adversary**: malicious, static. **Assumptions**: base OTs (CSW), AES-128 as PRG and, in the hash, as an
//! ideal cipher whose key is another one in each call (`hashes.rs` of this crate), BLAKE3 as random oracle in
//! commitments. Challenges (pairing, matrix, partition) come from the party whose secret could leak, when the
//! comparison that fixes the leak is over: never from a hash of the transcript, since they have only rho bits
//! of soundness.
//!
//! **Differs from the paper**: `tau` is computed from a bound of its own ([`tau`]). The key holder draws its key and
//! announces an offset from the matrix's product, so that all chunks of a session have one key, and tests that they do
//! (`abit`). Figure 16's permutation is the rotation of columns of [`bucket`](crate::bucket). The AND of figure 6 is
//! done on random shares, before inputs are known (`deal`).

mod aand;
mod abit;
mod aot;
mod conduct;
mod context;
mod deal;
mod laand;
mod labit;
mod laot;
mod ot;
pub mod tau;
mod wabit;

pub use deal::{Nnob, Plan};
#[cfg(test)]
pub(crate) mod tests;
