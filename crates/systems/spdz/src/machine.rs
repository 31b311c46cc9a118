//! `FieldMachine`: the online phase: inputs, linear values, products and outputs in any order (Damgard,
//! Pastro, Smart, Zakarias, Crypto 2012, figure 1; with the check of Damgard et al., ESORICS 2013, which
//! keeps the MAC key).
//!
//! - *Random*: a random bit of the source. *Input* of a bit: a bit `r` of the owner alone hides it; the owner
//!   says `x + r` to all, which is a bit by its form.
//! - *Sums* and products with public elements: on shares. *Product*: a triple; `d = x - a` and `e = y - b`
//!   are opened, and `xy = c + d b + e a + d e` (Beaver, Crypto 1991).
//! - *Output* to all: the value is opened. To some: for each of them the value plus a bit that it alone knows
//!   is opened to all, and it takes that off.
//!
//! **Checks wait** ([`FieldOpenings`]). Before an output is opened everything before it is checked, and the
//! output itself before its value is given out. A check that has begun and not passed, whatever the reason,
//! ends the MAC key, and with it all material under it: [`check_begins`](FieldSource::check_begins) lets a source
//! with a store note that on disk before a peer knows the outcome. After an error a machine refuses every call.
//!
//! **What is opened** is shared at random at every party: inputs' masks by streams of each pair, factors
//! under a triple. So the shares of a sum of several owners' inputs tell the sum and no more.
//!
//! **Cost**: a product two elements to each peer, and products that do not depend on each other share a round; an
//! input bit one bit from its owner to each peer; an output bit an element from everybody to everybody, once for
//! each recipient if not all learn it; an output value two checks.

use comity_channel::Mesh;
use comity_circuit::Recipients;
use comity_core::{Backend, Bits, Error, PartyId, Result};
use comity_field_shares::{BinaryField, ByOwner, FieldConduct, FieldOpenings, FieldTriples, SumShare, SumShares};
use comity_protocol::{Here, Honest};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::mpc::FieldMpc;
use crate::source::{FieldSource, too_little};

/// The most values of one check.
const UNCHECKED: usize = 1 << 17;

/// The most products of one round.
const PIECE: usize = 1 << 12;

/// The least number of bits of each party that the source is asked for.
const MASKS: usize = 1 << 7;

/// One party of a computation on authenticated shares in a field.
pub struct FieldMachine<'a, F: BinaryField, C = Honest> {
    source: Box<dyn FieldSource<F> + 'a>,
    me: PartyId,
    parties: u16,
    backend: Backend,
    openings: FieldOpenings<F>,
    /// Whether a party said something to all since the last check.
    said: bool,
    /// Triples, and how many of them are used up.
    triples: (FieldTriples<F>, usize),
    /// Bits of each party alone, how many of them are used up, and this party's own by value.
    masks: Vec<(SumShares<F>, usize)>,
    own: Bits,
    /// The number of products that are still expected.
    planned: u64,
    conduct: C,
    /// A call failed, or is under way.
    ended: bool,
}

impl<'a, F: BinaryField> FieldMachine<'a, F> {
    /// A machine on this material. The session is the machine's alone, the same for all parties.
    pub fn new(here: Here, source: Box<dyn FieldSource<F> + 'a>, rng: &mut dyn CryptoRng) -> FieldMachine<'a, F> {
        FieldMachine::with(here, source, rng, Honest)
    }
}

impl<'a, F: BinaryField, C: FieldConduct<F>> FieldMachine<'a, F, C> {
    /// As [`FieldMachine::new`], with a conduct: an honest party's changes nothing.
    pub fn with(
        here: Here,
        source: Box<dyn FieldSource<F> + 'a>,
        rng: &mut dyn CryptoRng,
        conduct: C,
    ) -> FieldMachine<'a, F, C> {
        FieldMachine {
            me: here.me,
            parties: here.parties,
            backend: here.backend,
            openings: FieldOpenings::new(here.child("openings"), source.key().clone(), rng),
            said: false,
            source,
            triples: (FieldTriples::default(), 0),
            masks: (0..here.parties).map(|_| (SumShares::default(), 0)).collect(),
            own: Bits::default(),
            planned: 0,
            conduct,
            ended: false,
        }
    }

    /// Announces that about `products` products will follow, so that triples are made together. It is only a
    /// hint, but all parties must give the same.
    pub fn plan(&mut self, products: u64) {
        self.planned = products;
    }

    /// Has material made now rather than when it is needed: `masks` bits of each party, and triples for the
    /// planned products, up to a batch.
    ///
    /// # Errors
    /// Those of the source.
    pub fn prepare(&mut self, net: &mut Mesh<'_>, masks: usize) -> Result<()> {
        self.guarded(|machine| {
            let least = machine.masks.iter().map(|(shares, used)| shares.len() - used).min().unwrap_or(0);
            if least < masks {
                machine.more_masks(net, masks - least)?;
            }
            if machine.left() == 0 && machine.planned > 0 { machine.refill(net, 1) } else { Ok(()) }
        })
    }

