//! `RowMachine`: the functionality of [`Machine`](crate::Machine) for any number of parties, on bits in the row form.
//!
//! - *Rand*: a shared bit of the dealer.
//! - *Input*: a bit `r` of the owner alone hides the input: the owner says `x + r` to all, and all add this constant.
//! - *XOR*, *NOT*: sums of rows.
//! - *AND*: a triple `c = a b`; `d = x + a` and `e = y + b` are opened, and `xy = c + d b + e a + d e`
//!   (Beaver, Crypto 1991).
//! - *Output*: the bits are opened, to all or to some.
//!
//! **Checks wait.** What is opened or said to all is checked by [`Openings::settle`] before an output is
//! opened, and the output itself before its value is given out. A check that has begun and not passed,
//! whatever the reason, ends the dealer's global keys ([`Dealer::check_begins`](comity_protocol::Dealer)),
//! and after an error a machine refuses every call.
//!
//! **Cost**: an AND two bits to each peer, and a layer of independent ANDs one round; an input bit of the
//! owner one bit to each peer; an output bit a bit to each recipient, and two settlements of 48 bytes an
//! output value.

mod and;

use comity_channel::Mesh;
use comity_circuit::Recipients;
use comity_core::{Bits, Block, Error, PartyId, Prg, Result, TapeGate};
use comity_protocol::{Conduct, Here, Honest};
use comity_share::forms::constant_one;
use comity_share::joint::JointAct;
use comity_share::{Openings, RowShares};
use rand_core::CryptoRng;

use self::and::{Layer, PIECE, Room};
use comity_triples::{RowDealer, RowTriples};

/// Triples that are asked for at most at a time: a dealer makes whole batches.
const ASK: u64 = 1 << 16;

/// Masks of each party that are asked for at least at a time.
const MASKS: usize = 1 << 8;

/// One party of a computation on authenticated shares of any number of parties.
pub struct RowMachine<'a, C = Honest> {
    dealer: Box<dyn RowDealer + 'a>,
    me: PartyId,
    parties: u16,
    /// The constant one, as a row of this party.
    one: Vec<Block>,
    openings: Openings,
    /// Whether something was opened or said since the last settlement.
    pending: bool,
    /// Triples, and how many of them are used up.
    triples: (RowTriples, usize),
    /// Bits of each party alone, and how many of them are used up.
    masks: Vec<(RowShares, usize)>,
    /// The number of ANDs that are still expected.
    planned: u64,
    rng: Prg,
    room: Box<Room>,
    conduct: C,
    /// A call failed, or is under way.
    ended: bool,
}

impl<'a> RowMachine<'a> {
    /// A machine on this dealer's material. The session, the same for all parties, must serve the machine
    /// alone.
    pub fn new(here: Here, dealer: Box<dyn RowDealer + 'a>, rng: &mut dyn CryptoRng) -> RowMachine<'a> {
        RowMachine::with(here, dealer, rng, Honest)
    }
}

impl<'a, C: for<'b> Conduct<JointAct<'b>>> RowMachine<'a, C> {
    /// As [`RowMachine::new`], for a party that may not be honest.
    pub(crate) fn with(
        here: Here,
        dealer: Box<dyn RowDealer + 'a>,
        rng: &mut dyn CryptoRng,
        conduct: C,
    ) -> RowMachine<'a, C> {
        let (me, parties, key) = (dealer.me(), dealer.parties(), dealer.key().clone());
        let one = |party| constant_one(me, PartyId(party), &key).unwrap_or(Block::ZERO);
        RowMachine {
            me,
            parties,
            one: (0..parties).map(one).collect(),
            openings: Openings::new(here.session.child("openings"), here.backend, key, dealer.seeds()),
            pending: false,
            triples: (RowTriples::blank(me, parties, 0), 0),
            masks: (0..parties).map(|_| (RowShares::zeros(me, parties, 0), 0)).collect(),
            planned: 0,
            dealer,
            rng: Prg::new(here.backend, Block::random(rng)),
            room: Room::new(me, parties),
            conduct,
            ended: false,
        }
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.parties
    }

    /// A row of the constant one.
    pub fn one(&self) -> &[Block] {
        &self.one
    }

    /// Announces that about `ands` ANDs will follow, so that triples are asked for in few batches. It is only
    /// a hint, but all parties must give the same.
    pub fn plan(&mut self, ands: u64) {
        self.planned = ands;
    }

    /// Has material made now rather than when it is needed: at least `masks` masks of each party, and triples
    /// for the planned ANDs, up to a batch.
    ///
    /// # Errors
    /// Errors of the dealer.
    pub fn prepare(&mut self, net: &mut Mesh<'_>, masks: usize) -> Result<()> {
        self.guarded(|machine| {
            if machine.masks.iter().any(|(rows, used)| rows.len() - used < masks) {
                machine.more_masks(net, masks)?;
            }
            if machine.left() == 0 && machine.planned > 0 { machine.refill(net, 1) } else { Ok(()) }
        })
    }

