//! Sessions that prepare, and that run on what was prepared.

use std::path::{Path, PathBuf};
use std::thread;

use comity::{Bits, Error, Key, Params, Program, Report, Result, Session, Store, Watch, library, memory};
use comity_channel::hello::WIRE_BYTES;
use comity_channel::{Change, Direction, Tamper, Tampering};
use comity_core::{Backend, Block, Kind, Prg};

/// The stores of both parties, removed when the test passes.
struct Stores(PathBuf);

impl Stores {
    fn new(test: &str) -> Stores {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Stores(path)
    }

    fn open(&self, party: u32) -> Store {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(party.into()));
        let path = self.0.join(format!("key{party}"));
        let key = if path.exists() { Key::read(&path) } else { Key::create(&path, &mut rng) }.unwrap();
        Store::open_or_create(&self.0.join(format!("store{party}")), &key, &mut rng).unwrap()
    }

    fn session(&self, party: u32) -> Session<'static> {
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

    /// How many are left at each party.
    fn left(&self) -> [usize; 2] {
        [0, 1].map(|party| self.open(party).list().unwrap().len())
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

/// What was told of preparations.
#[derive(Default)]
struct Taken(Vec<(usize, usize)>);

impl Watch for Taken {
    fn taken(&mut self, left: usize, deleted: usize) {
        self.0.push((left, deleted));
    }
}

#[test]
fn each_preparation_serves_one_run() {
    let stores = Stores::new("once");
    let program = library::program("add8").unwrap();
    stores.prepare(&program, 3);
    assert_eq!(stores.left(), [3, 3]);
    let mut taken = Taken::default();
    for report in stores.run(&program, None, &mut taken) {
        let report = report.unwrap();
        assert_eq!((report.outputs, report.protocol), (vec![(0, number(42))], "cutchoose"));
    }
    assert_eq!(stores.left(), [2, 2]);
    // Party 1 loses the older one of the two: it is of no use to party 0 either.
    let store = stores.open(1);
    store.discard(&store.list().unwrap()[0].id).unwrap();
    drop(store);
    assert!(stores.run(&program, None, &mut taken).iter().all(Result::is_ok));
    assert_eq!(taken.0, [(2, 0), (0, 1)]);
    assert_eq!(stores.left(), [0, 0]);
    for report in stores.run(&program, None, &mut taken) {
        assert!(report.unwrap_err().to_string().contains("comity prepare"));
    }
}

#[test]
fn another_program_does_not_take_it() {
    let stores = Stores::new("programs");
    stores.prepare(&library::program("add8").unwrap(), 1);
    for report in stores.run(&library::program("sub8").unwrap(), None, &mut ()) {
        assert!(report.unwrap_err().to_string().contains("neither party has a preparation for `sub8`"));
    }
    assert_eq!(stores.left(), [1, 1]);
}

#[test]
fn lies_about_preparations_are_refused() {
    let program = library::program("add8").unwrap();
    let at = WIRE_BYTES;
    let lie = |at, with: Vec<u8>| {
        let change = Change::Replace { len: with.len(), with };
        Tamper { direction: Direction::Incoming, at, change }
    };
    // The count, the id, and the word that it was taken: where each is, what comes, and what is left.
    let lies = [
        (lie(at, vec![0xff; 4]), "4294967295 preparations", 1),
        (lie(at + 4, vec![7; 32]), "no preparation that both parties have", 1),
        (lie(at + 36, vec![7; 32]), "taken another preparation", 0),
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
