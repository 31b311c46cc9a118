//! Two extensions between the same parties, one each way, that advance in step: shared bits with MACs want both, and
//! neither party then waits for the other to be done with its own.
//!
//! **Set-up.** Base OTs, which are operations of a group, run for one of the two extensions only. Its first
//! 128 OTs, for which the receiver gives the bits of its own delta as choices, are the base OTs of the other
//! extension once they are hashed (Wang, Malozemoff, Katz, Eurocrypt 2017, section 4.2, has the like). They
//! are a chunk of their own, which is checked before anything is made of them. The hash is [`GateHash`],
//! whose keys start from the session of the first extension and which serves for nothing else, so that it
//! makes no difference where else either delta is used.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, GateHash, Result, SessionId};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::matrix::{pieces, width};
use super::{Challenge, Checking, Hashes, ROWS, Receiver, Sender, Shape, Trees};
use crate::base::BaseOt;
use crate::cot::{CotReceiver, CotSender};
use crate::model::{AtLeast, Malicious};
use crate::seeds::{ReceiverSeeds, SenderSeeds};
use crate::stream::grown;

/// A party's side of both extensions: sender under its own delta, receiver under the peer's.
///
/// Choice bits are random. Bit 0 of either delta must be one: then bit 0 of a MAC is its choice bit, and bit
/// 0 of a key is zero.
///
/// After an error it refuses to go on.
pub struct TwoWay {
    pub(super) sender: Sender<Malicious>,
    pub(super) receiver: Receiver<Malicious>,
    /// The corrections of a chunk, this party's and the peer's.
    corrections: [Vec<Block>; 2],
}

impl TwoWay {
    /// The most OTs each way that are made as one chunk: three exchanges, one of them large.
    pub const CHUNK: usize = <Malicious as Checking>::CHUNK;

    /// Sets up both ways with trees of `k` levels. `own` is the session of the extension under this party's
    /// `delta`, `theirs` that under the peer's. Base OTs of this kind run for the extension under the delta
    /// of the party that is `first`; exactly one of the two is.
    ///
    /// # Errors
    /// As [`Sender::setup`] and [`Receiver::setup`], and those of a first chunk of OTs;
    /// [`InvalidInput`](comity_core::Kind) if bit 0 of delta is zero.
    pub fn setup<B: BaseOt<Model: AtLeast<Malicious>>>(
        ch: &mut dyn Channel,
        [own, theirs]: [&SessionId; 2],
        backend: Backend,
        k: usize,
        delta: Block,
        first: bool,
        rng: &mut dyn CryptoRng,
    ) -> Result<TwoWay> {
        let shape = Shape::new(k)?;
        if !delta.lsb() {
            return Err(Error::invalid_input("bit 0 of a delta that goes both ways must be one"));
        }
        let mut seeds = Zeroizing::new([Block::ZERO; ROWS]);
        let (sender, receiver);
        if first {
            let mut sending = Sender::setup::<B>(ch, own, backend, k, delta, rng)?;
            CotSender::extend(&mut sending, ch, &mut *seeds)?;
            let mut other = Zeroizing::new(seeds.map(|seed| seed ^ delta));
            GateHash::new(backend, start(own)).pairs(&mut *seeds, &mut *other);
            let pairs = seeds.iter().zip(&*other).map(|(&zero, &one)| [zero, one]).collect();
            let (receiving, trees) = Receiver::new(theirs, backend, k, SenderSeeds::new(pairs))?;
            ch.send(trees.as_bytes())?;
            ch.flush()?;
            (sender, receiver) = (sending, receiving);
        } else {
            let mut receiving = Receiver::setup::<B>(ch, theirs, backend, k, rng)?;
            let choices = Bits::from_bytes(&*Zeroizing::new(delta.to_bytes()), ROWS);
            CotReceiver::extend(&mut receiving, ch, &choices, &mut *seeds)?;
            GateHash::new(backend, start(theirs)).each(&mut *seeds);
            let chosen = ReceiverSeeds::new(choices, seeds.to_vec());
            let mut bytes = vec![0; Trees::len::<Malicious>(shape)];
            ch.recv(&mut bytes)?;
            sender = Sender::new(own, backend, k, chosen, &Trees::from_bytes::<Malicious>(&bytes, k)?, rng)?;
            receiver = receiving;
        }
        Ok(TwoWay { sender, receiver, corrections: Default::default() })
    }

    /// The sender's and the receiver's side, for OTs in one direction.
    pub fn sides(&mut self) -> (&mut Sender<Malicious>, &mut Receiver<Malicious>) {
        (&mut self.sender, &mut self.receiver)
    }

