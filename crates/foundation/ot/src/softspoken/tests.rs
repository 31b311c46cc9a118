//! The extension over ideal base OTs, against a textbook, and against receivers that cheat.

mod cheats;
mod textbook;
mod waits;

use std::marker::PhantomData;

use comity_channel::{Channel, Error, MemoryChannel};
use comity_core::{Backend, Bits, Block, Kind, Prg, Result, SessionId};
use comity_testing::{Case, Pair, Verdict, deviate, never_wrong};
use rand_core::CryptoRng;
use textbook::Textbook;

use super::{Answer, Challenge, Checking, Corrections, Receiver, Sender, Trees};
use crate::base::BaseOt;
use crate::checks;
use crate::cot::{CotReceiver, CotSender};
use crate::model::{Malicious, Model, SemiHonest};
use crate::seeds::{ReceiverSeeds, SenderSeeds};

const SESSION: SessionId = SessionId::new([5; 32]);
const DELTA: Block = Block::from_u128(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211);

/// Base OTs that a trusted party deals, from the session alone: nothing is sent.
pub(crate) struct Ideal<M>(PhantomData<M>);

fn dealt(session: &SessionId, n: usize) -> Vec<[Block; 2]> {
    let mut pairs = vec![[Block::ZERO; 2]; n];
    Prg::new(Backend::detect(), session.block("dealt")).fill_blocks(pairs.as_flattened_mut());
    pairs
}

impl<M: Model> BaseOt for Ideal<M> {
    type Model = M;

    fn send(_: &mut dyn Channel, session: &SessionId, n: usize, _: &mut dyn CryptoRng) -> Result<SenderSeeds<M>> {
        Ok(SenderSeeds::new(dealt(session, n)))
    }

    fn receive(
        _: &mut dyn Channel,
        session: &SessionId,
        choices: &Bits,
        _: &mut dyn CryptoRng,
    ) -> Result<ReceiverSeeds<M>> {
        let pairs = dealt(session, choices.len());
        let chosen = pairs.iter().zip(choices.iter()).map(|(pair, bit)| pair[usize::from(bit)]).collect();
        Ok(ReceiverSeeds::new(choices.clone(), chosen))
    }
}

pub(crate) fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

pub(crate) fn bits(n: usize, seed: u128) -> Bits {
    let mut bytes = vec![0; n.div_ceil(8)];
    rng(seed).fill(&mut bytes);
    Bits::from_bytes(&bytes, n)
}

fn sender<M: Checking>(ch: &mut dyn Channel, k: usize, backend: Backend, delta: Block) -> Result<Sender<M>> {
    Sender::setup::<Ideal<M>>(ch, &SESSION, backend, k, delta, &mut rng(1))
}

fn receiver<M: Checking>(ch: &mut dyn Channel, k: usize, backend: Backend) -> Receiver<M> {
    Receiver::setup::<Ideal<M>>(ch, &SESSION, backend, k, &mut rng(2)).unwrap()
}

/// Calls of these sizes, with given and with random choice bits in turn: `q`, and `t` with the choice bits.
#[allow(clippy::type_complexity, reason = "two lists of calls")]
fn calls<M: Checking>(
    k: usize,
    delta: Block,
    backends: [Backend; 2],
    sizes: &[usize],
) -> (Vec<Vec<Block>>, Vec<(Bits, Vec<Block>)>) {
    Pair::run(
        |ch| {
            let mut sender = sender::<M>(ch, k, backends[0], delta).unwrap();
            assert_eq!(sender.delta(), delta);
            let call = |(i, &n): (usize, &usize)| {
                let mut q = vec![Block::ZERO; n];
                if i % 2 == 0 { sender.extend(ch, &mut q) } else { sender.extend_random(ch, &mut q) }.unwrap();
                q
            };
            sizes.iter().enumerate().map(call).collect()
        },
        |ch| {
            let mut receiver = receiver::<M>(ch, k, backends[1]);
            let call = |(i, &n): (usize, &usize)| {
                let (mut t, mut choices) = (vec![Block::ZERO; n], bits(n, i as u128));
                if i % 2 == 0 {
                    receiver.extend(ch, &choices, &mut t).unwrap();
                } else {
                    choices = receiver.extend_random(ch, &mut t).unwrap();
                    assert_eq!(choices.len(), n);
                }
                (choices, t)
            };
            sizes.iter().enumerate().map(call).collect()
        },
    )
}

