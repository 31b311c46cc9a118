//! Folders, keys and lots for the tests.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use comity_core::{Backend, Block, Error, Params, PartyId, Prg, SessionId};
use comity_store::{LotWriter, Meta, OpenLot, Store, StoreKey};

/// A folder for one test, removed when the test passes.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// The path of `name` in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A key in the folder, made if it is not there.
    pub(crate) fn key(&self) -> StoreKey {
        let path = self.path("key");
        if path.exists() { StoreKey::read(&path).unwrap() } else { StoreKey::create(&path, &mut rng(1)).unwrap() }
    }

    /// A store in the folder.
    pub(crate) fn store(&self) -> Store {
        Store::open_or_create(&self.path("store"), &self.key(), &mut rng(2)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

pub(crate) fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

pub(crate) fn meta(number: u64) -> Meta {
    Meta {
        id: SessionId::derive("test of stores", &[&number.to_le_bytes()]),
        material: "copies".into(),
        options: "garbler=party_0".into(),
        program: Some([number as u8; 32]),
        name: format!("program {number}"),
        units: vec![12],
        party: PartyId(1),
        peers: vec![(PartyId(0), Some([7; 32]))],
        params: Params::default(),
    }
}

/// The number in a meta's name.
pub(crate) fn number(meta: &Meta) -> u64 {
    meta.name["program ".len()..].parse().unwrap()
}

/// Some bytes that depend on the number and their place.
pub(crate) fn content(number: u64, len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(at ^ 0x9e37) >> 3).wrapping_add(number) as u8).collect()
}

/// The file of a lot whose name ends so.
pub(crate) fn file(folder: &Folder, number: u64, ending: &str) -> PathBuf {
    let id: String = meta(number).id.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    folder.path("store").join(format!("{id}.{ending}"))
}

/// Writes a batch of these bytes.
pub(crate) fn write(lot: &mut LotWriter, bytes: &[u8]) -> comity_core::Result<()> {
    lot.batch(|out| out.write_all(bytes).map_err(|e| Error::io("a test", e)))
}

/// Stores a lot of batches with `content(number + i, len)`.
pub(crate) fn fill(store: &Store, number: u64, batches: u32, len: usize) {
    let mut writer = store.new_lot(&meta(number), &mut rng(number.into())).unwrap();
    (0..batches).for_each(|i| write(&mut writer, &content(number + u64::from(i), len)).unwrap());
    writer.finish().unwrap();
}

/// The next batch of a lot, all of it.
pub(crate) fn next(lot: &mut OpenLot) -> Result<Option<Vec<u8>>, String> {
    let mut bytes = Vec::new();
    let Some(mut reader) = lot.take().map_err(|e| e.to_string())? else { return Ok(None) };
    reader.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok(Some(bytes))
}

/// The file of a batch.
pub(crate) fn batch(folder: &Folder, number: u64, batch: u32) -> PathBuf {
    file(folder, number, &format!("batch-{batch:08x}"))
}

/// The store that another process would find if this one died now: a copy of the store in a folder of its own.
pub(crate) fn crashed(folder: &Folder, name: &str) -> Folder {
    let image = Folder::new(name);
    std::fs::create_dir(image.path("store")).unwrap();
    for file in std::fs::read_dir(folder.path("store")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), image.path("store").join(file.file_name())).unwrap();
    }
    std::fs::copy(folder.path("key"), image.path("key")).unwrap();
    image
}

/// Asserts an error with these words.
#[track_caller]
pub(crate) fn refused<T>(result: comity_core::Result<T>, words: &[&str]) {
    let error = result.err().expect("an error").to_string();
    for word in words {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
}
