//! Products of bits with offsets by OT, and who lies about them: the deviations of section 3.4, and false
//! messages of figure 8.

use core::ops::Range;
use std::sync::Mutex;

use comity_core::Kind;
use comity_share::Joint;
use comity_share::checks::{EQUIVOCATION, ROW_OPENING, WRONG_MAC};
use comity_share::joint::JointAct;
use comity_testing::Net;

use super::*;
use crate::checks::BIT_STRING;
use crate::{Masks, StringMasks};

/// Bits of a call, in the first chunk of several parties' OTs with the masking bits.
const BITS: usize = 20;

/// What a lie adds: neither bit 0 nor bit 1.
const CHANGE: Block = Block::from_u128(0x5a17 << 100 | 0x60);

type Lie<'l> = Box<dyn FnMut(JointAct<'_>) + Send + 'l>;

/// What a party holds of the bits of a call: its rows and its strings.
type Held = (Vec<Block>, Vec<Block>);

/// A party's end, and the offset that it had.
struct End {
    calls: Result<Vec<Held>>,
    offset: Block,
    /// Whether it refuses to go on.
    ended: bool,
}

fn run<'l, const N: usize>(calls: usize, false_shares: Option<u16>, lie: impl Fn(u16) -> Lie<'l> + Sync) -> Vec<End> {
    Net::<N>::run(|net| {
        let (me, parties) = (net.me(), net.parties());
        let session = SessionId::derive("test", &[b"strings"]);
        let here = Here::new(me, parties, session);
        let mut bits = Ideal::new(session.child("bits"), me.0.into(), parties.into());
        bits.false_from = if false_shares == Some(me.0) { 0 } else { usize::MAX };
        let joint = match Joint::with(net, here.child("offsets"), &mut laws::rng(me.0.into()), lie(me.0)) {
            Ok(joint) => joint,
            Err(error) => return End { calls: Err(error), offset: Block::ZERO, ended: true },
        };
        let mut masks = StringMasks::new(bits, joint);
        masks.ahead_of_inputs();
        let mut call = || {
            let mut rows = vec![Block::ZERO; masks.width() * BITS];
            masks.random(net, &mut rows)?;
            let strings = masks.times_offsets(net, rows.clone().into(), &[])?;
            Ok((rows, strings.to_vec()))
        };
        let calls: Result<Vec<Held>> = (0..calls).map(|_| call()).collect();
        let again = calls.is_err().then(call);
        let ended = again.is_some_and(|again| again.is_err_and(|e| matches!(e.kind, Kind::InvalidInput(_))));
        End { calls, offset: masks.offset(), ended }
    })
    .into()
}

fn honest<'l>() -> Lie<'l> {
    Box::new(|_| {})
}

/// Whether the strings of all parties add up to the products.
fn hold(ends: &[End]) -> bool {
    let n = ends.len();
    let calls: Vec<&Vec<Held>> = ends.iter().map(|end| end.calls.as_ref().expect("an honest run")).collect();
    (0..calls[0].len()).all(|call| {
        (0..BITS).all(|k| {
            let bit = calls.iter().fold(false, |bit, party| bit ^ party[call].0[k * n].lsb());
            (0..n).all(|j| {
                let sum = calls.iter().fold(Block::ZERO, |sum, party| sum ^ party[call].1[k * n + j]);
                sum == ends[j].offset.masked(bit)
            })
        })
    })
}

/// Every honest party ended, for good; some of them by this check, and none by another.
fn caught(ends: &[End], liars: &[u16], check: &'static comity_core::Check) {
    let honest = (0..).zip(ends).filter(|(id, _)| !liars.contains(id));
    let mut named = 0;
    for (id, end) in honest {
        assert!(end.ended, "party {id} goes on");
        let error = end.calls.as_ref().expect_err("an error");
        assert!(error.check().is_none_or(|other| other == check), "party {id}: {error}");
        named += usize::from(error.check() == Some(check));
    }
    assert!(named > 0, "nobody named it");
}

#[test]
fn products_are_those_of_all_offsets() {
    assert!(hold(&run::<2>(2, None, |_| honest())));
    assert!(hold(&run::<3>(3, None, |_| honest())));
    assert!(hold(&run::<5>(1, None, |_| honest())));
}

