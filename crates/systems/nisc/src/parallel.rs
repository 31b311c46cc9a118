//! Work on many bits at once, on as many threads as there are cores.

use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

use crate::group::{note, noted};

/// Bits that are worked on together: they bound the memory that this takes.
const BATCH: usize = 64;

/// Products for which a thread is worth it.
const THREAD: usize = 64;

/// Ranges of bits, one after another, so that results can be used in order.
pub(crate) fn batches(bits: usize) -> impl Iterator<Item = Range<usize>> {
    (0..bits).step_by(BATCH).map(move |start| start..bits.min(start + BATCH))
}

/// The results for a range, each of which takes `products` products.
pub(crate) fn map<T: Send>(range: Range<usize>, products: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    // Where there are no threads, as in a browser, there is one core.
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(range.len() * products / THREAD).max(1);
    let share = range.len().div_ceil(threads).max(1);
    let mut shares = range.clone().step_by(share).map(|start| start..range.end.min(start + share));
    let Some(first) = shares.next() else { return Vec::new() };
    let f = &f;
    thread::scope(|scope| {
        let work = |share: Range<usize>| (share.map(f).collect::<Vec<T>>(), noted());
        let others: Vec<_> = shares.map(|share| scope.spawn(move || work(share))).collect();
        let mut results: Vec<T> = first.map(f).collect();
        for other in others {
            let (more, [fixed, variable]) = other.join().unwrap_or_else(|panic| resume_unwind(panic));
            results.extend(more);
            note(fixed, variable);
        }
        results
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_come_in_order() {
        for len in [0, 1, 63, 64, 65, 300] {
            let all: Vec<usize> = super::batches(len).flat_map(|batch| super::map(batch, 64, |i| 3 * i)).collect();
            assert_eq!(all, (0..len).map(|i| 3 * i).collect::<Vec<_>>());
        }
    }
}
