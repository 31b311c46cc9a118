//! Recording, replaying, tampering and simulated networks.

use std::thread;
use std::time::Duration;

use comity_channel::{
    Change, Channel, Direction, Error, MemoryChannel, NetProfile, Recorded, Replay, Result, Simulated, Tamper,
    Tampering, memory,
};
use comity_core::Kind;
use comity_testing::{PATIENCE, check_channels};
use proptest::prelude::*;

fn pair() -> (MemoryChannel, MemoryChannel) {
    memory::pair_with_timeout(PATIENCE)
}

#[test]
fn recorded_is_a_channel() {
    let (a, b) = pair();
    check_channels(&mut Recorded::new(a, 32 << 20), Box::new(Recorded::new(b, 32 << 20)), 1 << 20);
}

#[test]
fn a_recording_is_bounded() {
    let (a, _b) = pair();
    let mut a = Recorded::new(a, 10);
    a.send(&[0; 10]).unwrap();
    assert!(matches!(a.send(&[0]), Err(Error { kind: Kind::InvalidInput(_), .. })));
}

/// A small protocol with all kinds of calls, seen from one side.
fn converse(ch: &mut dyn Channel, own: u8) -> Result<Vec<u8>> {
    let mut got = vec![0; 9];
    ch.send(&[own; 3])?;
    ch.send(&[own + 1; 2])?;
    ch.recv(&mut got[..5])?;
    ch.send(&[own + 2])?;
    ch.flush()?;
    ch.flush()?;
    ch.exchange(&[own + 3], &mut got[5..7])?;
    let mut fork = ch.fork("side")?;
    fork.exchange(&[own + 4], &mut got[7..8])?;
    ch.exchange(&[own + 5], &mut got[8..9])?;
    Ok(got)
}

