//! The pair in memory and the mesh over it.

use std::thread;
use std::time::Duration;

use comity_channel::{Channel, Counted, Error, Mesh, PerPeer, Pieces, RecvHalf, Result, SendHalf, memory, memory_mesh};
use comity_core::{Kind, PartyId};
use comity_testing::{PATIENCE, Pair, check_channels};
use proptest::prelude::*;

#[test]
fn the_pair_is_a_channel() {
    let (mut a, b) = memory::pair_with_timeout(PATIENCE);
    check_channels(&mut a, Box::new(b), 64 << 20);
}

#[test]
fn boxes_and_references_are_channels() {
    let (a, b) = memory::pair_with_timeout(PATIENCE);
    let mut a: Box<dyn Channel> = Box::new(a);
    check_channels(&mut &mut a, Box::new(Box::new(b) as Box<dyn Channel>), 1 << 20);
}

#[test]
fn memory_is_bounded() {
    // The sender of much more than the pair holds waits for the receiver, and does not go on without it.
    let (mut a, b) = memory::pair_with_timeout(Duration::from_millis(50));
    assert!(matches!(a.send(&vec![0; memory::CAPACITY + 1]), Err(Error { kind: Kind::TimedOut(_), .. })));
    drop(b);
    assert!(matches!(a.send(&vec![0; memory::CAPACITY + 1]), Err(Error { kind: Kind::Closed, .. })));
    // One message may be under way, however long; the next one waits.
    let (mut a, b) = memory::pair_with_timeout(Duration::from_millis(50));
    a.post(&vec![0; 3 * memory::CAPACITY]).unwrap();
    assert!(matches!(a.post(&[1]), Err(Error { kind: Kind::TimedOut(_), .. })));
    drop(b);
    assert!(matches!(a.post(&[1]), Err(Error { kind: Kind::Closed, .. })));
}

#[test]
fn waiting_ends_in_time() {
    let (mut a, mut b) = memory::pair_with_timeout(Duration::from_millis(20));
    assert!(matches!(a.recv(&mut [0]), Err(Error { kind: Kind::TimedOut(_), .. })));
    // What arrives later is still received.
    b.send(&[5]).and_then(|()| b.flush()).unwrap();
    let mut byte = [0];
    a.recv(&mut byte).unwrap();
    assert_eq!(byte, [5]);
}

#[test]
fn parties_that_wait_for_each_other_are_told_at_once() {
    let waits = |ch: &mut memory::MemoryChannel| ch.recv(&mut [0]);
    let (a, b) = Pair::run(waits, waits);
    for result in [a, b] {
        assert!(matches!(result, Err(Error { kind: Kind::TimedOut(text), .. }) if text.contains("deadlock")));
    }
    let floods = |ch: &mut memory::MemoryChannel| ch.send(&vec![0; memory::CAPACITY + 1]);
    let (a, b) = Pair::run(floods, floods);
    for result in [a, b] {
        assert!(matches!(result, Err(Error { kind: Kind::TimedOut(text), .. }) if text.contains("deadlock")));
    }
}

