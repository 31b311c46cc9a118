//! Cuckoo hashing: at most one item a bin.

use std::collections::{HashMap, VecDeque};
use std::hint::black_box;

use crate::places::{BinEntry, FUNCTIONS};

/// The number of times that an item and those it moves are put into a bin at random, before a place is
/// searched for. Nearly all find theirs in a few.
const WALK: u32 = 200;

/// The number of items that look for a place side by side: each waits for memory at every step.
const TOGETHER: usize = 32;

/// A table with at most one item in each bin, each item in one of its bins.
pub struct Cuckoo {
    table: Vec<BinEntry>,
    left_out: Vec<u32>,
}

/// An item without a place.
struct Homeless {
    item: u32,
    /// The bin that it had to leave.
    from: u32,
    /// The steps that led here.
    steps: u32,
}

impl Cuckoo {
    /// Places items 0 to `items - 1` in `bins` bins; `places` gives the bins of an item. Items for which no
    /// placement exists are left out.
    pub fn place(items: u32, bins: u32, places: impl Fn(u32) -> [u32; FUNCTIONS]) -> Cuckoo {
        let table = vec![BinEntry::NONE; bins as usize];
        let mut cuckoo = Cuckoo { table, left_out: Vec::new() };
        // The walk need not be unpredictable, only unlikely to go in circles.
        let mut coin = 0x9e37_79b9_7f4a_7c15u64;
        let mut new = (0..items).map(|item| Homeless { item, from: u32::MAX, steps: 0 });
        let (mut homeless, mut next) = (Vec::with_capacity(TOGETHER), Vec::with_capacity(TOGETHER));
        let mut all = Vec::with_capacity(TOGETHER);
        loop {
            homeless.extend(new.by_ref().take(TOGETHER - homeless.len()));
            if homeless.is_empty() {
                return cuckoo;
            }
            all.clear();
            all.extend(homeless.iter().map(|homeless: &Homeless| places(homeless.item)));
            // All that is looked at is read at once, and then is near.
            black_box(all.as_flattened().iter().fold(0, |sum, &bin| sum ^ cuckoo.table[bin as usize].item()));
            for (homeless, bins) in homeless.drain(..).zip(&all) {
                match cuckoo.step(&homeless, bins, &mut coin) {
                    Some(evicted) if evicted.steps < WALK => next.push(evicted),
                    Some(evicted) if !cuckoo.search(evicted.item, &places) => cuckoo.left_out.push(evicted.item),
                    _ => (),
                }
            }
            std::mem::swap(&mut homeless, &mut next);
        }
    }

    /// For each bin its item, and the function that put it there.
    pub fn bins(&self) -> impl ExactSizeIterator<Item = Option<BinEntry>> {
        self.table.iter().map(|&entry| (entry != BinEntry::NONE).then_some(entry))
    }

    /// The items that have no place.
    pub fn left_out(&self) -> &[u32] {
        &self.left_out
    }

    /// Puts an item into one of its bins. If none is free, returns the item that had to leave.
    fn step(&mut self, homeless: &Homeless, bins: &[u32; FUNCTIONS], coin: &mut u64) -> Option<Homeless> {
        let item = homeless.item;
        if let Some(free) = (0..FUNCTIONS).find(|&i| self.table[bins[i] as usize] == BinEntry::NONE) {
            self.table[bins[free] as usize] = BinEntry::new(item, free);
            return None;
        }
        *coin = coin.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let mut i = (((*coin >> 32) * FUNCTIONS as u64) >> 32) as usize;
        if bins[i] == homeless.from {
            i = (i + 1) % FUNCTIONS;
        }
        let evicted = std::mem::replace(&mut self.table[bins[i] as usize], BinEntry::new(item, i));
        Some(Homeless { item: evicted.item(), from: bins[i], steps: homeless.steps + 1 })
    }

    /// Finds a chain of moves that ends in a free bin, if there is one: breadth first, over all bins that can
    /// be reached.
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
