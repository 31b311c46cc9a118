//! `Share`: one party's part of an authenticated bit, 32 bytes.
//!
//! The share itself is bit 0 of its MAC. For that bit 0 of every global key is one and bit 0 of every local
//! key zero, so that `M = K + x * delta` has `x` there; sums of shares keep it so. A wire is then two blocks
//! and nothing else: an XOR gate is one addition of 32 bytes. MACs and keys prove with the bits of the global
//! key that are left: 127, or fewer if a protocol fixes more.

use core::ops::{BitXor, BitXorAssign};

use comity_core::{Block, PartyId};
use rand_core::CryptoRng;
use zeroize::{DefaultIsZeroes, Zeroize, ZeroizeOnDrop, Zeroizing};

/// Bit 0.
const BIT: Block = Block::from_u128(1);

/// A party's global key: its delta, with which it checks the peer's MACs. Secret; wiped on drop.
///
/// Bit 0 is one (see [`Share`]); the others are the owner's to choose, and a protocol that fixes some of them says so.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct GlobalKey(Block);

impl GlobalKey {
    /// A random key: 127 secret bits.
    pub fn random(rng: &mut (impl CryptoRng + ?Sized)) -> GlobalKey {
        let mut bytes = Zeroizing::new([0; 16]);
        rng.fill_bytes(&mut *bytes);
        bytes[0] |= 1;
        GlobalKey(Block::new(*bytes))
    }

    /// A random key of this party: bit 1 is one at party 1 alone, so that bit 1 of the sum of all parties'
    /// keys is one. 126 secret bits.
    pub fn of(party: PartyId, rng: &mut (impl CryptoRng + ?Sized)) -> GlobalKey {
        let mut key = GlobalKey::random(rng);
        key.0 = Block::from_u128(key.0.to_u128() & !2 | u128::from(party.0 == 1) << 1);
        key
    }

    /// The key with these bits; `None` if bit 0 is not one.
    pub fn new(delta: Block) -> Option<GlobalKey> {
        delta.lsb().then_some(GlobalKey(delta))
    }

    /// The delta itself.
    pub fn block(&self) -> Block {
        self.0
    }
}

/// One party's part of a shared, authenticated bit: its own share with the MAC on it, and the key to the peer's share.
///
/// `Share::default()` is a share of the constant zero. Shares of one session add up with `^`. Secret.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(32))]
pub struct Share {
    mac: Block,
    key: Block,
}

impl DefaultIsZeroes for Share {}

impl Share {
    /// A share from the two sides of two correlated OTs. `t`, with the choice bit `bit`, comes from the one
    /// in which this party chose, under the peer's delta; `q` from the one in which the peer chose, under
    /// this party's.
    #[inline]
    pub fn from_correlated(bit: bool, t: Block, q: Block) -> Share {
        Share { mac: t.with_lsb(bit), key: q.with_lsb(false) }
    }

    /// A share of which only this party's half exists: the peer's share is the constant zero.
    #[inline]
    pub fn own(bit: bool, t: Block) -> Share {
        Share { mac: t.with_lsb(bit), key: Block::ZERO }
    }

    /// A share of which only the peer's half exists: this party's share is the constant zero.
    #[inline]
    pub fn theirs(q: Block) -> Share {
        Share { mac: Block::ZERO, key: q.with_lsb(false) }
    }

    /// A share from its two blocks, as [`Share::mac`] and [`Share::key`] gave them.
    #[inline]
    pub fn from_parts(mac: Block, key: Block) -> Share {
        Share { mac, key: key.with_lsb(false) }
    }

    /// This party's share of the bit.
    #[inline]
    pub fn bit(self) -> bool {
        self.mac.lsb()
    }

    /// The MAC on this party's share, with the share as its bit 0.
    #[inline]
    pub fn mac(self) -> Block {
        self.mac
    }

    /// The key to the peer's share: the MAC that the peer has if its share is zero.
    #[inline]
    pub fn key(self) -> Block {
        self.key
    }

    /// The MAC that the peer must have if its share is `bit`.
    #[inline]
    pub fn expected(self, bit: bool, delta: &GlobalKey) -> Block {
        self.key ^ delta.0.masked(bit)
    }

    /// Adds the public constant `c` to this party's own share; the peer calls [`Share::add_to_theirs`].
    #[inline]
    #[must_use]
    pub fn add_to_own(self, c: bool) -> Share {
        Share { mac: self.mac ^ BIT.masked(c), key: self.key }
    }