/// Of what is checked in sight a liar that spoils a bit, and knows where, has the others' offsets: `C_i` of
/// all adds up to a known multiple of `R^i`. So nothing is checked so unless it is said that no input takes
/// part yet; and not by blind checks.
#[test]
fn an_offset_is_shown_to_who_lies_ahead_of_inputs_alone() {
    const MASK: usize = 3;
    for ahead in [true, false] {
        let (own, heard) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let ends = Net::<2>::run(|net| {
            let (me, parties) = (net.me(), net.parties());
            let session = SessionId::derive("test", &[b"strings"]);
            let here = Here::new(me, parties, session);
            let bits = Ideal::new(session.child("bits"), me.0.into(), parties.into());
            let lie = |act: JointAct<'_>| match act {
                JointAct::Choices { choices, .. } if me.0 == 1 && choices.len() > 256 => {
                    choices.set(BITS + MASK, !choices.get(BITS + MASK));
                }
                JointAct::Combined(sums) if me.0 == 1 => own.lock().unwrap().push(sums[0]),
                JointAct::Hears { bytes, .. } if me.0 == 1 => {
                    heard.lock().unwrap().extend(bytes.as_chunks().0.iter().map(|&block| Block::new(block)));
                }
                _ => {}
            };
            let joint = Joint::with(net, here.child("offsets"), &mut laws::rng(me.0.into()), lie).unwrap();
            let mut masks = StringMasks::new(bits, joint);
            if ahead {
                masks.ahead_of_inputs();
            }
            let mut rows = vec![Block::ZERO; masks.width() * BITS];
            masks.random(net, &mut rows).unwrap();
            (masks.times_offsets(net, rows.into(), &[]).unwrap_err().check(), masks.offset())
        });
        assert_eq!(ends[0].0, Some(BIT_STRING));
        let times_bit = |offset| comity_core::gf128::mul(Backend::detect(), Block::from_u128(1 << MASK), offset);
        let (own, heard) = (own.into_inner().unwrap(), heard.into_inner().unwrap());
        let found = own.iter().any(|&own| heard.contains(&(own ^ times_bit(ends[0].1))));
        assert_eq!(found, ahead);
    }
}

/// One share that a liar chooses by, the same towards all, and another than the protocol for bits has; in the
/// first call, which is checked in sight, and in a later one, which is checked blind.
#[test]
fn false_choices_are_found() {
    fn lie<'l>(liars: &'static [u16], call: usize, bit: usize) -> impl Fn(u16) -> Lie<'l> {
        move |me| {
            let mut seen = [0; 9];
            let call = if liars.contains(&me) { call } else { usize::MAX };
            Box::new(move |act| {
                if let JointAct::Choices { peer, choices } = act
                    && choices.len() > 256
                {
                    // Two of the liars' lies would cancel.
                    seen[usize::from(peer.0)] += 1;
                    if seen[usize::from(peer.0)] == call && me == liars[0] {
                        choices.set(bit, !choices.get(bit));
                    }
                }
            })
        }
    }
    for bit in [0, BITS - 1, BITS + 5] {
        for call in [1, 2] {
            caught(&run::<2>(2, None, lie(&[1], call, bit)), &[1], BIT_STRING);
            caught(&run::<3>(2, None, lie(&[0], call, bit)), &[0], BIT_STRING);
        }
    }
    caught(&run::<3>(1, None, lie(&[0, 2], 1, 3)), &[0, 2], BIT_STRING);
    caught(&run::<5>(1, None, lie(&[1, 2, 3, 4], 1, 3)), &[1, 2, 3, 4], BIT_STRING);
}

/// An error of a masking bit whose products with all offsets a liar adds to what it commits to: right offsets
/// hide it, and spoil nothing but the mask; wrong ones do not.
#[test]
fn only_guessed_offsets_hide_an_error() {
    const MASK: usize = 3;
    for (guess, right) in [(Block::ZERO, true), (CHANGE, false)] {
        let offsets = Mutex::new([Block::ZERO; 3]);
        let ends = run::<3>(1, None, |me| {
            let (offsets, mut shown) = (&offsets, 0);
            Box::new(move |act| match act {
                JointAct::Key { delta, .. } => offsets.lock().unwrap()[usize::from(me)] = *delta,
                JointAct::Choices { choices, .. } if me == 1 && choices.len() > 256 => {
                    choices.set(BITS + MASK, !choices.get(BITS + MASK));
                }
                JointAct::Combined(sums) if me == 1 => {
                    // The first time, global keys are compared.
                    shown += 1;
                    let power = Block::from_u128(1 << MASK);
                    for (sum, &offset) in sums.iter_mut().zip(&*offsets.lock().unwrap()).filter(|_| shown == 2) {
                        *sum ^= comity_core::gf128::mul(Backend::detect(), power, offset ^ guess);
                    }
                }
                _ => {}
            })
        });
        match right {
            true => assert!(hold(&ends)),
            false => caught(&ends, &[1], BIT_STRING),
        }
    }
}

