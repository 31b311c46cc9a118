//! `SumHash`: keyed BLAKE3 of many sums of rows at once, a kibibyte of every row at a time.

use blake3::hazmat::HasherExt;
use blake3::platform::Platform;
use blake3::{Hasher, IncrementCounter};
use zeroize::ZeroizeOnDrop;

use crate::arch::Backend;

/// Sums hashed in one go: what the widest machine computes side by side. They stay in a first-level cache.
const GROUP: usize = 16;

// Flags of BLAKE3's compression (its paper, section 2.2).
const START: u8 = 1 << 0;
const END: u8 = 1 << 1;
const PARENT: u8 = 1 << 2;
const ROOT: u8 = 1 << 3;
const KEYED: u8 = 1 << 4;

/// Keyed BLAKE3 of sums (exclusive or) of rows: equal to `blake3::keyed_hash` of each sum.
///
/// All sums have the same length, and come together, [`PIECE`](SumHash::PIECE) bytes at a time, so that rows that many
/// sums share are read while they are in cache. The sums are wiped on drop.
///
/// *Cost.* BLAKE3 at the speed of its widest kernel, since whole pieces of sixteen sums are computed side by
/// side, as are the nodes of their trees. It takes 32 bytes of memory for each sum and piece.
#[derive(ZeroizeOnDrop)]
pub struct SumHash {
    key: [u8; 32],
    #[zeroize(skip)]
    backend: Backend,
    #[zeroize(skip)]
    platform: Platform,
    /// The bytes of a sum, and those already hashed.
    len: usize,
    done: usize,
    /// The chaining values of each sum's pieces, one sum after another.
    values: Vec<[u8; 32]>,
    group: Vec<[u8; SumHash::PIECE]>,
}

impl SumHash {
    /// Bytes of a piece: a chunk of BLAKE3.
    pub const PIECE: usize = 1024;

    /// The hash on a backend, ready for [`begin`](SumHash::begin).
    pub fn new(backend: Backend) -> SumHash {
        let (values, group) = (Vec::new(), vec![[0; SumHash::PIECE]; GROUP]);
        SumHash { key: [0; 32], backend, platform: Platform::detect(), len: 0, done: 0, values, group }
    }

    /// Starts hashing `sums` sums of `len` bytes.
    pub fn begin(&mut self, key: [u8; 32], sums: usize, len: usize) {
        (self.key, self.len, self.done) = (key, len, 0);
        self.values.clear();
        self.values.resize(sums * self.pieces(), [0; 32]);
    }

    /// Hashes the next piece: `rows(i)` gives the pieces of the rows whose sum is sum `i`.
    ///
    /// # Panics
    /// If all has been hashed, or a row is shorter than the rest of a piece.
    pub fn absorb<'a, const K: usize>(&mut self, rows: impl Fn(usize) -> [&'a [u8]; K]) {
        let (pieces, at) = (self.pieces(), self.done / SumHash::PIECE);
        let width = SumHash::PIECE.min(self.len - self.done);
        assert!(width > 0 || self.len == 0, "all pieces are hashed");
        let sums = self.values.len() / pieces;
        let mut values = [[0; 32]; GROUP];
        for first in (0..sums).step_by(GROUP) {
            let count = GROUP.min(sums - first);
            let group = &mut self.group[..count];
            for (i, sum) in group.iter_mut().enumerate() {
                sum_rows(self.backend, rows(first + i), &mut sum[..width]);
            }
            let values = &mut values[..count];
            if width == SumHash::PIECE && pieces > 1 {
                let inputs: [&[u8; SumHash::PIECE]; GROUP] = std::array::from_fn(|i| &group[i.min(count - 1)]);
                let (key, counter) = (words(&self.key), at as u64);
                let out = values.as_flattened_mut();
                self.platform.hash_many(&inputs[..count], &key, counter, IncrementCounter::No, KEYED, START, END, out);
            } else {
                for (sum, value) in group.iter().zip(&mut *values) {
                    let mut hasher = Hasher::new_keyed(&self.key);
                    if pieces == 1 {
                        *value = *hasher.update(&sum[..width]).finalize().as_bytes();
                    } else {
                        hasher.set_input_offset(self.done as u64);
                        *value = hasher.update(&sum[..width]).finalize_non_root();
                    }
                }
            }
            for (i, value) in values.iter().enumerate() {
                self.values[(first + i) * pieces + at] = *value;
            }
        }
        self.done += width;
    }

    /// The hashes of all sums.
    ///
    /// # Panics
    /// If not all has been hashed.
    pub fn finish(&mut self) -> Vec<[u8; 32]> {
        assert_eq!(self.done, self.len, "all pieces are hashed");
        let pieces = self.pieces();
        // Two neighbours become one, and the last of an odd number goes on as it is: the tree of BLAKE3, whose left
        // subtrees are the largest complete ones.
        let mut width = pieces;
        while width > 1 {
            let flags = if width == 2 { KEYED | PARENT | ROOT } else { KEYED | PARENT };
            self.halve(width, flags);
            width = width.div_ceil(2);
        }
        self.values.iter().step_by(pieces).copied().collect()
    }

    /// Replaces the first `width` values of each sum by those of their parents.
    fn halve(&mut self, width: usize, flags: u8) {
        let (pieces, key) = (self.pieces(), words(&self.key));
        let half = width / 2;
        let jobs = self.values.len() / pieces * half;
        let place = |job: usize| (job / half * pieces, job % half);
        let mut blocks = [[0; 64]; 2 * GROUP];
        let mut values = [[0; 32]; 2 * GROUP];
        for first in (0..jobs).step_by(2 * GROUP) {
            let count = (2 * GROUP).min(jobs - first);
            for (job, block) in (first..).zip(&mut blocks[..count]) {
                let (sum, node) = place(job);
                block.copy_from_slice(self.values[sum + 2 * node..][..2].as_flattened());
            }
            let inputs: [&[u8; 64]; 2 * GROUP] = std::array::from_fn(|i| &blocks[i]);
            let out = values[..count].as_flattened_mut();
            self.platform.hash_many(&inputs[..count], &key, 0, IncrementCounter::No, flags, 0, 0, out);
            // Nodes to the right read only what is to the right of here.
            for (job, value) in (first..).zip(&values[..count]) {
                let (sum, node) = place(job);
                self.values[sum + node] = *value;
            }
        }
        if width % 2 == 1 {
            for sum in self.values.chunks_exact_mut(pieces) {
                sum[half] = sum[width - 1];
            }
        }
    }

    /// The number of pieces of a sum: one even if it is empty.
    fn pieces(&self) -> usize {
        self.len.div_ceil(SumHash::PIECE).max(1)
    }
}

