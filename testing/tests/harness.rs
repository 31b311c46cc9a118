//! The harness itself: it must find what is wrong, and only that.

use std::collections::BTreeSet;
use std::sync::Mutex;

use comity_channel::{Channel, Echo, Error, Mesh, Result, checks};
use comity_core::{Backend, Block, Kind, PartyId, Prg, SessionId};
use comity_testing::{
    BrokenRun, Case, Deviation, Net, Pair, Verdict, assert_realizes, deviate, deviate_among, never_wrong,
    never_wrong_among,
};

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

/// Each party says a byte of its own choice to all, under a pad that it says first; what the parties make of
/// it is to be alike.
fn choices(mesh: &mut Mesh<'_>, session: u64, settled: bool) -> Result<Vec<u8>> {
    let me = mesh.me().0;
    let pad = Prg::new(Backend::detect(), Block::from_u128(u128::from(session) << 16 | u128::from(me))).block();
    let mut echo = Echo::new(SessionId::new([1; 32]));
    let pad = [pad.to_bytes()[0]];
    let pads = mesh.broadcast(&mut echo, "pads", &pad)?;
    let said = mesh.broadcast(&mut echo, "choices", &[pad[0] ^ me as u8])?;
    if settled {
        let all = mesh.settle(echo)?;
        let (pads, said) = (pads.settled(&all), said.settled(&all));
        return Ok(opened(me, &pads.into_vec().concat(), &said.into_vec().concat()));
    }
    let all = |heard: &comity_channel::Heard| heard.unsettled().clone().into_vec().concat();
    Ok(opened(me, &all(&pads), &all(&said)))
}

fn opened(me: u16, pads: &[u8], said: &[u8]) -> Vec<u8> {
    let mut all: Vec<u8> = pads.iter().zip(said).map(|(pad, said)| pad ^ said).collect();
    all.insert(me.into(), me as u8);
    all
}

/// Those who are honest and go on have heard the same choices.
fn alike(run: &BrokenRun, verdicts: &[Verdict<Vec<u8>>]) -> bool {
    let honest: Vec<u8> = (0..verdicts.len() as u8).collect();
    let views: BTreeSet<&Vec<u8>> = (0..)
        .map(PartyId)
        .zip(verdicts)
        .filter(|(party, _)| !run.cheats(*party))
        .filter_map(|(_, verdict)| match verdict {
            Verdict::Correct => Some(&honest),
            Verdict::Wrong(view) => Some(view),
            Verdict::Abort(_) => None,
        })
        .collect();
    views.len() <= 1
}

#[test]
fn among_many_an_echo_keeps_views_alike() {
    for parties in [3, 4] {
        let (mut ways, mut cheats, mut noticed) = (Vec::new(), BTreeSet::new(), 0);
        let runs = deviate_among(
            parties,
            400,
            |mesh, session| choices(mesh, session, true),
            |run, verdicts| {
                assert!(alike(run, verdicts), "{run:?}: {verdicts:?}");
                ways.extend(run.lies.iter().map(|lie| lie.deviation));
                cheats.insert((0..parties).filter(|&party| run.cheats(PartyId(party))).collect::<Vec<_>>());
                let check = |verdict: &Verdict<_>| verdict.error().and_then(Error::check) == Some(checks::EQUIVOCATION);
                noticed += usize::from(verdicts.iter().any(check));
                // Whoever was lied to is not alone: nobody goes on with it.
                if let [lie] = &run.lies[..]
                    && lie.deviation == Deviation::Flip
                    && lie.message < 2
                {
                    for (party, verdict) in (0..).map(PartyId).zip(verdicts) {
                        assert!(party == lie.from || verdict.error().is_some(), "{run:?}: party {party} goes on");
                    }
                }
            },
        );
        assert_eq!(cheats.len(), (1 << parties) - 2, "each set that leaves somebody honest, but for none");
        assert!(runs > 150 && noticed > 20, "{runs} runs, {noticed} noticed");
        for way in [Deviation::Flip, Deviation::Truncate, Deviation::Drop, Deviation::Duplicate, Deviation::Reorder] {
            assert!(ways.contains(&way), "{way:?}");
        }
        assert!(ways.contains(&Deviation::Replay) && ways.contains(&Deviation::Lose));
    }
}

#[test]
fn among_many_who_trusts_is_caught() {
    let different = Mutex::new(0);
    let judge = |run: &BrokenRun, verdicts: &[Verdict<Vec<u8>>]| {
        *different.lock().unwrap() += usize::from(!alike(run, verdicts));
    };
    deviate_among(3, 400, |mesh, session| choices(mesh, session, false), judge);
    assert!(different.into_inner().unwrap() > 10);
    let trusting = || deviate_among(3, 400, |mesh, session| choices(mesh, session, false), never_wrong_among);
    assert!(std::panic::catch_unwind(trusting).is_err());
}

#[test]
fn among_many_the_message_to_another_comes() {
    let mut seen = 0;
    let run = |mesh: &mut Mesh<'_>, _| -> Result<()> {
        let (me, parties) = (mesh.me(), mesh.parties());
        let out = comity_channel::PerPeer::new(me, parties, |to| vec![to.0 as u8; 2]);
        let mut into = comity_channel::PerPeer::new(me, parties, |_| vec![0; 2]);
        mesh.exchange(&out, &mut into)?;
        let for_me = into.iter().all(|(_, said)| said[..] == [me.0 as u8; 2]);
        if for_me { Ok(()) } else { Err(Error::malformed("that was for somebody else")) }
    };
    deviate_among(3, 1000, run, |run, verdicts| {
        never_wrong_among(run, verdicts);
        if let [lie] = &run.lies[..]
            && lie.deviation == Deviation::Misdirect
        {
            seen += 1;
            let said = verdicts[usize::from(lie.to.0)].error();
            assert!(matches!(said, Some(Error { kind: Kind::Malformed(_), .. })), "{run:?}: {said:?}");
        }
    });
    assert_eq!(seen, 6);
}
