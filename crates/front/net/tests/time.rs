//! Time: peers that compute, peers that are stopped, deadlines. The clocks are the tests' own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::common::{call, greet, plain, tls};
use comity_channel::{Channel, Error, Result};
use comity_core::Kind;
use comity_net::{Connection, Limits, Listener, Now, Settings, Stop};
use comity_testing::PATIENCE;

const TIMEOUT: Duration = Duration::from_secs(30);

/// The time after which a side that says nothing says that it is there.
const IDLE: u64 = 5;

/// More than any socket takes.
const MUCH: usize = 64 << 20;

/// A clock that stands until it is told to go on.
#[derive(Clone)]
struct Hand {
    start: Instant,
    seconds: Arc<AtomicU64>,
}

impl Hand {
    fn new() -> Hand {
        Hand { start: Instant::now(), seconds: Arc::default() }
    }

    fn limits(&self) -> Limits {
        let clock = self.clone();
        let now = Now::new(move || clock.start + Duration::from_secs(clock.seconds.load(Relaxed)));
        Limits::new(now, Stop::default())
    }

    fn go_on(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Relaxed);
    }

    /// Lets time pass until the thread has ended.
    fn run_until_end<T>(&self, thread: ScopedJoinHandle<'_, T>) -> T {
        while !thread.is_finished() {
            self.go_on(1);
            thread::yield_now();
        }
        thread.join().unwrap()
    }
}

/// Waits for what must happen.
#[track_caller]
fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "in vain: {what}");
        thread::yield_now();
    }
}

/// Two parties whose first messages have come, each with its limits; and the bytes that came from each,
/// counted by a go-between.
fn talking(settings: [Settings; 2], limits: [Limits; 2]) -> ([Connection; 2], [Arc<AtomicU64>; 2]) {
    let [here, there] = [0, 1].map(|party: usize| Settings {
        timeout: TIMEOUT,
        limits: limits[party].clone(),
        ..settings[party].clone()
    });
    let listener = Listener::bind("127.0.0.1:0", &here).unwrap();
    let between = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, target) = (between.local_addr().unwrap().to_string(), listener.address());
    let counts = [(); 2].map(|()| Arc::<AtomicU64>::default());
    let counters = counts.clone();
    thread::spawn(move || {
        let (caller, _) = between.accept().unwrap();
        let called = TcpStream::connect(target).unwrap();
        let ends = [called, caller];
        for (from, counter) in counters.into_iter().enumerate() {
            let (from, to) = (ends[from].try_clone().unwrap(), ends[1 - from].try_clone().unwrap());
            thread::spawn(move || forward(from, to, &counter));
        }
    });
    let (mut here, mut there) = thread::scope(|scope| {
        let accepted = scope.spawn(|| greet(listener.accept(&mut |_| {}), 0).unwrap());
        let called = greet(call(&address, &there), 1).unwrap();
        (accepted.join().unwrap(), called)
    });
    here.send(&[1]).and_then(|()| here.flush()).unwrap();
    there.recv(&mut [0]).unwrap();
    there.send(&[1]).and_then(|()| there.flush()).unwrap();
    here.recv(&mut [0]).unwrap();
    ([here, there], counts)
}

fn forward(mut from: TcpStream, mut to: TcpStream, counter: &AtomicU64) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        counter.fetch_add(count as u64, Relaxed);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

fn timed_out(result: Result<()>) -> String {
    match result {
        Err(Error { kind: Kind::TimedOut(said), .. }) => said,
        other => panic!("{other:?}"),
    }
}

fn both() -> [[Settings; 2]; 2] {
    [[plain(), plain()], tls()]
}

#[test]
fn a_stopped_peer_ends_the_wait_for_it() {
    for settings in both() {
        let (clock, stopped) = (Hand::new(), Hand::new());
        let ([mut here, _there], _) = talking(settings, [clock.limits(), stopped.limits()]);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| here.recv(&mut [0]));
            let said = timed_out(clock.run_until_end(waiting));
            assert!(said.contains("sent nothing for 20 s") && said.contains("its program was stopped"), "{said}");
        });
    }
}

#[test]
fn a_stopped_peer_ends_the_sending_to_it() {
    for settings in both() {
        let (clock, stopped) = (Hand::new(), Hand::new());
        let ([mut here, mut there], _) = talking(settings, [clock.limits(), stopped.limits()]);
        thread::scope(|scope| {
            let sending = scope.spawn(|| here.send(&vec![7; MUCH]).and_then(|()| here.flush()));
            let said = timed_out(clock.run_until_end(sending));
            assert!(said.contains("neither received nor sent anything for 30 s"), "{said}");
        });
        // Whoever stood still for so long learns that it is over.
        assert!(there.recv(&mut vec![0; MUCH]).is_err());
    }
}

/// Lets two minutes pass, in which party 1 says nothing but that it is there.
fn compute(clock: &Hand, from_there: &AtomicU64) {
    for _ in 0..120 / IDLE {
        let before = from_there.load(Relaxed);
        clock.go_on(IDLE);
        until("a keep-alive", || from_there.load(Relaxed) > before);
    }
}

