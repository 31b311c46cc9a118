//! Every body over its corpus, and over mutations of it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test says how far it came, and why the process ends")]

use std::fs;
use std::io::{self, Write};
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use comity_fuzz::{Body, Mutator, TARGETS, found};
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
    assert!(files.len() >= 3, "{target} has {} seeds", files.len());
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// What campaigns found for a target.
fn finds(target: &str) -> Vec<Vec<u8>> {
    fs::read(folder("found").join(target)).map_or_else(|_| Vec::new(), |file| found::unpack(&file))
}

/// How long a campaign goes on for each target: until the first of both.
#[derive(Clone, Copy)]
struct Until {
    time: Duration,
    count: u64,
}

/// Runs a body over its seeds and what was found, then over mutations number `first` on. On a panic the input is kept.
fn run(target: &'static str, body: Body, first: u64, until: Until) -> u64 {
    let corpus = [seeds(target), finds(target)].concat();
    let watch = Watch { target, begun: AtomicU64::new(0), input: Mutex::default() };
    let (done, over) = mpsc::channel();
    thread::scope(|scope| {
        let watch = &watch;
        scope.spawn(move || watch.wait(&over));
        // Dropped on a panic, too: the watch ends with it.
        let _done: Sender<()> = done;
        corpus.iter().for_each(|seed| watch.guarded(body, seed));
        let begin = Instant::now();
        let mut count = 0;
        let mut mutator = Mutator::new(first);
        while count < until.count && begin.elapsed() < until.time {
            watch.guarded(body, &mutator.next(&corpus));
            count += 1;
        }
        count
    })
}

/// What a body is at, for somebody who looks now and then: a thread for each input would take longer than
/// most bodies do.
struct Watch {
    target: &'static str,
    begun: AtomicU64,
    input: Mutex<Vec<u8>>,
}

impl Watch {
    fn guarded(&self, body: Body, input: &[u8]) {
        input.clone_into(&mut self.input.lock().unwrap());
        self.begun.fetch_add(1, Relaxed);
        if panic::catch_unwind(AssertUnwindSafe(|| body(input))).is_err() {
            panic!("{} panicked on {}", self.target, self.keep().display());
        }
    }

    /// Ends the process when one input takes longer than anything should.
    fn wait(&self, over: &Receiver<()>) {
        let mut seen = 0;
        while over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let begun = self.begun.load(Relaxed);
            if begun == seen {
                // Not by `eprintln`: what a test prints is shown when it ends.
                let _ = writeln!(io::stderr(), "{} hangs on {}", self.target, self.keep().display());
                std::process::abort();
            }
            seen = begun;
        }
    }

    fn keep(&self) -> PathBuf {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-failure", self.target));
        fs::write(&path, &*self.input.lock().unwrap()).unwrap();
        path
    }
}

/// As many targets at a time as there are processors: a body that waits for its turn would only seem to hang.
fn all(first: u64, until: Until, targets: &[(&'static str, Body)]) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&(name, body)) = targets.get(next.fetch_add(1, Relaxed)) {
            println!("{name}: {} mutations", run(name, body, first, until));
        }
    };
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, NonZero::get);
        (0..workers).for_each(|_| drop(scope.spawn(work)));
    });
}

/// The same mutations each time: those of a quick body, which come to a hundred thousand in half a second, are for campaigns.
#[test]
fn every_body_bears_its_corpus_and_mutations_of_it() {
    all(0, Until { time: Duration::from_millis(500), count: 10_000 }, TARGETS);
}

/// Other mutations on every day: `COMITY_FUZZ_SECONDS` for each target (60) of `COMITY_FUZZ_TARGETS` (all),
/// or `COMITY_FUZZ_MUTATIONS`.
#[test]
#[ignore = "a campaign: make test-long"]
fn every_body_bears_long_fuzzing() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let until = match number("COMITY_FUZZ_MUTATIONS") {
        Some(count) => Until { time: Duration::MAX, count },
        None => Until { time: Duration::from_secs(number("COMITY_FUZZ_SECONDS").unwrap_or(60)), count: u64::MAX },
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let first = now.as_secs();
    println!("mutations number {first}");
    let named = std::env::var("COMITY_FUZZ_TARGETS").unwrap_or_default();
    let wanted = |name: &str| named.is_empty() || named.split_whitespace().any(|one| one == name);
    let targets: Vec<(&str, Body)> = TARGETS.iter().copied().filter(|&(name, _)| wanted(name)).collect();
    assert!(!targets.is_empty(), "no body is named {named}");
    all(first, until, &targets);
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
    for of in ["corpus", "found"] {
        for entry in fs::read_dir(folder(of)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(TARGETS.iter().any(|target| target.0 == name), "{of}/{name} is of no body");
        }
    }
}

#[test]
fn found_inputs_survive_their_file() {
    let inputs = vec![b"one".to_vec(), Vec::new(), vec![7; 300]];
    assert_eq!(found::unpack(&found::pack(&inputs)), inputs);
    assert!(panic::catch_unwind(|| found::unpack(&[0, 0, 0])).is_err());
}
