//! The ideal protocol for shares in a field: every party knows the dealer's seed, and with it every value.

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Bits, Block, Error, PartyId, Prg, Result, gf128};
use comity_field_shares::checks::FALSE_MAC;
use comity_field_shares::{ByOwner, Field, SumShare, SumShares};
use comity_protocol::Here;
use comity_spdz::FieldMpc;
use zeroize::Zeroizing;

/// One party's side of it. In the place of a MAC stands the value itself, of which sums are values of sums.
pub(super) struct IdealField {
    me: PartyId,
    parties: u16,
    backend: Backend,
    dealer: Prg,
    /// Whether something was opened falsely, which is said in the next check.
    wrong: bool,
}

impl IdealField {
    pub(super) fn new(here: Here) -> IdealField {
        let dealer = Prg::new(here.backend, here.session.block("ideal field"));
        IdealField { me: here.me, parties: here.parties, backend: here.backend, dealer, wrong: false }
    }

    /// This party's share of a value.
    fn deal(&mut self, value: Block) -> SumShare<Block> {
        let mut shares: Vec<Block> = (1..self.parties).map(|_| self.dealer.block()).collect();
        shares.push(shares.iter().fold(value, |rest, &share| rest ^ share));
        SumShare { value: shares[usize::from(self.me.0)], mac: value }
    }

    fn bits(&mut self, n: usize) -> (SumShares<Block>, Bits) {
        let bits: Bits = (0..n).map(|_| self.dealer.block().lsb()).collect();
        let shares = bits.iter().map(|bit| self.deal(Block::ONE.masked(bit))).collect();
        (Zeroizing::new(shares), bits)
    }

    /// Tells all, and hears as many bytes of each.
    fn tell(&self, net: &mut Mesh<'_>, own: &[u8], lengths: impl Fn(PartyId) -> usize) -> Result<PerPeer<Vec<u8>>> {
        let out = PerPeer::new(self.me, self.parties, |_| own.to_vec());
        let mut heard = PerPeer::new(self.me, self.parties, |peer| vec![0; lengths(peer)]);
        net.exchange(&out, &mut heard)?;
        Ok(heard)
    }
}

impl FieldMpc<Block> for IdealField {
    fn constant(&self, element: Block) -> SumShare<Block> {
        SumShare { value: element.masked(self.me.0 == 0), mac: element }
    }

    fn random_bits(&mut self, _: &mut Mesh<'_>, n: usize) -> Result<SumShares<Block>> {
        Ok(self.bits(n).0)
    }

    fn random_bits_of(&mut self, _: &mut Mesh<'_>, owner: PartyId, n: usize) -> Result<(SumShares<Block>, Bits)> {
        let (shares, bits) = self.bits(n);
        Ok((shares, if owner == self.me { bits } else { Bits::default() }))
    }

    fn random_elements(&mut self, _: &mut Mesh<'_>, n: usize) -> Result<(ByOwner<Block>, Zeroizing<Vec<Block>>)> {
        let mut own = Zeroizing::default();
        let mut all = Vec::new();
        for owner in 0..self.parties {
            let values: Vec<Block> = (0..n).map(|_| self.dealer.block()).collect();
            all.push(Zeroizing::new(values.iter().map(|&value| self.deal(value)).collect()));
            if owner == self.me.0 {
                own = Zeroizing::new(values);
            }
        }
        Ok((all, own))
    }

    fn products(&mut self, _: &mut Mesh<'_>, x: &mut [SumShare<Block>], y: &[SumShare<Block>]) -> Result<()> {
        for (x, y) in x.iter_mut().zip(y) {
            *x = self.deal(gf128::mul(self.backend, x.mac, y.mac));
        }
        Ok(())
    }

    fn open(&mut self, net: &mut Mesh<'_>, _: &'static str, shares: &[SumShare<Block>]) -> Result<Vec<Block>> {
        let mut values: Vec<Block> = shares.iter().map(|share| share.value).collect();
        let own = Block::bytes_of(&values).to_vec();
        let mut theirs = values.clone();
        for (_, heard) in self.tell(net, &own, |_| own.len())?.iter() {
            Block::bytes_of_mut(&mut theirs).copy_from_slice(heard);
            values.iter_mut().zip(&theirs).for_each(|(sum, &share)| *sum ^= share);
        }
        self.wrong |= values.iter().zip(shares).any(|(&value, share)| value != share.mac);
        Ok(values)
    }

    fn announced(
        &mut self,
        net: &mut Mesh<'_>,
        _: &'static str,
        (owner, bits): (PartyId, usize),
        own: Option<&Bits>,
    ) -> Result<Bits> {
        let bytes = own.map_or(Vec::new(), Bits::to_bytes);
        let heard = self.tell(net, &bytes, |peer| if peer == owner { bits.div_ceil(8) } else { 0 })?;
        Ok(own.cloned().unwrap_or_else(|| Bits::from_bytes(&heard[owner], bits)))
    }

    fn check(&mut self, _: &mut Mesh<'_>) -> Result<()> {
        if self.wrong { Err(Error::from(FALSE_MAC)) } else { Ok(()) }
    }
}
