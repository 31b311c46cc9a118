//! Labels go by group elements (Katz, Malka 2011, in the form of Biçer, Bingöl, Kiraz, Levi 2020): a point
//! for each source, which the owner of the function multiplies for each place that reads it, so that nobody
//! else sees which one that is.
//!
//! The garbler draws `P_s` for each source. For a place that reads `s` the owner draws `t` and returns
//! `Q = t P_s`. Of scalars `a_0`, `a_1` that are the same everywhere, `a_b P_s` stands for the value `b` of a
//! source, and `a_b Q` opens the label for `b` of the place: who has one of a source's two points multiplies
//! it by `t`. A gate's label opens the point for its value in the same way.
//!
//! **Again**: `P_s` and `Q` say nothing of values, and serve as many runs of a function as one likes, each with
//! `a_0` and `a_1` of its own. Without those of the run, `a_b P_s` is one more uniform point, by the decisional
//! Diffie-Hellman assumption. [`Keep`] holds them between runs. Both parties say in each run which ones they have,
//! and so whoever sees a run knows whether the wiring is that of an earlier one.

use std::sync::{Arc, Mutex, PoisonError};

use comity_channel::Channel;
use comity_core::{Bits, Block, Error, Result, SessionId, declassify, verdict};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::bringing::{Ends, Giving, Taking};

/// Bytes of a point.
pub(super) const POINT: usize = 32;

/// Bytes that open a place's label: the place of its colour, and a block for each.
pub(super) const PLACE: usize = 1 + 2 * 16;

/// Points that are encoded and travel together.
const GROUP: usize = 64;

type Encoded = [u8; POINT];

/// A peer's point. Whether the bytes are one is no secret, though which of two they are may be: a peer that
/// follows the protocol sends nothing else.
fn decode(bytes: &Encoded) -> Result<RistrettoPoint> {
    match CompressedRistretto(*bytes).decompress() {
        Some(point) if !verdict(point.ct_eq(&RistrettoPoint::identity())) => Ok(point),
        _ => Err(Error::malformed("32 bytes do not encode a point of ristretto255, or encode the identity")),
    }
}

/// A random scalar: reduced from 64 bytes, its bias is below 2^-250.
fn random(rng: &mut dyn CryptoRng) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    rng.fill_bytes(wide.as_mut());
    Scalar::from_bytes_mod_order_wide(&wide)
}

/// The encodings of the doubles of some points: encoding them together shares an inversion.
fn doubled(halves: &[RistrettoPoint]) -> Zeroizing<Vec<Encoded>> {
    let encoded = Zeroizing::new(RistrettoPoint::double_and_compress_batch(halves));
    Zeroizing::new(encoded.iter().map(CompressedRistretto::to_bytes).collect())
}

/// Two blocks of hash: of what, by its number, and of the secret of whoever may know them.
fn pad(context: &str, session: &SessionId, number: usize, secret: &[u8]) -> [Block; 2] {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    hasher.update(&session.to_bytes()).update(&(number as u64).to_le_bytes()).update(secret);
    halves(*hasher.finalize().as_bytes())
}

fn halves(bytes: Encoded) -> [Block; 2] {
    let (halves, _) = bytes.as_chunks::<16>();
    [Block::new(halves[0]), Block::new(halves[1])]
}

/// The pad of a place's label, and bits of which one is its colour.
fn of_place(session: &SessionId, place: usize, point: &Encoded) -> [Block; 2] {
    pad("comity pfe-linear: the label of a place", session, place, point)
}

/// The pad of a source's point.
fn of_source(session: &SessionId, source: usize, label: Block) -> [Block; 2] {
    pad("comity pfe-linear: the point of a gate", session, source, &label.to_bytes())
}

/// Two of the same, in each other's place if that is so.
fn exchanged([first, second]: [Block; 2], exchange: bool) -> [Block; 2] {
    let change = (first ^ second).masked(exchange);
    [first ^ change, second ^ change]
}

/// The name of points, by the session in which they were made.
pub(super) type Name = [u8; 32];

