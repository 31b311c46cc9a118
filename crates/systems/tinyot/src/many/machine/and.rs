//! ANDs by Beaver's trick, in pieces.
//!
//! **Cost.** An AND of n parties reads two rows and a triple, 80 n bytes, shows two rows, 32 n, of which each
//! block is multiplied once, and writes one, 16 n. A piece is worked on in tiles that stay in the first-level
//! cache, a party's blocks at a time, so that the arithmetic is on neighbours; and it is so small that its
//! triples are still near when the others' bits are there.

use core::ops::Range;

use comity_channel::Mesh;
use comity_core::{Block, PartyId, Result, TapeGate};
use comity_protocol::Conduct;
use comity_share::RowShares;
use comity_share::joint::JointAct;
use zeroize::Zeroize;

use super::RowMachine;
use comity_triples::words::{Words, add, add_masked, add_same, masks_of_row, word, words, words_mut};

/// ANDs whose bits go in one round.
pub(super) const PIECE: usize = 1 << 13;

/// ANDs that are worked on in one go.
const TILE: usize = 128;

/// AND gates that do not depend on each other, in several copies: gate after gate, of each copy after copy.
pub(super) struct Layer<'a> {
    pub(super) gates: &'a [TapeGate],
    pub(super) copies: usize,
}

/// Some copies of a gate, which are neighbours.
struct Run {
    gate: TapeGate,
    /// The first copy.
    copy: usize,
    /// Where they are among the ANDs that were asked for.
    place: Range<usize>,
}

impl Layer<'_> {
    /// The gates of these ANDs.
    fn runs(&self, range: Range<usize>) -> impl Iterator<Item = Run> {
        let (mut gate, mut copy) = (range.start / self.copies, range.start % self.copies);
        let mut place = 0;
        core::iter::from_fn(move || {
            let len = (self.copies - copy).min(range.len() - place);
            if len == 0 {
                return None;
            }
            let run = Run { gate: self.gates[gate], copy, place: place..place + len };
            place += len;
            (gate, copy) = (gate + 1, 0);
            Some(run)
        })
    }
}

/// Memory for a piece. Secret.
pub(super) struct Room {
    /// The rows of `d` and of `e`.
    shown: RowShares,
    /// Masks of `d`, of `e` and of both, of a tile.
    masks: [[Words; TILE]; 3],
    results: [Block; TILE],
}

impl Room {
    pub(super) fn new(me: PartyId, parties: u16) -> Box<Room> {
        let shown = RowShares::zeros(me, parties, 0);
        Box::new(Room { shown, masks: [[[0; 2]; TILE]; 3], results: [Block::ZERO; TILE] })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.results.zeroize();
    }
}

impl<C: for<'b> Conduct<JointAct<'b>>> RowMachine<'_, C> {
    /// The ANDs of a range, for which there are triples.
    pub(super) fn piece(
        &mut self,
        net: &mut Mesh<'_>,
        wires: &mut [Block],
        layer: &Layer<'_>,
        range: Range<usize>,
    ) -> Result<()> {
        let (n, width, copies) = (range.len(), usize::from(self.parties), layer.copies);
        let (triples, used) = &mut self.triples;
        let first = *used;
        *used += n;
        self.planned = self.planned.saturating_sub(n as u64);
        let Room { shown, masks: [of_d, of_e, of_both], results } = &mut *self.room;
        if shown.len() != 2 * n {
            *shown = RowShares::zeros(self.me, self.parties, 2 * n);
        }
        let tiles = || (0..n).step_by(TILE).map(|at| at..n.min(at + TILE));
        let runs = |tile: &Range<usize>| layer.runs(range.start + tile.start..range.start + tile.end);
        for tile in tiles() {
            let these = first + tile.start..first + tile.end;
            for (j, party) in (0..self.parties).map(PartyId).enumerate() {
                let (d, e) = shown.column_mut(party).split_at_mut(n);
                let (d, e) = (&mut d[tile.clone()], &mut e[tile.clone()]);
                for Run { gate, copy, place } in runs(&tile) {
                    let rows = |slot: usize| wires[(slot * copies + copy) * width + j..].iter().step_by(width);
                    d[place.clone()].iter_mut().zip(rows(gate.a())).for_each(|(d, &x)| *d = x);
                    e[place].iter_mut().zip(rows(gate.b())).for_each(|(e, &y)| *e = y);
                }
                add(words_mut(d), words(&triples.a.column(party)[these.clone()]));
                add(words_mut(e), words(&triples.b.column(party)[these.clone()]));
            }
        }
        self.pending = true;
        let opened = self.openings.open(net, shown, &mut self.conduct)?.to_bytes();
        for tile in tiles() {
            let these = first + tile.start..first + tile.end;
            masks_of_row(&opened, tile.start, &mut of_d[..tile.len()]);
            masks_of_row(&opened, n + tile.start, &mut of_e[..tile.len()]);
            for ((both, d), e) in of_both.iter_mut().zip(&*of_d).zip(&*of_e) {
                *both = [d[0] & e[0], d[1] & e[1]];
            }
            let results = &mut results[..tile.len()];
            for (j, party) in (0..self.parties).map(PartyId).enumerate() {
                let [a, b, c] = [&triples.a, &triples.b, &triples.c].map(|rows| &rows.column(party)[these.clone()]);
                results.copy_from_slice(c);
                add_masked(words_mut(results), words(b), of_d);
                add_masked(words_mut(results), words(a), of_e);
                add_same(words_mut(results), word(self.one[j]), of_both);
                for Run { gate, copy, place } in runs(&tile) {
                    let to = wires[(gate.out() * copies + copy) * width + j..].iter_mut().step_by(width);
                    to.zip(&results[place]).for_each(|(to, &result)| *to = result);
                }
            }
        }
        Ok(())
    }
}
