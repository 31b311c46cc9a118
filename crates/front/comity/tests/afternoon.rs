//! A port among strangers for an afternoon: honest runs, peers that are killed or stopped at any byte, and
//! whoever else comes. Every honest run is right, every other one ends in words, and memory stays as it is.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use comity::{Bits, Error, Kind, Listener, Now, Program, Report, Result, Session, Stop, library};
use comity_net::{KeyDir, SystemRng};
use comity_testing::{PATIENCE, drawn, resident_memory};

/// The numbers of those who come.
struct Afternoon {
    strangers: usize,
    honest: usize,
    killed: usize,
    stopped: usize,
}

#[test]
fn an_hour_of_strangers_ends_no_honest_run() {
    Afternoon { strangers: 60, honest: 4, killed: 4, stopped: 1 }.pass();
}

#[test]
#[ignore = "a campaign: 10,000 strangers"]
fn an_afternoon_of_strangers_ends_no_honest_run() {
    Afternoon { strangers: 10_000, honest: 100, killed: 100, stopped: 10 }.pass();
}

/// The end of what a go-between forwards.
enum End {
    /// Both sides are cut off.
    Cut,
    /// Nothing goes on, and nothing is closed, until the other end of the second is gone. The first is told
    /// when that begins.
    Hold(Sender<()>, Receiver<()>),
}

/// Two parties with keys, and the place where the first one waits.
struct Parties {
    root: PathBuf,
    program: Program,
    listener: Listener,
    /// The seconds that the first one's clock is ahead.
    ahead: Arc<AtomicU64>,
}

impl Drop for Parties {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

impl Parties {
    fn new(name: &str) -> Parties {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let dirs = [0, 1].map(|party| KeyDir::new(root.join(party.to_string())));
        let keys = dirs.each_ref().map(|dir| dir.create(&mut SystemRng).unwrap().fingerprint());
        dirs[0].trust(1, keys[1]).and_then(|()| dirs[1].trust(0, keys[0])).unwrap();
        let waits = Session::new(0).listen("127.0.0.1:0").tls(root.join("0"));
        let listener = waits.listener().unwrap().unwrap();
        let program = Program::from_circuit(library::find("add64").unwrap()).unwrap();
        Parties { root, program, listener, ahead: Arc::default() }
    }

    fn session(&self, party: u16) -> Session<'static> {
        Session::new(party).tls(self.root.join(party.to_string())).protocol("yao").timeout(PATIENCE)
    }

    /// One run of the party that waits, which this handle stops.
    fn serve(&self, stop: &Stop) -> Result<Report> {
        let (start, ahead) = (Instant::now(), self.ahead.clone());
        let clock = Now::new(move || start + Duration::from_secs(ahead.load(Relaxed)));
        let session = self.session(0).listen(self.listener.address().to_string()).at(&self.listener);
        session.clock(clock).stopped_by(stop).run(&self.program, [(0, number(40))])
    }

    fn call(&self, address: &str) -> Result<Report> {
        self.session(1).connect(address).run(&self.program, [(1, number(2))])
    }
}

fn number(value: u64) -> Bits {
    Bits::from_bytes(&value.to_le_bytes(), 64)
}

fn is_right(report: &Report) -> bool {
    report.outputs == [(0, number(42))]
}

/// Whether an error says that the other side is gone, or stands still.
fn is_in_words(error: &Error) -> bool {
    matches!(error.kind, Kind::Closed | Kind::TimedOut(_) | Kind::Io { .. } | Kind::Stranger(_) | Kind::Stopped)
        && !error.to_string().is_empty()
}

impl Afternoon {
    fn pass(&self) {
        let parties = Parties::new(&format!("afternoon-{}", self.strangers));
        let total = self.honest + self.killed + self.stopped;
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let strangers = scope.spawn(|| self.strangers(&parties, &over));
            let mut early = None;
            for run in 0..total {
                let (honest, killed) = (run * self.honest / total, run * self.killed / total);
                let next = (run + 1) * self.honest / total > honest;
                match (next, (run + 1) * self.killed / total > killed) {
                    (true, _) => honest_run(&parties),
                    (false, true) => killed_peer(&parties, far(run)),
                    (false, false) => stopped_peer(&parties, far(run)),
                }
                if run == total / 4 {
                    early = resident_memory(None);
                }
            }
            over.store(true, Relaxed);
            strangers.join().unwrap();
            if let (Some(early), Some(late)) = (early, resident_memory(None)) {
                assert!(late < early + (48 << 10), "{early} KiB at first, {late} at last");
            }
        });
        // A party that comes when all is over is served as the first one was.
        honest_run(&parties);
    }

    /// Strangers of all kinds, who leave when others have come.
    fn strangers(&self, parties: &Parties, over: &AtomicBool) {
        let address = parties.listener.address();
        let mut there: VecDeque<TcpStream> = VecDeque::new();
        for number in 0..self.strangers {
            if over.load(Relaxed) {
                break;
            }
            let Ok(mut stream) = TcpStream::connect(address) else { continue };
            let says: &[u8] = match number % 6 {
                0 => b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
                1 => b"SSH-2.0-OpenSSH_9.9\r\n",
                2 => b"",
                3 => &[0xa5; 3000],
                // A TLS record that ends early, and one that claims too much.
                4 => b"\x16\x03\x01\x02\x00\x01",
                _ => b"\x16\x03\x01\xff\xff\x01",
            };
            // Whoever listens may have heard enough.
            let _ = stream.write_all(says);
            there.push_back(stream);
            if there.len() > 40 {
                there.pop_front();
            }
        }
    }
}

