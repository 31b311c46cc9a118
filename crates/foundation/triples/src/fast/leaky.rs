//! The leaky AND: three random shared bits become a triple, of which a cheat may learn one bit.
//!
//! For shared bits `x`, `y`, `z` and party P (the peer is Q; `x_P` is its share with the MAC `M_P[x]` under
//! Q's delta, `K_P[x]` its key to the peer's share):
//!
//! 1. `C_P = y_P D_P + K_P[y] + M_P[y]`. The sum of both is `y (D_A + D_B)`.
//! 2. P sends `G_P = H(K_P[x]) + H(K_P[x] + D_P) + C_P`.
//! 3. P computes `E_P = x_P G_Q + H(M_P[x])`, which is `H(K_Q[x]) + x_P C_Q`, and
//!    `S_P = H(K_P[x]) + E_P + x_P C_P + (z_P D_P + K_P[z] + M_P[z])`. The sum of both is `(x y + z) (D_A + D_B)`.
//! 4. `D_A + D_B` has bit 1 set ([`GlobalKey::of`]). Both show bit 1 of `S_P`; the sum `d` is `x y + z`, and
//!    is added to `[z]`.
//! 5. `L_P = S_P + d D_P` is the same on both sides, and is compared.
//!
//! Of Katz, Ranellucci, Rosulek, Wang (Crypto 2018, ePrint 2018/578, the improved leaky AND of section 4),
//! where the position in step 4 is the least significant bit: ours is another, so that bit 0 can hold the
//! share.
//!
//! **Leak.** Who sends `G + R` in place of `G` shifts the peer's `S` and `L` by `x R`, where `x` is the
//! peer's share. The comparison then passes if it has guessed this bit and shifts its own by as much, and
//! fails otherwise. Nothing else is to be had: `y` and `z` enter with their MACs; a wrong bit in step 4 makes
//! both `L` differ by `D_A + D_B`.

use core::ops::Range;

use comity_core::{Backend, Block, PartyId, SessionId};
use comity_share::GlobalKey;
use zeroize::Zeroize;

use super::shares::{Shares, SharesMut};
use crate::hashes::Hashes;
use crate::words::{Words, add_same, masks_of_bits, masks_of_row, pack, word, words, words_mut};

/// ANDs that are worked on in one go: they stay in the first-level cache from step to step.
const TILE: usize = 128;

/// One party's work on leaky ANDs.
pub(super) struct Leaky {
    party: PartyId,
    key: GlobalKey,
    hashes: Hashes,
    /// Step 3's `H(K_P[x]) + x_P C_P`, then `S_P`, then `L_P`, of ANDs that are worked on at the same time. Secret.
    s: Vec<Block>,
    scratch: Scratch,
}

/// Memory for the masks and hashes of one tile. Secret.
#[derive(Clone, Zeroize)]
#[zeroize(drop)]
struct Scratch {
    masks: [[Words; TILE]; 2],
    hashes: [[Block; TILE]; 2],
}

impl Leaky {
    pub(super) fn new(session: &SessionId, backend: Backend, party: PartyId, key: GlobalKey) -> Leaky {
        let scratch = Scratch { masks: [[[0; 2]; TILE]; 2], hashes: [[Block::ZERO; TILE]; 2] };
        Leaky { party, key, hashes: Hashes::new(session, backend, party), s: Vec::new(), scratch }
    }

    /// Begins with `ands` ANDs, numbered from 0: each step takes a range of them, and all steps the same
    /// ranges.
    pub(super) fn begin(&mut self, ands: usize) {
        if self.s.len() < ands {
            // Memory that is moved is not wiped where it was.
            self.s.zeroize();
            self.s.resize(ands, Block::ZERO);
        }
    }

