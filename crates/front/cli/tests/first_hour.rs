//! What people meet in their first hour: files as other programs save them, names for numbers, advice where
//! something is odd.

use serde_json::json;

use crate::common::*;

const SUMS: &str = "\
parties ann, bob;

fn main(cuts: [u8; 3] from ann, factor: f64 from bob, spare: u8 from bob) -> (sum: u8 to ann, scaled: f64) {
    (cuts[0] + cuts[1] + cuts[2], factor + 0.1)
}
";

const SUM: &str = "fn main(cuts: [u8; 3] from 0, more: u8 from 1) -> u8 { cuts[0] + cuts[1] + cuts[2] + more }\n";

#[test]
fn files_come_as_spreadsheets_and_editors_save_them() {
    let folder = Folder::new("saved");
    let program = folder.file("sum.cty", &format!("\u{feff}{}", SUM.replace('\n', "\r\n")));
    for (name, text) in [
        ("plain.csv", "1\n2\n3\n"),
        ("mark.csv", "\u{feff}1\r\n2\r\n3\r\n"),
        ("header.csv", "\u{feff}cuts\r\n1\r\n2\r\n3\r\n"),
        ("quoted.csv", "\"the cuts\"\n1\n2\n3\n"),
        ("mark.json", "\u{feff}[1, 2, 3]"),
    ] {
        let file = folder.file(name, text);
        let done = comity(&["eval", &program, "--input", &format!("@{file}"), "--input", "4"]);
        assert_eq!((done.ok(), done.err.as_str()), ("10\n", ""), "{name}");
    }
    let hex = folder.file("key.hex", &format!("\u{feff}{AES_KEY}\r\n"));
    assert_eq!(comity(&["eval", "aes128", "-i", &format!("@{hex}"), "-i", AES_BLOCK]).ok(), format!("{AES_OUT}\n"));
}

#[test]
fn a_text_is_hashed_as_it_stands() {
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n";
    assert_eq!(comity(&["eval", "sha256-3", "--input", "text:abc"]).ok(), ABC);
    let folder = Folder::new("text");
    let file = folder.file("abc.txt", "text:abc\n");
    assert_eq!(comity(&["eval", "sha256-3", "--input", &format!("@{file}")]).ok(), ABC);
    let spaces = comity(&["eval", "sha256-3", "--input", "message=text:a =", "--format", "hex"]);
    assert_eq!(spaces.ok(), comity(&["eval", "sha256-3", "--input", "61203d"]).ok());
    comity(&["eval", "sha256-3", "--input", "text:ab"]).fails(2, &["2 bytes", "has 3", "sha256-N"]);
}

#[test]
fn json_has_names_and_floats_as_they_are() {
    let folder = Folder::new("names");
    let program = folder.file("sums.cty", SUMS);
    let inputs = ["-i", "cuts=[1, 2, 3]", "-i", "factor=0.2", "-i", "spare=0", "--json"];
    let clear = comity(&[&["eval", &program][..], &inputs].concat()).json();
    assert_eq!(clear["values"], json!({"sum": 6, "scaled": 0.30000000000000004}));
    assert_eq!(clear["outputs"], json!({"0": "06", "1": "3fd3333333333334"}));
    let local = comity(&[&["local", &program][..], &inputs].concat()).json();
    assert_eq!(local["parties"][0]["values"], clear["values"]);
    assert_eq!(local["parties"][1]["values"], json!({"scaled": 0.30000000000000004}));
    assert_eq!(local["parties"][1]["recipients"], json!({"sum": [0], "scaled": [0, 1]}));
    // This one was read as another float before.
    let exact = comity(&["eval", "f64add", "-i", "3ffc71c71c71c71d", "-i", "0000000000000000", "--json"]);
    assert_eq!(
        exact.json()["values"]["result"].as_str().or(exact.json()["outputs"]["0"].as_str()),
        Some("3ffc71c71c71c71d")
    );
    let third = comity(&["eval", &program, "-i", "[1, 2, 3]", "-i", "1.6777777777777778", "-i", "0", "--json"]);
    assert!(third.ok().contains(&format!("\"scaled\":{:?}", 1.6777777777777778_f64 + 0.1)), "{}", third.out);
}

