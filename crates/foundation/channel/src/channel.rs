//! `Channel`: one ordered, reliable byte stream to one peer.

use comity_core::{Error, Result};

/// The bytes of posts under way from which on a further [post](Channel::post) waits.
pub const AHEAD: usize = 1 << 20;

/// One ordered stream of bytes to one peer, and one from it.
///
/// Sending may buffer; [`Channel::recv`] flushes first, so a protocol that only waits for answers never needs to
/// call [`Channel::flush`]. There are no message borders: how many bytes come next is known from the protocol's
/// state, never from the wire.
pub trait Channel: Send {
    /// Sends bytes, perhaps later.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;
    /// Flushes, then fills `bytes`. Does not wait until posted bytes have gone.
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()>;
    /// Sends buffered bytes, and waits until posted bytes have gone.
    fn flush(&mut self) -> Result<()>;
    /// Sends buffered bytes and then `bytes`, without waiting until the peer receives them: this party can
    /// turn to others meanwhile. It waits only while [`AHEAD`] bytes or more of earlier posts are still under way,
    /// so that for a peer that does not receive, this side holds less than that, and one message. Bytes that are
    /// sent later come later.
    fn post(&mut self, bytes: &[u8]) -> Result<()>;
    /// Posts the next piece of a message whose first piece was posted. None of it depends on what this party
    /// received since, so it counts as one message.
    fn post_more(&mut self, bytes: &[u8]) -> Result<()> {
        self.post(bytes)
    }
    /// The two directions apart, so that one thread can send while another receives.
    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>);
    /// Sends `out` and fills `into`, and cannot deadlock however large both are, if the peer does the same.
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()>;
    /// A further channel to the same peer, for a sub-protocol that runs beside this one. Both sides name the
    /// same label. A channel need not have any: no protocol of a session asks for one.
    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        Err(Error::invalid_input(format!("this channel cannot open a further channel, and `{label}` needs one")))
    }
}

/// The sending direction of a [`Channel`].
pub trait SendHalf: Send {
    /// Sends bytes, perhaps later.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;
    /// Sends buffered bytes.
    fn flush(&mut self) -> Result<()>;
}

/// The receiving direction of a [`Channel`].
pub trait RecvHalf: Send {
    /// Fills `bytes`.
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()>;
}

impl<C: Channel + ?Sized> Channel for Box<C> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        (**self).recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        (**self).flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).post(bytes)
    }

    fn post_more(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).post_more(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        (**self).split()
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        (**self).exchange(out, into)
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        (**self).fork(label)
    }
}

impl<C: Channel + ?Sized> Channel for &mut C {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        (**self).recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        (**self).flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).post(bytes)
    }

    fn post_more(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).post_more(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        (**self).split()
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        (**self).exchange(out, into)
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        (**self).fork(label)
    }
}

impl<S: SendHalf + ?Sized> SendHalf for Box<S> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).send(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        (**self).flush()
    }
}

impl<R: RecvHalf + ?Sized> RecvHalf for Box<R> {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        (**self).recv(bytes)
    }
}

impl<S: SendHalf + ?Sized> SendHalf for &mut S {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).send(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        (**self).flush()
    }
}

impl<R: RecvHalf + ?Sized> RecvHalf for &mut R {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        (**self).recv(bytes)
    }
}
