//! `comity psi`: what the report claims of the other side, and what each side goes along with.

use std::fs;

use comity_testing::PATIENCE;

use crate::common::{Done, Folder, Listener, comity};

/// Both sides, the first one listening.
fn meet(first: &[&str], second: &[&str]) -> (Done, Done) {
    let timeout = format!("--timeout={}", PATIENCE.as_secs());
    let listener = Listener::begin("psi", &[first, &[&timeout]].concat());
    let other = comity(&[&["psi", "--connect", &listener.address, &timeout][..], second].concat());
    (listener.end(), other)
}

#[test]
fn the_report_names_the_keys_that_a_cheater_could_have_asked_for() {
    let folder = Folder::new("psi-reach");
    let (a, b) = (folder.file("a.csv", "k\n1\n2\n3\n"), folder.file("b.csv", "k\n2\n"));
    let out = folder.path("out.csv");
    let vole = ["--method", "vole"];
    let (one, two) = meet(
        &[&[&*a, "--key", "k", "--json"], &vole[..]].concat(),
        &[&[&*b, "--key", "k", "--out", &out, "--json"], &vole[..]].concat(),
    );
    // A vector for one key has as many columns as one for 1,024.
    assert_eq!(one.json()["theirs_at_most"], 1470);
    assert_eq!(one.json()["keys"][0]["theirs_at_most"], 1470);
    assert_eq!(two.json()["theirs_at_most"], 3, "a sender has a mask for each key");
    let (one, two) = meet(&[&*a, "--key", "k"], &[&*b, "--key", "k", "--out", &out]);
    assert!(one.err.contains("cheated, it may have compared as many as 1,470 keys"), "{}", one.err);
    two.ok();
    assert!(!two.err.contains("cheated"), "{}", two.err);
    let circuit = ["--method", "circuit", "--protocol", "ag"];
    let (one, two) = meet(
        &[&[&*a, "--key", "k", "--json"], &circuit[..]].concat(),
        &[&[&*b, "--key", "k", "--out", &out, "--json"], &circuit[..]].concat(),
    );
    assert_eq!(one.json()["theirs_at_most"], 1301);
    assert!(two.json()["theirs_at_most"].as_u64().unwrap() >= 1301);
    let kkrt = ["--method", "kkrt"];
    let (one, _) = meet(
        &[&[&*a, "--key", "k", "--json"], &kkrt[..]].concat(),
        &[&[&*b, "--key", "k", "--out", &out], &kkrt[..]].concat(),
    );
    assert!(one.json()["theirs_at_most"].is_null(), "nothing holds against a cheater");
}

#[test]
fn a_table_that_is_larger_than_the_other_side_takes_is_refused_on_both() {
    let folder = Folder::new("psi-most");
    let (a, b) = (folder.file("a.csv", "k\n1\n2\n3\n"), folder.file("b.csv", "k\n2\n"));
    let out = folder.path("out.csv");
    let (one, two) = meet(&[&a, "--key", "k"], &[&b, "--key", "k", "--out", &out, "--most", "2"]);
    one.fails(2, &["size of this party's set", "3 items", "2 items at most at the peer"]);
    two.fails(2, &["size of the peer's set", "2 items at most here", "`--most` takes more", "3 items"]);
    assert!(!fs::exists(&out).unwrap());
    let (one, two) = meet(&[&a, "--key", "k", "--most", "1"], &[&b, "--key", "k", "--out", &out, "--most", "3"]);
    one.ok();
    two.ok();
}

/// Nobody can tell how hashes came about, but two owners who both hash say what they did before.
#[test]
fn two_who_hash_their_keys_differently_are_told() {
    let folder = Folder::new("psi-hashed");
    let (a, b) = (folder.file("a.csv", "k\nAnn \nbo\n"), folder.file("b.csv", "k\nann\nbo\n"));
    let digest = "28f69f2fa96043b57d3bf71c8a1b0ad02bc6a3104ea5a3a0f3f2a7d4e60bd1ee";
    let hashes = folder.file("h.csv", &format!("h\n{digest}\n"));
    let out = folder.path("out.csv");
    let run =
        |ours: &str, theirs: &str, file: &str| meet(&[&a, "--key", ours], &[file, "--key", theirs, "--out", &out]);
    let (one, two) = run("k:trim,lower,sha256", "k:sha256", &b);
    for done in [one, two] {
        done.fails(2, &["hashed-keys", "lower+trim+sha256", "name the same steps before it, or leave sha256 out"]);
    }
    for (theirs, file) in [("k:trim,lower,sha256", &b), ("h:hex", &hashes)] {
        let (one, two) = run("k:trim,lower,sha256", theirs, file);
        one.ok();
        two.ok();
    }
    // The same where one of the two has published.
    let (state, base) = (folder.path("S"), folder.path("base.psi"));
    comity(&["psi", "publish", &a, "--key", "k:trim,lower,sha256", "--state", &state, "--out", &base]).ok();
    let ask = |file: &str, key: &str| {
        comity(&[
            "psi",
            "query",
            file,
            "--key",
            key,
            "--base",
            &base,
            "--connect",
            "127.0.0.1:1",
            "--out",
            &out,
            "--timeout=1",
        ])
    };
    ask(&b, "k:sha256").fails(2, &["keys are made by hex of sha256 here, and by hex of lower+trim+sha256"]);
    // Nobody is there, and that is all that is wrong.
    ask(&b, "k:lower,trim,sha256").fails(3, &["127.0.0.1:1"]);
    ask(&hashes, "h:hex").fails(3, &["127.0.0.1:1"]);
}

#[test]
fn the_same_column_is_sent_once() {
    let folder = Folder::new("psi-twice");
    let a = folder.file("a.csv", "k,x\n1,2\n");
    comity(&["psi", &a, "--key", "k", "--payload", "x,x", "--connect", "127.0.0.1:1", "--timeout=1"])
        .fails(2, &["--payload names column `x` twice"]);
}

#[test]
fn the_help_names_every_method() {
    let help = comity(&["psi", "--help"]);
    let text = help.ok().to_owned();
    for method in comity::psi::Method::ALL {
        assert!(text.contains(method.name()), "{}", method.name());
    }
}
