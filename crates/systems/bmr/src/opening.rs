//! Opening the garbled circuit: figure 7.
//!
//! *Corrected.* In the figure each party masks its share by the generator's output on the seeds that it sent, and these masks do not
//! cancel. Here, as the text describes, each adds a share of zero: for each peer the output on the seed that it sent added to
//! that on the seed that it received, so that both of a pair add the same. One generator a pair does for two: its seed is the
//! hash of both, secret and uniform wherever both parties are honest, and nothing is hidden from a pair with a cheat in it.
//!
//! *Balanced.* In the figure party 0 collects all shares and sends the sums to all: `64 n (n - 1)` bytes a gate leave it, and `64 n` each
//! other one ([`Opener::Collector`]). Here each party does so for one `n`-th of the gates, if not told otherwise: `128 (n - 1)` bytes a gate
//! leave each ([`Opener::Balanced`]).
//!
//! Whoever collects may send what it likes, to all the same: what all heard is compared before it is used. That is the error
//! which figure 5 lets the adversary add after it has seen the circuit.

use core::ops::Range;

use comity_channel::{Echo, Mesh, PerPeer};
use comity_core::{Backend, Block, PartyId, Prg, Result, SessionId};
use comity_protocol::{Conduct, Here};
use comity_share::Beside;
use rand_core::CryptoRng;

use crate::act::GarblingAct;
use crate::hash::{ROWS, add};

/// Shares of zero, of one pair of parties each: both have the same.
pub(crate) struct Zeros {
    backend: Backend,
    session: SessionId,
    /// The seeds that this party says, until it has heard those of the others.
    seeds: Option<PerPeer<Vec<u8>>>,
    pairs: PerPeer<Prg>,
}

impl Zeros {
    /// Step 1 begins.
    pub(crate) fn new(here: Here, rng: &mut (impl CryptoRng + ?Sized)) -> Zeros {
        let Here { me, parties, session, backend, .. } = here;
        let seeds = Some(PerPeer::new(me, parties, |_| Block::random(rng).to_bytes().to_vec()));
        Zeros { backend, session, seeds, pairs: PerPeer::new(me, parties, |_| Prg::new(backend, Block::ZERO)) }
    }

    /// Step 1: says the seeds beside another message, unless all were said before.
    pub(crate) fn say(&self, beside: &mut Beside) {
        let Some(seeds) = &self.seeds else { return };
        for (peer, seed) in seeds.iter() {
            beside.out[peer].extend_from_slice(seed);
            beside.lengths[peer] += Block::BYTES;
        }
    }

    /// Takes the peers' seeds off what was heard in answer.
    pub(crate) fn hear(&mut self, heard: &mut PerPeer<Vec<u8>>) {
        let Some(seeds) = self.seeds.take() else { return };
        for (peer, pair) in self.pairs.iter_mut() {
            let at = heard[peer].len() - Block::BYTES;
            let theirs = heard[peer].split_off(at);
            let (lower, higher) = if heard.me() < peer { (&seeds[peer], &theirs) } else { (&theirs, &seeds[peer]) };
            let session =
                SessionId::derive("seed of a pair's shares of zero", &[&self.session.to_bytes(), lower, higher]);
            *pair = Prg::new(self.backend, session.block("shares of zero"));
        }
    }

    /// Step 2: adds the next share of zero.
    ///
    /// # Panics
    /// Before step 1.
    fn add_to(&mut self, shares: &mut [Block]) {
        assert!(self.seeds.is_none(), "seeds were exchanged");
        let mut room = vec![Block::ZERO; shares.len().min(1 << 10)];
        for shares in shares.chunks_mut(1 << 10) {
            for (_, pair) in self.pairs.iter_mut() {
                let room = &mut room[..shares.len()];
                pair.fill_blocks(room);
                add(shares, room);
            }
        }
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
    /// The gates that a party collects, of so many: the blocks of their rows.
    fn part(self, party: usize, parties: usize, gates: usize) -> Range<usize> {
        let gate = |party: usize| match self {
            Opener::Balanced => gates * party / parties,
            Opener::Collector => {
                if party == 0 {
                    0
                } else {
                    gates
                }
            }
        };
        let at = |party| gate(party) * parties * ROWS;
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
        let pairs = &zeros.pairs;
        Opening { opener, me: pairs.me(), parties: pairs.parties(), rows: shares }
    }

    fn part(&self, party: PartyId) -> Range<usize> {
        let n = usize::from(self.parties);
        self.opener.part(party.0.into(), n, self.rows.len() / (n * ROWS))
    }

    /// Step 3: what goes to those who collect.
    pub(crate) fn shares(&self, conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>) -> PerPeer<Vec<u8>> {
        PerPeer::new(self.me, self.parties, |peer| {
            let mut said = Block::bytes_of(&self.rows[self.part(peer)]).to_vec();
            conduct.before(GarblingAct::Shares(peer, &mut said));
            said
        })
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

    /// Step 4: the rows of all gates. What all heard is noted, which is for the caller to settle before it uses them. Beside the sums another
    /// message goes to each peer, and one as long is heard from it.
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
    use comity_core::Params;
    use comity_protocol::Honest;
    use comity_testing::{Net, laws};

    use super::*;

    /// Gates of a test: of three parties one collects two of them.
    const GATES: usize = 4;

    fn zeros(net: &mut Mesh<'_>) -> Zeros {
        let mut rng = laws::rng(net.me().0.into());
        let (me, parties) = (net.me(), net.parties());
        let session = SessionId::derive("test", &[b"zeros"]);
        let here = Here { me, parties, session, params: Params::default(), backend: Backend::detect() };
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

    /// Shares of zero are none by themselves, never come again, and add up to zero.
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
                        let range = opener.part(peer.0.into(), 3, GATES);
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
