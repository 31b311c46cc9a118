//! Products of some elements with delta, bit by bit of delta.
//!
//! Delta is `sum x^i d_i`. OT `i` has choice bit `d_i` and two seeds; the receiver of the VOLE has both, and
//! tells the difference of their streams plus its vector `a`. So the sender gets the stream of seed 0 plus
//! `d_i a`, and both sum up with `x^i`: `b = c + a delta` (Keller, Orsini, Scholl, CCS 2016, figure 5).
//!
//! In the malicious model the sender asks for a random combination of `a` and `c`, masked by one more product
//! that serves nothing else. A receiver that used another vector for some bits passes only where these bits
//! of delta are such that it does not matter, which costs it a guess of each; else [`INCONSISTENT_PRODUCTS`].
//!
//! *Bound.* Differences in the vectors cancel in the combination with probability 2^-128 for each bit, since
//! the challenge comes after them.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, gf128, verdict};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, Model};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::Setting;
use crate::checks::INCONSISTENT_PRODUCTS;

/// Bits of delta.
const BITS: usize = 128;

/// The sender's side: `n` elements `b`.
///
/// # Errors
/// Those of the base OTs and the channel; [`INCONSISTENT_PRODUCTS`] in the malicious model, after which delta
/// must not be used.
pub fn send<M: Model, B: BaseOt<Model: AtLeast<M>>>(
    ch: &mut dyn Channel,
    setting: &Setting,
    delta: Block,
    n: usize,
    rng: &mut dyn CryptoRng,
) -> Result<Zeroizing<Vec<Block>>> {
    let Setting { session, backend } = *setting;
    let choices = Bits::from_bytes(&*Zeroizing::new(delta.to_bytes()), BITS);
    let seeds = B::receive(ch, &session, &choices, rng)?;
    let n = n + usize::from(M::MALICIOUS);
    let mut b = Zeroizing::new(vec![Block::ZERO; n]);
    let (mut row, mut told) = (Zeroizing::new(vec![Block::ZERO; n]), vec![Block::ZERO; n]);
    for i in (0..BITS).rev() {
        Prg::new(backend, seeds.chosen()[i]).fill_blocks(&mut row);
        ch.recv(Block::bytes_of_mut(&mut told))?;
        let bit = choices.get(i);
        row.iter_mut().zip(&told).for_each(|(row, told)| *row ^= told.masked(bit));
        shift_and_add(&mut b, &row);
    }
    if M::MALICIOUS {
        let challenge = Block::random(rng);
        ch.send(&challenge.to_bytes())?;
        let mut answer = [Block::ZERO; 2];
        ch.recv(Block::bytes_of_mut(&mut answer))?;
        let expected = combination(backend, challenge, &b) ^ gf128::mul(backend, answer[0], delta);
        if !verdict(expected.ct_eq(&answer[1])) {
            return Err(INCONSISTENT_PRODUCTS.into());
        }
        b.truncate(n - 1);
    }
    Ok(b)
}

/// The receiver's side: `c` for these elements `a`.
///
/// # Errors
/// Those of the base OTs and the channel.
pub fn receive<M: Model, B: BaseOt<Model: AtLeast<M>>>(
    ch: &mut dyn Channel,
    setting: &Setting,
    a: &[Block],
    rng: &mut dyn CryptoRng,
) -> Result<Zeroizing<Vec<Block>>> {
    let Setting { session, backend } = *setting;
    let seeds = B::send(ch, &session, BITS, rng)?;
    let mut a = Zeroizing::new(a.to_vec());
    if M::MALICIOUS {
        a.push(Block::random(rng));
    }
    let n = a.len();
    let mut c = Zeroizing::new(vec![Block::ZERO; n]);
    let (mut row, mut other) = (Zeroizing::new(vec![Block::ZERO; n]), Zeroizing::new(vec![Block::ZERO; n]));
    for &[zero, one] in seeds.pairs().iter().rev() {
        Prg::new(backend, zero).fill_blocks(&mut row);
        Prg::new(backend, one).fill_blocks(&mut other);
        shift_and_add(&mut c, &row);
        for ((other, &row), &a) in other.iter_mut().zip(row.iter()).zip(a.iter()) {
            *other ^= row ^ a;
        }
        ch.send(Block::bytes_of(&other))?;
    }
    if M::MALICIOUS {
        let mut challenge = [Block::ZERO];
        ch.recv(Block::bytes_of_mut(&mut challenge))?;
        let answer = [&a, &c].map(|values| combination(backend, challenge[0], values));
        ch.send(Block::bytes_of(&answer))?;
        c.truncate(n - 1);
    }
    ch.flush()?;
    Ok(c)
}

/// Multiplies each element by x, and adds another.
fn shift_and_add(sum: &mut [Block], row: &[Block]) {
    sum.iter_mut().zip(row).for_each(|(sum, &row)| *sum = times_x(*sum) ^ row);
}

/// An element times x.
#[inline(always)]
pub(crate) fn times_x(element: Block) -> Block {
    let bits = element.to_u128();
    Block::from_u128(bits << 1 ^ (0x87 & (bits >> 127).wrapping_neg()))
}

/// The combination that a challenge names of all elements but the last, which is added.
fn combination(backend: Backend, challenge: Block, values: &[Block]) -> Block {
    let (mask, values) = values.split_last().expect("the mask of the check");
    let mut factors = vec![Block::ZERO; values.len()];
    Prg::new(backend, challenge).fill_blocks(&mut factors);
    gf128::inner_product(backend, &factors, values) ^ *mask
}
