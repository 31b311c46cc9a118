//! The OT of Peikert, Vaikuntanathan and Waters (CRYPTO 2008) from the decisional Diffie-Hellman assumption, in the
//! batch committing form of AMPR14, section 2: two messages, against malicious parties.
//!
//! The receiver's one message, the query, serves any number of answers, also of different senders. Once a sender has
//! answered it is committed: it can open its randomness, from which the receiver makes the answer again, bit for bit.
//!
//! **How**: a common reference string (CRS) of four points `g_0, h_0, g_1, h_1`. For OT `i` with choice bit `b`
//! - the receiver draws `r` and sends `g = r g_b` and `h = r h_b`;
//! - for answer `j` and `b' = 0, 1` the sender draws `u` and `v` and sends `X = u g_b' + v h_b'` and, under a pad from
//!   `ug + vh`, its payload;
//! - the receiver finds the pad of its choice from `rX`.
//!
//! Of four random points `g, h` fit at most one side; for the other one `ug + vh` is uniform whatever `X` is. If
//! instead `h_0` and `h_1` are the same multiple of `g_0` and `g_1`, both fit: so a simulator sees what a sender sends.
//! Nobody can tell the one CRS from the other.
//!
//! **Functionality**: OT of chosen 16-byte payloads, for many tuples on one choice; [`Pvw`] makes random OTs of it, in
//! which a corrupt sender chooses the messages. There is no selective failure: whether the receiver stops does not
//! depend on its choices, if the caller does not make it so.
//!
//! **Adversary**: malicious, either party, static, universally composable with the CRS, which may serve any number of
//! sessions; under the decisional Diffie-Hellman assumption in ristretto255, with BLAKE3 as a random oracle that makes
//! the CRS, pads and randomness. The payload of the other choice is hidden from an unbounded receiver up to the pad;
//! choices are hidden computationally. An answer binds as long as nobody knows a linear relation of `g_b'` and `h_b'`:
//! two openings of one `X` would yield it.
//!
//! **Differences from the papers**: payloads are bytes, not group elements: the pad hashes the session, `j`, `i`, `b'`,
//! `g`, `h`, `X` and the shared point, and so nothing from one session, answer or OT fits another. `g_0` is the
//! generator of the group; the other three points are hashed from a public string. Identity and non-canonical elements
//! are refused: under a query of identities both payloads would be public. The receiver decodes both `X` whatever its
//! choice; else a sender that spoils one of them would learn the bit. Randomness comes from the seed, *and* `g`, `h`
//! and the payloads, so that answering again never uses randomness twice.
//!
//! **Cost**: 64 bytes an OT from the receiver and 96 an answer to it. Group multiplications for an OT: the receiver
//! makes 4 of fixed points for the query (both choices, so that nothing depends on the bit) and one of a variable point
//! for each answer; the sender for each answer 4 of fixed points, and 2 pairs of variable ones, a pair as dear as one
//! and a third. Each side decodes two points. A CRS costs three tables of 30 KiB, some 90 multiplications, once.

use std::sync::{Arc, OnceLock};

