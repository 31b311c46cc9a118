//! Groups of any size over loopback: in any order, with strangers, wrong keys and twins, and with somebody who goes.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use comity::{Bits, Channel, Fingerprint, Kind, PartyGroup, PartyId, Program, Report, Result, Session, Watch, compile};
use comity_net::{KeyDir, Limits, Listener, Security, Settings, SystemRng, Ways, meet};
use comity_testing::PATIENCE;

/// A time-out that is soon at an end: where one is all that can come.
const SOON: Duration = Duration::from_millis(100);

const NAMES: [&str; 9] = ["ann", "ben", "cleo", "dan", "eve", "fay", "gus", "hal", "ida"];

/// The sum (XOR) of a byte of each, for all; and that of the first two, for the last one.
fn program(parties: u16) -> Program {
    let names = &NAMES[..usize::from(parties)];
    let inputs: Vec<String> = names.iter().map(|name| format!("of_{name}: u8 from {name}")).collect();
    let sum: Vec<String> = names.iter().map(|name| format!("of_{name}")).collect();
    let (all, last) = (names.join(", "), names[names.len() - 1]);
    let (inputs, sum) = (inputs.join(", "), sum.join(" ^ "));
    let text =
        format!("parties {all};\nfn main({inputs}) -> (all: u8, two: u8 to {last}) {{ ({sum}, of_ann ^ of_ben) }}");
    compile("sum.cty", &text).unwrap()
}

fn byte(value: u8) -> Bits {
    Bits::from_bytes(&[value], 8)
}

/// Addresses that are free now.
fn addresses(count: u16) -> Vec<String> {
    let bound: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    bound.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect()
}

/// A group at these addresses, and its parties' keys if it has some.
fn group(addresses: &[String], keys: &[Fingerprint]) -> PartyGroup {
    let line = |(id, address): (usize, &String)| {
        let key = keys.get(id).map_or(String::new(), |key| format!("key = \"{key}\"\n"));
        format!("[[party]]\nid = {id}\nname = \"{}\"\naddress = \"{address}\"\n{key}", NAMES[id])
    };
    PartyGroup::parse(&addresses.iter().enumerate().map(line).collect::<String>()).unwrap()
}

/// Folders with keys, one a party.
struct Keys(Vec<PathBuf>, Vec<Fingerprint>);

impl Keys {
    fn new(test: &str, count: u16) -> Keys {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        let dirs: Vec<PathBuf> = (0..count).map(|party| root.join(party.to_string())).collect();
        let made = dirs.iter().map(|dir| KeyDir::new(dir).create(&mut SystemRng).unwrap().fingerprint()).collect();
        Keys(dirs, made)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0[0].parent().unwrap());
    }
}

/// Runs all parties, which start in this order.
fn run(order: &[u16], session: impl Fn(u16) -> Session<'static> + Sync) -> Vec<Result<Report>> {
    let (program, session) = (&program(order.len() as u16), &session);
    let mut ended: Vec<_> = thread::scope(|scope| {
        let parties: Vec<_> = order
            .iter()
            .map(|&me| {
                let (begun, begins) = mpsc::channel();
                let party = scope.spawn(move || {
                    begun.send(()).unwrap();
                    let own = [(usize::from(me), byte(1 << (me % 8)))];
                    session(me).with(&comity_sum::Sum).timeout(PATIENCE).run(program, own)
                });
                begins.recv().unwrap();
                (me, party)
            })
            .collect();
        parties.into_iter().map(|(me, party)| (me, party.join().unwrap())).collect()
    });
    ended.sort_by_key(|(me, _)| *me);
    ended.into_iter().map(|(_, report)| report).collect()
}

