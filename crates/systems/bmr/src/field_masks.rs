//! [`BitMpc`] and [`Masks`] from shares in a field: SPDZ-BMR (Lindell, Pinkas, Smart, Yanai, Crypto 2015, and
//! section 2.2 of deliverable D13.3), with XOR gates in rows as there, or with free XOR (Hazay, Scholl,
//! Soria-Vazquez, Asiacrypt 2017, table 4: MASCOT-BMR-FX).
//!
//! A protocol for shares in GF(2^128) ([`FieldMpc`]) does all: a bit is 0 or 1 in the field, every party puts
//! in its offset `R^j`, or one for each wire behind a gate, and the products with offsets are products in the
//! field. Of those only the value's shares are used: hashes and keys are each party's own and unproved, and
//! whoever adds something false is caught as with other masks.
//!
//! - *Offsets*: random elements, each its owner's. With free XOR the owner says the lowest bit of its own,
//!   and all take it off or add it, so that it is one. A party that says the other bit has an offset whose
//!   lowest bit is zero, and harms only its own reading of public values.
//! - *Masks*: bits that nobody knows, and for inputs bits of the owner, which is right for every party that
//!   listens: both are shared at random.
//! - *Products*: a triple each: one for `lambda_u lambda_v`, and `n` for each of `lambda_u`, `lambda_v` and
//!   `lambda_u lambda_v + lambda_w`: `3 n + 1` an AND gate, and `n` for a bit of an output, or an XOR gate
//!   with rows.
//!
//! **Checks**: one of the MACs of all that was opened, before a share of a row leaves. Its key is not an
//! offset and hides none: so a check that failed may tell it, and ends it, as SPDZ does.
//!
//! **Cost** of an AND gate, to each peer: `3 n + 1` triples of 12.8 kB ahead and 32 bytes each, 0.5 kB for the
//! mask of its output, and as much for its offset if wires have their own.

use comity_channel::{Mesh, PerPeer};
use comity_circuit::Recipients;
use comity_core::{Bits, Block, PartyId, Result};
use comity_field_shares::{ByOwner, Field, SumShare, SumShares};
use comity_share::Beside;
use comity_spdz::FieldMpc;
use zeroize::{Zeroize, Zeroizing};

use crate::masks::{BitMpc, MaskOpening, Masks, SettledBeside, Xor, said_beside};

/// Blocks of a row: the share of the value, and that of its MAC.
const WIDTH: usize = 2;

/// Bits that nobody knows that are asked for at once at most, if no more are missing.
const MOST: u64 = 1 << 12;

/// Bits that are multiplied with all offsets at a time.
const PIECE: usize = 1 << 12;

/// Shares in a field, as masks.
pub struct FieldMasks<'a> {
    mpc: Box<dyn FieldMpc<Block> + 'a>,
    me: PartyId,
    parties: usize,
    offsets: Offsets,
    /// Bits that nobody knows, and how many of them are used up.
    bits: (SumShares<Block>, usize),
    /// Bits that nobody knows that were not asked for yet.
    planned: u64,
    /// What was opened and is not settled.
    opened: Vec<Option<Bits>>,
}

/// Offsets: of each party one for all wires, or one for each.
enum Offsets {
    One {
        /// This party's.
        own: Block,
        /// Shares of that of each party.
        shares: SumShares<Block>,
    },
    Each {
        /// Shares of elements of each party that are put in, this party's own, and how many of them are used
        /// up.
        fresh: (ByOwner<Block>, Zeroizing<Vec<Block>>, usize),
        /// Shares of the offsets of wires since the last products with them: of each wire that of each party.
        given: SumShares<Block>,
        /// Offsets that were not asked for yet.
        planned: u64,
    },
}

