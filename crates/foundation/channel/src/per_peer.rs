//! `PerPeer`: one of something for each other party.

use std::ops::{Index, IndexMut};

use comity_core::PartyId;

/// One `T` for each party but this one, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerPeer<T> {
    me: PartyId,
    items: Vec<T>,
}

impl<T> PerPeer<T> {
    /// A new item for each of the other `parties - 1`.
    ///
    /// # Panics
    /// If `me` is not below `parties`.
    pub fn new(me: PartyId, parties: u16, mut make: impl FnMut(PartyId) -> T) -> PerPeer<T> {
        assert!(me.0 < parties, "party {me} does not exist among {parties} parties");
        // A plain loop: a chain of iterators would be compiled anew, with all its parts, for each of hundreds of closures.
        let mut items = Vec::with_capacity(usize::from(parties) - 1);
        for party in 0..parties {
            if party != me.0 {
                items.push(make(PartyId(party)));
            }
        }
        PerPeer { me, items }
    }

    /// The items of a list, one for each other party, in order. `None` if `me` is not below the number of
    /// parties.
    pub fn from_vec(me: PartyId, items: Vec<T>) -> Option<PerPeer<T>> {
        (usize::from(me.0) <= items.len()).then_some(PerPeer { me, items })
    }

    /// The party that has the items.
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// The number of parties, this one included.
    pub fn parties(&self) -> u16 {
        self.items.len() as u16 + 1
    }

    /// The ids of the others.
    pub fn peers(&self) -> impl Iterator<Item = PartyId> + use<T> {
        peers(self.me, self.parties())
    }

    /// Each item with its party.
    pub fn iter(&self) -> impl Iterator<Item = (PartyId, &T)> {
        self.peers().zip(&self.items)
    }

    /// Each item with its party.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (PartyId, &mut T)> {
        peers(self.me, self.parties()).zip(&mut self.items)
    }

    /// The results of a function of each item.
    pub fn map<U>(self, mut f: impl FnMut(PartyId, T) -> U) -> PerPeer<U> {
        let (me, parties) = (self.me, peers(self.me, self.parties()));
        let mut items = Vec::with_capacity(self.items.len());
        for (party, item) in parties.zip(self.items) {
            items.push(f(party, item));
        }
        PerPeer { me, items }
    }

    /// All items, in order.
    pub fn into_vec(self) -> Vec<T> {
        self.items
    }

    /// All items, in order.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.items
    }

    fn at(&self, party: PartyId) -> usize {
        assert!(party != self.me && party.0 < self.parties(), "party {} is no peer of party {}", party, self.me);
        usize::from(party.0 - u16::from(party > self.me))
    }
}

fn peers(me: PartyId, parties: u16) -> impl Iterator<Item = PartyId> + use<> {
    (0..parties).map(PartyId).filter(move |&party| party != me)
}

impl<T> Index<PartyId> for PerPeer<T> {
    type Output = T;

    fn index(&self, party: PartyId) -> &T {
        &self.items[self.at(party)]
    }
}

impl<T> IndexMut<PartyId> for PerPeer<T> {
    fn index_mut(&mut self, party: PartyId) -> &mut T {
        let at = self.at(party);
        &mut self.items[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_peer_has_its_own() {
        for me in 0..4 {
            let mut all = PerPeer::new(PartyId(me), 4, |party| party.0);
            assert_eq!(all.parties(), 4);
            for (party, item) in all.iter_mut() {
                assert_eq!(party.0, *item);
                *item += 10;
            }
            for party in all.peers() {
                assert_eq!(all[party], party.0 + 10);
            }
            assert_eq!(all.iter().count(), 3);
        }
        assert!(PerPeer::from_vec(PartyId(3), vec![(), ()]).is_none());
    }
}
