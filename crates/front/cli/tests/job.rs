//! `comity job` and `comity run --job`: what all parties hold in one file.

use std::net::TcpListener;
use std::thread;

use comity::{KeyDir, SystemRng};

use crate::common::*;

/// A job of Alice and Bob on this machine, who add; and what stands above its parties.
pub(crate) fn job(folder: &Folder, name: &str, head: &str) -> String {
    let address = free();
    let parties = format!(
        "[[party]]\nid = 0\nname = \"alice\"\naddress = \"{address}\"\n[[party]]\nid = 1\nname = \"bob\"\naddress = \"-\"\n"
    );
    digested(folder, name, &format!("program = \"add64\"\nprotocol = \"yao\"\n{head}\n{parties}"))
}

/// An address of this machine that nobody has: the system chooses.
pub(crate) fn free() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// A group of parties with these names and addresses, each with a key in a folder of its name.
pub(crate) fn keyed(folder: &Folder, parties: &[(&str, &str)]) -> String {
    let line = |(id, (name, address)): (usize, &(&str, &str))| {
        let key = KeyDir::new(folder.path(name)).create(&mut SystemRng).unwrap().fingerprint();
        format!("[[party]]\nid = {id}\nname = \"{name}\"\naddress = \"{address}\"\nkey = \"{key}\"\n")
    };
    parties.iter().enumerate().map(line).collect()
}

/// A job with this text, and the digest of its program.
pub(crate) fn digested(folder: &Folder, name: &str, text: &str) -> String {
    let path = folder.file(name, text);
    let shown = comity(&["job", "show", &path, "--json"]).json();
    let digest = shown["program_digest"].as_str().unwrap();
    folder.file(name, &format!("digest = \"{digest}\"\n{}", std::fs::read_to_string(&path).unwrap()))
}

#[test]
fn a_job_runs_at_all_who_hold_it() {
    let folder = Folder::new("job-runs");
    let path = job(&folder, "job.toml", "outputs = [\"bob\"]");
    let digest = comity(&["job", "digest", &path]).ok().trim().to_owned();
    assert!(digest.starts_with("job:"), "{digest}");
    assert_eq!(comity(&["job", "check", &path]).ok(), format!("{path} can run: {digest}\n"));
    let shown = comity(&["job", "show", &path]).ok().to_owned();
    for word in ["add64", "yao, rho 40", "1 run for each peer", "bob at -", &digest] {
        assert!(shown.contains(word), "{word} is not in {shown}");
    }
    let run = |party: &str, value: &str| comity(&["run", "--job", &path, "--party", party, "--input", value]);
    let (alice, bob) = thread::scope(|scope| {
        let alice = scope.spawn(|| run("alice", "dec:40"));
        (run("bob", "dec:2"), alice.join().unwrap())
    });
    assert_eq!((alice.ok(), bob.ok()), ("000000000000002a\n", ""));
}

#[test]
fn what_a_job_would_ignore_is_refused() {
    let folder = Folder::new("job-ignored");
    let plain = job(&folder, "job.toml", "");
    let store = folder.path("store");
    let run =
        |more: &[&str]| comity(&[&["run", "--job", &plain, "--party", "alice", "--input", "dec:40"], more].concat());
    run(&["--store", &store]).fails(2, &["--store", "names no store", "leave the flag out"]);
    run(&["--label", "monday"]).fails(2, &["--label"]);
    comity(&["serve", &plain, "--party", "alice", "--store", &store]).fails(2, &["names no store"]);
    for (line, part) in [
        ("owners = [\"0=alice\", \"1=bob\", \"0=bob\"]", "two --owner flags for input 0"),
        ("outputs = [\"all\", \"0=alice\", \"0=bob\"]", "two --output-to flags for output `0`"),
        ("outputs = [\"alice\", \"bob\"]", "two --output-to flags for the outputs"),
    ] {
        let path = folder.file(
            "twice.toml",
            &std::fs::read_to_string(&plain)
                .unwrap()
                .replace("[[party]]\nid = 0", &format!("{line}\n[[party]]\nid = 0")),
        );
        comity(&["job", "check", &path]).fails(2, &[part]);
    }
    comity(&["eval", "add64", "--owner", "0=0", "--owner", "0=1", "-i", "0=1", "-i", "1=2"])
        .fails(2, &["two --owner flags"]);
}

