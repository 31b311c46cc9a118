//! Malicious computation of many parties in a constant number of rounds: garbling by many, with oblivious transfer.
//!
//! C. Hazay, P. Scholl, E. Soria-Vazquez: Low Cost Constant Round MPC Combining BMR and Oblivious Transfer
//! (Asiacrypt 2017). All parties together garble one circuit (Beaver, Micali, Rogaway 1990), which each of
//! them then evaluates: a wire has a key of each party and a mask that nobody knows.
//!
//! **Functionality**: secure evaluation of a program with abort; an output goes to any set of parties.
//!
//! **Adversary**: malicious, all parties but one. Nobody is identified, and a cheat may have its outputs when
//! others have none.
//!
//! **Protocol**. For an AND gate `g` of wires `u`, `v` and `w`, public values `a`, `b` and each party `j`,
//! the row's entry is
//!
//! ```text
//! sum over i of F_{k^i_(u,a), k^i_(v,b)}(g, j)  +  k^j_(w,0)  +  R^j ((lambda_u + a) (lambda_v + b) + lambda_w)
//! ```
//!
//! of which each party has a share: `F` and keys are its own business, unproved, and the products come from
//! [`Masks`]. If somebody adds something false to a row, the party whose entry it is finds a key that is not
//! one of its two, and stops. It never finds the other value of the wire: for that the cheat would have to
//! add the party's `R`.
//!
//! - [`BitMpc`]: shared bits, and their products (figure 4). [`Masks`]: the products with all `R`, too: by
//!   MACs of the bits ([`TripleMasks`], section 4, Claim 41), or by oblivious transfer over any protocol for
//!   bits ([`StringMasks`], section 3, figure 8), or by triples in a field ([`FieldMasks`]: SPDZ-BMR).
//! - `garbling`: figure 6, steps 2 to 4. `opening`: figure 7. `evaluating`: figure 9. `hash`: `F`.
//! - [`run_with`]: all of it over a program.
//!
//! **Corrections** to the paper as printed: the masks of figure 7 cancel only if each party adds the
//! generator's output on the seeds it received, too (`opening`); the theorem of section 5 says that `F` is a
//! PRF, with free XOR it has to be that of Definition 21 (`hash`); the proof of Claim 41 exchanges the
//! indices of its `Z` and `K`. Masks of outputs are opened before inputs are fixed, and free XOR has outputs
//! whose public values follow from those of inputs: the party that speaks last could choose them, and no simulator
//! could answer. So each bit of an output passes a gate of its own (`garbling`), behind which the paper's step is
//! sound as it is.
//!
//! **Cost** for an AND gate, besides the masks: `128 (n - 1)` bytes sent by each party, four hashes an entry
//! to garble, `n^2` to evaluate; for a bit of an output half as much, and no product.

pub mod act;
mod bit_string;
pub mod checks;
mod chunk;
mod costs;
mod engine;
mod evaluating;
mod evaluator;
mod field_masks;
mod garbler;
mod garbling;
mod hash;
mod masks;
mod opening;
mod planned;
mod protocol;
mod row_prf;
mod spdz_bmr;
mod stored;
#[cfg(test)]
mod tests;
mod triple_masks;

pub use bit_string::StringMasks;
pub use engine::{prepare_with, run_as, run_with, use_up};
pub use field_masks::FieldMasks;
pub use garbler::Ground;
pub use masks::{BitMpc, MaskOpening, Masks, SettledBeside, Xor};
pub use opening::Opener;
pub use planned::Planned;
pub use protocol::{Bmr, run_over};
pub use spdz_bmr::SpdzBmr;
pub use triple_masks::TripleMasks;
