//! Every protocol with every message broken, the peer lost after each, and another session's messages
//! replayed; what the ideal world lets a cheat learn, held against the real one; and no way on after an
//! abort.
//!
//! In the malicious model whatever a message becomes, the other side ends with an error or with what it would have
//! got. In the semi-honest model nothing hangs or panics.

use comity_channel::{Change, Channel, Direction, Error, MemoryChannel, Tamper, Tampering};
use comity_core::{Backend, Bits, Block, Kind, Params, Prg, Result, SessionId};
use comity_ot::base::{BaseOt, Csw, Pvw, Simplest};
use comity_ot::softspoken::{self, Checking};
use comity_ot::{
    AtLeast, CotReceiver, CotSender, HashedReceiver, HashedSender, Malicious, Model, RandomReceiver, RandomSender,
    SemiHonest, alsz, committing, iknp, one_of_n, silent,
};
use comity_testing::ot::FixedDelta;
use comity_testing::{Pair, deviate, never_wrong};

/// Broken runs of one protocol. They are spread over all messages, of which most are the base OTs'.
const CASES: usize = 50;

/// The same of silent OT, which makes 1.8 million OTs in each; its own tests break every message at a small size.
const GENERATOR_CASES: usize = 30;

/// OTs of a call.
const N: usize = 130;

/// Not zero in any tree: no change of a correction goes unnoticed.
const DELTA: Block = Block::from_u128(u128::MAX);

fn rng(seed: u64) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed.into()))
}

fn choices() -> Bits {
    Bits::from_bytes(&[0b0110_1001; N.div_ceil(8)], N)
}

fn session(number: u64) -> SessionId {
    SessionId::new([0x64; 32]).child(&number.to_string())
}

type Wire = Box<dyn Channel>;

/// Two calls of a protocol, of both kinds, in every broken run.
fn random<S: RandomSender, R: RandomReceiver>(
    sender: impl Fn(&mut Wire, &SessionId, &mut Prg) -> Result<S> + Sync,
    receiver: impl Fn(&mut Wire, &SessionId, &mut Prg) -> Result<R> + Sync,
) {
    broken::<S::Model, _, _>(
        CASES,
        |ch, number| {
            let mut ot = sender(ch, &session(number), &mut rng(2 * number + 1))?;
            let mut pairs = vec![[Block::ZERO; 2]; 2 * N];
            ot.sender_random(ch, &mut pairs[..N])?;
            ot.random(ch, &mut pairs[N..])?;
            Ok(pairs)
        },
        |ch, number| {
            let mut ot = receiver(ch, &session(number), &mut rng(2 * number + 100))?;
            let mut chosen = vec![Block::ZERO; 2 * N];
            ot.sender_random(ch, &choices(), &mut chosen[..N])?;
            let bits = ot.random(ch, &mut chosen[N..])?;
            ch.flush()?;
            Ok((bits, chosen))
        },
    );
}

fn broken<M: Model, A: PartialEq + std::fmt::Debug + Send, B: PartialEq + std::fmt::Debug + Send>(
    cases: usize,
    sender: impl Fn(&mut Wire, u64) -> Result<A> + Sync,
    receiver: impl Fn(&mut Wire, u64) -> Result<B> + Sync,
) {
    let mut aborts = 0;
    let runs = deviate(cases, sender, receiver, |case, sender, receiver| {
        if M::MALICIOUS {
            never_wrong(case, sender, receiver);
        }
        aborts += usize::from(sender.error().is_some() || receiver.error().is_some());
    });
    assert!(runs == cases && aborts >= runs / 8, "{aborts} aborts in {runs} runs: is anything broken at all?");
}

#[test]
fn iknp_bears_every_deviation() {
    let backend = Backend::detect();
    random(
        |ch, id, rng| Ok(HashedSender::new(iknp::Sender::setup::<Simplest>(ch, id, backend, DELTA, rng)?)),
        |ch, id, rng| Ok(HashedReceiver::new(iknp::Receiver::setup::<Simplest>(ch, id, backend, rng)?)),
    );
}

#[test]
fn alsz_bears_every_deviation() {
    let (backend, parameters) = (Backend::detect(), alsz::Parameters::new(Params::default()).unwrap());
    random(
        |ch, id, rng| alsz::Sender::setup::<Csw>(ch, id, backend, parameters, rng),
        |ch, id, rng| alsz::Receiver::setup::<Csw>(ch, id, backend, parameters, rng),
    );
}

