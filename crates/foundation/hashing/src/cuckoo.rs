//! Cuckoo hashing: at most one item a bin.

use std::collections::{HashMap, VecDeque};

use crate::places::{BinEntry, FUNCTIONS};

/// The number of items that are moved at random before a place is searched for. Nearly all find theirs in a few moves.
const WALK: usize = 200;

/// A table with at most one item in each bin, each item in one of its bins.
pub struct Cuckoo {
    table: Vec<BinEntry>,
    left_out: Vec<u32>,
}

impl Cuckoo {
    /// Places items 0 to `items - 1` in `bins` bins; `places` tells the bins of an item. Those for which no placement exists
    /// are left out.
    pub fn place(items: u32, bins: u32, places: impl Fn(u32) -> [u32; FUNCTIONS]) -> Cuckoo {
        let table = vec![BinEntry::NONE; bins as usize];
        let mut cuckoo = Cuckoo { table, left_out: Vec::new() };
        // The walk need not be unpredictable, only unlikely to go in circles.
        let mut coin = 0x9e37_79b9_7f4a_7c15u64;
        for item in 0..items {
            if let Some(homeless) = cuckoo.walk(item, &mut coin, &places)
                && !cuckoo.search(homeless, &places)
            {
                cuckoo.left_out.push(homeless);
            }
        }
        cuckoo
    }

    /// The item in each bin, and by which function it is there.
    pub fn bins(&self) -> impl ExactSizeIterator<Item = Option<BinEntry>> {
        self.table.iter().map(|&entry| (entry != BinEntry::NONE).then_some(entry))
    }

    /// The items that have no place.
    pub fn left_out(&self) -> &[u32] {
        &self.left_out
    }

    /// Puts an item in, and the item that was in its place elsewhere, and so on. Returns who has no place in the end.
    fn walk(&mut self, mut item: u32, coin: &mut u64, places: &impl Fn(u32) -> [u32; FUNCTIONS]) -> Option<u32> {
        let mut from = u32::MAX;
        for _ in 0..WALK {
            let bins = places(item);
            if let Some(free) = (0..FUNCTIONS).find(|&i| self.table[bins[i] as usize] == BinEntry::NONE) {
                self.table[bins[free] as usize] = BinEntry::new(item, free);
                return None;
            }
            *coin = coin.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let mut i = (((*coin >> 32) * FUNCTIONS as u64) >> 32) as usize;
            if bins[i] == from {
                i = (i + 1) % FUNCTIONS;
            }
            let evicted = std::mem::replace(&mut self.table[bins[i] as usize], BinEntry::new(item, i));
            (item, from) = (evicted.item(), bins[i]);
        }
        Some(item)
    }

    /// Finds a chain of moves that ends in a free bin, if there is one: breadth first, over all bins that can be reached.
    fn search(&mut self, item: u32, places: &impl Fn(u32) -> [u32; FUNCTIONS]) -> bool {
        // The bin whose item would move here; none if it is for the item itself.
        let mut before: HashMap<u32, Option<u32>> = places(item).into_iter().map(|bin| (bin, None)).collect();
        let mut queue: VecDeque<u32> = places(item).into();
        while let Some(bin) = queue.pop_front() {
            let entry = self.table[bin as usize];
            if entry == BinEntry::NONE {
                self.shift(item, bin, &before, places);
                return true;
            }
            for next in places(entry.item()) {
                before.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    Some(bin)
                });
            }
        }
        false
    }

    /// Moves items along a chain that ends in `bin`, which is free.
    fn shift(
        &mut self,
        item: u32,
        mut bin: u32,
        before: &HashMap<u32, Option<u32>>,
        places: &impl Fn(u32) -> [u32; FUNCTIONS],
    ) {
        loop {
            let from = before[&bin];
            let moves = from.map_or(item, |from| self.table[from as usize].item());
            let function = places(moves).iter().position(|&b| b == bin).expect("a bin of the item");
            self.table[bin as usize] = BinEntry::new(moves, function);
            match from {
                Some(from) => bin = from,
                None => return,
            }
        }
    }
}
