//! `comity plan`: what a run would cost, and pictures of it.

use crate::common::*;

#[test]
fn a_plan_is_what_a_run_sends() {
    let inputs = ["-i", AES_KEY, "-i", AES_BLOCK, "--json"];
    for protocol in ["yao", "gmw"] {
        let plan = comity(&["plan", "aes128", "--protocol", protocol, "--json"]).json();
        let planned = &plan["plans"][0];
        assert_eq!((&planned["protocol"], &planned["exact"]), (&protocol.into(), &true.into()));
        let run = comity(&[&["local", "aes128", "--protocol", protocol][..], &inputs].concat()).json();
        for party in 0..2 {
            let report = &run["parties"][party];
            assert_eq!(
                (&planned["bytes"][party], &planned["rounds"][party]),
                (&report["bytes"]["sent"], &report["rounds"])
            );
            assert_eq!(planned["and_gates"], report["and_gates"]);
        }
    }
}

#[test]
fn all_that_can_run_it_are_planned() {
    let names = |args: &[&str]| -> Vec<String> {
        let plan = comity(&[&["plan"], args, &["--json"]].concat()).json();
        plan["plans"].as_array().unwrap().iter().map(|plan| plan["protocol"].as_str().unwrap().to_owned()).collect()
    };
    let two = names(&["aes128"]);
    assert!(["cutchoose", "ag", "yao", "gmw"].iter().all(|name| two.contains(&(*name).to_owned())), "{two:?}");
    let three = names(&["aes128", "--parties", "3"]);
    assert!(three.contains(&"bmr".to_owned()) && !three.contains(&"yao".to_owned()), "{three:?}");
    let text = comity(&["plan", "aes128"]);
    for words in ["cutchoose         malicious", "yao               semi-honest", "1 run of copies, up to", "~"] {
        assert!(text.ok().contains(words), "`{words}` is not in: {}", text.out);
    }
    assert!(text.err.contains("estimate"));
}

#[test]
fn networks_options_and_mistakes() {
    let seconds = |net: &str| {
        let plan = comity(&["plan", "mul64", "--protocol", "gmw", "--net", net, "--json"]).json();
        plan["plans"][0]["seconds"].as_f64().unwrap()
    };
    assert!(seconds("wan") > 10.0 * seconds("lan"));
    assert!(seconds("1ms,1kbit") > 100.0 * seconds("1ms,1gbit"));
    let bytes = |option: &str| {
        let plan = comity(&["plan", "mul64", "--protocol", "gmw", "--option", option, "--json"]).json();
        plan["plans"][0]["bytes"][0].as_u64().unwrap()
    };
    assert!(bytes("dealer=iknp") > bytes("dealer=softspoken"));
    // Party 0 sends all rows to each, and the others their shares: of gates, and of the bits of outputs.
    let collected = ["plan", "aes128", "--parties", "3", "--protocol", "bmr", "--option", "opener=collector", "--json"];
    let collected = comity(&collected).json();
    let sent: Vec<u64> = (0..3).map(|party| collected["plans"][0]["bytes"][party].as_u64().unwrap()).collect();
    assert!(sent[1] == sent[2] && sent[0] == sent[1] + (6_400 * 64 + 128 * 32) * 3, "{sent:?}");
    comity(&["plan", "aes128", "--net", "dialup"]).fails(2, &["dialup", "wan"]);
    comity(&["plan", "aes128", "--protocol", "yoa"]).fails(2, &["yoa", "yao"]);
    comity(&["plan", "aes128", "--protocol", "yao", "--parties", "3"]).fails(2, &["yao is for two parties"]);
    comity(&["plan", "aes128", "--option", "dealer=iknp"]).fails(2, &["--protocol"]);
    comity(&["plan", "nowhere.cty"]).fails(2, &["nowhere.cty"]);
}

#[test]
fn the_cheapest_against_cheats_is_named() {
    let cheapest = |program: &str, net: &str| {
        comity(&["plan", program, "--net", net, "--json"]).json()["cheapest_malicious"].clone()
    };
    // Where waits are dear, and where bytes are; and where neither is, the one with less work for a large program.
    assert_eq!(cheapest("aes128", "1s,10gbit")["seconds"], serde_json::json!(["cutchoose"]));
    let narrow = cheapest("aes128*1000", "1us,10mbit");
    assert!(!narrow["seconds"].as_array().unwrap().contains(&"cutchoose".into()), "{narrow}");
    assert_eq!([&narrow["bytes"], &narrow["rounds"]], ["tinyot", "cutchoose"]);
    assert_eq!(cheapest("aes128*1000", "1us,1000gbit")["seconds"][0], "cutchoose");
    let text = comity(&["plan", "aes128", "--net", "1s,10gbit"]);
    assert!(text.ok().ends_with("soonest on this network: cutchoose\n"), "{}", text.out);
    // Nothing to choose from.
    let one = comity(&["plan", "aes128", "--protocol", "ag", "--json"]).json();
    assert!(one["cheapest_malicious"].is_null());
    assert!(!comity(&["plan", "aes128", "--protocol", "ag"]).ok().contains("soonest"));
}

