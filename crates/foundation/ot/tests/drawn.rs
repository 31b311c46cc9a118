//! What is drawn is drawn: two runs of one session are held against each other. And no hash is taken of one
//! tweak twice.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, SessionId};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::softspoken::Checking;
use comity_ot::{
    AtLeast, CotReceiver, CotSender, HashedReceiver, HashedSender, Malicious, RandomReceiver, RandomSender, SemiHonest,
    committing, iknp, silent, softspoken,
};
use comity_testing::Pair;
use comity_testing::laws::{assert_fresh, said_by_two};

const SESSION: SessionId = SessionId::new([9; 32]);
const DELTA: Block = Block::from_u128(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0101);

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn choices() -> Bits {
    (0..300).map(|i| i % 3 == 0).collect()
}

/// What an extension says whose parties draw from generators of this seed.
fn said<S: CotSender, R: CotReceiver>(
    seed: u128,
    sender: impl FnOnce(&mut dyn Channel, &mut Prg) -> Result<S> + Send,
    receiver: impl FnOnce(&mut dyn Channel, &mut Prg) -> Result<R> + Send,
) -> Vec<Vec<u8>> {
    said_by_two(
        |ch| sender(ch, &mut rng(2 * seed))?.extend(ch, &mut [Block::ZERO; 300]),
        |ch| receiver(ch, &mut rng(2 * seed + 1))?.extend(ch, &choices(), &mut [Block::ZERO; 300]),
    )
}

fn checked_extensions_draw<M: Checking, B: BaseOt<Model: AtLeast<M>>>() {
    let backend = Backend::detect();
    // The mask of the check is the first tree's sum, so that its correction is zero.
    assert_fresh(usize::from(M::CHECKED), |seed| {
        said(
            seed,
            |ch, rng| softspoken::Sender::<M>::setup::<B>(ch, &SESSION, backend, 4, DELTA, rng),
            |ch, rng| softspoken::Receiver::<M>::setup::<B>(ch, &SESSION, backend, 4, rng),
        )
    });
    assert_fresh(0, |seed| {
        said(
            seed,
            |ch, rng| silent::Sender::<M>::setup::<B>(ch, &SESSION, backend, DELTA, rng),
            |ch, rng| silent::Receiver::<M>::setup::<B>(ch, &SESSION, backend, rng),
        )
    });
}

#[test]
fn extensions_say_nothing_twice() {
    let backend = Backend::detect();
    checked_extensions_draw::<SemiHonest, Simplest>();
    checked_extensions_draw::<Malicious, Csw>();
    assert_fresh(0, |seed| {
        said(
            seed,
            |ch, rng| iknp::Sender::setup::<Simplest>(ch, &SESSION, backend, DELTA, rng),
            |ch, rng| iknp::Receiver::setup::<Simplest>(ch, &SESSION, backend, rng),
        )
    });
}

#[test]
fn committing_ots_say_nothing_twice() {
    let backend = Backend::detect();
    let messages: Vec<[[u8; 16]; 2]> = (0..300u32).map(|i| [[i as u8; 16], [!i as u8; 16]]).collect();
    // As in a checked extension.
    assert_fresh(1, |seed| {
        said_by_two(
            |ch| {
                let mut ot = committing::Sender::setup::<Csw>(ch, &SESSION, backend, &mut rng(2 * seed))?;
                ot.send(ch, 16, &messages)?;
                Ok(())
            },
            |ch| {
                let mut ot = committing::Receiver::setup::<Csw>(ch, &SESSION, backend, &mut rng(2 * seed + 1))?;
                ot.receive(ch, 16, &choices()).map(drop)
            },
        )
    });
}

/// An extension whose every correlation is the same: what the hash makes of it differs by its tweak alone.
struct Same;

impl CotSender for Same {
    type Model = Malicious;

    fn delta(&self) -> Block {
        DELTA
    }

    fn backend(&self) -> Backend {
        Backend::detect()
    }

    fn extend_each(
        &mut self,
        _: &mut dyn Channel,
        _: bool,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) -> Result<()> {
        each(0, &mut vec![Block::from_u128(5); n]);
        Ok(())
    }
}

impl CotReceiver for Same {
    type Model = Malicious;

    fn backend(&self) -> Backend {
        Backend::detect()
    }

    fn extend_each(
        &mut self,
        _: &mut dyn Channel,
        _: Option<&Bits>,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) -> Result<Bits> {
        each(0, &mut vec![Block::from_u128(5); n]);
        Ok(Bits::zeros(n))
    }
}

/// In the malicious model no tweak comes twice under one delta: neither in a call nor in the next one.
#[test]
fn a_tweak_comes_once() {
    let (sent, got) = Pair::run(
        |ch| {
            let (mut sender, mut pairs) = (HashedSender::new(Same), [[Block::ZERO; 2]; 20]);
            sender.random(ch, &mut pairs[..10]).unwrap();
            sender.sender_random(ch, &mut pairs[10..]).unwrap();
            pairs.as_flattened().to_vec()
        },
        |ch| {
            let (mut receiver, mut chosen) = (HashedReceiver::new(Same), [Block::ZERO; 20]);
            receiver.random(ch, &mut chosen[..10]).unwrap();
            receiver.sender_random(ch, &Bits::zeros(10), &mut chosen[10..]).unwrap();
            chosen.to_vec()
        },
    );
    for mut blocks in [sent, got] {
        let all = blocks.len();
        blocks.sort_by_key(|block| block.to_u128());
        blocks.dedup();
        assert_eq!(blocks.len(), all, "messages that differ");
    }
}
