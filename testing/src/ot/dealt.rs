//! OTs that a trusted party deals to both, from the session alone: nothing is sent, and no group operation is done.

use comity_channel::{Channel, Result};
use comity_core::{Backend, Bits, Block, Prg, SessionId};
use comity_ot::base::BaseOt;
use comity_ot::{Malicious, RandomReceiver, RandomSender, ReceiverSeeds, SenderSeeds};
use rand_core::CryptoRng;

/// Random OTs from a trusted dealer. Sender and receiver of a session each have one, and make the same calls.
pub struct DealtOts(Prg);

impl DealtOts {
    /// The dealer of a session.
    pub fn of(session: &SessionId) -> DealtOts {
        DealtOts(Prg::new(Backend::detect(), session.block("dealt")))
    }

    fn pair(&mut self) -> [Block; 2] {
        [self.0.block(), self.0.block()]
    }
}

impl RandomSender for DealtOts {
    type Model = Malicious;

    fn sender_random(&mut self, _: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        out.fill_with(|| self.pair());
        Ok(())
    }

    fn random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        RandomSender::sender_random(self, ch, out)
    }
}

impl RandomReceiver for DealtOts {
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

/// Base OTs from a trusted dealer: for protocols above them that are tested in many runs, in which real ones
/// would take most of the time.
pub enum DealtBaseOts {}

impl BaseOt for DealtBaseOts {
    type Model = Malicious;

    fn send(
        ch: &mut dyn Channel,
        session: &SessionId,
        n: usize,
        _: &mut dyn CryptoRng,
    ) -> Result<SenderSeeds<Malicious>> {
        SenderSeeds::draw(&mut DealtOts::of(session), ch, &mut [], n)
    }

    fn receive(
        ch: &mut dyn Channel,
        session: &SessionId,
        choices: &Bits,
        _: &mut dyn CryptoRng,
    ) -> Result<ReceiverSeeds<Malicious>> {
        ReceiverSeeds::draw(&mut DealtOts::of(session), ch, &Bits::zeros(0), &mut [], choices.clone())
    }
}
