//! Ctrl-C and deadlines: a run ends in order, and leaves nothing behind.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};

use crate::common::*;

/// Sends a signal to a process.
fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap().success());
}

#[test]
fn a_wait_ends_at_a_signal() {
    for name in ["INT", "TERM", "HUP"] {
        let listener = Listener::start(&["add64", "--party", "0", "--input", "dec:40"]);
        signal(name, listener.id());
        listener.end().fails(130, &["the run was stopped"]);
    }
}

/// The parent alone is told: its children end with it.
#[test]
fn all_parties_of_one_parent_end_at_a_signal() {
    for name in ["INT", "HUP"] {
        // It would take hours.
        let mut child = command(&["local", "aes128^1000000", "-i", AES_KEY, "-i", AES_BLOCK]).spawn().unwrap();
        let parent = child.id();
        let children = || -> Vec<u32> {
            let found = Command::new("ps").args(["-o", "pid=", "--ppid", &parent.to_string()]).output().unwrap();
            String::from_utf8_lossy(&found.stdout).split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
        };
        until("both parties are there", || children().len() == 2 || child.try_wait().unwrap().is_some());
        let parties = children();
        signal(name, parent);
        let done: Done = child.wait_with_output().unwrap().into();
        done.fails(130, &["the run was stopped"]);
        let lives = |pid: &u32| fs::exists(format!("/proc/{pid}")).unwrap_or(false);
        until("no party outlives it", || !parties.iter().any(lives));
    }
}

/// A terminal that is closed ends no command that was started to outlive it.
#[cfg(target_os = "linux")]
#[test]
fn a_command_that_is_to_outlive_its_terminal_does() {
    let shell = "trap '' HUP; exec \"$0\" run add64 --party 0 --input dec:40 --listen 127.0.0.1:0 --timeout=600";
    let mut child = Command::new("sh")
        .args(["-c", shell, env!("CARGO_BIN_EXE_comity")])
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    let address = line[line.find("127.0.0.1:").unwrap()..].split([',', ' ']).next().unwrap().to_owned();
    signal("HUP", child.id());
    comity(&["run", "add64", "--party", "1", "--input", "dec:2", "--connect", &address]).ok();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A file that gets longer than it may is an error in words, where the system would kill.
#[test]
fn a_file_that_gets_too_long_is_an_error() {
    let folder = Folder::new("too-long");
    let out = folder.path("aes.txt");
    let shell = format!("ulimit -f 8; exec \"$0\" circuit export aes128 --output {out}");
    let done = Command::new("sh").args(["-c", &shell, env!("CARGO_BIN_EXE_comity")]).output().unwrap();
    Done::from(done).fails(3, &["aes.txt: cannot write it"]);
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 0, "and nothing is left");
}

#[test]
fn what_was_begun_is_removed_at_a_signal() {
    let folder = Folder::new("interrupted");
    let (key, store) = (folder.path("key"), folder.path("store"));
    // Far more than is made before the signal comes.
    let shared = [
        "--protocol",
        "tinyot",
        "--count",
        "100000000",
        "--store-limit",
        "1000GiB",
        "--key-file",
        &key,
        "--store",
        &store,
    ];
    let listener = Listener::begin("prepare", &[&["--party", "0"], &shared[..]].concat());
    let theirs = folder.path("theirs");
    let their_key = folder.path("their-key");
    let shared = [
        "--protocol",
        "tinyot",
        "--count",
        "100000000",
        "--store-limit",
        "1000GiB",
        "--key-file",
        &their_key,
        "--store",
        &theirs,
    ];
    let args = [&["prepare", "--party", "1", "--connect", &listener.address], &shared[..]].concat();
    let mut other = command(&args).spawn().unwrap();
    let begun = || fs::read_dir(&store).is_ok_and(|files| files.flatten().any(|file| file.file_name().len() > 64));
    until("a lot is begun", begun);
    signal("INT", listener.id());
    listener.end().fails(130, &["the run was stopped"]);
    assert!(!begun(), "half a lot is left");
    // The other one is told that its peer is gone, and leaves nothing either.
    assert_eq!(other.wait().unwrap().code(), Some(3));
    let left = fs::read_dir(&theirs).is_ok_and(|files| files.flatten().any(|file| file.file_name().len() > 64));
    assert!(!left, "half a lot is left at the other one");
}

#[test]
fn an_intersection_a_proof_and_a_session_end_at_a_signal_too() {
    let folder = Folder::new("interrupted-others");
    let (table, out) = (folder.file("table.csv", "key\n1\n2\n"), folder.path("out.csv"));
    let program =
        folder.file("p.cty", "parties prover, public;\nfn main(x: u8 from prover) -> (accept: bool) { x > 3 }\n");
    let waits: [(&str, Vec<&str>); 3] = [
        ("psi", vec![&table, "--key", "key", "--out", &out]),
        ("zk", vec!["prove", &program, "--secret", "x=7", "--interactive"]),
        ("repl", vec!["--party", "0"]),
    ];
    for (name, args) in waits {
        for sign in ["INT", "TERM"] {
            let listener = Listener::begin(name, &args);
            signal(sign, listener.id());
            listener.end().fails(130, &["the run was stopped"]);
        }
    }
    let left: Vec<_> = fs::read_dir(folder.path(".")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the table and the program: {left:?}");
}

#[test]
fn a_session_that_waits_for_a_statement_ends_at_a_signal() {
    let mut listener = Listener::begin("repl", &["--party", "0"]);
    let args = ["repl", "--party", "1", "--connect", &listener.address];
    let mut other = command(&args).stdin(Stdio::piped()).spawn().unwrap();
    listener.says("connected");
    // The one has no statements, the other one waits for some.
    listener.end().ok();
    // To wait for a process is to close its input first, which ends a session, too.
    let statements = other.stdin.take();
    signal("INT", other.id());
    assert_eq!(other.wait().unwrap().code(), Some(130));
    drop(statements);
}

#[test]
fn a_deadline_is_for_the_whole_run() {
    let done = comity(&[
        "run",
        "add64",
        "--party",
        "0",
        "--listen",
        "127.0.0.1:0",
        "--input",
        "dec:40",
        "--deadline",
        "0.1s",
        "--json",
    ]);
    done.fails_json(3, "timeout", &["did not end within 0.1 s"]);
}
