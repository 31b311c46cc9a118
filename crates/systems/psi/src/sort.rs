//! Sorting by masks, which are uniform: almost all of the order is known from the upper bits.

use crate::set::MAX_ITEMS;

/// The items of a part on average: as many as fit the first-level cache, twice.
const PART: usize = 512;

/// The most items of a place in a part that are put in order one by one: uniform ones are a few.
const FEW: u32 = 32;

/// Writes as many of the items that `item` tells as there is room for, sorted by `mask`: into parts, and each
/// of these into about as many places as it has items. `start` tells the first 64 bits of a mask.
pub(crate) fn sort_by_mask<T: Copy, K: Ord>(
    item: impl Fn(usize) -> T,
    to: &mut [T],
    start: impl Fn(&T) -> u64,
    mask: impl Fn(&T) -> K,
) {
    let (mut before, mut places) = (Vec::with_capacity(2 * PART), Vec::new());
    partition(item, to, &start, |part, same| sort_part(part, same, (&start, &mask), &mut before, &mut places));
}

/// Writes as many items as there is room for, in the order of what masks begin with, and hands on each part
/// that begins alike, with how many bits of it do.
pub(crate) fn partition<T: Copy>(
    item: impl Fn(usize) -> T,
    to: &mut [T],
    start: impl Fn(&T) -> u64,
    mut each: impl FnMut(&mut [T], u32),
) {
    let upper = (to.len() / PART).max(1).ilog2();
    let part = |item: &T| start(item).unbounded_shr(u64::BITS - upper) as usize;
    let mut next = vec![0u32; (1 << upper) + 1];
    (0..to.len()).for_each(|i| next[part(&item(i)) + 1] += 1);
    for i in 1..next.len() {
        next[i] += next[i - 1];
    }
    for item in (0..to.len()).map(&item) {
        let next = &mut next[part(&item)];
        to[*next as usize] = item;
        *next += 1;
    }
    // Each number now is the end of its part.
    let mut start = 0;
    for &end in &next[..1 << upper] {
        each(&mut to[start..end as usize], upper);
        start = end as usize;
    }
}

/// Sorts items whose masks begin with the same bits.
fn sort_part<T: Copy, K: Ord>(
    list: &mut [T],
    same: u32,
    (start, mask): (&impl Fn(&T) -> u64, &impl Fn(&T) -> K),
    before: &mut Vec<T>,
    places: &mut Vec<u32>,
) {
    if list.len() < 2 {
        return;
    }
    let lower = list.len().next_power_of_two().ilog2();
    let place = |item: &T| (start(item) << same).unbounded_shr(u64::BITS - lower) as usize;
    places.clear();
    places.resize((1 << lower) + 1, 0);
    list.iter().for_each(|item| places[place(item) + 1] += 1);
    if places.iter().any(|&count| count > FEW) {
        return list.sort_unstable_by_key(mask);
    }
    for i in 1..places.len() {
        places[i] += places[i - 1];
    }
    before.clear();
    before.extend_from_slice(list);
    for item in &*before {
        let next = &mut places[place(item)];
        list[*next as usize] = *item;
        *next += 1;
    }
    for i in 1..list.len() {
        let (item, own) = (list[i], mask(&list[i]));
        let mut at = i;
        while at > 0 && mask(&list[at - 1]) > own {
            list[at] = list[at - 1];
            at -= 1;
        }
        list[at] = item;
    }
}

/// Places of masks, sorted by the masks' first bits: eight bytes each, so that little is moved.
pub(crate) struct Beginnings {
    /// A beginning and a place each, ascending.
    keys: Vec<u64>,
    bits: u32,
}

impl Beginnings {
    /// The bits of a place.
    const PLACE: u32 = MAX_ITEMS.ilog2();

    /// The places of `n` masks of `bits` bits, at most [`MAX_ITEMS`].
    pub(crate) fn of(n: usize, mask: impl Fn(usize) -> u128, bits: u32) -> Beginnings {
        let mut keys = vec![0; n];
        let key = |place: usize| start(mask(place), bits) << Self::PLACE | place as u64;
        sort_by_mask(key, &mut keys, |&key| key, |&key| key);
        Beginnings { keys, bits }
    }

