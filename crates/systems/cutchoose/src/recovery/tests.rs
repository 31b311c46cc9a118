//! Both sides against the formulas of the figure, against each other, and against messages that nobody honest sends.

use comity_core::{Backend, Block, Error, Kind, Prg, SessionId};
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT as G;
use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;

use super::{Commitments, EncodedPoint, First, Scalars, Second, Trapdoor, point};

use crate::checks;

const SESSION: SessionId = SessionId::new([5; 32]);
const COPIES: usize = 11;

/// Bytes that encode no point: no field element; a negative one; one that belongs to no point.
const NO_POINTS: [EncodedPoint; 3] = [[0xff; 32], first_byte(1), first_byte(2)];

const fn first_byte(byte: u8) -> EncodedPoint {
    let mut bytes = [0; 32];
    bytes[0] = byte;
    bytes
}

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn scalars(n: usize, rng: &mut Prg) -> Vec<Scalars> {
    let random = |_| {
        let mut bytes = [0; 128];
        rng.fill(&mut bytes);
        Scalars::from_bytes(&bytes)
    };
    (0..n).map(random).collect()
}

fn number(block: &Block) -> u128 {
    block.to_u128()
}

fn pads(blocks: &[Block]) -> Vec<u128> {
    blocks.iter().map(number).collect()
}

fn distinct<T: PartialEq>(items: &[T]) -> bool {
    items.iter().enumerate().all(|(i, a)| items[..i].iter().all(|b| a != b))
}

/// An honest run.
struct Run {
    trapdoor: Trapdoor,
    first: First,
    second: Second,
    scalars: Vec<Scalars>,
    points: Vec<EncodedPoint>,
    pads: Vec<u128>,
}

impl Run {
    fn new(n: usize, seed: u128, omega: Block, delta: Block) -> Run {
        let rng = &mut rng(seed);
        let (trapdoor, first) = Trapdoor::new(rng);
        let scalars = scalars(n, rng);
        let garbler = Commitments::new(&SESSION, &First::from_bytes(&first.to_bytes()), &scalars).unwrap();
        let second = trapdoor.second(&SESSION, omega);
        let points = garbler.points().to_vec();
        let sent = garbler.pads(&Second::from_bytes(second.to_bytes()), delta).unwrap();
        Run { trapdoor, first, second, scalars, points, pads: pads(&sent) }
    }

    fn copies(&self) -> Vec<(usize, EncodedPoint)> {
        self.points.iter().copied().enumerate().collect()
    }

    fn open(&self) -> Vec<u128> {
        pads(&self.trapdoor.open(&SESSION, &self.copies()))
    }
}

/// The figure's protocol, in its own terms.
mod textbook {
    use super::*;

    fn hash<const N: usize>(context: &str, parts: &[&[u8]]) -> [u8; N] {
        let mut out = [0; N];
        blake3::Hasher::new_derive_key(context).update(&parts.concat()).finalize_xof().fill(&mut out);
        out
    }

    pub(super) fn v(value: Block) -> RistrettoPoint {
        let context = "comity cut-and-choose: the point of a delta";
        RistrettoPoint::from_uniform_bytes(&hash(context, &[&SESSION.to_bytes(), &value.to_bytes()]))
    }

    pub(super) fn pad(j: usize, c: RistrettoPoint, d: RistrettoPoint) -> u128 {
        let key = hash("comity cut-and-choose: the pad of a seed", &[&SESSION.to_bytes()]);
        let [c, d] = [c, d].map(|point| point.compress().to_bytes());
        let parts = [&(j as u64).to_le_bytes()[..], &c, &d].concat();
        let mut pad = [0; 16];
        blake3::Hasher::new_keyed(&key).update(&parts).finalize_xof().fill(&mut pad);
        u128::from_le_bytes(pad)
    }

    pub(super) fn full(scalars: &Scalars) -> (Scalar, Scalar) {
        (scalars.half_s + scalars.half_s, scalars.half_t + scalars.half_t)
    }
}

