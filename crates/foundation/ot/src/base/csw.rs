//! The three-move OT of Canetti, Sarkar and Wang (PKC 2020, ePrint 2020/110): base OT against malicious parties.
//!
//! [`simplest`](super::simplest) with two additions. The point that the receiver's choice adds is not the sender's, but
//! hashed from a seed of the receiver: whoever knows its logarithm, as a simulator does and nobody else, can
//! open a choice both ways, and see the choices of others. And the receiver must answer a challenge, so that
//! it has made up its mind when the sender goes on.
//!
//! **How**, for OT `i` with choice bit `c`; both hash the session and all that was sent
//! - The sender draws `r` and offers `z = rG`.
//! - 1: the receiver draws a seed, which is hashed to the point `T`, and `a_i`; it sends the seed and
//!   `B_i = a_i G + c T`.
//! - 2: the sender's keys and answers are the halves of `H(i, rB_i)` and `H(i, r(B_i - T))`. It sends the sum of both
//!   answers, the challenge, and a digest of all answers for choice 0.
//! - 3: the receiver knows the key and the answer for its choice from `a_i z`; with the challenge it knows the answer
//!   for 0 in either case. If these do not match the digest it stops; if they do it sends another digest of them, which
//!   the sender checks.
//!
//! **Functionality**: random OT, endemic, with *selective failure*: a corrupt sender may guess some choice bits; if it
//! is wrong the receiver stops, if it is right the run goes on and nobody notices. Where the choice bits are the delta
//! of an extension, which may be guessed in the same way anyway, nothing is lost. A protocol whose choice bits are
//! inputs takes [`pvw`](super::pvw), or OTs of an extension.
//!
//! **Adversary**: malicious, either party, static; under the gap Diffie-Hellman assumption in ristretto255 with BLAKE3
//! as random oracle. (The paper says computational Diffie-Hellman. The reduction must answer queries to the oracle as a
//! sender with an unknown `r` would, and so must recognize `rB` among them: we count on that being of no help.) Choices
//! are hidden unconditionally: `B_i` is uniform.
//!
//! **Differences from the paper**: the offer `z` goes out at once, and not with the challenge: it depends on
//! nothing that the receiver says, and both can work at the same time. Batches follow McQuoid, Rosulek, Roy (ePrint
//! 2021/682): session, seed, offer, index and point enter every hash.
//!
//! **Cost**: three moves; 64 bytes and 32 an OT from the receiver, 64 and 16 an OT from the sender. For each OT the
//! sender decodes a point and multiplies it, the receiver multiplies two fixed points.

use blake3::Hasher;
use comity_channel::Channel;
use comity_core::{Bits, Block, Result, SessionId, mask, verdict};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::BaseOt;
use super::points::{
    Chooser, Encoded, GROUP, Kdf, Offerer, POINT_BYTES, decode, derive, items, malformed, random_scalar, receive_groups,
};
use crate::checks;
use crate::model::Malicious;
use crate::seeds::{ReceiverSeeds, SenderSeeds};

/// This protocol as the base of an extension.
#[derive(Clone, Copy, Debug)]
pub enum Csw {}

/// Bytes of a seed, and of a digest.
const DIGEST: usize = 32;

/// The sender's first message: the encoding of `z`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer(Encoded);

impl Offer {
    /// The message with these bytes. They are checked by the receiver that takes the message.
    pub fn from_bytes(bytes: [u8; POINT_BYTES]) -> Offer {
        Offer(bytes)
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> [u8; POINT_BYTES] {
        self.0
    }
}

/// The receiver's first message: its seed, and the encoding of `B` for each OT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Points {
    seed: [u8; DIGEST],
    points: Vec<Encoded>,
}

