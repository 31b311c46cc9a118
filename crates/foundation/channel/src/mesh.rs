//! `Mesh`: one party's channels to all others.

use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use comity_core::{Error, PartyId, Result};

use crate::channel::{AHEAD, Channel};
use crate::memory::{self, MemoryChannel};
use crate::per_peer::PerPeer;

/// One party's links to all other parties. Errors of a link name its party.
pub struct Mesh<'n> {
    links: PerPeer<Box<dyn Channel + 'n>>,
}

/// What a party says in [`Mesh::stream`], and does with what it hears.
pub trait Pieces {
    /// Puts a piece for a peer into `out`, which is empty.
    fn say(&mut self, piece: usize, peer: PartyId, out: &mut Vec<u8>);

    /// Takes in a piece of a peer's.
    ///
    /// # Errors
    /// What is wrong with it. That it is the peer's is added.
    fn hear(&mut self, piece: usize, peer: PartyId, bytes: &[u8]) -> Result<()>;
}

/// In-memory links among `parties` parties, in the order of their ids. `timeout` is as of
/// [`memory::pair_with_timeout`].
pub fn memory_mesh(parties: u16, timeout: Option<Duration>) -> Vec<PerPeer<MemoryChannel>> {
    let mut links: Vec<Vec<MemoryChannel>> = (0..parties).map(|_| Vec::new()).collect();
    for low in 0..usize::from(parties) {
        for high in low + 1..usize::from(parties) {
            let (a, b) = memory::connected(timeout);
            links[low].push(a);
            links[high].push(b);
        }
    }
    let own = |(me, links)| PerPeer::from_vec(PartyId(me), links).expect("a link to each other party");
    (0..).zip(links).map(own).collect()
}

