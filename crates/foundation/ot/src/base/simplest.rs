//! Simplest OT (Chou and Orlandi, LATINCRYPT 2015; D13.3 section 3.1), semi-honest.
//!
//! The sender publishes `A = aG`. For each OT the receiver with choice bit `c` draws `b` and sends `B = bG + cA`.
//! The sender's keys are `H(aB)` and `H(a(B - A))`; the receiver, who can compute `bA` alone, holds the `c`-th.
//!
//! **Functionality**: random OT. For each index the sender gets two uniform blocks and the receiver, for its choice
//! bit, gets the one of that bit.
//!
//! **Adversary**: semi-honest, either party, under the computational Diffie-Hellman assumption in ristretto255 and
//! with BLAKE3 as random oracle. As published it is not simulatable against a malicious receiver, whose choice a
//! simulator cannot extract in time (ePrint 2017/370), and a malicious party can bias what comes out; a malicious
//! protocol must not stand on it. The receiver's choice is hidden unconditionally: `B` is uniform for either bit.
//!
//! **Corrections**: the key derivation takes the session, the index, `A`, `B` and the shared point, not the shared
//! point alone, so that keys of different OTs and sessions have nothing to do with each other. Non-canonical
//! encodings and the identity are refused, in both directions.
//!
//! **Cost**: two messages; 32 bytes from the sender in all, 32 bytes an OT from the receiver. For each OT the sender
//! decodes a point and multiplies it (about 40 microseconds), the receiver multiplies two fixed points (some 25, with
//! a table of multiples of `A` that costs as much as 40 multiplications). [`send`] and [`receive`] stream points in
//! groups, so that both sides work at once. Encoding shares one inversion over a group; the batch encoder yields the
//! *double* of what it is given, so scalars are kept as halves here.

use blake3::Hasher;
use comity_channel::Channel;
use comity_core::{Bits, Block, Error, Result, SessionId};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

use super::{BaseOt, POINT_BYTES, decode, random_scalar};
use crate::{ReceiverSeeds, SemiHonest, SenderSeeds};

/// This protocol as the base of an extension.
#[derive(Clone, Copy, Debug)]
pub enum Simplest {}

impl BaseOt for Simplest {
    type Model = SemiHonest;

    fn send<C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        n: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<SenderSeeds<SemiHonest>> {
        send(ch, session, n, rng).map(SenderSeeds::new)
    }

    fn receive<C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        choices: &Bits,
        rng: &mut impl CryptoRng,
    ) -> Result<ReceiverSeeds<SemiHonest>> {
        let chosen = receive(ch, session, choices, rng)?;
        Ok(ReceiverSeeds::new(choices.clone(), chosen))
    }
}

/// OTs whose points travel together. Small, since the sender idles until the first group arrives; at 8 the shared
/// inversion costs half a microsecond an OT.
const GROUP: usize = 8;

/// From this many OTs on, a table of multiples of `A` pays for the receiver.
const TABLE_PAYS: usize = 64;

/// The sender's message: the encoding of `A`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup([u8; POINT_BYTES]);

impl Setup {
    /// The message with these bytes. They are checked by the receiver that takes the message.
    pub fn from_bytes(bytes: [u8; POINT_BYTES]) -> Setup {
        Setup(bytes)
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> [u8; POINT_BYTES] {
        self.0
    }
}

/// The receiver's message: the encoding of `B` for each OT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Points(Vec<[u8; POINT_BYTES]>);

impl Points {
    /// The message of `n` OTs with these bytes. The points are checked by the sender that takes the message.
    ///
    /// # Errors
    /// [`Error::Malformed`] if there are not exactly 32 bytes for each OT.
    pub fn from_bytes(bytes: &[u8], n: usize) -> Result<Points> {
        match bytes.as_chunks() {
            (points, []) if points.len() == n => Ok(Points(points.to_vec())),
            _ => Err(Error::Malformed(format!(
                "the points of {n} base OTs are {} bytes long, not {POINT_BYTES} each",
                bytes.len()
            ))),
        }
    }

    /// The bytes of the message, 32 for each OT.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_flattened()
    }
}

