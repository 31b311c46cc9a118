//! `comity run`: two processes, in agreement and out of it.

use std::io::Write;
use std::net::{TcpListener, TcpStream};

use crate::common::*;
use comity_core::Backend;

const KEYS: [&str; 17] = [
    "adversary",
    "and_gates",
    "bytes",
    "kappa",
    "options",
    "outputs",
    "parties",
    "party",
    "peak_rss_bytes",
    "peers",
    "program",
    "protocol",
    "recipients",
    "rho",
    "rounds",
    "seconds",
    "values",
];

#[test]
fn two_processes_encrypt_the_fips_block() {
    let (a, b) = both(&["aes128"], &["--input", AES_KEY], &["--input", &format!("block={AES_BLOCK}")]);
    assert_eq!(a.ok(), format!("{AES_OUT}\n"));
    assert_eq!(b.ok(), format!("{AES_OUT}\n"));
    assert!(a.err.contains("waiting"), "{}", a.err);
}

#[test]
fn the_json_object_has_the_keys_of_the_contract() {
    let (a, b) = both(&["aes128", "--json"], &["--input", AES_KEY], &["--input", AES_BLOCK]);
    a.ok();
    b.ok();
    let (a, b) = (a.json(), b.json());
    let keys: Vec<&str> = a.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, KEYS);
    assert_eq!(
        (&a["program"], &a["protocol"], &a["adversary"]),
        (&"aes128".into(), &"cutchoose".into(), &"malicious".into())
    );
    assert_eq!((&a["kappa"], &a["rho"]), (&128.into(), &40.into()));
    assert_eq!((&a["party"], &b["party"]), (&0.into(), &1.into()));
    assert_eq!(a["outputs"], serde_json::json!({"0": AES_OUT}));
    assert_eq!(a["recipients"], serde_json::json!({"ciphertext": [0, 1]}));
    assert_eq!(a["and_gates"], 6400);
    assert_eq!(a["bytes"]["sent"], b["bytes"]["received"]);
    assert_eq!(b["bytes"]["sent"], a["bytes"]["received"]);
    assert!(a["bytes"]["sent"].as_u64().unwrap() > 40 * 32 * 6400, "party 0 garbles, 40 times");
    assert!(a["rounds"].as_u64().unwrap() > 0);
    let phases = a["seconds"]["phases"].as_object().unwrap();
    for phase in ["setup", "inputs", "gates", "outputs", "checks"] {
        assert!(phases.contains_key(phase), "{phases:?}");
    }
    let sum: f64 = phases.values().map(|s| s.as_f64().unwrap()).sum();
    assert!(sum <= a["seconds"]["total"].as_f64().unwrap() + 1e-6);
}

#[test]
fn only_recipients_learn() {
    let (a, b) = both(&["aes128", "--output-to", "1"], &["--input", AES_KEY], &["--input", AES_BLOCK]);
    assert_eq!(a.ok(), "");
    assert!(a.err.contains("outputs are for the other party"), "{}", a.err);
    assert_eq!(b.ok(), format!("{AES_OUT}\n"));
    let (a, b) = both(&["aes128", "--output-to", "0=0", "--json"], &["--input", AES_KEY], &["--input", AES_BLOCK]);
    assert_eq!(a.json()["outputs"], serde_json::json!({"0": AES_OUT}));
    assert_eq!(b.json()["outputs"], serde_json::json!({}));
}

#[test]
fn owners_can_be_changed_and_one_party_may_own_all() {
    let owners = ["aes128", "--owner", "0=1", "--owner", "block=0"];
    let (a, b) = both(&owners, &["--input", AES_BLOCK], &["--input", AES_KEY]);
    assert_eq!((a.ok(), b.ok()), (&*format!("{AES_OUT}\n"), &*format!("{AES_OUT}\n")));
    let (a, b) = both(&["add64", "--owner", "1=0"], &["-i", "u64:40", "-i", "u64:2"], &[]);
    assert_eq!((a.ok(), b.ok()), ("000000000000002a\n", "000000000000002a\n"));
}

