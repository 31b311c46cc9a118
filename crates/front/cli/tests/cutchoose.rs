//! The default protocol on the command line: roles, recipients, parameters, and what is said about them.

use crate::common::*;

const KEY: [&str; 2] = ["--input", AES_KEY];
const BLOCK: [&str; 2] = ["--input", AES_BLOCK];

#[test]
fn either_party_garbles_and_anybody_learns() {
    for (role, other) in [("garbler", "evaluator"), ("evaluator", "garbler")] {
        for to in ["0", "1", "all"] {
            let shared = ["aes128", "--rho", "6", "--output-to", to, "--json"];
            let (a, b) =
                both(&shared, &[&KEY[..], &["--role", role]].concat(), &[&BLOCK[..], &["--role", other]].concat());
            a.ok();
            b.ok();
            for (id, party) in [("0", a.json()), ("1", b.json())] {
                let learns = to == "all" || to == id;
                let outputs = if learns { serde_json::json!({"0": AES_OUT}) } else { serde_json::json!({}) };
                assert_eq!(party["outputs"], outputs, "party {id}, {role}, to {to}");
                assert_eq!((&party["rho"], &party["adversary"]), (&6.into(), &"malicious".into()));
                let sends = party["bytes"]["sent"].as_u64() > party["bytes"]["received"].as_u64();
                assert_eq!(sends, (id == "0") == (role == "garbler"), "the garbler sends the circuits");
            }
        }
    }
}

#[test]
fn local_gives_party_0_its_role_and_party_1_the_other() {
    for (role, garbler) in [("garbler", 0), ("evaluator", 1)] {
        let done = comity(&["local", "add64", "-i", "u64:40", "-i", "u64:2", "--rho", "5", "--role", role, "--json"]);
        let object = done.json();
        for (id, party) in object["parties"].as_array().unwrap().iter().enumerate() {
            assert_eq!(party["outputs"]["0"], "000000000000002a");
            let sends = party["bytes"]["sent"].as_u64() > party["bytes"]["received"].as_u64();
            assert_eq!(sends, id == garbler);
        }
    }
}

#[test]
fn small_and_large_numbers_of_copies() {
    for rho in ["1", "2", "64", "128"] {
        let done = comity(&["local", "add8", "-i", "u8:40", "-i", "u8:2", "--rho", rho]);
        assert_eq!(done.ok(), "2a\n", "{rho}");
    }
    for rho in ["0", "129"] {
        comity(&["local", "add8", "-i", "u8:40", "-i", "u8:2", "--rho", rho]).fails(2, &["rho", rho, "1 to 128"]);
    }
}

#[test]
fn different_wishes_are_told_on_both_sides() {
    let disagree = |shared: &[&str], a: &[&str], b: &[&str], words: &[&str]| {
        let (a, b) = both(shared, &[&KEY[..], a].concat(), &[&BLOCK[..], b].concat());
        a.fails(2, words);
        b.fails(2, words);
    };
    let (garbler, evaluator) = (["--role", "garbler"], ["--role", "evaluator"]);
    disagree(&["aes128"], &garbler, &garbler, &["garbler", "here party", "party 0", "party 1"]);
    disagree(&["aes128"], &evaluator, &evaluator, &["garbler", "party 0", "party 1"]);
    disagree(&["aes128"], &["--protocol", "yao"], &[], &["protocol", "yao", "cutchoose"]);
    disagree(&["aes128"], &["--rho", "30"], &[], &["rho", "30", "40"]);
}

#[test]
fn both_parties_say_which_garbling_it_is_and_the_report_has_it() {
    let add = ["local", "add8", "-i", "u8:40", "-i", "u8:2", "--json", "--protocol"];
    for (flags, garbling, assumption) in [
        (&["yao"][..], "half-gates", "AES-128 is an ideal cipher"),
        (&["yao", "--garbling", "three-halves"], "three-halves", "AES-128 is an ideal cipher"),
        (&["yao", "--option", "garbling=standard"], "standard", "AES-128 is a pseudorandom function"),
    ] {
        for report in comity(&[&add[..], flags].concat()).json()["parties"].as_array().unwrap() {
            assert_eq!((&report["outputs"]["0"], &report["garbling"]), (&"2a".into(), &garbling.into()));
            assert_eq!((&report["assumption"], &report["options"]["garbling"]), (&assumption.into(), &garbling.into()));
        }
    }
    assert!(comity(&[&add[..], &["cutchoose"]].concat()).json()["parties"][0].get("assumption").is_none());
    let yao = ["--protocol", "yao"];
    let standard = [&KEY[..], &["--garbling", "standard"]].concat();
    let (a, b) = both(&[&["aes128"], &yao[..]].concat(), &standard, &BLOCK);
    a.fails(2, &["disagree on the garbling: here standard, at the peer half-gates"]);
    b.fails(2, &["disagree on the garbling: here half-gates, at the peer standard"]);
}

