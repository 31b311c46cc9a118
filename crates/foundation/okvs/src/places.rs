//! Where a row has its ones.

use comity_core::Block;

/// Three different columns of `columns`, at least three, uniform but for `columns / 2^32`, from the first 96
/// bits of a row's hash.
#[inline(always)]
pub(crate) fn places(hash: Block, columns: u32) -> [u32; 3] {
    let bits = hash.to_u128();
    let scaled = |word: u128, range: u32| ((u64::from(word as u32) * u64::from(range)) >> 32) as u32;
    let a = scaled(bits, columns);
    // A number below one less, and past the first one: any but the first one, and so on.
    let b = scaled(bits >> 32, columns - 1);
    let b = b + u32::from(b >= a);
    let c = scaled(bits >> 64, columns - 2);
    let c = c + u32::from(c >= a.min(b));
    let c = c + u32::from(c >= a.max(b));
    [a, b, c]
}

/// The cluster of a row, from the last 32 bits of its hash.
#[inline(always)]
pub(crate) fn cluster(hash: Block, clusters: usize) -> usize {
    (((hash.to_u128() >> 96) * clusters as u128) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use comity_core::{Backend, Prg};

    use super::*;

    #[test]
    fn triples_are_uniform() {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(1));
        let mut counts = [0; 6 * 6 * 6];
        for _ in 0..120_000 {
            let [a, b, c] = places(prg.block(), 6).map(|place| place as usize);
            assert!(a != b && b != c && a != c && a.max(b).max(c) < 6);
            counts[36 * a + 6 * b + c] += 1;
        }
        // 1000 of each of the 120, with a deviation of 32.
        let seen: Vec<_> = counts.into_iter().filter(|&count| count > 0).collect();
        assert_eq!(seen.len(), 120);
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
    }

    #[test]
    fn clusters_are_uniform() {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(2));
        let mut counts = [0; 7];
        (0..70_000).for_each(|_| counts[cluster(prg.block(), 7)] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!(cluster(Block::from_u128(u128::MAX), 7), 6);
    }
}
