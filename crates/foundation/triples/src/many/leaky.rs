//! The leaky AND of any number of parties: three random shared bits become a triple, of which a cheat may
//! learn one bit of each honest party's share of `x`.
//!
//! For shared bits `x`, `y`, `z` and party `i`, with its global key `R_i`; `phi_i` and `psi_i` are its sums
//! of `y` and of `z` ([`forms`](comity_share::forms)), `K_i(x_j)` its key to the share of `j`, `M_j(x_i)` its
//! MAC under the key of `j`. `R` is the sum of all global keys.
//!
//! 1. `U_ij = H(K_i(x_j)) + H(K_i(x_j) + R_i) + phi_i`, from `i` to each `j`.
//! 2. `S_i = x_i phi_i + psi_i + sum_j (H(K_i(x_j)) + H(M_j(x_i)) + x_i U_ji)`. The term of `j` in it is
//!    `H(K_j(x_i)) + x_i phi_j + H(K_i(x_j))`, so the sum over the parties is
//!    `sum x_i phi_j + sum psi_i = (x y + z) R`.
//! 3. Bit 1 of `R` is set. All show bit 1 of `S_i`; the sum `d` is `x y + z`, and is added to the shared `z`.
//! 4. `L_i = S_i + d R_i` sums up to zero over the parties, which is tested for all ANDs of a batch in one combination.
//!
//! At two parties this is the leaky AND of Katz, Ranellucci, Rosulek, Wang (ePrint 2018/578). `H` is that of
//! [`GateHash`], with a key for each AND and ordered pair, and *circular* correlation robust: `phi_i`
//! contains `y_i R_i`, and is masked by hashes of what a peer knows but for `R_i`. (Under a permutation
//! `p(x) + x` with one key for all, a table would be held against all ANDs at once; without the feed-forward
//! a peer would read `R_i` where `y_i` is one.) The two hashes in `U_ij` have one tweak, and no other hash
//! has it.
//!
//! **Leak.** Who sends `j` a false `U + D` shifts `S_j` and `L_j` by `x_j D`. The test passes if the liars
//! shift their own by as much, which is a guess of `x_j`, and fails otherwise. Nothing else is to be had: `y`
//! and `z` enter with their MACs, and a wrong bit in step 3, for all or for one, leaves a sum with global
//! keys of honest parties in it.

use comity_channel::PerPeer;
use comity_core::{Backend, Block, GateHash, PartyId, SessionId};
use comity_share::GlobalKey;
use comity_share::forms::constant_one;
use zeroize::Zeroize;

use super::table::{BLOCKS, sections};
use crate::words::{Words, add, add_masked, add_same, masks_of_bits, masks_of_row, pack, word, words, words_mut};

/// ANDs that are worked on in one go: they stay in the first-level cache from step to step.
const TILE: usize = 128;

/// One party's work on leaky ANDs.
pub(super) struct Leaky {
    me: PartyId,
    parties: u16,
    key: GlobalKey,
    /// The hashes under this party's key, for each peer, and under each peer's, for this party. Their tweaks
    /// never repeat: the start has both parties and the session in it, and they count up from there.
    hashes: PerPeer<[GateHash; 2]>,
    scratch: Scratch,
}

/// Memory for one tile. Secret.
#[derive(Zeroize)]
#[zeroize(drop)]
struct Scratch {
    masks: [Words; TILE],
    blocks: [[Block; TILE]; 3],
}

impl Leaky {
    pub(super) fn new(session: &SessionId, backend: Backend, me: PartyId, parties: u16, key: GlobalKey) -> Leaky {
        let hash = |owner: PartyId, other: PartyId| {
            GateHash::new(
                backend,
                session.block(&format!("start of the hash keys under the key of party {owner}, towards {other}")),
            )
        };
        let scratch = Scratch { masks: [[0; 2]; TILE], blocks: [[Block::ZERO; TILE]; 3] };
        let hashes = PerPeer::new(me, parties, |peer| [hash(me, peer), hash(peer, me)]);
        Leaky { me, parties, key, hashes, scratch }
    }

