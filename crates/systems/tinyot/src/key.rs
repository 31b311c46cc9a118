//! The global keys of tinyot's dealers.

use comity_core::{Block, PartyId};
use comity_share::GlobalKey;
use rand_core::CryptoRng;

/// A random key of this party: bit 1 is one at party 1 alone, so that the sum of both deltas has it set, which is what the leaky
/// ANDs of the fast dealer want. 126 bits are left. All dealers keep to it: what one made, another's run may use.
pub(crate) fn global_key(party: PartyId, rng: &mut (impl CryptoRng + ?Sized)) -> GlobalKey {
    let delta = GlobalKey::random(rng).block().to_u128() & !2 | u128::from(party.0 == 1) << 1;
    GlobalKey::new(Block::from_u128(delta)).expect("bit 0 of a global key is one")
}

#[cfg(test)]
mod tests {
    use comity_core::{Backend, Prg};

    use super::*;

    #[test]
    fn keys_of_the_two_differ_in_bit_1() {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(6));
        for party in [0, 1] {
            for _ in 0..20 {
                assert_eq!(global_key(PartyId(party), &mut rng).block().to_u128() & 3, 1 | u128::from(party) << 1);
            }
        }
    }
}
