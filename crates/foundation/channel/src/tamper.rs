//! A channel that changes what goes over it: the network's accidents and a peer's lies, made to order.
//!
//! A change is a range of one direction's bytes and what becomes of it. Where messages end is known from an honest
//! run ([`Recording::messages`](crate::Recording::messages)), so a change to a message is a change to its range.

use std::borrow::Cow;

use comity_core::{Error, Result};

use crate::channel::{Channel, RecvHalf, SendHalf};

/// A direction, seen from the party that has the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Bytes from this party to its peer.
    Outgoing,
    /// Bytes from the peer to this party.
    Incoming,
}

/// A change of bytes from some position on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// One bit of one byte is flipped; bit 0 is the lowest.
    Flip {
        /// The bit's place in the byte, from 0 to 7.
        bit: u8,
    },
    /// Bytes are lost.
    Drop {
        /// The number of lost bytes.
        len: usize,
    },
    /// Bytes come twice in a row.
    Duplicate {
        /// The number of doubled bytes.
        len: usize,
    },
    /// Bytes and those that follow them change places.
    Swap {
        /// The number of bytes that come second now.
        first: usize,
        /// The number of bytes that come first now.
        second: usize,
    },
    /// These bytes come before the byte at the position.
    Insert(Vec<u8>),
    /// Bytes are lost, and others come in their place.
    Replace {
        /// The number of lost bytes.
        len: usize,
        /// The bytes that come instead.
        with: Vec<u8>,
    },
    /// Nothing from here on arrives, and the channel is closed: the party that has it gets
    /// [`Closed`](comity_core::Kind) from whatever it does next.
    Close,
}

impl Change {
    /// The number of bytes that must be known before anything of the change can be passed on.
    fn span(&self) -> usize {
        match self {
            Change::Flip { .. } => 1,
            Change::Drop { len } | Change::Duplicate { len } | Change::Replace { len, .. } => *len,
            Change::Swap { first, second } => first + second,
            Change::Insert(_) | Change::Close => 0,
        }
    }

    /// The number of bytes that come out where the change is made.
    fn grown(&self) -> usize {
        match self {
            Change::Drop { .. } | Change::Close => 0,
            Change::Duplicate { len } => 2 * len,
            Change::Insert(with) | Change::Replace { with, .. } => with.len(),
            Change::Flip { .. } | Change::Swap { .. } => self.span(),
        }
    }

    fn apply(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Change::Flip { bit } => bytes[0] ^= 1 << bit,
            Change::Drop { .. } | Change::Close => bytes.clear(),
            Change::Duplicate { .. } => bytes.extend_from_within(..),
            Change::Swap { first, .. } => bytes.rotate_left(*first),
            Change::Insert(with) | Change::Replace { with, .. } => bytes.clone_from(with),
        }
        bytes
    }
}

/// One change at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tamper {
    /// The direction whose bytes change.
    pub direction: Direction,
    /// The position in that direction's bytes.
    pub at: usize,
    /// What becomes of the bytes there.
    pub change: Change,
}

/// Makes one change to the bytes that go over the channel inside. Wrapped twice, it makes two. Forks are left
/// alone.
pub struct Tampering<C> {
    inner: C,
    outgoing: Edit,
    incoming: Incoming,
}

/// The incoming direction, and changed bytes that were not asked for yet.
struct Incoming {
    edit: Edit,
    pending: Vec<u8>,
}

/// The change to one direction.
struct Edit {
    passed: usize,
    at: usize,
    change: Option<Change>,
    held: Vec<u8>,
}

impl Edit {
    fn new(direction: Direction, tamper: &Tamper) -> Edit {
        let change = (tamper.direction == direction).then(|| tamper.change.clone());
        Edit { passed: 0, at: tamper.at, change, held: Vec::new() }
    }

    /// Whether the channel is closed here.
    fn closed(&self) -> bool {
        self.change == Some(Change::Close) && self.passed >= self.at
    }

