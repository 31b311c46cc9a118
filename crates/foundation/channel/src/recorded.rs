//! Recording what goes over a channel: one party's whole view, for tests and the search for a bug.
//!
//! A recording holds everything in memory, up to a limit that the caller sets.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comity_core::{Error, Result};

use crate::channel::{Channel, RecvHalf, SendHalf};

/// A recording: what one party sent and received over a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// All bytes sent.
    pub sent: Vec<u8>,
    /// The ends of the messages in `sent`: each flush, and each turn to receiving, ends one.
    pub borders: Vec<usize>,
    /// All bytes received.
    pub received: Vec<u8>,
    /// The forks, by label, in the order in which they were made.
    pub forks: Vec<(String, Recording)>,
}

impl Recording {
    /// The ranges of `sent` that are messages.
    pub fn messages(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.borders.iter().copied());
        starts.zip(&self.borders).map(|(start, &end)| start..end)
    }
}

/// Records the bytes that go over the channel inside.
pub struct Recorded<C> {
    inner: C,
    recorder: Recorder,
}

/// A handle on a recording that is being made.
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<Running>>);

struct Running {
    recording: Recording,
    forks: Vec<(String, Recorder)>,
    limit: usize,
}

impl Recorder {
    fn new(limit: usize) -> Recorder {
        Recorder(Arc::new(Mutex::new(Running { recording: Recording::default(), forks: Vec::new(), limit })))
    }

    /// The recording so far.
    pub fn recording(&self) -> Recording {
        let running = self.lock();
        let forks = running.forks.iter().map(|(label, fork)| (label.clone(), fork.recording())).collect();
        Recording { forks, ..running.recording.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sent(&self, bytes: &[u8]) -> Result<()> {
        let mut running = self.lock();
        running.check(bytes.len())?;
        running.recording.sent.extend_from_slice(bytes);
        Ok(())
    }

    fn border(&self) {
        let recording = &mut self.lock().recording;
        if recording.borders.last().copied().unwrap_or(0) < recording.sent.len() {
            recording.borders.push(recording.sent.len());
        }
    }

    /// The last message has no end yet.
    fn go_on(&self) {
        let recording = &mut self.lock().recording;
        if recording.borders.last() == Some(&recording.sent.len()) {
            recording.borders.pop();
        }
    }

    fn received(&self, bytes: &[u8]) -> Result<()> {
        let mut running = self.lock();
        running.check(bytes.len())?;
        running.recording.received.extend_from_slice(bytes);
        Ok(())
    }
}

impl Running {
    fn check(&self, more: usize) -> Result<()> {
        let held = self.recording.sent.len() + self.recording.received.len();
        if held + more > self.limit {
            return Err(Error::invalid_input(format!("the recording is full: it holds at most {} bytes", self.limit)));
        }
        Ok(())
    }
}

impl<C: Channel> Recorded<C> {
    /// Records up to `limit` bytes on this channel, and as many on each fork; more is an error.
    pub fn new(inner: C, limit: usize) -> Recorded<C> {
        Recorded { inner, recorder: Recorder::new(limit) }
    }

    /// A handle on the recording, to read while a protocol has the channel.
    pub fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }
}

impl<C: Channel> Channel for Recorded<C> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.recorder.sent(bytes)?;
        self.inner.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.recorder.border();
        self.inner.recv(bytes)?;
        self.recorder.received(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.recorder.border();
        self.inner.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.recorder.sent(bytes)?;
        self.recorder.border();
        self.inner.post(bytes)
    }

    fn post_more(&mut self, bytes: &[u8]) -> Result<()> {
        self.recorder.go_on();
        self.recorder.sent(bytes)?;
        self.recorder.border();
        self.inner.post_more(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        let (inner_send, inner_recv) = self.inner.split();
        let recorder = &self.recorder;
        (Box::new(Sending { inner: inner_send, recorder }), Box::new(Receiving { inner: inner_recv, recorder }))
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.recorder.sent(out)?;
        self.recorder.border();
        self.inner.exchange(out, into)?;
        self.recorder.received(into)
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        let mut running = self.recorder.lock();
        let fork = Recorded::new(self.inner.fork(label)?, running.limit);
        running.forks.push((label.to_owned(), fork.recorder()));
        Ok(Box::new(fork))
    }
}

struct Sending<'a> {
    inner: Box<dyn SendHalf + 'a>,
    recorder: &'a Recorder,
}

impl SendHalf for Sending<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.recorder.sent(bytes)?;
        self.inner.send(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.recorder.border();
        self.inner.flush()
    }
}

struct Receiving<'a> {
    inner: Box<dyn RecvHalf + 'a>,
    recorder: &'a Recorder,
}

impl RecvHalf for Receiving<'_> {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.inner.recv(bytes)?;
        self.recorder.received(bytes)
    }
}
