//! Step 7 of Figure 4: an evaluator that knows Delta learns every `seed_j`, one that does not learns nothing,
//! and the garbler does not learn which of the two it was.
//!
//! **How**, in ristretto255 with generator `G`, written additively; `V(x)` is the point to which a string is hashed
//! - The evaluator draws `w` (the paper's omega) and `r`. [`First`] is `h = w G` and `g1 = r G`; it says nothing of
//!   the run and may go out long before. [`Second`] is `h1 = r h + V(Omega)`, where Omega is Delta if the evaluator
//!   learned it from copies that disagree, and a fresh random string otherwise.
//! - The garbler takes `s_j`, `t_j` from `seed_j` and sends `C_j = s_j G + t_j h` and `seed_j` under the pad that is
//!   hashed from `D_j = s_j g1 + t_j (h1 - V(Delta))`.
//! - The evaluator hashes its pads from `r C_j` for every evaluated copy, needed or not. For a checked copy, whose
//!   `s_j` and `t_j` it knows, it computes what the garbler should have sent.
//!
//! **Why it works.** `C_j = (s_j + w t_j) G` and `D_j = r C_j + t_j (V(Omega) - V(Delta))`.
//! - Omega = Delta: equal strings give equal points, so `D_j = r C_j` is what the evaluator has.
//! - `V(Omega) != V(Delta)`: `(s_j, t_j) -> (C_j, D_j)` is a bijection, so for uniform scalars `D_j` is uniform
//!   whatever `C_j` is, and the pad, a random oracle of it, tells nothing. This holds for any `h`, `g1` and `h1` that a
//!   cheating evaluator may send: with `w` and `r` the logarithms of the first two there is exactly one point `P` for
//!   which `h1 = r h + P`, and `P` stands for `V(Omega)`. It is fixed before the garbler says anything of Delta, whose
//!   128 bits are uniform to an evaluator that no copies have told it. The oracle maps no more than a few of the 2^128
//!   strings to one of 2^252 points, so that `P = V(Delta)` has a chance below 2^-125.
//! - The garbler sees `w G`, `r G` and `r w G + V(Omega)`: under DDH in ristretto255 the last is a random point,
//!   whatever Omega is.
//!
//! That is all that the proof of Theorem 1 asks of the way in which strings become points: it never computes with them,
//! and in particular needs neither that `V` can be inverted nor that it is one to one, nor a string for the neutral
//! element, which the paper sends for "not learned". Two strings with one point, if a garbler finds them (2^126
//! hashes), open what it might have given away anyway.
//!
//! **Bad elements.** Anything but a canonical encoding is refused by name. So are `h = 0` and `g1 = 0`: the argument
//! covers them, but nobody honest sends them. `h1 = 0` is as good as any. A `C_j` that does not decode must not stop
//! the evaluator if `j` is evaluated, for that would tell the garbler so: [`Trapdoor::open`] goes on with another
//! point. If `j` is checked the bytes are not what [`Trapdoor::expect`] gives.
//!
//! **Adversary**: malicious, either party; the evaluator unconditionally but for the random oracle, the garbler under
//! DDH.
//!
//! **Cost**: 96 bytes from the evaluator, 48 a copy from the garbler. The garbler computes two double multiplications a
//! copy, half of them before [`Second`]; the evaluator one multiplication for an evaluated copy and one and a double
//! one for a checked copy. For 40 copies, half of them checked, that is 3.9 ms and 2.2 ms at 48 microseconds for a
//! double multiplication. (Tables of multiples of `h`, `g1` and `h1 - V(Delta)` would take as long as 30
//! multiplications each to make, and save a third of 40.)

use blake3::Hasher;
use comity_core::{Block, Check, Result, SessionId};
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT as G;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{IsIdentity, MultiscalarMul};
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::checks;

/// An encoded point.
pub(crate) type EncodedPoint = [u8; 32];

/// The evaluator's first message: `h` and `g1`. Independent of everything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct First([EncodedPoint; 2]);

/// The evaluator's second message: `h1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Second(EncodedPoint);

impl First {
    /// Bytes in the message.
    pub(crate) const BYTES: usize = 64;

    /// The message with these bytes. [`First::points`] checks them.
    pub(crate) fn from_bytes(bytes: &[u8; 64]) -> First {
        let mut points = [[0; 32]; 2];
        points.as_flattened_mut().copy_from_slice(bytes);
        First(points)
    }

    /// The bytes of the message.
    pub(crate) fn to_bytes(self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes.copy_from_slice(self.0.as_flattened());
        bytes
    }

