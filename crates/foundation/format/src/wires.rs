//! Which wire of the circuit a wire of a file is.

use std::collections::BTreeMap;

/// A map from numbers to wires. Memory is proportional to the entries, whatever their numbers are: a file of two lines
/// may name wire 268,000,000. Where the entries fill most of the numbers, as in a whole file, it is an array.
#[derive(Default)]
pub(super) struct Wires {
    dense: Vec<u32>,
    /// The entries beyond `dense`.
    sparse: BTreeMap<usize, u32>,
    len: usize,
}

const FREE: u32 = u32::MAX;
/// The length that the array may have besides four places for each entry.
const ALWAYS: usize = 1 << 12;

impl Wires {
    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, number: usize) -> Option<u32> {
        match self.dense.get(number) {
            Some(&wire) => (wire != FREE).then_some(wire),
            None => self.sparse.get(&number).copied(),
        }
    }

    /// Adds an entry; false if there is one already.
    pub(super) fn insert(&mut self, number: usize, wire: u32) -> bool {
        let longest = ALWAYS + 4 * self.len;
        if number >= self.dense.len() && number < longest {
            let len = (2 * self.dense.len()).max(number + 1).min(longest);
            self.dense.resize(len, FREE);
            let beyond = self.sparse.split_off(&len);
            for (number, wire) in std::mem::replace(&mut self.sparse, beyond) {
                self.dense[number] = wire;
            }
        }
        let taken = self.get(number).is_some();
        if !taken {
            match self.dense.get_mut(number) {
                Some(place) => *place = wire,
                None => drop(self.sparse.insert(number, wire)),
            }
            self.len += 1;
        }
        !taken
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use comity_circuit::random::Rng;

    use super::*;

    #[test]
    fn entries_are_found_wherever_they_are() {
        let mut rng = Rng(1);
        for spread in [10_000, 1_000_000, 1 << 40] {
            let (mut wires, mut model) = (Wires::default(), BTreeMap::new());
            for wire in 0..20_000 {
                let number = rng.below(spread) / (1 + rng.below(1000));
                let new = !model.contains_key(&number);
                model.entry(number).or_insert(wire);
                assert_eq!(wires.insert(number, wire), new);
                let other = rng.below(spread);
                assert_eq!(wires.get(other), model.get(&other).copied());
            }
            assert_eq!(wires.len(), model.len());
            assert!(model.iter().all(|(&number, &wire)| wires.get(number) == Some(wire)));
            assert!(wires.dense.len() <= ALWAYS + 4 * wires.len());
        }
    }

    #[test]
    fn a_filled_range_is_mostly_an_array_from_either_end() {
        for descending in [false, true] {
            let mut wires = Wires::default();
            for i in 0..100_000 {
                assert!(wires.insert(if descending { 99_999 - i } else { i }, i as u32));
            }
            assert!(wires.sparse.len() < 25_000);
        }
    }
}
