//! Help, completions, the man page and `comity bench`.

use crate::common::*;

const COMMANDS: [&str; 9] = ["demo", "run", "local", "eval", "circuit", "key", "bench", "completions", "man"];

#[test]
fn help_is_a_result() {
    let help = comity(&["--help"]);
    for word in COMMANDS.iter().chain(&["Examples", "Exit codes", "70"]) {
        assert!(help.ok().contains(word), "{word}");
    }
    assert_eq!(help.err, "");
    for command in COMMANDS {
        let help = comity(&[command, "--help"]);
        assert!(help.ok().contains("Usage: comity"), "{command}");
    }
    assert!(comity(&["--version"]).ok().starts_with("comity "));
    comity(&[]).fails(2, &["Usage"]);
    comity(&["evla"]).fails(2, &["eval"]);
    comity(&["eval", "aes128", "--inptu", "0"]).fails(2, &["--input"]);
}

#[test]
fn completions_and_man_come_from_the_flags() {
    for shell in ["bash", "zsh", "fish"] {
        let script = comity(&["completions", shell]);
        assert!(script.ok().contains("output-to"), "{shell}");
    }
    let man = comity(&["man"]);
    for word in ["COMITY RUN", "COMITY CIRCUIT EXPORT", "\\-\\-output\\-to", "NOTES"] {
        assert!(man.ok().contains(word), "{word}");
    }
    assert!(!man.out.contains("attached"), "a hidden flag");
}

#[test]
fn bench_measures_what_is_named() {
    let folder = Folder::new("bench");
    let file = folder.path("results.json");
    let name = "machine.memory_copy";
    let done = comity(&["bench", name, "--json", &file]);
    assert!(done.ok().contains(name));
    let results: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let first = &results[0];
    assert_eq!((&first["name"], &first["unit"]), (&name.into(), &"bytes/s".into()));
    let keys: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["ceiling", "max", "min", "name", "runs", "share", "unit", "value"]);
    assert!(first["min"].as_f64() <= first["value"].as_f64() && first["value"].as_f64() <= first["max"].as_f64());
    assert!(comity(&["bench", "--list"]).ok().contains(name));
    comity(&["bench", "machien"]).fails(2, &["machien", "--list"]);
    comity(&["bench", name, "--net", "dialup"]).fails(2, &["dialup", "wan"]);
}
