//! Netlists and programs of several calls on the command line.

use crate::common::*;

fn netlist(name: &str) -> String {
    format!("{}/../../foundation/format/tests/netlists/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn netlists_run() {
    for file in ["auction.json", "auction.blif"] {
        let path = netlist(file);
        let check = comity(&["circuit", "check", &path]);
        for words in ["a netlist in ", "alice   8 bits, from party 0", "winner  1 bit"] {
            assert!(check.ok().contains(words), "`{words}` is not in: {}", check.out);
        }
        for command in ["eval", "local"] {
            let done = comity(&[command, &path, "-i", "alice=u8:40", "-i", "bob=u8:99"]);
            assert_eq!(done.ok(), "price 63\nwinner 1\n", "{command} {file}");
        }
        assert_eq!(comity(&["eval", &format!("{path}*2"), "-i", "2863", "-i", "6328"]).ok(), "price 6363\nwinner 10\n");
    }
}

#[test]
fn clock_cycles_are_counted() {
    for file in ["fibonacci.json", "fibonacci.blif"] {
        let path = netlist(file);
        let ten = comity(&["eval", &format!("{path}^11"), "-i", "hold=0", "-i", "start=u8:0"]);
        assert_eq!(ten.ok(), "value 37\nodd 1\n", "the tenth Fibonacci number is 55, {file}");
        comity(&["eval", &path, "-i", "0", "-i", "u8:0"]).fails(2, &["flip-flops", "FILE^100"]);
        comity(&["eval", &format!("{path}^2*2")]).fails(2, &["`*`", "flip-flops"]);
        let check = comity(&["circuit", "check", &path]);
        assert!(check.ok().contains("with 17 flip-flops; one clock cycle"), "{}", check.out);
        comity(&["circuit", "export", &path]).fails(2, &["17 flip-flops"]);
        let info = comity(&["circuit", "info", &format!("{path}^1000000"), "--json"]).json();
        assert_eq!(info["calls"], 1_000_000);
    }
}

#[test]
fn shdl_goes_out_and_comes_in() {
    let folder = Folder::new("shdl");
    let path = folder.path("add8.shdl");
    comity(&["circuit", "export", "add8", "--format", "shdl", "-o", &path]).ok();
    let check = comity(&["circuit", "check", &path]);
    assert!(check.ok().contains("a circuit in SHDL") && check.out.contains("7 AND"), "{}", check.out);
    assert_eq!(comity(&["eval", &path, "-i", "a=03", "-i", "b=05"]).ok(), "08\n");
    let text = std::fs::read_to_string(&path).unwrap();
    let broken = folder.file("broken.shdl", &text.replacen("[ 0 1 1 0 ]", "[ 0 1 2 0 ]", 1));
    comity(&["circuit", "check", &broken]).fails(2, &[&format!("{broken}:17:"), "the entries of a table are 0 and 1"]);
}

#[test]
fn verilog_and_unmapped_netlists_tell_what_to_run() {
    let verilog = netlist("auction.v");
    comity(&["eval", &verilog]).fails(2, &["yosys -p", "write_json"]);
    let folder = Folder::new("words");
    let text = r#"{"modules": {"m": {"cells": {"c": {"type": "$add", "connections": {"A": [2]}}}}}}"#;
    let words = folder.file("words.json", text);
    comity(&["circuit", "check", &words]).fails(2, &[&format!("{words}:1:"), "`$add`", "yosys -p"]);
    comity(&["circuit", "check", &words, "--json"]).fails_json(2, "input", &["`$add`"]);
}

#[test]
fn built_in_programs_of_several_calls() {
    let info = comity(&["circuit", "info", "aes128^1000", "--json"]).json();
    assert_eq!(info["calls"], 1000);
    comity(&["circuit", "export", "aes128^1000"]).fails(2, &["holds no calls", "without `*`"]);
}
