//! `MacTally`: a ledger of packed MACs, that is written a buffer at a time.
//!
//! **Packing.** Up to 64 bits that are shown together are a word `w = sum x^j b_j`, an element of GF(2^128),
//! and their MACs `M_j = K_j + b_j delta` sum up to one MAC on it: `sum x^j M_j = sum x^j K_j + w delta`. Two
//! words that differ in any bit are different elements, so a false word passes only for whoever guesses
//! delta, exactly as a false bit does. (The plain sum of MACs would be one on the parity of the bits, in
//! which two false ones cancel.) The ledger hashes a sixty-fourth of the MACs' bytes, and the party that sees
//! the bits needs no expected MAC of each, but one product of the word and delta.
//!
//! **Buffer.** BLAKE3 is fast where it gets many KiB at once, and layers are of any size: so MACs wait in
//! order until there are enough or a digest is wanted.

use comity_channel::Channel;
use comity_core::{Backend, Block, PartyId, Result, SessionId, gf128};
use zeroize::{Zeroize, Zeroizing};

use crate::ledger::Ledger;
use crate::share::{GlobalKey, Share};

/// MACs in a buffer, 16 KiB: the widest step of BLAKE3.
const BUFFER: usize = 1 << 10;

/// Bits in a word.
pub const WORD: usize = 64;

/// Bits of one party that are shown together, first the highest of the word, with one MAC on all of them.
#[derive(Clone, Copy, Default)]
pub struct Packed {
    /// This party's bits.
    pub word: u64,
    /// The MAC on them.
    pub mac: Block,
    /// The key to the peer's.
    pub key: Block,
}

/// Turns a word of `len` bits around: a string has its first bit at the bottom of a word, a pack at the top.
///
/// # Panics
/// If `len` is not 1 to 64.
pub fn turned(word: u64, len: usize) -> u64 {
    word.reverse_bits() >> (WORD - len)
}

/// Packs shares, by inner products with the powers of x.
pub struct Packer {
    backend: Backend,
    /// The powers of x, from the highest one to one.
    powers: [Block; WORD],
}

impl Packer {
    /// A packer on this backend.
    pub fn new(backend: Backend) -> Packer {
        Packer { backend, powers: std::array::from_fn(|i| Block::from_u128(1 << (WORD - 1 - i))) }
    }

    /// Packs at most 64 shares, whose MACs and keys lie apart.
    ///
    /// # Panics
    /// If there are more.
    pub fn pack(&self, macs: &[Block], keys: &[Block]) -> Packed {
        let powers = &self.powers[WORD - macs.len()..];
        let sum = |blocks| gf128::inner_product(self.backend, powers, blocks);
        let word = macs.iter().fold(0, |word, mac| word << 1 | u64::from(mac.lsb()));
        Packed { word, mac: sum(macs), key: sum(keys) }
    }

    /// Packs at most 64 shares.
    ///
    /// # Panics
    /// If there are more.
    pub fn shares(&self, shares: &[Share]) -> Packed {
        let mut room = Zeroizing::new([[Block::ZERO; WORD]; 2]);
        let [macs, keys] = &mut *room;
        for ((mac, key), share) in macs.iter_mut().zip(&mut *keys).zip(shares) {
            (*mac, *key) = (share.mac(), share.key());
        }
        self.pack(&macs[..shares.len()], &keys[..shares.len()])
    }
}

/// The product with x in GF(2^128), modulo x^128 + x^7 + x^2 + x + 1.
#[inline(always)]
fn times_x(element: u128) -> u128 {
    element << 1 ^ 0x87 & (element >> 127).wrapping_neg()
}

/// The products of delta and words, by a table look-up for each four bits of the word. Words are public between
/// the two parties: they were opened. Wiped on drop.
pub struct KeyMultiples(Box<[[u128; 16]; WORD / 4]>);

impl KeyMultiples {
    /// The multiples of this party's delta.
    pub fn new(key: &GlobalKey) -> KeyMultiples {
        let mut table = Box::new([[0; 16]; WORD / 4]);
        let mut power = key.block().to_u128();
        for row in table.iter_mut() {
            for bit in 0..4 {
                for low in 0..1 << bit {
                    row[1 << bit | low] = row[low] ^ power;
                }
                power = times_x(power);
            }
        }
        KeyMultiples(table)
    }

