//! What a party holds of each wire while it evaluates: figure 9.
//!
//! A wire is `n` blocks: the active key of each party. Bit 0 of the own one is the public value.

use comity_core::{Backend, Bits, Block, Error, Part, Result, SessionId, declassify, verdict};
use subtle::{Choice, ConstantTimeEq};

use crate::checks;
use crate::garbling::sums;
use crate::hash::{ActiveHash, OUTPUT_ROWS, ROWS};

/// The memory of an evaluating party: wires of `n` blocks.
pub(crate) struct Evaluating {
    pub(crate) slots: Vec<Block>,
    parties: usize,
    me: usize,
    offset: Block,
    hashes: Vec<ActiveHash>,
    keys: Vec<Block>,
    /// AND gates so far.
    done: u64,
}

impl Evaluating {
    /// The memory of party `me` of `parties`.
    pub(crate) fn new(backend: Backend, session: &SessionId, me: usize, parties: usize, offset: Block) -> Evaluating {
        let hashes = (0..parties).map(|party| ActiveHash::new(backend, session, party, parties)).collect();
        Evaluating { slots: Vec::new(), parties, me, offset, hashes, keys: Vec::new(), done: 0 }
    }

    /// Makes room for the slots of a tape. Constants have public value 0 and keys 0.
    pub(crate) fn grow(&mut self, slots: usize) {
        let wanted = slots.max(2) * self.parties;
        if self.slots.len() < wanted {
            self.slots.resize(wanted, Block::ZERO);
        }
        self.slots[..2 * self.parties].fill(Block::ZERO);
    }

    /// Steps 1 to 5 for the gates of a part. `table` has their rows, and `zeros` this party's keys of 0 of
    /// their outputs; what was used of both is cut off.
    ///
    /// # Errors
    /// [`GARBLED_ROW`](checks::GARBLED_ROW) if an own key is none of the two.
    pub(crate) fn walk(&mut self, part: &Part<'_>, table: &mut &[Block], zeros: &mut &[Block]) -> Result<()> {
        let (n, me) = (self.parties, self.me);
        for (xors, ands) in part.gates() {
            sums(&mut self.slots, xors, n);
            if ands.is_empty() {
                continue;
            }
            let (rows, own);
            (rows, *table) = table.split_at(ands.len() * n * ROWS);
            (own, *zeros) = zeros.split_at(ands.len());
            self.keys.clear();
            for (gate, rows) in ands.iter().zip(rows.chunks_exact(n * ROWS)) {
                // Nobody knows the masks that these values are under.
                let public = |slot: usize| declassify(self.slots[slot * n + me].lsb(), "an external value is public");
                let [a, b] = [gate.a(), gate.b()].map(|slot| usize::from(public(slot)));
                self.keys.extend_from_slice(&rows[(2 * a + b) * n..][..n]);
            }
            for (party, hash) in self.hashes.iter_mut().enumerate() {
                let of = |slot: usize| self.slots[slot * n + party];
                hash.add(ands.iter().map(|gate| [of(gate.a()), of(gate.b())]), &mut self.keys);
            }
            self.check(own)?;
            for (gate, keys) in ands.iter().zip(self.keys.chunks_exact(n)) {
                self.slots[gate.out() * n..][..n].copy_from_slice(keys);
            }
            self.done += ands.len() as u64;
        }
        Ok(())
    }

    /// The same for the gates of an output's bits, of whose wires these are the active keys. Returns the public values.
    ///
    /// # Errors
    /// As [`Evaluating::walk`].
    pub(crate) fn reveal(&mut self, wires: &[Block], table: &mut &[Block], zeros: &mut &[Block]) -> Result<Bits> {
        let (n, me) = (self.parties, self.me);
        let bits = wires.len() / n;
        let (rows, own);
        (rows, *table) = table.split_at(bits * n * OUTPUT_ROWS);
        (own, *zeros) = zeros.split_at(bits);
        self.keys.clear();
        for (wire, rows) in wires.chunks_exact(n).zip(rows.chunks_exact(n * OUTPUT_ROWS)) {
            let a = usize::from(declassify(wire[me].lsb(), "an external value is public"));
            self.keys.extend_from_slice(&rows[a * n..][..n]);
        }
        for (party, hash) in self.hashes.iter_mut().enumerate() {
            hash.add_outputs(wires.chunks_exact(n).map(|wire| wire[party]), &mut self.keys);
        }
        self.check(own)?;
        Ok(self.keys.chunks_exact(n).map(|key| key[me].lsb()).collect())
    }

    /// Step 4: whether each own key is one of the two of its wire.
    fn check(&self, zeros: &[Block]) -> Result<()> {
        let mut whole = Choice::from(1);
        for (key, zero) in self.keys.chunks_exact(self.parties).zip(zeros) {
            let difference = key[self.me] ^ *zero;
            whole &= difference.ct_eq(&Block::ZERO) | difference.ct_eq(&self.offset);
        }
        if verdict(whole) { Ok(()) } else { Err(Error::from(checks::GARBLED_ROW)) }
    }
}
