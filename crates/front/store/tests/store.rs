//! What is stored comes back once; what was tampered with does not; and nobody else gets in.

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use std::fs;
use std::io::{Read, Write};

use comity_store::{Key, Meta, Store};

use common::*;

/// Bytes of a chunk, and of one on the disk.
const CHUNK: usize = 64 << 10;
const SEALED: usize = CHUNK + 16;

#[test]
fn entries_of_any_size_come_back_once() {
    let folder = Folder::new("sizes");
    let store = folder.store();
    for (number, len) in [0, 1, 1000, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7].into_iter().enumerate() {
        let number = number as u64;
        // In pieces that fit nothing, written and read.
        let mut writer = store.create(&meta(number), &mut rng(9)).unwrap();
        content(number, len).chunks(777).for_each(|piece| writer.write_all(piece).unwrap());
        let bytes = writer.finish().unwrap();
        assert_eq!(bytes, fs::metadata(file(&folder, number, "ready")).unwrap().len());
        assert_eq!(store.bytes().unwrap(), bytes);
        let mut reader = store.take(&meta(number).id).unwrap();
        let mut read = Vec::new();
        let mut piece = [0; 501];
        loop {
            match reader.read(&mut piece).unwrap() {
                0 => break,
                some => read.extend_from_slice(&piece[..some]),
            }
        }
        assert!(read == content(number, len), "{len} bytes");
        assert!(file(&folder, number, "used").exists());
        drop(reader);
        assert!(!file(&folder, number, "used").exists());
        refused(store.take(&meta(number).id), &["has been used"]);
    }
    assert!(store.list().unwrap().is_empty());
}

#[test]
fn what_is_ready_is_listed_in_order() {
    let folder = Folder::new("order");
    let store = folder.store();
    for number in [5, 3, 8, 1] {
        fill(&store, number, 10);
    }
    let listed = |store: &Store| store.list().unwrap();
    assert_eq!(listed(&store), [5, 3, 8, 1].map(meta));
    store.discard(&meta(3).id).unwrap();
    drop(store);
    let store = folder.store();
    fill(&store, 0, 10);
    assert_eq!(listed(&store), [5, 8, 1, 0].map(meta));
    refused(store.create(&meta(8), &mut rng(1)).map(drop), &["already"]);
    let long = Meta { protocol: "x".repeat(128), ..meta(9) };
    refused(store.create(&long, &mut rng(1)).map(drop), &["127"]);
}

/// Replaces an entry's file, and says whether it can still be listed, and what reading it gives.
fn replaced(folder: &Folder, store: &Store, number: u64, bytes: &[u8]) -> (bool, Result<Vec<u8>, String>) {
    fs::write(file(folder, number, "ready"), bytes).unwrap();
    (store.list().unwrap() == [meta(number)], taken(store, number))
}

