//! Answers whose OTs share their randomness: `X` once an answer, and not once for each OT of it.
//!
//! An answer to a query of `n` OTs draws one `u` and one `v` for either side `b`, sends
//! `X_b = u g_b + v h_b`, and takes the pad of side `b` of OT `i` from `S = ug + vh`, where `g` and `h` are
//! that OT's. The receiver finds its choice's `S` from `r X_b` as ever. So an answer has 64 bytes and a
//! payload for each side, where [`Answer`](super::Answer) has 64 more for every OT, and is two products of a
//! point for each OT and side in place of four.
//!
//! **Why that hides as well.** If `g, h` do not fit side `b`, `S` is uniform given `X_b`: two
//! independent equations of two uniform scalars. This holds for each OT alone. The `S` of several such OTs
//! depend on each other (for a receiver who follows the protocol they are known multiples of one point; one
//! who does not may ask with equal keys, or with multiples or sums of others), but nothing shows them: pads
//! are outputs of a random oracle at `S` and the OT's number, and whoever has not yet asked for a right `S`
//! has seen nothing that depends on any. Each of `q` queries names one OT and side, and hits with a chance of
//! 2^-252. The unbounded receiver of the module before can therefore do no more here than there, but make its
//! queries: the random oracle is needed where before a random function of a uniform input was enough.
//!
//! **Commitment**: the coins determine every byte of an answer, so who is told them makes it again, bit for bit, in
//! variable time if they are no secret.
//!
//! **Cost**: for an answer four products of fixed points, and at the receiver two points to decode; for each OT and
//! answer four products of points whose multiples are made for this OT and serve all answers, at the receiver one.

use comity_core::{Bits, Block, Result, SessionId};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint, VartimeRistrettoPrecomputation};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::VartimePrecomputedMultiscalarMul;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::super::points::{Encoded, POINT_BYTES, decode, encode_doubles};
use super::multiples::combine;
use super::{Crs, Query, Receiver, Sender, products};

/// The randomness of an answer: `u` and `v` of either side, as halves.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Coins([[Scalar; 2]; 2]);

impl Coins {
    /// Bytes that coins are made of.
    pub const BYTES: usize = 256;

    /// Coins from uniform bytes.
    pub fn from_bytes(bytes: &[u8; Coins::BYTES]) -> Coins {
        let wide: &[[u8; 64]] = bytes.as_chunks().0;
        Coins([[0, 1], [2, 3]].map(|side| side.map(|at: usize| Scalar::from_bytes_mod_order_wide(&wide[at]))))
    }
}

/// Both `X` of an answer, encoded.
pub type AnswerHead = [u8; 2 * POINT_BYTES];

impl Crs {
    /// Both `X` of the answers with these coins.
    pub fn heads<'a>(&self, coins: impl IntoIterator<Item = &'a Coins>) -> Vec<AnswerHead> {
        let mut halves = Zeroizing::new(Vec::new());
        for coins in coins {
            products::note(4);
            halves.extend(self.sides().zip(&coins.0).map(|([g, h], [u, v])| g * u + h * v));
        }
        let points = encode_doubles(&halves);
        let join = |pair: &[_; 2]| {
            let mut head = [0; 2 * POINT_BYTES];
            head.as_chunks_mut().0.copy_from_slice(&pair.map(|point: CompressedRistretto| point.to_bytes()));
            head
        };
        points.as_chunks().0.iter().map(join).collect()
    }
}

/// The key that the pads of an answer are made with: bound to session, query, the answer's number and its head.
fn key(session: &SessionId, query: &Query, number: u64, head: &AnswerHead) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("comity PVW OT: the pads of an answer with shared randomness");
    hasher.update(&session.to_bytes()).update(&number.to_le_bytes()).update(head);
    hasher.update(query.0.as_flattened().as_flattened());
    *hasher.finalize().as_bytes()
}

/// The pad of side `b` of OT `i`.
fn pad(key: &[u8; 32], i: usize, b: u8, shared: &[u8; POINT_BYTES]) -> Block {
    // One block of BLAKE3.
    let mut message = Zeroizing::new([0; 8 + 1 + POINT_BYTES]);
    message[..8].copy_from_slice(&(i as u64).to_le_bytes());
    message[8] = b;
    message[9..].copy_from_slice(shared);
    let mut hash = blake3::keyed_hash(key, &message[..]);
    let (bytes, _) = hash.as_bytes().split_at(Block::BYTES);
    let pad = Block::new(std::array::from_fn(|at| bytes[at]));
    hash.zeroize();
    pad
}

/// Makes answers with shared randomness, many answers at a time.
pub struct Answers<'a> {
    sender: &'a Sender,
    answers: Vec<([u8; 32], Coins)>,
}

impl Sender {
    /// Answers to all OTs of the query: each by its number in the session, its coins and its head.
    pub fn shared(
        &self,
        session: &SessionId,
        answers: impl IntoIterator<Item = (u64, Coins, AnswerHead)>,
    ) -> Answers<'_> {
        let query = Query(self.keys.iter().map(|key| key.bytes).collect());
        let key = |(number, coins, head): (u64, Coins, AnswerHead)| (key(session, &query, number, &head), coins);
        Answers { sender: self, answers: answers.into_iter().map(key).collect() }
    }

    /// The OTs of the query.
    pub fn ots(&self) -> usize {
        self.keys.len()
    }
}

