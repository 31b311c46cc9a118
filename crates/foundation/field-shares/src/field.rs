//! `Field`: what these protocols ask of a field, and GF(2^128), whose elements are [`Block`]s.
//!
//! An element has [digits](Field::bit), each 0 or 1, over a base that may be any element: products with a
//! shared bit then make products with a shared element (the gadget vector of the paper). In GF(2^128) the
//! base is x, and the digits are the coefficients; in a prime field it would be 2, and the digits those of
//! the number.
//!
//! What a prime field has to bring along: about 2^128 elements, since all checks are random combinations
//! whose coefficients and errors are elements, and a way to make an element of a [`Block`] that keeps it as
//! good as uniform.

use comity_core::{Backend, Bits, Block, Error, Prg, Result, SmallFieldVole, Vectorize, gf128};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// A finite field of about 2^128 elements.
pub trait Field: Copy + Send + Sync + Zeroize + ConstantTimeEq + 'static {
    /// The number of digits of an element.
    const BITS: usize;
    /// The number of bytes of an element on the wire.
    const BYTES: usize;
    /// The streams of a tree of seeds.
    type Streams: Streams<Self>;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// The sum.
    fn plus(self, other: Self) -> Self;

    /// The difference.
    fn minus(self, other: Self) -> Self;

    /// The element if `bit` is set, otherwise zero; in constant time.
    fn masked(self, bit: bool) -> Self;

    /// Adds `terms` to `sums` if `bit` is set; in constant time.
    fn add_masked(bit: bool, terms: &[Self], sums: &mut [Self]);

    /// A digit, from that of the power zero of the base on.
    fn bit(self, i: usize) -> bool;

    /// The digits of elements, one element after another.
    fn digits(elements: &[Self]) -> Bits;

    /// Adds to `sums`, one for each digit, those of `terms` whose digit is set; in constant time.
    ///
    /// # Panics
    /// If there are not as many.
    fn add_chosen(self, backend: Backend, terms: &[Self], sums: &mut [Self]);

    /// Steps of Horner's rule, one for each row of `terms`, which are as long as `sums`, from the last row on:
    /// replaces each of `sums` by its product with the base, plus its term.
    ///
    /// # Panics
    /// If the rows are not [whole](TREE).
    fn horner(backend: Backend, sums: &mut [Self], terms: &[Self]);

    /// The element that these digits make, one for each power of the base: they may be any elements.
    ///
    /// # Panics
    /// If there are not as many.
    fn composed(backend: Backend, digits: &[Self]) -> Self;

    /// The product.
    fn times(self, backend: Backend, other: Self) -> Self;

    /// The sum of the products `a[i] * b[i]`.
    ///
    /// # Panics
    /// If the lengths differ.
    fn inner_product(backend: Backend, a: &[Self], b: &[Self]) -> Self;

    /// Draws uniform elements.
    fn draw(from: &mut Prg, out: &mut [Self]);

    /// An element that is as good as uniform if the block is uniform.
    fn of_block(block: Block) -> Self;

    /// Appends elements as they go over the wire: [`BYTES`](Field::BYTES) each.
    fn write(elements: &[Self], to: &mut Vec<u8>);

    /// Elements from the wire.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if one is written otherwise than [`Field::write`] does.
    ///
    /// # Panics
    /// If the bytes are not as many.
    fn read(bytes: &[u8], out: &mut [Self]) -> Result<()>;
}

/// Digits of a share of a key that a tree of seeds is for: a product with all of them is one element on the
/// wire, and 2^[`TREE`] blocks of streams.
pub const TREE: usize = 4;

/// Elements from the streams of a tree of seeds, whose numbers have [`TREE`] bits.
pub trait Streams<F>: Send {
    /// The streams of all seeds in order, or of all but that with the number `delta`: then that of `delta ^ x` is
    /// in place `x`, and there is no first one.
    fn new(backend: Backend, seeds: &[Block]) -> Self;