fn holds(what: &str, delta: Block, q: &[Vec<Block>], t: &[(Bits, Vec<Block>)]) {
    for (call, (q, (choices, t))) in q.iter().zip(t).enumerate() {
        for (j, (q, t)) in q.iter().zip(t).enumerate() {
            assert!(*q == *t ^ delta.masked(choices.get(j)), "{what}, call {call}, OT {j}");
        }
    }
}

fn every_size<M: Checking>(ks: &[usize], sizes: &[usize]) {
    let backend = Backend::detect();
    for &k in ks {
        let (q, t) = calls::<M>(k, DELTA, [backend; 2], sizes);
        holds(&format!("{}, k = {k}", M::NAME), DELTA, &q, &t);
        // Nothing repeats, within a call or between calls, and random choice bits are fair.
        let mut all: Vec<u128> = q.iter().flatten().map(|q| q.to_u128()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        for (choices, _) in t.iter().skip(1).step_by(2).filter(|(choices, _)| choices.len() > 1000) {
            let (n, ones) = (choices.len() as f64, choices.iter().filter(|&bit| bit).count() as f64);
            assert!((ones - n / 2.0).abs() < 3.0 * n.sqrt(), "{ones} ones of {n}");
        }
    }
}

#[test]
fn the_correlation_holds_for_every_k() {
    let sizes = [1, 0, 127, 1, 128, 129, 0, 1000, 1000];
    every_size::<SemiHonest>(&[1, 2, 3, 4, 5, 6, 7, 8], &sizes);
    every_size::<Malicious>(&[1, 2, 3, 4, 5, 6, 7, 8], &sizes);
}

#[test]
fn the_correlation_holds_around_the_borders_of_pieces_and_chunks() {
    for &border in &[<SemiHonest as Checking>::CHUNK, <Malicious as Checking>::CHUNK] {
        // The last piece of a chunk may be all mask, or have a few columns.
        let sizes = [border, border - 1, (1 << 14) - 5, border + 1, 1 << 14, (1 << 14) + 1, 2 * border + 77, 3];
        every_size::<SemiHonest>(&[2, 3], &sizes);
        every_size::<Malicious>(&[2, 3], &sizes);
    }
}

#[test]
fn every_bit_of_delta_counts() {
    for delta in [0, u128::MAX, 1, 1 << 127, 0xff << 60] {
        let delta = Block::from_u128(delta);
        for k in 1..=8 {
            let (q, t) = calls::<Malicious>(k, delta, [Backend::detect(); 2], &[200, 200]);
            holds(&format!("k = {k}"), delta, &q, &t);
        }
    }
}

#[test]
fn backends_meet_and_agree() {
    let all = Backend::available();
    for k in [2, 5] {
        let expected = calls::<Malicious>(k, DELTA, [all[0]; 2], &[130, 1500]);
        for &ours in &all {
            for &theirs in &all {
                let got = calls::<Malicious>(k, DELTA, [ours, theirs], &[130, 1500]);
                assert!(got == expected, "k = {k}, sender on {ours}, receiver on {theirs}");
            }
        }
    }
}

/// A run of tier 1, held against the textbook at every message.
fn against_the_textbook<M: End>(k: usize, n: usize, random: bool) {
    let what = format!("{}, k = {k}, {n} OTs", M::NAME);
    let backend = Backend::detect();
    let pairs = dealt(&SESSION, 128);
    let delta_bits = Bits::from_bytes(&DELTA.to_bytes(), 128);
    let chosen = pairs.iter().zip(delta_bits.iter()).map(|(pair, bit)| pair[usize::from(bit)]).collect();
    let (receiver, trees) =
        Receiver::<M>::new(&SESSION, backend, k, SenderSeeds::new(pairs.clone())).expect("k is in range");
    let mut book = Textbook::new(SESSION, k, M::CHECKED, &pairs);
    assert!(trees.as_bytes() == book.trees(), "{what}: trees");
    let trees = Trees::from_bytes::<M>(trees.as_bytes(), k).unwrap();
    let seeds = ReceiverSeeds::new(delta_bits, chosen);
    let sender = Sender::<M>::new(&SESSION, backend, k, seeds, &trees, &mut rng(3)).unwrap();

    let choices = (!random).then(|| bits(n, 8));
    let (offered, corrections) = match &choices {
        Some(choices) => receiver.offer(choices).unwrap(),
        None => receiver.offer_random(n).unwrap(),
    };
    book.chunk(n, choices.as_ref());
    assert!(corrections.as_bytes() == book.corrections(), "{what}: corrections");
    let corrections = Corrections::from_bytes::<M>(corrections.as_bytes(), k, n, random).unwrap();
    let taken = sender.take(n, random, &corrections).unwrap();
    // The last steps differ by model, and types tell them apart.
    let (bits, t, q) = M::end(offered, taken, &book);
    assert!(bits == book.choices(), "{what}: choice bits");
    assert!(t == book.columns(), "{what}: t");
    for (j, (q, t)) in q.iter().zip(&t).enumerate() {
        assert!(*q == *t ^ DELTA.masked(bits.get(j)), "{what}: OT {j}");
    }
}

trait End: Checking {
    fn end(offered: super::Offered<Self>, taken: super::Taken<Self>, book: &Textbook) -> (Bits, Vec<Block>, Vec<Block>)
    where
        Self: Sized;
}

impl End for SemiHonest {
    fn end(
        offered: super::Offered<SemiHonest>,
        taken: super::Taken<SemiHonest>,
        _: &Textbook,
    ) -> (Bits, Vec<Block>, Vec<Block>) {
        let (_, bits, t) = offered.finish();
        (bits, t, taken.finish().1)
    }
}

impl End for Malicious {
    fn end(
        offered: super::Offered<Malicious>,
        taken: super::Taken<Malicious>,
        book: &Textbook,
    ) -> (Bits, Vec<Block>, Vec<Block>) {
        let challenge = Challenge::from_bytes(taken.challenge().to_bytes());
        let (_, bits, t, answer) = offered.answer(&challenge);
        assert!(answer.to_bytes()[..] == book.answer(challenge.to_bytes(), &[]), "the answer");
        let (_, q) = taken.check(&Answer::from_bytes(&answer.to_bytes()).unwrap()).unwrap();
        (bits, t, q)
    }
}

#[test]
fn every_message_is_that_of_the_textbook() {
    for k in [1, 2, 3, 4, 8] {
        for (n, random) in [(1, true), (130, false), (300, true), (0, false)] {
            against_the_textbook::<SemiHonest>(k, n, random);
            against_the_textbook::<Malicious>(k, n, random);
        }
    }
    // More than a piece.
    against_the_textbook::<Malicious>(2, (1 << 14) + 100, true);
}

#[test]
fn k_and_lengths_are_checked() {
    for k in [0, 9, usize::MAX] {
        let made = Receiver::<Malicious>::new(&SESSION, Backend::detect(), k, SenderSeeds::new(dealt(&SESSION, 128)));
        assert!(matches!(made.map(drop), Err(Error { kind: Kind::InvalidInput(_), .. })), "k = {k}");
        assert!(matches!(Trees::from_bytes::<Malicious>(&[], k), Err(Error { kind: Kind::InvalidInput(_), .. })));
        assert!(matches!(
            Corrections::from_bytes::<Malicious>(&[], k, 1, true),
            Err(Error { kind: Kind::InvalidInput(_), .. })
        ));
    }
    for (k, semi_honest, malicious) in
        [(1, 0, 0), (2, 64 * 32, 64 * 96), (3, 42 * 64 + 32, 42 * 128 + 96), (8, 16 * 224, 16 * 288)]
    {
        for wrong in [1, 31, 96, usize::MAX] {
            let (few, many) = (vec![0; semi_honest.max(wrong.min(99)) - 1], vec![0; malicious + wrong.min(99)]);
            assert!(
                few.len() == semi_honest
                    || matches!(Trees::from_bytes::<SemiHonest>(&few, k), Err(Error { kind: Kind::Malformed(_), .. }))
            );
            assert!(matches!(Trees::from_bytes::<Malicious>(&many, k), Err(Error { kind: Kind::Malformed(_), .. })));
        }
        assert!(Trees::from_bytes::<SemiHonest>(&vec![0; semi_honest], k).is_ok());
        assert!(Trees::from_bytes::<Malicious>(&vec![0; malicious], k).is_ok());
    }
    for (n, random, bytes) in [(0, false, 32 * 16), (1, true, 31 * 32), (129, false, 32 * 48)] {
        assert!(Corrections::from_bytes::<Malicious>(&vec![0; bytes], 4, n, random).is_ok());
        for len in [0, bytes - 1, bytes + 1, bytes + 16] {
            let made = Corrections::from_bytes::<Malicious>(&vec![0; len], 4, n, random);
            assert!(matches!(made, Err(Error { kind: Kind::Malformed(_), .. })), "{len} bytes for {n} OTs");
        }
    }
    assert!(Corrections::from_bytes::<Malicious>(&[], 1, usize::MAX, false).is_err());
    for len in [0, 47, 49] {
        assert!(matches!(Answer::from_bytes(&vec![0; len]), Err(Error { kind: Kind::Malformed(_), .. })));
    }
    let too_many = <Malicious as Checking>::CHUNK + 1;
    let receiver = Receiver::<Malicious>::new(&SESSION, Backend::detect(), 2, SenderSeeds::new(dealt(&SESSION, 128)));
    assert!(matches!(
        receiver.unwrap().0.offer_random(too_many).map(drop),
        Err(Error { kind: Kind::InvalidInput(_), .. })
    ));
}

#[test]
fn choice_bits_and_outputs_must_be_as_many() {
    let ((), error) = Pair::run(
        |ch| sender::<Malicious>(ch, 2, Backend::detect(), DELTA).unwrap().extend(ch, &mut [Block::ZERO; 4]).unwrap(),
        |ch| {
            let mut receiver = receiver::<Malicious>(ch, 2, Backend::detect());
            let error = receiver.extend(ch, &bits(3, 1), &mut [Block::ZERO; 4]).unwrap_err();
            // A mistake of the caller that nothing was sent for: the extension goes on.
            receiver.extend(ch, &bits(4, 1), &mut [Block::ZERO; 4]).unwrap();
            error
        },
    );
    assert!(
        matches!(&error, Error { kind: Kind::InvalidInput(text), .. } if text.contains('3') && text.contains('4')),
        "{error}"
    );
}

/// Two calls at each side; each says whether it got what the honest run of the session gives.
fn two_calls<M: Checking>(session: u64) -> (SessionId, [Vec<Block>; 2], [Vec<Block>; 2]) {
    let id = SESSION.child(&session.to_string());
    let (q, t) = Pair::run(|ch| sending::<M>(ch, &id), |ch| receiving::<M>(ch, &id));
    (id, q.unwrap(), t.unwrap())
}

fn sending<M: Checking>(ch: &mut dyn Channel, id: &SessionId) -> Result<[Vec<Block>; 2]> {
    let mut sender =
        Sender::<M>::setup::<Ideal<M>>(ch, id, Backend::detect(), 2, DELTA, &mut rng(id.to_bytes()[0].into()))?;
    let mut q = [vec![Block::ZERO; 200], vec![Block::ZERO; 3]];
    sender.extend_random(ch, &mut q[0])?;
    sender.extend(ch, &mut q[1])?;
    Ok(q)
}

fn receiving<M: Checking>(ch: &mut dyn Channel, id: &SessionId) -> Result<[Vec<Block>; 2]> {
    let mut receiver = Receiver::<M>::setup::<Ideal<M>>(ch, id, Backend::detect(), 2, &mut rng(7))?;
    let mut t = [vec![Block::ZERO; 200], vec![Block::ZERO; 3]];
    receiver.extend_random(ch, &mut t[0])?;
    receiver.extend(ch, &bits(3, 1), &mut t[1])?;
    Ok(t)
}

fn deviations<M: Checking>(judge: impl FnMut(&Case, &Verdict<bool>, &Verdict<bool>)) -> usize {
    let honest = [two_calls::<M>(0), two_calls::<M>(1)];
    let honest = |session: u64| &honest[session as usize];
    deviate(
        200,
        |ch, session| sending::<M>(ch, &honest(session).0).map(|q| q == honest(session).1),
        |ch, session| receiving::<M>(ch, &honest(session).0).map(|t| t == honest(session).2),
        judge,
    )
}

#[test]
fn no_deviation_makes_a_malicious_run_wrong() {
    let mut caught = [0; 2];
    let runs = deviations::<Malicious>(|case, sender, receiver| {
        never_wrong(case, sender, receiver);
        match sender.error() {
            Some(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_TREE), .. }) => caught[0] += 1,
            Some(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_CHOICES), .. }) => caught[1] += 1,
            _ => (),
        }
    });
    assert!(runs > 50 && caught.iter().all(|&count| count >= 5), "{runs} runs, {caught:?} caught by the checks");
}