impl Points {
    /// The message of `n` OTs with these bytes. The points are checked by the sender that takes the message.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are not exactly 32 bytes for the seed and for each OT.
    pub fn from_bytes(bytes: &[u8], n: usize) -> Result<Points> {
        let split = bytes.split_first_chunk().and_then(|(seed, points)| Some((*seed, items::<1>(points, n)?)));
        let (seed, points) = split.ok_or_else(|| malformed("points", n, bytes.len()))?;
        Ok(Points { seed, points: points.into_flattened() })
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.seed[..], self.points.as_flattened()].concat()
    }
}

/// The sender's second message: a challenge for each OT, and the digest of all answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Challenge {
    sums: Vec<[u8; 16]>,
    digest: [u8; DIGEST],
}

impl Challenge {
    /// The message of `n` OTs with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are not exactly 16 bytes for each OT and 32 for the digest.
    pub fn from_bytes(bytes: &[u8], n: usize) -> Result<Challenge> {
        let wrong = || malformed("challenges", n, bytes.len());
        let (sums, digest) = bytes.split_last_chunk().ok_or_else(wrong)?;
        match sums.as_chunks() {
            (sums, []) if sums.len() == n => Ok(Challenge { sums: sums.to_vec(), digest: *digest }),
            _ => Err(wrong()),
        }
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.sums.as_flattened(), &self.digest].concat()
    }
}

/// The receiver's second message: another digest of all answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response([u8; DIGEST]);

impl Response {
    /// The message with these bytes.
    pub fn from_bytes(bytes: [u8; DIGEST]) -> Response {
        Response(bytes)
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> [u8; DIGEST] {
        self.0
    }
}

/// The outputs of a hash of a point: a key, and an answer.
#[derive(Clone, ZeroizeOnDrop)]
struct Output {
    key: Block,
    answer: [u8; 16],
}

/// The sender that has made its offer.
pub struct Sender {
    session: SessionId,
    half_r: Zeroizing<Scalar>,
    offer: Offer,
}

/// The sender, waiting for the response.
pub struct Waiting {
    session: SessionId,
    keys: Zeroizing<Vec<[Block; 2]>>,
    answers: Answers,
}

impl Sender {
    /// Draws `r` and gives `z` to send.
    pub fn new(session: &SessionId, rng: &mut dyn CryptoRng) -> (Sender, Offer) {
        let half_r = Zeroizing::new(random_scalar(rng));
        let z = RistrettoPoint::mul_base(&Zeroizing::new(*half_r + *half_r));
        let offer = Offer(z.compress().to_bytes());
        (Sender { session: *session, half_r, offer }, offer)
    }

    /// Step 2: the challenge to send.
    ///
    /// # Errors
    /// [`InvalidPoint`](crate::checks::INVALID_POINT) or [`IdentityPoint`](checks::IDENTITY_POINT) if the
    /// receiver sent such a point.
    pub fn challenge(self, points: &Points) -> Result<(Waiting, Challenge)> {
        let mut work = self.start(&points.seed, points.points.len());
        points.points.chunks(GROUP).try_for_each(|group| work.group(group))?;
        Ok(work.finish())
    }

    fn start(self, seed: &[u8; DIGEST], n: usize) -> Challenging {
        let kdf = kdf(&self.session, seed, &self.offer);
        let offerer = Offerer::new(self.half_r, &hash_to_group(&self.session, seed));
        let keys = Zeroizing::new(Vec::with_capacity(n));
        let waiting = Waiting { session: self.session, keys, answers: Answers(Vec::with_capacity(n)) };
        Challenging { offerer, kdf, sums: Vec::with_capacity(n), waiting }
    }
}

/// The sender at work on step 2.
struct Challenging {
    offerer: Offerer,
    kdf: Kdf,
    sums: Vec<[u8; 16]>,
    waiting: Waiting,
}

impl Challenging {
    /// The challenges of the next few OTs.
    fn group(&mut self, points: &[Encoded]) -> Result<()> {
        self.offerer.shared(points, |point, pair| {
            let [zero, one] = self.kdf.outputs(point, pair);
            self.sums.push(std::array::from_fn(|i| zero.answer[i] ^ one.answer[i]));
            self.waiting.keys.push([zero.key, one.key]);
            self.waiting.answers.0.push(zero.answer);
        })
    }