/// Checks that all have learned what they should.
fn right(reports: Vec<Result<Report>>) {
    let parties = reports.len() as u16;
    let all = (0..parties).fold(0, |all, party| all ^ (1 << (party % 8)));
    for (me, report) in (0..).zip(reports) {
        let report = report.unwrap();
        let mut learned = vec![(0, byte(all))];
        learned.extend((me + 1 == parties).then(|| (1, byte(3))));
        assert_eq!((report.outputs, report.parties, report.party), (learned, parties, me));
        let peers: Vec<u16> = report.peers.iter().map(|(peer, _)| peer.0).collect();
        assert_eq!(peers, (0..parties).filter(|&peer| peer != me).collect::<Vec<_>>());
        let sent: u64 = report.peers.iter().map(|(_, counts)| counts.sent).sum();
        assert_eq!(sent, report.bytes_sent);
    }
}

/// The parties in an order of some kind.
fn shuffled(parties: u16, seed: u64) -> Vec<u16> {
    let mut order: Vec<u16> = (0..parties).collect();
    let mut state = seed;
    for at in (1..order.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(at, (state >> 33) as usize % (at + 1));
    }
    order
}

#[test]
fn two_to_nine_meet_in_any_order() {
    for parties in 2..=9 {
        let group = group(&addresses(parties), &[]);
        right(run(&shuffled(parties, u64::from(parties)), |me| Session::new(me).group(&group)));
    }
}

#[test]
fn with_keys_who_one_is_follows_from_the_key() {
    let keys = Keys::new("follows", 5);
    let group = group(&addresses(5), &keys.1);
    right(run(&shuffled(5, 7), |me| Session::in_group(&group, &keys.0[usize::from(me)]).unwrap()));
}

#[test]
fn peers_are_named_one_by_one() {
    let at = addresses(3);
    let session = |me: u16| {
        let peers = (0..3).filter(|&peer| peer != me);
        // Nobody can call party 0, which therefore calls the others.
        let address = |peer: u16| if peer == 0 { "-".to_owned() } else { at[usize::from(peer)].clone() };
        let session = peers.fold(Session::new(me), |session, peer| session.peer(peer, address(peer)));
        if me == 0 { session } else { session.listen(&at[usize::from(me)]) }
    };
    right(run(&[2, 0, 1], session));
}

#[test]
fn parties_are_introduced_by_whoever_starts_them() {
    let (all, addresses) = (Arc::new(Barrier::new(4)), Arc::new(Mutex::new(vec![String::new(); 4])));
    right(run(&[3, 1, 0, 2], |me| {
        let (all, addresses) = (all.clone(), addresses.clone());
        Session::new(me).introduced("127.0.0.1:0", 4, move |here| {
            addresses.lock().unwrap()[usize::from(me)] = here.to_owned();
            all.wait();
            Ok(addresses.lock().unwrap().clone())
        })
    }));
}

#[test]
fn files_that_differ_are_told_with_both_digests() {
    let at = addresses(3);
    let ours = group(&at, &[]);
    let theirs = PartyGroup::parse(&ours.to_text().replace("\"ben\"", "\"bob\"")).unwrap();
    let ended = run(&[0, 1, 2], |me| Session::new(me).group(if me == 2 { &theirs } else { &ours }));
    let (ours, theirs) = (ours.digest().to_string(), theirs.digest().to_string());
    for (me, error) in ended.into_iter().map(Result::unwrap_err).enumerate() {
        let ([one, other], sets) = match me {
            2 => ([&theirs, &ours], ["party 2", "parties 0 and 1"]),
            _ => ([&ours, &theirs], ["parties 0 and 1", "party 2"]),
        };
        let told = format!("group of parties: here {one} ({}), at the peer {other} ({})", sets[0], sets[1]);
        assert!(matches!(error.kind, Kind::Mismatch { .. }) && error.to_string().ends_with(&told), "{error}");
    }
}

/// Passes on which parties a party says that it waits for, and which are here.
struct Waiting(mpsc::Sender<Wait>);

/// Who is missing, and who is here.
type Wait = (Vec<u16>, Vec<u16>);

