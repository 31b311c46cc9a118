//! What the base OTs have in common: encoded points, the receiver's points of OT from Diffie-Hellman and what
//! both sides derive from them, how points travel, and keys from points.
//!
//! Points travel in groups, so that both sides work at once. Encoding shares one inversion over a group; the
//! batch encoder yields the *double* of what it is given, so scalars are kept as halves.

use blake3::Hasher;
use comity_channel::Channel;
use comity_core::{Bits, Error, Result};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{Identity, IsIdentity};
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

use crate::checks;

/// Bytes of an encoded point.
pub(super) const POINT_BYTES: usize = 32;

/// An encoded point.
pub(super) type Encoded = [u8; POINT_BYTES];

/// OTs whose points travel together. Small, since the sender idles until the first group arrives; at 8 the shared
/// inversion costs half a microsecond an OT.
pub(super) const GROUP: usize = 8;

/// From this many OTs on, a table of multiples of the sender's point pays for the receiver.
const TABLE_PAYS: usize = 64;

/// A peer's point: canonically encoded and not the identity, or refused by name.
pub(super) fn decode(bytes: &Encoded) -> Result<RistrettoPoint> {
    let point = CompressedRistretto(*bytes).decompress().ok_or(checks::INVALID_POINT)?;
    if point.is_identity() {
        return Err(checks::IDENTITY_POINT.into());
    }
    Ok(point)
}

/// Encodes the doubles of some points.
pub(super) fn encode_doubles(halves: &[RistrettoPoint]) -> Zeroizing<Vec<CompressedRistretto>> {
    Zeroizing::new(RistrettoPoint::double_and_compress_batch(halves))
}

/// The `N` points of each of `n` OTs, if the bytes are exactly these.
pub(super) fn items<const N: usize>(bytes: &[u8], n: usize) -> Option<Vec<[Encoded; N]>> {
    match bytes.as_chunks() {
        (points, []) => match points.as_chunks() {
            (items, []) if items.len() == n => Some(items.to_vec()),
            _ => None,
        },
        _ => None,
    }
}

/// The error for a message of the wrong length.
pub(super) fn malformed(what: &str, n: usize, bytes: usize) -> Error {
    Error::malformed(format!("{bytes} bytes are not the {what} of {n} base OTs"))
}

/// A uniform scalar, from 64 bytes that `fill` makes: reduced, their bias is below 2^-250.
pub(super) fn uniform_scalar(fill: impl FnOnce(&mut [u8])) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    fill(wide.as_mut());
    Scalar::from_bytes_mod_order_wide(&wide)
}

/// A random scalar.
pub(super) fn random_scalar(rng: &mut dyn CryptoRng) -> Scalar {
    uniform_scalar(|wide| rng.fill_bytes(wide))
}

/// Reads `n` items of `N` points, group by group.
pub(super) fn receive_groups<const N: usize>(
    ch: &mut dyn Channel,
    n: usize,
    mut each: impl FnMut(&mut dyn Channel, &[[Encoded; N]]) -> Result<()>,
) -> Result<()> {
    let mut group = [[[0; POINT_BYTES]; N]; GROUP];
    for start in (0..n).step_by(GROUP) {
        let group = &mut group[..GROUP.min(n - start)];
        ch.recv(group.as_flattened_mut().as_flattened_mut())?;
        each(ch, group)?;
    }
    Ok(())
}

/// The receiver of OT from Diffie-Hellman: its points `B_i = b_i G + c_i T` for choice bits `c_i`.
pub(super) struct Chooser {
    /// `T/2`.
    half_shift: RistrettoPoint,
    half_b: Zeroizing<Vec<Scalar>>,
    points: Vec<Encoded>,
}

impl Chooser {
    /// A chooser that adds `shift`, for `n` OTs.
    pub(super) fn new(shift: &RistrettoPoint, n: usize) -> Chooser {
        let half_shift = shift * Scalar::ONE.div_by_2();
        Chooser { half_shift, half_b: Zeroizing::new(Vec::with_capacity(n)), points: Vec::with_capacity(n) }
    }

