//! `comity eval`: values in and out, and what is wrong with them.

use crate::common::*;

/// FIPS 180: the one block of "abc" (its length in bits at the end), the initial state, the digest.
fn abc() -> String {
    format!("61626380{:0>120}", "18")
}

const IV: &str = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
const DIGEST: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn aes(more: &[&str]) -> Done {
    comity(
        &[&["eval", "aes128", "--input", &format!("0={AES_KEY}"), "--input", &format!("1={AES_BLOCK}")], more].concat(),
    )
}

#[test]
fn published_vectors_read_as_printed() {
    assert_eq!(aes(&[]).ok(), format!("{AES_OUT}\n"));
    assert_eq!(aes(&[]).err, "");
    let sha = comity(&["eval", "sha256", "--input", &format!("0={}", abc()), "--input", &format!("1={IV}")]);
    assert_eq!(sha.ok(), format!("{DIGEST}\n"));
    let upper = comity(&["eval", "aes128", "-i", &AES_KEY.to_uppercase(), "-i", &AES_BLOCK.to_uppercase()]);
    assert_eq!(upper.ok(), format!("{AES_OUT}\n"));
}

#[test]
fn every_form_of_a_value() {
    let folder = Folder::new("forms");
    let key = folder.file("key=hex", &format!("{}\n{}\n", &AES_KEY[..20], &AES_KEY[20..]));
    let files = comity_with(
        &format!("{AES_BLOCK}\n"),
        &["eval", "aes128", "--input", &format!("key=@{key}"), "--input", "block=-"],
    );
    assert_eq!(files.ok(), format!("{AES_OUT}\n"));
    assert_eq!(comity(&["eval", "aes128", "-i", &format!("@{key}"), "-i", AES_BLOCK]).ok(), format!("{AES_OUT}\n"));
    assert_eq!(comity(&["eval", "add64", "-i", "u64:40", "-i", "1=u64:2"]).ok(), "000000000000002a\n");
    assert_eq!(comity(&["eval", "add8", "-i", "bits:11000000", "-i", "05"]).ok(), "08\n");
    assert_eq!(comity(&["eval", "add8", "-i", "03", "-i", "05", "--format", "bits"]).ok(), "00010000\n");
    // Named values do not move the others.
    assert_eq!(comity(&["eval", "sub8", "-i", "1=05", "-i", "08"]).ok(), "03\n");
}

#[test]
fn bit_order_is_a_matter_of_each_value() {
    // 0x80 with its most significant bit on wire 0 is one.
    assert_eq!(comity(&["eval", "add8", "-i", "80", "-i", "01", "--bits", "0=msb"]).ok(), "02\n");
    assert_eq!(comity(&["eval", "add8", "-i", "80", "-i", "80", "--bits", "msb"]).ok(), "40\n");
    assert_eq!(comity(&["eval", "add8", "-i", "01", "-i", "01", "--bits", "out:0=msb"]).ok(), "40\n");
    assert_eq!(comity(&["eval", "add8", "-i", "80", "-i", "01", "--bits", "msb", "--bits", "1=lsb"]).ok(), "40\n");
    comity(&["eval", "add8", "-i", "1", "-i", "1", "--bits", "2=msb"]).fails(2, &["no input `2`"]);
}

#[test]
fn json() {
    let done = aes(&["--json"]);
    assert_eq!(
        done.json(),
        serde_json::json!({"program": "aes128", "outputs": {"0": AES_OUT}, "values": {"ciphertext": AES_OUT}})
    );
    let done = aes(&["--json", "--format", "bits"]);
    let bits = done.json()["outputs"]["0"].as_str().unwrap().to_owned();
    assert_eq!((bits.len(), &bits[..8]), (128, "01011010"), "wire 0 is the last bit of ..5a");
}