impl Watch for Waiting {
    fn waiting(&mut self, missing: &[PartyId], here: &[PartyId]) {
        let ids = |parties: &[PartyId]| parties.iter().map(|party| party.0).collect();
        // Nobody listens any more once the test has seen enough.
        let _ = self.0.send((ids(missing), ids(here)));
    }
}

/// Party 0 of a group, which waits for the others, on a thread.
fn waiting(group: &PartyGroup, timeout: Duration) -> (thread::JoinHandle<Result<Report>>, mpsc::Receiver<Wait>) {
    let (tell, told) = mpsc::channel();
    let session = Session::new(0).group(group).with(&comity_sum::Sum).timeout(timeout);
    let program = program(group.parties());
    (thread::spawn(move || session.run_watched(&program, [(0, byte(1))], &mut Waiting(tell))), told)
}

/// Runs all parties but party 0, and that they learn what they should.
fn right_with<const N: usize>(group: &PartyGroup, others: [u16; N]) {
    let (program, all) = (&program(group.parties()), byte((1 << group.parties()) - 1));
    let outputs = thread::scope(|scope| {
        let parties = others.map(|me| {
            let session = Session::new(me).group(group).with(&comity_sum::Sum).timeout(PATIENCE);
            scope.spawn(move || session.run(program, [(usize::from(me), byte(1 << me))]))
        });
        parties.map(|party| party.join().unwrap().unwrap().outputs)
    });
    assert!(outputs.iter().all(|learned| learned[0] == (0, all.clone())), "{outputs:?}");
}

fn settings(me: u16, parties: u16) -> Settings {
    Settings {
        me: PartyId(me),
        parties,
        security: Security::Plain { anywhere: false },
        timeout: PATIENCE,
        limits: Limits::default(),
        relay: None,
    }
}

#[test]
fn who_is_missing_is_named_and_who_is_here() {
    let group = group(&addresses(4), &[]);
    let (party, told) = waiting(&group, PATIENCE);
    assert_eq!(told.recv().unwrap(), (vec![1, 2, 3], vec![]));
    // Party 2 comes, and goes again before the others have come: the wait goes on, and ends with the one that
    // comes then.
    let call = |me: u16| {
        let at = group.members()[0].address.clone().unwrap();
        comity_net::connect(&at, PartyId(0), &settings(me, 4), &mut |_| {}).unwrap()
    };
    let two = call(2);
    assert_eq!(told.recv().unwrap(), (vec![1, 3], vec![2]));
    drop(two);
    assert_eq!(told.recv().unwrap(), (vec![1, 2, 3], vec![]));
    right_with(&group, [3, 1, 2]);
    assert_eq!(party.join().unwrap().unwrap().outputs, [(0, byte(15))]);

    let (party, _) = waiting(&group, SOON);
    let error = party.join().unwrap().unwrap_err();
    assert!(matches!(&error.kind, Kind::TimedOut(text) if text.contains("parties 1, 2 and 3")), "{error}");
}

#[test]
fn a_stranger_on_the_port_ends_no_wait() {
    let group = group(&addresses(3), &[]);
    let (party, told) = waiting(&group, PATIENCE);
    told.recv().unwrap();
    let at = group.members()[0].address.clone().unwrap();
    let _silent = TcpStream::connect(&at).unwrap();
    TcpStream::connect(&at).unwrap().write_all(&[b'x'; 4096]).unwrap();
    // One who takes itself for a sixth party of three.
    let sixth = comity_net::connect(&at, PartyId(0), &settings(5, 6), &mut |_| {});
    right_with(&group, [2, 1]);
    drop(sixth);
    assert_eq!(party.join().unwrap().unwrap().outputs, [(0, byte(7))]);
}

