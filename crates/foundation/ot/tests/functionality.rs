//! Every extension and every flavour against the ideal functionalities, by one harness, over real base OTs.

use std::cell::RefCell;

use comity_channel::{Channel, MemoryChannel};
use comity_core::{Backend, Bits, Block, Params, Prg, Result, SessionId};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::softspoken::{self, Checking};
use comity_ot::{
    AtLeast, CotReceiver, CotSender, HashedReceiver, HashedSender, Malicious, RandomReceiver, RandomSender, SemiHonest,
    alsz, committing, flavour, iknp, one_of_n, silent,
};
use comity_testing::ot::{Choices, DeltaOt, EntryOt, MessageOt, OpenedOt, RandomOt, ReactiveOt, SIZES, holds};

const SESSION: SessionId = SessionId::new([0x66; 32]);
const DELTA: Block = Block::from_u128(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211);

/// Bytes of messages that the sender chooses: more than a block.
const LEN: usize = 20;

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

/// An extension with a fixed delta: that, and every flavour over its hash.
fn delta<S: CotSender, R: CotReceiver>(
    name: &str,
    sender: impl Fn(&mut MemoryChannel) -> Result<S> + Sync,
    receiver: impl Fn(&mut MemoryChannel) -> Result<R> + Sync,
) {
    correlated(name, Block::ZERO, &sender, &receiver);
    random(name, |ch| sender(ch).map(HashedSender::new), |ch| receiver(ch).map(HashedReceiver::new));
}

/// The correlation itself, where these bits of the sender's blocks may be fixed.
fn correlated<S: CotSender, R: CotReceiver>(
    name: &str,
    fixed: Block,
    sender: impl Fn(&mut MemoryChannel) -> Result<S> + Sync,
    receiver: impl Fn(&mut MemoryChannel) -> Result<R> + Sync,
) {
    holds(
        &format!("{name}: correlated"),
        DeltaOt::new(Choices::Given).with_fixed_bits(fixed),
        &SIZES,
        |ch, sizes| {
            let ot = &mut sender(ch)?;
            sizes.iter().map(|&n| filled(n, |q| ot.extend(ch, q)).map(|(q, ())| (ot.delta(), q))).collect()
        },
        |ch, choices| {
            let ot = &mut receiver(ch)?;
            let call = |c: &Bits| filled(c.len(), |t| ot.extend(ch, c, t)).map(|(t, ())| (c.clone(), t));
            choices.iter().map(call).collect()
        },
    );
    holds(
        &format!("{name}: correlated, random choice bits"),
        DeltaOt::new(Choices::Random).with_fixed_bits(fixed),
        &SIZES,
        |ch, sizes| {
            let ot = &mut sender(ch)?;
            sizes.iter().map(|&n| filled(n, |q| ot.extend_random(ch, q)).map(|(q, ())| (ot.delta(), q))).collect()
        },
        |ch, choices| {
            let ot = &mut receiver(ch)?;
            let call = |c: &Bits| filled(c.len(), |t| ot.extend_random(ch, t)).map(|(t, c)| (c, t));
            choices.iter().map(call).collect()
        },
    );
}