#[test]
fn every_backend_gives_the_same() {
    for backend in Backend::NAMES {
        let listener = Listener::start(&["aes128", "--party", "0", "--input", AES_KEY]);
        let address = listener.address.clone();
        let mut other = command(&["run", "aes128", "--party", "1", "--connect", &address, "--input", AES_BLOCK]);
        let other: Done = other.env("COMITY_BACKEND", backend).output().unwrap().into();
        if other.code == 2 && other.err.contains("no such backend") {
            continue;
        }
        assert_eq!(other.ok(), format!("{AES_OUT}\n"), "{backend}");
        assert_eq!(listener.end().ok(), format!("{AES_OUT}\n"), "{backend}");
    }
    let mut wrong = command(&["run", "aes128", "--party", "0", "--listen", "127.0.0.1:0", "--input", AES_KEY]);
    let wrong: Done = wrong.env("COMITY_BACKEND", "abacus").output().unwrap().into();
    wrong.fails(2, &["COMITY_BACKEND", "abacus", "portable"]);
}

/// Both sides fail with code 2 and name the field and both values.
#[track_caller]
fn disagree(sides: (Done, Done), words: &[&str]) {
    sides.0.fails(2, words);
    sides.1.fails(2, words);
}

#[test]
fn different_wishes_are_told_on_both_sides() {
    let (key, block) = (["--input", AES_KEY], ["--input", AES_BLOCK]);
    disagree(both(&[], &["add64", "-i", "u64:1"], &["sub64", "-i", "u64:1"]), &["program", "add64", "sub64"]);
    let add = ["add64", "-i", "u64:1"];
    disagree(
        both(&[], &add, &[&add[..], &["--optimize", "depth"]].concat()),
        &["program", "have the same name", "--optimize"],
    );
    disagree(
        both(&["aes128"], &[&key[..], &["--rho", "41"]].concat(), &[&block[..], &["--rho", "80"]].concat()),
        &["rho", "41", "80"],
    );
    disagree(both(&["aes128"], &[&key[..], &["--output-to", "1"]].concat(), &block), &["recipients", "all", "party 1"]);
    disagree(both(&["aes128"], &[&key[..], &block[..], &["--owner", "1=0"]].concat(), &block), &["owners"]);
    let listener = Listener::start(&["aes128", "--party", "0", "--input", AES_KEY]);
    let other = comity(&["run", "aes128", "--party", "0", "--connect", &listener.address, "--input", AES_KEY]);
    disagree((listener.end(), other), &["party"]);
}

#[test]
fn a_mismatch_is_a_json_object_too() {
    let (a, b) = both(&["--json"], &["add64", "-i", "u64:1"], &["sub64", "-i", "u64:1"]);
    a.fails_json(2, "mismatch", &["add64", "sub64"]);
    b.fails_json(2, "mismatch", &["add64", "sub64"]);
}

#[test]
fn nobody_there() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let args = ["run", "aes128", "--party", "1", "--connect", &free, "--input", AES_BLOCK, "--timeout", "1"];
    comity(&args).fails(3, &[&free]);
    comity(&[&args[..], &["--json"]].concat()).fails_json(3, "network", &[&free]);
    let args = ["run", "aes128", "--party", "0", "--listen", &free, "--input", AES_KEY, "--timeout", "1"];
    comity(&args).fails(3, &[&free, "1 s"]);
}

#[test]
fn a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    comity(&["run", "aes128", "--party", "0", "--listen", &address, "--input", AES_KEY])
        .fails(3, &[&address, "in use"]);
}

#[test]
fn a_silent_stranger_and_a_talkative_one() {
    let listen = ["aes128", "--party", "0", "--input", AES_KEY];
    let mut listener = Listener::start(&listen);
    let _silent = TcpStream::connect(&listener.address).unwrap();
    let mut talkative = TcpStream::connect(&listener.address).unwrap();
    talkative.write_all(&[b'x'; 4096]).unwrap();
    listener.says("turned away");
    listener.says("not comity");
    // Neither has ended the wait, nor taken the peer's place.
    let other = comity(&["run", "aes128", "--party", "1", "--connect", &listener.address, "--input", AES_BLOCK]);
    assert_eq!((other.ok(), listener.end().ok()), (&*format!("{AES_OUT}\n"), &*format!("{AES_OUT}\n")));
}