    fn finish(self) -> (Waiting, Challenge) {
        let digest = self.waiting.answers.digest(&self.waiting.session, TO_RECEIVER);
        (self.waiting, Challenge { sums: self.sums, digest })
    }
}

impl Waiting {
    /// After step 3: both keys of each OT.
    ///
    /// # Errors
    /// [`BaseOtChallenge`](crate::checks::BASE_OT_CHALLENGE) if the response is not that of a receiver that knows an
    /// answer for every OT.
    pub fn finish(mut self, response: &Response) -> Result<SenderSeeds<Malicious>> {
        let expected = self.answers.digest(&self.session, TO_SENDER);
        if !verdict(expected.ct_eq(&response.0)) {
            return Err(checks::BASE_OT_CHALLENGE.into());
        }
        Ok(SenderSeeds::new(std::mem::take(&mut *self.keys)))
    }
}

/// The receiver, its points drawn.
pub struct Receiver {
    session: SessionId,
    choices: Bits,
    seed: [u8; DIGEST],
    chooser: Chooser,
}

impl Receiver {
    /// Step 1: a seed, and a point for each choice bit, to send.
    pub fn new(session: &SessionId, choices: &Bits, rng: &mut dyn CryptoRng) -> (Receiver, Points) {
        let mut receiver = Receiver::start(session, choices, rng);
        let points = Points { seed: receiver.seed, points: receiver.chooser.draw(choices, rng) };
        (receiver, points)
    }

    /// Step 3: the response to send, and the chosen keys. They are of use only if the sender accepts the
    /// response.
    ///
    /// # Errors
    /// [`InvalidPoint`](crate::checks::INVALID_POINT) or [`IdentityPoint`](checks::IDENTITY_POINT) if the
    /// sender offered such a point, [`BaseOtChallenge`](crate::checks::BASE_OT_CHALLENGE) if its challenge
    /// does not fit its digest for these choice bits, and [`Malformed`](comity_core::Kind) if there is not a
    /// challenge for each OT.
    pub fn respond(self, offer: &Offer, challenge: &Challenge) -> Result<(Response, ReceiverSeeds<Malicious>)> {
        let outputs = self.outputs(offer)?;
        self.answer(outputs, challenge)
    }

    fn start(session: &SessionId, choices: &Bits, rng: &mut dyn CryptoRng) -> Receiver {
        let mut seed = [0; DIGEST];
        rng.fill_bytes(&mut seed);
        let chooser = Chooser::new(&hash_to_group(session, &seed), choices.len());
        Receiver { session: *session, choices: choices.clone(), seed, chooser }
    }

    /// The chosen key and answer of each OT.
    fn outputs(&self, offer: &Offer) -> Result<Vec<Output>> {
        let mut kdf = kdf(&self.session, &self.seed, offer);
        let mut outputs = Vec::with_capacity(self.choices.len());
        self.chooser.shared(&decode(&offer.0)?, |point, shared| {
            outputs.extend(kdf.outputs(point, std::array::from_ref(shared)));
        });
        Ok(outputs)
    }

