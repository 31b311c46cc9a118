//! Labels go by group elements (Katz, Malka 2011, in the form of Biçer, Bingöl, Kiraz, Levi 2020): a point
//! for each source, which the owner of the function multiplies for each place that reads it, so that nobody
//! else sees which one that is.
//!
//! The garbler draws `P_s` for each source. For a place that reads `s` the owner draws `t` and returns
//! `Q = t P_s`. Of scalars `a_0`, `a_1` that are the same everywhere, `a_b P_s` stands for the value `b` of a
//! source, and `a_b Q` opens the label for `b` of the place: who has one of a source's two points multiplies
//! it by `t`. A gate's label opens the point for its value in the same way.

use comity_channel::Channel;
use comity_core::{Bits, Block, Error, Result, SessionId, declassify};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroizing;

use super::bringing::{Ends, Giving, Taking};

/// Bytes of a point.
pub(super) const POINT: usize = 32;

/// Bytes that open a place's label: the place of its colour, and a block for each.
pub(super) const PLACE: usize = 1 + 2 * 16;

/// Points that are encoded and travel together.
const GROUP: usize = 64;

type Encoded = [u8; POINT];

/// A peer's point.
fn decode(bytes: &Encoded) -> Result<RistrettoPoint> {
    match CompressedRistretto(*bytes).decompress() {
        Some(point) if !point.is_identity() => Ok(point),
        _ => Err(Error::malformed("32 bytes are no point of ristretto255, or the identity")),
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

/// The garbler's side.
pub(super) struct Giver {
    session: SessionId,
    ends: Ends,
    /// Half of each source's logarithm.
    half: Zeroizing<Vec<Scalar>>,
    /// The scalars for zero and one.
    values: Zeroizing<[Scalar; 2]>,
    /// The pads of each place's labels.
    pads: Zeroizing<Vec<[[Block; 2]; 2]>>,
    labels: Zeroizing<Vec<Block>>,
}

impl Giver {
    /// Sends the points of sources, and takes those of places.
    pub(super) fn new(ch: &mut dyn Channel, session: SessionId, ends: Ends, rng: &mut dyn CryptoRng) -> Result<Giver> {
        let half: Zeroizing<Vec<Scalar>> = Zeroizing::new((0..ends.sources).map(|_| random(rng)).collect());
        for half in half.chunks(GROUP) {
            let points: Vec<RistrettoPoint> = half.iter().map(RistrettoPoint::mul_base).collect();
            ch.send(doubled(&points).as_flattened())?;
        }
        ch.flush()?;
        let values = Zeroizing::new([random(rng), random(rng)]);
        let halves = Zeroizing::new(values.map(|value| value.div_by_2()));
        let mut pads = Zeroizing::new(Vec::with_capacity(ends.places));
        let mut group = [[0; POINT]; GROUP];
        while pads.len() < ends.places {
            let group = &mut group[..GROUP.min(ends.places - pads.len())];
            ch.recv(group.as_flattened_mut())?;
            let points = group.iter().map(decode).collect::<Result<Vec<_>>>()?;
            let opened = points.iter().flat_map(|point| halves.map(|half| point * half)).collect::<Vec<_>>();
            for [zero, one] in doubled(&opened).as_chunks().0 {
                let place = pads.len();
                pads.push([of_place(&session, place, zero), of_place(&session, place, one)]);
            }
        }
        let labels = Zeroizing::new((0..ends.places).map(|_| Block::random(rng)).collect());
        Ok(Giver { session, ends, half, values, pads, labels })
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
        let of = |source: usize, value: &Scalar| RistrettoPoint::mul_base(&(self.half[source] * value));
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

/// The evaluator's side.
pub(super) struct Taker<'a> {
    session: SessionId,
    ends: Ends,
    reads: &'a [usize],
    /// The scalar of each place.
    scalars: Zeroizing<Vec<Scalar>>,
    /// What opens the labels of places.
    places: Vec<[u8; PLACE]>,
    /// What opens the points of gates.
    gates: Vec<[[Block; 2]; 2]>,
    /// The points of sources for their values.
    active: Vec<RistrettoPoint>,
}

impl<'a> Taker<'a> {
    /// Takes the points of sources, and sends those of places.
    pub(super) fn new(
        ch: &mut dyn Channel,
        session: SessionId,
        ends: Ends,
        reads: &'a [usize],
        rng: &mut dyn CryptoRng,
    ) -> Result<Taker<'a>> {
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
        Ok(Taker { session, ends, reads, scalars, places: Vec::new(), gates: Vec::new(), active: Vec::new() })
    }
}

impl Taking for Taker<'_> {
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
        let point = self.active[self.reads[place]] * self.scalars[place];
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
        let ends = Ends { inputs: 2, sources: 4, places: 5 };
        let of = |seed| {
            let session = SessionId::new([1; 32]);
            Pair::run(
                |ch| Giver::new(ch, session, ends, &mut rng(seed)).unwrap(),
                |ch| Taker::new(ch, session, ends, &[0, 1, 1, 2, 3], &mut rng(seed + 10)).unwrap().scalars,
            )
        };
        let ((one, scalars), (other, other_scalars)) = (of(1), of(2));
        let all: Vec<Scalar> =
            [&one, &other].iter().flat_map(|giver| giver.half.iter().chain(&*giver.values)).copied().collect();
        let all = [&all[..], &scalars, &other_scalars].concat();
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
