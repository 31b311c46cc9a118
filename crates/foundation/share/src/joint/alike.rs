//! A chunk of bits, and the check that every party has the same shares towards all.
//!
//! Deviation: a party `i` uses shares `x` towards one peer and others towards another (Hazay, Scholl,
//! Soria-Vazquez, Asiacrypt 2017, section 3.4).
//!
//! **Check.** A chunk ends with a block of 128 random shares for nothing else, the mask. When all corrections
//! have been received a coin names a linear hash. Party `i` puts *one* hash `X_i` of all its shares, mask
//! included, in the echo, and sends each peer, alone, a digest of the same hash of its rows; peer `j`
//! compares with its own rows `+ X_i R_j`. The echo is settled before the chunk is used. That is the check by
//! which SoftSpoken makes sure that one string of choice bits went into all trees of one pair; here the
//! challenge is the coin for all pairs, and the hash of the choices is the same for all peers.
//!
//! **Sound.** Two honest peers have heard the same `X_i`. Shares that differ between them, in any block, have
//! hashes that differ but with probability 2^-128 over the coin, which nobody knew before every honest party
//! had the corrections. Then one of the two holds the digest against another hash than that of the shares
//! used towards it, and passes it only if the liar guesses all secret bits of its global key: 2^-126. Without
//! the echo a liar would say to each its own hash and never be seen; with a mask that is corrected after the
//! coin, it would choose the masks such that the hashes agree.
//!
//! **The rule.** `X_i` is masked by bits that are used for nothing else, and depends on no global key. The
//! digest is of MACs under the key of the peer that it is sent to, who knows what they must be. Nothing
//! depends on the sender's own global key.

use comity_channel::{Mesh, PerPeer};
use comity_core::{Bits, Block, Result};
use comity_ot::softspoken::{Answer, Challenge, TwoWay};
use comity_protocol::Conduct;
use zeroize::{Zeroize, Zeroizing};

use super::deltas::block;
use super::{Joint, JointAct, Talk};

/// Bytes of the hash of a party's shares, in its answer.
const HASH: usize = Block::BYTES;

impl<C: for<'a> Conduct<JointAct<'a>>> Joint<C> {
    pub(super) fn alike(
        &mut self,
        mesh: &mut Mesh<'_>,
        macs: &mut PerPeer<&mut [Block]>,
        keys: &mut PerPeer<&mut [Block]>,
        given: Option<&Bits>,
    ) -> Result<()> {
        self.checked(mesh, macs, keys, given, false).map(drop).inspect_err(|_| {
            macs.as_mut_slice().iter_mut().for_each(|macs| macs.zeroize());
            keys.as_mut_slice().iter_mut().for_each(|keys| keys.zeroize());
        })
    }

    /// The first chunk, all but that its echo is settled. The first 128 bits are an element of the field, of
    /// which each party says its share, masked by a share of zero: returns the sum of all.
    pub(super) fn first(
        &mut self,
        mesh: &mut Mesh<'_>,
        macs: &mut PerPeer<&mut [Block]>,
        keys: &mut PerPeer<&mut [Block]>,
    ) -> Result<Block> {
        self.checked(mesh, macs, keys, None, true)
    }

    fn checked(
        &mut self,
        mesh: &mut Mesh<'_>,
        macs: &mut PerPeer<&mut [Block]>,
        keys: &mut PerPeer<&mut [Block]>,
        given: Option<&Bits>,
        first: bool,
    ) -> Result<Block> {
        let bits = macs.as_mut_slice().first().map_or(0, |macs| macs.len());
        let mut bytes = Zeroizing::new(vec![0; TwoWay::choices(bits) / 8]);
        self.rng.fill(&mut bytes);
        let mut choices = Bits::from_bytes(&bytes, TwoWay::choices(bits));
        if let Some(given) = given {
            let padding = choices.slice(bits, choices.len() - bits);
            choices = given.clone();
            choices.extend_from(&padding);
        }
        let zero = if first { self.zeros.block() } else { Block::ZERO };
        let Joint { links, echo, conduct, coins, unsettled, corrections: [out, heard], .. } = self;
        let mut talk = Talk { mesh, echo, conduct };
        for (peer, link) in links.iter_mut() {
            let mut choices = choices.clone();
            talk.conduct.before(JointAct::Choices { peer, choices: &mut choices });
            link.offer(&choices, macs[peer], &mut out[peer])?;
        }
        // What was said to all so far, commitments of coins for one, is the same at all before a coin is opened.
        if core::mem::take(unsettled) {
            let out = core::mem::replace(out, talk.each(|_| Vec::new()));
            *heard = talk.settle_with(vec![("corrections", out)])?.remove(0);
        } else {
            heard.iter_mut().for_each(|(peer, bytes)| bytes.resize(out[peer].len(), 0));
            talk.swap("corrections", out, heard)?;
        }
        let corrections = &*heard;
        // All that the coin decides on is here.
        let (seed, message) = coins.next(&talk);
        let mut sum = Block::ZERO;
        let coin = if first {
            Block::bytes_of_mut(core::slice::from_mut(&mut sum)).copy_from_slice(&choices.slice(0, 128).to_bytes());
            sum ^= zero;
            talk.conduct.before(JointAct::Masked(&mut sum));
            let own = sum.to_bytes();
            let mut heard = talk.together(vec![message, ("masked shares", talk.each(|_| own.to_vec()))])?;
            let masked = heard.remove(1);
            talk.echo.hear("masked shares", &own, &masked);
            masked.iter().for_each(|(_, bytes)| sum ^= block(bytes));
            coins.sum(*seed, &heard[0])?
        } else {
            let heard = talk.together(vec![message])?;
            coins.sum(*seed, &heard[0])?
        };
        let challenge = Challenge::from_bytes(std::array::from_fn(|i| coin[i]));
        let answers = talk.each(|peer| links[peer].answer(bits, &challenge).to_bytes());
        let own = answers.iter().next().map_or(Vec::new(), |(_, answer)| answer[..HASH].to_vec());
        let heard = talk.send("answer", answers, |_| Answer::BYTES)?;
        talk.echo.hear("hashes of shares", &own, &heard_hashes(&heard));
        for (peer, link) in links.iter_mut() {
            let answer = Answer::from_bytes(&heard[peer])?;
            link.accept(&challenge, &corrections[peer], &answer, keys[peer]).map_err(|error| error.by(peer))?;
        }
        if first {
            *unsettled = true;
        } else {
            talk.settle()?;
        }
        Ok(sum)
    }
}

/// The part of each answer that is said to all.
fn heard_hashes(answers: &PerPeer<Vec<u8>>) -> PerPeer<Vec<u8>> {
    PerPeer::new(answers.me(), answers.parties(), |peer| answers[peer][..HASH].to_vec())
}
