//! Shares of a chunk's masks and products, from a dealer: the function-dependent phase of 2018/578, as the
//! dealer's triples allow.
//!
//! Masks are random shared bits; of inputs, bits of their owner. For the product of an AND gate's masks both
//! parties show `d = l_u + a` and `e = l_v + b`, where `c = a b` is a triple (Beaver, Crypto 1991), all gates
//! of a chunk in one message. Which gates depend on which does not matter: a mask is no value.
//!
//! The MACs on what was shown wait in a ledger, whose digest is of MACs under the key of the party that gets
//! it. It is settled before an output's mask leaves, or material counts as made: until then a false `d` makes
//! a wrong product, and tells nobody anything.

use comity_channel::Channel;
use comity_circuit::Program;
use comity_core::{Block, Error, PartyId, Result, SessionId, Starts};
use comity_protocol::Conduct;
use comity_share::{Ledger, Share};
use comity_triples::{Checked, Triple, TripleDealer, Triples};
use zeroize::Zeroizing;

use crate::conduct::Act;
use crate::gates::{Algebra, Gates, unpack};
use crate::walk::CHUNK;

/// Gates whose MACs are worked on in one go: they stay in the first-level cache. Whole bytes of bits.
const TILE: usize = 512;

/// A dealer, and what of it waits.
pub(crate) struct Live<'d> {
    dealer: Box<dyn TripleDealer + 'd>,
    triples: Triples<Checked>,
    /// Masks of either party's inputs.
    inputs: [Pool; 2],
    /// Masks of the outputs of AND gates.
    outputs: Pool,
    /// The MACs on all that was shown.
    ledger: Ledger,
    /// Whether something was shown, either way, since the last settlement.
    pending: bool,
    /// The starts of the hash keys under the garbler's key, which is the dealer's: they live as long as that.
    pub(crate) starts: Starts,
}

/// Masks that were made ahead, and the number of used ones.
#[derive(Default)]
struct Pool {
    masks: Zeroizing<Vec<Share>>,
    used: usize,
}

impl Pool {
    fn blank(masks: usize) -> Pool {
        Pool { masks: Zeroizing::new(vec![Share::default(); masks]), used: 0 }
    }

    /// Takes masks as long as there are any. Returns the part of `out` that is still to be filled.
    fn take<'o>(&mut self, out: &'o mut [Share]) -> &'o mut [Share] {
        let ready = out.len().min(self.masks.len() - self.used);
        let (ahead, later) = out.split_at_mut(ready);
        ahead.copy_from_slice(&self.masks[self.used..self.used + ready]);
        self.used += ready;
        if self.used == self.masks.len() {
            // A chunk's are a megabyte, and there are no more.
            *self = Pool::default();
        }
        later
    }
}

