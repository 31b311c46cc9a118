//! The cheats of commit and open, on a coin and on a comparison alike: one that opens otherwise, says
//! different things to different peers, opens late, or says again what another said.

use std::thread;

use comity_channel::{Counted, Mesh, PerPeer, Recorded, Recorder, memory_mesh};
use comity_core::{Check, Commitment, Opening, PartyId, Result, SessionId, commit};
use comity_share::checks::{COIN_OPENING, EQUIVOCATION, WRONG_MAC};
use comity_share::{coin, equal};
use comity_testing::PATIENCE;

use crate::{SESSION, against, named, rng, some_of};

const SAME: [u8; 32] = [0xe0; 32];

/// One that stands on simultaneous broadcast: its label, the check of its openings, and an honest party.
#[derive(Clone, Copy)]
struct Subject {
    what: &'static str,
    check: &'static Check,
    run: fn(&mut Mesh<'_>, SessionId) -> Result<[u8; 32]>,
}

const SUBJECTS: [Subject; 2] = [
    Subject { what: "coin", check: COIN_OPENING, run: |mesh, session| coin(mesh, session, &mut rng(mesh.me().0)) },
    Subject {
        what: "equality",
        check: WRONG_MAC,
        run: |mesh, session| equal(mesh, session, &SAME, WRONG_MAC, &mut rng(mesh.me().0)).map(|()| SAME),
    },
];

/// A commitment of this party in a session, and what opens it.
fn sealed(subject: Subject, session: SessionId, me: PartyId, said: [u8; 32]) -> (Commitment, [u8; 64]) {
    let (commitment, opening) =
        commit(session, &format!("{}, party {me}", subject.what), &said, &mut rng(100 + u16::from(said[0])));
    let mut opened = [0; 64];
    opened[..32].copy_from_slice(&said);
    opened[32..].copy_from_slice(&opening.to_bytes());
    (commitment, opened)
}

fn send(mesh: &mut Mesh<'_>, peer: PartyId, bytes: &[u8]) {
    let ch = mesh.link(peer);
    ch.send(bytes).and_then(|()| ch.flush()).unwrap();
}

fn hear<const N: usize>(mesh: &mut Mesh<'_>, peer: PartyId) -> [u8; N] {
    let mut bytes = [0; N];
    mesh.link(peer).recv(&mut bytes).unwrap();
    bytes
}

/// What goes to a peer, of `N` bytes, when these have come from all peers.
type To<const N: usize> = Box<dyn Fn(PartyId, &PerPeer<[u8; N]>) -> [u8; N] + Sync>;

/// What a cheat commits to towards each peer, makes of its echo, and opens towards each peer when it has
/// heard all that the others open.
struct Lie {
    commits: To<32>,
    echoes: Box<dyn Fn([u8; 32]) -> [u8; 32] + Sync>,
    opens: To<64>,
}

impl Lie {
    fn new(commitment: Commitment, opened: [u8; 64]) -> Lie {
        Lie {
            commits: Box::new(move |_, _| commitment.to_bytes()),
            echoes: Box::new(|digest| digest),
            opens: Box::new(move |_, _| opened),
        }
    }