#[test]
fn what_is_missing_is_asked_for_by_name() {
    let folder = Folder::new("missing");
    let program = folder.file("sums.cty", SUMS);
    comity(&["eval", &program, "-i", "[1, 2, 3]"]).fails(2, &["--input factor=VALUE", "--input spare=VALUE"]);
    // Names that do not tell which one, or could not stand there, give way to the index.
    comity(&["eval", "xor8*2"]).fails(2, &["--input a=VALUE", "--input b=VALUE"]);
}

#[test]
fn an_unused_input_is_warned_of() {
    let folder = Folder::new("unused");
    let program = folder.file("sums.cty", SUMS);
    let inputs = ["-i", "[1, 2, 3]", "-i", "0.2", "-i", "0"];
    for command in ["eval", "local"] {
        let done = comity(&[&[command, &program][..], &inputs].concat());
        assert!(done.ok().starts_with("sum 6\n"), "{}", done.out);
        assert_eq!(done.err.matches("warning: ").count(), 1, "{}", done.err);
        assert!(done.err.contains("input 2 (`spare`) is never used"), "{}", done.err);
    }
    for command in ["info", "check"] {
        assert!(comity(&["circuit", command, &program]).err.contains("`spare`"));
    }
    assert_eq!(comity(&["eval", "add8", "-i", "01", "-i", "02"]).err, "");
}

#[test]
fn odd_netlists_are_warned_of() {
    let folder = Folder::new("odd");
    let cut = folder.file("cut.blif", ".inputs a b\n.outputs y\n.names a b y\n11 1\n");
    let empty = folder.file("empty.blif", ".inputs a b\n.outputs y\n.names a b y\n.end\n");
    let clocked = folder.file("clocked.blif", ".inputs a\n.outputs y\n.latch a y ah a 0\n.end\n");
    for (file, words) in
        [(&cut, "line 4: the file ends without `.end`"), (&empty, "line 3: the truth table of `y` has no rows")]
    {
        for command in [&["circuit", "check"][..], &["circuit", "info"], &["eval", "-i", "1", "-i", "1"]] {
            let done = comity(&[command, &[file]].concat());
            done.ok();
            assert!(done.err.contains("warning: ") && done.err.contains(words), "{}", done.err);
        }
    }
    comity(&["circuit", "check", &clocked]).fails(2, &["always @(posedge clk)"]);
}

#[test]
fn local_says_who_learns_what() {
    let folder = Folder::new("learns");
    let program = folder.file("sums.cty", SUMS);
    let done = comity(&["local", &program, "-i", "[1, 2, 3]", "-i", "0.2", "-i", "0"]);
    assert!(done.err.contains("party 0 (ann) learns `sum`, `scaled`; party 1 (bob) learns `scaled`"), "{}", done.err);
    let one = comity(&["local", "add8", "-i", "01", "-i", "02", "--output-to", "1"]);
    assert!(one.err.contains("party 0 learns nothing; party 1 learns `sum`"), "{}", one.err);
}

#[test]
fn the_list_can_be_searched() {
    let names = |word: &str| -> Vec<String> {
        let list = comity(&["circuit", "list", word]);
        list.ok()
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect()
    };
    assert!(names("sha3").contains(&"sha3-256-N".to_owned()) && !names("sha3").contains(&"aes128".to_owned()));
    assert!(names("square root").contains(&"sqrtN".to_owned()), "{:?}", names("square root"));
    assert!(names("add64").contains(&"addN".to_owned()), "{:?}", names("add64"));
    assert!(comity(&["circuit", "list", "aes", "--json"]).json().as_array().unwrap().len() < 20);
    comity(&["circuit", "list", "blowfish"]).fails(2, &["blowfish", "circuit list"]);
}