    /// A walk along masks that come in ascending order.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk { keys: &self.keys, bits: self.bits, starts: Vec::new(), pairs: Vec::new() }
    }

    /// The places in ascending order of the masks.
    fn order(mut self, mask: impl Fn(usize) -> u128) -> Vec<u32> {
        // Masks that begin alike are in the order of their places so far.
        let alike = self.keys.chunk_by_mut(|one, other| one >> Self::PLACE == other >> Self::PLACE);
        for alike in alike.filter(|alike| alike.len() > 1) {
            alike.sort_unstable_by_key(|&key| mask(place(key) as usize));
        }
        self.keys.into_iter().map(place).collect()
    }
}

/// The beginnings that are left after those of smaller masks.
pub(crate) struct Walk<'b> {
    keys: &'b [u64],
    bits: u32,
    starts: Vec<u64>,
    pairs: Vec<(u32, u32)>,
}

impl Walk<'_> {
    /// For each of these masks, which ascend and are no smaller than those before: its number, and each place
    /// of masks that begin as it does.
    pub(crate) fn alike(&mut self, masks: &[u128], mut each: impl FnMut(usize, u32)) {
        let keys = self.keys;
        self.starts.clear();
        self.starts.extend(masks.iter().map(|&mask| start(mask, self.bits)));
        self.pairs.resize(masks.len(), (0, 0));
        // Which list has the smaller one next is anybody's guess: sums cost less than branches.
        let (mut at, mut nth, mut count) = (0, 0, 0);
        while at < keys.len() && nth < masks.len() {
            let (key, start) = (keys[at] >> Beginnings::PLACE, self.starts[nth]);
            self.pairs[count] = (at as u32, nth as u32);
            count += usize::from(key == start);
            nth += usize::from(key >= start);
            at += usize::from(key < start);
        }
        for &(from, nth) in &self.pairs[..count] {
            let (from, nth) = (from as usize, nth as usize);
            let alike = keys[from..].iter().take_while(|key| **key >> Beginnings::PLACE == self.starts[nth]);
            alike.for_each(|&key| each(nth, place(key)));
        }
        self.keys = &keys[at..];
    }
}

/// The first 64 bits of a mask of `bits` bits, filled with zeros.
#[inline(always)]
pub(crate) fn first(mask: u128, bits: u32) -> u64 {
    ((mask << (u128::BITS - bits)) >> u64::BITS) as u64
}

/// The first bits of a mask of `bits` bits.
#[inline(always)]
fn start(mask: u128, bits: u32) -> u64 {
    first(mask, bits) >> Beginnings::PLACE
}

/// The place that a key has beside its beginning.
fn place(key: u64) -> u32 {
    (key & ((1 << Beginnings::PLACE) - 1)) as u32
}

/// The places of `n` masks of `bits` bits, at most [`MAX_ITEMS`], in ascending order of the masks.
pub(crate) fn order_by_mask(n: usize, mask: impl Fn(usize) -> u128, bits: u32) -> Vec<u32> {
    Beginnings::of(n, &mask, bits).order(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masks of `bits` bits: random ones, equal ones, and ones that begin alike.
    fn lists(n: usize, bits: u32) -> [Vec<u128>; 3] {
        let mut hash = blake3::Hasher::new().update(&n.to_le_bytes()).finalize_xof();
        let mut random = |bits: u32| {
            let mut bytes = [0; 16];
            hash.fill(&mut bytes);
            u128::from_le_bytes(bytes) >> (128 - bits)
        };
        let one = random(bits);
        [(0..n).map(|_| random(bits)).collect(), vec![one; n], (0..n).map(|_| random(bits.min(20))).collect()]
    }

    #[test]
    fn lists_are_sorted_whatever_is_in_them() {
        for n in [0usize, 1, 7, 8, 15, 16, 17, 1000, 1023, 1024, 4097] {
            for bits in [1, 3, 42, 82, 128] {
                for masks in lists(n, bits) {
                    let mut list = vec![(0, 0); n];
                    let mut expected = masks.clone();
                    expected.sort_unstable();
                    sort_by_mask(|at| (masks[at], at), &mut list, |item| first(item.0, bits), |item| item.0);
                    assert_eq!(list.iter().map(|item| item.0).collect::<Vec<_>>(), expected);
                    list.sort_unstable_by_key(|item| item.1);
                    assert!(list.iter().map(|item| item.1).eq(0..n), "none is lost");
                    let mut order = order_by_mask(n, |at| masks[at], bits);
                    assert!(order.iter().map(|&place| masks[place as usize]).eq(expected), "{n} of {bits} bits");
                    order.sort_unstable();
                    assert!(order.into_iter().eq(0..n as u32), "none is lost");
                }
            }
        }
    }
}