    /// Shares of bits that `owner` puts in. The owner gives their `value`, the others give `None`.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if a value is missing, has another length, or is another party's;
    /// those of the source and of the channels.
    pub fn input(
        &mut self,
        net: &mut Mesh<'_>,
        owner: PartyId,
        value: Option<&Bits>,
        bits: usize,
    ) -> Result<SumShares<F>> {
        let fits = value.is_none_or(|value| value.len() == bits);
        if owner.0 >= self.parties || value.is_some() != (owner == self.me) || !fits {
            let given = value.map_or("no value".into(), |value| format!("a value of {} bits", value.len()));
            return Err(Error::invalid_input(format!(
                "party {owner} has to put in {bits} bits, and this is party {} of {} with {given}",
                self.me, self.parties
            )));
        }
        let (mut shares, mask) = self.random_bits_of(net, owner, bits)?;
        let masked = value.map(|value| {
            let mut masked = value.clone();
            masked.xor_assign(&mask);
            masked
        });
        let said = self.announced(net, "announced bits", (owner, bits), masked.as_ref())?;
        let one = self.constant(F::ONE);
        for (share, bit) in shares.iter_mut().zip(said.iter()) {
            if bit {
                *share = share.plus(one);
            }
        }
        Ok(shares)
    }

    /// Reveals bits to some parties, or to all. The value is there if this party is to learn it. First
    /// everything that was opened or said before is checked.
    ///
    /// # Errors
    /// [`FALSE_MAC`](comity_field_shares::checks::FALSE_MAC) or an equivocation by nobody in particular, and
    /// the other checks of MACs: then nothing is revealed, or nothing is given out;
    /// [`InvalidInput`](comity_core::Kind) if there is no such party; those of the source and of the
    /// channels.
    pub fn reveal(&mut self, net: &mut Mesh<'_>, to: Recipients, bits: &[SumShare<F>]) -> Result<Option<Bits>> {
        if let Some(party) = to.named().iter().find(|party| party.0 >= self.parties) {
            return Err(Error::invalid_input(format!(
                "there is no party {party} to reveal to: there are {} parties",
                self.parties
            )));
        }
        if to == Recipients::Shared {
            return Err(Error::invalid_input("an output that stays in shares is not revealed: name its recipients"));
        }
        self.guarded(|machine| {
            // Masks first: making them has checks of its own.
            let mut shown = Zeroizing::new(Vec::new());
            let mut own = None;
            if to == Recipients::All {
                shown.extend_from_slice(bits);
                own = Some((0, Bits::zeros(bits.len())));
            } else {
                for party in (0..machine.parties).map(PartyId).filter(|&party| to.includes(party)) {
                    let (masks, known) = machine.take_masks(net, party, bits.len())?;
                    if party == machine.me {
                        own = Some((shown.len(), known));
                    }
                    shown.extend(bits.iter().zip(&*masks).map(|(bit, mask)| bit.plus(*mask)));
                }
            }
            machine.source.check_begins()?;
            machine.check_if_needed(net)?;
            let FieldMachine { openings, conduct, .. } = machine;
            let opened = openings.open(net, "outputs", &shown, conduct)?;
            openings.check(net, conduct)?;
            machine.source.check_passed()?;
            Ok(own.map(|(first, mask)| {
                let ones = opened[first..first + bits.len()].iter().map(|value| bool::from(value.ct_eq(&F::ONE)));
                let mut value: Bits = ones.collect();
                value.xor_assign(&mask);
                value
            }))
        })
    }

    /// Checks what was opened or said since the last check, if there is anything. The source has noted that it begins.
    fn check_if_needed(&mut self, net: &mut Mesh<'_>) -> Result<()> {
        if self.openings.unchecked() > 0 || self.said {
            self.openings.check(net, &mut self.conduct)?;
            self.said = false;
        }
        Ok(())
    }

    /// One round of products, from triples that are here already.
    fn piece(&mut self, net: &mut Mesh<'_>, x: &mut [SumShare<F>], y: &[SumShare<F>]) -> Result<()> {
        let n = x.len();
        let FieldMachine { triples: (triples, used), openings, conduct, backend, me, .. } = self;
        let these = &triples[*used..*used + n];
        *used += n;
        self.planned = self.planned.saturating_sub(n as u64);
        let mut shown: SumShares<F> = Zeroizing::new(Vec::with_capacity(2 * n));
        shown.extend(x.iter().zip(these).map(|(x, triple)| x.minus(triple.a)));
        shown.extend(y.iter().zip(these).map(|(y, triple)| y.minus(triple.b)));
        let opened = openings.open(net, "factors", &shown, conduct)?;
        let (d, e) = opened.split_at(n);
        for (((x, triple), &d), &e) in x.iter_mut().zip(these).zip(d).zip(e) {
            let linear = triple.b.times(*backend, d).plus(triple.a.times(*backend, e));
            let constant = SumShare::constant(*backend, *me, openings.key(), d.times(*backend, e));
            *x = triple.c.plus(linear).plus(constant);
        }
        Ok(())
    }

