//! Playing a recording back to one party, in the peer's place.

use comity_core::{Error, Result};

use crate::channel::{Channel, RecvHalf, SendHalf};
use crate::recorded::Recording;

/// A peer that sends again what it sent in a recording.
pub struct Replay {
    says: Says,
    hears: Hears,
    forks: Vec<(String, Recording)>,
}

/// The bytes that the party receives.
struct Says {
    bytes: Vec<u8>,
    done: usize,
}

/// The bytes that the party must send, if that matters.
struct Hears {
    bytes: Option<Vec<u8>>,
    done: usize,
}

impl Replay {
    /// Plays back a recording of this party's view. The party must send what it sent then, else sending is an
    /// [`InvalidInput`](comity_core::Kind) that names the first byte that differs.
    pub fn new(recording: Recording) -> Replay {
        let Recording { sent, received, forks, .. } = recording;
        Replay { says: Says { bytes: received, done: 0 }, hears: Hears { bytes: Some(sent), done: 0 }, forks }
    }

    /// A peer that sends these bytes, whatever it receives, and then closes. It makes no forks.
    pub fn of_peer(says: Vec<u8>) -> Replay {
        Replay { says: Says { bytes: says, done: 0 }, hears: Hears { bytes: None, done: 0 }, forks: Vec::new() }
    }
}

impl RecvHalf for Says {
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        let said = self.bytes[self.done..].get(..bytes.len()).ok_or(Error::closed())?;
        bytes.copy_from_slice(said);
        self.done += bytes.len();
        Ok(())
    }
}

impl SendHalf for Hears {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(all) = &self.bytes {
            let then = &all[self.done..];
            let same = then.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            if same < bytes.len() {
                let at = self.done + same;
                return Err(Error::invalid_input(format!("what is sent differs from the recording at byte {at}")));
            }
            self.done += bytes.len();
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Channel for Replay {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.hears.send(bytes)
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.says.recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.hears.send(bytes)
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        (Box::new(&mut self.hears), Box::new(&mut self.says))
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.send(out)?;
        self.recv(into)
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        let at = self.forks.iter().position(|fork| fork.0 == label).ok_or(Error::closed())?;
        Ok(Box::new(Replay::new(self.forks.remove(at).1)))
    }
}
