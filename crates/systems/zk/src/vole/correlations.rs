//! Where the correlated OTs come from.

use comity_channel::Channel;
use comity_core::{Backend, Block, Result, SessionId};
use comity_ot::base::csw::Csw;
use comity_ot::{CotReceiver, CotSender, Malicious, silent, softspoken};
use rand_core::CryptoRng;

use super::SILENT_FROM;

/// The levels of SoftSpoken's trees.
const LEVELS: usize = 4;

/// The prover's side: random bits and their MACs, the bit being bit 0 of the MAC.
pub(super) enum Bits {
    Few(Box<softspoken::Receiver<Malicious>>),
    Many(Box<silent::Receiver<Malicious>>),
}

impl Bits {
    /// This side of a number of COTs.
    pub(super) fn setup(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        count: u64,
        rng: &mut dyn CryptoRng,
    ) -> Result<Bits> {
        Ok(match count < SILENT_FROM {
            true => Bits::Few(Box::new(softspoken::Receiver::setup::<Csw>(ch, session, backend, LEVELS, rng)?)),
            false => Bits::Many(Box::new(silent::Receiver::setup::<Csw>(ch, session, backend, rng)?)),
        })
    }

    /// The next bits.
    pub(super) fn next(&mut self, ch: &mut dyn Channel, macs: &mut [Block]) -> Result<()> {
        let bits = match self {
            Bits::Few(ot) => ot.extend_random(ch, macs)?,
            Bits::Many(ot) => ot.extend_random(ch, macs)?,
        };
        macs.iter_mut().zip(bits.iter()).for_each(|(mac, bit)| *mac = mac.with_lsb(bit));
        Ok(())
    }
}

/// The verifier's side: keys, whose bit 0 is clear, and Delta, whose bit 0 is set.
pub(super) enum Keys {
    Few(Box<softspoken::Sender<Malicious>>),
    Many(Box<silent::Sender<Malicious>>),
}

impl Keys {
    /// This side of a number of COTs under Delta.
    pub(super) fn setup(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        count: u64,
        delta: Block,
        rng: &mut dyn CryptoRng,
    ) -> Result<Keys> {
        Ok(match count < SILENT_FROM {
            true => Keys::Few(Box::new(softspoken::Sender::setup::<Csw>(ch, session, backend, LEVELS, delta, rng)?)),
            false => Keys::Many(Box::new(silent::Sender::setup::<Csw>(ch, session, backend, delta, rng)?)),
        })
    }

    /// The next keys.
    pub(super) fn next(&mut self, ch: &mut dyn Channel, keys: &mut [Block]) -> Result<()> {
        match self {
            Keys::Few(ot) => ot.extend_random(ch, keys)?,
            Keys::Many(ot) => ot.extend_random(ch, keys)?,
        }
        keys.iter_mut().for_each(|key| *key = key.with_lsb(false));
        Ok(())
    }
}
