//! Evaluators that are honest but for one lie: what the garbler makes of it, and what the liar learns.

use std::sync::Mutex;

use comity_channel::{Recorded, Replay};
use comity_circuit::Recipients;
use comity_core::{Block, Check};
use comity_testing::Pair;

use super::garblers::known;
use super::{Setting, Verdict, chosen, honest, program};
use crate::checks;
use crate::conduct::Act;

/// Bytes that encode no point: no field element; a negative one; one that belongs to no point.
const NO_POINTS: [[u8; 32]; 3] = [[0xff; 32], first_byte(1), first_byte(2)];

const fn first_byte(byte: u8) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[0] = byte;
    bytes
}

#[test]
fn points_that_nobody_honest_sends_are_refused_by_name() {
    let program = program(Recipients::All);
    Setting::new(&program, 4, 200).both().iter().for_each(points);
}

fn points(setting: &Setting<'_>) {
    let identity = [0; 32];
    for at in [0, 32] {
        let first = |point: [u8; 32]| {
            move |act: Act<'_>| {
                if let Act::First(first) = act {
                    first[at..at + 32].copy_from_slice(&point);
                }
            }
        };
        let refused = |point, misbehaviour| {
            let mut acts = 0;
            let ends = setting.run(|_| acts += 1, first(point));
            assert_eq!(ends.complaint(), Some(misbehaviour));
            // Offline at once: no batch is made with it.
            assert!(!setting.prepared || acts == 0);
        };
        refused(identity, checks::IDENTITY_POINT);
        NO_POINTS.into_iter().for_each(|point| refused(point, checks::INVALID_POINT));
    }
    let second = |point: [u8; 32]| {
        move |act: Act<'_>| {
            if let Act::Second(second) = act {
                *second = point;
            }
        }
    };
    for point in NO_POINTS {
        let ends = setting.run(honest, second(point));
        assert_eq!(ends.complaint(), Some(checks::INVALID_POINT));
    }
    // Any point does for `h1`. The evaluator can only make itself believe that it was cheated.
    let checking = Setting { evaluated: Some(vec![1]), ..setting.clone() };
    let mut answered = false;
    let ends = checking.run(|act| answered |= matches!(act, Act::Answer { .. }), second(identity));
    assert!(answered);
    assert_eq!(ends.verdict(&checking), Verdict::Abort(checks::INPUT_RECOVERY));
}

#[test]
fn a_guess_of_omega_opens_nothing_and_delta_opens_all() {
    let program = program(Recipients::All);
    for setting in (Setting { evaluated: Some(vec![0, 1, 3]), ..Setting::new(&program, 5, 210) }).both() {
        let delta = known(&setting)[0];
        for (omega, opens) in [(Block::ZERO, false), (delta ^ Block::from_u128(1), false), (delta, true)] {
            let ends = setting.run(honest, |act| {
                if let Act::Decoded(decoded) = act {
                    decoded.omega = omega;
                }
            });
            assert!(ends.opened == [opens; 3]);
            // Neither is to be seen by the garbler, nor of use to the evaluator's output.
            assert!(ends.garbler.expect("an output") == setting.expected());
            assert!(ends.evaluator.expect("an output") == setting.expected());
        }
    }
}

#[test]
fn who_evaluates_nothing_learns_nothing() {
    let program = program(Recipients::only(1));
    let setting = Setting::new(&program, 4, 220);
    let ends = setting.run(honest, |act| {
        if let Act::Choice(choice) = act {
            *choice = chosen(4, &[]);
        }
    });
    assert_eq!(ends.verdict(&setting), Verdict::Abort(checks::NO_VALID_COPY));
    assert!(ends.complaint().is_none() && ends.opened.is_empty());
}

#[test]
fn the_committing_ot_opens_to_nothing_else() {
    let program = program(Recipients::All);
    for setting in Setting::new(&program, 3, 230).both() {
        for byte in 0..48 {
            let ends = setting.run(honest, |act| {
                if let Act::Opening(opening) = act {
                    opening[byte] ^= 1 << (byte % 8);
                }
            });
            assert_eq!(ends.complaint(), Some(comity_ot::checks::WRONG_OPENING), "byte {byte}");
        }
    }
}

/// An evaluator that opens the committing OT before it gets `R`, and says all else early too: all bytes of an
/// honest run are there before the garbler starts.
#[test]
fn what_is_said_early_changes_nothing() {
    let program = program(Recipients::All);
    for setting in Setting::new(&program, 3, 240).both() {
        let recorded = Mutex::new(None);
        let (outputs, _) = Pair::run(
            |ch| {
                let mut ch = Recorded::new(ch, 1 << 24);
                let outputs = setting.party(&mut ch, 0, &mut honest);
                *recorded.lock().unwrap() = Some(ch.recorder().recording());
                outputs
            },
            |ch| setting.party(ch, 1, &mut honest),
        );
        let recording = recorded.into_inner().unwrap().expect("a recording");
        let mut ch = Recorded::new(Replay::of_peer(recording.received), 1 << 24);
        let early = setting.party(&mut ch, 0, &mut honest);
        assert!(early.unwrap() == outputs.unwrap());
        assert!(ch.recorder().recording().sent == recording.sent);
    }
}

#[test]
fn every_bit_that_is_passed_on_is_bound_by_the_tag() {
    let mut others = Vec::new();
    for to in [Recipients::All, Recipients::only(0)] {
        let program = program(to);
        for setting in Setting::new(&program, 3, 250).both() {
            let mut passed = Vec::new();
            let ends = setting.run(honest, |act| {
                if let Act::Passed(bytes) = act {
                    passed = bytes.to_vec();
                }
            });
            assert!(ends.garbler.expect("an output") == setting.expected());
            // 5 bits of output, 64 of the tag.
            assert_eq!(passed.len(), 9);
            let with = |replaced: &dyn Fn(&mut [u8])| {
                let mut other = passed.clone();
                replaced(&mut other);
                let ends = setting.run(honest, |act| {
                    if let Act::Passed(bytes) = act {
                        bytes.copy_from_slice(&other);
                    }
                });
                ends.complaint()
            };
            for bit in 0..69 {
                let flipped = with(&|bytes| bytes[bit / 8] ^= 1 << (bit % 8));
                assert_eq!(flipped, Some(checks::OUTPUT_TAG), "bit {bit}");
            }
            // What was right in another run.
            let other = Setting { seed: 251, ..setting.clone() };
            let ends = other.run(honest, |act| {
                if let Act::Passed(bytes) = act {
                    others = bytes.to_vec();
                }
            });
            assert!(ends.garbler.is_ok());
            assert_eq!(with(&|bytes| bytes.copy_from_slice(&others)), Some(checks::OUTPUT_TAG));
        }
    }
}

/// Checks that evaluators provoke: bad points, and an output that is not the one computed.
pub(super) fn caught() -> Vec<&'static Check> {
    let program = program(Recipients::All);
    let setting = Setting::new(&program, 4, 260);
    let caught = |lie: fn(Act<'_>)| setting.run(honest, lie).complaint();
    let named = [
        caught(|act| {
            if let Act::First(first) = act {
                first[..32].fill(0);
            }
        }),
        caught(|act| {
            if let Act::Second(second) = act {
                *second = NO_POINTS[0];
            }
        }),
        caught(|act| {
            if let Act::Passed(bytes) = act {
                bytes[0] ^= 1;
            }
        }),
    ];
    named.into_iter().flatten().collect()
}
