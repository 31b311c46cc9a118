//! What a trusted party would do, and what it grants a corrupt one.

use comity_core::{Bits, Block, Prg};

/// Endemic random OT: both messages of each OT are uniform, except that a corrupt party chooses what it gets.
pub enum EndemicOt {}

impl EndemicOt {
    /// The receiver's output if a corrupt sender chooses both messages.
    pub fn corrupt_sender(choices: &Bits, pairs: &[[Block; 2]]) -> Vec<Block> {
        choices.iter().zip(pairs).map(|(bit, pair)| pair[usize::from(bit)]).collect()
    }

    /// The sender's output if a corrupt receiver chooses its messages: the others are uniform.
    pub fn corrupt_receiver(choices: &Bits, chosen: &[Block], rng: &mut Prg) -> Vec<[Block; 2]> {
        choices
            .iter()
            .zip(chosen)
            .map(|(bit, &chosen)| if bit { [rng.block(), chosen] } else { [chosen, rng.block()] })
            .collect()
    }
}

/// The functionality has stopped, since a guess was wrong. It gives no more outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// OT with a fixed correlation: `t = q ^ x delta`, uniform, except that a corrupt party chooses what it gets.
pub struct FixedDelta {
    delta: Block,
    stopped: bool,
}

impl FixedDelta {
    /// The functionality with the delta of an honest sender.
    pub fn new(delta: Block) -> FixedDelta {
        FixedDelta { delta, stopped: false }
    }

    /// The receiver's output if a corrupt sender chooses q.
    ///
    /// # Errors
    /// [`Stopped`] after a wrong guess.
    pub fn corrupt_sender(&self, choices: &Bits, q: &[Block]) -> Result<Vec<Block>, Stopped> {
        if self.stopped {
            return Err(Stopped);
        }
        Ok(choices.iter().zip(q).map(|(bit, &q)| q ^ self.delta.masked(bit)).collect())
    }

    /// The sender's output if a corrupt receiver chooses t.
    ///
    /// # Errors
    /// [`Stopped`] after a wrong guess.
    pub fn corrupt_receiver(&self, choices: &Bits, t: &[Block]) -> Result<Vec<Block>, Stopped> {
        self.corrupt_sender(choices, t)
    }

    /// The *selective leak*: a corrupt receiver guesses the bits of delta where `mask` is set. If the guess
    /// is wrong, everything stops; if it is right, the run goes on and nobody notices. So c bits are learned
    /// with probability 2^-c.
    ///
    /// # Errors
    /// [`Stopped`] if the guess is wrong, or an earlier one was.
    pub fn leak(&mut self, mask: Block, guess: Block) -> Result<(), Stopped> {
        self.stopped |= (self.delta ^ guess).to_u128() & mask.to_u128() != 0;
        if self.stopped { Err(Stopped) } else { Ok(()) }
    }

    /// The *global-key query*: a corrupt receiver may ask at any time whether delta has this value.
    pub fn is_delta(&self, guess: Block) -> bool {
        guess == self.delta
    }
}

/// Correlated OT, which is reactive: the first message of each OT is uniform; the sender sees it and chooses
/// the second. A corrupt sender may choose anything, anew for each OT.
pub struct CorrelatedOt {
    len: usize,
    zeros: Vec<u8>,
}

impl CorrelatedOt {
    /// A corrupt sender, or one whose output is known, chooses the first messages, each `len` bytes.
    pub fn corrupt_sender(len: usize, zeros: Vec<u8>) -> CorrelatedOt {
        CorrelatedOt { len, zeros }
    }

    /// The first messages, which the sender sees before it goes on.
    pub fn zeros(&self) -> &[u8] {
        &self.zeros
    }

    /// The sender chooses the second messages. Returns the receiver's output.
    pub fn correlate(self, ones: &[u8], choices: &Bits) -> Vec<u8> {
        ChosenOt::call(self.len, [&self.zeros, ones], choices)
    }
}

/// OT of chosen messages.
pub enum ChosenOt {}

impl ChosenOt {
    /// The receiver's output for messages of `len` bytes; those for each choice bit follow each other in one
    /// slice.
    pub fn call(len: usize, messages: [&[u8]; 2], choices: &Bits) -> Vec<u8> {
        let message = |(j, bit)| &messages[usize::from(bit)][len * j..len * (j + 1)];
        choices.iter().enumerate().flat_map(message).copied().collect()
    }
}

/// OT of chosen messages. The sender may open all messages, once.
pub struct CommittingOt {
    len: usize,
    messages: [Vec<u8>; 2],
}

impl CommittingOt {
    /// The functionality for messages of `len` bytes.
    pub fn new(len: usize) -> CommittingOt {
        CommittingOt { len, messages: [Vec::new(), Vec::new()] }
    }

    /// As [`ChosenOt::call`].
    pub fn call(&mut self, messages: [&[u8]; 2], choices: &Bits) -> Vec<u8> {
        self.messages.iter_mut().zip(messages).for_each(|(all, more)| all.extend_from_slice(more));
        ChosenOt::call(self.len, messages, choices)
    }

    /// The sender opens all messages. Returns what the receiver gets. No call follows.
    pub fn open(self) -> [Vec<u8>; 2] {
        self.messages
    }
}
