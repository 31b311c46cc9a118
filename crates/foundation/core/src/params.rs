//! Security parameters.

/// The two security parameters of a session, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Computational security: the length of keys and labels. Always 128.
    pub kappa: u32,
    /// Statistical security: a cheat that no computing power can detect in advance succeeds with at most 2^-rho.
    pub rho: u32,
}

impl Default for Params {
    fn default() -> Params {
        Params { kappa: 128, rho: 40 }
    }
}
