//! Simple hashing: each item in all of its bins.

use crate::places::{Entry, FUNCTIONS};

/// The items of each run of bins, in no particular order within a run: who works through bins a few thousand at a time needs no
/// more order than that.
pub struct Simple {
    /// Where the entries of a run begin.
    starts: Vec<usize>,
    entries: Vec<Entry>,
}

impl Simple {
    /// Items 0 to `items - 1`, whose bins `places` tells, for runs of `width` bins of all `bins`.
    pub fn new(items: u32, bins: u32, width: u32, places: impl Fn(u32) -> [u32; FUNCTIONS]) -> Simple {
        let mut starts = vec![0; bins.div_ceil(width) as usize + 1];
        for item in 0..items {
            places(item).iter().for_each(|bin| starts[(bin / width) as usize + 1] += 1);
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut entries = vec![Entry::NONE; sum];
        for item in 0..items {
            for (function, bin) in places(item).into_iter().enumerate() {
                let next = &mut next[(bin / width) as usize];
                entries[*next] = Entry::new(item, function);
                *next += 1;
            }
        }
        Simple { starts, entries }
    }

    /// The entries of all runs, in order of the runs.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = &[Entry]> {
        self.starts.windows(2).map(|run| &self.entries[run[0]..run[1]])
    }
}