    /// The next `macs.len()` OTs each way: `macs` get this party's `t_j`, with its choice bit as bit 0, and
    /// `keys` its `q_j`.
    ///
    /// # Errors
    /// As [`Sender`]'s and [`Receiver`]'s. The content of `macs` and `keys` must then not be used.
    ///
    /// # Panics
    /// If there are not as many `keys` as `macs`.
    pub fn extend(&mut self, ch: &mut dyn Channel, macs: &mut [Block], keys: &mut [Block]) -> Result<()> {
        assert_eq!(macs.len(), keys.len(), "as many OTs each way");
        for (macs, keys) in macs.chunks_mut(TwoWay::CHUNK).zip(keys.chunks_mut(TwoWay::CHUNK)) {
            self.extend_together(ch, &mut [[macs, keys]])?;
        }
        Ok(())
    }

    /// As [`TwoWay::extend`] for several pairs of `macs` and `keys`, all in one chunk: it takes no more
    /// rounds than one pair. The rows that wait for the challenge take 16 bytes an OT.
    ///
    /// # Errors
    /// As [`TwoWay::extend`].
    ///
    /// # Panics
    /// If there are not as many `keys` as `macs` in each pair, or in all, each rounded to whole blocks of
    /// 128, more than the [longest](TwoWay::LONGEST) chunk has.
    pub fn extend_together(&mut self, ch: &mut dyn Channel, pairs: &mut [[&mut [Block]; 2]]) -> Result<()> {
        assert!(pairs.iter().all(|[macs, keys]| macs.len() == keys.len()), "as many OTs each way");
        let blocks = |pair: &[&mut [Block]; 2]| pair[0].len().div_ceil(128);
        let n = 128 * pairs.iter().map(blocks).sum::<usize>();
        assert!(n <= TwoWay::LONGEST, "{n} OTs in a chunk");
        let TwoWay { sender, receiver, corrections: [out, into] } = self;
        receiver.matrix.begin()?;
        sender.matrix.begin()?;
        receiver.make_room(n);
        // With random choice bits nothing is sent for the first tree.
        let rows = receiver.matrix.shape.trees() - 1;
        let size = rows * width::<Malicious>(n);
        let (out, into) = (grown(out, size), grown(into, size));
        let mut rest = &mut *out;
        for piece in pieces::<Malicious>(n) {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(rows * piece.width);
            now.copy_from_slice(receiver.correct(0, piece, n, None));
            rest = later;
            receiver.swap_first_row(piece);
            let mut start = 0;
            for pair in &mut *pairs {
                let (first, macs) = piece.of(start, pair[0]);
                receiver.matrix.columns_to(0, piece, first, macs);
                start += blocks(pair);
            }
            receiver.swap_first_row(piece);
        }
        ch.exchange(Block::bytes_of(out), Block::bytes_of_mut(into))?;
        // Drawn before, and shown when the peer's corrections are here.
        let challenge = sender.draw(n);
        let mut theirs = [0; Challenge::BYTES];
        ch.exchange(&challenge.to_bytes(), &mut theirs)?;
        let answer = receiver.answer(0, n, &Challenge::from_bytes(theirs)).to_bytes();
        ch.send(&answer)?;
        ch.flush()?;
        // While the answers are under way.
        let mut hashes = Hashes::new([Block::ZERO; ROWS]);
        let mut rest = &*into;
        for piece in pieces::<Malicious>(n) {
            let (now, later) = rest.split_at(rows * piece.width);
            rest = later;
            sender.matrix.wire(piece, 1).copy_from_slice(now);
            sender.take_in(piece, 1, &mut hashes);
            sender.matrix.row(piece.alone(), 0).fill(Block::ZERO);
            let mut start = 0;
            for pair in &mut *pairs {
                let (first, keys) = piece.of(start, pair[1]);
                sender.matrix.columns_to(0, piece.alone(), first, keys);
                start += blocks(pair);
            }
        }
        sender.settle(ch, &challenge, hashes)?;
        receiver.matrix.end();
        sender.matrix.end();
        Ok(())
    }
}

/// The start of the keys that hash the first OTs of an extension.
fn start(session: &SessionId) -> Block {
    session.block("start of the hash keys of the seeds of the other way")
}

#[cfg(test)]
mod tests {
    use comity_channel::{Change, Counted, Direction, MemoryChannel, Tamper, Tampering};
    use comity_core::{Kind, PartyId, Prg};
    use comity_testing::{Pair, assert_waits};

