//! `comity serve` among parties with keys, and on material that was made ahead.

use std::fs;

use comity::{Card, Digest, PartyGroup, Program, Protocol, Result, Session, library, named};
use comity_net::{Identity, Security, Settings, SystemRng, connect};
use comity_protocol::{Costing, Job, Party, Supplies, Talk};
use comity_testing::PATIENCE;

use crate::common::*;
use crate::job::{digested, free, keyed};
use crate::serve::Service;

/// Alice, who serves, and Bob, with keys and this before their names.
fn two(folder: &Folder, head: &str) -> (String, String) {
    let parties = keyed(folder, &[("alice", &free()), ("bob", "-")]);
    (
        digested(folder, "job.toml", &format!("program = \"add64\"\n{head}\n{parties}")),
        folder.file("group.toml", &parties),
    )
}

fn lines(log: &str) -> Vec<serde_json::Value> {
    fs::read_to_string(log).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_service_knows_its_peers_by_their_keys() {
    let folder = Folder::new("serve-keys");
    let (job, group) = two(&folder, "protocol = \"yao\"\nruns = 5");
    let (log, alice, bob, eve) = (folder.path("log"), folder.path("alice"), folder.path("bob"), folder.path("eve"));
    comity(&["key", "new", &eve]).ok();
    let args = ["--input", "0=dec:4078", "--tls", &alice, "--log", &log, "--jobs", "2", "--verbose"];
    let service = Service::start(&job, &args);
    let run = |keys: &str| comity(&["run", "--job", &job, "--tls", keys, "--input", "dec:2", "--timeout", "600"]);
    run(&eve).fails(2, &["none of the group's 2 parties has the key"]);
    assert_eq!(run(&bob).ok(), "0000000000000ff0\n");
    // One who has another key than Bob's, and says nothing wrong else.
    let group = PartyGroup::parse(&fs::read_to_string(group).unwrap()).unwrap();
    let peers = group.members()[0].key.unwrap();
    let eve = Identity::generate(&mut SystemRng);
    let peers = comity::PerPeer::new(comity::PartyId(1), 2, |_| peers);
    let settings = Settings::of_two(comity::PartyId(1), Security::Tls { identity: eve, peers }, PATIENCE);
    let refused = connect(&service.address, comity::PartyId(0), &settings, &mut |_| {});
    assert!(refused.and_then(|mut channel| comity::Channel::recv(&mut channel, &mut [0])).is_err());
    assert_eq!(run(&bob).ok(), "0000000000000ff0\n");
    let done = service.end();
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("turned away: the key of the peer at"), "{}", done.err);
    let runs = lines(&log);
    assert_eq!(runs.len(), 2);
    let key = group.members()[1].key.unwrap().to_string();
    for run in &runs {
        let mut fields: Vec<&str> = run.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        let all = ["culprit", "job", "party", "peers", "program", "protocol", "result", "run", "seconds", "when"];
        assert_eq!(fields, all, "and no value");
        assert_eq!((&run["result"], &run["peers"][0]["key"]), (&"done".into(), &key.as_str().into()));
    }
    for mut run in runs {
        // Times have any digits.
        run.as_object_mut().unwrap().retain(|name, _| !["seconds", "when"].contains(&name.as_str()));
        let text = run.to_string();
        assert!(!text.contains("0ff0") && !text.contains("4078") && !text.contains("4080"), "{text}");
    }
}

/// A peer that agrees, and then sends what no message is.
struct Cheat;

static CHEAT: Cheat = Cheat;

impl Protocol for Cheat {
    fn card(&self) -> &'static Card {
        named("cutchoose").unwrap().card()
    }

    fn costs(&self, _: &Costing<'_>, _: &mut Talk) -> Result<()> {
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, _: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        let (channel, ..) = me.pair()?;
        channel.send(&[0xff; 1 << 16])?;
        channel.flush()?;
        // It goes when the other one has had enough.
        channel.recv(&mut vec![0; 1 << 20])
    }
}

/// The bytes of a digest, as far as its text says them.
fn digest(text: &str) -> [u8; 32] {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = [0; 32];
    let letters = text.trim().split_once(':').unwrap().1.chars().filter(|c| *c != '-');
    for (at, letter) in letters.enumerate() {
        let value = LETTERS.find(letter.to_ascii_lowercase()).unwrap();
        (0..5)
            .filter(|bit| value >> (4 - bit) & 1 == 1)
            .for_each(|bit| bytes[(5 * at + bit) / 8] |= 128 >> ((5 * at + bit) % 8));
    }
    assert_eq!(Digest(bytes).text("job"), text.trim());
    bytes
}

