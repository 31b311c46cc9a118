//! A token, its holder and another party: as people run them, refused where they should be, and killed.
#![cfg(unix)]

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use comity::Kind;
use comity::token::{RecipientKey, SeedLetter, SeedOrder, SeedRequest, SeedUse, TokenAccess, TokenLine, open};
use comity_channel::Channel;
use comity_core::SessionId;
use comity_net::{Limits, LocalChannel, LocalListener, SystemRng};
use comity_testing::{PATIENCE, Process};

use crate::common::*;

/// A token in a folder of a test.
struct TokenBox {
    folder: Folder,
    fingerprint: String,
}

/// A token that is served.
pub(crate) struct Served {
    process: Background,
    place: String,
}

impl TokenBox {
    fn new(test: &str) -> TokenBox {
        let folder = Folder::new(test);
        let [dir, key] = ["box", "box.key"].map(|name| folder.path(name));
        let made = comity(&["token", "create", &dir, "--key-file", &key]);
        let fingerprint = made.ok().trim().to_owned();
        assert!(fingerprint.starts_with("comity:"), "{fingerprint}");
        assert_eq!(comity(&["token", "show", &dir]).ok().trim(), fingerprint);
        comity(&["token", "create", &dir, "--key-file", &key]).fails(2, &["exists, and is not overwritten"]);
        TokenBox { folder, fingerprint }
    }

    fn socket(&self) -> String {
        self.folder.path("s")
    }

    fn serve(&self) -> Served {
        self.serve_at(&["--socket", &self.socket()])
    }

    fn serve_at(&self, place: &[&str]) -> Served {
        let [dir, key] = ["box", "box.key"].map(|name| self.folder.path(name));
        Served::start(command(&[&["token", "serve", &dir, "--key-file", &key], place].concat()))
    }
}

impl Served {
    /// Starts a token, and waits until it says where it is.
    pub(crate) fn start(serve: Command) -> Served {
        let mut process = Background::start(serve);
        let line = process.line_with(" at ").unwrap_or_else(|| panic!("it never served: {}", process.seen()));
        let (_, place) = line.split_once(" at ").expect("it is there");
        Served { process, place: place.trim().to_owned() }
    }

    /// Kills it; returns what it had said.
    pub(crate) fn kill(mut self) -> String {
        self.process.kill();
        self.process.end().err
    }
}

/// One AES block by both parties, with these flags of each.
pub(crate) fn aes(party0: &[&str], party1: &[&str]) -> (Done, Done) {
    let shared = ["aes128", "--protocol", "gmw-token", "--json"];
    both(&shared, &[&["--input", AES_KEY], party0].concat(), &[&["--input", AES_BLOCK], party1].concat())
}

#[test]
fn two_parties_compute_on_a_tokens_triples() {
    let token = TokenBox::new("token-run");
    let served = token.serve();
    let socket = token.socket();
    let (one, two) = aes(&["--token", &socket], &["--token-key", &token.fingerprint]);
    for (done, option, value) in [(&one, "token", &socket), (&two, "token-key", &token.fingerprint)] {
        let run = done.json();
        assert_eq!((run["outputs"]["0"].as_str(), run["options"][option].as_str()), (Some(AES_OUT), Some(&value[..])));
        assert_eq!(run["adversary"], "semi-honest");
    }
    // In use, the folder is not certified.
    let (dir, issuer) = (token.folder.path("box"), token.folder.path("issuer"));
    let fingerprint = comity(&["key", "new", &issuer]).ok().trim().to_owned();
    comity(&["token", "certify", &dir, "--issuer", &issuer]).fails(2, &["in use"]);
    served.kill();
    assert_eq!(comity(&["token", "certify", &dir, "--issuer", &issuer]).ok().trim(), fingerprint);
    let shown = comity(&["token", "show", &dir]);
    assert_eq!(shown.ok(), format!("{}\nissuer {fingerprint}\n", token.fingerprint));
    // Killed, it left its socket, and takes it again.
    let served = token.serve();
    for known in [&fingerprint, &token.fingerprint] {
        let (one, two) = aes(&["--token", &socket], &["--token-key", known]);
        assert_eq!((one.code, two.code), (0, 0), "{}{}", one.out, two.out);
    }
    served.kill();
}

#[test]
fn a_trial_needs_no_token_of_ones_own() {
    let inputs = ["--input", AES_KEY, "--input", AES_BLOCK];
    let done = comity(&[&["local", "aes128", "--protocol", "gmw-token"], &inputs[..]].concat());
    assert_eq!(done.ok().trim(), AES_OUT);
    let three = comity(&["local", "add64", "--protocol", "gmw-token", "--parties=3", "-i", "u64:40", "-i", "u64:2"]);
    assert_eq!(three.ok().trim(), "000000000000002a");
}

