//! `Multiples`: a table of multiples of a point that is multiplied some tens of times.
//!
//! A scalar, made odd by adding the group's order or not, is cut into odd signed digits, and the table has each
//! digit's multiple of the point, at every place: a product is one addition a digit, and no doubling. The points stay in projective coordinates, whose additions are a little slower than those of the library's own
//! tables, since normalizing them would take as long as thirty multiplications; a narrow table here takes three.

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use subtle::{Choice, ConditionallyNegatable, ConditionallySelectable};
use zeroize::Zeroizing;

/// Multiples of one point.
pub struct Multiples {
    /// The bits of a digit.
    width: usize,
    /// For each place the multiples by 1, 3, 5, ... below the base.
    table: Vec<RistrettoPoint>,
}

impl Multiples {
    /// A table of 80 KiB, for points of some tens of uses.
    pub fn narrow(point: &RistrettoPoint) -> Multiples {
        Multiples::new(4, point)
    }

    /// A table of 640 KiB, for thousands of uses with scalars that are no secret.
    pub fn wide(point: &RistrettoPoint) -> Multiples {
        Multiples::new(8, point)
    }

    fn new(width: usize, point: &RistrettoPoint) -> Multiples {
        let (places, half) = (256 / width, 1 << (width - 1));
        let mut table = Vec::with_capacity(places * half);
        let mut base = *point;
        for _ in 0..places {
            let twice = base + base;
            let mut multiple = base;
            table.push(multiple);
            for _ in 1..half {
                multiple += twice;
                table.push(multiple);
            }
            base += multiple;
        }
        Multiples { width, table }
    }

    /// The product with a secret scalar: neither branches nor addresses depend on it.
    pub fn multiply(&self, scalar: &Scalar) -> RistrettoPoint {
        let bytes = odd(scalar);
        let mut sum = RistrettoPoint::identity();
        let mut level = Zeroizing::new(vec![RistrettoPoint::identity(); self.half() / 2]);
        for (row, (negative, index)) in self.table.chunks_exact(self.half()).zip(self.digits(&bytes)) {
            // Half of the candidates go with each bit of the index.
            let mut count = self.half() / 2;
            let bit = |at: usize| Choice::from((index >> at & 1) as u8);
            for (to, pair) in level.iter_mut().zip(row.as_chunks::<2>().0) {
                *to = RistrettoPoint::conditional_select(&pair[0], &pair[1], bit(0));
            }
            for at in 1..self.width - 1 {
                count /= 2;
                for i in 0..count {
                    level[i] = RistrettoPoint::conditional_select(&level[2 * i], &level[2 * i + 1], bit(at));
                }
            }
            let mut term = level[0];
            term.conditional_negate(Choice::from(negative));
            sum += term;
        }
        sum
    }

    /// The product with a scalar that is no secret.
    pub fn multiply_public(&self, scalar: &Scalar) -> RistrettoPoint {
        let bytes = odd(scalar);
        let mut sum = RistrettoPoint::identity();
        for (row, (negative, index)) in self.table.chunks_exact(self.half()).zip(self.digits(&bytes)) {
            match negative {
                0 => sum += row[index],
                _ => sum -= row[index],
            }
        }
        sum
    }

    fn half(&self) -> usize {
        1 << (self.width - 1)
    }

    /// The digits of an odd scalar from the least one on: whether each is negative, and its size, 1, 3, 5, ..., counted.
    ///
    /// What is left of `s` at place `i` is `2 floor(s / 2^(wi + 1)) + 1`, which is odd; the digit is that modulo twice the
    /// base, less the base, but for the last one, which is all that is left.
    fn digits(&self, bytes: &[u8; 33]) -> impl Iterator<Item = (u8, usize)> {
        let (width, places) = (self.width, 256 / self.width);
        (0..places).map(move |place| {
            let bit = place * width + 1;
            let pair = u16::from_le_bytes([bytes[bit / 8], bytes[bit / 8 + 1]]);
            let left = usize::from(pair >> (bit % 8)) & ((1 << width) - 1);
            if place == places - 1 {
                return (0, left);
            }
            let negative = (left >> (width - 1) & 1) ^ 1;
            (negative as u8, (left ^ negative.wrapping_neg()) & ((1 << (width - 1)) - 1))
        })
    }
}

/// The order of the group.
const ORDER: [u64; 4] = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 0x1000_0000_0000_0000];

/// The scalar as an odd number below 2^254: the order, which is odd, is added to an even one.
fn odd(scalar: &Scalar) -> Zeroizing<[u8; 33]> {
    let mut bytes = Zeroizing::new([0; 33]);
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
        let tables = [Multiples::narrow(&point), Multiples::wide(&point)];
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(8u64), Scalar::from(128u64)];
        scalars.extend((0..40u8).map(|i| Scalar::from_bytes_mod_order(*blake3::hash(&[i]).as_bytes())));
        scalars.push(Scalar::from_bytes_mod_order([0x88; 32]));
        scalars.push(Scalar::from_bytes_mod_order([0x7f; 32]));
        for scalar in scalars {
            let want = point * scalar;
            for table in &tables {
                assert_eq!(table.multiply_public(&scalar), want);
                assert_eq!(table.multiply(&scalar), want);
            }
        }
    }
}