impl<'a> FieldMasks<'a> {
    /// Masks of wires that each have new offsets, as [`FieldMasks::setup`] otherwise. There are about as many
    /// wires behind gates as bits that nobody knows. Nothing is said yet.
    pub fn of_wires(net: &Mesh<'_>, mpc: Box<dyn FieldMpc<Block> + 'a>, bits: u64) -> FieldMasks<'a> {
        let (me, parties) = (net.me(), net.parties().into());
        let fresh = (vec![SumShares::default(); parties], Zeroizing::default(), 0);
        let offsets = Offsets::Each { fresh, given: SumShares::default(), planned: bits };
        FieldMasks { mpc, me, parties, offsets, bits: Default::default(), planned: bits, opened: Vec::new() }
    }

    /// Masks of this protocol, which must serve nobody else, with new offsets. About `bits` bits that nobody
    /// knows will be asked for.
    ///
    /// # Errors
    /// Those of the protocol and of the channels.
    pub fn setup(net: &mut Mesh<'_>, mut mpc: Box<dyn FieldMpc<Block> + 'a>, bits: u64) -> Result<FieldMasks<'a>> {
        let me = net.me();
        let (by_owner, own) = mpc.random_elements(net, 1)?;
        let parties = by_owner.len();
        let mut all = Zeroizing::new(Vec::with_capacity(parties));
        let one = mpc.constant(Block::ONE);
        for (owner, shares) in (0..).map(PartyId).zip(&by_owner) {
            let change: Option<Bits> = (owner == me).then(|| [!own[0].lsb()].into_iter().collect());
            let changed = mpc.announced(net, "lowest bit of an offset", (owner, 1), change.as_ref())?;
            all.push(if changed.get(0) { shares[0].plus(one) } else { shares[0] });
        }
        let offsets = Offsets::One { own: own[0].with_lsb(true), shares: all };
        Ok(FieldMasks { mpc, me, parties, offsets, bits: Default::default(), planned: bits, opened: Vec::new() })
    }

    /// Makes sure that `count` bits that nobody knows are there.
    fn have(&mut self, net: &mut Mesh<'_>, count: usize) -> Result<()> {
        let (bits, used) = &mut self.bits;
        let left = bits.len() - *used;
        if left < count {
            let fresh = self.mpc.random_bits(net, (self.planned.min(MOST) as usize).max(count - left))?;
            self.planned = self.planned.saturating_sub(fresh.len() as u64);
            *bits = Zeroizing::new([&bits[*used..], &fresh].concat());
            *used = 0;
        }
        Ok(())
    }
}

fn put(rows: &mut [Block], shares: &[SumShare<Block>]) {
    for (row, share) in rows.chunks_exact_mut(WIDTH).zip(shares) {
        (row[0], row[1]) = (share.value, share.mac);
    }
}

fn taken(rows: &[Block]) -> impl Iterator<Item = SumShare<Block>> {
    rows.chunks_exact(WIDTH).map(|row| SumShare { value: row[0], mac: row[1] })
}

impl BitMpc for FieldMasks<'_> {
    fn width(&self) -> usize {
        WIDTH
    }

    fn one(&self) -> Vec<Block> {
        let one = self.mpc.constant(Block::ONE);
        vec![one.value, one.mac]
    }

    fn random(&mut self, net: &mut Mesh<'_>, rows: &mut [Block]) -> Result<()> {
        let count = rows.len() / WIDTH;
        self.have(net, count)?;
        let (bits, used) = &mut self.bits;
        put(rows, &bits[*used..*used + count]);
        *used += count;
        Ok(())
    }

    /// Every party's shares are random, those of parties other than the owner too.
    fn random_of(&mut self, net: &mut Mesh<'_>, owner: PartyId, rows: &mut [Block]) -> Result<Option<Bits>> {
        let (shares, bits) = self.mpc.random_bits_of(net, owner, rows.len() / WIDTH)?;
        put(rows, &shares);
        Ok((owner == self.me).then_some(bits))
    }

    fn products(
        &mut self,
        net: &mut Mesh<'_>,
        [u, v]: [&[Block]; 2],
        products: &mut [Block],
        opened: &[MaskOpening<'_>],
        beside: &Beside,
    ) -> Result<PerPeer<Vec<u8>>> {
        let (mut x, y): (SumShares<Block>, SumShares<Block>) =
            (Zeroizing::new(taken(u).collect()), Zeroizing::new(taken(v).collect()));
        self.mpc.products(net, &mut x, &y)?;
        put(products, &x);
        // To all as it is; to some under bits that the recipient alone knows.
        let mut shown: SumShares<Block> = Zeroizing::default();
        let mut known = Vec::with_capacity(opened.len());
        for MaskOpening { rows, to } in opened {
            let count = rows.len() / WIDTH;
            if *to == Recipients::All {
                known.push(Some((shown.len(), Bits::zeros(count))));
                shown.extend(taken(rows));
                continue;
            }
            let mut own = None;
            for party in (0..net.parties()).map(PartyId).filter(|&party| to.includes(party)) {
                let (masks, bits) = self.mpc.random_bits_of(net, party, count)?;
                if party == self.me {
                    own = Some((shown.len(), bits));
                }
                shown.extend(taken(rows).zip(&*masks).map(|(bit, mask)| bit.plus(*mask)));
            }
            known.push(own);
        }
        let values = self.mpc.open(net, "masks of outputs", &shown)?;
        self.opened.extend(known.into_iter().map(|own| {
            own.map(|(first, mask)| {
                let mut value: Bits = values[first..first + mask.len()].iter().map(|value| value.lsb()).collect();
                value.xor_assign(&mask);
                value
            })
        }));
        said_beside(net, beside)
    }

    fn settle(&mut self, net: &mut Mesh<'_>, beside: &Beside) -> Result<SettledBeside> {
        self.mpc.check(net)?;
        Ok((core::mem::take(&mut self.opened), said_beside(net, beside)?))
    }
}