    /// The points `h` and `g1`.
    ///
    /// # Errors
    /// [`InvalidPoint`](crate::checks::INVALID_POINT) or [`IdentityPoint`](checks::IDENTITY_POINT) if the evaluator
    /// sent such.
    pub(crate) fn points(&self) -> Result<[RistrettoPoint; 2]> {
        let [h, g1] = self.0.map(|bytes| match decode(&bytes) {
            Ok(point) if point.is_identity() => Err(checks::IDENTITY_POINT),
            decoded => decoded,
        });
        Ok([h?, g1?])
    }
}

impl Second {
    /// Bytes in the message.
    pub(crate) const BYTES: usize = 32;

    /// The message with these bytes. [`Commitments::pads`] checks them.
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Second {
        Second(bytes)
    }

    /// The bytes of the message.
    pub(crate) fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

/// The scalars `s_j` and `t_j`, halved: points are encoded many at a time as the doubles of others.
#[derive(Clone, ZeroizeOnDrop)]
pub(crate) struct Scalars {
    half_s: Scalar,
    half_t: Scalar,
}

impl Scalars {
    /// The scalars from 128 uniform bytes, 64 for each, so that none is likelier than another by more than 2^-250.
    pub(crate) fn from_bytes(bytes: &[u8; 128]) -> Scalars {
        let (halves, _) = bytes.as_chunks();
        let [half_s, half_t] = [0, 1].map(|i: usize| Scalar::from_bytes_mod_order_wide(&halves[i]));
        Scalars { half_s, half_t }
    }
}

/// The evaluator's secrets `w` and `r`. Made anew for each run; drawn again from the same generator it is the same.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Trapdoor {
    w: Scalar,
    half_r: Scalar,
    r: Scalar,
}

impl Trapdoor {
    /// Draws the secrets `w` and `r`, and gives `h` and `g1` to send.
    pub(crate) fn new(rng: &mut dyn CryptoRng) -> (Trapdoor, First) {
        let mut random = || {
            let mut wide = Zeroizing::new([0; 64]);
            rng.fill_bytes(wide.as_mut());
            Scalar::from_bytes_mod_order_wide(&wide)
        };
        let (half_w, half_r) = (Zeroizing::new(random()), random());
        let halves = Zeroizing::new([&*half_w, &half_r].map(RistrettoPoint::mul_base));
        let points = RistrettoPoint::double_and_compress_batch(halves.iter());
        let first = First([points[0].to_bytes(), points[1].to_bytes()]);
        (Trapdoor { w: *half_w + *half_w, half_r, r: half_r + half_r }, first)
    }

    /// The message `h1`, which says Omega to nobody but whoever knows it. If no Delta was learned `omega` is fresh and
    /// random.
    pub(crate) fn second(&self, session: &SessionId, omega: Block) -> Second {
        let product = Zeroizing::new(self.r * self.w);
        let h1 = Zeroizing::new(RistrettoPoint::mul_base(&product) + *point(session, omega));
        Second(h1.compress().to_bytes())
    }

    /// The pads of evaluated copies, from the number and the `C_j` of each: that of `seed_j` if Omega was Delta, and
    /// otherwise of nothing.
    ///
    /// A `C_j` that is no point gets a pad that depends on it too, in the time of any other but for the decoding.
    pub(crate) fn open(&self, session: &SessionId, copies: &[(usize, EncodedPoint)]) -> Zeroizing<Vec<Block>> {
        let mut halves = Zeroizing::new(Vec::with_capacity(copies.len()));
        for (_, c) in copies {
            halves.push(CompressedRistretto(*c).decompress().unwrap_or(G) * self.half_r);
        }
        pads(session, copies.iter().copied(), &doubled(&halves))
    }

    /// The `C_j` of checked copies, and the pads of `seed_j`, from the number and the scalars of each. Both
    /// are known to the garbler. The same work is done whether `omega` is `delta` or not.
    pub(crate) fn expect<'a>(
        &self,
        session: &SessionId,
        omega: Block,
        delta: Block,
        copies: impl IntoIterator<Item = (usize, &'a Scalars)>,
    ) -> Vec<(EncodedPoint, Block)> {
        let difference = Zeroizing::new(*point(session, omega) - *point(session, delta));
        let mut numbers = Vec::new();
        let (mut half_c, mut half_d) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
        for (j, Scalars { half_s, half_t }) in copies {
            let c = Zeroizing::new(half_s + self.w * half_t);
            let rc = Zeroizing::new(self.r * *c);
            numbers.push(j);
            half_c.push(RistrettoPoint::mul_base(&c));
            half_d.push(RistrettoPoint::multiscalar_mul([&*rc, half_t], [&G, &*difference]));
        }
        let points = Vec::from_iter(doubled(&half_c).iter().map(CompressedRistretto::to_bytes));
        let pads = pads(session, numbers.into_iter().zip(points.iter().copied()), &doubled(&half_d));
        points.into_iter().zip(pads.iter().copied()).collect()
    }
}