use blake3::Hasher;
use comity_channel::Channel;
use comity_core::{Bits, Block, Error, Result, SessionId, declassify_all};
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::{RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::MultiscalarMul;
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

use super::BaseOt;
use super::points::{
    Encoded, GROUP, Kdf, POINT_BYTES, decode, derive, encode_doubles, items, malformed, random_scalar, receive_groups,
    uniform_scalar,
};
use crate::checks;
use crate::model::Malicious;
use crate::seeds::{ReceiverSeeds, SenderSeeds};

mod multiples;
pub mod products;
mod shared;

pub use multiples::Multiples;
pub use shared::{AnswerHead, Answers, Coins, ReceivedAnswers};

/// This protocol as the base of an extension, with [`Crs::common`].
#[derive(Clone, Copy, Debug)]
pub enum Pvw {}

/// Groups that the driver's receiver sends ahead of the answers: 16 KiB, and 24 KiB of answers, which every connection
/// takes without anybody reading.
const AHEAD: usize = 32;

/// Bytes of a payload.
const PAYLOAD: usize = 16;

/// The common reference string, with tables of multiples. Cheap to clone.
#[derive(Clone)]
pub struct Crs(Arc<Vec<[RistrettoBasepointTable; 2]>>);

impl Crs {
    /// The CRS hashed from a public string. Both parties use the same string, which nobody may have chosen
    /// for its hash.
    pub fn new(name: &[u8]) -> Crs {
        let mut output =
            Hasher::new_derive_key("comity PVW OT: the common reference string").update(name).finalize_xof();
        let mut table = || {
            let mut wide = [0; 64];
            output.fill(&mut wide);
            RistrettoBasepointTable::create(&RistrettoPoint::from_uniform_bytes(&wide))
        };
        Crs(Arc::new(vec![[RISTRETTO_BASEPOINT_TABLE.clone(), table()], [table(), table()]]))
    }

    /// The CRS that comity uses everywhere, made once in a process.
    pub fn common() -> &'static Crs {
        static COMMON: OnceLock<Crs> = OnceLock::new();
        COMMON.get_or_init(|| Crs::new(b"comity"))
    }

    /// `g_b` and `h_b` for each `b`.
    fn sides(&self) -> impl Iterator<Item = &[RistrettoBasepointTable; 2]> {
        self.0.iter()
    }
}

/// The receiver's message: the encodings of `g` and `h` for each OT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query(Vec<[Encoded; 2]>);

impl Query {
    /// The message of `n` OTs with these bytes. The points are checked by [`Sender::new`].
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are not exactly 64 bytes for each OT.
    pub fn from_bytes(bytes: &[u8], n: usize) -> Result<Query> {
        items(bytes, n).map(Query).ok_or_else(|| malformed("query", n, bytes.len()))
    }

    /// The bytes of the message, 64 for each OT.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.as_flattened().as_flattened().to_vec()
    }
}

/// The sender's message: both `X` of each OT, and both payloads under their pads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer(Vec<[Encoded; 3]>);

impl Answer {
    /// The message of `n` OTs with these bytes. The points are checked by the receiver that takes the message.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are not exactly 96 bytes for each OT.
    pub fn from_bytes(bytes: &[u8], n: usize) -> Result<Answer> {
        items(bytes, n).map(Answer).ok_or_else(|| malformed("answer", n, bytes.len()))
    }

    /// The bytes of the message, 96 for each OT.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.as_flattened().as_flattened().to_vec()
    }
}

/// The opening of an answer: the seed of its randomness, and both payloads of each OT. Secret until it is sent.
pub struct AnswerOpening {
    /// The seed.
    pub seed: Block,
    /// The two payloads of each OT.
    pub payloads: Vec<[Block; 2]>,
}

impl AnswerOpening {
    /// The message of `n` OTs with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are not exactly 16 bytes for the seed and 32 for each OT.
    pub fn from_bytes(bytes: &[u8], n: usize) -> Result<AnswerOpening> {
        match bytes.as_chunks().0 {
            [seed, payloads @ ..] if bytes.len() == PAYLOAD * (1 + 2 * n) => Ok(AnswerOpening {
                seed: Block::new(*seed),
                payloads: payloads.as_chunks().0.iter().map(|pair: &[_; 2]| pair.map(Block::new)).collect(),
            }),
            _ => Err(malformed("opening", n, bytes.len())),
        }
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.seed.to_bytes()[..], Block::bytes_of(self.payloads.as_flattened())].concat()
    }
}

impl Drop for AnswerOpening {
    fn drop(&mut self) {
        self.seed.zeroize();
        self.payloads.as_flattened_mut().zeroize();
    }
}

/// A `g` and `h`, checked.
struct Key {
    bytes: [Encoded; 2],
    points: [RistrettoPoint; 2],
}