/// Writes the sum (exclusive or) of rows, which may be longer than it.
///
/// # Panics
/// If a row is shorter.
pub fn sum_rows<const K: usize>(backend: Backend, rows: [&[u8]; K], sum: &mut [u8]) {
    let rows = rows.map(|row| &row[..sum.len()]);
    let (whole, rest) = sum.as_chunks_mut();
    backend.sum(rows.map(|row| row.as_chunks().0), whole);
    for (j, sum) in rest.iter_mut().enumerate() {
        *sum = rows.iter().fold(0, |sum, row| sum ^ row[16 * whole.len() + j]);
    }
}

/// The words that BLAKE3 makes of a key.
fn words(key: &[u8; 32]) -> [u32; 8] {
    let bytes = key.as_chunks().0;
    core::array::from_fn(|i| u32::from_le_bytes(bytes[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_to_the_public_function() {
        let row = if cfg!(miri) { 1100 } else { 17_000 };
        let mut bytes = vec![0; 40 * row];
        Hasher::new().update(b"rows").finalize_xof().fill(&mut bytes);
        let rows: Vec<&[u8]> = bytes.chunks_exact(row).collect();
        let mut hashes: Vec<SumHash> = Backend::available().into_iter().map(SumHash::new).collect();
        let all = [(0, 3), (1, 1), (64, 17), (1025, 5), (1024, 16), (2048, 33), (5000, 18), (16384, 37), (16400, 2)];
        for &(len, sums) in if cfg!(miri) { &[(0, 3), (80, 2), (1025, 1)][..] } else { &all } {
            let key = *blake3::hash(&[len as u8]).as_bytes();
            let of = |i: usize| [rows[i], rows[i + 1], rows[39 - i]];
            for hash in &mut hashes {
                hash.begin(key, sums, len);
                for at in (0..len.max(1)).step_by(SumHash::PIECE) {
                    hash.absorb(|i| of(i).map(|row| &row[at..len.min(at + SumHash::PIECE)]));
                }
                for (i, value) in hash.finish().iter().enumerate() {
                    let [a, b, c] = of(i);
                    let sum: Vec<u8> = (0..len).map(|j| a[j] ^ b[j] ^ c[j]).collect();
                    let expected = blake3::keyed_hash(&key, &sum);
                    assert_eq!(value, expected.as_bytes(), "{}, {len} bytes, sum {i} of {sums}", hash.backend);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "all pieces are hashed")]
    fn a_missing_piece_is_noticed() {
        let mut hash = SumHash::new(Backend::detect());
        hash.begin([0; 32], 1, 2000);
        hash.absorb(|_| [&[0; 1024]]);
        hash.finish();
    }
}
