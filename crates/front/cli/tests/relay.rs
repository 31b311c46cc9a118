//! `comity relay`, and parties that meet there.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};

use crate::common::*;
use crate::job::{digested, free, keyed};

/// A relay in the background.
struct Relay {
    process: Background,
    address: String,
}

impl Relay {
    fn start() -> Relay {
        let mut process = Background::start(command(&["relay", "--listen", "127.0.0.1:0", "--verbose"]));
        let address = process.address_after("relay at ").expect("it listens");
        Relay { process, address }
    }

    /// Stops it as the system does; its end and what it said.
    fn end(self) -> Done {
        #[cfg(unix)]
        Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        self.process.end()
    }
}

/// Runs of all parties at once.
fn all<const N: usize>(parties: [Vec<&str>; N]) -> [Done; N] {
    let children = parties.map(|args| command(&args).spawn().unwrap());
    children.map(|child| child.wait_with_output().unwrap().into())
}

#[test]
fn parties_whom_nobody_can_call_meet_at_a_relay() {
    let folder = Folder::new("relay-runs");
    let relay = Relay::start();
    // A stranger says something else.
    let mut stranger = TcpStream::connect(&relay.address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(stranger.read_to_end(&mut Vec::new()).is_ok());
    let [ann, ben, cleo] = ["ann", "ben", "cleo"].map(|name| folder.path(name));
    let parties = keyed(&folder, &[("ann", "-"), ("ben", "-"), ("cleo", "-")]);
    let group = folder.file("group.toml", &format!("relay = \"{}\"\n{parties}", relay.address));
    assert!(comity(&["group", "show", &group]).ok().contains(&format!("relay  {}\n", relay.address)));
    let program = folder.file(
        "most.cty",
        "parties ann, ben, cleo;\nfn main(a: u16 from ann, b: u16 from ben, c: u16 from cleo) -> u16 {\n    a + b + c\n}\n",
    );
    let run = ["run", &program, "--group", &group, "--protocol", "gmw"];
    let done = all([(&ann, "1"), (&ben, "2"), (&cleo, "4")]
        .map(|(keys, value)| [&run[..], &["--tls", keys, "-i", value]].concat()));
    done.iter().for_each(|done| assert_eq!(done.ok(), "7\n"));
    // A job names the relay, and a flag does where the file does not; one side serves.
    let two = keyed(&folder, &[("alice", "-"), ("bob", "-")]);
    let head = "program = \"add64\"\nprotocol = \"yao\"\n";
    let job = digested(&folder, "job.toml", &format!("relay = \"{}\"\n{head}{two}", relay.address));
    assert!(comity(&["job", "show", &job]).ok().contains(&format!("relay     {}\n", relay.address)));
    let (alice, bob) = (folder.path("alice"), folder.path("bob"));
    let [done, served] = all([
        vec!["run", "--job", &job, "--tls", &bob, "-i", "dec:2"],
        vec!["serve", &job, "--tls", &alice, "-i", "0=dec:40", "--jobs", "1"],
    ]);
    assert_eq!(done.ok(), "000000000000002a\n");
    assert!(served.ok().is_empty() && served.err.contains("serving at the relay"), "{}", served.err);
    let group = folder.file("two.toml", &two);
    let prepare = ["prepare", "add64", "--rho", "7", "--group", &group, "--relay", &relay.address];
    let stores = ["s0", "k0", "s1", "k1"].map(|name| folder.path(name));
    let done = all([
        [&prepare[..], &["--tls", &alice, "--store", &stores[0], "--key-file", &stores[1]]].concat(),
        [&prepare[..], &["--tls", &bob, "--store", &stores[2], "--key-file", &stores[3]]].concat(),
    ]);
    done.iter().for_each(|done| assert!(done.ok().contains("1 run is prepared")));
    let done = relay.end();
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("speaks HTTP") && done.err.contains("5 paired, 1 turned away"), "{}", done.err);
    assert_eq!(done.err.lines().filter(|line| line.contains("paired in ")).count(), 5, "a line a pair: {}", done.err);
}

/// Two folders of keys that trust each other, without a group.
fn trusting(folder: &Folder) -> [String; 2] {
    let keys = ["zero", "one"].map(|name| folder.path(name));
    let prints = keys.each_ref().map(|keys| {
        comity(&["key", "new", keys]).ok();
        comity(&["key", "show", keys]).ok().trim().to_owned()
    });
    for (keys, other, print) in [(&keys[0], "1", &prints[1]), (&keys[1], "0", &prints[0])] {
        comity(&["key", "trust", keys, "--party", other, print]).ok();
    }
    keys
}