#[test]
fn of_two_with_one_address_one_is_told() {
    let group = group(&addresses(3), &[]);
    let (party, told) = waiting(&group, PATIENCE);
    told.recv().unwrap();
    let error = Session::new(0).group(&group).with(&comity_sum::Sum).run(&program(3), [(0, byte(1))]).unwrap_err();
    assert!(error.to_string().contains("in use"), "{error}");
    right_with(&group, [1, 2]);
    assert_eq!(party.join().unwrap().unwrap().outputs, [(0, byte(7))]);
}

#[test]
fn wrong_keys_are_told() {
    let keys = Keys::new("wrong", 4);
    let at = addresses(3);
    let group_ = group(&at, &keys.1[..3]);
    let refused = |session: Result<Session<'_>>| session.err().unwrap().to_string();
    assert!(refused(Session::in_group(&group_, &keys.0[3])).contains("none of the group's 3 parties"));
    let why = |session: Session<'_>| {
        let error = session.with(&comity_sum::Sum).run(&program(3), [(1, byte(1))]).unwrap_err();
        assert!(matches!(error.kind, Kind::InvalidInput(_)), "{error}");
        error.to_string()
    };
    assert!(why(Session::new(1).group(&group_).tls(&keys.0[0])).contains("not party 1's"));
    assert!(why(Session::new(1).group(&group_)).contains("--tls DIR"));
    assert!(why(Session::new(1).group(&group(&at, &[])).tls(&keys.0[1])).contains("no keys"));
    // Party 1's key in party 2's file is another one: the party that is called is not the one that the file
    // lists.
    let mut others = keys.1[..3].to_vec();
    others[1] = keys.1[3];
    let others = group(&at, &others);
    let identity = KeyDir::new(&keys.0[1]).identity().unwrap();
    let own = Settings { security: group_.security(PartyId(1), identity).unwrap(), ..settings(1, 3) };
    let listener = Listener::bind(&at[1], &own).unwrap();
    let (here, there) = thread::scope(|scope| {
        let here = scope.spawn(|| listener.next().map(drop).unwrap_err());
        let session = Session::in_group(&others, &keys.0[2]).unwrap().with(&comity_sum::Sum).timeout(PATIENCE);
        (session.run(&program(3), [(2, byte(1))]).unwrap_err(), here.join().unwrap())
    });
    assert!(matches!(here.kind, Kind::Untrusted(_)) && here.party == Some(PartyId(1)), "{here:?}");
    assert!(matches!(there.kind, Kind::Untrusted(_) | Kind::Closed), "{there:?}");
}

#[test]
fn who_goes_in_the_middle_is_named_and_nobody_hangs() {
    let group = group(&addresses(4), &[]);
    let ended = thread::scope(|scope| {
        let others: Vec<_> = [0, 1, 3]
            .into_iter()
            .map(|me| {
                let group = &group;
                scope.spawn(move || {
                    let session = Session::new(me).group(group).with(&comity_sum::Sum).timeout(PATIENCE);
                    session.run(&program(4), [(usize::from(me), byte(1))])
                })
            })
            .collect();
        // Party 2 meets all others, hears of each that it has met all, too, and goes. A party that still
        // missed somebody would wait for party 2 to come again.
        let own = settings(2, 4);
        let Ways { listens: listen, calls, .. } = group.ways(PartyId(2), None).unwrap();
        let listener = Listener::bind(listen.unwrap(), &own).unwrap();
        let mut links = meet(Some(&listener), &calls, &own, &mut |_| {}).unwrap();
        links.iter_mut().for_each(|(_, link)| link.recv(&mut [0]).unwrap());
        drop(links);
        others.into_iter().map(|party| party.join().unwrap().unwrap_err()).collect::<Vec<_>>()
    });
    // Each is told by whoever went first as far as it could see; the first of all was party 2.
    assert!(ended.iter().all(|error| matches!(error.kind, Kind::Closed) && error.party.is_some()), "{ended:?}");
    assert!(ended.iter().any(|error| error.party == Some(PartyId(2))), "{ended:?}");
}
