//! Oblivious key-value stores (OKVS): a vector from which each of `n` keys reads its value, and which, if the
//! values are random, says nothing about the keys.
//!
//! **What**: a public hash gives every key a row over GF(2^128). [`encode`](Okvs::encode) solves for a vector
//! whose product with each key's row is the key's value; [`decode`](Okvs::decode) is that product, for any
//! key. A key that was not encoded reads something that looks random.
//!
//! **Which**: [`Sparse`], of Raghuraman and Rindal (CCS 2022; ePrint 2022/320, section 3): a row has a one at
//! three random places, and at the end of the vector the powers `r, r^2, r^3, r^4` of a random element. The
//! places alone are solved by peeling, as a cuckoo filter's are: a column that one row touches is that row's,
//! which is then out of the way of others. What peeling cannot solve is some rows in 2^13 sets, and is left
//! to the powers, in a linear system of four unknowns. Another scheme stands beside it behind [`Okvs`].
//!
//! **Clusters**: large sets are cut by hash into clusters of some 2^15 keys with columns of their own, so
//! that peeling jumps about in the second-level cache. That costs 4 % more columns, since clusters are not
//! equally full ([`Layout`] has the numbers).
//!
//! **Hiding**: columns that no row determines are drawn at random. Were they zero, the vector would show
//! which columns no key touches, which is a test for any key. With random values and free columns the vector
//! is uniform, so that it can be sent in the clear. Where it goes under a mask it need not be, but nobody has
//! to remember which case is which.
//!
//! **Failure**: [`encode`](Okvs::encode) leaves out a key, and says so, with probability 2^-40 a vector,
//! where hashes are drawn after the keys: a party that knows the seed of the hash while it chooses keys finds
//! keys that do not fit. Equal keys with different values never fit.
//!
//! **Side channels**: both functions read and write memory at places that the hashes of keys tell. Keys are
//! to be pseudorandom digests under a key of the session.
//!
//! **Cost**, with AVX-512, of 2^20 keys: 22 ms for the rows, 80 for a vector of 1.293 n elements, 35 to read
//! all values.

mod encode;
mod gaps;
mod layout;
mod places;
mod sparse;
#[cfg(test)]
mod tests;

pub use layout::Layout;
pub use sparse::Sparse;

use comity_core::{Backend, Block, Prg};

/// An OKVS, with the rows of some keys at hand.
///
/// A vector has parts of one length, each with keys of its own: one can be sent while the next one is
/// encoded, and read when it is there.
pub trait Okvs: Sized {
    /// The columns of a vector for `n` keys: a function of `n` alone.
    fn columns(n: usize) -> usize;

    /// The rows of some keys in a vector for `n` keys, under the hash that `seed` names. An encoder has at
    /// most `n` keys, a decoder any number.
    ///
    /// # Panics
    /// If there are 2^32 keys or more.
    fn place(backend: Backend, seed: Block, n: usize, keys: &[Block]) -> Self;

    /// The columns of a part.
    fn part(&self) -> usize;

    /// Sets the columns of a part so that each of its keys reads its value of `values`, which are those of
    /// all keys. Free columns come from the generator. Returns the numbers of the keys that did not fit, and
    /// that read something else.
    ///
    /// # Panics
    /// If there is not a value for each key, or the part has not as many columns as it must have.
    fn encode_part(&self, part: usize, values: &[Block], free: &mut Prg, columns: &mut [Block]) -> Vec<u32>;

    /// Writes what each key of a part reads from it to `out`, which has room for all keys.
    ///
    /// # Panics
    /// As [`encode_part`](Okvs::encode_part).
    fn decode_part(&self, part: usize, columns: &[Block], out: &mut [Block]);

    /// Sets a vector so that each key reads its value. Returns the numbers of the keys that did not fit.
    ///
    /// # Panics
    /// As [`encode_part`](Okvs::encode_part), for whole parts.
    fn encode(&self, values: &[Block], free: &mut Prg, vector: &mut [Block]) -> Vec<u32> {
        let parts = vector.chunks_mut(self.part()).enumerate();
        parts.flat_map(|(part, columns)| self.encode_part(part, values, free, columns)).collect()
    }

    /// Writes what each key reads from a vector.
    ///
    /// # Panics
    /// As [`encode`](Okvs::encode).
    fn decode(&self, vector: &[Block], out: &mut [Block]) {
        let parts = vector.chunks(self.part()).enumerate();
        parts.for_each(|(part, columns)| self.decode_part(part, columns, out));
    }
}