/// The points that a party has from an earlier run.
#[derive(Clone)]
struct Kept {
    name: Name,
    ends: Ends,
    points: Points,
}

#[derive(Clone)]
enum Points {
    Given(Arc<Given>),
    Taken(Arc<Taken>),
}

/// A place for the points of one party and one function, from run to run.
#[derive(Default)]
pub(super) struct Keep(Mutex<Option<Kept>>);

impl Keep {
    /// The points that are here, if they are such ones.
    fn find<T>(&self, ends: Ends, such: impl Fn(&Points) -> Option<T>) -> Option<(Name, T)> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.as_ref().filter(|kept| kept.ends == ends)?;
        Some((kept.name, such(&kept.points)?))
    }

    fn put(&self, kept: Kept) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }
}

/// The points that both parties have, if they have the same. Each says which ones it has; who has none says a name
/// that is nobody else's.
fn agreed<T>(ch: &mut dyn Channel, (session, me): (&SessionId, &str), found: Option<(Name, T)>) -> Result<Option<T>> {
    let none = || session.child("no points").child(me).to_bytes();
    let (mine, mut theirs) = (found.as_ref().map_or_else(none, |(name, _)| *name), [0; 32]);
    ch.exchange(&mine, &mut theirs)?;
    Ok(found.filter(|(name, _)| *name == theirs).map(|(_, points)| points))
}

/// The name of the points of a session.
fn named(session: &SessionId) -> Name {
    session.child("points").to_bytes()
}

/// What the garbler keeps.
struct Given {
    /// Half of each source's logarithm.
    half: Zeroizing<Vec<Scalar>>,
    /// The points of places.
    places: Vec<RistrettoPoint>,
}

impl Given {
    /// Sends the points of sources, and takes those of places, of which `each` group is told as it comes.
    fn make(
        ch: &mut dyn Channel,
        ends: Ends,
        rng: &mut dyn CryptoRng,
        mut each: impl FnMut(&[RistrettoPoint]),
    ) -> Result<Given> {
        let half: Zeroizing<Vec<Scalar>> = Zeroizing::new((0..ends.sources).map(|_| random(rng)).collect());
        for half in half.chunks(GROUP) {
            let points: Vec<RistrettoPoint> = half.iter().map(RistrettoPoint::mul_base).collect();
            ch.send(doubled(&points).as_flattened())?;
        }
        ch.flush()?;
        let mut places = Vec::with_capacity(ends.places);
        let mut group = [[0; POINT]; GROUP];
        while places.len() < ends.places {
            let group = &mut group[..GROUP.min(ends.places - places.len())];
            ch.recv(group.as_flattened_mut())?;
            let from = places.len();
            for point in &*group {
                places.push(decode(point)?);
            }
            each(&places[from..]);
        }
        Ok(Given { half, places })
    }
}

/// The garbler's side.
pub(super) struct Giver {
    session: SessionId,
    ends: Ends,
    points: Arc<Given>,
    /// The scalars for zero and one.
    values: Zeroizing<[Scalar; 2]>,
    /// The pads of each place's labels.
    pads: Zeroizing<Vec<[[Block; 2]; 2]>>,
    labels: Zeroizing<Vec<Block>>,
}

