//! The blind test for zero: whether the `sigma` of all parties sum up to zero, where a `sigma` may depend on
//! its holder's own global key.
//!
//! It is not enough to commit to every `sigma`, open them and add. A party that caused a sum `e` that is not
//! zero, by a lie, then knows it, and `e` may be a global key. Here it gets `rho e` for a random `rho` that
//! it does not know.
//!
//! **Test.** Every party adds a share of zero to its `sigma_i`. `rho = sum rho_j`, where `rho_j` are 128
//! random shares of party `j`, the same towards all ([`alike`](super::alike)) and used for nothing else.
//! 1. For each ordered pair, `i` with `sigma_i` and `j` with `rho_j`, and each bit `b`: the shares are an OT
//!    in which `j` chooses by bit `b` of `rho_j`. Hashed it has two strings `q_b` and `q_b + sigma_i x^b`,
//!    and once more `q'_b` and `q'_b + s x^b`, where `s` is drawn for this pair: `i` sends the differences
//!    masked by the hashes. `j` gets `t_b` and `t'_b`, one string of each.
//! 2. When `j` has all of that it sends `i` a random `theta`.
//! 3. `i` sends `u = theta sigma_i + s`, and a digest of `theta q_b + q'_b` for all `b`. `j` compares it with
//!    the digest of `theta t_b + t'_b + rho_b u x^b`.
//! 4. Only then each computes its share of `rho sum sigma`, which is `rho_i sigma_i` and, with each peer, the
//!    sums of its `q_b` and of its `t_b`. All commit, in the echo, which is settled, and open. The sum must
//!    be zero.
//!
//! **Sound.** If `sum sigma` is `e`, not zero, the shares add up to `rho e`. Nobody knows an honest `rho_j`,
//! so it is hit with probability 2^-128 by a party that commits before it has seen the others' shares. To
//! have the sum zero otherwise is to know `e`.
//!
//! **Blind.** What a liar gets of a test that fails is `rho e`, which is uniform but not zero whatever `e`
//! is. So the strings must be of one factor: with `q_b + f(x^b)` for another linear `f`, as
//! `f(x) = x^(2^64)`, the sum is `rho e + f(rho)`-like, and has few values where `e` has structure. Step 3
//! sees it: by `theta`, which comes after the strings, any other difference than `sigma_i x^b` for one and
//! the same `sigma_i` needs a guess of `rho_b`. A guess of k bits of `rho_j` passes with probability 2^-k,
//! and takes k bits from what hides `e`. It comes before anything is committed, and a commitment of an honest
//! party says that it found all its pairs in order.
//!
//! **The rule.** What party `i` says: strings, masked by hashes under its own global key of what its peer
//! does not know (the hash is circular correlation robust: `sigma_i` may contain the key); `u`, masked by
//! `s`, which is for this pair alone, since under two `theta` one `s` would give `sigma_i`; a digest of what
//! its honest peer knows; `theta` and the commitment, which depend on nothing; and its share of `rho e`,
//! which is masked by `q_b` or `t_b` of the pair with any other honest party, and adds up to zero or to what
//! is uniform. The receiver chooses by `rho`, never by its own `sigma`: with the OTs turned round, a sender
//! with strings of its own choice would learn bits of `sigma` from whether the receiver goes on.

use comity_channel::{Mesh, PerPeer};
use comity_core::{Block, Check, Error, GateHash, PartyId, Result, gf128, verdict};
use comity_protocol::Conduct;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::deltas::block;
use super::{Joint, JointAct, Talk};
use crate::checks;
use crate::simultaneous::{Saying, say_among};

/// Bits of `rho`, and OTs of an ordered pair.
const BITS: usize = 128;

/// Blocks for the bits of `rho`. Secret.
type Strings = Zeroizing<[Block; BITS]>;

/// Both kinds of strings of a pair: for the factor, and for its mask.
struct Both([Strings; 2]);

