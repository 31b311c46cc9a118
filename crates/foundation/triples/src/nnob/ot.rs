//! OTs with security against malicious parties: the seeds of a chunk of authenticated bits.
//!
//! The first chunk's are base OTs. All later ones come out of the authenticated bits themselves, by the OT extension
//! that the paper notes at the end of section 4 (that of Ishai et al. with an actively secure core): of an
//! authenticated bit `x` with key `K` and MAC `M = K + x Delta` the messages are `H(K)` and `H(K + Delta)`, the choice
//! is `x`, and the chosen message is `H(M)`. `H` has a key of its own in each call ([`Hashes`](crate::hashes::Hashes)).
//! So a session has one run of base OTs, however long it is.

use comity_channel::Channel;
use comity_core::{Bits, Block, PartyId, Result};
use comity_ot::base::csw::{Challenge, Offer, Points, Receiver, Response, Sender};
use comity_protocol::Conduct;
use rand_core::Rng;
use zeroize::Zeroizing;

use super::conduct::Act;
use super::context::Context;

/// Random OTs in both directions. Wiped on drop, and used for one chunk.
pub(super) struct Seeds {
    /// The two messages of each OT, where this party offers.
    pub(super) pairs: Zeroizing<Vec<[Block; 2]>>,
    /// Random choice bits, and the chosen messages, where it chooses.
    pub(super) choices: Zeroizing<Vec<bool>>,
    pub(super) chosen: Zeroizing<Vec<Block>>,
}

impl Seeds {
    /// `n` base OTs each way, side by side: those of Canetti, Sarkar and Wang (2020/110).
    ///
    /// The receiver's points go before it has seen the sender's offer. They do not depend on it, and the
    /// simulator extracts by the point that it puts into the random oracle, whatever is offered.
    pub(super) fn base(
        context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
        ch: &mut dyn Channel,
        n: usize,
    ) -> Result<Seeds> {
        let mut bytes = Zeroizing::new(vec![0; n.div_ceil(8)]);
        context.rng.fill_bytes(&mut bytes);
        let choices = Bits::from_bytes(&bytes, n);
        let session = context.child("base OTs");
        let by = |party: PartyId| session.child(&format!("offered by party {party}"));
        let (sender, offer) = Sender::new(&by(context.party), &mut context.rng);
        let (receiver, points) = Receiver::new(&by(context.party.other()), &choices, &mut context.rng);

        let (offer, points) = swap(ch, &offer.to_bytes(), &points.to_bytes())?;
        let (waiting, challenge) = sender.challenge(&Points::from_bytes(&points, n)?)?;
        let (_, challenge) = swap(ch, &[], &challenge.to_bytes())?;
        let (response, received) =
            receiver.respond(&Offer::from_bytes(array(&offer)), &Challenge::from_bytes(&challenge, n)?)?;
        let (_, response) = swap(ch, &[], &response.to_bytes())?;
        let offered = waiting.finish(&Response::from_bytes(array(&response)))?;
        Ok(Seeds {
            pairs: Zeroizing::new(offered.pairs().to_vec()),
            choices: Zeroizing::new(received.choices().iter().collect()),
            chosen: Zeroizing::new(received.chosen().to_vec()),
        })
    }

    /// One OT each way for each authenticated bit of either party: this party's by their MACs, the peer's by the keys.
    pub(super) fn extend(
        context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
        mut macs: Zeroizing<Vec<Block>>,
        mut keys: Zeroizing<Vec<Block>>,
    ) -> Seeds {
        let mut far = Zeroizing::new(vec![Block::ZERO; keys.len()]);
        context.hashes.pairs(context.key.block(), &mut keys, &mut far);
        let pairs = Zeroizing::new(keys.iter().zip(far.iter()).map(|(&near, &far)| [near, far]).collect());
        let choices = Zeroizing::new(macs.iter().map(|mac| mac.lsb()).collect());
        context.hashes.macs(&mut macs);
        Seeds { pairs, choices, chosen: macs }
    }
}

/// Exchanges two parts whose lengths are the same for both parties.
fn swap(ch: &mut dyn Channel, first: &[u8], second: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut theirs = vec![0; first.len() + second.len()];
    ch.exchange(&[first, second].concat(), &mut theirs)?;
    let rest = theirs.split_off(first.len());
    Ok((theirs, rest))
}

/// The peer's message as an array, which has as many bytes as messages of its kind.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes[i])
}
