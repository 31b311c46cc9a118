//! `comity circuit`: list, info, export, check.

use crate::common::*;

#[test]
fn the_list_names_what_there_is() {
    let list = comity(&["circuit", "list"]);
    for name in ["aes128", "aes256", "sha256", "addN"] {
        assert!(list.ok().lines().any(|line| line.split_whitespace().next() == Some(name)), "{}", list.out);
    }
    let json = comity(&["circuit", "list", "--json"]);
    assert!(json.json().as_array().unwrap().iter().any(|c| c["name"] == "aes128"));
}

#[test]
fn info_has_the_keys_of_the_contract() {
    let info = comity(&["circuit", "info", "aes128", "--json"]).json();
    let keys: Vec<&str> = info.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["and", "and_depth", "calls", "goal", "inputs", "name", "not", "notes", "outputs", "xor"]);
    assert_eq!(info["name"], "aes128");
    assert_eq!((&info["and"], &info["calls"]), (&6400.into(), &1.into()));
    let inputs = serde_json::json!([
        {"party": 0, "name": "key", "bits": 128},
        {"party": 1, "name": "block", "bits": 128}
    ]);
    assert_eq!(info["inputs"], inputs);
    assert_eq!((&info["outputs"][0]["bits"], &info["outputs"][0]["to"]), (&128.into(), &"all".into()));
    let large = comity(&["circuit", "info", "aes128*1000^1000", "--owner", "1=0", "--json"]).json();
    assert_eq!((&large["and"], &large["calls"]), (&6_400_000_000u64.into(), &1_000_000.into()));
    assert_eq!(large["inputs"][1]["party"], 0);
    let text = comity(&["circuit", "info", "aes128"]);
    for word in ["key", "block", "128", "6400", "party 0", "party 1"] {
        assert!(text.ok().contains(word), "`{word}` is not in: {}", text.out);
    }
}

#[test]
fn what_is_exported_is_read_again() {
    let folder = Folder::new("export");
    for (format, says) in [("bristol-fashion", "Bristol Fashion"), ("bristol", "Bristol")] {
        let path = folder.path(format);
        assert_eq!(comity(&["circuit", "export", "aes128", "--format", format, "-o", &path]).ok(), "");
        let stdout = comity(&["circuit", "export", "aes128", "--format", format]);
        assert_eq!(stdout.ok(), std::fs::read_to_string(&path).unwrap());
        let check = comity(&["circuit", "check", &path]);
        for word in [says, "6400", "128"] {
            assert!(check.ok().contains(word), "`{word}` is not in: {}", check.out);
        }
        assert_eq!(comity(&["circuit", "check", &path, "--json"]).json()["and"], 6400);
        let eval = comity(&["eval", &path, "-i", AES_KEY, "-i", AES_BLOCK]);
        assert_eq!(eval.ok(), format!("{AES_OUT}\n"));
    }
}

#[test]
fn a_malformed_file_is_told_with_its_line() {
    let folder = Folder::new("malformed");
    let good = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
    let path = folder.file("good.txt", good);
    comity(&["circuit", "check", &path]).ok();
    for (name, text, place, what) in [
        ("gate.txt", good.replace("AND", "NAND"), ":5:11: ", "`NAND`"),
        ("wire.txt", good.replace("0 1 2", "0 7 2"), ":5:7: ", "wire 7"),
        ("short.txt", good.replace("1 3", "2 4"), ":6: ", "after 1 gates"),
        ("empty.txt", String::new(), ":1: ", "the file ends"),
    ] {
        let path = folder.file(name, &text);
        let place = format!("{path}{place}");
        comity(&["circuit", "check", &path]).fails(2, &[&place, what]);
        comity(&["circuit", "check", &path, "--json"]).fails_json(2, "input", &[&place, what]);
        comity(&["eval", &path, "-i", "1", "-i", "1"]).fails(2, &[&place, what]);
    }
    comity(&["circuit", "check", &folder.path("missing.txt")]).fails(2, &["missing.txt"]);
    comity(&["circuit", "check", &folder.path("")]).fails(2, &["folder"]);
    comity(&["circuit", "export", "aes128*2"]).fails(2, &["holds no calls", "without `*`"]);
    comity(&["circuit", "export", "mux8", "--format", "bristol"]).fails(2, &["mux8", "two input values"]);
}
