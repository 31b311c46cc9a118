//! `Context`: what every box of the stack needs, and how bits are shown.

use comity_channel::{Channel, Mesh};
use comity_core::{Backend, Block, Check, PartyId, Prg, Result, SessionId, declassify};
use comity_protocol::{Conduct, Here};
use comity_share::{GlobalKey, Ledger};
use rand_core::Rng;

use super::conduct::Act;
use crate::hashes::Hashes;

/// One party's side of the session.
pub(super) struct Context<C> {
    pub(super) party: PartyId,
    pub(super) backend: Backend,
    /// The key to the peer's bits.
    pub(super) key: GlobalKey,
    pub(super) hashes: Hashes,
    pub(super) ledger: Ledger,
    pub(super) rng: Prg,
    pub(super) conduct: C,
    pub(super) session: SessionId,
    /// The number of children of the session.
    children: u64,
}

impl<C: for<'a> Conduct<Act<'a>>> Context<C> {
    pub(super) fn new(here: Here, mut rng: Prg, conduct: C) -> Context<C> {
        let Here { me: party, session, backend, .. } = here;
        Context {
            party,
            backend,
            key: GlobalKey::of(party, &mut rng),
            hashes: Hashes::new(&session.child("hashes"), backend, party),
            ledger: Ledger::new(session.child("ledger"), party, party.other()),
            rng,
            conduct,
            session,
            children: 0,
        }
    }

    /// The session of the next sub-protocol.
    pub(super) fn child(&mut self, label: &str) -> SessionId {
        self.children += 1;
        self.session.child(&format!("{label}, sub-protocol {}", self.children))
    }

    pub(super) fn block(&mut self) -> Block {
        self.rng.block()
    }

    pub(super) fn coin(&mut self) -> [u8; 32] {
        let mut coin = [0; 32];
        self.rng.fill_bytes(&mut coin);
        self.conduct.before(Act::Coin(&mut coin));
        declassify(coin, "the peer is told the coin next")
    }

    /// Ends with `otherwise` unless both parties hash the same.
    pub(super) fn equal(
        &mut self,
        ch: &mut dyn Channel,
        hasher: &blake3::Hasher,
        otherwise: &'static Check,
    ) -> Result<()> {
        let session = self.child("comparison");
        let mut both = Mesh::of_two(self.party, ch);
        comity_share::equal(&mut both, session, hasher.finalize().as_bytes(), otherwise, &mut self.rng)
    }

    /// Shows the bits that carry `macs`, and sees those under `keys`; the MACs go to the ledger. Returns the bits
    /// shown, and seen.
    pub(super) fn reveal(
        &mut self,
        ch: &mut dyn Channel,
        macs: &mut [Block],
        keys: &mut [Block],
    ) -> Result<[Packed; 2]> {
        self.conduct.before(Act::Shown(macs));
        let shown = Packed::lsbs(macs);
        let seen = shown.exchange(ch, keys.len())?;
        self.conduct.before(Act::Macs(macs));
        self.ledger.show(macs);
        let delta = self.key.block();
        keys.iter_mut().enumerate().for_each(|(j, key)| *key ^= delta.masked(seen.get(j)));
        self.ledger.see(keys);
        Ok([shown, seen])
    }
}

/// Bits in bytes, the first in bit 0 of byte 0.
#[derive(Clone, Default)]
pub(super) struct Packed(pub(super) Vec<u8>);

impl Packed {
    pub(super) fn zeros(n: usize) -> Packed {
        Packed(vec![0; n.div_ceil(8)])
    }

    /// Bit 0 of each block.
    pub(super) fn lsbs(blocks: &[Block]) -> Packed {
        Packed::collect(blocks.iter().map(|block| block.lsb()))
    }

    pub(super) fn collect(bits: impl ExactSizeIterator<Item = bool>) -> Packed {
        let mut packed = Packed::zeros(bits.len());
        bits.enumerate().for_each(|(j, bit)| packed.0[j / 8] |= u8::from(bit) << (j % 8));
        packed
    }

    #[inline(always)]
    pub(super) fn get(&self, j: usize) -> bool {
        self.0[j / 8] >> (j % 8) & 1 == 1
    }

    /// Sends them, and gets `n` of the peer's.
    pub(super) fn exchange(&self, ch: &mut dyn Channel, n: usize) -> Result<Packed> {
        let mut theirs = Packed::zeros(n);
        ch.exchange(&self.0, &mut theirs.0)?;
        Ok(theirs)
    }
}
