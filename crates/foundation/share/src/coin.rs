//! A common random string that neither party can choose: party 0 commits to a seed, party 1 sends one, party 0 opens.
//!
//! Whoever would rather not see the result can stop; it cannot try again in the same session. What the string decides is fixed
//! before the first message. Cost: two messages of party 0, one of party 1, 128 bytes.

use comity_channel::Channel;
use comity_core::{Commitment, Error, Opening, PartyId, Result, SessionId, commit};
use rand_core::CryptoRng;

use crate::checks;

/// 256 random bits, the same for both. `session` is used for one string.
///
/// # Errors
/// [`Misbehaved`](comity_core::Kind) if the peer opens another seed than it committed to, and those of the channel.
pub fn coin(
    ch: &mut dyn Channel,
    session: SessionId,
    party: PartyId,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<[u8; 32]> {
    const LABEL: &str = "coin, party 0";
    let (mut own, mut theirs) = ([0; 32], [0; 32]);
    rng.fill_bytes(&mut own);
    if party.0 == 0 {
        let (commitment, opening) = commit(session, LABEL, &own, rng);
        ch.send(&commitment.to_bytes())?;
        ch.recv(&mut theirs)?;
        ch.send(&[own, opening.to_bytes()].concat())?;
        ch.flush()?;
    } else {
        let mut commitment = [0; Commitment::BYTES];
        ch.recv(&mut commitment)?;
        ch.send(&own)?;
        let mut salt = [0; Opening::BYTES];
        ch.recv(&mut theirs)?;
        ch.recv(&mut salt)?;
        if !Commitment::new(commitment).verify(session, LABEL, &theirs, &Opening::new(salt)) {
            return Err(Error::from(checks::COIN_OPENING));
        }
    }
    Ok(std::array::from_fn(|i| own[i] ^ theirs[i]))
}

#[cfg(test)]
mod tests {
    use comity_core::{Backend, Block, Kind, Prg};
    use comity_testing::Pair;

    use super::*;

    #[test]
    fn both_get_the_same_and_a_changed_seed_is_named() {
        let session = SessionId::derive("test", &[]);
        let honest = |party: u16| {
            move |ch: &mut comity_channel::MemoryChannel| {
                coin(ch, session, PartyId(party), &mut Prg::new(Backend::detect(), Block::from_u128(party.into())))
            }
        };
        let (a, b) = Pair::run(honest(0), honest(1));
        assert_eq!(a.unwrap(), b.unwrap());
        let (_, b) = Pair::run(
            |ch| {
                let mut rng = Prg::new(Backend::detect(), Block::from_u128(2));
                let (commitment, opening) = commit(session, "coin, party 0", &[1; 32], &mut rng);
                ch.send(&commitment.to_bytes()).and_then(|()| ch.recv(&mut [0; 32])).unwrap();
                ch.send(&[[2; 32], opening.to_bytes()].concat()).and_then(|()| ch.flush()).unwrap();
            },
            honest(1),
        );
        assert!(matches!(b, Err(Error { kind: Kind::Misbehaved(checks::COIN_OPENING), .. })));
    }
}