#[test]
fn what_is_missing_or_wrong_is_said_by_name() {
    let token = TokenBox::new("token-refused");
    let socket = token.socket();
    let run = |party: &str, more: &[&str]| {
        let shared = ["run", "aes128", "--protocol", "gmw-token", "--listen", "127.0.0.1:0", "--party", party];
        comity(&[&shared[..], &["--input", AES_KEY], more].concat())
    };
    // Before anybody is bothered.
    run("0", &[]).fails(2, &["--token PATH"]);
    run("1", &[]).fails(2, &["--token-key FINGERPRINT"]);
    run("0", &["--token", "box"]).fails(2, &["PATH", "memory"]);
    run("0", &["--token", "127.0.0.1:1"]).fails(2, &["say its fingerprint (--token-key)"]);
    run("0", &["--token", "127.0.0.1:1", "--token-key", &token.fingerprint]).fails(2, &["--tls DIR"]);
    run("1", &["--token-key", "comity:abcd"]).fails(2, &["FINGERPRINT"]);
    run("1", &["--token-key", &token.fingerprint.replace("comity:", "comity:11111")])
        .fails(2, &["is not a fingerprint of a key"]);
    run("0", &["--token", &socket]).fails(3, &["the socket", "does not exist"]);
    // Nobody listens at a socket that was left.
    token.serve().kill();
    run("0", &["--token", &socket]).fails(3, &["nobody listens"]);
    // Another token than the one that party 1 knows.
    let served = token.serve();
    let other = TokenBox::new("token-other");
    let (one, two) = aes(&["--token", &socket], &["--token-key", &other.fingerprint]);
    two.fails_json(4, "misbehaved", &["another token"]);
    assert_ne!(one.code, 0);
    served.kill();
    let [dir, key] = ["box", "box.key"].map(|name| token.folder.path(name));
    let file = token.folder.file("mine", "a file");
    comity(&["token", "serve", &dir, "--key-file", &key, "--socket", &file]).fails(2, &["exists and is not a socket"]);
    comity(&["token", "serve", &dir, "--key-file", &other.folder.path("box.key"), "--socket", &socket])
        .fails(2, &["not the one that the vault was made with"]);
    comity(&["token", "serve", &dir, "--socket", &socket]).fails(2, &["a token is encrypted"]);
}

#[test]
fn a_token_on_another_machine_is_called_by_tls() {
    let token = TokenBox::new("token-tls");
    let [alice, bob] = ["alice", "bob"].map(|name| token.folder.path(name));
    let [of_alice, of_bob] = [&alice, &bob].map(|dir| comity(&["key", "new", dir]).ok().trim().to_owned());
    comity(&["key", "trust", &alice, "--party", "1", &of_bob]).ok();
    comity(&["key", "trust", &bob, "--party", "0", &of_alice]).ok();
    let served = token.serve_at(&["--listen", "127.0.0.1:0", "--holder", &of_alice]);
    let (place, known) = (served.place.clone(), &token.fingerprint);
    let run = || {
        let holder = ["--token", &place, "--token-key", known, "--tls", &alice];
        let (one, two) = aes(&holder, &["--token-key", known, "--tls", &bob]);
        assert_eq!(two.json()["outputs"]["0"], AES_OUT, "{}", one.err);
    };
    run();
    // Whoever is not the holder is refused, and the token goes on.
    let holder = |more: &[&str]| {
        let shared = ["run", "aes128", "--protocol", "gmw-token", "--listen", "127.0.0.1:0", "--party", "0"];
        comity(&[&shared[..], &["--input", AES_KEY, "--token", &place], more].concat())
    };
    holder(&["--token-key", known, "--tls", &bob]).fails(3, &["does not trust this side's key"]);
    holder(&["--token-key", &of_bob, "--tls", &alice]).fails(3, &["is not the trusted one", &of_bob]);
    drop(TcpStream::connect(&place).unwrap());
    TcpStream::connect(&place).unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    run();
    served.kill();
    let serve = |place: &[&str]| {
        let [dir, key] = ["box", "box.key"].map(|name| token.folder.path(name));
        comity(&[&["token", "serve", &dir, "--key-file", &key], place].concat())
    };
    serve(&["--listen", "127.0.0.1:0"]).fails(2, &["--holder"]);
    serve(&["--listen", "127.0.0.1:0", "--holder", "comity:abcd"]).fails(2, &["is not a fingerprint of a key"]);
    serve(&[]).fails(2, &["--socket"]);
}

