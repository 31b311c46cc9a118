//! `comity nisc`: a query, answers by mail, one batch, and what people do wrong.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::thread;

use crate::common::*;

/// A folder with a query of `add8` at four copies, for 40 of the publisher's, and its key.
struct Mail {
    folder: Folder,
    query: String,
    key: String,
    fingerprint: String,
}

impl Mail {
    fn new(test: &str) -> Mail {
        let folder = Folder::new(test);
        let (query, key) = (folder.path("me.query"), folder.path("me.key"));
        let done = comity(&[
            "nisc", "publish", "add8", "--input", "u8:40", "--copies", "4", "--out", &query, "--secret", &key,
        ]);
        let fingerprint = done.ok().trim().to_owned();
        assert_eq!(fingerprint.len(), 64);
        assert!(done.err.contains("2^-3.9"), "so few copies are warned of: {}", done.err);
        Mail { folder, query, key, fingerprint }
    }

    /// The answer of somebody to this query.
    fn answer_to(&self, query: &str, name: &str, value: u8) -> String {
        let out = self.folder.path(&format!("{name}.answer"));
        let input = format!("u8:{value}");
        let done = comity(&["nisc", "respond", query, "--input", &input, "--out", &out, "--name", name]);
        assert_eq!(done.ok(), "");
        out
    }

    fn answer(&self, name: &str, value: u8) -> String {
        let before = fs::read(&self.query).unwrap();
        let out = self.answer_to(&self.query, name, value);
        assert_eq!(fs::read(&self.query).unwrap(), before);
        out
    }

    fn open(&self, answers: &[&str]) -> Done {
        comity(&[&["nisc", "open", &self.key], answers].concat())
    }