impl Giver {
    /// Takes the points that are kept, if both parties have them, or makes them.
    pub(super) fn new(
        ch: &mut dyn Channel,
        session: SessionId,
        ends: Ends,
        keep: Option<&Keep>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Giver> {
        let such = |points: &Points| if let Points::Given(given) = points { Some(Arc::clone(given)) } else { None };
        let kept = agreed(ch, (&session, "garbler"), keep.and_then(|keep| keep.find(ends, such)))?;
        let values = Zeroizing::new([random(rng), random(rng)]);
        let halves = Zeroizing::new(values.map(|value| value.div_by_2()));
        let mut pads = Zeroizing::new(Vec::with_capacity(ends.places));
        let mut open = |points: &[RistrettoPoint]| {
            let opened = points.iter().flat_map(|point| halves.map(|half| point * half)).collect::<Vec<_>>();
            for [zero, one] in doubled(&opened).as_chunks().0 {
                let place = pads.len();
                pads.push([of_place(&session, place, zero), of_place(&session, place, one)]);
            }
        };
        let points = match kept {
            Some(points) => {
                points.places.chunks(GROUP).for_each(open);
                points
            }
            None => {
                let points = Arc::new(Given::make(ch, ends, rng, &mut open)?);
                if let Some(keep) = keep {
                    keep.put(Kept { name: named(&session), ends, points: Points::Given(Arc::clone(&points)) });
                }
                points
            }
        };
        let labels = Zeroizing::new((0..ends.places).map(|_| Block::random(rng)).collect());
        Ok(Giver { session, ends, points, values, pads, labels })
    }
}

impl Giving for Giver {
    fn switches(&self) -> usize {
        0
    }

    fn switch(&mut self, _: usize, _: Block) -> Block {
        unreachable!("there is none")
    }

    fn label(&self, place: usize) -> Block {
        self.labels[place]
    }

    fn send(&self, ch: &mut dyn Channel, zeros: &[Block], delta: Block, x: &Bits) -> Result<()> {
        for (label, [zero, one]) in self.labels.iter().zip(&*self.pads) {
            // Where the colours differ, which says nothing of either.
            let differ = declassify((zero[1] ^ one[1]).to_u128(), "which bits of two hashes differ");
            let at = differ.trailing_zeros().min(127);
            let both = exchanged([*label ^ zero[0], *label ^ delta ^ one[0]], zero[1].to_u128() >> at & 1 == 1);
            ch.send(&[at as u8])?;
            ch.send(Block::bytes_of(&both))?;
        }
        let of = |source: usize, value: &Scalar| RistrettoPoint::mul_base(&(self.points.half[source] * value));
        let inputs: Vec<RistrettoPoint> = (0..self.ends.inputs)
            .map(|at| {
                let [zero, one] = &*self.values;
                of(at, &Scalar::conditional_select(zero, one, Choice::from(u8::from(x.get(at)))))
            })
            .collect();
        for group in inputs.chunks(GROUP) {
            ch.send(doubled(group).as_flattened())?;
        }
        let gates: Vec<usize> = (self.ends.inputs..self.ends.sources).collect();
        for group in gates.chunks(GROUP) {
            let points = group.iter().flat_map(|&source| self.values.each_ref().map(|value| of(source, value)));
            let points: Vec<RistrettoPoint> = points.collect();
            for (&source, [zero, one]) in group.iter().zip(doubled(&points).as_chunks().0) {
                let label = zeros[source];
                let masked = |label: Block, point: Encoded| {
                    let (pad, point) = (of_source(&self.session, source, label), halves(point));
                    [pad[0] ^ point[0], pad[1] ^ point[1]]
                };
                let (zero, one) = (masked(label, *zero), masked(label ^ delta, *one));
                let [left, right] = [0, 1].map(|half| exchanged([zero[half], one[half]], label.lsb()));
                ch.send(Block::bytes_of(&[left[0], right[0], left[1], right[1]]))?;
            }
        }
        Ok(())
    }
}

/// What the owner of the function keeps.
struct Taken {
    /// The source that each place reads.
    reads: Vec<usize>,
    /// The scalar of each place.
    scalars: Zeroizing<Vec<Scalar>>,
}

impl Taken {
    /// Takes the points of sources, and sends those of places.
    fn make(ch: &mut dyn Channel, ends: Ends, reads: &[usize], rng: &mut dyn CryptoRng) -> Result<Taken> {
        let mut bytes = vec![[0; POINT]; ends.sources];
        ch.recv(bytes.as_flattened_mut())?;
        let sources = bytes.iter().map(decode).collect::<Result<Vec<_>>>()?;
        let mut scalars = Zeroizing::new(Vec::with_capacity(ends.places));
        for reads in reads.chunks(GROUP) {
            let points = reads.iter().map(|&source| {
                let half = Zeroizing::new(random(rng));
                scalars.push(*half + *half);
                sources[source] * *half
            });
            let points: Vec<RistrettoPoint> = points.collect();
            ch.send(doubled(&points).as_flattened())?;
            ch.flush()?;
        }
        Ok(Taken { reads: reads.to_vec(), scalars })
    }
}

/// The evaluator's side.
pub(super) struct Taker {
    session: SessionId,
    ends: Ends,
    points: Arc<Taken>,
    /// What opens the labels of places.
    places: Vec<[u8; PLACE]>,
    /// What opens the points of gates.
    gates: Vec<[[Block; 2]; 2]>,
    /// The points of sources for their values.
    active: Vec<RistrettoPoint>,
}

impl Taker {
    /// Takes the points that are kept, if both parties have them and they are of these reads, or makes them.
    pub(super) fn new(
        ch: &mut dyn Channel,
        session: SessionId,
        ends: Ends,
        reads: &[usize],
        keep: Option<&Keep>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Taker> {
        let such = |points: &Points| match points {
            Points::Taken(taken) if taken.reads == reads => Some(Arc::clone(taken)),
            _ => None,
        };
        let points = match agreed(ch, (&session, "owner"), keep.and_then(|keep| keep.find(ends, such)))? {
            Some(points) => points,
            None => {
                let points = Arc::new(Taken::make(ch, ends, reads, rng)?);
                if let Some(keep) = keep {
                    keep.put(Kept { name: named(&session), ends, points: Points::Taken(Arc::clone(&points)) });
                }
                points
            }
        };
        Ok(Taker { session, ends, points, places: Vec::new(), gates: Vec::new(), active: Vec::new() })
    }
}

impl Taking for Taker {
    fn ways(&self) -> Bits {
        Bits::zeros(0)
    }

