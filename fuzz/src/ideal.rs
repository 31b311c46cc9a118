//! Base OTs without a message: what stands below an extension is not what is fuzzed there, and takes most of its time.

use comity_channel::{Channel, Result};
use comity_core::{Bits, Block, SessionId};
use comity_ot::base::BaseOt;
use comity_ot::{Malicious, RandomReceiver, RandomSender, ReceiverSeeds, SenderSeeds};
use rand_core::CryptoRng;

/// A trusted party who gives the same messages in every run.
pub(crate) enum Ideal {}

/// The messages of the OTs from the first one on.
fn pairs() -> impl Iterator<Item = [Block; 2]> {
    (0..).map(|i| [2 * i, 2 * i + 1].map(|seed| Block::from_u128(0x9e37_79b9_7f4a_7c15_u128.wrapping_mul(seed + 1))))
}

/// One of the two that the trusted party serves.
struct Served;

impl RandomSender for Served {
    type Model = Malicious;

    fn sender_random(&mut self, _: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        out.iter_mut().zip(pairs()).for_each(|(out, pair)| *out = pair);
        Ok(())
    }

    fn random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        RandomSender::sender_random(self, ch, out)
    }
}

impl RandomReceiver for Served {
    type Model = Malicious;

    fn sender_random(&mut self, _: &mut dyn Channel, choices: &Bits, out: &mut [Block]) -> Result<()> {
        let chosen = pairs().zip(choices.iter()).map(|(pair, choice)| pair[usize::from(choice)]);
        out.iter_mut().zip(chosen).for_each(|(out, chosen)| *out = chosen);
        Ok(())
    }

    fn random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<Bits> {
        let choices = (0..out.len()).map(|i| i % 3 == 0).collect();
        RandomReceiver::sender_random(self, ch, &choices, out).map(|()| choices)
    }
}

impl BaseOt for Ideal {
    type Model = Malicious;

    fn send(ch: &mut dyn Channel, _: &SessionId, n: usize, _: &mut dyn CryptoRng) -> Result<SenderSeeds<Malicious>> {
        SenderSeeds::draw(&mut Served, ch, &mut [], n)
    }

    fn receive(
        ch: &mut dyn Channel,
        _: &SessionId,
        choices: &Bits,
        _: &mut dyn CryptoRng,
    ) -> Result<ReceiverSeeds<Malicious>> {
        ReceiverSeeds::draw(&mut Served, ch, &Bits::zeros(0), &mut [], choices.clone())
    }
}
