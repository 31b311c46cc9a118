//! `comity nisc` in the hands of a stranger: files of the wrong kind, full disks, odd programs, and what
//! others left behind.

use std::fs;
use std::process::Command;

use crate::common::*;

/// A query of `add8` at three copies for 40 of the publisher's, its key, and two answers.
struct Files {
    folder: Folder,
    query: String,
    key: String,
    answers: [String; 2],
}

impl Files {
    fn new(test: &str) -> Files {
        let folder = Folder::new(test);
        let [query, key] = ["q", "k"].map(|name| folder.path(name));
        comity(&["nisc", "publish", "add8", "--input", "u8:40", "--copies", "3", "--out", &query, "--secret", &key])
            .ok();
        let answers = [2, 3].map(|value| {
            let out = folder.path(&format!("{value}.answer"));
            comity(&["nisc", "respond", &query, "--input", &format!("u8:{value}"), "--out", &out, "--name", "ann"])
                .ok();
            out
        });
        Files { folder, query, key, answers }
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path("")).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Whether the key still opens its answers, and none of them was opened yet.
    #[track_caller]
    fn still_fresh(&self) {
        let json = comity(&["nisc", "inspect", &self.key, "--json"]).json();
        assert_eq!((&json["spent"], &json["opened"]), (&false.into(), &0.into()));
        assert!(comity(&["nisc", "open", &self.key, &self.answers[0]]).ok().ends_with(": 2a\n"));
    }
}

/// Runs the command, which must not wait for something that never comes.
fn soon(args: &[&str]) -> Done {
    let mut child = command(args).spawn().unwrap();
    until(&format!("{args:?} ends"), || child.try_wait().unwrap().is_some());
    child.wait_with_output().unwrap().into()
}

/// Runs a line of shell in which `$comity` is the command.
#[cfg(unix)]
fn shell(line: &str) -> Done {
    Command::new("sh").args(["-c", line]).env("comity", env!("CARGO_BIN_EXE_comity")).output().unwrap().into()
}

#[test]
#[cfg(unix)]
fn a_pipe_is_refused_and_not_waited_for() {
    let files = Files::new("nisc-pipe");
    let (pipe, out) = (files.folder.path("pipe"), files.folder.path("out"));
    assert!(Command::new("mkfifo").args(["-m", "600", &pipe]).status().unwrap().success());
    let refused: &[&[&str]] = &[
        &["respond", &pipe, "--input", "u8:1", "--out", &out],
        &["open", &pipe, &files.answers[0]],
        &["open", &files.key, &pipe],
        &["open", &files.key, "--check", &pipe],
        &["inspect", &pipe],
        &["refresh", &pipe, "--out", &out],
    ];
    for args in refused {
        soon(&[&["nisc"], *args].concat())
            .fails(2, &["pipe: this is a pipe or a device", "save its content to a file"]);
    }
    soon(&["nisc", "respond", &files.query, "--input", "u8:1", "--out", &pipe]).fails(2, &["pipe"]);
    let folder = files.folder.path("");
    soon(&["nisc", "respond", &folder, "--input", "u8:1", "--out", &out]).fails(2, &["this is a folder"]);
    soon(&["nisc", "open", &files.key, &folder]).fails(2, &["this is a folder", "no answer was opened"]);
    files.still_fresh();
}