fn softspoken<M: Checking, B: BaseOt<Model: AtLeast<M>>>(k: usize) {
    let backend = Backend::detect();
    random(
        |ch, id, rng| Ok(HashedSender::new(softspoken::Sender::<M>::setup::<B>(ch, id, backend, k, DELTA, rng)?)),
        |ch, id, rng| Ok(HashedReceiver::new(softspoken::Receiver::<M>::setup::<B>(ch, id, backend, k, rng)?)),
    );
}

#[test]
fn semi_honest_softspoken_bears_every_deviation() {
    softspoken::<SemiHonest, Simplest>(3);
}

#[test]
fn malicious_softspoken_bears_every_deviation() {
    softspoken::<Malicious, Csw>(1);
    softspoken::<Malicious, Csw>(4);
}

fn silent<M: Checking, B: BaseOt<Model: AtLeast<M>>>() {
    let backend = Backend::detect();
    broken::<M, _, _>(
        GENERATOR_CASES,
        |ch, number| {
            let id = &session(number);
            let mut ot = silent::Sender::<M>::setup::<B>(ch, id, backend, DELTA, &mut rng(number))?;
            let mut q = vec![Block::ZERO; N];
            ot.extend(ch, &mut q)?;
            Ok(q)
        },
        |ch, number| {
            let id = &session(number);
            let mut ot = silent::Receiver::<M>::setup::<B>(ch, id, backend, &mut rng(number + 50))?;
            let mut t = vec![Block::ZERO; N];
            ot.extend(ch, &choices(), &mut t)?;
            ch.flush()?;
            Ok(t)
        },
    );
}

#[test]
fn silent_ot_bears_deviations() {
    silent::<SemiHonest, Simplest>();
    silent::<Malicious, Csw>();
}

#[test]
fn committing_ot_bears_every_deviation() {
    let backend = Backend::detect();
    broken::<Malicious, _, _>(
        CASES,
        |ch, number| {
            let mut ot = committing::Sender::setup::<Csw>(ch, &session(number), backend, &mut rng(number))?;
            let mut pairs = vec![[Block::ZERO; 2]; N];
            ot.random(ch, &mut pairs)?;
            ot.open(ch)?;
            ch.flush()?;
            Ok(pairs)
        },
        |ch, number| {
            let mut ot = committing::Receiver::setup::<Csw>(ch, &session(number), backend, &mut rng(number + 50))?;
            let chosen = ot.random(ch, &choices())?;
            Ok((chosen, ot.open(ch)?))
        },
    );
}

fn one_of_n<T: one_of_n::OneOfN, B: BaseOt<Model: AtLeast<T::Model>>>() {
    let backend = Backend::detect();
    broken::<T::Model, _, _>(
        CASES,
        |ch, number| {
            let mut ot = one_of_n::Sender::<T>::setup::<B>(ch, &session(number), backend, &mut rng(number))?;
            let mut out = vec![Block::ZERO; 3 * N];
            ot.keys(ch, N)?.tables(3, &mut out)?;
            Ok(out)
        },
        |ch, number| {
            let mut ot = one_of_n::Receiver::<T>::setup::<B>(ch, &session(number), backend, &mut rng(number + 50))?;
            let mut out = vec![Block::ZERO; N];
            ot.receive(ch, &Vec::from_iter((0..N as u128).map(|j| j % 3)), &mut out)?;
            ch.flush()?;
            Ok(out)
        },
    );
}

#[test]
fn one_of_n_bears_every_deviation() {
    one_of_n::<one_of_n::Kk13, Simplest>();
    one_of_n::<one_of_n::Kkrt16, Simplest>();
    one_of_n::<one_of_n::Oos16, Csw>();
}

/// A base OT alone, few enough that every case of every message is run. A corrupt party may choose what it gets, so
/// other outputs are no fault; the protocols' own tests say more.
fn base<B: BaseOt>(runs_at_least: usize) {
    let runs = deviate(
        1000,
        |ch, number| B::send(ch, &session(number), 17, &mut rng(number)).map(drop),
        |ch, number| B::receive(ch, &session(number), &choices().slice(0, 17), &mut rng(number + 50)).map(drop),
        |_, _, _| (),
    );
    assert!(runs >= runs_at_least, "{runs} runs");
}

#[test]
fn base_ots_bear_every_deviation() {
    base::<Simplest>(20);
    base::<Csw>(30);
    base::<Pvw>(10);
}