#[test]
fn a_token_that_is_gone_ends_the_run_of_its_holder() {
    let token = TokenBox::new("token-gone");
    let served = token.serve();
    let shared = ["run", "aes128", "--protocol", "gmw-token", "--party", "0", "--input", AES_KEY];
    let socket = token.socket();
    let listener = Listener::start(&[&shared[1..], &["--token", &socket]].concat());
    // The holder has called its token before it waits for another party, and nobody is at the other end any more.
    served.kill();
    let address = listener.address.clone();
    let rest = ["--connect", &address, "--token-key", &token.fingerprint, "--input", AES_BLOCK];
    let two = comity(&[&["run", "aes128", "--protocol", "gmw-token", "--party", "1"], &rest[..]].concat());
    let one = listener.end();
    assert_eq!(one.code, 3, "{}", one.err);
    assert!(one.err.contains("token"), "{}", one.err);
    assert_ne!(two.code, 0);
}

/// Kills a token in each of `rounds` rounds, each time at another place of its work, and looks at every seed
/// that it gave.
fn kills(test: &str, rounds: u64) {
    let token = TokenBox::new(test);
    let (mut seen, mut last) = (HashSet::new(), None);
    for round in 0..rounds {
        let (mut served, limits) = (Some(token.serve()), Limits::default());
        let call = || LocalChannel::connect(Path::new(&token.socket()), PATIENCE, &limits).unwrap();
        // One holder is killed between init and set-up: nobody gets its number.
        let mut gone = call();
        let counter = TokenLine::new(&mut gone).init(SeedOrder::new(2, 128).unwrap()).unwrap().counter;
        assert!(last.is_none_or(|last| last < counter), "number {counter} after {last:?}");
        last = Some(counter);
        drop(gone);
        let mut line = call();
        let (mut done, mut killer) = (0, None);
        // The holder asks until nobody answers: from some set-up on it and the killer do what they do side by side.
        loop {
            if let Some(served) = served.take_if(|_| done == round % 5) {
                killer = Some(std::thread::spawn(move || served.kill()));
            }
            let Some((counter, seeds)) = one(&mut line, round) else { break };
            assert!(last.is_none_or(|last| last < counter), "number {counter} after {last:?}");
            last = Some(counter);
            assert!(seeds.into_iter().all(|seed| seen.insert(seed)), "a seed comes twice");
            done += 1;
        }
        killer.expect("the token was killed").join().unwrap();
        assert!(done >= round % 5);
    }
}

/// One order: its number and both seeds, or the number alone if the holder is so minded that it goes no further.
fn one(line: &mut LocalChannel, round: u64) -> Option<(u64, Vec<[u8; 16]>)> {
    let mut token = TokenLine::new(line as &mut dyn Channel);
    let order = SeedOrder::new(2, 128).unwrap();
    let init = token.init(order).ok()?;
    let key = RecipientKey::draw(&mut SystemRng);
    let session = SessionId::derive("kills", &[&round.to_le_bytes()]);
    let request = SeedRequest { session, recipients: vec![*key.public()] };
    let Ok(answer) = token.set_up(&request) else { return Some((init.counter, Vec::new())) };
    let for_ = SeedUse { session, party: 1, parties: 2, recipient: *key.public(), triples: order.triples() };
    let letter = SeedLetter { introduction: init.introduction, counter: init.counter, sealed: answer.sealed[0] };
    let theirs = open(&letter, None, &for_, key).unwrap();
    Some((init.counter, vec![*answer.seed, theirs.to_bytes()]))
}

#[test]
fn a_token_that_is_killed_gives_no_seed_twice() {
    kills("token-kills", 30);
}

#[test]
#[ignore = "a campaign: a token is killed 1,000 times"]
fn a_token_that_is_killed_a_thousand_times_gives_no_seed_twice() {
    kills("token-many-kills", 1000);
}

/// The folder where a party works that is to be killed, which one it is, and in which round; unset in a common run.
const PLACE: &str = "COMITY_TEST_TOKEN_PLACE";
const PARTY: &str = "COMITY_TEST_TOKEN_PARTY";
const ROUND: &str = "COMITY_TEST_TOKEN_ROUND";

/// A line of the log of the seeds that a party got. One write, which the system has when the call returns.
fn log(place: &Path, line: &str) {
    let file = OpenOptions::new().append(true).create(true).open(place.join("log"));
    file.unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Not a test by itself: the holder or its partner, who get seeds from the token until one of the three is killed.
#[test]
fn party_of_kills() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let (place, round) = (Path::new(&place), std::env::var(ROUND).unwrap());
    let meeting = place.join(format!("m{round}"));
    let ended = match std::env::var(PARTY).unwrap().as_str() {
        "0" => holder_of_kills(place, &meeting),
        _ => partner_of_kills(place, &meeting),
    };
    // One of the others was killed.
    let error = ended.unwrap_err();
    assert!(matches!(error.kind, Kind::Closed | Kind::Io { .. } | Kind::Store(_)), "{error}");
}

