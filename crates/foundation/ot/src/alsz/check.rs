//! Step 3: which rows are compared, and the hashes that compare them.

use blake3::Hasher;
use comity_core::{Block, Prg, Result, SessionId};
use rand_core::Rng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::Parameters;

/// Bytes of a hash.
pub(super) const HASH: usize = 32;

/// The hashes of one pair of rows, for `(0,0)`, `(0,1)`, `(1,0)` and `(1,1)`.
pub(super) type Hashes = [[u8; HASH]; 4];

/// The pairs that a seed of the sender asks for: each row with some others.
pub(super) fn pairs(seed: Block, backend: comity_core::Backend, parameters: Parameters) -> Vec<(usize, usize)> {
    let Parameters { rows, partners } = parameters;
    let mut prg = Prg::new(backend, seed);
    let mut pairs = Vec::with_capacity(rows * partners);
    for row in 0..rows {
        let start = pairs.len();
        while pairs.len() < start + partners {
            // The bias of a remainder of 64 bits is below 2^-55.
            let other = (prg.next_u64() % rows as u64) as usize;
            if other != row && pairs[start..].iter().all(|&(_, known)| known != other) {
                pairs.push((row, other));
            }
        }
    }
    pairs
}

/// The hash of sums of rows in one chunk: over the session, the chunk, and which pair it is.
pub(super) struct SumHash {
    start: Hasher,
    sum: Vec<u8>,
}

impl SumHash {
    pub(super) fn new(session: &SessionId, chunk: u64) -> SumHash {
        let mut key = Hasher::new_derive_key("comity ALSZ: the hash of a sum of two rows");
        key.update(&session.to_bytes()).update(&chunk.to_le_bytes());
        SumHash { start: Hasher::new_keyed(key.finalize().as_bytes()), sum: Vec::new() }
    }

    /// The hash of the sum of rows, for pair number `pair`.
    pub(super) fn hash(&mut self, pair: usize, first: &[u8], second: &[u8]) -> [u8; HASH] {
        self.sum.clear();
        self.sum.extend(first.iter().zip(second).map(|(a, b)| a ^ b));
        self.finish(pair)
    }

    /// The same, with two more rows added.
    pub(super) fn hash_four(&mut self, pair: usize, rows: [&[u8]; 4]) -> [u8; HASH] {
        let [a, b, c, d] = rows;
        self.sum.clear();
        self.sum.extend(a.iter().zip(b).zip(c.iter().zip(d)).map(|((a, b), (c, d))| a ^ b ^ c ^ d));
        self.finish(pair)
    }

    fn finish(&self, pair: usize) -> [u8; HASH] {
        let mut hasher = self.start.clone();
        hasher.update(&self.sum).update(&(pair as u64).to_le_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// The hash for `(a, b)`, without a branch on either.
pub(super) fn select(hashes: &Hashes, a: Choice, b: Choice) -> [u8; HASH] {
    let mut chosen = [0; HASH];
    for (i, byte) in chosen.iter_mut().enumerate() {
        let without = u8::conditional_select(&hashes[0][i], &hashes[1][i], b);
        let with = u8::conditional_select(&hashes[2][i], &hashes[3][i], b);
        *byte = u8::conditional_select(&without, &with, a);
    }
    chosen
}

/// Whether two hashes are equal, in constant time.
pub(super) fn equal(a: &[u8; HASH], b: &[u8; HASH]) -> Choice {
    a.ct_eq(b)
}

/// That no two rows of `stride` bytes are equal, but for those of no bytes.
pub(super) fn distinct(rows: &[u8], stride: usize) -> Result<()> {
    let mut sorted: Vec<&[u8]> = rows.chunks_exact(stride).collect();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(comity_core::Misbehaviour::EqualRows.into());
    }
    Ok(())
}

impl Drop for SumHash {
    fn drop(&mut self) {
        use zeroize::Zeroize;
        self.sum.zeroize();
    }
}