#[test]
fn no_deviation_makes_a_semi_honest_run_hang_or_panic() {
    assert!(deviations::<SemiHonest>(|_, _, _| ()) > 20);
}

#[test]
fn a_peer_that_leaves_ends_the_extension() {
    for sent in [0, 1, 63 * 32 - 1, 63 * 32, 63 * 32 + 47] {
        let (errors, ()) = Pair::run(
            |ch: &mut MemoryChannel| {
                let mut sender = sender::<Malicious>(ch, 2, Backend::detect(), DELTA).unwrap();
                let mut out = [Block::ZERO; 100];
                let first = sender.extend_random(ch, &mut out).unwrap_err();
                assert!(out == [Block::ZERO; 100], "nothing unchecked gets out");
                (first, [sender.extend(ch, &mut []).unwrap_err(), sender.extend_random(ch, &mut []).unwrap_err()])
            },
            |ch| {
                receiver::<Malicious>(ch, 2, Backend::detect());
                ch.send(&vec![0x5a; sent]).and_then(|()| ch.flush()).unwrap();
            },
        );
        assert!(matches!(errors.0, Error { kind: Kind::Closed, .. }), "after {sent} bytes: {}", errors.0);
        assert!(errors.1.iter().all(|error| matches!(error, Error { kind: Kind::InvalidInput(_), .. })));
    }
    for sent in [0, 15] {
        let (errors, ()) = Pair::run(
            |ch: &mut MemoryChannel| {
                let mut receiver = receiver::<Malicious>(ch, 2, Backend::detect());
                let first = receiver.extend_random(ch, &mut [Block::ZERO; 100]).unwrap_err();
                (first, receiver.extend(ch, &Bits::default(), &mut []).unwrap_err())
            },
            |ch| {
                sender::<Malicious>(ch, 2, Backend::detect(), DELTA).unwrap();
                ch.recv(&mut vec![0; 63 * 32]).unwrap();
                ch.send(&vec![0x5a; sent]).and_then(|()| ch.flush()).unwrap();
            },
        );
        assert!(matches!(errors.0, Error { kind: Kind::Closed, .. }), "after {sent} bytes: {}", errors.0);
        assert!(matches!(errors.1, Error { kind: Kind::InvalidInput(_), .. }));
    }
}
