//! `comity zk`: proofs in files and in conversation.

use std::fs;

use comity_testing::PATIENCE;

use crate::common::{Done, Folder, Listener, comity};

/// A program whose prover knows two factors of a public number.
const FACTORS: &str = "\
parties prover, public;
fn main(p: u8 from prover, q: u8 from prover, n: u16 from public) -> (accept: bool, sum: u8) {
    (p as u16 * q as u16 == n && p > 1 && q > 1, p + q)
}
";

struct Files {
    _folder: Folder,
    program: String,
    proof: String,
}

impl Files {
    fn new(test: &str) -> Files {
        let folder = Folder::new(test);
        let (program, proof) = (folder.file("factors.cty", FACTORS), folder.path("proof.zk"));
        Files { _folder: folder, program, proof }
    }

    fn prove(&self, more: &[&str]) -> Done {
        let secret = ["--secret", "p=7", "--secret", "q=13", "--public", "n=91", "--out", &self.proof];
        comity(&[&["zk", "prove", &self.program][..], &secret, more].concat())
    }

    fn verify(&self, n: &str, more: &[&str]) -> Done {
        comity(&[&["zk", "verify", &self.program, "--public", n, &self.proof][..], more].concat())
    }
}

#[test]
fn a_proof_is_valid_for_what_it_was_made_for() {
    for system in ["auto", "voleith", "zkboo", "zkb++", "kkw"] {
        let files = Files::new("zk-valid");
        let made = files.prove(&["--system", system, "--context", "for you"]);
        let bits = if ["auto", "voleith"].contains(&system) { "126 bits" } else { "128 bits" };
        assert!(made.ok().contains(bits), "{}", made.out);
        // What is not pinned is said.
        assert!(made.err.contains("no --expect names `sum`"), "{}", made.err);
        let checked = files.verify("n=91", &["--context", "for you"]);
        assert_eq!(checked.ok(), if bits == "126 bits" { "valid, with 126 bits of soundness\n" } else { "valid\n" });
        assert!(checked.err.contains("no --expect names `sum`"), "{}", checked.err);
        let demanding = files.verify("n=91", &["--context", "for you", "--soundness", "128"]);
        match bits {
            "126 bits" => demanding.fails(4, &["not valid", "voleith", "126 bits", "demands 128"]),
            _ => assert_eq!(demanding.ok(), "valid\n"),
        }
        files.verify("n=77", &["--context", "for you"]).fails(4, &["not valid", "another statement"]);
        files.verify("n=91", &[]).fails(4, &["not valid", "another statement"]);
        files.verify("n=91", &["--context", "for you", "--expect", "sum=20"]).fails(4, &["another statement"]);
        files.verify("n=91", &["--context", "for you", "--expect", "accept=false"]).fails(4, &["another statement"]);
    }
}

#[test]
fn json_says_what_is_proved_and_how_soundly() {
    let files = Files::new("zk-json");
    let made = files.prove(&["--json", "--expect", "sum=20"]);
    assert_eq!(made.err, "");
    let made = made.json();
    assert_eq!((made["system"].as_str(), made["soundness_bits"].as_u64()), (Some("voleith"), Some(126)));
    assert_eq!(made["bytes"].as_u64(), Some(fs::metadata(&files.proof).unwrap().len()));
    let valid = files.verify("n=91", &["--json", "--expect", "sum=20"]).json();
    assert_eq!(valid["valid"], true);
    assert_eq!((&valid["statement"], &valid["soundness_bits"]), (&made["statement"], &made["soundness_bits"]));
    let looked = comity(&["zk", "inspect", &files.proof, "--json"]).json();
    assert_eq!(looked, made);
    assert!(looked.get("valid").is_none());
    files.verify("n=91", &["--json"]).fails_json(4, "misbehaved", &["not valid"]);
    let text = comity(&["zk", "inspect", &files.proof]);
    assert!(text.ok().contains("not checked"), "{}", text.out);
}

#[test]
fn a_changed_file_is_not_valid() {
    let files = Files::new("zk-changed");
    files.prove(&[]).ok();
    let whole = fs::read(&files.proof).unwrap();
    let write = |bytes: &[u8]| fs::write(&files.proof, bytes).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    write(&changed);
    files.verify("n=91", &[]).fails(4, &["not valid", "committed"]);
    write(&whole[..whole.len() - 1]);
    files.verify("n=91", &[]).fails(4, &["are wanted"]);
    write(&[&whole[..], b"\n"].concat());
    files.verify("n=91", &[]).fails(4, &["are wanted"]);
    write(b"something else");
    files.verify("n=91", &[]).fails(4, &["not a proof of `comity zk`"]);
    comity(&["zk", "inspect", &files.proof]).fails(4, &["not a proof of `comity zk`"]);
    // Whoever sends a gigabyte of zeros behind a head has it looked at no further than an answer goes.
    write(&whole[..106]);
    fs::File::options().write(true).open(&files.proof).unwrap().set_len(1 << 30).unwrap();
    files.verify("n=91", &[]).fails(4, &["answer of more than", "are wanted"]);
    assert_eq!(comity(&["zk", "inspect", &files.proof, "--json"]).json()["bytes"].as_u64(), Some(1 << 30));
    fs::remove_file(&files.proof).unwrap();
    files.verify("n=91", &[]).fails(2, &["cannot read"]);
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let files = Files::new("zk-refused");
    let prove = |args: &[&str]| comity(&[&["zk", "prove"], args, &["--out", &files.proof]].concat());
    let program = files.program.as_str();
    prove(&[program, "--secret", "p=7", "--secret", "q=11", "--public", "n=91"])
        .fails(2, &["false for these secret values", "`accept`"]);
    prove(&[program, "--secret", "p=7", "--public", "n=91"]).fails(2, &["`q`", "missing", "--secret"]);
    prove(&[program, "--secret", "p=7", "--secret", "q=13"]).fails(2, &["`n`", "missing", "--public"]);
    prove(&[program, "--secret", "p=7", "--secret", "n=91"]).fails(2, &["`n`"]);
    files.prove(&["--soundness", "80"]).fails(2, &["126 to 128 bits", "hash"]);
    files.prove(&["--soundness", "128"]).fails(2, &["voleith has 126 bits", "zkb++"]);
    files.verify("n=91", &["--soundness", "80"]).fails(2, &["126 to 128 bits", "hash"]);
    files.prove(&["--expect", "sum=999"]).fails(2, &["output 1 (`sum`)"]);
    files.prove(&["--expect", "20"]).fails(2, &["several outputs"]);
    // Nothing is expected of a circuit's output.
    let key = "0=00000000000000000000000000000000";
    prove(&["aes128", "--secret", key, "--public", key.replace("0=", "1=").as_str()])
        .fails(2, &["any inputs would prove it", "--expect"]);
    assert!(!fs::exists(&files.proof).unwrap());
}

