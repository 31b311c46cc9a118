//! The harness itself: it must find what is wrong, and only that.

use std::sync::Mutex;

use comity_channel::{Channel, Error, Result};
use comity_core::{Backend, Block, Kind, Prg};
use comity_testing::{Case, Deviation, Net, Pair, Verdict, assert_realizes, deviate, never_wrong};

#[test]
fn a_pair_runs_side_by_side() {
    let turn = |first: bool| {
        move |ch: &mut comity_channel::MemoryChannel| -> Result<u8> {
            let mut byte = [0];
            ch.exchange(&[u8::from(first)], &mut byte)?;
            Ok(byte[0])
        }
    };
    let (a, b) = Pair::run(turn(true), turn(false));
    assert_eq!((a.unwrap(), b.unwrap()), (0, 1));
}

#[test]
#[should_panic(expected = "party 1 panicked: no luck")]
fn a_panic_names_the_party() {
    let _ = Pair::run(|ch| ch.recv(&mut [0]), |_| -> () { panic!("no luck") });
}

#[test]
#[should_panic(expected = "party 2 panicked: it is 2")]
fn a_panic_in_a_net_names_the_party() {
    Net::<3>::run(|mesh| assert!(mesh.me().0 != 2, "it is {}", mesh.me()));
}

#[test]
#[should_panic(expected = "run 0: party 1's output is not the ideal one")]
fn a_wrong_output_is_not_ideal() {
    assert_realizes(3, |_| ((), ()), |(), ()| ((), 5), |_, (), _| Ok(()), |_, (), _| Ok(6));
}

#[test]
fn a_lost_message_is_not_waited_for() {
    let mut lost = 0;
    deviate(
        1000,
        sender,
        |ch, _| receiver(ch, true),
        |case, verdict0, verdict1| {
            // The pad of party 0, or what party 1 says to it.
            if case.deviation == Deviation::Drop && case.message == 0 {
                for error in [verdict0.error(), verdict1.error()] {
                    assert!(
                        matches!(error, Some(Error { kind: Kind::TimedOut(text), .. }) if text.contains("deadlock")),
                        "{case:?}: {error:?}"
                    );
                }
                lost += 1;
            }
        },
    );
    assert_eq!(lost, 2);
}

/// Party 0 sends a random pad, waits for a byte, and sends a sealed 42 with a check over the pad; party 1 opens it.
fn sender(ch: &mut Box<dyn Channel>, session: u64) -> Result<()> {
    let pad = Prg::new(Backend::detect(), Block::from_u128(u128::from(session))).block();
    let bytes = pad.to_bytes();
    ch.send(&bytes)?;
    ch.recv(&mut [0])?;
    ch.send(&[bytes[0] ^ 42])?;
    ch.flush()?;
    ch.send(&[bytes.iter().fold(42, |sum: u8, byte| sum.rotate_left(3) ^ byte)])?;
    ch.flush()
}

fn receiver(ch: &mut Box<dyn Channel>, checked: bool) -> Result<u8> {
    let (mut pad, mut sealed, mut check) = ([0; 16], [0], [0]);
    ch.recv(&mut pad)?;
    ch.send(&[1])?;
    ch.recv(&mut sealed)?;
    ch.recv(&mut check)?;
    let value = pad[0] ^ sealed[0];
    if checked && (check[0] != pad.iter().fold(42, |sum: u8, byte| sum.rotate_left(3) ^ byte) || value != 42) {
        return Err(Error::malformed("the check is wrong"));
    }
    Ok(value)
}

#[test]
fn a_checked_protocol_passes() {
    let mut seen: Vec<(usize, usize, Deviation)> = Vec::new();
    let runs = deviate(
        1000,
        sender,
        |ch, _| receiver(ch, true),
        |case, verdict0, verdict1| {
            never_wrong(case, verdict0, verdict1);
            seen.push((case.party, case.message, case.deviation));
            if case.party == 0 && matches!(case.deviation, Deviation::Drop | Deviation::Flip | Deviation::Replay) {
                assert!(verdict1.error().is_some(), "{case:?}: {verdict1:?}");
            }
            if case.deviation == Deviation::Lose && case.change.at < 18 {
                assert!(
                    matches!(verdict1, Verdict::Abort(Error { kind: Kind::Closed, .. })) || case.party == 1,
                    "{case:?}"
                );
            }
        },
    );
    assert_eq!(runs, seen.len());
    // Three messages of party 0, one of party 1. The last ones have no next; party 1's is the same in each session.
    let count = |deviation| seen.iter().filter(|case| case.2 == deviation).count();
    assert_eq!([Deviation::Flip, Deviation::Truncate, Deviation::Drop, Deviation::Duplicate].map(count), [12, 4, 4, 4]);
    assert_eq!([Deviation::Reorder, Deviation::Replay, Deviation::Lose].map(count), [2, 3, 6]);
}

#[test]
fn an_unchecked_protocol_is_caught() {
    let wrong = Mutex::new(Vec::new());
    let judge = |case: &Case, _: &Verdict<()>, verdict: &Verdict<u8>| {
        if let Verdict::Wrong(_) = verdict {
            wrong.lock().unwrap().push(case.deviation);
        }
    };
    deviate(1000, sender, |ch, _| receiver(ch, false), judge);
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.contains(&Deviation::Flip) && wrong.contains(&Deviation::Replay), "{wrong:?}");
    let caught = std::panic::catch_unwind(|| deviate(1000, sender, |ch, _| receiver(ch, false), never_wrong));
    assert!(caught.is_err());
}

#[test]
fn the_number_of_runs_is_bounded() {
    let mut ways = Vec::new();
    let runs = deviate(10, sender, |ch, _| receiver(ch, true), |case, _, _| ways.push((case.party, case.deviation)));
    assert_eq!(runs, 10);
    ways.dedup();
    assert!(ways.len() >= 7, "{ways:?}");
    assert!(ways.iter().any(|way| way.0 == 1));
}

#[test]
#[should_panic(expected = "party 1 panicked: 6 is not 7")]
fn a_panic_in_a_broken_run_fails() {
    let trusting = |ch: &mut Box<dyn Channel>, _| -> Result<()> {
        let mut byte = [0];
        ch.recv(&mut byte)?;
        assert!(byte[0] == 7, "{} is not 7", byte[0]);
        Ok(())
    };
    deviate(1000, |ch, _| ch.send(&[7]).and_then(|()| ch.flush()), trusting, |_, _, _| {});
}
