//! `Multiples`: a table of multiples of a point that is multiplied some tens of times.
//!
//! The scalar is cut into signed digits, and the table has every digit's multiple of the point, at every place: a
//! product is one addition a digit, and no doubling. The points stay in projective coordinates, whose
//! additions are a little slower than those of the library's own tables, since normalizing them would take as long as
//! thirty multiplications; a narrow table here takes three.

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use subtle::{ConditionallyNegatable, ConditionallySelectable, ConstantTimeEq};

/// Multiples of one point.
pub struct Multiples {
    /// The bits of a digit.
    width: usize,
    /// For each place the multiples by 1, 2, ..., half the base.
    table: Vec<RistrettoPoint>,
}

impl Multiples {
    /// A table of 80 KiB, for [`multiply`](Multiples::multiply) and for points of some tens of uses.
    pub fn narrow(point: &RistrettoPoint) -> Multiples {
        Multiples::new(4, point)
    }

    /// A table of 640 KiB, for thousands of uses. It is not for secret scalars.
    pub fn wide(point: &RistrettoPoint) -> Multiples {
        Multiples::new(8, point)
    }

    fn new(width: usize, point: &RistrettoPoint) -> Multiples {
        let (places, half) = (256 / width, 1 << (width - 1));
        let mut table = Vec::with_capacity(places * half);
        let mut base = *point;
        for _ in 0..places {
            let mut multiple = base;
            table.push(multiple);
            for _ in 1..half {
                multiple += base;
                table.push(multiple);
            }
            base = multiple + multiple;
        }
        Multiples { width, table }
    }

    /// The product with a secret scalar: neither branches nor addresses depend on it.
    pub fn multiply(&self, scalar: &Scalar) -> RistrettoPoint {
        let half = 1 << (self.width - 1);
        let mut sum = RistrettoPoint::identity();
        for (row, digit) in self.table.chunks_exact(half).zip(self.digits(scalar)) {
            let negative = digit >> 15;
            let size = (digit ^ negative) - negative;
            let mut term = RistrettoPoint::identity();
            for (multiple, at) in row.iter().zip(1i16..) {
                term.conditional_assign(multiple, size.ct_eq(&at));
            }
            term.conditional_negate(subtle::Choice::from((negative & 1) as u8));
            sum += term;
        }
        sum
    }

    /// The product with a scalar that is no secret.
    pub fn multiply_public(&self, scalar: &Scalar) -> RistrettoPoint {
        let half = 1 << (self.width - 1);
        let mut sum = RistrettoPoint::identity();
        for (row, digit) in self.table.chunks_exact(half).zip(self.digits(scalar)) {
            match digit {
                0 => {}
                1.. => sum += row[digit as usize - 1],
                _ => sum -= row[-digit as usize - 1],
            }
        }
        sum
    }

    /// The digits of a scalar from the least one on, from minus half the base to below half of it. A scalar is below
    /// 2^253: nothing is carried out of the last one.
    fn digits(&self, scalar: &Scalar) -> impl Iterator<Item = i16> {
        let (width, bytes) = (self.width, scalar.to_bytes());
        let (base, half) = (1i16 << width, 1i16 << (width - 1));
        let mut carry = 0;
        (0..256 / width).map(move |place| {
            let bit = place * width;
            let digit = (i16::from(bytes[bit / 8]) >> (bit % 8) & (base - 1)) + carry;
            // One where the digit is at least half the base, without a branch.
            carry = (digit + half) >> width;
            digit - (carry << width)
        })
    }
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
