//! Ideal random OTs in the place of the extension, so that a run costs a hundredth: for tests that need thousands.

use comity_channel::Channel;
use comity_core::{Bits, Block, Prg, Result};
use comity_garble::lockstep::CopyChoice;
use comity_ot::{Malicious, RandomReceiver, RandomSender};
use comity_protocol::Here;
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
        SenderOts::draw(&mut Dealer::of(here), ch, copies, inputs)
    }

    fn receive(
        &self,
        ch: &mut dyn Channel,
        here: Here,
        choice: &CopyChoice,
        encoded: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverOts> {
        ReceiverOts::draw(&mut Dealer::of(here), ch, choice, encoded, rng)
    }
}

/// A dealer: gives both parties of a session the same messages.
struct Dealer(Prg);

impl Dealer {
    fn of(here: Here) -> Dealer {
        Dealer(Prg::new(here.backend, here.session.block("dealt")))
    }

    fn pair(&mut self) -> [Block; 2] {
        [self.0.block(), self.0.block()]
    }
}

impl RandomSender for Dealer {
    type Model = Malicious;

    fn sender_random(&mut self, _: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        out.fill_with(|| self.pair());
        Ok(())
    }

    fn random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        RandomSender::sender_random(self, ch, out)
    }
}

impl RandomReceiver for Dealer {
    type Model = Malicious;

    fn sender_random(&mut self, _: &mut dyn Channel, choices: &Bits, out: &mut [Block]) -> Result<()> {
        for (out, choice) in out.iter_mut().zip(choices.iter()) {
            *out = self.pair()[usize::from(choice)];
        }
        Ok(())
    }

    fn random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<Bits> {
        let choices = out.iter().map(|_| self.0.block().lsb()).collect();
        RandomReceiver::sender_random(self, ch, &choices, out)?;
        Ok(choices)
    }
}