#[test]
fn a_peer_killed_in_the_middle_is_noticed_and_leaves_no_result() {
    let folder = Folder::new("killed");
    let output = folder.path("result");
    // Far more gates than can be done before the kill.
    let mut listener = Listener::start(&["aes128^3000000", "--party", "0", "--input", AES_KEY]);
    let between = Between::before(&listener.address);
    let other = command(&[
        "run",
        "aes128^3000000",
        "--party",
        "1",
        "--connect",
        &between.address,
        "--input",
        AES_BLOCK,
        "--output",
        &output,
    ]);
    let mut other = { other }.spawn().unwrap();
    between.until(FAR);
    assert!(other.try_wait().unwrap().is_none(), "it is still at work");
    listener.kill();
    let other: Done = other.wait_with_output().unwrap().into();
    other.fails(3, &["closed"]);
    assert!(!std::path::Path::new(&output).exists());
}

#[test]
fn results_go_to_a_file_at_success_only() {
    let folder = Folder::new("output");
    let (path0, path1) = (folder.path("zero"), folder.path("one"));
    let (a, b) =
        both(&["aes128"], &["--input", AES_KEY, "--output", &path0], &["--input", AES_BLOCK, "-o", &path1, "--json"]);
    assert_eq!((a.ok(), b.ok()), ("", ""));
    assert_eq!(std::fs::read_to_string(&path0).unwrap(), format!("{AES_OUT}\n"));
    let object: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path1).unwrap()).unwrap();
    assert_eq!(object["outputs"]["0"], AES_OUT);
    let (a, b) = both(&[], &["add64", "-i", "u64:1", "-o", &path0], &["sub64", "-i", "u64:1"]);
    a.fails(2, &["program"]);
    b.fails(2, &["program"]);
    assert_eq!(std::fs::read_to_string(&path0).unwrap(), format!("{AES_OUT}\n"), "the old file is untouched");
    let nowhere = folder.path("no/such/folder");
    comity(&["run", "aes128", "--party", "0", "--listen", "127.0.0.1:0", "--input", AES_KEY, "-o", &nowhere])
        .fails(2, &[&nowhere]);
}

#[test]
fn off_this_machine_plain_text_must_be_asked_for_and_semi_honesty_gets_a_warning() {
    let base = ["run", "aes128", "--party", "0", "--listen", "0.0.0.0:0", "--input", AES_KEY, "--timeout", "0.3"];
    let with = |more: &[&str]| comity(&[&base[..], more].concat());
    with(&[]).fails(2, &["--tls", "--plaintext"]);
    with(&["--protocol", "yao"]).fails(2, &["--tls", "--plaintext"]);
    let exposed = with(&["--protocol", "yao", "--plaintext"]);
    exposed.fails(3, &["semi-honest", "could", "0.3 s"]);
    let protected = with(&["--plaintext"]);
    protected.fails(3, &["0.3 s"]);
    // On this machine nothing is said either.
    let here = ["aes128", "--party", "0", "--input", AES_KEY, "--timeout", "0.3", "--protocol", "yao"];
    let here = Listener::start(&here).end();
    here.fails(3, &["0.3 s"]);
    for quiet in [protected, here] {
        assert!(!quiet.err.contains("could"), "{}", quiet.err);
    }
}

