//! 1-out-of-N oblivious transfer extension, for N up to 2^76 or without bound: Kolesnikov and Kumaresan (CRYPTO 2013),
//! Kolesnikov, Kumaresan, Rosulek and Trieu (CCS 2016, ePrint 2016/799), Orrù, Orsini and Scholl (CT-RSA 2017, ePrint
//! 2016/933).
//!
//! | scheme | paper | adversary | choices | code |
//! |---|---|---|---|---|
//! | [`Kk13`] | KK 2013 | semi-honest | 0 to 2^76 - 1 | binary BCH [512, 76, >= 172] |
//! | [`Kkrt16`] | KKRT 2016 | semi-honest | 0 to 2^128 - 1, or hashes | pseudo-random, 512 bits |
//! | [`Oos16`] | OOS 2017 | malicious | 0 to 2^76 - 1 | binary BCH [512, 76, >= 172] |
//!
//! **What**: each OT is a random function from choices to blocks. The receiver learns it at one point of its choice,
//! and the sender can evaluate it wherever it likes ([`Keys`]): all N points of a small table, or just those that it
//! needs of an astronomical one. That is also an oblivious pseudo-random function with a key for each OT, as private
//! set intersection takes it (D13.3 section 5.2.2). [`send`] and [`receive`] put chosen messages on top.
//!
//! **How**: IKNP's extension with 512 rows, where the choice bit, which is a word of the repetition code, becomes a
//! word of a code with the same distance or a greater one.
//! - 1: the sender has random bits `s`, for row `i` the seed `k_i^(s_i)`, the receiver both seeds.
//! - 2: `t^i = G(k_i^0)`; with the words `C(w_j)` as the columns of a matrix with rows `c^i` the receiver sends
//!   `u^i = t^i ^ G(k_i^1) ^ c^i`.
//! - 3: the sender has `q^i = G(k_i^(s_i)) ^ s_i u^i`, that is `q_j = t_j ^ (C(w_j) & s)`.
//! - 4: the block of entry `x` is `H(j, q_j ^ (C(x) & s))`, at the receiver `H(j, t_j)` for `x = w_j`. For another `x`
//!   two words differ in at least kappa places, and so as many bits of `s` are missing.
//!
//! The 512 seeds come from 128 base OTs through [`softspoken`](crate::softspoken) in the same model.
//!
//! **Codes.** The linear one is built from the arithmetic of GF(2^9). (D13.3 writes "[277, 512, 129]" and 2^77:
//! misprints; the length is 512, and what counts is a distance of at least kappa = 128.) The receiver's words are
//! encoded bit-sliced, so that the choice is never an index. The pseudo-random code is AES under four keys from the
//! session. Two of its words have less than the distance kappa with probability 2^-102, so 512 bits are enough for 2^62
//! pairs of choices at rho = 40; [`pseudo_random_width`] says what other numbers take.
//!
//! **Hash.** `H(j, (x_0, .., x_3)) = pi(pi(y) ^ j) ^ pi(y)` with `y` the sum of `pi_a(x_a) ^ x_a`, for five
//! permutations, AES under fixed keys: the hash of Guo, Katz, Wang, Yu (S&P 2020) behind a compression. Whoever misses
//! 128 bits of the four blocks must still guess `y`, in the random-permutation model. The tweak `j` counts the OTs in
//! the life of an extension. The papers take a random oracle there.
//!
//! **Functionality**: random 1-out-of-N OT, endemic: a corrupt receiver may choose the block that it gets, a corrupt
//! sender the function. The sender's function is not a random oracle to itself: a cheating sender may find two entries
//! with one block.
//!
//! **Adversary**: [`Kk13`] and [`Kkrt16`] semi-honest, either party: a receiver that sends no words of the code learns
//! `s`. A malicious receiver there causes no panic, and no memory to be claimed. [`Oos16`] malicious, either
//! party, over base OTs that withstand the same:
//!
//! ```compile_fail
//! use comity_core::{Backend, Result, SessionId};
//! use comity_ot::{base::Simplest, one_of_n::{Oos16, Sender}};
//!
//! fn over_semi_honest(ch: &mut comity_channel::MemoryChannel, rng: &mut comity_core::Prg) -> Result<()> {
//!     let session = SessionId::new([0; 32]);
//!     Sender::<Oos16>::setup::<Simplest>(ch, &session, Backend::detect(), rng).map(drop)
//! }
//! ```
//!
//! **Check** (OOS, each chunk of at most 2^16 OTs before it is used). When the sender has a chunk's
//! corrections it draws a challenge; it names random elements of GF(2^128), and `R` of a row is the inner product with
//! them. The receiver answers with `R` of the 76 rows of choices and binds, by BLAKE3, those of its rows `t^i`. `R`
//! commutes with the linear code, so the sender knows what the second must be. Otherwise
//! [`InconsistentChoices`](crate::checks::INCONSISTENT_CHOICES). 128 OTs a chunk, with random choices, mask
//! the answer.
//!
//! *Bound.* Let the receiver's columns be words of the code but for errors in the rows of a set A, where A is as small
//! as can be. If A has at most 57 rows (a third of the distance), `R` keeps all of A apart from the code but with
//! probability 2^-120, and otherwise it keeps 57 rows apart but with the same probability (Roth and Zémor's bound for
//! the distance of random combinations from a linear code, over GF(2^128)). A row that is apart takes a guess of its
//! `s_i`. *Leak.* So a receiver learns c bits of `s` with probability 2^-c and is caught otherwise, in all chunks
//! together, since being caught ends the extension. It escapes with more than 44 of them with probability below 2^-44
//! ([`Oos16::RHO`]), and with 44 there are still 172 - 44 = 128 bits missing from every other entry.
//!
//! **Differences from the paper**: the challenge is 128 bits from the sender, after the data that it checks, and `R`
//! has 128 bits whatever rho is; the answer for the `t^i` is hashed, 32 bytes instead of 8 KiB.
//!
//! **Cost** of one OT: 64 bytes from receiver to sender, rounded up to 128 OTs in a call (a chunk in the malicious
//! model); eight AES blocks at the receiver, four at the sender; a word of the code and 512 bits transposed at either;
//! six AES blocks for each block that comes out. In the malicious model a chunk takes 8 KiB for its mask, 1,264 bytes
//! and a round trip besides, 0.3 % of a full chunk. Set-up is that of SoftSpoken with k = 2, and 512 OTs of it.
//!
//! Calls work piece by piece through fixed buffers (about 2 MiB a side, in the malicious model 5 MiB more). [`Keys`]
//! take 64 bytes an OT: a party with many OTs takes them a few thousand at a time.

