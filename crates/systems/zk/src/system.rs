//! Which proof systems there are, and how sound each is.

use core::fmt;

use comity_core::{Error, Result};

use crate::voleith::Parameters;

/// A proof system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// ZKBoo: three branches a round, two of them shown.
    ZkBoo,
    /// ZKB++: ZKBoo without what the verifier can compute itself.
    ZkbPlusPlus,
    /// KKW18: 64 parties with preprocessing, one of which stays hidden.
    Kkw,
    /// VOLE in the head: MACs on wires under a key that is a hash; in files only.
    VoleInTheHead,
}

impl System {
    /// All systems.
    pub const ALL: [System; 4] = [System::ZkBoo, System::ZkbPlusPlus, System::Kkw, System::VoleInTheHead];

    /// The system's name in flags, reports and errors.
    pub fn name(self) -> &'static str {
        match self {
            System::ZkBoo => "zkboo",
            System::ZkbPlusPlus => "zkb++",
            System::Kkw => "kkw",
            System::VoleInTheHead => "voleith",
        }
    }

    /// The bits of soundness at a level: those of the level, but 126 for VOLE in the head. Its last challenge
    pub fn bits(self, level: Soundness) -> u32 {
        match self {
            System::VoleInTheHead => Parameters::FILE.bits() as u32,
            _ => level.bits(),
        }
    }

    /// Whether the system proves in conversation, with a challenge that the verifier draws.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if all its challenges are hashes.
    pub(crate) fn converses(self) -> Result<()> {
        match self {
            System::VoleInTheHead => Err(Error::invalid_input(format!(
                "{self} proves in files only, since all its challenges are hashes: in conversation take `vole`"
            ))),
            _ => Ok(()),
        }
    }

    /// The byte that stands for the system in a file.
    pub(crate) fn code(self) -> u8 {
        match self {
            System::ZkBoo => 1,
            System::ZkbPlusPlus => 2,
            System::Kkw => 3,
            System::VoleInTheHead => 4,
        }
    }

    /// The system of this byte.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if no system has this byte.
    pub(crate) fn of_code(code: u8) -> Result<System> {
        let found = System::ALL.into_iter().find(|system| system.code() == code);
        found.ok_or_else(|| {
            Error::malformed(format!("a proof of system number {code}, which this version does not know"))
        })
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A level of soundness: how unlikely it is that a false statement is accepted.
///
/// In conversation a cheat passes with probability `2^-bits`, and `t` tries lose `log2 t` bits. In a file the
/// challenge is a hash, and whoever computes `q` hashes passes with probability about `q 2^-bits`: so a file
/// needs the level of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soundness {
    /// 40 bits: in conversation only.
    Bits40,
    /// 80 bits: in conversation only.
    Bits80,
    /// 128 bits.
    Bits128,
}

impl Soundness {
    /// All levels.
    pub const ALL: [Soundness; 3] = [Soundness::Bits40, Soundness::Bits80, Soundness::Bits128];

    /// The bits of the level.
    pub fn bits(self) -> u32 {
        match self {
            Soundness::Bits40 => 40,
            Soundness::Bits80 => 80,
            Soundness::Bits128 => 128,
        }
    }

    /// The level of `bits` bits.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is no such level.
    pub fn of_bits(bits: u32) -> Result<Soundness> {
        let found = Soundness::ALL.into_iter().find(|level| level.bits() == bits);
        found.ok_or_else(|| Error::invalid_input(format!("soundness of {bits} bits: there are 40, 80 and 128")))
    }

    /// The fewest rounds `r` of ZKBoo with `(2/3)^r <= 2^-bits`: a cheat passes one round with probability 2/3.
    pub fn rounds(self) -> usize {
        match self {
            Soundness::Bits40 => 69,
            Soundness::Bits80 => 137,
            Soundness::Bits128 => 219,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_follow_from_the_formula() {
        for level in Soundness::ALL {
            let bits = |rounds: usize| rounds as f64 * 1.5f64.log2();
            assert!(bits(level.rounds()) >= f64::from(level.bits()), "{level:?}");
            assert!(bits(level.rounds() - 1) < f64::from(level.bits()), "{level:?}");
            assert_eq!(Soundness::of_bits(level.bits()).unwrap(), level);
        }
        // What is published with 80 bits and has 136 rounds has fewer.
        assert!((136.0 * 1.5f64.log2() - 79.55).abs() < 0.01);
        assert!(Soundness::of_bits(64).is_err());
    }

    #[test]
    fn a_file_has_the_bits_that_are_said() {
        let fewest = System::ALL.map(|system| system.bits(Soundness::Bits128)).into_iter().min();
        assert_eq!(fewest, Some(crate::FILE_BITS));
        // Two zeros of a wrong gate's square, a guess of Delta's 127 bits, coefficients of 128 that cancel.
        let of_vole = -((-126f64).exp2() + (-127f64).exp2() + (-128f64).exp2()).log2();
        assert_eq!(of_vole as u32, crate::Conversation::Vole.bits());
    }

    #[test]
    fn a_system_has_a_byte_of_its_own() {
        for system in System::ALL {
            assert_eq!(System::of_code(system.code()).unwrap(), system);
        }
        assert!(System::of_code(0).is_err() && System::of_code(255).is_err());
    }
}
