//! A channel that counts its bytes and rounds.
//!
//! Each counter has one writer, so counting is a plain addition without a locked instruction, and a [`Counter`] can
//! be read from another thread at any time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use comity_core::Result;

use crate::channel::{Channel, RecvHalf, SendHalf};

/// Bytes each way, and rounds, of a channel and its forks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes sent, as the protocol sees them: what frames or TLS add is not in it.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// The number of times that this party turned from sending new bytes to receiving. Rounds of forks are
    /// added, though forks may run side by side: with forks this is an upper bound.
    pub rounds: u64,
}

/// Counts the bytes that go over the channel inside.
pub struct Counted<C> {
    inner: C,
    counter: Counter,
}

/// The counters of a [`Counted`] channel, readable while the channel is at work.
#[derive(Clone, Default)]
pub struct Counter(Arc<Cells>);

#[derive(Default)]
struct Cells {
    sent: AtomicU64,
    received: AtomicU64,
    rounds: AtomicU64,
    /// The value of `sent` when the direction last turned.
    turned_at: AtomicU64,
    forks: Mutex<Vec<Counter>>,
}

/// Adds to a counter that nobody else writes.
fn add(cell: &AtomicU64, more: u64) {
    cell.store(cell.load(Relaxed) + more, Relaxed);
}

impl Counter {
    /// The traffic so far.
    pub fn counts(&self) -> Traffic {
        let own = Traffic {
            sent: self.0.sent.load(Relaxed),
            received: self.0.received.load(Relaxed),
            rounds: self.0.rounds.load(Relaxed),
        };
        let forks = self.0.forks.lock().unwrap_or_else(PoisonError::into_inner);
        forks.iter().map(Counter::counts).fold(own, |sum, fork| Traffic {
            sent: sum.sent + fork.sent,
            received: sum.received + fork.received,
            rounds: sum.rounds + fork.rounds,
        })
    }

    fn sent(&self, bytes: usize) {
        add(&self.0.sent, bytes as u64);
    }

    /// More of a message: no turn if its first bytes were answered.
    fn sent_more(&self, bytes: usize) {
        let (sent, turned_at) = (self.0.sent.load(Relaxed), self.0.turned_at.load(Relaxed));
        self.sent(bytes);
        if sent == turned_at {
            self.0.turned_at.store(self.0.sent.load(Relaxed), Relaxed);
        }
    }

    fn received(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        add(&self.0.received, bytes as u64);
        let sent = self.0.sent.load(Relaxed);
        if sent != self.0.turned_at.load(Relaxed) {
            self.0.turned_at.store(sent, Relaxed);
            add(&self.0.rounds, 1);
        }
    }
}

impl<C: Channel> Counted<C> {
    /// Counts from zero.
    pub fn new(inner: C) -> Counted<C> {
        Counted { inner, counter: Counter::default() }
    }

    /// The traffic so far.
    pub fn counts(&self) -> Traffic {
        self.counter.counts()
    }

    /// A handle on the counters, to read while a protocol has the channel.
    pub fn counter(&self) -> Counter {
        self.counter.clone()
    }
}

impl<C: Channel> Channel for Counted<C> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.counter.sent(bytes.len());
        self.inner.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.counter.received(bytes.len());
        self.inner.recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.counter.sent(bytes.len());
        self.inner.post(bytes)
    }

    fn post_more(&mut self, bytes: &[u8]) -> Result<()> {
        self.counter.sent_more(bytes.len());
        self.inner.post_more(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        let (inner_send, inner_recv) = self.inner.split();
        let counter = &self.counter;
        (Box::new(Sending { inner: inner_send, counter }), Box::new(Receiving { inner: inner_recv, counter }))
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.counter.sent(out.len());
        self.counter.received(into.len());
        self.inner.exchange(out, into)
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        let fork = Counted::new(self.inner.fork(label)?);
        self.counter.0.forks.lock().unwrap_or_else(PoisonError::into_inner).push(fork.counter());
        Ok(Box::new(fork))
    }
}

struct Sending<'a> {
    inner: Box<dyn SendHalf + 'a>,
    counter: &'a Counter,
}

impl SendHalf for Sending<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.counter.sent(bytes.len());
        self.inner.send(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}

struct Receiving<'a> {
    inner: Box<dyn RecvHalf + 'a>,
    counter: &'a Counter,
}

impl RecvHalf for Receiving<'_> {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.counter.received(bytes.len());
        self.inner.recv(bytes)
    }
}
