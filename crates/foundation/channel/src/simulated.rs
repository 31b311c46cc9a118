//! A network that is slower than the real one: latency and bandwidth without root, for benches on one machine.
//!
//! The sender stamps each chunk with the time at which it would arrive, and the receiver sleeps until then; both ends
//! of a channel are wrapped, and share a clock (the system's: both parties run on one machine). Nothing polls, no
//! thread is started, and sender and receiver overlap as they would on the line.
//!
//! The sender can be [`BACKLOG`] bytes ahead of the line, as with a socket's buffer, and then sleeps; what is
//! posted is all on the line at once. What is under way lies in the channel inside: if that holds less than
//! bandwidth times latency, its size is the limit, as a TCP window would be. Sleeping is accurate to about
//! 0.1 ms. Cost: 12 bytes a chunk of 16 KiB, and a copy.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use comity_core::{Error, Result};

use crate::channel::{Channel, RecvHalf, SendHalf};
use crate::duplex::duplex;

/// The number of bytes that a sender may be ahead of the line.
pub const BACKLOG: usize = 1 << 20;

/// The largest chunk that travels with one stamp.
const CHUNK: usize = 16 << 10;

/// Length and time of arrival.
const HEADER: usize = 12;

/// The speed of a network.
///
/// As text: `lan`, `wan`, or round-trip time and bandwidth in either order, as in `30ms,100mbit` or
/// `100Mbit/s,30ms` (units `us`, `ms`, `s` and `kbit`, `mbit`, `gbit`, decimal, with or without `/s`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetProfile {
    /// The time from sending a byte to receiving one that was sent in answer.
    pub round_trip: Duration,
    /// The bandwidth in each direction.
    pub bits_per_second: u64,
}

impl NetProfile {
    /// A local network as papers of the field measure it: 2.32 Gbit/s, 1 ms round trip.
    pub const LAN: NetProfile = NetProfile { round_trip: Duration::from_millis(1), bits_per_second: 2_320_000_000 };

    /// A wide-area network as papers of the field measure it: 200 Mbit/s, 75 ms round trip.
    pub const WAN: NetProfile = NetProfile { round_trip: Duration::from_millis(75), bits_per_second: 200_000_000 };

    /// How long the line is busy with `bytes` bytes.
    fn busy(&self, bytes: usize) -> Duration {
        let nanos = bytes as u128 * 8_000_000_000 / u128::from(self.bits_per_second.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The longest that a receiver sleeps for one chunk, whatever its stamp says.
    fn longest(&self) -> Duration {
        self.round_trip / 2 + self.busy(BACKLOG + 2 * CHUNK)
    }
}

impl FromStr for NetProfile {
    type Err = Error;

    fn from_str(text: &str) -> Result<NetProfile> {
        match text {
            "lan" => return Ok(NetProfile::LAN),
            "wan" => return Ok(NetProfile::WAN),
            _ => {}
        }
        let profile = |time, rate: &str| {
            let rate = rate.trim_end();
            let nanos = with_unit(time, &[("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)])?;
            let bits = with_unit(
                rate.strip_suffix("/s").unwrap_or(rate),
                &[("kbit", 1_000), ("mbit", 1_000_000), ("gbit", 1_000_000_000)],
            )?;
            (bits > 0).then_some(NetProfile { round_trip: Duration::from_nanos(nanos), bits_per_second: bits })
        };
        // The units tell which of the two is which.
        let parsed = text.split_once(',').and_then(|(one, other)| profile(one, other).or_else(|| profile(other, one)));
        parsed.ok_or_else(|| {
            Error::invalid_input(format!(
                "\"{text}\" is not a network: give lan, wan, or round-trip time and bandwidth, as in 30ms,100mbit"
            ))
        })
    }
}

/// A number with one of these units, in its base unit. At most a day or a terabit.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().ok()?;
    let scale = units.iter().find(|known| known.0.eq_ignore_ascii_case(unit))?.1;
    let value = number * scale as f64;
    (0.0..=1e14).contains(&value).then_some(value as u64)
}

impl fmt::Display for NetProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ms, mbit) = (self.round_trip.as_secs_f64() * 1e3, self.bits_per_second as f64 / 1e6);
        write!(f, "{ms}ms,{mbit}mbit")
    }
}

/// A clock, which tells the time and lets it pass.
trait Clock: Send + Sync {
    /// The time since the epoch.
    fn now(&self) -> Duration;
    fn sleep(&self, duration: Duration);
}

/// The system's clock.
struct System;

impl Clock for System {
    fn now(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn sleep(&self, duration: Duration) {
        thread::sleep(duration);
    }
}

/// Slows the channel inside down. Both ends must be wrapped alike; forks share the line.
pub struct Simulated<C> {
    inner: C,
    line: Line,
    /// Bytes that were not flushed, behind the room for their header.
    out: Vec<u8>,
    arrived: Arrived,
}

/// The outgoing line, and the clock of both directions.
#[derive(Clone)]
struct Line {
    profile: NetProfile,
    clock: Arc<dyn Clock>,
    /// The time, since the epoch, when all that was sent has left.
    free_at: Arc<Mutex<Duration>>,
}

/// A chunk that has arrived, and what of it was not asked for yet.
struct Arrived {
    bytes: Box<[u8]>,
    left: Range<usize>,
}

impl Line {
    fn new(profile: NetProfile, clock: Arc<dyn Clock>) -> Line {
        Line { profile, clock, free_at: Arc::default() }
    }