#[test]
fn the_formulas_of_the_figure() {
    use textbook::*;
    let delta = Block::from_u128(77);
    for (seed, omega) in [(1, delta), (2, Block::from_u128(78))] {
        let run = Run::new(COPIES, seed, omega, delta);
        let (w, r) = (run.trapdoor.w, run.trapdoor.r);
        let (h, g1, h1) = (w * G, r * G, r * (w * G) + v(omega));
        assert_eq!(run.first.to_bytes(), *[h, g1].map(|p| p.compress().to_bytes()).as_flattened());
        assert_eq!(run.second.to_bytes(), h1.compress().to_bytes());
        let opened = run.open();
        for (j, scalars) in run.scalars.iter().enumerate() {
            let (s, t) = full(scalars);
            let (c, d) = (s * G + t * h, s * g1 + t * (h1 - v(delta)));
            assert_eq!(run.points[j], c.compress().to_bytes());
            assert_eq!(run.pads[j], pad(j, c, d));
            assert_eq!(opened[j], pad(j, c, r * c));
        }
    }
}

#[test]
fn the_trapdoor_is_not_trivial() {
    let rng = &mut rng(3);
    let (one, two) = (Trapdoor::new(rng).0, Trapdoor::new(rng).0);
    assert!(distinct(&[one.w, one.r, one.half_r, two.w, two.r, two.half_r, Scalar::ZERO]));
    // Drawn again it is the same, so that a batch can hold it as a seed.
    let again = |seed| Trapdoor::new(&mut self::rng(seed)).1;
    assert!(again(4) == again(4) && again(4) != again(5));
}

#[test]
fn scalars_take_all_their_bytes() {
    let bytes: [u8; 128] = std::array::from_fn(|i| i as u8);
    let reference = Scalars::from_bytes(&bytes);
    for i in 0..128 {
        let mut other = bytes;
        other[i] ^= 0x40;
        let other = Scalars::from_bytes(&other);
        assert_eq!(other.half_s == reference.half_s, i >= 64);
        assert_eq!(other.half_t == reference.half_t, i < 64);
    }
}

#[test]
fn who_knows_delta_learns_every_pad() {
    for n in [0, 1, 2, 40] {
        let delta = rng(6).block();
        let run = Run::new(n, n as u128, delta, delta);
        assert_eq!(run.open(), run.pads);
        assert!(distinct(&run.pads) && distinct(&run.points));
        assert_eq!(run.pads.len(), n);
    }
}

#[test]
fn one_wrong_bit_gives_nothing() {
    let delta = rng(7).block();
    let run = Run::new(1, 8, delta, delta);
    let mut seen = vec![run.pads[0]];
    for bit in 0..128 {
        let other = delta ^ Block::from_u128(1 << bit);
        let garbler = || Commitments::new(&SESSION, &run.first, &run.scalars).unwrap();
        // The evaluator's Omega is wrong, and what it opens is what it would have opened anyway.
        let wrong = garbler().pads(&run.trapdoor.second(&SESSION, other), delta).unwrap();
        seen.push(number(&wrong[0]));
        assert_eq!(run.open(), run.pads);
        // The garbler's Delta is.
        let wrong = garbler().pads(&run.second, other).unwrap();
        seen.push(number(&wrong[0]));
    }
    assert!(distinct(&seen));
}

/// With a wrong Omega, what the evaluator sees fits every pad: here two pairs of scalars with the same `C`.
#[test]
fn a_commitment_does_not_say_which_scalars_it_is_of() {
    let delta = rng(9).block();
    for omega in [delta, delta ^ Block::from_u128(2)] {
        let run = Run::new(1, 10, omega, delta);
        let Scalars { half_s, half_t } = &run.scalars[0];
        let other_t = scalars(1, &mut rng(11))[0].half_t;
        let other = Scalars { half_s: half_s + run.trapdoor.w * (half_t - other_t), half_t: other_t };
        let garbler = Commitments::new(&SESSION, &run.first, [&other]).unwrap();
        assert_eq!(garbler.points(), run.points);
        let pads = garbler.pads(&run.second, delta).unwrap();
        assert_eq!(number(&pads[0]) == run.pads[0], delta.to_u128() == omega.to_u128());
    }
}

