//! Oblivious transfer: base OTs, extensions, and what is made of them.

use comity_channel::Channel;
use comity_core::{Block, Params, Result, SessionId};
use comity_ot::base::{BaseOt, Csw, Pvw, Simplest};
use comity_ot::softspoken::{self, Checking};
use comity_ot::{
    AtLeast, HashedReceiver, HashedSender, Malicious, RandomReceiver, RandomSender, SemiHonest, alsz, committing, iknp,
    one_of_n, silent,
};
use comity_testing::Pair;

use crate::Case;
use crate::secret::{SecretRng, Wire, backend, bits};

/// OTs of a call.
const N: usize = 130;

const SESSION: SessionId = SessionId::new([3; 32]);

type Side = fn(&mut dyn Channel, &mut SecretRng) -> Result<()>;

pub(crate) fn cases() -> Vec<Case> {
    let case = |name: &str, sender: Side, receiver: Side| {
        Case::new(format!("ot {name}"), move || {
            let (sent, received) = Pair::run(
                |ch| sender(&mut Wire(ch), &mut SecretRng::new(1)),
                |ch| receiver(&mut Wire(ch), &mut SecretRng::new(2)),
            );
            sent.and(received).expect("honest parties");
        })
    };
    vec![
        case("simplest", base_sender::<Simplest>, base_receiver::<Simplest>),
        case("csw", base_sender::<Csw>, base_receiver::<Csw>),
        case("pvw", base_sender::<Pvw>, base_receiver::<Pvw>),
        case(
            "iknp",
            |ch, rng| {
                let delta = Block::random(rng);
                random_sender(
                    HashedSender::new(iknp::Sender::setup::<Simplest>(ch, &SESSION, backend(), delta, rng)?),
                    ch,
                )
            },
            |ch, rng| {
                random_receiver(
                    HashedReceiver::new(iknp::Receiver::setup::<Simplest>(ch, &SESSION, backend(), rng)?),
                    ch,
                )
            },
        ),
        case(
            "alsz",
            |ch, rng| {
                let parameters = alsz::Parameters::new(Params::default())?;
                random_sender(alsz::Sender::setup::<Csw>(ch, &SESSION, backend(), parameters, rng)?, ch)
            },
            |ch, rng| {
                let parameters = alsz::Parameters::new(Params::default())?;
                random_receiver(alsz::Receiver::setup::<Csw>(ch, &SESSION, backend(), parameters, rng)?, ch)
            },
        ),
        case(
            "softspoken, semi-honest",
            softspoken_sender::<SemiHonest, Simplest>,
            softspoken_receiver::<SemiHonest, Simplest>,
        ),
        case("softspoken, malicious", softspoken_sender::<Malicious, Csw>, softspoken_receiver::<Malicious, Csw>),
        case("silent, semi-honest", silent_sender::<SemiHonest, Simplest>, silent_receiver::<SemiHonest, Simplest>),
        case("silent, malicious", silent_sender::<Malicious, Csw>, silent_receiver::<Malicious, Csw>),
        case(
            "committing",
            |ch, rng| {
                let mut ot = committing::Sender::setup::<Csw>(ch, &SESSION, backend(), rng)?;
                ot.send(ch, 5, &[[b"right", b"wrong"]; N])?;
                ot.open(ch)?;
                ch.flush()
            },
            |ch, rng| {
                let mut ot = committing::Receiver::setup::<Csw>(ch, &SESSION, backend(), rng)?;
                ot.receive(ch, 5, &bits(N))?;
                ot.open(ch)?;
                ch.flush()
            },
        ),
        case("1 of n, kk13", entry_sender::<one_of_n::Kk13, Simplest>, entry_receiver::<one_of_n::Kk13, Simplest>),
        case("1 of n, oos16", entry_sender::<one_of_n::Oos16, Csw>, entry_receiver::<one_of_n::Oos16, Csw>),
    ]
}

fn base_sender<B: BaseOt>(ch: &mut dyn Channel, rng: &mut SecretRng) -> Result<()> {
    B::send(ch, &SESSION, 10, rng)?;
    ch.flush()
}

fn base_receiver<B: BaseOt>(ch: &mut dyn Channel, rng: &mut SecretRng) -> Result<()> {
    B::receive(ch, &SESSION, &bits(10), rng)?;
    ch.flush()
}

fn softspoken_sender<M: Checking, B: BaseOt<Model: AtLeast<M>>>(
    ch: &mut dyn Channel,
    rng: &mut SecretRng,
) -> Result<()> {
    let delta = Block::random(rng);
    let ot = softspoken::Sender::<M>::setup::<B>(ch, &SESSION, backend(), 4, delta, rng)?;
    random_sender(HashedSender::new(ot), ch)
}

fn softspoken_receiver<M: Checking, B: BaseOt<Model: AtLeast<M>>>(
    ch: &mut dyn Channel,
    rng: &mut SecretRng,
) -> Result<()> {
    random_receiver(HashedReceiver::new(softspoken::Receiver::<M>::setup::<B>(ch, &SESSION, backend(), 4, rng)?), ch)
}

/// One iteration begins, with the given choices of N outputs: trees, in the malicious model their check, and the code.
fn silent_sender<M: Checking, B: BaseOt<Model: AtLeast<M>>>(ch: &mut dyn Channel, rng: &mut SecretRng) -> Result<()> {
    let delta = Block::random(rng);
    let ot = silent::Sender::<M>::setup::<B>(ch, &SESSION, backend(), delta, rng)?;
    random_sender(HashedSender::new(ot), ch)
}

fn silent_receiver<M: Checking, B: BaseOt<Model: AtLeast<M>>>(ch: &mut dyn Channel, rng: &mut SecretRng) -> Result<()> {
    random_receiver(HashedReceiver::new(silent::Receiver::<M>::setup::<B>(ch, &SESSION, backend(), rng)?), ch)
}

fn random_sender(mut ot: impl RandomSender, ch: &mut dyn Channel) -> Result<()> {
    ot.sender_random(ch, &mut [[Block::ZERO; 2]; N])?;
    ch.flush()
}

fn random_receiver(mut ot: impl RandomReceiver, ch: &mut dyn Channel) -> Result<()> {
    ot.sender_random(ch, &bits(N), &mut [Block::ZERO; N])?;
    ch.flush()
}

fn entry_sender<S: one_of_n::OneOfN, B: BaseOt<Model: AtLeast<S::Model>>>(
    ch: &mut dyn Channel,
    rng: &mut SecretRng,
) -> Result<()> {
    let mut ot = one_of_n::Sender::<S>::setup::<B>(ch, &SESSION, backend(), rng)?;
    ot.keys(ch, N)?.tables(3, &mut [Block::ZERO; 3 * N])?;
    ch.flush()
}

fn entry_receiver<S: one_of_n::OneOfN, B: BaseOt<Model: AtLeast<S::Model>>>(
    ch: &mut dyn Channel,
    rng: &mut SecretRng,
) -> Result<()> {
    let mut ot = one_of_n::Receiver::<S>::setup::<B>(ch, &SESSION, backend(), rng)?;
    let mut choices = [77; N];
    comity_core::classify(&mut choices);
    ot.receive(ch, &choices, &mut [Block::ZERO; N])?;
    ch.flush()
}