    /// Puts `bytes` bytes on the line, and returns when they will arrive.
    fn depart(&self, bytes: usize) -> Duration {
        let now = self.clock.now();
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        *free_at = (*free_at).max(now) + self.profile.busy(bytes);
        *free_at + self.profile.round_trip / 2
    }

    /// Waits while this side is too far ahead of the line.
    fn wait(&self) {
        let free_at = *self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = free_at.saturating_sub(self.clock.now());
        self.clock.sleep(ahead.saturating_sub(self.profile.busy(BACKLOG)));
    }

    /// The header of a chunk of `len` bytes, which departs now.
    fn header(&self, len: usize) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&(len as u32).to_le_bytes());
        header[4..].copy_from_slice(&(self.depart(len).as_nanos() as u64).to_le_bytes());
        header
    }

    fn send(&self, out: &mut Vec<u8>, mut bytes: &[u8], inner: &mut dyn SendHalf) -> Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(HEADER + CHUNK - out.len()));
            out.extend_from_slice(now);
            bytes = later;
            if out.len() == HEADER + CHUNK {
                self.flush(out, inner)?;
            }
        }
        Ok(())
    }

    fn flush(&self, out: &mut Vec<u8>, inner: &mut dyn SendHalf) -> Result<()> {
        let len = out.len() - HEADER;
        if len == 0 {
            return Ok(());
        }
        out[..HEADER].copy_from_slice(&self.header(len));
        self.wait();
        let sent = inner.send(out).and_then(|()| inner.flush());
        out.truncate(HEADER);
        sent
    }
}

impl Arrived {
    fn recv(&mut self, line: &Line, mut into: &mut [u8], inner: &mut dyn RecvHalf) -> Result<()> {
        into = self.take(into);
        while !into.is_empty() {
            self.chunk(line, inner)?;
            into = self.take(into);
        }
        Ok(())
    }

    /// Fills the front of `into` with the bytes that have arrived. Returns the rest of `into`.
    fn take<'a>(&mut self, into: &'a mut [u8]) -> &'a mut [u8] {
        let (now, later) = into.split_at_mut(into.len().min(self.left.len()));
        now.copy_from_slice(&self.bytes[self.left.start..][..now.len()]);
        self.left.start += now.len();
        later
    }

    fn chunk(&mut self, line: &Line, inner: &mut dyn RecvHalf) -> Result<()> {
        let mut len = [0; 4];
        let mut arrives = [0; 8];
        inner.recv(&mut len)?;
        inner.recv(&mut arrives)?;
        let len = u32::from_le_bytes(len) as usize;
        if len == 0 || len > CHUNK {
            return Err(Error::malformed("the peer's end of the simulated network is not wrapped alike"));
        }
        let arrives = Duration::from_nanos(u64::from_le_bytes(arrives));
        line.clock.sleep(arrives.saturating_sub(line.clock.now()).min(line.profile.longest()));
        inner.recv(&mut self.bytes[..len])?;
        self.left = 0..len;
        Ok(())
    }
}

impl<C: Channel> Simulated<C> {
    /// Slows `inner` down to this profile.
    pub fn new(inner: C, profile: NetProfile) -> Simulated<C> {
        Simulated::on(inner, Line::new(profile, Arc::new(System)))
    }

    fn on(inner: C, line: Line) -> Simulated<C> {
        let arrived = Arrived { bytes: vec![0; CHUNK].into(), left: 0..0 };
        Simulated { inner, line, out: vec![0; HEADER], arrived }
    }

    fn halves(&mut self) -> (Sending<'_>, Receiving<'_>) {
        let (sending, receiving) = self.inner.split();
        (
            Sending { inner: sending, line: &self.line, out: &mut self.out },
            Receiving { inner: receiving, line: &self.line, arrived: &mut self.arrived },
        )
    }
}

