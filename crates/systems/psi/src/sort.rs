//! Sorting by masks, which are uniform: almost all of the order is known from the upper bits.

use crate::set::MAX_ITEMS;

/// The items of a part on average: as many as fit the first-level cache, twice.
const PART: usize = 512;

/// The most items of a place in a part that are put in order one by one: uniform ones are a few.
const FEW: u32 = 32;

/// Sorts a list by masks of `bits` bits: into parts, and each of these into about as many places as it has items.
pub(crate) fn sort_by_mask<T: Copy>(list: &mut [T], bits: u32, mask: impl Fn(&T) -> u128) {
    let upper = (list.len() / PART).max(1).ilog2().min(bits);
    let part = |item: &T| (mask(item) >> (bits - upper)) as usize;
    let mut next = vec![0u32; (1 << upper) + 1];
    if upper > 0 {
        list.iter().for_each(|item| next[part(item) + 1] += 1);
        for i in 1..next.len() {
            next[i] += next[i - 1];
        }
        for item in &list.to_vec() {
            let next = &mut next[part(item)];
            list[*next as usize] = *item;
            *next += 1;
        }
    } else {
        next[0] = list.len() as u32;
    }
    // Each number now is the end of its part.
    let (mut start, mut before, mut places) = (0, Vec::with_capacity(2 * PART), Vec::new());
    for &end in &next[..1 << upper] {
        sort_part(&mut list[start..end as usize], bits - upper, &mask, &mut before, &mut places);
        start = end as usize;
    }
}

/// Sorts items whose masks differ in the lower `bits` bits alone.
fn sort_part<T: Copy>(
    list: &mut [T],
    bits: u32,
    mask: &impl Fn(&T) -> u128,
    before: &mut Vec<T>,
    places: &mut Vec<u32>,
) {
    if list.len() < 2 {
        return;
    }
    let lower = list.len().next_power_of_two().ilog2().min(bits);
    let place = |item: &T| (mask(item) >> (bits - lower)) as usize & ((1 << lower) - 1);
    places.clear();
    places.resize((1 << lower) + 1, 0);
    list.iter().for_each(|item| places[place(item) + 1] += 1);
    if lower < bits && places.iter().any(|&count| count > FEW) {
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

/// The places of masks of `bits` bits, at most [`MAX_ITEMS`], in ascending order of the masks. Eight bytes are sorted for each: what a mask begins
/// with, and its place.
pub(crate) fn order_by_mask(masks: &[u128], bits: u32) -> Vec<u32> {
    const PLACE: u32 = MAX_ITEMS.ilog2();
    const START: u32 = u64::BITS - PLACE;
    let place = |key: u64| (key & ((1 << PLACE) - 1)) as u32;
    let start = |mask: u128| if bits > START { mask >> (bits - START) } else { mask << (START - bits) };
    let keys = (0..).zip(masks).map(|(place, &mask): (u64, _)| (start(mask) as u64) << PLACE | place);
    let mut keys: Vec<u64> = keys.collect();
    sort_by_mask(&mut keys, u64::BITS, |&key| key.into());
    // Masks that begin alike are in the order of their places so far.
    for alike in keys.chunk_by_mut(|one, other| one >> PLACE == other >> PLACE).filter(|alike| alike.len() > 1) {
        alike.sort_unstable_by_key(|&key| masks[place(key) as usize]);
    }
    keys.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masks of so many bits: random ones, equal ones, and ones that begin alike.
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
                    let mut list: Vec<(u128, usize)> = masks.iter().copied().zip(0..).collect();
                    let mut expected = masks.clone();
                    expected.sort_unstable();
                    sort_by_mask(&mut list, bits, |item| item.0);
                    assert_eq!(list.iter().map(|item| item.0).collect::<Vec<_>>(), expected);
                    list.sort_unstable_by_key(|item| item.1);
                    assert!(list.iter().map(|item| item.1).eq(0..n), "none is lost");
                    let mut order = order_by_mask(&masks, bits);
                    assert!(order.iter().map(|&place| masks[place as usize]).eq(expected), "{n} of {bits} bits");
                    order.sort_unstable();
                    assert!(order.into_iter().eq(0..n as u32), "none is lost");
                }
            }
        }
    }
}
