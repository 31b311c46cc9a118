//! The leaky AND: three random shared bits become a triple, of which a cheat may learn one bit.
//!
//! For shared bits `x`, `y`, `z` and party P (the peer is Q; `x_P` is its share with the MAC `M_P[x]` under Q's delta, `K_P[x]` its key
//! to the peer's share):
//!
//! 1. `C_P = y_P D_P + K_P[y] + M_P[y]`. The sum of both is `y (D_A + D_B)`.
//! 2. P sends `G_P = H(K_P[x]) + H(K_P[x] + D_P) + C_P`.
//! 3. P computes `E_P = x_P G_Q + H(M_P[x])`, which is `H(K_Q[x]) + x_P C_Q`, and
//!    `S_P = H(K_P[x]) + E_P + x_P C_P + (z_P D_P + K_P[z] + M_P[z])`. The sum of both is `(x y + z) (D_A + D_B)`.
//! 4. `D_A + D_B` has bit 1 set ([`GlobalKey`]). Both show bit 1 of `S_P`; the sum `d` is `x y + z`, and is added to `[z]`.
//! 5. `L_P = S_P + d D_P` is the same on both sides, and is compared.
//!
//! Of Katz, Ranellucci, Rosulek, Wang (Crypto 2018, ePrint 2018/578, the improved `Pi_LaAND` of section 4), where the position in
//! step 4 is the least significant bit: ours is fixed to one in both deltas, so that it can hold the share.
//!
//! **Leak.** Who sends `G + R` in place of `G` shifts the peer's `S` and `L` by `x R`, where `x` is the peer's share. The comparison
//! then passes if it has guessed this bit and shifts its own by as much, and fails otherwise. Nothing else is to be had:
//! `y` and `z` enter with their MACs; a wrong bit in step 4 makes both `L` differ by `D_A + D_B`.

use comity_core::{Backend, Block, SessionId, TccrHash};
use comity_share::{GlobalKey, Share};
use zeroize::Zeroize;

use crate::Triple;

/// ANDs whose hashes are made in one go: they stay in the first-level cache for what is done with them.
const TILE: usize = 128;

/// MACs and keys of `n` ANDs: those of all `x`, of all `y`, and of all `z`.
#[derive(Clone, Copy)]
pub(super) struct Shares<'a> {
    pub(super) macs: &'a [Block],
    pub(super) keys: &'a [Block],
}

impl<'a> Shares<'a> {
    /// `x`, `y` and `z`, each with MACs and keys.
    fn split(self) -> [(&'a [Block], &'a [Block]); 3] {
        let n = self.macs.len() / 3;
        [0, 1, 2].map(|i| (&self.macs[i * n..(i + 1) * n], &self.keys[i * n..(i + 1) * n]))
    }
}

/// One party's work on leaky ANDs.
pub(super) struct Leaky {
    party: u32,
    key: GlobalKey,
    hash: TccrHash,
    /// Where the tweaks under this party's and under the peer's key start.
    starts: [u128; 2],
    /// How many ANDs were made: no tweak comes twice.
    count: u64,
    /// Step 3's `H(K_P[x]) + x_P C_P`, then `S_P`, then `L_P`. Secret.
    s: Vec<Block>,
}

impl Leaky {
    pub(super) fn new(session: &SessionId, backend: Backend, party: u32, key: GlobalKey) -> Leaky {
        let start = |party: u32| session.block(&format!("tweaks under the key of party {party}")).to_u128();
        let starts = [start(party), start(1 - party)];
        Leaky { party, key, hash: TccrHash::new(backend), starts, count: 0, s: Vec::new() }
    }

    /// Steps 1 and 2: writes `G` for each AND.
    pub(super) fn garble(&mut self, shares: Shares<'_>, g: &mut [Block]) {
        let [(mac_x, key_x), (mac_y, key_y), _] = shares.split();
        let delta = self.key.block();
        if self.s.len() < g.len() {
            self.s.resize(g.len(), Block::ZERO);
        }
        let mut pairs = [[Block::ZERO; 2]; TILE];
        for at in (0..g.len()).step_by(TILE) {
            let end = g.len().min(at + TILE);
            let pairs = &mut pairs[..end - at];
            let tweak = self.starts[0].wrapping_add(u128::from(self.count) + at as u128);
            self.hash.hash_pairs(tweak, delta, &key_x[at..end], pairs);
            for (pair, i) in pairs.iter().zip(at..end) {
                let c = delta.masked(mac_y[i].lsb()) ^ key_y[i] ^ mac_y[i];
                g[i] = pair[0] ^ pair[1] ^ c;
                self.s[i] = pair[0] ^ c.masked(mac_x[i].lsb());
            }
        }
        pairs.zeroize();
    }

    /// Step 3, with the peer's `G`, which is used up: writes bit 1 of every `S`, eight to a byte.
    pub(super) fn evaluate(&mut self, shares: Shares<'_>, g: &mut [Block], bits: &mut [u8]) {
        let [(mac_x, _), _, (mac_z, key_z)] = shares.split();
        let delta = self.key.block();
        let mut hashes = [Block::ZERO; TILE];
        bits.fill(0);
        for at in (0..g.len()).step_by(TILE) {
            let end = g.len().min(at + TILE);
            let hashes = &mut hashes[..end - at];
            hashes.copy_from_slice(&mac_x[at..end]);
            let tweak = self.starts[1].wrapping_add(u128::from(self.count) + at as u128);
            self.hash.hash(tweak, hashes);
            for (hash, i) in hashes.iter().zip(at..end) {
                let e = g[i].masked(mac_x[i].lsb()) ^ *hash;
                let s = self.s[i] ^ e ^ delta.masked(mac_z[i].lsb()) ^ key_z[i] ^ mac_z[i];
                self.s[i] = s;
                bits[i / 8] |= (s.to_bytes()[0] >> 1 & 1) << (i % 8);
            }
        }
        hashes.zeroize();
    }

    /// Steps 4 and 5, with both parties' bits: calls `each` with the triples in order, and hashes the `L`.
    pub(super) fn close(
        &mut self,
        shares: Shares<'_>,
        bits: [&[u8]; 2],
        equality: &mut blake3::Hasher,
        out: &mut [Triple],
    ) {
        let [(mac_x, key_x), (mac_y, key_y), (mac_z, key_z)] = shares.split();
        let delta = self.key.block();
        for (i, triple) in out.iter_mut().enumerate() {
            let d = (bits[0][i / 8] ^ bits[1][i / 8]) >> (i % 8) & 1 == 1;
            self.s[i] ^= delta.masked(d);
            *triple = Triple {
                a: Share::from_parts(mac_x[i], key_x[i]),
                b: Share::from_parts(mac_y[i], key_y[i]),
                c: Share::from_parts(mac_z[i], key_z[i]).add(d, self.party, &self.key),
            };
        }
        equality.update(Block::bytes_of(&self.s[..out.len()]));
        self.count += out.len() as u64;
    }
}

impl Drop for Leaky {
    fn drop(&mut self) {
        self.s.as_mut_slice().zeroize();
    }
}
