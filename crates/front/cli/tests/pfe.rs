//! `comity pfe`: a function that only one party knows.

use crate::common::{Done, Folder, Listener, comity};

/// Whether a number of the customer is below one of the owner.
const BELOW: &str = "fn main(x: u8 from 1, limit: u8 from 0) -> (below: bool) { x < limit }\n";

const SHAPE: &str = "u=8,v=1,gates=30";

/// A run of the owner's function, with these flags on each side: what both print.
fn both(owner: &[&str], other: &[&str]) -> [Done; 2] {
    let listener = Listener::begin("pfe", owner);
    let other = comity(&[&["pfe"][..], other, &["--connect", &listener.address]].concat());
    [listener.end(), other]
}

#[test]
fn a_function_is_computed_of_another_ones_input_under_any_protocol() {
    let folder = Folder::new("pfe");
    let below = folder.file("below.cty", BELOW);
    for protocol in ["yao", "gmw", "cutchoose", "ag", "tinyot"] {
        for (x, result) in [("dec:41", "1\n"), ("dec:42", "0\n")] {
            let common = ["--shape", SHAPE, "--protocol", protocol];
            let owner = [&["--function", &below, "--input", "limit=42"], &common[..]].concat();
            let other = [&["--input", x], &common[..]].concat();
            for done in both(&owner, &other) {
                assert_eq!(done.ok(), result, "{protocol}: {}", done.err);
            }
        }
    }
}

#[test]
fn a_function_is_computed_by_either_method_and_any_construction() {
    let folder = Folder::new("pfe-methods");
    let below = folder.file("below.cty", BELOW);
    for (flags, program, protocol) in [
        (&["--protocol", "yao"][..], "universal8x1x30", "yao-pfe"),
        (&["--method", "ot"], "direct8x1x30", "pfe-ot"),
        (&["--method", "linear"], "direct8x1x30", "pfe-linear"),
        (&["--protocol", "yao", "--construction", "valiant"], "valiant8x1x30", "yao"),
        (&["--protocol", "yao", "--construction", "hybrid"], "hybrid8x1x30", "yao"),
    ] {
        for (x, result) in [("dec:41", "1"), ("dec:42", "0")] {
            let owner = [&["--function", &below, "--input", "limit=42", "--shape", SHAPE], flags].concat();
            let other = [&["--input", x, "--shape", SHAPE, "--json"], flags].concat();
            let [ours, theirs] = both(&owner, &other);
            assert_eq!(ours.ok().trim(), result, "{flags:?}");
            let run = theirs.json();
            assert_eq!((&run["program"], &run["protocol"]), (&program.into(), &protocol.into()));
        }
    }
    let misuse = |flags: &[&str]| {
        comity(&[&["pfe", "--input", "1", "--shape", SHAPE, "--connect", "127.0.0.1:9"], flags].concat())
    };
    misuse(&["--method", "ot", "--protocol", "yao"])
        .fails(2, &["--method ot", "--protocol yao", "runs under no other"]);
    misuse(&["--method", "linear", "--protocol", "gmw"]).fails(2, &["runs under no other"]);
    misuse(&["--method", "ot", "--construction", "hybrid"]).fails(2, &["chooses a universal circuit"]);
    let shape = |method: &str| {
        let json = comity(&["pfe", "shape", "aes128", "--json", "--method", method]).json();
        json["gates"].as_u64().expect("a number")
    };
    assert!(shape("ot") < shape("uc"));
    let plan = comity(&["plan", "universal8x1x30"]);
    assert!(plan.ok().contains("yao-pfe") && !plan.ok().contains("pfe-ot"), "{}", plan.out);
    let plan = comity(&["plan", "direct8x1x30"]);
    assert!(["pfe-ot", "pfe-linear"].iter().all(|name| plan.ok().contains(name)), "{}", plan.out);
}

