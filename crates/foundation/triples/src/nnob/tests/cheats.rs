//! The paper's attacks: what a guess gains that is right, and how the session ends if it is wrong.

use std::sync::{Arc, Mutex};

use comity_core::{Check, Kind};
use comity_testing::Pair;

use super::*;

use crate::checks;

const SPOILT: Block = Block::from_u128(1 << 77);

fn named<T>(result: &Result<T>, expected: &'static Check) -> bool {
    matches!(result, Err(Error { kind: Kind::Misbehaved(kind), .. }) if *kind == expected)
}

/// A value that a conduct reports to the test.
pub(super) type Report<T> = Arc<Mutex<T>>;

pub(super) fn report<T: Default>() -> (Report<T>, Report<T>) {
    let report = Report::default();
    (Arc::clone(&report), report)
}

/// Who cheats, by turns: all is symmetric, but for the order of messages.
fn seats(cheat: u16, cheater: Lie, other: Lie) -> [Lie; 2] {
    if cheat == 0 { [cheater, other] } else { [other, cheater] }
}

#[test]
fn a_false_sum_of_choices_is_named() {
    for cheat in [0, 1] {
        let liar = lie(|act| {
            if let Act::Sums(sums) = act {
                sums[1] ^= 4;
            }
        });
        let ends = run(30, seats(cheat, liar, honest()), |context, bits, ch| {
            bits.draw(context, ch, &mut [Block::ZERO; 1], &mut [Block::ZERO; 1])
        });
        assert!(named(&ends[usize::from(1 - cheat)], checks::LEAKY_BIT));
    }
}

/// LaAND: a key holder that spoils `U` learns `x` where it guessed right, and is named where it did not.
#[test]
fn selective_failure_of_an_and_is_a_guess_of_x() {
    let mut seen = [0; 2];
    for at in 0..40 {
        let (cheat, guess) = (at as u16 & 1, at & 2 == 2);
        let liar = lie(move |act| {
            if let Act::AndU { u, compared } = act {
                // Where x is one the peer's V changes as U does.
                u[5] ^= SPOILT;
                compared[5] ^= SPOILT.masked(guess);
            }
        });
        let (told, x) = report();
        let spy = lie(move |act| {
            if let Act::AndBits(bits) = act {
                *told.lock().unwrap() = bits[5][0].lsb();
            }
        });
        let ends = run(100 + at, seats(cheat, liar, spy), |context, bits, ch| laand(context, bits, ch, 20).map(drop));
        let (honest, right) = (&ends[usize::from(1 - cheat)], *x.lock().unwrap() == guess);
        assert!(if right { honest.is_ok() } else { named(honest, checks::LEAKY_AND) });
        seen[usize::from(right)] += 1;
    }
    assert!(seen.iter().all(|&n| n > 8), "{seen:?}");
}

#[test]
fn a_false_d_of_an_and_is_named() {
    for cheat in [0, 1] {
        for at in 0..8 {
            let liar = lie(move |act| {
                if let Act::AndD(d) = act {
                    d[0] ^= 1 << at;
                }
            });
            let ends =
                run(50, seats(cheat, liar, honest()), |context, bits, ch| laand(context, bits, ch, 20).map(drop));
            assert!(named(&ends[usize::from(1 - cheat)], checks::LEAKY_AND));
        }
    }
}

/// LaOT: a sender that spoils one of two messages learns which one was opened, or is named.
#[test]
fn selective_failure_of_an_ot_is_a_guess_of_the_choice() {
    // The MAC in X, the string T in X, the string T in I; and T in the other I, with what is compared.
    for lie_at in 0..4 {
        let mut seen = [0; 2];
        for at in 0..30 {
            let (cheat, guess) = (at as u16 & 1, usize::from(at & 2 == 2));
            let (told, messages) = report();
            let liar = lie(move |act| match act {
                Act::OtBits { sent, .. } => *told.lock().unwrap() = [0, 1].map(|i| sent[5][i].lsb()),
                Act::OtX(x) if lie_at < 2 => x[5][1 - guess][lie_at] ^= SPOILT,
                Act::OtI { i, .. } if lie_at == 2 => i[5][1 - guess] ^= SPOILT,
                Act::OtI { i, compared } if lie_at == 3 => {
                    i[5][guess] ^= SPOILT;
                    compared[5][1 - guess] ^= SPOILT;
                }
                _ => {}
            });
            let (told, choice) = report();
            let spy = lie(move |act| {
                if let Act::OtBits { received, .. } = act {
                    *told.lock().unwrap() = usize::from(received[5][2].lsb());
                }
            });
            let ends =
                run(200 + at, seats(cheat, liar, spy), |context, bits, ch| laot(context, bits, ch, 20).map(drop));
            let c = *choice.lock().unwrap();
            let opened = if lie_at < 2 { c } else { usize::from(messages.lock().unwrap()[c]) };
            let honest = &ends[usize::from(1 - cheat)];
            assert!(if opened == guess { honest.is_ok() } else { named(honest, checks::LEAKY_OT) });
            seen[usize::from(opened == guess)] += 1;
        }
        assert!(seen.iter().all(|&n| n > 5), "{lie_at}: {seen:?}");
    }
}

