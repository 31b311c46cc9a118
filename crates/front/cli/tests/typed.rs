//! Programs in comity's language, and values of their types, in and out.

use crate::common::*;
use serde_json::json;

const AUCTION: &str = "\
parties alice, bob;

struct Bid { price: u32, item: i8 }

fn main(bids: [Bid; 2] from alice, limit: u64 from bob) -> (best: Bid to all, below: bool to all, large: u64 to all) {
    let best = if bids[0].price > bids[1].price { bids[0] } else { bids[1] };
    (best, (best.price as u64) < limit, limit)
}
";

#[test]
fn typed_values_go_in_and_come_out() {
    let folder = Folder::new("auction");
    let program = folder.file("auction.cty", AUCTION);
    let info = comity(&["circuit", "info", &program]);
    for words in
        ["bids   [Bid {price: u32, item: i8}; 2] (80 bits), from party 0 (alice)", "u64 (64 bits), from party 1 (bob)"]
    {
        assert!(info.ok().contains(words), "`{words}` is not in: {}", info.out);
    }
    let info = comity(&["circuit", "info", &program, "--json"]).json();
    assert_eq!(info["inputs"][1], json!({"party": 1, "name": "limit", "bits": 64, "type": "u64"}));
    comity(&["circuit", "check", &program]).ok();

    let table = folder.file("bids.csv", "item,price\n-1,30\n2,40\n");
    let want = "best {price: 40, item: 2}\nbelow true\nlarge 18446744073709551615\n";
    for bids in ["[{price: 30, item: -1}, {price: 40, item: 2}]", &format!("@{table}")] {
        for command in ["eval", "local"] {
            let args = [command, &program, "-i", &format!("bids={bids}"), "-i", "18_446_744_073_709_551_615"];
            assert_eq!(comity(&args).ok(), want, "{command} {bids}");
        }
    }
    let args = ["-i", "[(30, -1), (40, 2)]", "-i", "limit=0xffffffffffffffff", "--json"];
    let values = json!({"best": {"price": 40, "item": 2}, "below": true, "large": "18446744073709551615"});
    let clear = comity(&[&["eval", &program], &args[..]].concat()).json();
    assert_eq!(clear["values"], values);
    assert_eq!(clear["outputs"], json!({"0": "0200000028", "1": "1", "2": "ffffffffffffffff"}));
    let both = comity(&[&["local", &program], &args[..]].concat()).json();
    for party in [0, 1] {
        assert_eq!(both["parties"][party]["values"], values);
        assert_eq!(both["parties"][party]["outputs"], clear["outputs"]);
    }
    let hex = comity(&["eval", &program, "-i", "[(30, -1), (40, 2)]", "-i", "1", "--format", "hex"]);
    assert_eq!(hex.ok(), "best 0200000028\nbelow 0\nlarge 0000000000000001\n");
}

#[test]
fn two_parties_over_the_network_see_types() {
    let folder = Folder::new("auction-run");
    let program = folder.file("auction.cty", AUCTION);
    let (alice, bob) =
        both(&[&program, "--output-to", "large=1"], &["-i", "[{price: 1, item: 2}, (3, 4)]"], &["-i", "limit=2"]);
    assert_eq!(alice.ok(), "best {price: 3, item: 4}\nbelow false\n");
    assert_eq!(bob.ok(), "best {price: 3, item: 4}\nbelow false\nlarge 2\n");
}

