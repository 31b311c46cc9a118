//! The three phases of `bmr`: shares for any program, a program garbled on them, and the run.

use std::path::{Path, PathBuf};
use std::thread;

use comity::{Bits, Program, Report, Result, Session, Store, StoreKey, Supply, Watch, library};
use comity_channel::memory_mesh;
use comity_core::{Backend, Block, Prg};
use comity_testing::PATIENCE;

/// The folder of the parties' stores, removed when the test passes.
struct Stores(PathBuf, u16);

/// What a party is told.
#[derive(Default)]
struct Told {
    taken: Vec<Supply>,
    anew: Vec<String>,
}

impl Watch for Told {
    fn taken(&mut self, taken: &Supply) {
        self.taken.push(taken.clone());
    }

    fn made_anew(&mut self, why: &str) {
        self.anew.push(why.to_owned());
    }
}

impl Stores {
    fn new(test: &str, parties: u16) -> Stores {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{parties}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Stores(path, parties)
    }

    fn open(&self, party: u16) -> Store {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(party.into()));
        let path = self.0.join(format!("key{party}"));
        let key = if path.exists() { StoreKey::read(&path) } else { StoreKey::create(&path, &mut rng) }.unwrap();
        Store::open_or_create(&self.0.join(format!("store{party}")), &key, &mut rng).unwrap()
    }

    /// What all parties come to, side by side, and what they are told.
    fn all<T: Send>(&self, act: impl Fn(Session<'_>, u16, &mut Told) -> Result<T> + Sync) -> Vec<(Result<T>, Told)> {
        let party = |links: comity::PerPeer<comity_channel::MemoryChannel>| {
            let (me, mut told) = (links.me().0, Told::default());
            let session = Session::new(me).protocol("bmr").store(self.open(me)).among(links);
            (act(session, me, &mut told), told)
        };
        let party = &party;
        thread::scope(|scope| {
            let links = memory_mesh(self.1, Some(PATIENCE)).into_iter();
            let threads: Vec<_> = links.map(|links| scope.spawn(move || party(links))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    fn shares(&self, units: u64) {
        for (made, _) in self.all(|session, _, told| session.prepare_any(units, 1 << 30, told)) {
            assert_eq!(made.unwrap().unit, "AND gates");
        }
    }

    fn garbled(&self, program: &Program, runs: u64) -> Vec<Told> {
        let made = self.all(|session, _, told| session.prepare(program, runs, 1 << 30, told));
        made.into_iter()
            .map(|(made, told)| {
                assert_eq!(made.unwrap().count, runs);
                told
            })
            .collect()
    }

    fn run(&self, program: &Program) -> Vec<Result<Report>> {
        let input = |me: u16| (me < 2).then(|| (usize::from(me), number([40, 2][usize::from(me)])));
        self.all(|session, me, told| session.run_watched(program, input(me), told))
            .into_iter()
            .map(|end| end.0)
            .collect()
    }

    /// The batches that are left at each party, of all lots of a material.
    fn left(&self, material: &str) -> Vec<u32> {
        let of = |party| self.open(party).lots().unwrap();
        let left = |party| {
            of(party).iter().filter(|lot| lot.meta.material == material).map(|lot| lot.batches - lot.next).sum()
        };
        (0..self.1).map(left).collect()
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

/// A garbled program takes the shares that a run on them would, and where they are too few it is said so and made anew.
#[test]
fn programs_are_garbled_on_stored_shares() {
    for parties in [2, 3] {
        let stores = Stores::new("phases", parties);
        let program = library::program("add8").unwrap();
        let all = |left: u32| vec![left; usize::from(parties)];
        stores.shares(2 << 13);
        assert_eq!(stores.left("shares"), all(2));
        // Two on what is there, and a third, for which nothing is left.
        for told in stores.garbled(&program, 3) {
            let taken: Vec<_> = told.taken.iter().map(|taken| (taken.material, taken.need, taken.left)).collect();
            assert_eq!(taken, [("shares", 8192, 8192), ("shares", 8192, 0)]);
            assert!(told.anew.is_empty(), "there is nothing to tell: {:?}", told.anew);
        }
        assert_eq!((stores.left("shares"), stores.left("garbled")), (all(0), all(3)));
        for left in [2, 1, 0] {
            for report in stores.run(&program) {
                assert_eq!(report.unwrap().outputs, [(0, number(42))]);
            }
            assert_eq!(stores.left("garbled"), all(left));
        }
        for end in stores.run(&program) {
            assert!(end.unwrap_err().to_string().contains("no party has a lot of garbled for `add8`"));
        }
    }
}

#[test]
fn shares_that_are_too_few_are_told_in_words_and_stay() {
    let stores = Stores::new("too-few", 2);
    let program = library::program("sha256").unwrap();
    stores.shares(1 << 13);
    for told in stores.garbled(&program, 1) {
        assert!(told.taken.is_empty());
        let [why] = &told.anew[..] else { panic!("{:?}", told.anew) };
        assert!(why.contains("this run takes 3 batches") && why.contains("do all parties have more than 1"), "{why}");
        assert!(why.contains("`comity prepare --protocol bmr --count 24576`"), "{why}");
    }
    assert_eq!((stores.left("shares"), stores.left("garbled")), (vec![1, 1], vec![1, 1]));
}