    /// The number of triples that are left.
    fn left(&self) -> usize {
        self.triples.0.len() - self.triples.1
    }

    /// Asks the source for triples: for the planned products, and for `products` of them at least.
    fn refill(&mut self, net: &mut Mesh<'_>, products: u64) -> Result<()> {
        let wanted = self.planned.max(products);
        self.triples = (self.source.deal(net, usize::try_from(wanted).unwrap_or(usize::MAX))?, 0);
        if self.triples.0.is_empty() { Err(too_little()) } else { Ok(()) }
    }

    /// Uses up bits of a party, and has more made where they do not suffice; the values if they are this
    /// party's.
    fn take_masks(&mut self, net: &mut Mesh<'_>, owner: PartyId, bits: usize) -> Result<(SumShares<F>, Bits)> {
        let at = usize::from(owner.0);
        let left = self.masks[at].0.len() - self.masks[at].1;
        if left < bits {
            self.more_masks(net, bits - left)?;
        }
        let (shares, used) = &mut self.masks[at];
        *used += bits;
        let known = if owner == self.me { self.own.slice(*used - bits, bits) } else { Bits::default() };
        Ok((Zeroizing::new(shares[*used - bits..*used].to_vec()), known))
    }

    /// Makes at least `bits` more bits of each party, and puts them behind those that are left.
    fn more_masks(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<()> {
        let fresh = self.source.bits(net, 0, bits.max(MASKS))?;
        if fresh.own.len() < bits || fresh.masks.iter().any(|shares| shares.len() != fresh.own.len()) {
            return Err(too_little());
        }
        let used = self.masks[usize::from(self.me.0)].1;
        let mut own = self.own.slice(used, self.own.len() - used);
        own.extend_from(&fresh.own);
        self.own = own;
        for ((shares, used), fresh) in self.masks.iter_mut().zip(&fresh.masks) {
            *shares = Zeroizing::new([&shares[*used..], fresh].concat());
            *used = 0;
        }
        Ok(())
    }

    /// Runs a call. If it fails, the machine refuses all later ones.
    fn guarded<T>(&mut self, call: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if core::mem::replace(&mut self.ended, true) {
            return Err(Error::invalid_input(
                "this computation ended with an error and cannot go on: start a new session",
            ));
        }
        let result = call(self)?;
        self.ended = false;
        Ok(result)
    }
}

impl<F: BinaryField, C: FieldConduct<F>> FieldMpc<F> for FieldMachine<'_, F, C> {
    fn constant(&self, element: F) -> SumShare<F> {
        SumShare::constant(self.backend, self.me, self.openings.key(), element)
    }

    fn random_bits(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<SumShares<F>> {
        self.guarded(|machine| {
            let shared = machine.source.bits(net, n, 0)?.shared;
            if shared.len() == n { Ok(shared) } else { Err(too_little()) }
        })
    }

    fn random_bits_of(&mut self, net: &mut Mesh<'_>, owner: PartyId, n: usize) -> Result<(SumShares<F>, Bits)> {
        self.guarded(|machine| machine.take_masks(net, owner, n))
    }

    fn random_elements(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<(ByOwner<F>, Zeroizing<Vec<F>>)> {
        self.guarded(|machine| machine.source.elements(net, n))
    }

    /// One round for every 2^12 products.
    fn products(&mut self, net: &mut Mesh<'_>, x: &mut [SumShare<F>], y: &[SumShare<F>]) -> Result<()> {
        assert_eq!(x.len(), y.len(), "products of pairs");
        self.guarded(|machine| {
            let mut at = 0;
            while at < x.len() {
                if machine.left() == 0 {
                    machine.refill(net, (x.len() - at) as u64)?;
                }
                let next = at + (x.len() - at).min(PIECE).min(machine.left());
                machine.piece(net, &mut x[at..next], &y[at..next])?;
                at = next;
                if machine.openings.unchecked() > UNCHECKED {
                    machine.source.check_begins()?;
                    machine.check_if_needed(net)?;
                    machine.source.check_passed()?;
                }
            }
            Ok(())
        })
    }

    fn open(&mut self, net: &mut Mesh<'_>, what: &'static str, shares: &[SumShare<F>]) -> Result<Vec<F>> {
        self.guarded(|machine| machine.openings.open(net, what, shares, &mut machine.conduct))
    }

    fn announced(
        &mut self,
        net: &mut Mesh<'_>,
        what: &'static str,
        (owner, bits): (PartyId, usize),
        own: Option<&Bits>,
    ) -> Result<Bits> {
        self.guarded(|machine| {
            machine.said = true;
            let FieldMachine { openings, conduct, .. } = machine;
            let own = own.map_or(Vec::new(), Bits::to_bytes);
            let said = openings.announced(net, what, (owner, bits.div_ceil(8)), &own, conduct)?;
            Ok(Bits::from_bytes(&said, bits))
        })
    }

    fn check(&mut self, net: &mut Mesh<'_>) -> Result<()> {
        self.guarded(|machine| {
            machine.source.check_begins()?;
            machine.check_if_needed(net)?;
            machine.source.check_passed()
        })
    }
}
