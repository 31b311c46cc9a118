//! `Elements`: the distinct items of a table, and which row has which.

use crate::key::KeyHash;

/// The distinct items of a table's rows, in the order in which they come first.
#[derive(Default)]
pub struct Elements {
    items: Vec<KeyHash>,
    /// The element of each row; [`NONE`] for a row without a key.
    of_row: Vec<u32>,
    /// An open hash table of places in `items`, at most half full. Items are hashes: their first bytes spread
    /// by themselves.
    slots: Vec<u32>,
    /// The number of rows without a key.
    empty: u64,
}

const NONE: u32 = u32::MAX;

/// Rows at most.
const MOST: usize = NONE as usize - 1;

impl Elements {
    /// Takes the item of the next row; `None` is an empty key. Returns its element, and whether that is new;
    /// `None` for an empty key, or if there are more than 2^32 - 2 rows.
    pub fn add(&mut self, item: Option<&KeyHash>) -> Option<(usize, bool)> {
        if self.of_row.len() == MOST {
            return None;
        }
        let Some(item) = item else {
            self.empty += 1;
            self.of_row.push(NONE);
            return None;
        };
        if self.items.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let (slot, found) = self.slot(item);
        if found == NONE {
            self.slots[slot] = self.items.len() as u32;
            self.items.push(*item);
        }
        let element = self.slots[slot];
        self.of_row.push(element);
        Some((element as usize, found == NONE))
    }

    /// Whether no more rows can be taken.
    pub fn is_full(&self) -> bool {
        self.of_row.len() == MOST
    }

    /// The slot that has the item, or gets it, and its content.
    fn slot(&self, item: &KeyHash) -> (usize, u32) {
        let mask = self.slots.len() - 1;
        let [a, b, c, d, e, f, g, h, ..] = *item;
        let mut slot = u64::from_le_bytes([a, b, c, d, e, f, g, h]) as usize & mask;
        loop {
            let there = self.slots[slot];
            if there == NONE || self.items[there as usize] == *item {
                return (slot, there);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(1024);
        self.slots = vec![NONE; size];
        for at in 0..self.items.len() {
            let (slot, _) = self.slot(&self.items[at]);
            self.slots[slot] = at as u32;
        }
    }

    /// Takes out the distinct items, and frees what only [`add`](Elements::add) needs.
    pub fn take(&mut self) -> Vec<KeyHash> {
        self.slots = Vec::new();
        self.of_row.shrink_to_fit();
        let mut items = core::mem::take(&mut self.items);
        items.shrink_to_fit();
        items
    }

    /// The distinct items.
    pub fn items(&self) -> &[KeyHash] {
        &self.items
    }

    /// The element of a row, if it has a key.
    pub fn of_row(&self, row: usize) -> Option<usize> {
        self.of_row.get(row).filter(|element| **element != NONE).map(|element| *element as usize)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.of_row.len()
    }

    /// The number of rows without a key.
    pub fn empty(&self) -> u64 {
        self.empty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items that begin alike are in one another's way, and are told apart.
    #[test]
    fn rows_with_equal_items_share_an_element() {
        let item = |n: u32| {
            let mut item = [0; 32];
            item[28..].copy_from_slice(&n.to_le_bytes());
            item[..4].copy_from_slice(&(n % 7).to_le_bytes());
            item
        };
        let mut elements = Elements::default();
        for n in 0..3000_u32 {
            let added = elements.add(Some(&item(n % 1000)));
            assert_eq!(added, Some(((n % 1000) as usize, n < 1000)));
        }
        assert!(elements.slots.len() >= 2 * elements.items.len(), "a full table has no end of a search");
        assert_eq!(elements.add(None), None);
        assert!((0..1000).all(|n| elements.items()[n] == item(n as u32)));
        assert_eq!((elements.rows(), elements.take().len(), elements.empty()), (3001, 1000, 1));
        assert_eq!((elements.of_row(2500), elements.of_row(3000), elements.of_row(9000)), (Some(500), None, None));
    }
}
