//! The client's dictionary: pairs of value and code, sorted by both.
//!
//! Codes rise as values do, so one sorted sequence serves to encrypt, to decrypt and to find a range. It is
//! cut into blocks of at most [`FULL`] pairs below a directory of each block's greatest value: an insertion
//! is two binary searches and a move of at most a few KiB, which beats a tree of pointers while the directory
//! fits a cache (up to some 10^8 pairs).
//!
//! Both searches branch on the value and read where it leads, chosen over a scan of all pairs for each: who
//! shares the client's caches may learn about where in the order a value is, which is what the codes show
//! their server anyway.

use zeroize::Zeroize;

/// Pairs in a block at most.
const FULL: usize = 256;

/// A dictionary: sorted pairs of a value and a code, in blocks.
pub(crate) struct Dictionary<V: Zeroize, C> {
    blocks: Vec<Block<V, C>>,
    /// The greatest value of each block.
    last: Vec<V>,
    len: usize,
}

/// A block of at least one pair and at most [`FULL`]; values apart from codes, since a search reads values only.
struct Block<V: Zeroize, C> {
    values: Vec<V>,
    codes: Vec<C>,
}

/// The place where a value is, or would be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    block: usize,
    at: usize,
}

impl<V: Zeroize, C> Block<V, C> {
    /// An empty block with room for all that it ever holds, so that no outgrown copy is left behind.
    fn new() -> Block<V, C> {
        Block { values: Vec::with_capacity(FULL), codes: Vec::with_capacity(FULL) }
    }
}

impl<V: Zeroize, C> Drop for Block<V, C> {
    fn drop(&mut self) {
        self.values.zeroize();
    }
}

impl<V: Zeroize, C> Drop for Dictionary<V, C> {
    fn drop(&mut self) {
        self.last.zeroize();
    }
}

impl<V: Ord + Copy + Zeroize, C: Ord + Copy> Dictionary<V, C> {
    pub(crate) fn new() -> Dictionary<V, C> {
        Dictionary { blocks: Vec::new(), last: Vec::new(), len: 0 }
    }

    /// A dictionary of pairs that come in order. Blocks get some room, since most insertions come after this.
    pub(crate) fn from_sorted(pairs: impl IntoIterator<Item = (V, C)>) -> Dictionary<V, C> {
        let mut dictionary = Dictionary::new();
        for (value, code) in pairs {
            if dictionary.blocks.last().is_none_or(|block| block.values.len() >= FULL * 3 / 4) {
                dictionary.blocks.push(Block::new());
                dictionary.last.push(value);
            }
            let block = dictionary.blocks.last_mut().expect("one was just made");
            block.values.push(value);
            block.codes.push(code);
            *dictionary.last.last_mut().expect("one for each block") = value;
            dictionary.len += 1;
        }
        dictionary
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The place of the first pair whose value is not below this one: `Ok` if it is this one.
    pub(crate) fn find(&self, value: V) -> Result<Place, Place> {
        let block = self.last.partition_point(|last| *last < value);
        let Some(found) = self.blocks.get(block) else {
            // Behind the last pair.
            let block = self.blocks.len().saturating_sub(1);
            return Err(Place { block, at: self.blocks.last().map_or(0, |block| block.values.len()) });
        };
        match found.values.binary_search(&value) {
            Ok(at) => Ok(Place { block, at }),
            Err(at) => Err(Place { block, at }),
        }
    }

    /// The pair at a place.
    pub(crate) fn pair(&self, place: Place) -> Option<(V, C)> {
        let block = self.blocks.get(place.block)?;
        Some((*block.values.get(place.at)?, block.codes[place.at]))
    }

    /// The pair before a place.
    pub(crate) fn before(&self, place: Place) -> Option<(V, C)> {
        match place.at.checked_sub(1) {
            Some(at) => self.pair(Place { at, ..place }),
            None => {
                let block = place.block.checked_sub(1)?;
                self.pair(Place { block, at: self.blocks[block].values.len() - 1 })
            }
        }
    }

    /// The value of a code.
    pub(crate) fn value(&self, code: C) -> Option<V> {
        let block = self.blocks.partition_point(|block| block.codes.last().is_some_and(|last| *last < code));
        let block = self.blocks.get(block)?;
        block.codes.binary_search(&code).ok().map(|at| block.values[at])
    }

    /// Inserts a pair at the place that [`find`](Dictionary::find) gave.
    pub(crate) fn insert(&mut self, mut place: Place, value: V, code: C) {
        self.len += 1;
        if self.blocks.is_empty() {
            self.blocks.push(Block::new());
            self.last.push(value);
        }
        if self.blocks[place.block].values.len() == FULL {
            place = self.split(place);
        }
        let block = &mut self.blocks[place.block];
        block.values.insert(place.at, value);
        block.codes.insert(place.at, code);
        if place.at + 1 == block.values.len() {
            self.last[place.block] = value;
        }
    }

    /// Makes room in a full block; what comes behind all others gets a new block, so that rising values leave
    /// full ones.
    fn split(&mut self, place: Place) -> Place {
        let behind = place.block + 1 == self.blocks.len() && place.at == FULL;
        let keep = if behind { FULL } else { FULL / 2 };
        let block = &mut self.blocks[place.block];
        let mut upper = Block::new();
        upper.values.extend_from_slice(&block.values[keep..]);
        upper.codes.extend_from_slice(&block.codes[keep..]);
        block.values[keep..].iter_mut().for_each(Zeroize::zeroize);
        block.values.truncate(keep);
        block.codes.truncate(keep);
        let (last, least) = (self.last[place.block], *block.values.last().expect("half of it is left"));
        self.last[place.block] = least;
        self.blocks.insert(place.block + 1, upper);
        self.last.insert(place.block + 1, last);
        if place.at <= keep && !behind { place } else { Place { block: place.block + 1, at: place.at - keep } }
    }

    /// Removes a value.
    pub(crate) fn remove(&mut self, value: V) -> Option<C> {
        let place = self.find(value).ok()?;
        let block = &mut self.blocks[place.block];
        block.values.remove(place.at);
        let code = block.codes.remove(place.at);
        self.len -= 1;
        match block.values.last() {
            Some(last) => self.last[place.block] = *last,
            None => {
                self.blocks.remove(place.block);
                self.last.remove(place.block);
            }
        }
        self.join(place.block);
        self.join(place.block.wrapping_sub(1));
        Some(code)
    }

    /// Joins a block that has become small with the one behind it.
    fn join(&mut self, block: usize) {
        let [this, next] = match self.blocks.get_mut(block..block.wrapping_add(2)) {
            Some([this, next]) => [this, next],
            _ => return,
        };
        if this.values.len() + next.values.len() > FULL / 2 {
            return;
        }
        this.values.extend_from_slice(&next.values);
        this.codes.extend_from_slice(&next.codes);
        self.blocks.remove(block + 1);
        self.last.remove(block);
    }

    /// All pairs in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (V, C)> + '_ {
        self.blocks.iter().flat_map(|block| block.values.iter().copied().zip(block.codes.iter().copied()))
    }

