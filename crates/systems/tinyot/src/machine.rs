//! `Machine`: the functionality F_2PC, figure 4 of the paper, by the protocol of figure 6 on triples made ahead.
//!
//! Inputs, gates and outputs come in any order over a session's life; an input may depend on an earlier
//! output. Both parties make the same calls in the same order.
//!
//! - *Rand*: a shared bit of the dealer.
//! - *Input*: a bit `r` of the owner alone, of the dealer, hides the input: the owner announces `x + r`,
//!   without a MAC, and both add this constant to the owner's share. Whatever is announced is the owner's
//!   choice of an input.
//! - *XOR*, *NOT*: sums of shares ([`Share`]).
//! - *AND*: figure 6 consumes two local ANDs and two OTs. The [dealer](TripleDealer) has done this to random
//!   bits, `c = a b`; both parties show their shares of `d = x + a` and `e = y + b`, and
//!   `xy = c + d b + e a + d e` (Beaver, Crypto 1991).
//! - *Output*: the party that is not to learn the bit shows its share.
//!
//! **MAC checks wait** (section 3, "Amortized MAC checks"). What is shown goes to a
//! [`Ledger`](comity_share::Ledger) with its MAC. Before an output, both parties settle: each holds the
//! other's digest of all MACs so far against its own. Only then the shares of the output leave, and with them
//! a digest that has the MACs on them too. So an output costs one settlement more than its shares, however
//! many ANDs came before, and none if nothing was shown since the last one.
//!
//! Why a party may send its digest before it has seen the peer's: the digest is of MACs `K + x * delta` on
//! bits that the peer has seen, under its own key and delta; it tells nothing that the peer does not know.
//!
//! After an error a machine is at its end: every further call is refused, so that nothing leaves after a
//! check has failed.
//!
//! **Cost**: an AND two bits each way, and a layer of independent ANDs one message each way; an input bit of
//! the owner one bit; an output bit one bit, and 64 bytes an output value; hashing a thirty-second of 64
//! bytes an AND. Memory: a batch of triples.

mod and;

use comity_channel::Channel;
use comity_circuit::Recipients;
use comity_core::{Bits, Error, PartyId, Result};
use comity_protocol::Here;
use comity_share::tally::{WORD, turned};
use comity_share::{GlobalKey, KeyMultiples, MacTally, Packer, Share};
use zeroize::{Zeroize, Zeroizing};

pub(crate) use and::Operands;
use and::{Group, Room, Slices};
use comity_triples::TripleDealer;
use comity_triples::{Checked, Triples};

/// ANDs whose bits go in one message: 16 KiB each way, which any socket takes before the peer reads.
const PIECE: usize = 1 << 16;

/// Triples that are asked for at most at a time: a dealer makes whole batches, and knows best how large they should be.
const ASK: u64 = 1 << 16;

/// One party of a two-party computation on authenticated shares.
pub struct Machine<'a> {
    dealer: Box<dyn TripleDealer + 'a>,
    party: PartyId,
    key: GlobalKey,
    multiples: KeyMultiples,
    packer: Packer,
    /// The tally: the shown and seen bits since the last settlement wait in it, and its hashes contain all
    /// earlier ones.
    tally: MacTally,
    /// Whether something was shown, either way, since the last settlement.
    pending: bool,
    triples: Triples<Checked>,
    /// Input masks of either party, made ahead; the next one is the last.
    masks: [Zeroizing<Vec<Share>>; 2],
    /// The number of ANDs that are still expected.
    planned: u64,
    /// The groups of the piece under way.
    groups: Vec<Group>,
    room: Box<Room>,
    /// A call failed, or is under way.
    ended: bool,
}