impl Key {
    fn new(bytes: &[Encoded; 2]) -> Result<Key> {
        Ok(Key { bytes: *bytes, points: [decode(&bytes[0])?, decode(&bytes[1])?] })
    }
}

/// A query, checked, to answer. The receiver makes one of its own query to check openings.
pub struct Sender {
    crs: Crs,
    keys: Vec<Key>,
}

impl Sender {
    /// Checks a query and prepares it.
    ///
    /// # Errors
    /// [`InvalidPoint`](crate::checks::INVALID_POINT) or [`IdentityPoint`](checks::IDENTITY_POINT) if it
    /// holds such a point.
    pub fn new(crs: &Crs, query: &Query) -> Result<Sender> {
        Ok(Sender { crs: crs.clone(), keys: query.0.iter().map(Key::new).collect::<Result<_>>()? })
    }

    /// The `j`-th answer in a session: a pair of payloads for each OT. The same input gives the same answer.
    ///
    /// The seed must be uniform and secret: the payloads stay hidden only if the seed is never opened, and
    /// the receiver does not learn it from another OT.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is not a pair of payloads for each OT.
    pub fn answer(&self, session: &SessionId, j: u64, seed: Block, payloads: &[[Block; 2]]) -> Result<Answer> {
        let (n, pairs) = (self.keys.len(), payloads.len());
        if n != pairs {
            return Err(Error::invalid_input(format!("{pairs} pairs of payloads for {n} base OTs")));
        }
        let mut work = Answering::new(&self.crs, session, j, seed);
        let groups = self.keys.chunks(GROUP).zip(payloads.chunks(GROUP));
        Ok(Answer(groups.flat_map(|(keys, payloads)| work.group(keys, payloads)).collect()))
    }

    /// Checks that an answer is the one that its opening gives.
    ///
    /// # Errors
    /// [`WrongOpening`](crate::checks::WRONG_OPENING) if it is not, and [`InvalidInput`](comity_core::Kind)
    /// if answer or opening has another number of OTs than the query.
    pub fn check(&self, session: &SessionId, j: u64, answer: &Answer, opening: &AnswerOpening) -> Result<()> {
        let (n, answers) = (self.keys.len(), answer.0.len());
        if n != answers {
            return Err(Error::invalid_input(format!("an answer of {answers} base OTs to a query of {n}")));
        }
        // Everything here is public by now.
        if self.answer(session, j, opening.seed, &opening.payloads)? != *answer {
            return Err(checks::WRONG_OPENING.into());
        }
        Ok(())
    }
}

/// The sender at work on an answer.
struct Answering {
    crs: Crs,
    pads: Kdf,
    /// Has absorbed the seed, the session and `j`.
    coins: Hasher,
}

impl Answering {
    fn new(crs: &Crs, session: &SessionId, j: u64, seed: Block) -> Answering {
        let mut coins = Hasher::new_derive_key("comity PVW OT: the randomness of an answer");
        coins.update(&seed.to_bytes()).update(&session.to_bytes()).update(&j.to_le_bytes());
        Answering { crs: crs.clone(), pads: pads(session, j), coins }
    }

