//! Opening the garbled circuit: figure 7.
//!
//! *Corrected.* In the figure each party masks its share by the generator's output on the seeds that it sent,
//! and these masks do not cancel. Here, as the text describes, each adds a zero-share: for each peer the
//! output on the seed that it sent added to that on the seed that it received, so that both of a pair add the
//! same. One generator a pair does for two ([`ZeroShares`]): its seed is the hash of both, secret and uniform
//! wherever both parties are honest, and nothing is hidden from a pair with a cheat in it.
//!
//! *Balanced.* In the figure party 0 collects all shares and sends the sums to all: `64 n (n - 1)` bytes a
//! gate leave it, and `64 n` each other one ([`Opener::Collector`]). Here each party does so for one `n`-th
//! of the gates, if not told otherwise: `128 (n - 1)` bytes a gate leave each ([`Opener::Balanced`]).
//!
//! Whoever collects may send what it likes, to all the same: what all heard is compared before it is used.
//! That is the error which figure 5 lets the adversary add after it has seen the circuit.

use core::ops::Range;

use comity_channel::{Echo, Mesh, PerPeer};
use comity_core::{Backend, Block, PartyId, Result, SessionId};
use comity_protocol::{Conduct, Here};
use comity_share::{Beside, PairSeeds, ZeroShares};
use rand_core::CryptoRng;
use zeroize::Zeroize;

use crate::act::GarblingAct;
use crate::hash::OUTPUT_ROWS;

/// Zero-shares, of which step 1 makes the seeds.
pub(crate) struct Zeros {
    me: PartyId,
    parties: u16,
    backend: Backend,
    session: SessionId,
    /// The halves of seeds that this party says, until it has heard those of the others.
    halves: PerPeer<Block>,
    shares: Option<ZeroShares>,
}

impl Zeros {
    /// Step 1 begins.
    pub(crate) fn new(here: Here, rng: &mut (impl CryptoRng + ?Sized)) -> Zeros {
        let Here { me, parties, session, backend, .. } = here;
        let halves = PerPeer::new(me, parties, |_| Block::random(rng));
        Zeros { me, parties, backend, session, halves, shares: None }
    }

    /// Step 1: says the halves beside another message, unless all were said before.
    pub(crate) fn say(&self, beside: &mut Beside) {
        if self.shares.is_some() {
            return;
        }
        for (peer, half) in self.halves.iter() {
            beside.out[peer].extend_from_slice(&half.to_bytes());
            beside.lengths[peer] += Block::BYTES;
        }
    }

    /// Takes the peers' halves off what was heard in answer.
    pub(crate) fn hear(&mut self, heard: &mut PerPeer<Vec<u8>>) {
        if self.shares.is_some() {
            return;
        }
        let theirs = PerPeer::new(self.me, self.parties, |peer| {
            let at = heard[peer].len() - Block::BYTES;
            let bytes: [u8; Block::BYTES] = heard[peer].split_off(at).try_into().expect("a block was cut off");
            Block::new(bytes)
        });
        let seeds = PairSeeds::new(&self.session.child("seeds of pairs"), &self.halves, &theirs);
        self.shares = Some(seeds.zero_shares(self.backend, &self.session.child("zero-shares of rows")));
        self.halves.as_mut_slice().iter_mut().for_each(Zeroize::zeroize);
    }

    /// Step 2: adds the next zero-share.
    ///
    /// # Panics
    /// Before step 1.
    fn add_to(&mut self, shares: &mut [Block]) {
        self.shares.as_mut().expect("halves were exchanged").add_to(shares);
    }
}

/// Who collects the shares of which gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// Each party those of one `n`-th.
    Balanced,
    /// Party 0 all, as in the figure.
    Collector,
}

impl Opener {
    /// The rows that a party collects, of rows of `blocks` blocks in all: a whole number of pairs. A gate has
    /// two pairs, and an output's gate has one.
    fn part(self, party: usize, parties: usize, blocks: usize) -> Range<usize> {
        let pair = OUTPUT_ROWS * parties;
        let at = |party: usize| match self {
            Opener::Balanced => blocks / pair * party / parties * pair,
            Opener::Collector if party == 0 => 0,
            Opener::Collector => blocks,
        };
        at(party)..at(party + 1)
    }
}

/// Rows of gates that are being opened.
pub(crate) struct Opening {
    opener: Opener,
    me: PartyId,
    parties: u16,
    /// This party's shares, and their sums in the part that it collects.
    rows: Vec<Block>,
}

