//! Security parameters.

use crate::error::{Error, Result};

/// The two security parameters of a session, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl Params {
    /// Parameters that are in range: `kappa` is 128, `rho` 1 to 128.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::Kind) names the parameter that is out of range.
    pub fn new(kappa: u32, rho: u32) -> Result<Params> {
        if kappa != 128 {
            return Err(Error::invalid_input(format!("kappa is {kappa}: only 128 is supported")));
        }
        if !(1..=128).contains(&rho) {
            return Err(Error::invalid_input(format!("rho is {rho}: choose 1 to 128 (40 is usual)")));
        }
        Ok(Params { kappa, rho })
    }
}
