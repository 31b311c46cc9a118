//! A pair of channels in memory.
//!
//! For tests, benches, and two parties that are threads of one process. Like a socket, each direction holds a
//! fixed number of bytes ([`CAPACITY`], and one message more that was posted) and then makes the sender wait,
//! and what was sent but not flushed stays with the sender. Unlike a socket, the pair knows both ends: when
//! each waits for the other, nothing can happen any more, and both get an error at once instead of a
//! time-out. A byte is copied twice, and a transfer takes one lock.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use comity_core::{Error, Result};

use crate::channel::{AHEAD, Channel, RecvHalf, SendHalf};

/// Bytes that each direction holds: enough that a sender runs ahead of its receiver by some chunks of garbled
/// tables, little enough that both directions sit in the second-level cache.
pub const CAPACITY: usize = AHEAD;

/// Unflushed bytes that the sender keeps: small messages are then one transfer, and large ones pass it by.
const BUFFER: usize = 1 << 14;

/// Two connected channels.
///
/// ```
/// use comity_channel::{Channel, memory};
///
/// let (mut alice, mut bob) = memory::pair();
/// alice.send(b"hello")?;
/// alice.flush()?;
/// let mut bytes = [0; 5];
/// bob.recv(&mut bytes)?;
/// assert_eq!(&bytes, b"hello");
/// # Ok::<(), comity_channel::Error>(())
/// ```
pub fn pair() -> (MemoryChannel, MemoryChannel) {
    connected(None)
}

/// Two connected channels that give up with [`TimedOut`](comity_core::Kind) when they have waited for the
/// peer longer than `timeout` without a byte going either way.
pub fn pair_with_timeout(timeout: Duration) -> (MemoryChannel, MemoryChannel) {
    connected(Some(timeout))
}

pub(crate) fn connected(timeout: Option<Duration>) -> (MemoryChannel, MemoryChannel) {
    let wire = Arc::new(Wire::default());
    let end = |side| MemoryChannel { end: End { wire: wire.clone(), side, timeout }, buffer: Vec::new() };
    (end(0), end(1))
}

/// One end of a [`pair`].
pub struct MemoryChannel {
    end: End,
    buffer: Vec<u8>,
}

impl MemoryChannel {
    /// The channel with another time-out for waits at this end.
    #[must_use]
    pub fn patient_for(mut self, timeout: Duration) -> MemoryChannel {
        self.end.timeout = Some(timeout);
        self
    }
}

/// The two directions of a pair of channels, and the ends that wait.
#[derive(Default)]
struct Wire {
    state: Mutex<State>,
    changed: [Condvar; 2],
}

#[derive(Default)]
struct State {
    /// `pipes[i]` holds the bytes under way to side `i`.
    pipes: [VecDeque<u8>; 2],
    gone: [bool; 2],
    /// The want of each side that waits and can do nothing else.
    wants: [Option<Wants>; 2],
    deadlock: bool,
    /// Ends of forks that the other side opened first, by label.
    forks: [HashMap<String, VecDeque<MemoryChannel>>; 2],
}

#[derive(Clone, Copy)]
struct Wants {
    room: bool,
    bytes: bool,
}

impl State {
    /// Whether `side` waits for what only the other side can give.
    fn stuck(&self, side: usize) -> bool {
        self.wants[side].is_some_and(|wants| {
            let served_room = wants.room && self.pipes[1 - side].len() < CAPACITY;
            let served_bytes = wants.bytes && !self.pipes[side].is_empty();
            !served_room && !served_bytes
        })
    }
}

struct End {
    wire: Arc<Wire>,
    side: usize,
    timeout: Option<Duration>,
}

impl End {
    fn state(&self) -> MutexGuard<'_, State> {
        self.wire.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends all of `out` and fills `into`, whichever goes first. `alone` says that nobody else can use this end
    /// meanwhile, so that this end, once stuck, stays stuck until the peer acts.
    fn transfer(&self, mut out: &[u8], mut into: &mut [u8], alone: bool) -> Result<()> {
        let (side, peer) = (self.side, 1 - self.side);
        let mut deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        let mut state = self.state();
        loop {
            if state.deadlock {
                return Err(Error::timed_out("deadlock: each party waits for the other"));
            }
            if !out.is_empty() && state.gone[peer] {
                return Err(Error::closed());
            }
            let room = out.len().min(CAPACITY.saturating_sub(state.pipes[peer].len()));
            let (now, later) = out.split_at(room);
            state.pipes[peer].extend(now);
            out = later;
            let ready = into.len().min(state.pipes[side].len());
            let (now, later) = into.split_at_mut(ready);
            take(&mut state.pipes[side], now);
            into = later;
            let moved = room + ready > 0;
            if moved {
                self.wire.changed[peer].notify_all();
            }
            if out.is_empty() && into.is_empty() {
                return Ok(());
            }
            if out.is_empty() && state.gone[peer] {
                return Err(Error::closed());
            }
            if alone {
                state.wants[side] = Some(Wants { room: !out.is_empty(), bytes: !into.is_empty() });
                if state.stuck(side) && state.stuck(peer) {
                    state.deadlock = true;
                    self.wire.changed[peer].notify_all();
                    continue;
                }
            }
            if moved {
                deadline = self.timeout.map(|timeout| Instant::now() + timeout);
            }
            let late = deadline.is_some_and(|deadline| deadline <= Instant::now());
            if !late {
                state = self.wait(state, deadline);
            }
            state.wants[side] = None;
            if late {
                let timeout = self.timeout.unwrap_or_default();
                return Err(Error::timed_out(format!("nothing came from or went to the peer for {timeout:?}")));
            }
        }
    }

