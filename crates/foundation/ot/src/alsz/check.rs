//! Step 3: which rows are compared, and the hashes that compare them.

use blake3::Hasher;
use comity_core::{Backend, Block, Prg, SessionId};
use rand_core::Rng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::Parameters;

/// A hash of a sum of two rows.
pub(super) type Hash = [u8; 32];

/// The pairs that a seed of the sender asks for: perfect matchings of the rows, one after another, each uniform.
pub(super) fn pairs(seed: Block, backend: Backend, parameters: Parameters) -> Vec<(usize, usize)> {
    let mut prg = Prg::new(backend, seed);
    let mut rows: Vec<usize> = (0..parameters.rows).collect();
    let mut pairs = Vec::with_capacity(parameters.pairs());
    for _ in 0..parameters.partners {
        for last in (1..rows.len()).rev() {
            // The bias of a remainder of 64 bits is below 2^-55.
            rows.swap(last, (prg.next_u64() % (last as u64 + 1)) as usize);
        }
        pairs.extend(rows.as_chunks().0.iter().map(|&[alpha, beta]| (alpha, beta)));
    }
    pairs
}

/// The key of the hash in one chunk.
pub(super) fn key(session: &SessionId, chunk: u64) -> [u8; 32] {
    let mut key = Hasher::new_derive_key("comity ALSZ: the hash of a sum of two rows");
    key.update(&session.to_bytes()).update(&chunk.to_le_bytes());
    *key.finalize().as_bytes()
}

/// The hash for `(a, b)` of those of a pair of rows, for `(0,0)`, `(0,1)`, `(1,0)` and `(1,1)`, without a
/// branch on either.
pub(super) fn select(hashes: &[Hash; 4], a: Choice, b: Choice) -> Hash {
    let mut chosen = [0; 32];
    for (i, byte) in chosen.iter_mut().enumerate() {
        let without = u8::conditional_select(&hashes[0][i], &hashes[1][i], b);
        let with = u8::conditional_select(&hashes[2][i], &hashes[3][i], b);
        *byte = u8::conditional_select(&without, &with, a);
    }
    chosen
}

/// Whether two hashes are equal, in constant time.
pub(super) fn equal(a: &Hash, b: &Hash) -> Choice {
    a.ct_eq(b)
}
