//! `Sparse`: the rows of keys, sorted by cluster, and products with them.

use comity_core::{Aes128, Backend, Block, HugeTable, Prg, gf128};

use crate::Okvs;
use crate::encode::Encoder;
use crate::layout::Layout;
use crate::places::{cluster, places};

/// Rows whose products are computed together: a part of the first-level cache.
const BATCH: usize = 128;

/// The OKVS with three ones a row, and the rows of some keys ([the crate](crate)).
pub struct Sparse {
    pub(crate) backend: Backend,
    pub(crate) layout: Layout,
    /// The hashes of keys, cluster by cluster: places, and the point of the dense columns.
    pub(crate) hashes: HugeTable,
    /// The numbers of the keys, in the same order.
    keys: Vec<u32>,
    /// Where each cluster starts, and after the last one the number of keys.
    starts: Vec<usize>,
}

impl Sparse {
    /// As [`Okvs::place`], in a vector of any form.
    pub fn with_layout(backend: Backend, seed: Block, layout: Layout, keys: &[Block]) -> Sparse {
        assert!(u32::try_from(keys.len()).is_ok(), "{} keys, but an OKVS has less than 2^32", keys.len());
        // Hashed twice rather than kept: a nanosecond a key, where memory that was never touched takes more.
        let hash = Hash(Aes128::new(backend, seed));
        let mut starts = vec![0; layout.clusters + 1];
        hash.each(keys, |hash, _| starts[cluster(hash, layout.clusters) + 1] += 1);
        (0..layout.clusters).for_each(|i| starts[i + 1] += starts[i]);
        let mut ends = starts.clone();
        let (mut hashes, mut numbers) = (HugeTable::zeroed(keys.len()), vec![0; keys.len()]);
        hash.each(keys, |hash, number| {
            let end = &mut ends[cluster(hash, layout.clusters)];
            (hashes[*end], numbers[*end]) = (hash, number);
            *end += 1;
        });
        Sparse { backend, layout, hashes, keys: numbers, starts }
    }

    /// Checks that there is a value for each key, and that the columns are those of a whole part.
    fn check(&self, values: usize, columns: &[Block]) {
        assert_eq!(values, self.keys.len(), "a value for each key");
        assert_eq!(columns.len(), self.layout.stride(), "the columns of a part");
    }

    /// The hashes and numbers of a cluster's keys.
    fn cluster(&self, i: usize) -> (&[Block], &[u32]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.hashes[range.clone()], &self.keys[range])
    }
}

/// The hash of keys: `pi(x) ^ x` for AES-128 under the seed.
struct Hash(Aes128);

impl Hash {
    /// Hands on the hash of each key, and the key's number.
    fn each(&self, keys: &[Block], mut each: impl FnMut(Block, u32)) {
        let (mut hashed, mut number) = ([Block::ZERO; BATCH], 0);
        for keys in keys.chunks(BATCH) {
            let hashed = &mut hashed[..keys.len()];
            hashed.copy_from_slice(keys);
            self.0.encrypt(hashed);
            for (&hash, &key) in hashed.iter().zip(keys) {
                each(hash ^ key, number);
                number += 1;
            }
        }
    }
}

impl Okvs for Sparse {
    fn columns(n: usize) -> usize {
        Layout::of(n).columns()
    }

    fn place(backend: Backend, seed: Block, n: usize, keys: &[Block]) -> Sparse {
        Sparse::with_layout(backend, seed, Layout::of(n), keys)
    }

    fn part(&self) -> usize {
        self.layout.stride()
    }

    fn encode_part(&self, part: usize, values: &[Block], free: &mut Prg, columns: &mut [Block]) -> Vec<u32> {
        self.check(values.len(), columns);
        free.fill_blocks(columns);
        let (hashes, keys) = self.cluster(part);
        let values = keys.iter().map(|&key| values[key as usize]);
        let left_out = Encoder::new(self.backend, self.layout).encode(hashes, values, columns);
        left_out.into_iter().map(|row| keys[row as usize]).collect()
    }

    fn decode_part(&self, part: usize, columns: &[Block], out: &mut [Block]) {
        self.check(out.len(), columns);
        let mut read = [Block::ZERO; BATCH];
        let (sparse, dense) = columns.split_at(self.layout.sparse);
        let (hashes, keys) = self.cluster(part);
        for (hashes, keys) in hashes.chunks(BATCH).zip(keys.chunks(BATCH)) {
            let read = &mut read[..hashes.len()];
            for (read, &hash) in read.iter_mut().zip(hashes) {
                let [a, b, c] = places(hash, sparse.len() as u32).map(|place| sparse[place as usize]);
                *read = a ^ b ^ c;
            }
            gf128::add_polynomial(self.backend, dense, hashes, read);
            keys.iter().zip(&*read).for_each(|(&key, &read)| out[key as usize] = read);
        }
    }
}