/// A number of bytes that is another one for each run.
fn far(run: usize) -> usize {
    drawn(run as u64, 12_000) as usize
}

/// A party that was pushed out by a crowd, before it had said who it is, comes again.
fn honest_run(parties: &Parties) {
    let (stop, address) = (Stop::default(), parties.listener.address().to_string());
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            loop {
                match parties.serve(&stop) {
                    Ok(report) => return report,
                    Err(error) => assert!(is_in_words(&error), "{error:?}"),
                }
            }
        });
        let called = loop {
            match parties.call(&address) {
                Ok(report) => break report,
                Err(error) => assert!(is_in_words(&error), "{error:?}"),
            }
        };
        assert!(is_right(&called) && is_right(&waiting.join().unwrap()));
    });
}

/// The address of a go-between that ends after `bytes` bytes from the caller.
fn between(parties: &Parties, bytes: usize, end: End) -> String {
    let here = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, target) = (here.local_addr().unwrap().to_string(), parties.listener.address());
    thread::spawn(move || {
        let Ok((caller, _)) = here.accept() else { return };
        let Ok(called) = TcpStream::connect(target) else { return };
        let ends = [caller.try_clone().unwrap(), called.try_clone().unwrap()];
        let back = thread::spawn(move || forward(&called, &caller, usize::MAX));
        let whole = forward(&ends[0], &ends[1], bytes);
        if let (End::Hold(begins, ends), false) = (end, whole) {
            let _ = begins.send(());
            let _ = ends.recv();
        }
        ends.iter().for_each(|end| _ = end.shutdown(Shutdown::Both));
        back.join().unwrap();
    });
    address
}

/// Forwards `bytes` bytes, or fewer if there are no more. Returns whether there were no more.
fn forward(mut from: &TcpStream, mut to: &TcpStream, mut bytes: usize) -> bool {
    let mut piece = vec![0; 4096];
    while bytes > 0 {
        let most = piece.len().min(bytes);
        let Ok(count @ 1..) = from.read(&mut piece[..most]) else {
            let _ = to.shutdown(Shutdown::Write);
            return true;
        };
        if to.write_all(&piece[..count]).is_err() {
            return true;
        }
        bytes -= count;
    }
    false
}

/// A peer that is killed after `bytes` bytes: the other one ends in words, or waits for whoever comes until
/// it is stopped.
fn killed_peer(parties: &Parties, bytes: usize) {
    let stop = Stop::default();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| parties.serve(&stop));
        if let Err(error) = parties.call(&between(parties, bytes, End::Cut)) {
            assert!(is_in_words(&error), "{bytes} bytes: {error:?}");
        }
        stop.stop();
        ended(bytes, waiting);
    });
}

/// A peer that is stopped after `bytes` bytes: the other one's clock ends the wait.
fn stopped_peer(parties: &Parties, bytes: usize) {
    thread::scope(|scope| {
        let ((hold, held), (begins, begun)) = (mpsc::channel(), mpsc::channel());
        let waiting = scope.spawn(|| parties.serve(&Stop::default()));
        let address = between(parties, bytes, End::Hold(begins, held));
        let called = scope.spawn(move || parties.call(&address));
        // Nothing is held where all has been said before.
        let _ = begun.recv();
        while !waiting.is_finished() {
            parties.ahead.fetch_add(1, Relaxed);
            thread::yield_now();
        }
        ended(bytes, waiting);
        drop(hold);
        if let Err(error) = called.join().unwrap() {
            assert!(is_in_words(&error), "{bytes} bytes: {error:?}");
        }
    });
}

fn ended(bytes: usize, run: ScopedJoinHandle<'_, Result<Report>>) {
    match run.join().unwrap() {
        Ok(report) => assert!(is_right(&report), "{bytes} bytes"),
        Err(error) => assert!(is_in_words(&error), "{bytes} bytes: {error:?}"),
    }
}
