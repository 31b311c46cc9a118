//! Small silent OTs over ideal correlations, against a textbook, and against senders that cheat.

mod textbook;
mod waits;

use std::marker::PhantomData;

use comity_channel::{Channel, Error};
use comity_core::{Backend, Bits, Block, Kind, Result, SessionId, gf128};
use comity_testing::{Case, Pair, Verdict, deviate, never_wrong};

use super::{Answer, Challenge, Parameters, Receiver, Sender, Trees};
use crate::checks;
use crate::cot::{CotReceiver, CotSender};
use crate::model::{Malicious, Model, SemiHonest};
use crate::softspoken::tests::{bits, rng};

const SESSION: SessionId = SessionId::new([6; 32]);
const DELTA: Block = Block::from_u128(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211);
/// 1024 outputs an iteration, 352 of them for the next.
const SMALL: Parameters = Parameters { trees: 16, depth: 6, dimension: 128 };
const FREE: usize = 1024 - 352;

/// Correlations that a trusted party deals, once.
struct Dealt<M>(Backend, PhantomData<M>);

fn dealt(n: usize) -> (Vec<Block>, Bits) {
    let mut q = vec![Block::ZERO; n];
    rng(3).fill_blocks(&mut q);
    (q, bits(n, 4))
}

impl<M: Model> CotSender for Dealt<M> {
    type Model = M;

    fn delta(&self) -> Block {
        DELTA
    }

    fn backend(&self) -> Backend {
        self.0
    }

    fn extend_each(
        &mut self,
        _: &mut dyn Channel,
        random: bool,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) -> Result<()> {
        assert!(random, "silent OT starts from random choice bits");
        each(0, &mut dealt(n).0);
        Ok(())
    }
}

impl<M: Model> CotReceiver for Dealt<M> {
    type Model = M;

    fn backend(&self) -> Backend {
        self.0
    }

    fn extend_each(
        &mut self,
        _: &mut dyn Channel,
        choices: Option<&Bits>,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) -> Result<Bits> {
        assert!(choices.is_none(), "silent OT starts from random choice bits");
        let (mut q, choices) = dealt(n);
        q.iter_mut().zip(choices.iter()).for_each(|(q, bit)| *q ^= DELTA.masked(bit));
        each(0, &mut q);
        Ok(choices)
    }
}

fn sender<M: Model>(ch: &mut dyn Channel, p: Parameters, backend: Backend, seed: u128) -> Sender<M> {
    new_sender(ch, p, backend, seed).unwrap()
}

fn new_sender<M: Model>(ch: &mut dyn Channel, p: Parameters, backend: Backend, seed: u128) -> Result<Sender<M>> {
    Sender::with_parameters(p, ch, &SESSION, Dealt::<M>(backend, PhantomData), &mut rng(seed))
}

fn receiver<M: Model>(ch: &mut dyn Channel, p: Parameters, backend: Backend, seed: u128) -> Receiver<M> {
    new_receiver(ch, p, backend, seed).unwrap()
}

fn new_receiver<M: Model>(ch: &mut dyn Channel, p: Parameters, backend: Backend, seed: u128) -> Result<Receiver<M>> {
    Receiver::with_parameters(p, ch, &SESSION, Dealt::<M>(backend, PhantomData), &mut rng(seed))
}

/// Both sides, for iterations over messages.
fn both<M: Model>(p: Parameters, seeds: [u128; 2]) -> (Sender<M>, Receiver<M>) {
    let (ref mut ours, ref mut theirs) = comity_channel::memory::pair();
    let receiver = receiver(theirs, p, Backend::detect(), seeds[1]);
    (sender(ours, p, Backend::detect(), seeds[0]), receiver)
}

