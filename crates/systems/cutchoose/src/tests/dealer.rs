//! Ideal random OTs in the place of the extension, so that a run costs a hundredth: for tests that need thousands.

use std::cell::Cell;

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, SessionId};
use comity_ot::{Malicious, RandomReceiver, RandomSender};

thread_local! {
    static DEALING: Cell<bool> = const { Cell::new(false) };
}

/// Gives both parties of a session the same messages.
pub(crate) struct Dealer(Prg);

impl Dealer {
    /// From now on the party on this thread has its OTs dealt.
    pub(super) fn deal() {
        DEALING.set(true);
    }

    /// The dealer of a session, if OTs are dealt on this thread.
    pub(crate) fn of(session: &SessionId) -> Option<Dealer> {
        DEALING.get().then(|| Dealer(Prg::new(Backend::detect(), session.block("dealt"))))
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
