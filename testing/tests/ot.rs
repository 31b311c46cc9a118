//! The harness for oblivious transfer sees what is wrong: a dealer who gives both parties what he likes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use comity_channel::memory;
use comity_core::{Backend, Bits, Block, Prg, SessionId};
use comity_ot::base::BaseOt;
use comity_testing::ot::{
    Choices, CommittingOt, DealtBaseOts, DeltaOt, FixedDelta, Flavour, MessageOt, OpenedOt, RandomOt, ReactiveOt,
    SIZES, Stopped, holds,
};

fn rng() -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(3))
}

/// Judges one call of 2000 OTs whose outputs are made from the inputs.
fn judged<F: Flavour>(
    mut flavour: F,
    make: impl FnOnce(&F::SenderInput, &F::ReceiverInput, &mut Prg) -> (F::SenderOutput, F::ReceiverOutput),
) -> Result<(), String> {
    let mut rng = rng();
    let inputs = flavour.draw(2000, &mut rng);
    let outputs = make(&inputs.0, &inputs.1, &mut rng);
    flavour.judge(2000, &inputs, outputs)
}

fn pairs(rng: &mut Prg) -> Vec<[Block; 2]> {
    (0..2000).map(|_| [rng.block(), rng.block()]).collect()
}

fn pick(pairs: &[[Block; 2]], choices: &Bits) -> Vec<Block> {
    pairs.iter().zip(choices.iter()).map(|(pair, bit)| pair[usize::from(bit)]).collect()
}

/// A random OT of which one thing is broken.
fn random(
    choices: Choices,
    spoil: impl FnOnce(&mut Vec<[Block; 2]>, &mut Bits, &mut Vec<Block>),
) -> Result<(), String> {
    judged(RandomOt(choices), |_, bits, rng| {
        let mut pairs = pairs(rng);
        let mut bits = bits.clone();
        let mut chosen = pick(&pairs, &bits);
        spoil(&mut pairs, &mut bits, &mut chosen);
        (pairs, (bits, chosen))
    })
}

#[test]
fn random_ot_is_judged() {
    for choices in [Choices::Given, Choices::Random] {
        random(choices, |_, _, _| ()).unwrap();
        // One message is another one.
        random(choices, |_, _, chosen| chosen[77] = Block::ZERO).unwrap_err();
        random(choices, |pairs, bits, _| pairs[77][usize::from(bits.get(77))] = Block::ZERO).unwrap_err();
        // The receiver gets the other message, or both are the same.
        random(choices, |pairs, bits, chosen| chosen[9] = pairs[9][usize::from(!bits.get(9))]).unwrap_err();
        random(choices, |pairs, _, chosen| *pairs = chosen.iter().map(|&m| [m, m]).collect()).unwrap_err();
        // The other message follows from the chosen one, a bit of it is stuck, or one comes twice.
        let xor = |pairs: &mut Vec<[Block; 2]>, bits: &mut Bits, chosen: &mut Vec<Block>| {
            for ((pair, bit), chosen) in pairs.iter_mut().zip(bits.iter()).zip(chosen) {
                pair[usize::from(!bit)] = *chosen ^ Block::from_u128(77);
            }
        };
        random(choices, xor).unwrap_err();
        let stuck = |pairs: &mut Vec<[Block; 2]>, bits: &mut Bits, _: &mut Vec<Block>| {
            for (pair, bit) in pairs.iter_mut().zip(bits.iter()) {
                pair[usize::from(!bit)] = Block::from_u128(pair[usize::from(!bit)].to_u128() | 1 << 100);
            }
        };
        random(choices, stuck).unwrap_err();
        random(choices, |pairs, bits, _| {
            let message = pairs[0][usize::from(!bits.get(0))];
            pairs[1][usize::from(!bits.get(1))] = message;
        })
        .unwrap_err();
        // Too few.
        random(choices, |_, _, chosen| chosen.truncate(1999)).unwrap_err();
    }
    // Other choice bits than those that were given, and random ones that are not random.
    let flip = |pairs: &mut Vec<[Block; 2]>, bits: &mut Bits, chosen: &mut Vec<Block>| {
        bits.set(5, !bits.get(5));
        *chosen = pick(pairs, bits);
    };
    random(Choices::Given, flip).unwrap_err();
    random(Choices::Random, flip).unwrap();
    let zeros = |pairs: &mut Vec<[Block; 2]>, bits: &mut Bits, chosen: &mut Vec<Block>| {
        *bits = Bits::zeros(2000);
        *chosen = pick(pairs, bits);
    };
    random(Choices::Random, zeros).unwrap_err();
}

#[test]
fn correlated_ot_with_a_fixed_delta_is_judged() {
    let run = |other: Block, at: usize, second: Block| {
        let mut flavour = DeltaOt::new(Choices::Given);
        let mut rng = rng();
        let delta = rng.block();
        for delta in [delta, delta ^ second] {
            let inputs = flavour.draw(2000, &mut rng);
            let q: Vec<_> = (0..2000).map(|_| rng.block()).collect();
            let mut t: Vec<_> = q.iter().zip(inputs.1.iter()).map(|(q, bit)| *q ^ delta.masked(bit)).collect();
            t[at] ^= other;
            let choices = inputs.1.clone();
            flavour.judge(2000, &inputs, ((delta, q), (choices, t)))?;
        }
        Ok::<(), String>(())
    };
    run(Block::ZERO, 0, Block::ZERO).unwrap();
    run(Block::from_u128(1 << 90), 1999, Block::ZERO).unwrap_err();
    run(Block::ZERO, 0, Block::from_u128(1)).unwrap_err();
}