    /// Takes the next bytes of the direction. Returns the bytes to pass on.
    fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let (before, until) = (self.at.saturating_sub(self.passed), self.passed + bytes.len());
        let Some(change) = self.change.take_if(|_| until > self.at) else {
            self.passed = until;
            return Cow::Borrowed(bytes);
        };
        let (before, rest) = bytes.split_at(before);
        let missing = change.span() - self.held.len();
        let (inside, after) = rest.split_at(missing.min(rest.len()));
        self.held.extend_from_slice(inside);
        self.passed = until;
        if change == Change::Close || inside.len() < missing {
            self.change = Some(change);
            return Cow::Borrowed(before);
        }
        Cow::Owned([before, &change.apply(std::mem::take(&mut self.held)), after].concat())
    }

    /// The number of bytes that must go in for at least `wanted` more to come out, if these can be known to be enough.
    fn needed(&self, wanted: usize) -> usize {
        let before = self.at.saturating_sub(self.passed);
        match &self.change {
            Some(change) if wanted > before && *change != Change::Close => {
                let inside = change.span() - self.held.len();
                // An insertion happens when the byte after it is there.
                (before + inside + (wanted - before).saturating_sub(change.grown())).max(before + inside.max(1))
            }
            _ => wanted,
        }
    }
}

impl Incoming {
    /// The number of bytes to receive before `len` can be delivered; `None` if they are just passed on.
    fn plan(&self, len: usize) -> Result<Option<usize>> {
        let wanted = len.saturating_sub(self.pending.len());
        let end = self.edit.passed + wanted;
        match self.edit.change {
            Some(Change::Close) if end > self.edit.at => Err(Error::closed()),
            Some(_) if end > self.edit.at => Ok(Some(self.edit.needed(wanted))),
            _ if self.pending.is_empty() => Ok(None),
            _ => Ok(Some(wanted)),
        }
    }

    /// Fills `into` from what `recv` receives.
    fn recv(&mut self, into: &mut [u8], recv: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        match self.plan(into.len())? {
            None => {
                recv(into)?;
                self.edit.passed += into.len();
            }
            Some(len) => {
                let mut raw = vec![0; len];
                recv(&mut raw)?;
                self.deliver(&raw, into);
            }
        }
        Ok(())
    }

    /// Takes received bytes as planned, and delivers.
    fn deliver(&mut self, raw: &[u8], into: &mut [u8]) {
        self.pending.extend_from_slice(&self.edit.push(raw));
        into.copy_from_slice(&self.pending[..into.len()]);
        self.pending.drain(..into.len());
    }
}

impl<C: Channel> Tampering<C> {
    /// Makes this one change.
    pub fn new(inner: C, tamper: &Tamper) -> Tampering<C> {
        let outgoing = Edit::new(Direction::Outgoing, tamper);
        let incoming = Incoming { edit: Edit::new(Direction::Incoming, tamper), pending: Vec::new() };
        Tampering { inner, outgoing, incoming }
    }

    fn check(&self) -> Result<()> {
        if self.outgoing.closed() || self.incoming.edit.closed() { Err(Error::closed()) } else { Ok(()) }
    }
}

impl<C: Channel> Channel for Tampering<C> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        self.inner.send(&self.outgoing.push(bytes))?;
        // What came before the end arrives.
        if self.outgoing.closed() { self.inner.flush() } else { Ok(()) }
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.check()?;
        self.incoming.recv(bytes, |raw| self.inner.recv(raw))
    }

    fn flush(&mut self) -> Result<()> {
        self.check()?;
        self.inner.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        self.inner.post(&self.outgoing.push(bytes))
    }

    fn post_more(&mut self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        self.inner.post_more(&self.outgoing.push(bytes))
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        let (sending, receiving) = self.inner.split();
        (
            Box::new(Sending { inner: sending, edit: &mut self.outgoing }),
            Box::new(Receiving { inner: receiving, incoming: &mut self.incoming }),
        )
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.check()?;
        let out = self.outgoing.push(out);
        if self.outgoing.closed() {
            self.inner.send(&out)?;
            self.inner.flush()?;
            return Err(Error::closed());
        }
        self.incoming.recv(into, |raw| self.inner.exchange(&out, raw))
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        self.check()?;
        self.inner.fork(label)
    }
}

struct Sending<'a> {
    inner: Box<dyn SendHalf + 'a>,
    edit: &'a mut Edit,
}

impl SendHalf for Sending<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if self.edit.closed() {
            return Err(Error::closed());
        }
        self.inner.send(&self.edit.push(bytes))?;
        if self.edit.closed() { self.inner.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.edit.closed() { Err(Error::closed()) } else { self.inner.flush() }
    }
}

struct Receiving<'a> {
    inner: Box<dyn RecvHalf + 'a>,
    incoming: &'a mut Incoming,
}

impl RecvHalf for Receiving<'_> {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.incoming.recv(bytes, |raw| self.inner.recv(raw))
    }
}
