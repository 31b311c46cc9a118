//! Opening the garbled circuit: figure 7.
//!
//! *Corrected.* In the figure each party masks its share by the generator's output on the seeds that it sent, and these masks do not
//! cancel. Here, as the text describes, each adds a share of zero: for each peer the output on the seed that it sent added to
//! that on the seed that it received, so that both of a pair add the same. One generator a pair does for two: its seed is the
//! hash of both, secret and uniform wherever both parties are honest, and nothing is hidden from a pair with a cheat in it.
//!
//! *Balanced.* In the figure party 0 collects all shares and sends the sums to all, `64 n (n - 1)` bytes a gate. Here each
//! party does so for one `n`-th of the gates: `128 (n - 1)` bytes a gate leave each party.
//!
//! Whoever collects may send what it likes, to all the same: what all heard is compared before it is used. That is the error
//! which figure 5 lets the adversary add after it has seen the circuit.

use core::ops::Range;

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Block, PartyId, Prg, Result, SessionId};
use comity_protocol::{Conduct, Here};
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

    /// Step 1, beside which another message goes to each peer, which hears another one of such a length. Both may be nothing. If all seeds
    /// were said before, only these messages are.
    ///
    /// # Errors
    /// Errors of the channels.
    pub(crate) fn exchange(
        &mut self,
        net: &mut Mesh<'_>,
        mut out: PerPeer<Vec<u8>>,
        lengths: impl Fn(PartyId) -> usize,
    ) -> Result<PerPeer<Vec<u8>>> {
        let (me, parties) = (net.me(), net.parties());
        let seeds = self.seeds.take();
        let seed = if seeds.is_some() { Block::BYTES } else { 0 };
        for (peer, out) in out.iter_mut() {
            out.extend_from_slice(seeds.as_ref().map_or(&[], |seeds| &seeds[peer]));
        }
        let mut heard = PerPeer::new(me, parties, |peer| vec![0; lengths(peer) + seed]);
        net.exchange(&out, &mut heard)?;
        let Some(seeds) = seeds else { return Ok(heard) };
        for (peer, pair) in self.pairs.iter_mut() {
            let theirs = heard[peer].split_off(lengths(peer));
            let (lower, higher) = if me < peer { (&seeds[peer], &theirs) } else { (&theirs, &seeds[peer]) };
            let session =
                SessionId::derive("seed of a pair's shares of zero", &[&self.session.to_bytes(), lower, higher]);
            *pair = Prg::new(self.backend, session.block("shares of zero"));
        }
        Ok(heard)
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

/// The gates that a party collects, of so many: the blocks of their rows.
fn part(party: usize, parties: usize, gates: usize) -> Range<usize> {
    let at = |party| gates * party / parties * parties * ROWS;
    at(party)..at(party + 1)
}

/// Steps 2 to 4: the rows of so many gates, of which these are this party's shares. That all heard the same is for the caller to
/// make sure of, before it uses them. Beside the shares another message goes to each peer, and one as long is heard from it.
///
/// # Errors
/// Errors of the channels.
pub(crate) fn open(
    net: &mut Mesh<'_>,
    zeros: &mut Zeros,
    mut shares: Vec<Block>,
    beside: PerPeer<Vec<u8>>,
    conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>,
) -> Result<(Vec<Block>, PerPeer<Vec<u8>>)> {
    let (me, parties) = (net.me(), net.parties());
    let n = usize::from(parties);
    let gates = shares.len() / (n * ROWS);
    let part = |party: u16| part(party.into(), n, gates);
    zeros.add_to(&mut shares);
    // Step 3.
    let own = part(me.0);
    let (lengths, mut out) = (PerPeer::new(me, parties, |peer| beside[peer].len()), beside);
    for (peer, out) in out.iter_mut() {
        let first = out.len();
        out.extend_from_slice(Block::bytes_of(&shares[part(peer.0)]));
        conduct.before(GarblingAct::Shares(peer, &mut out[first..]));
    }
    let len = own.len() * Block::BYTES;
    let mut heard = PerPeer::new(me, parties, |peer| vec![0; lengths[peer] + len]);
    net.exchange(&out, &mut heard)?;
    drop(out);
    let sums = Block::bytes_of_mut(&mut shares[own.clone()]);
    for (peer, heard) in heard.iter() {
        sums.iter_mut().zip(&heard[lengths[peer]..]).for_each(|(sum, byte)| *sum ^= byte);
    }
    let beside = PerPeer::new(me, parties, |peer| heard[peer][..lengths[peer]].to_vec());
    // Step 4.
    let sums = Block::bytes_of(&shares[own]).to_vec();
    let out = PerPeer::new(me, parties, |peer| {
        let mut said = sums.clone();
        conduct.before(GarblingAct::Rows(peer, &mut said));
        said
    });
    let mut heard = PerPeer::new(me, parties, |peer| vec![0; part(peer.0).len() * Block::BYTES]);
    net.exchange(&out, &mut heard)?;
    for (peer, heard) in heard.iter() {
        Block::bytes_of_mut(&mut shares[part(peer.0)]).copy_from_slice(heard);
    }
    Ok((shares, beside))
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
        let mut zeros = Zeros::new(here, &mut rng);
        zeros.exchange(net, PerPeer::new(me, parties, |_| Vec::new()), |_| 0).expect("a setup");
        zeros
    }

    fn nothing(net: &Mesh<'_>) -> PerPeer<Vec<u8>> {
        PerPeer::new(net.me(), net.parties(), |_| Vec::new())
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
        let opened = Net::<3>::run(|net| {
            let (mut zeros, own) = (zeros(net), share(net.me().0));
            let bytes = Block::bytes_of(&own);
            let mut hidden = |act: GarblingAct<'_>| {
                if let GarblingAct::Shares(peer, said) = act {
                    let range = part(peer.0.into(), 3, GATES);
                    let bare = &bytes[range.start * Block::BYTES..range.end * Block::BYTES];
                    assert!(
                        said.len() == bare.len()
                            && said.iter().zip(bare).filter(|(a, b)| a == b).count() * 8 < said.len()
                    );
                }
            };
            let opened = open(net, &mut zeros, own.clone(), nothing(net), &mut hidden).expect("opened");
            let again = open(net, &mut zeros, own.clone(), nothing(net), &mut Honest).expect("opened");
            assert!(opened.0 == again.0);
            opened.0
        });
        assert!(opened.iter().all(|rows| *rows == sums));
    }
}
