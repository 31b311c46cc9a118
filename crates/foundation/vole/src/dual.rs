//! Compression of a sparse vector by an expand-convolute code (Raghuraman, Rindal, Tanguy, CRYPTO 2023;
//! ePrint 2023/882): dual LPN.
//!
//! The vector is *convolved*: to each element the one before is added, and a random half of the 23 before
//! that, as they are by then. Then each output is the sum of 21 elements at random places, of twice as many.
//! Both are public and linear, over columns of any number. The paper's own conservative choice is 21 and 24.
//!
//! **Cost**: the elements of a sum are loads from a table that the second-level cache does not hold: some
//! nanoseconds each, where many are under way.

use comity_core::{Backend, Block, HugeTable, Prg, Vectorize};

/// Elements that each output is the sum of.
const WEIGHT: usize = 21;

/// Elements before one that may be added to it.
const STATE: usize = 24;

/// Outputs whose places are drawn together.
const DRAWN: usize = 64;

/// The first `n` outputs of the code that `seed` names, from a vector of `K` columns, row by row, which is overwritten.
pub fn compress<const K: usize>(backend: Backend, seed: Block, vector: &mut HugeTable, n: usize) -> Vec<[Block; K]> {
    let mut prg = Prg::new(backend, seed);
    convolve(backend, &mut prg, vector.as_chunks_mut::<K>().0);
    let (mut places, zeros) = ([[0; WEIGHT]; DRAWN], [[Block::ZERO; K]; DRAWN]);
    let mut out = vec![[Block::ZERO; K]; n];
    for out in out.chunks_mut(DRAWN) {
        prg.fill_words(places.as_flattened_mut());
        vector.gather_add(backend, &mut places[..out.len()], &zeros[..out.len()], out);
    }
    out
}

fn convolve<const K: usize>(backend: Backend, prg: &mut Prg, vector: &mut [[Block; K]]) {
    let mut masks = [0; 256];
    for from in (1..vector.len()).step_by(masks.len()) {
        prg.fill_words(&mut masks);
        backend.vectorize(Convolve { vector, from, masks: &masks });
    }
}

/// Elements of a vector from one on, and for each of them a mask whose bit `j` is for the element `j + 1`
/// places before. All 24 are read: which ones are added decides no branch, since nobody could guess it.
struct Convolve<'v, const K: usize> {
    vector: &'v mut [[Block; K]],
    from: usize,
    masks: &'v [u32],
}

impl<const K: usize> Vectorize for Convolve<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (at, mask) in (self.from..self.vector.len()).zip(self.masks) {
            let (before, after) = self.vector.split_at_mut(at);
            after[0] = match before.last_chunk::<STATE>() {
                Some(before) => sum(mask | 1, before, after[0]),
                None => sum(mask | 1, before, after[0]),
            };
        }
    }
}

