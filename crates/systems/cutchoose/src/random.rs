//! Random bits, drawn by either party.

use comity_core::Bits;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// `bits` random bits.
pub(crate) fn random_bits(bits: usize, rng: &mut dyn CryptoRng) -> Bits {
    let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8)]);
    rng.fill_bytes(&mut bytes);
    Bits::from_bytes(&bytes, bits)
}
