//! Random permutations of 256 elements, of which one element is asked for: where is it, and which places have
//! smaller ones?
//!
//! Each place has a random number with as many bits as it takes, and element `x` is at the place that has the
//! `x`-th least one: the permutation is uniform, and none of it is made but what is asked for. The place of
//! an element is a selection from the most significant bit down. Where the places that are left whose bit is
//! 0 are more than the element's rank among them, they stay; else they are below it, and the others stay.
//! Nine bits do on average.
//!
//! Sets of places are 256 bits, and eight elements are looked for at once, each in a permutation of its own,
//! with neither a branch nor a memory index that depends on an element. How many bits it takes does depend on
//! the permutations.

use comity_core::{Backend, Block, Vectorize};
use zeroize::{Zeroize, Zeroizing};

/// Elements that are looked for at once.
pub(super) const LANES: usize = 8;

/// Bits that are drawn at once for each place.
const BITS: usize = 2;
/// Blocks of the random bits drawn at once: two for each bit and lane.
const BLOCKS: usize = 2 * BITS * LANES;

/// Sets of places: 128 bits for each half of the places and each lane.
type Sets = [[u64; 2 * LANES]; 2];

/// The places of some elements.
pub(super) struct Places {
    /// The sets of places that are left.
    left: Sets,
    /// The sets of places that have smaller elements.
    below: Sets,
    /// The element's rank among those that are left, how many they are, each for both words of a lane.
    rank: [u64; 2 * LANES],
    count: [u64; 2 * LANES],
}

impl Places {
    /// Looks for elements; `draw` replaces blocks of numbers by what is random for each: the numbers of a
    /// lane are its base, base + 1, …
    pub(super) fn find(
        backend: Backend,
        elements: [u8; LANES],
        bases: [u128; LANES],
        mut draw: impl FnMut(&mut [Block]),
    ) -> Places {
        let mut places = Places {
            left: [[u64::MAX; 2 * LANES]; 2],
            below: [[0; 2 * LANES]; 2],
            rank: core::array::from_fn(|i| elements[i / 2].into()),
            count: [256; 2 * LANES],
        };
        // Fewer than twelve bits hardly ever do.
        let (mut blocks, mut at) = (Zeroizing::new([Block::ZERO; 6 * BLOCKS]), 0);
        let mut drawn = &mut blocks[..];
        loop {
            backend.vectorize(Count { bases: &bases, at, numbers: drawn });
            draw(drawn);
            if backend.vectorize(Select { places: &mut places, bits: drawn }) {
                return places;
            }
            at += (drawn.len() / LANES) as u64;
            drawn = &mut drawn[..BLOCKS];
        }
    }

    /// The place of a lane's element.
    pub(super) fn at(&self, lane: usize) -> u8 {
        let mut at = 0;
        for (i, word) in words(&self.left, lane).into_iter().enumerate() {
            // Masks, not branches; one word has one bit.
            let there = u64::from(word != 0).wrapping_neg();
            at |= there & (64 * i as u64 + u64::from(word.trailing_zeros()));
        }
        at as u8
    }

    /// The places that have smaller elements than a lane's.
    pub(super) fn below(&self, lane: usize) -> [u64; 4] {
        words(&self.below, lane)
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.left.zeroize();
        self.below.zeroize();
        self.rank.zeroize();
    }
}

fn words(sets: &Sets, lane: usize) -> [u64; 4] {
    [sets[0][2 * lane], sets[0][2 * lane + 1], sets[1][2 * lane], sets[1][2 * lane + 1]]
}

/// Work that writes what random bits are drawn for: for each lane its base, which has room below for what is
/// added, and what follows it.
struct Count<'a> {
    bases: &'a [u128; LANES],
    at: u64,
    numbers: &'a mut [Block],
}

impl Vectorize for Count<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let bases: [[u64; 2]; LANES] = self.bases.map(|base| [base as u64, (base >> 64) as u64]);
        for (i, row) in Block::bytes_of_mut(self.numbers).as_chunks_mut::<{ 16 * LANES }>().0.iter_mut().enumerate() {
            let add = [self.at + i as u64, 0];
            for (k, word) in row.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                *word = (bases.as_flattened()[k] + add[k % 2]).to_le_bytes();
            }
        }
    }
}

