//! `Mesh`: one party's channels to all others.

use std::thread;
use std::time::Duration;

use crate::{Channel, Error, MemoryChannel, Result, memory};

/// A message so small that every channel takes it without the peer reading: to send such messages to all and then
/// to receive cannot deadlock. Half of the smallest buffer in common use for a socket.
const SMALL: usize = 2048;

/// One party's channels to all other parties.
pub struct Mesh<C = Box<dyn Channel>> {
    party: usize,
    /// One for each party but this one, in order.
    channels: Vec<C>,
}

/// In-memory meshes of `parties` parties, that of party 0 first. `timeout` is as of
/// [`memory::pair_with_timeout`].
pub fn memory_mesh(parties: usize, timeout: Option<Duration>) -> Vec<Mesh<MemoryChannel>> {
    let mut channels: Vec<Vec<MemoryChannel>> = (0..parties).map(|_| Vec::new()).collect();
    for low in 0..parties {
        for high in low + 1..parties {
            let (a, b) = memory::connected(timeout);
            channels[low].push(a);
            channels[high].push(b);
        }
    }
    channels.into_iter().enumerate().map(|(party, channels)| Mesh { party, channels }).collect()
}

impl<C: Channel> Mesh<C> {
    /// The mesh of `party` over one channel for each other party, in the order of their ids.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) if `party` is not below the number of parties.
    pub fn new(party: usize, channels: Vec<C>) -> Result<Mesh<C>> {
        if party > channels.len() {
            return Err(Error::invalid_input(format!("party {party} does not exist among {}", channels.len() + 1)));
        }
        Ok(Mesh { party, channels })
    }

    /// This party's id.
    pub fn party(&self) -> usize {
        self.party
    }

    /// How many parties there are, this one included.
    pub fn parties(&self) -> usize {
        self.channels.len() + 1
    }

    /// The ids of all other parties, in order.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<C> {
        let party = self.party;
        (0..self.parties()).filter(move |&other| other != party)
    }

    /// The channel to `party`.
    ///
    /// # Panics
    ///
    /// If that is this party, or there is no such party.
    pub fn channel(&mut self, party: usize) -> &mut C {
        assert!(party != self.party && party < self.parties(), "party {} has no channel to {party}", self.party);
        &mut self.channels[party - usize::from(party > self.party)]
    }

    /// Sends `out[i]` to party `i` and fills `into[i]` from it, for all others at once; this party's own entries are
    /// left alone. Cannot deadlock if all parties do the same. One round.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](comity_core::Kind) unless there is one entry for each party. The first error of a channel, by party.
    pub fn exchange_all(&mut self, out: &[Vec<u8>], into: &mut [Vec<u8>]) -> Result<()> {
        if out.len() != self.parties() || into.len() != self.parties() {
            return Err(Error::invalid_input(format!(
                "an exchange among {} parties needs as many messages, not {} and {}",
                self.parties(),
                out.len(),
                into.len()
            )));
        }
        let party = self.party;
        let others = |i: &usize| *i != party;
        let links = self.channels.iter_mut().zip((0..out.len()).filter(others));
        if out.iter().all(|message| message.len() <= SMALL) {
            for (channel, other) in links {
                channel.send(&out[other])?;
                channel.flush()?;
            }
            let into = into.iter_mut().enumerate().filter(|(i, _)| others(i));
            return self.channels.iter_mut().zip(into).try_for_each(|(channel, (_, into))| channel.recv(into));
        }
        thread::scope(|scope| {
            let into = into.iter_mut().enumerate().filter(|(i, _)| others(i));
            let threads: Vec<_> = links
                .zip(into)
                .map(|((channel, other), (_, into))| scope.spawn(move || channel.exchange(&out[other], into)))
                .collect();
            let mut all = Ok(());
            for thread in threads {
                let one = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                all = all.and(one);
            }
            all
        })
    }
}