    /// The answers of the next few OTs.
    fn group(&mut self, keys: &[Key], payloads: &[[Block; 2]]) -> Vec<[Encoded; 3]> {
        // Halves of X and of the shared point, for both sides of each OT: the batch encoder doubles.
        let mut halves = Zeroizing::new(Vec::with_capacity(4 * keys.len()));
        for ((i, key), payloads) in (self.pads.index..).zip(keys).zip(payloads) {
            let mut coins = self.coins.clone();
            coins.update(&i.to_le_bytes()).update(key.bytes.as_flattened()).update(Block::bytes_of(payloads));
            let mut output = coins.finalize_xof();
            for [g, h] in self.crs.sides() {
                let scalars = Zeroizing::new([(); 2].map(|()| uniform_scalar(|wide| output.fill(wide))));
                products::note(4);
                halves.push(g * &scalars[0] + h * &scalars[1]);
                halves.push(RistrettoPoint::multiscalar_mul(&*scalars, &key.points));
            }
            output.zeroize();
            coins.zeroize();
        }
        let points = encode_doubles(&halves);
        let each = keys.iter().zip(payloads).zip(points.as_chunks::<2>().0.as_chunks::<2>().0);
        each.map(|((key, payloads), sides)| {
            let start = self.pads.next(key.bytes.as_flattened());
            let mut answer = [[0; POINT_BYTES]; 3];
            for (b, [x, shared]) in sides.iter().enumerate() {
                answer[b] = x.to_bytes();
                let hidden = payloads[b] ^ pad(&start, b as u8, &answer[b], shared.as_bytes());
                answer[2][PAYLOAD * b..][..PAYLOAD].copy_from_slice(&hidden.to_bytes());
            }
            answer
        })
        .collect()
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.coins.zeroize();
    }
}

/// The receiver of any number of answers to one query.
pub struct Receiver {
    choices: Bits,
    half_r: Zeroizing<Vec<Scalar>>,
    query: Query,
}

impl Receiver {
    /// A query with a choice bit for each OT, to send.
    pub fn new(crs: &Crs, choices: &Bits, rng: &mut dyn CryptoRng) -> (Receiver, Query) {
        let mut receiver = Receiver::start(choices);
        while receiver.query.0.len() < choices.len() {
            receiver.group(crs, rng);
        }
        let query = receiver.query.clone();
        (receiver, query)
    }

    /// The chosen payloads of the `j`-th answer in a session.
    ///
    /// # Errors
    /// [`InvalidPoint`](crate::checks::INVALID_POINT) or [`IdentityPoint`](checks::IDENTITY_POINT) if the
    /// answer holds such a point, on either side of an OT, and [`InvalidInput`](comity_core::Kind) if it has
    /// another number of OTs than the query.
    pub fn receive(&self, session: &SessionId, j: u64, answer: &Answer) -> Result<Vec<Block>> {
        let (n, answers) = (self.half_r.len(), answer.0.len());
        if n != answers {
            return Err(Error::invalid_input(format!("an answer of {answers} base OTs to a query of {n}")));
        }
        let mut pads = pads(session, j);
        let mut chosen = Zeroizing::new(Vec::with_capacity(n));
        for group in answer.0.chunks(GROUP) {
            self.open(&mut pads, group, &mut chosen)?;
        }
        Ok(std::mem::take(&mut *chosen))
    }

    fn start(choices: &Bits) -> Receiver {
        let n = choices.len();
        let half_r = Zeroizing::new(Vec::with_capacity(n));
        Receiver { choices: choices.clone(), half_r, query: Query(Vec::with_capacity(n)) }
    }

    /// Draws the points of the next few OTs and gives them to send.
    fn group(&mut self, crs: &Crs, rng: &mut dyn CryptoRng) -> &[[Encoded; 2]] {
        let start = self.query.0.len();
        let end = self.choices.len().min(start + GROUP);
        let mut halves = Zeroizing::new(Vec::with_capacity(2 * (end - start)));
        for i in start..end {
            self.half_r.push(random_scalar(rng));
            let chosen = Choice::from(u8::from(self.choices.get(i)));
            let [g, h] = [0, 1].map(|which| {
                products::note(2);
                let sides = Zeroizing::new([0, 1].map(|b| &crs.0[b][which] * &self.half_r[i]));
                RistrettoPoint::conditional_select(&sides[0], &sides[1], chosen)
            });
            halves.extend([g, h]);
        }
        let points = encode_doubles(&halves);
        self.query.0.extend(points.as_chunks::<2>().0.iter().map(|pair| pair.map(|point| point.to_bytes())));
        declassify_all(&mut self.query.0[start..], "the sender is told the query");
        &self.query.0[start..]
    }