/// A sender whose bits and MACs do not belong together is named, whatever the choice.
#[test]
fn a_message_of_an_ot_without_its_mac_is_named() {
    let liar = lie(|act| {
        if let Act::OtX(x) = act {
            x[5].iter_mut().for_each(|x| x[0] ^= Block::from_u128(1));
        }
    });
    let ends = run(60, [liar, honest()], |context, bits, ch| laot(context, bits, ch, 20).map(drop));
    assert!(named(&ends[1], checks::LEAKY_OT));
}

#[test]
fn a_false_d_of_an_ot_is_named() {
    for cheat in [0, 1] {
        for at in 0..8 {
            let liar = lie(move |act| {
                if let Act::OtD(d) = act {
                    d[0] ^= 1 << at;
                }
            });
            let ends = run(70, seats(cheat, liar, honest()), |context, bits, ch| laot(context, bits, ch, 20).map(drop));
            assert!(named(&ends[usize::from(1 - cheat)], checks::LEAKY_OT));
        }
    }
}

/// All four reveals: `d` of the ANDs' and of the OTs' buckets, `d` of figure 6, and its `f` and `g`.
#[test]
fn false_bits_and_wrong_macs_in_any_reveal_are_named() {
    for cheat in [0, 1] {
        for reveal in 0..=4 {
            for kind in 0..4 {
                let (mut shown, mut hashed) = (0, 0);
                let liar = lie(move |act| match act {
                    Act::Shown(macs) => {
                        // One false bit; or two, whose MACs are wrong by the same.
                        let wrong = if kind == 0 { 1 } else { 2 };
                        if shown == reveal && kind < 2 {
                            macs[..wrong].iter_mut().for_each(|mac| *mac ^= Block::from_u128(1));
                        }
                        shown += 1;
                    }
                    Act::Macs(macs) => {
                        if hashed == reveal && kind >= 2 {
                            match kind {
                                2 => macs[7] ^= SPOILT,
                                _ => macs.swap(0, 1),
                            }
                        }
                        hashed += 1;
                    }
                    _ => {}
                });
                let [one, other] = seats(cheat, liar, honest());
                let (a, b) = Pair::run(|ch| deal(&mut small(0, 80, one), ch), |ch| deal(&mut small(1, 80, other), ch));
                if reveal == 4 {
                    // There is no fifth.
                    triples_hold(&a.unwrap(), &b.unwrap());
                } else {
                    let ends = [a, b];
                    assert!(
                        named(&ends[usize::from(1 - cheat)], comity_share::checks::WRONG_MAC),
                        "reveal {reveal}, kind {kind}"
                    );
                }
            }
        }
    }
}

/// What one session's dealer sent is nothing to another's.
#[test]
fn a_dealer_of_another_session_is_named() {
    let (a, b) = Pair::run(
        |ch| {
            let mut dealer = small(0, 90, honest());
            dealer.triples(ch, 1).map(drop)
        },
        |ch| {
            let context = context(1, 91, Backend::detect(), honest());
            let mut dealer = Nnob::with(context, bits(SMALL, 1, 90), budget());
            dealer.triples(ch, 1).map(drop)
        },
    );
    assert!(named(&b, checks::LEAKY_BIT) && a.is_err());
}

/// The checks that see party 0 lie: about its sums, an AND, a message of an OT, and what it shows.
pub(crate) fn cheats() -> Vec<&'static Check> {
    let lies: [fn(Act<'_>); 4] = [
        |act| {
            if let Act::Sums(sums) = act {
                sums[1] ^= 4;
            }
        },
        |act| {
            if let Act::AndD(d) = act {
                d[0] ^= 1;
            }
        },
        |act| {
            if let Act::OtX(x) = act {
                x[5].iter_mut().for_each(|x| x[0] ^= Block::from_u128(1));
            }
        },
        |act| {
            if let Act::Shown(macs) = act {
                macs[0] ^= Block::from_u128(1);
            }
        },
    ];
    let ended = lies.map(|liar| {
        Pair::run(|ch| deal(&mut small(0, 80, lie(liar)), ch), |ch| deal(&mut small(1, 80, honest()), ch)).1
    });
    ended.into_iter().filter_map(|ended| ended.err()?.check()).collect()
}