impl<'n> Mesh<'n> {
    /// A mesh of these links.
    pub fn new<C: Channel + 'n>(links: PerPeer<C>) -> Mesh<'n> {
        Mesh { links: links.map(|_, link| Box::new(link) as Box<dyn Channel + 'n>) }
    }

    /// The mesh of one of two parties, over its only link.
    ///
    /// # Panics
    /// If there is no such party among two.
    pub fn of_two(me: PartyId, link: impl Channel + 'n) -> Mesh<'n> {
        Mesh::new(PerPeer::from_vec(me, vec![link]).expect("one of two parties"))
    }

    /// This party's id.
    pub fn me(&self) -> PartyId {
        self.links.me()
    }

    /// The number of parties, this one included.
    pub fn parties(&self) -> u16 {
        self.links.parties()
    }

    /// The ids of all other parties, in order.
    pub fn peers(&self) -> impl Iterator<Item = PartyId> + use<> {
        let (me, parties) = (self.me(), self.parties());
        (0..parties).map(PartyId).filter(move |&party| party != me)
    }

    /// The only link of two parties, and the peer's id.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are not two parties.
    pub fn pair(&mut self) -> Result<(PartyId, &mut (dyn Channel + 'n))> {
        let parties = self.parties();
        let only = self.links.iter_mut().next().filter(|_| parties == 2);
        let (peer, link) =
            only.ok_or_else(|| Error::invalid_input(format!("this is for two parties, and there are {parties}")))?;
        Ok((peer, &mut **link))
    }

    /// The link to a party.
    ///
    /// # Panics
    /// If that is this party, or there is no such party.
    pub fn link(&mut self, party: PartyId) -> &mut (dyn Channel + 'n) {
        &mut *self.links[party]
    }

    /// Runs a sub-protocol for two with every peer, side by side. It starts a thread for each peer but the
    /// first: for set-ups, not for rounds.
    ///
    /// # Errors
    /// The first one, by party.
    pub fn each<T: Send>(&mut self, run: impl Fn(PartyId, &mut dyn Channel) -> Result<T> + Sync) -> Result<PerPeer<T>> {
        let mut none = PerPeer::new(self.me(), self.parties(), |_| ());
        self.each_with(&mut none, |party, ch, ()| run(party, ch))
    }

    /// As [`Mesh::each`], with one state for each peer.
    ///
    /// # Errors
    /// The first one, by party.
    pub fn each_with<S: Send, T: Send>(
        &mut self,
        states: &mut PerPeer<S>,
        run: impl Fn(PartyId, &mut dyn Channel, &mut S) -> Result<T> + Sync,
    ) -> Result<PerPeer<T>> {
        let (me, run) = (self.me(), &run);
        let links = self.links.iter_mut().zip(states.as_mut_slice());
        let mut links = links.map(|((party, ch), state)| move || run(party, &mut **ch, state).map_err(|e| e.by(party)));
        let Some(mut first) = links.next() else { return Ok(PerPeer::from_vec(me, Vec::new()).expect("one a peer")) };
        let all: Result<Vec<T>> = thread::scope(|scope| {
            let threads: Vec<_> = links.map(|link| scope.spawn(link)).collect();
            let first = first();
            let others = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            std::iter::once(first).chain(others).collect()
        });
        Ok(PerPeer::from_vec(me, all?).expect("one a peer"))
    }

    /// Sends each peer its message and fills what it sends, for all at once. Cannot deadlock if all parties
    /// do the same, however long the messages are: the party that is furthest behind is served, since what it
    /// waits for has been [posted](Channel::post), and nobody posts in a round before it has received all of
    /// the round before. When it returns, all has gone. One round.
    ///
    /// # Errors
    /// The first one, by party.
    pub fn exchange(&mut self, out: &PerPeer<Vec<u8>>, into: &mut PerPeer<Vec<u8>>) -> Result<()> {
        if self.parties() == 2 {
            let (peer, link) = self.pair()?;
            return link.exchange(&out[peer], &mut into[peer]).map_err(|e| e.by(peer));
        }
        self.links.iter_mut().try_for_each(|(party, link)| link.post(&out[party]).map_err(|e| e.by(party)))?;
        self.links.iter_mut().try_for_each(|(party, link)| link.recv(&mut into[party]).map_err(|e| e.by(party)))?;
        self.flush()
    }

    /// As [`Mesh::exchange`], of messages in pieces that are made while they are sent, and used while they are in
    /// the cache: each peer hears `pieces` pieces, of as many bytes as `bytes` says, and says as many. No piece is
    /// longer than the first one. A party says pieces ahead of those that it has heard, of half of [`AHEAD`] bytes for
    /// each peer, or none if one piece is longer. It cannot deadlock: the party that is furthest behind has all that
    /// it waits for under way, and the others have taken all of its pieces but those half of [`AHEAD`] bytes, so
    /// that it has room to [post](Channel::post) the next one. Nothing that is said may depend on what is heard.
    /// One round.
    ///
    /// # Errors
    /// The first one, by party.
    pub fn stream(&mut self, pieces: usize, bytes: impl Fn(usize) -> usize, work: &mut impl Pieces) -> Result<()> {
        let ahead = if pieces > 0 { AHEAD / 2 / bytes(0).max(1) } else { 0 };
        let mut buffer = Vec::new();
        for step in 0..pieces.saturating_add(ahead) {
            if step < pieces {
                for (peer, link) in self.links.iter_mut() {
                    buffer.clear();
                    work.say(step, peer, &mut buffer);
                    let posted = if step == 0 { link.post(&buffer) } else { link.post_more(&buffer) };
                    posted.map_err(|e| e.by(peer))?;
                }
            }
            let Some(piece) = step.checked_sub(ahead) else { continue };
            buffer.resize(bytes(piece), 0);
            for (peer, link) in self.links.iter_mut() {
                link.recv(&mut buffer).and_then(|()| work.hear(piece, peer, &buffer)).map_err(|e| e.by(peer))?;
            }
        }
        self.flush()
    }

    /// Sends the same bytes to all, and hears a message of that length from each. That all heard the same is
    /// not checked: see [`Mesh::broadcast`].
    ///
    /// # Errors
    /// The first one, by party.
    pub fn tell(&mut self, bytes: &[u8]) -> Result<PerPeer<Vec<u8>>> {
        let (me, parties) = (self.me(), self.parties());
        let out = PerPeer::new(me, parties, |_| bytes.to_vec());
        let mut into = PerPeer::new(me, parties, |_| vec![0; bytes.len()]);
        self.exchange(&out, &mut into)?;
        Ok(into)
    }

    /// Sends what is buffered, on all links.
    ///
    /// # Errors
    /// The first one, by party.
    pub fn flush(&mut self) -> Result<()> {
        self.links.iter_mut().try_for_each(|(party, link)| link.flush().map_err(|e| e.by(party)))
    }
}