impl Masks for FieldMasks<'_> {
    fn xor(&self) -> Xor {
        match self.offsets {
            Offsets::One { .. } => Xor::Free,
            Offsets::Each { .. } => Xor::Garbled,
        }
    }

    fn offset(&self) -> Block {
        match self.offsets {
            Offsets::One { own, .. } => own,
            Offsets::Each { .. } => Block::ZERO,
        }
    }

    fn new_offsets(&mut self, net: &mut Mesh<'_>, wires: usize) -> Result<Zeroizing<Vec<Block>>> {
        let Offsets::Each { fresh: (by_owner, own, used), given, planned } = &mut self.offsets else {
            return Ok(Zeroizing::default());
        };
        while own.len() - *used < wires {
            let missing = (wires - (own.len() - *used)) as u64;
            let (more, values) = self.mpc.random_elements(net, (*planned).max(missing).min(MOST) as usize)?;
            *planned = planned.saturating_sub(values.len() as u64);
            for (all, more) in by_owner.iter_mut().zip(&more) {
                *all = Zeroizing::new([&all[*used..], more].concat());
            }
            *own = Zeroizing::new([&own[*used..], &values].concat());
            *used = 0;
        }
        for wire in *used..*used + wires {
            given.extend(by_owner.iter().map(|shares| shares[wire]));
        }
        *used += wires;
        Ok(Zeroizing::new(own[*used - wires..*used].to_vec()))
    }

    /// What was opened for the products, and before, is checked when this returns.
    fn times_offsets(
        &mut self,
        net: &mut Mesh<'_>,
        rows: Zeroizing<Vec<Block>>,
        wires: &[usize],
    ) -> Result<Zeroizing<Vec<Block>>> {
        let parties = self.parties;
        let mut all = Zeroizing::new(Vec::with_capacity(rows.len() / WIDTH * parties));
        for (piece, rows) in rows.chunks(PIECE * WIDTH).enumerate() {
            let mut x: SumShares<Block> = Zeroizing::new(Vec::with_capacity(rows.len() / WIDTH * parties));
            taken(rows).for_each(|bit| x.extend(core::iter::repeat_n(bit, parties)));
            let mut y: SumShares<Block> = Zeroizing::new(Vec::with_capacity(x.len()));
            match &self.offsets {
                Offsets::One { shares, .. } => y.extend(shares.iter().cycle().take(x.len())),
                Offsets::Each { given, .. } => {
                    let wires = &wires[piece * PIECE..][..rows.len() / WIDTH];
                    wires.iter().for_each(|wire| y.extend_from_slice(&given[wire * parties..][..parties]));
                }
            }
            self.mpc.products(net, &mut x, &y)?;
            all.extend(x.iter().map(|product| product.value));
        }
        if let Offsets::Each { given, .. } = &mut self.offsets {
            given.zeroize();
        }
        self.mpc.check(net)?;
        Ok(all)
    }
}

impl Drop for FieldMasks<'_> {
    fn drop(&mut self) {
        if let Offsets::One { own, .. } = &mut self.offsets {
            own.zeroize();
        }
    }
}
