//! Every body over its corpus, and over mutations of it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test says how far it came, and why the process ends")]

use std::fs;
use std::io::{self, Write};
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use comity_fuzz::{Body, Mutator, TARGETS};
use comity_testing::PATIENCE;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The seeds of a target, in the order of their names.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = folder("corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Runs a body over its seeds, then over mutations number `first` on for this time. On a panic the input is kept.
fn run(target: &'static str, body: Body, first: u64, time: Duration) -> u64 {
    let corpus = seeds(target);
    assert!(corpus.len() >= 3, "{target} has {} seeds", corpus.len());
    corpus.iter().for_each(|seed| guarded(target, body, seed));
    let begin = Instant::now();
    let mut count = 0;
    let mut mutator = Mutator::new(first);
    while begin.elapsed() < time {
        guarded(target, body, &mutator.next(&corpus));
        count += 1;
    }
    count
}

fn guarded(target: &str, body: Body, input: &[u8]) {
    let keep = || {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}-failure"));
        fs::write(&path, input).unwrap();
        path
    };
    let (done, over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(|| {
            let over = over;
            if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                // Not by `eprintln`: what a test prints is shown when it ends.
                let _ = writeln!(io::stderr(), "{target} hangs on {}", keep().display());
                std::process::abort();
            }
        });
        let result = panic::catch_unwind(AssertUnwindSafe(|| body(input)));
        drop(done);
        if result.is_err() {
            panic!("{target} panicked on {}", keep().display());
        }
    });
}

/// As many targets at a time as there are processors: a body that waits for its turn would only seem to hang.
fn all(first: u64, time: Duration) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&(name, body)) = TARGETS.get(next.fetch_add(1, Relaxed)) {
            println!("{name}: {} mutations", run(name, body, first, time));
        }
    };
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, NonZero::get);
        (0..workers).for_each(|_| drop(scope.spawn(work)));
    });
}

#[test]
fn every_body_bears_its_corpus_and_mutations_of_it() {
    all(0, Duration::from_millis(500));
}

/// Other mutations on every day: `COMITY_FUZZ_SECONDS` for each target (60).
#[test]
#[ignore = "a campaign: make test-long"]
fn every_body_bears_long_fuzzing() {
    let seconds = std::env::var("COMITY_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let first = now.as_secs();
    println!("mutations number {first}");
    all(first, Duration::from_secs(seconds));
}

/// A seed that is refused at its first byte leads nowhere.
#[test]
fn the_seeds_are_what_honest_parties_send_today() {
    for (target, name, bytes) in comity_fuzz::seeds() {
        let committed = fs::read(folder("corpus").join(target).join(name)).unwrap_or_default();
        let stale = "the format has changed: write the seeds anew (cargo run -p comity-fuzz --example seeds)";
        assert!(committed == bytes, "{target}/{name}: {stale}");
    }
}

#[test]
fn every_body_is_found_by_its_name_and_no_seeds_are_left_over() {
    for &(name, body) in TARGETS {
        assert!(std::ptr::fn_addr_eq(comity_fuzz::body(name), body), "{name}");
    }
    for entry in fs::read_dir(folder("corpus")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(TARGETS.iter().any(|target| target.0 == name), "corpus/{name} is of no body");
    }
}
