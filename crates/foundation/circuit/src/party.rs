//! Whose a value is: who puts it in, who learns it.

use std::fmt;

use comity_core::{PartyId, listed};

use crate::program::error::ProgramError;

/// A set of parties, as a mask of [`Program::MAX_PARTIES`](crate::Program::MAX_PARTIES) bits. Collecting panics
/// for a party whose number is too large; [`PartySet::insert`] returns an error for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartySet(u64);

impl PartySet {
    /// The most parties of a program.
    pub(crate) const MOST: u16 = 64;

    /// The set with party `i` in it if bit `i` of the mask is one.
    pub fn from_mask(mask: u64) -> PartySet {
        PartySet(mask)
    }

    /// The mask of the set: bit `i` says whether party `i` is there.
    pub fn mask(self) -> u64 {
        self.0
    }

    /// Adds a party.
    ///
    /// # Errors
    /// [`ProgramError::NoParty`].
    pub fn insert(&mut self, party: impl Into<PartyId>) -> Result<(), ProgramError> {
        let party = known(party.into())?;
        self.0 |= 1 << party.0;
        Ok(())
    }

    /// Whether the party is in the set.
    pub fn contains(self, party: impl Into<PartyId>) -> bool {
        let party = party.into();
        party.0 < PartySet::MOST && self.0 >> party.0 & 1 == 1
    }

    /// The parties, in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = PartyId> {
        (0..PartySet::MOST).map(PartyId).filter(move |&party| self.contains(party))
    }

    /// The number of parties.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is no party in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl<P: Into<PartyId>> FromIterator<P> for PartySet {
    /// # Panics
    /// If a party's number is [`Program::MAX_PARTIES`](crate::Program::MAX_PARTIES) or more.
    fn from_iter<I: IntoIterator<Item = P>>(parties: I) -> PartySet {
        let mut set = PartySet::default();
        for party in parties {
            set.insert(party).unwrap_or_else(|why| panic!("{why}"));
        }
        set
    }
}

/// The set as people read it: `party 0`, `parties 0, 1 and 4`.
impl fmt::Display for PartySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&listed(self.iter()))
    }
}

/// The recipients of an output value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipients {
    /// Every party of the run, however many there are.
    All,
    /// These parties, one at least.
    Parties(PartySet),
    /// Nobody: each party gets a share, for use after the run.
    Shared,
}

impl Recipients {
    /// One party alone.
    ///
    /// # Panics
    /// If its number is [`Program::MAX_PARTIES`](crate::Program::MAX_PARTIES) or more.
    pub fn only(party: impl Into<PartyId>) -> Recipients {
        Recipients::Parties([party.into()].into_iter().collect())
    }

    /// Whether the party learns the value.
    pub fn includes(self, party: impl Into<PartyId>) -> bool {
        match self {
            Recipients::All => true,
            Recipients::Parties(parties) => parties.contains(party),
            Recipients::Shared => false,
        }
    }

    /// The parties that are named.
    pub fn named(self) -> PartySet {
        match self {
            Recipients::All | Recipients::Shared => PartySet::default(),
            Recipients::Parties(parties) => parties,
        }
    }

    pub(crate) fn check(self) -> Result<(), ProgramError> {
        match self {
            Recipients::Parties(parties) if parties.is_empty() => Err(ProgramError::Nobody),
            _ => Ok(()),
        }
    }
}

/// The recipients as people read them: `all parties`, `party 0`, `parties 0 and 2`, `each party a share`.
impl fmt::Display for Recipients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recipients::All => f.write_str("all parties"),
            Recipients::Parties(parties) => parties.fmt(f),
            Recipients::Shared => f.write_str("each party a share"),
        }
    }
}

/// The owner of an input value, who puts it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// One party.
    Party(PartyId),
    /// Every party, by its share, which it has from before the run.
    Shared,
}

impl Owner {
    /// The owner of input value `index` of a circuit until somebody says otherwise: party `index`, or the last possible
    /// party's where there are more values than parties.
    pub fn of_value(index: usize) -> Owner {
        Owner::Party(PartyId(index.min(usize::from(PartySet::MOST) - 1) as u16))
    }

    /// Whether the party puts in the value, or its share of it.
    pub fn includes(self, party: impl Into<PartyId>) -> bool {
        match self {
            Owner::Party(owner) => owner == party.into(),
            Owner::Shared => true,
        }
    }

    /// The party that puts the value in alone.
    pub fn party(self) -> Option<PartyId> {
        match self {
            Owner::Party(party) => Some(party),
            Owner::Shared => None,
        }
    }

    pub(crate) fn check(self) -> Result<(), ProgramError> {
        self.party().map_or(Ok(()), |party| known(party).map(drop))
    }
}

impl From<PartyId> for Owner {
    fn from(party: PartyId) -> Owner {
        Owner::Party(party)
    }
}

impl From<u16> for Owner {
    fn from(party: u16) -> Owner {
        Owner::Party(PartyId(party))
    }
}

/// The owner as people read it: `party 0`, `every party, in shares`.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Party(party) => write!(f, "party {party}"),
            Owner::Shared => f.write_str("every party, in shares"),
        }
    }
}

fn known(party: PartyId) -> Result<PartyId, ProgramError> {
    if party.0 < PartySet::MOST { Ok(party) } else { Err(ProgramError::NoParty(party)) }
}

#[cfg(test)]
mod tests;
