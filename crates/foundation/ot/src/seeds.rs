//! The seeds that an extension starts from: random OTs, typed by the adversary that they withstand.
//!
//! They come from base OTs, or from an extension: some random OTs of a malicious extension are the base OTs of another
//! one in the other direction, and so a session needs only one run of base OTs (WMK17, section 4.2).

use std::marker::PhantomData;

use comity_channel::Channel;
use comity_core::{Bits, Block, Result};
use zeroize::Zeroizing;

use crate::model::{AtLeast, Model};
use crate::random::{RandomReceiver, RandomSender};

/// The sender's side of random OTs: both messages of each. Wiped on drop, and used once.
pub struct SenderSeeds<M: Model> {
    pairs: Zeroizing<Vec<[Block; 2]>>,
    model: PhantomData<M>,
}

/// The receiver's side of random OTs: its choice bits and the chosen message of each. Wiped on drop, and used once.
pub struct ReceiverSeeds<M: Model> {
    choices: Bits,
    chosen: Zeroizing<Vec<Block>>,
    model: PhantomData<M>,
}

impl<M: Model> SenderSeeds<M> {
    /// Seeds from the messages of random OTs that withstand `M`.
    pub(crate) fn new(pairs: Vec<[Block; 2]>) -> SenderSeeds<M> {
        SenderSeeds { pairs: Zeroizing::new(pairs), model: PhantomData }
    }

    /// The next `out.len() + count` OTs of an extension in one call: the first ones go to `out`, the others
    /// become seeds.
    ///
    /// # Errors
    /// Errors of the extension.
    pub fn draw(
        ot: &mut impl RandomSender<Model = M>,
        ch: &mut dyn Channel,
        out: &mut [[Block; 2]],
        count: usize,
    ) -> Result<SenderSeeds<M>> {
        let mut all = Zeroizing::new(vec![[Block::ZERO; 2]; out.len() + count]);
        ot.sender_random(ch, &mut all)?;
        out.copy_from_slice(&all[..out.len()]);
        Ok(SenderSeeds::new(all[out.len()..].to_vec()))
    }

    /// The number of OTs.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks for no seeds")]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// These seeds, for a protocol that withstands a weaker adversary.
    pub fn weaken<N: Model>(self) -> SenderSeeds<N>
    where
        M: AtLeast<N>,
    {
        SenderSeeds { pairs: self.pairs, model: PhantomData }
    }

    /// The messages.
    pub fn pairs(&self) -> &[[Block; 2]] {
        &self.pairs
    }
}

impl<M: Model> ReceiverSeeds<M> {
    /// Seeds from choice bits and the chosen messages of random OTs that withstand `M`.
    ///
    /// # Panics
    /// If there are more of the one than of the other.
    pub(crate) fn new(choices: Bits, chosen: Vec<Block>) -> ReceiverSeeds<M> {
        assert_eq!(choices.len(), chosen.len(), "a choice bit for each OT");
        ReceiverSeeds { choices, chosen: Zeroizing::new(chosen), model: PhantomData }
    }

    /// The next OTs of an extension in one call: the first ones, for `choices`, go to `out`; the others, with
    /// the choice bits `own`, become seeds.
    ///
    /// # Errors
    /// Errors of the extension.
    pub fn draw(
        ot: &mut impl RandomReceiver<Model = M>,
        ch: &mut dyn Channel,
        choices: &Bits,
        out: &mut [Block],
        own: Bits,
    ) -> Result<ReceiverSeeds<M>> {
        let mut bits = choices.clone();
        bits.extend_from(&own);
        let mut all = Zeroizing::new(vec![Block::ZERO; bits.len()]);
        ot.sender_random(ch, &bits, &mut all)?;
        out.copy_from_slice(&all[..out.len()]);
        Ok(ReceiverSeeds::new(own, all[out.len()..].to_vec()))
    }

    /// The number of OTs.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks for no seeds")]
    pub fn len(&self) -> usize {
        self.chosen.len()
    }

    /// These seeds, for a protocol that withstands a weaker adversary.
    pub fn weaken<N: Model>(self) -> ReceiverSeeds<N>
    where
        M: AtLeast<N>,
    {
        ReceiverSeeds { choices: self.choices, chosen: self.chosen, model: PhantomData }
    }

    /// The choice bits.
    pub fn choices(&self) -> &Bits {
        &self.choices
    }

    /// The chosen messages.
    pub fn chosen(&self) -> &[Block] {
        &self.chosen
    }
}