    /// Step 1, and what of step 2 needs nobody else: writes it to `s`, and appends `U` for each peer to
    /// `tables`. `keys` are those to each peer's `x`, and further ones.
    pub(super) fn garble(
        &mut self,
        chunk: &[Block],
        keys: &PerPeer<&mut [Block]>,
        s: &mut [Block],
        tables: &mut PerPeer<Vec<u8>>,
    ) {
        let (delta, n) = (self.key.block(), s.len());
        let Scratch { masks, blocks: [phi, near, far] } = &mut self.scratch;
        for at in (0..n).step_by(TILE) {
            let tile = at..n.min(at + TILE);
            let part = |section: usize, kind: usize| words(&chunk[(BLOCKS * section + kind) * n..][tile.clone()]);
            let (masks, s) = (&mut masks[..tile.len()], words_mut(&mut s[tile.clone()]));
            let [phi, near, far] = [&mut *phi, &mut *near, &mut *far].map(|blocks| &mut blocks[..tile.len()]);
            masks_of_bits(part(0, 0), masks);
            words_mut(phi).copy_from_slice(part(0, 1));
            s.copy_from_slice(part(0, 2));
            for section in 1..usize::from(self.parties) {
                add(words_mut(phi), part(section, 1));
                add(s, part(section, 2));
            }
            add_masked(s, words(phi), masks);
            for (peer, [hash, _]) in self.hashes.iter_mut() {
                near.copy_from_slice(&keys[peer][tile.clone()]);
                far.iter_mut().zip(&*near).for_each(|(far, near)| *far = *near ^ delta);
                hash.pairs(near, far);
                add(s, words(near));
                add(words_mut(far), words(near));
                add(words_mut(far), words(phi));
                tables[peer].extend_from_slice(Block::bytes_of(far));
            }
        }
    }

    /// The rest of step 2, with each peer's `U`, which begin at byte `from` of the tables.
    pub(super) fn evaluate(&mut self, chunk: &[Block], s: &mut [Block], tables: &PerPeer<Vec<u8>>, from: usize) {
        let n = s.len();
        let Scratch { masks, blocks: [hashed, table, _] } = &mut self.scratch;
        for at in (0..n).step_by(TILE) {
            let tile = at..n.min(at + TILE);
            let x = |section: usize| &chunk[BLOCKS * section * n..][tile.clone()];
            let (masks, s) = (&mut masks[..tile.len()], words_mut(&mut s[tile.clone()]));
            let [hashed, table] = [&mut *hashed, &mut *table].map(|blocks| &mut blocks[..tile.len()]);
            masks_of_bits(words(x(0)), masks);
            for (peer, [_, hash]) in self.hashes.iter_mut() {
                hashed.copy_from_slice(x(peer.0.into()));
                hash.each(hashed);
                add(s, words(hashed));
                let bytes = from + tile.start * Block::BYTES..from + tile.end * Block::BYTES;
                Block::bytes_of_mut(table).copy_from_slice(&tables[peer][bytes]);
                add_masked(s, words(table), masks);
            }
        }
    }

    /// Steps 3 and 4: mends `z` with the sums of all parties' bits, and makes every `S` the `L` of its AND.
    pub(super) fn close(&mut self, chunk: &mut [Block], s: &mut [Block], d: &[u8]) {
        let n = s.len();
        let delta = word(self.key.block());
        for at in (0..n).step_by(TILE) {
            let tile = at..n.min(at + TILE);
            let masks = &mut self.scratch.masks[..tile.len()];
            masks_of_row(d, at, masks);
            add_same(words_mut(&mut s[tile.clone()]), delta, masks);
            for (party, section) in sections(chunk, self.parties) {
                if let Some(one) = constant_one(self.me, party, &self.key) {
                    add_same(words_mut(&mut section[2 * n..][tile.clone()]), word(one), masks);
                }
            }
        }
    }
}

/// Appends bit 1 of every `S`, eight to a byte.
pub(super) fn bits(s: &[Block], to: &mut Vec<u8>) {
    let start = to.len();
    to.resize(start + s.len().div_ceil(8), 0);
    pack(words(s), 1, &mut to[start..]);
}