/// The sender, waiting for the receiver's points.
pub struct Sender {
    half_a: Scalar,
    /// `(a/2) A`: what separates the halves of the two shared points.
    offset: RistrettoPoint,
    kdf: Kdf,
}

impl Sender {
    /// Step 1: draws `a` and gives `A` to send.
    pub fn new(session: &SessionId, rng: &mut impl CryptoRng) -> (Sender, Setup) {
        let half_a = random_scalar(rng);
        let a = Zeroizing::new(half_a + half_a);
        let offset = RistrettoPoint::mul_base(&Zeroizing::new(*a * half_a));
        let setup = Setup(RistrettoPoint::mul_base(&a).compress().to_bytes());
        let kdf = Kdf::new(session, &setup);
        (Sender { half_a, offset, kdf }, setup)
    }

    /// Step 3: both keys of each OT.
    ///
    /// # Errors
    /// [`InvalidPoint`](comity_core::Misbehaviour::InvalidPoint) or
    /// [`IdentityPoint`](comity_core::Misbehaviour::IdentityPoint) if the receiver sent such.
    pub fn finish(mut self, points: &Points) -> Result<Vec<[Block; 2]>> {
        let mut keys = Vec::with_capacity(points.0.len());
        for group in points.0.chunks(GROUP) {
            self.group(group, &mut keys)?;
        }
        Ok(keys)
    }

    /// Appends the keys of the next few OTs.
    fn group(&mut self, points: &[[u8; POINT_BYTES]], keys: &mut Vec<[Block; 2]>) -> Result<()> {
        let mut halves = Zeroizing::new(Vec::with_capacity(2 * points.len()));
        for bytes in points {
            let shared = decode(bytes)? * self.half_a;
            halves.push(shared);
            halves.push(shared - self.offset);
        }
        let shared = Zeroizing::new(RistrettoPoint::double_and_compress_batch(halves.iter()));
        for (bytes, pair) in points.iter().zip(shared.as_chunks().0) {
            keys.push(self.kdf.next(bytes, pair));
        }
        Ok(())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.half_a.zeroize();
        self.offset.zeroize();
    }
}

/// The receiver, its points drawn.
pub struct Receiver {
    a: RistrettoPoint,
    half_of_a: RistrettoPoint,
    half_b: Zeroizing<Vec<Scalar>>,
    points: Vec<[u8; POINT_BYTES]>,
    kdf: Kdf,
}

impl Receiver {
    /// Step 2: one point for each choice bit, to send.
    ///
    /// # Errors
    /// [`InvalidPoint`](comity_core::Misbehaviour::InvalidPoint) or
    /// [`IdentityPoint`](comity_core::Misbehaviour::IdentityPoint) if the sender sent such.
    pub fn new(
        session: &SessionId,
        choices: &Bits,
        setup: &Setup,
        rng: &mut impl CryptoRng,
    ) -> Result<(Receiver, Points)> {
        let mut receiver = Receiver::start(session, choices.len(), setup)?;
        while receiver.points.len() < choices.len() {
            receiver.group(choices, rng);
        }
        let points = Points(receiver.points.clone());
        Ok((receiver, points))
    }

    /// Step 4: the chosen key of each OT.
    pub fn finish(mut self) -> Vec<Block> {
        let table = (self.points.len() >= TABLE_PAYS).then(|| RistrettoBasepointTable::create(&self.a));
        let multiply = |half_b: &Scalar| match &table {
            Some(table) => table * half_b,
            None => self.a * half_b,
        };
        let mut keys = Vec::with_capacity(self.points.len());
        for (half_b, points) in self.half_b.chunks(GROUP).zip(self.points.chunks(GROUP)) {
            let halves = Zeroizing::new(Vec::from_iter(half_b.iter().map(multiply)));
            let shared = Zeroizing::new(RistrettoPoint::double_and_compress_batch(halves.iter()));
            for (point, shared) in points.iter().zip(shared.iter()) {
                let [key] = self.kdf.next(point, std::array::from_ref(shared));
                keys.push(key);
            }
        }
        keys
    }