    /// Appends the chosen payloads of the next few OTs.
    fn open(&self, pads: &mut Kdf, answers: &[[Encoded; 3]], chosen: &mut Vec<Block>) -> Result<()> {
        let start = chosen.len();
        let mut halves = Zeroizing::new(Vec::with_capacity(answers.len()));
        for ([x0, x1, _], i) in answers.iter().zip(start..) {
            // Both, whatever the choice.
            let (x0, x1) = (decode(x0)?, decode(x1)?);
            let x = RistrettoPoint::conditional_select(&x0, &x1, Choice::from(u8::from(self.choices.get(i))));
            products::note(1);
            halves.push(x * self.half_r[i]);
        }
        let shared = encode_doubles(&halves);
        for (([x0, x1, hidden], shared), i) in answers.iter().zip(shared.iter()).zip(start..) {
            let choice = u8::from(self.choices.get(i));
            let select = |zero: u8, one: u8| zero ^ (zero ^ one) & choice.wrapping_neg();
            let x = std::array::from_fn(|at| select(x0[at], x1[at]));
            let hidden = Block::new(std::array::from_fn(|at| select(hidden[at], hidden[PAYLOAD + at])));
            let start = pads.next(self.query.0[i].as_flattened());
            chosen.push(hidden ^ pad(&start, choice, &x, shared.as_bytes()));
        }
        Ok(())
    }
}

/// The derivation of pads.
fn pads(session: &SessionId, j: u64) -> Kdf {
    Kdf::new("comity PVW OT: the pad of a payload", &[&session.to_bytes(), &j.to_le_bytes()])
}

fn pad(start: &Hasher, b: u8, x: &Encoded, shared: &Encoded) -> Block {
    Block::new(derive(start, &[&[b], x, shared]))
}

impl BaseOt for Pvw {
    type Model = Malicious;

    fn send(
        ch: &mut dyn Channel,
        session: &SessionId,
        n: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<SenderSeeds<Malicious>> {
        let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; n]);
        rng.fill_bytes(Block::bytes_of_mut(pairs.as_flattened_mut()));
        let mut seed = Zeroizing::new([0; PAYLOAD]);
        rng.fill_bytes(seed.as_mut());
        let mut work = Answering::new(Crs::common(), session, 0, Block::new(*seed));
        let mut groups = pairs.chunks(GROUP);
        receive_groups::<2>(ch, n, |ch, query| {
            let keys = query.iter().map(Key::new).collect::<Result<Vec<_>>>()?;
            let payloads = groups.next().expect("as many groups of payloads as of points");
            ch.send(work.group(&keys, payloads).as_flattened().as_flattened())?;
            ch.flush()
        })?;
        Ok(SenderSeeds::new(std::mem::take(&mut *pairs)))
    }

    fn receive(
        ch: &mut dyn Channel,
        session: &SessionId,
        choices: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverSeeds<Malicious>> {
        let n = choices.len();
        let mut receiver = Receiver::start(choices);
        let mut pads = pads(session, 0);
        let mut chosen = Zeroizing::new(Vec::with_capacity(n));
        let mut answers = [[[0; POINT_BYTES]; 3]; GROUP];
        while chosen.len() < n {
            let asked = receiver.query.0.len();
            if asked < n && asked < chosen.len() + AHEAD * GROUP {
                ch.send(receiver.group(Crs::common(), rng).as_flattened().as_flattened())?;
                ch.flush()?;
                continue;
            }
            let group = &mut answers[..GROUP.min(n - chosen.len())];
            ch.recv(group.as_flattened_mut().as_flattened_mut())?;
            receiver.open(&mut pads, group, &mut chosen)?;
        }
        Ok(ReceiverSeeds::new(receiver.choices, std::mem::take(&mut *chosen)))
    }
}

#[cfg(test)]
mod tests;
