//! Vector oblivious linear evaluation (VOLE) over GF(2^128): the sender has a scalar, delta, the receiver
//! gets a random vector `a`, and they share its product: `c = a delta + b`, of which the receiver gets `c`
//! and the sender `b`.
//!
//! **What**: a *multiplication by a scalar that nobody shows*, for a million elements and one message of 1.2
//! MB. Private set intersection stands on it, and so do proofs and authenticated arithmetic.
//!
//! **How**, from products that are dear to as many as are wanted:
//! 1. [Products](products) of some 500 random elements with delta by 128 OTs whose choice bits are delta's
//!    (Gilboa, CRYPTO 1999; Keller, Orsini, Scholl, CCS 2016, figure 5), 2 KiB each.
//! 2. [Noise](noise): for each of them a tree gives the sender random leaves, and the receiver the same but
//!    at a place of its choosing, where it has its product added (Boyle et al., CCS 2019; Weng, Yang, Katz,
//!    Wang, S&P 2021, figure 7; the trees are silent OT's). These are correlations of a vector that is zero
//!    but for one random element in each block.
//! 3. [Compression](dual) of that vector to half its length by a public code: dual learning parity with noise
//!    (LPN), with an expand-convolute code (Raghuraman, Rindal, Tanguy, CRYPTO 2023; ePrint 2023/882). That
//!    makes some 126 thousand.
//! 4. [Iteration](primal): again noise, from 1300 of these, to which a sparse public function of the rest is
//!    added, as in [silent OT](comity_ot::silent): primal LPN. That makes 1.35 million, or as many as are
//!    wanted, 1.6 million an iteration.
//!
//! All but the products, the trees' messages and their checks is local and linear, and so keeps the correlation.
//!
//! **Functionality**: delta is the sender's choice, `a` uniform. In the malicious model a corrupt receiver
//! may choose its `a` and `c`, a corrupt sender its `b`: the rest follows. A corrupt receiver may guess bits
//! of delta; a wrong guess ends the run, so that it learns `t` bits with probability 2^-t. It may ask once an
//! iteration whether delta is a given value. A corrupt sender may guess where noise is, as in
//! [silent OT](comity_ot::silent): caught if wrong.
//!
//! **Adversary**: either party; semi-honest or malicious, as the type says. In the malicious model
//! [`products`] are checked to be of one vector, and [`noise`] to be what it must before anything is made of
//! it. After an error nothing is left, delta with it: it is not to be used elsewhere.
//!
//! **Assumptions**: LPN in both forms with the margin that [`LpnSizes`] tells; those of
//! [SoftSpoken](comity_ot::softspoken) and of silent OT's trees; AES-128 as ideal cipher, BLAKE3 as random
//! oracle in the malicious model. The codes follow from `session` and from a nonce that the receiver, whose
//! vector they hide, draws when the sender has no choice left.
//!
//! **Cost** for 1.35 million: 1.0 MB from receiver to sender, 0.3 MB back; twice 128 base OTs; ten look-ups
//! an element in a table that fits the second-level cache, and at the receiver, which has two columns,
//! twenty.

pub mod checks;
pub mod dual;
pub mod noise;
mod parameters;
pub mod primal;
pub mod products;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use parameters::{LpnSizes, bytes};
pub use receiver::{Product, Received, receive};
pub use sender::send;

use comity_core::{Backend, SessionId};

/// The trees' levels of the SoftSpoken extension that noise stands on: some thousand COTs are few.
const COT_K: usize = 4;

/// The session of a run and the machine that it runs on.
#[derive(Clone, Copy)]
pub struct Setting {
    /// A session of this run alone, made of what both parties chose.
    pub session: SessionId,
    /// The backend.
    pub backend: Backend,
}

impl Setting {
    /// The setting of a part, whose label is used once.
    fn child(&self, label: &str) -> Setting {
        Setting { session: self.session.child(label), backend: self.backend }
    }
}