    fn receive(&mut self, ch: &mut dyn Channel, _: &[Block]) -> Result<()> {
        let Ends { inputs, sources, places } = self.ends;
        self.places = vec![[0; PLACE]; places];
        ch.recv(self.places.as_flattened_mut())?;
        let mut active = vec![[0; POINT]; inputs];
        ch.recv(active.as_flattened_mut())?;
        self.active = active.iter().map(decode).collect::<Result<_>>()?;
        self.gates = vec![[[Block::ZERO; 2]; 2]; sources - inputs];
        ch.recv(Block::bytes_of_mut(self.gates.as_flattened_mut().as_flattened_mut()))
    }

    fn source(&mut self, label: Block) -> Result<()> {
        let source = self.active.len();
        let (pad, [first, second]) = (of_source(&self.session, source, label), self.gates[source - self.ends.inputs]);
        let mut point = [0; POINT];
        for (half, bytes) in point.chunks_exact_mut(16).enumerate() {
            let block = pad[half] ^ exchanged([first[half], second[half]], label.lsb())[0];
            bytes.copy_from_slice(&block.to_bytes());
        }
        self.active.push(decode(&point)?);
        Ok(())
    }

    fn label(&self, place: usize) -> Block {
        let point = self.active[self.points.reads[place]] * self.points.scalars[place];
        let [pad, colours] = of_place(&self.session, place, &point.compress().to_bytes());
        let [at, blocks @ ..] = self.places[place];
        let colour = colours.to_u128() >> (at % 128) & 1 == 1;
        pad ^ exchanged(halves(blocks), colour)[0]
    }
}

#[cfg(test)]
mod tests {
    use comity_testing::Pair;
    use comity_testing::laws::rng;

    use super::*;

    const ENDS: Ends = Ends { inputs: 2, sources: 4, places: 5 };
    const READS: [usize; 5] = [0, 1, 1, 2, 3];