#[test]
fn jobs_that_differ_are_found() {
    let folder = Folder::new("job-differs");
    let path = job(&folder, "job.toml", "");
    let text = std::fs::read_to_string(&path).unwrap();
    let other = folder.file("other.toml", &format!("runs = 2\n{text}"));
    let run = |path: &str, party: &str| comity(&["run", "--job", path, "--party", party, "--input", "dec:40"]);
    let both = thread::scope(|scope| {
        let alice = scope.spawn(|| run(&path, "0"));
        [run(&other, "1"), alice.join().unwrap()]
    });
    both.iter().for_each(|done| done.fails(2, &["disagree on the job", "job:"]));
    // A party without any job wants something else, too.
    let group = folder.file("group.toml", &text[text.find("[[party]]").unwrap()..]);
    let both = thread::scope(|scope| {
        let alice = scope.spawn(|| run(&path, "0"));
        let args = ["run", "add64", "--protocol", "yao", "--group", &group, "--party", "1", "--input", "dec:2"];
        [comity(&args), alice.join().unwrap()]
    });
    both.iter().for_each(|done| done.fails(2, &["disagree on the job", "none"]));
}

#[test]
fn the_program_that_a_job_names_is_not_written_over() {
    let folder = Folder::new("job-onto");
    let text = "fn main(a: u8 from 0, b: u8 from 1) -> u8 { a ^ b }";
    let program = folder.file("own.cty", text);
    let head = "program = \"own.cty\"\nprotocol = \"yao\"\n[[party]]\nid = 0\nname = \"ann\"\naddress = \"127.0.0.1:1\"\n[[party]]\nid = 1\nname = \"ben\"\naddress = \"-\"\n";
    let path = digested(&folder, "job.toml", head);
    let run = ["run", "--job", &path, "--party", "1", "--input", "b=1", "--output", &program];
    comity(&run).fails(2, &["also reads this file"]);
    assert_eq!(std::fs::read_to_string(&program).unwrap(), text);
}

#[test]
fn a_job_says_whose_part_is_whose() {
    let folder = Folder::new("job-parts");
    let text = std::fs::read_to_string(job(&folder, "job.toml", "rho = 7")).unwrap();
    let text = text.replace("yao", "cutchoose") + "[options]\ngarbler = \"bob\"\n";
    let path = folder.file("job.toml", &text);
    let run = |party: &str| comity(&["run", "--job", &path, "--party", party, "--input", "dec:40", "--json"]);
    let both = thread::scope(|scope| {
        let alice = scope.spawn(|| run("alice"));
        [run("bob"), alice.join().unwrap()]
    });
    both.iter().for_each(|done| assert_eq!(done.json()["options"]["garbler"], 1, "{}", done.err));
    // A part of one's own would be another one at each who holds the job.
    for (wrong, word) in
        [("role = \"garbler\"", "write garbler = PARTY"), ("garbler = \"ben\"", "PARTY"), ("garble = 1", "no option")]
    {
        let path = folder.file("wrong.toml", &text.replace("garbler = \"bob\"", wrong));
        comity(&["job", "check", &path]).fails(2, &[word]);
    }
}

#[test]
fn what_does_not_fit_is_said_before_anybody_is_bothered() {
    let folder = Folder::new("job-wrong");
    let path = job(&folder, "job.toml", "");
    let text = std::fs::read_to_string(&path).unwrap();
    let wrong = |from: &str, to: &str| folder.file("wrong.toml", &text.replacen(from, to, 1));
    comity(&["job", "check", &wrong("add64", "sub64")]).fails(2, &["sub64 is not the job's", "program:"]);
    comity(&["job", "check", &wrong("digest", "# digest")]).fails(2, &["write digest = \"program:"]);
    comity(&["job", "check", &wrong("yao", "yoa")]).fails(2, &["yao"]);
    comity(&["job", "check", &wrong("[[party]]", "rho = 0\n[[party]]")]).fails(2, &["rho is 0"]);
    comity(&["job", "check", &wrong("[[party]]", "store = \"s\"\n[[party]]")])
        .fails(2, &["yao makes no material ahead"]);
    comity(&["job", "check", &wrong("[[party]]", "[options]\ncoded = true\n[[party]]")])
        .fails(2, &["no option `coded`"]);
    comity(&["run", "--job", &wrong("id = 1", "id = 3"), "--party", "0"])
        .fails(2, &["wrong.toml", "party 1 is missing, or listed twice"]);
    comity(&["run", "add64", "--job", &path, "--party", "0"]).fails(2, &["leave PROGRAM out"]);
    comity(&["run", "--job", &path, "--protocol", "yao"]).fails(2, &["--protocol"]);
    comity(&["run"]).fails(2, &["Name a PROGRAM, or a --job FILE"]);
}