#[test]
fn every_flipped_byte_and_every_cut_is_noticed() {
    let folder = Folder::new("flips");
    let store = folder.store();
    fill(&store, 1, 60);
    let bytes = fs::read(file(&folder, 1, "ready")).unwrap();
    let head = bytes.len() - 60 - 16;
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let (listed, read) = replaced(&folder, &store, 1, &flipped);
        assert!(read.unwrap_err().contains("damaged"), "byte {at}");
        assert_eq!(listed, at >= head, "byte {at}");
        let (listed, read) = replaced(&folder, &store, 1, &bytes[..at]);
        assert!(read.unwrap_err().contains("damaged"), "cut at {at}");
        assert_eq!(listed, at >= head, "cut at {at}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(replaced(&folder, &store, 1, &longer).1.is_err());
    assert_eq!(replaced(&folder, &store, 1, &bytes).1.unwrap(), content(1, 60));
}

#[test]
fn a_damaged_entry_does_not_stand_in_anothers_way() {
    let folder = Folder::new("damaged");
    let store = folder.store();
    (1..=2).for_each(|number| fill(&store, number, 60));
    let path = file(&folder, 1, "ready");
    let mut bytes = fs::read(&path).unwrap();
    bytes[20] ^= 1;
    for wrong in [&bytes[..], &bytes[..7]] {
        fs::write(&path, wrong).unwrap();
        assert_eq!(store.list().unwrap(), [meta(2)]);
        let damaged = store.damaged().unwrap();
        assert!(damaged.len() == 1 && damaged[0].to_string().contains(path.to_str().unwrap()), "{damaged:?}");
    }
    fill(&store, 3, 60);
    assert_eq!(store.list().unwrap(), [2, 3].map(meta));
    assert_eq!(taken(&store, 2).unwrap(), content(2, 60));
}

#[test]
fn chunks_cannot_be_left_out_moved_or_taken_from_elsewhere() {
    let folder = Folder::new("chunks");
    let store = folder.store();
    let len = 3 * CHUNK;
    fill(&store, 1, len);
    fill(&store, 2, len);
    let (one, two) = (fs::read(file(&folder, 1, "ready")).unwrap(), fs::read(file(&folder, 2, "ready")).unwrap());
    let head = one.len() - 3 * SEALED;
    let chunk = |entry: &[u8], at: usize| entry[head + at * SEALED..][..SEALED].to_vec();
    let entry = |head_of: &[u8], chunks: &[Vec<u8>]| [&head_of[..head], &chunks.concat()].concat();
    let [a, b, c] = [0, 1, 2].map(|at| chunk(&one, at));
    let wrong = [
        ("the last is missing", entry(&one, &[a.clone(), b.clone()])),
        ("all are missing", entry(&one, &[])),
        ("the first is missing", entry(&one, &[b.clone(), c.clone()])),
        ("two are swapped", entry(&one, &[b.clone(), a.clone(), c.clone()])),
        ("one is there twice", entry(&one, &[a.clone(), a.clone(), b.clone(), c.clone()])),
        ("one is another entry's", entry(&one, &[a.clone(), chunk(&two, 1), c.clone()])),
        ("the head is another entry's", entry(&two, &[a.clone(), b.clone(), c.clone()])),
        ("it is another entry", two),
    ];
    for (what, bytes) in wrong {
        let read = replaced(&folder, &store, 1, &bytes).1;
        assert!(read.unwrap_err().contains("damaged"), "{what}");
    }
    // What comes before the damage is given out, and nothing after it.
    fs::write(file(&folder, 1, "ready"), entry(&one, &[a.clone(), b, a])).unwrap();
    let mut reader = store.take(&meta(1).id).unwrap();
    let mut begin = vec![0; 2 * CHUNK];
    reader.read_exact(&mut begin).unwrap();
    assert!(begin == content(1, len)[..2 * CHUNK]);
    for _ in 0..2 {
        assert!(reader.read(&mut [0]).unwrap_err().to_string().contains("damaged"));
    }
}

#[test]
fn an_entry_of_another_store_is_not_one_of_this_store() {
    let (folder, other) = (Folder::new("this"), Folder::new("other"));
    let (store, elsewhere) = (folder.store(), Store::open_or_create(&other.path("store"), &folder.key(), &mut rng(7)));
    let elsewhere = elsewhere.unwrap();
    fill(&store, 1, 10);
    fill(&elsewhere, 1, 10);
    let bytes = fs::read(file(&other, 1, "ready")).unwrap();
    assert!(replaced(&folder, &store, 1, &bytes).1.unwrap_err().contains("damaged"));
}

#[test]
fn only_its_key_opens_a_store() {
    let folder = Folder::new("keys");
    let dir = folder.path("store");
    let passphrase = |text: &str| Key::passphrase(text).unwrap();
    refused(Store::open(&dir, &folder.key()).map(drop), &["no store", "comity prepare"]);
    drop(folder.store());
    let other = Key::create(&folder.path("other key"), &mut rng(77)).unwrap();
    refused(Store::open(&dir, &other).map(drop), &["not the one"]);
    refused(Store::open(&dir, &passphrase("secret")).map(drop), &["key file"]);
    drop(Store::open(&dir, &folder.key()).unwrap());

    let own = dir.join("store");
    let bytes = fs::read(&own).unwrap();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&own, &flipped).unwrap();
        assert!(Store::open(&dir, &folder.key()).is_err(), "byte {at}");
        fs::write(&own, &bytes[..at]).unwrap();
        assert!(Store::open(&dir, &folder.key()).is_err(), "cut at {at}");
    }

    let dir = folder.path("second");
    drop(Store::open_or_create(&dir, &passphrase("secret"), &mut rng(3)).unwrap());
    refused(Store::open(&dir, &passphrase("Secret")).map(drop), &["not the one"]);
    refused(Store::open(&dir, &folder.key()).map(drop), &["made with a passphrase"]);
    drop(Store::open(&dir, &passphrase("secret")).unwrap());
    refused(Key::passphrase("").map(drop), &["empty"]);
    // More memory than any machine gives must not be asked for.
    let mut bytes = fs::read(dir.join("store")).unwrap();
    bytes[17..21].fill(0xff);
    fs::write(dir.join("store"), &bytes).unwrap();
    refused(Store::open(&dir, &passphrase("secret")).map(drop), &["damaged"]);
}

#[test]
fn key_files_are_private_and_never_overwritten() {
    let folder = Folder::new("key-files");
    let path = folder.path("key");
    Key::create(&path, &mut rng(1)).unwrap();
    assert!(Key::create(&path, &mut rng(2)).is_err());
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 32);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        refused(Key::read(&path).map(drop), &["chmod 600"]);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    Key::read(&path).unwrap();
    for wrong in [&bytes[..31], &[&bytes[..], &[0]].concat(), &[]] {
        fs::write(&path, wrong).unwrap();
        refused(Key::read(&path).map(drop), &["32 bytes"]);
    }
    refused(Key::read(&folder.path("none")).map(drop), &["none"]);
}

#[test]
fn one_process_at_a_time() {
    let folder = Folder::new("lock");
    let store = folder.store();
    fill(&store, 1, 10);
    let again = || Store::open(&folder.path("store"), &folder.key());
    refused(again().map(drop), &["in use by another process"]);
    // A reader and a writer are enough to keep others out: opening would remove what they work on.
    let reader = store.take(&meta(1).id).unwrap();
    drop(store);
    refused(again().map(drop), &["in use"]);
    drop(reader);
    let store = again().unwrap();
    let writer = store.create(&meta(2), &mut rng(1)).unwrap();
    drop(store);
    refused(again().map(drop), &["in use"]);
    drop(writer);
    assert!(again().unwrap().list().unwrap().is_empty());
}

#[test]
#[cfg(unix)]
fn a_store_is_its_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("modes");
    let store = folder.store();
    fill(&store, 1, 10);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.path("store")), 0o700);
    assert_eq!(mode(file(&folder, 1, "ready")), 0o600);
}
