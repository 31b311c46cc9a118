//! Whole runs of many parties over loopback: they meet, say hello and compute, in whatever order they start;
//! and where one is not who it should be, or is lost, each honest one ends with the right output or with
//! words that say why.

use std::sync::mpsc;
use std::thread;

use crate::common::{SOON, hasty, in_time};
use comity_channel::{
    Change, Channel, Direction, Error, Hello, Mesh, NetProfile, PerPeer, Recorded, Recorder, Result, Simulated, Tamper,
    Tampering, hello, memory_mesh,
};
use comity_core::{Backend, Bits, Kind, Params, PartyId};
use comity_net::{Connection, Event, Identity, Limits, Listener, Security, Settings, SystemRng, connect, meet};
use comity_sum::Sum;
use comity_testing::PATIENCE;
use comity_testing::laws::{self, Setting};

/// What a party learns: outputs by their index.
type Learned = Vec<(usize, Bits)>;

/// A group, and where each listens.
struct Group {
    settings: Vec<Settings>,
    listeners: Vec<Listener>,
}

impl Group {
    /// A group in plain text, or with a key for each.
    fn new(parties: u16, tls: bool) -> Group {
        let identities: Vec<Identity> = (0..parties).map(|_| Identity::generate(&mut SystemRng)).collect();
        let keys = |me| PerPeer::new(me, parties, |peer: PartyId| identities[usize::from(peer.0)].fingerprint());
        let settings = (0..parties).map(PartyId).map(|me| {
            let identity = identities[usize::from(me.0)].clone();
            let security =
                if tls { Security::Tls { identity, peers: keys(me) } } else { Security::Plain { anywhere: false } };
            Settings { me, parties, security, timeout: PATIENCE, limits: Limits::default(), relay: None }
        });
        let settings: Vec<Settings> = settings.collect();
        let listeners = settings.iter().map(|own| Listener::bind("127.0.0.1:0", own).unwrap()).collect();
        Group { settings, listeners }
    }

    fn parties(&self) -> u16 {
        self.settings.len() as u16
    }

    fn all(&self) -> impl Iterator<Item = PartyId> + use<> {
        (0..self.parties()).map(PartyId)
    }

    fn address(&self, party: PartyId) -> String {
        self.listeners[usize::from(party.0)].address().to_string()
    }

