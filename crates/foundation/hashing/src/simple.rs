//! Simple hashing: each item in all of its bins.

use crate::places::FUNCTIONS;

/// The items of each run of bins, by function. Within these they are in no particular order: a reader that
/// takes some thousand bins at a time needs none.
pub struct Simple {
    /// The start of the items of each run and function.
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Simple {
    /// Items 0 to `items - 1`, whose bins `places` gives, in runs of `width` of the `bins` bins.
    pub fn new(items: u32, bins: u32, width: u32, places: impl Fn(u32) -> [u32; FUNCTIONS]) -> Simple {
        let part = |bin: u32, function: usize| (bin / width) as usize * FUNCTIONS + function;
        let mut starts = vec![0; bins.div_ceil(width) as usize * FUNCTIONS + 1];
        for item in 0..items {
            places(item).into_iter().enumerate().for_each(|(function, bin)| starts[part(bin, function) + 1] += 1);
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; sum];
        for item in 0..items {
            for (function, bin) in places(item).into_iter().enumerate() {
                let next = &mut next[part(bin, function)];
                sorted[*next] = item;
                *next += 1;
            }
        }
        Simple { starts, items: sorted }
    }

    /// The items of all runs, in order of the runs: those that each function put there.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = [&[u32]; FUNCTIONS]> {
        (0..self.starts.len() / FUNCTIONS).map(|run| {
            std::array::from_fn(|function| {
                let part = run * FUNCTIONS + function;
                &self.items[self.starts[part]..self.starts[part + 1]]
            })
        })
    }
}