impl Opening {
    /// Step 2, of these shares.
    pub(crate) fn new(opener: Opener, zeros: &mut Zeros, mut shares: Vec<Block>) -> Opening {
        zeros.add_to(&mut shares);
        Opening { opener, me: zeros.me, parties: zeros.parties, rows: shares }
    }

    fn part(&self, party: PartyId) -> Range<usize> {
        self.opener.part(party.0.into(), self.parties.into(), self.rows.len())
    }

    /// Step 3: what goes to those who collect.
    pub(crate) fn shares(&self, conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>) -> PerPeer<Vec<u8>> {
        PerPeer::new(self.me, self.parties, |peer| {
            let mut said = Block::bytes_of(&self.rows[self.part(peer)]).to_vec();
            conduct.before(GarblingAct::Shares(peer, &mut said));
            said
        })
    }

    /// The same behind a digest of what all heard so far.
    pub(crate) fn with_digest(&self, echo: &Echo, conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>) -> Beside {
        let digest = echo.digest();
        let out = self.shares(conduct).map(|_, shares| [&digest[..], &shares].concat());
        let lengths = PerPeer::new(self.me, self.parties, |_| digest.len() + self.bytes());
        Beside { out, lengths }
    }

    /// Compares the digests of the others, and adds the shares behind them.
    ///
    /// # Errors
    /// [`EQUIVOCATION`](comity_share::checks::EQUIVOCATION).
    pub(crate) fn compared(&mut self, echo: &Echo, heard: PerPeer<Vec<u8>>) -> Result<()> {
        let digest = echo.digest().len();
        echo.compare(heard.iter().map(|(_, heard)| &heard[..digest]))?;
        self.collect(heard.iter().map(|(_, heard)| &heard[digest..]));
        Ok(())
    }

    /// Bytes of what each peer says in step 3.
    pub(crate) fn bytes(&self) -> usize {
        self.part(self.me).len() * Block::BYTES
    }

    /// Step 4 begins: adds what the others said.
    pub(crate) fn collect<'h>(&mut self, heard: impl Iterator<Item = &'h [u8]>) {
        let own = self.part(self.me);
        let sums = Block::bytes_of_mut(&mut self.rows[own]);
        for heard in heard {
            sums.iter_mut().zip(heard).for_each(|(sum, byte)| *sum ^= byte);
        }
    }

    /// Step 4: the rows of all gates. What all heard is noted, which is for the caller to settle before it
    /// uses them. Beside the sums another message goes to each peer, and one as long is heard from it.
    ///
    /// # Errors
    /// Errors of the channels.
    pub(crate) fn tell(
        mut self,
        net: &mut Mesh<'_>,
        beside: &PerPeer<Vec<u8>>,
        echo: &mut Echo,
        conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>,
    ) -> Result<(Vec<Block>, PerPeer<Vec<u8>>)> {
        let sums = Block::bytes_of(&self.rows[self.part(self.me)]).to_vec();
        let out = PerPeer::new(self.me, self.parties, |peer| {
            let mut said = sums.clone();
            conduct.before(GarblingAct::Rows(peer, &mut said));
            said.extend_from_slice(&beside[peer]);
            said
        });
        let length = |peer: PartyId| self.part(peer).len() * Block::BYTES;
        let mut heard = PerPeer::new(self.me, self.parties, |peer| vec![0; length(peer) + beside[peer].len()]);
        net.exchange(&out, &mut heard)?;
        drop(out);
        let theirs = PerPeer::new(self.me, self.parties, |peer| heard[peer].split_off(length(peer)));
        echo.hear("rows", &sums, &heard);
        for (peer, heard) in heard.iter() {
            let part = self.part(peer);
            Block::bytes_of_mut(&mut self.rows[part]).copy_from_slice(heard);
        }
        conduct.before(GarblingAct::Opened(&self.rows));
        Ok((self.rows, theirs))
    }
}

#[cfg(test)]
mod tests {
    use comity_protocol::Honest;
    use comity_testing::{Net, laws};

    use super::*;
    use crate::hash::ROWS;

    /// Gates of a test: of eight pairs of rows one of three parties collects two, and the others three each.
    const GATES: usize = 4;

    fn zeros(net: &mut Mesh<'_>) -> Zeros {
        zeros_drawn_by(net, net.me().0)
    }