    /// Steps 1 and 2: writes `G` for each AND.
    #[allow(clippy::needless_range_loop, reason = "loops over words of many slices of one length")]
    pub(super) fn garble(&mut self, [x, y, _]: [Shares<'_>; 3], ands: Range<usize>, g: &mut [Block]) {
        let delta = self.key.block();
        let d = word(delta);
        let all = &mut self.s[ands];
        let Scratch { masks: [mask_x, mask_y], hashes: [h0, h1] } = &mut self.scratch;
        for at in (0..g.len()).step_by(TILE) {
            let tile = at..g.len().min(at + TILE);
            let n = tile.len();
            h0[..n].copy_from_slice(&x.keys[tile.clone()]);
            self.hashes.pairs(delta, &mut h0[..n], &mut h1[..n]);
            let [mac_x, mac_y, key_y] = [x.macs, y.macs, y.keys].map(|blocks| words(&blocks[tile.clone()]));
            let (mask_x, mask_y) = (&mut mask_x[..n], &mut mask_y[..n]);
            masks_of_bits(mac_x, mask_x);
            masks_of_bits(mac_y, mask_y);
            let (g, s) = (words_mut(&mut g[tile.clone()]), words_mut(&mut all[tile]));
            let (h0, h1) = (words(&h0[..n]), words(&h1[..n]));
            // All of length `n`, as the compiler sees here.
            for i in 0..n {
                for w in 0..2 {
                    let c = d[w] & mask_y[i][w] ^ key_y[i][w] ^ mac_y[i][w];
                    g[i][w] = h0[i][w] ^ h1[i][w] ^ c;
                    s[i][w] = h0[i][w] ^ c & mask_x[i][w];
                }
            }
        }
    }

    /// Step 3, with the peer's `G`: writes bit 1 of every `S`, eight to a byte.
    #[allow(clippy::needless_range_loop, reason = "loops over words of many slices of one length")]
    pub(super) fn evaluate(&mut self, [x, _, z]: [Shares<'_>; 3], ands: Range<usize>, g: &[Block], bits: &mut [u8]) {
        let d = word(self.key.block());
        let all = &mut self.s[ands];
        let Scratch { masks: [mask_x, mask_z], hashes: [h, _] } = &mut self.scratch;
        for at in (0..g.len()).step_by(TILE) {
            let tile = at..g.len().min(at + TILE);
            let n = tile.len();
            h[..n].copy_from_slice(&x.macs[tile.clone()]);
            self.hashes.macs(&mut h[..n]);
            let [mac_x, mac_z, key_z] = [x.macs, z.macs, z.keys].map(|blocks| words(&blocks[tile.clone()]));
            let (mask_x, mask_z) = (&mut mask_x[..n], &mut mask_z[..n]);
            masks_of_bits(mac_x, mask_x);
            masks_of_bits(mac_z, mask_z);
            let (g, h, s) = (words(&g[tile.clone()]), words(&h[..n]), words_mut(&mut all[tile]));
            for i in 0..n {
                for w in 0..2 {
                    s[i][w] ^= g[i][w] & mask_x[i][w] ^ h[i][w] ^ d[w] & mask_z[i][w] ^ key_z[i][w] ^ mac_z[i][w];
                }
            }
            pack(s, 1, &mut bits[at / 8..]);
        }
    }

    /// The `S` of some ANDs.
    pub(super) fn s(&mut self, ands: Range<usize>) -> &mut [Block] {
        &mut self.s[ands]
    }

    /// Step 4 and what step 5 compares: mends `z` with the sums of both parties' bits, and gives every `L`.
    pub(super) fn close(&mut self, z: SharesMut<'_>, ands: Range<usize>, d: &[u8]) -> &mut [Block] {
        let n = z.macs.len();
        let all = &mut self.s[ands];
        let delta = self.key.block();
        let one = Block::from_u128(1);
        for at in (0..n).step_by(TILE) {
            let tile = at..n.min(at + TILE);
            let masks = &mut self.scratch.masks[0][..tile.len()];
            masks_of_row(d, at, masks);
            add_same(words_mut(&mut all[tile.clone()]), word(delta), masks);
            // The constant goes to party 0's share.
            if self.party.0 == 0 {
                add_same(words_mut(&mut z.macs[tile]), word(one), masks);
            } else {
                add_same(words_mut(&mut z.keys[tile]), word(delta ^ one), masks);
            }
        }
        all
    }
}

impl Drop for Leaky {
    fn drop(&mut self) {
        self.s.as_mut_slice().zeroize();
    }
}