#[test]
fn a_peer_that_computes_for_minutes_is_waited_for() {
    for settings in both() {
        let clock = Hand::new();
        let ([mut here, mut there], [_, from_there]) = talking(settings, [clock.limits(), clock.limits()]);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut byte = [0];
                here.recv(&mut byte).map(|()| byte)
            });
            compute(&clock, &from_there);
            there.send(&[2]).and_then(|()| there.flush()).unwrap();
            assert_eq!(waiting.join().unwrap().unwrap(), [2]);
        });
        // What this side said meanwhile is passed over, too.
        here.send(&[3]).and_then(|()| here.flush()).unwrap();
        let mut byte = [0];
        there.recv(&mut byte).unwrap();
        assert_eq!(byte, [3]);
    }
}

#[test]
fn a_peer_that_computes_for_minutes_can_be_sent_to() {
    for settings in both() {
        for posted in [false, true] {
            let clock = Hand::new();
            let ([mut here, mut there], [_, from_there]) = talking(settings.clone(), [clock.limits(), clock.limits()]);
            thread::scope(|scope| {
                let sending = scope.spawn(|| match posted {
                    false => here.send(&vec![7; MUCH]).and_then(|()| here.flush()),
                    // The other one reads what comes while it is sent.
                    true => here.post(&vec![7; MUCH]).and_then(|()| here.recv(&mut [0])).and_then(|()| here.flush()),
                });
                compute(&clock, &from_there);
                let mut bytes = vec![0; MUCH];
                there.recv(&mut bytes).unwrap();
                assert!(bytes.iter().all(|byte| *byte == 7));
                there.send(&[1]).and_then(|()| there.flush()).unwrap();
                sending.join().unwrap().unwrap();
            });
        }
    }
}

#[test]
fn keep_alives_are_no_first_message() {
    for settings in both() {
        let clock = Hand::new();
        let [here, there] = settings.map(|settings| Settings { timeout: TIMEOUT, limits: clock.limits(), ..settings });
        let listener = Listener::bind("127.0.0.1:0", &here).unwrap();
        let address = listener.address().to_string();
        thread::scope(|scope| {
            let accepted = scope.spawn(|| listener.accept(&mut |_| {}).unwrap());
            let _silent = call(&address, &there).unwrap();
            let mut here = accepted.join().unwrap();
            let waiting = scope.spawn(move || here.recv(&mut [0]));
            let said = timed_out(clock.run_until_end(waiting));
            assert!(said.contains("said nothing for 30 s"), "{said}");
        });
    }
}

#[test]
fn a_deadline_ends_the_run_wherever_it_is() {
    let within = |clock: &Hand| clock.limits().within(Duration::from_secs(60));
    let is_over = |result: Result<()>| match result {
        Err(Error { kind: Kind::Deadline(said), party: None }) => assert!(said.contains("60 s"), "{said}"),
        other => panic!("{other:?}"),
    };
    for settings in both() {
        let (clock, other) = (Hand::new(), Hand::new());
        // In a wait, and in one to send.
        for send in [false, true] {
            let ([mut here, _there], _) = talking(settings.clone(), [within(&clock), other.limits()]);
            thread::scope(|scope| {
                let busy = scope.spawn(|| if send { here.send(&vec![7; MUCH]) } else { here.recv(&mut [0]) });
                clock.go_on(60);
                is_over(busy.join().unwrap());
            });
        }
        // While it computes: the peer is let go at once, and the next step says why.
        let ([mut here, mut there], _) = talking(settings.clone(), [within(&clock), other.limits()]);
        clock.go_on(60);
        assert!(matches!(there.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
        is_over(here.recv(&mut [0]));
        // Before anybody has come, and before anybody is found.
        let hurried = |settings: &Settings| Settings { limits: within(&clock), ..settings.clone() };
        let listener = Listener::bind("127.0.0.1:0", &hurried(&settings[0])).unwrap();
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let calling = hurried(&settings[1]);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| listener.accept(&mut |_| {}).map(drop));
            let calling = scope.spawn(|| call(&nobody, &calling).map(drop));
            clock.go_on(60);
            is_over(waiting.join().unwrap());
            is_over(calling.join().unwrap());
        });
    }
}

#[test]
fn a_run_can_be_stopped_wherever_it_is() {
    let is_stopped = |result: Result<()>| {
        assert!(matches!(result, Err(Error { kind: Kind::Stopped, party: None })), "{result:?}");
    };
    for settings in both() {
        let stop = Stop::default();
        let limits = || Limits::new(Now::default(), stop.clone());
        let ([mut here, mut there], _) = talking(settings.clone(), [limits(), Limits::default()]);
        let listener = Listener::bind("127.0.0.1:0", &Settings { limits: limits(), ..settings[0].clone() }).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| listener.accept(&mut |_| {}).map(drop));
            let receiving = scope.spawn(|| here.recv(&mut [0]));
            stop.stop();
            is_stopped(receiving.join().unwrap());
            is_stopped(waiting.join().unwrap());
        });
        assert!(matches!(there.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
        is_stopped(here.send(&vec![7; MUCH]));
    }
}