#[test]
fn how_often_wires_are_read_is_public_only_if_both_say_so_and_with_a_warning() {
    let folder = Folder::new("pfe-arity");
    let below = folder.file("below.cty", BELOW);
    for (more, protocol, ran) in [(&[][..], "yao", "yao-pfe"), (&["--round-up"], "ag", "ag")] {
        let shape = [&["pfe", "shape", &below, "--input", "limit=42", "--arity", "public"], more].concat();
        let shown = comity(&shape);
        assert!(shown.ok().starts_with("u=8,v=1,gates=") && shown.out.contains(",readers="), "{}", shown.out);
        assert!(shown.err.contains("shows the other side"), "{}", shown.err);
        let json = comity(&[&shape[..], &["--json"]].concat()).json();
        assert_eq!(json["readers"].as_array().unwrap().len() as u64, 8 + json["gates"].as_u64().unwrap());
        let file = folder.file("below.shape", &shown.out);
        let at = format!("@{file}");
        let common = ["--arity", "public", "--shape", &at, "--protocol", protocol];
        for (x, result) in [("dec:41", "1"), ("dec:42", "0")] {
            let owner = [&["--function", &below, "--input", "limit=42"], &common[..]].concat();
            let other = [&["--input", x, "--json", "--most-outputs", "1"], &common[..]].concat();
            let [ours, theirs] = both(&owner, &other);
            assert!(ours.ok().trim() == result && ours.err.contains("shows the other side"), "{}", ours.err);
            assert_eq!(theirs.json()["protocol"], ran);
        }
        // The terms of whoever has the input hold here, too.
        let input = |more: &[&str]| {
            let call = ["pfe", "--input", "1", "--shape", &at, "--connect", "127.0.0.1:9"];
            comity(&[&call[..], more].concat())
        };
        input(&["--arity", "public", "--most-outputs", "0"]).fails(2, &["v=1 bits", "--most-outputs allows 0"]);
        input(&["--arity", "public", "--runs", "2", "--most-outputs", "1"]).fails(2, &["runs: 2"]);
        input(&[]).fails(2, &["say --arity public"]);
        // The file is a program as any other, and the function a value of it.
        let bits = folder.path("below.bits");
        let written = ["pfe", "program", &below, "--input", "limit=42", "--arity", "public", "--shape", &at];
        let written = comity(&[&written[..], &["--out", &bits]].concat());
        assert!(written.ok().is_empty() && written.err.contains("shows the other side"), "{}", written.err);
        let function = format!("function=@{bits}");
        assert_eq!(comity(&["eval", &file, "--input", &function, "--input", "x=dec:7"]).ok(), "1\n");
        assert!(comity(&["plan", &file]).ok().contains("yao-pfe"));
    }
    let misuse = |shape: &str, more: &[&str]| {
        let call = ["pfe", "--input", "1", "--arity", "public", "--shape", shape, "--connect", "127.0.0.1:9"];
        comity(&[&call[..], more].concat())
    };
    let file = format!("@{}", folder.path("below.shape"));
    misuse(SHAPE, &[]).fails(2, &["a number for each wire"]);
    misuse(&file, &["--method", "ot"]).fails(2, &["leave --method and --construction out"]);
    misuse(&file, &["--construction", "hybrid"]).fails(2, &["leave --method and --construction out"]);
    misuse(&format!("@{below}"), &[]).fails(2, &["ends in .shape"]);
    let broken = format!("@{}", folder.file("broken.shape", "u=8,v=1,gates=2,readers=1*9"));
    misuse(&broken, &[]).fails(2, &["broken.shape", "readers of 9 wires"]);
    let small = format!("@{}", folder.file("small.shape", "u=8,v=1,gates=30,readers=1*38"));
    let owner = ["pfe", "--function", &below, "--input", "limit=42", "--arity", "public", "--shape", &small];
    comity(&[&owner[..], &["--connect", "127.0.0.1:9"]].concat())
        .fails(2, &["of the function has", "the shape allows 1"]);
}

