//! A chunk of OTs both ways, step by step, for a party that must show several peers that it chose alike
//! towards all of them.
//!
//! Choice bits are given whole: those of the OTs, of the padding and of the mask. The challenge is given too.
//! So one string of choice bits under one challenge has one hash, the first part of the [`Answer`], whoever
//! it is shown to; and a peer that hears the same hash from two parties, each of which has checked it against
//! its own rows, knows that the bits were the same.
//!
//! The steps are in this order, and any other is refused or panics. [`TwoWay::offer`]: corrections, which are
//! exchanged. A challenge that nobody foresaw before both had the other's corrections. [`TwoWay::answer`],
//! which is exchanged. [`TwoWay::accept`].

use comity_core::{Bits, Block, Result};

use super::matrix::{pieces, width};
use super::{Answer, Challenge, Hashes, ROWS, TwoWay};
use crate::model::Malicious;

impl TwoWay {
    /// The most OTs of a chunk that is made step by step: it takes one coin and four messages, and the rows
    /// that wait for the coin take 4 MiB.
    pub const LONGEST: usize = (1 << 18) - 128;

    /// The number of choice bits of a chunk of `n` OTs, with those of the padding and of the mask.
    pub const fn choices(n: usize) -> usize {
        128 * (n.div_ceil(128) + 1)
    }

    /// The number of bytes of the corrections of a chunk of `n` OTs, of either party.
    pub fn corrections(&self, n: usize) -> usize {
        self.receiver.matrix.shape.trees() * width::<Malicious>(n) * Block::BYTES
    }

    /// Begins a chunk of `macs.len()` OTs each way, in which this party has these choice bits: `macs` get its
    /// `t_j`, with the choice bit as bit 0, and `out` gets the corrections for the peer. The last 128 choice
    /// bits are the mask: random, and used for nothing else.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) after an earlier error, or in the middle of another chunk.
    ///
    /// # Panics
    /// If the number of choice bits is not [that of the chunk](TwoWay::choices), or there are more OTs than
    /// the [longest](TwoWay::LONGEST) chunk has.
    pub fn offer(&mut self, choices: &Bits, macs: &mut [Block], out: &mut Vec<u8>) -> Result<()> {
        let n = macs.len();
        assert!(n <= TwoWay::LONGEST, "{n} OTs in a chunk");
        assert_eq!(choices.len(), TwoWay::choices(n), "choice bits of {n} OTs with padding and mask");
        let bytes = self.corrections(n);
        let TwoWay { sender, receiver, .. } = self;
        receiver.matrix.begin()?;
        sender.matrix.begin()?;
        receiver.make_room(n);
        out.clear();
        // With room for a digest beside it.
        out.reserve_exact(bytes + 32);
        for piece in pieces::<Malicious>(n) {
            out.extend_from_slice(Block::bytes_of(receiver.correct(0, piece, choices.len(), Some(choices.words()))));
            receiver.swap_first_row(piece);
            let (first, macs) = piece.of(0, macs);
            receiver.matrix.columns_to(0, piece, first, macs);
            receiver.swap_first_row(piece);
        }
        Ok(())
    }

    /// The answer for a chunk of `n` OTs that was begun.
    pub fn answer(&mut self, n: usize, challenge: &Challenge) -> Answer {
        self.receiver.answer(0, n, challenge)
    }

