//! After a crash at any instant an entry is whole or not there, and none is used twice.

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use comity_store::Store;

use common::*;

/// What a store holds after it was opened: entries, and files that are none of `store` and `lock`.
fn found(image: &Folder) -> (Vec<String>, usize) {
    let store = Store::open(&image.path("store"), &image.key()).unwrap();
    let files = fs::read_dir(image.path("store")).unwrap().count();
    (store.list().unwrap().into_iter().map(|meta| meta.name).collect(), files - 2)
}

#[test]
fn each_step_leaves_a_whole_store() {
    let folder = Folder::new("steps");
    let store = folder.store();
    fs::write(folder.path("store").join("a stranger's file.used"), b"x").unwrap();
    fill(&store, 1, 100);
    let one = || vec!["program 1".to_owned()];
    assert_eq!(found(&crashed(&folder, "ready")), (one(), 2));

    // While an entry is written: nothing of it.
    let mut writer = store.create(&meta(2), &mut rng(5)).unwrap();
    assert_eq!(found(&crashed(&folder, "begun")), (one(), 2));
    writer.write_all(&content(2, 200_000)).unwrap();
    assert!(file(&folder, 2, "partial").exists());
    assert_eq!(found(&crashed(&folder, "half")), (one(), 2));
    drop(writer);
    assert!(!file(&folder, 2, "partial").exists());
    fill(&store, 2, 200_000);
    assert_eq!(found(&crashed(&folder, "both")).0.len(), 2);

    // While it is used: gone, at the first byte and at the last.
    let mut reader = store.take(&meta(1).id).unwrap();
    let two = || vec!["program 2".to_owned()];
    assert_eq!(found(&crashed(&folder, "taken")), (two(), 2));
    reader.read_exact(&mut [0; 50]).unwrap();
    assert_eq!(found(&crashed(&folder, "half read")), (two(), 2));
    drop(reader);
    assert_eq!(found(&crashed(&folder, "used")), (two(), 2));

    // While the store itself is made.
    let begun = Folder::new("no store");
    fs::create_dir(begun.path("store")).unwrap();
    fs::write(begun.path("store").join("store.partial"), b"comi").unwrap();
    assert!(begun.store().list().unwrap().is_empty());
}

/// Where a child that is to be killed works; unset in a common run of the tests.
const CHILD: &str = "COMITY_STORE_TEST_CHILD";

/// Not a test by itself: makes and uses entries, and keeps a log of what it has read of, until it is killed.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let dir = Path::new(&dir);
    let key = comity_store::Key::read(&dir.join("key")).unwrap();
    let store = Store::open(&dir.join("store"), &key).unwrap();
    let log = || OpenOptions::new().append(true).create(true).open(dir.join("log")).unwrap();
    let mut used = log();
    let mut next = fs::read_to_string(dir.join("made")).unwrap_or_default().lines().count() as u64;
    loop {
        // The number is spent before its entry is there: a crash must not make two entries of one id.
        let mut made = OpenOptions::new().append(true).create(true).open(dir.join("made")).unwrap();
        made.write_all(b"x\n").unwrap();
        fill(&store, next, LEN);
        next += 1;
        for meta in store.list().unwrap() {
            let number: u64 = meta.name["program ".len()..].parse().unwrap();
            // Every other one, so that some stay.
            if number.is_multiple_of(2) || store.list().unwrap().len() > 4 {
                let mut reader = store.take(&meta.id).unwrap();
                let mut bytes = vec![0; 1];
                reader.read_exact(&mut bytes).unwrap();
                used.write_all(format!("{number}\n").as_bytes()).unwrap();
                reader.read_to_end(&mut bytes).unwrap();
                assert!(bytes == content(number, LEN));
            }
        }
    }
}

const LEN: usize = 100_000;
const KILLS: u64 = 40;

#[test]
fn killed_again_and_again_it_never_uses_an_entry_twice() {
    let folder = Folder::new("killed");
    drop(folder.store());
    let this = std::env::current_exe().unwrap();
    let done = || fs::read_to_string(folder.path("log")).unwrap_or_default().lines().count();
    // Where a machine is so busy that the children get nowhere, they get longer.
    for round in 0.. {
        if round >= KILLS && done() > 10 {
            break;
        }
        let mut child = Command::new(&this)
            .args(["--exact", "child", "--nocapture"])
            .env(CHILD, &folder.0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Long enough for some to get far, and different each time.
        pause(round / KILLS, Duration::from_millis(5 + 13 * (round * 7 % 16)));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "round {round}: {said}");
        // What is there is whole, and what was used is gone.
        let store = folder.store();
        let used = fs::read_to_string(folder.path("log")).unwrap_or_default();
        // The last line may be cut.
        let used: Vec<&str> = used.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
        let once: BTreeSet<&str> = used.iter().copied().collect();
        assert_eq!(used.len(), once.len(), "used twice: {used:?}");
        for meta in store.list().unwrap() {
            let number = &meta.name["program ".len()..];
            assert!(!once.contains(format!("{number}\n").as_str()), "{number} is there again");
        }
    }
    let store = folder.store();
    for meta in store.list().unwrap() {
        let number: u64 = meta.name["program ".len()..].parse().unwrap();
        assert!(taken(&store, number).unwrap() == content(number, LEN));
    }
}
