//! `Watch`: how a session goes, for the person who waits for it.

use comity_protocol::Card;

/// Told about a session while it runs. Every method does nothing unless it is written; none can stop the session.
pub trait Watch {
    /// This party waits for its peer at this address (with the port that the system chose, if it was 0).
    fn listening(&mut self, address: &str) {
        let _ = address;
    }

    /// Nobody is there yet at the address that this party connects to; it goes on trying.
    fn connecting(&mut self, address: &str) {
        let _ = address;
    }

    /// A semi-honest protocol is about to run with a party off this machine: time to say what that risks
    /// ([`Card::risk`]).
    fn exposed(&mut self, card: &Card) {
        let _ = card;
    }

    /// The peer is there, at this address.
    fn connected(&mut self, peer: &str) {
        let _ = peer;
    }

    /// A preparation is taken from the store: so many are left for this program and peer, and so many were deleted since
    /// the peer does not have its part of them any more.
    fn taken(&mut self, left: usize, deleted: usize) {
        let _ = (left, deleted);
    }

    /// Material from the store: so many blocks are left, of which the program uses up `need`. `behind` blocks were burned,
    /// since the peer had used them: one or two after a crash; more if an old copy of the store was put back, or the peer lies.
    fn material(&mut self, left: u32, need: u32, behind: u32) {
        let _ = (left, need, behind);
    }

    /// So much of the material in the store was deleted, since the peer does not have its part any more: preparations, each with
    /// all its blocks.
    fn discarded(&mut self, preparations: usize) {
        let _ = preparations;
    }

    /// Something in the store is passed over, since it is damaged: `why` names the file and says what to do.
    fn damaged(&mut self, why: &str) {
        let _ = why;
    }

    /// Material of this name is destroyed, by this run or one before: a check had begun, and nobody knows how it ended.
    fn destroyed(&mut self, name: &str) {
        let _ = name;
    }

    /// A phase begins: `hello`, `setup`, `inputs`, `gates`, `outputs`, with `cutchoose` `checks`, and with `tinyot` `offline`.
    fn phase(&mut self, name: &'static str) {
        let _ = name;
    }

    /// So many AND gates are done since the start.
    fn and_gates(&mut self, done: u64) {
        let _ = done;
    }
}

/// Watches nothing.
impl Watch for () {}