#[test]
fn after_misbehaviour_a_key_is_not_served_again() {
    let folder = Folder::new("serve-cheat");
    let (job, group) = two(&folder, "protocol = \"cutchoose\"\nrho = 7\nruns = 5");
    let (log, alice, bob) = (folder.path("log"), folder.path("alice"), folder.path("bob"));
    let args = ["--input", "0=dec:40", "--tls", &alice, "--log", &log];
    let service = Service::start(&job, &args);
    let group = PartyGroup::parse(&fs::read_to_string(group).unwrap()).unwrap();
    let cheat = Session::in_group(&group, &bob).unwrap().with(&CHEAT).timeout(PATIENCE);
    let cheat = cheat.job(digest(comity(&["job", "digest", &job]).ok())).params(comity::Params::new(128, 7).unwrap());
    let program = Program::from_circuit(library::find("add64").unwrap()).unwrap();
    assert!(cheat.run(&program, [(1, comity::Bits::from_bytes(&[2; 8], 64))]).is_err());
    let done = service.end();
    let words = "a run with party 1 (bob) ended in misbehaviour, and its key is not served again";
    assert!(done.code == 0 && done.err.contains(words), "{}", done.err);
    let runs = lines(&log);
    assert_eq!((runs.len(), &runs[0]["culprit"]), (1, &1.into()));
    assert!(runs[0]["result"] == "malformed" || runs[0]["result"] == "misbehaved", "{}", runs[0]);
    // Nor is it after a new start, nor in another job with these books.
    let again = |job: &str, books: &str| {
        let done = comity(&[&["serve", job, "--books", books][..], &args].concat());
        assert!(done.code == 0 && done.err.contains(words), "{}", done.err);
    };
    let books = folder.path("job.toml.books");
    again(&job, &books);
    let text = fs::read_to_string(&job).unwrap().replace("runs = 5", "runs = 6");
    again(&folder.file("other.toml", &text), &books);
}

#[test]
fn material_is_used_once_and_a_store_that_is_used_up_says_so() {
    let folder = Folder::new("serve-store");
    let (job, group) = two(&folder, "protocol = \"cutchoose\"\nrho = 7\nruns = 9\nstore = \"store\"");
    let [alice, bob] = ["alice", "bob"].map(|name| {
        let path = |what: &str| folder.path(&format!("{name}-{what}"));
        ["--tls".to_owned(), folder.path(name), "--store".into(), path("store"), "--key-file".into(), path("store-key")]
    });
    let [alice, bob] = [&alice, &bob].map(|flags| flags.iter().map(String::as_str).collect::<Vec<_>>());
    let shared = ["prepare", "add64", "--group", &group, "--rho", "7", "--count", "2"];
    std::thread::scope(|scope| {
        let other = scope.spawn(|| comity(&[&shared[..], &alice].concat()));
        comity(&[&shared[..], &bob].concat()).ok();
        other.join().unwrap().ok();
    });
    let log = folder.path("log");
    let args = [&["--input", "0=dec:40", "--log", &log][..], &alice].concat();
    let service = Service::start(&job, &args);
    let run = || comity(&[&["run", "--job", &job, "--input", "dec:2", "--timeout", "600"][..], &bob].concat());
    for left in [1, 0] {
        assert_eq!(run().ok(), "000000000000002a\n");
        // A run ends at the client while the service puts its own side in order.
        until("a lot serves one run", || {
            let lots = fs::read_dir(folder.path("alice-store")).unwrap().flatten();
            lots.filter(|file| file.file_name().to_string_lossy().ends_with(".lot")).count() == left
        });
    }
    let (last, done) = (run(), service.end());
    assert!(last.code != 0 && done.code != 0, "{} {}", last.err, done.err);
    assert!(done.err.contains("comity prepare"), "{}", done.err);
    let results: Vec<_> = lines(&log).iter().map(|run| run["result"].as_str().unwrap().to_owned()).collect();
    assert_eq!(results[..2], ["done", "done"]);
}

/// A peer whose store is empty ends its own run, and no service.
#[test]
fn a_peer_without_a_lot_ends_no_service() {
    let folder = Folder::new("serve-no-lot");
    let (job, group) = two(&folder, "protocol = \"cutchoose\"\nrho = 7\nruns = 9\nstore = \"store\"");
    let of = |name: &str, store: &str| {
        let path = |what: &str| folder.path(&format!("{store}-{what}"));
        ["--tls".to_owned(), folder.path(name), "--store".into(), path("store"), "--key-file".into(), path("key")]
    };
    let (alice, bob, empty) = (of("alice", "alice"), of("bob", "bob"), of("bob", "empty"));
    let [alice, bob, empty] = [&alice, &bob, &empty].map(|flags| flags.iter().map(String::as_str).collect::<Vec<_>>());
    let shared = ["prepare", "add64", "--group", &group, "--rho", "7", "--count", "1"];
    std::thread::scope(|scope| {
        let other = scope.spawn(|| comity(&[&shared[..], &alice].concat()));
        comity(&[&shared[..], &bob].concat()).ok();
        other.join().unwrap().ok();
    });
    let key = comity::StoreKey::create(std::path::Path::new(empty[5]), &mut SystemRng).unwrap();
    drop(comity::Store::open_or_create(std::path::Path::new(empty[3]), &key, &mut SystemRng).unwrap());
    let service = Service::start(&job, &[&["--input", "0=dec:40", "--jobs", "2"][..], &alice].concat());
    let run =
        |flags: &[&str]| comity(&[&["run", "--job", &job, "--input", "dec:2", "--timeout", "600"][..], flags].concat());
    run(&empty).fails(2, &["this party has no lot", "comity prepare"]);
    assert_eq!(run(&bob).ok(), "000000000000002a\n");
    let done = service.end();
    assert!(done.code == 0 && done.err.contains("party 1 (bob) has no lot"), "{} {}", done.code, done.err);
}
