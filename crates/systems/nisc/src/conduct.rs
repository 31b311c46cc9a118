//! `SenderAct`: what a sender is about to do with what it made. An honest sender does it; the tests have
//! senders that are honest but for one lie, and a lie is another [`Conduct`](comity_protocol::Conduct).

use comity_core::{Block, Delta};
use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;

/// An act: something that is about to be used or sent. An honest sender does not look at it.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(crate) enum SenderAct<'a> {
    /// The payloads of the circuit OTs: `k_i` and `seed_i`.
    Circuits(&'a mut [[Block; 2]]),
    /// Half of the point that stands for a one in commitments to the sender's input.
    One(&'a mut RistrettoPoint),
    /// The output commitments `h_{j,0}` and `h_{j,1}`, encoded.
    OutputCommitments(&'a mut [[u8; 32]]),
    /// The heads of the input OTs.
    Heads(&'a mut [[u8; 64]]),
    /// The two labels of bit `j` of the receiver's input, for every copy, before the OTs.
    Labels { j: usize, pairs: &'a mut [[Block; 2]] },
    /// Bit `j` of the sender's input as each copy gets it.
    Input { j: usize, bits: &'a mut [u8] },
    /// The commitments and adapters of bit `j`: six rows.
    Committed { j: usize, rows: &'a mut [Block] },
    /// The halves of `r_j - r_{i,j,y_j}`.
    Proofs { j: usize, halves: &'a mut [Scalar] },
    /// Tables, for each AND gate a row of all copies and another.
    Tables(&'a mut [Block]),
    /// The labels for zero of the outputs, a row of all copies for each bit.
    Outputs { rows: &'a mut [Block], deltas: &'a [Delta] },
    /// The decoding bits, rows of all copies.
    Decoding(&'a mut [Block]),
    /// The halves of `w_{j,b} + K_{i,j,b}`, as they are sent.
    Openings { j: usize, halves: &'a mut [[Scalar; 2]] },
    /// The cheating recovery boxes: two rows.
    Boxes(&'a mut [Block]),
}
