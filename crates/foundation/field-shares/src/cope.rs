//! COPEe: products of elements with one that stays the same, by OT extension with errors (Keller, Orsini,
//! Scholl, CCS 2016, ePrint 2016/505, figure 3).
//!
//! **Functionality**: the sender has elements `x`, the receiver one `delta` for all of them, which is a share
//! of a MAC key. The sender gets `t` and the receiver `q` with `t + q = x delta`. **Adversary**: either
//! party. A corrupt sender may use another `x` for each digit of `delta`: that is the error, which
//! [inputs](crate::FieldDealer::authenticated) check for.
//!
//! *Initialize*: an OT for each digit of `delta`, in which the receiver chooses by it. Here they are hashed
//! bits of a checked extension, in which everybody chooses alike towards all
//! ([`Joint`](comity_share::Joint)): so a share of the key is the same towards all. *Extend*, for digit `i`,
//! with `r_0`, `r_1` the streams of both seeds: 1. the sender says `u_i = r_0 - r_1 + x`. 2. The receiver
//! adds `u_i` to its stream if its digit is set, and has `r_0 + delta_i x`. 3. Both compose what they have
//! over the digits.
//!
//! **Cost**: [`BITS`](Field::BITS) elements from the sender for each `x`; as many blocks of a stream at the
//! receiver, twice as many at the sender. Streams never restart, and seeds are used for nothing else.

use comity_core::{Backend, Block, Prg, Result};
use zeroize::Zeroizing;

use crate::field::Field;
use crate::sum_share::MacKey;

/// Elements that are worked on at a time, so that they stay in the first-level cache.
const PIECE: usize = 256;

/// The sender of products: has elements.
pub(crate) struct CopeSender {
    backend: Backend,
    streams: Vec<[Prg; 2]>,
}

/// The receiver of products: has a share of the MAC key.
pub(crate) struct CopeReceiver<F: Field> {
    backend: Backend,
    streams: Vec<Prg>,
    pub(crate) key: MacKey<F>,
}

impl CopeSender {
    /// *Initialize*, from both messages of the OTs for each digit.
    pub(crate) fn new(backend: Backend, seeds: [&[Block]; 2]) -> CopeSender {
        let pairs = seeds[0].iter().zip(seeds[1]);
        let streams = pairs.map(|(&zero, &one)| [zero, one].map(|seed| Prg::new(backend, seed))).collect();
        CopeSender { backend, streams }
    }

    /// *Extend*: appends the message for these elements, and has `t` in the place of `out`.
    pub(crate) fn extend<F: Field>(&mut self, x: &[F], out: &mut [F], message: &mut Vec<u8>) {
        message.reserve(message_bytes::<F>(x.len()));
        let mut rows = Zeroizing::new(vec![[F::ZERO; PIECE]; 2]);
        for (x, t) in x.chunks(PIECE).zip(out.chunks_mut(PIECE)) {
            t.fill(F::ZERO);
            let [zero, one] = rows.as_mut_slice() else { unreachable!("two rows") };
            let (zero, one) = (&mut zero[..x.len()], &mut one[..x.len()]);
            // From the highest digit on.
            for [stream, other] in self.streams.iter_mut().rev() {
                F::draw(stream, zero);
                F::draw(other, one);
                F::horner(self.backend, t, zero);
                for ((one, zero), x) in one.iter_mut().zip(&*zero).zip(x) {
                    *one = zero.minus(*one).plus(*x);
                }
                F::write(one, message);
            }
            t.iter_mut().for_each(|t| *t = F::ZERO.minus(*t));
        }
    }
}

impl<F: Field> CopeReceiver<F> {
    /// *Initialize*, from the chosen messages of the OTs.
    pub(crate) fn new(backend: Backend, seeds: &[Block], key: MacKey<F>) -> CopeReceiver<F> {
        CopeReceiver { backend, streams: seeds.iter().map(|&seed| Prg::new(backend, seed)).collect(), key }
    }

    /// *Extend*: `q` in the place of `out`, for the peer's message.
    pub(crate) fn extend(&mut self, message: &[u8], out: &mut [F]) -> Result<()> {
        let mut rows = Zeroizing::new(vec![[F::ZERO; PIECE]; 2]);
        let key = self.key.element();
        let mut rest = message;
        for q in out.chunks_mut(PIECE) {
            q.fill(F::ZERO);
            let [own, heard] = rows.as_mut_slice() else { unreachable!("two rows") };
            let (own, heard) = (&mut own[..q.len()], &mut heard[..q.len()]);
            for (digit, stream) in self.streams.iter_mut().enumerate().rev() {
                let row;
                (row, rest) = rest.split_at(q.len() * F::BYTES);
                F::draw(stream, own);
                F::read(row, heard)?;
                F::add_masked(key.bit(digit), heard, own);
                F::horner(self.backend, q, own);
            }
        }
        Ok(())
    }
}

/// Bytes of the message for `elements` elements.
pub(crate) fn message_bytes<F: Field>(elements: usize) -> usize {
    elements * F::BITS * F::BYTES
}