/// What a cheating receiver's corrections do, against the selective leak of the ideal functionality: with
/// another choice bit in one tree it guesses that delta is zero there, and the sender stops exactly if it is
/// not.
#[test]
fn a_lie_in_one_tree_is_a_guess_at_the_ideal_functionality() {
    let backend = Backend::detect();
    let delta = Block::from_u128(0x0c31_4159_2653_5897_9323_8462_6433_8327);
    for k in [1, 2, 4] {
        let (mut right, mut wrong) = (0, 0);
        for tree in [0, 1, 2, 3, 9, 20, 31] {
            let ended = Pair::run(
                |ch| {
                    let rng = &mut rng(1);
                    let mut ot =
                        softspoken::Sender::<Malicious>::setup::<Csw>(ch, &session(0), backend, k, delta, rng)?;
                    let mut q = vec![Block::ZERO; 128];
                    ot.extend(ch, &mut q).map(|()| q)
                },
                |ch| {
                    let rng = &mut rng(2);
                    let mut ot = softspoken::Receiver::<Malicious>::setup::<Csw>(ch, &session(0), backend, k, rng)?;
                    // With the 128 spare OTs, a row has 32 bytes.
                    let change =
                        Tamper { direction: Direction::Outgoing, at: 32 * tree + 5, change: Change::Flip { bit: 3 } };
                    let mut t = vec![Block::ZERO; 128];
                    ot.extend(&mut Tampering::new(&mut *ch, &change), &Bits::zeros(128), &mut t)?;
                    Ok::<_, Error>(t)
                },
            );
            let mut ideal = FixedDelta::new(delta);
            let mask = Block::from_u128(((1 << k) - 1) << (k * tree));
            match (ideal.leak(mask, Block::ZERO), ended.0) {
                (Ok(()), Ok(q)) => {
                    let t = ended.1.unwrap();
                    assert_eq!(ideal.corrupt_receiver(&Bits::zeros(128), &t).unwrap(), q, "k = {k}, tree {tree}");
                    right += 1;
                }
                (Err(_), Err(Error { kind: Kind::Misbehaved(comity_ot::checks::INCONSISTENT_CHOICES), .. })) => {
                    wrong += 1
                }
                (ideal, real) => panic!("k = {k}, tree {tree}: {ideal:?}, but {:?}", real.map(drop)),
            }
        }
        assert!(right > 0 && wrong > 0, "k = {k}: {right} right guesses and {wrong} wrong ones");
    }
}

/// After the peer is lost no call succeeds, not even one that needs nothing from it.
fn no_way_on<S: RandomSender, R: RandomReceiver>(
    sender: impl Fn(&mut MemoryChannel) -> Result<S> + Sync,
    receiver: impl Fn(&mut MemoryChannel) -> Result<R> + Sync,
) {
    let refused = |error: Error| assert!(matches!(error, Error { kind: Kind::InvalidInput(_), .. }), "{error}");
    Pair::run(
        |ch| {
            let mut ot = sender(ch).unwrap();
            assert!(matches!(ot.random(ch, &mut [[Block::ZERO; 2]; N]).unwrap_err(), Error { kind: Kind::Closed, .. }));
            refused(ot.random(ch, &mut [[Block::ZERO; 2]; N]).unwrap_err());
            refused(ot.sender_random(ch, &mut [[Block::ZERO; 2]; 1]).unwrap_err());
        },
        |ch| drop(receiver(ch).unwrap()),
    );
}

#[test]
fn nothing_goes_on_after_an_abort() {
    let (backend, id) = (Backend::detect(), session(0));
    let parameters = alsz::Parameters::new(Params::default()).unwrap();
    no_way_on(
        |ch| iknp::Sender::setup::<Simplest>(ch, &id, backend, DELTA, &mut rng(1)).map(HashedSender::new),
        |ch| iknp::Receiver::setup::<Simplest>(ch, &id, backend, &mut rng(2)).map(HashedReceiver::new),
    );
    no_way_on(
        |ch| alsz::Sender::setup::<Csw>(ch, &id, backend, parameters, &mut rng(1)),
        |ch| alsz::Receiver::setup::<Csw>(ch, &id, backend, parameters, &mut rng(2)),
    );
    no_way_on(
        |ch| {
            softspoken::Sender::<Malicious>::setup::<Csw>(ch, &id, backend, 4, DELTA, &mut rng(1))
                .map(HashedSender::new)
        },
        |ch| softspoken::Receiver::<Malicious>::setup::<Csw>(ch, &id, backend, 4, &mut rng(2)).map(HashedReceiver::new),
    );
}
