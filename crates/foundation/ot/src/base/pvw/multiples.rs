//! Products of one point by many scalars, from its multiples.
//!
//! A scalar, made odd by adding the group's order or not, is cut into odd signed digits; with each digit's
//! multiple of the point at every place a product is one addition a digit, and no doubling. [`combine`] is
//! for secret scalars that are all there at once: it makes the multiples of a place, eight of them, adds for
//! each scalar the one that its digit says, and goes on to the next place, so that what is selected from
//! stays in the first cache. [`Multiples`] keeps all places, for scalars that are no secret. Points stay in
//! projective coordinates, whose additions are a little slower than those of the library's own tables, since
//! normalizing them would take as long as some seventy multiplications; eight multiples at each place take
//! ten.

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use subtle::{Choice, ConditionallyNegatable, ConditionallySelectable};
use zeroize::Zeroizing;

use super::products;

/// `u g + v h` for each pair `u, v` of secret scalars: neither branches nor addresses depend on them.
pub(super) fn combine(points: &[RistrettoPoint; 2], pairs: &[&[Scalar; 2]]) -> Zeroizing<Vec<RistrettoPoint>> {
    const WIDTH: usize = 4;
    let mut sums = Zeroizing::new(vec![RistrettoPoint::identity(); pairs.len()]);
    for (which, point) in points.iter().enumerate() {
        let scalars: Zeroizing<Vec<_>> = Zeroizing::new(pairs.iter().map(|pair| odd(&pair[which])).collect());
        products::note(pairs.len());
        let mut base = *point;
        for place in 0..256 / WIDTH {
            let mut row = [base; 1 << (WIDTH - 1)];
            fill(&mut row);
            base += row[row.len() - 1];
            for (sum, scalar) in sums.iter_mut().zip(scalars.iter()) {
                let (negative, index) = digit(scalar, WIDTH, place);
                let mut term = select(&row, index);
                term.conditional_negate(Choice::from(negative));
                *sum += term;
            }
        }
    }
    sums
}

/// The multiple at a secret place: half of the candidates go with each bit of it.
#[inline(always)]
fn select(row: &[RistrettoPoint; 8], index: usize) -> RistrettoPoint {
    let [low, middle, high] = [0, 1, 2].map(|at| Choice::from((index >> at & 1) as u8));
    let either = RistrettoPoint::conditional_select;
    let quarter = |at: usize| either(&row[at], &row[at + 1], low);
    let half = |at: usize| either(&quarter(at), &quarter(at + 2), middle);
    either(&half(0), &half(4), high)
}

/// The first multiple stands; the others by 3, 5, 7, ...
fn fill(row: &mut [RistrettoPoint]) {
    let twice = row[0] + row[0];
    for i in 1..row.len() {
        row[i] = row[i - 1] + twice;
    }
}

/// Multiples of one point, for public scalars.
pub struct Multiples {
    /// The bits of a digit.
    width: usize,
    /// For each place the multiples by 1, 3, 5, ... below the base.
    table: Vec<RistrettoPoint>,
}

impl Multiples {
    /// A table of 80 KiB, for points that are used some tens of times.
    pub fn narrow(point: &RistrettoPoint) -> Multiples {
        Multiples::new(4, point)
    }

    /// A table of 640 KiB, for points that are used thousands of times.
    pub fn wide(point: &RistrettoPoint) -> Multiples {
        Multiples::new(8, point)
    }

    fn new(width: usize, point: &RistrettoPoint) -> Multiples {
        let (places, half) = (256 / width, 1 << (width - 1));
        let mut table = vec![RistrettoPoint::identity(); places * half];
        let mut base = *point;
        for row in table.chunks_exact_mut(half) {
            row[0] = base;
            fill(row);
            base += row[half - 1];
        }
        Multiples { width, table }
    }

    /// The product with a public scalar.
    pub fn multiply_public(&self, scalar: &Scalar) -> RistrettoPoint {
        let scalar = odd(scalar);
        let mut sum = RistrettoPoint::identity();
        for (place, row) in self.table.chunks_exact(1 << (self.width - 1)).enumerate() {
            match digit(&scalar, self.width, place) {
                (0, index) => sum += row[index],
                (_, index) => sum -= row[index],
            }
        }
        sum
    }
}

/// A digit of an odd scalar, the least one at place 0: whether it is negative, and its size, 1, 3, 5, ..., counted.
///
/// What is left of `s` at place `i` is `2 floor(s / 2^(wi + 1)) + 1`, which is odd; the digit is that modulo twice the
/// base, less the base, but for the last one, which is all that is left.
#[inline(always)]
fn digit(scalar: &[u8; 33], width: usize, place: usize) -> (u8, usize) {
    let bit = place * width + 1;
    let pair = u16::from_le_bytes([scalar[bit / 8], scalar[bit / 8 + 1]]);
    let left = usize::from(pair >> (bit % 8)) & ((1 << width) - 1);
    if place == 256 / width - 1 {
        return (0, left);
    }
    let negative = (left >> (width - 1) & 1) ^ 1;
    (negative as u8, (left ^ negative.wrapping_neg()) & ((1 << (width - 1)) - 1))
}

/// The order of the group.
const ORDER: [u64; 4] = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 0x1000_0000_0000_0000];

/// The scalar as an odd number below 2^254: the order, which is odd, is added to an even one.
fn odd(scalar: &Scalar) -> [u8; 33] {
    let mut bytes = [0; 33];
    bytes[..32].copy_from_slice(scalar.as_bytes());
    let even = u64::from(!bytes[0] & 1).wrapping_neg();
    let mut carry = 0;
    for (limb, order) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(ORDER) {
        let sum = u128::from(u64::from_le_bytes(*limb)) + u128::from(order & even) + carry;
        *limb = (sum as u64).to_le_bytes();
        carry = sum >> 64;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_library() {
        let point = RistrettoPoint::mul_base(&Scalar::from(77u64));
        let other = RistrettoPoint::mul_base(&Scalar::from(5u64));
        let tables = [Multiples::narrow(&point), Multiples::wide(&point)];
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(8u64), Scalar::from(128u64)];
        scalars.extend((0..40u8).map(|i| Scalar::from_bytes_mod_order(*blake3::hash(&[i]).as_bytes())));
        scalars.push(Scalar::from_bytes_mod_order([0x88; 32]));
        scalars.push(Scalar::from_bytes_mod_order([0x7f; 32]));
        for scalar in &scalars {
            for table in &tables {
                assert_eq!(table.multiply_public(scalar), point * scalar);
            }
        }
        let pairs: Vec<[Scalar; 2]> = scalars.iter().zip(scalars.iter().rev()).map(|(u, v)| [*u, *v]).collect();
        let sums = combine(&[point, other], &pairs.iter().collect::<Vec<_>>());
        for (sum, [u, v]) in sums.iter().zip(&pairs) {
            assert_eq!(*sum, point * u + other * v);
        }
        assert_eq!(sums.len(), pairs.len());
    }
}
