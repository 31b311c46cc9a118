//! `PartyId`: who takes part.

use std::fmt;

/// A party of a session, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyId(pub u16);

impl PartyId {
    /// The other party of two. Only a protocol for exactly two parties may call this.
    ///
    /// ```
    /// # use comity_core::PartyId;
    /// assert_eq!([PartyId(0).other(), PartyId(1).other()], [PartyId(1), PartyId(0)]);
    /// ```
    ///
    /// # Panics
    /// If this is neither party 0 nor party 1.
    pub const fn other(self) -> PartyId {
        assert!(self.0 < 2, "there is no one other party: not one of two");
        PartyId(1 - self.0)
    }
}

/// Parties as people read them: `nobody`, `party 1`, `parties 1, 2 and 4`.
pub fn listed(parties: impl IntoIterator<Item = PartyId>) -> String {
    let mut names: Vec<String> = parties.into_iter().map(|party| party.to_string()).collect();
    match (names.pop(), names.is_empty()) {
        (None, _) => "nobody".to_owned(),
        (Some(only), true) => format!("party {only}"),
        (Some(last), false) => format!("parties {} and {last}", names.join(", ")),
    }
}

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