    use super::*;
    use crate::base::Csw;
    use crate::checks;

    fn setup(ch: &mut dyn Channel, party: u8, delta: Block) -> Result<TwoWay> {
        let me = PartyId(party.into());
        let sessions = [me, me.other()].map(|party| SessionId::new([party.0 as u8; 32]));
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(party.into()));
        TwoWay::setup::<Csw>(ch, [&sessions[0], &sessions[1]], Backend::detect(), 4, delta, party == 0, &mut rng)
    }

    /// Bytes of the corrections of the first chunk, and of an answer.
    const FIRST: usize = 32 * 16 * 2;
    const ANSWER: usize = 16 + 32;

    /// Bits are set in every tree.
    const DELTAS: [Block; 2] = [Block::from_u128(u128::MAX / 3), Block::from_u128(u128::MAX / 5)];

    #[test]
    fn macs_are_keys_plus_bits_of_delta() {
        // Nothing, less than a block, whole pieces and not, and more than a chunk.
        let sizes = [0, 1, 127, 128, 300, 128 * 127, 128 * 128 + 1, TwoWay::CHUNK + 129];
        let party = |party: u8| {
            move |ch: &mut MemoryChannel| {
                let mut both = setup(ch, party, DELTAS[usize::from(party)]).unwrap();
                sizes.map(|n| {
                    let (mut macs, mut keys) = (vec![Block::ZERO; n], vec![Block::ZERO; n]);
                    both.extend(ch, &mut macs, &mut keys).unwrap();
                    (macs, keys)
                })
            }
        };
        let (a, b) = Pair::run(party(0), party(1));
        for ((a, b), n) in a.iter().zip(&b).zip(sizes) {
            for (macs, keys, delta) in [(&a.0, &b.1, DELTAS[1]), (&b.0, &a.1, DELTAS[0])] {
                assert!(macs.iter().zip(keys).all(|(&mac, &key)| !key.lsb() && mac == key ^ delta.masked(mac.lsb())));
                let ones = macs.iter().filter(|mac| mac.lsb()).count();
                assert!(n < 100 || (n / 4..n * 3 / 4).contains(&ones), "{ones} ones of {n}");
            }
        }
    }

    /// Pairs of `macs` and `keys` of these lengths, made in one chunk after a first one; how often this party
    /// waited for it.
    fn together(ch: &mut dyn Channel, party: u8, lengths: &[usize]) -> Result<(Vec<[Vec<Block>; 2]>, u64)> {
        let mut ch = Counted::new(ch);
        let counter = ch.counter();
        let mut both = setup(&mut ch, party, DELTAS[usize::from(party)])?;
        both.extend(&mut ch, &mut [Block::ZERO; 5], &mut [Block::ZERO; 5])?;
        let before = counter.counts().rounds;
        let mut blocks: Vec<_> = lengths.iter().map(|&n| [(); 2].map(|()| vec![Block::ZERO; n])).collect();
        let mut pairs: Vec<[&mut [Block]; 2]> =
            blocks.iter_mut().map(|pair| pair.each_mut().map(|blocks| &mut blocks[..])).collect();
        both.extend_together(&mut ch, &mut pairs)?;
        Ok((blocks, counter.counts().rounds - before))
    }

    #[test]
    fn pairs_are_made_together_in_one_chunk() {
        // Parts that end in the middle of a block, of a piece, and that have several pieces; more than a
        // usual chunk in all.
        for lengths in [&[][..], &[0, 1, 0, 129], &[32_640, 127, 128, 32_640, 16_000, 1]] {
            let (a, b) = Pair::run(|ch| together(ch, 0, lengths).unwrap(), |ch| together(ch, 1, lengths).unwrap());
            assert_eq!([a.1, b.1], [3; 2], "{lengths:?}");
            let mut seen = std::collections::HashSet::new();
            for ([a, b], n) in a.0.iter().zip(&b.0).map(|(a, b)| [a, b]).zip(lengths) {
                for (macs, keys, delta) in [(&a[0], &b[1], DELTAS[1]), (&b[0], &a[1], DELTAS[0])] {
                    assert_eq!([macs.len(), keys.len()], [*n; 2]);
                    let holds = |(&mac, &key): (&Block, &Block)| !key.lsb() && mac == key ^ delta.masked(mac.lsb());
                    assert!(macs.iter().zip(keys).all(holds), "{lengths:?}");
                    assert!(keys.iter().all(|&key| seen.insert(key.to_u128())), "OTs that were given twice");
                }
            }
        }
    }

    #[test]
    fn inconsistent_choices_are_named() {
        // What the first party hears before the corrections: offer, challenges, trees, and the first chunk.
        let before = 32 + (16 * ROWS + 32) + Trees::len::<Malicious>(Shape::new(4).unwrap()) + FIRST + ANSWER;
        let honest = |ch: &mut dyn Channel, party: u8| {
            let mut both = setup(ch, party, DELTAS[usize::from(party)]).unwrap();
            let (mut macs, mut keys) = (vec![Block::ZERO; 500], vec![Block::ZERO; 500]);
            let result = both.extend(ch, &mut macs, &mut keys);
            // After an error it refuses to go on.
            assert!(
                result.is_ok()
                    || matches!(both.extend(ch, &mut macs, &mut keys), Err(Error { kind: Kind::InvalidInput(_), .. }))
            );
            result
        };
        let lengths = [32_640, 300, 32_640, 200];
        let blocks: usize = lengths.iter().map(|n: &usize| n.div_ceil(128)).sum();
        // The last block but the mask is the last pair's, in the last piece.
        let of_last = 31 * 16 * (blocks + 1) - 2 * 16;
        let first = 31 * 16 * 2 + 16 + ANSWER;
        let change =
            Tamper { direction: Direction::Incoming, at: before + first + of_last, change: Change::Flip { bit: 3 } };
        let (a, _) = Pair::run(
            |ch| together(&mut Tampering::new(&mut *ch, &change), 0, &lengths).map(drop),
            |ch| together(ch, 1, &lengths).map(drop),
        );
        assert!(matches!(a, Err(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_CHOICES), .. })));
        for at in [0, 31 * 16 * 5 - 1] {
            let change = Tamper { direction: Direction::Incoming, at: before + at, change: Change::Flip { bit: 3 } };
            let (a, _) = Pair::run(|ch| honest(&mut Tampering::new(&mut *ch, &change), 0), |ch| honest(&mut *ch, 1));
            assert!(matches!(a, Err(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_CHOICES), .. })), "{at}");
        }
    }

    /// Of what both parties say alike, the part of either that must not be known before the other's last part
    /// is: what the other said could else depend on it.
    #[test]
    fn nothing_is_told_before_what_it_waits_for() {
        let party = |ch: &mut dyn Channel, party: u8| {
            let mut both = setup(ch, party, DELTAS[usize::from(party)])?;
            let mut blocks = [(); 2].map(|()| vec![Block::ZERO; TwoWay::CHUNK + 300]);
            let [macs, keys] = &mut blocks;
            both.extend(ch, macs, keys)
        };
        let trees = Trees::len::<Malicious>(Shape::new(4).unwrap());
        let corrections = |n: usize| 31 * 16 * width::<Malicious>(n);
        let (first, second) = (corrections(TwoWay::CHUNK), 16 + ANSWER + corrections(300));
        // The first party hears challenges of the base OTs, the first chunk with the trees, and an answer.
        let heard = [32 + 16 * ROWS + 32, trees + FIRST, ANSWER, first, second];
        let said = [32 + 32 * ROWS, 32, 16, trees + first, second];
        let messages = ["response", "challenge of the first chunk", "trees", "first challenge", "second challenge"];
        assert_waits(|ch| party(ch, 0), |ch| party(ch, 1), &sums(messages, heard, said));
        // The other one hears points, a response, and a challenge; it waits for the trees, though it need not.
        let heard = [32 + 32 * ROWS, 32, 16, trees + first, second];
        let said = [32, 16 * ROWS + 32, trees + FIRST, ANSWER + first, second];
        let messages = ["challenges", "trees", "answer of the first chunk", "first challenge", "second challenge"];
        assert_waits(|ch| party(ch, 1), |ch| party(ch, 0), &sums(messages, heard, said));
    }

    /// Messages, each with all that a party has heard and said before.
    fn sums<const N: usize>(
        messages: [&'static str; N],
        heard: [usize; N],
        said: [usize; N],
    ) -> Vec<(&'static str, usize, usize)> {
        let sum = |bytes: [usize; N], i: usize| bytes[..=i].iter().sum();
        messages.into_iter().enumerate().map(|(i, message)| (message, sum(heard, i), sum(said, i))).collect()
    }

    #[test]
    fn an_even_delta_is_refused() {
        let (a, _) = Pair::run(|ch| setup(ch, 0, Block::from_u128(2)).map(drop), |_| ());
        assert!(matches!(a, Err(Error { kind: Kind::InvalidInput(_), .. })));
    }
}