#[test]
fn expressions() {
    let twice = comity(&["eval", "aes128^2", "-i", AES_KEY, "-i", AES_BLOCK]);
    let again = comity(&["eval", "aes128", "-i", AES_KEY, "-i", AES_OUT]);
    assert_eq!(twice.ok(), again.ok());
    let side = comity(&["eval", "aes128*2", "-i", &AES_KEY.repeat(2), "-i", &format!("{AES_BLOCK}{AES_OUT}")]);
    assert_eq!(side.ok(), format!("{AES_OUT}{}", again.ok()));
    comity(&["eval", "aes128*2", "-i", AES_KEY, "-i", AES_BLOCK]).fails(2, &["key", "2 values", "64", "32"]);
    comity(&["eval", "aes128*0", "-i", AES_KEY, "-i", AES_BLOCK]).fails(2, &["from 1 on"]);
    comity(&["eval", "sub8^2^99999999999999999999", "-i", "1", "-i", "1"]).fails(2, &["from 1 on"]);
    comity(&["eval", "eq64^2", "-i", "1", "-i", "1"]).fails(2, &["eq64^2"]);
    comity(&["eval", "aes128*99999999999", "-i", "1", "-i", "1"]).fails(2, &["aes128*99999999999"]);
}

#[test]
fn a_file_of_that_very_name_wins() {
    let folder = Folder::new("star");
    let file = folder.path("sum*2");
    comity(&["circuit", "export", "add8", "-o", &file]).ok();
    assert_eq!(comity(&["eval", &file, "-i", "01", "-i", "02"]).ok(), "03\n");
    assert_eq!(comity(&["eval", &format!("{file}*2"), "-i", "0102", "-i", "0203"]).ok(), "0305\n");
}

#[test]
fn what_is_wrong_is_said() {
    let eval = |args: &[&str]| comity(&[&["eval"], args].concat());
    eval(&["aes128", "-i", AES_KEY]).fails(2, &["1", "block", "128 bits", "party 1", "--input"]);
    eval(&["aes128", "-i", "00", "-i", AES_BLOCK]).fails(2, &["key", "128 bits", "2 hex digits", "32"]);
    eval(&["aes128", "-i", "zz", "-i", AES_BLOCK]).fails(2, &["key", "hex digit"]);
    eval(&["aes128", "-i", &format!("0={AES_KEY}"), "-i", &format!("key={AES_KEY}")]).fails(2, &["twice"]);
    eval(&["aes128", "-i", "1", "-i", "2", "-i", "3"]).fails(2, &["2 input values"]);
    eval(&["aes128", "-i", "kye=00"]).fails(2, &["kye", "did you mean `key`?", "block"]);
    eval(&["aes128", "-i", "-", "-i", "-"]).fails(2, &["standard input"]);
    eval(&["aes128", "-i", "@/no/such/file"]).fails(2, &["block"]);
    eval(&["aes128", "-i", "@/no/such/file", "-i", "-"]).fails(2, &["/no/such/file"]);
    eval(&["add8", "-i", "u64:6", "-i", "01"]).fails(2, &["`a`", "64", "8"]);
    eval(&["add8", "-i", "dec:256", "-i", "01"]).fails(2, &["does not fit 8 bits"]);
    eval(&["add8", "-i", "bits:01020000", "-i", "01"]).fails(2, &["character"]);
    eval(&["add8*2", "-i", "dec:6", "-i", "0101"]).fails(2, &["2 values", "in hex", "not as dec:"]);
    eval(&["add8*2", "-i", "06", "-i", "0101"]).fails(2, &["2 values need 2 hex digits each"]);
    #[cfg(unix)]
    eval(&["add8", "-i", "@/dev/zero", "-i", "01"]).fails(2, &["/dev/zero", "8 bits"]);
    eval(&["sha-256", "-i", "0"]).fails(2, &["sha-256", "did you mean `sha256`", "circuit list"]);
    eval(&["./nowhere.txt", "-i", "0"]).fails(2, &["nowhere.txt"]);
    eval(&["aes218", "--json"]).fails_json(2, "input", &["aes218"]);
    eval(&[]).fails(2, &["PROGRAM"]);
}
