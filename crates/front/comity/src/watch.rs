//! `Watch`: how a session goes, for the person who waits for it.

use comity_channel::Counter;
use comity_core::{PartyId, Result};
use comity_net::Stop;
use comity_protocol::Card;

/// An observer of a session while it runs. The default of every method does nothing.
pub trait Watch {
    /// The session begins, before anything else: `stop` stops it, at any time and from any thread. Its waits
    /// then end soon, with [`Stopped`](comity_core::Kind); its computing ends when it next turns to the
    /// network. This does not apply to the caller's own channels.
    fn begins(&mut self, stop: &Stop) {
        let _ = stop;
    }

    /// All parties are there, and want the same. From now on the others may learn what the run tells them,
    /// however it ends.
    ///
    /// # Errors
    /// An error here ends the session with it.
    fn agreed(&mut self) -> Result<()> {
        Ok(())
    }

    /// This party listens at this address, for its peer or for those that call it. The port is the one that
    /// the system chose, if it was 0.
    fn listening(&mut self, address: &str) {
        let _ = address;
    }

    /// At this relay this party waits for those that neither can be called nor can call it.
    fn at_relay(&mut self, relay: &str) {
        let _ = relay;
    }

    /// Some parties of a group, or of three or more, are not there yet: `missing` are those, and `here` are
    /// the others. Called again as parties arrive.
    fn waiting(&mut self, missing: &[PartyId], here: &[PartyId]) {
        let _ = (missing, here);
    }

    /// A stranger connected to this party's port and was turned away, for the reason `why`. The wait goes on.
    fn turned_away(&mut self, why: &str) {
        let _ = why;
    }

    /// The peer is not there yet at the address that this party connects to; it goes on trying.
    fn connecting(&mut self, address: &str) {
        let _ = address;
    }

    /// A semi-honest protocol is about to run with a party off this machine: the user should be told the risk
    /// ([`Card::risk`]).
    fn exposed(&mut self, card: &Card) {
        let _ = card;
    }

    /// Three parties or more are about to speak plain text off this machine. A listener on the way hears the
    /// seeds that hide each party's shares: the user should be told that it can learn inputs.
    fn overheard(&mut self) {}

    /// The peer is there, at this address; with more than two parties, all are.
    fn connected(&mut self, peer: &str) {
        let _ = peer;
    }

    /// The counter of the bytes to and from a peer. Any thread can read it while the session runs.
    fn traffic(&mut self, counter: &Counter) {
        let _ = counter;
    }

    /// The run uses up material of its store.
    fn taken(&mut self, taken: &Supply) {
        let _ = taken;
    }

    /// `lots` lots in the store were deleted, since another party no longer has its part of them.
    fn discarded(&mut self, lots: usize) {
        let _ = lots;
    }

    /// A damaged lot in the store is passed over: `why` names the file and says what to do.
    fn damaged(&mut self, why: &str) {
        let _ = why;
    }

    /// A lot for this program, or for any, is destroyed, by this run or an earlier one: a check had begun,
    /// and nobody knows how it ended.
    fn destroyed(&mut self, program: &str) {
        let _ = program;
    }

    /// Material is made anew although it could have been made from stored material: `why` says what was not
    /// enough, and how to make more of it.
    fn made_anew(&mut self, why: &str) {
        let _ = why;
    }

    /// A phase begins: `hello`, `setup`, `inputs`, `gates`, `outputs`, with `cutchoose` `checks`, and with
    /// `tinyot` `offline`.
    fn phase(&mut self, name: &'static str) {
        let _ = name;
    }

    /// Gates were computed: `done` AND gates since the start.
    fn and_gates(&mut self, done: u64) {
        let _ = done;
    }
}

/// `()` watches nothing.
impl Watch for () {}

/// Material that a run takes from its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supply {
    /// The name of the material.
    pub material: &'static str,
    /// The unit that `need` and `left` count.
    pub unit: &'static str,
    /// The amount that the run uses up.
    pub need: u64,
    /// The amount that is left after the run, in all lots that fit the run and that all parties have.
    pub left: u64,
    /// The number of batches that were burned, since another party had used them: one or two after a crash;
    /// more if an old copy of the store was put back, or the other party lies.
    pub behind: u32,
}
