//! What goes in and what comes out: items, a party's set, and what a run gives.

use comity_core::{Error, Result};

use crate::masks::Found;
use crate::sort::partition;
use crate::terms::Terms;

/// The most items of a set: item numbers are 32-bit words, with room for what hashing adds.
pub const MAX_ITEMS: usize = 1 << 28;

/// An element of a set: the BLAKE3 hash, 32 bytes, of an encoding that no other element has. Its owner
/// computes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item(pub [u8; 32]);

impl Item {
    /// The item of an element with this encoding.
    pub fn of(encoding: &[u8]) -> Item {
        Item(blake3::hash(encoding).into())
    }
}

/// A party's set.
#[derive(Clone, Copy, Default)]
pub struct Set<'a> {
    /// The items, none of them twice.
    pub items: &'a [Item],
    /// The sender's payload, [equally many bytes](Terms::payload) for each item, in the order of the items.
    /// The receiver's is empty.
    pub payload: &'a [u8],
    /// The size that the peer sees, if it is more than the number of items: dummies fill the set up.
    pub pad_to: usize,
}

impl Set<'_> {
    /// The size that the peer sees.
    pub fn told(&self) -> usize {
        self.pad_to.max(self.items.len())
    }

    /// Checks that no item is there twice and that the set fits the terms. `payload` is the number of bytes
    /// an item.
    pub(crate) fn check(&self, payload: usize) -> Result<()> {
        let (items, told) = (self.items.len(), self.told());
        if told > MAX_ITEMS {
            return Err(Error::invalid_input(format!(
                "a set of {told} items is too large: {MAX_ITEMS} at most; cut both sets by a hash of the items"
            )));
        }
        if self.pad_to != 0 && self.pad_to < items {
            return Err(Error::invalid_input(format!("{items} items cannot be padded to {}", self.pad_to)));
        }
        if self.payload.len() != items * payload {
            let bytes = self.payload.len();
            return Err(Error::invalid_input(format!(
                "{bytes} bytes of payload for {items} items; it is {payload} bytes an item"
            )));
        }
        match repeated(self.items) {
            Some((first, again)) => {
                Err(Error::invalid_input(format!("item {again} is item {first} again: a set has each item once")))
            }
            None => Ok(()),
        }
    }
}

/// Two places of an item that comes twice, if one does.
fn repeated(items: &[Item]) -> Option<(usize, usize)> {
    // Numbers of items with bits of a hash before them, cut into parts that have hash tables in the
    // first-level cache: one table for all would come from memory. Hardly an item is read for another one's
    // sake, since bits tell them apart.
    const NUMBER: u32 = MAX_ITEMS.ilog2();
    let number = |key: u64| (key & ((1 << NUMBER) - 1)) as usize;
    let hash =
        |item: &Item| u64::from_le_bytes(*item.0.first_chunk().expect("32 bytes")).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let key = |at: usize| hash(&items[at]) >> NUMBER << NUMBER | at as u64;
    let (mut keys, mut slots, mut found) = (vec![0; items.len()], Vec::new(), None);
    partition(
        key,
        &mut keys,
        |&key| key,
        |keys, same| {
            // At most half full. What stands for a free slot is the key of the last item of the largest set,
            // with probability 2^-36.
            let size = (2 * keys.len()).next_power_of_two();
            slots.clear();
            slots.resize(size, u64::MAX);
            for &key in &*keys {
                let mut slot = (key << same).unbounded_shr(u64::BITS - size.ilog2()) as usize % size;
                while slots[slot] != u64::MAX {
                    let alike = slots[slot] >> NUMBER == key >> NUMBER;
                    if alike && items[number(slots[slot])] == items[number(key)] {
                        found = Some((number(slots[slot]), number(key)));
                    }
                    slot = (slot + 1) % size;
                }
                slots[slot] = key;
            }
        },
    );
    found
}

/// The sender's result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The announced size of the receiver's set.
    pub theirs: usize,
    /// The number of own items that hashing could not place: the result lacks them.
    pub left_out: usize,
}

/// The receiver's result of a run.
#[derive(Clone, PartialEq, Eq)]
pub struct Matches {
    /// The announced size of the sender's set.
    pub theirs: usize,
    /// The common items: their numbers in this party's set, ascending.
    pub matched: Vec<u32>,
    /// The sender's payload of the common items, in their order.
    pub payload: Vec<u8>,
    /// The number of own items that hashing could not place: the result lacks them.
    pub left_out: usize,
}

impl Matches {
    /// The result of a run in which these of `own` items were found.
    pub(crate) fn new(theirs: usize, own: usize, found: &Found, left_out: usize) -> Matches {
        let width = found.payload.len().checked_div(found.places.len()).unwrap_or(0);
        // What was found of each item, numbered from 1, in the order of the items.
        let mut of_item = vec![0u32; own];
        (1..).zip(&found.places).for_each(|(number, &item)| of_item[item as usize] = number);
        let (mut matched, mut payload) = (Vec::new(), Vec::new());
        for (item, number) in (0..).zip(of_item).filter(|&(_, number)| number > 0) {
            matched.push(item);
            payload.extend_from_slice(&found.payload[(number as usize - 1) * width..][..width]);
        }
        Matches { theirs, matched, payload, left_out }
    }
}

impl Terms {
    /// The payload that a sender has to bring, and a receiver.
    pub(crate) fn payload_of(&self, sender: bool) -> usize {
        if sender { self.payload } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_item_is_named() {
        let item = |n: u8| Item([n; 32]);
        assert_eq!(repeated(&[]), None);
        assert_eq!(repeated(&(0..=255).map(item).collect::<Vec<_>>()), None);
        assert_eq!(repeated(&[item(3), item(1), item(2), item(1)]), Some((1, 3)));
        // In sets of several parts, wherever they are.
        let mut many: Vec<Item> = (0..5000u32).map(|n| Item::of(&n.to_le_bytes())).collect();
        assert_eq!(repeated(&many), None);
        for (one, other) in [(0, 4999), (17, 18), (2500, 4000)] {
            let (before, again) = (many[other], many[one]);
            many[other] = again;
            assert_eq!(repeated(&many), Some((one, other)));
            many[other] = before;
        }
        let set = Set { items: &[item(1), item(1)], ..Set::default() };
        assert!(set.check(0).unwrap_err().to_string().contains("item 1 is item 0 again"));
    }

    /// Found in whatever order, and more than once: each item stands once in its place, with its payload.
    #[test]
    fn results_are_in_the_order_of_items() {
        let found = Found { places: vec![4, 0, 4, 2], payload: b"ddaaddcc".to_vec() };
        let matches = Matches::new(7, 6, &found, 1);
        assert_eq!((matches.matched, matches.payload), (vec![0, 2, 4], b"aaccdd".to_vec()));
        assert_eq!((matches.theirs, matches.left_out), (7, 1));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let items = [Item([1; 32]), Item([2; 32])];
        let why = |set: Set<'_>, payload| set.check(payload).err().map(|e| e.to_string()).unwrap_or_default();
        assert_eq!(why(Set { items: &items, payload: &[1, 2], pad_to: 0 }, 1), "");
        assert!(why(Set { items: &items, payload: &[1], pad_to: 0 }, 1).contains("1 bytes of payload"));
        assert!(why(Set { items: &items, payload: &[], pad_to: 1 }, 0).contains("cannot be padded to 1"));
        assert!(why(Set { items: &items, payload: &[], pad_to: MAX_ITEMS + 1 }, 0).contains("too large"));
    }
}