    /// Draws the points of the next few OTs, if there are more.
    pub(super) fn group(&mut self, choices: &Bits, rng: &mut dyn CryptoRng) -> Option<&[Encoded]> {
        let start = self.points.len();
        let end = choices.len().min(start + GROUP);
        let mut halves = Zeroizing::new(Vec::with_capacity(end - start));
        for i in start..end {
            self.half_b.push(random_scalar(rng));
            let chosen = Choice::from(u8::from(choices.get(i)));
            let shift = RistrettoPoint::conditional_select(&RistrettoPoint::identity(), &self.half_shift, chosen);
            halves.push(RistrettoPoint::mul_base(&self.half_b[i]) + shift);
        }
        self.points.extend(encode_doubles(&halves).iter().map(CompressedRistretto::to_bytes));
        (start < end).then(|| &self.points[start..])
    }

    /// OTs whose points are drawn.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// All points at once.
    pub(super) fn draw(&mut self, choices: &Bits, rng: &mut dyn CryptoRng) -> Vec<Encoded> {
        while self.group(choices, rng).is_some() {}
        self.points.clone()
    }

    /// Sends all points. The sender waits for them, so this side derives its own values only afterwards.
    pub(super) fn send(&mut self, ch: &mut dyn Channel, choices: &Bits, rng: &mut dyn CryptoRng) -> Result<()> {
        while let Some(group) = self.group(choices, rng) {
            ch.send(group.as_flattened())?;
            ch.flush()?;
        }
        Ok(())
    }

    /// For each OT its point and the shared point `b_i A`, where `A` is the sender's.
    pub(super) fn shared(&self, a: &RistrettoPoint, mut each: impl FnMut(&Encoded, &CompressedRistretto)) {
        let table = (self.points.len() >= TABLE_PAYS).then(|| RistrettoBasepointTable::create(a));
        let multiply = |half_b: &Scalar| match &table {
            Some(table) => table * half_b,
            None => a * half_b,
        };
        for (half_b, points) in self.half_b.chunks(GROUP).zip(self.points.chunks(GROUP)) {
            let halves = Zeroizing::new(Vec::from_iter(half_b.iter().map(multiply)));
            points.iter().zip(encode_doubles(&halves).iter()).for_each(|(point, shared)| each(point, shared));
        }
    }
}

/// The sender of OT from Diffie-Hellman: its scalar, and what separates both shared points.
pub(super) struct Offerer {
    half_a: Zeroizing<Scalar>,
    /// `(a/2) T`.
    offset: Zeroizing<RistrettoPoint>,
}

impl Offerer {
    /// For the scalar `a = 2 half_a`, against a receiver that chooses by adding `shift`.
    pub(super) fn new(half_a: Zeroizing<Scalar>, shift: &RistrettoPoint) -> Offerer {
        let offset = Zeroizing::new(shift * *half_a);
        Offerer { half_a, offset }
    }

    /// For each of some points `B` the shared points `aB` and `a(B - T)`.
    pub(super) fn shared(
        &self,
        points: &[Encoded],
        mut each: impl FnMut(&Encoded, &[CompressedRistretto; 2]),
    ) -> Result<()> {
        let mut halves = Zeroizing::new(Vec::with_capacity(2 * points.len()));
        for bytes in points {
            let shared = decode(bytes)? * *self.half_a;
            halves.extend([shared, shared - *self.offset]);
        }
        points.iter().zip(encode_doubles(&halves).as_chunks().0).for_each(|(point, pair)| each(point, pair));
        Ok(())
    }
}

/// Derives keys, one OT after another.
pub(super) struct Kdf {
    /// A hash that has absorbed what all OTs have in common.
    start: Hasher,
    /// The index of the next OT.
    pub(super) index: u64,
}

impl Kdf {
    /// A derivation for one purpose, which hashes `common` in each OT.
    pub(super) fn new(purpose: &str, common: &[&[u8]]) -> Kdf {
        let mut start = Hasher::new_derive_key(purpose);
        for part in common {
            start.update(part);
        }
        Kdf { start, index: 0 }
    }

    /// The start of the keys of the next OT, with these points of the receiver.
    pub(super) fn next(&mut self, points: &[u8]) -> Hasher {
        let mut hasher = self.start.clone();
        hasher.update(&self.index.to_le_bytes()).update(points);
        self.index += 1;
        hasher
    }
}

/// A key from the hash so far and these secret parts.
pub(super) fn derive<const N: usize>(start: &Hasher, parts: &[&[u8]]) -> [u8; N] {
    let mut hasher = start.clone();
    for part in parts {
        hasher.update(part);
    }
    let mut output = hasher.finalize_xof();
    let mut key = [0; N];
    output.fill(&mut key);
    output.zeroize();
    hasher.zeroize();
    key
}
