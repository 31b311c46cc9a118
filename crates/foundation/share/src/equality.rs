//! EQ: whether both parties have the same string, by commit and open (Nielsen et al., Crypto 2012, section 2: "the
//! functionality EQ ... leaks both strings if they differ").
//!
//! Party 0 commits to a digest of its string, party 1 sends its digest, party 0 opens. Neither can choose its string after it
//! has seen the other's. If the strings differ the run is over, and what was hashed is as good as known to both: only strings
//! that may then be known are compared so.
//!
//! Cost: two messages of party 0, one of party 1, 128 bytes.

use comity_channel::Channel;
use comity_core::{Check, Commitment, Error, Opening, PartyId, Result, SessionId, commit};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;

/// Ends with `otherwise` as the peer's misbehaviour unless both parties give the same `digest`, which is a BLAKE3 digest of
/// what is compared. `session` is used for one comparison.
///
/// # Errors
/// [`Misbehaved`](comity_core::Kind), and those of the channel.
pub fn equal(
    ch: &mut dyn Channel,
    session: SessionId,
    party: PartyId,
    digest: &[u8; 32],
    otherwise: &'static Check,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<()> {
    const LABEL: &str = "equality, party 0";
    let mut theirs = [0; 32];
    if party.0 == 0 {
        let (commitment, opening) = commit(session, LABEL, digest, rng);
        ch.send(&commitment.to_bytes())?;
        ch.recv(&mut theirs)?;
        ch.send(&[*digest, opening.to_bytes()].concat())?;
        ch.flush()?;
    } else {
        let mut commitment = [0; Commitment::BYTES];
        ch.recv(&mut commitment)?;
        ch.send(digest)?;
        let mut salt = [0; Opening::BYTES];
        ch.recv(&mut theirs)?;
        ch.recv(&mut salt)?;
        if !Commitment::new(commitment).verify(session, LABEL, &theirs, &Opening::new(salt)) {
            return Err(Error::from(otherwise));
        }
    }
    if bool::from(theirs.ct_eq(digest)) { Ok(()) } else { Err(Error::from(otherwise)) }
}

#[cfg(test)]
mod tests {
    use comity_core::{Backend, Block, Kind, Prg};
    use comity_testing::Pair;

    use super::*;
    use crate::checks;

    fn compare(a: [u8; 32], b: [u8; 32]) -> [Result<()>; 2] {
        let session = SessionId::derive("test", &[]);
        let run = |party: u16, digest: [u8; 32]| {
            move |ch: &mut comity_channel::MemoryChannel| {
                let mut rng = Prg::new(Backend::detect(), Block::from_u128(party.into()));
                equal(ch, session, PartyId(party), &digest, checks::WRONG_MAC, &mut rng)
            }
        };
        let (a, b) = Pair::run(run(0, a), run(1, b));
        [a, b]
    }

    #[test]
    fn equal_strings_pass_and_others_are_named_on_both_sides() {
        assert!(compare([3; 32], [3; 32]).iter().all(Result::is_ok));
        for result in compare([3; 32], [2; 32]) {
            assert!(matches!(result, Err(Error { kind: Kind::Misbehaved(checks::WRONG_MAC), .. })));
        }
    }

    #[test]
    fn a_commitment_cannot_be_opened_to_the_peers_string() {
        let session = SessionId::derive("test", &[]);
        let (_, honest) = Pair::run(
            |ch| {
                let mut rng = Prg::new(Backend::detect(), Block::from_u128(9));
                let (commitment, opening) = commit(session, "equality, party 0", &[0; 32], &mut rng);
                let mut theirs = [0; 32];
                ch.send(&commitment.to_bytes()).and_then(|()| ch.recv(&mut theirs)).unwrap();
                ch.send(&[theirs, opening.to_bytes()].concat()).and_then(|()| ch.flush()).unwrap();
            },
            |ch| {
                let mut rng = Prg::new(Backend::detect(), Block::from_u128(10));
                equal(ch, session, PartyId(1), &[7; 32], checks::WRONG_MAC, &mut rng)
            },
        );
        assert!(matches!(honest, Err(Error { kind: Kind::Misbehaved(checks::WRONG_MAC), .. })));
    }
}
