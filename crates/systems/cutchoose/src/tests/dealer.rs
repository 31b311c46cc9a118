//! Ideal random OTs in the place of the extension, so that a run costs a hundredth: for tests that need thousands.

use comity_channel::Channel;
use comity_core::{Bits, Result};
use comity_garble::lockstep::CopyChoice;
use comity_protocol::Here;
use comity_testing::ot::DealtOts;
use rand_core::CryptoRng;

use crate::transfer::{Ots, ReceiverOts, SenderOts};

/// A source of OTs that are dealt.
pub(super) struct Dealt;

impl Ots for Dealt {
    fn send(
        &self,
        ch: &mut dyn Channel,
        here: Here,
        copies: usize,
        inputs: usize,
        _: &mut dyn CryptoRng,
    ) -> Result<SenderOts> {
        SenderOts::draw(&mut DealtOts::of(&here.session), ch, copies, inputs)
    }

    fn receive(
        &self,
        ch: &mut dyn Channel,
        here: Here,
        choice: &CopyChoice,
        encoded: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverOts> {
        ReceiverOts::draw(&mut DealtOts::of(&here.session), ch, choice, encoded, rng)
    }
}