fn session_of_kills(counter: u64) -> SessionId {
    SessionId::derive("kills of all", &[&counter.to_le_bytes()])
}

/// Seeds of a thousand triples and more, one order after another: each goes into the log before a letter leaves.
fn holder_of_kills(place: &Path, meeting: &Path) -> comity::Result<()> {
    let limits = Limits::default();
    let listener = LocalListener::bind(meeting)?;
    let mut token = LocalChannel::connect(&place.join("s"), PATIENCE, &limits)?;
    let mut partner = listener.accept(&limits).expect("a partner comes");
    let mut token = TokenLine::new(&mut token);
    loop {
        let init = token.init(SeedOrder::new(2, 1000)?)?;
        let mut key = [0; 32];
        partner.recv(&mut key)?;
        let session = session_of_kills(init.counter);
        let answer = token.set_up(&SeedRequest { session, recipients: vec![key] })?;
        log(place, &format!("holder {} {:02x?}", init.counter, *answer.seed));
        let letter = SeedLetter { introduction: init.introduction, counter: init.counter, sealed: answer.sealed[0] };
        partner.send(&letter.to_bytes())?;
        partner.flush()?;
    }
}

fn partner_of_kills(place: &Path, meeting: &Path) -> comity::Result<()> {
    while !meeting.exists() {
        std::thread::yield_now();
    }
    let mut holder = LocalChannel::connect(meeting, PATIENCE, &Limits::default())?;
    let triples = SeedOrder::new(2, 1000)?.triples();
    loop {
        let key = RecipientKey::draw(&mut SystemRng);
        holder.send(key.public())?;
        let mut letter = [0; SeedLetter::BYTES];
        holder.recv(&mut letter)?;
        let letter = SeedLetter::from_bytes(&letter);
        let session = session_of_kills(letter.counter);
        let for_ = SeedUse { session, party: 1, parties: 2, recipient: *key.public(), triples };
        let seed = open(&letter, None, &for_, key).expect("an honest holder's letter");
        log(place, &format!("partner {} {:02x?}", letter.counter, seed.to_bytes()));
    }
}

/// Kills the token, its holder or the partner, each a third of so many times, once they have got somewhere, and
/// looks at every seed that either party got: none twice, and none of a number that was given before.
fn kills_of_all(test: &str, rounds: u64) {
    let token = TokenBox::new(test);
    let dir = token.folder.path("");
    let place = Path::new(&dir);
    let (mut seeds, mut numbers, mut read, mut last) = (HashSet::new(), HashSet::new(), 0, None);
    for round in 0..rounds {
        let mut served = Some(token.serve());
        let [mut holder, mut partner] = ["0", "1"].map(|party| {
            let round = round.to_string();
            Process::test("token::party_of_kills", &[(PLACE, &dir), (PARTY, &party), (ROUND, &round)])
        });
        let lines = || std::fs::read_to_string(place.join("log")).unwrap_or_default();
        let begun = std::time::Instant::now();
        while lines()[read..].lines().count() < 2 + round as usize % 7 {
            assert!(holder.runs() && partner.runs() && begun.elapsed() < PATIENCE, "round {round}: it got nowhere");
        }
        match round % 3 {
            0 => drop(served.take().unwrap().kill()),
            1 => holder.kill(),
            _ => partner.kill(),
        }
        for (number, process) in [holder, partner].into_iter().enumerate() {
            let said = process.end().err;
            assert!(!said.contains("panicked"), "round {round}, party {number}: {said}");
        }
        served.into_iter().for_each(|served| drop(served.kill()));
        let (all, before) = (lines(), last);
        for line in all[read..].lines() {
            let [party, number, seed] = line.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
            let number: u64 = number.parse().unwrap();
            assert!(seeds.insert(seed.to_owned()), "round {round}: a seed comes twice: {line}");
            assert!(numbers.insert((party.to_owned(), number)), "round {round}: a number comes twice: {line}");
            assert!(before.is_none_or(|before| before < number), "round {round}: {line} after number {before:?}");
            last = last.max(Some(number));
        }
        read = all.len();
    }
    assert!(seeds.len() as u64 > 2 * rounds);
}

#[test]
fn whoever_of_the_three_is_killed_no_seed_comes_twice() {
    kills_of_all("token-kills-of-all", 12);
}

#[test]
#[ignore = "a campaign: token, holder and partner are killed 1,000 times"]
fn whoever_of_the_three_is_killed_a_thousand_times_no_seed_comes_twice() {
    kills_of_all("token-many-kills-of-all", 1000);
}
