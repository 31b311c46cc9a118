//! `comity local` and `comity demo`: one process a party under one parent.

use crate::common::*;

#[test]
fn the_demo_explains_itself() {
    let demo = comity(&["demo"]);
    let out = demo.ok();
    for word in [AES_KEY, AES_BLOCK, AES_OUT, "party 0", "party 1", "6400 AND gates in", "s over", "rounds", "kB"] {
        assert!(out.contains(word), "`{word}` is not in: {out}");
    }
    assert_eq!(demo.err, "");
    let json = comity(&["demo", "--json"]);
    assert_eq!(json.json()["parties"].as_array().unwrap().len(), 2);
}

#[test]
fn all_parties_report() {
    let args = ["local", "aes128", "--input", &format!("0={AES_KEY}"), "--input", &format!("1={AES_BLOCK}")];
    let text = comity(&args);
    assert_eq!(text.ok(), format!("{AES_OUT}\n"));
    assert_eq!(text.err, "");
    let done = comity(&[&args[..], &["--json"]].concat());
    let parties = done.json()["parties"].as_array().unwrap().clone();
    assert_eq!(parties.len(), 2);
    for (id, party) in parties.iter().enumerate() {
        assert_eq!(party["party"], id);
        assert_eq!(party["outputs"]["0"], AES_OUT);
        assert_eq!(party["program"], "aes128");
    }
}

#[test]
fn shares_compute_the_same_with_both_dealers() {
    let inputs = ["-i", "000102030405060708090a0b0c0d0e0f", "-i", "00112233445566778899aabbccddeeff"];
    for dealer in ["fast", "nnob12"] {
        let flags = ["local", "aes128", "--protocol", "tinyot", "--dealer", dealer, "--json"];
        let done = comity(&[&flags[..], &inputs].concat());
        done.ok();
        for party in done.json()["parties"].as_array().unwrap() {
            assert_eq!(party["outputs"]["0"], "69c4e0d86a7b0430d8cdb78070b4c55a");
            assert_eq!((&party["protocol"], &party["adversary"]), (&"tinyot".into(), &"malicious".into()));
            assert!(party["seconds"]["phases"]["offline"].as_f64().unwrap() > 0.0);
        }
    }
    let refused = comity(&[&["local", "aes128", "--dealer", "fast"][..], &inputs].concat());
    refused.fails(2, &["cutchoose has no option `dealer`"]);
    let refused = comity(&[&["local", "aes128", "--protocol", "tinyot", "--role", "garbler"][..], &inputs].concat());
    refused.fails(2, &["tinyot has no option `role`"]);
    // Two protocols have an option of this name: which of them is told follows from the value.
    for (value, other) in [("prepared", "mixed"), ("sbox", "tinytable-passive")] {
        let tables = format!("tables={value}");
        let refused = comity(&[&["local", "aes128", "--option", &tables][..], &inputs].concat());
        refused.fails(2, &["cutchoose has no option `tables`", &format!("Of {other} it is")]);
    }
}

#[test]
fn recipients_orders_and_formats_reach_the_children() {
    let done =
        comity(&["local", "add8", "-i", "u8:5", "-i", "dec:6", "--output-to", "1", "--format", "bits", "--json"]);
    let object = done.json();
    assert_eq!(object["parties"][0]["outputs"], serde_json::json!({}));
    assert_eq!(object["parties"][1]["outputs"], serde_json::json!({"0": "11010000"}));
    // One's most significant bit on wire 0: the adder then adds mirrored numbers.
    let mirrored = comity(&["local", "add8", "-i", "80", "-i", "40", "--bits", "msb"]);
    assert_eq!(mirrored.ok(), "c0\n");
}

#[test]
fn several_calls() {
    let (keys, blocks) = (AES_KEY.repeat(3), AES_BLOCK.repeat(3));
    let args = ["-i", &*format!("key={keys}"), "-i", &*format!("block={blocks}")];
    assert_eq!(comity(&[&["local", "aes128*3"], &args[..]].concat()).ok(), format!("{}\n", AES_OUT.repeat(3)));
    let args = ["aes128^3", "-i", &format!("0={AES_KEY}"), "-i", &format!("1={AES_BLOCK}")];
    let clear = comity(&[&["eval"], &args[..]].concat());
    assert_eq!(comity(&[&["local"], &args[..]].concat()).ok(), clear.ok());
}

#[test]
fn a_failing_child_gives_its_code_and_words() {
    let two = ["-i", &format!("0={AES_KEY}"), "-i", &format!("1={AES_BLOCK}")];
    let local = |more: &[&str]| comity(&[&["local", "aes128"], &two[..], more].concat());
    local(&["--kappa", "64"]).fails(2, &["kappa"]);
    local(&["--kappa", "64", "--json"]).fails_json(2, "input", &["kappa"]);
    local(&["--protocol", "none"]).fails(2, &["none", "yao"]);
    local(&["--owner", "1=40"]).fails(2, &["for 41 parties"]);
    local(&["--owner", "1=5", "--parties", "2"]).fails(2, &["party 5"]);
    comity(&["local", "aes128", "-i", AES_KEY]).fails(2, &["block", "missing", "party 1"]);
}

#[cfg(target_os = "linux")]
fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().map(|p| p.parse().unwrap()).collect()
}

#[cfg(target_os = "linux")]
fn runs(pid: u32) -> bool {
    // A zombie has ended; whoever inherits it may take its time.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(") Z "))
}

#[test]
#[cfg(target_os = "linux")]
fn children_do_not_outlive_their_parent_nor_each_other() {
    let long = ["local", "aes128^3000000", "-i", AES_KEY, "-i", AES_BLOCK];
    let mut parent = command(&long).spawn().unwrap();
    until("two children start", || children(parent.id()).len() == 2);
    let family = children(parent.id());
    parent.kill().unwrap();
    parent.wait().unwrap();
    until("the orphans end", || !family.iter().any(|&pid| runs(pid)));

    // One is killed while the other is stopped, and so cannot notice anything by itself.
    let mut parent = command(&long).spawn().unwrap();
    until("two children start", || children(parent.id()).len() == 2);
    let family = children(parent.id());
    for (signal, pid) in [("-STOP", family[0]), ("-KILL", family[1])] {
        assert!(std::process::Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
    }
    until("the parent ends", || parent.try_wait().unwrap().is_some());
    let done: Done = parent.wait_with_output().unwrap().into();
    done.fails(3, &["party 1", "signal"]);
    until("the sibling ends", || !family.iter().any(|&pid| runs(pid)));
}
