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
//! groups, so that both sides work at once.

use comity_channel::Channel;
use comity_core::{Bits, Block, Result, SessionId};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::BaseOt;
use super::points::{
    Chooser, Encoded, GROUP, Kdf, Offerer, POINT_BYTES, decode, derive, items, malformed, random_scalar, receive_groups,
};
use crate::model::SemiHonest;
use crate::seeds::{ReceiverSeeds, SenderSeeds};

/// This protocol as the base of an extension.
#[derive(Clone, Copy, Debug)]
pub enum Simplest {}

impl BaseOt for Simplest {
    type Model = SemiHonest;

    fn send(
        ch: &mut dyn Channel,
        session: &SessionId,
        n: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<SenderSeeds<SemiHonest>> {
        send(ch, session, n, rng).map(SenderSeeds::new)
    }

    fn receive(
        ch: &mut dyn Channel,
        session: &SessionId,
        choices: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverSeeds<SemiHonest>> {
        let chosen = receive(ch, session, choices, rng)?;
        Ok(ReceiverSeeds::new(choices.clone(), chosen))
    }
}

/// The sender's message: the encoding of `A`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup(Encoded);

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
pub struct Points(Vec<Encoded>);

impl Points {
    /// The message of `n` OTs with these bytes. The points are checked by the sender that takes the message.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind)(comity_core::Error::Malformed) if there are not exactly 32 bytes for each OT.
    pub fn from_bytes(bytes: &[u8], n: usize) -> Result<Points> {
        let points = items::<1>(bytes, n).ok_or_else(|| malformed("points", n, bytes.len()))?;
        Ok(Points(points.into_flattened()))
    }

    /// The bytes of the message, 32 for each OT.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_flattened()
    }
}

/// The sender, waiting for the receiver's points.
pub struct Sender {
    offerer: Offerer,
    kdf: Kdf,
}

impl Sender {
    /// Step 1: draws `a` and gives `A` to send.
    pub fn new(session: &SessionId, rng: &mut dyn CryptoRng) -> (Sender, Setup) {
        let half_a = Zeroizing::new(random_scalar(rng));
        let a = RistrettoPoint::mul_base(&Zeroizing::new(*half_a + *half_a));
        let setup = Setup(a.compress().to_bytes());
        (Sender { offerer: Offerer::new(half_a, &a), kdf: kdf(session, &setup) }, setup)
    }

    /// Step 3: both keys of each OT.
    ///
    /// # Errors
    /// [`InvalidPoint`](crate::checks::INVALID_POINT) or [`IdentityPoint`](crate::checks::IDENTITY_POINT) if
    /// the receiver sent such a point.
    pub fn finish(mut self, points: &Points) -> Result<Vec<[Block; 2]>> {
        let mut keys = Zeroizing::new(Vec::with_capacity(points.0.len()));
        points.0.chunks(GROUP).try_for_each(|group| self.group(group, &mut keys))?;
        Ok(std::mem::take(&mut *keys))
    }

    /// Appends the keys of the next few OTs.
    fn group(&mut self, points: &[Encoded], keys: &mut Vec<[Block; 2]>) -> Result<()> {
        self.offerer.shared(points, |point, pair| keys.push(self.kdf.keys(point, pair)))
    }
}

/// The receiver, its points drawn.
pub struct Receiver {
    a: RistrettoPoint,
    chooser: Chooser,
    kdf: Kdf,
}

impl Receiver {
    /// Step 2: one point for each choice bit, to send.
    ///
    /// # Errors
    /// [`InvalidPoint`](crate::checks::INVALID_POINT) or [`IdentityPoint`](crate::checks::IDENTITY_POINT) if
    /// the sender sent such a point.
    pub fn new(
        session: &SessionId,
        choices: &Bits,
        setup: &Setup,
        rng: &mut dyn CryptoRng,
    ) -> Result<(Receiver, Points)> {
        let mut receiver = Receiver::start(session, choices.len(), setup)?;
        let points = Points(receiver.chooser.draw(choices, rng));
        Ok((receiver, points))
    }

    /// Step 4: the chosen key of each OT.
    pub fn finish(mut self) -> Vec<Block> {
        // Whole from the start: growing would leave keys behind.
        let mut keys = Vec::with_capacity(self.chooser.len());
        self.chooser.shared(&self.a, |point, shared| {
            let [key] = self.kdf.keys(point, std::array::from_ref(shared));
            keys.push(key);
        });
        keys
    }

    fn start(session: &SessionId, n: usize, setup: &Setup) -> Result<Receiver> {
        let a = decode(&setup.0)?;
        Ok(Receiver { a, chooser: Chooser::new(&a, n), kdf: kdf(session, setup) })
    }
}

/// The derivation of keys.
fn kdf(session: &SessionId, setup: &Setup) -> Kdf {
    Kdf::new("comity simplest OT: the key of one base OT", &[&session.to_bytes(), &setup.0])
}

impl Kdf {
    /// The keys of the next OT, whose point is `point`: one for each shared point.
    fn keys<const N: usize>(&mut self, point: &Encoded, shared: &[CompressedRistretto; N]) -> [Block; N] {
        let start = self.next(point);
        shared.each_ref().map(|shared| Block::new(derive(&start, &[shared.as_bytes()])))
    }
}

/// The sender's side of `n` random OTs: both keys of each.
///
/// # Errors
/// Errors of [`Sender::finish`] and of the channel.
pub fn send(ch: &mut dyn Channel, session: &SessionId, n: usize, rng: &mut dyn CryptoRng) -> Result<Vec<[Block; 2]>> {
    // 1. A goes out at once: the receiver waits for it.
    let (mut sender, setup) = Sender::new(session, rng);
    ch.send(&setup.0)?;
    ch.flush()?;
    // 3. Keys are computed while the receiver draws its next group.
    let mut keys = Zeroizing::new(Vec::with_capacity(n));
    receive_groups::<1>(ch, n, |_, group| sender.group(group.as_flattened(), &mut keys))?;
    Ok(std::mem::take(&mut *keys))
}

/// The receiver's side of one random OT for each choice bit: the chosen keys.
///
/// # Errors
/// Errors of [`Receiver::new`] and of the channel.
pub fn receive(
    ch: &mut dyn Channel,
    session: &SessionId,
    choices: &Bits,
    rng: &mut dyn CryptoRng,
) -> Result<Vec<Block>> {
    let mut setup = [0; POINT_BYTES];
    ch.recv(&mut setup)?;
    let mut receiver = Receiver::start(session, choices.len(), &Setup(setup))?;
    // 2.
    receiver.chooser.send(ch, choices, rng)?;
    // 4.
    Ok(receiver.finish())
}
