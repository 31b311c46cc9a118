//! An afternoon on the port of a service: strangers of all kinds, each of whom is counted when it comes and
//! when it is sent away, beside honest peers, peers that are killed and peers that are stopped. All are
//! processes, and so is the service.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "a campaign says what came")]

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use comity::{Channel, PartyId, PerPeer};
use comity_net::{Fingerprint, Identity, Security, Settings, SystemRng, connect};
use comity_testing::{PATIENCE, drawn, resident_memory};

use crate::common::*;
use crate::job::{digested, free, keyed};

/// The numbers of those who come.
struct Afternoon {
    strangers: usize,
    honest: usize,
    killed: usize,
    stopped: usize,
}

#[test]
fn an_hour_of_strangers_ends_no_service() {
    Afternoon { strangers: 66, honest: 3, killed: 3, stopped: 1 }.pass();
}

#[test]
#[ignore = "a campaign: 10,000 strangers, 100 kills, and 10 peers that are stopped for 20 s each"]
fn an_afternoon_of_strangers_ends_no_service() {
    Afternoon { strangers: 10_000, honest: 100, killed: 100, stopped: 10 }.pass();
}

/// The strangers who say something and wait for what comes, by what they say.
const SAY: [(&str, &[u8]); 8] = [
    ("HTTP", b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"),
    ("SSH", b"SSH-2.0-OpenSSH_9.9\r\n"),
    ("nothing", b""),
    ("one byte", b"\x16"),
    ("noise", &[0xa5; 3000]),
    ("a TLS record that ends early", b"\x16\x03\x01\x02\x00\x01"),
    ("a TLS record that is too long", b"\x16\x03\x01\xff\xff\x01"),
    ("what opens at a relay", b"comity\x00r\x00................................"),
];

/// The KiB that the service may hold more of, since it heard a crowd: 64 at once, each with a thread, TLS and
/// its buffers.
const CROWD: u64 = 24 << 10;

/// The others: they speak comity, or leave at once.
const PLAIN: usize = SAY.len();
const OTHER_KEY: usize = SAY.len() + 1;
const LEAVES: usize = SAY.len() + 2;
const KINDS: usize = SAY.len() + 3;

/// How many of each kind have come, and were sent away.
#[derive(Default)]
struct Counts {
    came: [AtomicUsize; KINDS],
    sent_away: [AtomicUsize; KINDS],
}

/// The service, a go-between that its peers come by, and the strangers who are there.
struct Scene {
    folder: Folder,
    job: String,
    service: Child,
    address: String,
    /// The bytes that have gone either way between the peers and the service since the last one began.
    bytes: Arc<AtomicUsize>,
    counts: Arc<Counts>,
    there: Vec<(usize, TcpStream)>,
    key: Fingerprint,
}

impl Afternoon {
    fn pass(&self) {
        let mut scene = Scene::new(&format!("afternoon-{}", self.strangers));
        let total = self.honest + self.killed + self.stopped;
        let due = |run: usize, all: usize| (run + 1) * all / total > run * all / total;
        let (mut right, mut again, mut killed, mut stopped, mut came) = (0, 0, 0, 0, 0);
        let mut early = None;
        // Those who speak comity wait until the service hears them, which it does between its runs.
        let talkers = scene.talkers(self.strangers);
        for run in 0..total {
            // They come in crowds now and then.
            let until = if run % 8 == 7 || run + 1 == total { (run + 1) * self.strangers / total } else { came };
            came = scene.strangers(came, until.max(came + self.strangers / total / 4).min(self.strangers));
            if due(run, self.killed) {
                again += scene.killed(run);
                killed += 1;
            }
            if due(run, self.stopped) {
                again += scene.stopped(run);
                stopped += 1;
            }
            if due(run, self.honest) {
                again += scene.honest();
                right += 1;
            }
            scene.settle();
            if run == total / 4 {
                early = scene.resident();
            }
        }
        // The last who say nothing are sent away when the parties of a further run have met.
        while !scene.there.is_empty() || !talkers.is_finished() {
            again += scene.honest();
            scene.settle();
        }
        talkers.join().unwrap();
        let late = scene.resident();
        for kind in 0..KINDS {
            let [came, sent] = [&scene.counts.came, &scene.counts.sent_away].map(|counts| counts[kind].load(Relaxed));
            println!("{:>6} strangers, {}", came, name(kind));
            assert_eq!((came, sent), (share(self.strangers, kind), came), "{}", name(kind));
        }
        println!("{right} honest runs, {killed} peers killed, {stopped} stopped; {again} came again");
        println!("resident at a quarter and at the end: {early:?} and {late:?} KiB");
        assert_eq!((came, right, killed, stopped), (self.strangers, self.honest, self.killed, self.stopped));
        if let (Some(early), Some(late)) = (early, late) {
            assert!(late < early + CROWD, "{early} KiB at first, {late} KiB at last");
        }
        scene.end();
    }
}

fn name(kind: usize) -> &'static str {
    match kind {
        PLAIN => "comity in plain text",
        OTHER_KEY => "comity with another key",
        LEAVES => "who leave at once",
        _ => SAY[kind].0,
    }
}

