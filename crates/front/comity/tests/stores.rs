//! Stores of several parties in one test, and sessions on them side by side.

use std::path::{Path, PathBuf};
use std::thread;

use comity::{Protocol, Result, Session, Store, StoreKey, Supply, Watch};
use comity_channel::memory_mesh;
use comity_core::{Backend, Block, Prg};
use comity_testing::PATIENCE;

/// The folder of the parties' stores, removed when the test passes.
pub(crate) struct Stores {
    path: PathBuf,
    parties: u16,
    protocol: &'static dyn Protocol,
}

/// The events that a party is told.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) taken: Vec<Supply>,
    pub(crate) anew: Vec<String>,
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
    pub(crate) fn new(test: &str, parties: u16, protocol: &'static dyn Protocol) -> Stores {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{parties}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Stores { path, parties, protocol }
    }

    pub(crate) fn open(&self, party: u16) -> Store {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(party.into()));
        let path = self.path.join(format!("key{party}"));
        let key = if path.exists() { StoreKey::read(&path) } else { StoreKey::create(&path, &mut rng) }.unwrap();
        Store::open_or_create(&self.path.join(format!("store{party}")), &key, &mut rng).unwrap()
    }

    /// What all parties come to, side by side, and what they are told.
    pub(crate) fn all<T: Send>(
        &self,
        act: impl Fn(Session<'_>, u16, &mut Told) -> Result<T> + Sync,
    ) -> Vec<(Result<T>, Told)> {
        let party = |links: comity::PerPeer<comity_channel::MemoryChannel>| {
            let (me, mut told) = (links.me().0, Told::default());
            let session = Session::new(me).with(self.protocol).store(self.open(me)).among(links);
            (act(session, me, &mut told), told)
        };
        let party = &party;
        thread::scope(|scope| {
            let links = memory_mesh(self.parties, Some(PATIENCE)).into_iter();
            let threads: Vec<_> = links.map(|links| scope.spawn(move || party(links))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    /// The batches that are left at each party, of all lots of a material.
    pub(crate) fn left(&self, material: &str) -> Vec<u32> {
        let of = |party| self.open(party).lots().unwrap();
        let left = |party| {
            of(party).iter().filter(|lot| lot.meta.material == material).map(|lot| lot.batches - lot.next).sum()
        };
        (0..self.parties).map(left).collect()
    }
}

impl Drop for Stores {
    fn drop(&mut self) {
        if !thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