/// The other side's terms: in each run the function may be the identity.
#[test]
fn whoever_has_the_input_bounds_what_all_runs_may_tell_of_it() {
    let folder = Folder::new("pfe-terms");
    let below = folder.file("below.cty", BELOW);
    let input = |more: &[&str]| {
        comity(&[&["pfe", "--input", "1", "--shape", SHAPE, "--connect", "127.0.0.1:9"], more].concat())
    };
    input(&["--most-outputs", "0"]).fails(2, &["v=1 bits", "--most-outputs allows 0"]);
    input(&["--runs", "3", "--most-outputs", "2"]).fails(2, &["runs: 3", "--most-outputs allows 2"]);
    input(&["--runs", "0"]).fails(2, &["--runs"]);
    input(&["--runs", "2", "--output", &folder.path("result")]).fails(2, &["one run"]);
    let common = ["--shape", SHAPE, "--protocol", "yao"];
    let owner = [&["--function", &below, "--input", "limit=42"], &common[..]].concat();
    let terms = [&["--input", "dec:7", "--most-outputs", "1"], &common[..]].concat();
    for done in both(&owner, &terms) {
        assert_eq!(done.ok(), "1\n");
    }
    // As many as are allowed, called one after another at a place that stays open, however slow one side is.
    let runs = ["--runs", "3"];
    let owner = [&["--function", &below, "--input", "limit=42"], &common[..], &runs].concat();
    let terms = [&["--input", "dec:7", "--most-outputs", "3"], &common[..], &runs].concat();
    for done in both(&owner, &terms) {
        assert_eq!(done.ok(), "1\n1\n1\n");
    }
}

/// The second run of `linear` sends no points: 32 bytes for each place and source.
#[test]
fn points_of_a_linear_run_serve_the_next_ones() {
    let folder = Folder::new("pfe-again");
    let below = folder.file("below.cty", BELOW);
    let common = ["--shape", SHAPE, "--method", "linear", "--runs", "3"];
    let owner = [&["--function", &below, "--input", "limit=42"], &common[..]].concat();
    let [ours, theirs] = both(&owner, &[&["--input", "dec:7", "--json"], &common[..]].concat());
    assert_eq!(ours.ok(), "1\n1\n1\n");
    let sent: Vec<[u64; 2]> = theirs
        .ok()
        .lines()
        .map(|run| serde_json::from_str::<serde_json::Value>(run).expect("an object a run"))
        .map(|run| ["sent", "received"].map(|way| run["bytes"][way].as_u64().expect("a number")))
        .collect();
    let saved = [32 * (8 + 30), 32 * (2 * 30 + 1)];
    assert_eq!(sent[1], [0, 1].map(|way| sent[0][way] - saved[way]));
    assert_eq!(sent[2], sent[1]);
}

#[test]
fn who_learns_the_result_is_agreed_on_and_json_is_that_of_a_run() {
    let folder = Folder::new("pfe-json");
    let below = folder.file("below.cty", BELOW);
    let common = ["--shape", SHAPE, "--output-to", "1", "--protocol", "yao"];
    let owner = [&["--function", &below, "--input", "limit=42"], &common[..]].concat();
    let [ours, theirs] = both(&owner, &[&["--input", "dec:7", "--json"], &common[..]].concat());
    assert_eq!(ours.ok(), "");
    let run = theirs.json();
    assert_eq!((&run["program"], &run["outputs"]["0"]), (&"universal8x1x30".into(), &"1".into()));
    let alone = ["--input", "dec:7", "--shape", SHAPE, "--protocol", "yao"];
    for done in both(&owner, &alone) {
        done.fails(2, &["outputs"]);
    }
}