    /// All codes in order, to be replaced by others in the same order.
    pub(crate) fn codes_mut(&mut self) -> impl Iterator<Item = &mut C> + '_ {
        self.blocks.iter_mut().flat_map(|block| block.codes.iter_mut())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_to_a_sorted_map(start in 0..2000u32, steps in prop::collection::vec((any::<bool>(), 0..3000u32), 0..3000)) {
            let pairs = |n: u32| (0..n).map(|i| (i, 10 * i));
            let mut map: BTreeMap<u32, u32> = pairs(start).collect();
            let mut dictionary = Dictionary::from_sorted(pairs(start));
            for (insert, value) in steps {
                match dictionary.find(value) {
                    Ok(place) => {
                        prop_assert_eq!(dictionary.pair(place), Some((value, 10 * value)));
                        prop_assert_eq!(dictionary.before(place).map(|p| p.0), map.range(..value).next_back().map(|p| *p.0));
                        if !insert {
                            prop_assert_eq!(dictionary.remove(value), map.remove(&value));
                        }
                    }
                    Err(place) => {
                        prop_assert!(!map.contains_key(&value));
                        prop_assert_eq!(dictionary.pair(place).map(|p| p.0), map.range(value..).next().map(|p| *p.0));
                        prop_assert_eq!(dictionary.before(place).map(|p| p.0), map.range(..value).next_back().map(|p| *p.0));
                        if insert {
                            dictionary.insert(place, value, 10 * value);
                            map.insert(value, 10 * value);
                        }
                    }
                }
                prop_assert_eq!(dictionary.len(), map.len());
            }
            prop_assert!(dictionary.iter().eq(map.iter().map(|(v, c)| (*v, *c))));
            for (value, code) in &map {
                prop_assert_eq!(dictionary.value(*code), Some(*value));
                prop_assert_eq!(dictionary.value(*code + 1), None);
            }
        }
    }

    #[test]
    fn blocks_are_split_and_joined() {
        let mut dictionary = Dictionary::new();
        for value in 0..10_000u32 {
            let place = dictionary.find(value).unwrap_err();
            dictionary.insert(place, value, value);
        }
        assert_eq!(dictionary.blocks.len(), 10_000usize.div_ceil(FULL), "rising values fill their blocks");
        for value in (0..10_000).filter(|value| value % 100 != 0) {
            dictionary.remove(value).unwrap();
        }
        assert_eq!(dictionary.len(), 100);
        assert!(dictionary.blocks.len() < 10, "{} blocks", dictionary.blocks.len());
    }
}
