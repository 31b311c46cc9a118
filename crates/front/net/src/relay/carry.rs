//! A pair that is carried: two threads, each of which forwards one direction through a buffer of its own.
//!
//! They wait in reads and writes without a time-out: whoever looks after the pair ([`Pair::look`]) shuts the
//! sockets when time is over.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::limits::Now;
use crate::relay::records::Records;

/// Bytes that are forwarded at a time: some records.
const BUFFER: usize = 64 << 10;

/// Bytes of a thread's stack: a direction needs little.
const STACK: usize = 128 << 10;

/// The time in which both have to have begun with TLS.
const BEGIN: Duration = Duration::from_secs(30);

/// The time without a byte after which a pair is ended: parties that have met say every five seconds that
/// they are there, and those that wait for others come again.
const IDLE: Duration = Duration::from_secs(300);

/// Two connections, each of which gets what the other one sends.
pub(crate) struct Pair {
    ends: Arc<[TcpStream; 2]>,
    way: [Arc<Way>; 2],
    threads: Vec<JoinHandle<()>>,
    /// The bytes that had been forwarded at the last look at which there were more than before, and when that was.
    last: (u64, Instant),
}

/// The state of one direction.
#[derive(Default)]
struct Way {
    bytes: AtomicU64,
    /// Something was said that is no TLS.
    foreign: AtomicBool,
}

/// The end of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The two have ended it.
    Over,
    /// One of them said something that is no TLS, and that was not forwarded.
    Foreign,
    /// Nothing came for too long.
    Idle,
}

impl Pair {
    /// Carries between these two, the first of which receives the TLS handshake that the second begins.
    /// `None` if the system has no room.
    pub(crate) fn begin(ends: [TcpStream; 2], now: &Now) -> Option<Pair> {
        for end in &ends {
            end.set_nonblocking(false).and_then(|()| end.set_read_timeout(None)).ok()?;
            end.set_write_timeout(None).ok()?;
        }
        let mut pair = Pair {
            ends: Arc::new(ends),
            way: [Arc::default(), Arc::default()],
            threads: Vec::new(),
            last: (0, now.get()),
        };
        for from in [0, 1] {
            let (ends, way) = (pair.ends.clone(), pair.way[from].clone());
            let run = move || forward(&ends[from], &ends[1 - from], &way, Records::new(from == 0));
            match thread::Builder::new().name("relay".into()).stack_size(STACK).spawn(run) {
                Ok(thread) => pair.threads.push(thread),
                Err(_) => {
                    pair.end();
                    return None;
                }
            }
        }
        Some(pair)
    }

    /// How it ended, if it has; a pair whose time is over is ended.
    pub(crate) fn look(&mut self, now: &Now) -> Option<End> {
        if self.threads.iter().all(JoinHandle::is_finished) {
            let foreign = self.way.iter().any(|way| way.foreign.load(Relaxed));
            return Some(if foreign { End::Foreign } else { End::Over });
        }
        let silence = self.silence(now);
        let limit = if self.way.iter().any(|way| way.bytes.load(Relaxed) == 0) { BEGIN } else { IDLE };
        if silence < limit {
            return None;
        }
        self.end();
        Some(End::Idle)
    }

    /// How long neither has said anything.
    pub(crate) fn silence(&mut self, now: &Now) -> Duration {
        let sum = self.way.iter().map(|way| way.bytes.load(Relaxed)).sum();
        if sum != self.last.0 {
            self.last = (sum, now.get());
        }
        now.since(self.last.1)
    }

    /// Ends it.
    pub(crate) fn end(&mut self) {
        self.ends.iter().for_each(shut);
        // A thread of ours does not panic; if it did, the pair is over all the same.
        self.threads.drain(..).for_each(|thread| _ = thread.join());
    }
}

fn shut(stream: &TcpStream) {
    // A socket that cannot be shut down is closed already.
    let _ = stream.shutdown(Shutdown::Both);
}

/// Forwards the bytes that come, as long as they are TLS.
fn forward(mut from: &TcpStream, mut to: &TcpStream, way: &Way, mut records: Records) {
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = match from.read(&mut buffer) {
            // This direction has ended, and the other one may go on.
            Ok(0) => {
                let _ = to.shutdown(Shutdown::Write);
                return;
            }
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        if !records.pass(&buffer[..count]) {
            way.foreign.store(true, Relaxed);
            break;
        }
        way.bytes.fetch_add(count as u64, Relaxed);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    shut(from);
    shut(to);
}