    /// Those for which this party draws from a generator of this seed.
    fn zeros_drawn_by(net: &mut Mesh<'_>, seed: u16) -> Zeros {
        let mut rng = laws::rng(seed.into());
        let (me, parties) = (net.me(), net.parties());
        let session = SessionId::derive("test", &[b"zeros"]);
        let here = Here::new(me, parties, session);
        let (mut zeros, mut beside) = (Zeros::new(here, &mut rng), Beside::nothing(net));
        zeros.say(&mut beside);
        let mut heard = PerPeer::new(me, parties, |_| vec![0; Block::BYTES]);
        net.exchange(&beside.out, &mut heard).expect("a setup");
        zeros.hear(&mut heard);
        zeros
    }

    /// Steps 2 to 4.
    fn open(
        net: &mut Mesh<'_>,
        opener: Opener,
        zeros: &mut Zeros,
        shares: Vec<Block>,
        conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>,
    ) -> Vec<Block> {
        let (me, parties) = (net.me(), net.parties());
        let mut opening = Opening::new(opener, zeros, shares);
        let mut heard = PerPeer::new(me, parties, |_| vec![0; opening.bytes()]);
        net.exchange(&opening.shares(conduct), &mut heard).expect("shares");
        opening.collect(heard.iter().map(|(_, heard)| &heard[..]));
        let mut echo = Echo::new(SessionId::derive("test", &[b"echo"]));
        let nothing = PerPeer::new(me, parties, |_| Vec::new());
        let (rows, _) = opening.tell(net, &nothing, &mut echo, conduct).expect("rows");
        net.settle(echo).expect("all heard the same");
        rows
    }

    /// Both of a pair make its seed: with another generator at one party the zero-shares of all that have to
    /// do with it are others.
    #[test]
    fn each_party_draws_its_halves() {
        let shares = |changed: u16| {
            Net::<3>::run(|net| {
                let seed = net.me().0 + if net.me().0 == changed { 1000 } else { 0 };
                let mut shares = vec![Block::ZERO; 2];
                zeros_drawn_by(net, seed).add_to(&mut shares);
                shares
            })
        };
        let before = shares(3);
        for changed in 0..3 {
            // Each has a pair with the one that changed.
            assert!(shares(changed).iter().zip(&before).all(|(after, before)| after != before), "party {changed}");
        }
    }

    /// Shares of zero are not zero by themselves, never come again, and add up to zero.
    #[test]
    fn shares_of_zero_add_up() {
        let parties = Net::<3>::run(|net| {
            let mut zeros = zeros(net);
            let mut shares = vec![Block::ZERO; 2500];
            zeros.add_to(&mut shares);
            shares
        });
        let mut seen: Vec<Block> = parties.concat();
        seen.sort_by_key(|block| block.to_u128());
        seen.dedup();
        assert!(seen.len() == 7500 && seen[0] != Block::ZERO);
        assert!((0..2500).all(|i| parties[0][i] ^ parties[1][i] ^ parties[2][i] == Block::ZERO));
    }

    /// All hear the sums, and what leaves a party is not its share.
    #[test]
    fn rows_are_summed_and_shares_hidden() {
        let share = |party: u16| -> Vec<Block> {
            (0..GATES * 3 * ROWS).map(|i| Block::from_u128((i as u128) << 8 | 1 << party)).collect()
        };
        let sums: Vec<Block> = (0..GATES * 3 * ROWS).map(|i| Block::from_u128((i as u128) << 8 | 7)).collect();
        let opened = |opener: Opener| {
            Net::<3>::run(|net| {
                let (mut zeros, own) = (zeros(net), share(net.me().0));
                let bytes = Block::bytes_of(&own);
                let mut hidden = |act: GarblingAct<'_>| {
                    if let GarblingAct::Shares(peer, said) = act {
                        let range = opener.part(peer.0.into(), 3, GATES * 3 * ROWS);
                        let bare = &bytes[range.start * Block::BYTES..range.end * Block::BYTES];
                        assert!(
                            said.len() == bare.len()
                                && said.iter().zip(bare).filter(|(a, b)| a == b).count() * 8 <= said.len()
                        );
                    }
                };
                let opened = open(net, opener, &mut zeros, own.clone(), &mut hidden);
                let again = open(net, opener, &mut zeros, own.clone(), &mut Honest);
                assert!(opened == again);
                opened
            })
        };
        for opener in [Opener::Balanced, Opener::Collector] {
            assert!(opened(opener).iter().all(|rows| *rows == sums));
        }
    }
}