    /// Adds the public constant `c` to the peer's share, which calls [`Share::add_to_own`].
    #[inline]
    #[must_use]
    pub fn add_to_theirs(self, c: bool, delta: &GlobalKey) -> Share {
        Share { mac: self.mac, key: self.key ^ (delta.0 ^ BIT).masked(c) }
    }

    /// This share where `bit` is one, a share of zero where it is zero, without a branch.
    #[inline]
    #[must_use]
    pub fn masked(self, bit: bool) -> Share {
        Share { mac: self.mac.masked(bit), key: self.key.masked(bit) }
    }

    /// The two words of the MAC and the two of the key, the lower ones first, for loops over many shares. Bit
    /// 0 is this party's share.
    #[inline(always)]
    pub fn words(self) -> [u64; 4] {
        bytemuck::cast::<Share, [u64; 4]>(self).map(u64::from_le)
    }

    /// The share with these [`words`](Share::words).
    #[inline(always)]
    pub fn from_words(words: [u64; 4]) -> Share {
        bytemuck::cast(words.map(u64::to_le))
    }

    /// Bytes in a share.
    pub const BYTES: usize = 32;

    /// The bytes of shares, in order: for storing them.
    pub fn bytes_of(shares: &[Share]) -> &[u8] {
        bytemuck::cast_slice(shares)
    }

    /// The bytes of shares, in order, to be written.
    pub fn bytes_of_mut(shares: &mut [Share]) -> &mut [u8] {
        bytemuck::cast_slice_mut(shares)
    }
}

impl BitXor for Share {
    type Output = Share;
    #[inline(always)]
    fn bitxor(self, other: Share) -> Share {
        Share { mac: self.mac ^ other.mac, key: self.key ^ other.key }
    }
}

impl BitXorAssign for Share {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Share) {
        *self = *self ^ other;
    }
}

#[cfg(test)]
mod tests {
    use comity_core::{Backend, Prg};

    use super::*;

    /// The two ends of a link.
    const ENDS: [(usize, usize); 2] = [(0, 1), (1, 0)];

    /// The halves of `x_0 + x_1` at both ends, dealt honestly.
    fn deal(bits: [bool; 2], deltas: &[GlobalKey; 2], prg: &mut Prg) -> [Share; 2] {
        let q = [prg.block(), prg.block()];
        ENDS.map(|(own, other)| {
            let t = q[other] ^ deltas[other].block().masked(bits[own]);
            Share::from_correlated(bits[own], t, q[own])
        })
    }

    fn holds(shares: [Share; 2], bits: [bool; 2], deltas: &[GlobalKey; 2]) {
        for (own, other) in ENDS {
            let (bit, mac, key) = (bits[own], shares[own].mac(), &deltas[other]);
            assert_eq!(shares[own].bit(), bit);
            assert!(mac == shares[other].expected(bit, key));
            assert!(mac != shares[other].expected(!bit, key));
        }
    }

    #[test]
    fn macs_hold_through_sums_and_constants() {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(5));
        let [a, b] = [prg.block(), prg.block()].map(|seed| Prg::new(Backend::detect(), seed).block());
        let deltas = [GlobalKey::new(a.with_lsb(true)).unwrap(), GlobalKey::new(b.with_lsb(true)).unwrap()];
        for case in 0..16 {
            let bit = |i: u32| case >> i & 1 == 1;
            let (x, y) = ([bit(0), bit(1)], [bit(2), bit(3)]);
            let (left, right) = (deal(x, &deltas, &mut prg), deal(y, &deltas, &mut prg));
            let sum = [left[0] ^ right[0], left[1] ^ right[1]];
            holds(sum, [x[0] ^ y[0], x[1] ^ y[1]], &deltas);
            for c in [false, true] {
                let moved = [sum[0].add_to_own(c), sum[1].add_to_theirs(c, &deltas[1])];
                holds(moved, [x[0] ^ y[0] ^ c, x[1] ^ y[1]], &deltas);
                let masked = [0, 1].map(|party: usize| moved[party].masked(bit(0)));
                holds(masked, [(x[0] ^ y[0] ^ c) & bit(0), (x[1] ^ y[1]) & bit(0)], &deltas);
            }
        }
    }

    #[test]
    fn a_global_key_has_its_fixed_bit() {
        assert!(GlobalKey::new(Block::from_u128(6)).is_none());
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(6));
        let keys: Vec<u128> = (0..64).map(|_| GlobalKey::random(&mut rng).block().to_u128()).collect();
        let (all, any) = keys.iter().fold((!0, 0), |(all, any), key| (all & key, any | key));
        assert_eq!((all, any), (1, !0), "bit 0 is one at all of 64 keys, and every other one at some");
    }
}
