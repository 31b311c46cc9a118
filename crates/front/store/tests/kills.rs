//! Killed at any instant: no batch is used twice, and none is lost but the one in flight, or with its lot in a check.

#[allow(dead_code, reason = "the other tests of this crate use the rest")]
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use comity_store::{OpenLot, Store, StoreKey};
use comity_testing::{Process, before_kill, drawn};

use common::*;

/// Where a child that is to be killed works; unset in a common run of the tests.
const CHILD: &str = "COMITY_STORE_TEST_LOTS";

/// Batches of a lot: of every third lot it is one, larger than all of another lot.
fn size(lot: u64) -> (u32, usize) {
    if lot.is_multiple_of(300) { (1, 1_000_000) } else { (12, 70_000) }
}

/// Not a test by itself: makes lots, uses batches and runs checks, and keeps a log of all that, until it is killed.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let dir = Path::new(&dir);
    let key = StoreKey::read(&dir.join("key")).unwrap();
    let store = Store::open(&dir.join("store"), &key).unwrap();
    let mut log = OpenOptions::new().append(true).create(true).open(dir.join("log")).unwrap();
    // One write a line, which the kernel has when the call returns.
    let mut log = |line: String| log.write_all(line.as_bytes()).unwrap();
    let logged = fs::read_to_string(dir.join("log")).unwrap_or_default();
    let mut fresh = logged.lines().filter(|line| line.starts_with("new")).count() as u64;
    loop {
        if store.lots().unwrap().len() < 2 {
            // The number is spent before its lot is there.
            let ((batches, len), new) = (size(100 * fresh), 100 * fresh);
            log(format!("new {new}\n"));
            fill(&store, new, batches, len);
            log(format!("made {new}\n"));
            fresh += 1;
        }
        let first = store.lots().unwrap().remove(0);
        let (number, (_, len)) = (number(&first.meta), size(number(&first.meta)));
        let mut lot = store.open_lot(&first.meta.id).unwrap();
        for turn in 0..5 {
            let batch = lot.info().next;
            let Some(mut reader) = lot.take().unwrap() else { break };
            // It is used from its first byte on.
            let mut bytes = vec![0; 1];
            reader.read_exact(&mut bytes).unwrap();
            log(format!("used {number} {batch}\n"));
            reader.read_to_end(&mut bytes).unwrap();
            assert!(bytes == content(number + u64::from(batch), len));
            if turn % 2 == 1 {
                check(&mut lot, number, &mut log);
            }
        }
    }
}

fn check(lot: &mut OpenLot, number: u64, log: &mut impl FnMut(String)) {
    log(format!("begins {number}\n"));
    lot.check_begins().unwrap();
    // Here it is certain that the mark is on the disk, and that the check has not passed.
    log(format!("open {number}\n"));
    log(format!("closes {number}\n"));
    lot.check_passed().unwrap();
    log(format!("passed {number}\n"));
}

/// The facts that the log tells of a lot.
#[derive(Default)]
struct Told<'a> {
    made: bool,
    used: BTreeSet<u32>,
    /// The last word on a check.
    check: &'a str,
}

#[test]
fn killed_again_and_again_no_batch_is_used_twice_or_lost() {
    killed(24);
}

#[test]
#[ignore = "a thousand kills"]
fn killed_a_thousand_times_no_batch_is_used_twice_or_lost() {
    killed(1000);
}

#[allow(clippy::print_stdout, reason = "figures of the long campaign")]
fn killed(kills: u64) {
    let folder = Folder::new(&format!("killed-{kills}"));
    drop(folder.store());
    let far = || {
        let log = fs::read_to_string(folder.path("log")).unwrap_or_default();
        let count = |word: &str| log.lines().filter(|line| line.starts_with(word)).count();
        println!(
            "{kills} kills: {} lots made, {} batches used, {} checks",
            count("made"),
            count("used"),
            count("passed")
        );
        count("used") > 40 && count("passed") > 10
    };
    for round in 0.. {
        if round >= kills && far() {
            break;
        }
        let mut child = Process::test("child", &[(CHILD, &folder.0)]);
        // Long enough for some to get far, and different each time.
        let first = Duration::from_micros(4_000 + drawn(round, 120_000));
        std::thread::sleep(before_kill(first, round / kills));
        child.kill();
        let said = child.end().err;
        assert!(!said.contains("panicked"), "round {round}: {said}");

        let log = fs::read_to_string(folder.path("log")).unwrap_or_default();
        let mut told: BTreeMap<u64, Told<'_>> = BTreeMap::new();
        // The last line may be cut.
        for line in log.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let words: Vec<&str> = line.split(' ').collect();
            let lot = told.entry(words[1].parse().unwrap()).or_default();
            match words[0] {
                "new" => {}
                "made" => lot.made = true,
                "used" => assert!(lot.used.insert(words[2].parse().unwrap()), "round {round}: {line} a second time"),
                check => lot.check = check,
            }
        }
        // As the next process finds it.
        let store = folder.store();
        let lots = store.lots().unwrap();
        assert!(store.damaged().unwrap().is_empty(), "round {round}");
        for lot in &lots {
            let number = number(&lot.meta);
            let told = &told[&number];
            assert!(told.check != "open", "round {round}: {number} is there after a check that did not end");
            assert!(told.used.iter().all(|&batch| batch < lot.next), "round {round}: {number} goes back");
            drop(store.open_lot(&lot.meta.id).unwrap());
        }
        // All together: a kill loses one batch at most.
        let in_check = |told: &Told<'_>| ["begins", "open", "closes"].contains(&told.check);
        let missing = |(number, told): (&u64, &Told<'_>)| match lots.iter().find(|lot| lot.meta == meta(*number)) {
            Some(lot) => u64::from(lot.next) - told.used.len() as u64,
            None if !told.made || in_check(told) => 0,
            None => u64::from(size(*number).0) - told.used.len() as u64,
        };
        let lost: u64 = told.iter().map(missing).sum();
        assert!(lost <= round + 1, "round {round}: {lost} batches are lost");
    }
}