/// Calls of these sizes, with given and with random choice bits in turn: `q`, and `t` with the choice bits.
#[allow(clippy::type_complexity, reason = "two lists of calls")]
fn calls<M: Model>(backends: [Backend; 2], sizes: &[usize]) -> (Vec<Vec<Block>>, Vec<(Bits, Vec<Block>)>) {
    Pair::run(
        |ch| {
            let mut sender = sender::<M>(ch, SMALL, backends[0], 1);
            assert_eq!(sender.delta(), DELTA);
            let call = |(i, &n): (usize, &usize)| {
                let mut q = vec![Block::ZERO; n];
                if i % 2 == 0 { sender.extend(ch, &mut q) } else { sender.extend_random(ch, &mut q) }.unwrap();
                q
            };
            sizes.iter().enumerate().map(call).collect()
        },
        |ch| {
            let mut receiver = receiver::<M>(ch, SMALL, backends[1], 2);
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

fn holds(what: &str, q: &[Block], choices: &Bits, t: &[Block]) {
    assert_eq!((q.len(), q.len()), (t.len(), choices.len()));
    for (j, (q, t)) in q.iter().zip(t).enumerate() {
        assert!(*q == *t ^ DELTA.masked(choices.get(j)), "{what}, OT {j}");
    }
}

fn every_size<M: Model>() {
    // Within a tree, to the end of an iteration, over several, and past the largest piece with given choice bits.
    let sizes = [1, 0, 63, 64, 65, 0, FREE - 193, FREE, 1, FREE, 3 * FREE + 77, 5000, (1 << 17) + 9, 7];
    let (q, t) = calls::<M>([Backend::detect(); 2], &sizes);
    for (call, (q, (choices, t))) in q.iter().zip(&t).enumerate() {
        holds(&format!("{}, call {call}", M::NAME), q, choices, t);
    }
    let mut all: Vec<u128> = q.iter().flatten().map(|q| q.to_u128() >> 1).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "nothing repeats");
    let choices = &t[11].0;
    let (n, ones) = (choices.len() as f64, choices.iter().filter(|&bit| bit).count() as f64);
    assert!((ones - n / 2.0).abs() < 3.0 * n.sqrt(), "{ones} ones of {n}");
}

#[test]
fn the_correlation_holds_for_every_size() {
    every_size::<SemiHonest>();
    every_size::<Malicious>();
}

#[test]
fn backends_meet_and_agree() {
    let all = Backend::available();
    let expected = calls::<Malicious>([all[0]; 2], &[130, 1500]);
    for &ours in &all {
        for &theirs in &all {
            let got = calls::<Malicious>([ours, theirs], &[130, 1500]);
            assert!(got == expected, "sender on {ours}, receiver on {theirs}");
        }
    }
}

/// Tier 1: iterations over messages, each held against the textbook.
#[test]
fn every_message_is_that_of_the_textbook() {
    let (mut sender, mut receiver) = both::<Malicious>(SMALL, [1, 2]);
    let (q, choices) = dealt(SMALL.reserved());
    let session = receiver.state.session;
    let mut book = textbook::Textbook::new(SMALL, session, DELTA, &q, &choices);
    for iteration in 0..3 {
        let what = format!("iteration {iteration}");
        let (offered, trees) = sender.offer().unwrap();
        let bytes = trees.to_bytes();
        book.iteration(iteration, bytes[..16].try_into().unwrap());
        assert!(bytes[16..] == *book.message(), "{what}: trees");
        let accepted = receiver.accept(&Trees::from_bytes(&bytes, &SMALL).unwrap()).unwrap();
        let challenge = Challenge::from_bytes(&accepted.challenge().to_bytes());
        assert!(challenge.to_bytes()[16..] == book.ends(challenge.point).to_bytes(), "{what}: the paths' ends");
        let answer;
        (sender, answer) = offered.answer(&challenge);
        assert!(
            answer == Answer::bind(&session, iteration, &challenge, book.leaves(challenge.point, challenge.ends)),
            "{what}: answer"
        );
        receiver = accepted.check(&Answer::from_bytes(answer.to_bytes())).unwrap();
        let (mut ours, mut theirs) = (vec![Block::ZERO; FREE + 5], vec![Block::ZERO; FREE + 5]);
        assert_eq!((sender.take(&mut ours), receiver.take(&mut theirs)), (FREE, FREE), "{what}");
        assert!(ours[..FREE] == book.q()[..] && theirs[..FREE] == book.t()[..], "{what}: outputs");
        book.next();
    }
}

/// All else alike, session and all that the sender draws: the code is another one where the receiver draws
/// another nonce. Else a sender that can choose among sessions looks for a code that hides the receiver's
/// noise badly.
#[test]
fn the_receivers_nonce_picks_the_code() {
    let outputs = |receivers: u128| {
        let (sender, receiver) = both::<SemiHonest>(SMALL, [1, receivers]);
        assert!(sender.state.session == receiver.state.session && receiver.state.session != SESSION);
        let (offered, trees) = sender.offer().unwrap();
        let (mut sender, mut q) = (offered.finish(), vec![Block::ZERO; FREE]);
        sender.take(&mut q);
        (trees, q)
    };
    let (one, same, other) = (outputs(2), outputs(2), outputs(3));
    assert!(one == same && one.0 == other.0);
    let alike = one.1.iter().zip(&other.1).filter(|(one, other)| one == other).count();
    assert_eq!(alike, 0, "of {FREE} outputs");
}

#[test]
fn semi_honest_iterations_need_one_message() {
    let (mut sender, mut receiver) = both::<SemiHonest>(SMALL, [1, 2]);
    let [mut q, mut t] = [(); 2].map(|()| vec![Block::ZERO; 100]);
    assert_eq!(sender.take(&mut q), 0, "nothing before the first iteration");
    let (offered, trees) = sender.offer().unwrap();
    (sender, receiver) = (offered.finish(), receiver.accept(&trees).unwrap().finish());
    assert_eq!((sender.take(&mut q), receiver.take(&mut t)), (100, 100));
    holds("one iteration", &q, &t.iter().map(|t| t.lsb()).collect(), &t);
    assert!(matches!(sender.offer().map(drop), Err(Error { kind: Kind::InvalidInput(_), .. })), "outputs are left");
    assert!(
        matches!(receiver.accept(&trees).map(drop), Err(Error { kind: Kind::InvalidInput(_), .. })),
        "outputs are left"
    );
}

/// A semi-honest iteration that a call over a channel began tells its trees as they are needed: without the
/// channel there is only what is left of the last one, and no other iteration.
#[test]
fn outputs_of_a_told_iteration_need_the_channel() {
    // The sixth tree has 64 outputs; the reserve takes 32 of them, and the first call three.
    const LEFT: usize = 64 - 32 - 3;
    let run = |more: usize| {
        Pair::run(
            |ch| {
                let mut sender = sender::<SemiHonest>(ch, SMALL, Backend::detect(), 1);
                let mut q = vec![Block::ZERO; 3 + LEFT + more];
                sender.extend_random(ch, &mut q[..3]).unwrap();
                assert_eq!(sender.take(&mut q[3..]), LEFT);
                assert_eq!(sender.take(&mut [Block::ZERO; 100]), 0);
                sender.extend_random(ch, &mut q[3 + LEFT..]).unwrap();
                (q, sender.offer().map(drop))
            },
            |ch| {
                let mut receiver = receiver::<SemiHonest>(ch, SMALL, Backend::detect(), 2);
                let mut t = vec![Block::ZERO; 3 + LEFT + more];
                receiver.extend_random(ch, &mut t[..3]).unwrap();
                assert_eq!(receiver.take(&mut t[3..]), LEFT);
                assert_eq!(receiver.take(&mut [Block::ZERO; 100]), 0);
                receiver.extend_random(ch, &mut t[3 + LEFT..]).unwrap();
                let trees = Trees { nonce: Block::ZERO, sums: vec![Block::ZERO; 16 * 5] };
                (t, receiver.accept(&trees).map(drop))
            },
        )
    };
    for (more, whole) in [(100, false), (FREE - 3 - LEFT, true)] {
        let ((q, offered), (t, accepted)) = run(more);
        holds("told", &q, &t.iter().map(|t| t.lsb()).collect(), &t);
        for result in [offered, accepted] {
            assert!(
                if whole { result.is_ok() } else { matches!(result, Err(Error { kind: Kind::InvalidInput(_), .. })) },
                "{more} more"
            );
        }
    }
}

/// Makes an iteration with a sender that changes its message, and answers for `leaves`.
fn cheat(p: Parameters, seed: u128, change: impl Fn(&mut Trees), extra: impl Fn(Block) -> Block) -> Result<()> {
    let (sender, receiver) = both::<Malicious>(p, [seed, seed + 1]);
    let (mut offered, mut trees) = sender.offer()?;
    change(&mut trees);
    let accepted = receiver.accept(&trees)?;
    let challenge = accepted.challenge();
    let answer = offered.0.answer_with(&challenge, extra(challenge.point));
    accepted.check(&answer).map(drop)
}

fn caught(result: Result<()>) -> bool {
    match result {
        Ok(()) => false,
        Err(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_CORRELATION), .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_wrong_block_in_any_tree_is_caught() {
    let none = |_| Block::ZERO;
    assert!(!caught(cheat(SMALL, 5, |_| (), none)));
    for place in 0..SMALL.trees * (SMALL.depth - 1) {
        assert!(caught(cheat(SMALL, 5, |trees| trees.sums[place] ^= Block::from_u128(1 << (place % 128)), none)));
    }
    assert!(caught(cheat(SMALL, 5, |trees| trees.nonce ^= Block::from_u128(1), none)));
    assert!(caught(cheat(SMALL, 5, |_| (), |_| Block::from_u128(1))));
}

/// A sender that guesses all of a path but its last step may lie there: it passes if the guess is right, and only then.
#[test]
fn a_guessed_path_passes_as_often_as_the_bound_says() {
    let p = Parameters { trees: 40, depth: 4, dimension: 128 };
    let lie = Block::from_u128(0x5a);
    let guess = 5;
    // The paths are those of the dealt choice bits, so lie in one tree after the other.
    let mut passed = 0;
    let (_, choices) = dealt(p.reserved());
    for tree in 0..p.trees {
        let extra = |point: Block| {
            // Both leaves below node 5 of the last level but one.
            let power =
                |n: usize| (0..n).fold(Block::from_u128(1), |power, _| gf128::mul(Backend::detect(), power, point));
            let after = 16 * (p.trees - 1 - tree);
            gf128::mul(Backend::detect(), lie, power(after + guess) ^ power(after + guess + 8))
        };
        let path = (0..3).map(|i| usize::from(!choices.get(p.dimension + 4 * tree + i)) << i).sum::<usize>();
        let caught = caught(cheat(p, 9, |trees| trees.sums[3 * tree + 2] ^= lie, extra));
        assert_eq!(caught, path != guess, "tree {tree}");
        passed += usize::from(!caught);
    }
    assert!((1..15).contains(&passed), "{passed} of 40, where one in eight is expected");
}

#[test]
fn lengths_are_checked() {
    let bytes = 16 * (1 + 16 * 5);
    assert!(Trees::from_bytes(&vec![0; bytes], &SMALL).is_ok());
    for len in [0, 15, 16, bytes - 1, bytes + 1, bytes + 16] {
        assert!(
            matches!(Trees::from_bytes(&vec![0; len], &SMALL), Err(Error { kind: Kind::Malformed(_), .. })),
            "{len}"
        );
    }
    let (ref mut ch, _other) = comity_channel::memory::pair();
    let other = Parameters { depth: 5, ..SMALL };
    let trees = Trees::from_bytes(&vec![0; 16 * (1 + 16 * 4)], &other).unwrap();
    let receiver = receiver::<Malicious>(ch, SMALL, Backend::detect(), 1);
    assert!(matches!(receiver.accept(&trees).map(drop), Err(Error { kind: Kind::Malformed(_), .. })));
    let mut receiver = self::receiver::<Malicious>(ch, SMALL, Backend::detect(), 1);
    let error = receiver.extend(ch, &bits(3, 1), &mut [Block::ZERO; 4]).unwrap_err();
    assert!(
        matches!(&error, Error { kind: Kind::InvalidInput(text), .. } if text.contains('3') && text.contains('4')),
        "{error}"
    );
    // A mistake that nothing was sent for: it goes on.
    receiver.extend(ch, &bits(0, 1), &mut []).unwrap();
}

#[test]
fn bits_past_the_last_choice_are_refused() {
    let (error, ()) = Pair::run(
        |ch| sender::<SemiHonest>(ch, SMALL, Backend::detect(), 1).extend(ch, &mut [Block::ZERO; 3]).unwrap_err(),
        |ch| {
            let mut receiver = receiver::<SemiHonest>(ch, SMALL, Backend::detect(), 2);
            receiver.extend_random(ch, &mut [Block::ZERO; 3]).unwrap();
            ch.send(&[8]).and_then(|()| ch.flush()).unwrap();
        },
    );
    assert!(matches!(error, Error { kind: Kind::Malformed(_), .. }), "{error}");
}

#[test]
fn an_error_ends_the_extension() {
    let (errors, ()) = Pair::run(
        |ch| {
            let mut receiver = receiver::<Malicious>(ch, SMALL, Backend::detect(), 2);
            let mut out = [Block::ZERO; 100];
            let first = receiver.extend_random(ch, &mut out).unwrap_err();
            assert!(out == [Block::ZERO; 100], "nothing unchecked gets out");
            let second = receiver.extend_random(ch, &mut []).unwrap_err();
            let third = receiver.accept(&Trees { nonce: Block::ZERO, sums: vec![Block::ZERO; 80] }).map(drop);
            [first, second, third.unwrap_err()]
        },
        |ch| {
            ch.send(&[0x5a; 16 * 81 + 32]).unwrap();
            ch.recv(&mut [0; Block::BYTES + Challenge::BYTES]).unwrap();
        },
    );
    assert!(
        matches!(errors[0], Error { kind: Kind::Misbehaved(checks::INCONSISTENT_CORRELATION), .. }),
        "{}",
        errors[0]
    );
    assert!(errors[1..].iter().all(|error| matches!(error, Error { kind: Kind::InvalidInput(_), .. })));
    for sent in [0, 31] {
        let (errors, ()) = Pair::run(
            |ch| {
                let mut sender = sender::<Malicious>(ch, SMALL, Backend::detect(), 2);
                [(); 2].map(|()| sender.extend_random(ch, &mut [Block::ZERO; 100]).unwrap_err())
            },
            |ch| {
                ch.send(&[0; Block::BYTES]).and_then(|()| ch.flush()).unwrap();
                ch.recv(&mut [0; 16 * 81]).unwrap();
                ch.send(&vec![1; sent]).and_then(|()| ch.flush()).unwrap();
            },
        );
        assert!(matches!(errors[0], Error { kind: Kind::Closed, .. }), "after {sent} bytes: {}", errors[0]);
        assert!(matches!(errors[1], Error { kind: Kind::InvalidInput(_), .. }));
    }
}

fn sending<M: Model>(ch: &mut dyn Channel, session: u64) -> Result<[Vec<Block>; 2]> {
    let mut sender = new_sender::<M>(ch, SMALL, Backend::detect(), u128::from(session) + 1)?;
    let mut q = [vec![Block::ZERO; 800], vec![Block::ZERO; 13]];
    sender.extend_random(ch, &mut q[0])?;
    sender.extend(ch, &mut q[1])?;
    Ok(q)
}

fn receiving<M: Model>(ch: &mut dyn Channel, session: u64) -> Result<[Vec<Block>; 2]> {
    let mut receiver = new_receiver::<M>(ch, SMALL, Backend::detect(), u128::from(session) + 7)?;
    let mut t = [vec![Block::ZERO; 800], vec![Block::ZERO; 13]];
    receiver.extend_random(ch, &mut t[0])?;
    receiver.extend(ch, &bits(13, 1), &mut t[1])?;
    Ok(t)
}

fn deviations<M: Model>(judge: impl FnMut(&Case, &Verdict<bool>, &Verdict<bool>)) -> usize {
    let honest = [0, 1].map(|session| Pair::run(|ch| sending::<M>(ch, session), |ch| receiving::<M>(ch, session)));
    let honest = honest.map(|(q, t)| (q.unwrap(), t.unwrap()));
    deviate(
        200,
        |ch, session| sending::<M>(ch, session).map(|q| q[0] == honest[session as usize].0[0]),
        |ch, session| receiving::<M>(ch, session).map(|t| t == honest[session as usize].1),
        judge,
    )
}

#[test]
fn no_deviation_makes_a_malicious_run_wrong() {
    let mut caught = 0;
    let runs = deviations::<Malicious>(|case, sender, receiver| {
        never_wrong(case, sender, receiver);
        let named = Error::from(checks::INCONSISTENT_CORRELATION).to_string();
        caught += usize::from(receiver.error().is_some_and(|error| error.to_string() == named));
    });
    assert!(runs > 50 && caught > 10, "{runs} runs, {caught} caught by the check");
}

#[test]
fn no_deviation_makes_a_semi_honest_run_hang_or_panic() {
    assert!(deviations::<SemiHonest>(|_, _, _| ()) > 10);
}
