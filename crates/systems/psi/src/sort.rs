//! Sorting by masks, which are uniform: almost all of the order is known from the upper bits.

/// The items of a bucket, on average.
const BUCKET: usize = 8;

/// Sorts a list by masks of `bits` bits.
pub(crate) fn sort_by_mask<T: Copy>(list: &mut [T], bits: u32, mask: impl Fn(&T) -> u128) {
    let upper = (list.len() / BUCKET).max(1).ilog2().min(bits);
    if upper == 0 {
        return list.sort_unstable_by_key(mask);
    }
    let bucket = |item: &T| (mask(item) >> (bits - upper)) as usize;
    let mut next = vec![0u32; (1 << upper) + 1];
    list.iter().for_each(|item| next[bucket(item) + 1] += 1);
    for i in 1..next.len() {
        next[i] += next[i - 1];
    }
    let before = list.to_vec();
    for item in &before {
        let next = &mut next[bucket(item)];
        list[*next as usize] = *item;
        *next += 1;
    }
    // Each place now is the end of its bucket.
    let mut start = 0;
    for &end in &next[..1 << upper] {
        list[start..end as usize].sort_unstable_by_key(&mask);
        start = end as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_whatever_is_in_them() {
        for n in [0usize, 1, 7, 8, 15, 16, 17, 1000, 4097] {
            for bits in [1, 3, 42, 82, 128] {
                let mut hash = blake3::Hasher::new().update(&n.to_le_bytes()).finalize_xof();
                let mut random = || {
                    let mut bytes = [0; 16];
                    hash.fill(&mut bytes);
                    u128::from_le_bytes(bytes) >> (128 - bits)
                };
                for list in [(0..n).map(|_| random()).collect::<Vec<_>>(), vec![random(); n]] {
                    let mut list: Vec<(u128, usize)> = list.into_iter().zip(0..).collect();
                    let mut expected: Vec<u128> = list.iter().map(|item| item.0).collect();
                    expected.sort_unstable();
                    sort_by_mask(&mut list, bits, |item| item.0);
                    assert_eq!(list.iter().map(|item| item.0).collect::<Vec<_>>(), expected);
                    list.sort_unstable_by_key(|item| item.1);
                    assert!(list.iter().map(|item| item.1).eq(0..n), "none is lost");
                }
            }
        }
    }
}