    /// Ends a chunk with the peer's `corrections`, and its `answer` to the same challenge: `keys` get this
    /// party's `q_j`.
    ///
    /// # Errors
    /// [`InconsistentChoices`](crate::checks::INCONSISTENT_CHOICES) if the answer is wrong. The content of
    /// `keys` must then not be used.
    ///
    /// # Panics
    /// If the corrections do not have the [length](TwoWay::corrections) for this number of OTs.
    pub fn accept(
        &mut self,
        challenge: &Challenge,
        corrections: &[u8],
        answer: &Answer,
        keys: &mut [Block],
    ) -> Result<()> {
        let n = keys.len();
        assert_eq!(corrections.len(), self.corrections(n), "corrections of {n} OTs");
        let TwoWay { sender, receiver, .. } = self;
        sender.matrix.challenge::<Malicious>(n, challenge);
        let mut hashes = Hashes::new([Block::ZERO; ROWS]);
        let mut rest = corrections;
        for piece in pieces::<Malicious>(n) {
            let wire = Block::bytes_of_mut(sender.matrix.wire(piece, 0));
            let (now, later) = rest.split_at(wire.len());
            rest = later;
            wire.copy_from_slice(now);
            sender.take_in(piece, 0, &mut hashes);
            sender.matrix.row(piece.alone(), 0).fill(Block::ZERO);
            let (first, keys) = piece.of(0, keys);
            sender.matrix.columns_to(0, piece.alone(), first, keys);
        }
        sender.check(challenge, &mut hashes, answer)?;
        receiver.matrix.end();
        sender.matrix.end();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use comity_channel::{Channel, MemoryChannel};
    use comity_core::{Backend, PartyId, Prg, SessionId};
    use comity_testing::Pair;

    use super::*;
    use crate::base::Csw;
    use crate::checks;

    const CHALLENGE: [u8; 16] = [0x3c; 16];

    /// A chunk of `n` OTs between party 0 and 1, the second of which has other choice bits towards itself
    /// than it answers for.
    fn chunk(ch: &mut dyn Channel, party: u8, n: usize, lie: bool) -> (Bits, Vec<Block>, Result<Vec<Block>>) {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(party.into()));
        let delta = prg.block().with_lsb(true);
        let me = PartyId(party.into());
        let sessions = [me, me.other()].map(|party| SessionId::new([party.0 as u8; 32]));
        let mut both =
            TwoWay::setup::<Csw>(ch, [&sessions[0], &sessions[1]], Backend::detect(), 4, delta, party == 1, &mut prg)
                .unwrap();
        let mut bytes = vec![0; TwoWay::choices(n) / 8];
        prg.fill(&mut bytes);
        let choices = Bits::from_bytes(&bytes, TwoWay::choices(n));
        let (mut macs, mut out) = (vec![Block::ZERO; n], Vec::new());
        both.offer(&choices, &mut macs, &mut out).unwrap();
        assert_eq!(out.len(), both.corrections(n));
        // One correction of one OT: the choice bit of one tree.
        out[17] ^= u8::from(lie);
        let mut theirs = vec![0; out.len()];
        ch.exchange(&out, &mut theirs).unwrap();
        let challenge = Challenge::from_bytes(CHALLENGE);
        let mut answer = vec![0; Answer::BYTES];
        ch.exchange(&both.answer(n, &challenge).to_bytes(), &mut answer).unwrap();
        let mut keys = vec![delta; n + 1];
        let accepted = both.accept(&challenge, &theirs, &Answer::from_bytes(&answer).unwrap(), &mut keys[..n]);
        if accepted.is_err() {
            assert!(both.offer(&choices, &mut macs, &mut out).is_err(), "it refuses to go on");
        }
        (choices, macs, accepted.map(|()| keys))
    }

    #[test]
    fn given_choices_are_the_bits_of_the_macs() {
        for n in [1, 128, 300, 128 * 129] {
            let party = |party| move |ch: &mut MemoryChannel| chunk(ch, party, n, false);
            let (a, b) = Pair::run(party(0), party(1));
            for (own, other) in [(&a, &b), (&b, &a)] {
                let keys = other.2.as_ref().unwrap();
                for ((bit, &mac), &key) in own.0.iter().zip(&own.1).zip(keys) {
                    assert!(mac == key ^ keys[n].masked(bit) && mac.lsb() == bit);
                }
            }
        }
    }

    #[test]
    fn another_choice_in_one_tree_is_named() {
        let (a, b) = Pair::run(|ch| chunk(ch, 0, 300, false), |ch| chunk(ch, 1, 300, true));
        assert!(a.2.is_err_and(|error| error.check() == Some(checks::INCONSISTENT_CHOICES)));
        assert!(b.2.is_ok());
    }
}