#[test]
fn a_built_in_circuit_is_a_statement_too() {
    let files = Files::new("zk-aes");
    // FIPS 197, appendix C.1: the key is secret, the block public.
    let expect = format!("ciphertext={}", crate::common::AES_OUT);
    let common = ["aes128", "--public", &format!("1={}", crate::common::AES_BLOCK), "--expect", &expect];
    let prove = [&["zk", "prove"][..], &common, &["--secret", crate::common::AES_KEY, "--out", &files.proof]].concat();
    assert_eq!(comity(&prove).err, "");
    assert_eq!(
        comity(&[&["zk", "verify"][..], &common, &[&files.proof]].concat()).ok(),
        "valid, with 126 bits of soundness\n"
    );
}

/// Both sides' results: a prover that listens, and a verifier.
fn converse(files: &Files, prover: &[&str], verifier: &[&str]) -> (Done, Done) {
    let timeout = format!("--timeout={}", PATIENCE.as_secs());
    let secret = ["--secret", "p=7", "--secret", "q=13", "--public", "n=91", "--interactive", &timeout];
    let listener = Listener::begin("zk", &[&["prove", &files.program][..], &secret, prover].concat());
    let verify = ["zk", "verify", &files.program, "--interactive", &timeout, "--connect", &listener.address];
    let verified = comity(&[&verify[..], verifier].concat());
    (listener.end(), verified)
}

#[test]
fn a_conversation_convinces_the_verifier() {
    let files = Files::new("zk-conversation");
    for system in [
        &["--system", "gc"][..],
        &["--system", "gc-rows"],
        &["--system", "zkboo", "--soundness", "40"],
        &["--system", "kkw", "--soundness", "80"],
    ] {
        let (proved, verified) = converse(&files, system, &[&["--public", "n=91"], system].concat());
        assert!(verified.ok().starts_with("valid, with "), "{}", verified.out);
        assert!(proved.ok().contains("the proof is over"), "{}", proved.out);
    }
    let (proved, verified) = converse(&files, &["--json"], &["--public", "n=91", "--json"]);
    assert_eq!((&proved.json()["system"], &verified.json()["valid"]), (&"vole".into(), &true.into()));
    assert_eq!(proved.json()["statement"], verified.json()["statement"]);
}

#[test]
fn a_conversation_ends_by_its_deadline() {
    let files = Files::new("zk-deadline");
    let (timeout, deadline) = (format!("--timeout={}", PATIENCE.as_secs()), "--deadline=0.2s");
    let alone = ["zk", "verify", &files.program, "--public", "n=91", "--listen", "127.0.0.1:0", &timeout, deadline];
    comity(&[&alone[..], &["--interactive", "--json"]].concat()).fails_json(
        3,
        "timeout",
        &["did not end within 0.2 s"],
    );
    files.prove(&[deadline]).fails(2, &["--deadline", "--interactive"]);
}

#[test]
fn two_sides_that_want_different_things_hear_of_it() {
    let files = Files::new("zk-different");
    let cases: [(&[&str], &[&str]); 3] = [
        (&[], &["--public", "n=77"]),
        (&["--system", "zkboo"], &["--public", "n=91"]),
        (&["--system", "zkboo"], &["--public", "n=91", "--system", "zkboo", "--soundness", "40"]),
    ];
    for (prover, verifier) in cases {
        let (proved, verified) = converse(&files, prover, verifier);
        proved.fails(2, &["disagree", "proof by"]);
        verified.fails(2, &["disagree", "proof by"]);
    }
    // What only makes sense in conversation, or in a file.
    files.prove(&["--system", "gc"]).fails(2, &["--interactive"]);
    files.prove(&["--system", "vole"]).fails(2, &["--interactive"]);
    let talk = ["zk", "verify", &files.program, "--public", "n=91", "--interactive", "--connect", "127.0.0.1:1"];
    comity(&[&talk[..], &["--system", "voleith"]].concat()).fails(2, &["files only", "vole"]);
    files.verify("n=91", &["--soundness", "40"]).fails(2, &["--interactive"]);
    files.verify("n=91", &["--system", "gc"]).fails(2, &["--interactive"]);
    files.prove(&["--connect", "127.0.0.1:1"]).fails(2, &["--interactive"]);
    let nowhere = ["zk", "verify", &files.program, "--public", "n=91", "--interactive"];
    comity(&nowhere).fails(2, &["--listen", "--connect"]);
}
