//! Values in shares, from one run into another: through files, under other protocols, at another time.

use crate::common::*;

const ADD: &str = "fn main(x: u32 from 0, y: u32 from 1) -> (sum: u32) { x + y }";
const MULTIPLY: &str = "fn main(s: u32 from 0, z: u32 from 1) -> (product: u32) { s * z }";

/// Leaves 40 + 2 shared among `parties` parties, in files of this name.
fn add(folder: &Folder, parties: &str, protocol: &str, name: &str) {
    let out = folder.path(name);
    let program = folder.file("add.cty", ADD);
    let given = ["-i", "x=40", "-i", "y=2", "--output-to", "shared", "--shares-out", &out];
    let done = comity(&[&["local", &program, "--parties", parties, "--protocol", protocol], &given[..]].concat());
    assert_eq!(done.ok(), "", "nobody learns it");
    let parties: usize = parties.parse().unwrap();
    assert!((0..parties).all(|party| std::path::Path::new(&format!("{out}.{party}")).exists()));
}

/// Multiplies what is in the files of this name by 1000.
fn multiply(folder: &Folder, parties: &str, name: &str, more: &[&str]) -> Done {
    let (program, share) = (folder.file("multiply.cty", MULTIPLY), format!("s=shared:{}", folder.path(name)));
    let given = ["local", &program, "--parties", parties, "-i", &share, "-i", "z=1000"];
    comity(&[&given[..], more].concat())
}

#[test]
fn shares_go_from_one_protocol_to_another() {
    let folder = Folder::new("shares");
    for (parties, from) in [("2", "gmw"), ("3", "gmw"), ("5", "gmw"), ("2", "yao")] {
        let name = format!("{from}{parties}");
        add(&folder, parties, from, &name);
        assert_eq!(multiply(&folder, parties, &name, &["--protocol", "gmw"]).ok(), "42000\n");
    }
    assert_eq!(multiply(&folder, "2", "gmw2", &["--protocol", "yao"]).ok(), "42000\n");
    let malicious = ["--protocol", "bmr", "--unauthenticated-shares"];
    let done = multiply(&folder, "3", "gmw3", &malicious);
    assert_eq!(done.ok(), "42000\n");
    assert!(done.err.contains("party 2: input 0 (`s`) came in as shares, which have no MACs"), "{}", done.err);
    let json = multiply(&folder, "3", "gmw3", &[&malicious[..], &["--json"]].concat());
    assert_eq!(json.json()["parties"][0]["unauthenticated_shares"], serde_json::json!([0]));
    let refused = multiply(&folder, "3", "gmw3", &malicious[..2]);
    refused.fails(2, &["input 0 (`s`) comes in as shares, which have no MACs", "--unauthenticated-shares"]);
}

#[test]
fn two_processes_pass_shares_on() {
    let folder = Folder::new("shares-run");
    let program = folder.file("both.cty", "fn main(x: u32 from 0, y: u32 from 1) -> (sum: u32, x: u32) { (x + y, x) }");
    let common = [&*program, "--protocol", "gmw", "--output-to", "sum=shared"];
    let [zero, one] = ["zero", "one"].map(|name| folder.path(name));
    let (done, other) = both(
        &common,
        &["-i", "40", "--shares-out", &format!("sum={zero}"), "--json"],
        &["-i", "2", "--shares-out", &one, "--json"],
    );
    assert_eq!(other.json()["shares"], serde_json::json!({"0": one}));
    assert_eq!(done.json()["recipients"], serde_json::json!({"sum": [], "x": [0, 1]}));
    for (party, path) in [zero.as_str(), one.as_str()].into_iter().enumerate() {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(
            text.starts_with("comity share 1\ntag ") && text.contains(&format!("\nparty {party} of 2\ntype u32\n"))
        );
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600, "a share is its owner's");
        }
    }
    let use_them = |zero: &str, one: &str| {
        let program = folder.file("multiply.cty", MULTIPLY);
        let [zero, one] = [zero, one].map(|path| format!("s=shared:{path}"));
        both(&[&program, "--protocol", "gmw"], &["-i", &zero], &["-i", &one, "-i", "z=3"])
    };
    let (done, other) = use_them(&zero, &one);
    assert_eq!((done.ok(), other.ok()), ("126\n", "126\n"));
    // Both parties with the shares of another's run: what does not belong together is found out before it is used.
    let again = folder.path("again");
    let out = ["-i", "1", "--shares-out"];
    let (done, other) = both(&common, &[&out[..], &[&again]].concat(), &[&out[..], &[&folder.path("thrown")]].concat());
    assert!(done.ok() == "x 1\n" && other.ok() == "x 1\n");
    assert!(done.err.contains(&format!("party 0: its share of output 0 (`sum`) is in {again}")), "{}", done.err);
    let (done, other) = use_them(&again, &one);
    for end in [done, other] {
        end.fails(2, &["which do not belong together", "here 0:", "at the peer 0:", "digest"]);
    }
}