#[test]
fn a_plan_is_drawn() {
    let folder = Folder::new("plan");
    let file = folder.path("plan.svg");
    comity(&["plan", "aes128", "--plot", &file]).ok();
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    let protocols = comity(&["plan", "aes128", "--json"]).json()["plans"].as_array().unwrap().len();
    // A bar for each, and a curve for each over bandwidth and over round trips.
    assert_eq!((svg.matches("<rect x=").count(), svg.matches("<polyline").count()), (protocols, 2 * protocols));
    comity(&["plan", "aes128", "--plot", "no/such/plan.svg"]).fails(2, &["no/such/plan.svg"]);
    let bars = folder.path("bench.svg");
    comity(&["bench", "machine.memory_copy", "--plot", &bars]).ok();
    assert!(std::fs::read_to_string(&bars).unwrap().contains("<rect x="));
}

#[test]
fn columns_stay_apart_for_large_numbers() {
    let cells = |program: &str| {
        let plan = comity(&["plan", program, "--protocol", "bmr"]);
        let line = plan.ok().lines().nth(1).unwrap().to_owned();
        line.split_whitespace().count()
    };
    // The number of lots in a store has an s more or less, but no more words.
    assert_eq!(cells("aes128*10000000"), cells("aes128*2"));
}

#[test]
fn forms_are_planned_by_the_line_beside_the_pure_ones() {
    let folder = Folder::new("plan-forms");
    let (program, file) = (folder.path("near.cty"), folder.path("forms.txt"));
    let source = "fn main(x: [u64; 40] from 0, y: [u64; 40] from 1) -> bool {
    let mut s = 0;
    for i in 0..40 { s += x[i] * y[i]; }
    s < 1000
}
";
    std::fs::write(&program, source).unwrap();
    std::fs::write(&file, "# all of it\n3 mul yao\n4 boolean\n").unwrap();
    let plan = |args: &[&str]| {
        let all = [&["plan", &program, "--protocol", "mixed", "--net", "1ms,10mbit"], args, &["--json"]].concat();
        comity(&all).json()["plans"][0].clone()
    };
    let chosen = plan(&[]);
    let lines: Vec<(u64, String, String, u64)> = chosen["lines"].as_array().unwrap().iter().map(form).collect();
    let of = |line: u64, name: &str| lines.iter().find(|of| (of.0, &*of.1) == (line, name)).unwrap();
    assert_eq!((&*of(3, "mul").2, of(3, "mul").3), ("arithmetic", 40), "{lines:?}");
    assert_eq!(&of(4, "less").2, "yao", "{lines:?}");
    let others = chosen["others"].as_array().unwrap();
    let names: Vec<&str> = others.iter().map(|other| other["value"].as_str().unwrap()).collect();
    assert_eq!(names, ["arithmetic", "boolean", "yao"]);
    assert!(others.iter().all(|other| chosen["seconds"].as_f64() <= other["seconds"].as_f64()), "{chosen}");
    // What a run from a store uses up, all of it: the chosen forms take triples of words, and OTs for the comparison.
    let materials = |plan: &serde_json::Value| -> Vec<(String, u64)> {
        let all = plan["materials"].as_array().unwrap().iter();
        all.map(|of| (of["name"].as_str().unwrap().to_owned(), of["amount"].as_u64().unwrap())).collect()
    };
    let names: Vec<String> = materials(&chosen).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["word triples", "OTs from party 0"]);
    assert!(materials(&chosen).iter().all(|(_, amount)| *amount >= 40));
    let filed = plan(&["--option", &format!("sharing={file}")]);
    let lines: Vec<(u64, String, String, u64)> = filed["lines"].as_array().unwrap().iter().map(form).collect();
    assert!(lines.iter().all(|of| of.1 != "mul" || of.2 == "yao"), "{lines:?}");
    assert!(lines.iter().all(|of| of.0 != 4 || of.2 == "boolean"), "{lines:?}");
    let text = comity(&["plan", &program, "--protocol", "mixed", "--net", "1ms,10mbit"]);
    for words in ["line operation", "3 mul", "arithmetic", "sharing=boolean", "this plan"] {
        assert!(text.ok().contains(words), "`{words}` is not in: {}", text.out);
    }
    // Without a name, the plan of each is one line.
    assert!(!comity(&["plan", &program]).ok().contains("line operation"));
    std::fs::write(&file, "4 words\n").unwrap();
    let refused =
        |value: &str| comity(&["plan", &program, "--protocol", "mixed", "--option", &format!("sharing={value}")]);
    refused(&file).fails(2, &["line 1 of the plan: `words` is not a form"]);
    refused(&folder.path("nowhere.txt")).fails(2, &["auto, yao, boolean, arithmetic", "no such file"]);
}

/// Line, operation, form, and how often.
fn form(line: &serde_json::Value) -> (u64, String, String, u64) {
    let text = |name: &str| line[name].as_str().unwrap().to_owned();
    (line["line"].as_u64().unwrap(), text("operation"), text("form"), line["times"].as_u64().unwrap())
}