    /// Points serve as often as both have them, and what opens them is drawn in each run.
    #[test]
    fn kept_points_are_taken_again_with_scalars_and_labels_of_their_own() {
        let keeps = [Keep::default(), Keep::default()];
        let run = |byte, reads: &[usize], [given, taken]: [&Keep; 2]| {
            let session = SessionId::new([byte; 32]);
            let seed = u128::from(byte);
            Pair::run(
                |ch| Giver::new(ch, session, ENDS, Some(given), &mut rng(seed)).unwrap(),
                |ch| Taker::new(ch, session, ENDS, reads, Some(taken), &mut rng(seed + 100)).unwrap(),
            )
        };
        let both = keeps.each_ref();
        let ((one, first), (other, second)) = (run(1, &READS, both), run(2, &READS, both));
        assert!(Arc::ptr_eq(&one.points, &other.points) && Arc::ptr_eq(&first.points, &second.points));
        assert!(one.values.iter().all(|value| !other.values.contains(value)));
        assert!(one.labels.iter().all(|label| !other.labels.contains(label)));
        let pads = |giver: &Giver| giver.pads.iter().flatten().flatten().copied().collect::<Vec<Block>>();
        assert!(pads(&one).iter().all(|pad| !pads(&other).contains(pad)));
        // No points of other reads are held, nor with somebody who holds none: all is drawn anew.
        let (third, other_reads) = run(3, &[3, 1, 1, 2, 3], both);
        assert!(third.points.half.iter().all(|half| !one.points.half.contains(half)));
        assert!(other_reads.points.scalars.iter().all(|scalar| !first.points.scalars.contains(scalar)));
        let (fourth, _) = run(4, &[3, 1, 1, 2, 3], [&keeps[0], &Keep::default()]);
        assert!(!Arc::ptr_eq(&third.points, &fourth.points));
        // Those of two who both have some, but not the same.
        let (fifth, _) = run(5, &[3, 1, 1, 2, 3], both);
        assert!(!Arc::ptr_eq(&fourth.points, &fifth.points));
    }

    #[test]
    fn scalars_and_pads_are_drawn_and_bound() {
        let scalar = |seed| random(&mut rng(seed));
        assert!(scalar(1) != scalar(2) && scalar(1) == scalar(1));
        let session = |byte| SessionId::new([byte; 32]);
        let pads = [
            of_place(&session(1), 0, &[7; POINT]),
            of_place(&session(2), 0, &[7; POINT]),
            of_place(&session(1), 1, &[7; POINT]),
            of_place(&session(1), 0, &[8; POINT]),
            of_source(&session(1), 0, Block::ZERO),
            of_source(&session(1), 0, Block::from_u128(1)),
            of_source(&session(1), 1, Block::ZERO),
        ];
        for (at, pad) in pads.iter().enumerate() {
            assert!(pads[..at].iter().all(|other| other[0] != pad[0] && other[1] != pad[1]));
        }
    }

    /// The garbler's and the owner's secrets, of two generators.
    #[test]
    fn every_secret_is_drawn() {
        let ends = ENDS;
        let of = |seed| {
            let session = SessionId::new([1; 32]);
            Pair::run(
                |ch| Giver::new(ch, session, ends, None, &mut rng(seed)).unwrap(),
                |ch| Taker::new(ch, session, ends, &READS, None, &mut rng(seed + 10)).unwrap().points,
            )
        };
        let ((one, taken), (other, other_taken)) = (of(1), of(2));
        let all: Vec<Scalar> =
            [&one, &other].iter().flat_map(|giver| giver.points.half.iter().chain(&*giver.values)).copied().collect();
        let all = [&all[..], &taken.scalars, &other_taken.scalars].concat();
        let labels = [&one.labels[..], &other.labels].concat();
        assert!(all.len() == 22 && all.iter().enumerate().all(|(at, scalar)| !all[..at].contains(scalar)));
        assert!(labels.len() == 10 && labels.iter().enumerate().all(|(at, label)| !labels[..at].contains(label)));
    }

    #[test]
    fn no_identity_and_no_other_bytes_are_points() {
        for bytes in [[0; POINT], [0xff; POINT]] {
            let refused = decode(&bytes).unwrap_err();
            assert!(matches!(refused.kind, comity_core::Kind::Malformed(_)), "{refused}");
        }
    }
}