mod bch;
mod chosen;
mod code;
mod hash;
mod keys;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use crate::row_check::Challenge;
pub use chosen::{receive, send};
pub use keys::Keys;
pub use receiver::{Offered, Receiver};
pub use sender::{Sender, Taken};

use comity_core::{Backend, Block, Error, Result, SessionId, declassify};

use crate::model::{Malicious, SemiHonest};
use crate::row_check;
use crate::softspoken::Checking;
use code::Code;

/// The receiver's answer to a challenge.
pub type Answer = row_check::Answer<{ bch::MESSAGE }>;

/// The context of what binds an answer.
const ROWS_OF_A_CHUNK: &str = "comity 1-out-of-N OT: hashes of the rows of a chunk";

/// The session of the extension that the seeds come from, under that of this one.
const BASE: &str = "seeds of 1-out-of-N OT";

/// The levels of that extension's trees.
const BASE_LEVELS: usize = 2;

/// Rows of the matrix: bits of a word of the code, and seeds.
const ROWS: usize = 512;

/// Parts of a column that are blocks.
const QUARTERS: usize = ROWS / 128;

/// Blocks of a row in a piece: the matrix of a piece (256 KiB), its words and what is summed for them stay in a
/// second-level cache of 1 MiB.
const PIECE: usize = 32;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Kk13 {}
    impl Sealed for super::Kkrt16 {}
    impl Sealed for super::Oos16 {}
}

/// A protocol for 1-out-of-N OT: [`Kk13`], [`Kkrt16`] or [`Oos16`].
pub trait OneOfN: sealed::Sealed + Send + Sync + 'static {
    /// The adversary model that the protocol withstands.
    type Model: Checking;
    /// The number of bits of a choice.
    const CHOICE_BITS: u32;
    /// The most OTs in a chunk.
    const CHUNK: usize;
}

/// Kolesnikov and Kumaresan with a binary BCH code.
#[derive(Clone, Copy, Debug)]
pub enum Kk13 {}

/// Kolesnikov, Kumaresan, Rosulek and Trieu: a pseudo-random code.
#[derive(Clone, Copy, Debug)]
pub enum Kkrt16 {}

/// Orrù, Orsini and Scholl: [`Kk13`] with a check.
#[derive(Clone, Copy, Debug)]
pub enum Oos16 {}

impl OneOfN for Kk13 {
    type Model = SemiHonest;
    const CHOICE_BITS: u32 = bch::MESSAGE as u32;
    const CHUNK: usize = 128 * PIECE;
}

impl OneOfN for Kkrt16 {
    type Model = SemiHonest;
    const CHOICE_BITS: u32 = 128;
    const CHUNK: usize = 128 * PIECE;
}