/// Whoever listens on the way hears the seeds by which three hide what they show; two have none.
#[test]
fn plain_text_among_three_off_this_machine_gets_a_warning() {
    let among = |listen: &str, more: &[&str]| {
        let base = [
            "run",
            "add64",
            "--party",
            "0",
            "--listen",
            listen,
            "--input",
            "0000000000000001",
            "--timeout",
            "0.3",
            "--peer",
            "1=127.0.0.1:9",
        ];
        comity(&[&base[..], more].concat())
    };
    among("0.0.0.0:0", &["--peer", "2=127.0.0.1:9", "--plaintext"]).fails(3, &["whoever listens", "--tls", "0.3 s"]);
    for quiet in [among("127.0.0.1:0", &["--peer", "2=127.0.0.1:9"]), among("0.0.0.0:0", &["--plaintext"])] {
        quiet.fails(3, &["0.3 s"]);
        assert!(!quiet.err.contains("whoever listens"), "{}", quiet.err);
    }
}

#[test]
fn a_roster_of_addresses_names_the_peer() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let listener =
        command(&["run", "aes128", "--party", "0", "--listen", &free, "--peer", "1=127.0.0.1:1", "-i", AES_KEY]);
    let listener = { listener }.spawn().unwrap();
    let other = ["run", "aes128", "--party", "1", "--listen", "127.0.0.1:0", "-i", AES_BLOCK];
    let other = comity(&[&other[..], &["--peer", &format!("0={free}")]].concat());
    assert_eq!(other.ok(), format!("{AES_OUT}\n"));
    assert_eq!(Done::from(listener.wait_with_output().unwrap()).ok(), format!("{AES_OUT}\n"));
}

#[test]
fn misuse() {
    let run = |more: &[&str]| comity(&[&["run", "aes128"], more].concat());
    let listen = ["--listen", "127.0.0.1:0"];
    run(&["--party", "0", "-i", AES_KEY]).fails(2, &["--listen", "--connect"]);
    run(&[&["--party", "2", "-i", AES_KEY], &listen[..]].concat()).fails(2, &["party 2", "0 to 1"]);
    run(&[&["--party", "0"], &listen[..]].concat()).fails(2, &["key", "128 bits", "missing", "party 0"]);
    run(&[&["--party", "0", "-i", AES_KEY, "-i", AES_KEY], &listen[..]].concat()).fails(2, &["--input"]);
    run(&[&["--party", "0", "-i", &format!("block={AES_BLOCK}")], &listen[..]].concat())
        .fails(2, &["block", "belongs to party 1"]);
    run(&[&["--party", "0", "-i", "0011"], &listen[..]].concat()).fails(2, &["key", "128 bits", "4 hex digits", "32"]);
    run(&[&["--party", "0", "-i", AES_KEY, "--protocol", "yoa"], &listen[..]].concat()).fails(2, &["yoa", "yao"]);
    run(&[&["--party", "0", "-i", AES_KEY, "--kappa", "80"], &listen[..]].concat()).fails(2, &["kappa", "128"]);
    run(&["--party", "0", "-i", AES_KEY, "--listen", "nonsense"]).fails(2, &["nonsense", "HOST:PORT"]);
    run(&["--party", "0", "-i", AES_KEY, "--connect", "127.0.0.1:1", "--listen", "127.0.0.1:0"])
        .fails(2, &["cannot be used with"]);
    // The pages' tests run with another time-out, and take this one for granted.
    assert!(run(&["--help"]).ok().contains("[default: 30]"));
    run(&["--party", "0", "--json", "--no-such-flag"]).fails_json(2, "usage", &["--no-such-flag"]);
}

#[test]
fn the_peer_is_told_a_file_s_name_and_not_where_it_lies() {
    let folder = Folder::new("secret-project");
    let program = folder.file("sum.cty", "fn main(a: u8 from 0, b: u8 from 1) -> u8 { a + b }\n");
    let listener = Listener::start(&["add8", "--party", "0", "--input", "u8:1"]);
    let other = comity(&["run", &program, "--party", "1", "--connect", &listener.address, "--input", "2"]);
    other.fails(2, &["program", "here sum.cty", "at the peer add8"]);
    let told = listener.end();
    told.fails(2, &["here add8", "at the peer sum.cty"]);
    assert!(!told.err.contains("secret-project"), "{}", told.err);
}