    /// Runs the cheat, who is always last to speak.
    fn run(&self, mesh: &mut Mesh<'_>) {
        let (me, parties) = (mesh.me(), mesh.parties());
        let peers: Vec<PartyId> = mesh.peers().collect();
        if parties == 2 {
            // The first in the order of ids, who alone commits.
            let peer = peers[0];
            send(mesh, peer, &(self.commits)(peer, &PerPeer::new(me, 2, |_| [0; 32])));
            let mut heard = [0; 64];
            heard[..32].copy_from_slice(&hear::<32>(mesh, peer));
            send(mesh, peer, &(self.opens)(peer, &PerPeer::new(me, 2, |_| heard)));
            return;
        }
        let commitments = PerPeer::new(me, parties, |peer| hear(mesh, peer));
        for &peer in &peers {
            send(mesh, peer, &(self.commits)(peer, &commitments));
        }
        // The cheat says to each that it heard what that one heard.
        let digests: PerPeer<[u8; 32]> = PerPeer::new(me, parties, |peer| hear(mesh, peer));
        for &peer in &peers {
            send(mesh, peer, &(self.echoes)(digests[peer]));
        }
        let first = digests[peers[0]];
        if digests.iter().any(|(_, &digest)| digest != first) || (self.echoes)(first) != first {
            return;
        }
        let opened = PerPeer::new(me, parties, |peer| hear(mesh, peer));
        for &peer in &peers {
            send(mesh, peer, &(self.opens)(peer, &opened));
        }
    }
}

/// The parties that may commit, of `parties` parties.
fn committing(parties: usize) -> Vec<PartyId> {
    if parties == 2 { vec![PartyId(0)] } else { some_of(parties).collect() }
}

fn all_name<const N: usize>(cheat: PartyId, subject: Subject, lie: &Lie, check: &'static Check, who: Option<PartyId>) {
    let ends = against::<N, _>(cheat, |mesh| lie.run(mesh), |mesh| (subject.run)(mesh, SESSION));
    for (party, ended) in &ends {
        assert_eq!(named(ended), Some((check, who)), "{}, cheat {cheat} of {N}, at party {party}", subject.what);
    }
}

fn cheats<const N: usize>() {
    for (subject, cheat) in
        SUBJECTS.into_iter().flat_map(|subject| committing(N).into_iter().map(move |p| (subject, p)))
    {
        let (commitment, opened) = sealed(subject, SESSION, cheat, SAME);
        let other = sealed(subject, SESSION, cheat, [7; 32]);
        // Late, and true: the cheat has heard all openings and can only stop.
        let ends =
            against::<N, _>(cheat, |mesh| Lie::new(commitment, opened).run(mesh), |mesh| (subject.run)(mesh, SESSION));
        assert!(ends.iter().all(|(_, end)| matches!(end, Ok(coin) if *coin == *ends[0].1.as_ref().unwrap())));
        // Another string; another salt; what the first peer opened.
        let mut salt = opened;
        salt[63] ^= 1;
        let mut lies = vec![Lie::new(commitment, other.1), Lie::new(commitment, salt), Lie::new(commitment, opened)];
        lies[2].opens = Box::new(|_, heard| *heard.iter().next().unwrap().1);
        // From another session, and from another place in this one.
        let (commitment, opened) = sealed(subject, SESSION.child("another"), cheat, SAME);
        lies.push(Lie::new(commitment, opened));
        let (commitment, opened) = sealed(subject, SESSION, PartyId(N as u16), SAME);
        lies.push(Lie::new(commitment, opened));
        lies.iter().for_each(|lie| all_name::<N>(cheat, subject, lie, subject.check, Some(cheat)));
    }
}

/// What only who has more than one peer can do.
fn cheats_among_many<const N: usize>() {
    for (subject, cheat) in SUBJECTS.into_iter().flat_map(|subject| some_of(N).map(move |p| (subject, p))) {
        let (commitment, opened) = sealed(subject, SESSION, cheat, SAME);
        let (other, opened_otherwise) = sealed(subject, SESSION, cheat, [7; 32]);
        let victim = PartyId(if cheat.0 == 1 { 2 } else { 1 });
        // Different commitments, each of which it could open; a commitment that a peer made, with what that peer opens.
        let mut lie = Lie::new(commitment, opened);
        lie.commits = Box::new(move |peer, _| if peer == victim { other } else { commitment }.to_bytes());
        all_name::<N>(cheat, subject, &lie, EQUIVOCATION, None);
        lie.commits = Box::new(move |_, heard| heard[victim]);
        lie.opens = Box::new(move |_, heard| heard[victim]);
        all_name::<N>(cheat, subject, &lie, subject.check, Some(cheat));
        // The same commitments, and says that it heard others.
        let mut lie = Lie::new(commitment, opened);
        lie.echoes = Box::new(|digest| digest.map(|byte| !byte));
        all_name::<N>(cheat, subject, &lie, EQUIVOCATION, None);
        // Opens truly to all but one.
        let mut lie = Lie::new(commitment, opened);
        lie.opens = Box::new(move |peer, _| if peer == victim { opened_otherwise } else { opened });
        let ends = against::<N, _>(cheat, |mesh| lie.run(mesh), |mesh| (subject.run)(mesh, SESSION));
        for (party, ended) in &ends {
            let expected = (*party == victim).then_some((subject.check, Some(cheat)));
            assert_eq!(named(ended), expected, "{} of {N}", subject.what);
            assert_eq!(ended.is_ok(), *party != victim);
        }
    }
}

#[test]
fn who_opens_otherwise_is_named_among_two() {
    cheats::<2>();
}

#[test]
fn who_opens_otherwise_is_named_among_three() {
    cheats::<3>();
    cheats_among_many::<3>();
}

#[test]
fn who_opens_otherwise_is_named_among_five() {
    cheats::<5>();
    cheats_among_many::<5>();
}

/// All bytes that each honest party says to each peer when the cheat commits to these peers alone, and then goes away.
fn said_when_withheld(parties: u16, cheat: PartyId, told: &[PartyId], subject: Subject) -> Vec<usize> {
    thread::scope(|scope| {
        let party = |links: PerPeer<_>| {
            scope.spawn(move || {
                let me = links.me();
                let mut links = links.map(|_, link| Recorded::new(link, 1 << 10));
                let recorders: Vec<Recorder> = links.iter_mut().map(|(_, link)| link.recorder()).collect();
                let mut mesh = Mesh::new(links);
                if me == cheat {
                    let (commitment, _) = sealed(subject, SESSION, me, SAME);
                    told.iter().for_each(|&peer| send(&mut mesh, peer, &commitment.to_bytes()));
                    return Vec::new();
                }
                assert!((subject.run)(&mut mesh, SESSION).is_err());
                recorders.iter().map(|recorder| recorder.recording().sent.len()).collect()
            })
        };
        let threads: Vec<_> = memory_mesh(parties, Some(PATIENCE)).into_iter().map(party).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn nobody_opens_while_a_commitment_is_owed() {
    for subject in SUBJECTS {
        for parties in [3, 5] {
            for cheat in some_of(parties.into()) {
                let peers: Vec<PartyId> = (0..parties).map(PartyId).filter(|&party| party != cheat).collect();
                for told in [&[][..], &peers[1..], &peers[..1]] {
                    let said = said_when_withheld(parties, cheat, told, subject);
                    assert!(said.iter().all(|&bytes| bytes <= 32 + 32), "a commitment and an echo at most: {said:?}");
                }
            }
        }
        // Between two parties the second waits for the first's commitment before it says anything.
        assert_eq!(said_when_withheld(2, PartyId(0), &[], subject), [0]);
    }
}

#[test]
fn bytes_are_those_of_the_formula() {
    for subject in SUBJECTS {
        let sent = |parties: u16| {
            thread::scope(|scope| {
                let party = |links: PerPeer<_>| {
                    scope.spawn(move || {
                        let mut links = links.map(|_, link| Counted::new(link));
                        let counters: Vec<_> = links.iter_mut().map(|(_, link)| link.counter()).collect();
                        (subject.run)(&mut Mesh::new(links), SESSION).unwrap();
                        counters.iter().map(|counter| counter.counts().sent).sum::<u64>()
                    })
                };
                let threads: Vec<_> = memory_mesh(parties, Some(PATIENCE)).into_iter().map(party).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<u64>>()
            })
        };
        assert_eq!(sent(2), [(Commitment::BYTES + 32 + Opening::BYTES) as u64, 32]);
        assert_eq!(sent(4), [3 * 128; 4]);
    }
}