    /// The links of a party under these settings: of each pair the lower id is called.
    fn meet(&self, own: &Settings, tell: &mut dyn FnMut(Event<'_>)) -> Result<PerPeer<Connection>> {
        let calls: Vec<_> = (0..own.me.0).map(|party| (PartyId(party), self.address(PartyId(party)))).collect();
        meet(Some(&self.listeners[usize::from(own.me.0)]), &calls, own, tell)
    }

    /// Runs a party, each on a thread of its own.
    fn run<T: Send>(&self, party: impl Fn(&Settings) -> T + Sync) -> Vec<T> {
        thread::scope(|scope| {
            let party = &party;
            let threads: Vec<_> = self.settings.iter().map(|own| scope.spawn(move || party(own))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }
}

/// A computation of some parties, and the outputs that each learns.
struct Task {
    program: comity_circuit::Program,
    inputs: Vec<Bits>,
}

impl Task {
    fn new(parties: u16) -> Task {
        let mut rng = laws::rng(parties.into());
        let program = laws::random_program(parties, 60, false, &mut rng);
        let inputs = program.inputs().iter().map(|input| laws::bits(input.bits, &mut rng)).collect();
        Task { program, inputs }
    }

    fn expected(&self, party: PartyId) -> Learned {
        let outputs = self.program.outputs().iter().zip(laws::clear(&self.program, &self.inputs)).enumerate();
        let own = outputs.filter(|(_, (output, _))| output.to.includes(party));
        own.map(|(index, (_, value))| (index, value)).collect()
    }

    /// A party's side, from the hello on.
    fn run(&self, mesh: &mut Mesh<'_>) -> Result<Learned> {
        let (me, parties) = (mesh.me(), mesh.parties());
        let ours = Hello {
            protocol: "sum".into(),
            options: Vec::new(),
            params: Params::default(),
            me,
            parties,
            program: "random".into(),
            program_digest: [parties as u8; 32],
            owners: String::new(),
            recipients: String::new(),
            key: None,
            peer_keys: PerPeer::new(me, parties, |_| None),
            group: None,
        };
        hello(mesh, &ours, &mut SystemRng)?;
        let setting = Setting { params: Params::default(), backend: Backend::detect(), options: &[], session: 1 };
        laws::run(&Sum, mesh, &self.program, &self.inputs, setting)
    }
}

#[test]
fn groups_of_two_to_nine_start_in_any_order() {
    for (parties, tls) in (2..10).map(|parties| (parties, parties % 3 == 2)) {
        let (group, task) = (Group::new(parties, tls), Task::new(parties));
        let mut draw = laws::rng(0x5eed + u128::from(parties));
        let mut order: Vec<PartyId> = group.all().collect();
        order.sort_by_key(|_| draw.block().to_u128());
        thread::scope(|scope| {
            let (group, task) = (&group, &task);
            let mut threads = Vec::new();
            for me in order {
                let (waits, waiting) = mpsc::channel();
                threads.push(scope.spawn(move || {
                    // Nobody listens for it any more once the next party has started.
                    let tell = &mut |_: Event<'_>| {
                        let _ = waits.send(());
                    };
                    let links = group.meet(&group.settings[usize::from(me.0)], tell);
                    drop(waits);
                    assert_eq!(task.run(&mut Mesh::new(links.unwrap())).unwrap(), task.expected(me), "party {me}");
                }));
                // The next one comes when this one waits for it, or has met all.
                let _ = waiting.recv();
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}

/// Exchanges of all sizes, and of sizes that differ from link to link, one after the other.
fn exchanges(mesh: &mut Mesh<'_>) {
    let (me, parties) = (mesh.me(), mesh.parties());
    let size = |from: PartyId, to: PartyId, round: usize| match round {
        0 => 0,
        1 => 1 + usize::from(from.0),
        2 => (16 << 10) + usize::from(to.0),
        3 => 1 << 20,
        // Some say nothing, and some more than any socket takes.
        _ => usize::from(from.0) * 10_000_000 * usize::from((from.0 + to.0) % 2) + round,
    };
    let message = |from: PartyId, to: PartyId, round: usize| -> Vec<u8> {
        let start = usize::from(10 * from.0 + to.0) + round;
        let pattern: Vec<u8> = (0..251).map(|at| (start + at) as u8).collect();
        let size = size(from, to, round);
        let mut message = pattern.repeat(size.div_ceil(pattern.len()));
        message.truncate(size);
        message
    };
    for round in 0..6 {
        let out = PerPeer::new(me, parties, |to| message(me, to, round));
        let mut into = PerPeer::new(me, parties, |from| vec![0; size(from, me, round)]);
        mesh.exchange(&out, &mut into).unwrap();
        into.iter().for_each(|(from, said)| assert!(*said == message(from, me, round), "round {round}"));
        // In between, a message to one and an answer.
        for peer in mesh.peers().collect::<Vec<_>>() {
            mesh.link(peer).send(&[round as u8]).unwrap();
        }
        mesh.flush().unwrap();
        for peer in mesh.peers().collect::<Vec<_>>() {
            let mut said = [0];
            mesh.link(peer).recv(&mut said).unwrap();
            assert_eq!(said, [round as u8]);
        }
    }
}

#[test]
fn many_exchange_whatever_the_sizes() {
    for (parties, tls, slow) in
        [(2, false, false), (3, false, false), (3, true, false), (3, false, true), (4, true, false)]
    {
        let group = Group::new(parties, tls);
        let fast =
            NetProfile { round_trip: "1ms,1gbit".parse::<NetProfile>().unwrap().round_trip, bits_per_second: 1 << 36 };
        group.run(|own| {
            let links = group.meet(own, &mut |_| {}).unwrap();
            match slow {
                true => exchanges(&mut Mesh::new(links.map(|_, link| Simulated::new(link, fast)))),
                false => exchanges(&mut Mesh::new(links)),
            }
        });
    }
}

#[test]
fn a_wrong_key_keeps_one_out_and_the_others_say_whom() {
    let mut group = Group::new(4, true);
    let Security::Tls { peers, .. } = &group.settings[3].security else { panic!("it is TLS") };
    let identity = Identity::generate(&mut SystemRng);
    let wrong = identity.fingerprint().to_string();
    group.settings[3].security = Security::Tls { identity, peers: peers.clone() };
    let (ends, _) = in_time(|timeout| {
        let ends = group.run(|own| {
            let links = group.meet(&hasty(own.clone(), timeout), &mut |_| {});
            // A party that calls learns that its key is not trusted where it first waits for an answer.
            links.and_then(|mut links| links.as_mut_slice()[0].recv(&mut [0])).unwrap_err()
        });
        // On a busy machine even the others are late.
        ends[..3].iter().any(|error| error.to_string().contains("party 3 did not come")).then_some(ends)
    });
    // A party that waits a little longer than another one misses that one, too.
    for error in &ends[..3] {
        assert!(matches!(error.kind, Kind::TimedOut(_)), "{error}");
        assert!(error.to_string().contains("3 did not come"), "{error}");
        assert!(error.party.is_none_or(|party| party == PartyId(3)), "{error}");
    }
    let error = &ends[3];
    assert!(matches!(&error.kind, Kind::Untrusted(why) if why.contains(&wrong)), "{error}");
    assert!(error.to_string().contains("does not trust"), "{error}");
}

#[test]
fn a_sixth_stranger_and_a_double_change_nothing() {
    let (group, task) = (Group::new(5, false), Task::new(5));
    let address = group.address(PartyId(0));
    let sixth = Settings { me: PartyId(5), parties: 6, ..group.settings[0].clone() };
    thread::scope(|scope| {
        let (group, task, address) = (&group, &task, &address);
        let ((turned, away), (misses, missing)) = (mpsc::channel(), mpsc::channel::<Vec<PartyId>>());
        let first = scope.spawn(move || {
            let tell = &mut |event: Event<'_>| {
                // Nobody asks any more once all are on their way.
                let _ = match event {
                    Event::TurnedAway(why) => turned.send(why.to_string()).is_ok(),
                    Event::Waiting(parties) => misses.send(parties.to_vec()).is_ok(),
                };
            };
            let links = group.meet(&group.settings[0], tell).unwrap();
            task.run(&mut Mesh::new(links)).unwrap()
        });
        // The stranger is of a group of six.
        let mut link = connect(address, PartyId(0), &sixth, &mut |_| {}).unwrap();
        let refused = greet_as(&mut link, PartyId(5), 6);
        assert!(refused.to_string().contains("party 0 of 5, which expects no such party"), "{refused}");
        assert!(away.recv_timeout(PATIENCE).unwrap().contains("party 5"));
        // Somebody is there in the place of party 4, and then party 4 itself.
        let mut double = connect(address, PartyId(0), &group.settings[4], &mut |_| {}).unwrap();
        while missing.recv_timeout(PATIENCE).unwrap().contains(&PartyId(4)) {}
        let others: Vec<_> = (1..5)
            .rev()
            .map(|me| {
                let own = &group.settings[me];
                if me == 3 {
                    let refused = greet_as(&mut double, PartyId(4), 5);
                    assert!(refused.to_string().contains("met by another one that says it is this party"), "{refused}");
                }
                scope.spawn(move || task.run(&mut Mesh::new(group.meet(own, &mut |_| {}).unwrap())).unwrap())
            })
            .collect();
        assert_eq!(first.join().unwrap(), task.expected(PartyId(0)));
        for (me, other) in (1..5).rev().zip(others) {
            assert_eq!(other.join().unwrap(), task.expected(PartyId(me)));
        }
    });
}

/// The error of a hello that is answered by a farewell.
fn greet_as(link: &mut Connection, me: PartyId, parties: u16) -> Error {
    // What is said back comes before the hello does.
    let mut first = [0; comity_channel::hello::WIRE_BYTES];
    let len = comity_channel::hello::farewell(comity_channel::hello::Refusal::CameAgain, me, parties).len();
    link.recv(&mut first[..len]).unwrap();
    let mut links: Vec<Box<dyn Channel>> = Vec::new();
    for peer in (0..parties).filter(|&peer| peer != me.0) {
        let said = if peer == 0 { first[..len].to_vec() } else { Vec::new() };
        links.push(Box::new(comity_channel::Replay::of_peer(said)));
    }
    Task::new(parties).run(&mut Mesh::new(PerPeer::from_vec(me, links).unwrap())).unwrap_err()
}

#[test]
fn one_lost_at_any_message_ends_all_in_words() {
    const PARTIES: u16 = 3;
    let task = Task::new(PARTIES);
    // Where messages end on each link.
    let recorders: Vec<PerPeer<Recorder>> = {
        let group = Group::new(PARTIES, false);
        group.run(|own| {
            let links = group.meet(own, &mut |_| {}).unwrap().map(|_, link| Recorded::new(link, 1 << 20));
            let recorders = PerPeer::new(own.me, PARTIES, |peer| links[peer].recorder());
            assert_eq!(task.run(&mut Mesh::new(links)).unwrap(), task.expected(own.me));
            recorders
        })
    };
    let mut runs = 0;
    for (lost, own) in (0..PARTIES).map(PartyId).zip(&recorders) {
        for (to, link) in own.iter() {
            let recording = link.recording();
            let ends = [0].into_iter().chain(recording.messages().map(|message| message.end));
            // At the border, and in the middle of the message after it.
            for at in ends.flat_map(|end| [end, end + 1]) {
                let group = Group::new(PARTIES, runs % 4 == 3);
                let tamper = Tamper { direction: Direction::Outgoing, at, change: Change::Close };
                let ends = group.run(|own| {
                    let links = group.meet(own, &mut |_| {}).unwrap();
                    let links = links.map(|peer, link| -> Box<dyn Channel> {
                        if (own.me, peer) == (lost, to) {
                            Box::new(Tampering::new(link, &tamper))
                        } else {
                            Box::new(link)
                        }
                    });
                    task.run(&mut Mesh::new(links))
                });
                for (me, end) in group.all().zip(ends).filter(|(me, _)| *me != lost) {
                    match end {
                        Ok(learned) => assert_eq!(learned, task.expected(me), "{lost} is lost to {to} at {at}"),
                        Err(error) => assert!(
                            matches!(error, Error { kind: Kind::Closed, party: Some(_) }),
                            "party {me}, {lost} is lost to {to} at {at}: {error:?}"
                        ),
                    }
                }
                runs += 1;
            }
        }
    }
    assert!(runs >= 6 * 8, "{runs}");
}

#[test]
fn sixty_four_parties_run_in_memory() {
    let task = Task::new(64);
    thread::scope(|scope| {
        for links in memory_mesh(64, Some(PATIENCE)) {
            let task = &task;
            scope.spawn(move || {
                let me = links.me();
                assert_eq!(task.run(&mut Mesh::new(links)).unwrap(), task.expected(me));
            });
        }
    });
}

#[test]
#[ignore = "4,032 sockets, and two files for each"]
fn sixty_four_parties_run_over_loopback() {
    let (group, task) = (Group::new(64, false), Task::new(64));
    for (me, learned) in group.all().zip(group.run(|own| task.run(&mut Mesh::new(group.meet(own, &mut |_| {})?)))) {
        assert_eq!(learned.unwrap(), task.expected(me));
    }
}

#[test]
fn who_waits_for_nobody_in_time_says_who_is_missing() {
    let group = Group::new(5, false);
    let error = group.meet(&hasty(group.settings[2].clone(), SOON), &mut |_| {}).err().unwrap();
    assert!(matches!(&error.kind, Kind::TimedOut(why) if why.contains("3 and 4")), "{error}");
}
