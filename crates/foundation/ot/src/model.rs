//! Which adversary a protocol withstands, as types.
//!
//! A protocol that stands on another one names what it needs of it, so that a malicious extension over semi-honest
//! base OTs does not compile:
//!
//! ```compile_fail
//! use comity_ot::{AtLeast, Malicious, SemiHonest};
//!
//! fn needs<M: AtLeast<Malicious>>() {}
//! needs::<SemiHonest>();
//! ```

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::SemiHonest {}
    impl Sealed for super::Malicious {}
}

/// An adversary model: [`SemiHonest`] or [`Malicious`].
pub trait Model: sealed::Sealed + Send + Sync + 'static {
    /// The model's name in `--json`.
    const NAME: &'static str;
    /// Whether an adversary of this model may do as it likes.
    const MALICIOUS: bool;
}

/// The adversary follows the protocol, and tries to learn more from what it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemiHonest {}

/// The adversary does as it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malicious {}

impl Model for SemiHonest {
    const NAME: &'static str = "semi-honest";
    const MALICIOUS: bool = false;
}

impl Model for Malicious {
    const NAME: &'static str = "malicious";
    const MALICIOUS: bool = true;
}

/// Models that promise at least what `M` does.
pub trait AtLeast<M: Model>: Model {}

impl AtLeast<SemiHonest> for SemiHonest {}
impl AtLeast<SemiHonest> for Malicious {}
impl AtLeast<Malicious> for Malicious {}
