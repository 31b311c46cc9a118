//! Sessions that prepare, and that run on what was prepared.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use comity::{
    Adversary, Bits, Error, Intersection, PROTOCOLS, Params, Program, Recipients, Report, Result, Session, Store,
    StoreKey, Supply, Watch, library, memory, psi, zk,
};
use comity_channel::hello::WIRE_BYTES;
use comity_channel::{Change, Direction, Tamper, Tampering};
use comity_core::{Backend, Block, Kind, Prg, SessionId};

/// The stores of both parties, removed when the test passes.
struct Stores(PathBuf);

impl Stores {
    fn new(test: &str) -> Stores {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Stores(path)
    }

    fn open(&self, party: u16) -> Store {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(party.into()));
        let path = self.0.join(format!("key{party}"));
        let key = if path.exists() { StoreKey::read(&path) } else { StoreKey::create(&path, &mut rng) }.unwrap();
        Store::open_or_create(&self.0.join(format!("store{party}")), &key, &mut rng).unwrap()
    }

    fn session(&self, party: u16) -> Session<'static> {
        Session::new(party).params(Params::new(128, 5).unwrap()).store(self.open(party))
    }

    fn prepare(&self, program: &Program, count: u64) {
        let (a, b) = memory::pair();
        thread::scope(|scope| {
            let one = scope.spawn(|| self.session(1).over(b).prepare(program, count, 1 << 30, &mut ()));
            let zero = self.session(0).over(a).prepare(program, count, 1 << 30, &mut ()).unwrap();
            assert_eq!(zero.count, count);
            assert_eq!(one.join().unwrap().unwrap().count, count);
        });
    }

    /// Adds 40 and 2; what party 0 receives is tampered with.
    fn run(&self, program: &Program, tamper: Option<&Tamper>, watch: &mut dyn Watch) -> [Result<Report>; 2] {
        let (a, b) = memory::pair();
        let none = Tamper { direction: Direction::Incoming, at: usize::MAX, change: Change::Drop { len: 0 } };
        let a = Tampering::new(a, tamper.unwrap_or(&none));
        thread::scope(|scope| {
            let one = scope.spawn(|| self.session(1).over(b).run(program, [(1, number(2))]));
            let zero = self.session(0).over(a).run_watched(program, [(0, number(40))], watch);
            [zero, one.join().unwrap()]
        })
    }

    /// The number of lots that are left at each party.
    fn left(&self) -> [usize; 2] {
        [0, 1].map(|party| self.open(party).lots().unwrap().len())
    }
}

