//! Bits of many rounds at once: a wire is a word with one bit for each of up to `64 W` rounds.
//!
//! What a round commits to and shows stands in rows, a row for each round; what gates work on in columns, a
//! word for each wire. A transposition leads from one to the other.

use comity_core::{Aes128, Backend, Block, ShortHash, declassify, transpose};
use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::tree::{Seed, message};

/// Columns of a tile that the transposition takes at once: rows are padded to whole ones.
pub(crate) const TILE: usize = 128;

/// The number of columns, padded to whole tiles.
pub(crate) fn padded(columns: usize) -> usize {
    columns.next_multiple_of(TILE)
}

/// The words of rounds: `64 W` bits.
pub(crate) type Word<const W: usize> = [u64; W];

/// The shares of a wire in `N` branches, in all rounds.
#[derive(Clone, Copy)]
pub(crate) struct Shares<const W: usize, const N: usize>(pub(crate) [Word<W>; N]);

impl<const W: usize, const N: usize> Default for Shares<W, N> {
    fn default() -> Self {
        Shares([[0; W]; N])
    }
}

impl<const W: usize, const N: usize> DefaultIsZeroes for Shares<W, N> {}

/// The sum of two words.
#[inline(always)]
pub(crate) fn xor<const W: usize>(a: Word<W>, b: Word<W>) -> Word<W> {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// The product of two words, bit by bit.
#[inline(always)]
pub(crate) fn and<const W: usize>(a: Word<W>, b: Word<W>) -> Word<W> {
    core::array::from_fn(|i| a[i] & b[i])
}

/// The word with the same bit in every round.
#[inline(always)]
pub(crate) fn all<const W: usize>(bit: bool) -> Word<W> {
    [u64::from(bit).wrapping_neg(); W]
}

/// A row of bits for each round, packed least significant bit first, of whole tiles.
pub(crate) struct Rows {
    blocks: Zeroizing<Vec<Block>>,
    /// The blocks of a row.
    stride: usize,
}

impl Rows {
    /// Rows of zeros.
    pub(crate) fn zeros(rounds: usize, columns: usize) -> Rows {
        let stride = padded(columns) / TILE;
        Rows { blocks: Zeroizing::new(vec![Block::ZERO; rounds * stride]), stride }
    }

    /// The row of a round.
    pub(crate) fn row(&self, round: usize) -> &[u8] {
        Block::bytes_of(&self.blocks[round * self.stride..][..self.stride])
    }

    /// The row of a round, as blocks.
    pub(crate) fn row_mut(&mut self, round: usize) -> &mut [Block] {
        &mut self.blocks[round * self.stride..][..self.stride]
    }

    /// Writes the start of a round's row.
    pub(crate) fn set(&mut self, round: usize, start: &[u8]) {
        Block::bytes_of_mut(self.row_mut(round))[..start.len()].copy_from_slice(start);
    }

    /// The words of all columns.
    ///
    /// # Panics
    /// If there are not `64 W` rows.
    pub(crate) fn to_words<const W: usize>(&self, backend: Backend) -> Zeroizing<Vec<Word<W>>> {
        let mut words = Zeroizing::new(vec![[0; W]; TILE * self.stride]);
        self.write_words(backend, &mut words);
        words
    }

    /// Writes the words of all columns.
    ///
    /// # Panics
    /// If there are not `64 W` rows, or not as many words as columns of whole tiles.
    pub(crate) fn write_words<const W: usize>(&self, backend: Backend, words: &mut [Word<W>]) {
        let to = bytemuck::cast_slice_mut(words.as_flattened_mut());
        transpose(backend, Block::bytes_of(&self.blocks), to, 64 * W, TILE * self.stride);
    }

    /// The rows of words.
    ///
    /// # Panics
    /// If they are not whole tiles.
    pub(crate) fn of_words<const W: usize>(backend: Backend, words: &[Word<W>]) -> Rows {
        let mut rows = Rows::zeros(64 * W, words.len());
        let to = Block::bytes_of_mut(&mut rows.blocks);
        transpose(backend, bytemuck::cast_slice(words.as_flattened()), to, words.len(), 64 * W);
        rows
    }
}

/// The hash that tapes start from: a proof's own, since its key comes from the salt.
pub(crate) struct TapeKey(ShortHash);

/// A tape: AES in counter mode, where key and first counter are a hash of the seed, the salt and the place
/// where the tape is used. So values that are computed ahead for one tape are of no use against another one.
pub(crate) struct Tape {
    aes: Aes128,
    first: u128,
}

impl TapeKey {
    /// The key from what tells one proof from another.
    pub(crate) fn new(parts: &[&[u8]]) -> TapeKey {
        TapeKey(ShortHash::new(keyed("comity zk tape v2", parts)))
    }

    /// The tapes of seeds, each with its place, which no other one has. Many at once are many times cheaper.
    pub(crate) fn tapes<'a>(
        &self,
        backend: Backend,
        seeds: impl IntoIterator<Item = (u64, &'a Seed)>,
    ) -> impl Iterator<Item = Tape> {
        let messages = seeds.into_iter().map(|(at, seed)| message([at, 0, 0], seed)).collect();
        let messages: Zeroizing<Vec<_>> = Zeroizing::new(messages);
        let mut drawn = Zeroizing::new(vec![[0; 32]; messages.len()]);
        self.0.hash(&messages, &mut drawn);
        (0..messages.len()).map(move |i| Tape::new(backend, &drawn[i]))
    }
}

impl Tape {
    fn new(backend: Backend, drawn: &[u8; 32]) -> Tape {
        let [key, first] = [0, 16].map(|i| u128::from_le_bytes(core::array::from_fn(|j| drawn[i + j])));
        // The key hides what is made of the counter.
        let first = declassify(
            first,
            "the course depends on whether its low half wraps within a row, which is once in 2^50 rows",
        );
        Tape { aes: Aes128::new(backend, Block::from_u128(key)), first }
    }

    /// Fills a row with the tape's blocks from this one on.
    pub(crate) fn fill(&self, from: usize, row: &mut [Block]) {
        self.aes.count(self.first.wrapping_add(from as u128), row);
    }
}

/// A key for hashes of one use, from what tells one proof from another: each part with its length.
pub(crate) fn keyed(domain: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_derive_key(domain);
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    *hash.finalize().as_bytes()
}

/// Calls with the number of words, as a constant, that hold a number of rounds or executions.
macro_rules! words {
    ($rounds:expr, $W:ident => $call:expr) => {
        match $rounds {
            0..=128 => {
                const $W: usize = 2;
                $call
            }
            129..=256 => {
                const $W: usize = 4;
                $call
            }
            257..=384 => {
                const $W: usize = 6;
                $call
            }
            rounds => unreachable!("{rounds} rounds; no table has more than 384"),
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_of_parts_and_not_of_their_bytes() {
        let parts: [&[&[u8]]; 4] = [&[b"ab", b"c"], &[b"a", b"bc"], &[b"abc"], &[b"abc", b""]];
        let keys: Vec<_> =
            parts.iter().map(|parts| keyed("a test", parts)).chain([keyed("another", parts[0])]).collect();
        assert!(keys.iter().enumerate().all(|(i, key)| !keys[..i].contains(key)));
    }
}