#[test]
fn a_program_of_several_calls_becomes_one_circuit() {
    let folder = Folder::new("flat");
    let text = "fn main(a: u128 from 0, b: u128 from 1) -> u128 { aes128(a, aes128(a, b)) }\n";
    let program = folder.file("twice.cty", text);
    let flat = folder.path("flat.txt");
    for text in [program.as_str(), "aes128^2"] {
        comity(&["circuit", "export", text]).fails(2, &["--flatten"]);
        comity(&["circuit", "export", text, "--flatten", "-o", &flat]).ok();
        // The key is expanded once.
        let info = comity(&["circuit", "info", &flat, "--json"]).json();
        assert_eq!((&info["and"], &info["calls"]), (&11_520.into(), &1.into()), "{text}");
    }
    let run = |program: &str| comity(&["eval", program, "-i", AES_KEY, "-i", AES_BLOCK]).ok().to_owned();
    assert_eq!(run(&flat), run("aes128^2"));
    comity(&["circuit", "export", "aes128^100000", "--flatten"]).fails(2, &["aes128^100000", "gates in all its calls"]);
}

#[test]
fn own_errors_are_coloured_like_those_of_the_command_line() {
    let run = |args: &[&str], force: bool| {
        let mut command = command(args);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        if force {
            command.env("CLICOLOR_FORCE", "1");
        }
        Done::from(command.output().unwrap()).err
    };
    let (theirs, ours) = (run(&["evla"], true), run(&["eval", "nowhere"], true));
    let begins = theirs.split_once("error:").unwrap();
    assert!(begins.0.contains('\u{1b}'), "{theirs:?}");
    let red: String = ours.chars().take_while(|&c| c != 'e').collect();
    assert!(red.contains("\u{1b}[") && red.contains("31m") && ours.contains("error:"), "{ours:?}");
    assert!(run(&["eval", "nowhere"], false).starts_with("error: "));
}

#[test]
fn a_preparation_that_is_refused_leaves_nothing() {
    let folder = Folder::new("refused");
    let (store, key) = (folder.path("store"), folder.path("store.key"));
    let base = ["prepare", "aes128", "--party", "0", "--listen", "127.0.0.1:0", "--store", &store, "--key-file", &key];
    comity(&[&base[..], &["--store-limit", "1KiB"]].concat()).fails(2, &["MiB", "the limit is 1 KiB", "--store-limit"]);
    assert!(!std::path::Path::new(&store).exists() && !std::path::Path::new(&key).exists());
    // What was there stays.
    std::fs::create_dir(&store).unwrap();
    let other = folder.file("store/other", "x");
    comity(&[&base[..], &["--store-limit", "1KiB"]].concat()).fails(2, &["--store-limit"]);
    assert!(std::path::Path::new(&other).exists());
}

#[test]
fn completions_know_protocols_built_ins_and_files() {
    let folder = Folder::new("completions");
    let script = folder.file("comity.bash", comity(&["completions", "bash"]).ok());
    folder.file("program.cty", SUM);
    let complete = |words: &[&str]| -> Vec<String> {
        let line = format!(
            "source {script}; COMP_WORDS=({}); COMP_CWORD={}; _comity comity '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2]
        );
        let Ok(done) = std::process::Command::new("bash").args(["--norc", "-c", &line]).output() else {
            return Vec::new();
        };
        String::from_utf8(done.stdout).unwrap().lines().map(str::to_owned).collect()
    };
    if std::process::Command::new("bash").arg("--version").output().is_ok() {
        let programs = complete(&["comity", "eval", "sha2"]);
        assert!(programs.contains(&"sha256".to_owned()) && !programs.contains(&"aes128".to_owned()), "{programs:?}");
        let protocols = complete(&["comity", "run", "aes128", "--protocol", "y"]);
        assert_eq!(protocols, ["yao"]);
    }
    assert!(comity(&["completions", "bash"]).ok().contains("-o default comity"), "what is no name is a file");
    assert!(comity(&["completions", "zsh"]).ok().contains("files:file:_files"));
    assert!(comity(&["completions", "fish"]).ok().contains("using_subcommand eval\" -a \"aes128"));
}