/// In a container each process has the number of the one that was killed there.
#[test]
#[cfg(unix)]
fn what_a_killed_process_left_is_in_nobodys_way() {
    let files = Files::new("nisc-left");
    let (folder, query, key) = (files.folder.path(""), &files.query, &files.key);
    let answer = &files.answers[0];
    for (name, command) in [
        ("a", format!("respond {query} --input u8:1 --out {folder}/a")),
        ("k", format!("open {key} {answer}")),
        ("q2", format!("refresh {key} --out {folder}/q2")),
    ] {
        let left = format!("{folder}/.{name}.$$");
        let done = shell(&format!(": > {left}.partial; : > {left}.0.partial; exec \"$comity\" nisc {command}"));
        done.ok();
    }
    assert!(!files.names().iter().any(|name| name.ends_with(".partial")), "what was left is gone: {:?}", files.names());
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_nothing_and_loses_nothing() {
    let files = Files::new("nisc-full");
    let (folder, query, key) = (files.folder.path(""), &files.query, &files.key);
    let before = files.names();
    // No file can grow, and the signal that says so is ignored.
    let full = |command: &str| shell(&format!("trap '' XFSZ; ulimit -f 0; exec \"$comity\" nisc {command}"));
    full(&format!("respond {query} --input u8:1 --out {folder}/a")).fails(3, &["/a: cannot write it"]);
    full(&format!("publish add8 --input u8:1 --out {folder}/q2 --secret {folder}/k2"))
        .fails(3, &["q2: cannot write it"]);
    full(&format!("open {key} {}", files.answers[0])).fails(3, &["k: cannot write it"]);
    full(&format!("refresh {key} --discard --out {folder}/q2")).fails(3, &["q2: cannot write it"]);
    let after: Vec<String> = files.names().into_iter().filter(|name| name != "k.lock").collect();
    assert_eq!(after.len(), before.len(), "{after:?}");
    files.still_fresh();
}

#[test]
fn the_query_and_the_key_are_two_files() {
    let folder = Folder::new("nisc-one");
    let one = folder.path("one");
    comity(&["nisc", "publish", "add8", "--input", "u8:1", "--out", &one, "--secret", &one])
        .fails(2, &["--out and --secret"]);
    assert!(!fs::exists(&one).unwrap());
    let files = Files::new("nisc-over");
    let before = fs::read(&files.query).unwrap();
    comity(&["nisc", "respond", &files.query, "--input", "u8:1", "--out", &files.query]).fails(2, &["--out"]);
    assert_eq!(fs::read(&files.query).unwrap(), before);
}

#[test]
fn damage_anywhere_gets_a_line_and_costs_nothing() {
    let files = Files::new("nisc-damage");
    let [out, broken] = ["out", "broken"].map(|name| files.folder.path(name));
    let [query, key, one, two] =
        [&files.query, &files.key, &files.answers[0], &files.answers[1]].map(|path| fs::read(path).unwrap());
    let respond = ["nisc", "respond", &broken, "--input", "u8:1", "--out", &out];
    let (open_key, open) = (["nisc", "open", &broken, &files.answers[0]], ["nisc", "open", &files.key, &broken]);
    let refused = |bytes: &[u8], args: &[&str]| {
        // With the key's permissions.
        fs::copy(&files.key, &broken).unwrap();
        fs::write(&broken, bytes).unwrap();
        let done = comity(args);
        assert!(matches!(done.code, 2 | 4) && !done.err.contains("panicked"), "{} {}", done.code, done.err);
        done.fails(done.code, &["broken"]);
    };
    for (bytes, args) in [(&query, &respond[..]), (&key, &open_key), (&one, &open)] {
        for step in 0..12 {
            let at = step * bytes.len() / 12 + step;
            refused(&bytes[..at], args);
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (step % 8);
            refused(&flipped, args);
        }
    }
    // A right beginning, and then ten gigabytes that take no room on the disk.
    for (bytes, args) in [(&query, &respond[..]), (&key, &open_key)] {
        fs::copy(&files.key, &broken).unwrap();
        fs::write(&broken, bytes).unwrap();
        fs::OpenOptions::new().append(true).open(&broken).unwrap().set_len(10 << 30).unwrap();
        comity(args).fails(4, &["broken", "10737418240 bytes", "at most"]);
    }
    for step in 1..6 {
        let at = step * one.len() / 6;
        refused(&[&one[..at], &two[at..]].concat(), &open);
    }
    assert!(!fs::exists(&out).unwrap());
    files.still_fresh();
}

#[test]
fn programs_of_every_shape() {
    let folder = Folder::new("nisc-shapes");
    let [query, key, out] = ["q", "k", "a"].map(|name| folder.path(name));
    // Without inputs of one side or both; of one bit; with outputs that are constant, inputs, or repeated.
    type Values = &'static [&'static str];
    let shapes: [(&str, Values, Values, Values); 6] = [
        ("y: u8 from b) -> (z: u8) { y + 1", &[], &["y=4"], &["05"]),
        ("x: u8 from a) -> (z: u8) { x + 1", &["x=4"], &[], &["05"]),
        (") -> (z: u8) { 7", &[], &[], &["07"]),
        ("x: u1 from a, y: u1 from b) -> (z: u1) { x & y", &["x=1"], &["y=1"], &["1"]),
        ("x: u8 from a, y: u8 from b) -> (z: u8, w: u8) { (x + y, 255)", &["x=1"], &["y=2"], &["03", "ff"]),
        (
            "x: u8 from a, y: u8 from b) -> (z: u8, w: u8, v: u8, u: u8) { let s = x * y; (s, s, x, y)",
            &["x=3"],
            &["y=5"],
            &["0f", "0f", "03", "05"],
        ),
    ];
    for (text, mine, theirs, outputs) in shapes {
        let program = folder.file("p.cty", &format!("parties a, b;\nfn main({text} }}\n"));
        let inputs =
            |values: &[&'static str]| -> Vec<&str> { values.iter().flat_map(|value| ["--input", value]).collect() };
        let publish = ["nisc", "publish", &program, "--copies", "3", "--out", &query, "--secret", &key];
        comity(&[&publish[..], &inputs(mine)].concat()).ok();
        let respond = ["nisc", "respond", &query, "--program", &program, "--out", &out];
        comity(&[&respond[..], &inputs(theirs)].concat()).ok();
        let json = comity(&["nisc", "open", &key, &out, "--json"]).json();
        for (index, output) in outputs.iter().enumerate() {
            assert_eq!(json["answers"][0]["outputs"][index.to_string()], *output, "{text}: {json}");
        }
        fs::remove_file(&key).unwrap();
    }
}

#[test]
fn a_program_that_changed_since_is_refused_on_both_sides() {
    let folder = Folder::new("nisc-changed");
    let text = "parties a, b;\nfn main(x: u8 from a, y: u8 from b) -> (z: u8) { x + y }\n";
    let [query, key, out] = ["q", "k", "a"].map(|name| folder.path(name));
    let program = folder.file("p.cty", text);
    comity(&["nisc", "publish", &program, "--input", "x=1", "--copies", "3", "--out", &query, "--secret", &key]).ok();
    let respond = ["nisc", "respond", &query, "--program", &program, "--input", "y=2", "--out", &out];
    comity(&respond).ok();
    folder.file("p.cty", &text.replace('+', "^"));
    comity(&respond).fails(2, &["not the program of the query"]);
    comity(&["nisc", "open", &key, &out]).fails(2, &["not the program of the query", "--program"]);
    folder.file("p.cty", text);
    assert!(comity(&["nisc", "open", &key, &out]).ok().ends_with(": 3\n"));
}