impl Drop for Stores {
    fn drop(&mut self) {
        if !thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

fn number(value: u8) -> Bits {
    Bits::from_bytes(&[value], 8)
}

/// The events that were told of a store.
#[derive(Default)]
struct Told {
    /// The amounts that were needed, are left, and were burned.
    taken: Vec<(u64, u64, u32)>,
    discarded: Vec<usize>,
    damaged: Vec<String>,
}

impl Watch for Told {
    fn taken(&mut self, taken: &Supply) {
        self.taken.push((taken.need, taken.left, taken.behind));
    }

    fn discarded(&mut self, lots: usize) {
        self.discarded.push(lots);
    }

    fn damaged(&mut self, why: &str) {
        self.damaged.push(why.to_owned());
    }
}

#[test]
fn each_lot_of_copies_serves_one_run() {
    let stores = Stores::new("once");
    let program = library::program("add8").unwrap();
    stores.prepare(&program, 3);
    assert_eq!(stores.left(), [3, 3]);
    let mut told = Told::default();
    for report in stores.run(&program, None, &mut told) {
        let report = report.unwrap();
        assert_eq!((report.outputs, report.protocol), (vec![(0, number(42))], "cutchoose"));
    }
    assert_eq!(stores.left(), [2, 2]);
    // Party 1 loses the older one of the two: it is of no use to party 0 either.
    let store = stores.open(1);
    store.remove(&store.lots().unwrap()[0].meta.id).unwrap();
    drop(store);
    assert!(stores.run(&program, None, &mut told).iter().all(Result::is_ok));
    assert_eq!((&told.taken[..], &told.discarded[..]), (&[(1, 2, 0), (1, 0, 0)][..], &[1][..]));
    assert_eq!(stores.left(), [0, 0]);
    for report in stores.run(&program, None, &mut told) {
        assert!(report.unwrap_err().to_string().contains("comity prepare"));
    }
}

/// The file in a party's store that has this ending, of the lot with this id.
fn file(stores: &Stores, party: u32, id: &SessionId, ending: &str) -> PathBuf {
    let id: String = id.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    stores.0.join(format!("store{party}")).join(format!("{id}.{ending}"))
}

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn material_that_one_side_alone_has_is_discarded_and_damage_blocks_nothing() {
    let stores = Stores::new("one-side");
    let program = library::program("add8").unwrap();
    let run = |told: &mut [Told; 2]| {
        let (a, b) = memory::pair();
        let session = |party| stores.session(party).protocol("tinyot");
        let [zero, one] = told;
        thread::scope(|scope| {
            let one = scope.spawn(|| session(1).over(b).run_watched(&program, [(1, number(2))], one));
            let zero = session(0).over(a).run_watched(&program, [(0, number(40))], zero);
            [zero, one.join().unwrap()]
        })
    };
    for _ in 0..5 {
        let (a, b) = memory::pair();
        thread::scope(|scope| {
            let one =
                scope.spawn(|| stores.session(1).protocol("tinyot").over(b).prepare_any(10_000, 1 << 30, &mut ()));
            stores.session(0).protocol("tinyot").over(a).prepare_any(10_000, 1 << 30, &mut ()).unwrap();
            one.join().unwrap().unwrap();
        });
    }
    let there = |party| stores.open(party).lots().unwrap().iter().map(|lot| lot.meta.id).collect::<Vec<_>>();
    let ids = there(0);
    assert!(ids.len() == 5 && there(1) == ids);
    // The oldest one's record is damaged at party 0, the second has lost a batch there, and party 1 has lost the third.
    flip(&file(&stores, 0, &ids[0], "lot"));
    std::fs::remove_file(file(&stores, 0, &ids[1], "batch-00000001")).unwrap();
    stores.open(1).remove(&ids[2]).unwrap();
    let mut told = [Told::default(), Told::default()];
    for report in run(&mut told) {
        assert_eq!(report.unwrap().outputs, [(0, number(42))]);
    }
    let [zero, one] = &told;
    assert_eq!((&zero.discarded[..], &one.discarded[..]), (&[1][..], &[2][..]));
    assert!(zero.damaged.len() == 2 && one.damaged.is_empty(), "{:?}", zero.damaged);
    for (id, words) in [(ids[0], "damaged"), (ids[1], "batch 1 is missing")] {
        let path = file(&stores, 0, &id, "lot");
        assert!(zero.damaged.iter().any(|why| why.contains(words) && why.contains(path.to_str().unwrap())), "{words}");
    }
    assert_eq!((there(0), there(1)), (ids[3..].to_vec(), ids[3..].to_vec()));
    assert!(!file(&stores, 1, &ids[0], "batch-00000000").exists() && !file(&stores, 0, &ids[2], "lot").exists());
    // With nothing in common nobody knows whose store is the wrong one: nothing is deleted.
    stores.open(0).remove(&ids[3]).unwrap();
    stores.open(1).remove(&ids[4]).unwrap();
    for report in run(&mut told) {
        assert!(
            report
                .unwrap_err()
                .to_string()
                .contains("no lot of shares with these parameters, options and keys that all parties have")
        );
    }
    assert_eq!((there(0), there(1)), (vec![ids[4]], vec![ids[3]]));
}

#[test]
fn a_damaged_lot_does_not_stand_in_anothers_way() {
    let stores = Stores::new("damaged");
    let program = library::program("add8").unwrap();
    stores.prepare(&program, 2);
    let first = stores.open(0).lots().unwrap()[0].meta.id;
    flip(&file(&stores, 0, &first, "lot"));
    let mut told = Told::default();
    assert!(stores.run(&program, None, &mut told).iter().all(Result::is_ok));
    assert!(told.damaged.len() == 1 && told.damaged[0].contains("damaged"), "{:?}", told.damaged);
    assert_eq!(stores.left(), [0, 0]);
}

#[test]
fn another_program_does_not_take_it() {
    let stores = Stores::new("programs");
    stores.prepare(&library::program("add8").unwrap(), 1);
    for report in stores.run(&library::program("sub8").unwrap(), None, &mut ()) {
        let why = report.unwrap_err().to_string();
        assert!(why.contains("no party has a lot of copies for `sub8`") && !why.contains("has changed"), "{why}");
    }
    // A program of the same name as that of the lots, which is another one.
    let changed = library::program("add8").unwrap().with_recipients(0, Recipients::only(1)).unwrap();
    for report in stores.run(&changed, None, &mut ()) {
        let why = report.unwrap_err().to_string();
        assert!(why.contains("keys (`add8` has changed since the lot in the store was made): make one"), "{why}");
    }
    assert_eq!(stores.left(), [1, 1]);
}

#[test]
fn lies_about_lots_are_refused() {
    let program = library::program("add8").unwrap();
    let at = WIRE_BYTES;
    let lie = |at, with: Vec<u8>| {
        let change = Change::Replace { len: with.len(), with };
        Tamper { direction: Direction::Incoming, at, change }
    };
    // The count, the id, the word that the other part is whole, and the one that it was taken: where each is,
    // what comes, and what is left.
    let lies = [
        (lie(at, vec![0xff; 4]), "4294967295 lots", 1),
        (lie(at + 4, vec![7; 32]), "that all parties have", 1),
        (lie(at + 40, vec![7]), "its part of a lot is whole or damaged", 1),
        (lie(at + 40, vec![0]), "party 1 has no lot", 1),
        (lie(at + 41, vec![7; 32]), "taken another lot", 0),
    ];
    for (number, (lie, words, left)) in lies.iter().enumerate() {
        let stores = Stores::new(&format!("lies{number}"));
        stores.prepare(&program, 1);
        let [zero, one] = stores.run(&program, Some(lie), &mut ());
        let error = zero.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(matches!(one, Err(Error { kind: Kind::Closed, .. })), "{:?}", one.map(|_| ()));
        assert_eq!(stores.left()[0], *left, "{words}");
    }
}

/// Whether anybody was waited for or called.
#[derive(Default)]
struct Bothered(bool);

impl Watch for Bothered {
    fn listening(&mut self, _: &str) {
        self.0 = true;
    }

    fn connecting(&mut self, _: &str) {
        self.0 = true;
    }
}

#[test]
fn what_cannot_be_is_refused_before_anybody_is_bothered() {
    let stores = Stores::new("bothered");
    let program = library::program("add8").unwrap();
    let mut watch = Bothered::default();
    let session = || stores.session(0).listen("127.0.0.1:0");
    let inputs = || [(0, number(40))];
    let refusals = [
        (session().protocol("yao").run_watched(&program, inputs(), &mut watch).map(drop), "leave the store out"),
        (session().option("coded", "yes").run_watched(&program, inputs(), &mut watch).map(drop), "cannot be coded"),
    ];
    for (refused, words) in refusals {
        assert!(refused.unwrap_err().to_string().contains(words), "{words}");
    }
    let refusals = [
        (
            session().protocol("yao").prepare(&program, 1, 1 << 30, &mut watch).map(drop),
            "nothing that could be prepared",
        ),
        (session().option("coded", "yes").prepare(&program, 1, 1 << 30, &mut watch).map(drop), "cannot be coded"),
        (session().prepare(&program, 1, 1 << 10, &mut watch).map(drop), "the limit is 1 KiB"),
        (session().prepare_any(1, 1 << 30, &mut watch).map(drop), "name one"),
        (session().protocol("tinyot").prepare_any(1 << 30, 1 << 30, &mut watch).map(drop), "the limit is"),
    ];
    for (refused, words) in refusals {
        assert!(refused.unwrap_err().to_string().contains(words), "{words}");
    }
    assert!(!watch.0);
}

#[test]
fn shares_that_one_protocol_made_are_used_up_by_another() {
    let stores = Stores::new("two-protocols");
    let program = library::program("add8").unwrap();
    let both = |act: &(dyn Fn(Session<'static>, usize) + Sync)| {
        let (a, b) = memory::pair();
        thread::scope(|scope| {
            scope.spawn(|| act(stores.session(1).over(b), 1));
            act(stores.session(0).over(a), 0);
        });
    };
    for (maker, user) in [("tinyot", "ag"), ("ag", "tinyot"), ("ag", "ag")] {
        both(&|session, _| {
            assert_eq!(session.protocol(maker).prepare_any(1, 1 << 30, &mut ()).unwrap().count, 8192);
        });
        assert_eq!(stores.left(), [1, 1]);
        both(&|session, party| {
            let session = session.protocol(user);
            // Whoever garbles: the lot is for either.
            let session = match user {
                "ag" => session.option("stored", "shares").option("role", ["evaluator", "garbler"][party]),
                _ => session,
            };
            let report = session.run(&program, [(party, number([40, 2][party]))]).unwrap();
            assert_eq!(report.outputs, [(0, number(42))], "{maker}, {user}");
        });
        assert_eq!(stores.left(), [0, 0]);
    }
    // A garbled program is one run, and nothing for another protocol.
    both(&|session, _| {
        assert_eq!(session.protocol("ag").prepare(&program, 2, 1 << 30, &mut ()).unwrap().count, 2);
    });
    assert_eq!(stores.left(), [2, 2]);
    both(&|session, party| {
        let run = session.protocol("tinyot").run(&program, [(party, number(1))]);
        assert!(run.unwrap_err().to_string().contains("`--protocol ag`"));
    });
    both(&|session, party| {
        let report = session.protocol("ag").run(&program, [(party, number([40, 2][party]))]).unwrap();
        assert_eq!(report.outputs, [(0, number(42))]);
    });
    assert_eq!(stores.left(), [1, 1]);
}

/// A batch that is damaged is found before anything is used up: all pass over its lot and run on the next
/// one, whichever protocol it is for.
#[test]
fn a_lot_with_a_damaged_batch_is_passed_over_by_both() {
    let program = library::program("add8").unwrap();
    let mut tried = Vec::new();
    for protocol in PROTOCOLS.iter().filter(|protocol| !protocol.card().offline.is_empty()) {
        let name = protocol.card().name;
        let stores = Stores::new(&format!("batch-{name}"));
        let session = |party| stores.session(party).protocol(name);
        for _ in 0..2 {
            let (a, b) = memory::pair();
            thread::scope(|scope| {
                let one = scope.spawn(|| session(1).over(b).prepare(&program, 1, 1 << 30, &mut ()));
                session(0).over(a).prepare(&program, 1, 1 << 30, &mut ()).unwrap();
                one.join().unwrap().unwrap();
            });
        }
        let lots = |party| stores.open(party).lots().unwrap();
        let before = [0, 1].map(lots);
        let id = before[0][0].meta.id;
        let batch = |party| file(&stores, party, &id, "batch-00000000");
        flip(&batch(0));
        let run = |[zero, one]: &mut [Told; 2]| {
            let (a, b) = memory::pair();
            thread::scope(|scope| {
                let one = scope.spawn(|| session(1).over(b).run_watched(&program, [(1, number(2))], one));
                let zero = session(0).over(a).run_watched(&program, [(0, number(40))], zero);
                [zero, one.join().unwrap()]
            })
        };
        let mut told = [Told::default(), Told::default()];
        for report in run(&mut told) {
            assert_eq!(report.unwrap_or_else(|error| panic!("{name}: {error}")).outputs, [(0, number(42))], "{name}");
        }
        let lot: String = id.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let [zero, one] = told.map(|told| told.damaged);
        assert!(zero.len() == 1 && zero[0].contains(batch(0).to_str().unwrap()), "{name}: {zero:?}");
        assert!(one.len() == 1 && one[0].contains("party 0's part") && one[0].contains(&lot), "{name}: {one:?}");
        // Neither part of it was used, and the other lot was.
        for party in [0, 1] {
            let now = lots(party);
            assert!(now[0] == before[usize::from(party)][0] && batch(party.into()).exists(), "{name}");
            assert!(now.get(1).is_none_or(|second| second.next > 0), "{name}");
        }
        // Without another lot there is no run.
        [0, 1].iter().for_each(|&party| {
            let store = stores.open(party);
            store.lots().unwrap()[1..].iter().for_each(|lot| store.remove(&lot.meta.id).unwrap());
        });
        for report in run(&mut [Told::default(), Told::default()]) {
            assert!(report.unwrap_err().to_string().contains("comity prepare"), "{name}");
        }
        assert!(batch(1).exists(), "{name}");
        tried.push(name);
    }
    assert!(tried.len() >= 4, "{tried:?}");
}

/// What a session was told and what it does would not take up: refused before anybody is met, each by its name.
#[test]
fn nothing_that_is_said_is_ignored() {
    let stores = Stores::new("ignored");
    let terms = psi::Terms::new(psi::Method::Kkrt, Adversary::SemiHonest);
    let sets = [psi::Set { items: &[], payload: &[], pad_to: 0 }];
    let wanted =
        Intersection { terms, encoding: "plain", hashed: None, to: Recipients::All, sets: &sets, payload: None };
    let statement = {
        let byte = |value| Some(Bits::from_bytes(&[value], 8));
        zk::Statement::new(&library::program("add8").unwrap(), &[None, byte(2)], &[byte(42)], b"").unwrap()
    };
    let way = zk::Conversation::Vole;
    type Told = fn(Session<'static>, &Stores) -> Session<'static>;
    let told: [(Told, &str); 4] = [
        (|session, _| session.protocol("yao"), "`Session::protocol`"),
        (|session, _| session.unauthenticated_shares(true), "`Session::unauthenticated_shares`"),
        (|session, stores| session.store(stores.open(0)), "`Session::store`"),
        (|session, _| session.params(Params::new(128, 5).unwrap()), "`Session::params`"),
    ];
    for (at, (tell, method)) in told.into_iter().enumerate() {
        let session =
            |party| tell(Session::new(party).connect("127.0.0.1:1").timeout(Duration::from_millis(1)), &stores);
        let refused = |result: Result<()>, by: &str| {
            let said = result.err().unwrap_or_else(|| panic!("{by} goes along with {method}")).to_string();
            assert!(said.contains(method), "{by}: {said}");
        };
        // An intersection has parameters.
        if at < 3 {
            refused(session(0).intersect(&wanted, &mut ()).map(drop), "intersect");
        }
        refused(session(0).prove(&statement, &[None, None], way, &mut ()), "prove");
        refused(session(1).verify(&statement, way, &mut ()), "verify");
        if at == 1 {
            refused(session(0).interactive(&mut ()).map(drop), "interactive");
        }
    }
}