impl<C: for<'a> Conduct<JointAct<'a>>> Joint<C> {
    /// The test; with its last message the next coin is opened, if that is wanted.
    pub(super) fn blind(
        &mut self,
        mesh: &mut Mesh<'_>,
        sigma: Block,
        otherwise: &'static Check,
        coin: bool,
    ) -> Result<Option<[u8; 32]>> {
        let session = self.session.child(&format!("blind test {}", self.tests[0]));
        self.tests[0] += 1;
        let mut sigma = Zeroizing::new(sigma ^ self.zeros.block());
        self.conduct.before(JointAct::Sigma(&mut sigma));
        let bits = self.pairwise(mesh, BITS, None)?;
        let (backend, me, delta) = (self.backend, self.me, self.key.block());
        let hash = |owner: PartyId, other: PartyId| {
            GateHash::new(backend, session.block(&format!("pads under the key of party {owner}, with {other}")))
        };
        let rho: Zeroizing<Vec<bool>> =
            Zeroizing::new(bits.macs.iter().next().expect("a peer").1.iter().map(|mac| mac.lsb()).collect());
        let unsettled = core::mem::take(&mut self.unsettled);
        let Joint { echo, conduct, rng, coins, .. } = self;
        let mut talk = Talk { mesh, echo, conduct };

        // 1: strings.
        let masks = talk.each(|_| Zeroizing::new(Block::random(rng)));
        let mut sent = talk.each(|_| Both::zeros());
        let mut out = talk.each(|_| Vec::new());
        for (peer, out) in out.iter_mut() {
            let mut differences = [multiples(*sigma), multiples(*masks[peer])];
            let [factor, mask] = &mut differences;
            talk.conduct.before(JointAct::Strings { peer, differences: [&mut **factor, &mut **mask] });
            let mut hash = hash(me, peer);
            for (strings, differences) in sent[peer].0.iter_mut().zip(&differences) {
                strings.copy_from_slice(&bits.keys[peer]);
                let mut other = Zeroizing::new(strings.map(|q| q ^ delta));
                hash.pairs(&mut **strings, &mut *other);
                for ((other, q), difference) in other.iter_mut().zip(&**strings).zip(&**differences) {
                    *other ^= *q ^ *difference;
                }
                out.extend_from_slice(Block::bytes_of(&*other));
            }
        }
        let heard = talk.send("strings", out, |_| 2 * BITS * Block::BYTES)?;
        let mut chosen = talk.each(|_| Both::zeros());
        for (peer, bytes) in heard.iter() {
            let mut hash = hash(peer, me);
            for (strings, bytes) in chosen[peer].0.iter_mut().zip(bytes.chunks_exact(BITS * Block::BYTES)) {
                strings.copy_from_slice(&bits.macs[peer]);
                hash.each(&mut **strings);
                let (differences, _) = bytes.as_chunks();
                for ((t, difference), &rho) in strings.iter_mut().zip(differences).zip(&**rho) {
                    *t ^= Block::new(*difference).masked(rho);
                }
            }
        }

        // 2 and 3: whether they are of one factor.
        let thetas = talk.each(|_| Block::random(rng));
        let out = talk.each(|peer| thetas[peer].to_bytes().to_vec());
        let asked = talk.send("theta", out, |_| Block::BYTES)?;
        let out = talk.each(|peer| {
            let theta = block(&asked[peer]);
            let u = gf128::mul(backend, theta, *sigma) ^ *masks[peer];
            let combined = sent[peer].combined(|q| gf128::mul(backend, theta, q));
            [&u.to_bytes()[..], &digest(&combined)].concat()
        });
        let answers = talk.send("combined strings", out, |_| Block::BYTES + 32)?;
        for (peer, answer) in answers.iter() {
            let (u, digest_of_theirs) = answer.split_at(Block::BYTES);
            let mut combined = chosen[peer].combined(|t| gf128::mul(backend, thetas[peer], t));
            for ((sum, multiple), &rho) in combined.iter_mut().zip(&*multiples(block(u))).zip(&**rho) {
                *sum ^= multiple.masked(rho);
            }
            if !verdict(digest(&combined).ct_eq(digest_of_theirs)) {
                return Err(Error::from(checks::PRODUCT).by(peer));
            }
        }

        // 4: the product.
        let rho = rho.iter().rev().fold(0, |element, &bit| element << 1 | u128::from(bit));
        let mut product = gf128::mul(backend, Block::from_u128(rho), *sigma) ^ sum(&sent) ^ sum(&chosen);
        talk.conduct.before(JointAct::Product(&mut product));
        let (seed, beside) = coin.then(|| coins.next(&talk)).unzip();
        let saying = Saying {
            names: ["commitment to a product", "product"],
            false_opening: checks::PRODUCT_OPENING,
            own: &product.to_bytes(),
            unsettled,
            beside,
        };
        let (shown, opened) = say_among(&mut talk, session, saying, rng)?;
        let total = shown.iter().fold(product, |total, (_, product)| total ^ block(product));
        if !verdict(total.ct_eq(&Block::ZERO)) {
            return Err(Error::from(otherwise));
        }
        seed.zip(opened).map(|(seed, opened)| coins.sum(*seed, &opened)).transpose()
    }
}

impl Both {
    fn zeros() -> Both {
        Both([(); 2].map(|()| Zeroizing::new([Block::ZERO; BITS])))
    }

    /// The strings for the factor, each through `times`, plus those for its mask.
    fn combined(&self, times: impl Fn(Block) -> Block) -> Strings {
        let [factor, mask] = &self.0;
        Zeroizing::new(std::array::from_fn(|b| times(factor[b]) ^ mask[b]))
    }
}

/// The sum of the strings for the factor, of all peers.
fn sum(strings: &PerPeer<Both>) -> Block {
    strings.iter().flat_map(|(_, both)| both.0[0].iter()).fold(Block::ZERO, |sum, &string| sum ^ string)
}

/// The products of an element with the powers of x.
fn multiples(element: Block) -> Strings {
    let mut power = element.to_u128();
    Zeroizing::new(std::array::from_fn(|_| {
        let multiple = Block::from_u128(power);
        power = power << 1 ^ 0x87 & (power >> 127).wrapping_neg();
        multiple
    }))
}

fn digest(strings: &Strings) -> [u8; 32] {
    blake3::derive_key("comity shares: combined strings of a blind product", Block::bytes_of(&**strings))
}