    fn start(session: &SessionId, n: usize, setup: &Setup) -> Result<Receiver> {
        let a = decode(&setup.0)?;
        Ok(Receiver {
            a,
            half_of_a: a * Scalar::ONE.div_by_2(),
            half_b: Zeroizing::new(Vec::with_capacity(n)),
            points: Vec::with_capacity(n),
            kdf: Kdf::new(session, setup),
        })
    }

    /// Draws the points of the next few OTs and gives them to send.
    fn group(&mut self, choices: &Bits, rng: &mut impl CryptoRng) -> &[[u8; POINT_BYTES]] {
        let start = self.points.len();
        let end = choices.len().min(start + GROUP);
        let mut halves = Zeroizing::new(Vec::with_capacity(end - start));
        for i in start..end {
            self.half_b.push(random_scalar(rng));
            let chosen = Choice::from(u8::from(choices.get(i)));
            let shift = RistrettoPoint::conditional_select(&RistrettoPoint::identity(), &self.half_of_a, chosen);
            halves.push(RistrettoPoint::mul_base(&self.half_b[i]) + shift);
        }
        let points = RistrettoPoint::double_and_compress_batch(halves.iter());
        self.points.extend(points.iter().map(CompressedRistretto::to_bytes));
        &self.points[start..]
    }
}

/// Derives the keys, one index after another.
struct Kdf {
    /// Has absorbed the session and `A`.
    start: Hasher,
    index: u64,
}

impl Kdf {
    fn new(session: &SessionId, setup: &Setup) -> Kdf {
        let mut start = Hasher::new_derive_key("comity simplest OT: the key of one base OT");
        start.update(&session.to_bytes()).update(&setup.0);
        Kdf { start, index: 0 }
    }

    /// The keys of the next OT, whose point is `point`: one for each shared point.
    fn next<const N: usize>(&mut self, point: &[u8; POINT_BYTES], shared: &[CompressedRistretto; N]) -> [Block; N] {
        let mut hasher = self.start.clone();
        hasher.update(&self.index.to_le_bytes()).update(point);
        self.index += 1;
        std::array::from_fn(|i| {
            let mut hasher = hasher.clone();
            hasher.update(shared[i].as_bytes());
            let mut output = hasher.finalize_xof();
            let mut key = Block::ZERO;
            output.fill(Block::bytes_of_mut(std::slice::from_mut(&mut key)));
            output.zeroize();
            hasher.zeroize();
            key
        })
    }
}

/// The sender's side of `n` random OTs: both keys of each.
///
/// # Errors
/// Those of [`Sender::finish`] and of the channel.
pub fn send<C: Channel + ?Sized>(
    ch: &mut C,
    session: &SessionId,
    n: usize,
    rng: &mut impl CryptoRng,
) -> Result<Vec<[Block; 2]>> {
    // 1. A goes out at once: the receiver waits for it.
    let (mut sender, setup) = Sender::new(session, rng);
    ch.send(&setup.0)?;
    ch.flush()?;
    // 3. Keys are computed while the receiver draws its next group.
    let mut keys = Vec::with_capacity(n);
    let mut points = [[0; POINT_BYTES]; GROUP];
    while keys.len() < n {
        let group = &mut points[..GROUP.min(n - keys.len())];
        ch.recv(group.as_flattened_mut())?;
        sender.group(group, &mut keys)?;
    }
    Ok(keys)
}

/// The receiver's side of one random OT for each choice bit: the chosen keys.
///
/// # Errors
/// Those of [`Receiver::new`] and of the channel.
pub fn receive<C: Channel + ?Sized>(
    ch: &mut C,
    session: &SessionId,
    choices: &Bits,
    rng: &mut impl CryptoRng,
) -> Result<Vec<Block>> {
    let mut setup = [0; POINT_BYTES];
    ch.recv(&mut setup)?;
    let mut receiver = Receiver::start(session, choices.len(), &Setup(setup))?;
    // 2. All points first, since the sender waits for them; what this side derives from them can wait.
    while receiver.points.len() < choices.len() {
        ch.send(receiver.group(choices, rng).as_flattened())?;
        ch.flush()?;
    }
    // 4.
    Ok(receiver.finish())
}
