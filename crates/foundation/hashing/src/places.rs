//! Where an item goes: the functions, and the number of bins.

/// The number of hash functions.
pub const FUNCTIONS: usize = 3;

/// The least set that tables are sized for: smaller sets get a table of this size, since with few bins items
/// get in each other's way too often.
pub const LEAST: usize = 1 << 10;

/// Bits of a digest that choose a bin.
const SLICE: u32 = 42;

/// Bins for a hundred items, as in Pinkas, Schneider and Zohner without a stash.
pub const ROOMY: usize = 127;

/// Bins for a hundred items, as in D13.3, where a stash holds the items that find no place. A search that
/// tries all placements needs no stash here either.
pub const DENSE: usize = 120;

/// The number of bins of a table for `items` items, with `percent` bins for each hundred.
pub fn bins(items: usize, percent: usize) -> u32 {
    (items.max(LEAST) * percent).div_ceil(100) as u32
}

/// The bins of an item with this digest, all different, of `bins`. A uniform digest has uniform bins, but for
/// 2^-10 where there are 2^32 of them. They are made of the digest's lower 126 bits.
///
/// # Panics
/// If there are not as many bins as functions.
pub fn distinct(digest: u128, bins: u32) -> [u32; FUNCTIONS] {
    assert!(bins as usize >= FUNCTIONS, "{bins} bins for {FUNCTIONS} functions");
    let slice = |i: u32, of: u32| {
        let slice = (digest >> (SLICE * i)) & ((1 << SLICE) - 1);
        ((slice * u128::from(of)) >> SLICE) as u32
    };
    let (first, mut second, mut third) = (slice(0, bins), slice(1, bins - 1), slice(2, bins - 2));
    second += u32::from(second >= first);
    third += u32::from(third >= first.min(second));
    third += u32::from(third >= first.max(second));
    [first, second, third]
}

/// An item in a bin: its number, and the function that put it there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BinEntry(u32);

impl BinEntry {
    /// No item.
    pub(crate) const NONE: BinEntry = BinEntry(u32::MAX);

    /// The entry of an item, below 2^30 - 1, by a function.
    pub(crate) fn new(item: u32, function: usize) -> BinEntry {
        debug_assert!(item < u32::MAX >> 2 && function < FUNCTIONS);
        BinEntry(item << 2 | function as u32)
    }

    /// The item's number.
    pub fn item(self) -> u32 {
        self.0 >> 2
    }

    /// The function's number.
    pub fn function(self) -> usize {
        (self.0 & 3) as usize
    }
}
