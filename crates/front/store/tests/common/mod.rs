//! Folders, keys and entries for the tests.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_core::{Backend, Block, Params, Prg, SessionId};
use comity_store::{Deal, Key, Meta, Store};
use comity_testing::PATIENCE;

/// Waits before a kill: twice as long after each time that all kills found children who had got nowhere.
pub(crate) fn pause(times: u64, first: Duration) {
    let pause = first * (1 << times);
    assert!(pause < PATIENCE, "the children get nowhere");
    std::thread::sleep(pause);
}

/// A folder for one test, removed when the test passes.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// The path of `name` in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A key in it, made if it is not there.
    pub(crate) fn key(&self) -> Key {
        let path = self.path("key");
        if path.exists() { Key::read(&path).unwrap() } else { Key::create(&path, &mut rng(1)).unwrap() }
    }

    /// A store in it.
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
        protocol: "cutchoose, garbled by party 0".into(),
        program: [number as u8; 32],
        name: format!("program {number}"),
        party: 1,
        params: Params::default(),
        peer: "comity:abcd".into(),
    }
}

/// Some bytes that depend on the number and their place.
pub(crate) fn content(number: u64, len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(at ^ 0x9e37) >> 3).wrapping_add(number) as u8).collect()
}

/// Stores `content(number, len)`.
pub(crate) fn fill(store: &Store, number: u64, len: usize) {
    let mut writer = store.create(&meta(number), &mut rng(number.into())).unwrap();
    writer.write_all(&content(number, len)).unwrap();
    writer.finish().unwrap();
}

/// Takes an entry and reads all of it.
pub(crate) fn taken(store: &Store, number: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut reader = store.take(&meta(number).id).map_err(|e| e.to_string())?;
    reader.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// The file of an entry.
pub(crate) fn file(folder: &Folder, number: u64, stage: &str) -> PathBuf {
    let id: String = meta(number).id.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    folder.path("store").join(format!("{id}.{stage}"))
}

/// Stores a deal of blocks with `content(number + i, len)`.
pub(crate) fn deal(store: &Store, number: u64, blocks: u32, len: usize) {
    let mut writer = store.new_deal(&meta(number), &mut rng(number.into())).unwrap();
    (0..blocks).for_each(|i| writer.block(&content(number + u64::from(i), len)).unwrap());
    writer.finish().unwrap();
}

/// The next block of a deal, all of it.
pub(crate) fn next(deal: &mut Deal) -> Result<Option<Vec<u8>>, String> {
    let mut bytes = Vec::new();
    let Some(mut reader) = deal.take().map_err(|e| e.to_string())? else { return Ok(None) };
    reader.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok(Some(bytes))
}

/// The file of a block.
pub(crate) fn block(folder: &Folder, number: u64, block: u32) -> PathBuf {
    file(folder, number, &format!("block-{block:08x}"))
}

/// What another process would find if this one died now: a copy of the store in a folder of its own.
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
