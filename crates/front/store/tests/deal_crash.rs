//! Killed at any instant: no block is used twice, and none is lost but the one in flight, or with its deal in a check.

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use comity_store::{Deal, Key, Store};

use common::*;

/// Where a child that is to be killed works; unset in a common run of the tests.
const CHILD: &str = "COMITY_STORE_TEST_DEALS";

const BLOCKS: u32 = 12;
const LEN: usize = 70_000;

/// Not a test by itself: makes deals, uses blocks and runs checks, and keeps a log of all that, until it is killed.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let dir = Path::new(&dir);
    let key = Key::read(&dir.join("key")).unwrap();
    let store = Store::open(&dir.join("store"), &key).unwrap();
    let mut log = OpenOptions::new().append(true).create(true).open(dir.join("log")).unwrap();
    // One write a line, which the kernel has when the call returns.
    let mut log = |line: String| log.write_all(line.as_bytes()).unwrap();
    let logged = fs::read_to_string(dir.join("log")).unwrap_or_default();
    let mut fresh = logged.lines().filter(|line| line.starts_with("new")).count() as u64;
    loop {
        if store.deals().unwrap().len() < 2 {
            // The number is spent before its deal is there.
            log(format!("new {}\n", 100 * fresh));
            deal(&store, 100 * fresh, BLOCKS, LEN);
            log(format!("made {}\n", 100 * fresh));
            fresh += 1;
        }
        let first = store.deals().unwrap().remove(0);
        let number: u64 = first.meta.name["program ".len()..].parse().unwrap();
        let mut deal = store.open_deal(&first.meta.id).unwrap();
        for turn in 0..5 {
            let block = deal.info().next;
            let Some(mut reader) = deal.take().unwrap() else { break };
            // It is used from its first byte on.
            let mut bytes = vec![0; 1];
            reader.read_exact(&mut bytes).unwrap();
            log(format!("used {number} {block}\n"));
            reader.read_to_end(&mut bytes).unwrap();
            assert!(bytes == content(number + u64::from(block), LEN));
            if turn % 2 == 1 {
                check(&mut deal, number, &mut log);
            }
        }
    }
}

fn check(deal: &mut Deal, number: u64, log: &mut impl FnMut(String)) {
    log(format!("begins {number}\n"));
    deal.check_begins().unwrap();
    // Here it is certain that the mark is on the disk, and that the check has not passed.
    log(format!("open {number}\n"));
    log(format!("closes {number}\n"));
    deal.check_passed().unwrap();
    log(format!("passed {number}\n"));
}

/// What the log says of a deal.
#[derive(Default)]
struct Told<'a> {
    made: bool,
    used: BTreeSet<u32>,
    /// The last word on a check.
    check: &'a str,
}

#[test]
fn killed_again_and_again_no_block_is_used_twice_or_lost() {
    let folder = Folder::new("deals-killed");
    drop(folder.store());
    let this = std::env::current_exe().unwrap();
    const KILLS: u64 = 40;
    let far = || {
        let log = fs::read_to_string(folder.path("log")).unwrap_or_default();
        let count = |word: &str| log.lines().filter(|line| line.starts_with(word)).count();
        count("used") > 40 && count("passed") > 10
    };
    for round in 0.. {
        if round >= KILLS && far() {
            break;
        }
        let mut child = Command::new(&this)
            .args(["--exact", "child", "--nocapture"])
            .env(CHILD, &folder.0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        pause(round / KILLS, Duration::from_micros(4_000 + 7_919 * (round * 7 % 16)));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "round {round}: {said}");

        let log = fs::read_to_string(folder.path("log")).unwrap_or_default();
        let mut told: BTreeMap<u64, Told<'_>> = BTreeMap::new();
        // The last line may be cut.
        for line in log.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let words: Vec<&str> = line.split(' ').collect();
            let deal = told.entry(words[1].parse().unwrap()).or_default();
            match words[0] {
                "new" => {}
                "made" => deal.made = true,
                "used" => assert!(deal.used.insert(words[2].parse().unwrap()), "round {round}: {line} a second time"),
                check => deal.check = check,
            }
        }
        // As the next process finds it.
        let store = folder.store();
        let deals = store.deals().unwrap();
        for deal in &deals {
            let number: u64 = deal.meta.name["program ".len()..].parse().unwrap();
            let told = &told[&number];
            assert!(told.check != "open", "round {round}: {number} is there after a check that did not end");
            assert!(told.used.iter().all(|&block| block < deal.next), "round {round}: {number} goes back");
            drop(store.open_deal(&deal.meta.id).unwrap());
        }
        // All together: a kill loses one block at most.
        let in_check = |told: &Told<'_>| ["begins", "open", "closes"].contains(&told.check);
        let missing = |(number, told): (&u64, &Told<'_>)| match deals.iter().find(|deal| deal.meta == meta(*number)) {
            Some(deal) => u64::from(deal.next) - told.used.len() as u64,
            None if !told.made || in_check(told) => 0,
            None => u64::from(BLOCKS) - told.used.len() as u64,
        };
        let lost: u64 = told.iter().map(missing).sum();
        assert!(lost <= round + 1, "round {round}: {lost} blocks are lost");
    }
}
