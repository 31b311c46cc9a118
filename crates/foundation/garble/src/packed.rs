//! The bits of a part's gates, packed: `BITS` of each, gate after gate, from the low ones up.

/// Packs the low bits of each byte; the others are zero.
pub(crate) fn pack<const BITS: usize>(bytes: &[u8], packed: &mut [u8]) {
    for (bytes, packed) in bytes.chunks(8).zip(packed.chunks_mut(BITS)) {
        let word = bytes.iter().rev().fold(0u64, |word, &byte| word << BITS | u64::from(byte));
        packed.copy_from_slice(&word.to_le_bytes()[..packed.len()]);
    }
}

/// Undoes [`pack`].
pub(crate) fn unpack<const BITS: usize>(packed: &[u8], bytes: &mut [u8]) {
    for (packed, bytes) in packed.chunks(BITS).zip(bytes.chunks_mut(8)) {
        let mut word = [0; 8];
        word[..packed.len()].copy_from_slice(packed);
        let word = u64::from_le_bytes(word);
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = (word >> (BITS * i)) as u8 & ((1 << BITS) - 1);
        }
    }
}
