//! Lists of `comity psi` as people write them: with a header, with blank lines, and prepared otherwise than
//! the other side's.

use std::fs;

use crate::common::{Folder, comity};
use crate::psi::meet;

#[test]
fn a_header_of_a_list_is_warned_of_and_a_list_has_no_columns() {
    let folder = Folder::new("psi-header");
    let headed = folder.file("headed.txt", "email\nann@example.org\nbo@example.org\n");
    let bare = folder.file("bare.txt", "cy@example.org\nbo@example.org\n");
    let out = folder.path("out.txt");
    let (done, other) = meet(&[&headed, "--out", &out], &[&bare]);
    done.ok();
    assert!(done.err.contains("headed.txt: the first line has words without digits"), "{}", done.err);
    assert!(done.err.contains("all others have e-mail addresses"), "{}", done.err);
    other.ok();
    assert!(!other.err.contains("first line"), "{}", other.err);
    let named = ["psi", &headed, "--key", "email", "--listen", "127.0.0.1:0"];
    comity(&named).fails(2, &["headed.txt", "`email`", "--key key:STEPS", "--format csv"]);
}

#[test]
fn flags_are_as_many_as_lines() {
    let folder = Folder::new("psi-flags");
    let theirs = folder.file("theirs.txt", "2\n3\n");
    let out = folder.path("flags");
    for (name, text) in [
        ("list.txt", "\n1\n\n2\n3\n\n"),
        ("table.csv", "key\n\n1\n\n2\n3\n\n"),
        ("objects.jsonl", "\n{\"key\":1}\n\n{\"key\":2}\n{\"key\":3}\n\n"),
    ] {
        let ours = folder.file(name, text);
        let (done, other) = meet(&[&ours, "--key", "key", "--flags-only", "--out", &out], &[&theirs]);
        done.ok();
        other.ok();
        assert_eq!(fs::read_to_string(&out).unwrap(), "0\n0\n0\n1\n1\n0\n", "{name}");
    }
}

/// Where nothing is common, each side can say how its keys look, and says none of them.
#[test]
fn nothing_in_common_shows_how_keys_look() {
    let folder = Folder::new("psi-shape");
    let ours = folder.file("ours.csv", "first,born\nann,2001\nbo,1999\n");
    let theirs = folder.file("theirs.csv", "year,name\n2001,ann\n1999,bo\n");
    let out = folder.path("out.csv");
    let (done, other) =
        meet(&[&ours, "--key", "first,born", "--out", &out], &[&theirs, "--key", "year,name", "--verbose"]);
    done.ok();
    other.ok();
    let look = "column 1: 2 to 3 characters, 2 of words without digits; column 2: 4 characters each, 2 of digits alone";
    assert!(done.err.contains(&format!("keys here by first, born: {look}")), "{}", done.err);
    assert!(done.err.contains("no key is common"), "{}", done.err);
    assert!(other.err.contains("keys here by year, name: column 1: 4 characters each"), "{}", other.err);
    assert!(!done.err.contains("2001") && !other.err.contains("2001"));
    // The same is in the object, and where something is common not in the words.
    let (done, other) =
        meet(&[&ours, "--key", "first,born", "--out", &out, "--json"], &[&theirs, "--key", "year,name"]);
    assert_eq!(done.json()["keys"][0]["shape"], look);
    assert!(!other.err.contains("keys here"), "{}", other.err);
    let (done, _) = meet(&[&ours, "--key", "first", "--out", &out], &[&theirs, "--key", "name"]);
    assert!(done.err.contains("2 of 2 keys are common") && !done.err.contains("keys here"), "{}", done.err);
}

#[test]
fn what_psi_does_not_do_says_what_does() {
    let folder = Folder::new("psi-not-yet");
    let a = folder.file("a.csv", "k\n1\n");
    for flag in [&["--count"][..], &["--cardinality"], &["--sum", "amount"]] {
        comity(&[&["psi", &a, "--key", "k"], flag].concat()).fails(2, &[flag[0], "cannot give only", "way-tables"]);
    }
    comity(&["psi", &a, "b.csv", "--key", "k"]).fails(2, &["one table", "b.csv", "--connect"]);
    // What there is has none of it in its help.
    let help = comity(&["psi", "--help"]);
    assert!(help.ok().contains("oprf-aes"), "all methods are named: {}", help.out);
    assert!(!help.out.contains("--cardinality") && !help.out.contains("[OTHER]"), "{}", help.out);
}