#[test]
fn a_recording_plays_back() {
    let (a, mut b) = pair();
    let mut a = Recorded::new(a, 1000);
    let recorder = a.recorder();
    let got = thread::scope(|scope| {
        scope.spawn(move || converse(&mut b, 20).unwrap());
        converse(&mut a, 10).unwrap()
    });
    assert_eq!(got, [20, 20, 20, 21, 21, 22, 23, 24, 25]);
    let recording = recorder.recording();
    assert_eq!(recording.sent, [10, 10, 10, 11, 11, 12, 13, 15]);
    assert_eq!(recording.messages().collect::<Vec<_>>(), [0..5, 5..6, 6..7, 7..8]);
    assert_eq!(recording.received, [20, 20, 20, 21, 21, 22, 23, 25]);
    assert_eq!(recording.forks[0].0, "side");
    assert_eq!((&recording.forks[0].1.sent[..], &recording.forks[0].1.received[..]), (&[14][..], &[24][..]));

    assert_eq!(converse(&mut Replay::new(recording.clone()), 10).unwrap(), got);
    let other = converse(&mut Replay::new(recording.clone()), 11);
    assert!(
        matches!(&other, Err(Error { kind: Kind::InvalidInput(text), .. }) if text.ends_with("byte 0")),
        "{other:?}"
    );
    let mut replay = Replay::new(recording.clone());
    replay.send(&recording.sent).unwrap();
    assert!(matches!(replay.send(&[0]), Err(Error { kind: Kind::InvalidInput(_), .. })));
    replay.recv(&mut vec![0; recording.received.len()]).unwrap();
    assert!(matches!(replay.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));

    let mut peer = Replay::of_peer(vec![1, 2]);
    peer.exchange(&[9; 100], &mut [0; 2]).unwrap();
    assert!(matches!(peer.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    assert!(matches!(peer.fork("side"), Err(Error { kind: Kind::Closed, .. })));
}

const DATA: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/// What comes out when a change is made to `DATA`, sent in pieces of one size and received in pieces of another.
fn through(direction: Direction, at: usize, change: Change, sizes: [usize; 2], expected: usize) -> Result<Vec<u8>> {
    let (a, b) = pair();
    let tamper = Tamper { direction, at, change };
    let (mut sender, mut receiver): (Box<dyn Channel>, Box<dyn Channel>) = match direction {
        Direction::Outgoing => (Box::new(Tampering::new(a, &tamper)), Box::new(b)),
        Direction::Incoming => (Box::new(a), Box::new(Tampering::new(b, &tamper))),
    };
    thread::scope(|scope| {
        scope.spawn(move || {
            for piece in DATA.chunks(sizes[0]) {
                // An error is what a closed sender gets, and is looked at elsewhere.
                if sender.send(piece).and_then(|()| sender.flush()).is_err() {
                    break;
                }
            }
        });
        let mut got = vec![0; expected];
        got.chunks_mut(sizes[1]).try_for_each(|piece| receiver.recv(piece))?;
        Ok(got)
    })
}

#[test]
fn changes_do_what_they_say() {
    let cases: [(usize, Change, &[u8]); 11] = [
        (0, Change::Flip { bit: 0 }, &[1, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (9, Change::Flip { bit: 7 }, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 137]),
        (2, Change::Drop { len: 3 }, &[0, 1, 5, 6, 7, 8, 9]),
        (8, Change::Drop { len: 2 }, &[0, 1, 2, 3, 4, 5, 6, 7]),
        (3, Change::Duplicate { len: 2 }, &[0, 1, 2, 3, 4, 3, 4, 5, 6, 7, 8, 9]),
        (1, Change::Swap { first: 2, second: 3 }, &[0, 3, 4, 5, 1, 2, 6, 7, 8, 9]),
        (0, Change::Insert(vec![77, 78]), &[77, 78, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (5, Change::Insert(vec![77]), &[0, 1, 2, 3, 4, 77, 5, 6, 7, 8, 9]),
        (4, Change::Replace { len: 2, with: vec![70, 71, 72] }, &[0, 1, 2, 3, 70, 71, 72, 6, 7, 8, 9]),
        (4, Change::Close, &[0, 1, 2, 3]),
        (0, Change::Close, &[]),
    ];
    for (at, change, expected) in cases {
        for direction in [Direction::Outgoing, Direction::Incoming] {
            for sizes in [[1, 1], [1, 10], [10, 1], [3, 4], [4, 3], [10, 20]] {
                let got = through(direction, at, change.clone(), sizes, expected.len());
                // Received in pieces that reach past what comes, the channel says that it ends; whole pieces arrive.
                assert_eq!(got.unwrap(), expected, "{change:?} {direction:?} {sizes:?}");
                let more = through(direction, at, change.clone(), sizes, expected.len() + 1);
                assert!(
                    matches!(more, Err(Error { kind: Kind::Closed, .. })),
                    "{change:?} {direction:?} {sizes:?}: {more:?}"
                );
            }
        }
    }
}

#[test]
fn a_closed_party_knows_it() {
    let (a, mut b) = pair();
    let mut a = Tampering::new(a, &Tamper { direction: Direction::Outgoing, at: 2, change: Change::Close });
    a.send(&[1, 2, 3]).unwrap();
    assert!(matches!(a.flush(), Err(Error { kind: Kind::Closed, .. })));
    assert!(matches!(a.send(&[4]), Err(Error { kind: Kind::Closed, .. })));
    assert!(matches!(a.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    assert!(matches!(a.exchange(&[1], &mut [0]), Err(Error { kind: Kind::Closed, .. })));
    assert!(matches!(a.fork("side"), Err(Error { kind: Kind::Closed, .. })));
    b.recv(&mut [0; 2]).unwrap();
    drop(a);
    assert!(matches!(b.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
}

#[test]
fn tampering_elsewhere_is_a_channel() {
    let (a, b) = pair();
    let late = |direction| Tamper { direction, at: usize::MAX / 2, change: Change::Flip { bit: 0 } };
    let mut a = Tampering::new(a, &late(Direction::Outgoing));
    check_channels(&mut a, Box::new(Tampering::new(b, &late(Direction::Incoming))), 1 << 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    /// The two directions agree on what a change is, in whatever pieces it is made, and halves agree with the whole.
    #[test]
    fn halves_and_directions_agree(
        at in 0..10usize, len in 1..5usize, kind in 0..5, sizes in prop::array::uniform2(1..12usize),
    ) {
        let len = len.min(10 - at);
        let change = match kind {
            0 => Change::Flip { bit: 3 },
            1 => Change::Drop { len },
            2 => Change::Duplicate { len },
            3 => Change::Swap { first: len / 2, second: len - len / 2 },
            _ => Change::Replace { len, with: vec![99; 6] },
        };
        let expected = match &change {
            Change::Drop { len } => 10 - len,
            Change::Duplicate { len } => 10 + len,
            Change::Replace { len, with } => 10 - len + with.len(),
            _ => 10,
        };
        let out = through(Direction::Outgoing, at, change.clone(), sizes, expected).unwrap();
        let back = through(Direction::Incoming, at, change.clone(), sizes, expected).unwrap();
        prop_assert_eq!(&out, &back);

        let (a, b) = pair();
        let mut a = Tampering::new(a, &Tamper { direction: Direction::Outgoing, at, change: change.clone() });
        let mut b = Tampering::new(b, &Tamper { direction: Direction::Incoming, at: usize::MAX / 2, change });
        let (mut sending, _) = a.split();
        DATA.chunks(sizes[0]).try_for_each(|piece| sending.send(piece)).unwrap();
        sending.flush().unwrap();
        let mut got = vec![0; expected];
        let (_, mut receiving) = b.split();
        got.chunks_mut(sizes[1]).try_for_each(|piece| receiving.recv(piece)).unwrap();
        prop_assert_eq!(got, out);
    }
}

#[test]
fn simulated_is_a_channel() {
    let (a, b) = pair();
    let fast = NetProfile { round_trip: Duration::from_micros(100), bits_per_second: 100_000_000_000 };
    check_channels(&mut Simulated::new(a, fast), Box::new(Simulated::new(b, fast)), 4 << 20);
}

#[test]
fn both_ends_must_be_simulated() {
    let (mut a, b) = pair();
    let mut b = Simulated::new(b, NetProfile::LAN);
    a.send(&[0xff; 12]).and_then(|()| a.flush()).unwrap();
    assert!(matches!(b.recv(&mut [0]), Err(Error { kind: Kind::Malformed(_), .. })));
    // A stamp from the far future does not make the receiver wait for it.
    let (mut a, b) = pair();
    let mut b = Simulated::new(b, NetProfile::LAN);
    let far = [&1u32.to_le_bytes()[..], &u64::MAX.to_le_bytes(), &[5]].concat();
    a.send(&far).and_then(|()| a.flush()).unwrap();
    b.recv(&mut [0]).unwrap();
}

#[test]
fn networks_have_names() {
    let profile = |text: &str| text.parse::<NetProfile>();
    assert_eq!(profile("lan").unwrap(), NetProfile::LAN);
    assert_eq!(profile("wan").unwrap(), NetProfile::WAN);
    let custom = NetProfile { round_trip: Duration::from_millis(30), bits_per_second: 100_000_000 };
    assert_eq!(profile("30ms,100mbit").unwrap(), custom);
    assert_eq!(profile("0.03s, 0.1Gbit").unwrap(), custom);
    assert_eq!(profile("30000us,100000kbit").unwrap(), custom);
    for either_order in ["100Mbit/s,30ms", "0.1gbit , 0.03s", "30ms,100mbit/s"] {
        assert_eq!(profile(either_order).unwrap(), custom, "{either_order}");
    }
    for named in [NetProfile::LAN, NetProfile::WAN, custom] {
        assert_eq!(profile(&named.to_string()).unwrap(), named);
    }
    let half = ["", "LAN ", "30ms", "30ms,", ",100mbit", "30,100", "30ms,30ms", "1mbit,1mbit", "1ms/s,1mbit"];
    let no_number = ["-1ms,1mbit", "1ms,0mbit", "0mbit,1ms", "1ms,nanmbit", "1ms,1e99gbit"];
    for wrong in half.into_iter().chain(no_number) {
        assert!(matches!(profile(wrong), Err(Error { kind: Kind::InvalidInput(_), .. })), "{wrong}");
    }
}
