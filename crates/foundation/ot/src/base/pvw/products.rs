//! Products of points by scalars that each step takes, for one OT, or for one answer where that is said. The
//! tests count what is made and hold it against these.

/// A query: of the CRS's points.
pub const QUERY: usize = 4;
/// An answer, of the CRS's points; and as many of the query's points.
pub const ANSWER: usize = 4;
/// Products of the answer's points, to receive it.
pub const RECEIVE: usize = 1;
/// The head of an answer with shared randomness, whatever its OTs: of the CRS's points.
pub const HEAD: usize = 4;
/// Products of the query's points, for both pads of an OT in such an answer.
pub const PADS: usize = 4;
/// The pad of the receiver's choice: of the answer's points.
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