    /// The next elements: in `sum` the sums of all streams, and in `rows`, one after another for each bit of a
    /// number, `v`, those of the streams whose number has it. Without the first seed `sum` is of no use, and the
    /// rows are `w`: `v` where the bit of `delta` is not set, and where it is, `v` less the sum.
    fn fill(&mut self, sum: &mut [F], rows: &mut [F]);
}

impl Streams<Block> for SmallFieldVole {
    fn new(backend: Backend, seeds: &[Block]) -> SmallFieldVole {
        SmallFieldVole::new(backend, seeds)
    }

    fn fill(&mut self, sum: &mut [Block], rows: &mut [Block]) {
        SmallFieldVole::fill(self, sum, rows);
    }
}

/// A field in which `1 + 1` is zero, so that sums of bits are bits.
pub trait BinaryField: Field {}

/// The powers of x, the base of the digits.
const POWERS: [Block; 128] = {
    let mut powers = [Block::ZERO; 128];
    let mut i = 0;
    while i < 128 {
        powers[i] = Block::from_u128(1 << i);
        i += 1;
    }
    powers
};

impl Field for Block {
    const BITS: usize = 128;
    const BYTES: usize = Block::BYTES;
    type Streams = SmallFieldVole;
    const ZERO: Block = Block::ZERO;
    const ONE: Block = Block::from_u128(1);

    #[inline]
    fn plus(self, other: Block) -> Block {
        self ^ other
    }

    #[inline]
    fn minus(self, other: Block) -> Block {
        self ^ other
    }

    #[inline]
    fn masked(self, bit: bool) -> Block {
        Block::masked(self, bit)
    }

    fn add_masked(bit: bool, terms: &[Block], sums: &mut [Block]) {
        // One mask for all: the compiler does not know that it is one of two.
        let mask = Block::from_u128(u128::MAX).masked(bit);
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum ^= *term & mask);
    }

    #[inline]
    fn bit(self, i: usize) -> bool {
        self.to_u128() >> i & 1 == 1
    }

    fn digits(elements: &[Block]) -> Bits {
        Bits::from_bytes(Block::bytes_of(elements), elements.len() * Block::BITS)
    }

    fn add_chosen(self, backend: Backend, terms: &[Block], sums: &mut [Block]) {
        assert_eq!([terms.len(), sums.len()], [Block::BITS; 2], "one for each digit");
        let (terms, sums) = (bytemuck::cast_slice(terms), bytemuck::cast_slice_mut(sums));
        backend.vectorize(Chosen { digits: self.to_u128(), terms, sums });
    }

    fn horner(backend: Backend, sums: &mut [Block], terms: &[Block]) {
        assert_eq!(terms.len(), TREE * sums.len(), "a row for each bit");
        let mut rows = terms.chunks_exact(sums.len().max(1));
        let rows = core::array::from_fn(|_| bytemuck::cast_slice(rows.next().unwrap_or_default()));
        backend.vectorize(Horner { sums: bytemuck::cast_slice_mut(sums), rows });
    }

    fn composed(backend: Backend, digits: &[Block]) -> Block {
        gf128::inner_product(backend, digits, &POWERS)
    }

    fn times(self, backend: Backend, other: Block) -> Block {
        gf128::mul(backend, self, other)
    }

    fn inner_product(backend: Backend, a: &[Block], b: &[Block]) -> Block {
        gf128::inner_product(backend, a, b)
    }

    fn draw(from: &mut Prg, out: &mut [Block]) {
        from.fill_blocks(out);
    }

    fn of_block(block: Block) -> Block {
        block
    }

    fn write(elements: &[Block], to: &mut Vec<u8>) {
        to.extend_from_slice(Block::bytes_of(elements));
    }

    /// All 16 bytes are an element.
    fn read(bytes: &[u8], out: &mut [Block]) -> Result<()> {
        Block::bytes_of_mut(out).copy_from_slice(bytes);
        Ok(())
    }
}