#[test]
fn a_checked_copy_is_what_an_honest_garbler_sends() {
    let delta = rng(12).block();
    for omega in [delta, delta ^ Block::from_u128(1 << 127)] {
        let run = Run::new(COPIES, 13, omega, delta);
        for checked in [vec![], vec![10], vec![0, 3, 4, 8], (0..COPIES).collect()] {
            let copies = checked.iter().map(|&j| (j, &run.scalars[j]));
            let expected = run.trapdoor.expect(&SESSION, omega, delta, copies);
            let sent: Vec<_> = checked.iter().map(|&j| (run.points[j], run.pads[j])).collect();
            assert_eq!(expected.iter().map(|(c, pad)| (*c, number(pad))).collect::<Vec<_>>(), sent);
        }
        // Every scalar and the Delta count.
        let expect = |delta, half_s, half_t| {
            let (c, pad) = run.trapdoor.expect(&SESSION, omega, delta, [(0, &Scalars { half_s, half_t })])[0];
            (c, number(&pad))
        };
        let (half_s, half_t) = (run.scalars[0].half_s, run.scalars[0].half_t);
        let s = expect(delta, half_s + Scalar::ONE, half_t);
        let t = expect(delta, half_s, half_t + Scalar::ONE);
        let d = expect(delta ^ Block::from_u128(1), half_s, half_t);
        let honest = (run.points[0], run.pads[0]);
        assert!(distinct(&[s.0, t.0, honest.0]) && d.0 == honest.0);
        assert!(distinct(&[s.1, t.1, d.1, honest.1]));
    }
}

#[test]
fn points_of_strings() {
    let (a, b, other) = (Block::from_u128(0), Block::from_u128(1), SessionId::new([6; 32]));
    let points = [point(&SESSION, a), point(&SESSION, b), point(&other, a), point(&other, b)].map(|p| *p);
    assert!(distinct(&points) && !points.contains(&RistrettoPoint::identity()));
    assert_eq!(*point(&SESSION, a), points[0]);
}

#[test]
fn a_pad_belongs_to_its_session_and_copy() {
    let delta = rng(14).block();
    let run = Run::new(2, 15, delta, delta);
    let [zero, one] = [run.points[0], run.points[1]];
    let elsewhere = run.trapdoor.open(&SessionId::new([6; 32]), &[(0, zero)]);
    let opened = pads(&run.trapdoor.open(&SESSION, &[(1, zero), (0, one), (1, one), (0, zero)]));
    assert_eq!(opened[2..], [run.pads[1], run.pads[0]]);
    assert!(distinct(&[&opened[..], &pads(&elsewhere)].concat()));
}

/// A garbler that spoils one evaluated copy spoils that one alone, and the evaluator goes on.
#[test]
fn bad_commitments_open_to_garbage() {
    let delta = rng(16).block();
    let run = Run::new(COPIES, 17, delta, delta);
    for bad in NO_POINTS.into_iter().chain([[0; 32], G.compress().to_bytes()]) {
        let mut copies = run.copies();
        for j in [0, 4, 10] {
            copies[j].1 = bad;
        }
        let opened = pads(&run.trapdoor.open(&SESSION, &copies));
        for (j, (opened, sent)) in opened.iter().zip(&run.pads).enumerate() {
            assert_eq!(opened == sent, ![0, 4, 10].contains(&j));
        }
        assert!(distinct(&opened));
    }
}

#[test]
fn bad_elements_of_the_evaluator_are_refused_by_name() {
    let delta = rng(18).block();
    let run = Run::new(1, 19, delta, delta);
    let garbler = |first: First| Commitments::new(&SESSION, &first, &run.scalars);
    let start = |at: usize, bytes: EncodedPoint| {
        let mut first = run.first;
        first.0[at] = bytes;
        garbler(first).err()
    };
    for at in [0, 1] {
        for bytes in NO_POINTS {
            assert!(matches!(start(at, bytes), Some(Error { kind: Kind::Misbehaved(checks::INVALID_POINT), .. })));
        }
        assert!(matches!(start(at, [0; 32]), Some(Error { kind: Kind::Misbehaved(checks::IDENTITY_POINT), .. })));
        assert!(start(at, run.second.to_bytes()).is_none());
    }
    for bytes in NO_POINTS {
        let result = garbler(run.first).unwrap().pads(&Second::from_bytes(bytes), delta);
        assert!(matches!(result.err(), Some(Error { kind: Kind::Misbehaved(checks::INVALID_POINT), .. })));
    }
    // The identity is one h1 among all, and gives no more than another.
    let pads = garbler(run.first).unwrap().pads(&Second::from_bytes([0; 32]), delta).unwrap();
    assert_ne!(number(&pads[0]), run.pads[0]);
}