/// An extension with random messages: SR-OT, R-OT, and the flavours over these.
fn random<S: RandomSender, R: RandomReceiver>(
    name: &str,
    sender: impl Fn(&mut MemoryChannel) -> Result<S> + Sync,
    receiver: impl Fn(&mut MemoryChannel) -> Result<R> + Sync,
) {
    holds(
        &format!("{name}: SR-OT"),
        RandomOt(Choices::Given),
        &SIZES,
        |ch, sizes| {
            let ot = &mut sender(ch)?;
            sizes.iter().map(|&n| pairs(n, |out| ot.sender_random(ch, out))).collect()
        },
        |ch, choices| {
            let ot = &mut receiver(ch)?;
            let call = |c: &Bits| filled(c.len(), |out| ot.sender_random(ch, c, out)).map(|(out, ())| (c.clone(), out));
            choices.iter().map(call).collect()
        },
    );
    holds(
        &format!("{name}: R-OT"),
        RandomOt(Choices::Random),
        &SIZES,
        |ch, sizes| {
            let ot = &mut sender(ch)?;
            sizes.iter().map(|&n| pairs(n, |out| ot.random(ch, out))).collect()
        },
        |ch, choices| {
            let ot = &mut receiver(ch)?;
            choices.iter().map(|c| filled(c.len(), |out| ot.random(ch, out)).map(|(out, c)| (c, out))).collect()
        },
    );
    holds(
        &format!("{name}: C-OT"),
        ReactiveOt(LEN),
        &SIZES,
        |ch, inputs| {
            let ot = &mut sender(ch)?;
            let call = |input: &Vec<u8>| {
                let mut zeros = vec![0; input.len()];
                flavour::send_correlated(ot, ch, 8 * LEN, &mut zeros, |j, zero, one| {
                    ReactiveOt::correlate(&input[LEN * j..][..LEN], zero, one);
                })?;
                ch.flush()?;
                Ok(zeros)
            };
            inputs.iter().map(call).collect()
        },
        |ch, choices| {
            let ot = &mut receiver(ch)?;
            let call = |c: &Bits| {
                let mut out = vec![0; LEN * c.len()];
                flavour::receive_correlated(ot, ch, 8 * LEN, c, &mut out)?;
                Ok(out)
            };
            choices.iter().map(call).collect()
        },
    );
    holds(
        &format!("{name}: OT"),
        MessageOt(Choices::Given, LEN),
        &SIZES,
        |ch, inputs| {
            let ot = &mut sender(ch)?;
            let call = |[zeros, ones]: &[Vec<u8>; 2]| flavour::send(ot, ch, 8 * LEN, [zeros, ones]);
            inputs.iter().map(call).collect()
        },
        |ch, choices| {
            let ot = &mut receiver(ch)?;
            let call = |c: &Bits| {
                let mut out = vec![0; LEN * c.len()];
                flavour::receive(ot, ch, 8 * LEN, c, &mut out)?;
                Ok((c.clone(), out))
            };
            choices.iter().map(call).collect()
        },
    );
    holds(
        &format!("{name}: RR-OT"),
        MessageOt(Choices::Random, LEN),
        &SIZES,
        |ch, inputs| {
            let ot = &mut sender(ch)?;
            let call = |[zeros, ones]: &[Vec<u8>; 2]| flavour::send_to_random(ot, ch, 8 * LEN, [zeros, ones]);
            inputs.iter().map(call).collect()
        },
        |ch, choices| {
            let ot = &mut receiver(ch)?;
            let call = |c: &Bits| {
                let mut out = vec![0; LEN * c.len()];
                let choices = flavour::receive_random(ot, ch, 8 * LEN, c.len(), &mut out)?;
                Ok((choices, out))
            };
            choices.iter().map(call).collect()
        },
    );
}

/// `n` blocks that a call fills, and what it returns.
fn filled<T>(n: usize, call: impl FnOnce(&mut [Block]) -> Result<T>) -> Result<(Vec<Block>, T)> {
    let mut out = vec![Block::ZERO; n];
    let more = call(&mut out)?;
    Ok((out, more))
}

fn pairs(n: usize, call: impl FnOnce(&mut [[Block; 2]]) -> Result<()>) -> Result<Vec<[Block; 2]>> {
    let mut out = vec![[Block::ZERO; 2]; n];
    call(&mut out)?;
    Ok(out)
}

#[test]
fn iknp_realizes_every_flavour() {
    let backend = Backend::detect();
    delta(
        "IKNP",
        |ch| iknp::Sender::setup::<Simplest>(ch, &SESSION, backend, DELTA, &mut rng(1)),
        |ch| iknp::Receiver::setup::<Simplest>(ch, &SESSION, backend, &mut rng(2)),
    );
}

#[test]
fn alsz_realizes_every_flavour_of_random_ot() {
    let backend = Backend::detect();
    let parameters = alsz::Parameters::new(Params::default()).unwrap();
    random(
        "ALSZ",
        |ch| alsz::Sender::setup::<Csw>(ch, &SESSION, backend, parameters, &mut rng(1)),
        |ch| alsz::Receiver::setup::<Csw>(ch, &SESSION, backend, parameters, &mut rng(2)),
    );
}

fn softspoken<M: Checking, B: BaseOt<Model: AtLeast<M>>>() {
    let backend = Backend::detect();
    for k in 1..=8 {
        delta(
            &format!("SoftSpoken, {}, k = {k}", M::NAME),
            |ch| softspoken::Sender::<M>::setup::<B>(ch, &SESSION, backend, k, DELTA, &mut rng(1)),
            |ch| softspoken::Receiver::<M>::setup::<B>(ch, &SESSION, backend, k, &mut rng(2)),
        );
    }
}