#[test]
fn tables_proofs_and_statements_go_through_a_relay_too() {
    let folder = Folder::new("relay-others");
    let relay = Relay::start();
    let [zero, one] = trusting(&folder);
    let at = ["--relay", &relay.address, "--timeout", "600"];
    let (mine, theirs, out) =
        (folder.file("mine.csv", "k\n1\n2\n3\n"), folder.file("theirs.csv", "k\n3\n4\n"), folder.path("out.csv"));
    let psi = [&["psi", "--key", "k", "--method", "kkrt"][..], &at].concat();
    let done = all([
        [&psi[..], &[&mine, "--party", "0", "--tls", &zero, "--out", &out]].concat(),
        [&psi[..], &[&theirs, "--party", "1", "--tls", &one]].concat(),
    ]);
    done.iter().for_each(|done| _ = done.ok());
    assert_eq!(std::fs::read_to_string(&out).unwrap().trim(), "k\n3");
    let program =
        folder.file("p.cty", "parties prover, public;\nfn main(x: u8 from prover) -> (accept: bool) { x > 3 }\n");
    let done = all([
        [&["zk", "prove", &program, "--secret", "x=7", "--interactive", "--tls", &zero][..], &at].concat(),
        [&["zk", "verify", &program, "--interactive", "--tls", &one][..], &at].concat(),
    ]);
    assert_eq!(done[1].ok(), "valid, with 125 bits of soundness\n");
    done[0].ok();
    let repl = [&["repl"][..], &at].concat();
    let done = all([
        [&repl[..], &["--party", "0", "--tls", &zero]].concat(),
        [&repl[..], &["--party", "1", "--tls", &one]].concat(),
    ]);
    done.iter().for_each(|done| assert!(done.err.contains("connected"), "{}", done.err));
    assert!(relay.end().err.contains("3 paired"));
}

#[test]
fn what_goes_wrong_at_a_relay_is_said() {
    let folder = Folder::new("relay-wrong");
    let [zero, one] = trusting(&folder);
    let mut relay = Relay::start();
    let run = |more: &[&str]| comity(&[&["run", "add64", "--party", "0", "-i", "dec:40"][..], more].concat());
    run(&["--relay", &relay.address]).fails(2, &["carries TLS only", "comity key new"]);
    run(&["--relay", &relay.address, "--plaintext"]).fails(2, &["cannot be used with"]);
    let listens = ["--relay", &relay.address, "--tls", &zero, "--listen", "127.0.0.1:0"];
    run(&listens).fails(2, &["takes the place of listening"]);
    let all = format!("bits:{}", "0".repeat(128 * 200));
    let value = folder.file("value", &all);
    let (value, relay_address) = (format!("@{value}"), relay.address.clone());
    let long = |party: &str, keys: &str, more: &[&str]| {
        let args = ["run", "aes128*200", "--protocol", "yao", "--party", party, "--tls", keys, "-i", &value];
        command(&[&args[..], more].concat()).spawn().unwrap()
    };
    let ended = |child: Child| -> Done { child.wait_with_output().unwrap().into() };
    ended(long("0", &zero, &["--relay", &relay_address, "--timeout", "1"]))
        .fails(3, &["party 1 did not come to the relay at", "within 1 s", "same relay, group and keys"]);
    ended(long("0", &zero, &["--relay", &free(), "--timeout", "1"])).fails(3, &["no relay: nobody listens at"]);
    ended(long("1", &one, &["--connect", &relay_address])).fails(3, &["to meet there, both parties add --relay"]);
    // The relay ends amid the gates.
    let between = Between::before(&relay_address);
    let slow = long("0", &zero, &["--relay", &between.address]);
    let other = long("1", &one, &["--relay", &relay_address]);
    between.until(1 << 20);
    relay.process.kill();
    for child in [slow, other] {
        ended(child).fails(3, &["closed the connection", "the connection went through the relay at"]);
    }
    let group = folder.file("group.toml", &keyed(&folder, &[("alice", &free()), ("bob", "-")]));
    comity(&["run", "add64", "--group", &group, "--tls", &folder.path("bob"), "--relay", "127.0.0.1:1", "-i", "dec:2"])
        .fails(2, &["is not needed"]);
}

#[test]
fn a_relay_carries_a_pair_at_least() {
    comity(&["relay", "--listen", "127.0.0.1:0", "--pairs", "0"]).fails(2, &["--pairs 0", "would carry nobody"]);
}