#[test]
fn what_cannot_be_is_said_before_anybody_is_bothered() {
    let folder = Folder::new("shares-refused");
    add(&folder, "2", "gmw", "ok");
    let (add, out) = (folder.file("add.cty", ADD), folder.path("out"));
    let local = |more: &[&str]| comity(&[&["local", &add, "--protocol", "gmw", "-i", "1", "-i", "2"], more].concat());
    local(&["--output-to", "shared"]).fails(2, &["output 0 (`sum`) stays shared", "--shares-out 0=FILE"]);
    local(&["--shares-out", &out]).fails(2, &["no output stays shared", "--output-to OUTPUT=shared"]);
    local(&["--shares-out", &format!("sum={out}")]).fails(2, &["does not stay shared"]);
    let once = folder.path("ok");
    local(&["--output-to", "shared", "--shares-out", &once])
        .fails(2, &["exists, and may hold", "share of another value"]);
    let gone = folder.path("no/such/folder");
    local(&["--output-to", "shared", "--shares-out", &gone]).fails(2, &["cannot write"]);
    // The first one has reached nobody, and left nothing.
    assert!(!std::path::Path::new(&out).exists());

    let multiply = folder.file("multiply.cty", MULTIPLY);
    let party = |share: &str| {
        let listen = ["--listen", "127.0.0.1:0", "--protocol", "gmw"];
        comity(&[&["run", &multiply, "--party", "0", "-i", share], &listen[..]].concat())
    };
    party("shared:x").fails(2, &["NAME=shared:FILE"]);
    party("s=shared:").fails(2, &["wants one file"]);
    party(&format!("s=shared:{}", folder.path("none"))).fails(2, &["input 0 (`s`)", "none"]);
    party(&format!("s=shared:{once}.1"))
        .fails(2, &["the share belongs to party 1 of 2, and this side is party 0 of 2"]);
    let text = std::fs::read_to_string(format!("{once}.0")).unwrap();
    for (text, words) in [
        (text.replace("u32", "i32"), "line 7: the digest is not that of the lines before"),
        (text.replace("share 1\n", "share 2\n"), "line 1: the share is in the form of another version"),
        (text.repeat(2), "line 7"),
        ("40".into(), "line 1: the file is not a share of comity"),
        ("x".repeat(1 << 20), "far longer than a share of 32 bits"),
    ] {
        let path = folder.file("damaged", &text);
        party(&format!("s=shared:{path}")).fails(2, &["input 0 (`s`)", "damaged", words]);
    }
    let owner = comity(&["local", &multiply, "--protocol", "gmw", "--owner", "s=shared", "-i", "z=1"]);
    owner.fails(2, &["input 0 (`s`) comes in as shares", "--input 0=shared:FILE"]);
    comity(&["eval", &multiply, "--owner", "s=shared", "-i", "z=1"]).fails(2, &["comes in as shares"]);
    let info = comity(&["circuit", "info", &add, "--output-to", "shared", "--json"]);
    assert_eq!(info.json()["outputs"][0]["to"], "shared");
}

/// Material is made for a program whose values are shared, and used up by it.
#[test]
fn shares_and_a_store() {
    let folder = Folder::new("shares-store");
    add(&folder, "2", "gmw", "x");
    let multiply = folder.file("multiply.cty", MULTIPLY);
    let [store, other, key] = ["store", "other", "key"].map(|name| folder.path(name));
    let stores = [&store, &other].map(|store| ["--store", store, "--key-file", &key]);
    let flags = [&*multiply, "--protocol", "cutchoose", "--rho", "5"];
    let prepare = [&flags[..], &["--owner", "s=shared"]].concat();
    let listener = Listener::begin("prepare", &[&prepare[..], &["--party", "0"], &stores[0]].concat());
    let address = listener.address.clone();
    let connect = ["--party", "1", "--connect", &address];
    comity(&[&["prepare"], &prepare[..], &connect, &stores[1]].concat()).ok();
    listener.end().ok();
    let [zero, one] = [0, 1].map(|party| format!("s=shared:{}.{party}", folder.path("x")));
    let (done, other) = both(
        &[&flags[..], &["--unauthenticated-shares"]].concat(),
        &[&["-i", &zero], &stores[0][..]].concat(),
        &[&["-i", &one, "-i", "z=2"], &stores[1][..]].concat(),
    );
    assert_eq!((done.ok(), other.ok()), ("84\n", "84\n"));
}