#[test]
fn semi_honest_softspoken_realizes_every_flavour() {
    softspoken::<SemiHonest, Simplest>();
}

#[test]
fn malicious_softspoken_realizes_every_flavour() {
    softspoken::<Malicious, Csw>();
}

/// Bit 0 of the sender's blocks is left to the protocol above.
fn silent<M: Checking, B: BaseOt<Model: AtLeast<M>>>() {
    let backend = Backend::detect();
    correlated(
        &format!("silent, {}", M::NAME),
        Block::from_u128(1),
        |ch| silent::Sender::<M>::setup::<B>(ch, &SESSION, backend, DELTA, &mut rng(1)),
        |ch| silent::Receiver::<M>::setup::<B>(ch, &SESSION, backend, &mut rng(2)),
    );
}

#[test]
fn silent_ot_realizes_correlated_and_random_ot() {
    silent::<SemiHonest, Simplest>();
    silent::<Malicious, Csw>();
    let backend = Backend::detect();
    random(
        "silent, malicious",
        |ch| {
            silent::Sender::<Malicious>::setup::<Csw>(ch, &SESSION, backend, DELTA, &mut rng(1)).map(HashedSender::new)
        },
        |ch| silent::Receiver::<Malicious>::setup::<Csw>(ch, &SESSION, backend, &mut rng(2)).map(HashedReceiver::new),
    );
}

#[test]
fn committing_ot_opens_what_was_sent() {
    let backend = Backend::detect();
    holds(
        "committing OT",
        OpenedOt::new(LEN),
        &SIZES,
        |ch, inputs| {
            let mut ot = committing::Sender::setup::<Csw>(ch, &SESSION, backend, &mut rng(1))?;
            for [zeros, ones] in inputs {
                let messages: Vec<_> =
                    zeros.chunks_exact(LEN).zip(ones.chunks_exact(LEN)).map(|(a, b)| [a, b]).collect();
                ot.send(ch, LEN, &messages)?;
            }
            ot.open(ch)?;
            Ok(vec![(); inputs.len()])
        },
        |ch, choices| {
            let mut ot = committing::Receiver::setup::<Csw>(ch, &SESSION, backend, &mut rng(2))?;
            let got = choices.iter().map(|c| Ok(ot.receive(ch, LEN, c)?.concat())).collect::<Result<Vec<_>>>()?;
            let opened = RefCell::new(ot.open(ch)?.into_iter());
            let of_call = |(c, got): (&Bits, Vec<u8>)| {
                let (zeros, ones): (Vec<_>, Vec<_>) =
                    opened.borrow_mut().by_ref().take(c.len()).map(<(_, _)>::from).unzip();
                (got, [zeros.concat(), ones.concat()])
            };
            let calls = choices.iter().zip(got).map(of_call).collect();
            assert!(opened.borrow_mut().next().is_none(), "no more is opened than was sent");
            Ok(calls)
        },
    );
}

fn one_of_n<T: one_of_n::OneOfN, B: BaseOt<Model: AtLeast<T::Model>>>(name: &str) {
    let backend = Backend::detect();
    holds(
        name,
        EntryOt,
        &SIZES,
        |ch, inputs| {
            let mut ot = one_of_n::Sender::<T>::setup::<B>(ch, &SESSION, backend, &mut rng(1))?;
            let call = |entries: &Vec<[u128; 2]>| {
                let keys = ot.keys(ch, entries.len())?;
                let [mut first, mut second] = [(); 2].map(|()| vec![Block::ZERO; entries.len()]);
                for (b, out) in [&mut first, &mut second].into_iter().enumerate() {
                    keys.evaluate_each(&entries.iter().map(|pair| pair[b]).collect::<Vec<_>>(), out)?;
                }
                Ok(first.into_iter().zip(second).map(<[Block; 2]>::from).collect())
            };
            inputs.iter().map(call).collect()
        },
        |ch, choices| {
            let mut ot = one_of_n::Receiver::<T>::setup::<B>(ch, &SESSION, backend, &mut rng(2))?;
            choices.iter().map(|c| filled(c.len(), |out| ot.receive(ch, c, out)).map(|(out, ())| out)).collect()
        },
    );
}

#[test]
fn one_of_n_gives_the_chosen_entry() {
    one_of_n::<one_of_n::Kk13, Simplest>("KK13");
    one_of_n::<one_of_n::Kkrt16, Simplest>("KKRT16");
    one_of_n::<one_of_n::Oos16, Csw>("OOS16");
}
