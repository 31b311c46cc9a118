//! The laws of listeners and of what is drawn, against protocols that break them.

use comity_core::{Bits, Result};
use comity_protocol::{Adversary, Card, CardKind, Corrupt, Job, Party, Protocol, Supplies, Takes};
use comity_testing::laws::{Laws, assert_fresh, fresh, listener, said_by_two};

/// What parties tell each other of their inputs.
#[derive(Clone, Copy)]
enum Tells {
    /// The input and a pad in their sum, and the pad.
    Words,
    /// The input and two pads in their sum, and the pads.
    Thirds,
    /// As words, and the bits are one place further on.
    Bits,
    /// Each bit, if a coin says so, and else zero.
    Often,
    /// The sum of the input and a pad.
    Nothing,
}

struct Telling(Tells);

static CARD: Card = Card {
    name: "telling",
    kind: CardKind::Protocol,
    paper: "none",
    parties: 3..=3,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: comity_circuit::Goal::Size,
    offline: &[],
    options: &[],
    phases: &[],
    summary: "a test",
    protects: "nothing",
    risk: "all",
    about: "A test.",
};

impl Protocol for Telling {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        // All say the same number of bits: a party that puts in nothing has zeros.
        let bits = job.program.inputs()[0].bits;
        let own = job.inputs.iter().flatten().next().cloned().unwrap_or_else(|| Bits::zeros(bits));
        let mut random = || {
            let mut bytes = vec![0; own.len().div_ceil(8)];
            me.rng.fill_bytes(&mut bytes);
            Bits::from_bytes(&bytes, own.len())
        };
        let (mut first, mut second) = (random(), random());
        let third = matches!(self.0, Tells::Thirds).then(&mut random);
        match self.0 {
            Tells::Words => {
                first.clone_from(&second);
                first.xor_assign(&own);
            }
            Tells::Thirds => {
                first.clone_from(&second);
                third.iter().chain([&own]).for_each(|other| first.xor_assign(other));
            }
            Tells::Bits => {
                first = (0..own.len()).map(|i| own.get((i + 1) % own.len()) ^ second.get(i)).collect();
            }
            Tells::Often => first = own.iter().zip(second.iter()).map(|(bit, coin)| bit & coin).collect(),
            Tells::Nothing => first.xor_assign(&own),
        }
        if matches!(self.0, Tells::Often) {
            second = random();
        }
        for message in [first, second].into_iter().chain(third) {
            me.net.tell(&message.to_bytes())?;
        }
        Ok(())
    }
}

const LISTENED: Laws = Laws { listened: 400, ..Laws::USUAL };

#[test]
#[should_panic(expected = "as the XOR of 2 pieces")]
fn a_sum_and_its_pad_are_heard() {
    listener(&Telling(Tells::Words), &Laws { listened: 12, ..LISTENED });
}

#[test]
#[should_panic(expected = "as the XOR of 3 pieces")]
fn a_sum_and_two_pads_are_heard() {
    listener(&Telling(Tells::Thirds), &Laws { listened: 12, ..LISTENED });
}

#[test]
#[should_panic(expected = "those that its outputs tell")]
fn bits_that_moved_are_counted() {
    listener(&Telling(Tells::Bits), &LISTENED);
}

#[test]
#[should_panic(expected = "tell inputs of equal outputs apart")]
fn what_is_told_often_is_seen() {
    listener(&Telling(Tells::Often), &Laws { listened: 1600, ..LISTENED });
}

#[test]
fn what_is_hidden_is_not_heard() {
    listener(&Telling(Tells::Nothing), &LISTENED);
}

#[test]
#[should_panic(expected = "what the parties of telling say")]
fn another_wire_than_the_pinned_one_is_seen() {
    fresh(&Telling(Tells::Nothing), &Laws { wire: &["none"], ..LISTENED });
}

#[test]
fn what_is_the_same_in_two_runs_is_counted() {
    let run = |same: &'static [u8]| {
        move |seed: u128| {
            said_by_two(
                |ch| {
                    ch.send(same)?;
                    ch.send(&seed.to_le_bytes().map(|byte| byte ^ 0x5a))?;
                    ch.flush()
                },
                |ch| ch.recv(&mut vec![0; same.len() + 16]),
            )
        }
    };
    assert_fresh(0, run(&[]));
    assert_fresh(2, run(&[[1; 16], [2; 16], [1; 16]].concat().leak()[..]));
    let miscounted = std::panic::catch_unwind(|| assert_fresh(0, run(&[7; 16])));
    assert!(miscounted.is_err(), "a constant is no news");
}