#[test]
fn a_lost_peer_is_told_after_its_last_byte() {
    let (mut a, mut b) = memory::pair();
    a.send(&[1, 2]).and_then(|()| a.flush()).unwrap();
    // Never flushed, so never sent.
    a.send(&[3]).unwrap();
    let mut fork = b.fork("unanswered").unwrap();
    drop(a);
    let mut bytes = [0; 2];
    b.recv(&mut bytes).unwrap();
    assert_eq!(bytes, [1, 2]);
    assert!(matches!(b.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    assert!(matches!(b.send(&[0; 100_000]), Err(Error { kind: Kind::Closed, .. })));
    assert!(matches!(fork.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
    assert!(matches!(b.fork("too late"), Err(Error { kind: Kind::Closed, .. })));
}

#[test]
fn counting_sees_bytes_and_turns() {
    let (a, mut b) = memory::pair();
    let mut a = Counted::new(a);
    let counter = a.counter();
    thread::scope(|scope| {
        scope.spawn(move || -> Result<()> {
            b.recv(&mut [0; 3])?;
            b.send(&[0; 5])?;
            b.flush()?;
            b.exchange(&[0; 10], &mut [0; 20])?;
            b.recv(&mut [0; 1])?;
            let mut fork = b.fork("side")?;
            fork.exchange(&[1; 4], &mut [0; 2])
        });
        a.send(&[0; 1]).unwrap();
        a.send(&[0; 2]).unwrap();
        a.recv(&mut [0; 4]).unwrap();
        a.recv(&mut [0; 1]).unwrap();
        assert_eq!(counter.counts(), comity_channel::Traffic { sent: 3, received: 5, rounds: 1 });
        a.exchange(&[0; 20], &mut [0; 10]).unwrap();
        {
            let (mut sending, _receiving) = a.split();
            sending.send(&[0; 1]).and_then(|()| sending.flush()).unwrap();
        }
        let mut fork = a.fork("side").unwrap();
        fork.exchange(&[0; 2], &mut [0; 4]).unwrap();
    });
    assert_eq!(a.counts(), comity_channel::Traffic { sent: 26, received: 19, rounds: 3 });
}

#[test]
fn counted_is_a_channel() {
    let (a, b) = memory::pair_with_timeout(PATIENCE);
    check_channels(&mut Counted::new(a), Box::new(Counted::new(Box::new(b) as Box<dyn Channel>)), 1 << 20);
}

#[test]
fn a_mesh_exchanges_with_all_at_once() {
    for size in [0, 1, 100, 3 << 20] {
        let message = |from: PartyId, to: PartyId| vec![(10 * from.0 + to.0) as u8; size];
        thread::scope(|scope| {
            for links in memory_mesh(4, None) {
                scope.spawn(move || {
                    let mut mesh = Mesh::new(links);
                    let me = mesh.me();
                    let out = PerPeer::new(me, 4, |to| message(me, to));
                    let mut into = PerPeer::new(me, 4, |_| vec![0; size]);
                    mesh.exchange(&out, &mut into).unwrap();
                    for from in mesh.peers() {
                        assert_eq!(into[from], message(from, me));
                        mesh.link(from).send(&[me.0 as u8]).unwrap();
                    }
                    mesh.flush().unwrap();
                    for from in mesh.peers() {
                        let mut id = [0];
                        mesh.link(from).recv(&mut id).unwrap();
                        assert_eq!(id, [from.0 as u8]);
                    }
                    let ids = mesh.each(|peer, ch| {
                        let mut id = [0];
                        ch.exchange(&[me.0 as u8], &mut id).map(|()| (peer, id[0]))
                    });
                    assert!(ids.unwrap().iter().all(|(peer, said)| *said == (peer, peer.0 as u8)));
                });
            }
        });
    }
}

/// Says pieces that tell who says which to whom, and compares what it hears.
struct Told {
    me: PartyId,
    heard: usize,
}

/// Bytes of a piece: the last one is shorter.
fn told(piece: usize) -> usize {
    if piece < 40 { 100_000 } else { 3 }
}

fn piece(piece: usize, from: PartyId, to: PartyId) -> Vec<u8> {
    vec![(piece as u16 * 16 + 4 * from.0 + to.0) as u8; told(piece)]
}

impl Pieces for Told {
    fn say(&mut self, at: usize, peer: PartyId, out: &mut Vec<u8>) {
        assert!(out.is_empty());
        out.extend(piece(at, self.me, peer));
    }

    fn hear(&mut self, at: usize, peer: PartyId, bytes: &[u8]) -> Result<()> {
        assert!(bytes == piece(at, peer, self.me), "piece {at} of {peer}");
        self.heard += 1;
        Ok(())
    }
}

/// Four times as much as channels hold, each way: one round.
#[test]
fn a_mesh_streams_with_all_at_once() {
    for parties in [2, 4] {
        thread::scope(|scope| {
            for links in memory_mesh(parties, None) {
                scope.spawn(move || {
                    let links = links.map(|_, link| Counted::new(link));
                    let counters: Vec<_> = links.iter().map(|(_, link)| link.counter()).collect();
                    let mut mesh = Mesh::new(links);
                    let mut work = Told { me: mesh.me(), heard: 0 };
                    mesh.stream(41, told, &mut work).unwrap();
                    assert_eq!(work.heard, 41 * usize::from(parties - 1));
                    let bytes = 4_000_003;
                    let all = comity_channel::Traffic { sent: bytes, received: bytes, rounds: 1 };
                    assert!(counters.iter().all(|counter| counter.counts() == all));
                    mesh.stream(0, |_| 0, &mut work).unwrap();
                });
            }
        });
    }
}

/// Likewise where a piece is longer than what channels hold.
#[test]
fn long_pieces_do_not_wait_for_each_other() {
    struct Long;
    impl Pieces for Long {
        fn say(&mut self, _: usize, _: PartyId, out: &mut Vec<u8>) {
            out.resize(3 * memory::CAPACITY, 1);
        }

        fn hear(&mut self, at: usize, _: PartyId, _: &[u8]) -> Result<()> {
            if at == 1 { Err(Error::malformed("a piece")) } else { Ok(()) }
        }
    }
    thread::scope(|scope| {
        for links in memory_mesh(3, None) {
            scope.spawn(move || {
                let error = Mesh::new(links).stream(2, |_| 3 * memory::CAPACITY, &mut Long).unwrap_err();
                assert!(error.party.is_some(), "{error:?}");
            });
        }
    });
}

#[test]
fn errors_of_a_mesh_name_their_party() {
    let mut all = memory_mesh(3, None).into_iter();
    let mut mesh = Mesh::new(all.next().unwrap());
    let other = Mesh::new(all.next().unwrap());
    assert!(mesh.pair().is_err());
    drop(all);
    let [out, mut into] = [(); 2].map(|()| PerPeer::new(PartyId(0), 3, |_| vec![0; 5000]));
    let error = mesh.exchange(&out, &mut into).unwrap_err();
    assert!(matches!(error, Error { kind: Kind::Closed, party: Some(PartyId(2)) }), "{error:?}");
    drop(other);
    let error = mesh.each(|_, ch| ch.recv(&mut [0])).unwrap_err();
    assert_eq!(error.party, Some(PartyId(1)));
}

#[test]
fn halves_are_dyn() {
    fn is_send<T: Send + ?Sized>() {}
    is_send::<dyn Channel>();
    is_send::<dyn SendHalf>();
    is_send::<dyn RecvHalf>();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    /// However a stream is cut into calls on either side, it arrives whole and in order.
    #[test]
    fn cuts_do_not_matter(sends in prop::collection::vec(0..40_000usize, 0..20), cut in 1..30_000usize) {
        let all: Vec<u8> = (0..sends.iter().sum()).map(|i: usize| (i ^ i >> 8) as u8).collect();
        let (sent, got) = Pair::run(
            |ch| {
                let mut rest = &all[..];
                for &len in &sends {
                    let (now, later) = rest.split_at(len);
                    ch.send(now)?;
                    rest = later;
                }
                ch.flush()
            },
            |ch| -> Result<Vec<u8>> {
                let mut got = vec![0; all.len()];
                for piece in got.chunks_mut(cut) {
                    ch.recv(piece)?;
                }
                Ok(got)
            },
        );
        sent.unwrap();
        prop_assert_eq!(got.unwrap(), all);
    }
}