    /// The product of delta and a word, of which bit `j` is the coefficient of `x^j`.
    pub fn product(&self, word: u64) -> Block {
        let product =
            self.0.iter().zip((0..).step_by(4)).fold(0, |sum, (row, shift)| sum ^ row[(word >> shift & 15) as usize]);
        Block::from_u128(product)
    }
}

impl Drop for KeyMultiples {
    fn drop(&mut self) {
        self.0.as_flattened_mut().zeroize();
    }
}

/// A ledger with the packed MACs that wait to go into it: what was shown and seen, and is to be checked.
pub struct MacTally {
    ledger: Ledger,
    shown: Vec<Block>,
    seen: Vec<Block>,
}

impl MacTally {
    /// An empty tally of a party of two: as [`Ledger::new`].
    pub fn new(session: SessionId, party: PartyId) -> MacTally {
        let buffer = || Vec::with_capacity(BUFFER);
        MacTally { ledger: Ledger::new(session, party, party.other()), shown: buffer(), seen: buffer() }
    }

    /// This party shows bits that carry this MAC.
    pub fn show(&mut self, mac: Block) {
        self.shown.push(mac);
        if self.shown.len() == BUFFER {
            self.ledger.show(&self.shown);
            self.shown.clear();
        }
    }

    /// The peer shows bits that must carry this MAC.
    pub fn see(&mut self, expected: Block) {
        self.seen.push(expected);
        if self.seen.len() == BUFFER {
            self.ledger.see(&self.seen);
            self.seen.clear();
        }
    }

    fn flush(&mut self) {
        self.ledger.show(&self.shown);
        self.ledger.see(&self.seen);
        self.shown.clear();
        self.seen.clear();
    }

    /// As [`Ledger::digest`].
    pub fn digest(&mut self) -> [u8; 32] {
        self.flush();
        self.ledger.digest()
    }

    /// As [`Ledger::verify`].
    ///
    /// # Errors
    /// As there.
    pub fn verify(&mut self, digest: &[u8; 32]) -> Result<()> {
        self.flush();
        self.ledger.verify(digest)
    }

    /// As [`Ledger::settle`].
    ///
    /// # Errors
    /// As there.
    pub fn settle(&mut self, ch: &mut dyn Channel) -> Result<()> {
        self.flush();
        self.ledger.settle(ch)
    }
}

impl Drop for MacTally {
    fn drop(&mut self) {
        self.shown.zeroize();
        self.seen.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use comity_core::Prg;

    #[test]
    fn a_word_has_one_mac_and_no_other_word_has_it() {
        for backend in Backend::available() {
            let mut prg = Prg::new(backend, Block::from_u128(1));
            let (delta, packer) = (GlobalKey::random(&mut prg), Packer::new(backend));
            for len in [0, 1, 2, 63, 64] {
                let (mut own, mut theirs) = (Vec::new(), Vec::new());
                for _ in 0..len {
                    let (q, bit) = (prg.block(), prg.block().lsb());
                    let key = Share::theirs(q);
                    own.push(Share::own(bit, key.expected(bit, &delta)));
                    theirs.push(key);
                }
                let bits = own.iter().fold(0, |word, share| word << 1 | u64::from(share.bit()));
                let (own, theirs) = (packer.shares(&own), packer.shares(&theirs));
                assert!(own.word == bits && theirs.word == 0 && own.key == Block::ZERO && theirs.mac == Block::ZERO);
                let expected = |word: u64| {
                    let product = KeyMultiples::new(&delta).product(word);
                    assert!(gf128::mul(backend, Block::from_u128(word.into()), delta.block()) == product);
                    theirs.key ^ product
                };
                assert!(own.mac == expected(own.word));
                // One false bit, and two.
                for i in 0..len {
                    assert!(own.mac != expected(own.word ^ 1 << i));
                    assert!(own.mac != expected(own.word ^ 1 << i ^ 1 << ((i + 1) % 64)));
                }
            }
        }
    }
}