impl OneOfN for Oos16 {
    type Model = Malicious;
    const CHOICE_BITS: u32 = bch::MESSAGE as u32;
    /// A chunk and the 128 OTs of its mask are 2^16.
    const CHUNK: usize = (1 << 16) - 128;
}

impl Oos16 {
    /// The largest statistical parameter that the code's distance has room for besides kappa.
    pub const RHO: u32 = bch::DISTANCE as u32 - 128;
}

/// The code of a scheme.
fn code<S: OneOfN>(backend: Backend, session: &SessionId) -> Code {
    if S::CHOICE_BITS == 128 { Code::pseudo_random(backend, session) } else { Code::Linear }
}

/// Checks that choices are in range.
fn in_range<S: OneOfN>(choices: impl IntoIterator<Item = u128>) -> Result<()> {
    let outside =
        choices.into_iter().fold(0, |outside, choice| outside | choice.checked_shr(S::CHOICE_BITS).unwrap_or(0));
    if declassify(outside != 0, "a choice out of range is an error of the caller") {
        let bits = S::CHOICE_BITS;
        return Err(Error::invalid_input(format!("a choice of this 1-out-of-N OT is a number below 2^{bits}")));
    }
    Ok(())
}

/// The receiver's message for a chunk: its matrix, piece by piece.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Corrections(Vec<u8>);

impl Corrections {
    /// The message for `n` OTs of a scheme with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if they are too many or too few.
    pub fn from_bytes<S: OneOfN>(bytes: &[u8], n: usize) -> Result<Corrections> {
        let expected = (16 * ROWS).saturating_mul(width::<S>(n));
        if bytes.len() != expected {
            let len = bytes.len();
            return Err(Error::malformed(format!("corrections of {n} OTs are {expected} bytes long, not {len}")));
        }
        Ok(Corrections(bytes.to_vec()))
    }

    /// The bytes of the message.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A part of a chunk: blocks `at` to `at + width` of every row.
#[derive(Clone, Copy)]
struct Piece {
    at: usize,
    width: usize,
}

/// Blocks of a row in a chunk of `n` OTs: whole blocks, and in the malicious model one for the mask.
fn width<S: OneOfN>(n: usize) -> usize {
    n.div_ceil(128) + usize::from(S::Model::CHECKED)
}

/// The pieces of a chunk of `n` OTs.
fn pieces<S: OneOfN>(n: usize) -> impl Iterator<Item = Piece> {
    let width = width::<S>(n);
    (0..width).step_by(PIECE).map(move |at| Piece { at, width: PIECE.min(width - at) })
}

/// The hashes of `N` rows of a chunk of `n` OTs, which lie piece by piece.
fn hashes_of_rows<S: OneOfN, const N: usize>(
    backend: Backend,
    challenge: &Challenge,
    rows: &[Block],
    n: usize,
) -> [Block; N] {
    let mut coefficients = vec![Block::ZERO; width::<S>(n)];
    challenge.coefficients(backend, &mut coefficients);
    let mut hashes = [Block::ZERO; N];
    for Piece { at, width } in pieces::<S>(n) {
        let rows = &rows[N * at..N * (at + width)];
        row_check::hash_rows(backend, &coefficients[at..at + width], rows, &mut hashes);
    }
    hashes
}

/// Checks that a chunk of `n` OTs is not too long.
fn fits<S: OneOfN>(n: usize) -> Result<()> {
    if n > S::CHUNK {
        return Err(Error::invalid_input(format!("{n} OTs are more than a chunk, {}", S::CHUNK)));
    }
    Ok(())
}

/// Checks that there is a seed for each row.
fn check_seeds(seeds: usize) -> Result<()> {
    if seeds != ROWS {
        return Err(Error::invalid_input(format!("1-out-of-N OT extension takes {ROWS} random OTs, not {seeds}")));
    }
    Ok(())
}

/// The number of bits that a pseudo-random code needs (KKRT) so that, among `2^log_pairs` pairs of choices,
/// no two words are closer than kappa = 128, except with probability 2^-rho. [`Kkrt16`] has 512.
pub fn pseudo_random_width(log_pairs: u32, rho: u32) -> usize {
    let target = -f64::from(log_pairs) - f64::from(rho);
    // log2 of the probability that fewer than 128 of `width` fair bits are set, from the largest term down.
    let too_close = |width: usize| {
        let log_term = (1..128).map(|i| ((width - i + 1) as f64 / i as f64).log2()).sum::<f64>() - width as f64;
        let (mut sum, mut term) = (0.0, 1.0);
        for i in (0..128).rev() {
            sum += term;
            term *= i as f64 / (width - i + 1) as f64;
        }
        log_term + f64::log2(sum)
    };
    (128..).find(|&width| too_close(width) <= target).expect("wide codes reach every distance")
}