    /// Sends all of `out` as soon as there is room for its first byte, however much it is.
    fn post(&self, out: &[u8]) -> Result<()> {
        let (first, rest) = out.split_at(out.len().min(1));
        self.transfer(first, &mut [], true)?;
        let mut state = self.state();
        state.pipes[1 - self.side].extend(rest);
        drop(state);
        self.wire.changed[1 - self.side].notify_all();
        Ok(())
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, deadline: Option<Instant>) -> MutexGuard<'a, State> {
        let changed = &self.wire.changed[self.side];
        match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            Some(left) => changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

fn take(pipe: &mut VecDeque<u8>, into: &mut [u8]) {
    let (first, second) = pipe.as_slices();
    let cut = first.len().min(into.len());
    into[..cut].copy_from_slice(&first[..cut]);
    let rest = into.len() - cut;
    into[cut..].copy_from_slice(&second[..rest]);
    pipe.drain(..into.len());
}

fn send(end: &End, buffer: &mut Vec<u8>, bytes: &[u8], alone: bool) -> Result<()> {
    if buffer.len() + bytes.len() <= BUFFER {
        buffer.extend_from_slice(bytes);
        return Ok(());
    }
    flush(end, buffer, alone)?;
    if bytes.len() < BUFFER {
        buffer.extend_from_slice(bytes);
        return Ok(());
    }
    end.transfer(bytes, &mut [], alone)
}

fn flush(end: &End, buffer: &mut Vec<u8>, alone: bool) -> Result<()> {
    if !buffer.is_empty() {
        end.transfer(buffer, &mut [], alone)?;
        buffer.clear();
    }
    Ok(())
}

impl Channel for MemoryChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        send(&self.end, &mut self.buffer, bytes, true)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        flush(&self.end, &mut self.buffer, true)?;
        self.end.transfer(&[], bytes, true)
    }

    fn flush(&mut self) -> Result<()> {
        flush(&self.end, &mut self.buffer, true)
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        flush(&self.end, &mut self.buffer, true)?;
        self.end.post(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        (Box::new(Sending { end: &self.end, buffer: &mut self.buffer }), Box::new(Receiving { end: &self.end }))
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        flush(&self.end, &mut self.buffer, true)?;
        self.end.transfer(out, into, true)
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        let (side, peer) = (self.end.side, 1 - self.end.side);
        let mut state = self.end.state();
        if let Some(channel) = state.forks[side].get_mut(label).and_then(VecDeque::pop_front) {
            return Ok(Box::new(channel));
        }
        if state.gone[peer] {
            return Err(Error::closed());
        }
        let (first, second) = connected(self.end.timeout);
        let (ours, theirs) = if side == 0 { (first, second) } else { (second, first) };
        state.forks[peer].entry(label.to_owned()).or_default().push_back(theirs);
        Ok(Box::new(ours))
    }
}

impl Drop for MemoryChannel {
    fn drop(&mut self) {
        let mut state = self.end.state();
        state.gone[self.end.side] = true;
        let unclaimed = std::mem::take(&mut state.forks[self.end.side]);
        drop(state);
        self.end.wire.changed[1 - self.end.side].notify_all();
        drop(unclaimed);
    }
}

struct Sending<'a> {
    end: &'a End,
    buffer: &'a mut Vec<u8>,
}

impl SendHalf for Sending<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        send(self.end, self.buffer, bytes, false)
    }

    fn flush(&mut self) -> Result<()> {
        flush(self.end, self.buffer, false)
    }
}

struct Receiving<'a> {
    end: &'a End,
}

impl RecvHalf for Receiving<'_> {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.end.transfer(&[], bytes, false)
    }
}