/// Work that goes on with some bits of all places; tells whether every lane has found its place.
struct Select<'a> {
    places: &'a mut Places,
    /// The bits of 128 places for each bit, half and lane.
    bits: &'a [Block],
}

impl Vectorize for Select<'_> {
    type Output = bool;

    // Loops over small arrays, each of one operation, become one instruction each.
    #[inline(always)]
    fn run(self) -> bool {
        let Places { mut left, mut below, mut rank, mut count } = *self.places;
        for bits in self.bits.as_chunks::<{ 2 * LANES }>().0 {
            let mut zeros = [[0; 2 * LANES]; 2];
            let [mut words, mut other, mut pass] = [[0; 2 * LANES]; 3];
            for half in 0..2 {
                for i in 0..2 * LANES {
                    let bits = (bits[half * LANES + i / 2].to_u128() >> (64 * (i % 2))) as u64;
                    zeros[half][i] = left[half][i] & !bits;
                }
            }
            for i in 0..2 * LANES {
                words[i] = u64::from(zeros[0][i].count_ones()) + u64::from(zeros[1][i].count_ones());
            }
            for i in 0..2 * LANES {
                other[i] = words[i ^ 1];
            }
            for i in 0..2 * LANES {
                words[i] += other[i];
            }
            for i in 0..2 * LANES {
                // All ones unless the rank is the smaller one, by arithmetic: a comparison would become a branch.
                pass[i] = (rank[i].wrapping_sub(words[i]) >> 63).wrapping_sub(1);
            }
            for i in 0..2 * LANES {
                rank[i] -= words[i] & pass[i];
            }
            for i in 0..2 * LANES {
                count[i] = words[i] ^ ((words[i] ^ count[i].wrapping_sub(words[i])) & pass[i]);
            }
            for half in 0..2 {
                for i in 0..2 * LANES {
                    below[half][i] |= zeros[half][i] & pass[i];
                    left[half][i] = zeros[half][i] ^ (left[half][i] & pass[i]);
                }
            }
        }
        self.places.left = left;
        self.places.below = below;
        self.places.rank = rank;
        self.places.count = count;
        let mut more = 0;
        for count in count {
            more |= count ^ 1;
        }
        more == 0
    }
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

    use super::*;

    /// The words of all places, sorted, are the permutation.
    #[test]
    fn an_element_is_where_its_number_has_its_rank() {
        let mut rng = comity_core::Prg::new(Backend::detect(), Block::from_u128(1));
        for backend in Backend::available() {
            for round in 0..64u64 {
                let mut drawn: Vec<Block> = Vec::new();
                let elements = core::array::from_fn(|lane| (round * 4 + lane as u64) as u8);
                let places = Places::find(backend, elements, [0; LANES], |blocks| {
                    // Few ones now and then, so that it takes many bits.
                    let sparse = round % 5 == 0;
                    for block in &mut *blocks {
                        let mut draw = || u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
                        *block = Block::from_u128(if sparse { draw() & draw() & draw() } else { draw() });
                    }
                    drawn.extend_from_slice(blocks);
                });
                for (lane, element) in elements.into_iter().enumerate() {
                    let bit = |plane: &[Block], place: usize| {
                        plane[place / 128 * LANES + lane].to_u128() >> (place % 128) & 1 == 1
                    };
                    let number = |place: usize| -> Vec<bool> {
                        drawn.chunks_exact(2 * LANES).map(|plane| bit(plane, place)).collect()
                    };
                    let own = number(places.at(lane).into());
                    let smaller: Vec<usize> = (0..256).filter(|place| number(*place) < own).collect();
                    assert_eq!(smaller.len(), usize::from(element), "round {round}, lane {lane}");
                    let below = places.below(lane);
                    assert!((0..256).filter(|place| below[place / 64] >> (place % 64) & 1 == 1).eq(smaller));
                }
            }
        }
    }
}
