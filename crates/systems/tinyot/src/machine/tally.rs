//! `Tally`: a ledger that is written a buffer at a time.
//!
//! BLAKE3 is fast where it gets many KiB at once, at offsets that many chunks divide. MACs come two an AND, in layers of any
//! size: so they wait in a buffer, in order, and are hashed when it is full or a digest is wanted.

use comity_channel::Channel;
use comity_core::{Block, Result, SessionId};
use comity_share::Ledger;

/// MACs in a buffer, 32 KiB: two widest steps of BLAKE3, and half of a first-level cache.
const BUFFER: usize = 1 << 11;

/// What was shown and seen, and waits to be checked.
pub(super) struct Tally {
    ledger: Ledger,
    shown: Buffer,
    seen: Buffer,
}

/// MACs that are not yet hashed. They are not secret once the bits are shown: the peer knows them.
struct Buffer {
    macs: Box<[Block]>,
    filled: usize,
}

impl Buffer {
    fn new() -> Buffer {
        Buffer { macs: vec![Block::ZERO; BUFFER].into(), filled: 0 }
    }

    /// Room for at least two MACs.
    fn room(&mut self, hash: impl FnOnce(&[Block])) -> &mut [Block] {
        if self.filled + 2 > BUFFER {
            hash(&self.macs[..self.filled]);
            self.filled = 0;
        }
        &mut self.macs[self.filled..]
    }

    fn flush(&mut self, hash: impl FnOnce(&[Block])) {
        hash(&self.macs[..self.filled]);
        self.filled = 0;
    }
}

impl Tally {
    pub(super) fn new(session: SessionId, party: u32) -> Tally {
        Tally { ledger: Ledger::new(session, party), shown: Buffer::new(), seen: Buffer::new() }
    }

    /// Where the MACs go that are shown next, at least two; [`Tally::showed`] says how many were written.
    pub(super) fn show_room(&mut self) -> &mut [Block] {
        self.shown.room(|macs| self.ledger.show(macs))
    }

    pub(super) fn showed(&mut self, count: usize) {
        self.shown.filled += count;
    }

    /// Where the MACs go that are expected next, at least two; [`Tally::saw`] says how many were written.
    pub(super) fn see_room(&mut self) -> &mut [Block] {
        self.seen.room(|macs| self.ledger.see(macs))
    }

    pub(super) fn saw(&mut self, count: usize) {
        self.seen.filled += count;
    }

    /// Shows bits that carry these MACs.
    pub(super) fn show(&mut self, macs: impl Iterator<Item = Block>) {
        for mac in macs {
            self.show_room()[0] = mac;
            self.showed(1);
        }
    }

    /// The peer shows bits that must carry these MACs.
    pub(super) fn see(&mut self, expected: impl Iterator<Item = Block>) {
        for mac in expected {
            self.see_room()[0] = mac;
            self.saw(1);
        }
    }

    /// As [`Ledger::digest`].
    pub(super) fn digest(&mut self) -> [u8; 32] {
        self.shown.flush(|macs| self.ledger.show(macs));
        self.ledger.digest()
    }

    /// As [`Ledger::verify`].
    pub(super) fn verify(&mut self, digest: &[u8; 32]) -> Result<()> {
        self.seen.flush(|macs| self.ledger.see(macs));
        self.ledger.verify(digest)
    }

    /// As [`Ledger::settle`].
    pub(super) fn settle(&mut self, ch: &mut dyn Channel) -> Result<()> {
        self.shown.flush(|macs| self.ledger.show(macs));
        self.seen.flush(|macs| self.ledger.see(macs));
        self.ledger.settle(ch)
    }
}