impl<'a> Machine<'a> {
    /// A machine on this dealer's material. The session, the same for both parties, must serve the machine
    /// alone.
    pub fn new(here: Here, dealer: Box<dyn TripleDealer + 'a>) -> Machine<'a> {
        let (party, key) = (dealer.party(), dealer.key().clone());
        Machine {
            dealer,
            party,
            multiples: KeyMultiples::new(&key),
            packer: Packer::new(here.backend),
            key,
            tally: MacTally::new(here.session.child("ledger"), party),
            pending: false,
            triples: Triples::none(),
            masks: Default::default(),
            planned: 0,
            groups: Vec::new(),
            room: Room::new(),
            ended: false,
        }
    }

    /// This party: 0 or 1.
    pub fn party(&self) -> PartyId {
        self.party
    }

    /// This party's global key, for adding public constants to shares.
    pub fn key(&self) -> &GlobalKey {
        &self.key
    }

    /// A share of the constant `bit`, which is added to party 0's share.
    pub fn constant(&self, bit: bool) -> Share {
        let zero = Share::default();
        if self.party.0 == 0 { zero.add_to_own(bit) } else { zero.add_to_theirs(bit, &self.key) }
    }

    /// Announces that about `ands` ANDs will follow, so that triples are asked for in few batches. It is only
    /// a hint, but both parties must give the same.
    pub fn plan(&mut self, ands: u64) {
        self.planned = ands;
    }

    /// Has material made now rather than when it is needed: at least `masks` input masks for each party, and
    /// triples for the planned ANDs, up to a batch.
    ///
    /// # Errors
    /// Errors of the dealer.
    pub fn prepare(&mut self, ch: &mut dyn Channel, masks: [usize; 2]) -> Result<()> {
        self.guarded(|machine| {
            for (owner, &wanted) in masks.iter().enumerate() {
                let had = machine.masks[owner].len();
                if had < wanted {
                    let mut more = Zeroizing::new(vec![Share::default(); wanted]);
                    machine.dealer.bits(ch, PartyId(owner as u16), &mut more[..wanted - had])?;
                    more[wanted - had..].copy_from_slice(&machine.masks[owner]);
                    machine.masks[owner] = more;
                }
            }
            if machine.triples.is_empty() && machine.planned > 0 { machine.refill(ch, 1) } else { Ok(()) }
        })
    }

    /// Random bits that neither party knows.
    ///
    /// # Errors
    /// Errors of the dealer.
    pub fn random(&mut self, ch: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        self.guarded(|machine| machine.dealer.shares(ch, out))
    }

    /// Authenticated bits that `owner` alone knows: the masks of an input, before the input exists.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is no such party; errors of the dealer.
    pub fn masks(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        if owner.0 > 1 {
            return Err(Error::invalid_input(format!(
                "party {owner}, the input's owner, does not exist: the parties are 0 and 1"
            )));
        }
        self.guarded(|machine| machine.take_masks(ch, owner, out))
    }

    /// Shares of an input of `owner`, which gives the `value`; the other party gives `None`. The owner's
    /// message may stay in the channel's buffer until the owner next waits for the peer.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if a value is missing, has another length than `out`, or is the
    /// other party's; those of the dealer and of the channel.
    pub fn input(
        &mut self,
        ch: &mut dyn Channel,
        owner: PartyId,
        value: Option<&Bits>,
        out: &mut [Share],
    ) -> Result<()> {
        let n = out.len();
        if owner.0 > 1 || value.is_some() != (owner == self.party) || value.is_some_and(|value| value.len() != n) {
            let given = value.map_or("no value".into(), |value| format!("a value of {} bits", value.len()));
            return Err(Error::invalid_input(format!(
                "an input of {n} bits from party {owner}: this is party {}, with {given}",
                self.party
            )));
        }
        self.guarded(|machine| {
            machine.take_masks(ch, owner, out)?;
            let announced = match value {
                Some(value) => {
                    let mut announced: Bits = out.iter().map(|share| share.bit()).collect();
                    announced.xor_assign(value);
                    ch.send(&announced.to_bytes())?;
                    announced
                }
                None => {
                    let mut bytes = vec![0; n.div_ceil(8)];
                    ch.recv(&mut bytes)?;
                    Bits::from_bytes(&bytes, n)
                }
            };
            for (share, bit) in out.iter_mut().zip(announced.iter()) {
                *share = match value {
                    Some(_) => share.add_to_own(bit),
                    None => share.add_to_theirs(bit, &machine.key),
                };
            }
            Ok(())
        })
    }

    /// `out[i] = x[i] y[i]`: independent ANDs, one message each way for every 2^16 of them.
    ///
    /// # Errors
    /// Errors of the dealer and of the channel.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn and(&mut self, ch: &mut dyn Channel, x: &[Share], y: &[Share], out: &mut [Share]) -> Result<()> {
        assert!(x.len() == y.len() && x.len() == out.len(), "as many results as pairs of operands");
        self.ands(ch, &mut Slices { x, y, out })
    }

    /// Independent ANDs, wherever their operands are.
    pub(crate) fn ands(&mut self, ch: &mut dyn Channel, operands: &mut impl Operands) -> Result<()> {
        self.guarded(|machine| {
            let (mut at, end) = (0, operands.len());
            while at < end {
                if machine.triples.is_empty() {
                    machine.refill(ch, (end - at) as u64)?;
                }
                let next = at + (end - at).min(PIECE).min(machine.triples.len());
                machine.piece(ch, operands, at..next)?;
                at = next;
            }
            Ok(())
        })
    }

