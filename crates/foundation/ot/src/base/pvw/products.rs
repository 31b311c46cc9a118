//! Products of points by scalars that each step takes, for one OT, or for one answer where that is said. The
//! tests count what is made and hold it against these.

/// Making a query: products of the CRS's points.
pub const QUERY: usize = 4;
/// Making an answer: products of the CRS's points, and the same number of products of the query's points.
pub const ANSWER: usize = 4;
/// Receiving an answer: products of the answer's points.
pub const RECEIVE: usize = 1;
/// Making the head of an answer with shared randomness, however many OTs it has: products of the CRS's points.
pub const HEAD: usize = 4;
/// Making both pads of an OT in such an answer: products of the query's points.
pub const PADS: usize = 4;
/// Making the pad of the receiver's choice: products of the answer's points.
pub const CHOSEN: usize = 1;

#[cfg(test)]
thread_local! {
    static MADE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Notes products where they are made: for the tests.
#[cfg(test)]
pub(super) fn note(count: usize) {
    MADE.set(MADE.get() + count);
}

/// Notes nothing.
#[cfg(not(test))]
#[inline(always)]
pub(super) fn note(_: usize) {}

/// The products of some work.
#[cfg(test)]
pub(super) fn made<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = MADE.get();
    let result = work();
    (result, MADE.get() - before)
}