/// The number of strangers of a kind, of `strangers` strangers.
fn share(strangers: usize, kind: usize) -> usize {
    (strangers + KINDS - 1 - kind) / KINDS
}

impl Drop for Scene {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ = self.service.kill();
    }
}

impl Scene {
    fn new(test: &str) -> Scene {
        let folder = Folder::new(test);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // Peers call the go-between, as the job says; strangers call the service itself.
        let parties = keyed(&folder, &[("alice", &listener.local_addr().unwrap().to_string()), ("bob", "-")]);
        let head = "program = \"add64\"\nprotocol = \"yao\"\nruns = 1000000";
        let job = digested(&folder, "job.toml", &format!("{head}\n{parties}"));
        let (address, said) = (free(), folder.path("said"));
        let service = command(&["serve", &job, "--tls", &folder.path("alice"), "--listen", &address])
            .args(["--input", "0=dec:40", "--timeout", "20", "--verbose", "--log", &folder.path("log")])
            .stderr(File::create(&said).unwrap())
            .spawn()
            .unwrap();
        until("the service listens", || fs::read_to_string(&said).is_ok_and(|said| said.contains("serving at")));
        let bytes = Arc::new(AtomicUsize::new(0));
        let (counter, target) = (bytes.clone(), address.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&target) else { return };
                let ends = Arc::new([client, server]);
                for from in [0, 1] {
                    let (ends, counter) = (ends.clone(), counter.clone());
                    thread::spawn(move || forward(&ends[from], &ends[1 - from], &counter));
                }
            }
        });
        let text = fs::read_to_string(&job).unwrap();
        let group = comity::PartyGroup::parse(&text[text.find("[[party]]").unwrap()..]).unwrap();
        let key = group.members()[0].key.unwrap();
        Scene { folder, job, service, address, bytes, counts: Arc::default(), there: Vec::new(), key }
    }

    /// Strangers with these numbers, but for those that speak comity. Returns the next number.
    fn strangers(&mut self, from: usize, to: usize) -> usize {
        for number in from..to {
            let kind = number % KINDS;
            if [PLAIN, OTHER_KEY].contains(&kind) {
                continue;
            }
            let mut stream = TcpStream::connect(&self.address).unwrap();
            self.counts.came[kind].fetch_add(1, Relaxed);
            match SAY.get(kind) {
                Some((_, says)) => {
                    // The service may have heard enough before all is said.
                    let _ = stream.write_all(says);
                    stream.set_nonblocking(true).unwrap();
                    self.there.push((kind, stream));
                }
                None => _ = self.counts.sent_away[kind].fetch_add(1, Relaxed),
            }
        }
        to
    }

    /// Strangers who speak comity, one after another, each until it is refused.
    fn talkers(&self, strangers: usize) -> thread::JoinHandle<()> {
        let (address, counts, key) = (self.address.clone(), self.counts.clone(), self.key);
        thread::spawn(move || {
            let eve = Identity::generate(&mut SystemRng);
            for number in 0..share(strangers, PLAIN) {
                for kind in [PLAIN, OTHER_KEY] {
                    if number >= share(strangers, kind) {
                        continue;
                    }
                    let security = match kind {
                        PLAIN => Security::Plain { anywhere: false },
                        _ => Security::Tls { identity: eve.clone(), peers: PerPeer::new(PartyId(1), 2, |_| key) },
                    };
                    let settings = Settings::of_two(PartyId(1), security, PATIENCE);
                    counts.came[kind].fetch_add(1, Relaxed);
                    let met = connect(&address, PartyId(0), &settings, &mut |_| {});
                    assert!(met.and_then(|mut channel| channel.recv(&mut [0])).is_err(), "a stranger was heard");
                    counts.sent_away[kind].fetch_add(1, Relaxed);
                }
            }
        })
    }

    /// Forgets the strangers who were sent away.
    fn settle(&mut self) {
        let counts = &self.counts;
        self.there.retain_mut(|(kind, stream)| {
            let mut piece = [0; 512];
            loop {
                match stream.read(&mut piece) {
                    Ok(1..) => continue,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                    _ => break,
                }
            }
            counts.sent_away[*kind].fetch_add(1, Relaxed);
            false
        });
    }

    /// Bob's process.
    fn bob(&self) -> Background {
        self.bytes.store(0, Relaxed);
        let keys = self.folder.path("bob");
        Background::start(command(&["run", "--job", &self.job, "--tls", &keys, "--input", "dec:2"]))
    }

    /// A peer that is served; one that a crowd pushed out comes again. How often that was.
    fn honest(&self) -> usize {
        for again in 0.. {
            if is_right(&self.bob().end()) {
                return again;
            }
        }
        unreachable!("it is served some time")
    }

    /// A peer that is killed when a number of bytes have gone; one that ends before that comes again.
    fn killed(&self, run: usize) -> usize {
        for again in 0.. {
            let mut bob = self.bob();
            if self.until(&mut bob, far(run + again)) {
                bob.kill();
                return again;
            }
            is_right(&bob.end());
        }
        unreachable!("it is killed some time")
    }

    /// A peer that is stopped when a number of bytes have gone; the next one is served all the same, and the
    /// first one is told.
    fn stopped(&self, run: usize) -> usize {
        for again in 0.. {
            let mut bob = self.bob();
            if self.until(&mut bob, far(run + again)) {
                signal("STOP", bob.id());
                let more = self.honest();
                signal("CONT", bob.id());
                is_right(&bob.end());
                return again + more;
            }
            is_right(&bob.end());
        }
        unreachable!("it is stopped some time")
    }

    /// Waits until `bytes` bytes have gone. Returns whether the process is still there.
    fn until(&self, bob: &mut Background, bytes: usize) -> bool {
        while self.bytes.load(Relaxed) < bytes {
            if !bob.runs() {
                return false;
            }
            thread::yield_now();
        }
        bob.runs()
    }

    /// The resident size of the service in KiB, where the system tells.
    fn resident(&self) -> Option<u64> {
        resident_memory(Some(self.service.id()))
    }

    /// The service ends in order, and has said of every run how it ended.
    fn end(mut self) {
        assert!(self.service.try_wait().unwrap().is_none(), "the service goes on");
        signal("TERM", self.service.id());
        assert_eq!(self.service.wait().unwrap().code(), Some(0));
        let log = fs::read_to_string(self.folder.path("log")).unwrap();
        for line in log.lines() {
            let run: serde_json::Value = serde_json::from_str(line).unwrap();
            let result = run["result"].as_str().unwrap();
            assert!(["done", "closed", "timeout", "network"].contains(&result), "{line}");
        }
        println!("{} runs in the log of the service", log.lines().count());
    }
}

/// A number of bytes within a run, another one each time.
fn far(run: usize) -> usize {
    drawn(run as u64, 12_000) as usize
}

/// Whether a run gave the sum. One that did not ended in words.
fn is_right(done: &Done) -> bool {
    match done.code {
        0 => assert_eq!(done.out, "000000000000002a\n"),
        code => assert!(code == 3 && done.out.is_empty() && done.err.contains("error: "), "{code}: {}", done.err),
    }
    done.code == 0
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap().success());
}

/// Forwards and counts until either is gone.
fn forward(mut from: &TcpStream, mut to: &TcpStream, counter: &AtomicUsize) {
    let mut piece = vec![0; 4096];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        counter.fetch_add(count, Relaxed);
        if to.write_all(&piece[..count]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
