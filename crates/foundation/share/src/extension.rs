//! `Extension`: authenticated bits from a maliciously secure OT extension with a fixed correlation.
//!
//! The correlation is the functionality already: with delta fixed, the sender's `q_j` is the local key and the
//! receiver's `t_j = q_j + x_j * delta` the MAC on `x_j`. Two extensions run side by side, one each way.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, PartyId, Result, SessionId};
use comity_ot::base::{BaseOt, Csw};
use comity_ot::softspoken::TwoWay;
use comity_ot::{CotReceiver, CotSender, Malicious};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::auth_bits::AuthBits;
use crate::share::{GlobalKey, Share};

/// Levels of the extension's trees: 128/k bits an OT on the wire.
const LEVELS: usize = 4;

/// Authenticated bits from SoftSpoken between two parties, both ways.
pub struct Extension {
    party: PartyId,
    peer: PartyId,
    key: GlobalKey,
    both: TwoWay,
}

impl Extension {
    /// The number of shared bits to ask for at once that costs least: the OTs of a chunk, less one incomplete
    /// block of them.
    pub const CHUNK: usize = TwoWay::CHUNK;

    /// The most shared bits that [`Extension::halves`] makes at once.
    pub const LONGEST: usize = TwoWay::LONGEST;

    /// Sets up this party, `me`, and its peer: base OTs in one direction, and from their extension those of
    /// the other. `session` is this extension's alone, `key` this party's.
    ///
    /// # Errors
    /// Errors of the base OTs, and of the channel.
    pub fn setup(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        parties: [PartyId; 2],
        key: GlobalKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Extension> {
        Extension::over::<Csw>(ch, session, backend, parties, key, rng)
    }

    /// As [`Extension::setup`], by other base OTs than [`Csw`].
    ///
    /// # Errors
    /// As [`Extension::setup`].
    pub fn over<B: BaseOt<Model = Malicious>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        [me, peer]: [PartyId; 2],
        key: GlobalKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Extension> {
        let [own, theirs] = [me, peer].map(|party| session.child(&format!("under the key of party {party}")));
        let both = TwoWay::setup::<B>(ch, [&own, &theirs], backend, LEVELS, key.block(), me < peer, rng)?;
        Ok(Extension { party: me, peer, key, both })
    }

    /// Random bits of both parties, as [`AuthBits::shares`], in two halves and for several places at once:
    /// the first slice of each pair gets the MACs on this party's shares, with the share as bit 0, and the
    /// second one the keys to the peer's shares.
    ///
    /// # Errors
    /// As [`AuthBits::shares`].
    ///
    /// # Panics
    /// As [`TwoWay::extend_together`].
    pub fn halves(&mut self, ch: &mut dyn Channel, pairs: &mut [[&mut [Block]; 2]]) -> Result<()> {
        let result = self.both.extend_together(ch, pairs);
        result.inspect_err(|_| pairs.as_flattened_mut().iter_mut().for_each(|blocks| blocks.zeroize()))
    }

    fn own(&mut self, ch: &mut dyn Channel, n: usize) -> Result<(Bits, Zeroizing<Vec<Block>>)> {
        let mut t = Zeroizing::new(vec![Block::ZERO; n]);
        let bits = CotReceiver::extend_random(self.both.sides().1, ch, &mut t)?;
        Ok((bits, t))
    }

    fn theirs(&mut self, ch: &mut dyn Channel, n: usize) -> Result<Zeroizing<Vec<Block>>> {
        let mut q = Zeroizing::new(vec![Block::ZERO; n]);
        CotSender::extend_random(self.both.sides().0, ch, &mut q)?;
        Ok(q)
    }
}

impl AuthBits for Extension {
    fn party(&self) -> PartyId {
        self.party
    }

    fn key(&self) -> &GlobalKey {
        &self.key
    }

    fn shares(&mut self, ch: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        let mut macs = Zeroizing::new(vec![Block::ZERO; out.len().min(Extension::CHUNK)]);
        let mut keys = macs.clone();
        for out in out.chunks_mut(Extension::CHUNK) {
            let (macs, keys) = (&mut macs[..out.len()], &mut keys[..out.len()]);
            self.both.extend(ch, macs, keys)?;
            join(macs, keys, out);
        }
        Ok(())
    }

    fn bits(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        let n = out.len();
        if owner == self.party {
            let (bits, t) = self.own(ch, n)?;
            out.iter_mut().enumerate().for_each(|(j, share)| *share = Share::own(bits.get(j), t[j]));
        } else {
            assert_eq!(owner, self.peer, "bits of one of the two");
            let q = self.theirs(ch, n)?;
            out.iter_mut().zip(q.iter()).for_each(|(share, &q)| *share = Share::theirs(q));
        }
        Ok(())
    }

    /// The OTs go both ways; some serve as bits of this party one way, and as bits of the peer the other way.
    fn of_each(&mut self, ch: &mut dyn Channel, own: [&mut [Share]; 2], shares: &mut [Share]) -> Result<()> {
        let alone = own[0].len().max(own[1].len());
        let mut macs = Zeroizing::new(vec![Block::ZERO; alone + shares.len()]);
        let mut keys = macs.clone();
        self.both.extend(ch, &mut macs, &mut keys)?;
        let ([own_macs, macs], [own_keys, keys]) = (macs.split_at(alone).into(), keys.split_at(alone).into());
        for (owner, out) in [PartyId(0), PartyId(1)].into_iter().zip(own) {
            if owner == self.party {
                out.iter_mut().zip(own_macs).for_each(|(share, &mac)| *share = Share::own(mac.lsb(), mac));
            } else {
                out.iter_mut().zip(own_keys).for_each(|(share, &key)| *share = Share::theirs(key));
            }
        }
        join(macs, keys, shares);
        Ok(())
    }
}

/// Shares from MACs, with this party's bits as bit 0, and keys.
fn join(macs: &[Block], keys: &[Block], out: &mut [Share]) {
    for ((share, &mac), &key) in out.iter_mut().zip(macs).zip(keys) {
        *share = Share::from_parts(mac, key);
    }
}