/// What OT gives an honest party whose peer uses another offset towards it than towards the rest: in all OTs,
/// which is found, and in that of one masking bit, which passes for whoever guesses this bit.
#[test]
fn one_offset_goes_to_all() {
    let lie = |other: Range<usize>| {
        move |me: u16| -> Lie<'static> {
            let (other, mut column) = (other.clone(), 0);
            Box::new(move |act| {
                if let JointAct::Holds { what: "Z", blocks } = act {
                    if me == 0 && column == 2 {
                        blocks[other.clone()].iter_mut().for_each(|block| *block ^= CHANGE.masked(block.lsb()));
                    }
                    column += 1;
                }
            })
        }
    };
    caught(&run::<3>(1, None, lie(0..BITS + 128)), &[2], BIT_STRING);
    caught(&run::<5>(1, None, lie(0..BITS)), &[1, 2, 3, 4], BIT_STRING);
    let mut passed = [0; 2];
    for mask in BITS..BITS + 6 {
        let ends = run::<3>(1, None, lie(mask..mask + 1));
        let right = ends[0].calls.is_ok();
        if right {
            assert!(hold(&ends))
        } else {
            caught(&ends, &[2], BIT_STRING)
        }
        passed[usize::from(right)] += 1;
    }
    assert!(passed[0] > 0 && passed[1] > 0, "a guess is right half of the time: {passed:?}");
}

/// The same error in the products with two offsets: in a blind check, too, each offset has a coefficient of its own.
#[test]
fn errors_in_two_products_do_not_cancel() {
    fn lie<'l, const N: usize>(call: usize) -> impl Fn(u16) -> Lie<'l> {
        move |me| {
            let mut columns = 0..;
            Box::new(move |act| {
                if let JointAct::Holds { what: "Z", blocks } = act
                    && let Some(column) = columns.next()
                    && me == 1
                    && column / N + 1 == call
                    && [0, N - 1].contains(&(column % N))
                {
                    blocks[3] ^= CHANGE;
                }
            })
        }
    }
    for call in [1, 2] {
        caught(&run::<2>(2, None, lie::<2>(call)), &[1], BIT_STRING);
        caught(&run::<3>(2, None, lie::<3>(call)), &[1], BIT_STRING);
    }
}

/// Messages that are not what they have to be, by one of two and of three.
#[test]
fn false_messages_are_named() {
    // Another share of the bits by which the parties compare.
    for liar in [0, 1] {
        caught(&run::<2>(1, Some(liar), |_| honest()), &[liar], WRONG_MAC);
        caught(&run::<3>(1, Some(liar), |_| honest()), &[liar], WRONG_MAC);
    }
    // Other sums than were committed to; the first ones are those of the global keys.
    let says = |message: &'static str, to: &'static [u16]| {
        move |me: u16| -> Lie<'static> {
            let mut seen = [0; 3];
            Box::new(move |act| match act {
                JointAct::Says { what, bytes, peer } if what == message && me == 1 && to.contains(&peer.0) => {
                    seen[usize::from(peer.0)] += 1;
                    if seen[usize::from(peer.0)] == 2 {
                        bytes[20] ^= 4;
                    }
                }
                _ => {}
            })
        }
    };
    caught(&run::<2>(1, None, says("rows", &[0])), &[1], ROW_OPENING);
    caught(&run::<3>(1, None, says("rows", &[0, 2])), &[1], ROW_OPENING);
    caught(&run::<3>(1, None, says("commitment to rows", &[0])), &[1], EQUIVOCATION);
    // False sums that are committed to.
    let ends = run::<3>(1, None, |me| {
        let mut shown = 0;
        Box::new(move |act| match act {
            JointAct::Combined(sums) if me == 1 => {
                shown += 1;
                sums[0] ^= CHANGE.masked(shown == 2);
            }
            _ => {}
        })
    });
    caught(&ends, &[1], BIT_STRING);
}

/// Of later calls, when something is masked under the offsets, no sums are shown.
#[test]
fn sums_are_shown_before_any_use_only() {
    let shown = Mutex::new(Vec::new());
    let ends = run::<2>(2, None, |me| {
        let (shown, mut calls) = (&shown, 0);
        Box::new(move |act| match act {
            JointAct::Holds { what: "Z", .. } => calls += 1,
            JointAct::Says { what: "rows", .. } if me == 0 => shown.lock().unwrap().push(calls),
            JointAct::Says { what: "product", .. } if me == 0 => shown.lock().unwrap().push(100 + calls),
            _ => {}
        })
    });
    assert!(hold(&ends));
    // A call has two columns. The first rows are those of the global keys.
    assert_eq!(*shown.lock().unwrap(), [0, 2, 104]);
}