impl BinaryField for Block {}

/// [`Field::horner`] in GF(2^128), of elements as two words.
struct Horner<'a> {
    sums: &'a mut [[u64; 2]],
    rows: [&'a [[u64; 2]]; TREE],
}

impl Vectorize for Horner<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let rows = self.rows.map(|row| &row[..self.sums.len()]);
        for (i, sum) in self.sums.iter_mut().enumerate() {
            let [mut low, mut high] = sum.map(u64::from_le);
            for row in rows.iter().rev() {
                let term = row[i].map(u64::from_le);
                // The sign, spread over the word: 1 if x^127 was there.
                let over = (high as i64 >> 63) as u64 & 0x87;
                (low, high) = (low << 1 ^ over ^ term[0], (high << 1 | low >> 63) ^ term[1]);
            }
            *sum = [low, high].map(u64::to_le);
        }
    }
}

/// [`Field::add_chosen`] in GF(2^128), of elements as two words.
struct Chosen<'a> {
    digits: u128,
    terms: &'a [[u64; 2]],
    sums: &'a mut [[u64; 2]],
}

impl Vectorize for Chosen<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let words = [self.digits as u64, (self.digits >> 64) as u64];
        let halves = self.terms.chunks_exact(64).zip(self.sums.chunks_exact_mut(64));
        for (digits, (terms, sums)) in words.into_iter().zip(halves) {
            for (i, (term, sum)) in terms.iter().zip(sums).enumerate() {
                // The digit, spread over the word.
                let set = ((digits << (63 - i)) as i64 >> 63) as u64;
                *sum = [sum[0] ^ term[0] & set, sum[1] ^ term[1] & set];
            }
        }
    }
}

/// A uniform element.
pub(crate) fn drawn<F: Field>(from: &mut Prg) -> F {
    let mut element = [F::ZERO];
    F::draw(from, &mut element);
    element[0]
}

/// The `n` public elements that follow from a coin.
pub(crate) fn coefficients<F: Field>(backend: Backend, coin: &[u8; 32], n: usize) -> Vec<F> {
    let seed = blake3::derive_key("comity field shares: coefficients of a coin", coin);
    let mut elements = vec![F::ZERO; n];
    F::draw(&mut Prg::new(backend, Block::new(std::array::from_fn(|i| seed[i]))), &mut elements);
    elements
}

/// Elements from the wire.
pub(crate) fn elements<F: Field>(bytes: &[u8]) -> Result<Vec<F>> {
    let mut elements = vec![F::ZERO; bytes.len() / F::BYTES];
    F::read(bytes, &mut elements)?;
    Ok(elements)
}

/// The bytes of elements.
pub(crate) fn bytes<F: Field>(elements: &[F]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(elements.len() * F::BYTES);
    F::write(elements, &mut bytes);
    bytes
}

/// What ends every part after an error.
pub(crate) fn ended() -> Error {
    Error::invalid_input("this MAC key ended with an earlier error: set up a new one, with new base OTs")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn coefficients_follow_from_the_coin() {
        let of = |coin| coefficients::<Block>(Backend::detect(), &[coin; 32], 100);
        let all: HashSet<u128> = [1, 2].into_iter().flat_map(of).map(Block::to_u128).collect();
        assert_eq!(all.len(), 200, "a coefficient that comes twice, or with another coin");
        assert!(of(1) == of(1));
    }

    #[test]
    fn what_digits_choose_is_added() {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(7));
        let [mut terms, mut sums] = [[Block::ZERO; 128]; 2];
        rng.fill_blocks(&mut terms);
        rng.fill_blocks(&mut sums);
        let element = rng.block();
        let chosen = |i: usize| sums[i] ^ terms[i].masked(element.bit(i));
        let expected: [Block; 128] = std::array::from_fn(chosen);
        for backend in Backend::available() {
            let mut got = sums;
            element.add_chosen(backend, &terms, &mut got);
            assert!(got == expected);
        }
    }
}
