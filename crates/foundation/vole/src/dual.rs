//! Compression of a sparse vector by an expand-convolute code (Raghuraman, Rindal, Tanguy, CRYPTO 2023; ePrint 2023/882): dual LPN.
//!
//! The vector is *convolved*: to each element the one before is added, and a random half of the 23 before that, as they are by then. Then each
//! output is the sum of 21 elements at random places, of twice as many. Both are public and linear, over columns of any number. The
//! paper's own conservative choice is 21 and 24.

use comity_core::{Backend, Block, Prg};

/// Elements that each output is the sum of.
const WEIGHT: usize = 21;

/// Elements before one that may be added to it.
const STATE: usize = 24;

/// Outputs whose places are drawn together.
const DRAWN: usize = 64;

/// The first `n` outputs of the code that `seed` names, from a vector of `K` columns, which is overwritten.
pub fn compress<const K: usize>(backend: Backend, seed: Block, vector: &mut [[Block; K]], n: usize) -> Vec<[Block; K]> {
    let mut prg = Prg::new(backend, seed);
    convolve(&mut prg, vector);
    let mut places = [[0; WEIGHT]; DRAWN];
    let mut out = vec![[Block::ZERO; K]; n];
    for out in out.chunks_mut(DRAWN) {
        prg.fill_words(places.as_flattened_mut());
        for (out, places) in out.iter_mut().zip(&places) {
            for &place in places {
                add(out, &vector[((u64::from(place) * vector.len() as u64) >> 32) as usize]);
            }
        }
    }
    out
}

fn convolve<const K: usize>(prg: &mut Prg, vector: &mut [[Block; K]]) {
    let mut masks = [0; 256];
    for i in 1..vector.len() {
        if (i - 1).is_multiple_of(masks.len()) {
            prg.fill_words(&mut masks);
        }
        // Bit j is for the element j + 1 places before.
        let mut mask = (masks[(i - 1) % masks.len()] | 1) & ((1 << STATE.min(i)) - 1);
        let (before, after) = vector.split_at_mut(i);
        let element = &mut after[0];
        while mask != 0 {
            add(element, &before[i - 1 - mask.trailing_zeros() as usize]);
            mask &= mask - 1;
        }
    }
}

#[inline(always)]
fn add<const K: usize>(to: &mut [Block; K], from: &[Block; K]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to ^= from);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks<const K: usize>(n: usize, seed: u128) -> Vec<[Block; K]> {
        let mut blocks = vec![[Block::ZERO; K]; n];
        Prg::new(Backend::detect(), Block::from_u128(seed)).fill_blocks(blocks.as_flattened_mut());
        blocks
    }

    #[test]
    fn the_code_is_linear_and_the_same_in_all_columns() {
        let code = |vector: &[[Block; 2]]| compress(Backend::detect(), Block::from_u128(9), &mut vector.to_vec(), 100);
        let (x, y) = (blocks(300, 1), blocks(300, 2));
        let sum: Vec<_> = x.iter().zip(&y).map(|(x, y)| [x[0] ^ y[0], x[1] ^ y[1]]).collect();
        let expected: Vec<_> = code(&x).iter().zip(&code(&y)).map(|(x, y)| [x[0] ^ y[0], x[1] ^ y[1]]).collect();
        assert!(code(&sum) == expected);
        let mut first: Vec<_> = x.iter().map(|x| [x[0]]).collect();
        let first = compress(Backend::detect(), Block::from_u128(9), &mut first, 100);
        assert!(code(&x).iter().zip(&first).all(|(both, one)| both[0] == one[0]));
    }

    /// Each element has the one before in it, whatever the seed; and each output is the sum of as many elements as it must be.
    #[test]
    fn the_code_has_its_state_and_its_weight() {
        let unit = || (0..128).map(|i| [Block::from_u128(1 << i)]).collect::<Vec<_>>();
        for seed in (0..20).map(Block::from_u128) {
            let mut convolved = unit();
            convolve(&mut Prg::new(Backend::detect(), seed), &mut convolved);
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
            let out = compress(Backend::detect(), seed, &mut unit(), 64);
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
            let out = compress(Backend::detect(), Block::from_u128(3), &mut vector, n);
            let reached = out.iter().filter(|out| out[0] != Block::ZERO).count();
            assert!((850..1150).contains(&reached), "{reached} of {n} from place {place}");
        }
    }
}