/// The garbler's side: the commitments `C_j` of all copies.
pub(crate) struct Commitments {
    session: SessionId,
    scalars: Vec<Scalars>,
    g1: RistrettoPoint,
    points: Vec<EncodedPoint>,
}

impl Commitments {
    /// The commitments `C_j` from the scalars of copies 0, 1, ...
    ///
    /// # Errors
    /// Those of [`First::points`].
    pub(crate) fn new<'a>(
        session: &SessionId,
        first: &First,
        scalars: impl IntoIterator<Item = &'a Scalars>,
    ) -> Result<Commitments> {
        let [h, g1] = first.points()?;
        let scalars = Vec::from_iter(scalars.into_iter().cloned());
        let points = doubled(&combine(&scalars, &G, &h)).iter().map(CompressedRistretto::to_bytes).collect();
        Ok(Commitments { session: *session, scalars, g1, points })
    }

    /// The points `C_j` of the copies, to send.
    pub(crate) fn points(&self) -> &[EncodedPoint] {
        &self.points
    }

    /// The pad of each `seed_j`: the sum of pad and seed is to be sent.
    ///
    /// # Errors
    /// [`InvalidPoint`](crate::checks::INVALID_POINT) if the evaluator sent such.
    pub(crate) fn pads(self, second: &Second, delta: Block) -> Result<Zeroizing<Vec<Block>>> {
        let shifted = Zeroizing::new(decode(&second.0)? - *point(&self.session, delta));
        let shared = doubled(&combine(&self.scalars, &self.g1, &shifted));
        Ok(pads(&self.session, self.points.iter().copied().enumerate(), &shared))
    }
}

/// A peer's point, canonically encoded.
fn decode(bytes: &EncodedPoint) -> Result<RistrettoPoint, &'static Check> {
    CompressedRistretto(*bytes).decompress().ok_or(checks::INVALID_POINT)
}

/// The halves of `s_j a + t_j b`, one for each copy. (Two products in one cost a third less than one after the other.)
fn combine(scalars: &[Scalars], a: &RistrettoPoint, b: &RistrettoPoint) -> Zeroizing<Vec<RistrettoPoint>> {
    let mut halves = Zeroizing::new(Vec::with_capacity(scalars.len()));
    halves.extend(scalars.iter().map(|s| RistrettoPoint::multiscalar_mul([&s.half_s, &s.half_t], [a, b])));
    halves
}

/// The encodings of points, from their halves.
fn doubled(halves: &[RistrettoPoint]) -> Zeroizing<Vec<CompressedRistretto>> {
    Zeroizing::new(RistrettoPoint::double_and_compress_batch(halves))
}

/// The point of a string, `V`, in constant time.
fn point(session: &SessionId, value: Block) -> Zeroizing<RistrettoPoint> {
    let mut hasher = Hasher::new_derive_key("comity cut-and-choose: the point of a delta");
    hasher.update(&session.to_bytes()).update(&value.to_bytes());
    let mut wide = Zeroizing::new([0; 64]);
    let mut stream = hasher.finalize_xof();
    stream.fill(wide.as_mut());
    stream.zeroize();
    hasher.zeroize();
    Zeroizing::new(RistrettoPoint::from_uniform_bytes(&wide))
}

/// The pad of each copy, from its number, `C_j` and `D_j`.
fn pads(
    session: &SessionId,
    copies: impl Iterator<Item = (usize, EncodedPoint)>,
    shared: &[CompressedRistretto],
) -> Zeroizing<Vec<Block>> {
    let key = blake3::derive_key("comity cut-and-choose: the pad of a seed", &session.to_bytes());
    let mut message = Zeroizing::new([0; 8 + 32 + 32]);
    let mut pads = Zeroizing::new(Vec::with_capacity(shared.len()));
    for ((j, c), d) in copies.zip(shared) {
        message[..8].copy_from_slice(&(j as u64).to_le_bytes());
        message[8..40].copy_from_slice(&c);
        message[40..].copy_from_slice(d.as_bytes());
        let mut hash = blake3::keyed_hash(&key, &message[..]);
        let (pad, _) = hash.as_bytes().split_at(Block::BYTES);
        pads.push(Block::new(std::array::from_fn(|i| pad[i])));
        hash.zeroize();
    }
    pads
}

#[cfg(test)]
mod tests;