    /// A changed copy of a file.
    fn changed(&self, file: &str, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = fs::read(file).unwrap();
        change(&mut bytes);
        let path = self.folder.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

#[test]
fn a_batch_is_opened_once_and_refreshed() {
    let mail = Mail::new("nisc-batch");
    let [ann, ben, late] = [("ann", 2), ("ben", 200), ("late", 7)].map(|(name, value)| mail.answer(name, value));
    let cut = mail.changed(&ben, "cut.answer", |bytes| bytes.truncate(5000));
    // Looking first costs nothing.
    let looked = mail.open(&["--check", &ann, &cut]);
    assert_eq!(looked.ok(), format!("{ann} (ann): whole\n"));
    assert!(looked.err.contains("cut short"), "{}", looked.err);
    let done = mail.open(&[&ann, &cut, &ben]);
    assert_eq!(done.ok(), format!("{ann} (ann): 2a\n{ben} (ben): f0\n"));
    assert!(done.err.contains("cut.answer (ben): ") && done.err.contains("cut short"), "{}", done.err);
    // Nothing else is opened now; the same ones are.
    mail.open(&[&late]).fails(2, &["opened already", "which copies are checked", "Refresh"]);
    let again = mail.open(&[&late, &ann, "--json"]);
    again.ok();
    let json = again.json();
    assert_eq!((&json["spent"], &json["program"], &json["epoch"]), (&true.into(), &"add8".into(), &0.into()));
    assert_eq!(json["query"], mail.fingerprint.as_str());
    let [refused, opened] = json["answers"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!((&refused["error"]["kind"], &refused["file"]), (&"input".into(), &late.as_str().into()));
    assert_eq!((&opened["name"], &opened["outputs"]["0"]), (&"ann".into(), &"2a".into()));
    assert_eq!(opened["recovered"], false);
    // The next query.
    let next = mail.folder.path("me2.query");
    let done = comity(&["nisc", "refresh", &mail.key, "--out", &next]);
    assert_ne!(done.ok().trim(), mail.fingerprint);
    let new = mail.answer_to(&next, "new", 9);
    let done = mail.open(&[&ann, &new]);
    assert_eq!(done.ok(), format!("{new} (new): 31\n"));
    assert!(done.err.contains("disagree on the query"), "{}", done.err);
    // Nothing is left beside the files but the lock.
    let mut names: Vec<_> = fs::read_dir(mail.folder.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    let expected = [
        "ann.answer",
        "ben.answer",
        "cut.answer",
        "late.answer",
        "me.key",
        "me.key.lock",
        "me.query",
        "me2.query",
        "new.answer",
    ];
    assert_eq!(names, expected);
}

#[test]
fn adaptively_answers_are_opened_as_they_come() {
    let mail = Mail::new("nisc-adaptive");
    let [ann, ben] = [("ann", 2), ("ben", 3)].map(|(name, value)| mail.answer(name, value));
    for (answer, sum) in [(&ann, "2a"), (&ben, "2b"), (&ann, "2a")] {
        assert!(mail.open(&["--adaptive", answer]).ok().ends_with(&format!(": {sum}\n")));
    }
    // The same answer under another name is a copy.
    let copy = mail.changed(&ann, "copy.answer", |_| {});
    let done = mail.open(&["--adaptive", &ann, &copy, "--json"]);
    let json = done.json();
    assert_eq!((done.code, &json["spent"]), (0, &false.into()));
    let done = mail.open(&[&ann, &copy]);
    assert!(done.err.contains("copy.answer (ann): it repeats"), "{}", done.err);
}

/// The command is killed between the mark on the disk and the first line on the screen.
#[test]
#[cfg(unix)]
fn a_crash_before_the_first_result_costs_nothing_and_gives_nothing() {
    let mail = Mail::new("nisc-killed");
    let [ann, late] = [("ann", 2), ("late", 7)].map(|(name, value)| mail.answer(name, value));
    // Nobody reads a full pipe, so that it waits there.
    let (mut screen, full) = std::io::pipe().unwrap();
    let filler = {
        let mut full = full.try_clone().unwrap();
        thread::spawn(move || {
            let _ = full.write_all(&vec![b'.'; 1 << 20]);
        })
    };
    let mut child = command(&["nisc", "open", &mail.key, &ann]).stdout(full.try_clone().unwrap()).spawn().unwrap();
    drop(full);
    let spent = || {
        let done = comity(&["nisc", "inspect", &mail.key, "--json"]);
        done.json()["spent"] == true
    };
    until("the key is spent", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it had to wait");
        spent()
    });
    // Meanwhile nobody else gets at the key.
    mail.open(&[&ann]).fails(2, &["another process"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut printed = Vec::new();
    screen.read_to_end(&mut printed).unwrap();
    filler.join().unwrap();
    assert!(printed.iter().all(|&byte| byte == b'.'), "a result came before the kill");
    mail.open(&[&late]).fails(2, &["opened already"]);
    assert_eq!(mail.open(&[&ann]).ok(), format!("{ann} (ann): 2a\n"));
}

#[test]
fn a_file_says_what_it_is() {
    let mail = Mail::new("nisc-inspect");
    let answer = mail.answer("ann", 2);
    let inspect = |file: &str| comity(&["nisc", "inspect", file, "--json"]).json();
    let query = inspect(&mail.query);
    assert_eq!((&query["kind"], &query["fingerprint"]), (&"query".into(), &mail.fingerprint.as_str().into()));
    assert_eq!((&query["program"]["text"], &query["copies"]["total"]), (&"add8".into(), &4.into()));
    assert_eq!((&query["input_bits"], &query["epoch"]), (&8.into(), &0.into()));
    let key = inspect(&mail.key);
    assert_eq!((&key["kind"], &key["spent"], &key["expected"]), (&"key".into(), &false.into(), &1.into()));
    let json = inspect(&answer);
    assert_eq!(
        (&json["kind"], &json["name"], &json["query"]),
        (&"answer".into(), &"ann".into(), &query["fingerprint"])
    );
    assert_eq!(
        (&json["program"], &json["bytes"]),
        (&query["program"]["hash"], &fs::metadata(&answer).unwrap().len().into())
    );
    for (file, words) in [(&mail.query, "a query, whole"), (&mail.key, "keep it to yourself"), (&answer, "so it says")]
    {
        let text = comity(&["nisc", "inspect", file]);
        assert!(text.ok().contains(words), "{}", text.out);
        let damaged = mail.changed(file, "damaged", |bytes| bytes[100] ^= 1);
        comity(&["nisc", "inspect", &damaged]).fails(4, &["damaged"]);
    }
    let other = mail.folder.file("other", "a letter");
    comity(&["nisc", "inspect", &other, "--json"]).fails_json(4, "malformed", &["not a query, a key or an answer"]);
    // No file tells who made it, where or when.
    let folder = mail.folder.path("");
    for file in [&mail.query, &mail.key, &answer] {
        let bytes = fs::read(file).unwrap();
        assert!(!bytes.windows(folder.len()).any(|w| w == folder.as_bytes()), "{file}");
    }
}

#[test]
fn a_program_in_a_file_is_found_by_its_hash() {
    let folder = Folder::new("nisc-program");
    let text = "parties a, b;\nfn main(x: u8 from a, y: u8 from b) -> (z: u8) { x + y }\n";
    let (mine, theirs) = (folder.file("sum.cty", text), folder.file("theirs.cty", text));
    let other = folder.file("other.cty", &text.replace('+', "&"));
    let [query, key, out] = ["q", "k", "a.answer"].map(|name| folder.path(name));
    let publish = ["nisc", "publish", &mine, "--input", "x=40", "--copies", "3", "--out", &query, "--secret", &key];
    comity(&publish).ok();
    let respond =
        |more: &[&str]| comity(&[&["nisc", "respond", &query, "--input", "y=2", "--out", &out][..], more].concat());
    respond(&[]).fails(2, &["`sum.cty`", "--program", "hash"]);
    respond(&["--program", &other]).fails(2, &["not the program of the query"]);
    let done = respond(&["--program", &theirs]);
    assert_eq!(done.ok(), "");
    assert!(done.err.contains("sender-") && done.err.contains("`z`"), "{}", done.err);
    let open = |more: &[&str]| comity(&[&["nisc", "open", &key, &out][..], more].concat());
    fs::rename(&mine, folder.path("moved.cty")).unwrap();
    open(&[]).fails(2, &["sum.cty", "--program"]);
    let done = open(&["--program", &theirs, "--json"]);
    done.ok();
    assert_eq!(done.json()["answers"][0]["values"].as_object().unwrap().values().next().unwrap(), 42);
    assert!(open(&["--program", &theirs]).ok().ends_with("): 42\n"));
}

#[test]
fn owners_orders_and_coded_copies() {
    let folder = Folder::new("nisc-forms");
    let [query, key, out] = ["q", "k", "a.answer"].map(|name| folder.path(name));
    // The publisher's block under the sender's key, FIPS 197 as printed.
    let publish = [
        "nisc",
        "publish",
        "aes128",
        "--owner",
        "0=1",
        "--owner",
        "1=0",
        "--input",
        AES_BLOCK,
        "--coded",
        "--rho",
        "4",
        "--answers",
        "3",
        "--out",
        &query,
        "--secret",
        &key,
    ];
    comity(&publish).ok();
    let json = comity(&["nisc", "inspect", &query, "--json"]).json();
    assert_eq!(json["program"]["owners"], serde_json::json!([1, 0]));
    assert!(json["copies"]["security"].as_f64().unwrap() >= 6.0, "{json}");
    assert!(json["copies"]["evaluated"].as_u64().unwrap() > 0);
    comity(&["nisc", "respond", &query, "--input", AES_KEY, "--out", &out]).ok();
    let done = comity(&["nisc", "open", &key, &out, "--format", "hex"]);
    assert!(done.ok().ends_with(&format!(": {AES_OUT}\n")), "{}", done.out);
}

#[test]
fn misuse_gets_a_clear_line_and_loses_nothing() {
    let mail = Mail::new("nisc-misuse");
    let answer = mail.answer("ann", 2);
    let [out, secret] = ["x.query", "x.key"].map(|name| mail.folder.path(name));
    let publish = |more: &[&str]| comity(&[&["nisc", "publish", "add8", "--input", "u8:1"][..], more].concat());
    publish(&["--out", &out, "--secret", &mail.key]).fails(2, &["me.key", "never overwrites"]);
    publish(&["--out", &mail.key, "--secret", &secret]).fails(2, &["me.key", "never overwrites"]);
    comity(&["nisc", "refresh", &mail.key, "--out", &mail.key, "--discard"]).fails(2, &["writing would destroy it"]);
    publish(&["--out", &out, "--secret", &secret, "--copies", "0"]).fails(2, &["0 copies"]);
    publish(&["--out", &out, "--secret", &secret, "--copies", "5", "--coded"]).fails(2, &["choose one of 44"]);
    publish(&["--out", &out, "--secret", &secret, "--input", "u8:2"]).fails(2, &["too many"]);
    publish(&["--out", &mail.folder.path("no/q"), "--secret", &secret]).fails(2, &["no/q"]);
    let told =
        mail.folder.file("told.cty", "parties a, b;\nfn main(x: u8 from a, y: u8 from b) -> (z: u8 to b) { x + y }\n");
    let told = ["nisc", "publish", &told, "--input", "x=1", "--out", &out, "--secret", &secret];
    comity(&told).fails(2, &["`z`", "party 1", "party 0 only"]);
    assert!(!fs::exists(&out).unwrap() && !fs::exists(&secret).unwrap(), "a failure leaves nothing");

    let elsewhere = mail.folder.path("y.answer");
    let respond = |query: &str, more: &[&str]| {
        comity(&[&["nisc", "respond", query, "--input", "u8:1", "--out", &elsewhere][..], more].concat())
    };
    respond(&mail.key, &[]).fails(4, &["a query was expected", "the key of a query"]);
    respond(&mail.query, &["--name", "a/b"]).fails(2, &["--name", "letters"]);
    respond(&mail.query, &["--program", "and8"]).fails(2, &["not the program of the query"]);
    respond(&mail.query, &["--input", "0=u8:3"]).fails(2, &["belongs to party 0"]);
    let cut = mail.changed(&mail.query, "cut.query", |bytes| bytes.truncate(700));
    respond(&cut, &[]).fails(4, &["cut.query", "damaged or cut short"]);
    let future = mail.changed(&mail.query, "future.query", |bytes| bytes[16] = 7);
    respond(&future, &[]).fails(4, &["version 7", "has to be updated"]);
    let past = mail.changed(&mail.query, "past.query", |bytes| bytes[16] = 1);
    respond(&past, &[]).fails(4, &["past.query", "version 1", "publish a new query"]);
    assert!(!fs::exists(&elsewhere).unwrap());

    // Ten gigabytes of zeros, which take no room on the disk: as a query, a key and an answer.
    let zeros = mail.folder.path("zeros");
    fs::File::create(&zeros).unwrap().set_len(10 << 30).unwrap();
    respond(&zeros, &[]).fails(4, &["something else"]);
    mail.open(&[&zeros]).fails(4, &["zeros: ", "something else"]);
    let mut long = fs::OpenOptions::new().append(true).open(mail.changed(&answer, "long.answer", |_| {})).unwrap();
    long.flush().unwrap();
    long.set_len(10 << 30).unwrap();
    mail.open(&[&mail.folder.path("long.answer")]).fails(4, &["long.answer (ann)", "more follows"]);
    mail.open(&[&answer, &mail.folder.path("none")]).fails(2, &["none", "no answer was opened"]);
    mail.open(&[&mail.query]).fails(4, &["this is a query"]);
    let done = comity(&["nisc", "open", &mail.key, "--json", &zeros]);
    assert_eq!((done.code, &done.json()["answers"][0]["error"]["kind"]), (4, &"malformed".into()));
    // None of that was a batch.
    let json = comity(&["nisc", "inspect", &mail.key, "--json"]).json();
    assert_eq!((&json["spent"], &json["opened"]), (&false.into(), &0.into()));
    comity(&["nisc", "refresh", &mail.key, "--out", &out]).fails(2, &["--discard"]);
    assert_eq!(mail.open(&[&answer]).ok(), format!("{answer} (ann): 2a\n"));
    // A program of the same shape that others answer.
    let [q, k] = ["and.query", "and.key"].map(|name| mail.folder.path(name));
    let and = ["nisc", "publish", "mul8", "--input", "u8:1", "--copies", "4", "--out", &q, "--secret", &k];
    comity(&and).ok();
    let foreign = mail.answer_to(&q, "foreign", 3);
    comity(&["nisc", "open", &mail.key, &foreign]).fails(2, &["disagree on the program"]);
    comity(&["nisc", "refresh", &k, "--out", &out, "--discard"]).ok();
    comity(&["nisc", "open", &k, &foreign]).fails(2, &["disagree on the query"]);
    for command in ["publish", "respond", "open", "refresh", "inspect"] {
        comity(&["nisc", command, "--help"]).ok();
    }
    assert!(comity(&["nisc", "--help"]).ok().contains("keep one of it"));
}

/// With t copies a cheat is unseen with probability 1/(2^t - 1), and with one copy always.
#[test]
fn too_few_copies_are_called_what_they_are() {
    let folder = Folder::new("nisc-few");
    let publish = |name: &str, more: &[&str]| {
        let files = [folder.path(&format!("{name}.query")), folder.path(&format!("{name}.key"))];
        let all = ["nisc", "publish", "add8", "--input", "u8:1", "--out", &files[0], "--secret", &files[1]];
        (comity(&[&all[..], more].concat()), files[0].clone())
    };
    for form in [&[][..], &["--stored"]] {
        let (done, query) = publish("none", &[&["--rho", "1"], form].concat());
        done.fails(2, &["--rho 1", "one copy", "no protection at all"]);
        assert!(!fs::exists(query).unwrap());
    }
    let says = |name: &str, more: &[&str], warning: &str, inspected: &str| {
        let (done, query) = publish(name, more);
        done.ok();
        assert!(done.err.contains(warning), "{more:?}: {}", done.err);
        let text = comity(&["nisc", "inspect", &query]);
        assert!(text.ok().contains(inspected), "{more:?}: {}", text.out);
    };
    says("one", &["--copies", "1"], "no protection at all", "there is no protection");
    says("two", &["--rho", "2"], "2^-1.6", "2^-1.6");
    says("shared", &["--copies", "2", "--answers", "4"], "there is no protection", "2^-1.6");
    says("coded", &["--rho", "1", "--coded"], "2^-1", "2^-1\n");
    let (done, query) = publish("usual", &[]);
    done.ok();
    assert!(!done.err.contains("warning"), "{}", done.err);
    assert!(comity(&["nisc", "inspect", &query]).ok().contains("2^-40\n"));
}

#[test]
#[cfg(unix)]
fn the_key_is_for_its_owner_and_found_through_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mail = Mail::new("nisc-key");
    let mode = || fs::metadata(&mail.key).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let [ann, late] = [("ann", 2), ("late", 7)].map(|(name, value)| mail.answer(name, value));
    fs::set_permissions(&mail.key, fs::Permissions::from_mode(0o644)).unwrap();
    mail.open(&[&ann]).fails(2, &["others may use ", "chmod 600"]);
    fs::set_permissions(&mail.key, fs::Permissions::from_mode(0o600)).unwrap();
    // A link leads to the one key, which is marked.
    let link = mail.folder.path("link.key");
    symlink(&mail.key, &link).unwrap();
    comity(&["nisc", "open", &link, &ann]).ok();
    assert_eq!(mode(), 0o600);
    mail.open(&[&late]).fails(2, &["opened already"]);
    // Results that nobody reads are no failure.
    let closed = command(&["nisc", "open", &mail.key, &ann]).stdout(Stdio::null()).output().unwrap();
    assert!(closed.status.success());
}

#[test]
fn the_publisher_may_take_outputs_that_are_for_others() {
    let folder = Folder::new("nisc-output-to");
    let program =
        folder.file("told.cty", "parties a, b;\nfn main(x: u8 from a, y: u8 from b) -> (z: u8 to b) { x + y }\n");
    let [query, key, answer] = ["me.query", "me.key", "you.answer"].map(|name| folder.path(name));
    let publish = ["nisc", "publish", &program, "--input", "x=1", "--copies", "2", "--out", &query, "--secret", &key];
    comity(&publish).fails(2, &["`z`", "--output-to 0"]);
    comity(&[&publish[..], &["--output-to", "1"]].concat()).fails(2, &["`z`", "party 0 only"]);
    comity(&[&publish[..], &["--output-to", "z=0"]].concat()).ok();
    comity(&["nisc", "respond", &query, "--program", &program, "--input", "y=2", "--out", &answer]).ok();
    // A query in the place of its key is told for what it is, whatever its mode.
    comity(&["nisc", "open", &query, &answer]).fails(4, &["this is a query", "nisc publish --secret"]);
    let opened = comity(&["nisc", "open", &key, &answer, "--json"]).json();
    assert_eq!(opened["answers"][0]["values"], serde_json::json!({"z": 3}));
    assert_eq!(opened["security"], 1.58, "of two copies: log2(3)");
}