impl<C: Channel> Channel for Simulated<C> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if self.out.len() + bytes.len() < HEADER + CHUNK {
            self.out.extend_from_slice(bytes);
            return Ok(());
        }
        self.halves().0.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        if self.out.len() > HEADER {
            self.halves().0.flush()?;
        }
        let bytes = self.arrived.take(bytes);
        if bytes.is_empty() { Ok(()) } else { self.halves().1.recv(bytes) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.out.len() > HEADER {
            self.halves().0.flush()?;
        }
        self.inner.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.line.wait();
        let all = [&self.out[HEADER..], bytes].concat();
        self.out.truncate(HEADER);
        let stamped: Vec<u8> =
            all.chunks(CHUNK).flat_map(|chunk| [&self.line.header(chunk.len()), chunk].concat()).collect();
        self.inner.post(&stamped)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        let (sending, receiving) = self.halves();
        (Box::new(sending), Box::new(receiving))
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        if self.out.len() + out.len() > HEADER + CHUNK {
            return duplex(self.split(), out, into);
        }
        self.send(out)?;
        self.recv(into)
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        Ok(Box::new(Simulated::on(self.inner.fork(label)?, self.line.clone())))
    }
}

struct Sending<'a> {
    inner: Box<dyn SendHalf + 'a>,
    line: &'a Line,
    out: &'a mut Vec<u8>,
}

impl SendHalf for Sending<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.line.send(self.out, bytes, &mut self.inner)
    }

    fn flush(&mut self) -> Result<()> {
        self.line.flush(self.out, &mut self.inner)
    }
}

struct Receiving<'a> {
    inner: Box<dyn RecvHalf + 'a>,
    line: &'a Line,
    arrived: &'a mut Arrived,
}

impl RecvHalf for Receiving<'_> {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.arrived.recv(self.line, bytes, &mut self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory;

    /// Time passes where somebody sleeps, and nowhere else.
    #[derive(Default)]
    struct Asleep(Mutex<Duration>);

    impl Clock for Asleep {
        fn now(&self) -> Duration {
            *self.0.lock().unwrap()
        }

        fn sleep(&self, duration: Duration) {
            *self.0.lock().unwrap() += duration;
        }
    }

    #[test]
    fn the_network_is_as_slow_as_it_says() {
        let profile = NetProfile { round_trip: Duration::from_millis(20), bits_per_second: 80_000_000 };
        let clock = Arc::new(Asleep::default());
        let (a, b) = memory::pair();
        let (mut a, mut b) =
            (Simulated::on(a, Line::new(profile, clock.clone())), Simulated::on(b, Line::new(profile, clock.clone())));
        a.send(&[7; 500_000]).and_then(|()| a.flush()).unwrap();
        assert_eq!(clock.now(), Duration::ZERO, "the sender may be ahead of the line");
        let mut bytes = vec![0; 500_000];
        b.recv(&mut bytes).unwrap();
        assert!(bytes.iter().all(|&byte| byte == 7));
        assert_eq!(clock.now(), Duration::from_millis(60), "4,000,000 bits and a way there");
        b.send(&[1; 100]).and_then(|()| b.flush()).unwrap();
        a.recv(&mut [0; 100]).unwrap();
        assert_eq!(clock.now(), Duration::from_micros(70_010), "800 bits and a way back");
        // 1,100,000 bytes take 110 ms; the last of them goes out when no more than the backlog is ahead of the line.
        let mut fork = a.fork("side").unwrap();
        let sent = a.send(&[0; 550_000]).and_then(|()| fork.send(&[0; 550_000]));
        sent.and_then(|()| a.flush()).and_then(|()| fork.flush()).unwrap();
        let backlog = Duration::from_nanos(BACKLOG as u64 * 100);
        assert_eq!(clock.now(), Duration::from_micros(70_010 + 110_000) - backlog, "forks share the line");
    }

    #[test]
    fn what_is_posted_holds_nobody_up_and_is_as_slow() {
        let profile = NetProfile { round_trip: Duration::from_millis(20), bits_per_second: 80_000_000 };
        let clock = Arc::new(Asleep::default());
        let (a, b) = memory::pair();
        let (mut a, mut b) =
            (Simulated::on(a, Line::new(profile, clock.clone())), Simulated::on(b, Line::new(profile, clock.clone())));
        a.send(&[7; 10]).and_then(|()| a.post(&[7; 2_000_000 - 10])).unwrap();
        assert_eq!(clock.now(), Duration::ZERO, "more than the backlog, and nobody slept");
        let mut bytes = vec![0; 2_000_000];
        b.recv(&mut bytes).unwrap();
        assert!(bytes.iter().all(|&byte| byte == 7));
        assert_eq!(clock.now(), Duration::from_millis(210), "16,000,000 bits and a way there");
        // The next one waits until no more than the backlog is ahead of it.
        let mut fork = a.fork("side").unwrap();
        a.post(&[0; 2_000_000]).and_then(|()| fork.post(&[0])).unwrap();
        assert_eq!(clock.now(), Duration::from_millis(410) - Duration::from_nanos(BACKLOG as u64 * 100));
    }
}
