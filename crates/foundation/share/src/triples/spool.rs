//! `Spool`: a channel whose messages are kept and exchanged later, with those of others.

use comity_channel::{Channel, RecvHalf, Result, SendHalf};
use comity_core::Error;

/// The ends of an extension's side: what it sends goes to one buffer, what it receives comes from another.
///
/// Two extensions, one each way, in which nobody answers: each party runs the side that speaks, all exchange
/// what was said, and each runs the side that hears.
pub(super) struct Spool<'a> {
    said: Said<'a>,
    heard: Heard<'a>,
}

struct Said<'a>(&'a mut Vec<u8>);

struct Heard<'a>(&'a [u8]);

impl<'a> Spool<'a> {
    /// A spool onto which something is said.
    pub(super) fn speaking(said: &'a mut Vec<u8>) -> Spool<'a> {
        Spool { said: Said(said), heard: Heard(&[]) }
    }

    /// A spool for receiving. Nothing is sent: `said` stays as it is.
    pub(super) fn hearing(heard: &'a [u8], said: &'a mut Vec<u8>) -> Spool<'a> {
        Spool { said: Said(said), heard: Heard(heard) }
    }

    /// The bytes that nobody has read.
    pub(super) fn left(&self) -> usize {
        self.heard.0.len()
    }
}

impl SendHalf for Said<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl RecvHalf for Heard<'_> {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        let (now, later) = self.0.split_at_checked(bytes.len()).ok_or_else(Error::closed)?;
        bytes.copy_from_slice(now);
        self.0 = later;
        Ok(())
    }
}

impl Channel for Spool<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.said.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.heard.recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.said.send(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        (Box::new(&mut self.said), Box::new(&mut self.heard))
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.send(out)?;
        self.recv(into)
    }

    fn fork(&mut self, _: &str) -> Result<Box<dyn Channel>> {
        Err(Error::closed())
    }
}
