//! Three parties on authenticated shares: a program, in steps, and on what was prepared.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Stdio};

use crate::common::*;

/// The largest of three numbers, for all, and the sum of the first two, for the last party.
const PROGRAM: &str = "\
parties ann, ben, cleo;

fn main(a: u16 from ann, b: u16 from ben, c: u16 from cleo) -> (most: u16 to all, sum: u16 to cleo) {
    let two = if a > b { a } else { b };
    (if two > c { two } else { c }, a + b)
}
";

/// Three parties of a group without keys, each with flags of its own and what it types.
fn three(folder: &Folder, command_name: &str, shared: &[&str], own: [(&[&str], &str); 3]) -> [Done; 3] {
    // Ports that are free now.
    let ports = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = ports.map(|listener| listener.local_addr().unwrap().port());
    let lines = ["ann", "ben", "cleo"].iter().zip(ports).enumerate();
    let lines = lines.map(|(id, (name, port))| {
        format!("[[party]]\nid = {id}\nname = \"{name}\"\naddress = \"127.0.0.1:{port}\"\n\n")
    });
    let group = folder.file("group.toml", &lines.collect::<String>());
    let start = |(party, (flags, typed)): (usize, (&[&str], &str))| -> Child {
        let (party, flags) = (party.to_string(), [shared, flags].concat());
        let args = [&[command_name][..], &["--group", &group, "--party", &party], &flags].concat();
        let mut child = command(&args).stdin(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(typed.as_bytes());
        child
    };
    let children: Vec<Child> = own.into_iter().enumerate().map(start).collect();
    let ends: Vec<Done> = children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect();
    ends.try_into().ok().expect("three")
}

#[test]
fn a_program_runs_among_three() {
    let folder = Folder::new("among-run");
    let program = folder.file("most.cty", PROGRAM);
    let local = |more: &[&str]| {
        let values = ["-i", "a=12", "-i", "b=40", "-i", "c=31"];
        comity(&[&["local", &program, "--protocol", "tinyot", "--rho", "7"], &values[..], more].concat())
    };
    assert_eq!(local(&[]).ok(), "most 40\nsum 52\n");
    let all = local(&["--json"]).json();
    for party in 0..3 {
        let run = &all["parties"][party];
        assert_eq!((&run["protocol"], &run["parties"]), (&"tinyot".into(), &3.into()));
        assert_eq!(run["values"]["most"], 40);
    }
    // What is for two parties is refused before anybody is bothered.
    local(&["--dealer", "nnob12"]).fails(2, &["nnob12", "for two parties, and there are 3"]);
    local(&["--parties", "17"]).fails(2, &["tinyot is for 2 to 16 parties, and there are 17", "bmr"]);
}

#[test]
fn statements_run_among_three() {
    let folder = Folder::new("among-repl");
    let typed = |value: [&str; 3]| {
        let [a, b, c] = value;
        format!(
            "a = input(0, u16){a}\nb = input(1, u16){b}\nc = input(2, u16){c}\nm = if a > b {{ a }} else {{ b }}\n\
             reveal m > c to all\nreveal m to (0, 2)\nquit\n"
        )
    };
    let [ann, ben, cleo] = [[" = 7", "", ""], ["", " = 9", ""], ["", "", " = 8"]].map(typed);
    let ends = three(&folder, "repl", &["--rho", "7"], [(&[], &ann), (&[], &ben), (&[], &cleo)]);
    let [ann, ben, cleo] = &ends;
    assert_eq!(ann.ok(), "m > c = true\nm = 9\n");
    assert_eq!(ben.ok(), "m > c = true\n");
    assert_eq!(cleo.ok(), ann.ok());
}

#[test]
fn what_three_prepared_is_used_once() {
    let folder = Folder::new("among-store");
    let program = folder.file("most.cty", PROGRAM);
    let stores = [0, 1, 2].map(|party| {
        let [store, key] = ["store", "key"].map(|what| folder.path(&format!("{what}{party}")));
        ["--store".to_owned(), store, "--key-file".to_owned(), key]
    });
    let stores = stores.each_ref().map(|flags| flags.each_ref().map(String::as_str));
    let tinyot = ["--protocol", "tinyot", "--rho", "7"];
    // Two batches.
    let made = three(
        &folder,
        "prepare",
        &[&tinyot[..], &["--count", "9000"]].concat(),
        [(&stores[0], ""), (&stores[1], ""), (&stores[2], "")],
    );
    for done in &made {
        assert!(done.ok().contains("16384 AND gates of any programs are prepared"), "{}", done.out);
    }
    let run = || {
        let inputs = [["-i", "a=12"], ["-i", "b=40"], ["-i", "c=31"]];
        let flags = [0, 1, 2].map(|party| [&stores[party][..], &inputs[party]].concat());
        let [a, b, c] = flags.each_ref().map(|flags| (&flags[..], ""));
        three(&folder, "run", &[&[&program[..]], &tinyot[..]].concat(), [a, b, c])
    };
    for turn in 0..2 {
        let [ann, ben, cleo] = run();
        assert_eq!((ann.ok(), ben.ok(), cleo.ok()), ("most 40\n", "most 40\n", "most 40\nsum 52\n"), "run {turn}");
    }
    for done in run() {
        done.fails(2, &["no party has a lot of shares", "comity prepare --protocol tinyot"]);
    }
}
