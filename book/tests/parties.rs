//! Many parties by command: `sum` in groups, on one machine, and with what goes wrong.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::adding::with_sum;

const PROGRAM: &str = "parties ann, ben, cleo;\n\
    fn main(a: u8 from ann, b: u8 from ben, c: u8 from cleo) -> (all: u8, two: u8 to (ann, ben)) { (a ^ b ^ c, a ^ b) }\n";

/// A folder with the program in it, and a group whose ports are free now.
struct Place {
    folder: PathBuf,
    ports: Vec<u16>,
}

impl Place {
    fn new(test: &str) -> Place {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("sum.cty"), PROGRAM).unwrap();
        let bound = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let place = Place { folder, ports: bound.map(|held| held.local_addr().unwrap().port()).into() };
        for (name, at) in ["ann", "ben", "cleo"].iter().zip(0..) {
            let done = place.comity(&["group", "add", "group.toml", "--name", name, "--address", &place.at(at)]);
            assert!(
                done.status.success() && words(&done).contains(&format!("{name} is party {at}")),
                "{}",
                words(&done)
            );
        }
        place
    }

    fn at(&self, party: usize) -> String {
        format!("127.0.0.1:{}", self.ports[party])
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = with_sum();
        command.args(args).current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn comity(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// A party of the program, in the background.
    fn party(&self, who: &str, value: &str, more: &[&str]) -> Party {
        let args = [&["run", "sum.cty", "--protocol", "sum", "--party", who, "-i", value], more].concat();
        let mut child = self.command(&args).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Party { child, errors, seen: String::new() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

struct Party {
    child: Child,
    errors: BufReader<ChildStderr>,
    seen: String,
}

impl Party {
    /// Waits until the party has said this on standard error.
    fn says(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let mut line = String::new();
            assert!(self.errors.read_line(&mut line).unwrap() > 0, "it never said {text}: {}", self.seen);
            self.seen += &line;
        }
    }

    /// The party's exit code, its results, and what it said.
    fn end(mut self) -> (Option<i32>, String, String) {
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.errors.read_to_string(&mut self.seen).unwrap();
        (self.child.wait().unwrap().code(), out, self.seen)
    }
}

fn words(done: &Output) -> String {
    String::from_utf8_lossy(&[&done.stdout[..], &done.stderr].concat()).into_owned()
}

#[track_caller]
fn fails(done: &Output, code: i32, expected: &[&str]) {
    let text = words(done);
    assert_eq!(done.status.code(), Some(code), "{text}");
    expected.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

#[test]
fn local_starts_a_process_for_each_party() {
    let place = Place::new("local");
    for (more, parties) in [(&[][..], 3), (&["--parties", "9"], 9)] {
        let args =
            [&["local", "sum.cty", "--protocol", "sum", "-i", "1", "-i", "2", "-i", "4", "--json"], more].concat();
        let done = place.comity(&args);
        let all: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", words(&done)));
        let all = all["parties"].as_array().unwrap();
        assert_eq!(all.len(), parties);
        for (me, run) in all.iter().enumerate() {
            assert_eq!((&run["party"], &run["parties"]), (&me.into(), &parties.into()));
            let values = if me < 2 { json!({"all": 7, "two": 3}) } else { json!({"all": 7}) };
            assert_eq!(run["values"], values);
            assert_eq!(run["recipients"], json!({"all": (0..parties).collect::<Vec<_>>(), "two": [0, 1]}));
            let peers = run["peers"].as_object().unwrap();
            assert_eq!(peers.len(), parties - 1);
            let sent: u64 = peers.values().map(|bytes| bytes["sent"].as_u64().unwrap()).sum();
            assert_eq!(run["bytes"]["sent"], sent);
        }
    }
    let local = |more: &[&str]| place.comity(&[&["local", "sum.cty", "-i", "1", "-i", "2", "-i", "4"], more].concat());
    fails(
        &local(&["--protocol", "yao"]),
        2,
        &["yao is for two parties, and there are 3", "--protocol bmr (malicious)"],
    );
    fails(&local(&["--protocol", "sum", "--parties", "2"]), 2, &["party 2 (cleo)", "two parties"]);
    fails(&local(&["--parties", "65"]), 2, &["2..=64"]);
    fails(&local(&["--owner", "a=dan"]), 2, &["there is no party `dan`", "2 (cleo)"]);
    let done = local(&["--protocol", "sum", "--output-to", "two=cleo,1", "--json"]);
    let all: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", words(&done)));
    assert_eq!(all["parties"][2]["recipients"]["two"], json!([1, 2]));
    assert_eq!(all["parties"][0]["values"], json!({"all": 7}));
}

#[test]
fn a_group_meets_also_if_one_of_it_begins_again() {
    let place = Place::new("again");
    let group = ["--group", "group.toml"];
    let mut ann = place.party("ann", "1", &group);
    ann.says("party 0 (ann): waiting for parties 1 (ben) and 2 (cleo)");
    let mut cleo = place.party("2", "4", &group);
    ann.says("waiting for party 1 (ben), up to 600 s; here: 2");
    cleo.says("waiting for party 1 (ben)");
    cleo.child.kill().unwrap();
    cleo.child.wait().unwrap();
    let cleo = place.party("cleo", "4", &group);
    let ben = place.party("ben", "2", &[&group[..], &["--json"]].concat());
    let (code, out, said) = ann.end();
    assert_eq!((code, &out[..]), (Some(0), "all 7\ntwo 3\n"), "{said}");
    let (code, out, said) = cleo.end();
    assert_eq!((code, &out[..]), (Some(0), "all 7\n"), "{said}");
    let (_, out, said) = ben.end();
    let run: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!((&run["values"], &run["parties"]), (&json!({"all": 7, "two": 3}), &3.into()));
}

#[test]
fn who_is_where_is_said_and_what_is_wrong() {
    let place = Place::new("wrong");
    let run = |more: &[&str]| place.comity(&[&["run", "sum.cty", "--protocol", "sum", "-i", "1"], more].concat());
    let group = ["--group", "group.toml"];
    let among = |more: &[&str]| run(&[&group[..], more].concat());
    fails(&among(&[]), 2, &["which party is this?", "--party"]);
    fails(&among(&["--party", "bem"]), 2, &["did you mean `ben`?", "0 (ann)"]);
    fails(&among(&["--party", "7"]), 2, &["no party 7"]);
    fails(&among(&["--party", "0", "--tls", "keys"]), 2, &["no keys"]);
    fails(&run(&["--group", "none.toml", "--party", "0"]), 2, &["no file none.toml", "comity group add"]);
    fails(&among(&["--party", "ann", "--timeout", "0.1"]), 3, &["parties 1 (ben) and 2 (cleo) did not come"]);
    // Two who say that they are the same party.
    let mut ann = place.party("ann", "1", &group);
    ann.says("listening");
    fails(&among(&["--party", "0"]), 3, &["in use"]);
    ann.child.kill().unwrap();
    ann.child.wait().unwrap();

    // Other files: cleo has another name for ben.
    let text = std::fs::read_to_string(place.folder.join("group.toml")).unwrap();
    std::fs::write(place.folder.join("other.toml"), text.replace("\"ben\"", "\"bert\"")).unwrap();
    let parties = [("ann", "group.toml"), ("ben", "group.toml"), ("cleo", "other.toml")];
    let ended = parties.map(|(who, file)| place.party(who, "1", &["--group", file])).map(Party::end);
    for (code, _, said) in ended {
        let sets = ["parties 0 (ann) and 1 (be", "party 2 (cleo)", "group of parties: here group:"];
        assert!(code == Some(2) && sets.iter().all(|set| said.contains(set)), "{code:?} {said}");
    }
    // The program and the group must mean the same by a name.
    std::fs::write(
        place.folder.join("turned.toml"),
        text.replace("\"cleo\"", "\"dan\"").replace("\"ben\"", "\"cleo\""),
    )
    .unwrap();
    fails(&run(&["--group", "turned.toml", "--party", "0"]), 2, &["cleo is party 2 in the program"]);
    std::fs::write(place.folder.join("twice.toml"), text.replace("\"ben\"", "\"ann\"")).unwrap();
    fails(&place.comity(&["group", "show", "twice.toml"]), 2, &["twice.toml", "two parties are called ann"]);
    let shown = place.comity(&["group", "show", "group.toml", "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["parties"][1], json!({"id": 1, "name": "ben", "address": place.at(1), "key": null}));
    assert!(words(&place.comity(&["group", "show", "group.toml"])).contains(shown["digest"].as_str().unwrap()));
}

#[test]
fn a_group_of_two_prepares_ahead_and_runs_on_it() {
    let place = Place::new("ahead");
    let at = [place.at(0), place.at(1)];
    for (who, at) in ["ann", "ben"].iter().zip(&at) {
        let key = place.comity(&["key", "new", who]);
        let key = String::from_utf8(key.stdout).unwrap();
        let add = ["group", "add", "two.toml", "--name", who, "--address", at, "--key", key.trim()];
        assert!(place.comity(&add).status.success());
    }
    let both = |args: &[&str], each: [&[&str]; 2]| {
        let start = |who: &'static str, own: &[&str]| {
            let (key, store) = (format!("{who}.key"), format!("{who}.store"));
            let shared = ["--group", "two.toml", "--tls", who, "--store", &store, "--key-file", &key];
            place.command(&[args, own, &shared].concat()).spawn().unwrap()
        };
        let children = [start("ann", each[0]), start("ben", each[1])];
        children.map(|child| child.wait_with_output().unwrap())
    };
    let prepared = both(&["prepare", "add8", "--protocol", "tinyot", "--json"], [&[], &[]]);
    for (me, done) in prepared.iter().enumerate() {
        let made: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", words(done)));
        assert_eq!((&made["party"], &made["parties"]), (&me.into(), &2.into()));
    }
    for done in both(&["run", "add8", "--protocol", "tinyot"], [&["-i", "u8:40"], &["-i", "u8:2"]]) {
        assert_eq!(String::from_utf8_lossy(&done.stdout), "2a\n", "{}", words(&done));
    }
}
