//! `PartyId`: who takes part.

use std::fmt;

/// A party of a session, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyId(pub u16);

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<u16> for PartyId {
    fn from(party: u16) -> PartyId {
        PartyId(party)
    }
}
