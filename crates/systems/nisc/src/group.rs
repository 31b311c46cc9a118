//! Scalars and points, and those who compute multiples of `G` and `h`.
//!
//! Points are encoded in batches, which share an inversion, as the doubles of what is given. Scalars are kept
//! as halves.

use comity_core::{Error, Result};
use comity_ot::base::pvw::Multiples;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT as G;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use rand_core::CryptoRng;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::checks;
use crate::plan::AnswerPlan;

/// An encoded point.
pub(crate) type Encoded = [u8; 32];

/// A peer's point: canonically encoded and not the identity, or refused by name.
pub(crate) fn decode(bytes: &Encoded) -> Result<RistrettoPoint> {
    let point = CompressedRistretto(*bytes).decompress().ok_or(checks::INVALID_POINT)?;
    if point.is_identity() { Err(Error::from(checks::IDENTITY_POINT)) } else { Ok(point) }
}

/// The encodings of the doubles of these points.
pub(crate) fn doubled(halves: &[RistrettoPoint]) -> Zeroizing<Vec<CompressedRistretto>> {
    Zeroizing::new(RistrettoPoint::double_and_compress_batch(halves))
}

/// Half of a point.
pub(crate) fn half(point: &RistrettoPoint) -> RistrettoPoint {
    note(0, 1);
    point * Scalar::ONE.div_by_2()
}

/// Half of `G`.
fn half_g() -> RistrettoPoint {
    RistrettoPoint::mul_base(&Scalar::ONE.div_by_2())
}

/// A product of `G`, in constant time.
pub(crate) fn of_g(scalar: &Scalar) -> RistrettoPoint {
    note(1, 0);
    RistrettoPoint::mul_base(scalar)
}

#[cfg(test)]
thread_local! {
    static MADE: std::cell::Cell<[usize; 2]> = const { std::cell::Cell::new([0; 2]) };
}

/// Notes products where they are made, of points that have tables and of others: the tests hold
/// [`Cost`](crate::Cost) against them.
#[inline(always)]
pub(crate) fn note(_fixed: usize, _variable: usize) {
    #[cfg(test)]
    MADE.set([MADE.get()[0] + _fixed, MADE.get()[1] + _variable]);
}

/// The numbers of products noted on this thread so far.
#[inline(always)]
pub(crate) fn noted() -> [usize; 2] {
    #[cfg(test)]
    let made = MADE.get();
    #[cfg(not(test))]
    let made = [0; 2];
    made
}

/// A uniform scalar from 64 uniform bytes: reduced, their bias is below 2^-250.
pub(crate) fn uniform(fill: impl FnOnce(&mut [u8])) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    fill(wide.as_mut());
    Scalar::from_bytes_mod_order_wide(&wide)
}

/// A random scalar.
pub(crate) fn random(rng: &mut dyn CryptoRng) -> Scalar {
    uniform(|wide| rng.fill_bytes(wide))
}

/// A party that computes multiples of `G` and of `h`.
pub(crate) trait Powers {
    fn g(&self, scalar: &Scalar) -> RistrettoPoint;
    fn h(&self, scalar: &Scalar) -> RistrettoPoint;
    /// Half of `G`.
    fn half_g(&self) -> &RistrettoPoint;
}

/// The sender, who knows `w`: both are products of `G`, in constant time.
#[derive(ZeroizeOnDrop)]
pub(crate) struct TrapdoorOwner {
    pub(crate) w: Scalar,
    #[zeroize(skip)]
    pub(crate) half_g: RistrettoPoint,
}

impl TrapdoorOwner {
    pub(crate) fn new(w: Scalar) -> TrapdoorOwner {
        TrapdoorOwner { w, half_g: half_g() }
    }
}

impl Powers for TrapdoorOwner {
    fn g(&self, scalar: &Scalar) -> RistrettoPoint {
        of_g(scalar)
    }

    fn h(&self, scalar: &Scalar) -> RistrettoPoint {
        of_g(&Zeroizing::new(scalar * self.w))
    }

    fn half_g(&self) -> &RistrettoPoint {
        &self.half_g
    }
}

/// The receiver, with tables of `G` and `h`, for scalars that are no secret.
pub(crate) struct Public {
    tables: [Multiples; 2],
    half_g: RistrettoPoint,
}

impl Public {
    pub(crate) fn new(h: &RistrettoPoint, plan: &AnswerPlan) -> Public {
        // A wide table takes as long to make as a hundred products, and saves half of each.
        let uses = plan.t() * plan.inputs[1].max(plan.outputs);
        let table = if uses < 256 { Multiples::narrow } else { Multiples::wide };
        Public { tables: [table(&G), table(h)], half_g: half_g() }
    }
}

impl Powers for Public {
    fn g(&self, scalar: &Scalar) -> RistrettoPoint {
        note(1, 0);
        self.tables[0].multiply_public(scalar)
    }

    fn h(&self, scalar: &Scalar) -> RistrettoPoint {
        note(1, 0);
        self.tables[1].multiply_public(scalar)
    }

    fn half_g(&self) -> &RistrettoPoint {
        &self.half_g
    }
}