impl<'d> Live<'d> {
    /// The material of this dealer. The session is for this alone.
    pub(crate) fn new(dealer: Box<dyn TripleDealer + 'd>, session: SessionId) -> Live<'d> {
        let me = dealer.party();
        Live {
            dealer,
            triples: Triples::none(),
            inputs: Default::default(),
            outputs: Pool::default(),
            ledger: Ledger::new(session.child("openings"), me, me.other()),
            pending: false,
            starts: Starts::new(session.block("start of the hash keys of garbled gates")),
        }
    }

    /// The dealer's key, as this party of the two uses it, of which `garbler` garbles.
    pub(crate) fn algebra(&self, garbler: PartyId) -> Algebra {
        let me = self.dealer.party();
        Algebra { me, garbles: garbler == me, key: self.dealer.key().clone() }
    }

    /// Has material for a program made now rather than when it is needed: masks of all its inputs, and masks
    /// and triples of the first chunk.
    pub(crate) fn prepare(&mut self, ch: &mut dyn Channel, program: &Program) -> Result<()> {
        // The AND gates of the first chunk, or of the program if it has fewer.
        let ands = program.and_gates().min(CHUNK as u64) as usize;
        let bits = |party: u16| {
            let own = program.inputs().iter().filter(|input| input.owner.includes(PartyId(party)));
            own.map(|input| input.bits).sum()
        };
        let (mut inputs, mut outputs) = ([bits(0), bits(1)].map(Pool::blank), Pool::blank(ands));
        self.dealer.of_each(ch, inputs.each_mut().map(|pool| &mut pool.masks[..]), &mut outputs.masks)?;
        (self.inputs, self.outputs) = (inputs, outputs);
        if self.triples.is_empty() && ands > 0 { self.refill(ch, ands) } else { Ok(()) }
    }

    /// Masks of an input of `owner`.
    pub(crate) fn inputs(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        match self.inputs[usize::from(owner.0)].take(out) {
            [] => Ok(()),
            now => self.dealer.bits(ch, owner, now),
        }
    }

    /// Asks the dealer for `ands` triples. A caller asks for just what a chunk lacks, so that none is left
    /// over, which would have to be copied for the next chunk.
    fn refill(&mut self, ch: &mut dyn Channel, ands: usize) -> Result<()> {
        // Not both at the same time.
        self.triples = Triples::none();
        self.triples = self.dealer.triples(ch, ands)?;
        if self.triples.is_empty() {
            return Err(Error::invalid_input("the dealer of triples returned no triples"));
        }
        Ok(())
    }

    /// Masks of a chunk's AND gates.
    pub(crate) fn masks(&mut self, ch: &mut dyn Channel, gates: &mut Gates) -> Result<()> {
        match self.outputs.take(&mut gates.outputs) {
            [] => Ok(()),
            now => self.dealer.shares(ch, now),
        }
    }

    /// The products of a chunk's AND gates.
    pub(crate) fn products(
        &mut self,
        ch: &mut dyn Channel,
        algebra: &Algebra,
        gates: &mut Gates,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        let n = gates.len();
        if n == 0 {
            return Ok(());
        }
        if self.triples.is_empty() {
            self.refill(ch, n)?;
        }
        // Those of a chunk may lie in several batches, and are then copied, to where they do not move; zeroed on drop.
        let mut copied = Zeroizing::new(Vec::with_capacity(if self.triples.len() < n { n } else { 0 }));
        while self.triples.len() < n - copied.len() {
            let now = self.triples.take(usize::MAX);
            copied.extend_from_slice(now);
            self.refill(ch, n - copied.len())?;
        }
        let rest = self.triples.take(n - copied.len());
        let triples = if copied.is_empty() {
            rest
        } else {
            copied.extend_from_slice(rest);
            &copied
        };
        let row = n.div_ceil(8);
        let mut own = vec![0; 2 * row];
        let mut macs = Zeroizing::new([[Block::ZERO; TILE]; 2]);
        for at in (0..n).step_by(TILE) {
            let tile = at..n.min(at + TILE);
            for (input, macs) in macs.iter_mut().enumerate() {
                let masks = gates.inputs[input][tile.clone()].iter().zip(&triples[tile.clone()]);
                macs.iter_mut()
                    .zip(masks)
                    .for_each(|(mac, (mask, triple))| *mac = mask.mac() ^ half(triple, input).mac());
                let macs = &macs[..tile.len()];
                // A share is bit 0 of its MAC.
                for (byte, macs) in own[input * row + at / 8..].iter_mut().zip(macs.chunks(8)) {
                    *byte = macs.iter().rev().fold(0, |byte, mac| byte << 1 | u8::from(mac.lsb()));
                }
                self.ledger.show(macs);
            }
        }
        conduct.before(Act::Opened(&mut own));
        let mut theirs = vec![0; 2 * row];
        self.pending = true;
        ch.exchange(&own, &mut theirs)?;
        for at in (0..n).step_by(TILE) {
            let tile = at..n.min(at + TILE);
            for (input, macs) in macs.iter_mut().enumerate() {
                let masks = gates.inputs[input][tile.clone()].iter().zip(&triples[tile.clone()]);
                let bits = unpack(&theirs[input * row + at / 8..], tile.len());
                for ((mac, (&mask, triple)), bit) in macs.iter_mut().zip(masks).zip(bits) {
                    *mac = (mask ^ half(triple, input)).expected(bit == 1, &algebra.key);
                }
                self.ledger.see(&macs[..tile.len()]);
            }
        }
        own.iter_mut().zip(&theirs).for_each(|(own, theirs)| *own ^= theirs);
        let (d, e) = own.split_at(row);
        algebra.multiply(gates, triples, [d, e]);
        Ok(())
    }

    /// Checks all that was shown since the last time.
    pub(crate) fn settle(&mut self, ch: &mut dyn Channel) -> Result<()> {
        if std::mem::take(&mut self.pending) { self.ledger.settle(ch) } else { Ok(()) }
    }

    /// As [`comity_protocol::Dealer::check_begins`].
    pub(crate) fn check_begins(&mut self) -> Result<()> {
        self.dealer.check_begins()
    }

    /// As [`comity_protocol::Dealer::check_passed`].
    pub(crate) fn check_passed(&mut self) -> Result<()> {
        self.dealer.check_passed()
    }
}

/// The factor of a triple that hides the first or the second input of a gate.
fn half(triple: &Triple, input: usize) -> Share {
    if input == 0 { triple.a } else { triple.b }
}
