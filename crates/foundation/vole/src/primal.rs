//! The iteration's code: each output is a sparse correlation, plus five elements of the secret, plus x times
//! five others (primal LPN).
//!
//! **Why x.** Ten elements with factor one, as in [silent OT](comity_ot::silent), would be a code over GF(2).
//! Noise is an element of GF(2^128), and in each of its 128 bits it is zero half of the time. So each bit
//! would be an LPN instance by itself, over a secret of as many bits, and with half the noise: the margin of
//! 131 bits would be one of 76 (Liu, Wang, Yang, Yu, EUROCRYPT 2024, ePrint 2022/712, reduce fields to
//! subfields so). With a factor that generates the field no linear map takes the code to a smaller field: a
//! bit of an output is a bit of five elements and another bit of five more. [`LpnSizes`](crate::LpnSizes) has
//! what is left of the attack.
//!
//! **Cost**: ten look-ups in a table of 1.9 MiB, and 2.5 AES blocks for their places.

use comity_core::{Backend, Block, HugeTable, Prg};

use crate::products::times_x;

/// Elements of the secret with one factor.
const HALF: usize = 5;

/// Outputs whose places are drawn together: as many as stay in the first-level cache.
const DRAWN: usize = 64;

/// Adds to each correlation its element of the secret's code word, for the code that `seed` names.
pub fn encode(backend: Backend, seed: Block, secret: &HugeTable, out: &mut [Block]) {
    let mut prg = Prg::new(backend, seed);
    let mut places = [[[0; HALF]; DRAWN]; 2];
    let (zeros, mut sums) = ([[Block::ZERO]; DRAWN], [[Block::ZERO]; DRAWN]);
    for out in out.as_chunks_mut::<1>().0.chunks_mut(DRAWN) {
        let n = out.len();
        prg.fill_words(places.as_flattened_mut().as_flattened_mut());
        secret.gather_add(backend, &mut places[1][..n], &zeros[..n], &mut sums[..n]);
        out.as_flattened_mut().iter_mut().zip(sums.as_flattened()).for_each(|(out, &sum)| *out ^= times_x(sum));
        sums[..n].copy_from_slice(out);
        secret.gather_add(backend, &mut places[0][..n], &sums[..n], out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten places of the secret for each output, half of them times x: a code over GF(2) would have no x.
    #[test]
    fn half_of_the_places_have_a_factor() {
        let (n, k) = (3000, 40);
        let mut counts = [0; 4];
        for place in 0..k {
            let mut secret = HugeTable::zeroed(k);
            secret[place] = Block::from_u128(1);
            let mut out = vec![Block::ZERO; n];
            encode(Backend::detect(), Block::from_u128(7), &secret, &mut out);
            out.iter().for_each(|out| counts[out.to_u128() as usize] += 1);
        }
        // Out of 120 000: five places of 40 in either half, two of which may be equal and cancel.
        for count in [counts[1] + counts[3], counts[2] + counts[3]] {
            assert!((12_600..14_000).contains(&count), "{counts:?}");
        }
    }
}
