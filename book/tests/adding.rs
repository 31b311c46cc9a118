//! A protocol that is on the list is everywhere: `sum`, after its three edits.

use std::process::Command;

use serde_json::Value;

/// The command with `sum` on its list.
pub(crate) fn with_sum() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_comity-book"));
    command.env("COMITY_BOOK_SUM", "1");
    command
}

fn sum(args: &[&str]) -> String {
    let output = with_sum().args(args).output().expect("the command starts");
    let text = String::from_utf8(output.stdout).expect("it prints UTF-8");
    assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn it_is_listed_helped_completed_and_described() {
    assert!(sum(&["protocols"]).lines().any(|line| line.starts_with("sum ") && line.contains("semi-honest")));
    assert!(sum(&["protocols", "sum"]).contains("without AND gates"));
    let all: Value = serde_json::from_str(&sum(&["protocols", "--json"])).expect("JSON");
    let card = all.as_array().expect("a list").iter().find(|card| card["name"] == "sum").expect("it is listed");
    assert_eq!((&card["kind"], &card["parties"]), (&"protocol".into(), &serde_json::json!([2, 64])));
    for command in ["run", "local", "prepare", "repl"] {
        assert!(sum(&[command, "--help"]).contains("sum"), "{command}");
    }
    let names: Vec<&str> = comity::PROTOCOLS.iter().map(|protocol| protocol.card().name).collect();
    assert!(sum(&["completions", "bash"]).contains(&format!("{} sum", names.join(" "))));
    assert!(sum(&["man"]).contains("sum"));
}

#[test]
fn it_runs_and_its_name_is_in_the_hello() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join("parity.cty");
    std::fs::write(&program, "fn main(a: u8 from 0, b: u8 from 1) -> u8 { a ^ b }\n").expect("a file is written");
    let program = program.to_str().expect("a path in UTF-8");
    let run = sum(&["local", program, "--protocol", "sum", "-i", "a=12", "-i", "b=10", "--json", "--timeout", "600"]);
    let run: Value = serde_json::from_str(&run).expect("JSON");
    for party in run["parties"].as_array().expect("two parties") {
        assert_eq!((&party["protocol"], &party["values"]["result"]), (&"sum".into(), &6.into()), "{party}");
    }
    for of in [&["plan", program, "--json"][..], &["plan", program, "--protocol", "sum", "--json"]] {
        assert!(sum(of).contains("\"sum\""), "a plan has what is on the list");
    }
    let refused = with_sum()
        .args(["local", "add8", "--protocol", "sum", "-i", "u8:1", "-i", "u8:2", "--json"])
        .output()
        .expect("the command starts");
    let text = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(refused.status.code() == Some(2) && text.contains("without AND gates"), "{text}");
}
