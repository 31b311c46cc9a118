//! Claims of the README and the book that take minutes to check: `make test-long`.

use std::process::Command;

use serde_json::Value;

const KEY: &str = "0=000102030405060708090a0b0c0d0e0f";
const BLOCK: &str = "1=00112233445566778899aabbccddeeff";

/// Runs the command on so many AES-128 encryptions in turns.
fn run(what: &[&str], times: u64) -> Value {
    let args = [&format!("aes128^{times}"), "--input", KEY, "--input", BLOCK, "--json"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_comity-book"));
    let output = command.args(what).args(args).output().expect("the command starts");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    assert!(output.status.success(), "{text}");
    serde_json::from_str(&text).expect("the command prints JSON")
}

/// The largest resident size of each party, in bytes.
fn peaks(run: &Value) -> Vec<u64> {
    let parties = run["parties"].as_array().expect("one report for each party");
    parties.iter().map(|party| party["peak_rss_bytes"].as_u64().expect("Linux tells")).collect()
}

#[test]
#[ignore = "a campaign: make test-long"]
#[cfg(target_os = "linux")]
fn a_billion_and_gates_take_no_more_memory_than_ten_million() {
    let yao = ["local", "--protocol", "yao"];
    let (small, large) = (run(&yao, 1_563), run(&yao, 156_250));
    assert_eq!(large["parties"][0]["and_gates"], 1_000_000_000);
    for (small, large) in peaks(&small).into_iter().zip(peaks(&large)) {
        assert!(large < 64 << 20, "{large} bytes");
        assert!(large < small + (4 << 20), "{small} bytes for 10^7 gates, {large} for 10^9");
    }
    let clear = run(&["eval"], 156_250);
    assert_eq!(large["parties"][0]["outputs"], clear["outputs"]);
    assert_eq!(large["parties"][1]["outputs"], clear["outputs"]);
}

#[test]
#[ignore = "a campaign: make test-long"]
#[cfg(target_os = "linux")]
fn a_hundred_million_and_gates_in_forty_copies_take_no_more_memory_than_ten_million() {
    let (small, large) = (run(&["local"], 1_563), run(&["local"], 15_625));
    assert_eq!((&large["parties"][0]["protocol"], &large["parties"][0]["rho"]), (&"cutchoose".into(), &40.into()));
    for (small, large) in peaks(&small).into_iter().zip(peaks(&large)) {
        assert!(large < small + (4 << 20), "{small} bytes for 10^7 gates, {large} for 10^8");
    }
    let clear = run(&["eval"], 15_625);
    assert_eq!(large["parties"][1]["outputs"], clear["outputs"]);
}