/// An element plus those before it that the mask names.
#[inline(always)]
fn sum<const K: usize>(mask: u32, before: &[[Block; K]], mut sum: [Block; K]) -> [Block; K] {
    for (j, before) in before.iter().rev().enumerate() {
        let bit = Block::from_u128(u128::from(mask >> j & 1).wrapping_neg());
        sum.iter_mut().zip(before).for_each(|(sum, &before)| *sum ^= before & bit);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code on a vector that stays.
    fn compressed<const K: usize>(seed: u128, vector: &[[Block; K]], n: usize) -> Vec<[Block; K]> {
        let mut table = HugeTable::zeroed(K * vector.len());
        table.copy_from_slice(vector.as_flattened());
        compress(Backend::detect(), Block::from_u128(seed), &mut table, n)
    }

    fn blocks<const K: usize>(n: usize, seed: u128) -> Vec<[Block; K]> {
        let mut blocks = vec![[Block::ZERO; K]; n];
        Prg::new(Backend::detect(), Block::from_u128(seed)).fill_blocks(blocks.as_flattened_mut());
        blocks
    }

    #[test]
    fn the_code_is_linear_and_the_same_in_all_columns() {
        let code = |vector: &[[Block; 2]]| compressed(9, vector, 100);
        let (x, y) = (blocks(300, 1), blocks(300, 2));
        let sum: Vec<_> = x.iter().zip(&y).map(|(x, y)| [x[0] ^ y[0], x[1] ^ y[1]]).collect();
        let expected: Vec<_> = code(&x).iter().zip(&code(&y)).map(|(x, y)| [x[0] ^ y[0], x[1] ^ y[1]]).collect();
        assert!(code(&sum) == expected);
        let first: Vec<_> = x.iter().map(|x| [x[0]]).collect();
        let first = compressed(9, &first, 100);
        assert!(code(&x).iter().zip(&first).all(|(both, one)| both[0] == one[0]));
    }

    /// Bit by bit, and place by place.
    #[test]
    fn the_code_is_the_same_on_every_backend() {
        let (n, seed, vector) = (300, Block::from_u128(4), blocks::<2>(600, 5));
        let (mut prg, mut convolved) = (Prg::new(Backend::detect(), seed), vector.clone());
        let mut masks = vec![0; (vector.len() - 1).next_multiple_of(256)];
        masks.chunks_mut(256).for_each(|masks| prg.fill_words(masks));
        for at in 1..vector.len() {
            for back in (1..=STATE.min(at)).filter(|back| back == &1 || masks[at - 1] >> (back - 1) & 1 == 1) {
                let before = convolved[at - back];
                convolved[at].iter_mut().zip(before).for_each(|(sum, before)| *sum ^= before);
            }
        }
        let mut expected = vec![[Block::ZERO; 2]; n];
        for outs in expected.chunks_mut(DRAWN) {
            let mut places = [0u32; DRAWN * WEIGHT];
            prg.fill_words(&mut places);
            for (out, places) in outs.iter_mut().zip(places.chunks(WEIGHT)) {
                for &place in places {
                    let there = convolved[(place as usize * convolved.len()) >> 32];
                    out.iter_mut().zip(there).for_each(|(out, there)| *out ^= there);
                }
            }
        }
        for backend in Backend::available() {
            let mut table = HugeTable::zeroed(2 * vector.len());
            table.copy_from_slice(vector.as_flattened());
            assert!(compress::<2>(backend, seed, &mut table, n) == expected, "{backend}");
        }
    }

    /// Each element has the one before in it, whatever the seed; and each output is the sum of as many
    /// elements as it must be.
    #[test]
    fn the_code_has_its_state_and_its_weight() {
        let unit = || (0..128).map(|i| [Block::from_u128(1 << i)]).collect::<Vec<_>>();
        for seed in 0..20 {
            let mut convolved = unit();
            convolve(Backend::detect(), &mut Prg::new(Backend::detect(), Block::from_u128(seed)), &mut convolved);
            assert_eq!(convolved[1], [Block::from_u128(3)]);
            // The last bit of each is its own, so that an output's terms can be taken away one by one.
            let weight = |out: &[Block; 1]| {
                let mut left = out[0].to_u128();
                let terms = (0..128).rev().filter(|&i| {
                    let there = left >> i & 1 == 1;
                    left ^= if there { convolved[i][0].to_u128() } else { 0 };
                    there
                });
                terms.count()
            };
            let out = compressed(seed, &unit(), 64);
            let weights: Vec<usize> = out.iter().map(weight).collect();
            // Places that are drawn twice cancel.
            assert!(weights.iter().all(|weight| weight % 2 == WEIGHT % 2), "{weights:?}");
            assert_eq!(weights.iter().max(), Some(&WEIGHT));
        }
    }

    /// A single element reaches about half of all that come after it, and so about half of the outputs.
    #[test]
    fn an_element_reaches_half_of_the_outputs() {
        let n = 2000;
        for place in [0, 1, 77, 500] {
            let mut vector = vec![[Block::ZERO]; 2 * n];
            vector[place] = [Block::from_u128(1)];
            let out = compressed(3, &vector, n);
            let reached = out.iter().filter(|out| out[0] != Block::ZERO).count();
            assert!((850..1150).contains(&reached), "{reached} of {n} from place {place}");
        }
    }
}
