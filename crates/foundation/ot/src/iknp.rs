//! Semi-honest OT extension (Ishai, Kilian, Nissim, Petrank, CRYPTO 2003) with the optimizations of Asharov, Lindell,
//! Schneider, Zohner (CCS 2013; D13.3 section 3.3), and its raw correlation with a fixed delta.
//!
//! **What**: 128 base OTs, once, become any number of OTs by symmetric cryptography. The sender's global key is
//! `delta`. For OT `j` with choice bit `x_j` the sender gets a block `q_j` and the receiver `t_j = q_j ^ x_j delta`.
//!
//! **How**: the base OTs run the other way round. The receiver ends with 128 pairs of seeds, the sender with one of
//! each pair, chosen by the bits of delta. Row `i` of the receiver's matrix is `t^i = G(k_i^0)`; the receiver sends
//! `u^i = t^i ^ G(k_i^1) ^ x`, and the sender computes `q^i = G(k_i^(delta_i)) ^ delta_i u^i = t^i ^ delta_i x`. Both
//! transpose: a column is an OT.
//!
//! **Functionality**: OT with a fixed correlation ([`CotSender`](crate::CotSender),
//! [`CotReceiver`](crate::CotReceiver)). The sender chooses delta at the start, the receiver its choice bits,
//! or the first row defines them (D13.3 section 3.3.3), which saves that row; the q are uniform. With bit 0
//! of delta set these are wire labels under free XOR: `q_j` is the label of zero. Random OT is this
//! [hashed](crate::HashedSender), and the other flavours are in [`flavour`](crate::flavour).
//!
//! **Adversary**: semi-honest, either party. It stands on base OTs and on AES as PRG. It is not secure
//! against a malicious receiver: nothing forces one `x` into all 128 rows. A receiver that flips bit `j` in
//! row `i` alone shifts `q_j` by `delta_i` in bit `i`, and whatever it later sees under `q_j` tells it
//! whether `delta_i` is set; 128 such OTs give it delta, and with it both messages of every OT. A malicious
//! sender can do nothing here beyond what the base OTs allow and a badly chosen delta. Neither kind of peer
//! can cause a panic, or memory to be claimed that the caller did not ask for.
//!
//! **Cost** of one OT: 16 bytes from receiver to sender (128 rows of ceil(n/8) bytes in a call for n, one row less for
//! random choice bits) and none back; two AES blocks at the receiver, one at the sender. A call is one message; the
//! set-up is 128 base OTs.
//!
//! Calls work block by block through buffers of fixed size that stay in the second-level cache, so any number of
//! correlated or random OTs needs no memory but the caller's. The receiver never waits for the sender, but the
//! sender must read while it sends: the two calls run at the same time.

mod receiver;
mod sender;
mod state;

pub use receiver::Receiver;
pub use sender::Sender;

/// The session of the base OTs, under that of the extension.
const BASE: &str = "base OT of IKNP";

/// Rows of the matrix: the base OTs, and the bits of delta.
const ROWS: usize = 128;

/// OTs in one block of the stream: 2 KiB of each row, so that a call of the PRG fills the widest AES units many times
/// over, and the buffers of a block (256 KiB each: as sent, as rows, as columns) stay in a second-level cache of 1 MiB.
const BLOCK: usize = 1 << 14;