#[test]
fn a_garbling_is_refused_in_words_where_there_is_one_alone() {
    for protocol in ["cutchoose", "ag", "bmr", "tinyot", "gmw"] {
        let run = ["local", "add8", "-i", "u8:40", "-i", "u8:2", "--protocol", protocol, "--option"];
        comity(&[&run[..], &["garbling=standard"]].concat()).fails(
            2,
            &[
                &format!("{protocol} has no option `garbling`"),
                "Of yao it is",
                "cutchoose and nisc, which garble many copies in lockstep, have half-gates only",
            ],
        );
    }
}

#[test]
fn a_role_belongs_to_the_protocol_that_has_one() {
    let gmw = ["--protocol", "gmw", "--role", "garbler"];
    comity(&[&["local", "add8", "-i", "u8:40", "-i", "u8:2"], &gmw[..]].concat())
        .fails(2, &["gmw has no option `role`"]);
    comity(&["local", "add8", "-i", "u8:40", "-i", "u8:2", "--role", "both"]).fails(2, &["garbler", "evaluator"]);
}

#[test]
fn a_profile_tells_where_the_time_went() {
    let done = comity(&["local", "add64", "-i", "u64:40", "-i", "u64:2", "--rho", "5", "-v"]);
    assert_eq!(done.ok(), "000000000000002a\n");
    for party in ["party 0", "party 1"] {
        let from = done.err.find(&format!("{party}: 63 AND gates")).unwrap_or_else(|| panic!("{}", done.err));
        let mut lines = done.err[from..].lines();
        assert!(lines.next().unwrap().contains("rounds"), "{}", done.err);
        for phase in ["hello", "setup", "inputs", "gates", "outputs", "checks"] {
            let line = lines.next().unwrap();
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(matches!(words[..], [name, _, "ms" | "s", _, "%"] if name == phase), "{line}");
        }
    }
}

#[test]
fn help_says_what_is_promised_and_what_is_not() {
    for command in ["run", "local"] {
        let help = comity(&[command, "--help"]);
        for word in ["cutchoose", "yao", "malicious", "semi-honest", "fairness", "audited", "--role", "--output-to"] {
            assert!(help.ok().contains(word), "`{word}` is not in: {}", help.out);
        }
    }
}

/// One party is killed while gates are computed: the other one says so, and leaves nothing behind.
#[test]
fn a_killed_peer_is_noticed_by_either_role() {
    for role in ["garbler", "evaluator"] {
        let other = if role == "garbler" { "evaluator" } else { "garbler" };
        let folder = Folder::new(&format!("killed-{role}"));
        let output = folder.path("result");
        let program = "aes128^3000000";
        let mut listener = Listener::start(&[program, "--party", "0", "--input", AES_KEY, "--role", other]);
        let between = Between::before(&listener.address);
        let address = between.address.clone();
        let args = ["run", program, "--party", "1", "--connect", &address, "--input", AES_BLOCK, "--role", role];
        let mut peer = command(&[&args[..], &["--output", &output]].concat()).spawn().unwrap();
        between.until(FAR);
        assert!(peer.try_wait().unwrap().is_none(), "it is still at work");
        listener.kill();
        let peer: Done = peer.wait_with_output().unwrap().into();
        peer.fails(3, &["closed"]);
        assert!(!std::path::Path::new(&output).exists());
    }
}

/// Ten times as many gates take no more memory.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_gates() {
    let peaks = |times: u64| -> Vec<u64> {
        let program = format!("aes128^{times}");
        let done = comity(&["local", &program, "-i", AES_KEY, "-i", AES_BLOCK, "--rho", "8", "--json"]);
        done.ok();
        let clear = comity(&["eval", &program, "-i", AES_KEY, "-i", AES_BLOCK, "--json"]);
        let object = done.json();
        let parties = object["parties"].as_array().unwrap();
        for party in parties {
            assert_eq!(party["and_gates"], 6400 * times);
            assert_eq!(party["outputs"], clear.json()["outputs"]);
        }
        parties.iter().map(|party| party["peak_rss_bytes"].as_u64().unwrap()).collect()
    };
    for (small, large) in peaks(62).into_iter().zip(peaks(625)) {
        assert!(large < small + (4 << 20), "{small} bytes for 0.4 million gates, {large} for 4 million");
    }
}

#[test]
fn coded_circuits_take_half_the_bytes_and_both_parties_say_so() {
    let sent = |flags: &[&str]| {
        let run = ["local", "mul64", "-i", "u64:6", "-i", "u64:7", "--output-to", "1", "--role", "garbler", "--json"];
        let object = comity(&[&run[..], flags].concat()).json();
        assert_eq!(object["parties"][1]["outputs"]["0"], "000000000000002a");
        object["parties"][0]["bytes"]["sent"].as_u64().unwrap()
    };
    let (all, coded) = (sent(&[]), sent(&["--coded"]));
    // 2,142 AND gates are half of what is sent.
    assert!(4 * coded < 3 * all, "{coded} of {all}");
    let (a, b) = both(&["aes128"], &[&KEY[..], &["--coded"]].concat(), &BLOCK);
    a.fails(2, &["disagree on the coded: here yes, at the peer no"]);
    b.fails(2, &["disagree on the coded: here no, at the peer yes"]);
    comity(&["local", "add8", "-i", "u8:4", "-i", "u8:2", "--protocol", "yao", "--coded"]).fails(2, &["coded"]);
}
