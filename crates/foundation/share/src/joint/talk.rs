//! `Talk`: what parties say to each other in the sub-protocols of [`Joint`](super::Joint), each message by
//! its name, so that tests can have a party that says something else to somebody.

use std::collections::VecDeque;

use comity_channel::{Echo, Mesh, PerPeer};
use comity_core::{PartyId, Result};
use comity_protocol::Conduct;

use super::JointAct;

/// A message by its name, to each peer.
pub(crate) type Message = (&'static str, PerPeer<Vec<u8>>);

/// A caller's bytes that travel with another message to each peer, and the lengths of those that come back.
pub struct Beside {
    /// The bytes to each peer.
    pub out: PerPeer<Vec<u8>>,
    /// The length of what each peer sends, in bytes.
    pub lengths: PerPeer<usize>,
}

impl Beside {
    /// `out` travels; each peer sends as many bytes as it gets.
    pub fn alike(out: PerPeer<Vec<u8>>) -> Beside {
        let lengths = PerPeer::new(out.me(), out.parties(), |peer| out[peer].len());
        Beside { out, lengths }
    }

    /// No bytes, to and from anybody.
    pub fn nothing(mesh: &Mesh<'_>) -> Beside {
        Beside::alike(PerPeer::new(mesh.me(), mesh.parties(), |_| Vec::new()))
    }
}

/// The links to all others, with the echo of what is said to all.
pub(crate) struct Talk<'t, 'n, C> {
    pub(crate) mesh: &'t mut Mesh<'n>,
    pub(crate) echo: &'t mut Echo,
    pub(crate) conduct: &'t mut C,
}

impl<C: for<'a> Conduct<JointAct<'a>>> Talk<'_, '_, C> {
    pub(crate) fn me(&self) -> PartyId {
        self.mesh.me()
    }

    /// A new one of something for each peer.
    pub(crate) fn each<T>(&self, make: impl FnMut(PartyId) -> T) -> PerPeer<T> {
        PerPeer::new(self.mesh.me(), self.mesh.parties(), make)
    }

    /// Says the same to all and hears as much from each. It is in the echo.
    pub(crate) fn tell(&mut self, what: &'static str, own: &[u8]) -> Result<PerPeer<Vec<u8>>> {
        let mut own = own.to_vec();
        self.conduct.before(JointAct::Tells { what, bytes: &mut own });
        let out = self.each(|_| own.clone());
        let heard = self.send(what, out, |_| own.len())?;
        self.echo.hear(what, &own, &heard);
        Ok(heard)
    }

    /// Says messages that do not depend on one another at once, and hears as many of the same lengths from
    /// each, in the same order. Put the longest first: it stays where it is in memory, and the others are
    /// appended to it.
    pub(crate) fn together(&mut self, mut said: Vec<Message>) -> Result<Vec<PerPeer<Vec<u8>>>> {
        let lengths = self.each(|peer| said.iter().map(|(_, out)| out[peer].len()).collect::<Vec<_>>());
        let names: Vec<&'static str> = said.iter().map(|(what, _)| *what).collect();
        for (what, messages) in &mut said {
            for (peer, bytes) in messages.iter_mut() {
                self.conduct.before(JointAct::Says { what, peer, bytes });
            }
        }
        let mut said = said.into_iter().map(|(_, messages)| messages);
        let Some(mut out) = said.next() else { return Ok(Vec::new()) };
        for messages in said {
            messages.iter().for_each(|(peer, bytes)| out[peer].extend_from_slice(bytes));
        }
        let mut into = self.each(|peer| vec![0; lengths[peer].iter().sum()]);
        self.mesh.exchange(&out, &mut into)?;
        // From the last one on, so that only what follows the first one moves.
        let mut heard = VecDeque::new();
        for i in (1..names.len()).rev() {
            heard.push_front(self.each(|peer| {
                let rest = into[peer].len() - lengths[peer][i];
                into[peer].split_off(rest)
            }));
        }
        heard.push_front(into);
        for (what, heard) in names.iter().zip(&heard) {
            for (peer, bytes) in heard.iter() {
                self.conduct.before(JointAct::Hears { what, peer, bytes });
            }
        }
        Ok(heard.into())
    }

    /// Says something else to each, and hears messages of these lengths.
    pub(crate) fn send(
        &mut self,
        what: &'static str,
        mut out: PerPeer<Vec<u8>>,
        lengths: impl Fn(PartyId) -> usize,
    ) -> Result<PerPeer<Vec<u8>>> {
        let mut heard = self.each(|peer| vec![0; lengths(peer)]);
        self.swap(what, &mut out, &mut heard)?;
        Ok(heard)
    }

    /// Says what is in `out`, and hears what fills `heard`.
    pub(crate) fn swap(
        &mut self,
        what: &'static str,
        out: &mut PerPeer<Vec<u8>>,
        heard: &mut PerPeer<Vec<u8>>,
    ) -> Result<()> {
        for (peer, bytes) in out.iter_mut() {
            self.conduct.before(JointAct::Says { what, peer, bytes });
        }
        self.mesh.exchange(out, heard)?;
        for (peer, bytes) in heard.iter() {
            self.conduct.before(JointAct::Hears { what, peer, bytes });
        }
        Ok(())
    }

    /// Says a message, and another one beside it, which may have another length from each; hears both.
    pub(crate) fn send_beside(
        &mut self,
        what: &'static str,
        mut out: PerPeer<Vec<u8>>,
        len: usize,
        beside: &Beside,
    ) -> Result<[PerPeer<Vec<u8>>; 2]> {
        for (peer, bytes) in out.iter_mut() {
            self.conduct.before(JointAct::Says { what, peer, bytes });
            bytes.extend_from_slice(&beside.out[peer]);
        }
        let mut heard = self.each(|peer| vec![0; len + beside.lengths[peer]]);
        self.mesh.exchange(&out, &mut heard)?;
        let theirs = self.each(|peer| heard[peer].split_off(len));
        for (peer, bytes) in heard.iter() {
            self.conduct.before(JointAct::Hears { what, peer, bytes });
        }
        Ok([heard, theirs])
    }

    /// Makes sure that all have heard the same of everything in the echo.
    pub(crate) fn settle(&mut self) -> Result<()> {
        self.settle_with(Vec::new()).map(drop)
    }

    /// The same, and at the same time says what does no harm if they have not.
    pub(crate) fn settle_with(&mut self, mut said: Vec<Message>) -> Result<Vec<PerPeer<Vec<u8>>>> {
        let own = self.echo.digest();
        said.push(("echo", self.each(|_| own.to_vec())));
        let mut heard = self.together(said)?;
        let digests = heard.pop().expect("as many as were said");
        self.echo.compare(digests.iter().map(|(_, digest)| &digest[..]))?;
        Ok(heard)
    }
}
