//! Messages and findings of the steps that [`Act`](crate::conduct::Act) shows.

use comity_channel::Channel;
use comity_core::{Bits, Block, Result};
use subtle::{Choice as Bit, ConstantTimeEq};
use zeroize::Zeroize;

/// The sums of step 4 that the garbler answers a challenge with ([`consistency`](crate::consistency)).
#[derive(Clone, Copy, Default, Zeroize)]
pub(crate) struct Answer {
    /// The sum over the labels.
    pub(crate) labels: Block,
    /// The sum over the permute bits.
    pub(crate) bits: Block,
    /// The sum over the rows `R`.
    pub(crate) r: Block,
}

impl Answer {
    const BYTES: usize = 3 * Block::BYTES;

    /// The bytes of the message.
    pub(crate) fn to_bytes(self) -> [u8; Answer::BYTES] {
        let mut bytes = [0; Answer::BYTES];
        bytes.copy_from_slice(Block::bytes_of(&[self.labels, self.bits, self.r]));
        bytes
    }

    /// Receives the message.
    pub(crate) fn receive(ch: &mut dyn Channel) -> Result<Answer> {
        let mut answer = [Block::ZERO; 3];
        ch.recv(Block::bytes_of_mut(&mut answer))?;
        let [labels, bits, r] = answer;
        Ok(Answer { labels, bits, r })
    }

    /// Whether two answers are equal, in constant time.
    pub(crate) fn equals(&self, other: &Answer) -> Bit {
        self.labels.ct_eq(&other.labels) & self.bits.ct_eq(&other.bits) & self.r.ct_eq(&other.r)
    }
}

/// The outputs as step 6 finds them ([`outputs`](crate::outputs)).
pub(crate) struct Decoded {
    /// The bits that the evaluated copies agree on, where they do.
    pub(crate) bits: Bits,
    /// `Omega`: `Delta` if copies disagree, else random.
    pub(crate) omega: Block,
    /// Whether no evaluated copy is valid everywhere.
    pub(crate) invalid: Bit,
    /// Whether copies disagree, so that the input is to be recovered.
    pub(crate) disagree: Bit,
    /// Whether copies give several `Delta`, so that nothing can be recovered.
    pub(crate) ambiguous: Bit,
}