#[test]
fn what_does_not_fit_is_told_with_its_place() {
    let folder = Folder::new("auction-bad");
    let program = folder.file("auction.cty", AUCTION);
    let eval = |args: &[&str]| comity(&[&["eval", &program], args].concat());
    eval(&[]).fails(
        2,
        &[
            "input 0 (`bids`) of [Bid {price: u32, item: i8}; 2] is missing: party 0",
            "input 1 (`limit`) of u64 is missing: party 1",
        ],
    );
    let range = "bids[1].price: the number does not fit u32, 0 to 4294967295";
    eval(&["-i", "[(1, 2), (5000000000, 2)]", "-i", "1"]).fails(2, &["(`bids`)", "character 11: ", range]);
    let table = folder.file("bids.csv", "1,2\n5000000000,2\n");
    eval(&["-i", &format!("@{table}"), "-i", "1"]).fails(2, &[&format!("{table}:2:1: {range}")]);
    eval(&["-i", "[(1, 2)]", "-i", "1"]).fails(2, &["bids: 1 elements", "where 2"]);
    eval(&["--bits", "limit=msb"]).fails(2, &["limit", "u64"]);
    comity(&["eval", &format!("{program}*2")]).fails(2, &["is a program", "loop"]);
    let broken = folder.file("broken.cty", "fn main(");
    comity(&["eval", &broken]).fails(2, &[&format!("{broken}:1:")]);
    comity(&["circuit", "check", &broken, "--json"]).fails_json(2, "input", &["broken.cty:1:"]);
    comity(&["eval", "missing.cty"]).fails(2, &["missing.cty"]);
}

#[test]
fn owners_stay_unless_told_otherwise() {
    let folder = Folder::new("three");
    let text = "fn main(a: u8 from 0, b: u8 from 1, c: u8 from 2) -> (sum: u8 to 0) { a + b + c }\n";
    let program = folder.file("three.cty", text);
    let values = ["-i", "1", "-i", "2", "-i", "3"];
    assert_eq!(comity(&[&["eval", &program], &values[..]].concat()).ok(), "6\n");
    let local = |more: &[&str]| comity(&[&["local", &program], &values[..], more].concat());
    assert_eq!(local(&[]).ok(), "6\n");
    local(&["--protocol", "yao"])
        .fails(2, &["for 3 parties there is --protocol bmr (malicious)", "comity eval", "--owner"]);
    local(&["--parties", "2"]).fails(2, &["input `c` belongs to party 2", "comity eval", "--owner"]);
    let two = ["--owner", "c=1", "--output-to", "2", "--parties", "2"];
    local(&two).fails(2, &["output `sum` is for party 2"]);
    let parties = local(&["--owner", "c=1", "--json"]).json();
    assert_eq!(parties["parties"][0]["values"], json!({"sum": 6}));
    assert_eq!(parties["parties"][1]["outputs"], json!({}));
}

/// Files as other programs write them, and what makes values of them.
#[test]
fn files_that_hold_no_values_are_told_apart() {
    let folder = Folder::new("typed-files");
    let program = folder.file("p.cty", "fn main(a: [u32; 3] from 0) -> u32 { a[0] }");
    let numbers = folder.file("numbers.csv", "n\n1\n2\n3\n");
    comity(&["eval", &program, "-i", &format!("a=@{numbers}")]).ok();
    comity(&["eval", &program, "-i", &format!("a={numbers}")]).fails(2, &["A file has this name: write @ before it"]);
    let away = comity(&["eval", &program, "-i", "a=nowhere.csv"]);
    away.fails(2, &["a number of the type u32"]);
    assert!(!away.err.contains('@'), "{}", away.err);
    let bytes = |name: &str, bytes: &[u8]| {
        let path = folder.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    for (path, words) in [
        (bytes("latin.csv", b"gr\xf6\xdfe\n1\n2\n3\n"), "the text is not UTF-8: convert it with `iconv"),
        (bytes("utf16.csv", b"\xff\xfe1\0\n\x002\0\n\x003\0"), "`iconv -f UTF-16 -t UTF-8`"),
        (bytes("table.xlsx", b"PK\x03\x04\x14\0\x06\0\xff\xfe"), "spreadsheet file, not text: save it as CSV"),
        (bytes("table.csv.gz", b"\x1f\x8b\x08\0\xff"), "`gunzip`"),
    ] {
        comity(&["eval", &program, "-i", &format!("a=@{path}")]).fails(2, &[&path, words]);
    }
}