    fn answer(self, outputs: Vec<Output>, challenge: &Challenge) -> Result<(Response, ReceiverSeeds<Malicious>)> {
        let (n, sums) = (outputs.len(), challenge.sums.len());
        if n != sums {
            return Err(malformed("challenges", n, 16 * sums + DIGEST));
        }
        let mut answers = Answers(Vec::with_capacity(n));
        for ((output, sum), choice) in outputs.iter().zip(&challenge.sums).zip(self.choices.iter()) {
            let chosen = mask(choice) as u8;
            answers.0.push(std::array::from_fn(|i| output.answer[i] ^ sum[i] & chosen));
        }
        if !verdict(answers.digest(&self.session, TO_RECEIVER).ct_eq(&challenge.digest)) {
            return Err(checks::BASE_OT_CHALLENGE.into());
        }
        let response = Response(answers.digest(&self.session, TO_SENDER));
        let keys = outputs.iter().map(|output| output.key).collect();
        Ok((response, ReceiverSeeds::new(self.choices, keys)))
    }
}

/// The answers for choice 0 of all OTs.
#[derive(ZeroizeOnDrop)]
struct Answers(Vec<[u8; 16]>);

/// The labels that tell the two digests of the answers apart.
const TO_RECEIVER: &str = "comity CSW OT: the digest that the sender opens with its challenge";
const TO_SENDER: &str = "comity CSW OT: the digest that answers a challenge";

impl Answers {
    fn digest(&self, session: &SessionId, domain: &str) -> [u8; DIGEST] {
        let mut hasher = Hasher::new_derive_key(domain);
        hasher.update(&session.to_bytes()).update(self.0.as_flattened());
        let digest = *hasher.finalize().as_bytes();
        hasher.zeroize();
        digest
    }
}

/// `T`: the point of a seed.
fn hash_to_group(session: &SessionId, seed: &[u8; DIGEST]) -> RistrettoPoint {
    let mut hasher = Hasher::new_derive_key("comity CSW OT: the point that a choice adds");
    hasher.update(&session.to_bytes()).update(seed);
    let mut wide = [0; 64];
    hasher.finalize_xof().fill(&mut wide);
    RistrettoPoint::from_uniform_bytes(&wide)
}

/// The derivation of keys and answers.
fn kdf(session: &SessionId, seed: &[u8; DIGEST], offer: &Offer) -> Kdf {
    Kdf::new("comity CSW OT: the key and the answer of one base OT", &[&session.to_bytes(), seed, &offer.0])
}

impl Kdf {
    /// The outputs of the next OT, whose point is `point`: one for each shared point.
    fn outputs<const N: usize>(&mut self, point: &Encoded, shared: &[CompressedRistretto; N]) -> [Output; N] {
        let start = self.next(point);
        shared.each_ref().map(|shared| {
            let bytes = Zeroizing::new(derive::<32>(&start, &[shared.as_bytes()]));
            let halves: &[[u8; 16]] = bytes.as_chunks().0;
            Output { key: Block::new(halves[0]), answer: halves[1] }
        })
    }
}

impl BaseOt for Csw {
    type Model = Malicious;

    fn send(
        ch: &mut dyn Channel,
        session: &SessionId,
        n: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<SenderSeeds<Malicious>> {
        let (sender, offer) = Sender::new(session, rng);
        ch.send(&offer.0)?;
        ch.flush()?;
        // 2. Challenges are computed while the receiver draws its next group.
        let mut seed = [0; DIGEST];
        ch.recv(&mut seed)?;
        let mut work = sender.start(&seed, n);
        receive_groups::<1>(ch, n, |_, group| work.group(group.as_flattened()))?;
        let (waiting, challenge) = work.finish();
        ch.send(&challenge.to_bytes())?;
        let mut response = [0; DIGEST];
        ch.recv(&mut response)?;
        waiting.finish(&Response(response))
    }

    fn receive(
        ch: &mut dyn Channel,
        session: &SessionId,
        choices: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverSeeds<Malicious>> {
        // 1.
        let mut receiver = Receiver::start(session, choices, rng);
        ch.send(&receiver.seed)?;
        receiver.chooser.send(ch, choices, rng)?;
        let mut offer = [0; POINT_BYTES];
        ch.recv(&mut offer)?;
        let outputs = receiver.outputs(&Offer(offer))?;
        // 3.
        let mut challenge = vec![0; 16 * choices.len() + DIGEST];
        ch.recv(&mut challenge)?;
        let (response, seeds) = receiver.answer(outputs, &Challenge::from_bytes(&challenge, choices.len())?)?;
        ch.send(&response.0)?;
        ch.flush()?;
        Ok(seeds)
    }
}

#[cfg(test)]
mod tests;