    /// Random bits that nobody knows.
    ///
    /// # Errors
    /// Errors of the dealer.
    pub fn random(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<RowShares> {
        self.guarded(|machine| machine.dealer.shares(net, bits))
    }

    /// [`RowShares`] of an input of `owner`, which gives its `value` of `bits` bits; the others give `None`.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if a value is missing, has another length, or is another party's;
    /// those of the dealer and of the channels.
    pub fn input(
        &mut self,
        net: &mut Mesh<'_>,
        owner: PartyId,
        value: Option<&Bits>,
        bits: usize,
    ) -> Result<RowShares> {
        let fits = value.is_none_or(|value| value.len() == bits);
        if owner.0 >= self.parties || value.is_some() != (owner == self.me) || !fits {
            let given = value.map_or("no value".into(), |value| format!("a value of {} bits", value.len()));
            return Err(Error::invalid_input(format!(
                "an input of {bits} bits from party {owner}: this is party {} of {}, with {given}",
                self.me, self.parties
            )));
        }
        self.guarded(|machine| {
            let mut rows = machine.take_masks(net, owner, bits)?;
            machine.pending = true;
            machine.openings.input(net, owner, value, &mut rows, &mut machine.conduct)?;
            Ok(rows)
        })
    }

    /// Does the AND gates of a layer in all copies, over wires of a row each that lie slot after slot, and
    /// within each slot copy after copy. One round for every 2^13 of them.
    ///
    /// # Errors
    /// Errors of the dealer and of the channels.
    pub fn ands(&mut self, net: &mut Mesh<'_>, wires: &mut [Block], gates: &[TapeGate], copies: usize) -> Result<()> {
        self.guarded(|machine| {
            let layer = Layer { gates, copies };
            let (mut at, end) = (0, gates.len() * copies);
            while at < end {
                if machine.left() == 0 {
                    machine.refill(net, (end - at) as u64)?;
                }
                let next = at + (end - at).min(PIECE).min(machine.left());
                machine.piece(net, wires, &layer, at..next)?;
                at = next;
            }
            Ok(())
        })
    }

    /// Reveals shared bits to some parties, or to all, after a check of everything that was opened or said
    /// before. Returns the value if this party learns it.
    ///
    /// # Errors
    /// [`WRONG_MAC`](comity_share::checks::WRONG_MAC) or
    /// [`EQUIVOCATION`](comity_share::checks::EQUIVOCATION), which name no party: then nothing is revealed,
    /// or no value is returned; [`InvalidInput`](comity_core::Kind) if there is no such party; those of the
    /// dealer and of the channels.
    pub fn reveal(&mut self, net: &mut Mesh<'_>, to: Recipients, rows: &RowShares) -> Result<Option<Bits>> {
        if let Some(party) = to.named().iter().find(|party| party.0 >= self.parties) {
            return Err(Error::invalid_input(format!(
                "there is no party {party} to reveal to: there are {} parties",
                self.parties
            )));
        }
        if to == Recipients::Shared {
            return Err(Error::invalid_input(
                "a value that stays in shares is not revealed: name the parties that learn it",
            ));
        }
        self.guarded(|machine| {
            machine.dealer.check_begins()?;
            machine.settle(net)?;
            let RowMachine { openings, conduct, rng, .. } = machine;
            let value = if to == Recipients::All {
                let value = openings.open(net, rows, conduct)?;
                openings.settle(net, conduct)?;
                Some(value)
            } else {
                openings.open_to(net, |party| to.includes(party), rows, rng, conduct)?
            };
            machine.dealer.check_passed()?;
            Ok(value)
        })
    }

    /// Checks everything that was opened or said so far. [`RowMachine::reveal`] does this by itself.
    ///
    /// # Errors
    /// As [`RowMachine::reveal`].
    pub fn check(&mut self, net: &mut Mesh<'_>) -> Result<()> {
        self.guarded(|machine| {
            machine.dealer.check_begins()?;
            machine.settle(net)?;
            machine.dealer.check_passed()
        })
    }

    fn settle(&mut self, net: &mut Mesh<'_>) -> Result<()> {
        if self.pending {
            self.openings.settle(net, &mut self.conduct)?;
            self.pending = false;
        }
        Ok(())
    }

    /// Triples that are left.
    fn left(&self) -> usize {
        self.triples.0.len() - self.triples.1
    }

    /// Asks the dealer for triples: for the planned ANDs, up to a bound, and at least for `ands`.
    fn refill(&mut self, net: &mut Mesh<'_>, ands: u64) -> Result<()> {
        let wanted = self.planned.max(ands).min(ASK);
        self.triples = (self.dealer.deal(net, wanted as usize)?, 0);
        if self.triples.0.is_empty() {
            return Err(Error::invalid_input("the dealer of triples returned no triples"));
        }
        Ok(())
    }

    /// Uses up masks of a party, and has more made where they do not suffice.
    fn take_masks(&mut self, net: &mut Mesh<'_>, owner: PartyId, bits: usize) -> Result<RowShares> {
        let (rows, used) = &self.masks[usize::from(owner.0)];
        if rows.len() - used < bits {
            self.more_masks(net, bits)?;
        }
        let (rows, used) = &mut self.masks[usize::from(owner.0)];
        *used += bits;
        Ok(rows.slice(*used - bits..*used))
    }

    /// New masks of all parties. A party that has some left keeps them.
    fn more_masks(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<()> {
        let fresh = self.dealer.masks(net, bits.max(MASKS))?;
        for ((rows, used), fresh) in self.masks.iter_mut().zip(fresh) {
            if rows.len() - *used < fresh.len() {
                (*rows, *used) = (fresh, 0);
            }
        }
        Ok(())
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