#[test]
fn a_shape_says_no_more_than_three_numbers() {
    let folder = Folder::new("pfe-shape");
    let below = folder.file("below.cty", BELOW);
    let shape = comity(&["pfe", "shape", &below, "--input", "limit=42"]);
    let gates: u64 =
        shape.ok().trim().strip_prefix("u=8,v=1,gates=").expect("three numbers").parse().expect("a number");
    assert!(shape.err.contains("`x` of 8 bits") && shape.err.contains("that is for its owner alone"), "{}", shape.err);
    let json = comity(&["pfe", "shape", &below, "--input", "limit=42", "--json"]).json();
    assert_eq!(json, serde_json::json!({"u": 8, "v": 1, "gates": gates}));
    // Without the value it is the other side's.
    assert!(comity(&["pfe", "shape", &below]).ok().starts_with("u=16,v=1,"));
    let rounded = comity(&["pfe", "shape", "aes128", "--round-up", "--json"]).json()["gates"].as_u64().unwrap();
    let exact = comity(&["pfe", "shape", "aes128", "--json"]).json()["gates"].as_u64().unwrap();
    assert!(exact < rounded && rounded <= exact + exact / 8 && rounded.trailing_zeros() > 8, "{exact}, {rounded}");
}

#[test]
fn a_function_is_a_value_that_other_commands_take() {
    let folder = Folder::new("pfe-program");
    let (below, bits) = (folder.file("below.cty", BELOW), folder.path("below.bits"));
    comity(&["pfe", "program", &below, "--input", "limit=42", "--shape", SHAPE, "--out", &bits]).ok();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&bits).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // A pipe is written to, and no file put in its place.
    let written = std::fs::read_to_string(&bits).unwrap();
    let piped = comity(&["pfe", "program", &below, "--input", "limit=42", "--shape", SHAPE, "--out", "/dev/stdout"]);
    assert_eq!(piped.ok(), written);
    let nowhere = folder.path("no folder/below.bits");
    comity(&["pfe", "program", &below, "--input", "limit=42", "--shape", SHAPE, "--out", &nowhere])
        .fails(2, &["no folder", "cannot write"]);
    let function = format!("function=@{bits}");
    for (x, result) in [("x=dec:41", "1\n"), ("x=dec:42", "0\n")] {
        assert_eq!(comity(&["eval", "universal8x1x30", "--input", &function, "--input", x]).ok(), result);
    }
}

#[test]
fn what_does_not_fit_is_said_before_anybody_is_called() {
    let folder = Folder::new("pfe-misuse");
    let below = folder.file("below.cty", BELOW);
    let owner = |more: &[&str]| comity(&[&["pfe", "--function", &below, "--connect", "127.0.0.1:9"], more].concat());
    owner(&["--shape", SHAPE]).fails(2, &["the function has 16 input bits, and the shape has 8"]);
    owner(&["--shape", "u=8,v=2,gates=30", "--input", "limit=1"]).fails(2, &["1 output bits, and the shape has 2"]);
    owner(&["--shape", "u=8,v=1,gates=3", "--input", "limit=42"])
        .fails(2, &["gates with copies", "more than the shape's 3"]);
    owner(&["--shape", SHAPE, "--input", "42"]).fails(2, &["--input NAME=VALUE"]);
    owner(&["--shape", SHAPE, "--input", "limit=1", "--input", "1=2"]).fails(2, &["given twice"]);
    owner(&["--input", "limit=42"]).fails(2, &["which shape", "comity pfe shape"]);
    for (shape, why) in [
        ("8x1x30", "written as u=96"),
        ("u=8,v=1", "needs all of u, v and gates"),
        ("u=8,v=1,u=8", "given twice"),
        ("u=8,v=0,gates=3", "v is a number from 1"),
        ("u=8,v=1,gates=9999999999", "gates is a number from 1"),
        ("u=8,v=1,copies=1", "a shape has no part `copies`"),
    ] {
        owner(&["--shape", shape]).fails(2, &[why]);
    }
    let all_known = ["--input", "limit=1", "--input", "x=1"];
    comity(&[&["pfe", "shape", &below], &all_known[..]].concat()).fails(2, &["input bits that are not known"]);
    let [ours, theirs] = both(
        &["--function", &below, "--input", "limit=42", "--shape", SHAPE],
        &["--input", "dec:7", "--shape", "u=8,v=1,gates=31"],
    );
    for done in [ours, theirs] {
        done.fails(2, &["universal8x1x3"]);
    }
}