    /// Reveals shared bits to one party or both, after a check of everything that was shown before, in either
    /// direction. Returns the value if this party learns it.
    ///
    /// # Errors
    /// [`WRONG_MAC`](comity_share::checks::WRONG_MAC) if the peer has ever shown a wrong bit: then nothing is
    /// revealed to it; [`InvalidInput`](comity_core::Kind) if there is no such party; those of the channel.
    pub fn reveal(&mut self, ch: &mut dyn Channel, to: Recipients, shares: &[Share]) -> Result<Option<Bits>> {
        if let Some(party) = to.named().iter().find(|party| party.0 > 1) {
            return Err(Error::invalid_input(format!(
                "there is no party {party} to reveal to: the parties are 0 and 1"
            )));
        }
        if to == Recipients::Shared {
            return Err(Error::invalid_input(
                "a value that stays in shares is not revealed: name the parties that learn it",
            ));
        }
        self.guarded(|machine| {
            machine.dealer.check_begins()?;
            machine.settle(ch)?;
            let value = machine.open(ch, to, shares)?;
            machine.dealer.check_passed()?;
            Ok(value)
        })
    }

    /// Checks everything that was shown so far, in both directions. [`Machine::reveal`] does this by itself.
    ///
    /// # Errors
    /// As [`Machine::reveal`].
    pub fn check(&mut self, ch: &mut dyn Channel) -> Result<()> {
        self.guarded(|machine| {
            machine.dealer.check_begins()?;
            machine.settle(ch)?;
            machine.dealer.check_passed()
        })
    }

    fn settle(&mut self, ch: &mut dyn Channel) -> Result<()> {
        if self.pending {
            self.tally.settle(ch)?;
            self.pending = false;
        }
        Ok(())
    }

    /// The shares of an output, and a digest that has the MACs on them: when all before is settled.
    fn open(&mut self, ch: &mut dyn Channel, to: Recipients, shares: &[Share]) -> Result<Option<Bits>> {
        let own: Bits = shares.iter().map(|share| share.bit()).collect();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        if to.includes(self.party.other().0) {
            shares.chunks(WORD).for_each(|shares| self.tally.show(self.packer.shares(shares).mac));
            ours = own.to_bytes();
            ours.extend(self.tally.digest());
        }
        if to.includes(self.party) {
            theirs = vec![0; shares.len().div_ceil(8) + 32];
        }
        ch.exchange(&ours, &mut theirs)?;
        let Some((bits, digest)) = theirs.split_last_chunk::<32>() else {
            ch.flush()?;
            return Ok(None);
        };
        let mut value = Bits::from_bytes(bits, shares.len());
        for (shares, &word) in shares.chunks(WORD).zip(value.words()) {
            let word = turned(word, shares.len());
            self.tally.see(self.packer.shares(shares).key ^ self.multiples.product(word));
        }
        self.tally.verify(digest)?;
        value.xor_assign(&own);
        Ok(Some(value))
    }

    /// Asks the dealer for triples: for the planned ANDs, up to a bound, and at least for `ands`.
    fn refill(&mut self, ch: &mut dyn Channel, ands: u64) -> Result<()> {
        let wanted = self.planned.max(ands).min(ASK);
        self.triples = self.dealer.triples(ch, wanted as usize)?;
        if self.triples.is_empty() {
            return Err(Error::invalid_input("the dealer of triples returned no triples"));
        }
        Ok(())
    }

    /// Uses up masks that were made ahead, and has further ones made.
    fn take_masks(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        let masks = &mut self.masks[usize::from(owner.0)];
        let ready = masks.len().min(out.len());
        let (ahead, now) = out.split_at_mut(ready);
        let rest = masks.len() - ready;
        ahead.copy_from_slice(&masks[rest..]);
        masks[rest..].zeroize();
        masks.truncate(rest);
        if now.is_empty() { Ok(()) } else { self.dealer.bits(ch, owner, now) }
    }

    /// Runs a call; if it fails it was the last.
    fn guarded<T>(&mut self, call: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.ended {
            return Err(Error::invalid_input(
                "this computation ended with an error and cannot go on: start a new session",
            ));
        }
        self.ended = true;
        let result = call(self)?;
        self.ended = false;
        Ok(result)
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        self.groups.zeroize();
    }
}