impl Answers<'_> {
    /// The pads of both sides of OT `i`, for every answer.
    pub fn pads(&self, i: usize) -> Zeroizing<Vec<[Block; 2]>> {
        let coins: Vec<&[Scalar; 2]> = self.coins().collect();
        self.hash(i, combine(&self.sender.keys[i].points, &coins))
    }

    /// As [`pads`](Answers::pads), where the coins are no longer secret.
    pub fn public_pads(&self, i: usize) -> Zeroizing<Vec<[Block; 2]>> {
        let table = VartimeRistrettoPrecomputation::new(self.sender.keys[i].points);
        products::note(4 * self.answers.len());
        self.hash(i, Zeroizing::new(self.coins().map(|pair| table.vartime_multiscalar_mul(pair)).collect()))
    }

    /// `u` and `v` of both sides, for every answer.
    fn coins(&self) -> impl Iterator<Item = &[Scalar; 2]> {
        self.answers.iter().flat_map(|(_, coins)| &coins.0)
    }

    /// The pads from halves of the shared points, of both sides for every answer.
    fn hash(&self, i: usize, halves: Zeroizing<Vec<RistrettoPoint>>) -> Zeroizing<Vec<[Block; 2]>> {
        let shared = encode_doubles(&halves);
        let sides = shared.as_chunks::<2>().0.iter();
        let pads = |((key, _), [zero, one]): (&([u8; 32], Coins), &[_; 2])| {
            let side = |b, point: &CompressedRistretto| pad(key, i, b, point.as_bytes());
            [side(0, zero), side(1, one)]
        };
        Zeroizing::new(self.answers.iter().zip(sides).map(pads).collect())
    }
}

/// The receiver of answers with shared randomness.
pub struct ReceivedAnswers<'a> {
    receiver: &'a Receiver,
    answers: Vec<([u8; 32], [RistrettoPoint; 2])>,
}

impl Receiver {
    /// The receiver of these answers: each by its number in the session and its head.
    ///
    /// # Errors
    /// [`InvalidPoint`](crate::checks::INVALID_POINT) or [`IdentityPoint`](crate::checks::IDENTITY_POINT) if
    /// a head holds such a point, on either side.
    pub fn shared(
        &self,
        session: &SessionId,
        answers: impl IntoIterator<Item = (u64, AnswerHead)>,
    ) -> Result<ReceivedAnswers<'_>> {
        let decoded = |(number, head): (u64, AnswerHead)| {
            let points: &[Encoded] = head.as_chunks().0;
            Ok((key(session, &self.query, number, &head), [decode(&points[0])?, decode(&points[1])?]))
        };
        Ok(ReceivedAnswers { receiver: self, answers: answers.into_iter().map(decoded).collect::<Result<_>>()? })
    }

    /// The choice bits.
    pub fn choices(&self) -> &Bits {
        &self.choices
    }
}

impl ReceivedAnswers<'_> {
    /// The pads of the chosen side of OT `i`, for every answer.
    pub fn pads(&self, i: usize) -> Zeroizing<Vec<Block>> {
        let bit = u8::from(self.receiver.choices.get(i));
        let half_r = &self.receiver.half_r[i];
        let mut halves = Zeroizing::new(Vec::with_capacity(self.answers.len()));
        let chosen =
            |[zero, one]: &[RistrettoPoint; 2]| RistrettoPoint::conditional_select(zero, one, Choice::from(bit));
        products::note(self.answers.len());
        halves.extend(self.answers.iter().map(|(_, points)| chosen(points) * half_r));
        let shared = encode_doubles(&halves);
        let pads = self.answers.iter().zip(shared.iter()).map(|((key, _), point)| pad(key, i, bit, point.as_bytes()));
        Zeroizing::new(pads.collect())
    }
}

#[cfg(test)]
mod tests {
    use comity_core::{Backend, Prg};

    use super::*;

    #[test]
    fn the_receiver_finds_the_pads_of_its_choices() {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(7));
        let crs = Crs::new(b"test of shared randomness");
        let session = SessionId::derive("test of shared randomness", &[]);
        let choices: Bits = (0..5).map(|i| i % 3 == 0).collect();
        let (receiver, query) = Receiver::new(&crs, &choices, &mut rng);
        let sender = Sender::new(&crs, &query).unwrap();
        let coins: Vec<Coins> = (0..3)
            .map(|_| {
                let mut bytes = [0; Coins::BYTES];
                rng.fill(&mut bytes);
                Coins::from_bytes(&bytes)
            })
            .collect();
        let heads = crs.heads(&coins);
        let parts =
            || coins.iter().cloned().zip(&heads).zip(10..).map(|((coins, head), number)| (number, coins, *head));
        let answers = sender.shared(&session, parts());
        let shared = receiver.shared(&session, parts().map(|(number, _, head)| (number, head))).unwrap();
        let other = receiver.shared(&session, parts().map(|(number, _, head)| (number + 1, head))).unwrap();
        for i in 0..5 {
            let pads = answers.pads(i);
            assert!(*pads == *answers.public_pads(i));
            for ((pair, chosen), other) in pads.iter().zip(shared.pads(i).iter()).zip(other.pads(i).iter()) {
                assert!(pair[usize::from(choices.get(i))] == *chosen && pair[0] != pair[1]);
                assert!(chosen != other, "a pad is bound to the number of its answer");
            }
        }
        let mut bad = heads[1];
        bad[32..].fill(0);
        let refused = receiver.shared(&session, [(0, heads[0]), (1, bad)]).err().unwrap().to_string();
        assert!(refused.contains("identity"), "{refused}");
        bad[32..].fill(0xff);
        let refused = receiver.shared(&session, [(0, bad)]).err().unwrap().to_string();
        assert!(refused.contains("canonical"), "{refused}");
    }
}
