//! Output bits: decoding, and the recovery of the sender's input from a cheat.
//!
//! For output bit `j` the sender has `w_{j,0} + w_{j,1} = w`. A label for `b` in copy `i` hashes to
//! `K_{i,j,b}`, and the evaluator of the copy is told both `w_{j,b} + K_{i,j,b}`: so it learns `w_{j,b}` for
//! the `b` that comes out, and holds it against `h_{j,b}`. Two copies with different outputs give both, and
//! `w`.
//!
//! The box of a copy is a hash of the points `h_{j,b} + K_{i,j,b} G`. Whoever checks the copy makes them from
//! the labels, whoever evaluates it from what it was told, whose points they are: so nothing else could have
//! been told.

use comity_core::{Bits, Block, Result, SessionId, declassify, verdict};
use comity_garble::lockstep::LabelRows;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use crate::checks;
use crate::group::{of_g, uniform};

/// The number of rows of the decoding bits of `outputs` outputs.
pub(crate) fn decoding_rows(outputs: usize) -> usize {
    outputs.div_ceil(128)
}

/// The decoding bits, from the labels for zero: in row `q` bit `k` is that of output `128 q + k`.
pub(crate) fn decoding(zeros: &LabelRows, outputs: usize, width: usize) -> Vec<Block> {
    let mut rows = vec![0u128; decoding_rows(outputs) * width];
    for j in 0..outputs {
        let row = &mut rows[j / 128 * width..][..width];
        for (bits, zero) in row.iter_mut().zip(zeros.get(j, 1)) {
            *bits |= u128::from(zero.lsb()) << (j % 128);
        }
    }
    rows.into_iter().map(Block::from_u128).collect()
}

/// A decoding bit of copy `k` of `width`.
pub(crate) fn decoding_bit(rows: &[Block], width: usize, j: usize, k: usize) -> bool {
    rows[j / 128 * width + k].to_u128() >> (j % 128) & 1 == 1
}

/// Hashes labels to scalars.
pub(crate) struct Recovery {
    key: [u8; 32],
}

impl Recovery {
    pub(crate) fn new(session: &SessionId) -> Recovery {
        Recovery { key: blake3::derive_key("comity NISC: K from an output label", &session.to_bytes()) }
    }

    /// The half of `K_{i,j,b}`.
    pub(crate) fn half_k(&self, i: usize, j: usize, b: u8, label: Block) -> Scalar {
        let mut message = Zeroizing::new([0; 8 + 8 + 1 + Block::BYTES]);
        message[..8].copy_from_slice(&(i as u64).to_le_bytes());
        message[8..16].copy_from_slice(&(j as u64).to_le_bytes());
        message[16] = b;
        message[17..].copy_from_slice(&label.to_bytes());
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        let mut stream = hasher.update(&message[..]).finalize_xof();
        let half = uniform(|wide| stream.fill(wide));
        stream.zeroize();
        hasher.zeroize();
        half
    }
}

/// The cheating recovery boxes of copies: running hashes of their points.
pub(crate) struct Boxes(Vec<blake3::Hasher>);

impl Drop for Boxes {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl Boxes {
    pub(crate) fn new(session: &SessionId, copies: usize) -> Boxes {
        let key = session.child("cheating recovery box").to_bytes();
        Boxes(vec![blake3::Hasher::new_keyed(&key); copies])
    }

    /// Takes in the next two points of each copy.
    pub(crate) fn add(&mut self, points: &[CompressedRistretto]) {
        for (hasher, pair) in self.0.iter_mut().zip(points.as_chunks::<2>().0) {
            pair.iter().for_each(|point| _ = hasher.update(point.as_bytes()));
        }
    }

    /// The boxes: two rows.
    pub(crate) fn finish(&self) -> Vec<Block> {
        let hashes: Vec<[u8; 32]> = self.0.iter().map(|hasher| hasher.finalize().into()).collect();
        [0, 16].into_iter().flat_map(|at| hashes.iter().map(move |hash| half(hash, at))).collect()
    }
}

fn half(hash: &[u8; 32], at: usize) -> Block {
    Block::new(std::array::from_fn(|i| hash[at + i]))
}

/// The findings of the evaluated copies. An honest sender's copies all agree, and then no step depends on
/// their values.
pub(crate) struct Findings {
    /// The output of each evaluated copy, and whether it is semi-trusted.
    copies: Vec<(Bits, bool)>,
    /// The halves of `w_{j,0}` and `w_{j,1}`, and whether they came out.
    known: Zeroizing<Vec<[(Scalar, u8); 2]>>,
    /// Whether all recovery boxes were opened.
    pub(crate) opened: bool,
}

/// The result that the semi-trusted copies tell together.
pub(crate) enum Told {
    /// The output, where the copies agree.
    Output(Bits),
    /// Half of `w`, where they do not.
    Trapdoor(Zeroizing<Scalar>),
}

impl Findings {
    pub(crate) fn new(copies: usize, outputs: usize) -> Findings {
        let none = [(Scalar::ZERO, 0); 2];
        let copies = vec![(Bits::zeros(outputs), true); copies];
        Findings { copies, known: Zeroizing::new(vec![none; outputs]), opened: false }
    }

    /// Adds a finding: evaluated copy `k` says that output `j` is `bit`, and that half of `w_{j,bit}` is `half`;
    /// `points` are `h_{j,0}`, `h_{j,1}`.
    pub(crate) fn add(&mut self, k: usize, j: usize, bit: bool, half: &Scalar, points: &[RistrettoPoint; 2]) {
        let (output, trusted) = &mut self.copies[k];
        output.set(j, bit);
        let bit = Choice::from(u8::from(bit));
        let sides = [!bit, bit];
        // A logarithm that was found right needs no second product.
        let each = self.known[j].iter().zip(sides);
        let again = each.fold(Choice::from(0), |any, ((known, found), side)| {
            any | (side & Choice::from(*found) & known.ct_eq(half))
        });
        let right = declassify(bool::from(again), "so it is in every copy of an honest sender but the first") || {
            let point = of_g(half);
            verdict((point + point).ct_eq(&RistrettoPoint::conditional_select(&points[0], &points[1], bit)))
        };
        if right {
            for ((known, found), side) in self.known[j].iter_mut().zip(sides) {
                known.conditional_assign(half, side);
                *found |= side.unwrap_u8();
            }
        }
        *trusted &= right;
    }

    /// The result, by the last steps of Figure 4.
    ///
    /// # Errors
    /// [`RecoveryOpening`](crate::checks::RECOVERY_OPENING) if a recovery box was not opened, and
    /// [`NoValidCopy`](crate::checks::NO_VALID_COPY) if no copy is semi-trusted.
    pub(crate) fn tell(self) -> Result<Told> {
        if !self.opened {
            return Err(checks::RECOVERY_OPENING.into());
        }
        let mut trusted = self.copies.iter().filter(|(_, trusted)| *trusted).map(|(output, _)| output);
        let first = trusted.next().ok_or(checks::NO_VALID_COPY)?;
        let differs = |other: &&Bits| {
            let same = first.words().ct_eq(other.words());
            !declassify(bool::from(same), "the copies of an honest sender agree")
        };
        let Some(other) = trusted.find(differs) else { return Ok(Told::Output(first.clone())) };
        let j = first.iter().zip(other.iter()).position(|(a, b)| a != b);
        match j.map(|j| &self.known[j]) {
            Some([(zero, 1), (one, 1)]) => Ok(Told::Trapdoor(Zeroizing::new(zero + one))),
            _ => unreachable!("both logarithms of a bit in which semi-trusted copies differ were found right"),
        }
    }
}