#[test]
fn the_leak_stops_everything_after_a_wrong_guess() {
    let (delta, choices) = (Block::from_u128(0b1011 << 60), Bits::zeros(1));
    let mut ideal = FixedDelta::new(delta);
    assert_eq!(ideal.leak(Block::from_u128(0b11 << 60), Block::from_u128(0b11 << 60)), Ok(()));
    assert!(ideal.is_delta(delta) && !ideal.is_delta(Block::ZERO));
    assert_eq!(ideal.corrupt_sender(&choices, &[Block::ZERO]), Ok(vec![Block::ZERO]));
    assert_eq!(ideal.leak(Block::from_u128(0b100 << 60), Block::from_u128(0b100 << 60)), Err(Stopped));
    assert_eq!(ideal.leak(Block::ZERO, Block::ZERO), Err(Stopped));
    assert_eq!(ideal.corrupt_sender(&choices, &[Block::ZERO]), Err(Stopped));
    assert_eq!(ideal.corrupt_receiver(&choices, &[Block::ZERO]), Err(Stopped));
}

#[test]
fn chosen_correlated_and_opened_messages_are_judged() {
    const LEN: usize = 20;
    let select = |[zeros, ones]: &[Vec<u8>; 2], choices: &Bits| -> Vec<u8> {
        let message = |(j, bit): (usize, bool)| if bit { &ones[LEN * j..][..LEN] } else { &zeros[LEN * j..][..LEN] };
        choices.iter().enumerate().flat_map(message).copied().collect()
    };
    for wrong in [false, true] {
        let spoil = |mut message: Vec<u8>| {
            message[123] ^= u8::from(wrong) << 4;
            message
        };
        let chosen = judged(MessageOt(Choices::Given, LEN), |messages, choices, _| {
            ((), (choices.clone(), spoil(select(messages, choices))))
        });
        assert_eq!(chosen.is_err(), wrong);
        let reactive = judged(ReactiveOt(LEN), |input, choices, rng| {
            let mut messages = [vec![0; input.len()], vec![0; input.len()]];
            rng.fill(&mut messages[0]);
            let [zeros, ones] = &mut messages;
            for ((one, zero), input) in
                ones.chunks_exact_mut(LEN).zip(zeros.chunks_exact(LEN)).zip(input.chunks_exact(LEN))
            {
                ReactiveOt::correlate(input, zero, one);
            }
            let got = spoil(select(&messages, choices));
            (messages[0].clone(), got)
        });
        assert_eq!(reactive.is_err(), wrong);
        let opened = judged(OpenedOt::new(LEN), |messages, choices, _| {
            let [zeros, ones] = messages.clone();
            ((), (select(messages, choices), [zeros, spoil(ones)]))
        });
        assert_eq!(opened.is_err(), wrong);
    }
    let mut ideal = CommittingOt::new(1);
    assert_eq!(ideal.call([b"ab", b"cd"], &Bits::from_bytes(&[0b10], 2)), b"ad");
    assert_eq!(ideal.call([b"e", b"f"], &Bits::zeros(1)), b"e");
    assert_eq!(ideal.open(), [b"abe".to_vec(), b"cdf".to_vec()]);
}

#[test]
fn a_run_is_held_against_its_functionality() {
    // Both parties know the seed: no OT at all, but the right outputs.
    let run = |wrong: usize| {
        holds(
            "both know everything",
            RandomOt(Choices::Given),
            &SIZES,
            |_, sizes| {
                let mut rng = rng();
                Ok(sizes.iter().map(|&n| (0..n).map(|_| [rng.block(), rng.block()]).collect()).collect())
            },
            |_, choices| {
                let mut rng = rng();
                let call = |choices: &Bits| {
                    let pairs: Vec<_> = (0..choices.len()).map(|_| [rng.block(), rng.block()]).collect();
                    let mut chosen = pick(&pairs, choices);
                    if chosen.len() == wrong {
                        chosen[wrong / 2] = Block::ZERO;
                    }
                    (choices.clone(), chosen)
                };
                Ok(choices.iter().map(call).collect())
            },
        );
    };
    run(usize::MAX);
    for wrong in &SIZES[1..] {
        assert!(catch_unwind(AssertUnwindSafe(|| run(*wrong))).is_err(), "{wrong} OTs");
    }
}

/// What both are dealt in a session belongs together, and is that session's alone.
#[test]
fn dealt_base_ots_are_ots_of_their_session() {
    let (mut ch, _other) = memory::pair();
    let choices: Bits = (0..300).map(|i| i % 3 == 0).collect();
    let mut dealt = |session: u8| {
        let session = SessionId::new([session; 32]);
        let sent = DealtBaseOts::send(&mut ch, &session, choices.len(), &mut rng()).unwrap();
        let received = DealtBaseOts::receive(&mut ch, &session, &choices, &mut rng()).unwrap();
        assert!(received.choices() == &choices && received.chosen() == pick(sent.pairs(), &choices));
        sent.pairs().as_flattened().to_vec()
    };
    let mut all = [dealt(1), dealt(2)].concat();
    all.sort_unstable_by_key(|block| block.to_u128());
    all.dedup();
    assert_eq!(all.len(), 4 * choices.len());
}
